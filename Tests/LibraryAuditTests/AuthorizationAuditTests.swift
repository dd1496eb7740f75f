import Foundation
import PhotoLedger
import TestSupport
import Testing

@testable import LibraryAudit

@Suite("Authorization in history and log")
struct AuthorizationAuditTests {
  @Test("what is not allowed looks like what does not exist, and leaves no trace in tokens (AU-01)")
  func notThere() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(3)
    let album = try await small.album("Sea", a)
    let app = try await small.ruleClient(.limited, [a[1]])
    let stranger = LocalIdentifier(UUID())
    let requests: [(ChangeBlock, LocalIdentifier) -> Void] = [
      { $0.setFavorite(true, for: [$1]) }, { $0.deleteAssets([$1]) }, { $0.setTitle("x", of: $1) },
      { $0.album($1).add([]) }, { $0.deleteCollections([$1]) }, { $0.setRepresentative(ofBurst: $1) },
    ]
    for request in requests {
      let unknown = try #require(try await failure(of: app) { request($0, stranger) })
      for hidden in [a[0], album.id] {
        let refused = try #require(try await failure(of: app) { request($0, hidden) })
        #expect(refused.code == .identifierNotFound && refused.code == unknown.code)
        let sentence = refused.description.replacingOccurrences(of: hidden.uuidString, with: stranger.uuidString)
        #expect(sentence == unknown.description)
      }
    }
    let token = try app.currentToken
    try await small.change { $0.setFavorite(true, for: [a[0], a[2]]) }
    try await small.change { $0.album(album.id).remove([a[1]]) }
    #expect(try app.currentToken == token)
    #expect(try app.fetchPersistentChanges(since: token).isEmpty)
    try await small.change { $0.setFavorite(true, for: [a[1]]) }
    #expect(try app.currentToken > token)
  }

  @Test("what a client may do and waits for is read in one state, also while commits change it")
  func accessOfOneState() async throws {
    let small = try SmallLibrary()
    let asset = try await small.assets(1)[0]
    let album = try await small.album("Sea", [asset])
    let app = try await small.ruleClient(.notDetermined)
    #expect(try app.clientAccess() == ClientAccess(readWrite: .notDetermined, addOnly: .notDetermined))
    _ = try app.store.perform([.client(named: app.client, .request(.readWrite))], as: app.client, cause: nil)
    let asked = ClientAccess(readWrite: .notDetermined, addOnly: .notDetermined, waiting: [.readWrite])
    #expect(try app.clientAccess() == asked)
    let found = try app.store.reading { t in
      try small.library.performChangesAndWait { $0.setAuthorizationStatus(.limited, of: app.client) }
      try small.library.performChangesAndWait { $0.follow(album.id, as: app.client) }
      return try app.clientAccess(t)
    }
    #expect(found == asked, "The snapshot is that before the commits.")
    let following = ClientAccess(readWrite: .limited, addOnly: .authorized, followsAlbum: true)
    #expect(try app.clientAccess() == following)
    #expect(try small.library.clientAccess() == ClientAccess(readWrite: .authorized, addOnly: .authorized))
  }

  @Test("a request to add does not wait while the client may read, which includes adding (AU-09)")
  func includedRequest() async throws {
    let small = try SmallLibrary()
    let app = try await small.ruleClient(.notDetermined)
    _ = try app.store.perform([.client(named: app.client, .request(.addOnly))], as: app.client, cause: nil)
    #expect(try app.clientAccess().waiting == [.addOnly])
    #expect(try small.library.accessRequests().map(\.level) == [.addOnly])
    try await small.change { $0.setAuthorizationStatus(.authorized, of: app.client) }
    let included = try app.clientAccess()
    #expect(included.addOnly == .authorized && included.waiting.isEmpty)
    #expect(try small.library.accessRequests().isEmpty)
    try await small.change { $0.setAuthorizationStatus(.denied, of: app.client) }
    #expect(try app.clientAccess().waiting == [.addOnly])
  }

  @Test("each level has a status of its own, which may change at any time and is in the log (AU-09)")
  func levels() async throws {
    let small = try SmallLibrary()
    let app = try await small.ruleClient(.denied)
    #expect(try app.authorizationStatus(for: .readWrite) == .denied)
    #expect(try app.authorizationStatus(for: .addOnly) == .notDetermined)
    try await small.change { $0.setAuthorizationStatus(.authorized, of: app.client, for: .addOnly) }
    #expect(try app.authorizationStatus(for: .addOnly) == .authorized)
    #expect(try app.authorizationStatus(for: .readWrite) == .denied)
    try await small.change { $0.setAuthorizationStatus(.denied, of: app.client, for: .addOnly) }
    try await small.change { $0.setAuthorizationStatus(.authorized, of: app.client) }
    #expect(try app.authorizationStatus(for: .addOnly) == .denied)
    #expect(try app.authorizationStatus(for: .readWrite) == .authorized)
    #expect(
      try await small.refusal { $0.setAuthorizationStatus(.limited, of: app.client, for: .addOnly) }
        == .changeNotSupported)
    var decisions: [String] = []
    var filter = LogFilter()
    filter.typePrefix = "client."
    try small.library.forEachLogEntry(filter) { entry in
      decisions.append(entry.commit.client)
      return true
    }
    #expect(decisions.count >= 5 && Set(decisions) == [PhotoLibrary.owner])
    #expect(try await failure(of: app) { $0.setAuthorizationStatus(.authorized, of: "x") }?.code == .accessUserDenied)
  }

  @Test(
    "the history is for clients that may read; a limited client gets its own view (AU-10)",
    arguments: AuthorizationStatus.allCases)
  func history(_ status: AuthorizationStatus) async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(2)
    let app = try await small.ruleClient(status, [a[0]])
    let token = try app.currentToken
    try await small.change { $0.setFavorite(true, for: [a[1]]) }
    try await small.change { $0.setFavorite(true, for: [a[0]]) }
    let found: [Set<String>]
    do {
      found = try app.fetchPersistentChanges(since: token).map {
        try $0.changeDetails(for: .asset).updatedLocalIdentifiers
      }
    } catch let error as LibraryError {
      #expect(error.code == (status == .restricted ? .accessRestricted : .accessUserDenied))
      #expect(status != .authorized && status != .limited)
      return
    }
    let names = a.map { Set([$0.uuidString + "/L0/001"]) }
    #expect(found == (status == .authorized ? [names[1], names[0]] : [names[0]]))
    #expect(status == .authorized || status == .limited)
  }

  @Test("a request for access is in the log and is answered by the prompt, or not at all (FR-18)")
  func requests() async throws {
    let small = try SmallLibrary()
    let app = try await small.ruleClient(.notDetermined)
    #expect(try await app.requestAuthorization(for: .readWrite) == .notDetermined)
    try small.library.setPermissionPrompt(ScriptedPrompt(nil))
    #expect(try await app.requestAuthorization(for: .addOnly) == .notDetermined)
    try small.library.setPermissionPrompt(ScriptedPrompt(.allow))
    #expect(try await app.requestAuthorization(for: .addOnly) == .authorized)
    #expect(try app.authorizationStatus(for: .readWrite) == .notDetermined)
    try small.library.setPermissionPrompt(ScriptedPrompt(.deny))
    #expect(try await app.requestAuthorization(for: .readWrite) == .denied)
    var asked = 0
    var filter = LogFilter()
    filter.client = app.client
    try small.library.forEachLogEntry(filter) { _ in
      asked += 1
      return true
    }
    #expect(asked == 4)
  }

  @Test("the clients that could see an asset at a state are listed, and only the owner may ask")
  func whoCouldSee() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(2)
    let app = try await small.ruleClient(.limited, [a[0]])
    _ = try await small.ruleClient(.authorized, named: "com.example.full")
    let before = try small.library.currentToken
    try await small.change { $0.withdraw([a[0]], from: app.client) }
    let name = a[0].uuidString
    #expect(try small.library.access(toAsset: name).map(\.client) == ["com.example.full"])
    let then = try small.library.access(toAsset: name, at: before)
    #expect(then.map(\.client) == ["com.example.app", "com.example.full"] && then.map(\.kind) == [.limited, .full])
    #expect(try small.library.access(toAsset: a[1].uuidString, at: before).map(\.client) == ["com.example.full"])
    #expect(throws: LibraryError.self) { try app.access(toAsset: name) }
    #expect(throws: LibraryError.self) { try app.clients() }
  }
}
