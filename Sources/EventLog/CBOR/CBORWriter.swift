// Deterministic CBOR (RFC 8949 section 4.2.1), written straight into bytes.
//
// The same value has one encoding only, so that a hash of the bytes is a hash of the value and an auditor's own tools
// reproduce it:
//
//     integers and lengths   in the fewest bytes
//     doubles                in the shortest of 16, 32, 64 bits that keeps the value; one NaN, f9 7e 00
//     arrays, maps, strings  with their length in front, never "indefinite"
//     map keys               in ascending order of their encoded bytes, none twice
//
// Tags, `undefined` and the other simple values are not used. The writer builds no tree: the caller says how
// many items follow and writes them. It cannot see the order of map keys that way; `CBOR.encoded` sorts, and the
// strict reader rejects a map out of order, which debug builds use to check what `finish` hands out.

/// Appends deterministic CBOR items to a byte array.
public struct CBORWriter: Sendable {
  /// What has been written so far.
  public private(set) var bytes: [UInt8] = []

  /// A writer with nothing written and room for `capacity` bytes.
  public init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  /// Discards the written bytes, and keeps the capacity.
  mutating func restart(capacity: Int) {
    bytes.removeAll(keepingCapacity: true)
    bytes.reserveCapacity(capacity)
  }

  /// The bytes written; in debug builds after checking that they are deterministic CBOR.
  public consuming func finish() -> [UInt8] {
    check()
    return bytes
  }

  /// In debug builds, checks that what was written is deterministic CBOR.
  func check() {
    #if INTERNAL_CHECKS
      do throws(CBORError) {
        var reader = CBORReader(bytes.span.bytes)
        while !reader.isAtEnd { _ = try reader.skip() }
      } catch {
        preconditionFailure("The writer was used incorrectly; its bytes are not deterministic CBOR: \(error)")
      }
    #endif
  }

  /// Writes an unsigned integer (major type 0).
  public mutating func unsigned(_ value: UInt64) { head(0, value) }

  /// Writes an integer (major type 0 or 1).
  public mutating func integer(_ value: Int64) {
    if value >= 0 { head(0, UInt64(value)) } else { head(1, UInt64(bitPattern: ~value)) }
  }

  /// Writes the negative integer -1 - `value` (major type 1).
  public mutating func negative(_ value: UInt64) { head(1, value) }

  /// Writes a byte string (major type 2).
  public mutating func bytes(_ value: RawSpan) {
    head(2, UInt64(value.byteCount))
    raw(value)
  }

  /// Writes a byte string (major type 2).
  public mutating func bytes(_ value: [UInt8]) {
    head(2, UInt64(value.count))
    bytes.append(contentsOf: value)
  }

  /// Writes a digest as a byte string of 32.
  public mutating func digest(_ value: SHA256Digest) {
    head(2, 32)
    value.withUnsafeBytes { bytes.append(contentsOf: $0) }
  }

  /// Writes a text string (major type 3).
  public mutating func text(_ value: String) {
    var value = value
    value.withUTF8 { utf8 in
      head(3, UInt64(utf8.count))
      bytes.append(contentsOf: utf8)
    }
  }

  /// Writes a text string, or null.
  public mutating func text(_ value: String?) {
    if let value { text(value) } else { null() }
  }

  /// Begins an array; `count` items must follow (major type 4).
  public mutating func array(_ count: Int) { head(4, UInt64(count)) }

  /// Begins a map; `count` keys with their values must follow, in ascending order of encoded key (major type 5).
  public mutating func map(_ count: Int) { head(5, UInt64(count)) }

  /// Begins a map whose number of keys is not known yet, and returns its position for `endMap`.
  public mutating func beginMap() -> Int {
    bytes.append(0xA0)
    return bytes.count - 1
  }

  /// Ends the map that began at `place`, after `count` keys with their values.
  ///
  /// - Complexity: O(1) below 24 keys, else O(bytes of the map).
  public mutating func endMap(at place: Int, count: Int) {
    if count < 24 {
      bytes[place] = 0xA0 | UInt8(count)
    } else {
      var head = CBORWriter()
      head.map(count)
      bytes.replaceSubrange(place...place, with: head.bytes)
    }
  }

  /// Writes true or false.
  public mutating func bool(_ value: Bool) { bytes.append(value ? 0xF5 : 0xF4) }

  /// Writes null.
  public mutating func null() { bytes.append(0xF6) }

  /// Writes a floating-point number in the shortest form that keeps its value.
  public mutating func double(_ value: Double) {
    let single = Float(value)
    if value.isNaN {
      fixed(0xF9, UInt16(0x7E00))
    } else if Double(single) != value {
      fixed(0xFB, value.bitPattern)
    } else if Float(Float16(single)) == single {
      fixed(0xF9, Float16(single).bitPattern)
    } else {
      fixed(0xFA, single.bitPattern)
    }
  }

  /// Appends bytes that are deterministic CBOR already.
  public mutating func raw(_ encoded: RawSpan) {
    encoded.withUnsafeBytes { bytes.append(contentsOf: $0) }
  }

  @inline(__always)
  private mutating func head(_ majorType: UInt8, _ value: UInt64) {
    if value < 24 { bytes.append(majorType << 5 | UInt8(value)) } else { longHead(majorType << 5, value) }
  }

  private mutating func longHead(_ type: UInt8, _ value: UInt64) {
    switch value {
    case ...0xFF: fixed(type | 24, UInt8(value))
    case ...0xFFFF: fixed(type | 25, UInt16(value))
    case ...0xFFFF_FFFF: fixed(type | 26, UInt32(value))
    default: fixed(type | 27, value)
    }
  }

  private mutating func fixed<Number: FixedWidthInteger>(_ initial: UInt8, _ value: Number) {
    bytes.append(initial)
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }
}
