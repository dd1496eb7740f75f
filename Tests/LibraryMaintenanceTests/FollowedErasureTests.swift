import Foundation
import TestSupport
import Testing

import LibraryMaintenance
@testable import PhotoLedger

@Suite("Following a result through erasures and purges", .timeLimit(.minutes(60)))
struct FollowedErasureTests {
  @Test("an as-of result without a later erased asset shares no step with one that has it")
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
    try await waitUntil("the observer is notified") { keeper.changes.all.count == 1 }
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

  /// Three assets of different widths; the widest is put into the trash, favourites may be chosen, and then it is
  /// erased, so that a fetch of before lacks its width.
  private final class Erased {
    let made: TemporaryLibrary
    let ids: [LocalIdentifier]
    let held: FetchResult<Asset>
    let follower: ResultChanges<Asset>.Iterator
    let keeper = ChangeKeeper()
    var options = FetchOptions()

    /// - Parameter isOfOthers: whether the fetch asks for what is not a favourite, and the widest is one: the fetch has
    ///   it only once it is erased.
    init(isFollowed: Bool, choosingAfter choices: Int, isOfOthers: Bool = false) async throws {
      made = try TemporaryLibrary()
      ids = try made.create(3)
      let (ids, library) = (ids, made.library)
      try library.performChangesAndWait { block in
        for (index, id) in ids.enumerated() {
          var changes = AssetChanges()
          changes.pixelWidth = 100 + index
          block.edit([id], changes)
        }
        if isOfOthers { block.setFavorite(true, for: [ids[2]]) }
      }
      options.sort = [try SortTerm("pixelWidth:desc", for: .asset)]
      if isOfOthers { options.condition = .not(.isTrue(.isFavorite)) }
      held = try library.fetchAssets(options)
      follower = ResultChanges.Iterator(held, 8)
      if isFollowed { try follower.listen() }
      try library.register(keeper)
      try library.performChangesAndWait { $0.deleteAssets([ids[2]]) }
      for index in 0..<choices { try library.performChangesAndWait { $0.setFavorite(true, for: [ids[index]]) } }
      let keeper = keeper
      try await waitUntil("the observer has all changes") { keeper.changes.all.count == 1 + choices }
      try library.eraseAssets([ids[2]])
    }

    /// What the state before showed, as it can be read now.
    func past() throws -> FetchResult<Asset> { try made.library.at(held.token).fetchAssets(options) }
  }

  @Test(
    "a result that was fetched after an erasure is advanced with the remaining rows",
    arguments: [(true, 0), (true, 1), (true, 2), (false, 0), (false, 2)])
  func ledOnBlank(isFollowed: Bool, choices: Int) async throws {
    let erased = try await Erased(isFollowed: isFollowed, choosingAfter: choices)
    let (ids, past) = (erased.ids, try erased.past())
    #expect(past.map(\.id) == [ids[1], ids[0], ids[2]])
    let follower = ResultChanges.Iterator(past, 8)
    try follower.listen()
    let first = try #require(try follower.take())
    #expect(first.removedIndexes == [2] && first.fetchResultAfterChanges.map(\.id) == [ids[1], ids[0]])
    var last = first.fetchResultAfterChanges
    while let change = try follower.take() { last = change.fetchResultAfterChanges }
    #expect(last.map(\.id) == [ids[1], ids[0]] && last.map(\.isFavorite) == [choices > 1, choices > 0])
  }

  @Test(
    "an object that a fetch has only since an erasure leaves a followed result at its commit",
    arguments: [(true, 0, 8), (true, 1, 8), (true, 2, 0), (false, 1, 8)])
  func ledOnUnasked(isFollowed: Bool, choices: Int, limit: Int) async throws {
    let erased = try await Erased(isFollowed: isFollowed, choosingAfter: choices, isOfOthers: true)
    let (ids, past) = (erased.ids, try erased.past())
    #expect(past.map(\.id) == [ids[1], ids[0], ids[2]])
    let follower = ResultChanges.Iterator(past, limit)
    try follower.listen()
    var shown = past.map(\.id)
    while let change = try follower.take() {
      #expect(change.fetchResultBeforeChanges.map(\.id) == shown)
      for index in try #require(change.removedIndexes).reversed() { shown.remove(at: index) }
      let after = change.fetchResultAfterChanges.map(\.id)
      for index in try #require(change.insertedIndexes) { shown.insert(after[index], at: index) }
      #expect(shown == after)
    }
    #expect(try shown == erased.made.library.fetchAssets(erased.options).map(\.id))
  }

  @Test("a change from before an erasure gives a result that was fetched after it its own positions")
  func keptChange() async throws {
    let erased = try await Erased(isFollowed: true, choosingAfter: 1)
    let (ids, past, change) = (erased.ids, try erased.past(), erased.keeper.changes.all[0])
    let late = try #require(try change.changeDetails(for: past))
    #expect(late.removedIndexes == [2] && late.fetchResultAfterChanges.map(\.id) == [ids[1], ids[0]])
    let early = try #require(try change.changeDetails(for: erased.held))
    #expect(early.removedIndexes == [0] && early.fetchResultAfterChanges.map(\.id) == [ids[1], ids[0]])
  }

  @Test("the difference between two states, the earlier fetched after an erasure, has the positions of that fetch")
  func difference() async throws {
    let erased = try await Erased(isFollowed: true, choosingAfter: 2)
    let library = erased.made.library
    let details = try library.changeDetails(from: try erased.past(), to: library.currentToken)
    #expect(details.removedIndexes == [2])
    #expect(details.fetchResultAfterChanges.map(\.id) == [erased.ids[1], erased.ids[0]])
  }

  @Test("a follower that crosses a change of permission after an erasure keeps its own positions", arguments: [0, 1])
  func crossedBlank(choices: Int) async throws {
    let made = try TemporaryLibrary()
    let ids = try made.create(3)
    try made.library.performChangesAndWait { block in
      for (index, id) in ids.enumerated() {
        var changes = AssetChanges()
        changes.pixelWidth = 100 + index
        block.edit([id], changes)
      }
      block.register(client: "com.example.app", .described)
      block.setAuthorizationStatus(.limited, of: "com.example.app")
      block.grant([ids[0]], to: "com.example.app")
    }
    var options = FetchOptions()
    options.sort = [try SortTerm("pixelWidth:desc", for: .asset)]
    let app = made.library.as("com.example.app")
    let slow = ResultChanges.Iterator(try app.fetchAssets(options), 8)
    let owner = ResultChanges.Iterator(try made.library.fetchAssets(options), 8)
    try slow.listen()
    try owner.listen()
    try made.library.performChangesAndWait { $0.setAuthorizationStatus(.authorized, of: "com.example.app") }
    try made.library.performChangesAndWait { $0.deleteAssets([ids[2]]) }
    for index in 0..<choices { try made.library.performChangesAndWait { $0.setFavorite(true, for: [ids[index]]) } }
    try made.library.store.observation.pump()
    try made.library.eraseAssets([ids[2]])
    var shown = [ids[0]]
    while let change = try slow.take() {
      #expect(change.fetchResultBeforeChanges.map(\.id) == shown)
      let removed = try #require(change.removedIndexes)
      let inserted = try #require(change.insertedIndexes)
      let after = change.fetchResultAfterChanges.map(\.id)
      for index in removed.reversed() { shown.remove(at: index) }
      for index in inserted { shown.insert(after[index], at: index) }
      #expect(shown == after)
    }
    #expect(shown == [ids[1], ids[0]])
  }

  @Test("a purge of what the same block added to an album is delivered once (CD-23)")
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
    try await waitUntil("the observer is notified") { !keeper.changes.all.isEmpty }
    #expect(keeper.changes.all.map(\.token) == [receipt.token])
    #expect(try made.library.verify(scratch: made.folder.url).defect == nil)
  }
}
