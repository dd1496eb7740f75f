import Foundation
@testable import PhotoLedger
import TestSupport
import Testing

@Suite("Smart albums")
struct SmartAlbumRuleTests {
  struct Kind: Sendable, CustomTestStringConvertible {
    let subtype: AlbumSubtype
    let mediaType: MediaType
    let set: @Sendable (inout AssetCreation) -> Void
    var testDescription: String { "\(subtype.rawValue)" }

    init(
      _ subtype: AlbumSubtype, _ mediaType: MediaType = .image,
      _ set: @escaping @Sendable (inout AssetCreation) -> Void
    ) {
      (self.subtype, self.mediaType, self.set) = (subtype, mediaType, set)
    }

    static func bits(_ subtype: AlbumSubtype, _ bits: MediaSubtypes, _ mediaType: MediaType = .image) -> Kind {
      Kind(subtype, mediaType) { $0.mediaSubtypes = bits }
    }
  }

  static let kinds: [Kind] = [
    .bits(.smartAlbumPanoramas, [.photoPanorama, .photoHDR]), .bits(.smartAlbumVideos, [], .video),
    Kind(.smartAlbumFavorites) { $0.isFavorite = true },
    .bits(.smartAlbumTimelapses, .videoTimelapse, .video), Kind(.smartAlbumAllHidden) { $0.isHidden = true },
    Kind(.smartAlbumBursts) { $0.burstIdentifier = "b" },
    .bits(.smartAlbumSlomoVideos, .videoHighFrameRate, .video),
    Kind(.smartAlbumSelfPortraits) { $0.isSelfPortrait = true },
    .bits(.smartAlbumScreenshots, .photoScreenshot), .bits(.smartAlbumDepthEffect, .photoDepthEffect),
    .bits(.smartAlbumLivePhotos, .photoLive), .bits(.smartAlbumAnimated, .photoAnimation),
    Kind(.smartAlbumAnimated) { $0.playbackVariation = .autoloop },
    Kind(.smartAlbumLongExposures) { $0.playbackVariation = .longExposure },
    Kind(.smartAlbumRAW) { creation in
      var raw = AssetResource.invented(7)
      raw.uniformTypeIdentifier = "com.adobe.raw-image"
      creation.resources = [.stored(raw)]
    },
    .bits(.smartAlbumCinematic, .videoCinematic, .video), .bits(.smartAlbumSpatial, .spatialMedia),
    .bits(.smartAlbumScreenRecordings, .videoScreenRecording, .video),
  ]

  @Test("a subtype is found by its name, which is its number where PhotoKit has no name")
  func subtypeNames() {
    #expect(AlbumSubtype.named.map(\.rawValue) == [2] + Array(200...215) + Array(217...220))
    for subtype in AlbumSubtype.named {
      #expect(AlbumSubtype(name: subtype.name) == subtype && !subtype.name.hasPrefix("subtype"))
    }
    for value in [-1, 0, 1, 3, 100, 199, 216, 221, 255, 256, 1_000_000] {
      #expect(AlbumSubtype(rawValue: value).name == "subtype\(value)")
    }
    #expect(AlbumSubtype.smartAlbumRAW.name == "smartAlbumRAW" && AlbumSubtype(name: "subtype216") == nil)
  }

  @Test("a smart album holds what its subtype says, and nothing else (AL-07)", arguments: kinds)
  func membership(_ kind: Kind) async throws {
    let small = try SmallLibrary()
    _ = try await small.assets(2)
    var creation = AssetCreation.invented(40, kind.mediaType)
    kind.set(&creation)
    var made: LocalIdentifier?
    try await small.change { made = $0.createAsset(creation) }
    #expect(try small.smartMembers(kind.subtype) == [try #require(made)])
    let album = try #require(try small.library.fetchCollections(with: .smartAlbum, subtype: kind.subtype).firstObject)
    #expect(album.albumSubtype == kind.subtype && album.estimatedAssetCount == NSNotFound)
  }

  @Test("every subtype that a library without a cloud can have exists, with one permanent identity (AL-07)")
  func builtIn() async throws {
    let small = try SmallLibrary()
    let albums = try small.library.fetchCollections(with: .smartAlbum)
    let expected = Array(201...215) + Array(217...220)
    #expect(albums.compactMap(\.albumSubtype?.rawValue).sorted() == expected)
    let again = try small.library.fetchCollections(withLocalIdentifiers: albums.map(\.localIdentifier))
    #expect(again.map(\.id) == albums.map(\.id))
    #expect(try small.library.fetchCollections().isEmpty, "They are no collections that people made.")
    #expect(try small.library.fetchTopLevelUserCollections().isEmpty)
  }

  @Test("the conditions by which the library's own smart albums are stored are those that their formats spell")
  func conditions() throws {
    for album in BuiltInAlbum.all {
      #expect(try Condition(stored: album.query.format) == album.condition.normalized(), "\(album.title)")
    }
  }

  @Test("nothing is added to or removed from a smart album, and the library's own stay (AL-07, CB-10)")
  func refused() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(2)
    let favorites = try #require(
      try small.library.fetchCollections(with: .smartAlbum, subtype: .smartAlbumFavorites).firstObject)
    var own: LocalIdentifier?
    try await small.change { own = $0.createSmartAlbum(title: "Wide", where: .isTrue(.isFavorite)) }
    for id in [favorites.id, try #require(own)] {
      let requests: [(ContentEditor) -> Void] = [
        { $0.add([a[0]]) }, { $0.remove([a[0]]) }, { $0.insert([a[0]], at: 0) }, { $0.move(at: [0], to: 1) },
        { $0.replace(at: [0], with: [a[0]]) }, { $0.remove(at: [0]) },
      ]
      for request in requests {
        #expect(try await small.refusal { request($0.album(id)) } == .changeNotSupported)
      }
    }
    #expect(try await small.refusal { $0.setTitle("x", of: favorites.id) } == .changeNotSupported)
    #expect(try await small.refusal { $0.deleteCollections([favorites.id]) } == .changeNotSupported)
    #expect(try await small.refusal { $0.folder(nil).add([favorites.id]) } == .changeNotSupported)
  }

  @Test("a user's smart album shows what satisfies its query, in its order, live (AL-07, FO-02)")
  func ownQuery() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(4)
    try await small.change { $0.setFavorite(true, for: [a[0], a[2]]) }
    let sort = [try SortTerm("creationDate:desc", for: .asset)]
    var made: LocalIdentifier?
    try await small.change { made = $0.createSmartAlbum(title: "Best", where: .isTrue(.isFavorite), sortedBy: sort) }
    let album = try small.now(made)
    let result = try small.library.fetchAssets(FetchOptions(), in: album)
    #expect(result.map(\.id) == [a[2], a[0]])
    #expect(album.kind == .smartAlbum && album.albumSubtype == .smartAlbumGeneric && album.smartAlbumPredicate != nil)
    let change = try await small.change { $0.setFavorite(true, for: [a[1]]) }
    #expect(try change.changeDetails(for: result)?.insertedIndexes == [1])
    var videos = FetchOptions()
    videos.condition = try Condition(format: "mediaType == 2", for: .asset)
    #expect(try small.library.fetchAssets(videos, in: album).isEmpty, "The caller's condition is one more.")
    let folder = try await small.folder("F", [album.id])
    #expect(try small.children(folder) == [album.id], "Folders hold smart albums too.")
    try await small.change { $0.setTitle("Better", of: album.id) }
    #expect(try small.now(album.id).localizedTitle == "Better")
    let wrong = Condition.comparison(.localizedTitle, .equal, .text("x"))
    await #expect(throws: (any Error).self) {
      try await small.library.performChanges { $0.createSmartAlbum(title: "x", where: wrong) }
    }
    try await small.change { $0.deleteCollections([album.id]) }
    #expect(try small.library.collection(album.localIdentifier) == nil)
  }

  @Test("a condition of more than 65,536 bytes is rejected before it is read")
  func longCondition() async throws {
    let small = try SmallLibrary()
    let names = (0..<9_000).map { PropertyValue.text("IMG_\($0)") }
    await #expect {
      try await small.library.performChanges {
        $0.createSmartAlbum(title: "x", where: .oneOf(.originalFilename, names))
      }
    } throws: { ($0 as? LibraryError)?.code == .limitExceeded }
  }

  @Test("recently added reaches thirty days back from the beginning of the day in UTC, newest first (AL-07)")
  func recentlyAdded() async throws {
    let day = 86_400.0
    // The clock goes on by a day at each look; each block looks once.
    let small = try SmallLibrary(.seeded(3, start: Date(timeIntervalSince1970: 1_750_032_000), step: day / 4))
    var ids: [LocalIdentifier] = []
    for seed in 0..<160 {
      try await small.change { ids.append($0.createAsset(.invented(seed))) }
    }
    let album = try #require(
      try small.library.fetchCollections(with: .smartAlbum, subtype: .smartAlbumRecentlyAdded).firstObject)
    let before = try small.asset(try #require(ids.last)).addedDate
    let shown = try small.library.fetchAssets(FetchOptions(), in: album)
    let after = try small.asset(try #require(ids.last)).addedDate.addingTimeInterval(day)
    let dates = shown.map(\.addedDate)
    #expect(dates == dates.sorted(by: >) && shown.first?.id == ids.last)
    // The fetch looked at the clock within a day of the last addition.
    let bounds = [before, after].map { date in
      Date(timeIntervalSinceReferenceDate: ((date.timeIntervalSinceReferenceDate / day).rounded(.down) - 30) * day)
    }
    let counts = try bounds.map { bound in try ids.count { try small.asset($0).addedDate >= bound } }
    #expect(counts.contains(shown.count) && shown.count < ids.count)
  }
}

@Suite("What collections allow")
struct CollectionOperationTests {
  @Test("the operations that a collection allows succeed; any other fails the block (CB-10, AL-07)")
  func agree() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(3)
    let inner = try await small.album("Inner")
    var own: LocalIdentifier?
    try await small.change { own = $0.createSmartAlbum(title: "Wide", where: .isTrue(.isFavorite)) }
    let collections = [
      try await small.album("Sea", Array(a[..<2])), try await small.folder("Folder", [inner.id]), try small.now(own),
      try #require(try small.library.fetchCollections(with: .smartAlbum, subtype: .smartAlbumVideos).firstObject),
    ]
    for collection in collections {
      for operation in CollectionEditOperation.allCases {
        guard let request = request(operation, on: collection, a[2], inner.id) else { continue }
        let isAllowed = collection.canPerform(operation)
        #expect(try small.library.canPerform(operation, on: collection) == isAllowed)
        // A block that would succeed is given up at its end, so that the next starts from the same state.
        let code = try await small.refusal { block in
          request(block)
          if isAllowed { block.setTitle(String(repeating: "x", count: 5000), of: inner.id) }
        }
        #expect(code == (isAllowed ? .limitExceeded : .changeNotSupported), "\(collection.kind) \(operation)")
      }
    }
  }

  private func request(
    _ operation: CollectionEditOperation, on collection: PhotoCollection, _ asset: LocalIdentifier,
    _ child: LocalIdentifier
  ) -> ((ChangeBlock) -> Void)? {
    let isFolder = collection.kind == .folder
    func editor(_ block: ChangeBlock) -> ContentEditor {
      isFolder ? block.folder(collection.id) : block.album(collection.id)
    }
    switch operation {
    // Deleting what is in it is deleting assets, wherever they are.
    case .deleteContent: return nil
    case .removeContent: return { editor($0).remove([isFolder ? child : asset]) }
    case .addContent: return { editor($0).add([isFolder ? child : asset]) }
    case .createContent:
      return { editor($0).add([isFolder ? $0.createAlbum(title: "new") : $0.createAsset(.invented(90))]) }
    case .rearrangeContent: return { editor($0).move(at: [0], to: 0) }
    case .delete: return { $0.deleteCollections([collection.id]) }
    case .rename: return { $0.setTitle("x", of: collection.id) }
    }
  }

  @Test("the root folder accepts collections in any order, and is not renamed, deleted or moved (FR-13, CB-10)")
  func root() async throws {
    let small = try SmallLibrary()
    let album = try await small.album("Sea")
    let folder = try await small.folder("Folder")
    let mapping = try small.library.cloudIdentifierMappings(forLocalIdentifiers: [album.localIdentifier])
    let library = try #require(try mapping[album.localIdentifier]?.get().stringValue.split(separator: ":").first)
    let root = try #require(try small.library.collection(String(library)))
    #expect(root.folderSubtype == .rootFolder && folder.folderSubtype == .regularFolder)
    let allowed = CollectionEditOperation.allCases.filter { root.canPerform($0) }
    #expect(allowed == [.deleteContent, .addContent, .createContent, .rearrangeContent])
    for name in [root.id, nil] {
      #expect(try await small.refusal { $0.setTitle("x", of: name) } == .changeNotSupported)
    }
    #expect(try await small.refusal { $0.deleteCollections([root.id]) } == .changeNotSupported)
    #expect(try await small.refusal { $0.folder(folder.id).add([root.id]) } == .changeNotSupported)
    #expect(try small.library.fetchTopLevelUserCollections().map(\.id) == [album.id, folder.id])
  }

  @Test("a collection that a client cannot see allows it nothing (CB-10, AU-03)")
  func permitted() async throws {
    let small = try SmallLibrary()
    let album = try await small.album("Sea")
    let app = try await small.ruleClient(.limited)
    let made = try await app.performChanges { $0.createAlbum(title: "Mine") }
    let mine = try #require(try app.collection(made.created[0]))
    for operation in CollectionEditOperation.allCases {
      #expect(try !app.canPerform(operation, on: album) && app.canPerform(operation, on: mine))
      #expect(try small.library.canPerform(operation, on: mine), "The owner may do everything.")
    }
    try await small.change { $0.deleteCollections([mine.id]) }
    #expect(try !app.canPerform(.rename, on: mine))
  }
}

@Suite("Transient collections, counts and dates")
struct TransientCollectionTests {
  @Test("a transient collection shows its list, is found by no fetch and has no key assets (FR-16)")
  func transient() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(4)
    let assets = try [a[3], a[0], a[3], a[1]].map { try small.asset($0) }
    let album = small.library.transientAlbum(assets, title: "Today")
    #expect(album.isTransient && album.localizedTitle == "Today" && album.estimatedAssetCount == 3)
    #expect(try small.members(album) == [a[3], a[0], a[1]])
    #expect(try small.library.fetchKeyAssets(in: album) == nil)
    #expect(try small.library.fetchCollections().isEmpty && small.library.collection(album.localIdentifier) == nil)
    #expect(try await small.refusal { $0.album(album.id).add([a[2]]) } == .identifierNotFound)
    #expect(CollectionEditOperation.allCases.allSatisfy { !album.canPerform($0) })
    let result = try small.library.fetchAssets(FetchOptions(), in: album)
    let change = try await small.change { $0.deleteAssets([a[0]]) }
    #expect(try change.changeDetails(for: result)?.removedIndexes == [1], "It is followed like any other.")
    let stored = try await small.album("Sea", [a[2], a[1]])
    let folder = small.library.transientFolder([stored], title: "Lately")
    #expect(try small.children(folder) == [stored.id])
    #expect(try small.library.fetchKeyAssets(in: stored)?.map(\.id) == [a[2]])
    #expect(try small.library.fetchKeyAssets(in: folder) == nil)
    let all = small.library.transientAlbum(try small.library.fetchAssets(), title: nil)
    #expect(try small.members(all) == [a[1], a[2], a[3]])
  }

  @Test("an album's count equals a fetch in it, exactly; a smart album's is unknown (FR-14)")
  func counts() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(5)
    let album = try await small.album("Sea", a)
    func check() throws {
      let now = try small.now(album.id)
      #expect(try now.estimatedAssetCount == small.members(now).count)
    }
    try check()
    try await small.change { $0.setHidden(true, for: [a[0]]) }
    try check()
    try await small.change { $0.deleteAssets([a[1], a[0]]) }
    try check()
    try await small.change { $0.restoreAssets([a[0]]) }
    try await small.change { $0.setHidden(false, for: [a[0]]) }
    try check()
    try await small.change { $0.album(album.id).remove([a[2]]) }
    try check()
    #expect(try small.now(album.id).estimatedAssetCount == 3)
    let smart = try small.library.fetchCollections(with: .smartAlbum)
    #expect(smart.allSatisfy { $0.estimatedAssetCount == NSNotFound })
  }

  @Test("albums and folders have no start and end dates of their own (FR-15)")
  func dates() async throws {
    let small = try SmallLibrary()
    let album = try await small.album("Sea", try await small.assets(1))
    let folder = try await small.folder("F")
    #expect(album.startDate == nil && album.endDate == nil && folder.startDate == nil && folder.endDate == nil)
    var options = FetchOptions()
    options.condition = try Condition(format: "startDate != nil OR endDate != nil", for: .collection)
    #expect(try small.library.fetchCollections(options).isEmpty)
  }
}
