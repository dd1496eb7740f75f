import Synchronization

// What a follower sleeps on.
//
// Wake-ups. One commit may wake ten thousand followers, so a wake-up is minimal: one lock, one continuation. It holds
// no elements. A ring only means that there may be a change; the woken follower checks.
//
//     idle ──ring──▶ rung ──wait──▶ idle            idle ──wait──▶ waiting ──ring──▶ idle
//     idle ──fail──▶ failed ──wait──▶ idle          waiting ──fail──▶ idle: the wait throws
//     failed ──ring──▶ rung                         failed ──recover──▶ idle
//     idle, rung, waiting ──end──▶ ended            an earlier ring or failure is handled first
//
// A failure ends one wait and not the following: the log may be readable again when the follower asks the next time. So
// it ends none that begins once the observer's thread has read the log again: a follower that was busy meanwhile never
// hears of it.
//
// Rejected: an asynchronous stream of wake-ups, which buffers and has several locked steps for each, and costs each
// follower a kilobyte.

/// Wakes the one task that follows a result.
final class WakeUp: Sendable {
  private struct State {
    /// Resumed exactly once, by the caller that removes it from the state.
    var waiting: UnsafeContinuation<Bool, any Error>?
    var isRung = false
    /// Why the log cannot be read, until a wait throws it or the log was read again.
    var failure: LibraryError?
    /// Whether there will be no ring any more.
    var isEnded = false
  }

  /// Guarded by its lock.
  private let state = Mutex(State())

  /// Wakes the waiting follower, or the next one that waits.
  func ring() {
    wake(with: .success(true)) { state in (state.isRung, state.failure) = (true, nil) }
  }

  /// Has the waiting follower, or the next one that waits, throw an error.
  func fail(_ error: LibraryError) {
    wake(with: .failure(error)) { state in if !state.isEnded { state.failure = error } }
  }

  /// The log can be read again: the next wait throws nothing of what was before.
  func recover() { state.withLock { $0.failure = nil } }

  /// What the next wait throws, unless the log is read before.
  var failure: LibraryError? { state.withLock { $0.failure } }

  /// Ends the wait, and every later one.
  func end() {
    state.withLock { $0.isEnded = true }
    wake(with: .success(false)) { _ in }
  }

  /// Answers the waiting follower, or leaves something for the next wait.
  private func wake(with answer: Result<Bool, any Error>, orLeave leave: (inout State) -> Void) {
    let waiting = state.withLock { state in
      guard let waiting = state.waiting else {
        leave(&state)
        return nil as UnsafeContinuation<Bool, any Error>?
      }
      state.waiting = nil
      return waiting
    }
    waiting?.resume(with: answer)
  }

  /// Waits until it has been rung since the last time; false when it will not be any more, or the task is cancelled.
  /// - Throws: a failure since the last time, once.
  func wait() async throws -> Bool {
    try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { continuation in
        if let answer = answer(orKeep: continuation) { continuation.resume(with: answer) }
      }
    } onCancel: {
      end()
    }
  }

  /// The result if it is available at once; otherwise the continuation is stored.
  private func answer(orKeep continuation: UnsafeContinuation<Bool, any Error>) -> Result<Bool, any Error>? {
    state.withLock { state in
      requireCorrectUse(
        state.waiting == nil, "Two tasks await the changes of one iterator; create an iterator for each.")
      if state.isRung {
        state.isRung = false
        return .success(true)
      }
      if let failure = state.failure {
        state.failure = nil
        return .failure(failure)
      }
      if state.isEnded { return .success(false) }
      state.waiting = continuation
      return nil
    }
  }
}
