// `NSSortDescriptor(key:ascending:)`, which Foundation marks as unavailable on Linux, and
// `NSSortDescriptor(keyPath:ascending:)`, which Foundation on Linux has for values that are Comparable only: not for
// `Date?`, nor for a flag. An overload that is unavailable, or less special, ranks last, so these are taken without
// ambiguity.
//
// Foundation's class has no place for a key, so the comparator carries it: asked about a `KeyReading` it hands it over,
// asked about objects it compares them. Only a descriptor that was made here is asked, which its key path shows: a
// property that nothing outside this module can name. Any other comparator would end the process at a `KeyReading`.
//
//     key: "duration" ───────────────────────┐
//     keyPath: \PHAsset.duration ─ KeyedPath ─┴─ key ─▶ keyPath: \PHObject.comparedHere, comparator
//     keyPath: \PHAsset.location ── not in it ── name ─▶ the same; the fetch rejects the name (FR-09)
//     Foundation's own: a comparator, or a key path of another class ─▶ refused

internal import PhotoLedger

/// What a sort descriptor made from a key hands over about itself.
private final class KeyReading {
  var key: String?
}

extension PHObject {
  /// Itself. The key path of this property marks the descriptors that are made here.
  final var comparedHere: PHObject { self }
}

extension NSSortDescriptor {
  /// An order by a key of PhotoKit's (a.9; Apple: `NSSortDescriptor(key:ascending:)`).
  ///
  /// Also sorts arrays of assets and of collections, and of an app's stand-ins of them; comparing anything else traps,
  /// as does an order of stand-ins by a property that they do not hold, such as `isTrashed` or `albumSubtype`.
  public convenience init(key: String?, ascending: Bool) {
    // The comparison is by the ascending order; Foundation turns it over.
    self.init(keyPath: \PHObject.comparedHere, ascending: ascending) { one, other in
      if let reading = one as? KeyReading {
        reading.key = key
        return .orderedSame
      }
      return PHPhotoLibrary.answer("Comparing by NSSortDescriptor(key: \(key ?? "nil"))") {
        try SortTerm.compare(one, other, by: key)
      }
    }
  }

  /// An order by a property of assets or collections (a.9; Apple: `NSSortDescriptor(keyPath:ascending:)`).
  ///
  /// It is the same as one made with the property's name: a missing value comes first in ascending order. A property
  /// that nothing can be sorted by is rejected by the fetch, by name (FR-09).
  /// - Parameters:
  ///   - keyPath: a property of the class that is fetched, or of the class above it.
  ///   - ascending: whether small values come first.
  public convenience init<Root: PHObject, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
    self.init(key: KeyedPath.key(of: keyPath), ascending: ascending)
  }

  /// The same for values that Foundation could compare itself, which would not be a fetch's order.
  /// - Parameters:
  ///   - keyPath: a property of the class that is fetched, or of the class above it.
  ///   - ascending: whether small values come first.
  public convenience init<Root: PHObject, Value: Comparable>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
    self.init(key: KeyedPath.key(of: keyPath), ascending: ascending)
  }

  /// The key, or the name of the property, that it was made with; nil for one that Foundation made.
  public var key: String? {
    guard keyPath == \PHObject.comparedHere else { return nil }
    let reading = KeyReading()
    _ = comparator(reading, reading)
    return reading.key
  }
}

extension SortTerm {
  /// How two objects of the library stand to each other in the ascending order of a key.
  fileprivate static func compare(_ one: Any, _ other: Any, by key: String?) throws -> ComparisonResult {
    func result(_ one: [UInt8], _ other: [UInt8]) -> ComparisonResult {
      one == other ? .orderedSame : one.lexicographicallyPrecedes(other) ? .orderedAscending : .orderedDescending
    }
    switch (one, other) {
    case (let one as PHAsset, let other as PHAsset):
      let term = try SortTerm(key ?? "", for: .asset)
      for object in [one, other] { try object.checkComparable { $0 == term.key } }
      let keys = SortKeyEncoder<AssetRow>([term])
      return result(keys.bytes(for: one.comparedRow), keys.bytes(for: other.comparedRow))
    case (let one as PHCollection, let other as PHCollection):
      let term = try SortTerm(key ?? "", for: .collection)
      if let place = one.place(by: term.key), let otherPlace = other.place(by: term.key) {
        return place == otherPlace ? .orderedSame : place < otherPlace ? .orderedAscending : .orderedDescending
      }
      for object in [one, other] { try object.checkComparable { $0 == term.key } }
      let keys = SortKeyEncoder<CollectionRow>([term])
      return result(keys.bytes(for: one.comparedRow), keys.bytes(for: other.comparedRow))
    default:
      throw LibraryError(
        .unsupportedSort, "Objects of the type \(type(of: one)) have no key '\(key ?? "nil")' to be compared by.")
    }
  }

  /// The order that a descriptor states about a class of objects.
  init(_ descriptor: NSSortDescriptor, for entity: Entity) throws {
    guard let key = descriptor.key else {
      throw LibraryError(
        .unsupportedSort,
        """
        A fetch cannot follow a sort descriptor with a comparator of its own; use NSSortDescriptor(key:ascending:), or \
        NSSortDescriptor(keyPath:ascending:) with a property of the class that is fetched.
        """)
    }
    try self.init(PropertyKey(spelled: key, for: entity), ascending: descriptor.ascending, for: entity)
  }
}
