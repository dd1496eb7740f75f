public import LMDB

extension EventLog {
  /// Makes the tables `commits` and `keys` anew from the events, which stay as they are.
  ///
  /// - Throws: `corrupted` at the first event that cannot be read or does not continue its commit, `storage`.
  /// - Complexity: O(n log n), n the number of events.
  public func rebuildDerivedTables(in t: inout WriteTransaction) throws(EventLogError) {
    let rows = try derivedCommits(t)
    do throws(LMDBError) {
      try t.clear(commits)
      try t.clear(keys)
      for row in rows { try putRows(of: row, in: &t) }
    } catch {
      throw EventLogError(error)
    }
  }

  private func derivedCommits(
    _ t: borrowing some TransactionReading & ~Copyable
  ) throws(EventLogError) -> [Commit] {
    var rows: [Commit] = []
    var open: (firstSequence: UInt64, information: CommitInformation)?
    try read(after: 0, in: t) { (event) throws(EventLogError) in
      let information: CommitInformation?
      do throws(CBORError) { information = try event.information() } catch {
        throw EventLogError(error, sequence: event.sequence, of: "the information of the commit")
      }
      if let information { open = (event.sequence, information) }
      guard event.isLast else { return .proceed }
      guard let begun = open, event.commit == UInt64(rows.count) + 1 else {
        throw EventLogError(.corrupted, sequence: event.sequence, commit: event.commit, "the commit has no beginning")
      }
      rows.append(
        Commit(
          number: event.commit, firstSequence: begun.firstSequence,
          eventCount: event.sequence - begun.firstSequence + 1, chain: event.chain, information: begun.information))
      open = nil
      return .proceed
    }
    return rows
  }
}
