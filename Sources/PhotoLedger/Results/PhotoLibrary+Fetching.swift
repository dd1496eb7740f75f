import EventLog
public import Foundation

// All fetches take one path.
//
// PhotoKit has a dozen kinds of fetch. Each is a scope and a condition, and what they share must not differ between
// them: the checks of options, the prompt for access, what a limited client sees, and the state that the token names.
//
//     fetchAssets, fetchKeyAssets, fetchCollections       scope, condition, options
//                     │
//                     ▼
//     check ──▶ Query ──▶ ask for access, if needed ──▶ one read transaction:
//                                                         the permission ──▶ the query as the client may see it
//                                                         a stored order has it: begun, or an equal begun one is shared
//                                                         an equal query is followed: its live tree
//                                                         else, and in an as-of view: executed
//                                                         the token of the commit, for that client and permission
//
// A condition of a smart album is added after the caller's own was checked: a stored one may use what callers may not.
// Identifiers become numbers once, so a result by identifiers can be followed and led to earlier states like any other.
//
// Invariant: permission, commit and objects of a result are of one transaction. The person is asked before it begins: a
// dialogue takes as long as people take, and a reader that waits keeps old pages from being reused.
//
// Rejected: removing what the client may not see from a finished result. Offset and limit would count hidden objects,
// and results of clients with different access would share one live tree.

/// The options of a fetch besides its scope (PHFetchOptions).
public struct FetchOptions: Sendable {
  /// Which objects (FR-10); made from `#Predicate`, from a format string, or directly.
  public var condition: Condition = .always
  /// Words to find the objects by: each begins a word of a file's name, of a keyword or of the caption of an asset, or
  /// of the title of a collection; case, accents and widths do not count. Nil or blank: whatever the words.
  public var search: String?
  /// In what order, the first term outermost; none: the natural order (FR-11, FR-12).
  public var sort: [SortTerm] = []
  /// Whether hidden assets are shown (FR-06).
  public var includeHiddenAssets = false
  /// Whether members of a burst are shown that neither represent it nor were picked by the user (FR-07).
  public var includeAllBurstAssets = false
  /// Whether assets beneath the top of a stack are shown.
  public var includeAllStackAssets = false
  /// The sources of assets; empty: the user's library for the whole library, all for an album (FR-08).
  public var includeAssetSourceTypes: SourceTypes = []
  /// Whether the trash is shown instead of the library.
  public var showsTrash = false
  /// How many objects are passed over first.
  public var fetchOffset = 0
  /// The most objects of the result; 0: all (FR-05).
  public var fetchLimit = 0
  /// Whether change details name indexes; if not, they give the two results only (CD-15).
  public var wantsIncrementalChangeDetails = true

  /// Creates options for everything in natural order.
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
  /// The members of a deleted album can still be fetched with its value: like the trash, a deletion keeps every
  /// membership, so that it can be undone.
  /// - Parameters:
  ///   - options: the filter and the order.
  ///   - album: nil: the whole library; otherwise the album's assets, in its manual order unless the options sort.
  /// - Throws: ``FetchError`` for options that do not fit assets (FR-09), ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(log n) to begin with the whole library, its images or another media type, or one of its smart
  ///   albums, in the order of addition or by creation date, with the whole library or the trash by the date on which
  ///   they came there, and with an album in its own order; O(n log n) in the assets of the scope otherwise; O(1) while
  ///   an equal query is followed. For a limited client O(k) in the assets of its selection instead of O(log n).
  public func fetchAssets(_ options: FetchOptions, in album: PhotoCollection? = nil) throws -> FetchResult<Asset> {
    try fetchAssets(options, in: album, today: today)
  }

  /// Fetches assets, counting back from a given instant in a smart album that has a limit in days.
  /// - Throws: as ``fetchAssets(_:in:)``.
  /// - Complexity: as ``fetchAssets(_:in:)``.
  package func fetchAssets(
    _ options: FetchOptions, in album: PhotoCollection?, today: Date
  ) throws -> FetchResult<Asset> {
    guard let album else { return try fetch(.asset, .library, options, .asset) }
    // What the caller brings, before a stored query is added to it.
    try options.condition.check(for: .asset)
    return try fetch(.asset, album.assetScope, try album.completed(options, at: today), .asset, isStored: true)
  }

  /// Fetches the assets of one media type (PHAsset.fetchAssets(with:options:)).
  /// - Throws: as ``fetchAssets(_:in:)``.
  /// - Complexity: as ``fetchAssets(_:in:)``.
  public func fetchAssets(
    with mediaType: MediaType, _ options: FetchOptions = FetchOptions()
  ) throws -> FetchResult<Asset> {
    var options = options
    options.condition = .and([.media(mediaType), options.condition])
    return try fetchAssets(options)
  }

  /// Fetches the members of a burst: the representative and the user's picks, or all of them with the option (BU-03).
  /// - Throws: as ``fetchAssets(_:in:)``.
  /// - Complexity: O(n log n) in the assets of the library; O(1) while an equal query is followed.
  public func fetchAssets(
    withBurstIdentifier identifier: String, _ options: FetchOptions = FetchOptions()
  ) throws -> FetchResult<Asset> {
    var options = options
    options.condition = .and([.comparison(.burstIdentifier, .equal, .text(identifier)), options.condition])
    return try fetchAssets(options)
  }

  /// Fetches the key asset of a collection: the chosen cover of an album, otherwise its first asset
  /// (PHAsset.fetchKeyAssets).
  ///
  /// The first asset stands in where the options leave the cover out. A result of the cover goes on to show that asset
  /// when another one is chosen: observe ``PhotoCollection/cover`` to be notified.
  /// - Returns: nil for a transient collection (FR-16) and for a folder.
  /// - Throws: as ``fetchAssets(_:in:)``.
  /// - Complexity: as ``fetchAssets(_:in:)``.
  public func fetchKeyAssets(
    in collection: PhotoCollection, _ options: FetchOptions = FetchOptions()
  ) throws -> FetchResult<Asset>? {
    guard !collection.isTransient, collection.canContainAssets else { return nil }
    var options = options
    options.fetchLimit = 1
    if let cover = try self.collection(collection.localIdentifier)?.cover {
      let chosen = try fetchAssets(withLocalIdentifiers: [cover.uuidString], options)
      if chosen.count > 0 { return chosen }
    }
    return try fetchAssets(options, in: collection)
  }

  /// Fetches the assets with the given identifiers, in the order of addition unless the options sort.
  ///
  /// Unknown identifiers are left out, and hidden assets unless the options include them. An identifier that is unknown
  /// at the time of the fetch stays out: an asset that gets it later, such as by an undo of a purge or by an imported
  /// log, is found by another fetch.
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
      try details(of: asset, t).resources
    }
  }

  /// The words about an asset, as of the value's commit (PHAssetExtendedMetadata, FR-19).
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(log n), and one read for each later event that touched the asset.
  public func extendedMetadata(of asset: Asset) throws -> ExtendedMetadata {
    try store.reading { t in ExtendedMetadata(try details(of: asset, t)) }
  }

  /// The details of an asset that the client saw at the value's commit; empty ones otherwise.
  func details(of asset: Asset, _ t: borrowing StoreReading) throws -> AssetDetails {
    try details(of: asset, at: try store.sequence(ofCommit: asset.commit, t), t)
  }

  /// The details of an asset that the client saw after an event; empty ones otherwise.
  func details(of asset: Asset, at sequence: UInt64, _ t: borrowing StoreReading) throws -> AssetDetails {
    guard try store.shows(asset.row.number, to: try permission(t).access, at: sequence, t) else {
      return AssetDetails()
    }
    return try store.assetDetails(asset.row.number, at: sequence, t) ?? AssetDetails()
  }

  /// The assets that have a resource with the given content, oldest first, those in the trash included.
  /// - Parameter sha256: 32 bytes.
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(m log n) for m assets found.
  public func assets(withContent sha256: [UInt8]) throws -> [Asset] {
    requireCorrectUse(sha256.count == 32, "A SHA-256 has 32 bytes.")
    return try seen { t in try store.assets(withContent: sha256, at: moment, t) }
  }

  /// The oldest asset with a resource of each of some contents, one in the trash only if all of them are; nil where
  /// there is none.
  /// - Parameter contents: the SHA-256 of each.
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(m log n) for m contents, in one state of the library.
  package func firstAssets(withContents contents: [[UInt8]]) throws -> [ContentHolder?] {
    try askIfNeeded()
    return try store.reading { t in
      let access = try permission(t).access
      var found: [ContentHolder?] = []
      found.reserveCapacity(contents.count)
      for sha256 in contents {
        precondition(sha256.count == 32, "A SHA-256 has 32 bytes.")
        var first: ContentHolder?
        for number in try store.assets(withContent: sha256, at: moment, t)
        where try store.shows(number, to: access, at: sequence, t) {
          guard let row = try store.assetRow(number, at: sequence, t) else { continue }
          let isTrashed = row.trashedDate != nil
          if first == nil || !isTrashed { first = ContentHolder(asset: row.identifier, isTrashed: isTrashed) }
          if !isTrashed { break }
        }
        found.append(first)
      }
      return found
    }
  }

  /// The assets that have a resource with the given SHA-1, oldest first, those in the trash included.
  ///
  /// What was recorded before SHA-1 was kept is not found.
  /// - Parameter sha1: 20 bytes.
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(m log n) for m assets found.
  public func assets(withSHA1 sha1: [UInt8]) throws -> [Asset] {
    requireCorrectUse(sha1.count == 20, "A SHA-1 has 20 bytes.")
    return try seen { t in try store.assets(withSHA1: sha1, at: moment, t) }
  }

  /// The assets of numbers that the client may see, by the state that the view shows.
  private func seen(_ find: (borrowing StoreReading) throws -> [ObjectNumber]) throws -> [Asset] {
    try askIfNeeded()
    return try store.reading { t in
      let commit = try moment?.commit ?? store.core.log.head(t).commit
      let access = try permission(t).access
      return try find(t).compactMap { number in
        guard try store.shows(number, to: access, at: sequence, t) else { return nil }
        return try store.assetRow(number, at: sequence, t).map { Asset(row: $0, seenBy: access, commit: commit) }
      }
    }
  }

  /// The last event of the state that the view shows.
  package var sequence: UInt64 { moment?.sequence ?? LibraryStore.now }

  /// The assets that have a resource with a content identifier, oldest first, those in the trash included.
  ///
  /// The halves of a Live Photo share one (LP-01); an importer finds the half that came earlier by it.
  /// - Parameter identifier: as the camera wrote it.
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(m log n) for m assets found.
  public func assets(withContentIdentifier identifier: String) throws -> [Asset] {
    try seen { t in try store.assets(withContentIdentifier: identifier, at: moment, t) }
  }

  // MARK: Collections

  /// Fetches albums and folders in the order of their making, wherever they hang (FR-12).
  /// - Throws: ``FetchError`` for options that do not fit collections (FR-09), ``LibraryError`` if the store cannot be
  ///   read.
  /// - Complexity: O(n log n) in the collections of the library; O(1) while an equal query is followed.
  public func fetchCollections(_ options: FetchOptions = FetchOptions()) throws -> FetchResult<PhotoCollection> {
    try fetch(.collection, .library, options, .collection)
  }

  /// Fetches albums of a kind, wherever they hang: `album` or `smartAlbum` (PHAssetCollection.fetchAssetCollections).
  ///
  /// The library's own smart albums come after the ones that people made.
  /// - Parameters:
  ///   - kind: the kind; folders are fetched in the same way.
  ///   - subtype: which of them; nil: any.
  ///   - options: which of those, and in what order.
  /// - Throws: ``FetchError`` for options that do not fit collections (FR-09), ``LibraryError`` if the store cannot be
  ///   read.
  /// - Complexity: O(n log n) in the collections of the library; O(1) while an equal query is followed.
  public func fetchCollections(
    with kind: PhotoCollection.Kind, subtype: AlbumSubtype? = nil, _ options: FetchOptions = FetchOptions()
  ) throws -> FetchResult<PhotoCollection> {
    var options = options
    var parts: [Condition] = [.comparison(.kind, .equal, .integer(Int64(kind.rawValue))), options.condition]
    if let subtype { parts.append(.comparison(.albumSubtype, .equal, .integer(Int64(subtype.rawValue)))) }
    options.condition = .and(parts)
    return try fetch(.collection, .library, options, .collection, includingBuiltIn: kind == .smartAlbum)
  }

  /// Fetches the children of a folder in their manual order; nil is the top level (FR-13).
  /// - Throws: ``FetchError`` for options that do not fit collections (FR-09), ``LibraryError`` if the store cannot be
  ///   read.
  /// - Complexity: O(m log n) for m children; O(1) while an equal query is followed.
  public func fetchCollections(
    in folder: PhotoCollection?, _ options: FetchOptions = FetchOptions()
  ) throws -> FetchResult<PhotoCollection> {
    if let content = folder?.transientContent {
      return try fetch(.collection, .listed(content.placed), options, .collection, includingBuiltIn: true)
    }
    return try fetch(.collection, .members(of: folder?.row.number ?? rootFolder), options, .collection)
  }

  /// Fetches the children of the one root folder, which cannot be renamed, deleted or moved itself
  /// (PHCollectionList.fetchTopLevelUserCollections(with:), FR-13).
  /// - Throws: ``FetchError`` for options that do not fit collections (FR-09), ``LibraryError`` if the store cannot be
  ///   read.
  /// - Complexity: O(m log n) for m children; O(1) while an equal query is followed.
  public func fetchTopLevelUserCollections(
    _ options: FetchOptions = FetchOptions()
  ) throws -> FetchResult<PhotoCollection> {
    try fetchCollections(in: nil, options)
  }

  /// Fetches the albums and folders with the given identifiers; those that are unknown at the time of the fetch are
  /// left out, also when they are created later.
  /// - Throws: ``FetchError`` for options that do not fit collections (FR-09), ``LibraryError`` if the store cannot be
  ///   read.
  /// - Complexity: O(m log n) for m identifiers.
  public func fetchCollections(
    withLocalIdentifiers identifiers: [String], _ options: FetchOptions = FetchOptions()
  ) throws -> FetchResult<PhotoCollection> {
    try fetch(.collection, .objects(try numbers(of: identifiers)), options, .collection, includingBuiltIn: true)
  }

  /// Fetches the albums that contain an asset, whether or not it is shown there (memberships survive hiding and trash).
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
    return try seen { t in
      guard let object = try store.object(identifier, at: moment, t), object.isAsset else { return [] }
      return [object.number]
    }.first
  }

  /// The album or folder with an identifier; nil if there is none, or if it was deleted.
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(log n).
  public func collection(_ identifier: String) throws -> PhotoCollection? {
    guard let identifier = LocalIdentifier(identifier) else { return nil }
    try askIfNeeded()
    return try store.reading { t in
      guard let object = try store.object(identifier, at: moment, t), !object.isAsset,
        let row = try store.collectionRow(object.number, at: sequence, t), row.deletedDate == nil
      else { return nil }
      let access = try permission(t).access
      guard access.shows(row) else { return nil }
      return PhotoCollection(row: row, seenBy: access, commit: try moment?.commit ?? store.core.log.head(t).commit)
    }
  }

  /// What identifiers name now, and what they named before it was purged: a result is led to earlier states too, and a
  /// purge can be undone.
  private func numbers(of identifiers: [String]) throws -> Set<ObjectNumber> {
    try store.reading { t in
      var numbers: Set<ObjectNumber> = []
      for identifier in identifiers.compactMap({ LocalIdentifier($0) }) {
        if let object = try store.core.projections.object(identifier, in: t) { numbers.insert(object.number) }
        try store.core.projections.forEachTombstone(identifier, in: t) { numbers.insert($0) }
      }
      return numbers
    }
  }

  /// - Parameter isStored: whether the condition is completed by a stored one; the caller's own has been checked then.
  private func fetch<Element>(
    _ entity: Entity, _ scope: Query.Scope, _ options: FetchOptions, _ load: ObjectLoader<Element>,
    includingBuiltIn includesBuiltIn: Bool = false, isStored: Bool = false
  ) throws -> FetchResult<Element> {
    guard options.fetchOffset >= 0, options.fetchLimit >= 0 else {
      throw LibraryError(.unsupportedPredicate, "A fetch offset and a fetch limit must not be negative.")
    }
    try options.condition.check(for: entity, isStored: isStored)
    for term in options.sort { _ = try SortTerm(term.key, ascending: term.ascending, for: entity) }
    var query = Query(entity, scope, where: options.condition, sortedBy: options.sort)
    query.includesHidden = options.includeHiddenAssets || options.showsTrash
    query.includesAllBurst = options.includeAllBurstAssets || options.showsTrash
    query.includesAllStack = options.includeAllStackAssets || options.showsTrash
    query.includesBuiltIn = includesBuiltIn
    query.sources = options.includeAssetSourceTypes
    if query.sources.isEmpty { query.sources = scope == .library ? .userLibrary : .all }
    query.trash = options.showsTrash ? .only : .without
    query.search = try options.searchText()
    let window = Window(offset: options.fetchOffset, limit: options.fetchLimit == 0 ? nil : options.fetchLimit)
    try askIfNeeded()
    return try store.reading { t in
      let permission = try permission(t)
      query = try store.query(query, seeing: permission.access, t)
      let context = try FetchContext(of: permission, store.core, t)
      let isFollowed = options.wantsIncrementalChangeDetails
      if moment == nil {
        let begun = try store.begunState(
          query, window, wantsIncrementalChanges: isFollowed, as: client, by: permission, context, t)
        if let begun { return FetchResult(begun, store: store, load: load) }
      }
      let core = try store.fetch(query, window, wantsIncrementalChanges: isFollowed, as: client, at: moment, context, t)
      let token = try store.core.token(core.commit, for: client, by: permission, t)
      return FetchResult(ResultState(core, token: token, readAt: context.head.commit), store: store, load: load)
    }
  }
}

/// An asset that has a resource with a content.
package struct ContentHolder: Sendable, Hashable {
  /// The asset.
  package let asset: LocalIdentifier
  /// Whether it is in the trash.
  package let isTrashed: Bool

  /// Creates the value.
  package init(asset: LocalIdentifier, isTrashed: Bool) { (self.asset, self.isTrashed) = (asset, isTrashed) }
}
