/// A JSON value whose numbers keep the text they were written in.
enum JSONText: Equatable {
  case text(String)
  case list([JSONText])
  case object([(String, JSONText)])

  static func == (left: JSONText, right: JSONText) -> Bool {
    switch (left, right) {
    case (.text(let left), .text(let right)): left == right
    case (.list(let left), .list(let right)): left == right
    case (.object(let left), .object(let right)):
      left.elementsEqual(right) { $0.0 == $1.0 && $0.1 == $1.1 }
    default: false
    }
  }

  /// The value as texts: one for a scalar, one per scalar element for a list, none for an object.
  var texts: [String] {
    switch self {
    case .text(let text): [text]
    case .list(let elements): elements.flatMap(\.texts)
    case .object: []
    }
  }

  /// Reads a JSON text (RFC 8259); numbers, `true`, `false` and `null` become their own spelling.
  /// Bytes that are not UTF-8 become U+FFFD. Returns nil for anything malformed or nested deeper than 64.
  static func parse(_ bytes: [UInt8]) -> JSONText? {
    var parser = Parser(bytes: bytes)
    guard let value = parser.value(depth: 0) else { return nil }
    parser.skipBlanks()
    return parser.position == bytes.count ? value : nil
  }

  private struct Parser {
    let bytes: [UInt8]
    var position = 0

    var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func skipBlanks() {
      while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    mutating func take(_ character: Character) -> Bool {
      skipBlanks()
      guard let byte = next, byte == character.asciiValue else { return false }
      position += 1
      return true
    }

    mutating func value(depth: Int) -> JSONText? {
      guard depth < 64 else { return nil }
      skipBlanks()
      switch next {
      case UInt8(ascii: "{"): return object(depth: depth)
      case UInt8(ascii: "["): return list(depth: depth)
      case UInt8(ascii: "\""): return string().map { .text($0) }
      default: return word().map { .text($0) }
      }
    }

    mutating func list(depth: Int) -> JSONText? {
      position += 1
      var elements: [JSONText] = []
      if take("]") { return .list(elements) }
      while true {
        guard let element = value(depth: depth + 1) else { return nil }
        elements.append(element)
        if take("]") { return .list(elements) }
        guard take(",") else { return nil }
      }
    }

    mutating func object(depth: Int) -> JSONText? {
      position += 1
      var members: [(String, JSONText)] = []
      if take("}") { return .object(members) }
      while true {
        skipBlanks()
        guard next == UInt8(ascii: "\""), let key = string(), take(":"), let member = value(depth: depth + 1) else {
          return nil
        }
        members.append((key, member))
        if take("}") { return .object(members) }
        guard take(",") else { return nil }
      }
    }

    /// A number or one of the three words; what it is does not matter, as text it is kept.
    mutating func word() -> String? {
      let start = position
      while let byte = next, byte == 0x2B || byte == 0x2D || byte == 0x2E || isAlphanumeric(byte) { position += 1 }
      return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
    }

    func isAlphanumeric(_ byte: UInt8) -> Bool {
      (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    mutating func string() -> String? {
      position += 1
      var text: [UInt8] = []
      while let byte = next {
        position += 1
        switch byte {
        case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
        case UInt8(ascii: "\\"):
          guard let unit = escape() else { return nil }
          text.append(contentsOf: unit)
        default: text.append(byte)
        }
      }
      return nil
    }

    mutating func escape() -> [UInt8]? {
      guard let byte = next else { return nil }
      position += 1
      switch byte {
      case UInt8(ascii: "n"): return [0x0A]
      case UInt8(ascii: "r"): return [0x0D]
      case UInt8(ascii: "t"): return [0x09]
      case UInt8(ascii: "b"): return [0x08]
      case UInt8(ascii: "f"): return [0x0C]
      case UInt8(ascii: "u"): return unicodeEscape()
      default: return [byte]
      }
    }

    mutating func unicodeEscape() -> [UInt8]? {
      guard let high = hexadecimal() else { return nil }
      guard (0xD800..<0xDC00).contains(high), position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
        bytes[position + 1] == UInt8(ascii: "u")
      else { return utf8(high) }
      let before = position
      position += 2
      guard let low = hexadecimal() else { return nil }
      if (0xDC00..<0xE000).contains(low) { return utf8(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)) }
      position = before
      return utf8(high)
    }

    mutating func hexadecimal() -> UInt32? {
      guard position + 4 <= bytes.count else { return nil }
      defer { position += 4 }
      return UInt32(String(decoding: bytes[position..<(position + 4)], as: UTF8.self), radix: 16)
    }

    func utf8(_ scalar: UInt32) -> [UInt8] {
      Array(String(Unicode.Scalar(scalar) ?? "\u{FFFD}").utf8)
    }
  }
}
