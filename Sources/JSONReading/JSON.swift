package import PhotoLedger

/// A JSON value (RFC 8259) whose objects keep the order of their keys, so that the same data is the same line.
package enum JSON: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case text(String)
  case list([JSON])
  case object([Member])
  /// A value that is JSON already, as it stands.
  case written(String)

  /// One key of an object and its value.
  package struct Member: Hashable, Sendable {
    package var key: String
    package var value: JSON
    package init(_ key: String, _ value: JSON) { (self.key, self.value) = (key, value) }

    /// Writes it into an object that was begun.
    package func write(to bytes: inout JSONBytes) {
      bytes.key(key)
      value.write(to: &bytes)
    }
  }

  /// Text, or null.
  package init(_ text: String?) { self = text.map { .text($0) } ?? .null }

  /// Positions, as they stand.
  package init(_ positions: some Sequence<Int>) { self = .list(positions.map { .integer(Int64($0)) }) }

  /// The value of a key; nil if this is not an object or lacks the key.
  package subscript(key: String) -> JSON? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.key == key }?.value
  }

  /// What kind of value it is, for sentences.
  package var kind: String {
    switch self {
    case .null: "null"
    case .bool: "true or false"
    case .integer, .number: "a number"
    case .text: "text"
    case .list: "a list"
    case .object: "an object"
    case .written: "a value"
    }
  }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  package init(stringLiteral value: String) { self = .text(value) }
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(arrayLiteral elements: JSON...) { self = .list(elements) }
  package init(dictionaryLiteral elements: (String, JSON)...) { self = .object(elements.map { Member($0, $1) }) }
}

extension JSON: CustomStringConvertible {
  /// The value on one line, without blanks.
  package var description: String {
    var bytes = JSONBytes()
    write(to: &bytes)
    return bytes.text()
  }

  /// Writes the value on one line, without blanks.
  package func write(to bytes: inout JSONBytes) {
    switch self {
    case .null: bytes.null()
    case .bool(let value): bytes.bool(value)
    case .integer(let value): bytes.integer(value)
    case .number(let value): bytes.number(value)
    case .text(let value): bytes.text(value)
    case .written(let value): bytes.value(value)
    case .list(let values):
      bytes.beginList()
      for value in values { value.write(to: &bytes) }
      bytes.endList()
    case .object(let members):
      bytes.beginObject()
      for member in members { member.write(to: &bytes) }
      bytes.endObject()
    }
  }
}
