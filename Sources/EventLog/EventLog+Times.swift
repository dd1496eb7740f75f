public import LMDB

extension EventLog {
  /// The number of the last commit whose own time is at or before a time; nil when there is none.
  ///
  /// Clocks are set back now and then, so times need not ascend with the commits, and the search goes from the end.
  ///
  /// - Parameter time: microseconds since 1970 UTC.
  /// - Throws: `corrupted`, `storage`.
  /// - Complexity: O(log n + k), k the number of commits made after the time.
  public func lastCommit(
    atOrBefore time: Int64, in t: borrowing some TransactionReading & ~Copyable
  ) throws(EventLogError) -> UInt64? {
    var failure: EventLogError?
    var found: UInt64?
    do throws(LMDBError) {
      try t.forEach(in: commits, from: .max, reverse: true) { (number, row) throws(LMDBError) in
        do throws(EventLogError) {
          if try Commit.time(of: number, row: row) <= time { found = number }
        } catch { failure = error }
        return failure == nil && found == nil ? .proceed : .stop
      }
    } catch {
      throw EventLogError(error)
    }
    if let failure { throw failure }
    return found
  }
}

extension Commit {
  /// The time of the commit that a row describes; the rest of the row is not looked at.
  fileprivate static func time(of number: UInt64, row: RawSpan) throws(EventLogError) -> Int64 {
    do throws(CBORError) {
      var reader = CBORReader(row)
      try reader.array(count: 5)
      _ = try reader.unsigned()
      _ = try reader.unsigned()
      return try reader.integer()
    } catch {
      throw EventLogError(error, commit: number, of: "the row of the commit")
    }
  }
}
