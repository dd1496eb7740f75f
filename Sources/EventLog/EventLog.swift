// The log: what happened, in one order, for ever.
//
//     events     sequence (integer)  → record             the truth; appended to only
//     commits    number (integer)    → row of the commit   derived: lists commits without reading events
//     keys       idempotency key     → number of commit    derived
//     redactions sequence (integer)  → what stands for an erased payload, and which event brought it: derived
//     log.meta   "format"            → 1
//                "head"              → [sequence, commit, chain]
//
// It knows no photo: a payload is bytes. It has no transaction of its own: it appends inside the caller's, so that what
// is derived from an event can be committed with it, and it reads in whichever snapshot it is given.
//
// Its public face is the seam to another engine, and nothing else may be assumed of it:
//
//     begin(expectedHead) … append … finish   ·   events(after)   ·   head   ·   waitForChange
//
// Invariants, all checked by `verify`: sequences are 1, 2, 3 … without a gap, and so are commits; the events of a
// commit are neighbours; each record's hashes are those of EventRecord; the head is the last event; the derived
// tables follow from the events.

public import LMDB

/// An append-only log of events in an LMDB environment.
public struct EventLog: Sendable {
  /// What may be appended at most.
  public struct Limits: Sendable, Hashable {
    /// Bytes of one payload. The bytes of a photo do not belong in LMDB.
    public var payloadBytes = 16 << 20
    /// Bytes of all records of one commit.
    public var commitBytes = 64 << 20
    /// Events of one commit.
    public var commitEvents = 250_000

    /// The defaults above.
    public init() {}
  }

  /// The end of the log.
  public struct Head: Sendable, Hashable {
    /// The sequence of the last event; 0 when there is none.
    public let sequence: UInt64
    /// The number of the last commit; 0 when there is none.
    public let commit: UInt64
    /// The chain up to the last event; `SHA256Digest.zero` when there is none.
    public let chain: SHA256Digest

    /// The head with these values.
    public init(sequence: UInt64, commit: UInt64, chain: SHA256Digest) {
      self.sequence = sequence
      self.commit = commit
      self.chain = chain
    }

    /// The head of an empty log.
    public static let empty = Head(sequence: 0, commit: 0, chain: .zero)
  }

  /// The store.
  public let environment: Environment
  /// What may be appended at most.
  public let limits: Limits
  let events: Database
  let commits: Database
  let keys: Database
  let meta: Database
  /// What stands for erased payloads.
  public let redactions: RedactionTable

  /// Opens the log in `environment`.
  ///
  /// - Parameters:
  ///   - environment: the store.
  ///   - limits: what may be appended at most.
  ///   - creates: whether a log that is missing, in whole or in part, is created; the environment must be one that may
  ///     be written. Without it such a store is left as it is, and refused.
  /// - Throws: `newerThanProgram`, `corrupted`, `storage`.
  public init(
    in environment: Environment, limits: Limits = Limits(), creates: Bool = true
  ) throws(EventLogError) {
    self.environment = environment
    self.limits = limits
    events = try Self.table("events", integerKeys: true, in: environment, creates)
    commits = try Self.table("commits", integerKeys: true, in: environment, creates)
    keys = try Self.table("keys", in: environment, creates)
    meta = try Self.table("log.meta", in: environment, creates)
    do { redactions = try RedactionTable(in: environment, creates: creates) } catch {
      throw Self.failure(of: RedactionTable.name, error, creates)
    }
    let format = try environment.read(mapping: { EventLogError($0) }) { (t) throws(EventLogError) in
      try storedFormat(t)
    }
    guard format == nil else { return }
    guard creates else { throw EventLogError(.corrupted, "there is no format number; the log is incomplete") }
    try create()
  }

  /// The tables without which there is no log, since nothing says what stood in them.
  public static let ownTableNames = ["events", "log.meta"]
  /// The tables that follow from the events.
  public static let derivedTableNames = ["commits", "keys", RedactionTable.name]

  /// Makes those tables that follow from the events and are missing, empty; `rebuildDerivedTables` fills them.
  ///
  /// - Throws: what a write throws.
  public static func makeDerivedTables(in environment: Environment) throws(LMDBError) {
    _ = try environment.database("commits", integerKeys: true)
    _ = try environment.database("keys")
    _ = try RedactionTable(in: environment)
  }

  private static func table(
    _ name: String, integerKeys: Bool = false, in environment: Environment, _ creates: Bool
  ) throws(EventLogError) -> Database {
    do { return try environment.database(name, integerKeys: integerKeys, create: creates) } catch {
      throw failure(of: name, error, creates)
    }
  }

  private static func failure(of name: String, _ error: LMDBError, _ creates: Bool) -> EventLogError {
    guard !creates, error.code == .notFound else { return EventLogError(error) }
    return EventLogError(.corrupted, "the table \(name) is missing")
  }

  /// The end of the log in this snapshot.
  ///
  /// - Throws: `corrupted`, `storage`.
  /// - Complexity: O(1).
  public func head(_ t: borrowing some TransactionReading & ~Copyable) throws(EventLogError) -> Head {
    let row: RawSpan?
    do { row = try t.value(for: MetaKey.head.span.bytes, in: meta) } catch { throw EventLogError(error) }
    guard let row else { return .empty }
    do throws(CBORError) {
      var reader = CBORReader(row)
      try reader.array(count: 3)
      let sequence = try reader.unsigned(in: 0...Self.largestSequence)
      let commit = try reader.unsigned(in: min(1, sequence)...sequence)
      let head = Head(sequence: sequence, commit: commit, chain: try reader.digest())
      try reader.end()
      return head
    } catch {
      throw EventLogError(error, of: "the head of the log")
    }
  }
}

// MARK: - Reading

extension EventLog {
  /// Whether no event is stored, whatever the head says.
  ///
  /// - Throws: `corrupted`, `storage`.
  /// - Complexity: O(1).
  public func isEmpty(_ t: borrowing some TransactionReading & ~Copyable) throws(EventLogError) -> Bool {
    do { return try t.count(of: events) == 0 } catch { throw EventLogError(error) }
  }

  /// The event `sequence`, in place; nil when there is none.
  ///
  /// - Throws: `corrupted`, `storage`.
  /// - Complexity: O(log n), n the number of events.
  @_lifetime(borrow t)
  public func event<T: TransactionReading & ~Copyable>(
    at sequence: UInt64, in t: borrowing T
  ) throws(EventLogError) -> StoredEvent? {
    let found: RawSpan?
    do { found = try t.value(for: sequence, in: events) } catch { throw EventLogError(error) }
    guard let found else { return nil }
    let event = try Self.decode(found, sequence)
    guard event.isErased else { return event }
    let row: RawSpan?
    do { row = try t.value(for: sequence, in: redactions.database) } catch { throw EventLogError(error) }
    guard let row else { return event }
    return StoredEvent(event, substitute: RedactionTable.substitute(row), RedactionTable.version(row))
  }

  /// Calls `body` with each event after `sequence`, in order, at most `limit` of them, until it says stop.
  ///
  /// - Throws: `corrupted`, `storage`, and what `body` throws.
  /// - Complexity: O(log n + k), k the number of events read.
  public func read<T: TransactionReading & ~Copyable>(
    after sequence: UInt64, limit: Int = .max, in t: borrowing T,
    _ body: (borrowing StoredEvent) throws(EventLogError) -> Continuation
  ) throws(EventLogError) {
    var cursor = try cursor(after: sequence, in: t)
    var count = 0
    while count < limit, let event = try cursor.next() {
      if try body(event) == .stop { return }
      count += 1
    }
  }

  /// Calls `body` with each event after `sequence`, in order; `body` may throw any error.
  ///
  /// - Throws: `EventLogError`, and what `body` throws.
  /// - Complexity: O(log n + k), k the number of events read.
  @_disfavoredOverload
  public func read<T: TransactionReading & ~Copyable>(
    after sequence: UInt64, limit: Int = .max, in t: borrowing T,
    _ body: (borrowing StoredEvent) throws -> Continuation
  ) throws {
    var cursor = try cursor(after: sequence, in: t)
    var count = 0
    while count < limit, let event = try cursor.next() {
      if try body(event) == .stop { return }
      count += 1
    }
  }

  /// A cursor over the events after `sequence`.
  ///
  /// - Throws: `storage`.
  /// - Complexity: O(1).
  @_lifetime(borrow t)
  public func cursor<T: TransactionReading & ~Copyable>(
    after sequence: UInt64, in t: borrowing T
  ) throws(EventLogError) -> EventCursor {
    do throws(LMDBError) {
      return EventCursor(try t.cursor(in: events), try t.cursor(in: redactions.database), after: sequence)
    } catch {
      throw EventLogError(error)
    }
  }

  /// The commit `number`; nil when there is none.
  ///
  /// - Throws: `corrupted`, `storage`.
  /// - Complexity: O(log n), n the number of commits.
  public func commit(
    _ number: UInt64, in t: borrowing some TransactionReading & ~Copyable
  ) throws(EventLogError) -> Commit? {
    let row = try storing { () throws(LMDBError) in try t.bytes(for: number, in: commits) }
    guard let row else { return nil }
    let commit = try Commit(number: number, row: row.span.bytes)
    try checkIsReached(commit, in: t)
    return commit
  }

  /// Checks that a commit ends within the log, so that its last event can be taken for a place there.
  private func checkIsReached(
    _ commit: Commit, in t: borrowing some TransactionReading & ~Copyable
  ) throws(EventLogError) {
    let end = try head(t).sequence
    guard commit.lastSequence > end else { return }
    throw EventLogError(
      .corrupted, commit: commit.number,
      "its row ends with event \(commit.lastSequence), and the log with event \(end)")
  }

  /// The commits after number `number`, in order, at most `limit` of them.
  ///
  /// - Throws: `corrupted`, `storage`.
  /// - Complexity: O(log n + k), k the number of commits given.
  public func commits(
    after number: UInt64, limit: Int = .max, in t: borrowing some TransactionReading & ~Copyable
  ) throws(EventLogError) -> [Commit] {
    guard number < .max, limit > 0 else { return [] }
    var failure: EventLogError?
    var found: [Commit] = []
    do throws(LMDBError) {
      try t.forEach(in: commits, from: number + 1) { (number, row) throws(LMDBError) in
        do throws(EventLogError) {
          let commit = try Commit(number: number, row: row)
          try commit.check(follows: found.last)
          found.append(commit)
        } catch { failure = error }
        return failure == nil && found.count < limit ? .proceed : .stop
      }
    } catch {
      throw EventLogError(error)
    }
    if let failure { throw failure }
    // Those before it end where the next begins.
    if let last = found.last { try checkIsReached(last, in: t) }
    return found
  }

  /// The commit that a client made under the idempotency key `key`; nil when there is none.
  ///
  /// Each client has its own keys, so that a key reveals nothing about other clients.
  ///
  /// - Throws: `corrupted`, `storage`.
  /// - Complexity: O(log n), n the number of keys.
  public func commit(
    forKey key: String, of client: String, in t: borrowing some TransactionReading & ~Copyable
  ) throws(EventLogError) -> Commit? {
    // Its bytes in the table would be those of another client and key; no commit has such a client.
    if client.utf8.contains(0) { return nil }
    let row = try storing { () throws(LMDBError) in try t.bytes(for: Self.storedKey(key, of: client), in: keys) }
    guard let row else { return nil }
    let number: UInt64
    do throws(CBORError) {
      var reader = CBORReader(row.span.bytes)
      number = try reader.unsigned(in: 1...Self.largestSequence)
      try reader.end()
    } catch {
      throw EventLogError(error, of: "the row of the idempotency key \(key)")
    }
    guard let commit = try commit(number, in: t) else {
      throw EventLogError(.corrupted, commit: number, "the idempotency key \(key) names a commit that is missing")
    }
    return commit
  }

  /// No log grows so long: larger sequences and numbers of commits are those of damaged rows, and are rejected where
  /// rows are read. What was read can be added to and counted with without a check.
  @inlinable public static var largestSequence: UInt64 { 1 << 62 }

  /// - Throws: `corrupted` also for a record of another event, and for places that no event has.
  @_lifetime(copy record)
  static func decode(_ record: RawSpan, _ sequence: UInt64) throws(EventLogError) -> StoredEvent {
    let event: StoredEvent
    do { event = try StoredEvent(decoding: record) } catch {
      throw EventLogError(error, sequence: sequence, of: "the record")
    }
    guard event.sequence == sequence, (1...largestSequence).contains(sequence) else {
      throw EventLogError(.corrupted, sequence: sequence, "the record claims to be event \(event.sequence)")
    }
    guard (1...sequence).contains(event.commit), event.index < sequence else {
      throw EventLogError(
        .corrupted, sequence: sequence, "the record claims to be event \(event.index) of commit \(event.commit)")
    }
    return event
  }
}

/// Walks the events of a log in order.
public struct EventCursor: ~Copyable, ~Escapable {
  private var cursor: Cursor
  private var redactions: Cursor
  private let start: UInt64
  private var hasBegun = false

  @_lifetime(copy cursor, copy redactions)
  init(_ cursor: consuming Cursor, _ redactions: consuming Cursor, after sequence: UInt64) {
    self.cursor = cursor
    self.redactions = redactions
    start = sequence
  }

  /// The next event, in place; nil after the last.
  ///
  /// - Throws: `corrupted`, `storage`.
  /// - Complexity: O(1) amortised.
  @_lifetime(copy self)
  public mutating func next() throws(EventLogError) -> StoredEvent? {
    let isFirst = !hasBegun
    hasBegun = true
    if isFirst && start == .max { return nil }
    let entry: Entry?
    do { entry = try isFirst ? cursor.seek(atOrAfter: start + 1) : cursor.next() } catch { throw EventLogError(error) }
    guard let entry else { return nil }
    let event = try EventLog.decode(entry.value, entry.integerKey)
    guard event.isErased else { return event }
    let row: Entry?
    do { row = try redactions.seek(atOrAfter: event.sequence) } catch { throw EventLogError(error) }
    guard let row, row.integerKey == event.sequence else { return event }
    return StoredEvent(
      event, substitute: RedactionTable.substitute(row.value), RedactionTable.version(row.value))
  }
}

// MARK: - Tables

extension EventLog {
  enum MetaKey {
    static let format = Array("format".utf8)
    static let head = Array("head".utf8)
    static let count = 2
  }

  /// The key of an idempotency key in its table: 0, the client, 0 and the text; or 1 and the digest of what would
  /// follow the first 0 when that is too long for LMDB.
  static func storedKey(_ key: String, of client: String) -> [UInt8] {
    let text = Array(client.utf8) + [0] + Array(key.utf8)
    return text.count <= 255 ? [0] + text : [1] + SHA256.digest(of: text).bytes
  }

  func put(_ head: Head, in t: inout WriteTransaction) throws(LMDBError) {
    var writer = CBORWriter(capacity: 56)
    writer.array(3)
    writer.unsigned(head.sequence)
    writer.unsigned(head.commit)
    writer.digest(head.chain)
    try t.put(MetaKey.head, writer.finish(), in: meta)
  }

  /// Puts what is derived from a whole commit.
  func putRows(of commit: Commit, in t: inout WriteTransaction) throws(LMDBError) {
    try t.put(commit.number, commit.row.span.bytes, in: commits, mode: .append)
    guard let key = commit.information.key else { return }
    try t.put(
      Self.storedKey(key, of: commit.information.client), CBOR.unsigned(commit.number).encoded, in: keys, mode: .insert)
  }

  func storedFormat(_ t: borrowing some TransactionReading & ~Copyable) throws(EventLogError) -> UInt64? {
    let row = try storing { () throws(LMDBError) in try t.bytes(for: MetaKey.format, in: meta) }
    guard let row else {
      let count = try storing { () throws(LMDBError) in try t.count(of: events) }
      if count > 0 { throw EventLogError(.corrupted, "the log has events but no format number") }
      return nil
    }
    let format: UInt64
    do throws(CBORError) {
      var reader = CBORReader(row.span.bytes)
      format = try reader.unsigned()
      try reader.end()
    } catch {
      throw EventLogError(error, of: "the format number of the log")
    }
    guard format > 0 else { throw EventLogError(.corrupted, "the format number of the log is 0; the first was 1") }
    guard format <= EventRecord.formatVersion else {
      throw EventLogError(
        .newerThanProgram, "the log has format \(format), this program knows up to \(EventRecord.formatVersion)")
    }
    return format
  }

  private func create() throws(EventLogError) {
    try environment.write(mapping: { EventLogError($0) }) { (t) throws(EventLogError) in
      if try storedFormat(t) != nil { return }  // another process was quicker
      do throws(LMDBError) {
        try t.put(MetaKey.format, CBOR.unsigned(EventRecord.formatVersion).encoded, in: meta)
        try put(.empty, in: &t)
      } catch { throw EventLogError(error) }
    }
  }
}
