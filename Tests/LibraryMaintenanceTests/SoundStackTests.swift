import Foundation
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

@Suite("Stacks that a verification finds as they are")
struct SoundStackTests {
  @Test("the trash changes no stack; after a purge the oldest is the top, or there is no stack")
  func purging() async throws {
    let small = try SmallLibrary()
    let ids = try await small.assets(4)
    try await small.change { $0.stack(top: ids[2], others: [ids[3], ids[1]]) }
    try await small.change { $0.deleteAssets([ids[2]]) }
    #expect(try ids.map { try small.asset($0).stack } == [nil, ids[2], ids[2], ids[2]])
    #expect(try small.library.fetchAssets().map(\.id) == [ids[0]], "What lies in the trash may come back as it was.")
    try await small.change { $0.purgeAssets([ids[2]]) }
    #expect(try [ids[1], ids[3]].map { try small.asset($0).stack } == [ids[1], ids[1]])
    try await small.change { $0.deleteAssets([ids[1]]) }
    try await small.change { $0.purgeAssets([ids[1]]) }
    #expect(try small.asset(ids[3]).stack == nil)
    _ = try small.library.eraseAssets([ids[1], ids[2]])
    #expect(try small.library.verify(scratch: small.temporary.folder.url).isSound)
  }

  @Test("an erasure leaves a client its revisions, though a stack and a favourite were undone in one event")
  func erased() async throws {
    // The clock stands, so no edit has a date of modification that is new.
    let small = try SmallLibrary(.seeded(1, step: 0))
    let ids = try await small.assets(2)
    let app = try await small.ruleClient(.limited, [ids[0]])
    let start = try small.library.currentToken
    try await small.change { $0.setFavorite(true, for: [ids[0]]) }
    try await small.change { $0.stack(top: ids[1], others: [ids[0]]) }
    let beforeUndo = try app.currentToken
    try small.library.undoAndWait(.commits(after: start))
    #expect(try app.currentToken != beforeUndo, "The client sees that it is no favourite any more.")
    try await small.change { $0.deleteAssets([ids[0]]) }
    try await small.change { $0.purgeAssets([ids[0]]) }
    try small.library.eraseAssets([ids[0]])
    let token = try app.currentToken
    #expect(try small.library.verify(scratch: small.temporary.folder.url).isSound)
    try small.library.rebuild()
    #expect(try app.currentToken == token)
  }

  @Test("undoing a stack, an unstacking or a purge brings back exactly what was there")
  func undoing() async throws {
    let small = try SmallLibrary()
    let ids = try await small.assets(6)
    let album = try await small.album("Sea", ids)
    func state() throws -> UndoState { try UndoState(ofLibrary: small.library.url.path) }
    func dates() throws -> [Date?] {
      var options = FetchOptions()
      (options.includeHiddenAssets, options.includeAllStackAssets) = (true, true)
      return try small.library.fetchAssets(options).map(\.modificationDate)
    }
    let steps: [(ChangeBlock) -> Void] = [
      { $0.stack(top: ids[1], others: [ids[0], ids[2]]) },
      { $0.stack(top: ids[4], others: [ids[1], ids[3]]) },
      { $0.stack(top: ids[2], others: []) },
      { $0.unstack([ids[3]]) },
      { $0.setCover(ids[4], of: album.id) },
      { $0.stack(top: ids[5], others: [ids[4]]) },
      { $0.unstack([ids[5]]) },
    ]
    var states = [try state()]
    let known = try dates()
    for step in steps {
      try small.library.performChangesAndWait(cause: "steps", step)
      states.append(try state())
      let after = try state()
      let report = try small.library.undoAndWait(.commit(small.library.currentToken))
      #expect(try state() == states[states.count - 2])
      try small.library.undoAndWait(.commit(try #require(report.token)))
      #expect(try state() == after)
    }
    #expect(try dates() == known)
    try small.library.undoAndWait(.cause("steps"))
    #expect(try state() == states[0] && dates() == known)
    #expect(try small.library.verify(scratch: small.temporary.folder.url).isSound)
  }
}
