/// An event as it stands in the log, read in place: it cannot outlive the transaction it was read in.
///
/// Making one finds the parts and checks their kinds; it neither copies nor hashes. Whether the hashes are right is
/// the business of `EventLog.verify`.
public struct StoredEvent: ~Escapable {
  /// Its position in the log, from 1, without gaps.
  public let sequence: UInt64
  /// The number of its commit, from 1, without gaps.
  public let commit: UInt64
  /// Its position in the commit, from 0.
  public let index: UInt64
  /// Whether it is the last of its commit.
  public let isLast: Bool
  /// When the commit was made, microseconds since 1970 UTC.
  public let time: Int64
  /// The version of the schema of the payload.
  public let version: UInt32
  /// The UTF-8 of `type`, in place.
  public let typeBytes: RawSpan
  /// The content; nil when it was erased.
  public let payload: RawSpan?
  /// SHA-256(salt ‖ payload), as stored.
  public var commitment: SHA256Digest { SHA256Digest(commitmentBytes) }
  /// SHA-256(0x00 ‖ header ‖ commitment), as stored.
  public var leaf: SHA256Digest { SHA256Digest(leafBytes) }
  /// SHA-256(0x02 ‖ chain of the event before ‖ leaf), as stored.
  public var chain: SHA256Digest { SHA256Digest(chainBytes) }
  /// The encoded header, as it was hashed.
  public let header: RawSpan
  /// The salt of 16 bytes; nil when it was erased.
  public let salt: RawSpan?
  /// What stands for a payload that was erased; nil for one that was not, and if nothing does.
  public let substitute: RawSpan?
  /// The version of the schema of `content`: of what stands for an erased payload, the one it was written in.
  public let contentVersion: UInt32
  /// Where the type begins in the record.
  let typeOffset: Int
  private let encodedInformation: RawSpan
  // Spans of the record, not copies: most readers want no hash, and an event is copied as often as it is passed on.
  private let commitmentBytes: RawSpan
  private let leafBytes: RawSpan
  private let chainBytes: RawSpan

  /// The event in the record `bytes`.
  @_lifetime(copy bytes)
  init(decoding bytes: RawSpan) throws(CBORError) {
    var reader = CBORReader(bytes)
    try reader.array(count: EventRecord.itemCount)
    let start = reader.offset
    try reader.array(count: EventRecord.headerItemCount)
    sequence = try reader.unsigned()
    commit = try reader.unsigned()
    index = try reader.unsigned()
    isLast = try reader.bool()
    time = try reader.integer()
    typeOffset = reader.offset
    typeBytes = try reader.uncheckedText()
    version = UInt32(try reader.unsigned(in: 0...UInt64(UInt32.max)))
    encodedInformation = try reader.skip()
    header = bytes.extracting(start..<reader.offset)
    commitmentBytes = try reader.bytes(count: SHA256Digest.byteCount)
    if try reader.isNull() {
      salt = nil
      guard try reader.isNull() else { throw CBORError(.unexpected, at: reader.offset) }
      payload = nil
    } else {
      salt = try reader.bytes(count: Salt.byteCount)
      payload = try reader.bytes()
    }
    leafBytes = try reader.bytes(count: SHA256Digest.byteCount)
    chainBytes = try reader.bytes(count: SHA256Digest.byteCount)
    substitute = nil
    contentVersion = version
    try reader.end()
  }

  /// The same event with what stands for its payload.
  @_lifetime(copy event, copy substitute)
  init(_ event: borrowing StoredEvent, substitute: RawSpan, _ version: UInt32) {
    sequence = event.sequence
    commit = event.commit
    index = event.index
    isLast = event.isLast
    time = event.time
    self.version = event.version
    typeBytes = event.typeBytes
    payload = event.payload
    commitmentBytes = event.commitmentBytes
    leafBytes = event.leafBytes
    chainBytes = event.chainBytes
    header = event.header
    salt = event.salt
    typeOffset = event.typeOffset
    encodedInformation = event.encodedInformation
    self.substitute = substitute
    contentVersion = version
  }

  /// What happened; names the schema of the payload.
  public var type: String { typeBytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }

  /// Whether the payload was erased.
  public var isErased: Bool { payload == nil }

  /// The payload, or what stands for it where it was erased; nil if nothing does.
  public var content: RawSpan? {
    @_lifetime(copy self)
    get {
      if let payload { return payload }
      return substitute
    }
  }

  /// A copy of the payload, or of what stands for it; nil if nothing does.
  public var contentBytes: [UInt8]? {
    guard let content else { return nil }
    return content.withUnsafeBytes { [UInt8]($0) }
  }

  /// A copy of the payload; nil when it was erased.
  public var payloadBytes: [UInt8]? {
    guard let payload else { return nil }
    return payload.withUnsafeBytes { [UInt8]($0) }
  }

  /// The client, cause and key of the commit; nil in all events but the first of a commit.
  ///
  /// - Throws: `CBORError` when the record is damaged.
  public func information() throws(CBORError) -> CommitInformation? {
    var reader = CBORReader(encodedInformation)
    if try reader.isNull() { return nil }
    return try CommitInformation(from: &reader, time: time)
  }
}
