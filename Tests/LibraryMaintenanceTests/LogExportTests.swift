import EventLog
import Foundation
import JSONReading
import LMDB
import LibraryAudit
import PhotoLedger
import StoreMigrations
import TestSupport
import Testing

@testable import LibraryMaintenance

@Suite("The log as JSON lines")
struct LogExportTests {
  @Test(
    "an exported log makes a library with the same records and entries, and exports as the same text",
    arguments: [false, true])
  func roundTrip(erases: Bool) async throws {
    let kept = try await KeptLibrary.make()
    if erases {
      try kept.library.eraseAssets([kept.secret])
      try kept.library.eraseAssets([kept.other])
    }
    let lines = try LogText.lines(kept.library)
    #expect(lines.count == Int(try kept.head().sequence) + 1)
    let again = kept.folder.place("again")
    let token = try PhotoLibrary.importLog(to: again, next: LogText.source(lines))
    #expect(token == (try kept.library.currentToken))
    let library = try PhotoLibrary(at: again)
    defer { library.close() }
    #expect(try library.currentToken == token)
    #expect(try LogText.lines(library) == lines)
    #expect(try StoreDump(Environment.store(ofLibrary: again.path)).difference(from: kept.dump()) == nil)
    #expect(try library.verify(scratch: kept.folder.url).isSound)
  }

  private static let filler = Array("filler".utf8)

  /// Fills the map of a store up to sixteen pages, far less than the projections of hundreds of assets have.
  /// - Returns: the size of the map.
  private static func fillUp(_ store: Environment) throws -> Int {
    let statistics = try store.statistics()
    let free = statistics.mapSize / statistics.pageSize - statistics.usedPages - 16
    guard free > 1 else { return statistics.mapSize }
    let meta = try store.database(StoreFormat.name, create: false)
    let value = [UInt8](repeating: 0, count: (free - 1) * statistics.pageSize)
    try store.write { t in try t.put(filler, value, in: meta) }
    return try store.statistics().mapSize
  }

  @Test("an import whose log and whose projections fill the map goes on with a larger one")
  func fullMap() throws {
    let made = try TemporaryLibrary()
    _ = try made.create(500)
    let place = made.folder.place("again")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
    // The first one to open the store in this process decides how large its map is.
    let mapSize = 64 << 10
    var options = LibraryStore.options
    (options.durability, options.mapSize, options.drainSeconds) = (.unsafeNoSync, mapSize, 1)
    let path = place.appending(path: "store").path
    let store = try Environment.open(path: path, options: options)
    let lines = LogLines(LogText.source(try LogText.lines(made.library)))
    var sizeWithLog = 0
    let token = try LogImport.fill(place.path, lines, try lines.heading(), .seeded(2)) { progress in
      if progress.phase == "log", let size = try? Self.fillUp(store) { sizeWithLog = size }
      return true
    }
    #expect(try token == made.library.currentToken)
    let again = try Environment.open(path: path, options: options)
    #expect(sizeWithLog > mapSize, "The log alone fills it.")
    #expect(try again.statistics().mapSize > sizeWithLog, "The projections fill it again.")
    let meta = try again.database(StoreFormat.name, create: false)
    _ = try again.write { t in try t.delete(Self.filler, in: meta) }
    let original = try StoreDump(Environment.store(ofLibrary: made.url.path))
    #expect(try StoreDump(again).difference(from: original) == nil)
    try again.close()
  }

  @Test("a line is readable by other tools: JSON with the record's parts, and the payload in text")
  func form() async throws {
    let kept = try await KeptLibrary.make()
    let lines = try LogText.lines(kept.library)
    let heading = try #require(try JSONSerialization.jsonObject(with: Data(lines[0].utf8)) as? [String: Any])
    #expect(heading["format"] as? String == "photoledger-log")
    let first = try #require(try JSONSerialization.jsonObject(with: Data(lines[1].utf8)) as? [String: Any])
    #expect(first["type"] as? String == "library.created" && first["sequence"] as? Int == 1)
    #expect((first["information"] as? [String: Any])?["client"] as? String == "owner")
    #expect(lines[2...].contains { $0.contains("Sunset in Zanzibar") })
  }

  @Test("an error of the caller's own code is rethrown unchanged, and nothing is left of the work")
  func ownErrors() async throws {
    struct Enough: Error {}
    let kept = try await KeptLibrary.make()
    let library = kept.library
    let lines = try LogText.lines(library)
    #expect(throws: Enough.self) { try library.exportLog { _ in throw Enough() } }
    #expect(throws: Enough.self) { try library.forEachLogEntry { _ in throw Enough() } }
    let asset = kept.secret.uuidString
    #expect(throws: Enough.self) { try library.forEachPropertyChange(of: asset) { _ in throw Enough() } }
    #expect(throws: CocoaError.self) { try library.exportLog { _ in throw CocoaError(.fileReadUnknown) } }
    let place = kept.folder.place("again")
    var rest = lines[...4].makeIterator()
    func next() throws -> [UInt8]? {
      guard let line = rest.next() else { throw Enough() }
      return Array(line.utf8)
    }
    #expect(throws: Enough.self) { try PhotoLibrary.importLog(to: place, next: next) }
    #expect(throws: Enough.self) { try library.appendLog { throw Enough() } }
    let forked = kept.folder.place("forked")
    try library.fork(to: forked)
    let fork = try PhotoLibrary(at: forked)
    defer { fork.close() }
    try fork.performChangesAndWait { $0.setFavorite(true, for: [kept.twin]) }
    #expect(throws: Enough.self) { try fork.compare(with: library) { _ in throw Enough() } }
    #expect(!FileManager.default.fileExists(atPath: place.path))
  }

  @Test("a follower imports what continues an export, and rejects everything else")
  func follower() async throws {
    let kept = try await KeptLibrary.make()
    let start = try kept.library.currentToken
    let first = try LogText.lines(kept.library)
    let place = kept.folder.place("follower")
    try PhotoLibrary.importLog(to: place, next: LogText.source(first))
    let follower = try PhotoLibrary(at: place)
    defer { follower.close() }
    let held = try follower.fetchAssets()
    try await kept.small.change { $0.setFavorite(true, for: [kept.twin]) }
    try kept.library.eraseAssets([kept.secret])
    let rest = try LogText.lines(kept.library, after: start)
    let whole = #expect(throws: LibraryError.self) {
      try PhotoLibrary.importLog(to: kept.folder.place("part"), next: LogText.source(rest))
    }
    #expect(whole?.code == .conflict)
    let dump = try StoreDump(Environment.store(ofLibrary: place.path))
    for bad in [Array(rest.dropLast()), [rest[0]], rest + [rest[1]], first] {
      #expect(throws: LibraryError.self) { try follower.appendLog(next: LogText.source(bad)) }
      #expect(try StoreDump(Environment.store(ofLibrary: place.path)).difference(from: dump) == nil)
    }
    #expect(throws: LibraryError.self) { try follower.as("com.example.app").appendLog(next: LogText.source(rest)) }
    let token = try follower.appendLog(next: LogText.source(rest))
    #expect(token == (try kept.library.currentToken))
    #expect(try StoreDump(Environment.store(ofLibrary: place.path)).difference(from: kept.dump()) == nil)
    #expect(try follower.verify(scratch: kept.folder.url).isSound)
    #expect(held.first { $0.id == kept.secret }?.isErased == true)
    let again = #expect(throws: LibraryError.self) { try follower.appendLog(next: LogText.source(rest)) }
    #expect(again?.code == .conflict)
  }

  @Test("a library is exported and imported in ranges, one after the other, and becomes the same")
  func ranges() async throws {
    let kept = try await KeptLibrary.make()
    let library = kept.library
    let core = library.store.core
    let tokens = try (1...kept.head().commit).map { core.token($0) }
    let place = kept.folder.place("follower")
    let first = try LogText.lines(library, through: tokens[0])
    #expect(try PhotoLibrary.importLog(to: place, next: LogText.source(first)) == tokens[0])
    let follower = try PhotoLibrary(at: place)
    defer { follower.close() }
    let second = try LogText.lines(library, after: tokens[0], through: tokens[1])
    let third = try LogText.lines(library, after: tokens[1], through: tokens[2])
    for bad in [third, Array(second.dropLast()), second + third.dropFirst()] {
      #expect(throws: LibraryError.self) { try follower.appendLog(next: LogText.source(bad)) }
      #expect(try follower.currentToken == tokens[0])
    }
    for (start, end) in zip(tokens, tokens.dropFirst()) {
      let range = try LogText.lines(library, after: start, through: end)
      #expect(try follower.appendLog(next: LogText.source(range)) == end)
    }
    #expect(try StoreDump(Environment.store(ofLibrary: place.path)).difference(from: kept.dump()) == nil)
    let empty = try LogText.lines(library, after: tokens[1], through: tokens[1])
    #expect(empty.count == 1)
    let backward = #expect(throws: LibraryError.self) {
      try LogText.lines(library, after: tokens[1], through: tokens[0])
    }
    #expect(backward?.code == .malformedRequest)
  }

  @Test("a range in which data was erased later ends with its tombstones, and the next one continues there")
  func rangeWithErasure() async throws {
    let kept = try await KeptLibrary.make()
    let library = kept.library
    let end = try library.currentToken
    try library.eraseAssets([kept.secret])
    try library.eraseAssets([kept.other])
    let erased = try library.currentToken
    try await kept.small.change { $0.setFavorite(true, for: [kept.twin]) }
    let place = kept.folder.place("follower")
    let first = try LogText.lines(library, through: end)
    #expect(try PhotoLibrary.importLog(to: place, next: LogText.source(first)) == erased)
    let follower = try PhotoLibrary(at: place)
    defer { follower.close() }
    let rest = try LogText.lines(library, after: erased, through: library.currentToken)
    #expect(try follower.appendLog(next: LogText.source(rest)) == library.currentToken)
    #expect(try StoreDump(Environment.store(ofLibrary: place.path)).difference(from: kept.dump()) == nil)
    #expect(try follower.verify(scratch: kept.folder.url).isSound)
  }

  /// A follower of a library as it is, and the path that its file of an asset has.
  private static func follower(of kept: KeptLibrary) throws -> (library: PhotoLibrary, start: Token, file: String) {
    let start = try kept.library.currentToken
    let place = kept.folder.place("follower")
    try PhotoLibrary.importLog(to: place, next: LogText.source(try LogText.lines(kept.library)))
    let follower = try PhotoLibrary(at: place)
    let asset = try #require(try follower.asset(kept.secret.uuidString))
    return (follower, start, follower.url(of: try follower.resources(of: asset)[0]).path)
  }

  @Test("an erasure whose file cannot be removed is not imported, and the same lines are when it can be")
  func erasureWithFileLeft() async throws {
    let kept = try await KeptLibrary.make()
    let (follower, start, file) = try Self.follower(of: kept)
    defer { follower.close() }
    try kept.library.eraseAssets([kept.secret])
    let lines = try LogText.lines(kept.library, after: start)
    // A folder is not removed as a file is, for any caller.
    try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: true)
    let dump = try StoreDump(Environment.store(ofLibrary: follower.url.path))
    let error = #expect(throws: LibraryError.self) { try follower.appendLog(next: LogText.source(lines)) }
    #expect(error?.code == .storage && error?.description.contains(file) == true)
    #expect(try StoreDump(Environment.store(ofLibrary: follower.url.path)).difference(from: dump) == nil)
    try FileManager.default.removeItem(atPath: file)
    try KeptLibrary.photo.write(to: URL(filePath: file))
    try follower.appendLog(next: LogText.source(lines))
    #expect(!FileManager.default.fileExists(atPath: file))
    #expect(try StoreDump(Environment.store(ofLibrary: follower.url.path)).difference(from: kept.dump()) == nil)
  }

  @Test("an erasure changes the rows of the erased assets in a follower, and its log is not replayed")
  func erasureWithoutReplay() async throws {
    let kept = try await KeptLibrary.make()
    try await kept.small.change { $0.stack(top: kept.twin, others: [kept.other]) }
    let (follower, start, _) = try Self.follower(of: kept)
    defer { follower.close() }
    // Changes that the follower imports without what they said of the erased assets.
    try await kept.small.change { block in
      block.setHidden(true, for: [kept.secret, kept.other])
      var changes = AssetChanges()
      changes.caption = .set("Zanzibar again")
      block.edit([kept.secret, kept.twin], changes)
    }
    try kept.library.eraseAssets([kept.secret])
    try kept.library.eraseAssets([kept.other])
    let lines = try LogText.lines(kept.library, after: start)
    var applied: [UInt64] = []
    try follower.appendLog(next: LogText.source(lines)) { progress in
      applied.append(progress.done)
      return true
    }
    #expect(applied.count == lines.count - 1)
    #expect(try StoreDump(Environment.store(ofLibrary: follower.url.path)).difference(from: kept.dump()) == nil)
    #expect(try follower.verify(scratch: kept.folder.url).isSound)
  }

  @Test("an erasure that changes more of an event than the erased assets is not imported")
  func foreignReplacement() async throws {
    let kept = try await KeptLibrary.make()
    let (follower, start, _) = try Self.follower(of: kept)
    defer { follower.close() }
    let core = kept.library.store.core
    let found = try core.environment.read { t in try core.assetNumber(kept.twin, t) }
    let number = try #require(found)
    let left = try core.environment.read { t -> Event in
      guard let record = try core.log.event(at: number, in: t), case .assetCreated(var existence) = try Event(record)
      else { throw Divergence("Event \(number) creates no asset.") }
      existence.details = AssetDetails()
      return .assetCreated(existence)
    }
    let redaction = AssetErased.Redaction(sequence: number, version: left.version, payload: left.payload())
    let erasure = Event.assetErased(AssetErased(numbers: [number], redactions: [redaction]))
    try core.environment.write { t in
      let information = CommitInformation(time: 1_760_000_000_000_000, client: "owner", cause: "x", process: "other")
      var appender = try core.log.begin(information, in: &t)
      _ = try appender.append(
        type: erasure.type, version: erasure.version, payload: erasure.payload(), salt: Salt(1, 2), in: &t)
      _ = try appender.finish(in: &t)
    }
    let lines = try LogText.lines(kept.library, after: start)
    let dump = try StoreDump(Environment.store(ofLibrary: follower.url.path))
    let error = #expect(throws: LibraryError.self) { try follower.appendLog(next: LogText.source(lines)) }
    #expect(error?.code == .corrupted && error?.description.contains("event \(number)") == true)
    #expect(try StoreDump(Environment.store(ofLibrary: follower.url.path)).difference(from: dump) == nil)
  }

  @Test("lines that are imported again, as after a kill, erase leftovers beside the store, and are rejected")
  func erasureCutShort() async throws {
    let kept = try await KeptLibrary.make()
    let (follower, start, _) = try Self.follower(of: kept)
    defer { follower.close() }
    try kept.library.eraseAssets([kept.secret])
    try kept.library.eraseAssets([kept.other])
    let lines = try LogText.lines(kept.library, after: start)
    try follower.appendLog(next: LogText.source(lines))
    let report = follower.url.appending(path: "imports/one.jsonl")
    try FileManager.default.createDirectory(
      at: report.deletingLastPathComponent(), withIntermediateDirectories: true)
    let names = [kept.secret, kept.other, kept.twin].map { $0.spelled(as: .asset) }
    let told = names.map { #"{"asset":"\#($0)","outcome":"asset","path":"/p/of \#($0).jpg"}"# + "\n" }.joined()
    try Data(told.utf8).write(to: report)
    let error = #expect(throws: LibraryError.self) { try follower.appendLog(next: LogText.source(lines)) }
    #expect(error?.code == .conflict)
    let left = try String(contentsOf: report, encoding: .utf8)
    #expect(names.map { left.contains($0) } == [false, false, true])
  }

  @Test("the token after the lines of a fork is the fork's own")
  func forkedLines() async throws {
    let kept = try await KeptLibrary.make()
    let (follower, start, _) = try Self.follower(of: kept)
    let forked = kept.folder.place("forked")
    try kept.library.fork(to: forked)
    let fork = try PhotoLibrary(at: forked)
    defer { fork.close() }
    try fork.performChangesAndWait { $0.setFavorite(true, for: [kept.twin]) }
    let lines = try LogText.lines(fork, after: start)
    #expect(try follower.appendLog(next: LogText.source(lines)) == fork.currentToken)
    let url = follower.url
    follower.close()
    try Environment.store(ofLibrary: url.path).close()
    let again = try PhotoLibrary(at: url)
    defer { again.close() }
    #expect(try again.currentToken == fork.currentToken)
  }

  /// A way to spoil lines, and what the sentence must name.
  private static let harms: [(name: String, spoil: @Sendable ([String]) -> [String], sentence: String)] = [
    ("none", { _ in [] }, "no lines"), ("no heading", { Array($0.dropFirst()) }, "Line 1 "),
    ("no JSON", { $0.spoiled(5) { _ in "{" } }, "Line 6 "), ("empty line", { $0.spoiled(5) { _ in "" } }, "Line 6 "),
    ("a line less", { Array($0[..<4] + $0[5...]) }, "Line 5 "),
    ("cut short", { Array($0.dropLast()) }, "lines are missing"),
    ("two lines swapped", { [$0[0], $0[2], $0[1]] + $0[3...] }, "Line 2 "),
    ("a line twice", { Array($0[..<6] + $0[5...]) }, "Line 7 "),
    ("a key more", { $0.spoiled(3) { $0.replacing("{\"sequence\"", with: "{\"a\":1,\"sequence\"") } }, "Line 4 "),
    (
      "a key of another object",
      { $0.spoiled(3) { $0.replacing("{\"sequence\"", with: "{\"client\":\"owner\",\"sequence\"") } },
      "'client' is unknown"
    ),
    (
      "a key of the object around",
      { $0.spoiled(0) { $0.replacing("\"head\":{", with: "\"head\":{\"format\":\"x\",") } }, "'format' is unknown"
    ),
    ("a key less", { $0.spoiled(3) { $0.replacing(/"index":\d+,/, with: "") } }, "Line 4 "),
    (
      "a huge number", { $0.spoiled(3) { $0.replacing(/"index":\d+/, with: "\"index\":99999999999999999999999") } },
      "Line 4 "
    ),
    ("a negative number", { $0.spoiled(3) { $0.replacing(/"index":\d+/, with: "\"index\":-1") } }, "Line 4 "),
    (
      "another client", { $0.spoiled(2) { $0.replacing("\"client\":\"owner\"", with: "\"client\":\"0wner\"") } },
      "Line 3 "
    ),
    ("another payload", { $0.spoiled(4) { $0.replacing("\"payload\":\"o", with: "\"payload\":\"p") } }, "Line 5 "),
    ("words that are not there", { $0.spoiled(2) { $0.replacing("Sunset", with: "Sunrise") } }, "Line 3 "),
    ("a wrong chain", { $0.spoiled(5) { $0.replacing("\"chain\":\"", with: "\"chain\":\"0") } }, "Line 6 "),
    (
      "another head", { $0.spoiled(0) { $0.replacing("\"head\":{\"sequence\":", with: "\"head\":{\"sequence\":9") } },
      "missing or too many"
    ),
    ("another library", { $0.spoiled(0) { $0.replacing(/"library":"../, with: "\"library\":\"00") } }, "named"),
    ("a newer version", { $0.spoiled(0) { $0.replacing("\"version\":1", with: "\"version\":2") } }, "up to 1"),
    (
      "a new type", { $0.spoiled(6) { $0.replacing(/"type":"[a-z.]*"/, with: "\"type\":\"asset.teleported\"") } },
      "Line 7 "
    ),
    // Readers do not agree on which of the two counts, so one could be shown what the payload does not say.
    ("other words beside the words", { $0.doubled("\"reads\":\"{1: 2}\"", in: 2) }, "\"reads\" is repeated"),
    (
      "a version with a fraction", { $0.spoiled(0) { $0.replacing("\"version\":1", with: "\"version\":1.0") } },
      "'version' has the wrong type"
    ),
    (
      "a commit with an exponent", { $0.spoiled(1) { $0.replacing("\"commit\":1,", with: "\"commit\":1e0,") } },
      "'commit' has the wrong type"
    ),
    ("a payload twice", { $0.doubled("\"payload\":null", in: 2) }, "\"payload\" is repeated"),
    ("a number twice", { $0.doubled("\"sequence\":2", in: 2) }, "\"sequence\" is repeated"),
    (
      "a client twice", { $0.spoiled(1) { $0.replacing("\"client\":", with: "\"client\":\"x\",\"client\":") } },
      "\"client\" is repeated"
    ),
    (
      "a version twice", { $0.spoiled(0) { $0.replacing("\"version\":1", with: "\"version\":1,\"version\":1") } },
      "\"version\" is repeated"
    ),
    (
      "an end twice", { $0.spoiled(0) { $0.replacing("\"head\":{", with: "\"head\":{\"sequence\":0,") } },
      "\"sequence\" is repeated"
    ),
  ]

  @Test("a title with more combining marks on a character than external JSON may have survives the export")
  func markedTitle() async throws {
    let kept = try await KeptLibrary.make()
    let title = "a" + String(repeating: "\u{301}\u{316}", count: String.markLimit)
    #expect(!title.isBoundedInMarks)
    try kept.library.performChangesAndWait { $0.createAlbum(title: title) }
    let lines = try LogText.lines(kept.library)
    let again = kept.folder.place("again")
    try PhotoLibrary.importLog(to: again, next: LogText.source(lines))
    let library = try PhotoLibrary(at: again)
    defer { library.close() }
    #expect(try LogText.lines(library).last.map { Array($0.utf8) } == lines.last.map { Array($0.utf8) })
  }

  @Test(
    "a long key and a value with very many combining marks on one character are rejected in a short sentence",
    .timeLimit(.minutes(5)))
  func combiningMarks() async throws {
    let kept = try await KeptLibrary.make()
    let lines = try LogText.lines(kept.library)
    let marks = String(repeating: "\u{301}\u{316}", count: 100_000)
    let escapes = String(repeating: "\\u0301\\u0316", count: 100_000)
    let harms: [(line: Int, old: String, new: String, sentence: String)] = [
      (0, "{\"format\"", "{\"x\(escapes)\":1,\"format\"", "a key may have 64 bytes at most"),
      (0, "{\"format\"", "{\"x\(marks)\" :1,\"format\"", "a key may have 64 bytes at most"),
      (0, "\"head\":{", "\"head\":{\"\\\"\(marks)\":1,", "a key may have 64 bytes at most"),
      (0, "photoledger-log", "x\(escapes)", "the format is"),
      (2, "{\"sequence\"", "{\"x\(escapes)\":1,\"sequence\"", "a key may have 64 bytes at most"),
      (2, "\"type\":\"", "\"type\":\"x\(escapes)", "the type has not"),
    ]
    for (index, old, new, sentence) in harms {
      var spoiled = lines
      spoiled[index].replaceSubrange(try #require(lines[index].firstRange(of: old)), with: new)
      let error = #expect(throws: LibraryError.self) {
        try PhotoLibrary.importLog(to: kept.folder.place("again"), next: LogText.source(spoiled))
      }
      let description = error?.description ?? ""
      #expect(description.contains(sentence) && description.utf8.count < 1000, "\(old): \(description.utf8.count)")
    }
  }

  /// The lines of one log, which no harm changes.
  private static let soundLines: Task<[String], any Error> = Task {
    let kept = try await KeptLibrary.make()
    return try withExtendedLifetime(kept) { try LogText.lines(kept.library) }
  }

  @Test("lines that differ from the export are rejected with their number, and leave nothing", arguments: 0..<30)
  func hostile(index: Int) async throws {
    #expect(Self.harms.count == 30)
    let harm = Self.harms[index]
    let folder = try TemporaryFolder()
    let lines = try await Self.soundLines.value
    let spoiled = harm.spoil(lines)
    #expect(spoiled != lines, "\(harm.name) spoils something")
    let error = #expect(throws: LibraryError.self, "\(harm.name)") {
      try PhotoLibrary.importLog(to: folder.place("again"), next: LogText.source(spoiled))
    }
    #expect(error?.description.contains(harm.sentence) == true, "\(harm.name): \(error?.description ?? "")")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
  }
}

extension [String] {
  /// The lines, one of which has another member behind those that it has.
  fileprivate func doubled(_ member: String, in index: Int) -> [String] {
    spoiled(index) { String($0.dropLast()) + ",\(member)}" }
  }

  fileprivate func spoiled(_ index: Int, _ body: (String) -> String) -> [String] {
    var lines = self
    lines[index] = body(lines[index])
    return lines
  }
}
