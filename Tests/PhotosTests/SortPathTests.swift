import PhotoLedger
import Photos
import TestSupport
import Testing

@Suite("Sort descriptors of key paths")
struct SortPathTests {
  /// Each documented key with the key path that names it (a.9), and those that only this library sorts by.
  private static func paths(_ ascending: Bool) -> [(key: String, descriptor: NSSortDescriptor)] {
    [
      ("creationDate", NSSortDescriptor(keyPath: \PHAsset.creationDate, ascending: ascending)),
      ("modificationDate", NSSortDescriptor(keyPath: \PHAsset.modificationDate, ascending: ascending)),
      ("mediaType", NSSortDescriptor(keyPath: \PHAsset.mediaType, ascending: ascending)),
      ("mediaSubtypes", NSSortDescriptor(keyPath: \PHAsset.mediaSubtypes, ascending: ascending)),
      ("duration", NSSortDescriptor(keyPath: \PHAsset.duration, ascending: ascending)),
      ("pixelWidth", NSSortDescriptor(keyPath: \PHAsset.pixelWidth, ascending: ascending)),
      ("pixelHeight", NSSortDescriptor(keyPath: \PHAsset.pixelHeight, ascending: ascending)),
      ("isFavorite", NSSortDescriptor(keyPath: \PHAsset.isFavorite, ascending: ascending)),
      ("isHidden", NSSortDescriptor(keyPath: \PHAsset.isHidden, ascending: ascending)),
      ("burstIdentifier", NSSortDescriptor(keyPath: \PHAsset.burstIdentifier, ascending: ascending)),
      ("addedDate", NSSortDescriptor(keyPath: \PHAsset.addedDate, ascending: ascending)),
      ("rating", NSSortDescriptor(keyPath: \PHAsset.rating, ascending: ascending)),
    ]
  }

  /// The same for albums and folders.
  private static func collectionPaths(_ ascending: Bool) -> [(key: String, descriptor: NSSortDescriptor)] {
    [
      ("localizedTitle", NSSortDescriptor(keyPath: \PHCollection.localizedTitle, ascending: ascending)),
      ("localizedTitle", NSSortDescriptor(keyPath: \PHAssetCollection.localizedTitle, ascending: ascending)),
      ("startDate", NSSortDescriptor(keyPath: \PHAssetCollection.startDate, ascending: ascending)),
      ("endDate", NSSortDescriptor(keyPath: \PHAssetCollection.endDate, ascending: ascending)),
      ("estimatedAssetCount", NSSortDescriptor(keyPath: \PHAssetCollection.estimatedAssetCount, ascending: ascending)),
      ("localizedTitle", NSSortDescriptor(keyPath: \PHCollectionList.localizedTitle, ascending: ascending)),
      ("startDate", NSSortDescriptor(keyPath: \PHCollectionList.startDate, ascending: ascending)),
      ("endDate", NSSortDescriptor(keyPath: \PHCollectionList.endDate, ascending: ascending)),
    ]
  }

  @Test("every documented key can be a key path, optional values too, and sorts as the key does (FR-09, FR-11)")
  func assets() async throws {
    let gallery = try Gallery()
    var random = SeededGenerator(seed: 7)
    for seed in 0..<24 {
      let creation = AssetCreation.random(seed, &random)
      try await gallery.library.performChanges { $0.createAsset(creation) }
    }
    try await gallery.shared {
      for ascending in [true, false] {
        for (key, descriptor) in Self.paths(ascending) {
          #expect(descriptor.key == key && descriptor.ascending == ascending)
          let sorted = { (order: NSSortDescriptor) in
            PhotosTests.assets { options in
              options.includeHiddenAssets = true
              options.includeAllBurstAssets = true
              options.sortDescriptors = [order]
            }
          }
          let found = sorted(descriptor)
          #expect(found.count > 15 && found.names == sorted(NSSortDescriptor(key: key, ascending: ascending)).names)
          let reversed = try #require(descriptor.reversedSortDescriptor as? NSSortDescriptor)
          #expect(sorted(reversed).names == sorted(NSSortDescriptor(key: key, ascending: !ascending)).names)
          let all = (0..<found.count).map { found.object(at: $0) }
          let array = (all as NSArray).sortedArray(using: [descriptor]) as? [PHAsset]
          #expect(array?.map(\.localIdentifier) == found.names, "\(key) orders an array as it does a fetch.")
        }
      }
      let newest = NSSortDescriptor(keyPath: \PHAsset.addedDate, ascending: false)
      let backwards = PhotosTests.assets { $0.sortDescriptors = [newest] }.names
      #expect(backwards == PhotosTests.assets().names.reversed())
    }
  }

  @Test("albums and folders can be sorted by key paths of their own class and of the one above (FR-09, FR-12)")
  func collections() async throws {
    let gallery = try Gallery()
    try await gallery.images(0..<4)
    try await gallery.shared {
      for (title, count) in [("b", 2), ("c", 0), ("a", 4)] {
        _ = try await album(title, PhotosTests.assets().objects(at: IndexSet(0..<count)))
        try await PHPhotoLibrary.shared().performChanges {
          PHCollectionListChangeRequest.creationRequestForCollectionList(withTitle: title.uppercased())
        }
      }
      for ascending in [true, false] {
        for (key, descriptor) in Self.collectionPaths(ascending) {
          let (byPath, byKey) = (PHFetchOptions(), PHFetchOptions())
          byPath.sortDescriptors = [descriptor]
          byKey.sortDescriptors = [NSSortDescriptor(key: key, ascending: ascending)]
          let fetches: [(PHFetchOptions) -> [String]] = [
            { PHCollection.fetchTopLevelUserCollections(with: $0).titles },
            { PHAssetCollection.fetchAssetCollections(with: .album, subtype: .any, options: $0).titles },
            { PHCollectionList.fetchCollectionLists(with: .folder, subtype: .any, options: $0).titles },
          ]
          for fetch in fetches { #expect(fetch(byPath) == fetch(byKey) && fetch(byPath).count >= 3) }
        }
      }
      let byTitle = PHFetchOptions()
      byTitle.sortDescriptors = [NSSortDescriptor(keyPath: \PHAssetCollection.localizedTitle, ascending: false)]
      let albums = PHAssetCollection.fetchAssetCollections(with: .album, subtype: .any, options: byTitle)
      #expect(albums.titles == ["c", "b", "a"])
    }
  }

  @Test("an object itself and the subtype of an album are named as predicates spell them (FR-09)")
  func namedPaths() {
    #expect(NSSortDescriptor(keyPath: \PHObject.self, ascending: true).key == "SELF")
    #expect(NSSortDescriptor(keyPath: \PHAsset.self, ascending: true).key == "SELF")
    let subtype = NSSortDescriptor(keyPath: \PHAssetCollection.assetCollectionSubtype, ascending: true)
    #expect(subtype.key == "albumSubtype")
  }

  @Test("a result of albums or folders is converted to one of collections, and gets the same changes (CD-01, FR-01)")
  func converted() async throws {
    let gallery = try Gallery()
    try await gallery.images(0..<2)
    try await gallery.shared {
      for title in ["b", "a"] { _ = try await album(title) }
      let albums = PHAssetCollection.fetchAssetCollections(with: .album, subtype: .any, options: nil)
      let folders = PHCollectionList.fetchCollectionLists(with: .folder, subtype: .any, options: nil)
      let mixed: [PHFetchResult<PHCollection>] = [
        PHFetchResult(albums), PHFetchResult(folders), PHCollection.fetchTopLevelUserCollections(with: nil),
      ]
      #expect(mixed.map(\.titles) == [["b", "a"], [], ["b", "a"]])
      #expect(mixed[0].object(at: 0) is PHAssetCollection && mixed[0].index(of: albums.object(at: 1)) == 1)
      let objects: [PHFetchResult<PHObject>] = [PHFetchResult(PhotosTests.assets()), PHFetchResult(albums)]
      #expect(objects.map(\.count) == [2, 2] && objects[0].firstObject is PHAsset)
      #expect(objects[0].countOfAssets(with: .image) == 2)
      let keeper = keeper()
      let change = try await keeper.told {
        PHAssetCollectionChangeRequest.creationRequestForAssetCollection(withTitle: "c")
        PHAssetChangeRequest(for: PhotosTests.assets().object(at: 1)).isFavorite = true
      }
      #expect(change.changeDetails(for: mixed[0])?.insertedIndexes == [2])
      #expect(change.changeDetails(for: mixed[0])?.fetchResultAfterChanges.titles == ["b", "a", "c"])
      #expect(change.changeDetails(for: objects[0])?.changedIndexes == [1])
      #expect(change.changeDetails(for: mixed[1]) == nil)
    }
  }
}
