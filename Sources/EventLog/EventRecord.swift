// The record of one event: the bytes that are stored, and the hashes over them.
//
//     record  = [ header, commitment, salt, payload, leaf, chain ]          CBOR array of 6
//     header  = [ sequence, commit, index, isLast, time, type, version, information ]
//     information = [ client, cause, process, key, causation, correlation ]   in the first event of a commit, else null
//
//     commitment  = SHA-256(salt ‖ payload)
//     leaf        = SHA-256(0x00 ‖ header ‖ commitment)                     RFC 9162 leaf prefix
//     chain       = SHA-256(0x02 ‖ chain of the event before ‖ leaf)        32 zero bytes before the first event
//
// `header` stands in the leaf with its own encoded bytes. Salt and payload are hashed as the contents of their byte
// strings.
//
// What each part is for:
//   * The salt (16 random bytes, one an event) keeps a payload from being guessed from its commitment.
//   * Erasing an event replaces salt and payload by null. Header, commitment, leaf and chain stay, and so does the
//     chain.
//   * The leaf is what the RFC 9162 tree is built of (MerkleTree.swift), without rewriting a record.
//   * `index` counts the events of a commit from 0, `isLast` marks the last. A log that was cut off inside a commit
//     ends with `isLast` false. A count in the first event would serve the same purpose, but a commit is written while
//     its events are being decided, and their number is not known yet. A log truncated between commits is complete in
//     itself: only a head stored elsewhere (an exported checkpoint) reveals that.
//   * Nothing derived and nothing that may change is hashed.
//
// Invariant: the encoding is deterministic (RFC 8949 section 4.2.1), so the bytes of a record can be reproduced from
// its values by any tool.

/// Sixteen random bytes that hide a payload behind its commitment. The caller draws them.
public struct Salt: Sendable, Hashable {
  /// The number of bytes.
  public static let byteCount = 16

  private let high: UInt64  // both with the highest byte first in memory
  private let low: UInt64

  /// The salt of two random numbers, `high` first, each with its highest byte first.
  public init(_ high: UInt64, _ low: UInt64) {
    self.high = high.bigEndian
    self.low = low.bigEndian
  }

  func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R { Swift.withUnsafeBytes(of: (high, low), body) }
}

/// An event before it has a place in the log.
public struct EventDraft: Sendable, Hashable {
  /// What happened; names the schema of the payload. 1 to 128 bytes of UTF-8.
  public var type: String
  /// The version of that schema.
  public var version: UInt32
  /// The content, opaque here. At most `EventLog.Limits.payloadBytes`.
  public var payload: [UInt8]
  /// Random, fresh for each event.
  public var salt: Salt

  /// An event of `type` with `payload`.
  public init(type: String, version: UInt32, payload: [UInt8], salt: Salt) {
    self.type = type
    self.version = version
    self.payload = payload
    self.salt = salt
  }
}

/// Where an event stands in the log and in its commit.
struct EventPlace {
  var sequence: UInt64
  var commit: UInt64
  var index: UInt64
  var isLast: Bool
}

/// The formulas of the record.
enum EventRecord {
  static let formatVersion: UInt64 = 1
  static let itemCount = 6
  static let headerItemCount = 8

  static func commitment(salt: UnsafeRawBufferPointer, payload: RawSpan) -> SHA256Digest {
    payload.withUnsafeBytes { SHA256.digest(of: salt, $0, UnsafeRawBufferPointer(start: nil, count: 0)) }
  }

  static func leaf(header: RawSpan, commitment: SHA256Digest) -> SHA256Digest {
    withUnsafeBytes(of: UInt8(0x00)) { prefix in
      header.withUnsafeBytes { header in
        commitment.withUnsafeBytes { SHA256.digest(of: prefix, header, $0) }
      }
    }
  }

  /// The leaf that stands in a record, which ends with leaf and chain; nil if it does not.
  static func storedLeaf(of record: RawSpan) -> SHA256Digest? {
    let start = record.byteCount - 2 * itemByteCount
    guard start >= 0, holdsDigest(record, at: start), holdsDigest(record, at: start + itemByteCount) else { return nil }
    return SHA256Digest(record.extracting(start + 2..<start + itemByteCount))
  }

  /// The bytes of a digest as an item: its head and its content.
  private static let itemByteCount = 2 + SHA256Digest.byteCount

  private static func holdsDigest(_ record: RawSpan, at offset: Int) -> Bool {
    record.unsafeLoad(fromByteOffset: offset, as: UInt8.self) == 0x58
      && record.unsafeLoad(fromByteOffset: offset + 1, as: UInt8.self) == UInt8(SHA256Digest.byteCount)
  }

  static func chain(after previous: SHA256Digest, leaf: SHA256Digest) -> SHA256Digest {
    withUnsafeBytes(of: UInt8(0x02)) { prefix in
      previous.withUnsafeBytes { previous in
        leaf.withUnsafeBytes { SHA256.digest(of: prefix, previous, $0) }
      }
    }
  }

  /// Writes the bytes to store for `event` in place of what `record` held, and gives the chain up to it.
  static func encode(
    _ event: EventDraft, at place: EventPlace, of information: CommitInformation, after previous: SHA256Digest,
    into record: inout CBORWriter
  ) -> SHA256Digest {
    record.restart(capacity: event.payload.count + 400)
    record.array(itemCount)
    let start = record.bytes.count
    writeHeader(
      place, time: information.time, event.type, event.version, place.index == 0 ? information : nil, into: &record)
    let header = start..<record.bytes.count

    let commitment = event.salt.withUnsafeBytes { salt in
      Self.commitment(salt: salt, payload: event.payload.span.bytes)
    }
    let leaf = leaf(header: record.bytes.span.bytes.extracting(header), commitment: commitment)
    let chain = chain(after: previous, leaf: leaf)

    record.digest(commitment)
    event.salt.withUnsafeBytes { salt in record.bytes(salt.bytes) }
    record.bytes(event.payload)
    record.digest(leaf)
    record.digest(chain)
    record.check()
    return chain
  }

  static func writeHeader(
    _ place: EventPlace, time: Int64, _ type: String, _ version: UInt32, _ information: CommitInformation?,
    into record: inout CBORWriter
  ) {
    record.array(headerItemCount)
    record.unsigned(place.sequence)
    record.unsigned(place.commit)
    record.unsigned(place.index)
    record.bool(place.isLast)
    record.integer(time)
    record.text(type)
    record.unsigned(UInt64(version))
    if let information { information.write(to: &record) } else { record.null() }
  }

  /// Writes a record whose hashes are known; without salt and payload it is an erased one.
  static func write(
    _ header: RawSpan, _ commitment: SHA256Digest, content: (salt: [UInt8], payload: [UInt8])?, _ leaf: SHA256Digest,
    _ chain: SHA256Digest, into record: inout CBORWriter
  ) {
    record.array(itemCount)
    record.raw(header)
    record.digest(commitment)
    if let content {
      record.bytes(content.salt)
      record.bytes(content.payload)
    } else {
      record.null()
      record.null()
    }
    record.digest(leaf)
    record.digest(chain)
  }
}
