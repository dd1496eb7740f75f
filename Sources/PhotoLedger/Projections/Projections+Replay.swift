package import EventLog
package import LMDB

// Replay: the log carried out from its first event on empty projections.
//
// It is the proof that the projections hold nothing that the log does not say: `verify` replays into a throw-away store
// and compares every byte, `rebuild` replaces the projections by what a replay gives. Both run `apply`, the same
// code as a live commit, so neither can drift from it.
//
// A replay meets identifiers and hashes, which are as good as random, in the order of the log. What it puts under such
// keys nothing reads before the end, so a batch's is gathered and put in the order of the keys
// (`WriteTransaction.gather`): the same rows, and a fraction of the pages touched.

extension Projections {
  /// How many events a replay into another store carries out in one transaction.
  package static let replayBatch = 16_384

  /// How many events are carried out between two reports of how far a replay has come.
  static let reportInterval: UInt64 = 4096

  /// Carries events out in this store, reading them from a log that may lie in another.
  /// - Parameters:
  ///   - cursor: stands before the first of them.
  ///   - sequences: the events that are wanted, from the first on.
  ///   - skipped: those that are set aside, with the reasons.
  ///   - progress: is given the last event carried out, every ``reportInterval`` events, and says whether to go on.
  /// - Throws: ``LibraryError`` `.corrupted` if the log lacks one of them, `.userCancelled` if `progress` stops;
  ///   `UnreadableEvent` for one that cannot be carried out.
  package func replay(
    _ cursor: inout EventCursor, _ sequences: ClosedRange<UInt64>, settingAside skipped: [UInt64: String] = [:],
    in t: inout WriteTransaction,
    progress: (UInt64) -> Bool = { _ in true }
  ) throws {
    t.gather(unread)
    for sequence in sequences {
      guard let record = try cursor.next(), record.sequence == sequence else {
        throw LibraryError(.corrupted, "The log lacks event \(sequence); run `verify`.")
      }
      try carryOut(record, settingAside: skipped, in: &t)
      guard sequence % Self.reportInterval == 0 || sequence == sequences.upperBound else { continue }
      t.letGoOfPages()
      guard progress(sequence) else {
        throw LibraryError(.userCancelled, "The replay was stopped at event \(sequence); nothing was changed.")
      }
    }
    try t.settle()
  }

  /// Replays a whole log into this store, which is another one than the log's, batch by batch.
  /// - Parameters:
  ///   - environment: the store of these projections.
  ///   - head: the last event that is wanted.
  ///   - skipped: the events that are set aside, with the reasons.
  ///   - batch: how many events share a transaction; the outcome does not depend on it.
  ///   - progress: is given the last event carried out, and says whether to go on.
  package func replay(
    _ log: EventLog, through head: UInt64, from source: borrowing ReadTransaction, into environment: LMDB.Environment,
    settingAside skipped: [UInt64: String] = [:], batch: Int = replayBatch,
    progress: (UInt64) -> Bool = { _ in true }
  ) throws {
    precondition(batch > 0, "A batch holds at least one event.")
    var done: UInt64 = 0
    while done < head {
      let wanted = (done + 1)...min(head, done + UInt64(batch))
      try environment.write { t in
        var cursor = try log.cursor(after: wanted.lowerBound - 1, in: source)
        try replay(&cursor, wanted, settingAside: skipped, in: &t, progress: progress)
      }
      done = wanted.upperBound
    }
  }
}
