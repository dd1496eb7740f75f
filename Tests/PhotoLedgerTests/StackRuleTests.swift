import Foundation
import PhotoLedger
import TestSupport
import Testing

// What stacks do, one rule at a time; histories compare them with a model at random (ModelLibrary+Stacks.swift).

@Suite("Stacks")
struct StackRuleTests {
  private static let everything: FetchOptions = {
    var options = FetchOptions()
    (options.includeHiddenAssets, options.includeAllStackAssets) = (true, true)
    return options
  }()

  private func tops(_ small: SmallLibrary, _ ids: [LocalIdentifier]) throws -> [LocalIdentifier?] {
    try ids.map { try small.asset($0).stack }
  }

  @Test("the top is shown in place of all: in the library, in albums, their counts and covers; all of it when asked")
  func shown() async throws {
    let small = try SmallLibrary()
    let ids = try await small.assets(4)
    let album = try await small.album("Sea", ids)
    try await small.change { $0.setCover(ids[2], of: album.id) }
    let dates = try ids.map { try small.asset($0).modificationDate }
    let list = try small.library.fetchAssets()
    let change = try await small.change { $0.stack(top: ids[1], others: [ids[2], ids[0]]) }
    #expect(try tops(small, ids) == [ids[1], ids[1], ids[1], nil])
    #expect(try ids.map { try small.asset($0).isBeneathStack } == [true, false, true, false])
    #expect(try small.library.fetchAssets().map(\.id) == [ids[1], ids[3]])
    #expect(try small.library.fetchAssets(Self.everything).map(\.id) == ids)
    #expect(try small.members(album) == [ids[1], ids[3]])
    #expect(try small.now(album.id).estimatedAssetCount == 2 && small.now(album.id).cover == nil)
    #expect(try small.library.fetchAssets(Self.everything, in: album).map(\.id) == ids)
    #expect(try ids.map { try small.asset($0).modificationDate } == dates, "A stack changes no date.")
    let details = try #require(try change.changeDetails(for: list))
    #expect(try details.removedObjects().map(\.id) == [ids[0], ids[2]])
    #expect(try details.changedObjects().map(\.id) == [ids[1]])
    #expect(try await small.refusal { $0.setCover(ids[0], of: album.id) } == .changeNotSupported)
    let before = try small.library.at(list.token)
    #expect(try before.fetchAssets().map(\.id) == ids)
  }

  @Test("an asset is in one stack; a stack of one dissolves, and the oldest takes over from a top that left")
  func moving() async throws {
    let small = try SmallLibrary()
    let ids = try await small.assets(6)
    try await small.change { $0.stack(top: ids[1], others: [ids[0], ids[2]]) }
    try await small.change { $0.stack(top: ids[4], others: [ids[3], ids[1]]) }
    #expect(try tops(small, ids) == [ids[0], ids[4], ids[0], ids[4], ids[4], nil], "the top went to another stack")
    try await small.change { $0.stack(top: ids[0], others: [ids[5]]) }
    #expect(try tops(small, ids)[5] == ids[0] && tops(small, ids)[2] == ids[0], "the stack of the top was joined")
    try await small.change { $0.stack(top: ids[2], others: []) }
    #expect(try tops(small, ids) == [ids[2], ids[4], ids[2], ids[4], ids[4], ids[2]], "it was raised")
    try await small.change { $0.stack(top: ids[5], others: [ids[2], ids[0]]) }
    #expect(try tops(small, ids) == [ids[5], ids[4], ids[5], ids[4], ids[4], ids[5]])
    try await small.change { $0.stack(top: ids[3], others: [ids[1]]) }
    #expect(try tops(small, ids) == [ids[5], ids[3], ids[5], ids[3], nil, ids[5]], "one was left alone")
    try await small.change { $0.unstack([ids[0]]) }
    #expect(try tops(small, ids) == [nil, ids[3], ids[5], ids[3], nil, ids[5]])
    try await small.change { $0.unstack([ids[2], ids[4]]) }
    #expect(try tops(small, ids) == [nil, ids[3], nil, ids[3], nil, nil], "the last but one dissolves it")
    try await small.change { $0.stack(top: ids[3], others: [ids[0], ids[5]]) }
    try await small.change { $0.unstack([ids[3], ids[0]]) }
    #expect(try tops(small, ids) == [nil, nil, nil, nil, nil, nil], "the top takes it apart")
  }

  @Test("an invalid stack is rejected, and leaves nothing")
  func refusals() async throws {
    let small = try SmallLibrary()
    let ids = try await small.assets(3)
    var burst: [LocalIdentifier] = []
    try await small.change { block in
      var creation = AssetCreation.invented(20)
      creation.burstIdentifier = "burst"
      burst = [block.createAsset(creation), block.createAsset(creation)]
      creation = .invented(21)
      creation.sourceType = .cloudShared
      burst.append(block.createAsset(creation))
    }
    try await small.change { $0.deleteAssets([ids[2]]) }
    let (one, two) = (ids[0], ids[1])
    #expect(try await small.refusal { $0.stack(top: one, others: []) } == .changeNotSupported)
    #expect(try await small.refusal { $0.stack(top: one, others: [two, one]) } == .changeNotSupported)
    #expect(try await small.refusal { $0.stack(top: one, others: [ids[2]]) } == .changeNotSupported)
    #expect(try await small.refusal { $0.stack(top: ids[2], others: [one]) } == .changeNotSupported)
    #expect(try await small.refusal { $0.stack(top: one, others: [burst[1]]) } == .requestNotSupportedForAsset)
    #expect(try await small.refusal { $0.stack(top: burst[1], others: [one]) } == .requestNotSupportedForAsset)
    #expect(try await small.refusal { $0.stack(top: one, others: [burst[2]]) } == .requestNotSupportedForAsset)
    #expect(try await small.refusal { $0.stack(top: LocalIdentifier(UUID()), others: [one]) } == .identifierNotFound)
    #expect(try await small.refusal { $0.unstack([burst[2]]) } == .requestNotSupportedForAsset)
    try await small.change { $0.stack(top: burst[0], others: [one]) }
    let token = try small.library.currentToken
    let again = try small.library.performChangesAndWait { $0.stack(top: burst[0], others: [one]) }
    #expect(again.token == token, "It is as it was asked for.")
  }

  @Test("a stack has at most 1,000 assets, existing ones included")
  func bounds() async throws {
    let small = try SmallLibrary()
    let ids = try await small.assets(1001)
    #expect(try await small.refusal { $0.stack(top: ids[0], others: Array(ids[1...])) } == .changeNotSupported)
    try await small.change { $0.stack(top: ids[0], others: Array(ids[1..<1000])) }
    #expect(try small.library.fetchAssets().count == 2)
    #expect(try await small.refusal { $0.stack(top: ids[0], others: [ids[1000]]) } == .changeNotSupported)
    try await small.change { $0.unstack([ids[0]]) }
    #expect(try small.library.fetchAssets().count == 1001)
  }

  @Test("predicates query the top and the assets beneath, in both spellings")
  func predicates() async throws {
    let small = try SmallLibrary()
    let ids = try await small.assets(4)
    try await small.change { $0.stack(top: ids[1], others: [ids[3]]) }
    func found(_ format: String) throws -> [LocalIdentifier] {
      var options = Self.everything
      options.condition = try Condition(format: format, for: .asset)
      return try small.library.fetchAssets(options).map(\.id)
    }
    #expect(try found("stack == '\(ids[1].uuidString)/L0/001'") == [ids[1], ids[3]])
    #expect(try found("stack != '\(ids[1].uuidString)'") == [ids[0], ids[2]])
    #expect(try found("stack == '\(ids[3].uuidString)'") == [])
    #expect(try found("stack != nil AND isBeneathStack == NO") == [ids[1]])
    #expect(try found("stack == nil") == [ids[0], ids[2]])
    #expect(try found("stack IN {'\(ids[1].uuidString)', '\(ids[0].uuidString)'}") == [ids[1], ids[3]])
    #expect(try found("isBeneathStack == YES OR localIdentifier == '\(ids[0].uuidString)'") == [ids[0], ids[3]])
    let top: LocalIdentifier? = ids[1]
    #expect(try small.library.fetchAssets(where: #Predicate { $0.stack == top }).map(\.id) == [ids[1]])
    #expect(try small.library.fetchAssets(where: #Predicate { $0.stack == nil }).map(\.id) == [ids[0], ids[2]])
    #expect(throws: FetchError.self) { try SortTerm("stack", for: .asset) }
    #expect(throws: FetchError.self) { try found("stack < '\(ids[1].uuidString)'") }
  }

  @Test("to a limited client nothing is in a stack, whichever asset is on top; it may neither create nor dissolve one")
  func limited() async throws {
    let small = try SmallLibrary()
    let ids = try await small.assets(4)
    let client = try await small.ruleClient(.limited, [ids[0], ids[1], ids[2]])
    let receipt = try client.performChangesAndWait { block in
      let album = block.createAlbum(title: "own")
      block.album(album).add([ids[0], ids[1]])
      block.setCover(ids[0], of: album)
    }
    let own = try small.now(LocalIdentifier(receipt.created[0]))
    let (list, token) = (try client.fetchAssets(), try client.currentToken)
    var byStack = FetchOptions()
    byStack.sort = [try SortTerm("isBeneathStack:desc", for: .asset)]
    let sorted = try client.fetchAssets(byStack)
    try await small.change { $0.stack(top: ids[3], others: [ids[1], ids[2]]) }
    #expect(try client.fetchAssets(byStack).map(\.id) == sorted.map(\.id), "Stacks order nothing that it sees.")
    try await small.change { $0.unstack([ids[1], ids[2]]) }
    try await small.change { $0.stack(top: ids[3], others: [ids[0], ids[1]]) }
    #expect(try small.now(own.id).estimatedAssetCount == 0 && small.now(own.id).cover == nil)
    #expect(try client.fetchAssets().map(\.id) == [ids[0], ids[1], ids[2]])
    #expect(try client.asset(ids[0].uuidString)?.stack == nil)
    #expect(try client.currentToken == token, "Nothing happened that it could see.")
    #expect(try client.changeDetails(from: list, to: client.currentToken).commits.isEmpty)
    let seen = try #require(try client.collection(own.id.uuidString))
    #expect(seen.estimatedAssetCount == 2 && seen.cover == ids[0])
    try client.performChangesAndWait { $0.setCover(ids[1], of: own.id) }
    #expect(try client.collection(own.id.uuidString)?.cover == ids[1] && small.now(own.id).cover == nil)
    var asked = FetchOptions()
    asked.condition = .isPresent(.stack)
    #expect(try client.fetchAssets(asked).isEmpty)
    asked.condition = .and([.isNil(.stack), .comparison(.isBeneathStack, .equal, .bool(false))])
    #expect(try client.fetchAssets(asked).count == 3)
    for make: (ChangeBlock) -> Void in [
      { $0.stack(top: ids[0], others: [ids[1]]) }, { $0.unstack([ids[0]]) },
    ] {
      let error = #expect(throws: LibraryError.self) { try client.performChangesAndWait(make) }
      #expect(error?.code == .accessUserDenied)
    }
    let change = try await small.change { $0.setAuthorizationStatus(.authorized, of: client.client) }
    #expect(try client.fetchAssets().map(\.id) == [ids[2], ids[3]])
    #expect(change.token == (try small.library.currentToken))
  }

  @Test(
    "a client whose access becomes or stops being limited sees stacks disappear or appear: in results, and by asset")
  func crossing() async throws {
    let small = try SmallLibrary()
    let ids = try await small.assets(4)
    let client = try await small.ruleClient(.authorized, ids)
    try await small.change { $0.stack(top: ids[3], others: [ids[0], ids[1]]) }
    let keeper = ChangeKeeper()
    try client.register(keeper)
    func crossed(
      to status: AuthorizationStatus, _ more: (ChangeBlock) -> Void = { _ in }
    ) async throws -> LibraryChange {
      let count = keeper.changes.all.count
      try await small.change { block in
        more(block)
        block.setAuthorizationStatus(status, of: client.client)
      }
      try await waitUntil("the client hears of its access") { keeper.changes.all.count > count }
      return try #require(keeper.changes.all.last)
    }
    let (list, assets) = (try client.fetchAssets(Self.everything), try ids.map { try client.asset($0.uuidString) })
    let known = try assets.map { try #require($0) }
    let limited = try await crossed(to: .limited) { $0.unstack([ids[0]]) }
    let details = try #require(try limited.changeDetails(for: list))
    #expect(try details.changedObjects().map(\.id) == [ids[0], ids[1], ids[3]])
    #expect(try details.changedObjects().allSatisfy { $0.stack == nil })
    #expect(limited.changeDetails(for: known[0])?.objectBeforeChanges.stack == ids[3])
    #expect(limited.changeDetails(for: known[2]) == nil)
    let seen = details.fetchResultAfterChanges
    let full = try await crossed(to: .authorized)
    let back = try #require(try full.changeDetails(for: seen))
    #expect(try back.changedObjects().map(\.stack) == [ids[3], ids[3]])
    let again = try await crossed(to: .limited) { $0.stack(top: ids[3], others: [ids[2]]) }
    #expect(again.changeDetails(for: known[2]) == nil, "It was in no stack, and is in none to a limited client.")
  }

  @Test(
    "a sort that involves stacks is followed from one permission to another, forward and back",
    arguments: [
      (["creationDate:desc", "isBeneathStack"], [5, 4, 3, 2, 1, 0], [4, 2, 1, 0]),
      (["isBeneathStack", "creationDate"], [0, 2, 3, 5, 1, 4], [0, 1, 2, 4]),
      (["isBeneathStack"], [0, 2, 3, 5, 1, 4], [0, 1, 2, 4]),
    ])
  func sortedCrossing(terms: [String], full: [Int], limited: [Int]) async throws {
    let small = try SmallLibrary()
    let ids = try await small.assets(6)
    let client = try await small.ruleClient(.authorized, [0, 1, 2, 4].map { ids[$0] })
    try await small.change { $0.stack(top: ids[3], others: [ids[1], ids[4]]) }
    var options = Self.everything
    options.sort = try terms.map { try SortTerm($0, for: .asset) }
    var held = try client.fetchAssets(options)
    #expect(held.map(\.id) == full.map { ids[$0] })
    let keeper = ChangeKeeper()
    try client.register(keeper)
    var iterator = client.changes(to: held).makeAsyncIterator()
    let states: [(AuthorizationStatus, [Int])] = [(.limited, limited), (.authorized, full), (.denied, [])]
    for (status, shown) in states {
      let count = keeper.changes.all.count
      try await small.change { $0.setAuthorizationStatus(status, of: client.client) }
      try await waitUntil("the client hears of its access") { keeper.changes.all.count > count }
      let (before, after) = (held.map(\.id), shown.map { ids[$0] })
      let expected = ListChange(before: before, after: after, changed: [ids[1], ids[4]])
      let observed = try #require(try keeper.changes.all.last?.changeDetails(for: held))
      let followed = try #require(try await iterator.next())
      for details in [observed, followed] {
        #expect(details.fetchResultBeforeChanges.map(\.id) == before)
        #expect(details.fetchResultAfterChanges.map(\.id) == after)
        try expected.check(details, touched: Set(ids), exactly: false)
      }
      let next = observed.fetchResultAfterChanges
      if status != .denied {
        let back = try client.changeDetails(from: next, to: held.token)
        #expect(back.fetchResultAfterChanges.map(\.id) == before)
        try ListChange(before: after, after: before, changed: [ids[1], ids[4]])
          .check(back, touched: Set(ids), exactly: false)
      }
      held = next
    }
  }

  // MARK: Undo

  @Test("an undo leaves valid stacks only: with their top, and of more than one asset")
  func undoingInPart() async throws {
    let small = try SmallLibrary()
    let ids = try await small.assets(5)
    let first = try small.library.performChangesAndWait { $0.stack(top: ids[0], others: [ids[1], ids[2]]) }
    try small.library.performChangesAndWait { $0.stack(top: ids[0], others: [ids[3]]) }
    try small.library.undoAndWait(.commit(first.token))
    #expect(try tops(small, ids) == [nil, nil, nil, nil, nil], "one was left alone")
    let second = try small.library.performChangesAndWait { $0.stack(top: ids[0], others: [ids[1]]) }
    try small.library.performChangesAndWait { $0.stack(top: ids[0], others: [ids[4], ids[3]]) }
    try small.library.undoAndWait(.commit(second.token))
    #expect(try tops(small, ids) == [nil, nil, nil, ids[3], ids[3]], "the oldest took over")
    let third = try small.library.performChangesAndWait { $0.stack(top: ids[4], others: []) }
    try small.library.performChangesAndWait { $0.unstack([ids[4]]) }
    let error = #expect(throws: LibraryError.self) { try small.library.undoAndWait(.commit(third.token)) }
    #expect(error?.code == .conflict)
    let skipped = try small.library.undoAndWait(.commit(third.token), onConflict: .skip)
    #expect(skipped.conflicts.count == 2 && skipped.conflicts.allSatisfy { $0.change.property == "stack" })
    try small.library.undoAndWait(.commit(third.token), onConflict: .force)
    #expect(try tops(small, ids) == [nil, nil, nil, ids[3], ids[3]])
  }
}
