public import Foundation

/// The value for a specifier such as `%@` in a predicate format string.
public enum PredicateArgument: Hashable, Sendable {
  /// One value; for `%K`, text that names a key.
  case value(PropertyValue)
  /// Several values, for IN and BETWEEN.
  case list([PropertyValue])

  /// Takes over a value of any type: numbers, flags, dates, text, identifiers, assets, collections, enumerations and
  /// bit sets of integers, optionals and sequences of these, and what is ``PredicateArgumentConvertible``.
  /// - Parameter value: for `%@` and its like.
  /// - Throws: ``FetchError`` `wrongArgument` naming the type of what it cannot take.
  public init(_ value: Any) throws(FetchError) {
    if let argument = Self.single(value) {
      self = argument
    } else if let optional = value as? any OptionalValue {
      self = if let content = optional.content { try PredicateArgument(content) } else { .value(.null) }
    } else if let sequence = value as? any Sequence {
      self = .list(try Self.elements(of: sequence))
    } else {
      throw FetchError(
        .wrongArgument, "\(type(of: value))", "A value of type \(type(of: value)) cannot be used in a predicate.")
    }
  }

  private static func elements<Values: Sequence>(of sequence: Values) throws(FetchError) -> [PropertyValue] {
    var values: [PropertyValue] = []
    for element in sequence {
      guard case .value(let value) = try PredicateArgument(element) else {
        throw FetchError(.wrongArgument, "\(Values.self)", "A list in a predicate cannot contain lists.")
      }
      values.append(value)
    }
    return values
  }

  private static func single(_ value: Any) -> PredicateArgument? {
    switch value {
    case let value as any PredicateArgumentConvertible: value.predicateArgument
    case let value as any BinaryInteger: Int64(exactly: value).map { .value(.integer($0)) }
    case let value as any BinaryFloatingPoint: .value(.double(Double(value)))
    case let value as any RawRepresentable: (value.anyRawValue as? any BinaryInteger).flatMap(single)
    default: nil
    }
  }
}

/// A type whose values can be used in a predicate.
public protocol PredicateArgumentConvertible {
  /// The value as an argument.
  var predicateArgument: PredicateArgument { get }
}

extension PredicateArgument: PredicateArgumentConvertible {
  /// Itself.
  public var predicateArgument: PredicateArgument { self }
}

extension PropertyValue: PredicateArgumentConvertible {
  /// Itself as an argument.
  public var predicateArgument: PredicateArgument { .value(self) }
}

extension Bool: PredicateArgumentConvertible {
  /// The flag.
  public var predicateArgument: PredicateArgument { .value(.bool(self)) }
}

extension String: PredicateArgumentConvertible {
  /// The text.
  public var predicateArgument: PredicateArgument { .value(.text(self)) }
}

extension Substring: PredicateArgumentConvertible {
  /// The text.
  public var predicateArgument: PredicateArgument { .value(.text(String(self))) }
}

extension Date: PredicateArgumentConvertible {
  /// The instant.
  public var predicateArgument: PredicateArgument { .value(.date(self)) }
}

extension UUID: PredicateArgumentConvertible {
  /// The identifier with these bits.
  public var predicateArgument: PredicateArgument { .value(.identifier(LocalIdentifier(self))) }
}

extension LocalIdentifier: PredicateArgumentConvertible {
  /// The identifier.
  public var predicateArgument: PredicateArgument { .value(.identifier(self)) }
}

extension Asset: PredicateArgumentConvertible {
  /// The identity of the asset, for `SELF`.
  public var predicateArgument: PredicateArgument { .value(.identifier(id)) }
}

extension PhotoCollection: PredicateArgumentConvertible {
  /// The identity of the collection, for `SELF`.
  public var predicateArgument: PredicateArgument { .value(.identifier(id)) }
}

private protocol OptionalValue {
  /// The wrapped value, if there is one.
  var content: Any? { get }
}

extension Optional: OptionalValue {
  fileprivate var content: Any? { self }
}

extension RawRepresentable {
  fileprivate var anyRawValue: Any { rawValue }
}

extension PredicateArgument: CustomStringConvertible {
  /// The argument as a literal of the predicate grammar.
  public var description: String {
    switch self {
    case .value(let value): value.formatDescription
    case .list(let values): "{\(values.map(\.formatDescription).joined(separator: ", "))}"
    }
  }
}

extension PredicateArgument: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral
{
  /// Text, or the name of a key.
  public init(stringLiteral value: String) { self = .value(.text(value)) }
  /// A whole number.
  public init(integerLiteral value: Int64) { self = .value(.integer(value)) }
  /// A number.
  public init(floatLiteral value: Double) { self = .value(.double(value)) }
  /// A flag.
  public init(booleanLiteral value: Bool) { self = .value(.bool(value)) }
  /// NULL.
  public init(nilLiteral: ()) { self = .value(.null) }
  /// A list.
  public init(arrayLiteral elements: PropertyValue...) { self = .list(elements) }
}
