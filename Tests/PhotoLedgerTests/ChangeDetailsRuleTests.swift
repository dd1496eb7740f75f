import Foundation
import PhotoLedger
import TestSupport
import Testing

@Suite("Change details")
struct ChangeDetailsRuleTests {
  /// Five images in a result that shows the newest first: e d c b a.
  private func newestFirst(
    _ small: SmallLibrary, limit: Int = 0
  ) async throws -> (ids: [LocalIdentifier], result: FetchResult<Asset>) {
    let ids = try await small.assets(5)
    let sort = [SortDescriptor(\Asset.creationDate, order: .reverse)]
    return (ids, try small.library.fetchAssets(sortedBy: sort, limit: limit))
  }

  private func setDate(_ day: Double, of ids: [LocalIdentifier]) -> (ChangeBlock) -> Void {
    var changes = AssetChanges()
    changes.creationDate = .set(Date(timeIntervalSince1970: day * 86_400))
    return { [changes] block in block.edit(ids, changes) }
  }

  @Test("a change that does not touch a result has no details for it (CD-01)")
  func untouched() async throws {
    let small = try SmallLibrary()
    let (ids, result) = try await newestFirst(small)
    let favorites = try small.library.fetchAssets(where: #Predicate { $0.isFavorite })
    let renamed = try await small.change { _ = $0.createAlbum(title: "Sea") }
    #expect(try renamed.changeDetails(for: result) == nil)
    let edited = try await small.change { $0.setFavorite(true, for: [ids[0]]) }
    #expect(try edited.changeDetails(for: result) != nil)
    #expect(try edited.changeDetails(for: favorites) != nil)
    let moved = try await small.change(setDate(9, of: [ids[1]]))
    #expect(try moved.changeDetails(for: favorites)?.insertedIndexes == [0], "the details cover what came before, too")
    let current = try small.library.fetchAssets(where: #Predicate { $0.isFavorite })
    let hidden = try await small.change { $0.setHidden(true, for: [ids[3]]) }
    #expect(try hidden.changeDetails(for: current) == nil)
    #expect(hidden.changeDetails(for: try small.asset(ids[0])) == nil)
  }

  @Test("before is the result that was passed in, after is the same fetch in the new state (CD-02, CD-03)")
  func results() async throws {
    let small = try SmallLibrary()
    let (ids, result) = try await newestFirst(small, limit: 3)
    let change = try await small.change { $0.deleteAssets([ids[4], ids[2]]) }
    let details = try #require(try change.changeDetails(for: result))
    #expect(details.fetchResultBeforeChanges.map(\.id) == result.map(\.id))
    #expect(details.fetchResultAfterChanges.map(\.id) == [ids[3], ids[1], ids[0]])
    #expect(details.fetchResultAfterChanges.token == change.token)
  }

  @Test("removed counts in before, inserted and changed in after; objects pair with indexes (CD-04 to CD-08)")
  func coordinates() async throws {
    let small = try SmallLibrary()
    let (ids, result) = try await newestFirst(small)
    var created: LocalIdentifier?
    let change = try await small.change { block in
      block.deleteAssets([ids[4], ids[1]])
      created = block.createAsset(.invented(77, date: Date(timeIntervalSince1970: 2.5 * 86_400)))
      block.setFavorite(true, for: [ids[0], ids[3]])
    }
    // before e d c b a, after d N c a
    let details = try #require(try change.changeDetails(for: result))
    #expect(details.fetchResultAfterChanges.map(\.id) == [ids[3], created, ids[2], ids[0]])
    #expect(details.removedIndexes == [0, 3])
    #expect(details.insertedIndexes == [1])
    #expect(details.changedIndexes == [0, 3])
    #expect(details.changedIndexesBefore == [1, 4])
    #expect(try details.removedObjects().map(\.id) == [ids[4], ids[1]])
    #expect(try details.insertedObjects().map(\.id) == [created])
    #expect(try details.changedObjects().map(\.isFavorite) == [true, true])
    #expect(try details.removedObjects().map(\.isTrashed) == [false, false], "as they were")
    #expect(!details.hasMoves && details.moved.isEmpty)
  }

  @Test("moves lead from before with removals and insertions to after, as one batch (CD-09 to CD-13)")
  func moves() async throws {
    let small = try SmallLibrary()
    let (ids, result) = try await newestFirst(small)
    // before e d c b a; b goes in front, e is removed, N comes last: B = d c b a N, after = b d c a N
    let change = try await small.change { block in
      setDate(9, of: [ids[1]])(block)
      block.deleteAssets([ids[4]])
      _ = block.createAsset(.invented(78, date: Date(timeIntervalSince1970: -86_400)))
    }
    let details = try #require(try change.changeDetails(for: result))
    #expect(details.removedIndexes == [0] && details.insertedIndexes == [4] && details.changedIndexes == [0])
    #expect(details.hasMoves)
    #expect(details.moves == [Move(from: 2, to: 0)])
    #expect(details.moved == [Relocation(before: 3, after: 0)])
    var told: [Move] = []
    details.enumerateMoves { told.append(Move(from: $0, to: $1)) }
    #expect(told == details.moves)
  }

  @Test("several moves are a batch, not a script (CD-11)")
  func batch() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(5)
    let album = try await small.album("Sea", a)
    let result = try small.library.fetchAssets(FetchOptions(), in: album)
    let change = try await small.change { $0.album(album.id).replace(at: [0, 1, 2, 3, 4], with: a.reversed()) }
    let details = try #require(try change.changeDetails(for: result))
    #expect(details.moves.count == 4, "one of five may stay")
    let expected = ListChange(before: a, after: a.reversed(), changed: [])
    try expected.check(details, touched: Set(a), exactly: true)
  }

  @Test("an inserted object never appears as moved (CD-12)")
  func insertedAreFixed() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(4)
    let album = try await small.album("Sea", a)
    let result = try small.library.fetchAssets(FetchOptions(), in: album)
    let new = try await small.assets(1)
    // From a b c d to b c x d a: c has to pass x in PhotoKit's coordinates, and in no others.
    let change = try await small.change { block in
      block.album(album.id).move(at: [0], to: 3)
      block.album(album.id).insert(new, at: 2)
    }
    let details = try #require(try change.changeDetails(for: result))
    #expect(details.fetchResultAfterChanges.map(\.id) == [a[1], a[2], new[0], a[3], a[0]])
    #expect(details.insertedIndexes == [2])
    #expect(!details.moves.contains { $0.to == 2 })
    #expect(details.moved == [Relocation(before: 0, after: 4)])
    try ListChange(before: a, after: details.fetchResultAfterChanges.map(\.id), changed: [])
      .check(details, touched: [a[0]], exactly: true)
  }

  @Test("details are always incremental, whatever the size (CD-14 to CD-17)")
  func alwaysIncremental() async throws {
    let small = try SmallLibrary()
    let ids = try await small.assets(700)
    let result = try small.library.fetchAssets()
    let change = try await small.change { $0.deleteAssets(ids) }
    let details = try #require(try change.changeDetails(for: result))
    #expect(details.hasIncrementalChanges)
    #expect(details.removedIndexes == IndexSet(0..<700))
    #expect(details.fetchResultAfterChanges.isEmpty)
  }

  @Test("a property change results in changed, changed and moved, removed or inserted (CD-18)")
  func kinds() async throws {
    let small = try SmallLibrary()
    let (ids, result) = try await newestFirst(small)
    let favorites = try small.library.fetchAssets(where: #Predicate { $0.isFavorite })
    let plain = try await small.change { $0.setFavorite(true, for: [ids[2]]) }
    let changed = try #require(try plain.changeDetails(for: result))
    #expect(changed.changedIndexes == [2] && !changed.hasMoves && changed.removedIndexes == [])
    #expect(try plain.changeDetails(for: favorites)?.insertedIndexes == [0])

    let sorted = try await small.change(setDate(9, of: [ids[2]]))
    let moved = try #require(try sorted.changeDetails(for: changed.fetchResultAfterChanges))
    #expect(moved.changedIndexes == [0] && moved.changedIndexesBefore == [2])
    #expect(moved.moves == [Move(from: 2, to: 0)])

    let held = try small.library.fetchAssets(where: #Predicate { $0.isFavorite })
    let unmarked = try await small.change { $0.setFavorite(false, for: [ids[2]]) }
    let removed = try #require(try unmarked.changeDetails(for: held))
    #expect(removed.removedIndexes == [0] && removed.changedIndexes == [])
  }

  @Test("under a limit an insertion at the head pushes the last one out (CD-19)")
  func limit() async throws {
    let small = try SmallLibrary()
    let (ids, result) = try await newestFirst(small, limit: 3)
    let change = try await small.change { _ = $0.createAsset(.invented(79, date: Date(timeIntervalSince1970: 1e9))) }
    let details = try #require(try change.changeDetails(for: result))
    #expect(details.insertedIndexes == [0] && details.removedIndexes == [2])
    #expect(try details.removedObjects().map(\.id) == [ids[2]])
    let below = try await small.change { $0.setFavorite(true, for: [ids[0]]) }
    #expect(try below.changeDetails(for: details.fetchResultAfterChanges) == nil, "it is not shown")
  }

  @Test(
    "an asset's details distinguish metadata from bytes, and gone from trashed, if the trash is shown (CD-21, PH-04)")
  func objects() async throws {
    let small = try SmallLibrary()
    let id = try await small.assets(1)[0]
    let asset = try small.asset(id)
    let edited = try #require(try await small.change { $0.setFavorite(true, for: [id]) }.changeDetails(for: asset))
    #expect(!edited.assetContentChanged && !edited.objectBeforeChanges.isFavorite)
    #expect(edited.objectAfterChanges?.isFavorite == true)
    let added = try #require(
      try await small.change { $0.addResources([.stored(.invented(5, .alternatePhoto))], to: id) }.changeDetails(
        for: asset))
    #expect(added.assetContentChanged)
    let deletion = try await small.change { $0.deleteAssets([id]) }
    let trashed = try #require(deletion.changeDetails(for: asset))
    #expect(!trashed.objectWasDeleted && trashed.objectAfterChanges?.isTrashed == true)
    #expect(deletion.changeDetails(for: asset, showsTrash: false)?.objectWasDeleted == true)
    let purge = try await small.change { $0.purgeAssets([id]) }
    let purged = try #require(purge.changeDetails(for: asset))
    #expect(purged.objectWasDeleted && purged.objectAfterChanges == nil)
    #expect(purge.changeDetails(for: asset, showsTrash: false) == nil)
  }

  @Test("an album's details are its own properties; its size is one of them (CD-22)")
  func albums() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(2)
    let album = try await small.album("Sea", [a[0]])
    let albums = try small.library.fetchCollections()
    let renamed = try await small.change { $0.setTitle("Lake", of: album.id) }
    #expect(renamed.changeDetails(for: album)?.objectAfterChanges?.localizedTitle == "Lake")
    #expect(try renamed.changeDetails(for: try small.library.fetchAssets(FetchOptions(), in: album)) == nil)
    let filled = try await small.change { $0.album(album.id).add([a[1]]) }
    #expect(filled.changeDetails(for: album)?.objectAfterChanges?.estimatedAssetCount == 2)
    #expect(try filled.changeDetails(for: albums)?.changedIndexes == [0])
    let hidden = try await small.change { $0.setHidden(true, for: [a[0]]) }
    #expect(hidden.changeDetails(for: album)?.objectAfterChanges?.estimatedAssetCount == 1)
    let deleted = try await small.change { $0.deleteCollections([album.id]) }
    #expect(deleted.changeDetails(for: album)?.objectWasDeleted == true)
    let later = try await small.change { $0.setHidden(false, for: [a[0]]) }
    #expect(later.changeDetails(for: album) == nil, "It was deleted before.")
  }

  @Test("a purge reaches the result of the albums that held the asset")
  func purgeReachesAlbums() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(2)
    let album = try await small.album("Sea", a)
    let holders = try small.library.fetchCollections(containing: try small.asset(a[0]))
    #expect(holders.map(\.id) == [album.id])
    try await small.change { $0.deleteAssets([a[0]]) }
    let purge = try await small.change { $0.purgeAssets([a[0]]) }
    #expect(try purge.changeDetails(for: holders)?.removedIndexes == [0])
  }

  @Test("one block is one delivery (CD-23)")
  func oneDelivery() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(3)
    let result = try small.library.fetchAssets()
    var changes = small.library.changes(to: result).makeAsyncIterator()
    for round in 0..<5 {
      try await small.change { block in
        for id in a { block.setFavorite(round % 2 == 0, for: [id]) }
        block.setHidden(true, for: [a[0]])
        block.setHidden(false, for: [a[0]])
      }
      let details = try #require(try await changes.next())
      #expect(details.commits.count == 1 && details.changedIndexes == [0, 1, 2])
    }
  }
}
