public import Foundation

// #Predicate becomes a condition.
//
// The macro builds a tree of generic types, `Conjunction<Equal<KeyPath<Variable<Asset>, MediaType>,
// Value<MediaType>>, …>`, and Foundation evaluates it at 680 ns an object. So the tree is read once instead: each of
// its types answers `translate` with a `PredicateTerm`, which says what that part means for a row:
//
//   $0                      object          $0.creationDate ?? past    defaulted(creationDate, past)
//   $0.creationDate         key             a && b, x == y             condition
//   $0.location             location        if let d = … { d > x }     conditional: a condition, or nothing
//   a captured value        constant        low...high                 range
//
// Swift's own meaning is kept: `==` on optionals, `??`, `if let`, `flatMap`. Two things differ. A forced unwrap of a
// missing value stops Foundation's evaluation with an error; here the comparison around it sees a missing value. And
// `localIdentifier` equals any spelling of the same identity, with or without its suffix.
//
// Implicit members (`.image`) are rejected by the macro itself, and it cannot name an enumeration's case; values are
// captured: `let image = MediaType.image` before `#Predicate<Asset> { $0.mediaType == image }`.

extension Condition {
  /// Translates a predicate of assets into normal form.
  /// - Parameter predicate: made with `#Predicate<Asset>`.
  /// - Throws: ``FetchError`` `unsupportedPredicate` naming the sub-expression that no fetch can answer (FR-09).
  public init(_ predicate: Predicate<Asset>) throws(FetchError) {
    let translation = PredicateTranslation(entity: .asset, variables: [predicate.variable.key: .object])
    self = try translation.condition(predicate.expression)
  }

  /// Translates a predicate of collections into normal form.
  /// - Parameter predicate: made with `#Predicate<PhotoCollection>`.
  /// - Throws: ``FetchError`` `unsupportedPredicate` naming the sub-expression that no fetch can answer (FR-09).
  public init(_ predicate: Predicate<PhotoCollection>) throws(FetchError) {
    let translation = PredicateTranslation(entity: .collection, variables: [predicate.variable.key: .object])
    self = try translation.condition(predicate.expression)
  }
}

/// What a part of a predicate means for a row.
enum PredicateTerm {
  /// The row itself.
  case object
  /// The place of capture, or its absence.
  case location
  /// A property.
  case key(PropertyKey)
  /// A property, or the value where it is missing.
  case defaulted(PropertyKey, PropertyValue)
  /// A value that does not depend on the row.
  case constant(Any)
  /// From a value (nil: unbounded) to a value.
  case range(low: Any?, high: Any?, includesHigh: Bool)
  /// Whether something holds.
  case condition(Condition)
  /// Whether something holds, or nothing where the property is missing.
  case conditional(Condition, unlessMissing: PropertyKey)
}

/// An expression of Foundation's that a fetch understands.
protocol TranslatableExpression {
  func translate(_ translation: PredicateTranslation) throws(FetchError) -> PredicateTerm
}

/// The translation of one predicate: its entity, and the bindings of its variables.
struct PredicateTranslation {
  let entity: Entity
  let variables: [PredicateExpressions.VariableID: PredicateTerm]

  func condition(_ expression: any StandardPredicateExpression<Bool>) throws(FetchError) -> Condition {
    let condition = try holds(try term(expression), "\(type(of: expression))")
    try condition.check(for: entity)
    return condition.normalized()
  }

  func term<Expression: PredicateExpression>(_ expression: Expression) throws(FetchError) -> PredicateTerm {
    guard let known = expression as? any TranslatableExpression else { throw Self.unsupported(expression) }
    return try known.translate(self)
  }

  func holds<Expression: PredicateExpression>(_ expression: Expression) throws(FetchError) -> Condition {
    try holds(try term(expression), Self.name(of: expression))
  }

  /// The term as a condition.
  func holds(_ term: PredicateTerm, _ name: String) throws(FetchError) -> Condition {
    switch term {
    case .condition(let condition): return condition
    case .key(let key) where key.valueKind == .bool: return .isTrue(key)
    case .constant(let value as Bool): return value ? .always : .never
    default: throw .unsupported(name, "'\(name)' is not true or false; compare it with a value.")
    }
  }

  /// The same reading with one more variable.
  func binding(_ variable: PredicateExpressions.VariableID, to term: PredicateTerm) -> PredicateTranslation {
    var more = variables
    more[variable] = term
    return PredicateTranslation(entity: entity, variables: more)
  }

  /// The value of a term that does not depend on the row.
  func constant(_ term: PredicateTerm, in name: String) throws(FetchError) -> PropertyValue {
    guard case .constant(let value) = term else {
      throw .unsupported(name, "'\(name)' needs a captured or literal value here.")
    }
    return try Self.value(value)
  }

  static func value(_ value: Any) throws(FetchError) -> PropertyValue {
    guard case .value(let value) = try PredicateArgument(value) else {
      throw FetchError(
        .wrongArgument, "\(type(of: value))", "A list cannot be compared with a property; ask whether it contains it.")
    }
    return value
  }

  static func values(_ value: Any, in name: String) throws(FetchError) -> [PropertyValue] {
    guard case .list(let values) = try PredicateArgument(value) else {
      throw .unsupported(name, "'\(name)' on a \(type(of: value)) is not supported by a fetch.")
    }
    return values
  }

  /// Applies a test to the value of a term: on a property as a condition, on a constant at once.
  func apply(
    to term: PredicateTerm, in name: String, onKey: (PropertyKey) -> Condition,
    onValue: (PropertyValue) throws(FetchError) -> Bool
  ) throws(FetchError) -> Condition {
    switch term {
    case .key(let key): return onKey(key)
    case .defaulted(let key, let value):
      return .or([
        .and([.isPresent(key), onKey(key)]), .and([.isNil(key), try onValue(value) ? .always : .never]),
      ])
    case .constant(let value): return try onValue(Self.value(value)) ? .always : .never
    default: throw .unsupported(name, "'\(name)' is not supported on such an expression by a fetch.")
    }
  }

  static func unsupported<Expression>(_ expression: Expression) -> FetchError {
    let name = name(of: expression)
    return .unsupported(name, "The expression '\(name)' is not supported by a fetch.")
  }

  /// The kind of an expression, without its operands.
  static func name<Expression>(of expression: Expression) -> String {
    let whole = "\(type(of: expression))"
    return String(whole.prefix { $0 != "<" }.split(separator: ".").last ?? "expression")
  }
}
