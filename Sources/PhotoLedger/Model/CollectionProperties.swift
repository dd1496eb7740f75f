import EventLog
package import Foundation

// The properties of albums and folders, each declared once.
//
//     CollectionProperty("localizedTitle", .text { $0.title },
//       log: .init(2, \.title, of: \.title, { $0.text($1) }, { try $0.optionalText() }, { .words($0) }, undo: .alone),
//       key: .localizedTitle, [\PhotoCollection.localizedTitle], spelled: ["title"])
//
// A collection's row is decoded as a whole, and there are a few thousand of them, so an entry reads the row with a
// closure instead of naming a place in its bytes. What queries, `#Predicate` and sort descriptors know of a property,
// and the JSON of a collection, derive from the entry, as for an asset (AssetProperties.swift). So do edits of the
// property, their words and their undo (CollectionEdited.swift). The entries are in the order of JSON.

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
    /// The number of a kind, and the name of it.
    case kind(@Sendable (CollectionRow) -> Int, name: @Sendable (CollectionRow) -> String)
    /// The same of a kind that not every collection has.
    case optionalKind(@Sendable (CollectionRow) -> Int?, name: @Sendable (CollectionRow) -> String?)
    case bool(@Sendable (CollectionRow) -> Bool)
    /// An asset; nil for none. No query asks for it.
    case asset(@Sendable (CollectionRow) -> LocalIdentifier?)
  }

  /// The name as JSON spells it.
  package let name: StaticString
  package let form: Form
  private let makeLog: @Sendable () -> EditedProperty?
  let key: PropertyKey?
  private let makePaths: @Sendable () -> [any PartialKeyPath<PhotoCollection> & Sendable]
  let aliases: [String]
  private let isPrinted: Bool

  /// Declares a property.
  /// - Parameters:
  ///   - name: as JSON spells it.
  ///   - form: what the values are, and how a row is read.
  ///   - log: how edits hold it, if one can change it.
  ///   - key: the key in predicates and sort terms.
  ///   - paths: the paths of `PhotoCollection` that `#Predicate` and sort descriptors may use.
  ///   - aliases: PhotoKit's other spellings of the key.
  ///   - isPrinted: whether it is a member of a collection's JSON.
  init(
    _ name: StaticString, _ form: Form, log: @autoclosure @escaping @Sendable () -> EditedProperty? = nil,
    key: PropertyKey? = nil,
    _ paths: @autoclosure @escaping @Sendable () -> [any PartialKeyPath<PhotoCollection> & Sendable] = [],
    spelled aliases: [String] = [], isPrinted: Bool = true
  ) {
    self.name = name
    self.form = form
    makeLog = log
    self.key = key
    makePaths = paths
    self.aliases = aliases
    self.isPrinted = isPrinted
  }

  /// The paths of `PhotoCollection` that stand for it, which take a process longer to make than the rest of the table.
  var paths: [any PartialKeyPath<PhotoCollection> & Sendable] { makePaths() }

  /// How edits hold it, if one can change it; made of paths, too.
  private var log: EditedProperty? { makeLog() }

  private static let noDate = Form.optionalDate { _ in nil }

  /// Every property, in the order of JSON.
  package static let all: [CollectionProperty] = [
    CollectionProperty(
      "localIdentifier", .identifier, key: .localIdentifier, [\PhotoCollection.id, \PhotoCollection.localIdentifier]),
    CollectionProperty(
      "kind", .kind({ $0.kind.rawValue }, name: { $0.kind.name }), key: .kind, [\PhotoCollection.kind]),
    CollectionProperty(
      "albumSubtype", .optionalKind({ $0.albumSubtype?.rawValue }, name: { $0.albumSubtype?.name }), key: .albumSubtype,
      [\PhotoCollection.albumSubtype]),
    CollectionProperty(
      "localizedTitle", .text { $0.title },
      log: .init(2, \.title, of: \.title, { $0.text($1) }, { try $0.optionalText() }, { .words($0) }, undo: .alone),
      key: .localizedTitle, [\PhotoCollection.localizedTitle], spelled: ["title"]),
    CollectionProperty(
      "estimatedAssetCount", .count { $0.kind == .smartAlbum ? nil : $0.assetCount }, key: .estimatedAssetCount,
      [\PhotoCollection.estimatedAssetCount]),
    CollectionProperty("predicate", .text { $0.query?.format }),
    CollectionProperty(
      "cover", .asset { $0.cover },
      log: .init(6, \.cover, of: \.cover, { $0.identifier($1) }, { try $0.optionalIdentifier() }, { .asset($0) })),
    CollectionProperty(
      "creationDate", .date { $0.creationDate }, key: .creationDate, [\PhotoCollection.creationDate]),
    CollectionProperty(
      "modificationDate", .date { $0.modificationDate },
      log: .init(3, \.modificationDate, of: \.modificationDate, { $0.date($1) }, { try $0.date() }, { .date($0) }),
      key: .modificationDate, [\PhotoCollection.modificationDate]),
    CollectionProperty(
      "deletedDate", .optionalDate { $0.deletedDate },
      log: .init(4, \.deletedDate, of: \.deletedDate, { $0.date($1) }, { try $0.optionalDate() }, { .optional($0) }),
      isPrinted: false),
    CollectionProperty(
      "creatorDate", .date { $0.creatorDate },
      log: .init(5, \.creatorDate, of: \.creatorDate, { $0.date($1) }, { try $0.date() }), isPrinted: false),
    CollectionProperty(
      "creatorCover", .asset { $0.creatorCover },
      log: .init(7, \.creatorCover, of: \.creatorCover, { $0.identifier($1) }, { try $0.optionalIdentifier() }),
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

  /// What edits change, ascending by the field of their payload.
  static let edited = all.compactMap { property in property.log.map { (name: property.name, log: $0) } }
    .sorted { $0.log.number < $1.log.number }

  /// The property with a key in predicates and sort terms; nil if collections have none.
  static func named(_ key: PropertyKey) -> CollectionProperty? { all.firstIndex { $0.key == key }.map { all[$0] } }

  /// What a query takes the values for.
  var valueKind: PropertyKey.ValueKind {
    switch form {
    case .identifier, .asset: .identifier
    case .date, .optionalDate: .date
    case .text: .text
    case .count, .kind, .optionalKind: .integer
    case .bool: .bool
    }
  }

  /// Whether a collection may lack the property.
  var mayBeNil: Bool {
    switch form {
    case .text, .optionalKind, .optionalDate, .asset: true
    case .identifier, .date, .count, .kind, .bool: false
    }
  }

  /// How a row is read.
  var reader: PropertyReader<CollectionRow> {
    switch form {
    case .identifier: .identifier({ $0.identifier }, { $0.objectKind })
    case .date(let read): .number { read($0).timeIntervalSinceReferenceDate }
    case .asset: preconditionFailure("No query reads the property \(name) of a collection.")
    case .optionalDate(let read): .number { read($0)?.timeIntervalSinceReferenceDate ?? .nan }
    case .text(let read): .text(read)
    case .count(let read): .integer { Int64(read($0) ?? NSNotFound) }
    case .kind(let read, _): .integer { Int64(read($0)) }
    case .optionalKind(let read, _): .integer { row in read(row).map(Int64.init) ?? .min }
    case .bool(let read): .bool(read)
    }
  }
}
