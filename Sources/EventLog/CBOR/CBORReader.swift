// The strict counterpart of CBORWriter: takes deterministic CBOR and nothing else.
//
// Whatever bytes it is given, it either returns an item or throws; it never traps, never allocates more than the
// bytes it was given could hold, and never looks at a byte twice. Strings are handed out in place, as spans that live
// as long as the bytes. Structures of fixed shape are read item by item; `skip` checks an item whole, with everything
// inside.

/// Reads deterministic CBOR items one after another.
public struct CBORReader: ~Escapable {
  /// The kinds of items of the profile.
  public enum Kind: Sendable, Hashable {
    /// One of the cases of ``CBOR``, by its name.
    case unsigned, negative, bytes, text, array, map, bool, null, double
  }

  /// Nesting that `skip` and `CBOR.init` accept.
  public static let depthMax = 32

  /// The next byte to read, from the beginning.
  public private(set) var offset = 0
  /// The bytes that it reads, from the first on.
  public let all: RawSpan

  /// A reader at the first of `bytes`.
  @_lifetime(copy bytes)
  public init(_ bytes: RawSpan) { all = bytes }

  /// Whether every byte was read.
  public var isAtEnd: Bool { offset == all.byteCount }

  /// Throws `trailingBytes` unless every byte was read.
  public func end() throws(CBORError) {
    if !isAtEnd { throw CBORError(.trailingBytes, at: offset) }
  }

  /// The kind of the next item, which is not read.
  public func kind() throws(CBORError) -> Kind {
    guard offset < all.byteCount else { throw CBORError(.truncated, at: offset) }
    let initial = all.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    switch initial >> 5 {
    case 0: return .unsigned
    case 1: return .negative
    case 2: return .bytes
    case 3: return .text
    case 4: return .array
    case 5: return .map
    default:
      switch initial {
      case 0xF4, 0xF5: return .bool
      case 0xF6: return .null
      case 0xF9, 0xFA, 0xFB: return .double
      default: throw CBORError(.unsupported, at: offset)
      }
    }
  }

  /// Reads an unsigned integer.
  @_lifetime(self: copy self)
  public mutating func unsigned() throws(CBORError) -> UInt64 { try head(0) }

  /// Reads an unsigned integer in `range`.
  @_lifetime(self: copy self)
  public mutating func unsigned(in range: ClosedRange<UInt64>) throws(CBORError) -> UInt64 {
    let start = offset
    let value = try head(0)
    guard range.contains(value) else { throw CBORError(.unexpected, at: start) }
    return value
  }

  /// Reads the n of a negative integer -1 - n.
  @_lifetime(self: copy self)
  public mutating func negative() throws(CBORError) -> UInt64 { try head(1) }

  /// Reads an integer that 64 bits hold.
  @_lifetime(self: copy self)
  public mutating func integer() throws(CBORError) -> Int64 {
    let start = offset
    let isNegative = try kind() == .negative
    guard let value = Int64(exactly: try head(isNegative ? 1 : 0)) else { throw CBORError(.unexpected, at: start) }
    return isNegative ? ~value : value
  }

  /// Reads a byte string, in place.
  @_lifetime(copy self) @_lifetime(self: copy self)
  public mutating func bytes() throws(CBORError) -> RawSpan { try string(2) }

  /// Reads a byte string of `count` bytes, in place.
  @_lifetime(copy self) @_lifetime(self: copy self)
  public mutating func bytes(count: Int) throws(CBORError) -> RawSpan {
    let start = offset
    let value = try string(2)
    guard value.byteCount == count else { throw CBORError(.unexpected, at: start) }
    return value
  }

  /// Reads a byte string of 32 as a digest.
  @_lifetime(self: copy self)
  public mutating func digest() throws(CBORError) -> SHA256Digest { SHA256Digest(try bytes(count: 32)) }

  /// Reads a text string.
  @_lifetime(self: copy self)
  public mutating func text() throws(CBORError) -> String {
    let start = offset
    guard let text = try string(3).text else { throw CBORError(.invalidText, at: start) }
    return text
  }

  /// Reads a text string as UTF-8 in place.
  @_lifetime(copy self) @_lifetime(self: copy self)
  public mutating func textBytes() throws(CBORError) -> RawSpan {
    let start = offset
    let text = try string(3)
    guard text.isText else { throw CBORError(.invalidText, at: start) }
    return text
  }

  /// Reads a text string, or null.
  @_lifetime(self: copy self)
  public mutating func optionalText() throws(CBORError) -> String? { try isNull() ? nil : text() }

  /// Reads a text string as UTF-8 in place; whether it is UTF-8 is not checked.
  @_lifetime(copy self) @_lifetime(self: copy self)
  public mutating func uncheckedText() throws(CBORError) -> RawSpan { try string(3) }

  /// Reads the beginning of an array: how many items follow.
  @_lifetime(self: copy self)
  public mutating func array() throws(CBORError) -> Int { try count(4, bytesPerItem: 1) }

  /// Reads the beginning of an array of `count` items.
  @_lifetime(self: copy self)
  public mutating func array(count expected: Int) throws(CBORError) {
    let start = offset
    if try array() != expected { throw CBORError(.unexpected, at: start) }
  }

  /// Reads the beginning of a map: how many keys with values follow. Their order is the caller's to check.
  @_lifetime(self: copy self)
  public mutating func map() throws(CBORError) -> Int { try count(5, bytesPerItem: 2) }

  /// Reads true or false.
  @_lifetime(self: copy self)
  public mutating func bool() throws(CBORError) -> Bool {
    guard try kind() == .bool else { throw CBORError(.unexpected, at: offset) }
    offset += 1
    return all.unsafeLoad(fromByteOffset: offset - 1, as: UInt8.self) == 0xF5
  }

  /// Reads null if the next item is null, and says whether it was.
  @_lifetime(self: copy self)
  public mutating func isNull() throws(CBORError) -> Bool {
    guard try kind() == .null else { return false }
    offset += 1
    return true
  }

  /// Reads a floating-point number of any width.
  @_lifetime(self: copy self)
  public mutating func double() throws(CBORError) -> Double {
    guard try kind() == .double else { throw CBORError(.unexpected, at: offset) }
    let start = offset
    let initial = all.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    offset += 1
    let value: Double
    let isShortest: Bool
    switch initial {
    case 0xF9:
      let bits: UInt16 = try fixed()
      value = Double(Float16(bitPattern: bits))
      isShortest = !value.isNaN || bits == 0x7E00
    case 0xFA:
      let single = Float(bitPattern: try fixed())
      value = Double(single)
      isShortest = !single.isNaN && Float(Float16(single)) != single
    default:
      value = Double(bitPattern: try fixed())
      isShortest = !value.isNaN && Double(Float(value)) != value
    }
    if !isShortest { throw CBORError(.notShortest, at: start) }
    return value
  }

  /// Reads one item with everything inside, checks it, and gives its bytes, in place.
  ///
  /// - Complexity: O(n), n the bytes of the item.
  @_lifetime(copy self) @_lifetime(self: copy self)
  public mutating func skip() throws(CBORError) -> RawSpan {
    let start = offset
    try check(depth: 0)
    return all.extracting(start..<offset)
  }
}

extension CBORReader {
  @_lifetime(self: copy self)
  private mutating func check(depth: Int) throws(CBORError) {
    if depth > Self.depthMax { throw CBORError(.tooDeep, at: offset) }
    switch try kind() {
    case .unsigned: _ = try unsigned()
    case .negative: _ = try negative()
    case .bytes: _ = try bytes()
    case .text: _ = try textBytes()
    case .bool: _ = try bool()
    case .null: offset += 1
    case .double: _ = try double()
    case .array: for _ in 0..<(try array()) { try check(depth: depth + 1) }
    case .map:
      var previous = 0..<0
      for _ in 0..<(try map()) {
        let start = offset
        try check(depth: depth + 1)
        try checkOrder(previous, start..<offset)
        previous = start..<offset
        try check(depth: depth + 1)
      }
    }
  }

  /// Throws `keyOrder` unless the encoded key at `key` follows the one at `previous`; an empty range is not a key.
  func checkOrder(_ previous: Range<Int>, _ key: Range<Int>) throws(CBORError) {
    let ascends = all.extracting(previous).withUnsafeBytes { previous in
      all.extracting(key).withUnsafeBytes { key in previous.lexicographicallyPrecedes(key) }
    }
    if !ascends { throw CBORError(.keyOrder, at: key.lowerBound) }
  }

  /// A number or length that stands in its initial byte is most of them.
  @inline(__always) @_lifetime(self: copy self)
  private mutating func head(_ majorType: UInt8) throws(CBORError) -> UInt64 {
    if offset < all.byteCount {
      let value = all.unsafeLoad(fromByteOffset: offset, as: UInt8.self) &- majorType << 5
      if value < 24 {
        offset += 1
        return UInt64(value)
      }
    }
    return try longHead(majorType)
  }

  @inline(never) @_lifetime(self: copy self)
  private mutating func longHead(_ majorType: UInt8) throws(CBORError) -> UInt64 {
    let start = offset
    guard start < all.byteCount else { throw CBORError(.truncated, at: start) }
    let initial = all.unsafeLoad(fromByteOffset: start, as: UInt8.self)
    guard initial >> 5 == majorType else { throw CBORError(.unexpected, at: start) }
    offset += 1
    let value: UInt64
    let isShortest: Bool
    switch initial & 31 {
    case 24:
      value = UInt64(try fixed() as UInt8)
      isShortest = value >= 24
    case 25:
      value = UInt64(try fixed() as UInt16)
      isShortest = value > 0xFF
    case 26:
      value = UInt64(try fixed() as UInt32)
      isShortest = value > 0xFFFF
    case 27:
      value = try fixed()
      isShortest = value > 0xFFFF_FFFF
    case 31: throw CBORError(.indefiniteLength, at: start)
    default: throw CBORError(.unsupported, at: start)
    }
    if !isShortest { throw CBORError(.notShortest, at: start) }
    return value
  }

  @_lifetime(self: copy self)
  private mutating func fixed<Number: FixedWidthInteger & BitwiseCopyable>() throws(CBORError) -> Number {
    let size = MemoryLayout<Number>.size
    guard size <= all.byteCount - offset else { throw CBORError(.truncated, at: offset) }
    defer { offset += size }
    return Number(bigEndian: all.unsafeLoadUnaligned(fromByteOffset: offset, as: Number.self))
  }

  @_lifetime(copy self) @_lifetime(self: copy self)
  private mutating func string(_ majorType: UInt8) throws(CBORError) -> RawSpan {
    let count = try head(majorType)
    guard count <= UInt64(all.byteCount - offset) else { throw CBORError(.truncated, at: offset) }
    defer { offset += Int(count) }
    return all.extracting(offset..<offset + Int(count))
  }

  /// A count that the remaining bytes could hold, so that capacity can be reserved.
  @_lifetime(self: copy self)
  private mutating func count(_ majorType: UInt8, bytesPerItem: Int) throws(CBORError) -> Int {
    let count = try head(majorType)
    guard count <= UInt64((all.byteCount - offset) / bytesPerItem) else { throw CBORError(.truncated, at: offset) }
    return Int(count)
  }
}

extension RawSpan {
  /// The text that the bytes are in UTF-8; nil if they are not.
  fileprivate var text: String? {
    withUnsafeBytes { bytes in
      do {
        return String(copying: try UTF8Span(validating: bytes.assumingMemoryBound(to: UInt8.self).span))
      } catch {
        return nil
      }
    }
  }

  /// Whether the bytes are UTF-8.
  var isText: Bool {
    withUnsafeBytes { bytes in
      do {
        _ = try UTF8Span(validating: bytes.assumingMemoryBound(to: UInt8.self).span)
        return true
      } catch {
        return false
      }
    }
  }
}
