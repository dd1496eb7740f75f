public import Foundation

/// One key of an order and its direction; a missing value comes before every other in ascending order.
public struct SortTerm: Hashable, Sendable, CustomStringConvertible {
  /// The property.
  public let key: PropertyKey
  /// Whether small values come first.
  public let ascending: Bool

  /// Makes a term.
  /// - Parameters:
  ///   - key: the property; an identifier has no order.
  ///   - ascending: whether small values come first.
  ///   - entity: the kind of object that is sorted.
  /// - Throws: ``FetchError`` `unsupportedSort` for an identifier, by which PhotoKit does not sort either (FR-09),
  ///   `unknownKey` for a key of another kind of object.
  public init(_ key: PropertyKey, ascending: Bool, for entity: Entity) throws(FetchError) {
    guard key.isValid(for: entity) else { throw .unknownKey(key.rawValue, for: entity, isOrder: true) }
    guard key.valueKind != .identifier else {
      throw FetchError(
        .unsupportedSort, key.rawValue,
        "A fetch cannot be sorted by '\(key.rawValue)': identifiers are random and have no order. Sort by addedDate.")
    }
    guard !key.isDetail else {
      throw FetchError(
        .unsupportedSort, key.rawValue,
        "A fetch cannot be sorted by '\(key.rawValue)', which is not in the rows of assets. Sort by creationDate.")
    }
    self.key = key
    self.ascending = ascending
  }

  /// Reads `KEY`, `KEY:asc` or `KEY:desc`, with any spelling of the key.
  /// - Parameters:
  ///   - text: the term.
  ///   - entity: the kind of object that is sorted.
  /// - Throws: ``FetchError`` `unknownKey` or `unsupportedSort`.
  public init(_ text: String, for entity: Entity) throws(FetchError) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let direction = parts.count == 2 ? parts[1].lowercased() : "asc"
    guard direction == "asc" || direction == "desc" else {
      throw FetchError(.unsupportedSort, text, "'\(text)' is not a valid sort key; write KEY, KEY:asc or KEY:desc.")
    }
    try self.init(
      PropertyKey(spelled: String(parts[0]), for: entity, isOrder: true), ascending: direction == "asc", for: entity)
  }

  /// Takes over a sort descriptor of assets.
  /// - Parameter descriptor: made from a key path of ``Asset`` that predicates know too.
  /// - Throws: ``FetchError`` `unsupportedSort` for a comparator or another key path (FR-09).
  public init(_ descriptor: SortDescriptor<Asset>) throws(FetchError) {
    try self.init(descriptor.keyPath, descriptor.order, for: .asset)
  }

  /// Takes over a sort descriptor of collections.
  /// - Parameter descriptor: made from a key path of ``PhotoCollection`` that predicates know too.
  /// - Throws: ``FetchError`` `unsupportedSort` for a comparator or another key path (FR-09).
  public init(_ descriptor: SortDescriptor<PhotoCollection>) throws(FetchError) {
    try self.init(descriptor.keyPath, descriptor.order, for: .collection)
  }

  private init(_ path: AnyKeyPath?, _ order: SortOrder, for entity: Entity) throws(FetchError) {
    guard let path else {
      throw FetchError(
        .unsupportedSort, "comparator", "A fetch cannot be sorted by a comparator; sort by a key path of a property.")
    }
    guard let key = PropertyPath.key(of: path) else {
      let name = PropertyPath.name(of: path)
      throw FetchError(.unsupportedSort, name, "A fetch cannot be sorted by '\(name)'.")
    }
    try self.init(key, ascending: order == .forward, for: entity)
  }

  /// The term as `KEY` or `KEY:desc`.
  public var description: String { ascending ? key.rawValue : "\(key.rawValue):desc" }
}
