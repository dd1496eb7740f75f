// `NSPredicate(format:)`, which Foundation marks as unavailable on Linux, with its original spelling. An overload that
// is unavailable ranks last, so this one is taken without ambiguity. Sort descriptors are in
// NSSortDescriptor+Keys.swift.
//
// A predicate has no place for a format, so its block carries it: asked about a reading it hands over format and
// arguments, asked about an object it evaluates them. A reading is a stand-in of what is fetched, since the block of
// another predicate casts what it is given. NSCompoundPredicate shows its parts, and constants are equal to each other,
// so whatever is built of these is read back as one condition, for the class of objects that is fetched.
//
//     NSPredicate(format:) ─ block ─▶ AssetReading ─▶ Condition(format:arguments:for:)
//     NSCompoundPredicate  ─ subpredicates ─▶ and, or, not
//     NSPredicate(value:)  ─ equal to a constant ─▶ always, never
//     NSPredicate(block:)  ─ nothing handed over ─▶ refused by name, as Apple's fetches do
//
// A block that casts to another class than that of a photo or an album, or unwraps a property of the empty object, ends
// the process by itself before that.

public import PhotoLedger

/// What a predicate made from a format hands over about itself.
private typealias CarriedFormat = (text: String, arguments: [Any])

/// Receives the format of a predicate about assets; an empty asset to any other predicate.
private final class AssetReading: PHAsset, @unchecked Sendable {  // guarded by: used by one call on one thread
  var format: CarriedFormat?
}

/// Receives the format of a predicate about collections; an empty album to any other predicate.
private final class CollectionReading: PHAssetCollection, @unchecked Sendable {  // guarded by: as `AssetReading`
  var format: CarriedFormat?
}

extension NSPredicate {
  /// A predicate in PhotoKit's grammar (a.9, FR-10; Apple: `NSPredicate(format:_:)`).
  ///
  /// Traps with a sentence that shows format and place if the format cannot be read. Keys are checked by the fetch,
  /// which knows the class of objects. `evaluate(with:)` takes assets and collections, and an app's stand-ins of them,
  /// whose overridden properties count; it traps for anything else, and for a stand-in if the predicate asks for a
  /// property that it does not hold, such as `isTrashed` or `stack` of an asset and `startDate` or `albumSubtype` of a
  /// collection.
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
      switch object {
      case let reading as AssetReading:
        reading.format = (predicateFormat, carried)
        return false
      case let reading as CollectionReading:
        reading.format = (predicateFormat, carried)
        return false
      default:
        return PHPhotoLibrary.answer("NSPredicate.evaluate(with:)") {
          try Condition.holds(predicateFormat, carried, for: object)
        }
      }
    })
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
      guard let format = Self.format(of: predicate, for: entity) else { throw Self.unreadable(predicate) }
      try self.init(format.text, format.arguments, for: entity)
    }
  }

  /// The format that a predicate was made from; nil for one that Foundation made.
  private static func format(of predicate: NSPredicate, for entity: Entity) -> CarriedFormat? {
    switch entity {
    case .asset:
      let reading = AssetReading()
      _ = predicate.evaluate(with: reading)
      return reading.format
    case .collection:
      let reading = CollectionReading()
      _ = predicate.evaluate(with: reading)
      return reading.format
    }
  }

  private static func unreadable(_ predicate: NSPredicate) -> LibraryError {
    LibraryError(
      .unsupportedPredicate,
      "A fetch cannot follow '\(predicate)'; use NSPredicate(format:) and compounds of such predicates.")
  }

  /// Whether an object satisfies a format; a stand-in does by what it overrides.
  fileprivate static func holds(_ format: String, _ arguments: [Any], for object: Any?) throws -> Bool {
    let arguments = try arguments.map { try PredicateArgument($0) }
    switch object {
    case let asset as PHAsset:
      let condition = try Condition(asWritten: format, arguments: arguments, for: .asset)
      try asset.checkComparable { condition.asks(for: $0) }
      guard !condition.asksForDetails else {
        throw LibraryError(
          .unsupportedPredicate,
          "A value of an asset does not hold what '\(condition)' asks for; fetch with the predicate.")
      }
      return condition.evaluator(for: AssetRow.self)(asset.comparedRow)
    case let collection as PHCollection:
      let condition = try Condition(asWritten: format, arguments: arguments, for: .collection)
      try collection.checkComparable { condition.asks(for: $0) }
      return condition.evaluator(for: CollectionRow.self)(collection.comparedRow)
    default:
      let what = object.map { "an object of the type \(type(of: $0))" } ?? "nil"
      throw LibraryError(
        .unsupportedPredicate,
        "'\(format)' cannot be evaluated for \(what): with Photos, a predicate is about assets and collections.")
    }
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
    // A number of eight bits has the type of a Bool.
    case "c", "B": (0...1).contains(int64Value) ? .value(.bool(boolValue)) : .value(.integer(int64Value))
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
