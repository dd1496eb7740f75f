extension CBOR: CustomStringConvertible {
  /// The value in diagnostic notation (RFC 8949 section 8), on one line; pairs of maps in the order of the encoding.
  public var description: String {
    let encoded = encoded
    guard let text = CBORReader.diagnostic(of: encoded.span.bytes) else {
      preconditionFailure("A value's encoding can be read; this is a defect of CBOR.")
    }
    return String(decoding: text, as: UTF8.self)
  }
}

extension CBORReader {
  /// The diagnostic notation (RFC 8949 section 8) of one item, on one line, in UTF-8; nil for anything else.
  ///
  /// Texts are written as JSON strings: quotes, backslashes and control characters below U+0080 are escaped.
  /// - Complexity: O(n), n the number of bytes.
  public static func diagnostic(of bytes: RawSpan) -> [UInt8]? {
    var text: [UInt8] = []
    text.reserveCapacity(3 * bytes.byteCount)
    do throws(CBORError) {
      // Checked whole before it is written, with the order of keys.
      var checker = CBORReader(bytes)
      _ = try checker.skip()
      try checker.end()
      var reader = CBORReader(bytes)
      try reader.write(to: &text)
    } catch {
      return nil
    }
    return text
  }

  @_lifetime(self: copy self)
  private mutating func write(to text: inout [UInt8]) throws(CBORError) {
    switch try kind() {
    case .unsigned: text.append(contentsOf: String(try unsigned()).utf8)
    case .negative:
      let (value, overflows) = try negative().addingReportingOverflow(1)
      text.append(contentsOf: (overflows ? "-18446744073709551616" : "-\(value)").utf8)
    case .bytes: try bytes().withUnsafeBytes { Self.write($0, to: &text) }
    case .text: try uncheckedText().withUnsafeBytes { Self.quote($0, to: &text) }
    case .bool: text.append(contentsOf: (try bool() ? "true" : "false").utf8)
    case .null:
      _ = try isNull()
      text.append(contentsOf: "null".utf8)
    case .double:
      let value = try double()
      let spelling = value.isNaN ? "NaN" : value.isInfinite ? (value < 0 ? "-Infinity" : "Infinity") : "\(value)"
      text.append(contentsOf: spelling.utf8)
    case .array:
      text.append(UInt8(ascii: "["))
      for index in 0..<(try array()) {
        if index > 0 { text.append(contentsOf: ", ".utf8) }
        try write(to: &text)
      }
      text.append(UInt8(ascii: "]"))
    case .map:
      text.append(UInt8(ascii: "{"))
      for index in 0..<(try map()) {
        if index > 0 { text.append(contentsOf: ", ".utf8) }
        try write(to: &text)
        text.append(contentsOf: ": ".utf8)
        try write(to: &text)
      }
      text.append(UInt8(ascii: "}"))
    }
  }

  private static func write(_ bytes: UnsafeRawBufferPointer, to text: inout [UInt8]) {
    text.append(contentsOf: "h'".utf8)
    for byte in bytes {
      text.append(digit(byte >> 4))
      text.append(digit(byte & 15))
    }
    text.append(UInt8(ascii: "'"))
  }

  private static func quote(_ bytes: UnsafeRawBufferPointer, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "\""))
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        text.append(UInt8(ascii: "\\"))
        text.append(byte)
      case 0..<0x20, 0x7F:
        text.append(contentsOf: "\\u00".utf8)
        text.append(digit(byte >> 4))
        text.append(digit(byte & 15))
      default: text.append(byte)
      }
    }
    text.append(UInt8(ascii: "\""))
  }

  private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }
}
