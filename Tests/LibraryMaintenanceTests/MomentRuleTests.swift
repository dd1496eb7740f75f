import Foundation
import LMDB
import LibraryAudit
import LibraryMaintenance
import LibraryPicking
import PhotoLedger
import Synchronization
import TestSupport
import Testing

@Suite("As-of views")
struct MomentRuleTests {
  /// A clock that a test sets.
  private final class Clock: Sendable {
    private let seconds = Mutex(1_000_000.0)
    var date: Date { Date(timeIntervalSince1970: seconds.withLock { $0 }) }
    func set(_ value: Double) { seconds.withLock { $0 = value } }
  }

  private static func library(_ clock: Clock) throws -> SmallLibrary {
    let generator = Mutex(SeededGenerator(seed: 5))
    return try SmallLibrary(
      LibraryEnvironment(process: "test", now: { clock.date }, random: { generator.withLock { $0.next() } }))
  }

  private static func code(_ body: () throws -> Void) -> LibraryError.Code? {
    do {
      try body()
      return nil
    } catch let error as LibraryError {
      return error.code
    } catch {
      Issue.record("\(error) is no error of the library's.")
      return nil
    }
  }

  @Test("a sequence inside a commit stands for the whole commit, and 0 for the state before the first (PH-01)")
  func sequences() async throws {
    let small = try SmallLibrary()
    let assets = try await small.assets(3)
    let library = small.library
    for sequence in UInt64(2)...4 {
      #expect(try library.at(sequence: sequence).fetchAssets().map(\.id) == assets)
      #expect(try library.at(sequence: sequence).currentToken == library.currentToken)
    }
    #expect(try library.at(sequence: 1).fetchAssets().isEmpty)
    let nothing = try library.at(sequence: 0)
    #expect(try nothing.fetchAssets().isEmpty && nothing.fetchCollections().isEmpty)
    #expect(try nothing.statistics().eventCount == 0 && nothing.currentToken < library.at(sequence: 1).currentToken)
    #expect(Self.code { _ = try library.at(sequence: 5) } == .invalidToken)
  }

  @Test("a date stands for the last commit made at or before it, even if the clock was set back")
  func dates() async throws {
    let clock = Clock()
    let small = try Self.library(clock)
    var titles: [String] = []
    for (title, time) in [("a", 2e6), ("b", 3e6), ("c", 2.5e6), ("d", 4e6)] {
      clock.set(time)
      _ = try await small.folder(title)
      titles.append(title)
    }
    func shown(_ time: Double) throws -> [String] {
      try small.library.at(date: Date(timeIntervalSince1970: time)).fetchCollections().compactMap(\.localizedTitle)
    }
    #expect(try shown(0) == [])
    #expect(try shown(1.9e6) == [])
    #expect(try shown(2e6) == ["a"])
    #expect(try shown(2.4e6) == ["a"])
    // The clock was set back between b and c: of the commits at or before the date, c is the last.
    #expect(try shown(2.5e6) == ["a", "b", "c"])
    #expect(try shown(3.5e6) == ["a", "b", "c"])
    #expect(try shown(9e9) == titles)
  }

  @Test("a token of another library, of a future state or of another client's view is rejected with a sentence (PH-01)")
  func tokens() async throws {
    let small = try SmallLibrary()
    let assets = try await small.assets(2)
    let one = try await small.ruleClient(.limited, [assets[0]])
    let two = try await small.ruleClient(.limited, [assets[1]], named: "com.example.other")
    let other = try SmallLibrary(.seeded(2))
    let foreign = try other.library.currentToken
    #expect(Self.code { _ = try small.library.at(foreign) } == .invalidToken)
    let future = Token(library: try small.library.currentToken.library, commit: 999)
    #expect(Self.code { _ = try small.library.at(future) } == .invalidToken)
    let own = try one.currentToken
    #expect(try one.at(own).fetchAssets().map(\.id) == [assets[0]])
    #expect(Self.code { _ = try two.at(own) } == .invalidToken)
    #expect(Self.code { _ = try one.at(try small.library.currentToken) } == .invalidToken)
    #expect(Self.code { _ = try one.at(sequence: 1) } == .accessUserDenied)
    let stranger = small.library.as("com.example.stranger")
    #expect(Self.code { _ = try stranger.at(date: .distantFuture) } == .accessUserDenied)
  }

  @Test("nothing can be changed, requested or observed in an as-of view, and the error says where it can")
  func readOnly() async throws {
    let small = try SmallLibrary()
    let token = try small.library.currentToken
    let view = try small.library.at(token)
    let calls: [(PhotoLibrary) throws -> Void] = [
      { try $0.performChangesAndWait { _ = $0.createAlbum(title: "no") } },
      { try $0.shortenHistory(to: token) }, { try $0.rebuild() }, { _ = try $0.verify() },
      { _ = try $0.beginPicking() }, { try $0.register(PromptObserver()) }, { try $0.makeSnapshots() },
      { try $0.eraseAssets([]) }, { _ = try $0.erasurePreview(of: []) }, { try $0.appendLog(next: { nil }) },
      { try $0.exportLog { _ in } }, { try $0.backup(to: URL(filePath: "/nonexistent/library")) },
      { try $0.fork(to: URL(filePath: "/nonexistent/library")) },
      { view in try view.compare(with: view) { _ in true } },
      { _ = try $0.planUndo(.commit(token)) },
      { _ = try $0.undoAndWait(.commit(token), onConflict: .refuse, cause: nil, key: nil) { _ in } },
    ]
    for call in calls {
      do {
        try call(view)
        Issue.record("A view of a moment did something.")
      } catch let error as LibraryError {
        #expect(error.code == .changeNotSupported && error.description.contains("use the current library"))
      }
    }
    #expect(view.momentDate != nil && small.library.momentDate == nil)
    #expect(try small.library.currentToken == token)
  }

  @Test("what was purged later exists, with its places and texts, and its bytes are reported as missing (PH-05)")
  func purged() async throws {
    let small = try SmallLibrary()
    let picture = ResourceDraft(type: .photo, source: .data(Data("picture".utf8)), originalFilename: "a.jpg")
    let made = AssetCreation(mediaType: .image, resources: [picture])
    var id: LocalIdentifier?
    try await small.change { id = $0.createAsset(made) }
    let asset = try #require(id)
    let album = try await small.album("Album", [asset])
    try await small.change { block in
      var changes = AssetChanges()
      changes.caption = .set("dawn")
      block.edit([asset], changes)
    }
    let token = try small.library.currentToken
    try await small.change { $0.deleteAssets([asset]) }
    try await small.change { $0.purgeAssets([asset]) }
    try await small.change { $0.deleteCollections([album.id]) }

    let view = try small.library.at(token)
    #expect(try small.library.asset(asset.uuidString) == nil)
    let then = try #require(try view.asset(asset.uuidString))
    #expect(try view.fetchAssets().map(\.id) == [asset])
    #expect(try view.extendedMetadata(of: then).caption == "dawn")
    #expect(try view.fetchCollections(containing: then).map(\.id) == [album.id])
    let then2 = try #require(try view.collection(album.id.uuidString))
    #expect(then2.estimatedAssetCount == 1)
    #expect(try view.fetchAssets(FetchOptions(), in: then2).map(\.id) == [asset])
    #expect(try view.fetchCollections(withLocalIdentifiers: [asset.uuidString]).isEmpty)
    let resource = try #require(try view.resources(of: then).first)
    #expect(try view.assets(withContent: resource.sha256).map(\.id) == [asset])
    #expect(try await view.state(of: resource, in: then) == .missing)
    #expect(try view.statistics().resourceCount == 1 && small.library.statistics().resourceCount == 0)
  }

  @Test("the smart album of what was added recently shows the thirty days before the moment, or the date (AL-07)")
  func recentlyAdded() async throws {
    let clock = Clock()
    let day = 86_400.0
    let small = try Self.library(clock)
    clock.set(100 * day)
    let old = try await small.assets(1)
    let first = try small.library.currentToken
    clock.set(140 * day)
    let new = try await small.assets(1)
    let second = try small.library.currentToken
    clock.set(400 * day)
    func recent(_ view: PhotoLibrary) throws -> [LocalIdentifier] {
      try small.smartMembers(.smartAlbumRecentlyAdded, of: view)
    }
    #expect(try recent(small.library) == [])
    #expect(try recent(small.library.at(first)) == old)
    #expect(try recent(small.library.at(second)) == new)
    #expect(try recent(small.library.at(date: Date(timeIntervalSince1970: 150 * day))) == new)
    #expect(try recent(small.library.at(date: Date(timeIntervalSince1970: 300 * day))) == [])
  }

  @Test("a view shows what the client saw then, and bytes by the current permission besides (AU-01)")
  func permissions() async throws {
    let small = try SmallLibrary()
    let assets = try await small.assets(3)
    let name = "com.example.app"
    let client = try await small.ruleClient(.limited, [assets[0]])
    let limited = try client.currentToken
    try await small.change { $0.setAuthorizationStatus(.authorized, of: name) }
    let full = try client.currentToken
    try await small.change { $0.setAuthorizationStatus(.limited, of: name) }
    try await small.change { block in
      block.withdraw([assets[0]], from: name)
      block.grant([assets[2]], to: name)
    }
    #expect(try client.fetchAssets().map(\.id) == [assets[2]])
    #expect(try client.at(limited).fetchAssets().map(\.id) == [assets[0]])
    #expect(try client.at(limited).authorizationStatus(for: .readWrite) == .limited)
    #expect(try client.at(full).fetchAssets().map(\.id) == assets)
    #expect(try small.library.at(small.library.currentToken).as(name).fetchAssets().map(\.id) == [assets[2]])
    let seen = try #require(try client.at(limited).fetchAssets().first)
    let resource = try #require(try client.at(limited).resources(of: seen).first)
    #expect(Self.code { _ = try client.at(limited).url(of: resource, in: seen) } == .identifierNotFound)
    try await small.change { $0.setAuthorizationStatus(.denied, of: name) }
    #expect(Self.code { _ = try client.at(limited) } == .accessUserDenied)
    #expect(
      try small.library.at(full).as(name).fetchAssets().map(\.id) == assets, "The owner may look through its eyes.")
  }

  @Test("a date leads a limited client to its own last revision, whatever others did since (AU-01)")
  func limitedDates() async throws {
    let clock = Clock()
    let small = try Self.library(clock)
    let assets = try await small.assets(2)
    clock.set(2e6)
    let client = try await small.ruleClient(.limited, [assets[0]])
    clock.set(3e6)
    try await small.change { $0.edit([assets[1]], AssetChanges(isFavorite: true)) }
    clock.set(4e6)
    try await small.change { $0.edit([assets[0]], AssetChanges(isFavorite: true)) }
    func view(_ time: Double) throws -> PhotoLibrary { try client.at(date: Date(timeIntervalSince1970: time)) }
    #expect(try view(1.5e6).fetchAssets().isEmpty)
    #expect(try view(2.5e6).currentToken == view(3.5e6).currentToken)
    #expect(try view(3.5e6).fetchAssets().map(\.isFavorite) == [false])
    #expect(try view(4e6).fetchAssets().map(\.isFavorite) == [true])
    #expect(Self.code { _ = try view(3.5e6).statistics() } == .accessUserDenied)
  }

  @Test("an as-of result is advanced to the current state by exact changes (CD-01, FR-01)")
  func followed() async throws {
    let small = try SmallLibrary()
    let assets = try await small.assets(3)
    let token = try small.library.currentToken
    let more = try await small.assets(1)
    try await small.change { $0.deleteAssets([assets[1]]) }
    var iterator = small.library.changes(to: try small.library.at(token).fetchAssets()).makeAsyncIterator()
    let first = try #require(try await iterator.next())
    #expect(first.insertedIndexes == [3] && first.fetchResultAfterChanges.map(\.id) == assets + more)
    let second = try #require(try await iterator.next())
    #expect(second.removedIndexes == [1])
  }

  @Test("change details lead from any state to any other, earlier ones too (CD-01, CD-08)", arguments: [false, true])
  func differences(isBackward: Bool) async throws {
    let small = try SmallLibrary()
    let assets = try await small.assets(4)
    let album = try await small.album("Album", assets)
    let early = try small.library.currentToken
    try await small.change { $0.album(album.id).move(at: [3], to: 0) }
    try await small.change { $0.deleteAssets([assets[1]]) }
    try await small.change { $0.edit([assets[2]], AssetChanges(isFavorite: true)) }
    try await small.change { $0.edit([assets[0]], AssetChanges(isFavorite: true)) }
    try await small.change { $0.edit([assets[0]], AssetChanges(isFavorite: false)) }
    let late = try small.library.currentToken
    _ = try await small.assets(1)
    let (from, to) = isBackward ? (late, early) : (early, late)
    let held = try small.library.at(from).fetchAssets(FetchOptions(), in: album)
    let details = try small.library.changeDetails(from: held, to: to)
    #expect(details.fetchResultBeforeChanges.token == from && details.fetchResultAfterChanges.token == to)
    let (before, after) = (assets, [assets[3], assets[0], assets[2]])
    #expect(details.fetchResultBeforeChanges.map(\.id) == (isBackward ? after : before))
    #expect(details.fetchResultAfterChanges.map(\.id) == (isBackward ? before : after))
    let one = isBackward ? details.insertedIndexes : details.removedIndexes
    #expect(one == [1] && details.hasMoves && details.commits.count == 5)
    // What was changed and changed back looks different, as to a slow observer.
    #expect(try Set(details.changedObjects().map(\.id)) == [assets[0], assets[2]])
    #expect(try small.library.changeDetails(from: held, to: from).commits.isEmpty)
  }

  @Test("a fetch by identifier leads back to what was purged, and on to what came later (CD-01, FR-01)")
  func namedDifferences() async throws {
    let small = try SmallLibrary()
    let gone = try await small.assets(1)[0]
    let early = try small.library.currentToken
    let later = try await small.assets(1)[0]
    try await small.change { $0.deleteAssets([gone]) }
    let trashed = try small.library.currentToken
    try await small.change { $0.purgeAssets([gone]) }
    let late = try small.library.currentToken
    let names = [gone, later].map(\.uuidString)
    func led(_ from: Token, _ to: Token) throws -> [[LocalIdentifier]] {
      let held = try small.library.at(from).fetchAssets(withLocalIdentifiers: names)
      let details = try small.library.changeDetails(from: held, to: to)
      return [details.fetchResultBeforeChanges.map(\.id), details.fetchResultAfterChanges.map(\.id)]
    }
    #expect(try led(late, early) == [[later], [gone]])
    #expect(try led(early, late) == [[gone], [later]])
    let held = try small.library.fetchAssets(withLocalIdentifiers: names)
    var iterator = small.library.changes(to: held).makeAsyncIterator()
    try small.library.undoAndWait(.commit(late))
    try small.library.undoAndWait(.commit(trashed))
    #expect(try await iterator.next()?.fetchResultAfterChanges.map(\.id) == [gone, later])
  }

  @Test("an identifier means at each moment what it meant then, for purged, erased, undone and restored assets too")
  func namedThen() async throws {
    let small = try SmallLibrary()
    let library = small.library
    var ids: [LocalIdentifier] = []
    var known: [(token: Token, there: Set<LocalIdentifier>)] = []
    func note() throws {
      let there = try ids.filter { try library.asset($0.uuidString) != nil }
      known.append((try library.currentToken, Set(there)))
    }
    try note()
    for _ in 0..<4 {
      ids += try await small.assets(1)
      try note()
    }
    let creations = known.map(\.token)
    try library.undoAndWait(.commit(creations[3]))
    try note()
    try library.undoAndWait(.commit(creations[4]))
    try note()
    try library.undoAndWait(.commit(try library.currentToken))
    try note()
    for id in ids[..<2] {
      try library.performChangesAndWait { $0.deleteAssets([id]) }
      try note()
      try library.performChangesAndWait { $0.purgeAssets([id]) }
      try note()
    }
    let isThere = try ids.map { try library.asset($0.uuidString) != nil }
    #expect(isThere == [false, false, false, true])
    try library.undoAndWait(.commit(try library.currentToken))
    try note()
    try library.eraseAssets([ids[0]])
    try note()
    for (index, (token, there)) in known.enumerated() {
      let view = try library.at(token)
      for id in ids {
        let asset = try view.asset(id.uuidString)
        #expect(asset?.id == (there.contains(id) ? id : nil), "asset \(ids.firstIndex(of: id) ?? -1), state \(index)")
      }
    }
    let erased = try library.at(creations[1]).asset(ids[0].uuidString)
    #expect(erased?.isErased == true)
  }

  @Test("a view that was read before an erasure answers like a new one of its state")
  func readBeforeErasure() async throws {
    let small = try SmallLibrary()
    let ids = try await small.assets(3)
    let token = try small.library.currentToken
    try await small.change { $0.setFavorite(true, for: [ids[0]]) }
    let view = try small.library.at(token)
    var dated = FetchOptions()
    dated.condition = .isPresent(.creationDate)
    dated.sort = [try SortTerm("creationDate:desc", for: .asset)]
    func answers(_ view: PhotoLibrary) throws -> [[LocalIdentifier]] {
      [try view.fetchAssets(dated).map(\.id), try view.fetchAssets().map(\.id)]
    }
    #expect(try answers(view) == [ids.reversed(), ids])
    try await small.change { $0.deleteAssets([ids[0]]) }
    try await small.change { $0.purgeAssets([ids[0]]) }
    #expect(try answers(view) == [ids.reversed(), ids])
    try small.library.eraseAssets([ids[0]])
    #expect(try answers(view) == [[ids[2], ids[1]], ids])
    #expect(try answers(small.library.at(token)) == [[ids[2], ids[1]], ids])
    try await small.change { $0.setFavorite(true, for: [ids[1]]) }
    #expect(try answers(view) == [[ids[2], ids[1]], ids])
  }

  /// What can become of the files of snapshots.
  enum Damage: CaseIterable {
    case emptied, cutShort, overwritten, zeroed

    func inflict(on file: URL) throws {
      let bytes = try Data(contentsOf: file)
      let heads = 8192
      let damaged =
        switch self {
        case .emptied: Data()
        case .cutShort: bytes.prefix(heads + 808)
        case .overwritten: Data(repeating: 0x5a, count: 50_000)
        case .zeroed: bytes.prefix(heads) + Data(count: bytes.count - heads)
        }
      try damaged.write(to: file)
    }
  }

  @Test("unreadable snapshots change no answer, and are made again or dropped", arguments: Damage.allCases)
  func damagedSnapshots(_ damage: Damage) async throws {
    let folder = try TemporaryFolder()
    let url = folder.place("library")
    let data = url.appending(path: "snapshots/data.mdb")
    var right: [[Bool]] = []
    func answers(_ library: PhotoLibrary) throws -> [[Bool]] {
      try (UInt64(8)...40).map { try library.at(sequence: $0).fetchAssets().map(\.isFavorite) }
    }
    func opened(_ body: (PhotoLibrary) throws -> Void) throws {
      let library = try PhotoLibrary(at: url)
      try body(library)
      library.close()
      try LMDB.Environment.store(ofLibrary: url.path).close()
      if FileManager.default.fileExists(atPath: data.path) {
        try LMDB.Environment.open(path: url.path + "/snapshots", options: Self.snapshotOptions).close()
      }
    }
    try PhotoLibrary.create(at: url, environment: .seeded(3)).close()
    try opened { library in
      var assets: [LocalIdentifier] = []
      try library.performChangesAndWait { block in assets = (0..<6).map { block.createAsset(.invented($0)) } }
      for index in 0..<40 {
        try library.performChangesAndWait { $0.setFavorite((index / 6) % 2 == 0, for: [assets[index % 6]]) }
      }
      right = try answers(library)
      try library.makeSnapshots(spacing: 2)
    }
    for isDropped in [false, true] {
      try damage.inflict(on: data)
      try opened { library in
        #expect(try answers(library) == right)
        if isDropped {
          try library.dropSnapshots()
          #expect(!FileManager.default.fileExists(atPath: data.path))
        }
        #expect(try library.makeSnapshots(spacing: 2).count > 10)
        #expect(try library.snapshots()?.spacing == 2 && answers(library) == right)
      }
    }
    try damage.inflict(on: data)
    try PhotoLibrary.compact(at: url)
    #expect(!FileManager.default.fileExists(atPath: data.path), "they may hold what was erased")
  }

  private static var snapshotOptions: LMDB.Environment.Options {
    var options = LMDB.Environment.Options()
    options.maxDatabases = 8
    return options
  }

  @Test("snapshots of another history are not used, and can be dropped while a view is open")
  func foreignSnapshots() async throws {
    let (one, two) = (try SmallLibrary(), try SmallLibrary())
    let (marked, concealed) = (try await one.assets(6), try await two.assets(6))
    for index in 0..<20 {
      let isOn = (index / 6) % 2 == 0
      try await one.change { $0.edit([marked[index % 6]], AssetChanges(isFavorite: isOn)) }
      try await two.change { $0.edit([concealed[index % 6]], AssetChanges(isHidden: isOn)) }
    }
    func hidden() throws -> [[Bool]] {
      var options = FetchOptions()
      options.includeHiddenAssets = true
      return try (8...20).map { try two.library.at(sequence: $0).fetchAssets(options).map(\.isHidden) }
    }
    let right = try hidden()
    #expect(try one.library.makeSnapshots(spacing: 3).count > 4)
    // The data alone: a lock file is good where it was made.
    let (from, to) = (one.library.url.appending(path: "snapshots"), two.library.url.appending(path: "snapshots"))
    try FileManager.default.createDirectory(at: to, withIntermediateDirectories: true)
    try FileManager.default.copyItem(at: from.appending(path: "data.mdb"), to: to.appending(path: "data.mdb"))
    #expect(try two.library.snapshots()?.spacing == 3)
    #expect(try hidden() == right)
    #expect(try two.library.makeSnapshots(spacing: 3).lastSequence > 20)
    #expect(try hidden() == right)
    try two.library.dropSnapshots()
    #expect(try two.library.snapshots() == nil && hidden() == right)
    #expect(Self.code { try two.library.makeSnapshots(spacing: 0) } == .malformedRequest)
    #expect(Self.code { try two.library.as("com.example.app").makeSnapshots() } == .accessUserDenied)
  }
}

extension AssetChanges {
  fileprivate init(isFavorite: Bool? = nil, isHidden: Bool? = nil) {
    self.init()
    (self.isFavorite, self.isHidden) = (isFavorite, isHidden)
  }
}
