import Foundation
import PhotoLedger
import TestSupport
import Testing

@Suite("Change blocks")
struct ChangeBlockRuleTests {
  @Test("the requests of a block are one commit (CB-01)")
  func atomic() async throws {
    let small = try SmallLibrary()
    let before = try small.library.currentToken.commit
    let receipt = try await small.library.performChanges(cause: "a test") { block in
      for index in 0..<5 { block.createAsset(.invented(index)) }
      _ = block.createAlbum(title: "Sea")
    }
    #expect(receipt.token.commit == before + 1)
    #expect(receipt.created.count == 6)
    #expect(receipt.created.last?.hasSuffix("/L0/040") == true)
  }

  @Test("a block that is used after its call has returned traps (CB-02)")
  func outside() async throws {
    await #expect(processExitsWith: .failure) {
      let temporary = try TemporaryLibrary()
      var kept: ChangeBlock?
      try temporary.library.performChangesAndWait { kept = $0 }
      kept?.createAlbum(title: "too late")
    }
  }

  @Test("a request that cannot be executed fails the whole block and leaves nothing (CB-06)")
  func allOrNothing() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(2)
    let album = try await small.album("Sea", a)
    let stranger = LocalIdentifier(UUID())
    func check(_ expected: LibraryError.Code, _ request: (ChangeBlock) -> Void) async throws {
      let code = try await small.refusal { block in
        block.setFavorite(true, for: a)
        _ = block.createAlbum(title: "never")
        request(block)
        block.album(album.id).remove(at: [0])
      }
      #expect(code == expected)
      #expect(try small.members(album) == a)
      #expect(try small.library.fetchAssets().map(\.isFavorite) == [false, false])
      #expect(try small.children(nil) == [album.id])
    }
    try await check(.identifierNotFound) { $0.setFavorite(true, for: [stranger]) }
    try await check(.identifierNotFound) { $0.album(stranger).add(a) }
    try await check(.changeNotSupported) { $0.setFavorite(true, for: [album.id]) }
    try await check(.changeNotSupported) { $0.album(a[0]).add(a) }
    try await check(.changeNotSupported) { $0.purgeAssets([a[0]]) }
    try await check(.changeNotSupported) { $0.album(album.id).insert([a[0]], at: 3) }
    try await check(.changeNotSupported) { $0.album(album.id).remove(at: [2]) }
    try await check(.changeNotSupported) { $0.album(album.id).move(at: [0], to: 2) }
    try await check(.missingResource) { $0.createAsset(AssetCreation(mediaType: .image, resources: [])) }
    try await check(.limitExceeded) { $0.setTitle(String(repeating: "x", count: 5000), of: album.id) }
    struct Own: Error {}
    await #expect(throws: Own.self) { try await small.library.performChanges { _ in throw Own() } }
  }

  @Test("an identifier may be used before its object exists (CB-07)")
  func placeholders() async throws {
    let small = try SmallLibrary()
    var ids: [LocalIdentifier] = []
    try await small.change { block in
      let folder = block.createFolder(title: "F")
      let album = block.createAlbum(title: "A")
      let asset = block.createAsset(.invented(1))
      block.folder(folder).add([album])
      block.album(album).add([asset])
      block.setFavorite(true, for: [asset])
      ids = [folder, album, asset]
    }
    #expect(try small.children(try small.now(ids[0])) == [ids[1]])
    #expect(try small.members(try small.now(ids[1])) == [ids[2]])
    #expect(try small.asset(ids[2]).isFavorite)
  }

  @Test("a block with a known key returns the first receipt, also after the library was opened again")
  func idempotency() async throws {
    let small = try SmallLibrary()
    let first = try await small.library.performChanges(key: "one") { _ = $0.createAlbum(title: "Sea") }
    _ = try await small.library.performChanges { _ = $0.createAlbum(title: "Alps") }
    let again = try await small.library.performChanges(key: "one") { _ = $0.createAlbum(title: "never") }
    #expect(!first.isRepetition && again.isRepetition)
    #expect(again.token == first.token && again.created == first.created)
    small.library.close()
    let reopened = try PhotoLibrary(at: small.temporary.url, environment: .seeded(9))
    defer { reopened.close() }
    let later = try await reopened.performChanges(key: "one") { _ = $0.createAlbum(title: "never") }
    #expect(later.token == first.token && later.created == first.created)
    #expect(try reopened.fetchCollections().map { $0.localizedTitle ?? "" } == ["Sea", "Alps"])
    let empty = try await reopened.performChanges(key: "two") { _ in }
    #expect(try await reopened.performChanges(key: "two") { _ in }.token == empty.token)
  }

  @Test("no block is answered before its commit exists")
  func answersComeLast() async throws {
    let small = try SmallLibrary()
    let library = small.library
    // All wait together, so that an answer which is given too early comes before others are executed.
    let lag = try await withThrowingTaskGroup(of: Int.self) { group in
      for index in 0..<100 {
        group.addTask {
          try await withCheckedThrowingContinuation { continuation in
            library.performChanges({ _ = $0.createAlbum(title: "\(index)") }) { answer in
              continuation.resume(
                with: Result { Int(try answer.get().token.commit) - Int(try library.currentToken.commit) })
            }
          }
        }
      }
      return try await group.reduce(-.max) { max($0, $1) }
    }
    #expect(lag <= 0, "An answer was \(lag) commits ahead of what can be read.")
  }

  @Test("concurrent edits of two clients both take effect (CB-13)")
  func concurrently() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(40)
    let album = try await small.album("Sea", a)
    let held = try small.library.fetchAssets(FetchOptions(), in: album)
    let library = small.library
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<20 {
        group.addTask {
          _ = try await library.performChanges { $0.album(album.id, assets: held).remove(at: [index * 2]) }
        }
      }
      try await group.waitForAll()
    }
    #expect(try small.members(album) == a.enumerated().filter { $0.offset % 2 == 1 }.map(\.element))
  }
}
