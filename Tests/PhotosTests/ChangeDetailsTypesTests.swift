import PhotoLedger
import Photos
import TestSupport
import Testing

@Suite("Change details through PhotoKit's types")
struct ChangeDetailsTypesTests {
  @Test("index sets and objects of one change, in their coordinates (CD-01 to CD-08, CD-13, CD-18, CD-23)")
  func coordinates() async throws {
    let gallery = try Gallery()
    let ids = try await gallery.images(0..<6)
    try await gallery.shared {
      let newest = { assets { $0.sortDescriptors = [NSSortDescriptor(key: "creationDate", ascending: false)] } }
      let before = newest()
      let favorites = assets { $0.predicate = NSPredicate(format: "favorite == YES") }
      let untouched = assets { $0.predicate = NSPredicate(format: "mediaType == %d", PHAssetMediaType.audio.rawValue) }
      let keeper = keeper()
      // Newest first, so the positions of 0…5 are 5…0.
      let change = try await keeper.told {
        PHAssetChangeRequest.deleteAssets([try asset(ids[4])] as NSArray)
        PHAssetChangeRequest(for: try asset(ids[2])).isFavorite = true
        let request = PHAssetCreationRequest.forAsset()
        request.addResource(with: .photo, data: Data("new".utf8), options: nil)
        request.creationDate = Date(timeIntervalSince1970: 9 * 86_400)
      }
      let details = try #require(change.changeDetails(for: before))
      #expect(details.fetchResultBeforeChanges === before)
      #expect(details.fetchResultAfterChanges.names == newest().names)
      #expect(details.hasIncrementalChanges && !details.hasMoves)
      #expect(details.removedIndexes == [1] && details.removedObjects.map(\.localIdentifier) == [ids[4]])
      #expect(details.insertedIndexes == [0])
      #expect(details.insertedObjects == [details.fetchResultAfterChanges.object(at: 0)])
      #expect(details.changedIndexes == [3] && details.changedObjects.map(\.localIdentifier) == [ids[2]])
      #expect(details.changedObjects[0].isFavorite && !before.object(at: 3).isFavorite)
      let passed = try #require(change.changeDetails(for: favorites))
      #expect(passed.insertedIndexes == [0] && passed.removedIndexes == [] && passed.changedIndexes == [])
      #expect(change.changeDetails(for: untouched) == nil)
      #expect(change.changeDetails(for: details.fetchResultAfterChanges) == nil)
      #expect(keeper.all.count == 1, "One block is one delivery (CD-23).")
    }
  }

  @Test("moves are a batch between before with removals and insertions, and after (CD-09 to CD-12, CD-18)")
  func moves() async throws {
    let gallery = try Gallery()
    let ids = try await gallery.images(0..<6)
    try await gallery.shared {
      let sea = try await album("Sea", try ids[..<5].map(asset))
      let before = PHAsset.fetchAssets(in: sea, options: nil)
      let keeper = keeper()
      let change = try await keeper.told {
        let request = try #require(PHAssetCollectionChangeRequest(for: sea))
        request.removeAssets(at: [1])
        request.moveAssets(at: [0, 1], to: 2)
        request.insertAssets([try asset(ids[5])] as NSArray, at: [0])
      }
      let details = try #require(change.changeDetails(for: before))
      let after = details.fetchResultAfterChanges.names
      #expect(after == [5, 3, 4, 0, 2].map { ids[$0] })
      #expect(details.removedIndexes == [1] && details.insertedIndexes == [0] && details.hasMoves)
      var list = before.names
      list.remove(at: 1)
      list.insert(ids[5], at: 0)
      var moves: [(from: Int, to: Int)] = []
      details.enumerateMoves { moves.append(($0, $1)) }
      let moving = moves.map { (list[$0.from], $0.to) }.sorted { $0.1 < $1.1 }
      #expect(!moving.contains { $0.0 == ids[5] }, "What is inserted is not moved (CD-12).")
      for from in moves.map(\.from).sorted(by: >) { list.remove(at: from) }
      for (identifier, place) in moving { list.insert(identifier, at: place) }
      #expect(list == after)
    }
  }

  @Test("a change of date is changed and moved (CD-18)")
  func dateChange() async throws {
    let gallery = try Gallery()
    let ids = try await gallery.images(0..<4)
    try await gallery.shared {
      let before = assets { $0.sortDescriptors = [NSSortDescriptor(key: "creationDate", ascending: true)] }
      let change = try await keeper().told {
        PHAssetChangeRequest(for: try asset(ids[0])).creationDate = Date(timeIntervalSince1970: 9 * 86_400)
      }
      let details = try #require(change.changeDetails(for: before))
      #expect(details.fetchResultAfterChanges.names == [1, 2, 3, 0].map { ids[$0] })
      #expect(details.changedIndexes == [3] && details.hasMoves)
      #expect(details.removedIndexes == [] && details.insertedIndexes == [])
    }
  }

  @Test("details that were not requested are nil or empty, and after still counts (CD-03, CD-13 to CD-15, CD-17)")
  func unwanted() async throws {
    let gallery = try Gallery()
    try await gallery.images(0..<3)
    try await gallery.shared {
      let before = assets { $0.wantsIncrementalChangeDetails = false }
      let change = try await keeper().told { PHAssetChangeRequest.deleteAssets([assets().object(at: 1)] as NSArray) }
      let details = try #require(change.changeDetails(for: before))
      #expect(!details.hasIncrementalChanges && !details.hasMoves)
      #expect(details.removedIndexes == nil && details.insertedIndexes == nil && details.changedIndexes == nil)
      #expect(details.removedObjects.isEmpty && details.insertedObjects.isEmpty && details.changedObjects.isEmpty)
      #expect(details.fetchResultAfterChanges.names == assets().names)
    }
  }

  @Test("a limit shows an insertion at the head as one in and one out (CD-19)")
  func limit() async throws {
    let gallery = try Gallery()
    let ids = try await gallery.images(0..<5)
    try await gallery.shared {
      let before = assets {
        $0.sortDescriptors = [NSSortDescriptor(key: "creationDate", ascending: false)]
        $0.fetchLimit = 3
      }
      let keeper = keeper()
      try await gallery.images(5..<6)
      try await waitUntil("the observer is notified") { keeper.all.count == 1 }
      let details = try #require(keeper.all[0].changeDetails(for: before))
      #expect(details.insertedIndexes == [0] && details.removedIndexes == [2])
      #expect(details.removedObjects.map(\.localIdentifier) == [ids[2]])
    }
  }

  @Test("any two results can be compared; what changed must be said (CD-20)")
  func between() async throws {
    let gallery = try Gallery()
    let ids = try await gallery.images(0..<4)
    try await gallery.shared {
      let before = assets()
      try await PHPhotoLibrary.shared().performChanges {
        PHAssetChangeRequest.deleteAssets([before.object(at: 0)] as NSArray)
        PHAssetChangeRequest(for: before.object(at: 2)).isFavorite = true
      }
      let after = assets()
      let silent = PHFetchResultChangeDetails(from: before, to: after, changedObjects: [])
      #expect(silent.removedIndexes == [0] && silent.changedIndexes == [] && silent.hasIncrementalChanges)
      let told = PHFetchResultChangeDetails(from: before, to: after, changedObjects: [try asset(ids[2])])
      #expect(told.changedIndexes == [1])
    }
  }

  @Test("from an empty subclass everything is inserted, and to one everything removed (CD-20)")
  func standIns() async throws {
    let gallery = try Gallery()
    let ids = try await gallery.images(0..<3)
    try await gallery.shared {
      let all = assets { $0.wantsIncrementalChangeDetails = false }
      let (none, changed) = (PHFetchResult<PHAsset>(), [all.object(at: 0)])
      let filled = PHFetchResultChangeDetails(from: none, to: all, changedObjects: changed)
      #expect(filled.hasIncrementalChanges && !filled.hasMoves)
      #expect(filled.insertedIndexes == IndexSet(0..<3) && filled.insertedObjects.map(\.localIdentifier) == ids)
      #expect(filled.removedIndexes == [] && filled.changedIndexes == [] && filled.removedObjects.isEmpty)
      let emptied = PHFetchResultChangeDetails(from: all, to: none, changedObjects: changed)
      #expect(emptied.removedIndexes == IndexSet(0..<3) && emptied.removedObjects.map(\.localIdentifier) == ids)
      #expect(emptied.insertedIndexes == [] && emptied.changedIndexes == [] && !emptied.hasMoves)
      let still = PHFetchResultChangeDetails(from: none, to: PHFetchResult<PHAsset>(), changedObjects: [])
      #expect(still.hasIncrementalChanges && still.removedIndexes == [] && still.insertedIndexes == [])
      _ = try await album("Sea")
      let albums = PHCollection.fetchTopLevelUserCollections(with: nil)
      let first = PHFetchResultChangeDetails(from: PHFetchResult<PHCollection>(), to: albums, changedObjects: [])
      #expect(first.insertedIndexes == [0] && first.insertedObjects.map(\.localizedTitle) == ["Sea"])
    }
  }

  /// A stand-in for a result, as tests of apps write it.
  private final class Listed: PHFetchResult<PHAsset>, @unchecked Sendable {  // guarded by: holds a constant only
    private let list: [PHAsset]
    init(_ list: [PHAsset]) {
      self.list = list
      super.init()
    }
    override var count: Int { list.count }
    override func object(at index: Int) -> PHAsset { list[index] }
  }

  @Test("a subclass counts its objects, and keeps them under another type and in a transient album (FR-04, FR-16)")
  func convertedStandIns() async throws {
    final class Film: PHAsset, @unchecked Sendable {  // guarded by: has no state
      override var mediaType: PHAssetMediaType { .video }
    }
    let (photo, film) = (PHAsset(), Film())
    let listed = Listed([photo, film])
    #expect(listed.countOfAssets(with: .video) == 1 && listed.countOfAssets(with: .image) == 0)
    let objects = PHFetchResult<PHObject>(listed)
    #expect(objects.count == 2 && objects[1] === film && objects.objects(at: [0, 1]) == [photo, film])
    #expect(objects.index(of: film) == 1 && objects.countOfAssets(with: .video) == 1 && objects.lastObject === film)
    #expect(PHFetchResult<PHObject>(Listed([])).firstObject == nil)
    let gallery = try Gallery()
    let ids = try await gallery.images(0..<3)
    try await gallery.shared {
      let own = Listed(try [ids[2], ids[0]].map { try asset($0) })
      let album = PHAssetCollection.transientAssetCollection(withAssetFetchResult: own, title: "Own")
      #expect(Set(PHAsset.fetchAssets(in: album, options: nil).names) == [ids[2], ids[0]])
    }
  }

  @Test("an app's subclasses are compared by their objects (CD-20)")
  func ownStandIns() {
    let (a, b, c) = (PHAsset(), PHAsset(), PHAsset())
    let details = PHFetchResultChangeDetails<PHAsset>(
      from: Listed([a, b]), to: Listed([c, b]), changedObjects: [b])
    #expect(details.removedIndexes == [0] && details.insertedIndexes == [0] && details.changedIndexes == [1])
    #expect(details.removedObjects == [a] && details.insertedObjects == [c] && details.changedObjects == [b])
    let listed = Listed([a, b])
    var seen: [PHAsset] = []
    listed.enumerateObjects { object, _, _ in seen.append(object) }
    listed.enumerateObjects(options: .reverse) { object, _, stop in
      seen.append(object)
      stop.pointee = true
    }
    #expect(seen == [a, b, b] && listed.objects(at: [1]) == [b])
    #expect(listed.index(of: b) == 1 && listed.contains(a) && !listed.contains(c))
    #expect(listed == Listed([a, b]) && listed != Listed([a, c]))
  }

  @Test("an object's details: metadata, its end in the trash, and nil when it is untouched (CD-01, CD-21, PH-05)")
  func objects() async throws {
    let gallery = try Gallery()
    try await gallery.images(0..<2)
    try await gallery.shared {
      let (first, second) = (assets().object(at: 0), assets().object(at: 1))
      let keeper = keeper()
      let marked = try await keeper.told { PHAssetChangeRequest(for: first).isFavorite = true }
      let details = try #require(marked.changeDetails(for: first))
      #expect(details.objectBeforeChanges === first && details.objectAfterChanges?.isFavorite == true)
      #expect(!details.assetContentChanged && !details.objectWasDeleted)
      #expect(marked.changeDetails(for: second) == nil)
      let gone = try await keeper.told { PHAssetChangeRequest.deleteAssets([first] as NSArray) }
      // What lies in the trash cannot be seen; what happens to it there is nothing, until it comes back.
      let end = try #require(gone.changeDetails(for: first))
      #expect(end.objectWasDeleted && end.objectAfterChanges == nil)
      let trashed = try #require(LocalIdentifier(first.localIdentifier))
      let blocks: [(ChangeBlock) -> Void] = [
        { $0.setFavorite(false, for: [trashed]) }, { $0.restoreAssets([trashed]) },
        { $0.setHidden(true, for: [trashed]) }, { $0.deleteAssets([trashed]) }, { $0.purgeAssets([trashed]) },
      ]
      for block in blocks { try await gallery.library.performChanges { block($0) } }
      try await waitUntil("all changes arrive") { keeper.all.count == 7 }
      let told = keeper.all.dropFirst(2).map { $0.changeDetails(for: first)?.objectWasDeleted }
      #expect(told == [nil, nil, false, true, nil])
    }
  }

  @Test("an object that was fetched after a change has no details of it (CD-21, OB-02)")
  func newerObjects() async throws {
    let gallery = try Gallery()
    let ids = try await gallery.images(0..<1)
    try await gallery.shared {
      let (held, sea) = (try asset(ids[0]), try await album("Sea"))
      let keeper = keeper()
      let renamed = try await keeper.told { PHAssetCollectionChangeRequest(for: sea)?.title = "Lake" }
      let trashed = try await keeper.told { PHAssetChangeRequest.deleteAssets([held] as NSArray) }
      let identifier = try #require(LocalIdentifier(ids[0]))
      try await gallery.library.performChanges { $0.restoreAssets([identifier]) }
      let restored = try asset(ids[0])
      #expect(trashed.changeDetails(for: held)?.objectWasDeleted == true)
      #expect(trashed.changeDetails(for: restored) == nil, "It was restored before it was fetched.")
      let lake = try #require(
        PHAssetCollection.fetchAssetCollections(withLocalIdentifiers: [sea.localIdentifier], options: nil).firstObject)
      #expect(renamed.changeDetails(for: sea)?.objectAfterChanges?.localizedTitle == "Lake")
      #expect(renamed.changeDetails(for: lake) == nil)
    }
  }

  /// An observer whose first call lasts until it may go on.
  private final class BusyKeeper: NSObject, PHPhotoLibraryChangeObserver {
    private let changes = Gathered<PHChange>()
    private let gate = DispatchSemaphore(value: 0)

    var all: [PHChange] { changes.all }

    func photoLibraryDidChange(_ changeInstance: PHChange) {
      changes.append(changeInstance)
      if changes.all.count == 1 { gate.wait() }
    }

    func goOn() { gate.signal() }
  }

  @Test("a busy observer learns the end of what was fetched meanwhile, and no edit from before it (CD-21, OB-02)")
  func fetchedMeanwhile() async throws {
    let gallery = try Gallery()
    try await gallery.shared {
      let (busy, last) = (BusyKeeper(), ChangeKeeper())
      PHPhotoLibrary.shared().register(busy)
      // Each commit is scheduled for the busy one first, so what this one has received is waiting for that one.
      try gallery.library.register(last)
      defer { busy.goOn() }
      let ids = try await gallery.images(0..<2)
      try await waitUntil("the observer is called") { busy.all.count == 1 }
      let identifiers = ids.compactMap { LocalIdentifier($0) }
      let later = try await gallery.images(2..<3)
      try await gallery.library.performChanges {
        $0.addResources([.stored(.invented(50, .alternatePhoto))], to: identifiers[1])
      }
      let sea = try await album("Sea")
      let (new, edited) = (try asset(later[0]), try asset(ids[1]))
      for seed in 3..<11 { try await gallery.images(seed..<seed + 1) }
      try await PHPhotoLibrary.shared().performChanges {
        PHAssetChangeRequest.deleteAssets([new] as NSArray)
        PHAssetCollectionChangeRequest.deleteAssetCollections([sea] as NSArray)
      }
      try await waitUntil("the other observer is notified of all") {
        try last.changes.all.last?.token == gallery.library.currentToken
      }
      busy.goOn()
      try await waitUntil("the observer is called again") { busy.all.count == 2 }
      let change = busy.all[1]
      #expect(change.changeDetails(for: new)?.objectWasDeleted == true)
      #expect(change.changeDetails(for: sea)?.objectWasDeleted == true)
      #expect(change.changeDetails(for: edited) == nil, "It was edited before it was fetched.")
    }
  }

  @Test("an album's details are about itself; its members are seen in the result of its assets (CD-22)")
  func albums() async throws {
    let gallery = try Gallery()
    let ids = try await gallery.images(0..<2)
    try await gallery.shared {
      let sea = try await album("Sea", [try asset(ids[0])])
      let (members, albums) = (
        PHAsset.fetchAssets(in: sea, options: nil), PHCollection.fetchTopLevelUserCollections(with: nil)
      )
      let keeper = keeper()
      let added = try await keeper.told {
        PHAssetCollectionChangeRequest(for: sea)?.addAssets([try asset(ids[1])] as NSArray)
      }
      #expect(added.changeDetails(for: members)?.insertedIndexes == [1])
      let renamed = try await keeper.told { PHAssetCollectionChangeRequest(for: sea)?.title = "Lake" }
      #expect(renamed.changeDetails(for: sea)?.objectAfterChanges?.localizedTitle == "Lake")
      #expect(renamed.changeDetails(for: albums)?.changedIndexes == [0])
      #expect(renamed.changeDetails(for: members)?.insertedIndexes == [1], "The result held is the older one (OB-02).")
      let deleted = try await keeper.told {
        PHAssetCollectionChangeRequest.deleteAssetCollections([sea] as NSArray)
      }
      #expect(deleted.changeDetails(for: sea)?.objectWasDeleted == true)
      #expect(PHAsset.fetchAssets(in: sea, options: nil).names == ids, "The value of a deleted album lists its assets.")
    }
  }

  @Test("an observer is called in the order of commits, not retained, and not called after removal (OB-01 to OB-05)")
  func observers() async throws {
    let gallery = try Gallery()
    let ids = try await gallery.images(0..<1)
    try await gallery.shared {
      let keeper = keeper()
      var held = assets()
      for step in 1...5 {
        try await PHPhotoLibrary.shared().performChanges {
          PHAssetChangeRequest(for: held.object(at: 0)).isFavorite = step % 2 == 1
        }
      }
      try await waitUntil("all changes arrive") { keeper.all.count == 5 }
      // Each change answers for the result that is held now, whatever it was delivered for (OB-02).
      for change in keeper.all {
        if let details = change.changeDetails(for: held) { held = details.fetchResultAfterChanges }
      }
      #expect(held.object(at: 0).isFavorite && held.names == ids)
      weak var weakly: Keeper?
      do {
        let brief = registered()
        weakly = brief
      }
      #expect(weakly == nil, "The library does not retain its observers (OB-04).")
      PHPhotoLibrary.shared().unregisterChangeObserver(keeper)
      let other = registered()
      _ = try await other.told { PHAssetChangeRequest(for: held.object(at: 0)).isHidden = true }
      #expect(keeper.all.count == 5)
    }
  }

  private func registered() -> Keeper { keeper() }
}
