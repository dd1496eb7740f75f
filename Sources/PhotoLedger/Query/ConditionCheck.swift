import Foundation

extension Condition {
  /// Refuses what a fetch cannot answer: unknown keys, values of another kind, orders of things without order.
  ///
  /// The evaluator answers any condition; this rejects conditions that are meaningless.
  /// - Throws: ``FetchError`` naming the key or value (FR-09).
  public func check(for entity: Entity) throws(FetchError) { try check(for: entity, isStored: false) }

  /// Refuses what a fetch cannot answer.
  /// - Parameter isStored: whether the library holds the condition, or a part of it, as the query of a smart album. It
  ///   may be older than the bound of texts.
  /// - Throws: as ``check(for:)``.
  func check(for entity: Entity, isStored: Bool) throws(FetchError) {
    var patternCount = 0
    try check(for: entity, isStored, depth: 0, &patternCount)
  }

  /// The deepest nesting that is evaluated: of conditions of different kinds, since an `and` in an `and` is one level.
  private static let deepest = 1_000
  /// The most patterns of LIKE and MATCHES: each may be a program of some thousand steps, which is kept.
  private static let mostPatterns = 64

  private func check(
    for entity: Entity, _ isStored: Bool, depth: Int, _ patternCount: inout Int
  ) throws(FetchError) {
    guard depth <= Self.deepest else {
      throw .malformed("depth", "The condition is nested deeper than \(Self.deepest) levels.")
    }
    switch self {
    case .always, .never: return
    case .comparison(let key, let comparator, let value):
      try key.checkExists(for: entity)
      try key.checkTakes(value)
      if !comparator.isEquality && (key.valueKind == .bool || key.valueKind == .identifier) {
        throw .unsupported(
          key.rawValue, "'\(key.rawValue)' has no order; compare it with == or !=, not \(comparator.rawValue).")
      }
    case .oneOf(let key, let values):
      try key.checkExists(for: entity)
      for value in values { try key.checkTakes(value) }
    case .pair(let one, let comparator, let two):
      try Self.checkPair(one, comparator, two, for: entity)
    case .bits(let key, _, _, _):
      try key.checkExists(for: entity)
      guard key.valueKind == .integer else {
        throw .unsupported(key.rawValue, "'\(key.rawValue)' has no bits to test; it is \(key.valueKind.phrase).")
      }
    case .text(let key, let test, let text, let options):
      try key.checkExists(for: entity)
      guard key.valueKind == .text || key.valueKind == .identifier else {
        throw .unsupported(
          key.rawValue, "'\(key.rawValue)' is \(key.valueKind.phrase); \(test.rawValue) works on text.")
      }
      if test == .matches || test == .like { patternCount += 1 }
      guard patternCount <= Self.mostPatterns else {
        throw .malformed("patterns", "The condition has more than \(Self.mostPatterns) patterns of LIKE and MATCHES.")
      }
      try TextTest.check(test, text, options, isStored: isStored)
    case .and(let parts):
      for part in Self.flat(parts, isAnd: true) {
        try part.check(for: entity, isStored, depth: depth + 1, &patternCount)
      }
    case .or(let parts):
      for part in Self.flat(parts, isAnd: false) {
        try part.check(for: entity, isStored, depth: depth + 1, &patternCount)
      }
    case .not(let part): try part.check(for: entity, isStored, depth: depth + 1, &patternCount)
    }
  }

  private static func checkPair(
    _ one: PropertyKey, _ comparator: Comparator, _ two: PropertyKey, for entity: Entity
  ) throws(FetchError) {
    try one.checkExists(for: entity)
    try two.checkExists(for: entity)
    for key in [one, two] where key.hasSeveralValues {
      throw .unsupported(
        key.rawValue, "'\(key.rawValue)' has several values; compare it with a constant, not with a property.")
    }
    let isOrdered = one.valueKind != .bool && two.valueKind != .bool
    guard one.isComparable(with: two), isOrdered || comparator.isEquality else {
      throw .unsupported(
        "\(one.rawValue) \(comparator.rawValue) \(two.rawValue)",
        "'\(one.rawValue)' is \(one.valueKind.phrase) and '\(two.rawValue)' is \(two.valueKind.phrase); "
          + "they cannot be compared with \(comparator.rawValue).")
    }
  }
}

extension PropertyKey {
  func checkExists(for entity: Entity) throws(FetchError) {
    guard isValid(for: entity) else { throw .unknownKey(rawValue, for: entity) }
  }

  /// Refuses a constant of a kind that values of the key never have.
  func checkTakes(_ value: PropertyValue) throws(FetchError) {
    switch (valueKind, value) {
    case (_, .null), (.date, .date), (.text, .text), (.identifier, .text), (.identifier, .identifier),
      (.bool, .bool), (.bool, .integer), (.integer, .bool), (.integer, .integer), (.double, .bool),
      (.double, .integer):
      if case .date(let date) = value, date.timeIntervalSinceReferenceDate.isNaN { break }
      return
    case (.bool, .double(let number)), (.integer, .double(let number)), (.double, .double(let number)):
      if number.isNaN { break }
      return
    case (.date, .text(let text)):
      throw FetchError(
        .wrongArgument, text,
        "\(value.formatDescription) is not a date for '\(rawValue)'; write it as 2024-05-31T18:30:00+02:00 (RFC 3339).")
    default: break
    }
    throw FetchError(
      .wrongArgument, value.formatDescription,
      "'\(rawValue)' is \(valueKind.phrase); it cannot be compared with \(value.formatDescription).")
  }
}

extension PropertyKey.ValueKind {
  var phrase: String {
    switch self {
    case .bool: "true or false"
    case .integer: "a whole number"
    case .double: "a number"
    case .date: "a date"
    case .text: "text"
    case .identifier: "an identifier"
    }
  }
}
