import PhotoLedger
import Photos
import TestSupport
import Testing

/// A change that is asked about what another library, or another client, has fetched.
@Suite("Changes and results of other clients")
struct ForeignResultTests {
  private final class CoreKeeper: PhotoLibraryChangeObserver {
    let changes = Gathered<LibraryChange>()
    func photoLibraryDidChange(_ change: LibraryChange) { changes.append(change) }
  }

  private func albums(of asset: PHAsset) -> [String] {
    PHAssetCollection.fetchAssetCollectionsContaining(asset, with: .album, options: nil).titles
  }

  @Test("a result stays with the client that fetched it; another's object has no details (AU-04)")
  func otherClient() async throws {
    let few = "com.example.few"
    let gallery = try Gallery()
    let ids = try await gallery.images(0..<3)
    try await gallery.client(.limited, [ids[1]], named: few)
    try await gallery.shared {
      _ = try await album("Secret wedding", [try asset(ids[1])])
      let (keeper, mine, held) = (keeper(), assets(), try asset(ids[1]))
      let (theirKeeper, theirs) = PHPhotoLibrary.withClient(named: few) { (PhotosTests.keeper(), assets()) }
      #expect(theirs.names == [ids[1]] && albums(of: theirs[0]).isEmpty)
      let change = try await keeper.told {
        PHAssetChangeRequest(for: held).creationDate = Date(timeIntervalSince1970: 7)
      }
      let details = try #require(change.changeDetails(for: theirs))
      #expect(details.changedIndexes == [0] && details.fetchResultAfterChanges.names == [ids[1]])
      #expect(albums(of: details.fetchResultAfterChanges[0]).isEmpty, "The result turned into the observer's.")
      #expect(change.changeDetails(for: theirs[0]) == nil)
      let own = try #require(change.changeDetails(for: held))
      #expect(own.objectAfterChanges.map(albums) == ["Secret wedding"])

      try await waitUntil("the limited client's observer is called") { theirKeeper.all.count == 1 }
      let other = try #require(theirKeeper.all[0].changeDetails(for: mine)?.fetchResultAfterChanges)
      #expect(other.count == 3 && Set(other.objects(at: [0, 1, 2]).flatMap(albums)) == ["Secret wedding"])
      #expect(theirKeeper.all[0].changeDetails(for: mine[1]) == nil)
      #expect(theirKeeper.all[0].changeDetails(for: theirs[0])?.objectAfterChanges != nil)
    }
  }

  @Test("a change is not applied to a result or an object of another library (CD-01)")
  func otherLibrary() async throws {
    let (one, other) = (try Gallery(), try Gallery(seed: 2))
    let core = CoreKeeper()
    let change = try await one.shared {
      try await one.images(0..<6)
      try one.library.register(core)
      let keeper = keeper()
      return try await keeper.told { PHAssetChangeRequest.deleteAssets(assets().objects(at: [3, 4]) as NSArray) }
    }
    try await waitUntil("the core's observer is called") { core.changes.all.count == 1 }
    // Its last commit has the number of the one before the change.
    try await other.images(0..<6)
    try await other.shared {
      let held = assets()
      #expect(change.changeDetails(for: held) == nil && change.changeDetails(for: held[3]) == nil)
      let albums = PHAssetCollection.fetchAssetCollections(with: .album, subtype: .any, options: nil)
      #expect(change.changeDetails(for: albums) == nil)
    }
    let result = try other.library.fetchAssets()
    let error = #expect(throws: LibraryError.self) { _ = try core.changes.all[0].changeDetails(for: result) }
    #expect(error?.code == .invalidToken)
    #expect(try core.changes.all[0].changeDetails(for: one.library.fetchAssets()) == nil, "It is the newer one.")
  }

  private func topLevel(of gallery: Gallery, withAlbum title: String) async throws -> PHFetchResult<PHCollection> {
    try await gallery.shared {
      _ = try await album(title)
      return PHCollection.fetchTopLevelUserCollections(with: nil)
    }
  }

  @Test("results of two libraries are compared by their objects (CD-20)")
  func twoLibraries() async throws {
    let (one, other) = (try Gallery(), try Gallery(seed: 2))
    try await one.images(0..<2)
    let names = try await other.images(0..<3)
    let before = try await one.shared { assets() }
    let after = try await other.shared { assets() }
    let details = PHFetchResultChangeDetails(from: before, to: after, changedObjects: [])
    #expect(details.removedIndexes == [0, 1] && details.insertedIndexes == [0, 1, 2] && !details.hasMoves)
    #expect(details.insertedObjects.map(\.localIdentifier) == names && details.changedIndexes == [])
    let (land, sea) = (
      try await topLevel(of: one, withAlbum: "Land"), try await topLevel(of: other, withAlbum: "Sea")
    )
    let collections = PHFetchResultChangeDetails(from: land, to: sea, changedObjects: [])
    #expect(collections.removedObjects.map(\.localizedTitle) == ["Land"])
    #expect(collections.insertedObjects.map(\.localizedTitle) == ["Sea"])
  }

  /// An asset and an album of a library that is no longer at its place.
  private func objects(ofLibraryRemovedFrom folder: TemporaryFolder) async throws -> (PHAsset, PHAssetCollection) {
    let gallery = try Gallery(in: folder)
    let names = try await gallery.images(0..<1)
    let held = try await gallery.shared { try asset(names[0]) }
    let old = try await gallery.shared { try await album("Old", [held]) }
    gallery.library.close()
    try FileManager.default.removeItem(at: gallery.library.url)
    return (held, old)
  }

  @Test("a transient collection leaves out what an earlier library at the same place held (FR-16)")
  func earlierLibrary() async throws {
    let folder = try TemporaryFolder()
    let (oldAsset, oldAlbum) = try await objects(ofLibraryRemovedFrom: folder)
    let gallery = try Gallery(seed: 2, in: folder)
    let names = try await gallery.images(0..<3)
    try await gallery.shared {
      let new = try await album("New")
      let mixed = PHAssetCollection.transientAssetCollection(with: [try asset(names[1]), oldAsset], title: nil)
      #expect(PHAsset.fetchAssets(in: mixed, options: nil).names == [names[1]])
      let list = PHCollectionList.transientCollectionList(with: [new, oldAlbum], title: nil)
      #expect(PHCollection.fetchCollections(in: list, options: nil).titles == ["New"])
    }
  }
}
