package import PhotoLedger
import CountedTree

/// An object of a fetch result that a model knows: assets and collections.
package protocol CheckedObject: Hashable, Sendable {
  associatedtype Model: Equatable & Sendable
  var id: LocalIdentifier { get }
  /// Everything that a client can see of the object.
  var seen: Model { get }
  /// What the model says of an object as a client sees it.
  static func expected(_ id: LocalIdentifier, in model: ModelLibrary, for client: String) -> Model?
  /// Makes a fetch ready; it goes on to work after its album, folder or asset is gone.
  static func fetcher(_ query: ModelQuery, in library: PhotoLibrary) throws -> Fetcher<Self>
  /// The object with an identifier as it is now.
  static func find(_ id: LocalIdentifier, in library: PhotoLibrary) throws -> Self?
  /// All objects of the kind that a model knows, in a fixed order.
  static func all(in model: ModelLibrary) -> [LocalIdentifier]
  /// The position of an object in a result.
  static func index(of object: Self, in result: FetchResult<Self>) throws -> Int?
}

extension Asset: CheckedObject {
  package var seen: ModelAsset { ModelAsset(self) }

  package static func expected(_ id: LocalIdentifier, in model: ModelLibrary, for client: String) -> ModelAsset? {
    model.assets[id]?.seen(by: model.eyes(of: client))
  }

  package static func fetcher(_ query: ModelQuery, in library: PhotoLibrary) throws -> Fetcher<Asset> {
    let options = query.options
    switch query.scope {
    case .library: return { try $0.fetchAssets(options) }
    case .members(let album):
      let found = try library.known(album)
      return { try $0.fetchAssets(options, in: found) }
    case .identifiers(let ids):
      return { try $0.fetchAssets(withLocalIdentifiers: ids.map { $0.uuidString + "/L0/001" }, options) }
    case .smart(let album):
      let found = try library.known(album)
      return { try $0.fetchAssets(options, in: found) }
    case .builtIn(let subtype):
      guard let found = try library.fetchCollections(with: .smartAlbum, subtype: subtype).first else {
        throw Divergence("The library has no smart album of the subtype \(subtype.rawValue).")
      }
      return { try $0.fetchAssets(options, in: found) }
    case .listed(let ids):
      let listed = library.transientAlbum(try ids.compactMap { try library.asset($0.uuidString) }, title: nil)
      return { try $0.fetchAssets(options, in: listed) }
    case .containing: preconditionFailure("Nothing that a fetch returns contains both assets and collections.")
    }
  }

  package static func find(_ id: LocalIdentifier, in library: PhotoLibrary) throws -> Asset? {
    try library.asset(id.uuidString)
  }

  package static func all(in model: ModelLibrary) -> [LocalIdentifier] { model.assetsInOrder }

  package static func index(of object: Asset, in result: FetchResult<Asset>) throws -> Int? {
    try result.index(ofObject: object)
  }
}

extension PhotoCollection: CheckedObject {
  package var seen: ModelCollection { ModelCollection(self) }

  package static func expected(_ id: LocalIdentifier, in model: ModelLibrary, for client: String) -> ModelCollection? {
    model.collection(id, for: client)
  }

  package static func fetcher(_ query: ModelQuery, in library: PhotoLibrary) throws -> Fetcher<PhotoCollection> {
    let options = query.options
    switch query.scope {
    case .library: return { try $0.fetchCollections(options) }
    case .members(let folder):
      let found = try folder.map { try library.known($0) }
      return { try $0.fetchCollections(in: found, options) }
    case .identifiers(let ids):
      return { try $0.fetchCollections(withLocalIdentifiers: ids.map(\.uuidString), options) }
    case .containing(let id):
      if let asset = try library.asset(id.uuidString) {
        return { try $0.fetchCollections(containing: asset, options) }
      }
      let found = try library.known(id)
      return { try $0.fetchCollections(containing: found, options) }
    case .listed(let ids):
      let listed = library.transientFolder(try ids.map { try library.known($0) }, title: nil)
      return { try $0.fetchCollections(in: listed, options) }
    case .smart, .builtIn: preconditionFailure("A smart album shows assets.")
    }
  }

  package static func find(_ id: LocalIdentifier, in library: PhotoLibrary) throws -> PhotoCollection? {
    try library.collection(id.uuidString)
  }

  package static func all(in model: ModelLibrary) -> [LocalIdentifier] { model.collectionsInOrder }

  package static func index(of object: PhotoCollection, in result: FetchResult<PhotoCollection>) throws -> Int? {
    try result.index(ofObject: object)
  }
}

/// Executes a fetch on a view of the library.
package typealias Fetcher<Element: Hashable & Sendable> = @Sendable (PhotoLibrary) throws -> FetchResult<Element>

extension PhotoLibrary {
  fileprivate func known(_ id: LocalIdentifier?) throws -> PhotoCollection {
    guard let id, let found = try collection(id.uuidString) else {
      throw Divergence("The collection \(id.map(\.uuidString) ?? "without identifier") cannot be found.")
    }
    return found
  }
}

extension FetchResult {
  /// The internal numbers of the shown objects.
  package var numbers: [UInt64] { reading { try core.numbers } }

  /// The number of the commit that the result belongs to.
  package var commit: UInt64 { reading { try core.commit } }
}
