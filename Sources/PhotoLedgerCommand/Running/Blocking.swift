import Foundation
import PhotoLedger
import Synchronization

/// Runs asynchronous work and waits for it; for the main thread, which nothing else needs.
///
/// The task is detached: in a task of the main actor the work would wait for the thread that waits for it.
func waiting<Value: Sendable>(
  _ interruption: Interruption? = nil, for work: @escaping @Sendable () async throws -> Value
) throws -> Value {
  try checkThreads()
  let answer = Pending<Value>()
  let task = Task.detached {
    do { answer.give(.success(try await work())) } catch { answer.give(.failure(error)) }
  }
  interruption?.onRequest { task.cancel() }
  return try answer.wait().get()
}

/// The same for work that can be left where it is when a signal comes: it is not waited for any longer.
func waitingUntilSignalled(_ interruption: Interruption, for work: @escaping @Sendable () async throws -> Void) throws {
  try checkThreads()
  let answer = Pending<Void>()
  let task = Task.detached {
    do { answer.give(.success(try await work())) } catch { answer.give(.failure(error)) }
  }
  interruption.onRequest {
    task.cancel()
    if interruption.isSignalled { answer.give(.success(())) }
  }
  try answer.wait().get()
}

/// Checks that a thread can be started: without one a task waits for ever, and says nothing.
private func checkThreads() throws(LibraryError) { try OwnThread.start("ledger-trial") {} }

/// A result that another thread will give; what it gives later does not count.
final class Pending<Value: Sendable>: Sendable {
  private let result = Mutex<Result<Value, any Error>?>(nil)
  private let given = DispatchSemaphore(value: 0)

  func give(_ result: sending Result<Value, any Error>) {
    let isFirst = self.result.withLock { known in
      guard known == nil else { return false }
      known = result
      return true
    }
    if isFirst { given.signal() }
  }

  /// Waits for the result.
  func wait() -> Result<Value, any Error> {
    given.wait()
    defer { given.signal() }
    guard let result = result.withLock({ $0 }) else { preconditionFailure("A task ended without a result.") }
    return result
  }
}
