package import Foundation

// A record is described once, as values in their order, and written twice:
//
//     the description of a record ──▶ JSONBytes         text, straight from what is stored
//                                 └──▶ LogValueWriter   a tree of values, for programs
//
// A million events are a gigabyte of text. By way of a tree, half of the time went into allocating it.
//
// Rejected: a tree for programs and a second description for text, which would differ one day.

/// What takes the values of a record, in order.
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
  mutating func token(_ value: Token)
  /// Takes an identifier as PhotoKit spells it.
  mutating func identifier(_ value: LocalIdentifier, of kind: ObjectKind)
  /// Takes bytes as hexadecimal digits.
  mutating func hexadecimalDigits(of bytes: [UInt8])
}

extension RecordWriter where Self: ~Copyable {
  /// Writes a text, or null.
  mutating func text(_ value: String?) { if let value { text(value) } else { null() } }

  /// Writes a value by its name.
  mutating func field(_ name: StaticString, _ write: (inout Self) -> Void) {
    key(name)
    write(&self)
  }

  mutating func field(_ name: StaticString, _ value: String) {
    key(name)
    text(value)
  }

  mutating func field(_ name: StaticString, _ value: String?) {
    key(name)
    text(value)
  }

  mutating func field(_ name: StaticString, _ value: Date) {
    key(name)
    date(value)
  }

  /// Writes a list of what a function writes of each element.
  mutating func list<Element>(_ elements: [Element], _ write: (inout Self, Element) -> Void) {
    beginList()
    for element in elements { write(&self, element) }
    endList()
  }

  /// Writes a value that was made before.
  package mutating func write(_ value: LogValue) {
    switch value {
    case .null: null()
    case .bool(let value): bool(value)
    case .integer(let value): integer(value)
    case .double(let value): double(value)
    case .text(let value): text(value)
    case .date(let value): date(value)
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
struct LogValueWriter: RecordWriter {
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
  private(set) var value = LogValue.null

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

  mutating func beginObject() { levels.append(Level(isObject: true)) }
  mutating func endObject() { end() }
  mutating func beginList() { levels.append(Level(isObject: false)) }
  mutating func endList() { end() }
  mutating func key(_ name: StaticString) { key(name.description) }
  mutating func key(_ name: String) { levels[levels.count - 1].name = name }
  mutating func null() { put(.null) }
  mutating func bool(_ value: Bool) { put(.bool(value)) }
  mutating func integer(_ value: Int64) { put(.integer(value)) }
  mutating func double(_ value: Double) { put(.double(value)) }
  mutating func text(_ value: String) { put(.text(value)) }
  mutating func date(_ value: Date) { put(.date(value)) }
  mutating func token(_ value: Token) { put(.text(value.description)) }
  mutating func identifier(_ value: LocalIdentifier, of kind: ObjectKind) { put(.text(value.spelled(as: kind))) }
  mutating func hexadecimalDigits(of bytes: [UInt8]) { put(.text(bytes.hexadecimal)) }
}

extension LogValue {
  /// What a function writes.
  static func written(by body: (inout LogValueWriter) -> Void) -> LogValue {
    var writer = LogValueWriter()
    body(&writer)
    return writer.value
  }

  /// The fields that a function writes.
  static func fields(writtenBy body: (inout LogValueWriter) -> Void) -> [Field] {
    let object = LogValue.written { writer in
      writer.beginObject()
      body(&writer)
      writer.endObject()
    }
    guard case .object(let fields) = object else { preconditionFailure("What is written as an object is one.") }
    return fields
  }
}
