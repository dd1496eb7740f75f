import Foundation
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

// Undoing what determined the representative of a burst, where another member was chosen since: the later choice stays,
// and the report names nothing that does not happen.

@Suite("Undo in bursts")
struct UndoneBurstTests {
  private func burst(
    _ small: SmallLibrary, named name: String = "burst", of make: (Int) -> AssetCreation = { .invented($0) }
  ) async throws -> [LocalIdentifier] {
    var ids: [LocalIdentifier] = []
    try await small.change { block in
      for seed in 0..<3 {
        var creation = make(seed)
        creation.burstIdentifier = name
        ids.append(block.createAsset(creation))
      }
    }
    return ids
  }

  private func choose(_ id: LocalIdentifier, _ small: SmallLibrary) throws -> Token {
    try small.library.performChangesAndWait { $0.setRepresentative(ofBurst: id) }.token
  }

  private func representatives(_ small: SmallLibrary, _ ids: [LocalIdentifier]) throws -> [LocalIdentifier] {
    try ids.filter { try small.asset($0).representsBurst }
  }

  private func isSound(_ small: SmallLibrary) throws -> Bool {
    try small.library.verify(scratch: small.temporary.folder.url).isSound
  }

  @Test(
    "a representative that was chosen later stays, whichever member was added first",
    arguments: [[0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0]])
  func laterChoice(order: [Int]) async throws {
    let small = try SmallLibrary()
    let ids = try await burst(small)
    if order[0] != 0 { _ = try choose(ids[order[0]], small) }
    let first = try choose(ids[order[1]], small)
    _ = try choose(ids[order[2]], small)
    let report = try small.library.undoAndWait(.commit(first))
    #expect(report.changes.isEmpty && report.conflicts.isEmpty && report.token == nil)
    #expect(try representatives(small, ids) == [ids[order[2]]])
  }

  @Test("an earlier representative that returns from a purge leaves the burst to the one that was chosen since")
  func returned() async throws {
    let small = try SmallLibrary()
    let ids = try await burst(small)
    _ = try choose(ids[1], small)
    try await small.change { $0.deleteAssets([ids[1]]) }
    let purge = try small.library.performChangesAndWait { $0.purgeAssets([ids[1]]) }
    _ = try choose(ids[2], small)
    let before = try UndoState(ofLibrary: small.library.url.path)
    let report = try small.library.undoAndWait(.commit(purge.token))
    #expect(report.changes.map(\.kind) == [.purge])
    #expect(try representatives(small, ids) == [ids[2]])
    #expect(try small.library.fetchAssets().map(\.id) == [ids[2]])
    #expect(try isSound(small))
    try small.library.undoAndWait(.commit(try #require(report.token)))
    #expect(try UndoState(ofLibrary: small.library.url.path) == before)
    #expect(try isSound(small))
  }

  /// Adds a member that represents the burst.
  private func add(_ small: SmallLibrary) throws -> Token {
    var creation = AssetCreation.invented(9)
    creation.burstIdentifier = "burst"
    creation.representsBurst = true
    return try small.library.performChangesAndWait { $0.createAsset(creation) }.token
  }

  @Test("when the creation of a representative is undone, the one that was chosen since stays")
  func created() async throws {
    let small = try SmallLibrary()
    let ids = try await burst(small)
    let added = try add(small)
    _ = try choose(ids[2], small)
    let undo = try small.library.undoAndWait(.commit(added))
    #expect(undo.changes.map(\.kind) == [.creation])
    #expect(try representatives(small, ids) == [ids[2]])
    #expect(try isSound(small))
  }

  @Test("when the creation of a representative is restored, the one that was chosen since stays")
  func restored() async throws {
    let small = try SmallLibrary()
    let ids = try await burst(small)
    let undo = try small.library.undoAndWait(.commit(try add(small)))
    #expect(try representatives(small, ids) == [ids[0]])
    _ = try choose(ids[1], small)
    let redo = try small.library.undoAndWait(.commit(try #require(undo.token)))
    #expect(redo.changes.map(\.property) == ["existence", "trashedDate"])
    let all = try small.library.fetchAssets(withBurstIdentifier: "burst")
    #expect(try all.map(\.id) == [ids[1]] && representatives(small, ids) == [ids[1]])
    #expect(try isSound(small))
  }

  @Test("an asset that alone is chosen becomes the representative again, whichever member the commit chose")
  func oneObject() async throws {
    let small = try SmallLibrary()
    let ids = try await burst(small)
    for (former, chosen) in [(0, 2), (2, 0)] {
      if former != 0 { _ = try choose(ids[former], small) }
      var selection = UndoSelection.commit(try choose(ids[chosen], small))
      selection.objects = [ids[former]]
      let report = try small.library.undoAndWait(selection)
      #expect(report.changes.map { $0.object.prefix(36) } == [Substring(ids[former].uuidString)])
      #expect(try representatives(small, ids) == [ids[former]])
    }
  }
  @Test("an asset that alone is chosen becomes the representative again if the commit created another in its place")
  func oneObjectOfCreation() async throws {
    let small = try SmallLibrary()
    let ids = try await burst(small)
    var selection = UndoSelection.commit(try add(small))
    selection.objects = [ids[0]]
    let report = try small.library.undoAndWait(selection)
    #expect(report.changes.map { $0.object.prefix(36) } == [Substring(ids[0].uuidString)])
    let all = try small.library.fetchAssets(withBurstIdentifier: "burst")
    #expect(try all.map(\.id) == [ids[0]] && representatives(small, ids) == [ids[0]])
    #expect(try isSound(small))
  }

  @Test("an asset that alone is chosen returns from its purge as the representative that it was")
  func oneObjectOfPurge() async throws {
    let small = try SmallLibrary()
    let ids = try await burst(small)
    try await small.change { $0.deleteAssets([ids[0]]) }
    var selection = UndoSelection.commit(
      try small.library.performChangesAndWait { $0.purgeAssets([ids[0]]) }.token)
    #expect(try representatives(small, [ids[1], ids[2]]) == [ids[1]])
    selection.objects = [ids[0]]
    let report = try small.library.undoAndWait(selection)
    #expect(report.changes.map(\.kind) == [.purge])
    #expect(try representatives(small, ids) == [ids[0]])
    #expect(try isSound(small))
  }

  @Test("where a purged representative cannot return, the one that took over stays, and the report names no change")
  func purged() async throws {
    let small = try SmallLibrary()
    let ids = try await burst(small) { .photo("photo \($0)") }
    try await small.change { $0.deleteAssets([ids[0]]) }
    let purge = try small.library.performChangesAndWait { $0.purgeAssets([ids[0]]) }.token
    // Files go after the caller has been answered.
    try await waitUntil("the file is removed") { try small.library.planUndo(.commit(purge)).isRefused }
    let date = try small.asset(ids[1]).modificationDate
    let report = try small.library.undoAndWait(.commit(purge), onConflict: .skip)
    #expect(report.conflicts.map(\.reason) == [.bytesGone])
    #expect(report.changes.isEmpty && report.token == nil)
    #expect(try representatives(small, [ids[1], ids[2]]) == [ids[1]])
    #expect(try small.asset(ids[1]).modificationDate == date && small.library.currentToken == purge)
    #expect(try isSound(small))
  }

  @Test("of two bursts whose names Unicode takes for one text, each gets back the representative that it had")
  func spelledAlike() async throws {
    let small = try SmallLibrary()
    var bursts: [[LocalIdentifier]] = []
    for name in ["caf\u{E9}", "cafe\u{301}"] { bursts.append(try await burst(small, named: name)) }
    let chosen = try small.library.performChangesAndWait { block in
      for ids in bursts { block.setRepresentative(ofBurst: ids[1]) }
    }.token
    let report = try small.library.undoAndWait(.commit(chosen))
    #expect(report.conflicts.isEmpty)
    for ids in bursts { #expect(try representatives(small, ids) == [ids[0]]) }
    #expect(try isSound(small))
  }
}
