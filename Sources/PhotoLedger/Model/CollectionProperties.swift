import EventLog
package import Foundation

// The properties of albums and folders, each declared once.
//
//     CollectionProperty("localizedTitle", .text { $0.title },
//       log: .init(2, \.title, of: \.title, { $0.text($1) }, { try $0.optionalText() }, { .words($0) }, undo: .alone),
//       key: .localizedTitle, [\PhotoCollection.localizedTitle], spelled: ["title"],
//       listed: .init(log: 2, isLoggedAsNull: true, history: 2, comparison: 1))
//
// A collection's row is decoded as a whole, and there are a few thousand of them, so an entry reads the row with a
// closure instead of naming a place in its bytes. What queries, `#Predicate` and sort descriptors know of a property,
// and the JSON of a collection, derive from the entry, as for an asset (AssetProperties.swift). So do edits of the
// property, their words and their undo (CollectionEdited.swift), what the log and a history say of a new collection,
// and comparisons of libraries. The entries are in the order of JSON; the other lists have orders of their own, which
// an entry names by its place (`listed`).

/// A property of albums and folders.
package struct CollectionProperty: Sendable {
  /// What the values are, and how a row is read.
  package enum Form: Sendable {
    case identifier
    case date(@Sendable (CollectionRow) -> Date)
    /// A date that not every collection has.
    case optionalDate(@Sendable (CollectionRow) -> Date?)
    case text(@Sendable (CollectionRow) -> String?)
    /// A number of objects; nil where it is known only by a fetch. A query takes that for `NSNotFound`.
    case count(@Sendable (CollectionRow) -> Int?)
    /// What the collection is.
    case kind
    /// The number and the name of a kind that not every collection has.
    case optionalKind(@Sendable (CollectionRow) -> Int?, name: @Sendable (CollectionRow) -> String?)
    case bool(@Sendable (CollectionRow) -> Bool)
    /// An asset; nil for none. No query asks for it.
    case asset(@Sendable (CollectionRow) -> LocalIdentifier?)
    /// The number of another object, 0 for none, of which the name is elsewhere. Neither queries nor JSON ask for it.
    case object(@Sendable (CollectionRow) -> ObjectNumber)
  }

  /// The places of a property in lists whose order is not that of JSON; nil for a list without it.
  package struct Places: Sendable {
    /// In the log's record of a new collection.
    var log: Int?
    /// Whether that record has it without a value, too.
    package var isLoggedAsNull = false
    /// In what the history of a collection begins with.
    var history: Int?
    /// In a comparison of libraries.
    var comparison: Int?
  }

  /// The name as JSON spells it.
  package let name: StaticString
  package let form: Form
  private let makeLog: @Sendable () -> EditedProperty?
  let key: PropertyKey?
  private let makePaths: @Sendable () -> [any PartialKeyPath<PhotoCollection> & Sendable]
  let aliases: [String]
  package let places: Places
  private let isPrinted: Bool

  /// Declares a property.
  /// - Parameters:
  ///   - name: as JSON spells it.
  ///   - form: what the values are, and how a row is read.
  ///   - log: how edits hold it, if one can change it.
  ///   - key: the key in predicates and sort terms.
  ///   - paths: the paths of `PhotoCollection` that `#Predicate` and sort descriptors may use.
  ///   - aliases: PhotoKit's other spellings of the key.
  ///   - places: where the log, a history and a comparison list it.
  ///   - isPrinted: whether it is a member of a collection's JSON.
  init(
    _ name: StaticString, _ form: Form, log: @autoclosure @escaping @Sendable () -> EditedProperty? = nil,
    key: PropertyKey? = nil,
    _ paths: @autoclosure @escaping @Sendable () -> [any PartialKeyPath<PhotoCollection> & Sendable] = [],
    spelled aliases: [String] = [], listed places: Places = Places(), isPrinted: Bool = true
  ) {
    self.name = name
    self.form = form
    makeLog = log
    self.key = key
    makePaths = paths
    self.aliases = aliases
    self.places = places
    self.isPrinted = isPrinted
  }

  /// The paths of `PhotoCollection` that stand for it, which take a process longer to make than the rest of the table.
  var paths: [any PartialKeyPath<PhotoCollection> & Sendable] { makePaths() }

  /// How edits hold it, if one can change it; made of paths, too.
  private var log: EditedProperty? { makeLog() }

  private static let noDate = Form.optionalDate { _ in nil }

  /// Every property, in the order of JSON.
  package static let all: [CollectionProperty] = shown + unprinted

  private static let shown: [CollectionProperty] = [
    CollectionProperty(
      "localIdentifier", .identifier, key: .localIdentifier, [\PhotoCollection.id, \PhotoCollection.localIdentifier]),
    CollectionProperty("kind", .kind, key: .kind, [\PhotoCollection.kind], listed: .init(log: 1, history: 1)),
    CollectionProperty(
      "albumSubtype", .optionalKind({ $0.albumSubtype?.rawValue }, name: { $0.albumSubtype?.name }), key: .albumSubtype,
      [\PhotoCollection.albumSubtype]),
    CollectionProperty(
      "localizedTitle", .text { $0.title },
      log: .init(2, \.title, of: \.title, { $0.text($1) }, { try $0.optionalText() }, { .words($0) }, undo: .alone),
      key: .localizedTitle, [\PhotoCollection.localizedTitle], spelled: ["title"],
      listed: .init(log: 2, isLoggedAsNull: true, history: 2, comparison: 1)),
    CollectionProperty(
      "estimatedAssetCount", .count { $0.kind == .smartAlbum ? nil : $0.assetCount }, key: .estimatedAssetCount,
      [\PhotoCollection.estimatedAssetCount], listed: .init(comparison: 5)),
    CollectionProperty("predicate", .text { $0.query?.format }, listed: .init(log: 5, history: 5, comparison: 3)),
    CollectionProperty(
      "cover", .asset { $0.cover },
      log: .init(
        6, \.cover, of: \.cover, { $0.identifier($1) }, { try $0.optionalIdentifier() }, { .asset($0) },
        seen: .byOthers),
      listed: .init(comparison: 4)),
    CollectionProperty(
      "creationDate", .date { $0.creationDate }, key: .creationDate, [\PhotoCollection.creationDate],
      listed: .init(log: 4, history: 3, comparison: 6)),
    CollectionProperty(
      "modificationDate", .date { $0.modificationDate },
      log: .init(
        3, \.modificationDate, of: \.modificationDate, { $0.date($1) }, { try $0.date() }, { .date($0) },
        seen: .byOthers),
      key: .modificationDate, [\PhotoCollection.modificationDate], listed: .init(history: 4, comparison: 7)),
  ]

  /// What a collection's JSON does not show.
  private static let unprinted: [CollectionProperty] = [
    CollectionProperty("parent", .object { $0.parent }, listed: .init(log: 3, comparison: 2), isPrinted: false),
    CollectionProperty("creator", .object { $0.creator }, listed: .init(history: 6), isPrinted: false),
    CollectionProperty(
      "deletedDate", .optionalDate { $0.deletedDate },
      log: .init(4, \.deletedDate, of: \.deletedDate, { $0.date($1) }, { try $0.optionalDate() }, { .optional($0) }),
      isPrinted: false),
    CollectionProperty(
      "creatorDate", .date { $0.creatorDate },
      log: .init(5, \.creatorDate, of: \.creatorDate, { $0.date($1) }, { try $0.date() }, seen: .byCreator),
      isPrinted: false),
    CollectionProperty(
      "creatorCover", .asset { $0.creatorCover },
      log: .init(
        7, \.creatorCover, of: \.creatorCover, { $0.identifier($1) }, { try $0.optionalIdentifier() }, { .asset($0) },
        seen: .byCreator),
      isPrinted: false),
    CollectionProperty("startDate", noDate, key: .startDate, [\PhotoCollection.startDate], isPrinted: false),
    CollectionProperty("endDate", noDate, key: .endDate, [\PhotoCollection.endDate], isPrinted: false),
    CollectionProperty(
      "canContainAssets", .bool { $0.kind != .folder }, key: .canContainAssets, [\PhotoCollection.canContainAssets],
      isPrinted: false),
    CollectionProperty(
      "canContainCollections", .bool { $0.kind == .folder }, key: .canContainCollections,
      [\PhotoCollection.canContainCollections], isPrinted: false),
  ]

  /// The members of a collection's JSON, in their order.
  package static let printed = all.filter(\.isPrinted)

  /// What the log's record of a new collection names, in its order.
  package static let logged = listed(\.log)

  /// What the history of a collection begins with, in its order; its place in a folder comes after that.
  package static let inHistory = listed(\.history)

  /// What a comparison of libraries compares, in its order.
  package static let compared = listed(\.comparison)

  private static func listed(_ place: (Places) -> Int?) -> [CollectionProperty] {
    all.compactMap { property in place(property.places).map { (place: $0, property: property) } }
      .sorted { $0.place < $1.place }.map(\.property)
  }

  /// The value in a row, as the log has it; null if there is none.
  /// - Parameter spelling: spells an object by its number; nil for 0 and for one without a name.
  package func value(of row: CollectionRow, _ spelling: (ObjectNumber) throws -> String?) rethrows -> LogValue {
    switch form {
    case .identifier: .text(row.identifier.spelled(as: row.objectKind))
    case .date(let read): .date(read(row))
    case .optionalDate(let read): .optional(read(row))
    case .text(let read): .words(read(row))
    // A row counts nothing where the number is known only by a fetch.
    case .count(let read): .integer(Int64(read(row) ?? 0))
    case .kind: .text(row.word)
    case .optionalKind(_, let name): .words(name(row))
    case .bool(let read): .bool(read(row))
    case .asset(let read): .asset(read(row))
    case .object(let read): .words(try spelling(read(row)))
    }
  }

  /// What edits change, ascending by the field of their payload.
  static let edited = all.compactMap { property in property.log.map { (name: property.name, log: $0) } }
    .sorted { $0.log.number < $1.log.number }

  /// The property with a key in predicates and sort terms; nil if collections do not have it.
  static func named(_ key: PropertyKey) -> CollectionProperty? { all.firstIndex { $0.key == key }.map { all[$0] } }

  /// What a query takes the values for.
  var valueKind: PropertyKey.ValueKind {
    switch form {
    case .identifier, .asset, .object: .identifier
    case .date, .optionalDate: .date
    case .text: .text
    case .count, .kind, .optionalKind: .integer
    case .bool: .bool
    }
  }

  /// Whether a collection may lack the property.
  var mayBeNil: Bool {
    switch form {
    case .text, .optionalKind, .optionalDate, .asset, .object: true
    case .identifier, .date, .count, .kind, .bool: false
    }
  }

  /// How a row is read.
  var reader: PropertyReader<CollectionRow> {
    switch form {
    case .identifier: .identifier({ $0.identifier }, { $0.objectKind })
    case .date(let read): .number { read($0).timeIntervalSinceReferenceDate }
    case .asset, .object: preconditionFailure("No query reads the property \(name) of a collection.")
    case .optionalDate(let read): .number { read($0)?.timeIntervalSinceReferenceDate ?? .nan }
    case .text(let read): .text(read)
    case .count(let read): .integer { Int64(read($0) ?? NSNotFound) }
    case .kind: .integer { Int64($0.kind.rawValue) }
    case .optionalKind(let read, _): .integer { row in read(row).map(Int64.init) ?? .min }
    case .bool(let read): .bool(read)
    }
  }
}
