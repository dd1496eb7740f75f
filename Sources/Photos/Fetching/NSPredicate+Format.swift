// `NSPredicate(format:)` and `NSSortDescriptor(key:ascending:)`, which Foundation marks as unavailable on Linux, with
// their original spelling. An overload that is unavailable ranks last, so these are taken without ambiguity.
//
// A predicate has no place for a format, so its block carries it: asked about a `FormatReading` it hands over format
// and arguments, asked about an object it evaluates them. NSCompoundPredicate shows its parts, and constants are equal
// to each other, so whatever is built of these is read back as one condition, for the class of objects that is fetched.
//
//     NSPredicate(format:) ─ block ─▶ FormatReading ─▶ Condition(format:arguments:for:)
//     NSCompoundPredicate  ─ subpredicates ─▶ and, or, not
//     NSPredicate(value:)  ─ equal to a constant ─▶ always, never
//     NSPredicate(block:)  ─ nothing handed over ─▶ refused by name, as Apple's fetches do

public import PhotoLedger

/// What a predicate made from a format hands over about itself.
private final class FormatReading {
  var format: (text: String, arguments: [Any])?
}

/// What a sort descriptor made from a key hands over about itself.
private final class KeyReading {
  var key: String?
}

extension NSPredicate {
  /// A predicate in PhotoKit's grammar (a.9, FR-10; Apple: `NSPredicate(format:_:)`).
  ///
  /// Traps with a sentence that shows format and place if the format cannot be read. Keys are checked by the fetch,
  /// which knows the class of objects.
  public convenience init(format predicateFormat: String, _ arguments: Any...) {
    self.init(format: predicateFormat, argumentArray: arguments)
  }

  /// The same with the arguments in an array (Apple: `NSPredicate(format:argumentArray:)`).
  public convenience init(format predicateFormat: String, argumentArray arguments: [Any]?) {
    let arguments = arguments ?? []
    do {
      _ = try Condition(predicateFormat, arguments, for: .asset)
    } catch let error as FetchError where error.code == .malformedPredicate || error.code == .wrongArgument {
      fatalError("NSPredicate(format:) cannot read '\(predicateFormat)': \(error)")
    } catch {
      // A key of another class, perhaps: the fetch decides.
    }
    nonisolated(unsafe) let carried = arguments  // guarded by: never changed after this line
    self.init(block: { object, _ in
      if let reading = object as? FormatReading {
        reading.format = (predicateFormat, carried)
        return false
      }
      return PHPhotoLibrary.answer("NSPredicate.evaluate(with:)") {
        try Condition.holds(predicateFormat, carried, for: object)
      }
    })
  }
}

extension NSSortDescriptor {
  /// An order by a key of PhotoKit's (a.9; Apple: `NSSortDescriptor(key:ascending:)`).
  ///
  /// Also sorts arrays of assets and of collections; comparing anything else traps.
  public convenience init(key: String?, ascending: Bool) {
    // The comparison is by the ascending order; Foundation turns it over.
    self.init(keyPath: \PHObject.self, ascending: ascending) { one, other in
      if let reading = one as? KeyReading {
        reading.key = key
        return .orderedSame
      }
      return PHPhotoLibrary.answer("Comparing by NSSortDescriptor(key: \(key ?? "nil"))") {
        try SortTerm.compare(one, other, by: key)
      }
    }
  }

  /// The key it was made with.
  public var key: String? {
    let reading = KeyReading()
    _ = comparator(reading, reading)
    return reading.key
  }
}

extension Condition {
  fileprivate init(_ format: String, _ arguments: [Any], for entity: Entity) throws {
    try self.init(format: format, arguments: arguments.map { try PredicateArgument($0) }, for: entity)
  }

  /// The condition that a predicate states about a class of objects.
  init(_ predicate: NSPredicate, for entity: Entity) throws {
    if let compound = predicate as? NSCompoundPredicate {
      let parts = try compound.subpredicates.map { try Condition($0, for: entity) }
      switch compound.compoundPredicateType {
      case .and: self = .and(parts)
      case .or: self = .or(parts)
      case .not: self = parts.first.map { .not($0) } ?? .always
      @unknown default: throw Self.unreadable(predicate)
      }
      return
    }
    switch predicate {
    case NSPredicate(value: true): self = .always
    case NSPredicate(value: false): self = .never
    default:
      let reading = FormatReading()
      _ = predicate.evaluate(with: reading)
      guard let format = reading.format else { throw Self.unreadable(predicate) }
      try self.init(format.text, format.arguments, for: entity)
    }
  }

  private static func unreadable(_ predicate: NSPredicate) -> LibraryError {
    LibraryError(
      .unsupportedPredicate,
      "A fetch cannot follow '\(predicate)'; use NSPredicate(format:) and compounds of such predicates.")
  }

  /// Whether an object satisfies a format; what is no object of the library satisfies none.
  fileprivate static func holds(_ format: String, _ arguments: [Any], for object: Any?) throws -> Bool {
    switch object {
    case let asset as PHAsset:
      guard let row = asset.asset?.row else { return false }
      return try Condition(format, arguments, for: .asset).evaluator(for: AssetRow.self)(row)
    case let collection as PHCollection:
      guard let row = collection.collection?.row else { return false }
      return try Condition(format, arguments, for: .collection).evaluator(for: CollectionRow.self)(row)
    default: return false
    }
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
      guard let one = one.asset, let other = other.asset else { return .orderedSame }
      let keys = SortKeyEncoder<AssetRow>([try SortTerm(key ?? "", for: .asset)])
      return result(keys.bytes(for: one.row), keys.bytes(for: other.row))
    case (let one as PHCollection, let other as PHCollection):
      guard let one = one.collection, let other = other.collection else { return .orderedSame }
      let keys = SortKeyEncoder<CollectionRow>([try SortTerm(key ?? "", for: .collection)])
      return result(keys.bytes(for: one.row), keys.bytes(for: other.row))
    default:
      throw LibraryError(
        .unsupportedSort, "Objects of the type \(type(of: one)) have no key '\(key ?? "nil")' to be compared by.")
    }
  }

  /// The order that a descriptor states about a class of objects.
  init(_ descriptor: NSSortDescriptor, for entity: Entity) throws {
    guard let key = descriptor.key else {
      throw LibraryError(
        .unsupportedSort, "A fetch cannot follow '\(descriptor)'; use NSSortDescriptor(key:ascending:).")
    }
    try self.init(PropertyKey(spelled: key, for: entity), ascending: descriptor.ascending, for: entity)
  }
}

extension PHObject: PredicateArgumentConvertible {
  /// The object, in a predicate.
  public var predicateArgument: PredicateArgument {
    identifier.map { .value(.identifier($0)) } ?? .value(.text(localIdentifier))
  }
}

extension NSNumber: PredicateArgumentConvertible {
  /// The number, in a predicate.
  public var predicateArgument: PredicateArgument {
    switch String(cString: objCType) {
    case "d", "f": .value(.double(doubleValue))
    case "c", "B": .value(.bool(boolValue))
    default: .value(.integer(int64Value))
    }
  }
}

extension NSDate: PredicateArgumentConvertible {
  /// The date, in a predicate.
  public var predicateArgument: PredicateArgument {
    .value(.date(Date(timeIntervalSinceReferenceDate: timeIntervalSinceReferenceDate)))
  }
}

extension NSString: PredicateArgumentConvertible {
  /// The text, in a predicate.
  public var predicateArgument: PredicateArgument { .value(.text(String(self))) }
}
