/// Cuts a predicate format string into tokens.
struct PredicateLexer {
  enum Token: Equatable, CustomStringConvertible {
    case word(String)
    /// A word that is a key whatever it says: `#IN`.
    case escapedWord(String)
    case text(String)
    /// A whole number without its sign: -2^63 has no positive twin in 64 bits.
    case integer(UInt64)
    case double(Double)
    case symbol(String)
    /// A place for an argument, such as `%@` or `%ld`.
    case specifier(String)
    case end

    var description: String {
      switch self {
      case .word(let word), .escapedWord(let word): "'\(word)'"
      case .text(let text): PropertyValue.text(text).formatDescription
      case .integer(let number): "\(number)"
      case .double(let number): "\(number)"
      case .symbol(let symbol), .specifier(let symbol): "'\(symbol)'"
      case .end: "the end"
      }
    }

    /// The word in capitals, as keywords are compared.
    var keyword: String? { if case .word(let word) = self { word.uppercased() } else { nil } }

    /// The canonical name of a comparison operator.
    var comparisonName: String? {
      switch self {
      case .symbol(let symbol): Self.comparisons[symbol]
      case .word:
        keyword.flatMap { Self.wordComparisons.contains($0) || $0.hasPrefix("UTI-") ? $0 : nil }
      default: nil
      }
    }

    private static let comparisons = [
      "==": "==", "=": "==", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", "=<": "<=", ">": ">", ">=": ">=", "=>": ">=",
    ]
    private static let wordComparisons: Set<String> = [
      "IN", "BETWEEN", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES",
    ]
  }

  let bytes: [UInt8]
  private var index = 0

  init(_ format: String) { bytes = Array(format.utf8) }

  private func byte(_ distance: Int = 0) -> UInt8? {
    index + distance < bytes.count ? bytes[index + distance] : nil
  }

  /// Passes over blanks and gives the place at which the next token begins.
  mutating func skipBlanks() -> Int {
    while let byte = byte(), byte == 0x20 || (0x09...0x0D).contains(byte) { index += 1 }
    return index
  }

  mutating func next() throws(FetchError) -> Token {
    guard let first = byte() else { return .end }
    switch first {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"):
      return .word(word())
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    case UInt8(ascii: "."): return try pointedNumber()
    case UInt8(ascii: "\""), UInt8(ascii: "'"): return .text(try text(until: first))
    case UInt8(ascii: "%"): return try specifier()
    case UInt8(ascii: "#"):
      index += 1
      guard let letter = byte(), letter.isWordStart else { throw .malformed("#", "A key must follow '#'.") }
      return .escapedWord(word())
    case UInt8(ascii: "$"):
      index += 1
      let name = word()
      throw .unsupported("$\(name)", "'$\(name)' is a variable, which fetches do not support. Pass the value as %@.")
    case UInt8(ascii: "@"):
      index += 1
      let name = word()
      throw .unsupported("@\(name)", "'@\(name)' is an operator on collections, which fetches do not support.")
    default: return try symbol()
    }
  }

  /// A name, with the dots of a key path.
  private mutating func word() -> String {
    let start = index
    while true {
      let part = index
      while let byte = byte() {
        guard byte.isWordPart || (byte == UInt8(ascii: ".") && (self.byte(1)?.isWordStart ?? false)) else { break }
        index += 1
      }
      // In operators such as UTI-EQUALS a hyphen belongs to the word.
      let isPrefix = bytes[part..<index].elementsEqual("uti".utf8) { $0 | 0x20 == $1 }
      guard isPrefix, byte() == UInt8(ascii: "-") else { break }
      index += 1
    }
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }

  private mutating func symbol() throws(FetchError) -> Token {
    for symbol in Self.symbols where bytes[index...].starts(with: symbol.utf8) {
      index += symbol.utf8.count
      return .symbol(symbol)
    }
    let rest = String(decoding: bytes[index...].prefix(4), as: UTF8.self).unicodeScalars.prefix(1)
    throw .malformed(String(rest), "The character '\(String(rest))' has no meaning here.")
  }

  /// Longer ones before their beginnings.
  private static let symbols = [
    "==", "=<", "=>", "!=", "<>", "<=", "<<", ">=", ">>", "&&", "||", "**", "=", "<", ">", "!", "&", "|", "^", "~", "+",
    "-", "*", "/", "(", ")", "{", "}", "[", "]", ",",
  ]

  private mutating func specifier() throws(FetchError) -> Token {
    let start = index
    index += 1
    while let byte = byte(),
      [UInt8(ascii: "l"), UInt8(ascii: "h"), UInt8(ascii: "q"), UInt8(ascii: "z")].contains(byte)
    { index += 1 }
    guard let last = byte() else { throw .malformed("%", "'%' is at the end; write %@, %d, %f or %K.") }
    index += 1
    let name = String(decoding: bytes[start..<index], as: UTF8.self)
    switch last {
    case UInt8(ascii: "@"), UInt8(ascii: "K"): if name.utf8.count == 2 { return .specifier(name) }
    case UInt8(ascii: "d"), UInt8(ascii: "i"), UInt8(ascii: "u"), UInt8(ascii: "x"), UInt8(ascii: "X"),
      UInt8(ascii: "o"), UInt8(ascii: "f"), UInt8(ascii: "g"), UInt8(ascii: "e"):
      return .specifier(name)
    case UInt8(ascii: "%"):
      throw .malformed("%%", "'%%' is a percent sign and means nothing outside quotes; inside them write one '%'.")
    default: break
    }
    throw .malformed(name, "'\(name)' is not a format specifier; write %@, %d, %f or %K.")
  }
}

// Literals.
extension PredicateLexer {
  private mutating func text(until quote: UInt8) throws(FetchError) -> String {
    let start = index
    index += 1
    var content: [UInt8] = []
    while let next = byte() {
      index += 1
      if next == quote { return String(decoding: content, as: UTF8.self) }
      guard next == UInt8(ascii: "\\") else {
        content.append(next)
        continue
      }
      content += try escape()
    }
    index = start
    throw .malformed("text", "The text that starts here has no closing quote.")
  }

  private mutating func escape() throws(FetchError) -> [UInt8] {
    guard let letter = byte() else { throw .malformed("\\", "The text ends in a backslash.") }
    index += 1
    switch letter {
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "u"), UInt8(ascii: "x"):
      let count = letter == UInt8(ascii: "u") ? 4 : 2
      let digits = String(decoding: bytes[index...].prefix(count), as: UTF8.self)
      guard digits.utf8.count == count, let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value),
        digits.utf8.allSatisfy(\.isWordPart)
      else {
        throw .malformed("\\", "A \\\(count == 4 ? "u needs four" : "x needs two") hexadecimal digits of a character.")
      }
      index += count
      return Array(String(scalar).utf8)
    default: return [letter]
    }
  }

  private mutating func number() throws(FetchError) -> Token {
    let radixes: [UInt8: Int] = [UInt8(ascii: "x"): 16, UInt8(ascii: "o"): 8, UInt8(ascii: "b"): 2]
    if byte() == UInt8(ascii: "0"), let mark = byte(1), let radix = radixes[mark | 0x20] {
      let start = index
      index += 2
      let digits = word(while: \.isWordPart)
      guard let value = UInt64(digits, radix: radix), !digits.isEmpty else {
        throw badNumber(from: start)
      }
      return .integer(value)
    }
    return try pointedNumber()
  }

  /// Digits, point, digits, exponent.
  private mutating func pointedNumber() throws(FetchError) -> Token {
    let start = index
    _ = word(while: \.isDigit)
    var isWhole = true
    if byte() == UInt8(ascii: "."), byte(1)?.isDigit ?? false {
      isWhole = false
      index += 1
      _ = word(while: \.isDigit)
    }
    if let mark = byte(), mark | 0x20 == UInt8(ascii: "e") {
      let isSigned = byte(1) == UInt8(ascii: "-") || byte(1) == UInt8(ascii: "+")
      if byte(isSigned ? 2 : 1)?.isDigit ?? false {
        isWhole = false
        index += isSigned ? 2 : 1
        _ = word(while: \.isDigit)
      }
    }
    let digits = String(decoding: bytes[start..<index], as: UTF8.self)
    guard index > start, !(byte()?.isWordPart ?? false) else { throw badNumber(from: start) }
    if isWhole, let value = UInt64(digits) { return .integer(value) }
    guard !isWhole, let value = Double(digits) else { throw badNumber(from: start) }
    return .double(value)
  }

  private mutating func badNumber(from start: Int) -> FetchError {
    _ = word(while: { $0.isWordPart })
    let digits = String(decoding: bytes[start..<max(index, min(start + 1, bytes.count))], as: UTF8.self)
    return .malformed(digits, "'\(digits)' is not a number, or does not fit into 64 bits.")
  }

  private mutating func word(while isPart: (UInt8) -> Bool) -> String {
    let start = index
    while let byte = byte(), isPart(byte) { index += 1 }
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }
}

extension UInt8 {
  fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

  fileprivate var isWordStart: Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) || self == UInt8(ascii: "_")
  }

  fileprivate var isWordPart: Bool { isWordStart || isDigit }
}
