internal import PhotoLedger

/// Where each asset lies in albums, as paths of titles.
struct AlbumPaths {
  private(set) var paths: [LocalIdentifier: [[String]]] = [:]

  init(_ library: PhotoLibrary) throws { try add(of: nil, [], [], library) }

  private mutating func add(
    of folder: PhotoCollection?, _ path: [String], _ above: Set<LocalIdentifier>, _ library: PhotoLibrary
  ) throws {
    var collections: [PhotoCollection] = []
    try library.fetchCollections(in: folder).forEachPiece { collections += $0 }
    var options = FetchOptions()
    options.includeHiddenAssets = true
    options.includeAllBurstAssets = true
    options.includeAllStackAssets = true
    for collection in collections {
      let own = path + [collection.localizedTitle ?? ""]
      switch collection.kind {
      case .folder:
        guard !above.contains(collection.id) else {
          throw LibraryError(
            .corrupted,
            "The store has the folder \(collection.localIdentifier) inside itself; run `verify`, then `rebuild`.")
        }
        try add(of: collection, own, above.union([collection.id]), library)
      case .album:
        let assets = try library.fetchAssets(options, in: collection)
        try assets.forEachPiece { for asset in $0 { paths[asset.id, default: []].append(own) } }
      case .smartAlbum: break
      }
    }
  }
}
