import EventLog

extension [UInt8] {
  /// The bytes that hexadecimal digits in either case spell, two for each byte; nil for anything else.
  ///
  /// No initialiser: where an optional is wanted, `Array.init` would be taken for it.
  package static func spelled(by digits: some Collection<UInt8>) -> [UInt8]? {
    HexadecimalDigits.bytes(spelledBy: digits)
  }

  /// So many bytes that hexadecimal digits in either case spell; nil for anything else.
  package init?(hexadecimal text: some StringProtocol, count: Int) {
    guard text.utf8.count == 2 * count, let bytes = Self.spelled(by: text.utf8) else { return nil }
    self = bytes
  }

  /// Two lower-case hexadecimal digits for each byte.
  package var hexadecimal: String { withUnsafeBytes { $0.hexadecimal } }
}

extension UnsafeRawBufferPointer {
  /// Two lower-case hexadecimal digits for each byte.
  package var hexadecimal: String { HexadecimalDigits.text(self) }
}

extension String {
  /// The text with all other bytes of its UTF-8 as `%` and two digits, in capitals (RFC 3986, 2.1).
  ///
  /// Byte by byte: a sign with a combining mark after it is another character, and so is a line end of two.
  /// - Parameter isPlain: whether a byte stands for itself; `%` must not.
  package func percentEscaped(unless isPlain: (UInt8) -> Bool) -> String {
    if utf8.allSatisfy(isPlain) { return self }
    var bytes: [UInt8] = []
    for byte in utf8 {
      if isPlain(byte) {
        bytes.append(byte)
      } else {
        let pair = UInt16(littleEndian: HexadecimalDigits.uppercase(byte))
        bytes += [UInt8(ascii: "%"), UInt8(truncatingIfNeeded: pair), UInt8(truncatingIfNeeded: pair &>> 8)]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
