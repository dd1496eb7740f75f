public import Foundation

// Values and how they compare. The rules are total: any two values have an answer under any comparator, so a condition
// never fails on a row; meaningless conditions are rejected earlier, by `Condition.check(for:)`.
//
//   nil == nil            true; nil equals nothing else
//   nil < x, x >= nil     false, whatever x (NSPredicate); NOT of it is true
//   a != b                exactly the negation of a == b, so nil != 5 is true
//   bool                  counts as 0 or 1
//   integer and double    compared exactly, never through a rounded conversion: 2^53 + 1 > 2^53
//   NaN                   equals nothing, not itself; orders with nothing
//   text                  equal under canonical equivalence, ordered by normalised scalars: Swift's own `==` and `<`
//   other mixtures        unequal, and unordered

/// A constant of a predicate, or what a row holds for a key.
public enum PropertyValue: Hashable, Sendable {
  /// The absence of a value.
  case null
  /// True or false; compares as 1 or 0.
  case bool(Bool)
  /// A whole number.
  case integer(Int64)
  /// A number; infinite ones are allowed, NaN matches nothing.
  case double(Double)
  /// An instant.
  case date(Date)
  /// Text.
  case text(String)
  /// The identity of an object.
  case identifier(LocalIdentifier)
}

extension PropertyValue {
  /// How two values that can be ordered stand to each other.
  enum Order { case ascending, same, descending }

  /// Whether `self comparator other` holds.
  package func satisfies(_ comparator: Condition.Comparator, _ other: PropertyValue) -> Bool {
    switch comparator {
    case .equal: equals(other)
    case .notEqual: !equals(other)
    case .less: order(to: other) == .ascending
    case .greater: order(to: other) == .descending
    case .lessOrEqual: order(to: other).map { $0 != .descending } ?? false
    case .greaterOrEqual: order(to: other).map { $0 != .ascending } ?? false
    }
  }

  private func equals(_ other: PropertyValue) -> Bool {
    switch (self, other) {
    case (.null, .null): true
    case (.identifier(let one), .identifier(let two)): one == two
    default: order(to: other) == .same
    }
  }

  private func order(to other: PropertyValue) -> Order? {
    switch (self, other) {
    case (.bool(let one), _): PropertyValue.integer(one ? 1 : 0).order(to: other)
    case (_, .bool(let two)): order(to: .integer(two ? 1 : 0))
    case (.integer(let one), .integer(let two)): Self.order(one, two)
    case (.integer(let one), .double(let two)): two.isNaN ? nil : Self.order(one, two)
    case (.double(let one), .integer(let two)): one.isNaN ? nil : Self.order(two, one).reversed
    case (.double(let one), .double(let two)): one.isNaN || two.isNaN ? nil : Self.order(one, two)
    case (.date(let one), .date(let two)):
      PropertyValue.double(one.timeIntervalSinceReferenceDate)
        .order(to: .double(two.timeIntervalSinceReferenceDate))
    case (.text(let one), .text(let two)): Self.order(one, two)
    default: nil
    }
  }

  private static func order<Value: Comparable>(_ one: Value, _ two: Value) -> Order {
    one < two ? .ascending : one == two ? .same : .descending
  }

  /// Compares a whole number with a number that is not NaN, exactly.
  private static func order(_ one: Int64, _ two: Double) -> Order {
    if two >= 0x1p63 { return .ascending }
    if two < -0x1p63 { return .descending }
    let whole = Int64(two.rounded(.down))
    if one != whole { return order(one, whole) }
    return two == two.rounded(.down) ? .same : .ascending
  }

  /// A total order for lists of constants: by kind, then by value.
  static func precedes(_ one: PropertyValue, _ two: PropertyValue) -> Bool {
    switch (one, two) {
    case (.identifier(let one), .identifier(let two)): (one.high, one.low) < (two.high, two.low)
    case (.text(let one), .text(let two)): one < two
    case (.integer(let one), .integer(let two)): one < two
    case (.double(let one), .double(let two)): one < two
    case (.date(let one), .date(let two)): one < two
    case (.bool(let one), .bool(let two)): !one && two
    default: one.rank < two.rank
    }
  }

  private var rank: Int {
    switch self {
    case .null: 0
    case .bool: 1
    case .integer: 2
    case .double: 3
    case .date: 4
    case .text: 5
    case .identifier: 6
    }
  }
}

extension PropertyValue.Order {
  var reversed: PropertyValue.Order {
    switch self {
    case .ascending: .descending
    case .same: .same
    case .descending: .ascending
    }
  }
}
