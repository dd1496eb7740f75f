import Foundation
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

// Undoing what took a stack apart, where its other assets cannot return to it: one asset is not a stack, and the report
// names nothing that does not happen.

@Suite("Undo of stacks")
struct UndoneStackTests {
  private func stacks(_ small: SmallLibrary, _ ids: [LocalIdentifier]) throws -> [LocalIdentifier?] {
    try ids.map { try small.asset($0).stack }
  }

  @Test(
    "a stack whose other asset was put into another one since is not restored, and nothing is committed",
    arguments: [0, 1])
  func alone(taken: Int) async throws {
    let small = try SmallLibrary()
    let ids = try await small.assets(3)
    try await small.change { $0.stack(top: ids[0], others: [ids[1]]) }
    let unstacked = try small.library.performChangesAndWait { $0.unstack([ids[1]]) }.token
    try await small.change { $0.stack(top: ids[2], others: [ids[taken]]) }
    let before = try stacks(small, ids)
    let head = try small.library.currentToken
    let plan = try small.library.planUndo(.commit(unstacked), onConflict: .skip)
    let report = try small.library.undoAndWait(.commit(unstacked), onConflict: .skip)
    for found in [plan, report] {
      #expect(found.changes.isEmpty && found.token == nil)
      #expect(found.conflicts.map(\.outcome) == [.skipped])
      #expect(found.kept.count == 1 && found.kept[0].contains(ids[1 - taken].uuidString))
    }
    #expect(try stacks(small, ids) == before && small.library.currentToken == head)
  }

  @Test("an asset leaves the stack into which the undone commit put it, though its former one has no other asset")
  func leaves() async throws {
    let small = try SmallLibrary()
    let ids = try await small.assets(3)
    try await small.change { $0.stack(top: ids[0], others: [ids[1]]) }
    let moved = try small.library.performChangesAndWait { $0.stack(top: ids[2], others: [ids[1]]) }.token
    try await small.change { $0.deleteAssets([ids[0]]) }
    try await small.change { $0.purgeAssets([ids[0]]) }
    let report = try small.library.undoAndWait(.commit(moved), onConflict: .skip)
    #expect(report.conflicts.map(\.reason) == [.goneSince])
    #expect(report.changes.map(\.property) == ["stack", "stack"])
    #expect(report.changes.allSatisfy { $0.restored == .null })
    #expect(report.kept.count == 1 && report.kept[0].contains(ids[1].uuidString))
    #expect(try stacks(small, [ids[1], ids[2]]) == [nil, nil])
    #expect(try small.library.verify(scratch: small.temporary.folder.url).isSound)
  }

  @Test("a stack of which two assets can return is restored, with the older of them on top")
  func partly() async throws {
    let small = try SmallLibrary()
    let ids = try await small.assets(4)
    try await small.change { $0.stack(top: ids[0], others: [ids[1], ids[2]]) }
    let unstacked = try small.library.performChangesAndWait { $0.unstack([ids[0]]) }.token
    try await small.change { $0.stack(top: ids[3], others: [ids[0]]) }
    let report = try small.library.undoAndWait(.commit(unstacked), onConflict: .skip)
    #expect(report.changes.map(\.object) == [ids[1], ids[2]].map { $0.spelled(as: .asset) })
    let top = LogValue(.identifier(ids[1]), of: .stack)
    #expect(report.changes.allSatisfy { $0.property == "stack" && $0.restored == top } && report.kept.isEmpty)
    #expect(try stacks(small, ids) == [ids[3], ids[1], ids[1], ids[3]])
    #expect(try small.library.verify(scratch: small.temporary.folder.url).isSound)
  }

  @Test("assets that another one heads since their top left stay as they are, where that top does not return")
  func headed() async throws {
    let small = try SmallLibrary()
    let ids = try await small.assets(5)
    try await small.change { $0.stack(top: ids[0], others: [ids[1], ids[2]]) }
    let taken = try small.library.performChangesAndWait { $0.stack(top: ids[3], others: [ids[0]]) }.token
    try await small.change { $0.stack(top: ids[4], others: [ids[0]]) }
    let before = try stacks(small, ids)
    #expect(before == [ids[4], ids[1], ids[1], nil, ids[4]])
    let head = try small.library.currentToken
    let plan = try small.library.planUndo(.commit(taken), onConflict: .skip)
    let report = try small.library.undoAndWait(.commit(taken), onConflict: .skip)
    for found in [plan, report] {
      #expect(found.changes.isEmpty && found.token == nil)
      #expect(found.conflicts.map(\.outcome) == [.skipped])
      #expect(found.kept.count == 2 && found.kept[0].contains(ids[1].uuidString))
    }
    #expect(try stacks(small, ids) == before && small.library.currentToken == head)
  }

  @Test("a former stack that is not restored, as it would be one asset alone, is not a forced conflict")
  func forcedAlone() async throws {
    let small = try SmallLibrary()
    let ids = try await small.assets(3)
    try await small.change { $0.stack(top: ids[0], others: [ids[1]]) }
    let moved = try small.library.performChangesAndWait { $0.stack(top: ids[2], others: [ids[1]]) }.token
    try await small.change { $0.unstack([ids[1]]) }
    try await small.change { $0.deleteAssets([ids[0]]) }
    try await small.change { $0.purgeAssets([ids[0]]) }
    let report = try small.library.undoAndWait(.commit(moved), onConflict: .force)
    #expect(report.changes.isEmpty && report.token == nil)
    #expect(report.conflicts.map(\.outcome) == [.skipped] && report.kept.count == 1)
    #expect(try stacks(small, [ids[1], ids[2]]) == [nil, nil])
  }
}
