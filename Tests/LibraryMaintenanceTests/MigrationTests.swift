import EventLog
import Foundation
import LMDB
import PhotoLedger
import StoreMigrations
import StoreTestSupport
import TestSupport
import Testing

@testable import LibraryMaintenance

// Stores of every format that was ever published, opened by this program.
//
//     v1-first    20 November 2026: assets, albums, folders; nine projections      migrated.dump: what it comes to
//     v1          22 November 2026: clients, words, edits, smart albums; sixteen    v7/library.dump is what it comes to
//     v2          22 November 2026: stored orders, tombstones, quarantined events   the same
//     v3          24 November 2026: erased payloads, undos, forks                   the same, and kept.dump v7's
//     v4          24 November 2026: the index of words, more stored orders          the same
//     v5          26 November 2026: events of versions 3 and 4                      the same
//     v6          26 November 2026: the orders of added, trashed and withheld       the same, and each dump v7's
//
// A fixture is a dump, from which the store is made again, byte for byte. PHOTOLEDGER_RECORD=1 writes migrated.dump
// anew; that is right only as long as the format of now is unpublished.

@Suite("Migrations", .serialized)
struct MigrationTests {
  static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Migrations/Fixtures")
  private static let isRecording = ProcessInfo.processInfo.environment["PHOTOLEDGER_RECORD"] == "1"

  static let old = ["v1-first", "v1", "v2", "v3", "v4", "v5", "v6"]
  /// Those that a step makes projections of anew, which takes time and can be stopped.
  static let rebuilt = old

  private static func fixture(_ path: String) throws -> String {
    try String(contentsOf: fixtures.appending(path: path), encoding: .utf8)
  }

  /// Makes the store of a dump.
  static func restore(_ version: String, _ name: String = "library", at library: URL) throws {
    try FileManager.default.createDirectory(at: library.appending(path: "store"), withIntermediateDirectories: true)
    let environment = try LMDB.Environment.store(ofLibrary: library.path)
    for section in try fixture("\(version)/\(name).dump").split(separator: "\n\n") {
      let lines = section.split(separator: "\n")
      let name = String(try #require(lines.first).dropFirst().dropLast())
      let database = try environment.database(name, integerKeys: StoreDump.numbered.contains(name))
      try environment.write { t in
        for line in lines.dropFirst() where !line.hasPrefix(" ") {
          let parts = line.split(separator: " ")
          let key = try #require(FormatDump.bytes(hex: parts[0]))
          let value = try #require(parts.count > 2 ? FormatDump.bytes(hex: parts[2]) : [])
          try t.put(key.span.bytes, value.span.bytes, in: database)
        }
      }
    }
    try environment.close()
  }

  /// The format of a fixture: the digit behind the v.
  private static func number(of version: String) -> UInt8? { version.dropFirst().first?.hexDigitValue.map(UInt8.init) }

  private static func dump(_ library: URL) throws -> String {
    let environment = try LMDB.Environment.store(ofLibrary: library.path)
    return try FormatDump.text(of: environment)
  }

  /// The first lines that differ.
  private static func difference(_ found: String, _ wanted: String) -> String? {
    let (ours, theirs) = (found.split(separator: "\n"), wanted.split(separator: "\n"))
    if ours == theirs { return nil }
    let index = zip(ours, theirs).enumerated().first { $1.0 != $1.1 }?.offset ?? min(ours.count, theirs.count)
    let (line, other) = (ours.dropFirst(index).first ?? "(end)", theirs.dropFirst(index).first ?? "(end)")
    return "line \(index + 1): \(line) is not \(other)"
  }

  @Test("a store of an older format is migrated to the current one when it is opened, and produces the frozen bytes")
  func migrates() throws {
    for version in Self.old {
      let folder = try TemporaryFolder()
      let url = folder.place("library")
      try Self.restore(version, at: url)
      var phases: Set<String> = []
      let library = try PhotoLibrary(at: url, environment: .seeded(9)) { progress in
        phases.insert(progress.phase)
        return true
      }
      let found = try Self.dump(url)
      let expected = version == "v1-first" ? "\(version)/migrated.dump" : "v7/library.dump"
      if Self.isRecording, version == "v1-first" {
        try Data(found.utf8).write(to: Self.fixtures.appending(path: expected))
      }
      #expect(Self.difference(found, try Self.fixture(expected)) == nil, "\(version)")
      // How often the proof of the log reports its progress depends on its length.
      #expect(phases.subtracting(["log"]) == (Self.rebuilt.contains(version) ? ["rebuild", "compare", "swap"] : []))
      let left = try FileManager.default.contentsOfDirectory(atPath: url.path + "/store")
      #expect(!left.contains { $0.contains("shadow") })
      let verification = try library.verify(scratch: folder.url)
      #expect(verification.isSound || verification.defect?.place.contains("resources") == true)
      try library.performChangesAndWait { $0.createAlbum(title: "after") }
      library.close()
      // The second opening has nothing to do.
      let again = try PhotoLibrary(at: url, environment: .seeded(9)) { _ in
        Issue.record("A library of the current format was migrated.")
        return true
      }
      again.close()
    }
  }

  @Test("a store with undos and an erased asset is migrated with the tombstones of the erased payloads")
  func migratesErased() throws {
    let folder = try TemporaryFolder()
    let url = folder.place("library")
    try Self.restore("v3", "kept", at: url)
    try PhotoLibrary(at: url, environment: .seeded(9)).close()
    #expect(Self.difference(try Self.dump(url), try Self.fixture("v7/kept.dump")) == nil)
    #expect(try Self.fixture("v3/kept.log") == Self.fixture("v7/kept.log"))
  }

  @Test(
    "a store of format 6 gains the rows of the files that an undo can restore, for each library of the fixtures",
    arguments: StorageFormatTests.libraries)
  func migratesFormerFiles(name: String) throws {
    let folder = try TemporaryFolder()
    let url = folder.place("library")
    try Self.restore("v6", name, at: url)
    try PhotoLibrary(at: url, environment: .seeded(9)).close()
    #expect(Self.difference(try Self.dump(url), try Self.fixture("v7/\(name).dump")) == nil)
    #expect(try Self.fixture("v6/\(name).log") == Self.fixture("v7/\(name).log"))
  }

  @Test(
    "no newer format changed an event: the log of the same library is the same",
    arguments: ["v1", "v2", "v3", "v4", "v5", "v6"])
  func sameLog(version: String) throws {
    #expect(try Self.fixture("\(version)/library.log") == Self.fixture("v7/library.log"))
  }

  @Test("events of every form ever written are read, and are written in the current form", arguments: old)
  func readsLogs(version: String) throws {
    struct Logged: Codable {
      var sequence: UInt64
      var type: String
      var version: UInt32
      var payload: String
    }
    let lines = try Self.fixture("\(version)/library.log").split(separator: "\n")
    #expect(lines.count > 50)
    var reshaped: Set<String> = []
    for line in lines {
      let logged = try JSONDecoder().decode(Logged.self, from: Data(line.utf8))
      let payload = try #require(FormatDump.bytes(hex: logged.payload))
      let event = try Event(
        type: logged.type, version: logged.version, sequence: logged.sequence, payload: payload.span.bytes)
      #expect(event.type == logged.type, "event \(logged.sequence)")
      if FormatDump.hex(event.payload()) == logged.payload { continue }
      // Of the first form, which holds the files of an asset otherwise.
      reshaped.insert(logged.type)
      let written = event.payload()
      #expect(
        try Event(type: logged.type, version: 1, sequence: logged.sequence, payload: written.span.bytes) == event)
    }
    #expect(reshaped == (version != "v1-first" ? [] : ["asset.created", "asset.purged", "assets.edited"]))
  }

  // The step from format 4 writes a number: there is nothing in it to be stopped.
  @Test("a migration that is stopped or killed has not happened, and the next opening begins again", arguments: rebuilt)
  func interrupted(version: String) async throws {
    let folder = try TemporaryFolder()
    let url = folder.place("library")
    try Self.restore(version, at: url)
    let stopped = #expect(throws: LibraryError.self) {
      try PhotoLibrary(at: url, environment: .seeded(9)) { _ in false }
    }
    #expect(stopped?.code == .userCancelled)
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = url.path as String] in
      _ = try PhotoLibrary(at: URL(filePath: path), environment: .seeded(9)) { _ in
        kill(getpid(), SIGKILL)
        return true
      }
    }
    let environment = try LMDB.Environment.store(ofLibrary: url.path)
    let meta = try environment.database("store.meta")
    let format = try environment.read { t in try t.bytes(for: Array("format".utf8), in: meta) }
    #expect(format?.last == Self.number(of: version))
    let library = try PhotoLibrary(at: url, environment: .seeded(9))
    defer { library.close() }
    #expect(
      try environment.read { t in try t.bytes(for: Array("format".utf8), in: meta) }
        == withUnsafeBytes(of: UInt64(StoreFormat.current).bigEndian, Array.init))
    #expect(try library.fetchAssets().count > 0)
  }

  @Test("an altered event ends a migration with a sentence, and nothing is changed")
  func altered() throws {
    let folder = try TemporaryFolder()
    let url = folder.place("library")
    try Self.restore("v1", at: url)
    do {
      let environment = try LMDB.Environment.store(ofLibrary: url.path)
      let events = try environment.database("events", integerKeys: true)
      try environment.write { t in
        var record = try #require(try t.bytes(for: 30, in: events))
        record[record.count - 1] ^= 1
        try t.put(30, record, in: events)
      }
      try environment.close()
    }
    let before = try Self.dump(url)
    let error = #expect(throws: LibraryError.self) { try PhotoLibrary(at: url) }
    #expect(error?.code == .corrupted && error?.description.contains("vent 30") == true)
    let after = try Self.dump(url)
    #expect(Self.difference(after, before) == nil)
  }

  @Test(
    "a store without migrations to this format, and a newer one, are rejected with a sentence",
    arguments: [0, UInt8(StoreFormat.current) + 1, 99])
  func refused(format: UInt8) throws {
    let folder = try TemporaryFolder()
    let url = folder.place("library")
    try Self.restore("v1", at: url)
    do {
      let environment = try LMDB.Environment.store(ofLibrary: url.path)
      let meta = try environment.database("store.meta")
      try environment.write { t in try t.put(Array("format".utf8), [0, 0, 0, 0, 0, 0, 0, format], in: meta) }
      try environment.close()
    }
    let error = #expect(throws: LibraryError.self) { try PhotoLibrary(at: url) }
    #expect(error?.code == (format == 0 ? .notALibrary : .newerThanProgram))
    #expect(error?.description.contains("format \(format), this program knows \(StoreFormat.current)") == true)
  }

  @Test("a store that a newer program migrates meanwhile is not swept, and keeps its number")
  func newerMeanwhile() throws {
    let folder = try TemporaryFolder()
    let url = folder.place("library")
    try FormatLibrary.make(at: url).close()
    let stray = url.appending(path: "resources/ab/" + String(repeating: "c", count: 62))
    try FileManager.default.createDirectory(at: stray.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data("stray".utf8).write(to: stray)
    let environment = try LMDB.Environment.store(ofLibrary: url.path)
    let format = try StoreFormat(in: environment, creates: false)
    let meta = try environment.database(StoreFormat.name, create: false)
    let newer: [UInt8] = [0, 0, 0, 0, 0, 0, 0, UInt8(StoreFormat.current) + 1]
    try environment.write { t in try t.put(Array("format".utf8), newer, in: meta) }
    var report = CompactionReport(bytesBefore: 0, bytesAfter: 0, entryCount: 0, chain: "")
    let sweeping = #expect(throws: StoreFormatError.self) { try PhotoLibrary.sweep(url, &report) { _ in true } }
    let lowering = #expect(throws: StoreFormatError.self) {
      try environment.write { t in try format.noteMissingProjections(in: &t) }
    }
    #expect(sweeping?.isNewer == true && lowering?.isNewer == true)
    #expect(report.sweptFiles.isEmpty && FileManager.default.fileExists(atPath: stray.path))
    let number = try environment.read { t in try format.stored(t) }
    #expect(number == StoreFormat.current + 1)
    try environment.close()
  }

  @Test(
    "a store of an older format on a read-only mount is rejected with both formats and what to do", .mountsMemory,
    arguments: ["v2", "v6"])
  func readOnly(version: String) async throws {
    let folder = try TemporaryFolder()
    let disk = folder.place("disk")
    try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: false)
    try #require(mount("tmpfs", disk.path, "tmpfs", 0, "size=64m") == 0)
    defer { umount2(disk.path, Int32(MNT_DETACH)) }
    let url = disk.appending(path: "library")
    try Self.restore(version, at: url)
    // A child that another test is just starting has the descriptors of the store until it begins its program.
    var code = EBUSY
    try await waitUntil("the disk is mounted read-only") {
      code = mount("tmpfs", disk.path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0 ? 0 : errno
      return code != EBUSY
    }
    try #require(code == 0)
    let opening = #expect(throws: LibraryError.self) { try PhotoLibrary(at: url) }
    let rebuild = #expect(throws: LibraryError.self) { try PhotoLibrary.rebuild(at: url) }
    let number = try #require(Self.number(of: version))
    for error in [opening, rebuild] {
      let text = error?.description ?? ""
      #expect(error?.code == .storage && text.contains("has format \(number) "), "\(text)")
      #expect(text.contains("to format \(StoreFormat.current)") && text.contains("mount it for writing"), "\(text)")
    }
  }

  @Test("the steps lead from each published format to the next, without a gap")
  func steps() {
    #expect(StoreStep.published.map(\.from) == Array(1..<StoreFormat.current))
  }
}
