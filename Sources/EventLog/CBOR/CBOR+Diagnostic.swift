extension CBOR: CustomStringConvertible {
  /// The value in diagnostic notation (RFC 8949 section 8), on one line.
  public var description: String {
    switch self {
    case .unsigned(let value): "\(value)"
    case .negative(.max): "-18446744073709551616"
    case .negative(let value): "-\(value + 1)"
    case .bytes(let value): "h'\(Self.hexadecimal(value))'"
    case .text(let value): Self.quoted(value)
    case .array(let items): "[\(items.map(\.description).joined(separator: ", "))]"
    case .map(let pairs): "{\(pairs.map { "\($0.key): \($0.value)" }.joined(separator: ", "))}"
    case .bool(let value): "\(value)"
    case .null: "null"
    case .double(let value):
      value.isNaN ? "NaN" : value.isInfinite ? (value < 0 ? "-Infinity" : "Infinity") : "\(value)"
    }
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// As a JSON string: quotes, backslashes and control characters are escaped.
  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
