import Foundation
import PhotoLedger
import TestSupport
import Testing

@Suite("Authorization")
struct AuthorizationRuleTests {
  @Test("under limited access every fetch, count and smart album holds the selection alone (AU-01)")
  func selectionAlone() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(6)
    let album = try await small.album("Sea", a)
    try await small.change { block in
      block.setFavorite(true, for: [a[1], a[4]])
      block.setHidden(true, for: [a[2]])
    }
    let app = try await small.ruleClient(.limited, [a[1], a[2], a[3]])
    #expect(try app.fetchAssets().map(\.id) == [a[1], a[3]])
    #expect(try app.fetchAssets(where: #Predicate { $0.isFavorite }).map(\.id) == [a[1]])
    #expect(try app.fetchAssets(withLocalIdentifiers: a.map(\.uuidString)).map(\.id) == [a[1], a[3]])
    var all = FetchOptions()
    all.includeHiddenAssets = true
    #expect(try app.fetchAssets(all).map(\.id) == [a[1], a[2], a[3]])
    #expect(try small.smartMembers(.smartAlbumFavorites, of: app) == [a[1]])
    #expect(try small.smartMembers(.smartAlbumUserLibrary, of: app) == [a[1], a[3]])
    #expect(try small.smartMembers(.smartAlbumAllHidden, of: app) == [a[2]])
    #expect(try app.fetchCollections().isEmpty, "The owner's albums are not the client's to see.")
    #expect(try app.fetchAssets(FetchOptions(), in: album).isEmpty)
    #expect(try app.fetchCollections(containing: try small.asset(a[1])).isEmpty)
    #expect(try app.asset(a[0].uuidString) == nil && app.collection(album.localIdentifier) == nil)
  }

  @Test("what a limited client creates joins its selection, and it may continue to use it (AU-02, AU-07)")
  func joins() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(3)
    let app = try await small.ruleClient(.limited, [a[1]])
    let made = try await app.performChanges { block in
      let id = block.createAsset(.invented(50))
      let album = block.createAlbum(title: "Mine")
      block.album(album).add([id, a[1]])
      block.setFavorite(true, for: [id])
    }
    let new = try #require(LocalIdentifier(made.created[0]))
    #expect(try app.fetchAssets().map(\.id) == [a[1], new])
    #expect(try small.library.selection(of: app.client).map(\.id) == [a[1], new])
    #expect(try small.library.clients().map(\.selectionCount) == [2])
    #expect(try small.asset(new).isFavorite, "It may be changed in the block that makes it.")
  }

  @Test("an asset that comes or goes is a commit of a limited client if it is in its selection (AU-01, AU-02)")
  func comingAndGoing() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(2)
    let app = try await small.ruleClient(.limited, [a[0]])
    var token = try app.currentToken
    let alone = try await small.assets(1)
    try await small.change { $0.deleteAssets(alone) }
    try await small.change { $0.purgeAssets(alone) }
    #expect(try app.currentToken == token, "Nothing happened that it could see.")
    func expectCommit(_ sentence: Comment) throws {
      let now = try app.currentToken
      #expect(now != token, sentence)
      token = now
    }
    try await app.performChanges { $0.createAsset(.invented(50)) }
    try expectCommit("It added an asset.")
    try await small.change { $0.deleteAssets([a[0]]) }
    try expectCommit("An asset of its selection went to the trash.")
    try await small.change { $0.purgeAssets([a[0]]) }
    try expectCommit("An asset of its selection was purged.")
  }

  @Test("a limited client creates, fetches and changes albums of its own, and sees no others (AU-03)")
  func ownAlbums() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(4)
    _ = try await small.album("Owner's", a)
    let app = try await small.ruleClient(.limited, [a[0], a[2]])
    let other = try await small.ruleClient(.limited, [a[0]], named: "com.example.other")
    try await other.performChanges { $0.createAlbum(title: "Other's") }
    try await app.performChanges { block in
      let folder = block.createFolder(title: "Folder")
      let album = block.createAlbum(title: "Mine")
      block.folder(folder).add([album])
      block.album(album).add([a[2], a[0]])
    }
    #expect(try app.fetchCollections().map(\.localizedTitle) == ["Folder", "Mine"])
    #expect(try app.fetchTopLevelUserCollections().map(\.localizedTitle) == ["Folder"])
    let mine = try app.fetchCollections()[1]
    #expect(mine.estimatedAssetCount == 2)
    // The owner adds what the client does not see: the client's album stays as it is for the client.
    try await small.change { $0.album(mine.id).add([a[1]]) }
    #expect(try app.fetchCollections()[1].hasSameProperties(as: mine))
    #expect(try small.now(mine.id).estimatedAssetCount == 3)
    try await app.performChanges { block in
      block.album(mine.id).move(at: [1], to: 0)
      block.setTitle("Ours", of: mine.id)
    }
    let renamed = try app.fetchCollections()[1]
    #expect(renamed.localizedTitle == "Ours")
    #expect(try app.fetchAssets(FetchOptions(), in: renamed).map(\.id) == [a[0], a[2]])
    #expect(try small.members(renamed) == [a[0], a[2], a[1]])
  }

  @Test("widening and narrowing a selection arrive as exact insertions and removals (AU-04, CD-16)")
  func selectionChanges() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(6)
    let app = try await small.ruleClient(.limited)
    var held = try app.fetchAssets()
    let keeper = ChangeKeeper()
    try app.register(keeper)
    func told(_ change: (ChangeBlock) -> Void) async throws -> ChangeDetails<Asset> {
      let count = keeper.changes.all.count
      try await small.change(change)
      try await waitUntil("the client is notified") { keeper.changes.all.count > count }
      let details = try #require(try keeper.changes.all[count].changeDetails(for: held))
      held = details.fetchResultAfterChanges
      return details
    }
    let two = try await told { $0.grant([a[4], a[1]], to: app.client) }
    #expect(two.hasIncrementalChanges && two.insertedIndexes == [0, 1] && two.removedIndexes == [])
    let five = try await told { $0.grant([a[0], a[2], a[5]], to: app.client) }
    #expect(five.insertedIndexes == [0, 2, 4] && held.map(\.id) == [a[0], a[1], a[2], a[4], a[5]])
    let fewer = try await told { $0.withdraw([a[1], a[5]], from: app.client) }
    #expect(fewer.removedIndexes == [1, 4] && fewer.insertedIndexes == [] && held.map(\.id) == [a[0], a[2], a[4]])
    #expect(try fewer.removedObjects().map(\.id) == [a[1], a[5]])
    // All photos become a selection, and a selection all photos.
    let all = try await told { $0.setAuthorizationStatus(.authorized, of: app.client) }
    #expect(all.insertedIndexes == [1, 3, 5] && all.removedIndexes == [])
    let none = try await told { $0.setAuthorizationStatus(.denied, of: app.client) }
    #expect(none.removedIndexes == IndexSet(0..<6) && held.isEmpty)
  }

  @Test("the picker for more returns the identifiers that it added, and only those (AU-05)")
  func picksMore() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(4)
    let app = try await small.ruleClient(.limited, [a[0]])
    #expect(try await app.presentLimitedLibraryPicker().isEmpty, "There is no prompt to choose with.")
    let prompt = ScriptedPrompt(nil, more: [a[0], a[3], a[2], a[3]])
    try small.library.setPermissionPrompt(prompt)
    #expect(try await app.presentLimitedLibraryPicker() == [a[3], a[2]].map { $0.uuidString + "/L0/001" })
    #expect(try await app.presentLimitedLibraryPicker().isEmpty)
    #expect(try small.library.selection(of: app.client).map(\.id) == [a[0], a[2], a[3]])
    try await small.change { $0.setAuthorizationStatus(.authorized, of: app.client) }
    #expect(try await app.presentLimitedLibraryPicker().isEmpty, "There is nothing to add to all photos.")
    #expect(prompt.asked.all == ["more for \(app.client)", "more for \(app.client)"])
  }

  @Test("the status without a level says authorized for limited (AU-06)", arguments: AuthorizationStatus.allCases)
  func oldStatus(_ status: AuthorizationStatus) async throws {
    let small = try SmallLibrary()
    let app = try await small.ruleClient(status)
    #expect(try app.authorizationStatus(for: .readWrite) == status)
    #expect(try app.authorizationStatus() == (status == .limited ? .authorized : status))
  }

  @Test("an add-only client creates assets, reads none of them back, and does nothing else (AU-08)")
  func addOnly() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(2)
    let app = try await small.ruleClient(.authorized, for: .addOnly)
    let made = try await app.performChanges { $0.createAsset(.invented(50)) }
    let new = try #require(LocalIdentifier(made.created[0]))
    #expect(try small.asset(new).isTrashed == false)
    #expect(try app.fetchAssets(withLocalIdentifiers: made.created).isEmpty && app.asset(made.created[0]) == nil)
    #expect(try app.fetchAssets().isEmpty && app.fetchCollections(with: .smartAlbum).isEmpty)
    let requests: [(ChangeBlock) -> Void] = [
      { $0.createAlbum(title: "Mine") }, { $0.createFolder(title: "Mine") },
      { $0.album(LocalIdentifier(UUID())).add([$0.createAsset(.invented(51))]) },
      { $0.setFavorite(true, for: [new]) }, { $0.deleteAssets([a[0]]) }, { $0.grant([a[0]], to: "com.example.app") },
    ]
    for request in requests { #expect(try await failure(of: app, request)?.code == .accessUserDenied) }
    #expect(LibraryError.Code.accessUserDenied.rawValue == 3311)
    #expect(try small.library.clients().map(\.accessKind) == [.addOnly])
  }

  @Test(
    "restricted and denied are distinguished by their errors, and show nothing (AU-11)",
    arguments: [
      (AuthorizationStatus.restricted, LibraryError.Code.accessRestricted, 3310), (.denied, .accessUserDenied, 3311),
    ])
  func refused(status: AuthorizationStatus, code: LibraryError.Code, number: Int) async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(2)
    let app = try await small.ruleClient(status)
    let error = try await failure(of: app) { $0.setFavorite(true, for: [a[0]]) }
    #expect(error?.code == code && code.rawValue == number)
    #expect(error?.description.contains(app.client) == true)
    #expect(try app.fetchAssets().isEmpty && app.fetchCollections().isEmpty)
    #expect(try await app.requestAuthorization(for: .readWrite) == status, "A decision stands.")
  }
}

/// A prompt whose user chooses assets, one of which is purged before the answer.
private struct PurgingPrompt: PermissionPrompt {
  let chosen: [LocalIdentifier]
  let purged: LocalIdentifier

  func decide(about client: Client, for level: AccessLevel, in library: PhotoLibrary) -> PermissionDecision? {
    purge(in: library)
    return .limit(to: chosen)
  }

  func offerMore(to client: Client, in library: PhotoLibrary) -> [LocalIdentifier] {
    purge(in: library)
    return chosen
  }

  private func purge(in library: PhotoLibrary) {
    do {
      try library.performChangesAndWait { $0.deleteAssets([purged]) }
      try library.performChangesAndWait { $0.purgeAssets([purged]) }
    } catch {
      Issue.record(error)
    }
  }
}

/// A prompt whose user allows everything after the library was closed.
private struct ClosingPrompt: PermissionPrompt {
  let more: [LocalIdentifier]

  func decide(about client: Client, for level: AccessLevel, in library: PhotoLibrary) -> PermissionDecision? {
    library.close()
    return .allow
  }

  func offerMore(to client: Client, in library: PhotoLibrary) -> [LocalIdentifier] {
    library.close()
    return more
  }
}

@Suite("Asking for access")
struct AskingRuleTests {
  @Test("an asset that is purged while the prompt is shown is left out; the others are granted (FR-18, AU-05)")
  func purgedMeanwhile() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(4)
    let app = try await small.ruleClient(.notDetermined)
    try small.library.setPermissionPrompt(PurgingPrompt(chosen: [a[0], a[1]], purged: a[1]))
    #expect(try app.fetchAssets().map(\.id) == [a[0]])
    try small.library.setPermissionPrompt(PurgingPrompt(chosen: [a[2], a[3]], purged: a[3]))
    #expect(try await app.presentLimitedLibraryPicker() == ["\(a[2].uuidString)/L0/001"])
    #expect(try small.library.selection(of: app.client).map(\.id) == [a[0], a[2]])
  }

  @Test("assets that are picked for an undecided client whose selection follows an album end that (FR-18, AU-05)")
  func picksForFollower() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(3)
    let album = try await small.album("Sea", [a[0]])
    let app = try await small.ruleClient(.notDetermined)
    try await small.change { $0.follow(album.id, as: app.client) }
    let prompt = ScriptedPrompt(.limit(to: [a[1]]))
    try small.library.setPermissionPrompt(prompt)
    #expect(try app.fetchAssets().map(\.id) == [a[0], a[1]])
    #expect(try app.authorizationStatus(for: .readWrite) == .limited)
    try await small.change { $0.album(album.id).add([a[2]]) }
    #expect(try app.fetchAssets().map(\.id) == [a[0], a[1]])
    #expect(prompt.asked.all.count == 1)
  }

  @Test("an identifier that the library never had is an error of the prompt, and grants nothing (FR-18, AU-05)")
  func neverThere() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(1)
    let app = try await small.ruleClient(.notDetermined)
    let unknown = LocalIdentifier(high: 1, low: 2)
    try small.library.setPermissionPrompt(ScriptedPrompt(.limit(to: [a[0], unknown])))
    let error = #expect(throws: LibraryError.self) { try app.fetchAssets() }
    #expect(error?.code == .identifierNotFound)
    #expect(try app.authorizationStatus(for: .readWrite) == .notDetermined)
  }

  @Test("an undecided client reads an empty library and may not write (FR-18)")
  func undecided() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(2)
    let clients = [small.library.as("com.example.unheard"), try await small.ruleClient(.notDetermined)]
    for app in clients {
      #expect(try app.fetchAssets().isEmpty && app.fetchCollections(with: .smartAlbum).isEmpty)
      #expect(try app.asset(a[0].uuidString) == nil)
      #expect(try await failure(of: app) { $0.createAsset(.invented(50)) }?.code == .accessUserDenied)
      #expect(try app.authorizationStatus(for: .readWrite) == .notDetermined)
    }
  }

  @Test("a block without requests needs permission as well: with a key it would be a commit (AU-11, FR-18)")
  func nothing() async throws {
    let small = try SmallLibrary()
    for status in [AuthorizationStatus.notDetermined, .denied, .restricted] {
      let app = try await small.ruleClient(status, named: "com.example.\(status)")
      let before = try small.library.lastSequence
      for key in ["one", nil] {
        let error = await #expect(throws: LibraryError.self) {
          try await app.performChanges(cause: "words", key: key) { _ in }
        }
        #expect(error?.code == .accessUserDenied || error?.code == .accessRestricted, "\(status)")
      }
      #expect(try small.library.lastSequence == before, "\(status)")
    }
    for (status, level) in [(AuthorizationStatus.limited, AccessLevel.readWrite), (.authorized, .addOnly)] {
      let app = try await small.ruleClient(status, for: level, named: "com.example.\(level)")
      let first = try await app.performChanges(key: "one") { _ in }
      #expect(try await app.performChanges(key: "one") { _ in }.token == first.token)
    }
  }

  @Test("the first fetch or change of an undecided client asks the prompt, once (FR-18)", arguments: [true, false])
  func asks(byReading: Bool) async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(3)
    let app = try await small.ruleClient(.notDetermined)
    let prompt = ScriptedPrompt(.limit(to: [a[2]]))
    try small.library.setPermissionPrompt(prompt)
    if byReading {
      #expect(try app.fetchAssets().map(\.id) == [a[2]])
    } else {
      try await app.performChanges { $0.setFavorite(true, for: [a[2]]) }
    }
    #expect(try app.fetchAssets().map(\.id) == [a[2]])
    #expect(prompt.asked.all == ["com.example.app readWrite: To show photos."])
    #expect(try app.authorizationStatus(for: .readWrite) == .limited)
  }

  @Test("a closed library shows no prompt, and can be read", arguments: [AuthorizationStatus.limited, .notDetermined])
  func closed(status: AuthorizationStatus) async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(2)
    let visible = status == .limited ? [a[0]] : []
    let app = try await small.ruleClient(status, visible)
    let prompt = ScriptedPrompt(.allow, more: [a[1]])
    try small.library.setPermissionPrompt(prompt)
    small.library.close()
    #expect(try app.fetchAssets().map(\.id) == visible)
    #expect(prompt.asked.all.isEmpty)
  }

  @Test(
    "a library that is closed while the prompt is shown can be read",
    arguments: [AuthorizationStatus.limited, .notDetermined])
  func closedMeanwhile(status: AuthorizationStatus) async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(2)
    let visible = status == .limited ? [a[0]] : []
    let app = try await small.ruleClient(status, visible)
    try small.library.setPermissionPrompt(ClosingPrompt(more: [a[1]]))
    #expect(try app.fetchAssets().map(\.id) == visible)
    #expect(small.library.unavailabilityReason?.code == .closed)
  }

  @Test("a request for access without a registered reason is an error of its own (FR-18)")
  func withoutDescription() async throws {
    let small = try SmallLibrary()
    let app = small.library.as("com.example.silent")
    for level in AccessLevel.allCases {
      let error = await #expect(throws: LibraryError.self) { try await app.requestAuthorization(for: level) }
      #expect(error?.code == .missingUsageDescription && error?.description.contains("com.example.silent") == true)
    }
    try small.library.setPermissionPrompt(ScriptedPrompt(.allow))
    #expect(throws: LibraryError.self) { try app.fetchAssets() }
    #expect(try small.library.clients().isEmpty, "A refused request leaves no client.")
  }

  @Test(
    "a limited client is offered more once per launch, unless it declared that it asks itself",
    arguments: [false, true])
  func reminds(preventing: Bool) async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(3)
    let app = try await small.ruleClient(.limited, [a[0]])
    if preventing {
      var registration = ClientRegistration()
      registration.preventsAutomaticLimitedAccessAlert = true
      try await app.performChanges { $0.register(client: app.client, registration) }
    }
    let prompt = ScriptedPrompt(nil, more: [a[1]])
    try small.library.setPermissionPrompt(prompt)
    for _ in 0..<3 { #expect(try app.fetchAssets().map(\.id) == (preventing ? [a[0]] : [a[0], a[1]])) }
    #expect(prompt.asked.all.count == (preventing ? 0 : 1))
  }
}
