import Foundation

// What each expression of Foundation's means. An expression that is not here is rejected by its name.

extension PredicateExpressions.Variable: TranslatableExpression {
  func translate(_ translation: PredicateTranslation) throws(FetchError) -> PredicateTerm {
    guard let term = translation.variables[key] else { throw PredicateTranslation.unsupported(self) }
    return term
  }
}

extension PredicateExpressions.Value: TranslatableExpression {
  func translate(_ translation: PredicateTranslation) -> PredicateTerm { .constant(value) }
}

extension PredicateExpressions.NilLiteral: TranslatableExpression {
  func translate(_ translation: PredicateTranslation) -> PredicateTerm { .constant(PropertyValue.null) }
}

extension PredicateExpressions.KeyPath: TranslatableExpression {
  func translate(_ translation: PredicateTranslation) throws(FetchError) -> PredicateTerm {
    let root = try translation.term(self.root)
    if case .constant(let value as Root.Output) = root { return .constant(value[keyPath: keyPath]) }
    return try translation.follow(keyPath, from: root)
  }
}

// Logic.

extension PredicateExpressions.Conjunction: TranslatableExpression {
  func translate(_ translation: PredicateTranslation) throws(FetchError) -> PredicateTerm {
    .condition(.and([try translation.holds(lhs), try translation.holds(rhs)]))
  }
}

extension PredicateExpressions.Disjunction: TranslatableExpression {
  func translate(_ translation: PredicateTranslation) throws(FetchError) -> PredicateTerm {
    .condition(.or([try translation.holds(lhs), try translation.holds(rhs)]))
  }
}

extension PredicateExpressions.Negation: TranslatableExpression {
  func translate(_ translation: PredicateTranslation) throws(FetchError) -> PredicateTerm {
    .condition(.not(try translation.holds(wrapped)))
  }
}

extension PredicateExpressions.Conditional: TranslatableExpression {
  func translate(_ translation: PredicateTranslation) throws(FetchError) -> PredicateTerm {
    let test = try translation.holds(self.test)
    let (yes, no) = (try translation.holds(trueBranch), try translation.holds(falseBranch))
    return .condition(.or([.and([test, yes]), .and([.not(test), no])]))
  }
}

// Comparisons.

extension PredicateExpressions.Equal: TranslatableExpression {
  func translate(_ translation: PredicateTranslation) throws(FetchError) -> PredicateTerm {
    try translation.compare(try translation.term(lhs), .equal, try translation.term(rhs), "==")
  }
}

extension PredicateExpressions.NotEqual: TranslatableExpression {
  func translate(_ translation: PredicateTranslation) throws(FetchError) -> PredicateTerm {
    try translation.compare(try translation.term(lhs), .notEqual, try translation.term(rhs), "!=")
  }
}

extension PredicateExpressions.Comparison: TranslatableExpression {
  func translate(_ translation: PredicateTranslation) throws(FetchError) -> PredicateTerm {
    let comparator: Condition.Comparator
    switch op {
    case .lessThan: comparator = .less
    case .lessThanOrEqual: comparator = .lessOrEqual
    case .greaterThan: comparator = .greater
    case .greaterThanOrEqual: comparator = .greaterOrEqual
    @unknown default: throw PredicateTranslation.unsupported(self)
    }
    return try translation.compare(
      try translation.term(lhs), comparator, try translation.term(rhs), comparator.rawValue)
  }
}

// Optionals.

extension PredicateExpressions.NilCoalesce: TranslatableExpression {
  func translate(_ translation: PredicateTranslation) throws(FetchError) -> PredicateTerm {
    try translation.coalesce(try translation.term(lhs), try translation.term(rhs), "??")
  }
}

extension PredicateExpressions.ForcedUnwrap: TranslatableExpression {
  func translate(_ translation: PredicateTranslation) throws(FetchError) -> PredicateTerm {
    try translation.term(inner)
  }
}

extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
  func translate(_ translation: PredicateTranslation) throws(FetchError) -> PredicateTerm {
    let wrapped = try translation.term(self.wrapped)
    if case .constant(let value) = wrapped, try PredicateTranslation.isNil(value) { return wrapped }
    let body = try translation.binding(variable.key, to: wrapped).term(transform)
    return try translation.flatMap(wrapped, body, "flatMap")
  }
}

// Membership and text.

extension PredicateExpressions.SequenceContains: TranslatableExpression {
  func translate(_ translation: PredicateTranslation) throws(FetchError) -> PredicateTerm {
    switch (try translation.term(sequence), try translation.term(element)) {
    case (.constant(let list), let element):
      let values = try PredicateTranslation.values(list, in: "contains")
      return .condition(
        try translation.apply(
          to: element, in: "contains", onKey: { .oneOf($0, values) },
          onValue: { value in values.contains { $0.satisfies(.equal, value) } }))
    case (let text, .constant(let character as Character)):
      return .condition(try translation.text(text, .contains, .constant(String(character)), [], "contains"))
    default: throw PredicateTranslation.unsupported(self)
    }
  }
}

extension PredicateExpressions.CollectionContainsCollection: TranslatableExpression {
  func translate(_ translation: PredicateTranslation) throws(FetchError) -> PredicateTerm {
    .condition(
      try translation.text(try translation.term(base), .contains, try translation.term(other), [], "contains"))
  }
}

extension PredicateExpressions.SequenceStartsWith: TranslatableExpression {
  func translate(_ translation: PredicateTranslation) throws(FetchError) -> PredicateTerm {
    .condition(
      try translation.text(
        try translation.term(base), .beginsWith, try translation.term(prefix), [], "starts(with:)"))
  }
}

extension PredicateTranslation {
  static func isNil(_ value: Any) throws(FetchError) -> Bool {
    if let value = value as? PropertyValue { return value == .null }
    guard case .value(.null)? = try? PredicateArgument(value) else { return false }
    return true
  }

  func text(
    _ base: PredicateTerm, _ test: Condition.TextOperator, _ other: PredicateTerm, _ options: Condition.TextOptions,
    _ name: String
  ) throws(FetchError) -> Condition {
    guard case .text(let text) = try constant(other, in: name) else {
      throw .unsupported(name, "'\(name)' takes text here.")
    }
    return try apply(
      to: base, in: name, onKey: { .text($0, test, text, options) },
      onValue: { value in
        guard case .text(let value) = value else { return false }
        return TextTest(test, text, options).holds(value)
      })
  }
}

// Ranges.

extension PredicateExpressions.Range: TranslatableExpression {
  func translate(_ translation: PredicateTranslation) throws(FetchError) -> PredicateTerm {
    .range(
      low: try translation.constant(try translation.term(lower), in: "..<"),
      high: try translation.constant(try translation.term(upper), in: "..<"), includesHigh: false)
  }
}

extension PredicateExpressions.ClosedRange: TranslatableExpression {
  func translate(_ translation: PredicateTranslation) throws(FetchError) -> PredicateTerm {
    .range(
      low: try translation.constant(try translation.term(lower), in: "..."),
      high: try translation.constant(try translation.term(upper), in: "..."), includesHigh: true)
  }
}

extension PredicateExpressions.RangeExpressionContains: TranslatableExpression {
  func translate(_ translation: PredicateTranslation) throws(FetchError) -> PredicateTerm {
    var term = try translation.term(range)
    if case .constant(let value as any ConstantRange) = term { term = value.term }
    guard case .range(let low, let high, let includesHigh) = term else { throw PredicateTranslation.unsupported(self) }
    var bounds: [(Condition.Comparator, PropertyValue)] = []
    if let low { bounds.append((.greaterOrEqual, try PredicateTranslation.value(low))) }
    if let high { bounds.append((includesHigh ? .lessOrEqual : .less, try PredicateTranslation.value(high))) }
    return .condition(
      try translation.apply(
        to: try translation.term(element), in: "contains",
        onKey: { key in .and(bounds.map { .comparison(key, $0.0, $0.1) }) },
        onValue: { value in bounds.allSatisfy { value.satisfies($0.0, $0.1) } }))
  }
}

private protocol ConstantRange {
  var term: PredicateTerm { get }
}

extension Range: ConstantRange {
  fileprivate var term: PredicateTerm { .range(low: lowerBound, high: upperBound, includesHigh: false) }
}

extension ClosedRange: ConstantRange {
  fileprivate var term: PredicateTerm { .range(low: lowerBound, high: upperBound, includesHigh: true) }
}

extension PartialRangeFrom: ConstantRange {
  fileprivate var term: PredicateTerm { .range(low: lowerBound, high: nil, includesHigh: false) }
}

extension PartialRangeThrough: ConstantRange {
  fileprivate var term: PredicateTerm { .range(low: nil, high: upperBound, includesHigh: true) }
}

extension PartialRangeUpTo: ConstantRange {
  fileprivate var term: PredicateTerm { .range(low: nil, high: upperBound, includesHigh: false) }
}

// Arithmetic, on constants only.

extension PredicateExpressions.UnaryMinus: TranslatableExpression {
  func translate(_ translation: PredicateTranslation) throws(FetchError) -> PredicateTerm {
    let value = try translation.constant(try translation.term(wrapped), in: "-")
    guard let negative = PropertyValue.calculate(.integer(0), "-", value) else {
      throw PredicateTranslation.unsupported(self)
    }
    return .constant(negative)
  }
}

extension PredicateExpressions.Arithmetic: TranslatableExpression {
  func translate(_ translation: PredicateTranslation) throws(FetchError) -> PredicateTerm {
    let symbol: String
    switch op {
    case .add: symbol = "+"
    case .subtract: symbol = "-"
    case .multiply: symbol = "*"
    @unknown default: throw PredicateTranslation.unsupported(self)
    }
    let one = try translation.constant(try translation.term(lhs), in: symbol)
    let two = try translation.constant(try translation.term(rhs), in: symbol)
    guard let result = PropertyValue.calculate(one, symbol, two) else { throw PredicateTranslation.unsupported(self) }
    return .constant(result)
  }
}
