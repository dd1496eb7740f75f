import Foundation
import Synchronization
import TestSupport
import Testing

@testable import PhotoLedger

@Suite("Following a result", .timeLimit(.minutes(60)))
struct FollowingTests {
  @Test(
    "commits before the first read are delivered one by one up to the limit, and else as one (OB-03)",
    arguments: [(8, [1, 1, 1]), (3, [1, 1, 1]), (2, [3]), (0, [3])])
  func backlog(limit: Int, spans: [Int]) async throws {
    let made = try TemporaryLibrary()
    let held = try made.library.fetchCollections()
    for index in 0..<3 { try await made.library.performChanges { $0.createAlbum(title: "\(index)") } }
    var iterator = made.library.changes(to: held, composingBeyond: limit).makeAsyncIterator()
    var token = held.token
    for span in spans {
      let change = try #require(try await iterator.next())
      #expect(change.commits.count == span && change.fetchResultBeforeChanges.token == token)
      #expect(change.insertedIndexes?.count == span)
      token = change.fetchResultAfterChanges.token
    }
    #expect(try token == made.library.currentToken)
  }

  @Test(
    "an element starts from the last delivered result, whatever happened outside the window (CD-02)", arguments: [8, 0])
  func startsFromTold(limit: Int) throws {
    let made = try TemporaryLibrary()
    let ids = try made.create(6)
    let album = try made.album(ids)
    let held = try made.members(album, limit: 2)
    let follower = ResultChanges.Iterator(held, limit)
    try follower.listen()
    func commit(_ body: (ContentEditor) -> Void) throws -> ChangeDetails<Asset>? {
      try made.library.performChangesAndWait { body($0.album(album)) }
      try made.library.store.observation.pump()
      return try follower.take()
    }
    var told = held
    for round in 0..<3 {
      #expect(try commit { $0.move(at: [5], to: 3) } == nil, "Nothing of it shows, round \(round).")
      #expect(try commit { $0.move(at: [2], to: 4) } == nil)
      let change = try #require(try commit { $0.move(at: [3], to: 0) })
      #expect(change.fetchResultBeforeChanges.token == told.token)
      #expect(change.fetchResultBeforeChanges.map(\.id) == told.map(\.id))
      let after = change.fetchResultAfterChanges
      #expect(try after.map(\.id) == made.members(album, limit: 2).map(\.id))
      #expect(try after.token == made.library.currentToken)
      let expected = ListChange(before: told.map(\.id), after: after.map(\.id), changed: [])
      #expect(change.removedIndexes == IndexSet(expected.removed))
      #expect(change.insertedIndexes == IndexSet(expected.inserted))
      told = after
    }
  }

  private final class SetClock: Sendable {
    let date = Mutex(Date(timeIntervalSince1970: 1_750_000_000))
  }

  @Test("new words are a change, though the clock lags behind the modification date", arguments: [8, 0])
  func clockBehind(limit: Int) throws {
    let clock = SetClock()
    let made = try TemporaryLibrary(
      LibraryEnvironment(
        process: "test", now: { clock.date.withLock { $0 } }, random: LibraryEnvironment.seeded(1).random))
    let ids = try made.create(3)
    try made.library.performChangesAndWait { $0.setFavorite(true, for: ids) }
    let held = try made.library.fetchAssets()
    let follower = ResultChanges.Iterator(held, limit)
    try follower.listen()
    clock.date.withLock { $0 -= 60 }
    for word in ["sea", "shore"] {
      try made.library.performChangesAndWait { block in
        var changes = AssetChanges()
        changes.caption = .set(word)
        block.edit([ids[1]], changes)
      }
    }
    try made.library.store.observation.pump()
    let change = try #require(try follower.take())
    #expect(change.changedIndexes == [1] && change.commits.count == (limit == 0 ? 2 : 1))
    #expect(try made.library.asset(ids[1].uuidString)?.modificationDate == held[1].modificationDate)
  }

  @Test("observers of equal results share one step, also with a follower")
  func sharedSteps() async throws {
    let made = try TemporaryLibrary()
    let ids = try made.create(3)
    let keepers = [ChangeKeeper(), ChangeKeeper()]
    for keeper in keepers { try made.library.register(keeper) }
    func ask(_ held: [FetchResult<Asset>]) async throws -> [ChangeDetails<Asset>] {
      let count = keepers[0].changes.all.count
      try await made.library.performChanges { $0.setFavorite(count.isMultiple(of: 2), for: [ids[1]]) }
      try await waitUntil("both are notified") { keepers.allSatisfy { $0.changes.all.count > count } }
      return try zip(keepers, held).map { keeper, result in
        try #require(try keeper.changes.all[count].changeDetails(for: result))
      }
    }
    let fetched = [try made.library.fetchAssets(), try made.library.fetchAssets()]
    #expect(fetched[0].state !== fetched[1].state)
    let first = try await ask(fetched)
    #expect(first[0].fetchResultAfterChanges.state === first[1].fetchResultAfterChanges.state)
    #expect(first.map(\.changedIndexes) == [[1], [1]])
    #expect(zip(first, fetched).allSatisfy { $0.fetchResultBeforeChanges.state === $1.state })

    var window = FetchOptions()
    window.fetchLimit = 2
    let (all, part) = (first[0].fetchResultAfterChanges, try made.library.fetchAssets(window))
    let second = try await ask([all, part])
    #expect(second.map(\.fetchResultAfterChanges.count) == [3, 2] && second.map(\.changedIndexes) == [[1], [1]])

    let held = second[0].fetchResultAfterChanges
    var follower = made.library.changes(to: held).makeAsyncIterator()
    try follower.listen()
    let third = try await ask([held, second[1].fetchResultAfterChanges])
    let followed = try #require(try await follower.next())
    #expect(followed.fetchResultAfterChanges.state === third[0].fetchResultAfterChanges.state)
  }

  @Test("clients with full access share the changes of a step, followers and observers of one client its result too")
  func stepsOfClients() async throws {
    let made = try TemporaryLibrary()
    let ids = try made.create(3)
    try made.authorize("web", "phone")
    let libraries = [made.library] + ["web", "web", "phone"].map { made.library.as($0) }
    let keepers = libraries.map { _ in ChangeKeeper() }
    let followers = try zip(libraries, keepers).map { library, keeper in
      try library.register(keeper)
      let follower = ResultChanges.Iterator(try library.fetchAssets(), 8)
      try follower.listen()
      return follower
    }
    for round in 0..<3 {
      let held = try libraries.map { try $0.fetchAssets() }
      // In the last round some client's permission was changed before, so each client's is read.
      if round == 2 { try made.authorize("other") }
      try await made.library.performChanges { $0.setFavorite(round.isMultiple(of: 2), for: [ids[1]]) }
      try made.library.store.observation.pump()
      let head = try made.library.store.observation.head().commit
      let told = try followers.map { try #require(try $0.take()) }
      try await waitUntil("the observers are notified") { keepers.allSatisfy { $0.changes.all.last?.delta.to == head } }
      let asked = try zip(keepers, held).map { keeper, result in
        try #require(try keeper.changes.all.last?.changeDetails(for: result))
      }
      for (index, library) in libraries.enumerated() {
        for change in [told[index], asked[index]] {
          #expect(change.changedIndexes == [1] && change.fetchResultAfterChanges.state.client == library.client)
          #expect(try change.fetchResultAfterChanges.token == library.currentToken, "round \(round)")
        }
      }
      guard round < 2 else { continue }
      #expect((told + asked).allSatisfy { $0.positions != nil && $0.positions === told[0].positions }, "round \(round)")
      let ofWeb = [told[1], told[2], asked[1], asked[2]].map(\.fetchResultAfterChanges.state)
      #expect(ofWeb.allSatisfy { $0 === ofWeb[0] }, "round \(round)")
    }
  }
}

@Suite("Change details without increments")
struct WholeChangeTests {
  @Test("they contain no index and no object, and their result is correct (CD-14, CD-15, CD-17)")
  func notIncremental() async throws {
    let made = try TemporaryLibrary()
    let ids = try made.create(4)
    var options = FetchOptions()
    options.wantsIncrementalChangeDetails = false
    options.sort = [try SortTerm("isFavorite:desc", for: .asset)]
    let held = try made.library.fetchAssets(options)
    let keeper = ChangeKeeper()
    try made.library.register(keeper)
    var iterator = made.library.changes(to: held).makeAsyncIterator()
    try await made.library.performChanges { block in
      block.deleteAssets([ids[0]])
      block.setFavorite(true, for: [ids[3]])
      block.createAsset(.invented(9))
    }
    let followed = try #require(try await iterator.next())
    try await waitUntil("the observer is notified") { keeper.changes.all.count == 1 }
    let observed = try #require(try keeper.changes.all[0].changeDetails(for: held))
    for change in [followed, observed] {
      #expect(!change.hasIncrementalChanges && !change.hasMoves)
      #expect(change.removedIndexes == nil && change.insertedIndexes == nil)
      #expect(change.changedIndexes == nil && change.changedIndexesBefore == nil)
      #expect(try change.removedObjects().isEmpty && change.insertedObjects().isEmpty)
      #expect(try change.changedObjects().isEmpty && change.moves.isEmpty && change.moved.isEmpty)
      #expect(change.fetchResultBeforeChanges.token == held.token)
      #expect(change.fetchResultBeforeChanges.map(\.id) == ids)
      #expect(try change.fetchResultAfterChanges.map(\.id) == made.library.fetchAssets(options).map(\.id))
    }
    try await made.library.performChanges { $0.deleteAssets([ids[1]]) }
    let next = try #require(try await iterator.next())
    #expect(!next.hasIncrementalChanges && next.fetchResultAfterChanges.count == 3)
  }

  @Test("any two results can be compared; only passed objects are changed (CD-20)")
  func compared() throws {
    let made = try TemporaryLibrary()
    let ids = try made.create(6)
    let natural = try made.library.fetchAssets()
    var options = FetchOptions()
    options.sort = [try SortTerm("addedDate:desc", for: .asset), try SortTerm("pixelWidth", for: .asset)]
    try made.library.performChangesAndWait { block in
      block.deleteAssets([ids[2]])
      block.setFavorite(true, for: [ids[4]])
      block.createAsset(.invented(9))
    }
    let sorted = try made.library.fetchAssets(options)
    let favorite = try #require(try made.library.asset(ids[4].uuidString))
    for changed in [[], [favorite]] {
      let change = ChangeDetails(from: natural, to: sorted, changedObjects: changed)
      let expected = ListChange(before: natural.map(\.id), after: sorted.map(\.id), changed: Set(changed.map(\.id)))
      #expect(change.hasIncrementalChanges && change.commits.isEmpty)
      #expect(change.fetchResultBeforeChanges.token == natural.token)
      #expect(change.fetchResultAfterChanges.token == sorted.token)
      #expect(change.removedIndexes == IndexSet(expected.removed))
      #expect(change.insertedIndexes == IndexSet(expected.inserted))
      #expect(change.changedIndexes == IndexSet(expected.changed))
      #expect(try change.changedObjects().map(\.isFavorite) == changed.map(\.isFavorite))
      #expect(change.moves.count == expected.fewestMoves)
      #expect(change.hasMoves == (expected.middle != expected.after))
      var list = expected.middle
      for move in change.moves.sorted(by: { $0.from > $1.from }) { list.remove(at: move.from) }
      for move in change.moves { list.insert(expected.middle[move.from], at: move.to) }
      #expect(list == sorted.map(\.id))
    }
  }

  @Test("results that are compared have positions, whatever their fetches asked for (CD-20)")
  func comparedWithoutIncrements() throws {
    let made = try TemporaryLibrary()
    let ids = try made.create(3)
    var options = FetchOptions()
    options.wantsIncrementalChangeDetails = false
    let before = try made.library.fetchAssets(options)
    try made.library.performChangesAndWait { $0.deleteAssets([ids[1]]) }
    let change = ChangeDetails(from: before, to: try made.library.fetchAssets(options))
    #expect(change.hasIncrementalChanges && change.removedIndexes == [1] && change.insertedIndexes == [])
    #expect(try change.removedObjects().map(\.id) == [ids[1]])
  }

  @Test("results of two libraries have no difference")
  func comparedAcrossLibraries() async {
    await #expect(processExitsWith: .failure) {
      let one = try TemporaryLibrary(.seeded(1))
      let other = try TemporaryLibrary(.seeded(2))
      _ = ChangeDetails(from: try one.library.fetchAssets(), to: try other.library.fetchAssets())
    }
  }
}
