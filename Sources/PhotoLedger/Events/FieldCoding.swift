import EventLog
import Foundation

// Maps from small numbers to values, as payloads and rows are written.

/// Writes a map with ascending numbers as keys; what is not written is absent.
struct FieldWriter {
  private var body = CBORWriter(capacity: 256)
  private var count = 0
  private var last: UInt64?

  private mutating func begin(_ key: UInt64) {
    precondition(last.map { $0 < key } ?? true, "The fields of a map must be written in ascending order.")
    last = key
    count += 1
    body.unsigned(key)
  }

  mutating func unsigned(_ key: UInt64, _ value: UInt64) {
    begin(key)
    body.unsigned(value)
  }

  mutating func integer(_ key: UInt64, _ value: Int64) {
    begin(key)
    body.integer(value)
  }

  mutating func double(_ key: UInt64, _ value: Double) {
    begin(key)
    body.double(value)
  }

  mutating func text(_ key: UInt64, _ value: String) {
    begin(key)
    body.text(value)
  }

  mutating func bytes(_ key: UInt64, _ value: [UInt8]) {
    begin(key)
    body.bytes(value)
  }

  mutating func date(_ key: UInt64, _ value: Date) { double(key, value.timeIntervalSinceReferenceDate) }

  mutating func raw(_ key: UInt64, _ encoded: [UInt8]) {
    begin(key)
    body.raw(encoded.span.bytes)
  }

  mutating func value(_ key: UInt64, _ write: (inout CBORWriter) -> Void) {
    begin(key)
    write(&body)
  }

  mutating func list<Element>(_ key: UInt64, _ elements: [Element], _ write: (inout CBORWriter, Element) -> Void) {
    begin(key)
    body.array(elements.count)
    for element in elements { write(&body, element) }
  }

  mutating func pair<Value>(_ key: UInt64, _ pair: Replacement<Value>, _ write: (inout CBORWriter, Value) -> Void) {
    begin(key)
    body.array(2)
    write(&body, pair.old)
    write(&body, pair.new)
  }

  consuming func finish() -> [UInt8] {
    var writer = CBORWriter(capacity: body.bytes.count + 3)
    writer.map(count)
    writer.raw(body.bytes.span.bytes)
    return writer.finish()
  }
}

extension RawSpan {
  /// Reads a whole map with ascending numbers as keys.
  func forEachField(_ body: (inout CBORReader, UInt64) throws -> Void) throws {
    var reader = CBORReader(self)
    var last: UInt64?
    for _ in 0..<(try reader.map()) {
      let key = try reader.unsigned()
      guard last.map({ $0 < key }) ?? true else { throw EventCodingError(sentence: "field \(key) is out of order.") }
      last = key
      try body(&reader, key)
    }
    try reader.end()
  }
}

extension CBORWriter {
  mutating func date(_ value: Date?) {
    if let value { double(value.timeIntervalSinceReferenceDate) } else { null() }
  }

  mutating func key(_ value: OrderKey?) {
    if let value { unsigned(value.rawValue) } else { null() }
  }
}

extension CBORReader {
  @_lifetime(self: copy self)
  mutating func date() throws -> Date {
    let seconds = try double()
    guard seconds.isFinite else { throw EventCodingError(sentence: "a date is no number.") }
    return Date(timeIntervalSinceReferenceDate: seconds)
  }

  @_lifetime(self: copy self)
  mutating func optionalDate() throws -> Date? { try isNull() ? nil : try date() }

  @_lifetime(self: copy self)
  mutating func orderKey() throws -> OrderKey? { try isNull() ? nil : OrderKey(rawValue: try unsigned()) }

  @_lifetime(self: copy self)
  mutating func identifier() throws -> LocalIdentifier {
    let span = try bytes(count: 16)
    return LocalIdentifier(high: span.number(at: 0), low: span.number(at: 8))
  }

  /// A number that must fit a smaller type.
  @_lifetime(self: copy self)
  mutating func number<Value: FixedWidthInteger>(_ type: Value.Type) throws -> Value {
    let value = try integer()
    guard let number = Value(exactly: value) else {
      throw EventCodingError(sentence: "the number \(value) is too large.")
    }
    return number
  }
}

extension LocalIdentifier {
  var bytes: [UInt8] { withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) } }
}

extension Location {
  /// An array: latitude, longitude and, if known, altitude.
  func write(to writer: inout CBORWriter) {
    writer.array(altitude == nil ? 2 : 3)
    writer.double(latitude)
    writer.double(longitude)
    if let altitude { writer.double(altitude) }
  }

  @_lifetime(reader: copy reader)
  init(reading reader: inout CBORReader) throws {
    let count = try reader.array()
    guard count == 2 || count == 3 else { throw EventCodingError(sentence: "a location has \(count) numbers.") }
    self.init(latitude: try reader.double(), longitude: try reader.double())
    if count == 3 { altitude = try reader.double() }
    guard isValid else { throw EventCodingError(sentence: "a location is not on Earth.") }
  }
}
