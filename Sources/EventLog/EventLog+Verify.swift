public import LMDB

// Verification recomputes everything and stops at the first difference.
//
// One pass over the events, carrying what the next one must continue: sequence, commit, index, chain. Each of the three
// hashes in a record covers the one before, so the first disagreement identifies the changed part:
//
//     salt ‖ payload ──▶ commitment ──▶ leaf ◀── header        leaf ──▶ chain ◀── chain of the event before
//
//     commitment wrong, leaf right with the stored commitment       the payload (or salt)
//     commitment wrong, leaf right with the computed commitment     the commitment
//     leaf wrong, chain right with the stored leaf                   the header
//     leaf wrong, chain right with the computed leaf                 the leaf
//     chain wrong                                                     the chain, or the whole record
//
// The tables derived from the events are compared in the same pass, and counted at its end: a row too many has no
// event.
//
// What this cannot detect: an attacker who can write the file can recompute all of it. Only a head that was stored
// elsewhere reveals that; compare `head` of the result with it.

extension EventLog {
  /// Recomputes the events `first` to `last` and what is derived from them, and names the first difference.
  ///
  /// - Parameters:
  ///   - first: the first event to check, at least 1. The one before it is taken as it is.
  ///   - last: the last event to check; nil for the head and, beyond it, that nothing follows.
  ///   - sizes: after how many events the state of the log is wanted, its Merkle root included, which costs one more
  ///     hash an event up to the largest; only from the first event on.
  ///   - t: the snapshot.
  ///   - progress: called every 4096 events with the sequence reached; `.stop` ends the verification there.
  /// - Throws: `storage`; a difference is not thrown but returned.
  /// - Complexity: O(bytes) of the events.
  public func verify(
    from first: UInt64 = 1, to last: UInt64? = nil, statesAt sizes: Set<UInt64> = [],
    in t: borrowing some TransactionReading & ~Copyable,
    progress: (UInt64) -> Continuation = { _ in .proceed }
  ) throws(EventLogError) -> LogVerification {
    precondition(first >= 1, "Events are counted from 1.")
    precondition(first == 1 || sizes.isEmpty, "A Merkle tree has every event from the first on.")
    return try verifyRange(from: first, to: last, statesAt: sizes, in: t, progress: progress)
  }

  /// The same, where states are of what may come in front too.
  private func verifyRange(
    from first: UInt64, to last: UInt64?, statesAt sizes: Set<UInt64>,
    in t: borrowing some TransactionReading & ~Copyable, progress: (UInt64) -> Continuation = { _ in .proceed }
  ) throws(EventLogError) -> LogVerification {
    var check = LogCheck(log: self, next: first, statesAt: sizes)
    let defect = try Self.defect { () throws(DefectFound) in
      let storedHead = try check.storedHead(t)
      try check.resume(t)
      let isWhole = try check.scan(upTo: last ?? storedHead.sequence, t, progress)
      if isWhole && last == nil { try checkEnd(of: check.result, storedHead, isFromBeginning: first == 1, t) }
    }
    check.result.defect = defect
    return check.result
  }

  /// The defect at which `body` ends, if it does.
  private static func defect(_ body: () throws(DefectFound) -> Void) throws(EventLogError) -> LogVerification.Defect? {
    do throws(DefectFound) { try body() } catch {
      switch error {
      case .defect(let defect): return defect
      case .failure(let error): throw error
      }
    }
    return nil
  }
}

// MARK: - On several cores

extension EventLog {
  #if DEBUG
    private static let rangeEvents: UInt64 = 8
  #else
    private static let rangeEvents: UInt64 = 8192
  #endif
  /// The number of ranges that are checked between two checks for cancellation.
  private static let rangesAtOnce = 8

  /// Recomputes the whole log as `verify` does, with the same result, on some of the machine's cores.
  ///
  /// A range takes the chain value stored in the event before it as given; it is proved when the preceding range is
  /// found sound. Ranges meet at the end of a commit, so that each row of a commit is compared.
  ///
  /// - Parameters:
  ///   - sizes: after how many events the state of the log is wanted, its Merkle root included.
  ///   - t: the snapshot; it is read by other threads beside this one.
  ///   - progress: called now and then, on this thread, with the sequence reached; `.stop` ends the verification there.
  /// - Throws: `storage`; a difference is not thrown but returned.
  /// - Complexity: O(bytes) of the events, shared by the cores.
  public func verifyOnSeveralCores(
    statesAt sizes: Set<UInt64> = [], in t: borrowing ReadTransaction,
    progress: (UInt64) -> Continuation = { _ in .proceed }
  ) throws(EventLogError) -> LogVerification {
    let storedHead: Head
    do { storedHead = try head(t) } catch { return try verify(statesAt: sizes, in: t, progress: progress) }
    let last = storedHead.sequence
    guard last > Self.rangeEvents else { return try verify(statesAt: sizes, in: t, progress: progress) }
    var found = LogVerification(head: .empty)
    if progress(0) == .stop { return found }
    while found.head.sequence < last {
      let ranges = ranges(after: found.head.sequence, upTo: last, t)
      let parts = t.onSeveralCores(ranges.count) { index, t in
        let range = ranges[index]
        return Result { () throws(EventLogError) in
          try verifyRange(from: range.lowerBound, to: range.upperBound, statesAt: sizes, in: t)
        }
      }
      t.letGoOfPages()
      for part in parts {
        // A failure further on does not hide a defect in front of it.
        found.append(try part.get())
        if found.defect != nil { return found }
      }
      if found.head.sequence < last, progress(found.head.sequence) == .stop { return found }
    }
    found.defect = try Self.defect { () throws(DefectFound) in
      try checkEnd(of: found, storedHead, isFromBeginning: true, t)
    }
    return found
  }

  /// The next ranges of whole commits after an event.
  private func ranges(
    after first: UInt64, upTo last: UInt64, _ t: borrowing ReadTransaction
  ) -> [ClosedRange<UInt64>] {
    var ranges: [ClosedRange<UInt64>] = []
    var reached = first
    while reached < last && ranges.count < Self.rangesAtOnce {
      var end = last - reached > Self.rangeEvents ? reached + Self.rangeEvents : last
      while end < last, !endsCommit(end, t) { end += 1 }
      ranges.append(reached + 1...end)
      reached = end
    }
    return ranges
  }

  /// Whether an event is the last of its commit. True also for what cannot be read: there the check will end.
  private func endsCommit(_ sequence: UInt64, _ t: borrowing ReadTransaction) -> Bool {
    guard let found = try? t.value(for: sequence, in: events), let event = try? StoredEvent(decoding: found) else {
      return true
    }
    return event.isLast
  }
}
