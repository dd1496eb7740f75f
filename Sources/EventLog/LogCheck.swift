import LMDB

// What `EventLog.verify` does at each event, and at the end (EventLog+Verify.swift says why).

/// The two ways a check ends early.
enum DefectFound: Error {
  case defect(LogVerification.Defect)
  case failure(EventLogError)

  static func defect(_ sequence: UInt64, _ kind: LogVerification.Defect.Kind, _ detail: String) -> Self {
    .defect(LogVerification.Defect(sequence: sequence, kind: kind, detail: detail))
  }
}

/// Runs `body`; a failure of the log or store ends the check.
@inline(__always)
func trying<R: ~Copyable>(_ body: () throws(EventLogError) -> R) throws(DefectFound) -> R {
  do { return try body() } catch { throw .failure(error) }
}

/// The state carried from event to event.
struct LogCheck {
  /// The commit whose events are passing.
  struct OpenCommit {
    let firstSequence: UInt64
    let information: CommitInformation
    var count: UInt64
  }

  let log: EventLog
  var next: UInt64
  var chain = SHA256Digest.zero
  var commit: UInt64 = 0
  var index: UInt64 = 0
  /// Nil when the check began inside the commit.
  var open: OpenCommit?
  var result = LogVerification(head: .empty)
  private let sizes: Set<UInt64>
  private let largestSize: UInt64

  init(log: EventLog, next: UInt64, statesAt sizes: Set<UInt64>) {
    self.log = log
    self.next = next
    self.sizes = sizes
    largestSize = sizes.max() ?? 0
    result.frontier = MerkleFrontier(from: next - 1)
    if next == 1 { noteState() }
  }

  /// Keeps the state reached, if it is asked for.
  private mutating func noteState() {
    let head = result.head
    guard sizes.contains(head.sequence) else { return }
    result.edges[head.sequence] = LogVerification.Edge(head: head, frontier: result.frontier)
  }

  /// The stored head, after a look at the number of the format beside it.
  func storedHead(_ t: borrowing some TransactionReading & ~Copyable) throws(DefectFound) -> EventLog.Head {
    let format: UInt64?
    do { format = try log.storedFormat(t) } catch {
      if error.code == .storage { throw .failure(error) }
      throw .defect(0, .alteredFormat, error.detail)
    }
    if format == nil { throw .defect(0, .alteredFormat, "there is no format number") }
    do { return try log.head(t) } catch {
      if error.code != .corrupted { throw .failure(error) }
      throw .defect(0, .headMismatch, "the stored head cannot be read")
    }
  }

  /// Takes the event before the first one as the state to continue from.
  mutating func resume(_ t: borrowing some TransactionReading & ~Copyable) throws(DefectFound) {
    guard next > 1 else { return }
    let previous = next - 1
    let event: StoredEvent?
    do { event = try log.event(at: previous, in: t) } catch {
      if error.code != .corrupted { throw .failure(error) }
      throw .defect(previous, .malformed, error.detail)
    }
    guard let event else { throw .defect(previous, .missing, "there is no record to continue from") }
    (chain, commit, index, result.endsCommit) = (event.chain, event.commit, event.index, event.isLast)
    result.head = EventLog.Head(sequence: previous, commit: commit, chain: chain)
  }

  /// Checks every event up to `last`; false when `progress` stopped it.
  mutating func scan(
    upTo last: UInt64, _ t: borrowing some TransactionReading & ~Copyable, _ progress: (UInt64) -> Continuation
  ) throws(DefectFound) -> Bool {
    var cursor: Cursor
    do { cursor = try t.cursor(in: log.events) } catch { throw .failure(EventLogError(error)) }
    var isFirst = true
    while next <= last {
      let entry: Entry?
      do { entry = try isFirst ? cursor.seek(atOrAfter: next) : cursor.next() } catch {
        throw .failure(EventLogError(error))
      }
      isFirst = false
      guard let entry, entry.integerKey == next else { throw .defect(next, .missing, "there is no such record") }
      try check(entry.value)
      if result.endsCommit { try checkRows(t) }
      if next % 4096 == 0 && progress(next) == .stop { return false }
      next += 1
    }
    return true
  }

  private mutating func check(_ record: RawSpan) throws(DefectFound) {
    let event: StoredEvent
    let information: CommitInformation?
    do throws(CBORError) {
      event = try StoredEvent(decoding: record)
      // The one thing that decoding in place leaves unread.
      guard event.typeBytes.isText else { throw CBORError(.invalidText, at: event.typeOffset) }
      information = try event.information()
    } catch {
      throw .defect(next, .malformed, error.description)
    }
    guard event.sequence == next else {
      throw .defect(next, .misplaced, "the record is that of event \(event.sequence)")
    }
    try checkHashes(event)
    try checkCommit(event, information)
    chain = event.chain
    result.eventCount += 1
    if event.isErased { result.erasedCount += 1 }
    result.head = EventLog.Head(sequence: next, commit: event.commit, chain: chain)
    guard next <= largestSize else { return }
    result.frontier.append(event.leaf)
    noteState()
  }

  private func checkHashes(_ event: borrowing StoredEvent) throws(DefectFound) {
    let leaf = EventRecord.leaf(header: event.header, commitment: event.commitment)
    if let salt = event.salt, let payload = event.payload {
      let commitment = salt.withUnsafeBytes { EventRecord.commitment(salt: $0, payload: payload) }
      if commitment != event.commitment {
        if EventRecord.leaf(header: event.header, commitment: commitment) == event.leaf {
          throw .defect(next, .alteredCommitment, "the commitment is not that of salt and payload, the leaf is")
        }
        throw .defect(next, .alteredPayload, "salt and payload do not give the commitment")
      }
    }
    if leaf != event.leaf {
      if EventRecord.chain(after: chain, leaf: leaf) == event.chain {
        throw .defect(next, .alteredLeaf, "the leaf is not that of header and commitment, the chain is")
      }
      throw .defect(next, .alteredHeader, "header and commitment do not give the leaf")
    }
    if EventRecord.chain(after: chain, leaf: leaf) != event.chain {
      throw .defect(next, .brokenChain, "the chain does not continue from event \(next - 1)")
    }
  }

  private mutating func checkCommit(
    _ event: borrowing StoredEvent, _ information: CommitInformation?
  ) throws(DefectFound) {
    let begins = result.endsCommit
    // Wrapping, since the record before a range may hold any number; it is checked with the preceding range.
    let expected = begins ? (commit &+ 1, 0) : (commit, index &+ 1)
    guard (event.commit, event.index) == expected else {
      throw .defect(
        next, .brokenCommit,
        "it claims to be event \(event.index) of commit \(event.commit), not \(expected.1) of \(expected.0)")
    }
    guard begins == (information != nil) else {
      throw .defect(next, .brokenCommit, "only the first event of a commit has the commit's information")
    }
    if let information {
      open = OpenCommit(firstSequence: next, information: information, count: 1)
      if information.key != nil { result.keyCount += 1 }
    } else if let information = open?.information {
      guard information.time == event.time else {
        throw .defect(next, .brokenCommit, "its time is not that of the commit")
      }
      open?.count += 1
    }
    (commit, index, result.endsCommit) = (event.commit, event.index, event.isLast)
  }

  /// Compares the rows of the commit that has just ended with what they should be.
  private mutating func checkRows(_ t: borrowing some TransactionReading & ~Copyable) throws(DefectFound) {
    result.commitCount += 1
    guard let open else { return }  // the check began inside this commit
    let expected = Commit(
      number: commit, firstSequence: open.firstSequence, eventCount: open.count, chain: chain,
      information: open.information)
    let log = log
    let row = try trying { () throws(EventLogError) in
      try storing { () throws(LMDBError) in try t.bytes(for: expected.number, in: log.commits) }
    }
    guard row == expected.row else {
      throw .defect(next, .derivedCommit, "the row of commit \(commit) does not follow from its events")
    }
    guard let key = open.information.key else { return }
    let number = try trying { () throws(EventLogError) in
      try storing { () throws(LMDBError) in
        try t.bytes(for: EventLog.storedKey(key, of: open.information.client), in: log.keys)
      }
    }
    guard number == CBOR.unsigned(commit).encoded else {
      throw .defect(next, .derivedKey, "the idempotency key \(key) does not lead to commit \(commit)")
    }
  }
}

extension EventLog {
  /// Checks that the log ends where its head says, and that no table has a row too many.
  func checkEnd(
    of found: LogVerification, _ head: Head, isFromBeginning: Bool, _ t: borrowing some TransactionReading & ~Copyable
  ) throws(DefectFound) {
    let counts = try trying { () throws(EventLogError) in
      try storing { () throws(LMDBError) in
        (
          events: try t.count(of: events), commits: try t.count(of: commits), keys: try t.count(of: keys),
          meta: try t.count(of: meta)
        )
      }
    }
    if counts.meta > MetaKey.count {
      throw .defect(head.sequence, .alteredFormat, "the log has \(counts.meta) rows of metadata, not \(MetaKey.count)")
    }
    if head.sequence > 0 && !found.endsCommit {
      throw .defect(head.sequence, .brokenCommit, "the log ends inside commit \(found.head.commit)")
    }
    if head != found.head {
      throw .defect(head.sequence, .headMismatch, "the stored head is not that of the last event")
    }
    if UInt64(counts.events) != head.sequence {
      throw .defect(head.sequence + 1, .surplus, "\(counts.events) records are stored, the head is \(head.sequence)")
    }
    if UInt64(counts.commits) != head.commit {
      throw .defect(head.sequence, .derivedCommit, "there are \(counts.commits) rows for \(head.commit) commits")
    }
    if isFromBeginning && counts.keys != found.keyCount {
      throw .defect(head.sequence, .derivedKey, "there are \(counts.keys) rows for \(found.keyCount) idempotency keys")
    }
  }
}
