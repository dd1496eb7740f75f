import PhotoLedger
import Photos
import TestSupport
import Testing

/// A history of random changes, made through PhotoKit's types.
private struct GridHistory {
  var random: SeededGenerator
  let gallery: Gallery
  let album: PHAssetCollection
  var made = 0

  private func everything() -> PHFetchResult<PHAsset> {
    assets {
      $0.includeHiddenAssets = true
      $0.includeAllBurstAssets = true
    }
  }

  private mutating func some(_ count: Int) -> [PHAsset] {
    let all = everything()
    return random.positions(count, of: all.count).map { all.object(at: $0) }
  }

  nonisolated(nonsending) mutating func step() async throws {
    switch random.int(0..<10) {
    case 0, 1: try await insert(random.int(1..<4))
    case 2: try await delete()
    case 3, 4: try await reorder()
    case 5: try await mark()
    case 6, 7: try await arrange()
    case 8: try await everyKind()
    default: try await restore()
    }
  }

  nonisolated(nonsending) mutating func insert(_ count: Int) async throws {
    let creations = (made..<made + count).map { AssetCreation.random($0, &random) }
    made += count
    try await gallery.library.performChanges { block in for creation in creations { block.createAsset(creation) } }
  }

  private nonisolated(nonsending) mutating func delete() async throws {
    let gone = some(random.int(1..<4))
    try await PHPhotoLibrary.shared().performChanges { PHAssetChangeRequest.deleteAssets(gone as NSArray) }
  }

  private nonisolated(nonsending) mutating func restore() async throws {
    var options = FetchOptions()
    options.showsTrash = true
    let trash = try gallery.library.fetchAssets(options).map(\.id)
    let back = random.some(2, of: trash)
    try await gallery.library.performChanges { $0.restoreAssets(back) }
  }

  /// Gives assets other dates, of so few that there are ties.
  private nonisolated(nonsending) mutating func reorder() async throws {
    let edits = some(random.int(1..<5)).map { ($0, Date.drawn(&random)) }
    try await PHPhotoLibrary.shared().performChanges {
      for (asset, date) in edits { PHAssetChangeRequest(for: asset).creationDate = date }
    }
  }

  private nonisolated(nonsending) mutating func mark() async throws {
    let edits = some(random.int(1..<4)).map { ($0, random.chance(1, of: 2), random.chance(1, of: 3)) }
    try await PHPhotoLibrary.shared().performChanges {
      for (asset, isFavorite, isHidden) in edits {
        let request = PHAssetChangeRequest(for: asset)
        request.isFavorite = isFavorite
        request.isHidden = isHidden
      }
    }
  }

  private nonisolated(nonsending) mutating func arrange() async throws {
    let seen = PHAsset.fetchAssets(in: album, options: nil)
    let new = some(random.int(1..<4))
    let place = random.int(0..<seen.count + 1)
    let moved = IndexSet(random.positions(random.int(0..<4), of: seen.count))
    let target = random.int(0..<seen.count - moved.count + 1)
    let kind = random.int(0..<4)
    try await PHPhotoLibrary.shared().performChanges {
      guard let request = PHAssetCollectionChangeRequest(for: self.album, assets: seen) else { return }
      switch kind {
      case 0: request.addAssets(new as NSArray)
      case 1: request.removeAssets(at: moved)
      case 2:
        let strangers = new.filter { !seen.contains($0) }
        request.insertAssets(strangers as NSArray, at: IndexSet(integersIn: place..<place + strangers.count))
      default: request.moveAssets(at: moved, to: target)
      }
    }
  }

  /// An insertion, a deletion and a reordering in one commit.
  private nonisolated(nonsending) mutating func everyKind() async throws {
    let (gone, edited, date) = (some(2), some(2), Date.drawn(&random))
    try await PHPhotoLibrary.shared().performChanges {
      let request = PHAssetCreationRequest.forAsset()
      request.addResource(with: .photo, data: Data("new".utf8), options: nil)
      request.creationDate = date
      for asset in edited where !gone.contains(asset) { PHAssetChangeRequest(for: asset).creationDate = date }
      PHAssetChangeRequest.deleteAssets(gone as NSArray)
    }
  }
}

@Suite("A photo grid")
struct GridProgramTests {
  /// The fetches that grids are made of: ties and a limit, a predicate, an album's own order, kinds and lengths.
  static let fetches: [@Sendable (PHAssetCollection) -> PHFetchResult<PHAsset>] = [
    { _ in assets { $0.sortDescriptors = [NSSortDescriptor(key: "creationDate", ascending: false)] } },
    { _ in
      assets {
        $0.sortDescriptors = [NSSortDescriptor(key: "creationDate", ascending: true)]
        $0.fetchLimit = 7
      }
    },
    { _ in
      assets {
        $0.predicate = NSPredicate(format: "isFavorite == YES OR mediaType == %d", PHAssetMediaType.video.rawValue)
        $0.sortDescriptors = [
          NSSortDescriptor(key: "duration", ascending: false), NSSortDescriptor(key: "creationDate", ascending: true),
        ]
      }
    },
    { PHAsset.fetchAssets(in: $0, options: nil) },
  ]

  @Test(
    "after every change of a random history each grid shows what a new fetch returns (CD-03 to CD-13, CD-18, CD-19)",
    arguments: Language.allCases, 1...(Dose.isFull ? 5 : 2) as ClosedRange<UInt64>)
  @MainActor
  func randomHistories(language: Language, seed: UInt64) async throws {
    let gallery = try Gallery(seed: seed)
    try await gallery.shared {
      var history = GridHistory(
        random: SeededGenerator(seed: seed), gallery: gallery, album: try await album("Arranged"))
      try await history.insert(15)
      let grids = Self.fetches.map { language.grid.init(fetchResult: $0(history.album)) }
      for step in 0..<30 {
        // Now and then several commits come before a grid reads any, so that it lags (OB-02).
        for _ in 0..<(step % 5 == 4 ? 3 : 1) { try await history.step() }
        for (grid, fetch) in zip(grids, Self.fetches) {
          let fresh = lines(fetch(history.album))
          try await waitUntil("a grid shows what is there") { grid.shown == fresh }
        }
      }
      for grid in grids {
        #expect(grid.complaint == nil)
        #expect(grid.reloadCount == 1, "Details are always incremental (CD-16).")
        #expect(grid.batchCount > 5)
        grid.stopObserving()
      }
    }
  }

  @Test("a grid that requests no details reloads (CD-14, CD-15)", arguments: Language.allCases)
  @MainActor
  func reloads(language: Language) async throws {
    let gallery = try Gallery()
    try await gallery.images(0..<3)
    try await gallery.shared {
      let grid = language.grid.init(fetchResult: assets { $0.wantsIncrementalChangeDetails = false })
      try await gallery.images(3..<5)
      let fresh = lines(assets())
      try await waitUntil("the grid was reloaded") { grid.shown == fresh }
      #expect(grid.reloadCount == 2 && grid.batchCount == 0)
    }
  }

  @Test("a full grid with a limit loses its last cell to a new photo (CD-19, FR-05)", arguments: Language.allCases)
  @MainActor
  func limit(language: Language) async throws {
    let gallery = try Gallery()
    let ids = try await gallery.images(0..<6)
    try await gallery.shared {
      let grid = language.grid.init(limit: 4)
      #expect(grid.shown == ids[2...].reversed())
      let new = try await gallery.images(6..<7)
      try await waitUntil("the new photo is first") { grid.shown == new + ids[3...].reversed() }
      #expect(grid.batchCount == 1)
    }
  }

  @Test("a grid that has stopped receives nothing more (OB-04)", arguments: Language.allCases)
  @MainActor
  func stops(language: Language) async throws {
    let gallery = try Gallery()
    try await gallery.images(0..<2)
    try await gallery.shared {
      let (stopped, going) = (language.grid.init(limit: 0), language.grid.init(limit: 0))
      stopped.stopObserving()
      try await gallery.images(2..<3)
      try await waitUntil("the other grid is updated") { going.shown.count == 3 }
      #expect(stopped.shown.count == 2 && stopped.batchCount == 0)
    }
  }
}
