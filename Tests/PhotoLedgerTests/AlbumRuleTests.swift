import EventLog
import Foundation
import LMDB
import PhotoLedger
import TestSupport
import Testing

@Suite("Albums")
struct AlbumRuleTests {
  @Test("removing from an album keeps the asset in the library (AL-01)")
  func removalKeepsAssets() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(2)
    let album = try await small.album("Sea", a)
    try await small.change { $0.album(album.id).remove([a[0]]) }
    #expect(try small.members(album) == [a[1]])
    #expect(try small.library.fetchAssets().map(\.id) == a)
  }

  @Test("deleting an album keeps its assets (AL-02)")
  func deletionKeepsAssets() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(2)
    let album = try await small.album("Sea", a)
    try await small.change { $0.deleteCollections([album.id]) }
    #expect(try small.library.collection(album.localIdentifier) == nil)
    #expect(try small.library.fetchAssets().map(\.id) == a)
  }

  @Test(
    "a move removes first and then counts in the remaining members (AL-03)",
    arguments: [
      (moved: [0], to: 0, outcome: "abcde"), ([0], 1, "bacde"), ([0], 4, "bcdea"), ([4], 0, "eabcd"),
      ([1, 3], 0, "bdace"), ([1, 3], 3, "acebd"), ([1, 3], 1, "abdce"), ([0, 1], 3, "cdeab"),
      ([0, 1, 2, 3, 4], 0, "abcde"),
    ])
  func moves(moved: [Int], to: Int, outcome: String) async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(5)
    let album = try await small.album("Sea", a)
    _ = try await small.library.performChanges { $0.album(album.id).move(at: IndexSet(moved), to: to) }
    let letters = try small.members(album).map { Array("abcde")[a.firstIndex(of: $0)!] }
    #expect(String(letters) == outcome)
  }

  @Test("replacing moves a member that is in the album already (AL-04)")
  func replacement() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(5)
    let album = try await small.album("Sea", Array(a[..<4]))
    try await small.change { $0.album(album.id).replace(at: [0, 2], with: [a[3], a[4]]) }
    #expect(try small.members(album) == [a[3], a[1], a[4]])
    try await small.change { $0.album(album.id).replace(at: [0, 1], with: [a[1], a[3]]) }
    #expect(try small.members(album) == [a[1], a[3], a[4]])
    let indexes = [2, 0]
    try await small.change { $0.album(album.id).replace(at: indexes, with: [a[0], a[2]]) }
    #expect(try small.members(album) == [a[2], a[3], a[0]], "Each comes to the index that it is passed with.")
    let twice = [1, 1]
    #expect(
      try await small.refusal { $0.album(album.id).replace(at: twice, with: [a[1], a[4]]) } == .changeNotSupported)
    #expect(try await small.refusal { $0.album(album.id).replace(at: [0], with: []) } == .changeNotSupported)
    #expect(
      try await small.refusal { $0.album(album.id).replace(at: [0, 1], with: [a[0], a[0]]) } == .changeNotSupported)
  }

  @Test("indexes refer to the result that was passed in, translated (AL-05, CB-13)")
  func basis() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(6)
    let album = try await small.album("Sea", Array(a[..<5]))
    let held = try small.library.fetchAssets(FetchOptions(), in: album)
    try await small.change { $0.album(album.id).remove([a[0], a[2]]) }
    // In what the caller looks at, 2 is gone: something put there stands before the next that is still here.
    try await small.change { $0.album(album.id, assets: held).insert([a[5]], at: 2) }
    #expect(try small.members(album) == [a[1], a[5], a[3], a[4]])
    try await small.change { $0.album(album.id, assets: held).remove(at: [0, 1]) }
    #expect(try small.members(album) == [a[5], a[3], a[4]])
    try await small.change { $0.album(album.id, assets: held).move(at: [4], to: 0) }
    #expect(try small.members(album) == [a[5], a[4], a[3]])
    let everything = try small.library.fetchAssets()
    #expect(
      try await small.refusal { $0.album(album.id, assets: everything).remove(at: [0]) } == .changeNotSupported)
  }

  @Test("an asset is in an album at most once (AL-06)")
  func once() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(3)
    let album = try await small.album("Sea", [a[0], a[0], a[1]])
    #expect(try small.members(album) == [a[0], a[1]])
    try await small.change { $0.album(album.id).insert([a[1], a[2], a[2]], at: 0) }
    #expect(try small.members(album) == [a[2], a[0], a[1]])
    let before = try small.library.currentToken
    _ = try await small.library.performChanges { $0.album(album.id).add([a[0]]) }
    #expect(try small.library.currentToken == before, "Adding what is there changes nothing.")
  }

  @Test("titles need not be unique (AL-08)")
  func titles() async throws {
    let small = try SmallLibrary()
    let albums = [try await small.album("Sea"), try await small.album("Sea")]
    #expect(albums[0] != albums[1])
    #expect(try small.children(nil) == albums.map(\.id))
  }

  @Test("place and membership survive hiding and trash; a restored member stands between the same neighbours")
  func placesSurvive() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(6)
    let album = try await small.album("Sea", Array(a[..<5]))
    try await small.change { block in
      block.setHidden(true, for: [a[1]])
      block.deleteAssets([a[3]])
    }
    #expect(try small.members(album) == [a[0], a[2], a[4]])
    #expect(try small.now(album.id).estimatedAssetCount == 3)
    try await small.change { $0.album(album.id).move(at: [0], to: 2) }
    try await small.change { $0.album(album.id).insert([a[5]], at: 1) }
    #expect(try small.members(album) == [a[2], a[5], a[4], a[0]])
    try await small.change { block in
      block.setHidden(false, for: [a[1]])
      block.restoreAssets([a[3]])
    }
    #expect(try small.members(album) == [a[1], a[2], a[3], a[5], a[4], a[0]])
    #expect(try small.now(album.id).estimatedAssetCount == 6)
  }

  @Test("thousands of insertions at one spot keep the order, and few members are rekeyed for it")
  func crowding() async throws {
    let small = try SmallLibrary()
    let count = Dose.isFull ? 5_000 : 2_000
    let assets = try await small.assets(count + 2)
    let album = try await small.album("Crowded", Array(assets[..<2]))
    for run in stride(from: 2, to: count + 2, by: 500) {
      try await small.change { block in
        for id in assets[run..<(run + 500)] { block.album(album.id).insert([id], at: 1) }
      }
    }
    #expect(try small.members(album) == [assets[0]] + assets[2...].reversed() + [assets[1]])
    let places = try small.rekeyedPlaces()
    // A gap of 2^32 lasts for some 32 insertions; 16 to either side are rekeyed then.
    #expect(places > 0 && places < count * 16, "\(places) places were given to make room.")
  }

  @Test("adding one photo to a large album writes as much as to a small one")
  func insertionIsSmall() async throws {
    let small = try SmallLibrary()
    let count = Dose.isFull ? 100_000 : 5_000
    let assets = try await small.assets(count + 1)
    let album = try await small.album("Large", Array(assets[..<count]))
    #expect(album.estimatedAssetCount == count)
    let change = try await small.change { $0.album(album.id).insert([assets[count]], at: count / 2) }
    let commit = try #require(change.commits.first)
    #expect(commit.eventCount == 1)
    #expect(try small.placesWritten(by: commit) == 1)
    let result = try small.library.fetchAssets(FetchOptions(), in: album)
    #expect(try result.object(at: count / 2).id == assets[count])
    #expect(result.count == count + 1)
  }
}

extension SmallLibrary {
  /// How many places events that only make room gave.
  fileprivate func rekeyedPlaces() throws -> Int {
    try places { $0.verb == .rekeyed }
  }

  /// How many places the events of a commit gave or took.
  fileprivate func placesWritten(by commit: CommitSummary) throws -> Int {
    try places(after: commit.firstSequence - 1) { _ in true }
  }

  private func places(after sequence: UInt64 = 0, where isWanted: (Arranged) -> Bool) throws -> Int {
    let environment = try Environment.store(ofLibrary: temporary.url.path)
    let log = try EventLog(in: environment)
    var count = 0
    try environment.read { t in
      try log.read(after: sequence, in: t) { record in
        if case .arranged(let arranged) = try Event(record), isWanted(arranged) { count += arranged.places.count }
        return .proceed
      }
    }
    return count
  }
}
