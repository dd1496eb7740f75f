import Foundation
import TestSupport
import Testing

import LibraryMaintenance
@testable import PhotoLedger

@Suite("Following a result through erasures and purges", .timeLimit(.minutes(60)))
struct FollowedErasureTests {
  @Test("a result of the past that lacks what was erased since shares no step with one that has it")
  func unsharedSteps() async throws {
    let made = try TemporaryLibrary()
    let ids = try made.create(3)
    try await made.library.performChanges { block in
      for (index, id) in ids.enumerated() {
        var changes = AssetChanges()
        changes.pixelWidth = 100 + index
        block.edit([id], changes)
      }
    }
    var options = FetchOptions()
    options.sort = [try SortTerm("pixelWidth:desc", for: .asset)]
    let held = try made.library.fetchAssets(options)
    let keeper = ChangeKeeper()
    try made.library.register(keeper)
    try await made.library.performChanges { $0.setFavorite(true, for: [ids[0]]) }
    try await waitUntil("the observer is told") { keeper.changes.all.count == 1 }
    try await made.library.performChanges { $0.deleteAssets([ids[2]]) }
    try made.library.eraseAssets([ids[2]])
    let past = try made.library.at(held.token).fetchAssets(options)
    #expect(held.map(\.id) == [ids[2], ids[1], ids[0]] && past.map(\.id) == [ids[1], ids[0], ids[2]])
    try made.library.store.observation.pump()
    let change = keeper.changes.all[0]
    let late = try #require(try change.changeDetails(for: past))
    let early = try #require(try change.changeDetails(for: held))
    #expect(early.changedIndexes == [2])
    #expect(early.fetchResultAfterChanges.map(\.id) == held.map(\.id))
    #expect(late.changedIndexes == [1])
    #expect(late.fetchResultAfterChanges.map(\.id) == past.map(\.id))
  }

  @Test("a purge of what the same block put into an album is told once (CD-23)")
  func purgedInOneBlock() async throws {
    let made = try TemporaryLibrary()
    let id = try made.create(.invented(1))
    let keeper = ChangeKeeper()
    try made.library.register(keeper)
    let receipt = try await made.library.performChanges { block in
      let album = block.createAlbum(title: "x")
      block.album(album).add([id])
      block.deleteAssets([id])
      block.purgeAssets([id])
    }
    try await waitUntil("the observer is told") { !keeper.changes.all.isEmpty }
    #expect(keeper.changes.all.map(\.token) == [receipt.token])
    #expect(try made.library.verify(scratch: made.folder.url).defect == nil)
  }
}
