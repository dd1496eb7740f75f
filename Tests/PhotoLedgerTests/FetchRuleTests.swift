import Foundation
import PhotoLedger
import TestSupport
import Testing

@Suite("Fetching")
struct FetchRuleTests {
  @Test("a result never changes, and its objects are as they were at its commit (FR-01)")
  func pinned() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(4)
    let album = try await small.album("Sea", a)
    let result = try small.library.fetchAssets(FetchOptions(), in: album)
    let albums = try small.library.fetchCollections()
    let held = try small.asset(a[0])
    try await small.change { block in
      block.setFavorite(true, for: [a[0]])
      block.album(album.id).move(at: [0], to: 3)
      block.setTitle("Lake", of: album.id)
      block.deleteAssets([a[1], a[2]])
    }
    try await small.change { $0.purgeAssets([a[1]]) }
    #expect(result.map(\.id) == a)
    #expect(result.map(\.isFavorite) == [false, false, false, false])
    #expect(result.map(\.isTrashed) == [false, false, false, false])
    #expect(try result.index(ofObject: held) == 0)
    #expect(albums[0].localizedTitle == "Sea" && albums[0].estimatedAssetCount == 4)
    #expect(!held.isFavorite, "a value that was fetched stays as it is (CB-05)")
    #expect(try small.library.resources(of: held).count == 1)
  }

  @Test("a position past the end traps (FR-02)")
  func pastTheEnd() async throws {
    await #expect(processExitsWith: .failure) {
      let temporary = try TemporaryLibrary()
      let result = try temporary.library.fetchAssets()
      _ = try result.object(at: 0)
    }
  }

  @Test("objects keep the order of the indexes; first, last and index are nil without an object (FR-02, FR-03)")
  func access() async throws {
    let small = try SmallLibrary()
    let none = try small.library.fetchAssets()
    #expect(none.firstObject == nil && none.lastObject == nil && none.isEmpty)
    let a = try await small.assets(5)
    let result = try small.library.fetchAssets()
    #expect(try result.objects(at: [1, 3]).map(\.id) == [a[1], a[3]])
    #expect(result.firstObject?.id == a[0] && result.lastObject?.id == a[4])
    let stranger = try small.asset(try await small.assets(1)[0])
    #expect(try result.index(ofObject: stranger) == nil)
    let member = try small.asset(a[2])
    #expect(!result.contains(stranger) && result.contains(member))
  }

  @Test("an object is found in a range of positions that has it, and a collection as an asset is (FR-03)")
  func ranges() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(5)
    let result = try small.library.fetchAssets()
    let member = try small.asset(a[2])
    #expect(try result.index(ofObject: member, in: 2..<4) == 2)
    #expect(try result.index(ofObject: member, in: 0..<2) == nil)
    let sea = try await small.album("Sea")
    let albums = try small.library.fetchCollections(with: .album)
    let later = try await small.album("Lake")
    #expect(albums.contains(sea) && !albums.contains(later))
    #expect(try albums.index(ofObject: sea, in: 0..<1) == 0)
    #expect(try albums.index(ofObject: sea, in: 1..<1) == nil)
  }

  @Test("a limit is applied after filter and order; 0 means no limit (FR-05)")
  func limits() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(5)
    try await small.change { $0.setFavorite(true, for: [a[0], a[2], a[4]]) }
    var options = FetchOptions()
    options.condition = .isTrue(.isFavorite)
    options.sort = [try SortTerm("creationDate:desc", for: .asset)]
    #expect(try small.library.fetchAssets(options).count == 3)
    options.fetchLimit = 2
    #expect(try small.library.fetchAssets(options).map(\.id) == [a[4], a[2]])
    options.fetchOffset = 1
    #expect(try small.library.fetchAssets(options).map(\.id) == [a[2], a[0]])
    options.fetchOffset = 7
    #expect(try small.library.fetchAssets(options).isEmpty)
    options.fetchLimit = -1
    #expect(throws: LibraryError.self) { try small.library.fetchAssets(options) }
  }

  @Test("hidden assets are left out unless asked for (FR-06)")
  func hidden() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(3)
    let album = try await small.album("Sea", a)
    try await small.change { $0.setHidden(true, for: [a[1]]) }
    var options = FetchOptions()
    let names = a.map { $0.uuidString + "/L0/001" }
    #expect(try small.library.fetchAssets(options).map(\.id) == [a[0], a[2]])
    #expect(try small.library.fetchAssets(options, in: album).map(\.id) == [a[0], a[2]])
    #expect(try small.library.fetchAssets(withLocalIdentifiers: names, options).map(\.id) == [a[0], a[2]])
    options.includeHiddenAssets = true
    #expect(try small.library.fetchAssets(options).map(\.id) == a)
    #expect(try small.library.fetchAssets(options, in: album).map(\.id) == a)
    #expect(try small.library.fetchAssets(withLocalIdentifiers: names.reversed(), options).map(\.id) == a)
  }

  @Test(
    "without an order the library comes oldest added first, an album in its own, collections as made (FR-11, FR-12)")
  func naturalOrder() async throws {
    let small = try SmallLibrary()
    var dates: [LocalIdentifier] = []
    for seed in [3, 1, 2] {
      try await small.change { block in
        dates.append(block.createAsset(.invented(seed, date: Date(timeIntervalSince1970: Double(seed)))))
      }
    }
    #expect(try small.library.fetchAssets().map(\.id) == dates)
    let album = try await small.album("B", [dates[2], dates[0], dates[1]])
    #expect(try small.members(album) == [dates[2], dates[0], dates[1]])
    let folder = try await small.folder("A", [album.id])
    #expect(try small.library.fetchCollections().map(\.id) == [album.id, folder.id])
  }

  @Test("a sort with ties falls back to the order of addition, in both directions")
  func ties() async throws {
    let small = try SmallLibrary()
    var ids: [LocalIdentifier] = []
    try await small.change { block in
      ids = (0..<6).map { block.createAsset(.invented($0, date: Date(timeIntervalSince1970: Double($0 % 2)))) }
    }
    let descending = try small.library.fetchAssets(sortedBy: [SortDescriptor(\.creationDate, order: .reverse)])
    #expect(descending.map(\.id) == [1, 3, 5, 0, 2, 4].map { ids[$0] })
    let ascending = try small.library.fetchAssets(sortedBy: [SortDescriptor(\.creationDate)])
    #expect(ascending.map(\.id) == [0, 2, 4, 1, 3, 5].map { ids[$0] })
  }

  @Test("the top level is the children of the root folder (FR-13)")
  func topLevel() async throws {
    let small = try SmallLibrary()
    let album = try await small.album()
    let folder = try await small.folder("F", [album.id])
    #expect(try small.children(nil) == [folder.id])
    #expect(try small.library.fetchCollections(containing: folder).isEmpty, "the root itself is never shown")
  }

  @Test("assets of a media type are counted as of the result's commit, and albums are not assets (FR-04)")
  func mediaTypes() async throws {
    let small = try SmallLibrary()
    var ids: [LocalIdentifier] = []
    try await small.change { block in
      ids = [MediaType.image, .video, .image, .audio, .video, .video].enumerated().map { index, type in
        block.createAsset(.invented(index, date: Date(timeIntervalSince1970: Double(index)), type))
      }
    }
    let album = try await small.album("Sea", [ids[0], ids[1]])
    let all = try small.library.fetchAssets()
    let last = try small.library.fetchAssets(sortedBy: [SortDescriptor(\.creationDate, order: .reverse)], limit: 3)
    let members = try small.library.fetchAssets(FetchOptions(), in: album)
    let asked = try small.library.fetchAssets()
    func counts(_ result: FetchResult<Asset>) throws -> [Int] {
      try [.unknown, .image, .video, .audio].map { try result.countOfAssets(with: $0) }
    }
    #expect(try counts(asked) == [0, 2, 3, 1])
    try await small.change { block in
      block.deleteAssets([ids[1]])
      block.createAsset(.invented(9, .image))
      // A still joins the video ids[4], which becomes the moving half of a photo.
      var still = AssetChanges()
      (still.mediaType, still.duration) = (.image, 0)
      block.addResources(
        [.stored(.invented(10, .photo))], to: ids[4], changing: still, retyping: [.video: .pairedVideo])
    }
    try await small.change { $0.purgeAssets([ids[1]]) }
    #expect(try counts(all) == [0, 2, 3, 1], "an older result is counted as it was")
    #expect(try counts(asked) == [0, 2, 3, 1])
    #expect(try counts(last) == [0, 0, 2, 1])
    #expect(try counts(members) == [0, 1, 1, 0])
    #expect(try counts(try small.library.fetchAssets()) == [0, 4, 1, 1])
    #expect(try small.library.fetchCollections().countOfAssets(with: .image) == 0)
  }

  @Test("the media types of a result are counted once, for all copies of it (FR-04)")
  func countedOnce() async throws {
    let small = try SmallLibrary()
    _ = try await small.assets(2000)
    let result = try small.library.fetchAssets()
    let copy = result
    #expect(copy.mediaTypeCounts === result.mediaTypeCounts)
    #expect(try result.countOfAssets(with: .image) == 2000)
    let known = copy.mediaTypeCounts.value {
      Issue.record("It was counted again.")
      return [:]
    }
    #expect(known == [.image: 2000])
  }
}
