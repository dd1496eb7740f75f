/// Bytes that are not the deterministic CBOR expected, and where.
public struct CBORError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  public enum Code: String, Sendable, Hashable {
    /// The bytes end inside an item.
    case truncated
    /// Bytes follow the last item.
    case trailingBytes
    /// An integer, length or float is not in its shortest form, or a NaN is not the one NaN.
    case notShortest
    /// A length is "indefinite".
    case indefiniteLength
    /// A tag, `undefined`, or a simple or reserved value, which the profile does not use.
    case unsupported
    /// A text string is not UTF-8.
    case invalidText
    /// Map keys are out of order or repeated.
    case keyOrder
    /// Arrays and maps are nested too deeply.
    case tooDeep
    /// The item is of another kind, or its value or length not one allowed here.
    case unexpected
  }

  /// What is wrong.
  public let code: Code
  /// Where, bytes from the beginning.
  public let offset: Int

  /// An error found at `offset`.
  public init(_ code: Code, at offset: Int) {
    self.code = code
    self.offset = offset
  }

  /// A sentence naming the fault and the byte.
  public var description: String {
    let text =
      switch code {
      case .truncated: "the bytes end inside an item"
      case .trailingBytes: "bytes follow the last item"
      case .notShortest: "a number or length is not in its shortest form"
      case .indefiniteLength: "a length is indefinite"
      case .unsupported: "a tag or simple value is not part of this format"
      case .invalidText: "a text is not UTF-8"
      case .keyOrder: "map keys are out of order or repeated"
      case .tooDeep: "arrays and maps are nested too deeply"
      case .unexpected: "another item was expected here"
      }
    return "The CBOR is not deterministic or not as expected at byte \(offset): \(text)."
  }
}
