package import EventLog
package import LMDB

// Replaying a log while its next events are read.
//
// Reading an event takes more than half as long as applying it, and nothing that is applied before can change what it
// says. So a thread reads ahead from the same snapshot, and the caller's thread applies (`MadeAhead`):
//
//     a thread   read 1 … 256   read 257 … 512   read …
//     caller's           ───────── apply 1 … 256 ───── apply 257 … 512 …
//
// Where the system allows no further thread, or another cannot read the snapshot, the caller's thread reads as well.
//
// Invariant: the events are applied in their order, and a failure to read one comes after those before it were applied,
// as in a replay by one thread. No event after the last one to apply is read, and what waits is bounded in bytes: one
// event may hold edits of hundreds of assets.

extension Projections {
  /// How many events are passed on together at most.
  static let readTogether = 256
  /// The bytes of payloads after which no further event is passed on with those before it.
  static let bytesTogether = 64 << 10

  /// No other thread can read the snapshot, or there is none.
  private struct NotShared: Error {}

  /// Applies events to this store, reading them ahead from a log that may be in another.
  /// - Parameters:
  ///   - sequences: the events to apply.
  ///   - source: the snapshot of the log's store.
  ///   - skipped: the quarantined ones, with the reasons.
  ///   - weightMax: the weight of events after which it is enough: they change rows, and with them pages.
  ///   - stackSize: the bytes of the stack of the thread that reads ahead; 0: the usual size.
  ///   - progress: called with the last applied event, every ``reportInterval`` events; return `false` to cancel.
  /// - Returns: the last applied event.
  /// - Throws: ``LibraryError`` `.corrupted` if the log lacks one of them, `.userCancelled` if `progress` returns
  ///   `false`; ``UnreadableEvent`` for one that cannot be applied.
  package func replay(
    _ log: EventLog, _ sequences: ClosedRange<UInt64>, from source: borrowing ReadTransaction,
    quarantining skipped: [UInt64: String] = [:], weightMax: UInt64 = .max, stackSize: Int = 0,
    in t: inout WriteTransaction, progress: (UInt64) -> Bool = { _ in true }
  ) throws -> UInt64 {
    let snapshot = source.held
    // A new thread does not have the task-local values of its starter.
    let upcaster = Event.upcaster
    var course = ReplayCourse(sequences, skipped, weightMax, gathering: unread, in: &t)
    var last: UInt64?
    do {
      try MadeAhead.run(stackSize: stackSize) { (give: ([ReadEvent]) -> Bool) in
        let wasShared = try Event.$upcaster.withValue(upcaster) { () throws -> Bool in
          try snapshot.read { source in
            try Self.read(log, sequences, from: source, quarantining: skipped, weightMax: weightMax, give)
            return true
          } ?? false
        }
        if !wasShared { throw NotShared() }
      } _: { (events: [ReadEvent]) in
        for event in events where last == nil {
          let isLast = try apply(event, on: &course, in: &t, lettingGo: { source.letGoOfPages() }, progress: progress)
          if isLast { last = event.sequence }
        }
        return last == nil
      } withoutThread: { _ in
        throw NotShared()
      }
    } catch is NotShared {
      // Nothing was applied: it is known before the first event.
      var cursor = try log.cursor(after: sequences.lowerBound - 1, in: source)
      for sequence in sequences where last == nil {
        let read = try ReadEvent(sequence, from: &cursor, isQuarantined: skipped[sequence] != nil)
        let isLast = try apply(read, on: &course, in: &t, lettingGo: { source.letGoOfPages() }, progress: progress)
        if isLast { last = sequence }
      }
    }
    guard let last else { preconditionFailure("A closed range has a last event.") }
    return last
  }

  /// Reads events up to the weight, and gives them away for as long as they are wanted.
  static func read(
    _ log: EventLog, _ sequences: ClosedRange<UInt64>, from source: borrowing ReadTransaction,
    quarantining skipped: [UInt64: String], weightMax: UInt64, _ give: ([ReadEvent]) -> Bool
  ) throws {
    var cursor = try log.cursor(after: sequences.lowerBound - 1, in: source)
    var events: [ReadEvent] = []
    events.reserveCapacity(readTogether)
    var byteCount = 0
    var weight: UInt64 = 0
    for sequence in sequences {
      do {
        let event = try ReadEvent(sequence, from: &cursor, isQuarantined: skipped[sequence] != nil)
        events.append(event)
        byteCount += event.byteCount
        weight += event.weight
      } catch {
        // Those before it come first.
        _ = give(events)
        throw error
      }
      let isLast = sequence == sequences.upperBound || weight >= weightMax
      guard isLast || events.count == readTogether || byteCount >= bytesTogether else { continue }
      guard give(events), !isLast else { return }
      events = []
      events.reserveCapacity(readTogether)
      byteCount = 0
    }
  }

  /// Replays a whole log into this store, which is not the log's own, batch by batch.
  /// - Parameters:
  ///   - environment: the store of these projections.
  ///   - head: the last event to apply.
  ///   - skipped: the quarantined events, with the reasons.
  ///   - batch: the number of events in a transaction; it does not affect the result.
  ///   - progress: called with the last applied event; return `false` to cancel.
  package func replay(
    _ log: EventLog, through head: UInt64, from source: borrowing ReadTransaction, into environment: LMDB.Environment,
    quarantining skipped: [UInt64: String] = [:], batch: Int = replayBatch,
    progress: (UInt64) -> Bool = { _ in true }
  ) throws {
    precondition(batch > 0, "A batch holds at least one event.")
    var done: UInt64 = 0
    while done < head {
      let wanted = (done + 1)...min(head, done + UInt64(batch))
      try environment.write { t in
        done = try replay(log, wanted, from: source, quarantining: skipped, in: &t, progress: progress)
      }
    }
  }
}
