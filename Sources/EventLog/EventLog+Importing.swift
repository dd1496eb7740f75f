public import LMDB

// Events that were written elsewhere, taken in as they are.
//
// A log that is copied event by event must come out byte for byte the same, also where payloads were erased, so it is
// not appended anew: every part of each record is given, and proved before it is written. What is given is hostile
// until then; a record that does not continue the log, or whose hashes are not its own, is rejected, and the
// transaction with it.

/// All parts of an event of a log.
public struct EventCopy: Sendable, Hashable {
  /// Its position in the log, from 1.
  public var sequence: UInt64
  /// The number of its commit, from 1.
  public var commit: UInt64
  /// Its position in the commit, from 0.
  public var index: UInt64
  /// Whether it is the last of its commit.
  public var isLast: Bool
  /// When the commit was made, microseconds since 1970 UTC.
  public var time: Int64
  /// What happened.
  public var type: String
  /// The version of the schema of the payload.
  public var version: UInt32
  /// The client and cause of the commit; nil in all events but the first of a commit.
  public var information: CommitInformation?
  /// SHA-256(salt ‖ payload).
  public var commitment: SHA256Digest
  /// The salt of 16 bytes; nil when it was erased.
  public var salt: [UInt8]?
  /// The content; nil when it was erased.
  public var payload: [UInt8]?
  /// The leaf of the record.
  public var leaf: SHA256Digest
  /// The chain up to the record.
  public var chain: SHA256Digest

  /// An event with all its parts.
  public init(
    sequence: UInt64, commit: UInt64, index: UInt64, isLast: Bool, time: Int64, type: String, version: UInt32,
    information: CommitInformation?, commitment: SHA256Digest, salt: [UInt8]?, payload: [UInt8]?, leaf: SHA256Digest,
    chain: SHA256Digest
  ) {
    (self.sequence, self.commit, self.index, self.isLast) = (sequence, commit, index, isLast)
    (self.time, self.type, self.version, self.information) = (time, type, version, information)
    (self.commitment, self.salt, self.payload, self.leaf, self.chain) = (commitment, salt, payload, leaf, chain)
  }

  /// A copy of an event as it stands in a log.
  ///
  /// - Throws: `CBORError` when the record is damaged.
  public init(_ event: borrowing StoredEvent) throws(CBORError) {
    let salt = event.salt
    self.init(
      sequence: event.sequence, commit: event.commit, index: event.index, isLast: event.isLast, time: event.time,
      type: event.type, version: event.version, information: try event.information(), commitment: event.commitment,
      salt: salt?.withUnsafeBytes { Array($0) }, payload: event.payloadBytes, leaf: event.leaf, chain: event.chain)
  }
}

/// Appends events after the head of a log, one after the other.
public struct EventImporter: Sendable {
  private let log: EventLog
  /// The end of what was taken in; ends inside a commit until its last event came.
  public private(set) var head: EventLog.Head
  /// The commit whose events are passing, with its first sequence.
  private var open: (firstSequence: UInt64, information: CommitInformation)?

  init(_ log: EventLog, after head: EventLog.Head) {
    self.log = log
    self.head = head
  }

  /// Whether the last event taken in was the last of its commit: only then may the transaction be committed.
  public var isBetweenCommits: Bool { open == nil }

  /// Proves an event and puts it after the last one.
  ///
  /// - Throws: `corrupted` for an event that does not continue the log or does not prove itself, `invalidField`,
  ///   `tooLarge`, `keyUsed`, `storage`.
  /// - Complexity: O(payload) for hashing.
  public mutating func append(_ event: EventCopy, in t: inout WriteTransaction) throws(EventLogError) {
    let information = try checkPlace(of: event, in: t)
    try checkForm(of: event)
    let record = try proved(event)
    try storing { () throws(LMDBError) in try t.put(event.sequence, record, in: log.events, mode: .append) }
    let first = open?.firstSequence ?? event.sequence
    open = (first, information)
    head = EventLog.Head(sequence: event.sequence, commit: event.commit, chain: event.chain)
    guard event.isLast else { return }
    open = nil
    let (rows, end) = (log, head)
    try storing { () throws(LMDBError) in
      try rows.putRows(
        of: Commit(
          number: event.commit, firstSequence: first, eventCount: event.sequence - first + 1, chain: event.chain,
          information: information), in: &t)
      try rows.put(end, in: &t)
    }
  }

  /// Checks that an event is the next one, and gives the information of its commit.
  private func checkPlace(
    of event: EventCopy, in t: borrowing WriteTransaction
  ) throws(EventLogError) -> CommitInformation {
    func refusal(_ detail: String) -> EventLogError {
      EventLogError(.corrupted, sequence: event.sequence, detail)
    }
    guard event.sequence == head.sequence + 1 else { throw refusal("event \(head.sequence + 1) was to follow") }
    guard let open else {
      guard event.commit == head.commit + 1, event.index == 0, let information = event.information else {
        throw refusal("the first event of commit \(head.commit + 1) was to follow, with the commit's information")
      }
      try information.check()
      guard information.time == event.time else { throw refusal("its time is not that of its commit") }
      if let key = information.key, let earlier = try log.commit(forKey: key, of: information.client, in: t) {
        throw EventLogError(.keyUsed, commit: earlier.number, "the idempotency key \(key) was used by it")
      }
      return information
    }
    guard event.commit == head.commit, event.index == event.sequence - open.firstSequence, event.information == nil
    else { throw refusal("event \(event.sequence - open.firstSequence) of commit \(head.commit) was to follow") }
    guard open.information.time == event.time else { throw refusal("its time is not that of its commit") }
    return open.information
  }

  private func checkForm(of event: EventCopy) throws(EventLogError) {
    guard (1...128).contains(event.type.utf8.count) else {
      throw EventLogError(
        .invalidField, sequence: event.sequence, "an event type has 1 to 128 bytes, not \(event.type.utf8.count)")
    }
    guard event.payload?.count ?? 0 <= log.limits.payloadBytes else {
      throw EventLogError(
        .tooLarge, sequence: event.sequence, "a payload has at most \(log.limits.payloadBytes) bytes")
    }
    guard event.index < UInt64(log.limits.commitEvents) else {
      throw EventLogError(.tooLarge, commit: event.commit, "a commit has at most \(log.limits.commitEvents) events")
    }
    guard (event.salt == nil) == (event.payload == nil), event.salt?.count ?? Salt.byteCount == Salt.byteCount else {
      throw EventLogError(
        .corrupted, sequence: event.sequence, "salt and payload are both there or both erased, and a salt has 16 bytes")
    }
  }

  /// The bytes of a record all of whose hashes are right.
  private func proved(_ event: EventCopy) throws(EventLogError) -> [UInt8] {
    func refusal(_ detail: String) -> EventLogError {
      EventLogError(.corrupted, sequence: event.sequence, detail)
    }
    var writer = CBORWriter(capacity: 256)
    EventRecord.writeHeader(
      EventPlace(sequence: event.sequence, commit: event.commit, index: event.index, isLast: event.isLast),
      time: event.time, event.type, event.version, event.information, into: &writer)
    let header = writer.finish()
    if let salt = event.salt, let payload = event.payload {
      let commitment = salt.withUnsafeBytes { EventRecord.commitment(salt: $0, payload: payload.span.bytes) }
      guard commitment == event.commitment else { throw refusal("salt and payload do not give the commitment") }
    }
    guard EventRecord.leaf(header: header.span.bytes, commitment: event.commitment) == event.leaf else {
      throw refusal("header and commitment do not give the leaf")
    }
    guard EventRecord.chain(after: head.chain, leaf: event.leaf) == event.chain else {
      throw refusal("the chain does not continue from event \(head.sequence)")
    }
    var record = CBORWriter(capacity: (event.payload?.count ?? 0) + header.count + 160)
    let content = event.salt.flatMap { salt in event.payload.map { (salt, $0) } }
    EventRecord.write(header.span.bytes, event.commitment, content: content, event.leaf, event.chain, into: &record)
    return record.finish()
  }
}

extension EventLog {
  /// Begins to append events after the head.
  ///
  /// - Throws: `corrupted`, `storage`.
  /// - Complexity: O(1).
  public func importer(in t: borrowing some TransactionReading & ~Copyable) throws(EventLogError) -> EventImporter {
    EventImporter(self, after: try head(t))
  }
}
