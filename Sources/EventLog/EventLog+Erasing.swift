public import LMDB

// Taking payloads out of the log, and what stands for them.
//
//     events       17 → [header, commitment, salt, payload, leaf, chain]       before
//                  17 → [header, commitment, null, null,    leaf, chain]       after: leaf and chain are as they were
//     redactions   17 → 90 ‖ version ‖ bytes                                    event 90 brought what stands for 17
//
// The replacement of a payload is itself part of the log: it is carried by the payload of a later event, is chained
// there, and the table only locates it. This module knows neither which payloads are erased nor how an event carries
// replacements; it removes bytes, and returns the replacement with the record wherever a record is read, so that
// readers of the log have no second case. `StoredEvent.payload` remains nil, so that a reader can see the erasure.
//
// The old bytes stay in the file's free space until the store is rewritten (`Environment.rewrite`).

extension EventLog {
  /// Takes salt and payload out of a record for good, once the transaction is committed.
  ///
  /// - Returns: false if they had been taken out before.
  /// - Throws: `corrupted` if there is no such event, `storage`.
  /// - Complexity: O(log n + payload).
  @discardableResult
  public func erasePayload(of sequence: UInt64, in t: inout WriteTransaction) throws(EventLogError) -> Bool {
    var writer = CBORWriter(capacity: 512)
    do {
      guard let event = try event(at: sequence, in: t) else {
        throw EventLogError(.corrupted, sequence: sequence, "there is no such event to erase")
      }
      if event.isErased { return false }
      EventRecord.write(event.header, event.commitment, content: nil, event.leaf, event.chain, into: &writer)
    }
    let record = writer.finish()
    try storing { () throws(LMDBError) in try t.put(sequence, record, in: events) }
    return true
  }
}

/// What stands for payloads that were erased, and which events brought it.
public struct RedactionTable: Sendable {
  /// The database's name.
  public static let name = "redactions"
  private static let headByteCount = 12
  /// Rows by sequence: the carrier (8), the version of the schema (4), both with the highest byte first; the bytes.
  public let database: Database

  /// Opens the table in a store.
  ///
  /// - Parameters:
  ///   - environment: the store.
  ///   - creates: whether it is made if it is missing, or `notFound` is thrown.
  /// - Throws: what a write throws.
  public init(in environment: Environment, creates: Bool = true) throws(LMDBError) {
    database = try environment.database(Self.name, integerKeys: true, create: creates)
  }

  /// The part of a row that stands for the payload.
  @_lifetime(copy row)
  static func substitute(_ row: RawSpan) -> RawSpan { row.extracting(last: max(0, row.byteCount - headByteCount)) }

  /// The version of the schema of what stands for the payload.
  static func version(_ row: RawSpan) -> UInt32 {
    row.byteCount < headByteCount
      ? 0 : UInt32(bigEndian: row.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt32.self))
  }

  /// Records the replacement of a payload that is erased, or is about to be.
  ///
  /// - Parameters:
  ///   - sequence: the event.
  ///   - payload: what stands for its payload.
  ///   - version: the version of that payload's schema.
  ///   - carrier: the event whose payload brought it.
  ///   - t: the transaction.
  /// - Throws: what a put throws.
  /// - Complexity: O(log n + payload).
  public func put(
    _ sequence: UInt64, _ payload: [UInt8], version: UInt32, broughtBy carrier: UInt64, in t: inout WriteTransaction
  ) throws(LMDBError) {
    try t.put(sequence, Self.row(payload, version: version, broughtBy: carrier), in: database)
  }

  /// A row of the table.
  public static func row(_ payload: [UInt8], version: UInt32, broughtBy carrier: UInt64) -> [UInt8] {
    withUnsafeBytes(of: carrier.bigEndian) { Array($0) } + withUnsafeBytes(of: version.bigEndian) { Array($0) }
      + payload
  }

  /// The event that brought what stands for an erased payload; nil if nothing stands for it.
  ///
  /// - Throws: `corrupted`.
  /// - Complexity: O(log n).
  public func carrier(
    of sequence: UInt64, in t: borrowing some TransactionReading & ~Copyable
  ) throws(LMDBError) -> UInt64? {
    guard let row = try t.value(for: sequence, in: database), row.byteCount >= Self.headByteCount else { return nil }
    return UInt64(bigEndian: row.unsafeLoadUnaligned(as: UInt64.self))
  }

  /// The last event that brought a replacement; nil if none did.
  ///
  /// - Throws: `corrupted`.
  /// - Complexity: O(r) for r erased payloads.
  public func lastCarrier(in t: borrowing some TransactionReading & ~Copyable) throws(LMDBError) -> UInt64? {
    var last: UInt64?
    try t.forEach(in: database) { (_, row) throws(LMDBError) in
      guard row.byteCount >= Self.headByteCount else { return .proceed }
      last = max(last ?? 0, UInt64(bigEndian: row.unsafeLoadUnaligned(as: UInt64.self)))
      return .proceed
    }
    return last
  }

  /// The last event that a range of the log needs, so that it brings what stands for each of its erased payloads.
  ///
  /// - Parameters:
  ///   - sequence: the last event before the range.
  ///   - last: the last event of the range, which is returned if the range needs no later one.
  ///   - t: the transaction.
  /// - Throws: `corrupted`.
  /// - Complexity: O(log n + r) for r erased payloads of the range.
  public func end(
    after sequence: UInt64, through last: UInt64, in t: borrowing some TransactionReading & ~Copyable
  ) throws(LMDBError) -> UInt64 {
    var end = last
    try t.forEach(in: database, from: sequence + 1) { (erased, row) throws(LMDBError) in
      guard erased <= end else { return .stop }
      guard row.byteCount >= Self.headByteCount else { return .proceed }
      end = max(end, UInt64(bigEndian: row.unsafeLoadUnaligned(as: UInt64.self)))
      return .proceed
    }
    return end
  }
}
