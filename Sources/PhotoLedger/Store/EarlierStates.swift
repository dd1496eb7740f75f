import EventLog
import LMDB
import Synchronization

// Reading on from commit to commit.
//
// The state of an object at an earlier event is the current state with the events since reverted. A follower that
// catches up reads the same object at one commit after the other, and each time reverts all events that are still
// ahead: a thousand edits of one asset would be half a million events. So the last state read is cached, and the next
// one is computed forward from it:
//
//     events of the object    e1 ─ e2 ─ e3 ─ e4 ─ … ─ e1000 (now)
//     first                         ◀──────────────── back, 998 events
//     then                          ──▶ e3 ──▶ e4     forward, one event each
//
// The functions of RowChanges.swift are used in both directions, and each checks the old value that the event names.
//
// Invariant: a remembered state is what the way back would give. A log only grows, so that an earlier state stays; but
// an erasure takes words out of it, and a rebuild may quarantine events. So a state is remembered with the number of
// both, and is forgotten when one has changed. A moment keeps its overlay by the same rule (LookingBack.swift).
// Rejected: values that come with the rows of their commit, which says nothing of their resources and words.

/// The states of objects that were read last; `states` is guarded by its lock.
final class EarlierStates<Value: Sendable>: Sendable {
  struct State: Sendable {
    let sequence: UInt64
    let value: Value?
    /// The number of events that had lost their payload or were quarantined.
    let withdrawn: Int
  }

  private let states = Mutex<[ObjectNumber: State]>([:])

  /// How many objects are remembered.
  private static var limit: Int { 1024 }

  /// A state nearer before an event than the last one is after it; nil if none is known.
  func state(of number: ObjectNumber, before sequence: UInt64, _ head: UInt64, _ withdrawn: Int) -> State? {
    states.withLock { states in
      guard let state = states[number], state.withdrawn == withdrawn, state.sequence <= sequence,
        sequence - state.sequence <= head - min(sequence, head)
      else { return nil }
      return state
    }
  }

  func remember(_ state: State, of number: ObjectNumber) {
    states.withLock { states in
      if states.count >= Self.limit { states.removeAll(keepingCapacity: true) }
      states[number] = state
    }
  }
}

extension StoreCore {
  /// The number of events that have lost their payload or are quarantined.
  func withdrawnCount(_ t: borrowing StoreReading) throws -> Int {
    try t.count(of: log.redactions.database) + t.count(of: projections.quarantine)
  }
}

extension LibraryStore {
  /// Ways back over fewer events are not worth remembering what they lead to.
  private static let shortWay = 4

  /// The state of an object after an event: forward from the cached state, or backward from the current one.
  /// - Parameters:
  ///   - back: goes back, and returns the number of events.
  ///   - apply: applies an event to the state.
  func earlierState<Value>(
    _ states: EarlierStates<Value>, of number: ObjectNumber, at sequence: UInt64, _ t: borrowing StoreReading,
    back: () throws -> (value: Value?, eventCount: Int), apply: (Event, inout Value?) throws -> Void
  ) throws -> Value? {
    if sequence == Self.now { return try back().value }
    let withdrawn = try core.withdrawnCount(t)
    let head = try core.log.head(t).sequence
    if let known = states.state(of: number, before: sequence, head, withdrawn) {
      var value = known.value
      let later = try core.projections.history(of: number, after: known.sequence, through: sequence, in: t)
      try forEachEvent(of: number, later, t) { try apply($0, &value) }
      states.remember(EarlierStates.State(sequence: sequence, value: value, withdrawn: withdrawn), of: number)
      return value
    }
    let (value, eventCount) = try back()
    if eventCount >= Self.shortWay {
      states.remember(EarlierStates.State(sequence: sequence, value: value, withdrawn: withdrawn), of: number)
    }
    return value
  }

  /// Gives the events that touched an object, in the order of their numbers.
  func forEachEvent(
    of number: ObjectNumber, _ sequences: some Sequence<UInt64>, _ t: borrowing StoreReading,
    _ body: (Event) throws -> Void
  ) throws {
    for sequence in sequences {
      #if DEBUG
        eventsCrossed.add(1, ordering: .relaxed)
      #endif
      guard let record = try core.log.event(at: sequence, in: t) else {
        throw LibraryError(.corrupted, "The log lacks event \(sequence), which touched object \(number); run `verify`.")
      }
      do {
        try body(try Event(record))
      } catch let mismatch as RowMismatch {
        throw core.projections.corruption("the \(mismatch.field) of object \(number)")
      }
    }
  }
}
