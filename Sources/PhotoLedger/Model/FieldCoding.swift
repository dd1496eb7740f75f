import EventLog
import Foundation

// Maps from small numbers to values, as payloads and rows are written.

/// Writes a map with ascending numbers as keys; what is not written is absent.
///
/// Maps inside are written in place: there is one buffer for all of them.
struct FieldWriter {
  private var body: CBORWriter
  private var place: Int
  private var count = 0
  private var last: UInt64?

  init(capacity: Int = 256) {
    body = CBORWriter(capacity: capacity)
    place = body.beginMap()
  }

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

  /// Writes a map.
  /// - Returns: where it lies in the bytes of the whole, unless that has more than 23 fields.
  @discardableResult
  mutating func fields(_ key: UInt64, _ write: (inout FieldWriter) -> Void) -> Range<Int> {
    begin(key)
    let start = body.bytes.count
    map(write)
    return start..<body.bytes.count
  }

  /// Writes an array of maps.
  mutating func maps<Element>(_ key: UInt64, _ elements: [Element], _ write: (inout FieldWriter, Element) -> Void) {
    begin(key)
    body.array(elements.count)
    for element in elements { map { write(&$0, element) } }
  }

  private mutating func map(_ write: (inout FieldWriter) -> Void) {
    let outer = (place, count, last)
    (place, count, last) = (body.beginMap(), 0, nil)
    write(&self)
    body.endMap(at: place, count: count)
    (place, count, last) = outer
  }

  mutating func identifier(_ key: UInt64, _ value: LocalIdentifier) {
    begin(key)
    let words: InlineArray<2, UInt64> = [value.high.bigEndian, value.low.bigEndian]
    body.bytes(words.span.bytes)
  }

  consuming func finish() -> [UInt8] {
    body.endMap(at: place, count: count)
    return body.finish()
  }
}

/// How many objects a container may hold: more than a library has, and sums of a few still fit a number.
enum ObjectCount {
  static let held = 0...(1 << 40)
  static let shift = -(1 << 40)...(1 << 40)
}

/// Which of the fields below 64 a map has.
struct FoundFields {
  private var marks: UInt64 = 0

  mutating func insert(_ key: UInt64) { marks |= key < 64 ? 1 << key : 0 }

  /// Whether all of `keys` are there, each of them below 64.
  func contain(_ keys: [UInt64]) -> Bool { keys.allSatisfy { marks & 1 << $0 != 0 } }
}

extension RawSpan {
  /// Reads a whole map with ascending numbers as keys.
  func forEachField(_ body: (inout CBORReader, UInt64) throws -> Void) throws {
    var reader = CBORReader(self)
    try reader.forEachField(body)
    try reader.end()
  }
}

extension CBORWriter {
  mutating func date(_ value: Date?) {
    if let value { double(value.timeIntervalSinceReferenceDate) } else { null() }
  }

  mutating func identifier(_ value: LocalIdentifier?) {
    if let value { bytes(value.bytes.span.bytes) } else { null() }
  }

  mutating func key(_ value: OrderKey?) {
    if let value { unsigned(value.rawValue) } else { null() }
  }
}

extension CBORReader {
  /// Reads a map with ascending numbers as keys.
  @_lifetime(self: copy self)
  mutating func forEachField(_ body: (inout CBORReader, UInt64) throws -> Void) throws {
    var next: UInt64 = 0
    for _ in 0..<(try map()) {
      let key = try unsigned()
      guard key >= next, key < .max else { throw EventCodingError(sentence: "field \(key) is out of order.") }
      next = key + 1
      try body(&self, key)
    }
  }

  @_lifetime(self: copy self)
  mutating func date() throws -> Date {
    let seconds = try double()
    guard seconds.isFinite else { throw EventCodingError(sentence: "a date is not a number.") }
    return Date(timeIntervalSinceReferenceDate: seconds)
  }

  @_lifetime(self: copy self)
  mutating func optionalDate() throws -> Date? { try isNull() ? nil : try date() }

  @_lifetime(self: copy self)
  mutating func orderKey() throws -> OrderKey? { try isNull() ? nil : presentOrderKey() }

  /// A value before and after.
  @_lifetime(self: copy self)
  mutating func pair<Value>(_ read: (inout CBORReader) throws -> Value) throws -> Replacement<Value> {
    try array(count: 2)
    let old = try read(&self)
    return Replacement(old: old, new: try read(&self))
  }

  /// A place in a manual order.
  @_lifetime(self: copy self)
  mutating func presentOrderKey() throws -> OrderKey {
    let value = try unsigned()
    guard let key = OrderKey(stored: value) else {
      throw EventCodingError(sentence: "the order key \(value) leaves no key before or after it.")
    }
    return key
  }

  /// The number of an object, or of a commit.
  @_lifetime(self: copy self)
  mutating func place() throws -> UInt64 {
    let value = try unsigned()
    guard value <= EventLog.largestSequence else {
      throw EventCodingError(sentence: "the sequence \(value) is out of range.")
    }
    return value
  }

  /// How many objects something holds, or by how many that changed: no more than a log has events.
  @_lifetime(self: copy self)
  mutating func count(_ range: ClosedRange<Int>) throws -> Int {
    let value = try number(Int.self)
    guard range.contains(value) else { throw EventCodingError(sentence: "the count \(value) is out of range.") }
    return value
  }

  @_lifetime(self: copy self)
  mutating func identifier() throws -> LocalIdentifier {
    let span = try bytes(count: 16)
    return LocalIdentifier(high: try span.number(at: 0), low: try span.number(at: 8))
  }

  @_lifetime(self: copy self)
  mutating func optionalIdentifier() throws -> LocalIdentifier? { try isNull() ? nil : try identifier() }

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
    guard isOnEarth else { throw EventCodingError(sentence: "a location is not on Earth.") }
  }
}

/// Why the bytes of a payload make no event.
struct EventCodingError: Error {
  var sentence: String
}

/// The number of an object in an event; one that creates the object has its own sequence as the number.
/// - Parameter expected: the number that it must be; nil: any.
func checked(_ number: ObjectNumber, expecting expected: ObjectNumber?) throws -> ObjectNumber {
  guard expected ?? number == number else {
    throw EventCodingError(sentence: "it creates object \(number), which is not its own sequence.")
  }
  return number
}

extension RawSpan {
  /// The big-endian number at an offset of a row or key.
  /// - Throws: ``LibraryError`` `.corrupted` if the bytes end before it does.
  @inline(__always)
  package func number(at offset: Int) throws(LibraryError) -> UInt64 {
    guard byteCount >= offset + 8 else { throw .contradiction("a row or key that is cut short") }
    return UInt64(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
