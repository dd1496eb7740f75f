import Foundation

// Comparisons: two operands and an operator become a condition whose constants have been checked against their key.
extension PredicateParser {
  func compare(
    _ left: Operand, _ name: String, _ options: TextOptions, _ right: Operand, at place: Int
  ) throws(FetchError) -> Condition {
    for side in [left, right] {
      if case .condition = side.node {
        throw failure(
          .unsupported(name, "'\(name)' compares a property with a value; here one side is a predicate."),
          at: side.position)
      }
    }
    switch name {
    case "IN": return try member(left, options, right, at: place)
    case "BETWEEN": return try between(left, options, right, at: place)
    default: break
    }
    if let comparator = Condition.Comparator(rawValue: name) {
      return try ordered(left, comparator, options, right, at: place)
    }
    guard let test = Condition.TextOperator(rawValue: name) else {
      throw failure(.unsupported(name, "'\(name)' compares type identifiers, which fetches do not support."), at: place)
    }
    return try text(left, test, options, right, at: place)
  }

  /// Checks a condition, with its constant's place as the place of what is wrong.
  private func checked(_ condition: Condition, at position: Int) throws(FetchError) -> Condition {
    do throws(FetchError) {
      try condition.check(for: entity, isStored: isStored)
    } catch {
      throw failure(error, at: position)
    }
    return condition
  }

  /// A constant as its key takes it: text as a date where the key is one.
  private func value(_ value: PropertyValue, for key: PropertyKey, at place: Int) throws(FetchError) -> PropertyValue {
    guard key.valueKind == .date, case .text(let text) = value else { return value }
    guard let date = Date(rfc3339: text, isWallTime: key == .localCreationDate) else {
      do throws(FetchError) { try key.checkTakes(value) } catch { throw failure(error, at: place) }
      return value
    }
    return .date(date)
  }

  private func ordered(
    _ left: Operand, _ comparator: Condition.Comparator, _ options: TextOptions, _ right: Operand, at place: Int
  ) throws(FetchError) -> Condition {
    if !options.isEmpty { return try folded(left, comparator, options, right, at: place) }
    switch (left.node, right.node) {
    case (.key(let key), .value(let constant)):
      let constant = try value(constant, for: key, at: right.position)
      return try checked(.comparison(key, comparator, constant), at: right.position)
    case (.key(let one), .key(let two)): return try checked(.pair(one, comparator, two), at: left.position)
    case (.masked(let key, let mask), .value(let constant)):
      guard case .integer(let number) = constant else {
        throw failure(
          FetchError(
            .wrongArgument, constant.formatDescription,
            "'\(key.rawValue) & \(mask)' is a whole number; it cannot be compared with \(constant.formatDescription)."),
          at: right.position)
      }
      return try checked(.bits(key, mask: mask, comparator, number), at: left.position)
    case (.value, .key), (.value, .masked):
      return try ordered(right, comparator.swapped, options, left, at: place)
    case (.value(let one), .value(let two)): return one.satisfies(comparator, two) ? .always : .never
    default:
      throw failure(
        .unsupported(
          comparator.rawValue, "'\(comparator.rawValue)' compares a property with one value; use IN for a list."),
        at: place)
    }
  }

  /// `==[cd]` and `!=[cd]`.
  private func folded(
    _ left: Operand, _ comparator: Condition.Comparator, _ options: TextOptions, _ right: Operand, at place: Int
  ) throws(FetchError) -> Condition {
    guard comparator.isEquality else {
      throw failure(
        .unsupported(
          comparator.rawValue,
          "The options [cd] work with ==, != and the operators of text, not with \(comparator.rawValue)."
        ), at: place)
    }
    if case .value = left.node, case .key = right.node {
      return try folded(right, comparator, options, left, at: place)
    }
    if case .value(.null) = right.node { return try ordered(left, comparator, [], right, at: place) }
    let equality = try text(left, .equals, options, right, at: place)
    return comparator == .equal ? equality : .not(equality)
  }

  private func text(
    _ left: Operand, _ test: Condition.TextOperator, _ options: TextOptions, _ right: Operand, at place: Int
  ) throws(FetchError) -> Condition {
    switch (left.node, right.node) {
    case (.key(let key), .value(.text(let text))):
      return try checked(.text(key, test, text, options), at: test == .matches ? right.position : left.position)
    case (.list, .key) where test == .contains: return try member(right, options, left, at: place)
    case (.value(.text(let value)), .value(.text(let text))):
      _ = try checked(.text(textKey, test, text, options), at: right.position)
      return TextTest(test, text, options).holds(value) ? .always : .never
    case (.key, .value(let value)):
      throw failure(
        FetchError(
          .wrongArgument, value.formatDescription,
          "\(test.rawValue) takes text in quotes, not \(value.formatDescription)."), at: right.position)
    default:
      throw failure(
        .unsupported(test.rawValue, "\(test.rawValue) compares a property on its left with text on its right."),
        at: place)
    }
  }

  /// A key of text of the entity, to check a pattern with.
  private var textKey: PropertyKey { entity == .asset ? .burstIdentifier : .localizedTitle }

  private func member(
    _ left: Operand, _ options: TextOptions, _ right: Operand, at place: Int
  ) throws(FetchError) -> Condition {
    switch (left.node, right.node) {
    case (.key(let key), .list(let list)):
      var values: [PropertyValue] = []
      values.reserveCapacity(list.count)
      for element in list { values.append(try value(element, for: key, at: right.position)) }
      let membership = try checked(.oneOf(key, values), at: right.position)
      if options.isEmpty { return membership }
      return try checked(Self.foldedMembership(key, values, options), at: left.position)
    case (.masked(let key, let mask), .list(let list)):
      var parts: [Condition] = []
      for element in list {
        let element = Operand(node: .value(element), position: right.position)
        parts.append(
          try ordered(Operand(node: .masked(key, mask), position: left.position), .equal, [], element, at: place))
      }
      return .or(parts)
    case (.value(.text), .key): return try text(right, .contains, options, left, at: place)
    case (.value(let value), .list(let list)):
      return list.contains { value.satisfies(.equal, $0) } ? .always : .never
    default:
      throw failure(
        FetchError(.wrongArgument, "IN", "IN takes a list on its right: {1, 2} or %@ with an array."),
        at: right.position)
    }
  }

  private static func foldedMembership(
    _ key: PropertyKey, _ values: [PropertyValue], _ options: TextOptions
  ) -> Condition {
    .or(
      values.map { value in
        guard case .text(let text) = value else { return .comparison(key, .equal, value) }
        return .text(key, .equals, text, options)
      })
  }

  private func between(
    _ left: Operand, _ options: TextOptions, _ right: Operand, at place: Int
  ) throws(FetchError) -> Condition {
    guard options.isEmpty else {
      throw failure(.unsupported("BETWEEN", "The options [cd] do not work with BETWEEN."), at: place)
    }
    guard case .list(let bounds) = right.node, bounds.count == 2 else {
      throw failure(
        FetchError(.wrongArgument, "BETWEEN", "BETWEEN takes a list of two values: {low, high}."), at: right.position)
    }
    let low = Operand(node: .value(bounds[0]), position: right.position)
    let high = Operand(node: .value(bounds[1]), position: right.position)
    return .and([
      try ordered(left, .greaterOrEqual, [], low, at: place), try ordered(left, .lessOrEqual, [], high, at: place),
    ])
  }
}
