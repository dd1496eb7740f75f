import EventLog
import Foundation
import LMDB
import LibraryAudit
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

// The fixtures of store format 7, under Migrations/Fixtures/v7, and what they prove:
//
//     library.dump   every database of a small seeded library      today's program writes the same bytes
//     library.log    its events, a JSON object a line              today's program reads them, and replays them to the
//                                                                  projections that are frozen in library.dump
//     kept.dump      the same of a library with undos and an       (KeptFormatLibrary.swift)
//     kept.log       erased asset
//     recent.dump    the same of a library with every payload       (RecentFormatLibrary.swift)
//     recent.log     of version 2
//     described.dump the same of a library with every payload       (DescribedFormatLibrary.swift)
//     described.log  of version 3
//     covers.dump    the same of a library with covers of albums    (CoverFormatLibrary.swift)
//     covers.log
//     stacks.dump    the same of a library with stacks               (StackFormatLibrary.swift)
//     stacks.log
//     StorageFormat.md quotes library.dump, line by line. What older fixtures prove is in MigrationTests.swift.
//
// PHOTOLEDGER_RECORD=1 writes both files anew. Once a version has been published, its fixtures are never recorded
// again: a difference then means that the format was broken.

@Suite("Storage format", .serialized)
struct StorageFormatTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  private static let fixtures = root.appending(path: "Migrations/Fixtures/v7")
  private static let isRecording = ProcessInfo.processInfo.environment["PHOTOLEDGER_RECORD"] == "1"

  private static func fixture(_ name: String) throws -> String {
    try String(contentsOf: fixtures.appending(path: name), encoding: .utf8)
  }

  /// One line of library.log.
  private struct LoggedEvent: Codable {
    var sequence: UInt64
    var commit: UInt64
    var type: String
    var version: UInt32
    var payload: String
    var record: String

    static func all(_ name: String = "library") throws -> [LoggedEvent] {
      try StorageFormatTests.fixture("\(name).log").split(separator: "\n").map {
        try JSONDecoder().decode(LoggedEvent.self, from: Data($0.utf8))
      }
    }
  }

  static let libraries = ["library", "kept", "recent", "described", "covers", "stacks"]

  private static func make(_ name: String, at url: URL) throws -> PhotoLibrary {
    switch name {
    case "kept": try KeptFormatLibrary.make(at: url)
    case "recent": try RecentFormatLibrary.make(at: url)
    case "described": try DescribedFormatLibrary.make(at: url)
    case "covers": try CoverFormatLibrary.make(at: url)
    case "stacks": try StackFormatLibrary.make(at: url)
    default: try FormatLibrary.make(at: url)
    }
  }

  @Test("every type that has a version 2 is frozen in it")
  func hasEveryRecentType() throws {
    let events = try LoggedEvent.all("recent") + LoggedEvent.all("covers")
    let types = Set(events.filter { $0.version == 2 }.map(\.type))
    #expect(
      types == [
        "asset.created", "asset.purged", "asset.unmade", "asset.returned", "assets.edited", "client.edited",
        "pick.recorded", "collection.edited",
      ])
  }

  @Test("every type that has a version 3 is frozen in it")
  func hasEveryDescribedType() throws {
    let types = Set(try LoggedEvent.all("described").filter { $0.version == 3 }.map(\.type))
    #expect(types == ["asset.created", "asset.purged", "asset.unmade", "asset.returned", "assets.edited"])
  }

  @Test("every type that has a version 4 is frozen in it")
  func hasEveryStackedType() throws {
    let types = Set(try LoggedEvent.all("stacks").filter { $0.version == 4 }.map(\.type))
    #expect(types == ["asset.purged", "asset.unmade", "asset.returned", "assets.edited"])
  }

  @Test("a library of one seed has the bytes that are frozen", arguments: libraries)
  func writesFormat(name: String) throws {
    try withFolder { folder in
      let url = folder.appending(path: "library")
      let library = try Self.make(name, at: url)
      defer { library.close() }
      let environment = try FormatDump.environment(folder.path + "/library/store")
      let dump = try FormatDump.text(of: environment)
      let log = try Self.log(of: environment)
      if Self.isRecording {
        try FileManager.default.createDirectory(at: Self.fixtures, withIntermediateDirectories: true)
        try Data(dump.utf8).write(to: Self.fixtures.appending(path: "\(name).dump"))
        try Data(log.utf8).write(to: Self.fixtures.appending(path: "\(name).log"))
      }
      try expectSame(dump, try Self.fixture("\(name).dump"), "\(name).dump")
      try expectSame(log, try Self.fixture("\(name).log"), "\(name).log")
    }
  }

  @Test("the libraries have an event of every type that can be decided, except that of a fork")
  func hasEveryType() throws {
    let types = Set(try Self.libraries.flatMap { try LoggedEvent.all($0).map(\.type) })
    #expect(types == Set(LogFilter.knownTypes).subtracting(["library.forked"]))
  }

  @Test("the frozen payloads are read, and written unchanged", arguments: libraries)
  func readsPayloads(name: String) throws {
    for logged in try LoggedEvent.all(name) where !logged.payload.isEmpty {
      let payload = try #require(FormatDump.bytes(hex: logged.payload))
      let event = try Event(
        type: logged.type, version: logged.version, sequence: logged.sequence, payload: payload.span.bytes)
      #expect(event.type == logged.type)
      #expect(FormatDump.hex(event.payload()) == logged.payload, "event \(logged.sequence), \(logged.type)")
    }
  }

  @Test("the frozen payloads replay to the frozen projections")
  func replays() throws {
    let frozen = try Self.sections(of: try Self.fixture("library.dump"))
    try withFolder { folder in
      let environment = try FormatDump.environment(folder.path)
      let projections = try Projections(in: environment)
      try environment.write { t in
        for logged in try LoggedEvent.all() {
          let payload = try #require(FormatDump.bytes(hex: logged.payload))
          let event = try Event(
            type: logged.type, version: logged.version, sequence: logged.sequence, payload: payload.span.bytes)
          try projections.apply(event, sequence: logged.sequence, commit: logged.commit, in: &t)
        }
      }
      for name in Projections.names {
        let replayed = try FormatDump.lines(of: name, in: environment)
        try expectSame(replayed.joined(separator: "\n"), frozen[name] ?? "", name)
      }
    }
  }

  @Test(
    "the frozen logs replay to the frozen projections, with the tombstones of erased payloads", arguments: libraries)
  func replaysLog(name: String) throws {
    let dump = try Self.fixture("\(name).dump")
    let frozen = try Self.sections(of: dump)
    try withFolder { folder in
      let stored = try FormatDump.environment(folder.path + "/stored")
      try FormatDump.restore(dump, into: stored)
      let environment = try FormatDump.environment(folder.path + "/replayed")
      let projections = try Projections(in: environment)
      let log = try EventLog(in: stored)
      try stored.read { t in
        let verified = try log.verify(in: t)
        #expect(verified.defect == nil && (verified.erasedCount > 0) == (name == "kept"))
        try projections.replay(log, through: try log.head(t).sequence, from: t, into: environment)
      }
      for name in Projections.names + [RedactionTable.name] {
        let replayed = try FormatDump.lines(of: name, in: environment)
        try expectSame(replayed.joined(separator: "\n"), frozen[name] ?? "", name)
      }
    }
  }

  @Test("the frozen records prove themselves by the formulas of StorageFormat.md alone")
  func provesRecords() throws {
    var chain = [UInt8](repeating: 0, count: 32)
    for logged in try LoggedEvent.all() {
      let record = try #require(FormatDump.bytes(hex: logged.record))
      guard case .array(let parts) = try CBOR(decoding: record.span.bytes), case .bytes(let commitment) = parts[1],
        case .bytes(let salt) = parts[2], case .bytes(let payload) = parts[3], case .bytes(let leaf) = parts[4],
        case .bytes(let link) = parts[5]
      else {
        Issue.record("event \(logged.sequence) is no record")
        return
      }
      #expect(SHA256.digest(of: salt + payload).bytes == commitment)
      #expect(SHA256.digest(of: [0] + parts[0].encoded + commitment).bytes == leaf)
      chain = SHA256.digest(of: [2] + chain + leaf).bytes
      #expect(chain == link, "event \(logged.sequence)")
      #expect(FormatDump.hex(payload) == logged.payload)
    }
  }

  @Test("the examples of StorageFormat.md are lines of the dump")
  func examples() throws {
    let article = try String(
      contentsOf: Self.root.appending(path: "Sources/PhotoLedger/PhotoLedger.docc/StorageFormat.md"), encoding: .utf8)
    let dump = Set(
      try ["library", "recent", "covers", "stacks"].flatMap { try Self.fixture("\($0).dump").split(separator: "\n") }
        .map { Self.trimmed($0) })
    let examples = Self.blocks(in: article, marked: "```dump")
    #expect(examples.count >= 20, "The article quotes \(examples.count) lines of the dump only.")
    for example in examples {
      #expect(dump.contains(example), "The dump has no line \(example)")
    }
  }

  @Test("the program of StorageFormat.md proves the frozen log, and names an altered event", .enabled(if: hasPython))
  func auditorsProgram() throws {
    let article = try String(
      contentsOf: Self.root.appending(path: "Sources/PhotoLedger/PhotoLedger.docc/StorageFormat.md"), encoding: .utf8)
    let program = article.split(separator: "```python\n").last?.split(separator: "\n```").first
    let events = try LoggedEvent.all()
    let last = try #require(events.last)
    let prover = try #require(program)
    let proof = try Self.run(prover, on: events.map(\.record))
    #expect(proof == "\(events.count) events, chain \(last.record.suffix(64))\n")
    var records = events.map(\.record)
    let digit = records[6].index(records[6].startIndex, offsetBy: 210)
    records[6].replaceSubrange(digit...digit, with: records[6][digit] == "0" ? "1" : "0")
    #expect(try Self.run(prover, on: records) == "event 7 was altered\n")
  }

  private static let hasPython =
    FileManager.default.isExecutableFile(atPath: "/usr/bin/env")
    && (try? run("print(1)", on: [])) == "1\n"

  /// Runs a Python program on records as `mdb_dump` writes them, and gives what it says.
  private static func run(_ program: some StringProtocol, on records: [String]) throws -> String {
    let entries = records.enumerated().map { " \($0 + 1)\n \($1)\n" }.joined()
    let input = Data("HEADER=END\n\(entries)DATA=END\n".utf8)
    return try ChildRun.of(["python3", "-c", String(program)], input: input).text
  }

  // MARK: Support

  private static func trimmed(_ text: some StringProtocol) -> String {
    text.trimmingCharacters(in: .whitespaces)
  }

  /// The lines of all code blocks that begin with a mark.
  private static func blocks(in article: String, marked mark: String) -> [String] {
    var lines: [String] = []
    var isInside = false
    for line in article.split(separator: "\n", omittingEmptySubsequences: false) {
      if isInside, line == "```" {
        isInside = false
      } else if isInside, !trimmed(line).isEmpty {
        lines.append(trimmed(line))
      } else if line == mark {
        isInside = true
      }
    }
    return lines
  }

  /// The databases of a dump by name, without the blank lines between them.
  private static func sections(of dump: String) throws -> [String: String] {
    var sections: [String: String] = [:]
    for section in dump.split(separator: "\n\n") {
      let name = section.prefix { $0 != "]" }.dropFirst()
      sections[String(name)] = section.split(separator: "\n").joined(separator: "\n")
    }
    return sections
  }

  private static func log(of environment: LMDB.Environment) throws -> String {
    let log = try EventLog(in: environment)
    let events = try environment.database("events", integerKeys: true)
    var lines = ""
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    try environment.read { t in
      try log.read(after: 0, in: t) { event in
        let record = try #require(try t.bytes(for: event.sequence, in: events))
        let logged = LoggedEvent(
          sequence: event.sequence, commit: event.commit, type: event.type, version: event.version,
          payload: FormatDump.hex(event.payloadBytes ?? []), record: FormatDump.hex(record))
        lines += String(decoding: try encoder.encode(logged), as: UTF8.self) + "\n"
        return .proceed
      }
    }
    return lines
  }

  /// Names the first line that differs, since two whole dumps side by side are too long to compare.
  private func expectSame(_ found: String, _ frozen: String, _ name: String) throws {
    if found == frozen { return }
    let (ours, theirs) = (found.split(separator: "\n"), frozen.split(separator: "\n"))
    let index = zip(ours, theirs).enumerated().first { $1.0 != $1.1 }?.offset ?? min(ours.count, theirs.count)
    let (line, wanted) = (ours.dropFirst(index).first ?? "(end)", theirs.dropFirst(index).first ?? "(end)")
    Issue.record("\(name), line \(index + 1): found\n  \(line)\nwhere this is frozen:\n  \(wanted)")
  }

  private func withFolder(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "pl-format-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder)
  }
}
