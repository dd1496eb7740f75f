import Foundation
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

// A result of a state before an erasure is known only to those that had made it by then.

@Suite("Results from before an erasure")
struct ErasedResultTests {
  private static func favorites(_ library: PhotoLibrary) throws -> FetchResult<Asset> {
    try library.fetchAssets(where: #Predicate { $0.isFavorite }, sortedBy: [SortDescriptor(\.creationDate)])
  }

  @Test("a begun result throws for what was not read, and an observer fetches it again")
  func begun() async throws {
    let small = try SmallLibrary()
    let ids = try await small.assets(9)
    try await small.change { $0.setFavorite(true, for: ids) }
    let held = try Self.favorites(small.library)
    #expect(held.count == 9 && held.isAtHand(0..<1) && !held.isAtHand(8..<9))
    try small.library.eraseAssets([ids[6]])
    #expect(try held.object(at: 0).id == ids[0])
    let error = #expect(throws: LibraryError.self) { try held.object(at: 8) }
    #expect(error?.code == .tokenExpired && error?.description.contains("fetch it again") == true)
    let ofPieces = #expect(throws: LibraryError.self) { try held.forEachPiece { _ in } }
    #expect(ofPieces?.code == .tokenExpired)
    var changes = small.library.changes(to: held).makeAsyncIterator()
    let ofChanges = await #expect(throws: LibraryError.self) { _ = try await changes.next() }
    #expect(ofChanges?.code == .tokenExpired)
    let change = try await small.change { $0.setHidden(true, for: [ids[0]]) }
    let details = try #require(try change.changeDetails(for: held))
    #expect(!details.hasIncrementalChanges && details.removedIndexes == nil)
    let after = details.fetchResultAfterChanges
    #expect(after.map(\.id) == ids[1...].filter { $0 != ids[6] } && after.token == change.token)
    let next = try await small.change { $0.setFavorite(false, for: [ids[3]]) }
    #expect(try next.changeDetails(for: after)?.removedIndexes == [2])
  }

  @Test("a begun result fails a block whose indexes refer to it, and nothing is changed (AL-05)")
  func countedOn() async throws {
    let small = try SmallLibrary()
    let ids = try await small.assets(7)
    let members = Array(ids[..<6])
    let album = try await small.album("Sea", members)
    let held = try small.library.fetchAssets(FetchOptions(), in: album)
    #expect(held.count == 6 && !held.isAtHand(5..<6))
    try small.library.eraseAssets([ids[6]])
    let edits: [(ContentEditor) -> Void] = [
      { $0.move(at: [5], to: 0) }, { $0.insert([ids[0]], at: 1) }, { $0.remove(at: [2]) },
      { $0.replace(at: [0], with: [ids[1]]) },
    ]
    for edit in edits {
      #expect(try await small.refusal { edit($0.album(album.id, assets: held)) } == .tokenExpired)
    }
    #expect(try small.members(album) == members)
    let again = try small.library.fetchAssets(FetchOptions(), in: album)
    try await small.change { $0.album(album.id, assets: again).move(at: [5], to: 0) }
    #expect(try small.members(album) == [ids[5]] + members[..<5])
  }

  @Test("a result that was built before is exact, one that is fetched again as of its state is not")
  func fetchedAgain() async throws {
    let small = try SmallLibrary()
    let ids = try await small.assets(9)
    try await small.change { $0.setFavorite(true, for: ids) }
    let held = try Self.favorites(small.library)
    #expect(held.map(\.id) == ids)
    let early = try Self.favorites(small.library.at(held.token))
    try await small.change { $0.setFavorite(false, for: [ids[8]]) }
    for result in [held, early, try Self.favorites(small.library.at(held.token))] { try result.checkIsExact() }
    try small.library.eraseAssets([ids[2]])
    let now = try Self.favorites(small.library)
    try now.complete()
    #expect(try held.erasure == nil && early.erasure == nil && now.erasure == nil)
    #expect(try small.library.changeDetails(from: held, to: now.token).removedIndexes == [2, 8])
    let again = try Self.favorites(small.library.at(held.token))
    #expect(again.token == held.token && again.count == 8)
    #expect(throws: LibraryError.self) { try again.checkIsExact() }
    let first = try #require(try again.erasure)
    try small.library.eraseAssets([ids[3]])
    let last = try #require(try Self.favorites(small.library.at(held.token)).erasure)
    #expect(last > first)
    #expect(try Self.favorites(small.library.at(now.token)).erasure == last)
    try now.checkIsExact()
    for name in ["album", "folder"] {
      try await small.change { _ = name == "album" ? $0.createAlbum(title: name) : $0.createFolder(title: name) }
    }
    #expect(try small.library.at(held.token).fetchCollections().erasure == nil, "Collections are not erased.")
  }
}
