public import LMDB

// One commit being written, event by event.
//
// The domain decides one event after the other and needs to know the sequence of each before it can decide the next
// (the number of a new object is the sequence of the event that made it): `nextSequence` says it. Since only `finish`
// knows which event was the last, the appender holds each event back until the following one arrives; what was
// appended last is therefore not yet to be read from the transaction.
//
//     begun ── append ──▶ holding one ── append ──▶ holding one ── finish ──▶ commit
//
// An appender that is dropped unfinished leaves records beyond the head in the transaction: that transaction must be
// given up. If it were committed all the same, the next append would fail, and `verify` would name the records.

/// Appends the events of one commit inside a write transaction.
public struct EventAppender: ~Copyable {
  /// The head before this commit.
  public let previousHead: EventLog.Head
  private let log: EventLog
  private let information: CommitInformation
  private var chain: SHA256Digest
  private var held: EventDraft?
  private var count: UInt64 = 0
  private var byteCount = 0
  /// The record being written; its room serves all of the commit.
  private var record = CBORWriter()

  init(_ log: EventLog, _ information: CommitInformation, after head: EventLog.Head) {
    self.log = log
    self.information = information
    previousHead = head
    chain = head.chain
  }

  /// The number this commit will have.
  public var commit: UInt64 { previousHead.commit + 1 }

  /// The sequence that the next event appended will have.
  public var nextSequence: UInt64 { previousHead.sequence + count + 1 }

  /// How many events were appended so far.
  public var eventCount: UInt64 { count }

  /// Appends an event and gives its sequence.
  ///
  /// - Throws: `tooLarge`, `invalidField`, `corrupted` when records lie beyond the head, `storage`.
  /// - Complexity: O(payload) for hashing, O(1) amortised page writes.
  @discardableResult
  public mutating func append(_ event: EventDraft, in t: inout WriteTransaction) throws(EventLogError) -> UInt64 {
    try check(event)
    try putHeld(isLast: false, in: &t)
    held = event
    count += 1
    return previousHead.sequence + count
  }

  /// Appends an event and gives its sequence.
  ///
  /// - Throws: as `append(_:in:)`.
  @discardableResult
  public mutating func append(
    type: String, version: UInt32, payload: [UInt8], salt: Salt, in t: inout WriteTransaction
  ) throws(EventLogError) -> UInt64 {
    try append(EventDraft(type: type, version: version, payload: payload, salt: salt), in: &t)
  }

  /// Writes the head and the row of the commit; the commit is real when the transaction is.
  ///
  /// - Throws: `invalidField` when nothing was appended, `storage`.
  public consuming func finish(in t: inout WriteTransaction) throws(EventLogError) -> Commit {
    guard count > 0 else { throw EventLogError(.invalidField, "a commit must have at least one event") }
    try putHeld(isLast: true, in: &t)
    let commit = Commit(
      number: commit, firstSequence: previousHead.sequence + 1, eventCount: count, chain: chain,
      information: information)
    do throws(LMDBError) {
      try log.putRows(of: commit, in: &t)
      try log.put(EventLog.Head(sequence: commit.lastSequence, commit: commit.number, chain: chain), in: &t)
    } catch {
      throw EventLogError(error)
    }
    return commit
  }

  private func check(_ event: EventDraft) throws(EventLogError) {
    let limits = log.limits
    let typeCount = event.type.utf8.count
    guard (1...128).contains(typeCount) else {
      throw EventLogError(.invalidField, "an event type has 1 to 128 bytes, not \(typeCount)")
    }
    guard event.payload.count <= limits.payloadBytes else {
      throw EventLogError(
        .tooLarge, sequence: nextSequence,
        "the payload of \(event.type) has \(event.payload.count) bytes, at most \(limits.payloadBytes) are allowed")
    }
    guard count < UInt64(limits.commitEvents) else {
      throw EventLogError(.tooLarge, commit: commit, "a commit has at most \(limits.commitEvents) events")
    }
    guard byteCount + event.payload.count <= limits.commitBytes else {
      throw EventLogError(.tooLarge, commit: commit, "a commit has at most \(limits.commitBytes) bytes")
    }
  }

  private mutating func putHeld(isLast: Bool, in t: inout WriteTransaction) throws(EventLogError) {
    guard let event = held.take() else { return }
    let place = EventPlace(
      sequence: previousHead.sequence + count, commit: commit, index: count - 1, isLast: isLast)
    let chain = EventRecord.encode(event, at: place, of: information, after: chain, into: &record)
    do throws(LMDBError) {
      try t.put(place.sequence, record.bytes.span.bytes, in: log.events, mode: .append)
    } catch {
      if error.code == .keyOutOfOrder {
        throw EventLogError(
          .corrupted, sequence: place.sequence, "the log has events beyond its head, event \(previousHead.sequence)")
      }
      throw EventLogError(error)
    }
    self.chain = chain
    byteCount += record.bytes.count
  }
}

extension EventLog {
  /// Begins a commit after the head.
  ///
  /// - Parameters:
  ///   - information: who, when, why, and the idempotency key.
  ///   - expectedHead: the sequence the head must have; nil when it does not matter.
  ///   - t: the transaction the commit belongs to.
  /// - Throws: `conflict` with the head found, `keyUsed` with the earlier commit, `tooLarge`, `invalidField`,
  ///   `corrupted`, `storage`.
  /// - Complexity: O(log k), k the number of idempotency keys.
  public func begin(
    _ information: CommitInformation, expectedHead: UInt64? = nil, in t: inout WriteTransaction
  ) throws(EventLogError) -> EventAppender {
    try information.check()
    let head = try head(t)
    if let key = information.key, let earlier = try commit(forKey: key, of: information.client, in: t) {
      throw EventLogError(.keyUsed, commit: earlier.number, "the idempotency key \(key) was used by it")
    }
    if let expectedHead, expectedHead != head.sequence {
      throw EventLogError(
        .conflict, sequence: head.sequence, "the head is not event \(expectedHead), which was expected")
    }
    return EventAppender(self, information, after: head)
  }

  /// Appends a commit whose events are all known.
  ///
  /// - Throws: as `begin`, `EventAppender.append` and `EventAppender.finish`.
  /// - Complexity: O(bytes) for hashing.
  @discardableResult
  public func append(
    _ information: CommitInformation, _ events: [EventDraft], expectedHead: UInt64? = nil,
    in t: inout WriteTransaction
  ) throws(EventLogError) -> Commit {
    var appender = try begin(information, expectedHead: expectedHead, in: &t)
    for event in events { try appender.append(event, in: &t) }
    return try appender.finish(in: &t)
  }
}
