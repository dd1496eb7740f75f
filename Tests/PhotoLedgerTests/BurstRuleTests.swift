import Foundation
import PhotoLedger
import TestSupport
import Testing

@Suite("Bursts")
struct BurstRuleTests {
  /// The members of one burst, the first of which comes to stand for it.
  private func burst(
    _ small: SmallLibrary, _ selections: [BurstSelectionTypes], named name: String = "burst 1"
  ) async throws -> [LocalIdentifier] {
    var ids: [LocalIdentifier] = []
    try await small.change { block in
      for (index, selection) in selections.enumerated() {
        var creation = AssetCreation.invented(100 + index)
        creation.burstIdentifier = name
        creation.burstSelectionTypes = selection
        ids.append(block.createAsset(creation))
      }
    }
    return ids
  }

  private func representatives(_ small: SmallLibrary, _ ids: [LocalIdentifier]) throws -> [LocalIdentifier] {
    try ids.filter { try small.asset($0).representsBurst }
  }

  @Test("members share an identifier, and exactly one represents the burst, whichever members come and go (BU-01)")
  func representative() async throws {
    let small = try SmallLibrary()
    var ids = try await burst(small, [[], [], []])
    #expect(try ids.map { try small.asset($0).burstIdentifier } == ["burst 1", "burst 1", "burst 1"])
    #expect(try representatives(small, ids) == [ids[0]])
    try await small.change { $0.setRepresentative(ofBurst: ids[2]) }
    #expect(try representatives(small, ids) == [ids[2]])
    try await small.change { block in
      var creation = AssetCreation.invented(110)
      creation.burstIdentifier = "burst 1"
      creation.representsBurst = true
      ids.append(block.createAsset(creation))
    }
    #expect(try representatives(small, ids) == [ids[3]])
    try await small.change { $0.deleteAssets([ids[3]]) }
    #expect(try representatives(small, ids) == [ids[3]], "What lies in the trash may come back as it was.")
    try await small.change { $0.purgeAssets([ids[3]]) }
    #expect(try representatives(small, Array(ids[..<3])) == [ids[0]], "The oldest of the others takes over.")
    let single = try await small.assets(1)[0]
    #expect(try await small.refusal { $0.setRepresentative(ofBurst: single) } == .requestNotSupportedForAsset)
  }

  @Test("the choosers of a member are a set: the camera, a person, or both (BU-02)")
  func selectionTypes() async throws {
    let small = try SmallLibrary()
    let ids = try await burst(small, [[], .autoPick, .userPick, [.autoPick, .userPick]])
    #expect(try ids.map { try small.asset($0).burstSelectionTypes.rawValue } == [0, 1, 2, 3])
    var changes = AssetChanges()
    changes.burstSelectionTypes = [.autoPick, .userPick]
    let single = try await small.assets(1)[0]
    try await small.change { $0.edit([ids[1], single], changes) }
    #expect(try small.asset(ids[1]).burstSelectionTypes == [.autoPick, .userPick])
    #expect(try small.asset(single).burstSelectionTypes == [], "Outside a burst there is nothing to choose.")
  }

  @Test("a fetch shows a burst's representative and a person's picks; all of it when asked (BU-03, FR-07)")
  func fetches() async throws {
    let small = try SmallLibrary()
    let before = try await small.assets(1)
    let ids = try await burst(small, [[], .autoPick, .userPick, []])
    _ = try await burst(small, [[]], named: "burst 2")
    var all = FetchOptions()
    all.includeAllBurstAssets = true
    #expect(try small.library.fetchAssets(withBurstIdentifier: "burst 1").map(\.id) == [ids[0], ids[2]])
    #expect(try small.library.fetchAssets(withBurstIdentifier: "burst 1", all).map(\.id) == ids)
    #expect(try Array(small.library.fetchAssets().map(\.id)[..<3]) == before + [ids[0], ids[2]])
    #expect(try small.library.fetchAssets(all).count == 6)
    let album = try await small.album("Sea", ids)
    #expect(try small.members(album) == [ids[0], ids[2]] && album.estimatedAssetCount == 2)
    #expect(try small.smartMembers(.smartAlbumBursts).first == ids[0])
    #expect(try small.smartMembers(.smartAlbumBursts).count == 2)
  }

  @Test("a new representative is inserted into results, and the former one removed (BU-01, CD-18)")
  func handOver() async throws {
    let small = try SmallLibrary()
    let ids = try await burst(small, [[], [], []])
    let held = try small.library.fetchAssets()
    #expect(held.map(\.id) == [ids[0]])
    let change = try await small.change { $0.setRepresentative(ofBurst: ids[1]) }
    let details = try #require(try change.changeDetails(for: held))
    #expect(details.removedIndexes == [0] && details.insertedIndexes == [0])
    #expect(details.fetchResultAfterChanges.map(\.id) == [ids[1]])
  }

  @Test("a burst has at most 1,000 members, of which each can be chosen, and one more is rejected (BU-01)")
  func bounds() async throws {
    let small = try SmallLibrary()
    let ids = try await burst(small, Array(repeating: [], count: 1000))
    func join(_ name: String) async throws -> LibraryError.Code? {
      try await small.refusal { block in
        var creation = AssetCreation.invented(2000)
        creation.burstIdentifier = name
        _ = block.createAsset(creation)
      }
    }
    #expect(try await join("burst 1") == .limitExceeded)
    #expect(try await join("burst 2") == nil)
    try await small.change { $0.setRepresentative(ofBurst: ids[999]) }
    #expect(try representatives(small, ids) == [ids[999]])
    try await small.change { $0.deleteAssets([ids[999]]) }
    #expect(try await join("burst 1") == .limitExceeded, "What lies in the trash is a member still.")
    try await small.change { $0.purgeAssets([ids[999]]) }
    #expect(try await join("burst 1") == nil)
    #expect(try await join("burst 1") == .limitExceeded)
    let client = try await small.ruleClient(.limited, [ids[1]])
    var creation = AssetCreation.invented(2001)
    creation.burstIdentifier = "burst 1"
    let made = try client.performChangesAndWait { _ = $0.createAsset(creation) }
    #expect(made.created.count == 1, "The bound counts the members that the client sees (AU-01).")
    #expect(try representatives(small, Array(ids[..<999])) == [ids[0]])
  }

  @Test("the members in the selection of a client that may only add count for it, with what it adds (BU-01, AU-08)")
  func boundOfAdditions() async throws {
    let small = try SmallLibrary()
    let ids = try await burst(small, Array(repeating: [], count: 999))
    let client = try await small.ruleClient(.authorized, ids, for: .addOnly)
    func join(_ seed: Int) async throws -> LibraryError.Code? {
      try await failure(of: client) { block in
        var creation = AssetCreation.invented(seed)
        creation.burstIdentifier = "burst 1"
        _ = block.createAsset(creation)
      }?.code
    }
    #expect(try await join(2000) == nil)
    #expect(try representatives(small, ids).isEmpty, "The asset of a client that sees none represents the burst.")
    #expect(try await join(2001) == .limitExceeded)
  }

  @Test("of two bursts whose names Unicode takes for one text, each gets a representative when theirs go (BU-01)")
  func spelledAlike() async throws {
    let small = try SmallLibrary()
    var bursts: [[LocalIdentifier]] = []
    for name in ["caf\u{E9}", "cafe\u{301}"] { bursts.append(try await burst(small, [[], []], named: name)) }
    let former = bursts.map { $0[0] }
    #expect(try representatives(small, bursts.flatMap(\.self)) == former)
    try await small.change { $0.deleteAssets(former) }
    try await small.change { $0.purgeAssets(former) }
    let others = bursts.map { $0[1] }
    #expect(try representatives(small, others) == others)
  }
}
