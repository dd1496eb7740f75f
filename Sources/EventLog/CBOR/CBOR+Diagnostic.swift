extension CBOR: CustomStringConvertible {
  /// The value in diagnostic notation (RFC 8949 section 8), on one line; pairs of maps in the order of the encoding.
  public var description: String {
    let encoded = encoded
    guard let text = CBORReader.diagnostic(of: encoded.span.bytes) else {
      preconditionFailure("A value's encoding cannot be decoded; this is a defect of CBOR.")
    }
    return String(decoding: text, as: UTF8.self)
  }
}

extension CBORReader {
  /// The diagnostic notation (RFC 8949 section 8) of one item, on one line, in UTF-8; nil for anything else.
  ///
  /// Texts are written as JSON strings: quotes, backslashes and control characters below U+0080 are escaped.
  /// - Complexity: O(n), n the number of bytes.
  public static func diagnostic(of bytes: RawSpan) -> [UInt8]? { withDiagnostic(of: bytes) { Array($0) } }

  /// Lends the same to a function.
  private static func withDiagnostic<Value>(of bytes: RawSpan, _ body: (UnsafeRawBufferPointer) -> Value) -> Value? {
    let start = UnsafeMutableRawPointer.allocate(byteCount: diagnosticCapacity(of: bytes), alignment: 1)
    defer { start.deallocate() }
    return writeDiagnostic(of: bytes, quoted: false, to: start).map { count in
      body(UnsafeRawBufferPointer(start: start, count: count))
    }
  }

  /// How many bytes the notation of an item takes at most.
  ///
  /// None becomes more than nine: the longest is a half-precision number of three bytes, whose spelling may have 23
  /// characters, with what separates it from the next.
  public static func diagnosticCapacity(of bytes: RawSpan) -> Int { 9 * bytes.byteCount + 9 }

  /// Writes the same to memory that has room for it.
  /// - Parameters:
  ///   - isQuoted: whether it is escaped once more, as it stands between the quotes of a JSON string.
  ///   - start: room for ``diagnosticCapacity(of:)`` bytes.
  /// - Returns: how many bytes were written; nil for bytes that are not an item.
  public static func writeDiagnostic(
    of bytes: RawSpan, quoted isQuoted: Bool, to start: UnsafeMutableRawPointer
  ) -> Int? {
    do throws(CBORError) {
      var text = DiagnosticText(start, capacity: diagnosticCapacity(of: bytes), isQuoted: isQuoted)
      var reader = CBORReader(bytes)
      try reader.write(to: &text, depth: 0)
      try reader.end()
      return text.count
    } catch {
      return nil
    }
  }

  /// Writes an item with everything inside, and checks what `skip` checks.
  @_lifetime(self: copy self)
  private mutating func write(to text: inout DiagnosticText, depth: Int) throws(CBORError) {
    if depth > Self.depthMax { throw CBORError(.tooDeep, at: offset) }
    switch try kind() {
    case .unsigned: text.digits(try unsigned())
    case .negative:
      let (value, overflows) = try negative().addingReportingOverflow(1)
      text.put("-")
      if overflows { text.put("18446744073709551616") } else { text.digits(value) }
    case .bytes: try bytes().withUnsafeBytes { text.hexadecimal($0) }
    case .text:
      let start = offset
      let span = try uncheckedText()
      guard span.isText else { throw CBORError(.invalidText, at: start) }
      span.withUnsafeBytes { text.quote($0) }
    case .bool: text.put(try bool() ? "true" : "false")
    case .null:
      _ = try isNull()
      text.put("null")
    case .double:
      let value = try double()
      // Most are whole seconds.
      if value > 0, value < 1e15, let whole = UInt64(exactly: value) {
        text.digits(whole)
        text.put(".0")
        break
      }
      var spelling = value.isNaN ? "NaN" : value.isInfinite ? (value < 0 ? "-Infinity" : "Infinity") : value.description
      spelling.withUTF8 { text.put(UnsafeRawBufferPointer($0)) }
    case .array:
      text.put("[")
      for index in 0..<(try array()) {
        if index > 0 { text.put(", ") }
        try write(to: &text, depth: depth + 1)
      }
      text.put("]")
    case .map:
      text.put("{")
      var previous = 0..<0
      for index in 0..<(try map()) {
        if index > 0 { text.put(", ") }
        let start = offset
        try write(to: &text, depth: depth + 1)
        try checkOrder(previous, start..<offset)
        previous = start..<offset
        text.put(": ")
        try write(to: &text, depth: depth + 1)
      }
      text.put("}")
    }
  }
}

/// Diagnostic notation being written, in room for the longest that the bytes can have.
private struct DiagnosticText: ~Copyable {
  private let start: UnsafeMutableRawPointer
  private let capacity: Int
  private let isQuoted: Bool
  private(set) var count = 0

  /// - Parameter isQuoted: whether quotes and backslashes are escaped.
  init(_ start: UnsafeMutableRawPointer, capacity: Int, isQuoted: Bool) {
    (self.start, self.capacity, self.isQuoted) = (start, capacity, isQuoted)
  }

  /// Room for bytes that are written at once.
  private mutating func room(_ byteCount: Int) -> UnsafeMutableRawPointer {
    precondition(byteCount <= capacity - count, "Diagnostic notation is at most nine times as long as its bytes.")
    defer { count += byteCount }
    return start + count
  }

  mutating func put(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    room(bytes.count).copyMemory(from: base, byteCount: bytes.count)
  }

  mutating func put(_ text: StaticString) {
    room(text.utf8CodeUnitCount).copyMemory(from: text.utf8Start, byteCount: text.utf8CodeUnitCount)
  }

  mutating func digits(_ value: UInt64) {
    var (length, rest) = (1, value / 10)
    while rest > 0 { (length, rest) = (length + 1, rest / 10) }
    let place = room(length)
    rest = value
    for offset in stride(from: length - 1, through: 0, by: -1) {
      place.storeBytes(of: 0x30 + UInt8(truncatingIfNeeded: rest % 10), toByteOffset: offset, as: UInt8.self)
      rest /= 10
    }
  }

  mutating func hexadecimal(_ bytes: UnsafeRawBufferPointer) {
    put("h'")
    HexadecimalDigits.spell(bytes, at: room(2 * bytes.count))
    put("'")
  }

  mutating func quote(_ bytes: UnsafeRawBufferPointer) {
    put(isQuoted ? "\\\"" : "\"")
    var plain = 0
    for index in bytes.indices {
      let byte = bytes[index]
      guard byte < 0x20 || byte == 0x22 || byte == 0x5C || byte == 0x7F else { continue }
      put(UnsafeRawBufferPointer(rebasing: bytes[plain..<index]))
      plain = index + 1
      put(isQuoted ? "\\\\" : "\\")
      if byte == 0x22 || byte == 0x5C {
        if isQuoted { put("\\") }
        room(1).storeBytes(of: byte, as: UInt8.self)
      } else {
        put("u00")
        room(2).storeBytes(of: HexadecimalDigits.lowercase(byte), as: UInt16.self)
      }
    }
    put(UnsafeRawBufferPointer(rebasing: bytes[plain...]))
    put(isQuoted ? "\\\"" : "\"")
  }
}
