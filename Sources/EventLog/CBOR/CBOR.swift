/// A CBOR value of the deterministic profile, as a tree: convenient where speed does not matter.
///
/// Two values are equal when their encodings are: the order of pairs does not count, 0.0 and -0.0 differ, and the one
/// NaN equals itself.
public indirect enum CBOR: Sendable, Hashable {
  /// A key of a map with its value.
  public struct Pair: Sendable, Hashable {
    /// The key.
    public var key: CBOR
    /// The value.
    public var value: CBOR

    /// A pair of `key` and `value`.
    public init(_ key: CBOR, _ value: CBOR) {
      self.key = key
      self.value = value
    }
  }

  /// The integer n.
  case unsigned(UInt64)
  /// The integer -1 - n.
  case negative(UInt64)
  /// A byte string.
  case bytes([UInt8])
  /// A text string, UTF-8 when encoded.
  case text(String)
  /// Values in order.
  case array([CBOR])
  /// Pairs in any order, without a key twice; decoding gives them in the order of the encoding.
  case map([Pair])
  /// True or false.
  case bool(Bool)
  /// Null.
  case null
  /// A floating-point number.
  case double(Double)

  /// The integer `value`.
  public static func integer(_ value: Int64) -> CBOR {
    value >= 0 ? .unsigned(UInt64(value)) : .negative(UInt64(bitPattern: ~value))
  }

  /// Decodes exactly one item.
  ///
  /// - Throws: `CBORError` with the byte for anything but deterministic CBOR.
  /// - Complexity: O(n), n the number of bytes.
  public init(decoding bytes: RawSpan) throws(CBORError) {
    var reader = CBORReader(bytes)
    self = try reader.value(depth: 0)
    try reader.end()
  }

  /// The one deterministic encoding.
  ///
  /// A map with a key twice is a programming error.
  /// - Complexity: O(n log m), n the bytes, m the pairs of a map.
  public var encoded: [UInt8] {
    var writer = CBORWriter()
    write(to: &writer)
    return writer.finish()
  }

  /// Whether both have the same encoding.
  public static func == (a: CBOR, b: CBOR) -> Bool { a.encoded == b.encoded }

  /// Feeds the encoding.
  public func hash(into hasher: inout Hasher) { hasher.combine(encoded) }

  private func write(to writer: inout CBORWriter) {
    switch self {
    case .unsigned(let value): writer.unsigned(value)
    case .negative(let value): writer.negative(value)
    case .bytes(let value): writer.bytes(value)
    case .text(let value): writer.text(value)
    case .bool(let value): writer.bool(value)
    case .null: writer.null()
    case .double(let value): writer.double(value)
    case .array(let items):
      writer.array(items.count)
      for item in items { item.write(to: &writer) }
    case .map(let pairs):
      let sorted = pairs.map { (key: $0.key.encoded, value: $0.value) }
        .sorted { $0.key.lexicographicallyPrecedes($1.key) }
      precondition(zip(sorted, sorted.dropFirst()).allSatisfy { $0.key != $1.key }, "A map has a key only once.")
      writer.map(sorted.count)
      for (key, value) in sorted {
        writer.raw(key.span.bytes)
        value.write(to: &writer)
      }
    }
  }
}

extension CBORReader {
  /// Reads one item as a tree.
  @_lifetime(self: copy self)
  mutating func value(depth: Int) throws(CBORError) -> CBOR {
    if depth > Self.depthMax { throw CBORError(.tooDeep, at: offset) }
    switch try kind() {
    case .unsigned: return .unsigned(try unsigned())
    case .negative: return .negative(try negative())
    case .bytes: return .bytes(try bytes().withUnsafeBytes { [UInt8]($0) })
    case .text: return .text(try text())
    case .bool: return .bool(try bool())
    case .double: return .double(try double())
    case .null:
      _ = try isNull()
      return .null
    case .array:
      let count = try array()
      var items: [CBOR] = []
      for _ in 0..<count { items.append(try value(depth: depth + 1)) }
      return .array(items)
    case .map:
      let count = try map()
      var pairs: [CBOR.Pair] = []
      var previous = 0..<0
      for _ in 0..<count {
        let start = offset
        let key = try value(depth: depth + 1)
        try checkOrder(previous, start..<offset)
        previous = start..<offset
        pairs.append(CBOR.Pair(key, try value(depth: depth + 1)))
      }
      return .map(pairs)
    }
  }
}
