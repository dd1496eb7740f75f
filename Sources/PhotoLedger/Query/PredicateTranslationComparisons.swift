import Foundation

// Comparisons of two terms.
extension PredicateTranslation {
  func compare(
    _ left: PredicateTerm, _ comparator: Condition.Comparator, _ right: PredicateTerm, _ name: String
  ) throws(FetchError) -> PredicateTerm {
    .condition(try compared(left, comparator, right, name))
  }

  private func compared(
    _ left: PredicateTerm, _ comparator: Condition.Comparator, _ right: PredicateTerm, _ name: String
  ) throws(FetchError) -> Condition {
    switch (left, right) {
    case (.key(let one), .key(let two)): return .pair(one, comparator, two)
    case (.key, .constant(let value)), (.defaulted, .constant(let value)):
      let value = try Self.value(value)
      return try apply(
        to: left, in: name, onKey: { .comparison($0, comparator, value) },
        onValue: { $0.satisfies(comparator, value) })
    case (.location, .constant(let value)): return try compareLocation(comparator, value, name)
    case (.conditional(let condition, let key), .constant(let value)):
      return try compare(condition, unlessMissing: key, comparator, try Self.value(value), name)
    case (.condition, .constant), (.condition, .condition), (.condition, .key), (.key, .condition):
      return try compareOutcomes(try holds(left, name), comparator, try holds(right, name), name)
    case (.constant(let one), .constant(let two)):
      return try Self.value(one).satisfies(comparator, try Self.value(two)) ? .always : .never
    case (.constant, _): return try compared(right, comparator.swapped, left, name)
    default:
      throw .unsupported(name, "'\(comparator.rawValue)' between two such expressions is not supported by a fetch.")
    }
  }

  private func compareOutcomes(
    _ one: Condition, _ comparator: Condition.Comparator, _ two: Condition, _ name: String
  ) throws(FetchError) -> Condition {
    guard comparator.isEquality else { throw .unsupported(name, "Conditions have no order.") }
    let same = Condition.or([.and([one, two]), .and([.not(one), .not(two)])])
    return comparator == .equal ? same : .not(same)
  }

  /// An optional Bool against true, false or nil.
  private func compare(
    _ condition: Condition, unlessMissing key: PropertyKey, _ comparator: Condition.Comparator,
    _ value: PropertyValue, _ name: String
  ) throws(FetchError) -> Condition {
    let equality: Condition
    switch value {
    case .null: equality = .isNil(key)
    case .bool(true): equality = .and([.isPresent(key), condition])
    case .bool(false): equality = .and([.isPresent(key), .not(condition)])
    default: throw .unsupported(name, "A condition can be compared with true, false or nil only.")
    }
    guard comparator.isEquality else { throw .unsupported(name, "Conditions have no order.") }
    return comparator == .equal ? equality : .not(equality)
  }

  private func compareLocation(
    _ comparator: Condition.Comparator, _ value: Any, _ name: String
  ) throws(FetchError) -> Condition {
    let equality: Condition
    if let location = value as? Location {
      equality = .and([
        .comparison(.latitude, .equal, .double(location.latitude)),
        .comparison(.longitude, .equal, .double(location.longitude)),
        .comparison(.altitude, .equal, location.altitude.map { .double($0) } ?? .null),
      ])
    } else if try Self.value(value) == .null {
      equality = .isNil(.latitude)
    } else {
      throw .unsupported(name, "A location can be compared with a location or nil only.")
    }
    return comparator == .equal ? equality : .not(equality)
  }

  /// What `term ?? other` means.
  func coalesce(_ term: PredicateTerm, _ other: PredicateTerm, _ name: String) throws(FetchError) -> PredicateTerm {
    switch (term, other) {
    case (.conditional(let condition, let key), _):
      let otherwise = try holds(other, name)
      return .condition(.or([.and([.isPresent(key), condition]), .and([.isNil(key), otherwise])]))
    // Never nil: what an 'if let' over a captured value gives.
    case (.condition, _): return term
    case (.key(let key), .constant(let value)):
      let value = try Self.value(value)
      try key.checkTakes(value)
      return value == .null || !key.mayBeNil ? term : .defaulted(key, value)
    case (.key(let key), _) where !key.mayBeNil: return term
    case (.constant(let value), _): return try Self.value(value) == .null ? other : term
    default: throw .unsupported(name, "'??' between two such expressions is not supported by a fetch.")
    }
  }

  /// What a `flatMap` or an optional chain over `wrapped` gives, when its body gives `body`.
  func flatMap(
    _ wrapped: PredicateTerm, _ body: PredicateTerm, _ name: String
  ) throws(FetchError) -> PredicateTerm {
    switch (wrapped, body) {
    case (.constant, _), (.location, .location): return body
    case (.key(let outer), .key(let inner)) where outer == inner: return body
    case (.location, .key(let inner)) where Self.placeKeys.contains(inner): return body
    case (.key(let key), _) where Self.isOutcome(body): return .conditional(try holds(body, name), unlessMissing: key)
    case (.location, _) where Self.isOutcome(body):
      return .conditional(try holds(body, name), unlessMissing: .latitude)
    default: break
    }
    throw .unsupported(name, "This use of an optional value is not supported by a fetch; compare it in an 'if let'.")
  }

  private static let placeKeys: Set<PropertyKey> = [.latitude, .longitude, .altitude]

  /// Whether a term is true or false, and never nil.
  private static func isOutcome(_ term: PredicateTerm) -> Bool {
    switch term {
    case .condition: true
    case .key(let key): key.valueKind == .bool
    case .constant(let value): value is Bool
    case .object, .location, .defaulted, .range, .conditional: false
    }
  }

  /// What a key path means on a term.
  func follow(_ path: AnyKeyPath, from term: PredicateTerm) throws(FetchError) -> PredicateTerm {
    switch term {
    case .object:
      if path == \Asset.location { return .location }
      if let key = PropertyPath.key(of: path) { return .key(key) }
    case .location:
      if let key = PropertyPath.placeKey(of: path) { return .key(key) }
    case .key, .defaulted:
      if PropertyPath.isRawValue(path) { return term }
      if PropertyPath.isEmptiness(path) {
        let empty: PropertyValue = path == \String.isEmpty ? .text("") : .integer(0)
        return .condition(
          try apply(
            to: term, in: "isEmpty", onKey: { .comparison($0, .equal, empty) },
            onValue: { $0.satisfies(.equal, empty) }))
      }
    default: break
    }
    let name = PropertyPath.name(of: path)
    throw .unsupported(name, "The property '\(name)' is not supported by a fetch.")
  }
}
