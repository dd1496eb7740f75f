import Synchronization

// The order of one caller's blocks.
//
// Storing a block's bytes takes as long as a copy and a sync, and a later block of the same caller without bytes would
// be in the writer's queue long before it: an album would be created before the photos that were sent first. So each
// block gets a place when it is sent, and goes to the writer when all with earlier places have gone or failed.
//
//     sent        1 stores 80 MB    2 an album    3 bytes are missing    4 an edit
//     places      1 not ready       2 ready       3 given up             4 ready
//     1 is ready ──▶ the writer's queue: 1, 2, 4
//
// A caller is one `PhotoLibrary` value: a client with independent work creates another one by `as(_:)`. Rejected: one
// order for the whole library, since one client's video would delay another's caption, and one for each thread, since a
// task is not bound to one.

/// Passes the blocks of one caller to the writer in the order in which they were sent.
final class CallerQueue: Sendable {
  private struct State {
    /// The place that is taken next, and the first that is still waited for.
    var next: UInt64 = 0
    var first: UInt64 = 0
    /// The outcomes of later places; nil for an abandoned block.
    var ready: [UInt64: (@Sendable () -> Void)?] = [:]
  }

  private let state = Mutex(State())

  /// Takes the next place.
  func take() -> UInt64 {
    state.withLock { state in
      defer { state.next += 1 }
      return state.next
    }
  }

  /// Settles a place, and sends the blocks that waited for it.
  ///
  /// The blocks are sent under the lock, or two threads could send them in another order. A writer that is closed
  /// answers at once; no answer comes back here.
  /// - Parameters:
  ///   - place: a place that was taken.
  ///   - send: queues the block; nil if it does not come.
  /// - Complexity: O(1) for each block, taken over all calls.
  func fill(_ place: UInt64, with send: (@Sendable () -> Void)?) {
    state.withLock { state in
      guard place == state.first else { return state.ready[place] = .some(send) }
      var found: (@Sendable () -> Void)?? = .some(send)
      while let send = found {
        send?()
        state.first += 1
        found = state.ready.isEmpty ? nil : state.ready.removeValue(forKey: state.first)
      }
    }
  }
}
