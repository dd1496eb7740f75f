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
  }
}
