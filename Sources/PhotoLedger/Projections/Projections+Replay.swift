package import EventLog
package import LMDB

// Replay: the log carried out from its first event on empty projections.
//
// It is the proof that the projections hold nothing that the log does not say: `verify` replays into a throw-away store
// and compares every byte, `rebuild` replaces the projections by what a replay gives. Both run `apply`, the same
// code as a live commit, so neither can drift from it.

extension Projections {
  /// How many events a replay into another store carries out in one transaction.
  package static let replayBatch = 4096

  /// Carries events out in this store, reading them from a log that may lie in another.
  /// - Parameters:
  ///   - sequences: the events that are wanted, from the first on.
  ///   - source: a transaction that sees the log.
  /// - Returns: the last event that was carried out.
  func replay<T: TransactionReading & ~Copyable>(
    _ log: EventLog, _ sequences: ClosedRange<UInt64>, from source: borrowing T, in t: inout WriteTransaction
  ) throws -> UInt64 {
    var cursor = try log.cursor(after: sequences.lowerBound - 1, in: source)
    var last = sequences.lowerBound - 1
    while last < sequences.upperBound, let record = try cursor.next() {
      guard record.sequence == last + 1 else { break }
      try apply(try Event(record), sequence: record.sequence, commit: record.commit, in: &t)
      last = record.sequence
    }
    return last
  }

  /// Replays a whole log into this store, which is another one than the log's, batch by batch.
  /// - Parameters:
  ///   - environment: the store of these projections.
  ///   - head: the last event that is wanted.
  ///   - batch: how many events share a transaction; the outcome does not depend on it.
  ///   - progress: is given the last event carried out, and says whether to go on.
  package func replay(
    _ log: EventLog, through head: UInt64, from source: borrowing ReadTransaction, into environment: LMDB.Environment,
    batch: Int = replayBatch, progress: (UInt64) -> Bool = { _ in true }
  ) throws {
    precondition(batch > 0, "A batch holds at least one event.")
    var done: UInt64 = 0
    while done < head {
      let wanted = (done + 1)...min(head, done + UInt64(batch))
      let reached = try environment.write { t in try replay(log, wanted, from: source, in: &t) }
      guard reached == wanted.upperBound else {
        throw LibraryError(.corrupted, "The log lacks event \(reached + 1); run `verify`.")
      }
      done = reached
      guard progress(done) else { throw LibraryError(.userCancelled, "The replay was stopped at event \(done).") }
    }
  }
}
