public import Foundation

// A record is described once, as values in their order, and written twice:
//
//     the description of a record ──▶ JSONBytes         text, straight from what is stored
//                                 └──▶ LogValueWriter   a tree of values, for programs
//
// A million events are a gigabyte of text. By way of a tree, half of the time went into allocating it.
//
// A description is generic over its writer, and those of the log lie in another module. So the parts that it is made of
// are inlinable, or functions of each writer: compiled for `JSONBytes`, a description looks up no type at run time.
//
// Rejected: a tree for programs and a second description for text, which would differ one day.

/// What takes the values of a record, in order.
@usableFromInline
package protocol RecordWriter: ~Copyable {
  mutating func beginObject()
  mutating func endObject()
  mutating func beginList()
  mutating func endList()
  /// Takes the name of the next value.
  mutating func key(_ name: StaticString)
  /// Takes the name of the next value.
  @_disfavoredOverload
  mutating func key(_ name: String)
  mutating func null()
  mutating func bool(_ value: Bool)
  mutating func integer(_ value: Int64)
  mutating func double(_ value: Double)
  mutating func text(_ value: String)
  mutating func date(_ value: Date)
  /// Takes what a camera's clock showed, held as though it were UTC.
  mutating func write(wallTime value: Date)
  mutating func token(_ value: Token)
  /// Takes an identifier as PhotoKit spells it.
  mutating func identifier(_ value: LocalIdentifier, of kind: ObjectKind)
  /// Takes bytes as hexadecimal digits.
  mutating func hexadecimalDigits(of bytes: [UInt8])
  /// Takes a property's value, in the form that it has in the JSON of an asset.
  mutating func write(_ value: FieldValue, of field: AssetField)
  /// Takes what a file says about an asset.
  mutating func write(_ metadata: AssetMetadata)
}

extension RecordWriter where Self: ~Copyable {
  /// Writes a text, or null.
  @inlinable
  package mutating func text(_ value: String?) { if let value { text(value) } else { null() } }

  /// Writes a value by its name.
  @inlinable
  package mutating func field(_ name: StaticString, _ write: (inout Self) -> Void) {
    key(name)
    write(&self)
  }

  @inlinable
  package mutating func field(_ name: StaticString, _ value: String) {
    key(name)
    text(value)
  }

  @inlinable
  package mutating func field(_ name: StaticString, _ value: String?) {
    key(name)
    text(value)
  }

  @inlinable
  package mutating func field(_ name: StaticString, _ value: Date) {
    key(name)
    date(value)
  }

  /// Writes a list of what a function writes of each element.
  @inlinable
  package mutating func list<Element>(_ elements: [Element], _ write: (inout Self, Element) -> Void) {
    beginList()
    for element in elements { write(&self, element) }
    endList()
  }

  /// Writes a value that was made before.
  @inlinable
  package mutating func write(_ value: LogValue) {
    switch value {
    case .null: null()
    case .bool(let value): bool(value)
    case .integer(let value): integer(value)
    case .double(let value): double(value)
    case .text(let value): text(value)
    case .date(let value): date(value)
    case .wallTime(let value): write(wallTime: value)
    case .list(let values): list(values) { $0.write($1) }
    case .object(let fields):
      beginObject()
      for field in fields {
        key(field.name)
        write(field.value)
      }
      endObject()
    }
  }
}

/// Makes a tree of values.
package struct LogValueWriter: RecordWriter {
  /// A list or an object that was begun, and is not ended.
  private struct Level {
    let isObject: Bool
    var values: [LogValue] = []
    var fields: [LogValue.Field] = []
    /// The name of the next value.
    var name = ""
  }

  /// The outermost first.
  private var levels: [Level] = []
  /// The value, when it is complete.
  package private(set) var value = LogValue.null

  /// A writer that has taken nothing yet.
  package init() {}

  private mutating func put(_ value: LogValue) {
    let last = levels.count - 1
    if last < 0 {
      self.value = value
    } else if levels[last].isObject {
      levels[last].fields.append(LogValue.Field(levels[last].name, value))
    } else {
      levels[last].values.append(value)
    }
  }

  private mutating func end() {
    let level = levels.removeLast()
    put(level.isObject ? .object(level.fields) : .list(level.values))
  }

  package mutating func beginObject() { levels.append(Level(isObject: true)) }
  package mutating func endObject() { end() }
  package mutating func beginList() { levels.append(Level(isObject: false)) }
  package mutating func endList() { end() }
  package mutating func key(_ name: StaticString) { key(name.description) }
  package mutating func key(_ name: String) { levels[levels.count - 1].name = name }
  package mutating func null() { put(.null) }
  package mutating func bool(_ value: Bool) { put(.bool(value)) }
  package mutating func integer(_ value: Int64) { put(.integer(value)) }
  package mutating func double(_ value: Double) { put(.double(value)) }
  package mutating func text(_ value: String) { put(.text(value)) }
  package mutating func date(_ value: Date) { put(.date(value)) }
  package mutating func write(wallTime value: Date) { put(.wallTime(value)) }
  package mutating func token(_ value: Token) { put(.text(value.description)) }
  package mutating func identifier(_ value: LocalIdentifier, of kind: ObjectKind) {
    put(.text(value.spelled(as: kind)))
  }
  package mutating func hexadecimalDigits(of bytes: [UInt8]) { put(.text(bytes.hexadecimal)) }
  package mutating func write(_ value: FieldValue, of field: AssetField) { describe(value, of: field) }
  package mutating func write(_ metadata: AssetMetadata) { metadata.write(to: &self) }
}

extension LogValue {
  /// What a function writes.
  package static func written(by body: (inout LogValueWriter) -> Void) -> LogValue {
    var writer = LogValueWriter()
    body(&writer)
    return writer.value
  }

  /// The fields that a function writes.
  package static func fields(writtenBy body: (inout LogValueWriter) -> Void) -> [Field] {
    let object = LogValue.written { writer in
      writer.beginObject()
      body(&writer)
      writer.endObject()
    }
    guard case .object(let fields) = object else { preconditionFailure("What is written as an object is one.") }
    return fields
  }
}

// MARK: - Properties

extension LogValue {
  /// A property's value, in the form that it has in the JSON of an asset.
  package init(_ value: FieldValue, of field: AssetField) { self = .written { $0.write(value, of: field) } }

  /// A text, or null.
  static func words(_ words: String?) -> LogValue { words.map(LogValue.text) ?? .null }

  /// A date, or null.
  static func optional(_ date: Date?) -> LogValue { date.map(LogValue.date) ?? .null }

  /// The identifier of an asset, or null.
  static func asset(_ identifier: LocalIdentifier?) -> LogValue { .written { $0.asset(identifier) } }
}

extension RecordWriter where Self: ~Copyable {
  /// Writes a property's value, for the function that each writer has for it.
  ///
  /// The form is that of the JSON of an asset. Instants are in UTC: the offset of the place of capture is a property of
  /// its own.
  mutating func describe(_ value: FieldValue, of field: AssetField) {
    switch (value, field.form) {
    case (.null, _): null()
    case (.bool(let value), _): bool(value)
    case (.integer(let value), .choice(_, let names)) where !names.isNumberInJSON:
      if let name = names.name(of: value) { text(name) } else { integer(value) }
    case (.integer(let value), .bits(_, let names)):
      list(value == 0 ? [] : names.names(UInt32(truncatingIfNeeded: value))) { $0.text($1) }
    case (.integer(let value), _): integer(value)
    case (.double(let value), .date(_, .wallTime)): write(wallTime: Date(timeIntervalSinceReferenceDate: value))
    case (.double(let value), .date): date(Date(timeIntervalSinceReferenceDate: value))
    case (.double(let value), _): double(value)
    case (.place(let location), _): write(location)
    case (.identifier(let identifier), _): asset(identifier)
    }
  }

  private mutating func write(_ location: Location) {
    beginObject()
    field("latitude") { $0.double(location.latitude) }
    field("longitude") { $0.double(location.longitude) }
    field("altitude") { if let altitude = location.altitude { $0.double(altitude) } else { $0.null() } }
    endObject()
  }

  /// Writes the identifier of an asset, or null.
  @inlinable
  package mutating func asset(_ identifier: LocalIdentifier?) {
    if let identifier { self.identifier(identifier, of: .asset) } else { null() }
  }
}
