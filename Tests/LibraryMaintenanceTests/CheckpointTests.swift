import EventLog
import Foundation
import LMDB
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

@Suite("Checkpoints")
struct CheckpointTests {
  private static func library(titles: [String]) throws -> TemporaryLibrary {
    let made = try TemporaryLibrary(.seeded(7))
    for title in titles { try made.library.performChangesAndWait { $0.createAlbum(title: title) } }
    return made
  }

  private static func code(_ body: () throws -> Void) throws -> LibraryError.Code? {
    do {
      try body()
      return nil
    } catch let error as LibraryError {
      return error.code
    }
  }

  @Test("a checkpoint is a note of six lines, and is read back as the same checkpoint")
  func note() throws {
    let made = try Self.library(titles: ["a", "b", "c"])
    let checkpoint = try made.library.checkpoint()
    let lines = checkpoint.description.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let root = try #require(Data(base64Encoded: lines[2]))
    #expect(lines[0].wholeMatch(of: #/photoledger/[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}/#) != nil)
    #expect(lines[1] == "4" && root.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == checkpoint.root)
    let chain = try made.library.verify(scratch: made.folder.url).chain
    #expect(lines[3] == "commit 4" && lines[4] == "chain \(chain)")
    #expect(lines[5].wholeMatch(of: #/time 2025-06-15T15:0\d:\d\dZ/#) != nil, "\(lines[5])")
    #expect(Array(lines[6...]) == ["", ""])
    #expect(try Checkpoint(checkpoint.description) == checkpoint)
    let signed = checkpoint.description + "— example.org/key AAAAAQ==\n"
    #expect(try Checkpoint(signed).signatures == ["— example.org/key AAAAAQ=="])
    #expect(try Checkpoint(signed).description == signed)
  }

  @Test("a text that is not a checkpoint is rejected, and the line is named")
  func malformed() throws {
    let note = try Self.library(titles: ["a"]).library.checkpoint().description
    let lines = note.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    func replacing(_ index: Int, by line: String) -> String {
      var changed = lines
      changed[index] = line
      return changed.joined(separator: "\n")
    }
    let root = lines[2]
    let others = [
      "", "\n", "nonsense", note.replacing("\n", with: "\r\n"), String(note.dropLast()), note + "\n", note + "x\n",
      replacing(0, by: "example.org/log"), replacing(1, by: "0"), replacing(1, by: "02"), replacing(1, by: "-1"),
      replacing(1, by: "99999999999999999999"), replacing(2, by: ""), replacing(2, by: String(root.dropLast())),
      replacing(2, by: String(root.dropLast(4))), replacing(2, by: root + "AAAA"), replacing(3, by: "commit two"),
      replacing(3, by: "2"), replacing(4, by: lines[4].uppercased()), replacing(4, by: String(lines[4].dropLast())),
      replacing(5, by: "time yesterday"), replacing(5, by: "time 2025-06-15T15:06:40+00:00"), replacing(6, by: "x"),
    ]
    for (index, text) in others.enumerated() {
      #expect(try Self.code { _ = try Checkpoint(text) } == .invalidProof, "\(index): \(text)")
    }
    #expect(try Self.code { _ = try Checkpoint(note) } == nil)
  }

  @Test("a text with very many combining marks on one character is rejected at once", .timeLimit(.minutes(5)))
  func combiningMarks() throws {
    let note = try Self.library(titles: ["a"]).library.checkpoint().description
    let lines = note.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let marks = String(repeating: "\u{301}\u{316}", count: 100_000)
    for index in lines.indices {
      for line in [marks, lines[index] + marks] {
        var changed = lines
        changed[index] = line
        let error = #expect(throws: LibraryError.self) { _ = try Checkpoint(changed.joined(separator: "\n")) }
        #expect(error?.code == .invalidProof && (error?.description.utf8.count ?? 0) < 1000, "line \(index)")
      }
    }
    let signed = note + "— example.org/key a" + marks + "\n"
    #expect(try Self.code { _ = try Checkpoint(signed + "x" + marks) } == .invalidProof)
    #expect(try Self.code { _ = try Checkpoint(note + "— example.org/key AAAAAQ==\r\n") } == .invalidProof)
    #expect(try Checkpoint(signed).signatures.count == 1)
  }

  @Test("a library fits its own checkpoints, and not those of a library that had the same name and other events")
  func comparison() throws {
    let (one, other) = (
      try Self.library(titles: ["a", "b", "c", "d"]), try Self.library(titles: ["a", "x", "c", "d"])
    )
    let scratch = one.folder.url
    let sizes = try [1, 2, 3, 5].map { try other.checkpoint(ofFirst: $0) }
    #expect(try one.library.verify(scratch: scratch).isSound && other.library.verify(scratch: scratch).isSound)
    let own = try other.library.verify(scratch: scratch, against: sizes)
    #expect(own.isSound && own.checkpointCount == 4)
    let found = try one.library.verify(scratch: scratch, against: sizes.reversed())
    #expect(found.checkpointCount == 2 && found.defect?.place == "events 1 to 3")
    #expect(found.defect?.description.contains(sizes[2].spelledTime) == true)
    let stranger = try TemporaryLibrary(.seeded(8))
    #expect(
      try Self.code { _ = try stranger.library.verify(scratch: scratch, against: [sizes[0]]) } == .invalidProof)
  }

  @Test("a fork that continued does not fit a later checkpoint of the first library, and is not said to be altered")
  func fork() throws {
    let made = try Self.library(titles: ["a", "b"])
    let common = try made.library.checkpoint()
    let place = made.folder.place("fork")
    try made.library.fork(to: place)
    let fork = try PhotoLibrary(at: place)
    defer { fork.close() }
    try made.library.performChangesAndWait { $0.createAlbum(title: "c") }
    let later = try made.library.checkpoint()
    let found = try fork.verify(scratch: made.folder.url, against: [common, later])
    #expect(found.checkpointCount == 1 && found.defect?.place == "events 1 to \(later.size)")
    let sentence = """
      The first \(later.size) events are not those of the checkpoint of \(later.spelledTime): the log was altered and \
      its hashes recomputed, or this library is a fork or a restored backup that continued from an earlier state.
      """
    #expect(found.defect?.description == sentence)
  }

  @Test("a log that lost its last commits verifies by itself, and not against a checkpoint that knew them")
  func shortened() throws {
    let (long, short) = (try Self.library(titles: ["a", "b", "c"]), try Self.library(titles: ["a", "b"]))
    let later = try long.library.checkpoint()
    let found = try short.library.verify(scratch: short.folder.url, against: [later])
    #expect(found.defect?.place == "event 4" && found.checkpointCount == 0)
    #expect(found.defect?.description.contains("4 events") == true)
  }

  @Test("a checkpoint is computed from what is read back, not from what was written: an altered record stops it")
  func readBack() throws {
    let made = try Self.library(titles: ["a", "b"])
    let file = made.folder.place("first.note")
    try made.library.checkpoint().write(to: file)
    let note = try String(contentsOf: file, encoding: .utf8)
    let environment = try LMDB.Environment.store(ofLibrary: made.url.path)
    let events = try environment.database("events", integerKeys: true)
    try environment.write { t in
      var record = try #require(try t.bytes(for: 3, in: events))
      record[record.count - 1] ^= 1
      try t.put(3, record.span.bytes, in: events)
    }
    let error = #expect(throws: LibraryError.self) { try made.library.checkpoint() }
    #expect(error?.code == .corrupted && error?.description.contains("Event 3") == true)
    #expect(try Self.code { try Checkpoint(note).write(to: file) } == .alreadyExists)
    #expect(try String(contentsOf: file, encoding: .utf8) == note)
  }

  @Test("making a checkpoint reports its progress, and can be stopped; only the owner makes one")
  func progress() throws {
    let made = try TemporaryLibrary()
    for _ in 0..<30 {
      try made.library.performChangesAndWait { change in for index in 0..<150 { change.createAlbum(title: "\(index)") }
      }
    }
    var told: [TaskProgress] = []
    _ = try made.library.checkpoint {
      told.append($0)
      return true
    }
    #expect(!told.isEmpty && told.map(\.done) == told.map(\.done).sorted())
    #expect(told.allSatisfy { $0.done < 4501 && $0.total == 4501 && $0.phase == "log" })
    #expect(try Self.code { _ = try made.library.checkpoint { _ in false } } == .userCancelled)
    try made.authorize("com.example.app")
    let view = made.library.as("com.example.app")
    #expect(try Self.code { _ = try view.checkpoint() } == .accessUserDenied)
    #expect(try Self.code { _ = try view.inclusionProof(ofSequence: 1) } == .accessUserDenied)
    #expect(try Self.code { _ = try view.consistencyProof(from: 1) } == .accessUserDenied)
  }
}

extension TemporaryLibrary {
  /// The checkpoint of the beginning of the log, from a proof and from the log's own rows.
  fileprivate func checkpoint(ofFirst size: UInt64) throws -> Checkpoint {
    let last = try library.checkpoint()
    let root = try #require(try Data(hexadecimal: library.inclusionProof(ofSequence: 1, inFirst: size).root))
    let environment = try LMDB.Environment.store(ofLibrary: url.path)
    let log = try EventLog(in: environment)
    let (commit, chain) = try environment.read { t in
      guard let event = try log.event(at: size, in: t) else { throw Divergence("The log lacks event \(size).") }
      return (event.commit, event.chain)
    }
    return try Checkpoint(
      "\(last.origin)\n\(size)\n\(root.base64EncodedString())\ncommit \(commit)\nchain \(chain)\n"
        + "time \(last.spelledTime)\n\n")
  }
}

extension Data {
  fileprivate init?(hexadecimal text: String) {
    guard let digest = SHA256Digest(hexadecimal: text) else { return nil }
    self.init(digest.bytes)
  }
}
