public import Foundation

/// A value of an event's payload: what JSON can say.
public indirect enum LogValue: Sendable, Hashable {
  /// Nothing.
  case null
  /// True or false.
  case bool(Bool)
  /// A whole number.
  case integer(Int64)
  /// A number.
  case double(Double)
  /// Text.
  case text(String)
  /// An instant.
  case date(Date)
  /// What a camera's clock showed, without a zone; held as though it were UTC.
  case wallTime(Date)
  /// A list.
  case list([LogValue])
  /// Named values in their order.
  case object([Field])

  /// A named value.
  public struct Field: Sendable, Hashable {
    /// The name.
    public let name: String
    /// The value.
    public let value: LogValue

    package init(_ name: String, _ value: LogValue) {
      self.name = name
      self.value = value
    }

    /// Whether both have one name, by its bytes, and the same value.
    public static func == (one: Field, other: Field) -> Bool {
      one.name.exact == other.name.exact && one.value == other.value
    }
  }

  /// Whether both are the same, texts by their bytes: two spellings that Unicode takes for one text are two values, as
  /// they are in the library's store.
  public static func == (one: LogValue, other: LogValue) -> Bool {
    switch (one, other) {
    case (.null, .null): true
    case (.bool(let one), .bool(let other)): one == other
    case (.integer(let one), .integer(let other)): one == other
    case (.double(let one), .double(let other)): one == other
    case (.text(let one), .text(let other)): one.exact == other.exact
    case (.date(let one), .date(let other)): one == other
    case (.wallTime(let one), .wallTime(let other)): one == other
    case (.list(let one), .list(let other)): one == other
    case (.object(let one), .object(let other)): one == other
    case (.null, _), (.bool, _), (.integer, _), (.double, _), (.text, _), (.date, _), (.wallTime, _), (.list, _),
      (.object, _):
      false
    }
  }
}
