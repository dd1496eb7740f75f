import EventLog
import Foundation
import LMDB
import LibraryAudit
import LibraryMaintenance
import PhotoLedger
import StoreMigrations
import TestSupport
import Testing

/// Events that this program cannot execute, and events of an older version.
@Suite("Unreadable events")
struct UnreadableEventTests {
  /// What is wrong with an event that somebody appended.
  enum Poison: CaseIterable {
    case unknownType, newerVersion, olderVersion, noMap, unknownField, mismatch

    var code: LibraryError.Code {
      switch self {
      case .unknownType, .newerVersion: .newerThanProgram
      default: .corrupted
      }
    }

    func event(_ asset: UInt64) -> (type: String, version: UInt32, payload: CBOR) {
      switch self {
      case .unknownType: ("asset.dreamt", 1, .map([]))
      case .newerVersion: ("nothing.changed", 2, .map([]))
      case .olderVersion: ("nothing.changed", 0, .map([]))
      case .noMap: ("nothing.changed", 1, .array([]))
      case .unknownField: ("nothing.changed", 1, .map([.init(.unsigned(1), .null)]))
      // The asset is not a favourite, and so cannot stop being one.
      case .mismatch:
        (
          "assets.edited", 1,
          .map([
            .init(
              .unsigned(1),
              .array([
                .array([.unsigned(asset), .array([.array([.unsigned(1), .bool(true), .bool(false)])])])
              ]))
          ])
        )
      }
    }
  }

  /// A library into whose log somebody appended a commit.
  private struct Scene {
    let made: TemporaryLibrary
    let asset: LocalIdentifier
    let sequence: UInt64

    init(_ event: (UInt64) -> (type: String, version: UInt32, payload: CBOR)) throws {
      made = try TemporaryLibrary()
      asset = try #require(
        LocalIdentifier(try made.library.performChangesAndWait { $0.createAsset(.invented(1)) }.created[0]))
      let environment = try LMDB.Environment.store(ofLibrary: made.url.path)
      let log = try EventLog(in: environment)
      let (type, version, payload) = event(try environment.read { t in try log.head(t).sequence })
      sequence = try environment.write { t in
        let information = CommitInformation(time: 1_760_000_000_000_000, client: "owner", cause: "x", process: "other")
        var appender = try log.begin(information, in: &t)
        let sequence = try appender.append(
          type: type, version: version, payload: payload.encoded, salt: Salt(1, 2), in: &t)
        _ = try appender.finish(in: &t)
        return sequence
      }
    }

    var library: PhotoLibrary { made.library }
  }

  private static func failure(_ body: () throws -> Void) -> LibraryError? {
    do { try body() } catch { return error as? LibraryError }
    return nil
  }

  @Test(
    "every reader of an event that it cannot apply stops with a sentence that names it", arguments: Poison.allCases)
  func stops(poison: Poison) throws {
    let scene = try Scene(poison.event)
    let name = "\(scene.sequence)"
    let environment = try LMDB.Environment.store(ofLibrary: scene.made.url.path)
    let before = try StoreDump(environment)
    let rebuild = Self.failure { try scene.library.rebuild() }
    #expect(rebuild?.code == poison.code && rebuild?.description.contains(name) == true, "\(poison)")
    #expect(try StoreDump(environment).difference(from: before) == nil)
    let defect = try scene.library.verify(scratch: scene.made.folder.url).defect
    #expect(defect?.place == "event \(scene.sequence)")
    if poison == .mismatch { return }
    let log = Self.failure { try scene.library.forEachLogEntry { _ in true } }
    #expect(log?.code == poison.code && log?.description.contains(name) == true)
    let old = try scene.library.earliestToken
    let history = Self.failure { _ = try scene.library.fetchPersistentChanges(since: old) }
    #expect(history?.code == poison.code && history?.description.contains(name) == true)
  }

  @Test(
    "an event that a rebuild quarantines is shown by log, stat and verify, and changes nothing",
    arguments: Poison.allCases)
  func quarantined(poison: Poison) throws {
    let scene = try Scene(poison.event)
    let library = scene.library
    let before = try library.fetchAssets().map(\.id)
    try library.rebuild(unreadableEvents: .quarantine)
    let found = try library.verify(scratch: scene.made.folder.url)
    #expect(found.isSound && found.quarantined.map(\.sequence) == [scene.sequence])
    #expect(found.quarantined.allSatisfy { $0.reason.contains("\(scene.sequence)") || poison == .mismatch })
    #expect(try library.statistics().quarantinedCount == 1)
    var sentences: [String] = []
    try library.forEachLogEntry { entry in
      if entry.sequence == scene.sequence { sentences.append(entry.sentence) }
      return true
    }
    #expect(sentences.count == 1 && sentences[0].hasPrefix("Quarantined: "))
    #expect(try library.fetchAssets().map(\.id) == before)
    let old = try library.earliestToken
    #expect(try library.fetchPersistentChanges(since: old).count > 1)
    // Quarantined once, it stays so, and the library goes on.
    try library.rebuild()
    try library.performChangesAndWait { $0.setFavorite(true, for: [scene.asset]) }
    #expect(try library.asset(scene.asset.uuidString)?.isFavorite == true)
    #expect(try library.verify(scratch: scene.made.folder.url).isSound)
    #expect(try library.statistics().quarantinedCount == 1)
  }

  @Test(
    "an export names the quarantined events of its range, whose lines a program that cannot apply them does not import",
    arguments: Poison.allCases)
  func exported(poison: Poison) throws {
    let scene = try Scene(poison.event)
    let library = scene.library
    #expect(try library.quarantinedEvents().isEmpty)
    try library.rebuild(unreadableEvents: .quarantine)
    let end = try library.currentToken
    try library.performChangesAndWait { $0.setFavorite(true, for: [scene.asset]) }
    #expect(try library.quarantinedEvents().map(\.sequence) == [scene.sequence])
    #expect(try library.quarantinedEvents(through: end).map(\.sequence) == [scene.sequence])
    #expect(try library.quarantinedEvents(after: end).isEmpty)
    let place = scene.made.folder.place("again")
    let lines = try LogText.lines(library)
    let failure = Self.failure { _ = try PhotoLibrary.importLog(to: place, next: LogText.source(lines)) }
    #expect(failure?.code == poison.code && failure?.description.contains("vent \(scene.sequence)") == true)
    #expect(!FileManager.default.fileExists(atPath: place.path))
  }

  @Test("an event that was quarantined is executed by a program that knows it")
  func comesBack() throws {
    let scene = try Scene(Poison.olderVersion.event)
    try scene.library.rebuild(unreadableEvents: .quarantine)
    #expect(try scene.library.statistics().quarantinedCount == 1)
    let step = EventUpcaster.Step(type: "nothing.changed", from: 0) { ("nothing.changed", $0) }
    try Event.$upcaster.withValue(EventUpcaster(steps: [step])) {
      try scene.library.rebuild()
      #expect(try scene.library.statistics().quarantinedCount == 0)
      #expect(try scene.library.verify(scratch: scene.made.folder.url).isSound)
    }
  }

  @Test("an event that is executed again does not stay quarantined because a later one cannot be")
  func comesBackBesideAnother() throws {
    let scene = try Scene(Poison.olderVersion.event)
    try scene.library.rebuild(unreadableEvents: .quarantine)
    let environment = try LMDB.Environment.store(ofLibrary: scene.made.url.path)
    let unknown = try environment.appendForeignEvent("asset.dreamt")
    let step = EventUpcaster.Step(type: "nothing.changed", from: 0) { ("nothing.changed", $0) }
    try Event.$upcaster.withValue(EventUpcaster(steps: [step])) {
      try scene.library.rebuild(unreadableEvents: .quarantine)
      let found = try scene.library.verify(scratch: scene.made.folder.url)
      #expect(found.isSound && found.quarantined.map(\.sequence) == [unknown])
    }
  }

  @Test("files are not swept while a quarantined event may name some; compacting alone continues")
  func notSwept() throws {
    let scene = try Scene(Poison.unknownType.event)
    try scene.library.rebuild(unreadableEvents: .quarantine)
    let url = scene.made.url
    let folder = url.appending(path: "resources/ab")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appending(path: String(repeating: "c", count: 62))
    try Data("named by an event of tomorrow".utf8).write(to: file)
    scene.library.close()
    try LMDB.Environment.store(ofLibrary: url.path).close()
    let error = #expect(throws: LibraryError.self) { try PhotoLibrary.compact(at: url, sweepingResources: true) }
    #expect(error?.code == .changeNotSupported && error?.description.contains("Event \(scene.sequence)") == true)
    try PhotoLibrary.compact(at: url)
    #expect(FileManager.default.fileExists(atPath: file.path))
  }

  @Test(
    "a follower with a quarantined event imports an erasure, and the event remains quarantined",
    arguments: [Poison.unknownType, .mismatch])
  func followerImportsErasure(poison: Poison) throws {
    let scene = try Scene(poison.event)
    let url = scene.made.url
    try scene.library.rebuild(unreadableEvents: .quarantine)
    // One that cannot be decoded names no asset that is newer.
    let later = try scene.made.create(.invented(2))
    scene.library.close()
    try LMDB.Environment.store(ofLibrary: url.path).close()
    let place = scene.made.folder.place("follower")
    let store = place.appending(path: "store")
    try FileManager.default.createDirectory(at: store, withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      at: url.appending(path: "store/data.mdb"), to: store.appending(path: "data.mdb"))
    let source = try PhotoLibrary(at: url)
    defer { source.close() }
    let follower = try PhotoLibrary(at: place)
    defer { follower.close() }
    let start = try source.currentToken
    try source.eraseAssets([poison == .mismatch ? scene.asset : later])
    try follower.appendLog(next: LogText.source(try LogText.lines(source, after: start)))
    #expect(try follower.statistics().quarantinedCount == 1)
    let dumps = try [place, url].map { try StoreDump(LMDB.Environment.store(ofLibrary: $0.path)) }
    #expect(dumps[0].difference(from: dumps[1]) == nil)
    #expect(try follower.verify(scratch: scene.made.folder.url).isSound)
  }

  @Test("an erasure removes the data of the asset from a quarantined event, which stays quarantined where it must")
  func erased() throws {
    let made = try TemporaryLibrary()
    let library = made.library
    let id = try made.create(.invented(1))
    let date = try #require(try library.asset(id.uuidString)?.modificationDate)
    let environment = try LMDB.Environment.store(ofLibrary: made.url.path)
    let log = try EventLog(in: environment)
    let number = try environment.read { t in try log.head(t).sequence }
    // The asset is not a favourite. Without that, the event applies, and no later one does: its date is another.
    let changes = CBOR.array([
      .array([.unsigned(1), .bool(true), .bool(false)]),
      .array([
        .unsigned(7), .double(date.timeIntervalSinceReferenceDate), .double(date.timeIntervalSinceReferenceDate + 1),
      ]),
    ])
    let words = CBOR.map([.init(.unsigned(2), .text("Xylophones of Zanzibar"))])
    let edit = CBOR.array([.unsigned(number), changes, .map([]), words])
    let payload = CBOR.map([.init(.unsigned(1), .array([edit]))])
    let sequence = try environment.appendForeignEvent("assets.edited", payload: payload.encoded)
    try library.rebuild(unreadableEvents: .quarantine)
    func hasTrace() throws -> Bool { try LogText.lines(library).contains { $0.contains("Zanzibar") } }
    #expect(try hasTrace())
    let count = try library.erasurePreview(of: [id])[0].eventCount
    let report = try library.eraseAssets([id])
    #expect(count == 2 && report.assets[0].eventCount == 2, "the creation and the quarantined event")
    #expect(try !hasTrace())
    for _ in 1...2 {
      let found = try library.verify(scratch: made.folder.url)
      #expect(found.isSound && found.quarantined.map(\.sequence) == [sequence])
      try library.rebuild()
    }
    let again = try library.eraseAssets([id])
    #expect(again.assets[0].eventCount == 0)
  }

  @Test(
    "an asset is not erased while a newer event is quarantined that cannot be decoded and may name it",
    arguments: Poison.allCases.filter { $0 != .mismatch })
  func notErased(poison: Poison) throws {
    let scene = try Scene(poison.event)
    try scene.library.rebuild(unreadableEvents: .quarantine)
    let token = try scene.library.currentToken
    let refusals = [
      Self.failure { _ = try scene.library.erasurePreview(of: [scene.asset]) },
      Self.failure { try scene.library.eraseAssets([scene.asset]) },
    ]
    for error in refusals {
      #expect(error?.code == .changeNotSupported && error?.description.contains("Event \(scene.sequence)") == true)
    }
    #expect(try scene.library.currentToken == token)
    let later = try scene.made.create(.invented(2))
    #expect(try scene.library.eraseAssets([later]).assets.map(\.id) == [later])
    #expect(try scene.library.verify(scratch: scene.made.folder.url).isSound)
  }

  // MARK: Older versions

  /// A step that turns an invented older edit, `{0: asset, 1: is favourite}`, into one of today.
  private static let invented = EventUpcaster(steps: [
    EventUpcaster.Step(type: "asset.liked", from: 0) { (payload) throws(EventUpcastError) in
      guard case .map(let pairs) = payload, case .unsigned? = pairs.first?.value,
        case .bool(let on)? = pairs.last?.value
      else { throw EventUpcastError("the like is none") }
      let change = CBOR.array([.unsigned(1), .bool(!on), .bool(on)])
      let edit = CBOR.array([pairs[0].value, .array([change])])
      return ("assets.edited", .map([.init(.unsigned(1), .array([edit]))]))
    }
  ])

  @Test("an event of an older version is the same to a rebuild, an as-of view, the log and the audit")
  func onePath() throws {
    let scene = try Scene { asset in
      ("asset.liked", 0, .map([.init(.unsigned(0), .unsigned(asset)), .init(.unsigned(1), .bool(true))]))
    }
    let library = scene.library
    let name = scene.asset.uuidString
    try Event.$upcaster.withValue(Self.invented) {
      try library.rebuild()
      #expect(try library.asset(name)?.isFavorite == true)
      #expect(try library.verify(scratch: scene.made.folder.url).isSound)
      let before = try library.fetchAssets()
      try library.performChangesAndWait { $0.setFavorite(false, for: [scene.asset]) }
      #expect(before[0].isFavorite)
      #expect(try library.asset(name)?.isFavorite == false)
      var values: [LogValue] = []
      try library.forEachPropertyChange(of: name) { change in
        if change.property == "isFavorite" { values += [change.old, change.new] }
        return true
      }
      #expect(values == [.bool(false), .bool(true), .bool(true), .bool(false)])
      var sentences: [String] = []
      var filter = LogFilter()
      filter.object = scene.asset
      try library.forEachLogEntry(filter) { entry in
        sentences.append(entry.sentence)
        return true
      }
      #expect(sentences.count == 3 && sentences[1].contains("isFavorite"))
    }
    #expect(Self.failure { try library.rebuild() }?.code == .corrupted)
  }

  @Test("snapshots that were made while an event was quarantined are not used once it is applied, and are made again")
  func outdatedSnapshots() throws {
    let scene = try Scene { asset in
      ("asset.liked", 0, .map([.init(.unsigned(0), .unsigned(asset)), .init(.unsigned(1), .bool(true))]))
    }
    let library = scene.library
    try library.rebuild(unreadableEvents: .quarantine)
    #expect(try library.makeSnapshots(spacing: 1).lastSequence == scene.sequence)
    try Event.$upcaster.withValue(Self.invented) {
      try library.rebuild()
      let now = try library.fetchAssets(where: #Predicate { $0.isFavorite })
      #expect(now.map(\.id) == [scene.asset])
      for _ in 1...2 {
        let view = try library.at(sequence: scene.sequence - 1)
        let before = try view.fetchAssets(where: #Predicate { $0.isFavorite })
        #expect(before.isEmpty)
        #expect(try library.makeSnapshots().lastSequence == scene.sequence)
      }
    }
  }

  @Test("migrations are applied in order, and a missing or failing one is reported")
  func steps() throws {
    let upcaster = EventUpcaster(steps: [
      .init(type: "a", from: 1) { ("a", .array([$0])) }, .init(type: "a", from: 2) { ("b", .array([$0, .null])) },
      .init(type: "b", from: 3) { (_) throws(EventUpcastError) in throw EventUpcastError("no") },
    ])
    let start = VersionedEvent(type: "a", version: 1, payload: .unsigned(7))
    #expect(try upcaster.upcast(start, to: 1) == start)
    let third = VersionedEvent(type: "b", version: 3, payload: .array([.array([.unsigned(7)]), .null]))
    #expect(try upcaster.upcast(start, to: 3) == third)
    #expect(throws: EventUpcastError("no")) { try upcaster.upcast(start, to: 4) }
    let other = VersionedEvent(type: "c", version: 1, payload: .null)
    let error = #expect(throws: EventUpcastError.self) { try upcaster.upcast(other, to: 2) }
    #expect(error?.reason.contains("version 1 of the type c") == true)
    #expect(throws: EventUpcastError.self) { try EventUpcaster.published.upcast(start, to: 2) }
  }
}
