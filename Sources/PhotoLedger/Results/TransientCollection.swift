import Foundation

// Collections that live in memory only (FR-16): a list of objects under a title, which behaves like an album or folder
// when its content is fetched. Nothing of it is stored, no fetch finds it, and it has no key assets. Its content is
// what was put in when it was made, in that order; what is trashed, hidden or no longer the client's to see drops out
// of its fetches as out of any album's.

extension PhotoLibrary {
  /// Makes an album in memory (PHAssetCollection.transientAssetCollection(with:title:)).
  /// - Complexity: O(m) for m assets.
  public func transientAlbum(_ assets: [Asset], title: String?) -> PhotoCollection {
    transient(.album, distinct(assets.map(\.row.number)), title)
  }

  /// Makes an album in memory of a result's assets
  /// (PHAssetCollection.transientAssetCollection(withAssetFetchResult:title:)).
  /// - Complexity: O(m log m) for m assets.
  public func transientAlbum(_ assets: FetchResult<Asset>, title: String?) -> PhotoCollection {
    transient(.album, assets.reading { try assets.core.numbers }, title)
  }

  /// Makes a folder in memory (PHCollectionList.transientCollectionList(with:title:)).
  ///
  /// Transient collections are left out: a result finds its objects in the library, by their numbers.
  /// - Complexity: O(m) for m collections.
  public func transientFolder(_ collections: [PhotoCollection], title: String?) -> PhotoCollection {
    transient(.folder, distinct(collections.filter { !$0.isTransient }.map(\.row.number)), title)
  }

  /// Makes a folder in memory of a result's collections
  /// (PHCollectionList.transientCollectionList(withCollectionsFetchResult:title:)).
  /// - Complexity: O(m log m) for m collections.
  public func transientFolder(_ collections: FetchResult<PhotoCollection>, title: String?) -> PhotoCollection {
    transient(.folder, collections.reading { try collections.core.numbers }, title)
  }

  private func transient(_ kind: PhotoCollection.Kind, _ content: [ObjectNumber], _ title: String?) -> PhotoCollection {
    var row = CollectionRow(
      number: 0, identifier: store.libraryEnvironment.identifier(), kind: kind, title: title,
      date: store.libraryEnvironment.date())
    if kind == .album { row.assetCount = content.count }
    return PhotoCollection(inMemory: row, holding: content)
  }
}

extension [ObjectNumber] {
  /// The objects with a place each, in their order.
  var placed: [ObjectNumber: OrderKey] {
    guard !isEmpty, let keys = OrderKey.between(nil, nil, count: count) else { return [:] }
    return Dictionary(zip(self, keys)) { first, _ in first }
  }
}

extension PhotoCollection {
  /// Where the assets of an album are looked for.
  var assetScope: Query.Scope {
    if let transientContent { return .listed(transientContent.placed) }
    return row.kind == .smartAlbum ? .library : .members(of: row.number)
  }

  /// Whether the assets of the collection depend on the day: its query has a limit in days.
  package var countsDays: Bool { row.query?.addedWithinDays != nil }

  /// The options of a fetch in an album, with what a smart album's query adds (AL-07).
  func completed(_ options: FetchOptions, at date: Date) throws -> FetchOptions {
    guard let query = row.query else { return options }
    var options = options
    options.condition = .and([try query.condition(at: date), options.condition])
    if options.sort.isEmpty { options.sort = try query.terms() }
    if query.includesHidden { options.includeHiddenAssets = true }
    return options
  }
}
