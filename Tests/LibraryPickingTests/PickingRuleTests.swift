import Foundation
import TestSupport
import Testing

@testable import LibraryMaintenance
import LibraryAudit
import LibraryPicking
@testable import PhotoLedger

@Suite("Picking sessions", .timeLimit(.minutes(60)))
struct PickingRuleTests {
  // MARK: PK-01

  @Test("a client without any permission gets what was picked, and nothing else (PK-01)")
  func access() async throws {
    let picking = try await PickingLibrary()
    let (library, app) = (picking.library, picking.app)
    #expect(try library.clients().isEmpty, "The client is not known beforehand.")
    let item = try #require(try await picking.pick([picking.name(1)]).first)
    #expect(try await app.load(item) == Data(PickingLibrary.bytes(1).utf8))

    #expect(try app.fetchAssets().isEmpty && app.fetchCollections().isEmpty)
    #expect(try app.asset(picking.name(1)) == nil)
    let photo = try #require(try library.asset(picking.name(1)))
    let resource = try #require(try library.resources(of: photo).first)
    #expect(try app.resources(of: photo).isEmpty)
    #expect(throws: LibraryError.self) { try app.url(of: resource, in: photo) }
    #expect(await picking.code { for try await _ in app.data(of: resource, in: photo) {} } == .identifierNotFound)
    let change = await picking.code { try await app.performChanges { $0.setFavorite(true, for: [photo.id]) } }
    #expect(change == .accessUserDenied)
    #expect(try app.authorizationStatus(for: .readWrite) == .notDetermined)

    let client = try #require(try library.clients().first)
    #expect(client.name == PickingLibrary.client && client.accessKind == .picked && client.pickCount == 1)
    for index in 0..<5 {
      let kinds = try library.access(toAsset: picking.name(index)).map(\.kind)
      #expect(kinds == (index == 1 ? [.picked] : []))
    }
    var commits: Set<String> = []
    try library.forEachLogEntry(LogFilter()) { entry in
      if entry.commit.cause == "picking session" { commits.insert(entry.commit.client) }
      return true
    }
    #expect(commits == [PhotoLibrary.owner])
    #expect(try library.verify().isSound)
  }

  @Test("the cause of a pick names the client that made it, unless that is the owner", arguments: [false, true])
  func presenters(isContinuous: Bool) async throws {
    let picking = try await PickingLibrary()
    let library = picking.library
    try await library.performChanges { $0.setAuthorizationStatus(.authorized, of: "gallery") }
    let session = try picking.app.beginPicking(picking.configuration(0, isContinuous ? .continuous : .default))
    try await library.present(session).select(picking.name(0))
    let gallery = try library.as("gallery").present(session)
    try await gallery.select(picking.name(1))
    try await gallery.finish()
    var causes: [String] = []
    try library.forEachLogEntry(LogFilter()) { entry in
      if entry.type == "pick.recorded" { causes.append("\(entry.commit.client): \(entry.commit.cause ?? "")") }
      return true
    }
    let ofGallery = "owner: picking session presented by gallery"
    #expect(causes == (isContinuous ? ["owner: picking session", ofGallery] : [ofGallery]))
  }

  @Test("only the client that received a picked item can load it, whatever permission others have (PK-01)")
  func others() async throws {
    let picking = try await PickingLibrary()
    let item = try #require(try await picking.pick([picking.name(0)]).first)
    let token = try #require(item.token)
    let others: [(String, AuthorizationStatus?)] = [("none", nil), ("limited", .limited), ("full", .authorized)]
    for (name, status) in others {
      let other = picking.library.as(name)
      if let status {
        try await picking.library.performChanges { $0.setAuthorizationStatus(status, of: name) }
      }
      _ = try await picking.pick([picking.name(1)], for: other)
      #expect(await picking.code { _ = try await other.load(item) } == .accessUserDenied, "\(name)")
      #expect(throws: LibraryError.self) { try other.pickedItem(token) }
    }
    // The token of a client with full access counts commits, as those of all such clients do.
    let full = try #require(try await picking.pick([picking.name(2)], for: picking.library.as("full")).first)
    try await picking.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "fuller") }
    #expect(await picking.code { _ = try await picking.library.as("fuller").load(full) } == .accessUserDenied)
    #expect(try await picking.library.as("full").load(full) == Data(PickingLibrary.bytes(2).utf8))
    let elsewhere = try await PickingLibrary(seed: 6)
    #expect(await picking.code { _ = try await elsewhere.app.load(item) } == .invalidToken)
    #expect(await picking.code { _ = try await elsewhere.library.load(item) } == .invalidToken)
  }

  @Test("a client's permission does not affect what it received by picking (PK-01)")
  func independence() async throws {
    let picking = try await PickingLibrary()
    let (library, app) = (picking.library, picking.app)
    var items: [PickedItem] = []
    for status in [.authorized, .limited, .denied, .restricted, .notDetermined] as [AuthorizationStatus] {
      try await library.performChanges {
        $0.setAuthorizationStatus(status, of: PickingLibrary.client)
      }
      items += try await picking.pick([picking.name(items.count)])
      for (index, item) in items.enumerated() {
        #expect(try await app.load(item) == Data(PickingLibrary.bytes(index).utf8), "\(status), item \(index)")
      }
    }
    #expect(items.count == 5)
  }

  @Test("only a client with full access can present a session, and only while it has that (PK-01, 3311)")
  func presenting() async throws {
    let picking = try await PickingLibrary()
    let (library, app) = (picking.library, picking.app)
    let session = try app.beginPicking(picking.configuration())
    let gallery = library.as("gallery")
    #expect(await picking.code { _ = try app.present(session) } == .accessUserDenied)
    #expect(await picking.code { _ = try gallery.present(session) } == .accessUserDenied)
    try await library.performChanges { $0.setAuthorizationStatus(.authorized, of: "gallery") }
    let presenter = try gallery.present(session)
    #expect(try presenter.candidates().map(\.id) == picking.photos)
    try await presenter.select(picking.name(2))
    try await library.performChanges { $0.setAuthorizationStatus(.limited, of: "gallery") }
    #expect(await picking.code { try await presenter.select(picking.name(3)) } == .accessUserDenied)
    #expect(await picking.code { _ = try presenter.candidates() } == .accessUserDenied)
    #expect(await picking.code { try await presenter.finish() } == .accessUserDenied)
    #expect(session.state == .open)
    try await library.present(session).finish()
    #expect(picking.indexes(try #require(await session.everyResult.last)) == [2])
    let elsewhere = try await PickingLibrary(seed: 6)
    #expect(await picking.code { _ = try elsewhere.library.present(session) } == .changeNotSupported)
  }

  // MARK: PK-02, PK-03

  @Test(
    "results name their assets only if the configuration was made with a library (PK-02)", arguments: [true, false])
  func identifiers(isMadeWithLibrary: Bool) async throws {
    let picking = try await PickingLibrary()
    let configuration = isMadeWithLibrary ? PickerConfiguration(library: picking.library) : PickerConfiguration()
    let items = try await picking.pick([picking.name(3)], configuration)
    #expect(items.map(\.assetIdentifier) == [isMadeWithLibrary ? "\(picking.name(3))/L0/001" : nil])
    #expect(items[0].isLoadable && items[0].supportedContentTypes == ["public.jpeg"])
    let token = try #require(items[0].token)
    #expect(!token.contains(picking.name(3)))
    #expect(try picking.app.pickedItem(token).assetIdentifier == nil)
  }

  @Test("one asset of any kind is picked unless the configuration says otherwise; 0 is any number (PK-03)")
  func defaults() async throws {
    let picking = try await PickingLibrary()
    let configuration = PickerConfiguration()
    #expect(configuration.selectionLimit == 1 && configuration.filter == nil && configuration.selection == .default)
    #expect(configuration.preferredRepresentation == .automatic && configuration.metadataOptions.isEmpty)
    let presenter = try picking.library.present(picking.app.beginPicking())
    #expect(try presenter.candidates().map(\.id) == picking.photos)
    try await presenter.select(picking.name(0))
    let error = await #expect(throws: LibraryError.self) { try await presenter.select(picking.name(1)) }
    #expect(error?.code == .limitExceeded && error?.code.rawValue == 3307)
    #expect(error?.description.contains("One asset may be picked") == true)
    try await presenter.select(picking.name(0))  // selected already
    try await presenter.deselect(picking.name(0))
    try await presenter.select(picking.name(1))
    #expect(presenter.presentation.selection == ["\(picking.name(1))/L0/001"])
    let all = try await picking.pick((0..<5).map(picking.name), picking.configuration(0))
    #expect(picking.indexes(all) == [0, 1, 2, 3, 4])
  }

  @Test("what the filter excludes, hidden or trashed assets and unknown ones cannot be selected (PK-03)")
  func candidates() async throws {
    let picking = try await PickingLibrary()
    let video = try await picking.add([PickingLibrary.draft(.video, "film", "a.mov")], .video)
    let album = try await picking.library.performChanges { block in
      block.setHidden(true, for: [picking.photos[1]])
      block.deleteAssets([picking.photos[2]])
      _ = block.createAlbum(title: "Sea")
    }.created[0]
    var configuration = picking.configuration()
    configuration.filter = .not(.videos)
    let presenter = try picking.library.present(picking.app.beginPicking(configuration))
    #expect(try presenter.candidates().map(\.id) == [0, 3, 4].map { picking.photos[$0] })
    var options = FetchOptions()
    options.condition = .comparison(.localIdentifier, .notEqual, .identifier(picking.photos[3]))
    #expect(try presenter.candidates(options).map(\.id) == [0, 4].map { picking.photos[$0] })
    for name in [picking.name(1), picking.name(2), album, "nonsense", UUID().uuidString] {
      #expect(await picking.code { try await presenter.select(name) } == .identifierNotFound, "\(name)")
    }
    #expect(await picking.code { try await presenter.select(video.uuidString) } == .changeNotSupported)
    for path in [\FetchOptions.includeHiddenAssets, \.showsTrash] {
      var options = FetchOptions()
      options[keyPath: path] = true
      #expect(await picking.code { _ = try presenter.candidates(options) } == .changeNotSupported)
    }
  }

  // MARK: PK-04

  @Test("a preselection is returned without bytes and grants no access, and callers merge it (PK-04)")
  func preselection() async throws {
    let picking = try await PickingLibrary()
    let first = try await picking.pick([picking.name(2), picking.name(0)])
    #expect(first.map(\.isLoadable) == [true, true])
    var configuration = picking.configuration(0, .ordered)
    configuration.preselectedAssetIdentifiers = [
      picking.name(4), first[1].assetIdentifier ?? "", UUID().uuidString, "nonsense", picking.name(4),
    ]
    let again = try await picking.pick([picking.name(1)], configuration)
    #expect(picking.indexes(again) == [4, 2, 1], "Unknown ones are passed over.")
    #expect(again.map(\.isLoadable) == [false, false, true] && again[0].supportedContentTypes.isEmpty)
    #expect(await picking.code { _ = try await picking.app.load(again[0]) } == .requestNotSupportedForAsset)
    #expect(try picking.library.access(toAsset: picking.name(4)).isEmpty)
    let merged = again.map { item in first.first { $0.assetIdentifier == item.assetIdentifier } ?? item }
    #expect(try await picking.app.load(merged[1]) == Data(PickingLibrary.bytes(2).utf8))

    // Taken out by the person, and put in again: it still comes without bytes.
    let session = try picking.app.beginPicking(configuration)
    let presenter = try picking.library.present(session)
    try await presenter.deselect(picking.name(4))
    try await presenter.deselect(picking.name(2))
    try await presenter.select(picking.name(4))
    try await presenter.finish()
    let result = try #require(await session.everyResult.last)
    #expect(picking.indexes(result) == [4] && !result[0].isLoadable)
  }

  @Test(
    "cancelling returns the preselection, whatever was selected and whichever side cancels (PK-04)",
    arguments: PickerConfiguration.Selection.allCases, [0, 1, 2])
  func cancelling(selection: PickerConfiguration.Selection, way: Int) async throws {
    let picking = try await PickingLibrary()
    var configuration = picking.configuration(0, selection)
    configuration.preselectedAssetIdentifiers = [picking.name(3), picking.name(1)]
    let session = try picking.app.beginPicking(configuration)
    let presenter = try picking.library.present(session)
    try await presenter.select(picking.name(0))
    try await presenter.deselect(picking.name(3))
    switch way {
    case 0: session.cancel()
    case 1: presenter.cancel()
    default: picking.library.close()
    }
    #expect(session.state == .cancelled)
    let results = await session.everyResult
    let last = try #require(results.last)
    #expect(picking.indexes(last) == [3, 1] && last.allSatisfy { !$0.isLoadable })
    #expect(results.count == (selection.isContinuous ? 3 : 1))
    session.cancel()
    #expect(await picking.code { try await presenter.select(picking.name(2)) } == .changeNotSupported)
    #expect(await picking.code { try await presenter.finish() } == .changeNotSupported)
  }

  @Test("cancelling reveals to a client nothing of what exists (PK-04)")
  func noOracle() async throws {
    let picking = try await PickingLibrary()
    let unknown = UUID().uuidString
    for name in [picking.name(0), unknown] {
      var configuration = picking.configuration(1)
      configuration.preselectedAssetIdentifiers = [name]
      let session = try picking.app.beginPicking(configuration)
      session.cancel()
      #expect(await session.everyResult.map { $0.map(\.assetIdentifier) } == [["\(name)/L0/001"]])
      configuration.preselectedAssetIdentifiers.append(UUID().uuidString)
      #expect(await picking.code { _ = try picking.app.beginPicking(configuration) } == .limitExceeded)
    }
  }

  @Test("an invalid configuration of a session is rejected")
  func refusedConfigurations() async throws {
    let picking = try await PickingLibrary()
    var negative = PickerConfiguration()
    negative.selectionLimit = -1
    var nameless = PickerConfiguration()
    nameless.preselectedAssetIdentifiers = [picking.name(0)]
    let foreign = try await PickingLibrary(0, seed: 6).configuration()
    for configuration in [negative, nameless, foreign] {
      #expect(await picking.code { _ = try picking.app.beginPicking(configuration) } == .malformedRequest)
    }
    #expect(try picking.library.pickingSessions().isEmpty)
  }

  // MARK: PK-05

  @Test(
    "an ordered selection keeps the order of picking, a continuous one reports after each tap (PK-05)",
    arguments: [
      (.default, [[1, 3, 4]]), (.ordered, [[4, 1, 3]]),
      (.continuous, [[3], [3, 4], [0, 3, 4], [0, 1, 3, 4], [1, 3, 4], [1, 4], [1, 3, 4]]),
      (.continuousAndOrdered, [[3], [3, 4], [3, 4, 0], [3, 4, 0, 1], [3, 4, 1], [4, 1], [4, 1, 3]]),
    ] as [(PickerConfiguration.Selection, [[Int]])])
  func order(selection: PickerConfiguration.Selection, expected: [[Int]]) async throws {
    let picking = try await PickingLibrary()
    let session = try picking.app.beginPicking(picking.configuration(0, selection))
    let presenter = try picking.library.present(session)
    for index in [3, 4, 0, 1, 1] { try await presenter.select(picking.name(index)) }
    for index in [0, 0, 3] { try await presenter.deselect(picking.name(index)) }
    try await presenter.select(picking.name(3))
    try await presenter.finish()
    let results = await session.everyResult
    #expect(results.map(picking.indexes) == expected)
    for item in results.joined() {
      let index = try #require(picking.indexes([item]).first)
      #expect(try await picking.app.load(item) == Data(PickingLibrary.bytes(index).utf8))
    }
    // What was handed out was recorded once, also when it was deselected later.
    let picked = selection.isContinuous ? [0, 1, 3, 4] : [1, 3, 4]
    for index in 0..<5 {
      #expect(try picking.library.access(toAsset: picking.name(index)).count == (picked.contains(index) ? 1 : 0))
    }
    #expect(try picking.library.clients().map(\.pickCount) == [selection.isContinuous ? 4 : 1])
  }

  @Test("each result of a continuous selection can be loaded when it comes (PK-05)")
  func continuousLoading() async throws {
    let picking = try await PickingLibrary()
    let session = try picking.app.beginPicking(picking.configuration(0, .continuous))
    let presenter = try picking.library.present(session)
    var results = session.results.makeAsyncIterator()
    for index in 0..<3 {
      try await presenter.select(picking.name(index))
      let items = try #require(await results.next())
      #expect(picking.indexes(items) == Array(0...index))
      #expect(try await picking.app.load(items[index]) == Data(PickingLibrary.bytes(index).utf8))
    }
    try await presenter.finish()
    #expect(await results.next() == nil, "The end of a continuous session brings no result of its own.")
  }

  // MARK: PK-06

  @Test("an asset is moved after another, or first; what is not selected is skipped (PK-06)")
  func moving() async throws {
    let picking = try await PickingLibrary()
    for (index, other, expected) in [
      (2, nil, [2, 0, 1]), (0, 2, [1, 2, 0]), (0, 1, [1, 0, 2]), (1, 0, [0, 1, 2]), (1, 1, [0, 1, 2]),
      (3, nil, [0, 1, 2]), (0, 4, [0, 1, 2]), (0, 0, [0, 1, 2]),
    ] as [(Int, Int?, [Int])] {
      try await move(index, after: other, expecting: expected, picking)
    }
  }

  private func move(
    _ index: Int, after other: Int?, expecting expected: [Int], _ picking: PickingLibrary
  ) async throws {
    let session = try picking.app.beginPicking(picking.configuration(0, .ordered))
    let presenter = try picking.library.present(session)
    for index in 0..<3 { try await presenter.select(picking.name(index)) }
    session.moveAsset(
      withIdentifier: "\(picking.name(index))/L0/001", afterAssetWithIdentifier: other.map { picking.name($0) })
    session.moveAsset(withIdentifier: picking.name(0), afterAssetWithIdentifier: "nonsense")
    session.moveAsset(withIdentifier: "nonsense", afterAssetWithIdentifier: nil)
    try await presenter.finish()
    let moved = "\(index) after \(other.map { "\($0)" } ?? "nothing")"
    #expect(picking.indexes(try #require(await session.everyResult.last)) == expected, "\(moved)")
    session.moveAsset(withIdentifier: picking.name(0), afterAssetWithIdentifier: nil)
    let selection = presenter.presentation.selection.map { $0.prefix(36) }
    #expect(selection == expected.map { picking.name($0)[...] }, "\(moved)")
  }

  @Test("a client deselects assets, unknown ones without harm, and that is not a tap (PK-05, PK-06)")
  func deselecting() async throws {
    let picking = try await PickingLibrary()
    let session = try picking.app.beginPicking(picking.configuration(0, .continuousAndOrdered))
    let presenter = try picking.library.present(session)
    for index in 0..<3 { try await presenter.select(picking.name(index)) }
    session.deselectAssets(
      withIdentifiers: ["nonsense", UUID().uuidString, picking.name(4), "\(picking.name(1))/L0/001"])
    try await presenter.select(picking.name(3))
    try await presenter.finish()
    session.deselectAssets(withIdentifiers: [picking.name(0)])
    #expect(await session.everyResult.map(picking.indexes) == [[0], [0, 1], [0, 1, 2], [0, 2, 3]])
    #expect(presenter.presentation.selection.count == 3, "A session that is over is left alone.")
  }

  @Test("the limit changes while the session is open; too many cannot be submitted (a.8, 3307)")
  func updating() async throws {
    let picking = try await PickingLibrary()
    let session = try picking.app.beginPicking(picking.configuration(1))
    let presenter = try picking.library.present(session)
    try await presenter.select(picking.name(0))
    try session.update(PickerUpdate(selectionLimit: 2))
    try await presenter.select(picking.name(1))
    try session.update(PickerUpdate())
    #expect(presenter.presentation.selectionLimit == 2)
    try session.update(PickerUpdate(selectionLimit: 1))
    #expect(await picking.code { try await presenter.finish() } == .limitExceeded)
    #expect(session.state == .open)
    #expect(await picking.code { try session.update(PickerUpdate(selectionLimit: -2)) } == .malformedRequest)
    try await presenter.deselect(picking.name(0))
    try await presenter.finish()
    #expect(picking.indexes(try #require(await session.everyResult.last)) == [1])
    #expect(await picking.code { try session.update(PickerUpdate(selectionLimit: 0)) } == .changeNotSupported)
  }
}
