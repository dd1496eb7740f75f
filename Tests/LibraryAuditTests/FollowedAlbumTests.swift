import Foundation
import LibraryAudit
import PhotoLedger
import TestSupport
import Testing

@Suite("Selections that follow an album")
struct FollowedAlbumTests {
  private static let name = "com.example.app"

  @Test("the selection is the album's members, live, with exact changes")
  func live() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(5)
    let album = try await small.album("Shared", [a[3], a[1]])
    let app = try await small.ruleClient(.limited, [a[0]])
    let keeper = ChangeKeeper()
    try app.register(keeper)
    var result = try app.fetchAssets()
    #expect(result.map(\.id) == [a[0]])
    let steps: [(change: (ChangeBlock) -> Void, shown: [LocalIdentifier])] = [
      ({ $0.follow(album.id, as: Self.name) }, [a[1], a[3]]),
      ({ $0.album(album.id).add([a[4], a[0]]) }, [a[0], a[1], a[3], a[4]]),
      ({ $0.album(album.id).remove([a[1], a[3]]) }, [a[0], a[4]]),
      ({ $0.album(album.id).replace(at: [0], with: [a[2]]) }, [a[0], a[2]]),
      ({ $0.deleteCollections([album.id]) }, []),
    ]
    for (index, step) in steps.enumerated() {
      try await small.change(step.change)
      try await waitUntil("step \(index) is observed") { keeper.changes.all.count == index + 1 }
      let details = try #require(try keeper.changes.all[index].changeDetails(for: result))
      #expect(details.fetchResultAfterChanges.map(\.id) == step.shown, "step \(index)")
      result = details.fetchResultAfterChanges
      #expect(try app.fetchAssets().map(\.id) == step.shown)
      #expect(try app.collection(album.localIdentifier) == nil, "The album itself is not shown.")
    }
    #expect(try small.library.clients().map(\.followedAlbum) == [album.id])
  }

  @Test("what stays unchanged in the album is not a change to the client")
  func quiet() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(3)
    let album = try await small.album("Shared", [a[0], a[1]])
    let app = try await small.ruleClient(.limited)
    try await small.change { $0.follow(album.id, as: Self.name) }
    let token = try app.currentToken
    try await small.change { $0.album(album.id).move(at: [0], to: 1) }
    try await small.change { $0.setTitle("Another", of: album.id) }
    try await small.library.performChanges { $0.follow(album.id, as: Self.name) }
    #expect(try app.currentToken == token && app.fetchPersistentChanges(since: token).isEmpty)
  }

  @Test("meanwhile nothing is granted or withdrawn manually; the final selection stays, and can be followed again")
  func byHand() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(3)
    let album = try await small.album("Shared", [a[0]])
    let app = try await small.ruleClient(.limited)
    try await small.change { $0.follow(album.id, as: Self.name) }
    for request: (ChangeBlock) -> Void in [
      { $0.grant([a[1]], to: Self.name) }, { $0.withdraw([a[0]], from: Self.name) },
    ] {
      let refusal = try #require(try await failure(of: small.library) { request($0) })
      #expect(refusal.code == .changeNotSupported && refusal.description.contains("'Shared'"))
      #expect(refusal.description.hasSuffix("or make the client follow no album first."), "\(refusal)")
    }
    try await small.change { $0.follow(nil, as: Self.name) }
    try await small.change { $0.album(album.id).add([a[2]]) }
    try await small.change { $0.grant([a[1]], to: Self.name) }
    #expect(try app.fetchAssets().map(\.id) == [a[0], a[1]])
  }

  @Test("a selection can follow an album, live, if the owner says so, and nothing else")
  func refusals() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(1)
    let gone = try await small.album("Gone", [])
    try await small.change { $0.deleteCollections([gone.id]) }
    let album = try await small.album("Shared", a)
    var folder = a[0]
    try await small.change { folder = $0.createFolder(title: "Folder") }
    let app = try await small.ruleClient(.limited)
    for (id, code) in [
      (a[0], LibraryError.Code.changeNotSupported), (folder, .changeNotSupported), (gone.id, .identifierNotFound),
      (LocalIdentifier(UUID()), .identifierNotFound),
    ] {
      #expect(try await failure(of: small.library) { $0.follow(id, as: Self.name) }?.code == code)
    }
    #expect(try await failure(of: app) { $0.follow(album.id, as: Self.name) }?.code == .accessUserDenied)
  }

  @Test("what the client adds joins the album, and the selection at each earlier state is unchanged")
  func additions() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(2)
    let album = try await small.album("Shared", [a[1]])
    let app = try await small.ruleClient(.limited)
    try await small.change { $0.follow(album.id, as: Self.name) }
    let before = try small.library.currentToken
    let made = try await app.performChanges { _ = $0.createAsset(.invented(60)) }
    let new = try #require(LocalIdentifier(made.created[0]))
    #expect(try small.library.fetchAssets(FetchOptions(), in: album).map(\.id) == [a[1], new])
    #expect(try app.fetchAssets().map(\.id) == [a[1], new])
    #expect(try small.library.at(before).as(Self.name).fetchAssets().map(\.id) == [a[1]])
    #expect(try small.library.access(to: new.uuidString, at: before).isEmpty)
    #expect(try small.library.access(to: new.uuidString).map(\.ground) == [.selection])
  }

  @Test("an album that its limited creator follows has a new date for it when an asset is added")
  func ownAlbum() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(1)
    let app = try await small.ruleClient(.limited)
    var made: LocalIdentifier?
    try await app.performChanges { made = $0.createAlbum(title: "Own") }
    let id = try #require(made)
    try await small.change { $0.follow(id, as: Self.name) }
    for count in 1...2 {
      if count == 1 {
        try await app.performChanges { _ = $0.createAsset(.invented(60)) }
      } else {
        try await small.change { $0.album(id).add(a) }
      }
      let seen = try #require(try app.collection(id.uuidString))
      #expect(try seen.modificationDate == small.now(id).modificationDate)
      #expect(seen.estimatedAssetCount == count)
    }
  }

  @Test("an undo of the following restores the old selection, and an undo of an album change changes the selection too")
  func undo() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(4)
    let album = try await small.album("Shared", [a[1], a[2]])
    let app = try await small.ruleClient(.limited, [a[0]])
    let before = try small.library.currentToken
    try await small.change { $0.follow(album.id, as: Self.name) }
    let edit = try await small.library.performChanges { change in
      change.album(album.id).remove([a[1]])
      change.album(album.id).add([a[3]])
    }
    #expect(try app.fetchAssets().map(\.id) == [a[2], a[3]])
    let undone = try await small.library.undo(.commit(edit.token))
    #expect(try app.fetchAssets().map(\.id) == [a[1], a[2]])
    try await small.library.undo(.commit(try #require(undone.token)))
    #expect(try app.fetchAssets().map(\.id) == [a[2], a[3]])
    try await small.library.undo(.commits(after: before))
    #expect(try app.fetchAssets().map(\.id) == [a[0]])
    #expect(try small.library.clients().map(\.followedAlbum) == [nil])
    var sentences: [String] = []
    try small.library.forEachLogEntry(LogFilter()) { entry in
      if entry.type == "client.edited" { sentences.append(entry.sentence) }
      return true
    }
    #expect(sentences.contains { $0.hasPrefix("The selection of 'com.example.app' follows ") && $0.contains("Shared") })
  }

  @Test("the log names the album in every language, and describes a permission that the same event changes")
  func words() async throws {
    let small = try SmallLibrary()
    let album = try await small.album("Shared", try await small.assets(1))
    _ = try await small.ruleClient(.limited)
    let made = try await small.library.performChanges { change in
      change.setAuthorizationStatus(.denied, of: Self.name)
      change.follow(album.id, as: Self.name)
    }
    try await small.library.undo(.commit(made.token))
    var entries: [LogEntry] = []
    try small.library.forEachLogEntry(LogFilter()) { entry in
      if entry.type == "client.edited" { entries.append(entry) }
      return true
    }
    let last = entries.suffix(2)
    #expect(last.map(\.titles) == [[LogValue.Field(album.localIdentifier, .text("Shared"))], []])
    #expect(
      last.map(\.sentence) == [
        "The selection of 'com.example.app' follows 'Shared'.",
        """
        'com.example.app' may read and change: limited, was denied. \
        The selection of 'com.example.app' no longer follows an album.
        """,
      ])
  }
}
