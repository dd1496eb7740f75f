package import EventLog
package import LMDB

// Replay: applying the log from its first event to empty projections.
//
// It is the proof that the projections hold nothing that the log does not say: `verify` replays into a throw-away store
// and compares every byte, `rebuild` replaces the projections by what a replay gives. Both run `apply`, the same
// code as a live commit, so neither can drift from it.
//
// A replay meets identifiers and hashes, which are as good as random, in the order of the log. What it puts under such
// keys nothing reads before the end, so a batch's is gathered and put in the order of the keys
// (`WriteTransaction.gather`): the same rows, and a fraction of the pages touched.

extension Projections {
  /// The number of events that a replay into another store applies in one transaction.
  package static let replayBatch = 16_384

  /// The number of events between two progress reports of a replay.
  static let reportInterval: UInt64 = 4096

  /// After which weight of events a replay releases pages, 128 edits: each may be of a row on a page of its own, with
  /// which the kernel maps its neighbours, a megabyte of them where it keeps the file in large folios.
  private static let weightBetweenLettingGo: UInt64 = 512

  /// Applies events to this store, reading them from a log that may be in another.
  /// - Parameters:
  ///   - cursor: positioned before the first of them.
  ///   - sequences: the events to apply.
  ///   - skipped: the quarantined ones, with the reasons.
  ///   - weightMax: the weight of events after which it is enough: they change rows, and with them pages.
  ///   - letGo: called when the pages of the log's store that this process has mapped are to be released.
  ///   - progress: called with the last applied event, every ``reportInterval`` events; return `false` to cancel.
  /// - Returns: the last applied event.
  /// - Throws: ``LibraryError`` `.corrupted` if the log lacks one of them, `.userCancelled` if `progress` returns
  ///   `false`; `UnreadableEvent` for one that cannot be applied.
  package func replay(
    _ cursor: inout EventCursor, _ sequences: ClosedRange<UInt64>, quarantining skipped: [UInt64: String] = [:],
    weightMax: UInt64 = .max, in t: inout WriteTransaction, lettingGo letGo: () -> Void,
    progress: (UInt64) -> Bool = { _ in true }
  ) throws -> UInt64 {
    t.gather(unread)
    var (weight, lastLetGo): (UInt64, UInt64) = (0, 0)
    for sequence in sequences {
      guard let record = try cursor.next(), record.sequence == sequence else {
        throw LibraryError.missingEvent(sequence)
      }
      weight += UInt64(max(1, try applyUnlessQuarantined(record, quarantining: skipped, in: &t)))
      let isLast = sequence == sequences.upperBound || weight >= weightMax
      if weight - lastLetGo >= Self.weightBetweenLettingGo || isLast {
        t.letGoOfPages()
        letGo()
        lastLetGo = weight
      }
      guard sequence % Self.reportInterval == 0 || isLast else { continue }
      guard progress(sequence) else {
        throw LibraryError(.userCancelled, "The replay was stopped at event \(sequence); nothing was changed.")
      }
      guard isLast else { continue }
      try t.settle()
      return sequence
    }
    preconditionFailure("A closed range has a last event.")
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
        var cursor = try log.cursor(after: wanted.lowerBound - 1, in: source)
        done = try replay(
          &cursor, wanted, quarantining: skipped, in: &t, lettingGo: { source.letGoOfPages() }, progress: progress)
      }
    }
  }
}
