import Foundation
import TestSupport
import Testing

// A verifier in Python that has nothing of this package reads the same store and must agree: what the format and the
// proofs are is what StorageFormat.md and RFC 9162 say, and not what this code happens to do. It needs Python with the
// packages `lmdb` and `cbor2`; where they are missing, these tests are shown as skipped.

/// Python with what the independent verifier needs.
enum Python {
  static let needs: Comment =
    "needs python3 with the packages lmdb and cbor2 (PHOTOLEDGER_PYTHON names another python3)"

  /// How it is called; nil if there is none.
  static let command: String? = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let named = ProcessInfo.processInfo.environment["PHOTOLEDGER_PYTHON"]
    let places = ["python3", "/usr/bin/python3", root.appending(path: ".build/python/bin/python3").path]
    return ([named].compactMap { $0 } + places).first { command in
      (try? ChildRun.of([command, "-c", "import lmdb, cbor2"]).end) == .status(0)
    }
  }()

  /// Runs one of the scripts beside the tests.
  static func run(_ script: String, _ words: [String]) throws -> (text: String, end: ChildRun.End) {
    let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "IndependentVerifier/\(script)")
    return try ChildRun.of([try #require(command), "-B", file.path] + words)
  }
}

@Suite("The independent verifier", .enabled(if: Python.command != nil, Python.needs))
struct IndependentVerifierTests {
  /// A library with assets, albums, edits, keys, purges and commits of many events.
  private func library() throws -> Sandbox {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(40)
    let album = try sandbox.run(["album", "create", "Sea"]).lines[0]
    #expect(try sandbox.run(["album", "add", album] + assets.prefix(12)).status == 0)
    #expect(try sandbox.run(["favorite", assets[3], assets[4]]).status == 0)
    #expect(try sandbox.run(["trash", assets[5]]).status == 0)
    #expect(try sandbox.run(["purge", assets[5]]).status == 0)
    let long = String(repeating: "k", count: 300)
    _ = try sandbox.apply([
      #"{"key":"k-1","cause":"é","changes":[{"op":"album.create","title":"Ü"}]}"#,
      #"{"key":"\#(long)","changes":[{"op":"album.create","title":"Long"}]}"#,
    ])
    return sandbox
  }

  private func verified(_ sandbox: Sandbox, _ words: [String] = []) throws -> [String: Any] {
    let run = try Python.run("verify_library.py", [sandbox.library] + words)
    #expect(run.end == .status(0), "\(run.text)")
    return try jsonObject(run.text)
  }

  @Test("it recomputes the log, and agrees on every count, hash, checkpoint and proof")
  func agrees() throws {
    let sandbox = try library()
    let words = try ["1", "9", "40", "46"].flatMap { sequence in
      ["--proof", try file(sandbox, "\(sequence).json", ["prove", "inclusion", sequence, "--json", "--record"])]
    }
    let early = ["--proof", try file(sandbox, "early.json", ["prove", "inclusion", "7", "--size", "33", "--json"])]
    let proofs = try ["1", "31", "32", "46"].flatMap { size in
      ["--proof", try file(sandbox, "from\(size).json", ["prove", "consistency", size, "--json"])]
    }
    let note = try file(sandbox, "1.note", ["checkpoint"])
    #expect(try sandbox.run(["album", "create", "Later"]).status == 0)
    let later = try file(sandbox, "2.note", ["checkpoint"])
    let found = try verified(sandbox, words + early + proofs + ["--checkpoint", note, "--checkpoint", later])
    let own = try #require(try sandbox.run(["verify", "--json"]).objects().first)
    let checkpoint = try #require(try sandbox.run(["checkpoint", "--json"]).objects().first)
    #expect(
      found["events"] as? Int == own["eventCount"] as? Int && found["commits"] as? Int == own["commitCount"] as? Int)
    #expect(found["chain"] as? String == own["chain"] as? String)
    #expect(found["root"] as? String == checkpoint["root"] as? String)
    #expect(found["origin"] as? String == checkpoint["origin"] as? String)
    #expect(found["proofs"] as? Int == 9 && found["checkpoints"] as? Int == 2 && found["keys"] as? Int == 2)
    #expect(found["erased"] as? Int == 0 && found["files"] as? Int == 39)
  }

  private func file(_ sandbox: Sandbox, _ name: String, _ words: [String]) throws -> String {
    let result = try sandbox.run(words)
    #expect(result.status == 0, "\(result.errors)")
    let file = sandbox.folder.appending(path: name)
    try Data(result.output.utf8).write(to: file)
    return file.path
  }

  @Test("an erased payload is erased for both, and root, checkpoint and proofs are as before")
  func erased() throws {
    let sandbox = try library()
    let note = try file(sandbox, "1.note", ["checkpoint"])
    let before = try verified(sandbox)
    let assets = try sandbox.identifiers([])
    let proof = try file(sandbox, "6.json", ["prove", "inclusion", "6", "--size", "40", "--json"])
    for asset in assets.prefix(2) { #expect(try sandbox.run(["erase", asset, "--yes"]).status == 0) }
    // The events of a purge and an erasure follow; what was before is as it was.
    let later = try file(
      sandbox, "later.json", ["prove", "consistency", "\(try #require(before["events"]))", "--json"])
    let found = try verified(sandbox, ["--checkpoint", note, "--proof", proof, "--proof", later])
    #expect(try #require(found["erased"] as? Int) > 2 && found["root"] as? String != before["root"] as? String)
    #expect(try sandbox.run(["prove", "check", proof, "--checkpoint", note]).status == 1, "it is of another size")
    #expect(try sandbox.run(["verify", "--checkpoint", note]).status == 0)
    // What stands for an erased payload is proved by the event that brought it.
    let store = sandbox.library + "/store/data.mdb"
    let sound = try Data(contentsOf: URL(filePath: store))
    for words in [["erase", "9"], ["redact"], ["unredact"]] {
      #expect(try Python.run("alter_log.py", [sandbox.library] + words).end == .status(0), "\(words)")
      #expect(try Python.run("verify_library.py", [sandbox.library]).end == .status(1), "\(words)")
      #expect(try sandbox.run(["verify"]).status == 1, "\(words)")
      try sound.write(to: URL(filePath: store))
    }
    _ = try verified(sandbox)
  }

  @Test("both find an event that was altered, removed or moved")
  func alterations() throws {
    let sandbox = try library()
    var random = SeededGenerator(seed: 3)
    var cases = [["remove", "9"], ["remove", "1"], ["swap", "7", "9"], ["remove", "48"]]
    // Each takes three programs, so there are few at the usual dose.
    for _ in 0..<(Dose.isFull ? 16 : 4) {
      cases.append([
        "flip", "\(Int.random(in: 1...48, using: &random))", "\(Int.random(in: 0..<4000, using: &random))",
        "\(Int.random(in: 0...7, using: &random))",
      ])
    }
    let store = sandbox.library + "/store/data.mdb"
    let sound = try Data(contentsOf: URL(filePath: store))
    for words in cases {
      #expect(try Python.run("alter_log.py", [sandbox.library] + words).end == .status(0))
      let other = try Python.run("verify_library.py", [sandbox.library])
      #expect(other.end == .status(1), "\(words): \(other.text)")
      let own = try sandbox.run(["verify", "--json"])
      #expect(own.status == 1, "\(words): \(own.output)")
      // A library whose first event is gone or cannot be read is refused when it is opened.
      if words[1] != "1" {
        let place = try #require((try own.objects().first?["defect"] as? [String: Any])?["place"] as? String)
        if words[0] != "remove" || words[1] != "48" {
          #expect(other.text.contains("\(place):"), "\(words): \(place), \(other.text)")
        }
        #expect(place == "event \(words[1])")
      }
      try sound.write(to: URL(filePath: store))
    }
    _ = try verified(sandbox)
  }

  @Test("a log recomputed from an event on is valid to both, and only the kept checkpoint shows it")
  func rewritten() throws {
    let sandbox = try library()
    let (early, late) = (
      try file(sandbox, "8.json", ["prove", "inclusion", "8", "--size", "8", "--json"]),
      try file(sandbox, "1.note", ["checkpoint"])
    )
    #expect(try Python.run("alter_log.py", [sandbox.library, "rewrite", "9"]).end == .status(0))
    _ = try verified(sandbox, ["--proof", early])
    #expect(try sandbox.run(["verify"]).status == 0)
    let other = try Python.run("verify_library.py", [sandbox.library, "--checkpoint", late])
    #expect(other.end == .status(1) && other.text.contains("another root"))
    let own = try sandbox.run(["verify", "--checkpoint", late])
    #expect(own.status == 1 && own.output.contains("NOT SOUND at events 1 to 48"), "\(own.output)")
  }
}
