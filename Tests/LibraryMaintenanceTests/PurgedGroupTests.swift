import Foundation
import LibraryAudit
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

// Many members of a stack or a burst that are purged in one request: those that stay are rewritten once, those that go
// never, so that the purge of a thousand is as many events.

@Suite("Stacks and bursts that are purged")
struct PurgedGroupTests {
  private func stack(_ small: SmallLibrary, _ count: Int) async throws -> [LocalIdentifier] {
    let ids = try await small.assets(count)
    try await small.change { $0.stack(top: ids[0], others: Array(ids[1...])) }
    return ids
  }

  private func burst(_ small: SmallLibrary, _ count: Int) async throws -> [LocalIdentifier] {
    var ids: [LocalIdentifier] = []
    try await small.change { block in
      for seed in 0..<count {
        var creation = AssetCreation.invented(seed)
        creation.burstIdentifier = "burst"
        ids.append(block.createAsset(creation))
      }
    }
    return ids
  }

  /// Purges assets in their order, and undoes it once it is known what the purge recorded.
  /// - Parameters:
  ///   - rewritten: the assets that the purge edits, all in one event.
  ///   - isSettled: whether those that stay are as they have to be.
  private func purge(
    _ going: [LocalIdentifier], of small: SmallLibrary, rewriting rewritten: [LocalIdentifier],
    _ isSettled: () throws -> Bool
  ) async throws {
    let library = small.library
    try await small.change { $0.deleteAssets(going) }
    let before = try UndoState(ofLibrary: library.url.path)
    var filter = LogFilter()
    filter.after = try library.currentToken
    let purge = try library.performChangesAndWait { $0.purgeAssets(going) }
    var found: [LogEntry] = []
    try library.forEachLogEntry(filter) { entry in
      found.append(entry)
      return true
    }
    let edits = found.filter { $0.type == "assets.edited" }
    #expect(edits.count == (rewritten.isEmpty ? 0 : 1))
    #expect(edits.flatMap(\.objects).map { String($0.prefix(36)) } == rewritten.map(\.uuidString))
    #expect(found.count == edits.count + going.count)
    let settled = try isSettled()
    #expect(settled)
    #expect(try library.verify(scratch: small.temporary.folder.url).isSound)
    try library.undoAndWait(.commit(purge.token))
    #expect(try UndoState(ofLibrary: library.url.path) == before)
    #expect(try library.verify(scratch: small.temporary.folder.url).isSound)
  }

  @Test("a stack that is purged as a whole is not rewritten during the purge, and an undo restores it")
  func wholeStack() async throws {
    let small = try SmallLibrary()
    let ids = try await stack(small, 40)
    try await purge(ids, of: small, rewriting: []) { try small.library.fetchAssets().isEmpty }
  }

  @Test("a stack that loses half of its members gets its new top once, and an undo brings the former top back")
  func halfAStack() async throws {
    let small = try SmallLibrary()
    let ids = try await stack(small, 40)
    let rest = Array(ids[20...])
    try await purge(Array(ids[..<20]), of: small, rewriting: rest) {
      try rest.allSatisfy { try small.asset($0).stack == rest[0] }
    }
  }

  @Test("a stack that keeps its top is not rewritten, and one with a single remaining asset is dissolved")
  func topAlone() async throws {
    let small = try SmallLibrary()
    let ids = try await stack(small, 6)
    try await purge([ids[3], ids[1]], of: small, rewriting: []) { try small.asset(ids[2]).stack == ids[0] }
    try await small.change { $0.restoreAssets([ids[3], ids[1]]) }
    try await purge(Array(ids[1...]), of: small, rewriting: [ids[0]]) { try small.asset(ids[0]).stack == nil }
  }

  @Test("a burst that is purged as a whole gets no other representative during the purge, and an undo restores it")
  func wholeBurst() async throws {
    let small = try SmallLibrary()
    let ids = try await burst(small, 40)
    try await purge(ids, of: small, rewriting: []) { try small.library.fetchAssets().isEmpty }
  }

  @Test("a burst that loses half of its members gets one representative, and an undo brings the former one back")
  func halfABurst() async throws {
    let small = try SmallLibrary()
    let ids = try await burst(small, 40)
    let rest = Array(ids[20...])
    try await purge(Array(ids[..<20]), of: small, rewriting: [rest[0]]) {
      try rest.filter { try small.asset($0).representsBurst } == [rest[0]]
    }
  }

  @Test("a request that names an asset outside the trash purges nothing, and no stack changes")
  func refused() async throws {
    let small = try SmallLibrary()
    let ids = try await stack(small, 4)
    try await small.change { $0.deleteAssets([ids[0]]) }
    #expect(try await small.refusal { $0.purgeAssets([ids[0], ids[1]]) } == .changeNotSupported)
    let tops = try ids.map { try small.asset($0).stack }
    #expect(tops == [ids[0], ids[0], ids[0], ids[0]])
  }
}
