import Foundation

// The normal form of a condition. From the leaves up:
//
//   leaf    constants take the kind of their key (5.0 for an integer key becomes 5, 5.5 moves to the next whole
//           number); what no value or every value satisfies becomes never or always
//   not     goes down to the leaves (De Morgan); it stays only on a leaf whose negation has no comparator of its own:
//           an ordering of a property that may be missing, a membership, a test of text
//   and/or  flat, without duplicates, sorted by description; one part stands for itself; `x AND NOT x` is not searched
//           for
//   also    equalities of one key become one membership: a == 1 OR a == 2 is a IN {1, 2}; a != 1 AND a != 2 is its NOT

extension Condition {
  /// The one form of all conditions that differ only in spelling.
  ///
  /// - Complexity: O(n log n) in the size of the tree.
  public func normalized() -> Condition {
    switch self {
    case .always, .never: self
    case .comparison(let key, let comparator, let value): Self.normalized(key, comparator, value)
    case .pair(let one, let comparator, let two): Self.normalized(one, comparator, two)
    case .oneOf(let key, let values): Self.normalized(key, oneOf: values)
    case .bits(let key, let mask, let comparator, let value):
      Self.normalized(key, mask: mask, comparator, value)
    case .text(let key, let test, let text, let options): Self.normalized(key, test, text, options)
    case .and(let parts): Self.joined(Self.flat(parts, isAnd: true).map { $0.normalized() }, isAnd: true)
    case .or(let parts): Self.joined(Self.flat(parts, isAnd: false).map { $0.normalized() }, isAnd: false)
    case .not(let part): part.normalized().negated()
    }
  }

  /// The parts of nested conditions of one kind, as of one: a fold of many names nests as deep as there are names.
  /// - Complexity: O(n) for n parts.
  static func flat(_ parts: [Condition], isAnd: Bool) -> [Condition] {
    var (waiting, flat) = (Array(parts.reversed()), [Condition]())
    while let part = waiting.popLast() {
      switch part {
      case .and(let inner) where isAnd, .or(let inner) where !isAnd: waiting += inner.reversed()
      default: flat.append(part)
      }
    }
    return flat
  }

  /// The negation of a condition in normal form, in normal form.
  private func negated() -> Condition {
    switch self {
    case .always: .never
    case .never: .always
    case .comparison(let key, let comparator, let value):
      comparator.isEquality || !key.mayBeNil
        ? Self.normalized(key, comparator.opposite, value) : .not(self)
    case .pair(let one, let comparator, let two):
      comparator.isEquality || !(one.mayBeNil || two.mayBeNil)
        ? Self.normalized(one, comparator.opposite, two) : .not(self)
    case .bits(let key, let mask, let comparator, let value):
      comparator.isEquality || !key.mayBeNil
        ? Self.normalized(key, mask: mask, comparator.opposite, value) : .not(self)
    case .oneOf, .text: .not(self)
    case .and(let parts): Self.joined(parts.map { $0.negated() }, isAnd: false)
    case .or(let parts): Self.joined(parts.map { $0.negated() }, isAnd: true)
    case .not(let part): part
    }
  }

  private static func joined(_ parts: [Condition], isAnd: Bool) -> Condition {
    var flat: Set<Condition> = []
    for part in parts {
      switch part {
      case .and(let inner) where isAnd: flat.formUnion(inner)
      case .or(let inner) where !isAnd: flat.formUnion(inner)
      case .always where isAnd, .never where !isAnd: continue
      case .always, .never: return part
      default: flat.insert(part)
      }
    }
    flat = mergingEqualities(flat, isAnd: isAnd)
    if flat.contains(isAnd ? .never : .always) { return isAnd ? .never : .always }
    if flat.isEmpty { return isAnd ? .always : .never }
    if flat.count == 1 { return flat.first! }
    let sorted = flat.map { ($0.description, $0) }.sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }.map(\.1)
    return isAnd ? .and(sorted) : .or(sorted)
  }

  /// Makes one membership of all equalities of a key (inside an or), or of all inequalities (inside an and).
  private static func mergingEqualities(_ parts: Set<Condition>, isAnd: Bool) -> Set<Condition> {
    var values: [PropertyKey: [PropertyValue]] = [:]
    var others: Set<Condition> = []
    for part in parts {
      switch part {
      case .comparison(let key, .equal, let value) where !isAnd && value != .null,
        .comparison(let key, .notEqual, let value) where isAnd && value != .null:
        values[key, default: []].append(value)
      case .oneOf(let key, let list) where !isAnd: values[key, default: []] += list
      case .not(.oneOf(let key, let list)) where isAnd: values[key, default: []] += list
      default: others.insert(part)
      }
    }
    for (key, list) in values {
      let membership = normalized(key, oneOf: list)
      others.insert(isAnd ? membership.negated() : membership)
    }
    return others
  }
}

// Leaves.
extension Condition {
  private static func normalized(_ key: PropertyKey, _ comparator: Comparator, _ value: PropertyValue) -> Condition {
    if value == .null {
      switch comparator {
      case .equal: return key.mayBeNil ? .comparison(key, .equal, .null) : .never
      case .notEqual: return key.mayBeNil ? .comparison(key, .notEqual, .null) : .always
      default: return .never
      }
    }
    switch (key.valueKind, value) {
    case (.bool, _): return normalizedFlag(key, comparator, value)
    case (.integer, .bool(let flag)): return .comparison(key, comparator, .integer(flag ? 1 : 0))
    case (.double, .bool(let flag)): return .comparison(key, comparator, .double(flag ? 1 : 0))
    case (.integer, .double(let number)): return normalizedWhole(key, comparator, number)
    case (.double, .integer(let number)): return normalizedNumber(key, comparator, number)
    case (.double, .double(let number)):
      return normalizedFinite(key, comparator, number) { .double($0) }
    case (.date, .date(let date)):
      return normalizedFinite(key, comparator, date.timeIntervalSinceReferenceDate) {
        .date(Date(timeIntervalSinceReferenceDate: $0))
      }
    case (.identifier, .text(let text)):
      guard let identifier = LocalIdentifier(text) else { break }
      return normalized(key, comparator, .identifier(identifier))
    case (.integer, .integer(.min)):
      // No property comes near it, and readers of rows use it for a missing value.
      guard comparator == .greater || comparator == .greaterOrEqual else { break }
      return normalized(key, .notEqual, .null)
    case (.identifier, .identifier), (.integer, .integer), (.text, .text):
      if key.valueKind == .identifier && !comparator.isEquality { break }
      return .comparison(key, comparator, value)
    default: break
    }
    return comparator == .notEqual ? .always : .never
  }

  /// A flag is true or false, so two trials determine which of the four possible conditions is meant.
  private static func normalizedFlag(_ key: PropertyKey, _ comparator: Comparator, _ value: PropertyValue) -> Condition
  {
    let whenTrue = PropertyValue.bool(true).satisfies(comparator, value)
    let whenFalse = PropertyValue.bool(false).satisfies(comparator, value)
    if whenTrue == whenFalse { return whenTrue ? .always : .never }
    return .comparison(key, .equal, .bool(whenTrue))
  }

  /// An integer key against a number: the same set of integers, said with an integer.
  private static func normalizedWhole(_ key: PropertyKey, _ comparator: Comparator, _ number: Double) -> Condition {
    if let whole = Int64(exactly: number) { return normalized(key, comparator, .integer(whole)) }
    switch comparator {
    case .equal: return .never
    case .notEqual: return .always
    case .less, .lessOrEqual:
      if number >= 0x1p63 { return normalized(key, .notEqual, .null) }
      guard number > -0x1p63 else { return .never }
      return .comparison(key, .lessOrEqual, .integer(Int64(number.rounded(.down))))
    case .greater, .greaterOrEqual:
      if number < -0x1p63 { return normalized(key, .notEqual, .null) }
      guard number < 0x1p63 else { return .never }
      return .comparison(key, .greaterOrEqual, .integer(Int64(number.rounded(.up))))
    }
  }

  /// A double key against an integer that may lie between two doubles.
  private static func normalizedNumber(_ key: PropertyKey, _ comparator: Comparator, _ number: Int64) -> Condition {
    let near = Double(number)
    switch (comparator, PropertyValue.double(near).satisfies(.greater, .integer(number))) {
    case _ where Int64(exactly: near) == number: return normalizedFinite(key, comparator, near) { .double($0) }
    case (.equal, _): return .never
    case (.notEqual, _): return .always
    case (.less, true), (.lessOrEqual, true): return .comparison(key, .less, .double(near))
    case (.less, false), (.lessOrEqual, false): return .comparison(key, .lessOrEqual, .double(near))
    case (.greater, true), (.greaterOrEqual, true): return .comparison(key, .greaterOrEqual, .double(near))
    case (.greater, false), (.greaterOrEqual, false): return .comparison(key, .greater, .double(near))
    }
  }

  /// One zero, no NaN, and no bound beyond the infinite ones.
  private static func normalizedFinite(
    _ key: PropertyKey, _ comparator: Comparator, _ number: Double, _ value: (Double) -> PropertyValue
  ) -> Condition {
    if number.isNaN { return comparator == .notEqual ? .always : .never }
    if number == .infinity && comparator == .greater { return .never }
    if number == -.infinity && comparator == .less { return .never }
    return .comparison(key, comparator, value(number + 0))
  }

  private static func normalized(_ one: PropertyKey, _ comparator: Comparator, _ two: PropertyKey) -> Condition {
    if one == two {
      switch comparator {
      case .equal: return .always
      case .notEqual, .less, .greater: return .never
      case .lessOrEqual, .greaterOrEqual:
        return one.valueKind == .identifier ? .never : normalized(one, .notEqual, .null)
      }
    }
    guard one.isComparable(with: two) || comparator.isEquality else { return .never }
    return two.rawValue < one.rawValue ? .pair(two, comparator.swapped, one) : .pair(one, comparator, two)
  }

  private static func normalized(_ key: PropertyKey, oneOf values: [PropertyValue]) -> Condition {
    var wanted: Set<PropertyValue> = []
    var wantsNil = false
    for value in values {
      switch normalized(key, .equal, value) {
      case .always: return .always
      case .comparison(_, _, .null): wantsNil = true
      case .comparison(_, _, let value): wanted.insert(value)
      default: continue
      }
    }
    let present: Condition
    switch wanted.count {
    case 0: present = .never
    case 1: present = .comparison(key, .equal, wanted.first!)
    case 2 where key.valueKind == .bool: return .always
    default: present = .oneOf(key, wanted.sorted(by: PropertyValue.precedes))
    }
    return wantsNil ? joined([isNil(key), present], isAnd: false) : present
  }

  private static func normalized(
    _ key: PropertyKey, mask: Int64, _ comparator: Comparator, _ value: Int64
  ) -> Condition {
    guard key.valueKind == .integer else { return comparator == .notEqual ? .always : .never }
    if mask == -1 { return normalized(key, comparator, .integer(value)) }
    if comparator.isEquality && value & ~mask != 0 { return comparator == .notEqual ? .always : .never }
    if mask == 0 && !key.mayBeNil {
      return PropertyValue.integer(0).satisfies(comparator, .integer(value)) ? .always : .never
    }
    if mask.nonzeroBitCount == 1 && value == mask && comparator.isEquality && !key.mayBeNil {
      return .bits(key, mask: mask, comparator.opposite, 0)
    }
    return .bits(key, mask: mask, comparator, value)
  }

  private static func normalized(
    _ key: PropertyKey, _ test: TextOperator, _ text: String, _ options: TextOptions
  ) -> Condition {
    guard key.valueKind == .text || key.valueKind == .identifier else { return .never }
    switch test {
    case .equals where options.isEmpty: return normalized(key, .equal, .text(text))
    case .contains where text.isEmpty, .beginsWith where text.isEmpty, .endsWith where text.isEmpty:
      return normalized(key, .notEqual, .null)
    default: return .text(key, test, text, options)
    }
  }
}

extension Condition.Comparator {
  /// Whether missing values take part: `==` and `!=`.
  var isEquality: Bool { self == .equal || self == .notEqual }
}

extension PropertyKey {
  /// Whether values of both keys can be ordered against each other.
  func isComparable(with other: PropertyKey) -> Bool {
    func family(_ kind: ValueKind) -> ValueKind {
      switch kind {
      case .bool, .integer, .double: .double
      default: kind
      }
    }
    return family(valueKind) == family(other.valueKind) && valueKind != .identifier
  }
}
