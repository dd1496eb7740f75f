import EventLog
public import Foundation

/// What a fetch asks for beside its scope (PHFetchOptions).
public struct FetchOptions: Sendable {
  /// Which objects (FR-10); made from `#Predicate`, from a format string, or directly.
  public var condition: Condition = .always
  /// In what order, the first term outermost; none: the natural order (FR-11, FR-12).
  public var sort: [SortTerm] = []
  /// Whether hidden assets are shown (FR-06).
  public var includeHiddenAssets = false
  /// Whether the trash is shown instead of the library.
  public var showsTrash = false
  /// How many objects are passed over first.
  public var fetchOffset = 0
  /// The most objects of the result; 0: all (FR-05).
  public var fetchLimit = 0
  /// Whether change details name indexes; if not, they give the two results only (CD-15).
  public var wantsIncrementalChangeDetails = true

  /// Asks for everything in natural order.
  public init() {}
}

extension PhotoLibrary {
  // MARK: Assets

  /// Fetches the assets that satisfy a predicate.
  /// - Parameters:
  ///   - predicate: nil: all.
  ///   - sort: the order; none: the order of addition (FR-11).
  ///   - limit: the most assets; 0: all.
  /// - Throws: ``FetchError`` for a predicate or sort that is not supported (FR-09), ``LibraryError`` if the store
  ///   cannot be read.
  /// - Complexity: O(n log n) in the assets of the library; O(1) while an equal query is followed.
  public func fetchAssets(
    where predicate: Predicate<Asset>? = nil, sortedBy sort: [SortDescriptor<Asset>] = [], limit: Int = 0
  ) throws -> FetchResult<Asset> {
    var options = FetchOptions()
    if let predicate { options.condition = try Condition(predicate) }
    options.sort = try sort.map { try SortTerm($0) }
    options.fetchLimit = limit
    return try fetchAssets(options)
  }

  /// Fetches assets (PHAsset.fetchAssets(with:)).
  ///
  /// The members of an album that was deleted can still be fetched with its value: like the trash, a deletion keeps
  /// every place, so that it can be taken back.
  /// - Parameters:
  ///   - options: which, and in what order.
  ///   - album: nil: the whole library; otherwise the album's assets, in its manual order unless the options sort.
  /// - Throws: ``FetchError`` for options that do not fit assets (FR-09), ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(n log n) in the assets of the scope; O(1) while an equal query is followed.
  public func fetchAssets(_ options: FetchOptions, in album: PhotoCollection? = nil) throws -> FetchResult<Asset> {
    let scope = album.map { Query.Scope.members(of: $0.row.number) } ?? .library
    return try fetch(.asset, scope, options, .asset)
  }

  /// Fetches the assets with the given identifiers, in the order of addition unless the options sort.
  ///
  /// Unknown identifiers are left out, and hidden assets unless the options include them.
  /// - Parameters:
  ///   - identifiers: in any spelling, with or without their suffix.
  ///   - options: which of them, and in what order.
  /// - Throws: ``FetchError`` for options that do not fit assets (FR-09), ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(m log n) for m identifiers.
  public func fetchAssets(
    withLocalIdentifiers identifiers: [String], _ options: FetchOptions = FetchOptions()
  ) throws -> FetchResult<Asset> {
    try fetch(.asset, .objects(try numbers(of: identifiers)), options, .asset)
  }

  /// The files of an asset, as of the value's commit (PHAssetResource.assetResources(for:)).
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(log n), and one read for each later event that touched the asset.
  public func resources(of asset: Asset) throws -> [AssetResource] {
    try store.reading { t in
      let sequence = try store.sequence(ofCommit: asset.commit, t)
      return try store.assetDetails(asset.row.number, at: sequence, t)?.resources ?? []
    }
  }

  /// The file that holds the bytes of a resource. It may be missing: a reference can point to what is gone.
  public func url(of resource: AssetResource) -> URL { store.resources.url(of: resource) }

  /// The assets that have a resource with the given content, oldest first, those in the trash included.
  /// - Parameter sha256: 32 bytes.
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(m log n) for m assets found.
  public func assets(withContent sha256: [UInt8]) throws -> [Asset] {
    precondition(sha256.count == 32, "A SHA-256 has 32 bytes.")
    return try store.reading { t in
      let commit = try store.core.log.head(t).commit
      return try store.core.projections.assets(withContent: sha256, in: t).compactMap { number in
        try store.core.projections.asset(number, in: t).map { Asset(row: $0, commit: commit) }
      }
    }
  }

  /// The assets that have a resource with a content identifier, oldest first, those in the trash included.
  ///
  /// The halves of a Live Photo share one (LP-01); an importer finds the half that came earlier by it.
  /// - Parameter identifier: as the camera wrote it.
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(m log n) for m assets found.
  public func assets(withContentIdentifier identifier: String) throws -> [Asset] {
    try store.reading { t in
      let commit = try store.core.log.head(t).commit
      return try store.core.projections.assets(withContentIdentifier: identifier, in: t).compactMap { number in
        try store.core.projections.asset(number, in: t).map { Asset(row: $0, commit: commit) }
      }
    }
  }

  // MARK: Collections

  /// Fetches albums and folders in the order of their making, wherever they hang (FR-12).
  /// - Throws: ``FetchError`` for options that do not fit collections (FR-09), ``LibraryError`` if the store cannot be
  ///   read.
  /// - Complexity: O(n log n) in the collections of the library; O(1) while an equal query is followed.
  public func fetchCollections(_ options: FetchOptions = FetchOptions()) throws -> FetchResult<PhotoCollection> {
    try fetch(.collection, .library, options, .collection)
  }

  /// Fetches the children of a folder in their manual order; nil is the top level (FR-13).
  /// - Throws: ``FetchError`` for options that do not fit collections (FR-09), ``LibraryError`` if the store cannot be
  ///   read.
  /// - Complexity: O(m log n) for m children; O(1) while an equal query is followed.
  public func fetchCollections(
    in folder: PhotoCollection?, _ options: FetchOptions = FetchOptions()
  ) throws -> FetchResult<PhotoCollection> {
    try fetch(.collection, .members(of: folder?.row.number ?? rootFolder), options, .collection)
  }

  /// Fetches the albums and folders with the given identifiers; unknown ones are left out.
  /// - Throws: ``FetchError`` for options that do not fit collections (FR-09), ``LibraryError`` if the store cannot be
  ///   read.
  /// - Complexity: O(m log n) for m identifiers.
  public func fetchCollections(
    withLocalIdentifiers identifiers: [String], _ options: FetchOptions = FetchOptions()
  ) throws -> FetchResult<PhotoCollection> {
    try fetch(.collection, .objects(try numbers(of: identifiers)), options, .collection)
  }

  /// Fetches the albums that an asset stands in, wherever it is shown (places survive hiding and trash).
  /// - Throws: ``FetchError`` for options that do not fit collections (FR-09), ``LibraryError`` if the store cannot be
  ///   read.
  /// - Complexity: O(m log n) for m albums.
  public func fetchCollections(
    containing asset: Asset, _ options: FetchOptions = FetchOptions()
  ) throws -> FetchResult<PhotoCollection> {
    try fetch(.collection, .containing(asset.row.number), options, .collection)
  }

  /// Fetches the folder that a collection hangs in; none for one at the top level.
  /// - Throws: ``FetchError`` for options that do not fit collections (FR-09), ``LibraryError`` if the store cannot be
  ///   read.
  /// - Complexity: O(log n).
  public func fetchCollections(
    containing collection: PhotoCollection, _ options: FetchOptions = FetchOptions()
  ) throws -> FetchResult<PhotoCollection> {
    try fetch(.collection, .containing(collection.row.number), options, .collection)
  }

  // MARK: Finding

  /// The asset with an identifier, hidden and trashed ones included; nil if there is none.
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(log n).
  public func asset(_ identifier: String) throws -> Asset? {
    guard let identifier = LocalIdentifier(identifier) else { return nil }
    return try store.reading { t in
      guard let object = try store.core.projections.object(identifier, in: t), object.isAsset,
        let row = try store.core.projections.asset(object.number, in: t)
      else { return nil }
      return Asset(row: row, commit: try store.core.log.head(t).commit)
    }
  }

  /// The album or folder with an identifier; nil if there is none, or if it was deleted.
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(log n).
  public func collection(_ identifier: String) throws -> PhotoCollection? {
    guard let identifier = LocalIdentifier(identifier) else { return nil }
    return try store.reading { t in
      guard let object = try store.core.projections.object(identifier, in: t), !object.isAsset,
        let row = try store.core.projections.collection(object.number, in: t), row.deletedDate == nil
      else { return nil }
      return PhotoCollection(row: row, commit: try store.core.log.head(t).commit)
    }
  }

  private func numbers(of identifiers: [String]) throws -> Set<ObjectNumber> {
    try store.reading { t in
      var numbers: Set<ObjectNumber> = []
      for identifier in identifiers.compactMap({ LocalIdentifier($0) }) {
        if let object = try store.core.projections.object(identifier, in: t) { numbers.insert(object.number) }
      }
      return numbers
    }
  }

  private func fetch<Element>(
    _ entity: Entity, _ scope: Query.Scope, _ options: FetchOptions, _ load: ObjectLoader<Element>
  ) throws -> FetchResult<Element> {
    guard options.fetchOffset >= 0, options.fetchLimit >= 0 else {
      throw LibraryError(.unsupportedPredicate, "A fetch offset and a fetch limit must not be negative.")
    }
    try options.condition.check(for: entity)
    for term in options.sort { _ = try SortTerm(term.key, ascending: term.ascending, for: entity) }
    var query = Query(entity, scope, where: options.condition, sortedBy: options.sort)
    query.includesHidden = options.includeHiddenAssets || options.showsTrash
    query.trash = options.showsTrash ? .only : .without
    let window = Window(offset: options.fetchOffset, limit: options.fetchLimit == 0 ? nil : options.fetchLimit)
    let core = try store.fetch(query, window, wantsIncrementalChanges: options.wantsIncrementalChangeDetails)
    return FetchResult(core: core, store: store, load: load)
  }
}
