import Foundation
import PhotoLedger
import Synchronization

/// Wakes a waiting thread when an observer has received a change, and gives the time of that.
final class Arrivals: Sendable {
  private struct State {
    var expected = 0
    var count = 0
    var last = ContinuousClock.now
    var failure: String?
  }

  private let state = Mutex(State())
  private let semaphore = DispatchSemaphore(value: 0)

  /// Says for how many arrivals the next wait is.
  func expect(_ count: Int) {
    state.withLock { ($0.expected, $0.count) = (count, 0) }
  }

  /// Called by an observer when it has received a change.
  func arrive() {
    let now = ContinuousClock.now
    let isLast = state.withLock { state in
      state.count += 1
      state.last = now
      return state.count == state.expected
    }
    if isLast { semaphore.signal() }
  }

  func fail(_ error: any Error) {
    state.withLock { $0.failure = "\(error)" }
    semaphore.signal()
  }

  /// Waits for the expected arrivals and gives the time of the last one.
  func wait() throws -> ContinuousClock.Instant {
    guard semaphore.wait(timeout: .now() + 120) == .success else {
      throw WrongAnswer(description: "An observer received nothing within two minutes.")
    }
    return try state.withLock { state in
      if let failure = state.failure { throw WrongAnswer(description: "An observer failed: \(failure)") }
      return state.last
    }
  }
}

/// Follows a result in a task of its own and keeps the last change.
final class Watch: Sendable {
  private let task: Task<Void, Never>
  private let kept: Kept

  private final class Kept: Sendable {
    let last = Mutex<ChangeDetails<Asset>?>(nil)
  }

  /// - Parameter isKeeping: whether the last change is kept; what is held then counts as memory.
  init(
    _ result: FetchResult<Asset>, of library: PhotoLibrary, telling arrivals: Arrivals, isKeeping: Bool = true
  ) {
    let kept = Kept()
    self.kept = kept
    let changes = library.changes(to: result)
    task = Task.detached {
      do {
        for try await details in changes {
          if isKeeping { kept.last.withLock { $0 = details } }
          arrivals.arrive()
        }
      } catch { arrivals.fail(error) }
    }
  }

  deinit { task.cancel() }

  /// The last change that was received, if it is kept.
  var last: ChangeDetails<Asset>? { kept.last.withLock { $0 } }
}

/// Receives every commit, and asks how a result that it holds differs.
final class HeldResult: PhotoLibraryChangeObserver {
  private struct State {
    var held: FetchResult<Asset>
    var details: ChangeDetails<Asset>?
    var step = Duration.zero
  }

  private let state: Mutex<State>
  private let arrivals: Arrivals

  init(_ held: FetchResult<Asset>, telling arrivals: Arrivals) {
    state = Mutex(State(held: held))
    self.arrivals = arrivals
  }

  func photoLibraryDidChange(_ change: LibraryChange) {
    do {
      try state.withLock { state in
        let start = ContinuousClock.now
        state.details = try change.changeDetails(for: state.held)
        state.step = ContinuousClock.now - start
        if let details = state.details { state.held = details.fetchResultAfterChanges }
      }
      arrivals.arrive()
    } catch { arrivals.fail(error) }
  }

  /// The last change, and how long its details took.
  var last: (details: ChangeDetails<Asset>?, step: Duration) { state.withLock { ($0.details, $0.step) } }
}

extension Duration {
  /// The duration in nanoseconds.
  var nanoseconds: Double { Double(components.seconds) * 1e9 + Double(components.attoseconds) / 1e9 }
}
