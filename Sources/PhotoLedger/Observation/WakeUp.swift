import Synchronization

// What a follower sleeps on.
//
// Wake-ups. One commit may wake ten thousand followers, so a wake-up is minimal: one lock, one continuation. It holds
// no elements. A ring only means that there may be a change; the woken follower checks.
//
//     idle ──ring──▶ rung ──wait──▶ idle            idle ──wait──▶ waiting ──ring──▶ idle
//     idle, rung, waiting ──end──▶ ended            an earlier ring is handled first
//
// Rejected: an asynchronous stream of wake-ups, which buffers and has several locked steps for each, and costs each
// follower a kilobyte.

/// Wakes the one task that follows a result.
final class WakeUp: Sendable {
  private struct State {
    /// Resumed exactly once, by the caller that removes it from the state.
    var waiting: UnsafeContinuation<Bool, any Error>?
    var isRung = false
    /// Why there will be no ring any more; the failure is thrown once.
    var end: Result<Void, LibraryError>?
  }

  /// Guarded by its lock.
  private let state = Mutex(State())

  /// Wakes the waiting follower, or the next one that waits.
  func ring() {
    let waiting = state.withLock { state in
      guard let waiting = state.waiting else {
        state.isRung = true
        return nil as UnsafeContinuation<Bool, any Error>?
      }
      state.waiting = nil
      return waiting
    }
    waiting?.resume(returning: true)
  }

  /// Ends the wait; only the first reason is kept.
  func end(_ reason: Result<Void, LibraryError>) {
    let waiting = state.withLock { state in
      guard state.end == nil else { return nil as UnsafeContinuation<Bool, any Error>? }
      defer { state.waiting = nil }
      state.end = state.waiting == nil ? reason : .success(())
      return state.waiting
    }
    waiting?.resume(with: reason.map { false }.mapError { $0 })
  }

  /// Waits until it has been rung since the last time; false when it will not be any more, or the task is cancelled.
  /// - Throws: the error that it ended with, once.
  func wait() async throws -> Bool {
    try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { continuation in
        if let answer = answer(orKeep: continuation) { continuation.resume(with: answer) }
      }
    } onCancel: {
      end(.success(()))
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
      guard let end = state.end else {
        state.waiting = continuation
        return nil
      }
      state.end = .success(())
      return end.map { false }.mapError { $0 }
    }
  }
}
