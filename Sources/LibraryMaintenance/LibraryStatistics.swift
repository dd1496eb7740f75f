import EventLog
import LMDB
public import PhotoLedger

/// What a library holds and how its store stands.
public struct LibraryStatistics: Sendable, Hashable {
  /// Assets outside the trash, by media type; hidden ones are counted.
  public internal(set) var assetCounts: [MediaType: Int] = [:]
  /// Favourites outside the trash.
  public internal(set) var favoriteCount = 0
  /// Hidden assets outside the trash.
  public internal(set) var hiddenCount = 0
  /// Assets in the trash.
  public internal(set) var trashedCount = 0
  /// Albums.
  public internal(set) var albumCount = 0
  /// Folders, the root not counted.
  public internal(set) var folderCount = 0
  /// How many smart albums people made.
  public internal(set) var smartAlbumCount = 0
  /// Resources of all assets, and how many bytes they have.
  public internal(set) var resourceCount = 0
  /// The bytes of all resources, each counted once for each asset that names it.
  public internal(set) var resourceBytes: UInt64 = 0
  /// Events in the log.
  public internal(set) var eventCount: UInt64 = 0
  /// Commits in the log.
  public internal(set) var commitCount: UInt64 = 0
  /// Quarantined events, which could not be applied by a rebuild.
  public internal(set) var quarantinedCount = 0
  /// The state of now.
  public internal(set) var token: Token
  /// The chain hash at the head, in hexadecimal digits.
  public internal(set) var chain: String
  /// What is promised of a commit: `durable` or `lastCommitMayBeLost`.
  public internal(set) var durability: String
  /// The bytes of the store's file that are in use.
  public internal(set) var storeBytes: Int
  /// The bytes of the store's file that wait for reuse.
  public internal(set) var storeFreeBytes: Int
  /// The bytes to which the store's file may grow before its map is enlarged.
  public internal(set) var mapBytes: Int
  /// Reader slots in use, in all processes.
  public internal(set) var readerCount: Int
  /// How many LMDB transactions the oldest reader is behind: pages since then cannot be reused.
  public internal(set) var oldestReaderLag: UInt64
}

extension PhotoLibrary {
  /// The statistics of the library, or of the view's state; those of the store are always current.
  /// - Throws: ``LibraryError`` if the store cannot be read, `.accessUserDenied` for a client without full access.
  /// - Complexity: O(n) in assets.
  public func statistics() throws -> LibraryStatistics {
    let core = store.core
    try askIfNeeded()
    return try store.reading { t in
      try checkMaySeeFigures(t)
      let head = try store.head(at: moment, t)
      let figures = try core.figures(t)
      var statistics = LibraryStatistics(
        token: core.token(head.commit), chain: head.chain.description,
        durability: "\(core.environment.options.durability)",
        storeBytes: figures.usedBytes, storeFreeBytes: figures.freeBytes, mapBytes: figures.mapBytes,
        readerCount: figures.readerCount, oldestReaderLag: figures.oldestReaderLag)
      statistics.eventCount = head.sequence
      statistics.commitCount = head.commit
      statistics.quarantinedCount = figures.quarantinedCount
      try store.forEachAsset(at: moment, t) { row in
        statistics.count(row)
      } changed: { row in
        statistics.count(row)
      }
      try store.forEachDetails(at: moment, t) { details in
        for resource in details.resources {
          statistics.resourceCount += 1
          statistics.resourceBytes += resource.dataSize
        }
      }
      try store.forEachCollection(at: moment, t) { statistics.count($0) }
      return statistics
    }
  }
}

extension LibraryStatistics {
  fileprivate mutating func count(_ row: some AssetBytes) {
    guard !row.isTrashed else {
      trashedCount += 1
      return
    }
    // A view is created only from valid bytes, so there is no other kind.
    let type = MediaType(rawValue: Int(row.byte(AssetRow.Layout.mediaType))) ?? .unknown
    assetCounts[type, default: 0] += 1
    if row.flags.contains(.favorite) { favoriteCount += 1 }
    if row.flags.contains(.hidden) { hiddenCount += 1 }
  }

  fileprivate mutating func count(_ row: CollectionRow) {
    guard row.number != rootFolder, row.deletedDate == nil, !row.isBuiltIn else { return }
    switch row.kind {
    case .album: albumCount += 1
    case .smartAlbum: smartAlbumCount += 1
    case .folder: folderCount += 1
    }
  }
}
