import PhotoLedger

/// Why a text is not JSON.
package struct JSONError: Error, CustomStringConvertible {
  /// What is wrong, and at which byte, without a full stop.
  package let clause: String
  /// The same as a sentence.
  package var description: String { "The line is not valid JSON: \(clause)." }
}

/// Reads JSON (RFC 8259), at most 64 levels deep.
///
/// Requests, exported logs, proofs and the manifests of backups are read by this, or checked by it before a decoder of
/// Foundation reads them: that takes the first of two equal keys, where other programs take the last, so that one text
/// would say two things.
///
/// In the strict form keys are unique, the text is UTF-8, and no character exceeds the limit of marks (MarkRuns.swift);
/// whole numbers that fit 64 bits stay exact. Reading is linear in the length and never traps.
package struct JSONReader {
  /// Whose JSON it is.
  package enum Form: Sendable {
    /// What is written for the library.
    case strict
    /// A line of an exported log: the same, but a text may have as many marks on a character as the library's has. The
    /// reader of the line compares no such text but by its bytes. A key is at most 64 bytes long: keys are hashed.
    case exported
    /// What other programs write beside photos, taken as far as it can be understood: numbers and words keep their
    /// spelling, as `written`; bytes that are not UTF-8, and halves of surrogate pairs, become U+FFFD; of too many
    /// marks on a character the last are left out; a key may come twice, and a control character may stand for itself.
    case foreign
  }

  private let bytes: [UInt8]
  private let form: Form
  private let valueLimit: Int
  private var valueCount = 0
  private var position = 0
  private static let greatestDepth = 64
  /// The most bytes of a key of an exported line; those that are known are a quarter as long.
  private static let exportedKeyByteLimit = 64

  /// Reads a text that is one value.
  /// - Parameter valueLimit: the most values, those within others included: a list of lists takes thirty times as much
  ///   memory as its text.
  package static func read(
    _ bytes: [UInt8], _ form: Form = .strict, valueLimit: Int = .max
  ) throws(JSONError) -> JSON {
    var reader = JSONReader(bytes, form, valueLimit)
    let value = try reader.value(depth: 0)
    reader.skipBlanks()
    guard reader.position == bytes.count else { throw reader.error("expected the end") }
    return value
  }

  private init(_ bytes: [UInt8], _ form: Form, _ valueLimit: Int) {
    (self.bytes, self.form, self.valueLimit) = (bytes, form, valueLimit)
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private func error(_ what: String) -> JSONError {
    let found = next.map { byte in
      (0x21...0x7E).contains(byte) ? "found '\(Character(Unicode.Scalar(byte)))'" : "found byte \(byte)"
    }
    return JSONError(clause: "\(what), \(found ?? "but it ends"), at byte \(position + 1)")
  }

  /// The beginning of a key, for a sentence about it.
  private static func excerpt(_ key: String) -> String { String(key.unicodeScalars.prefix(40)) }

  private mutating func skipBlanks() {
    while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
  }

  private mutating func value(depth: Int) throws(JSONError) -> JSON {
    guard depth < Self.greatestDepth else { throw error("values may be nested \(Self.greatestDepth) deep") }
    skipBlanks()
    valueCount += 1
    guard valueCount <= valueLimit else { throw error("there may be \(valueLimit) values at most") }
    switch next {
    case UInt8(ascii: "{"): return try object(depth)
    case UInt8(ascii: "["): return try list(depth)
    case UInt8(ascii: "\""): return .text(try string())
    case _ where form == .foreign: return .written(try spelling())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return try number()
    }
  }

  private mutating func word(_ word: String, _ value: JSON) throws(JSONError) -> JSON {
    guard bytes[position...].starts(with: word.utf8) else { throw error("expected a value") }
    position += word.utf8.count
    return value
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    skipBlanks()
    guard next == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func object(_ depth: Int) throws(JSONError) -> JSON {
    position += 1
    var members: [JSON.Member] = []
    var keys: Set<String> = []
    if take("}") { return .object([]) }
    repeat {
      skipBlanks()
      guard next == UInt8(ascii: "\"") else { throw error("expected a key in quotation marks") }
      let key = try string(isKey: true)
      guard form == .foreign || keys.insert(key).inserted else {
        throw error("the key \"\(Self.excerpt(key))\" is repeated")
      }
      guard take(":") else { throw error("expected ':' after the key \"\(Self.excerpt(key))\"") }
      members.append(JSON.Member(key, try value(depth: depth + 1)))
    } while take(",")
    guard take("}") else { throw error("expected ',' or '}'") }
    return .object(members)
  }

  private mutating func list(_ depth: Int) throws(JSONError) -> JSON {
    position += 1
    var values: [JSON] = []
    if take("]") { return .list([]) }
    repeat { values.append(try value(depth: depth + 1)) } while take(",")
    guard take("]") else { throw error("expected ',' or ']'") }
    return .list(values)
  }

  // MARK: Numbers

  /// A number or a word of a foreign text, as it stands.
  private mutating func spelling() throws(JSONError) -> String {
    let start = position
    while let byte = next, "+-.".utf8.contains(byte) || Self.isAlphanumeric(byte) {
      position += 1
    }
    guard position > start else { throw error("expected a value") }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }

  private mutating func digits() -> Bool {
    let start = position
    while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
    return position > start
  }

  private mutating func number() throws(JSONError) -> JSON {
    let start = position
    var isWhole = true
    if next == UInt8(ascii: "-") { position += 1 }
    if next == UInt8(ascii: "0") { position += 1 } else if !digits() { throw error("expected a value") }
    if next == UInt8(ascii: ".") {
      isWhole = false
      position += 1
      guard digits() else { throw error("expected a digit") }
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      isWhole = false
      position += 1
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
      guard digits() else { throw error("expected a digit") }
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isWhole, let whole = Int64(text) { return .integer(whole) }
    guard let number = Double(text), number.isFinite else { throw error("the number \(text) is out of range") }
    return .number(number)
  }

  // MARK: Text

  /// Whether a byte of a text is neither its end, nor an escape, nor a control character.
  private static func standsForItself(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  private mutating func string(isKey: Bool = false) throws(JSONError) -> String {
    position += 1
    var text: [UInt8] = []
    while let byte = next {
      guard form != .exported || !isKey || text.count <= Self.exportedKeyByteLimit else {
        throw error("a key may have \(Self.exportedKeyByteLimit) bytes at most")
      }
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        if form == .foreign { return String(decoding: text, as: UTF8.self).boundedInMarks }
        guard let string = String(validating: text, as: UTF8.self) else { throw error("text must be UTF-8") }
        guard form == .exported || string.isBoundedInMarks else {
          throw error("a character may have \(String.markLimit) combining marks at most")
        }
        return string
      case UInt8(ascii: "\\"):
        position += 1
        // A backslash before what needs none is dropped.
        if form == .foreign, let byte = next, byte != UInt8(ascii: "u"), Self.escapes[byte] == nil { continue }
        try text.append(contentsOf: escape().utf8)
      case 0..<0x20 where form != .foreign: throw error("a control character must be escaped")
      default:
        // At once, since the payload of a line has megabytes.
        let start = position
        repeat { position += 1 } while next.map(Self.standsForItself) == true
        text.append(contentsOf: bytes[start..<position])
      }
    }
    throw error("expected '\"'")
  }

  private mutating func escape() throws(JSONError) -> Unicode.Scalar {
    guard let byte = next else { throw error("expected an escape") }
    position += 1
    if byte == UInt8(ascii: "u") { return try unicodeEscape() }
    guard let scalar = Self.escapes[byte] else {
      throw error("'\\\(Character(Unicode.Scalar(byte)))' is not a valid escape")
    }
    return scalar
  }

  private static let escapes: [UInt8: Unicode.Scalar] = [
    UInt8(ascii: "\""): "\"", UInt8(ascii: "\\"): "\\", UInt8(ascii: "/"): "/", UInt8(ascii: "b"): "\u{8}",
    UInt8(ascii: "f"): "\u{C}", UInt8(ascii: "n"): "\n", UInt8(ascii: "r"): "\r", UInt8(ascii: "t"): "\t",
  ]

  /// The digits after `\u`; a character beyond the first plane is written as two of them.
  private mutating func unicodeEscape() throws(JSONError) -> Unicode.Scalar {
    let unit = try hexadecimal()
    if let scalar = Unicode.Scalar(unit) { return scalar }
    let end = position
    if unit < 0xDC00, bytes[position...].starts(with: "\\u".utf8) {
      position += 2
      let low = try hexadecimal()
      if (0xDC00...0xDFFF).contains(low),
        let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
      {
        return scalar
      }
    }
    guard form == .foreign else { throw error("a surrogate stands alone") }
    // What follows the half stands for itself.
    position = end
    return "\u{FFFD}"
  }

  private mutating func hexadecimal() throws(JSONError) -> UInt32 {
    guard let unit = [UInt8].spelled(by: bytes[position...].prefix(4)), unit.count == 2 else {
      throw error("expected four hexadecimal digits")
    }
    position += 4
    return UInt32(unit[0]) << 8 | UInt32(unit[1])
  }
}
