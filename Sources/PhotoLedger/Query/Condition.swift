// A condition is the query tree of a fetch: what #Predicate, NSPredicate's format strings and the permission of a
// client all become before anything is planned or evaluated.
//
//   #Predicate ─ PredicateTranslation ─┐
//   "isFavorite == YES" ─ PredicateFormat ─┤→ Condition ─ check(for:) ─ normalized() ─→ live trees, planner, evaluator
//   code ──────────────────────────────┘        │
//                                               └ description: a format string that reads back as the same condition
//
// Logic is two-valued, as NSPredicate's is: a comparison with a missing value is false, except `== NULL`, and `!=` is
// the negation of `==`. So `duration < 5` and `NOT duration >= 5` differ for an object without a duration: the first is
// false, the second true. Rejected: SQL's third value; no PhotoKit client expects it, and it would make NOT of a
// membership test depend on missing values.
//
// Equal queries share one live tree, so equality must see through spelling. `normalized()` gives one form to conditions
// that differ in order, nesting, double negation, constants or number kinds. It does not prove theorems:
// `pixelWidth > 100` and `pixelWidth >= 101` stay two trees, which costs memory and never an answer.
//
// Invariant: for every row, `c.normalized()` holds exactly when `c` does, and so does what `c.description` reads back
// as.

/// The condition of a fetch, as a tree (FR-09, FR-10).
public indirect enum Condition: Hashable, Sendable {
  /// Holds for every object.
  case always
  /// Holds for no object.
  case never
  /// Compares a property with a constant.
  case comparison(PropertyKey, Comparator, PropertyValue)
  /// Compares two properties of the same object.
  case pair(PropertyKey, Comparator, PropertyKey)
  /// Holds if the property equals one of the values.
  case oneOf(PropertyKey, [PropertyValue])
  /// Compares `property & mask` with a number; a missing property equals no number.
  case bits(PropertyKey, mask: Int64, Comparator, Int64)
  /// Compares the text of a property.
  case text(PropertyKey, TextOperator, String, TextOptions)
  /// Holds if all hold.
  case and([Condition])
  /// Holds if any holds.
  case or([Condition])
  /// Holds if the other does not.
  case not(Condition)

  /// How two values are compared; see ``PropertyValue`` for what each means.
  public enum Comparator: String, Hashable, Sendable, CaseIterable {
    /// The same value, or both missing.
    case equal = "=="
    /// Not equal.
    case notEqual = "!="
    /// Before.
    case less = "<"
    /// Before or the same.
    case lessOrEqual = "<="
    /// After.
    case greater = ">"
    /// After or the same.
    case greaterOrEqual = ">="

    /// The comparator with its sides exchanged.
    package var swapped: Comparator {
      switch self {
      case .less: .greater
      case .lessOrEqual: .greaterOrEqual
      case .greater: .less
      case .greaterOrEqual: .lessOrEqual
      default: self
      }
    }

    /// The comparator that holds exactly when this one does not, provided that neither value is missing.
    package var opposite: Comparator {
      switch self {
      case .equal: .notEqual
      case .notEqual: .equal
      case .less: .greaterOrEqual
      case .lessOrEqual: .greater
      case .greater: .lessOrEqual
      case .greaterOrEqual: .less
      }
    }
  }

  /// How text is compared.
  public enum TextOperator: String, Hashable, Sendable, CaseIterable {
    /// The same text, under options.
    case equals = "=="
    /// The text occurs anywhere.
    case contains = "CONTAINS"
    /// The property begins with the text.
    case beginsWith = "BEGINSWITH"
    /// The property ends with the text.
    case endsWith = "ENDSWITH"
    /// The whole property matches the text, in which `*` is any run of characters and `?` any one.
    case like = "LIKE"
    /// The whole property matches a regular expression.
    case matches = "MATCHES"
  }

  /// What a comparison of text ignores.
  public struct TextOptions: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Takes the bits as they are.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// `[c]`: letters count as the same in either case.
    public static let caseInsensitive = TextOptions(rawValue: 1)
    /// `[d]`: letters count as the same with or without accents.
    public static let diacriticInsensitive = TextOptions(rawValue: 2)
  }
}

extension Condition {
  /// Whether an asset is of a media type.
  package static func media(_ type: MediaType) -> Condition {
    .comparison(.mediaType, .equal, .integer(Int64(type.rawValue)))
  }

  /// Holds if the property is missing.
  public static func isNil(_ key: PropertyKey) -> Condition { .comparison(key, .equal, .null) }

  /// Holds if the property is present.
  public static func isPresent(_ key: PropertyKey) -> Condition { .comparison(key, .notEqual, .null) }

  /// Holds if the flag is set.
  public static func isTrue(_ key: PropertyKey) -> Condition { .comparison(key, .equal, .bool(true)) }

  /// Holds if the property lies between two values or equals one of them (BETWEEN).
  public static func between(_ key: PropertyKey, _ low: PropertyValue, _ high: PropertyValue) -> Condition {
    .and([.comparison(key, .greaterOrEqual, low), .comparison(key, .lessOrEqual, high)])
  }

  /// The properties that the condition reads: a change of any other cannot change its outcome.
  /// - Complexity: O(n) in the size of the tree.
  public var keys: Set<PropertyKey> {
    var found: Set<PropertyKey> = []
    collectKeys(into: &found)
    return found
  }

  private func collectKeys(into found: inout Set<PropertyKey>) {
    switch self {
    case .always, .never: break
    case .comparison(let key, _, _), .oneOf(let key, _), .bits(let key, _, _, _), .text(let key, _, _, _):
      found.insert(key)
    case .pair(let one, _, let two): found.formUnion([one, two])
    case .and(let parts), .or(let parts): for part in parts { part.collectKeys(into: &found) }
    case .not(let part): part.collectKeys(into: &found)
    }
  }
}
