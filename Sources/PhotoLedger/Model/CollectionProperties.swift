import Foundation

// The properties of albums and folders that queries ask for, each declared once.
//
//     CollectionProperty(.localizedTitle, .text { $0.title }, [\PhotoCollection.localizedTitle], spelled: ["title"])
//
// A collection's row is decoded as a whole, and there are a few thousand of them, so an entry reads the row with a
// closure instead of naming a place in its bytes. What queries, `#Predicate` and sort descriptors know of a property
// derives from the entry, as for an asset (AssetProperties.swift).

/// A property of albums and folders.
package struct CollectionProperty: Sendable {
  /// What the values are, and how a row is read.
  enum Form: Sendable {
    case identifier
    case date(@Sendable (CollectionRow) -> Date)
    case text(@Sendable (CollectionRow) -> String?)
    case integer(@Sendable (CollectionRow) -> Int)
    case optionalInteger(@Sendable (CollectionRow) -> Int?)
    case bool(@Sendable (CollectionRow) -> Bool)
    /// A date that no collection has.
    case noDate
  }

  let key: PropertyKey
  let form: Form
  let paths: [any PartialKeyPath<PhotoCollection> & Sendable]
  let aliases: [String]

  /// Declares a property.
  /// - Parameters:
  ///   - key: the key in predicates and sort terms.
  ///   - form: what the values are, and how a row is read.
  ///   - paths: the paths of `PhotoCollection` that `#Predicate` and sort descriptors may use.
  ///   - aliases: PhotoKit's other spellings of the key.
  init(
    _ key: PropertyKey, _ form: Form, _ paths: [any PartialKeyPath<PhotoCollection> & Sendable],
    spelled aliases: [String] = []
  ) {
    self.key = key
    self.form = form
    self.paths = paths
    self.aliases = aliases
  }

  /// Every property that queries ask for.
  static let all: [CollectionProperty] = [
    CollectionProperty(.localIdentifier, .identifier, [\PhotoCollection.id, \PhotoCollection.localIdentifier]),
    CollectionProperty(.localizedTitle, .text { $0.title }, [\PhotoCollection.localizedTitle], spelled: ["title"]),
    CollectionProperty(.creationDate, .date { $0.creationDate }, [\PhotoCollection.creationDate]),
    CollectionProperty(.modificationDate, .date { $0.modificationDate }, [\PhotoCollection.modificationDate]),
    CollectionProperty(.startDate, .noDate, [\PhotoCollection.startDate]),
    CollectionProperty(.endDate, .noDate, [\PhotoCollection.endDate]),
    CollectionProperty(
      .estimatedAssetCount, .integer { $0.kind == .smartAlbum ? NSNotFound : $0.assetCount },
      [\PhotoCollection.estimatedAssetCount]),
    CollectionProperty(.kind, .integer { $0.kind.rawValue }, [\PhotoCollection.kind]),
    CollectionProperty(
      .albumSubtype, .optionalInteger { $0.albumSubtype?.rawValue }, [\PhotoCollection.albumSubtype]),
    CollectionProperty(.canContainAssets, .bool { $0.kind != .folder }, [\PhotoCollection.canContainAssets]),
    CollectionProperty(.canContainCollections, .bool { $0.kind == .folder }, [\PhotoCollection.canContainCollections]),
  ]

  /// By the key in predicates and sort terms.
  static let byKey = Dictionary(all.map { ($0.key, $0) }) { one, _ in
    preconditionFailure("Two properties of a collection have the key \(one.key.rawValue).")
  }

  /// What a query takes the values for.
  var valueKind: PropertyKey.ValueKind {
    switch form {
    case .identifier: .identifier
    case .date, .noDate: .date
    case .text: .text
    case .integer, .optionalInteger: .integer
    case .bool: .bool
    }
  }

  /// Whether a collection may lack the property.
  var mayBeNil: Bool {
    switch form {
    case .text, .optionalInteger, .noDate: true
    case .identifier, .date, .integer, .bool: false
    }
  }

  /// How a row is read.
  var reader: PropertyReader<CollectionRow> {
    switch form {
    case .identifier: .identifier({ $0.identifier }, { $0.objectKind })
    case .date(let read): .number { read($0).timeIntervalSinceReferenceDate }
    case .text(let read): .text(read)
    case .integer(let read): .integer { Int64(read($0)) }
    case .optionalInteger(let read): .integer { row in read(row).map(Int64.init) ?? .min }
    case .bool(let read): .bool(read)
    case .noDate: .number { _ in .nan }
    }
  }
}
