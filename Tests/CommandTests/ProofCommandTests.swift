import Foundation
import Testing

@Suite("Proofs on the command line")
struct ProofCommandTests {
  private func path(_ name: String, _ sandbox: Sandbox) -> String { sandbox.folder.appending(path: name).path }

  private func write(_ text: String, _ name: String, _ sandbox: Sandbox) throws -> String {
    let path = path(name, sandbox)
    try Data(text.utf8).write(to: URL(filePath: path))
    return path
  }

  @Test("a checkpoint goes to standard output or to a new file, and as JSON; an existing file is not replaced")
  func checkpoint() throws {
    let sandbox = try Sandbox()
    _ = try sandbox.makeAssets(3)
    let printed = try sandbox.run(["checkpoint"])
    let lines = printed.output.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(printed.status == 0 && lines.count == 8 && lines[1] == "4" && lines[3] == "commit 2")
    let file = path("first.note", sandbox)
    let written = try sandbox.run(["checkpoint", "--out", file])
    #expect(written.status == 0 && written.output.isEmpty)
    let note = try String(contentsOfFile: file, encoding: .utf8)
    #expect(note.split(separator: "\n").prefix(5) == printed.output.split(separator: "\n").prefix(5))
    let again = try sandbox.run(["checkpoint", "--out", file])
    #expect(again.status == 1 && again.errors.contains(file) && again.errors.contains("already exists"))
    #expect(again.errors.contains("choose another path") && !again.errors.contains("--force"), "No such option.")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == note)
    let object = try #require(try sandbox.run(["checkpoint", "--json"]).objects().first)
    #expect(
      Set(object.keys) == ["origin", "size", "root", "commit", "chain", "time", "file"] && object["file"] is NSNull)
    #expect(object["size"] as? Int == 4 && object["origin"] as? String == String(lines[0]))
    let chain = try #require(object["chain"] as? String)
    #expect(lines[4] == "chain \(chain)")
    let refused = try sandbox.run(["checkpoint", "--as", "com.example.app"])
    #expect(refused.status == 1 && refused.errors.contains("only the library's owner"))
  }

  @Test("`verify --checkpoint` compares with checkpoints of this library, and rejects others by name")
  func verify() throws {
    let sandbox = try Sandbox()
    let (first, second) = (path("1.note", sandbox), path("2.note", sandbox))
    #expect(try sandbox.run(["checkpoint", "--out", first]).status == 0)
    _ = try sandbox.makeAssets(2)
    #expect(try sandbox.run(["checkpoint", "--out", second]).status == 0)
    let found = try sandbox.run(["verify", "--checkpoint", first, "--checkpoint", second, "--json"])
    #expect(found.status == 0)
    #expect(try found.objects().first?["checkpointCount"] as? Int == 2)
    #expect(try sandbox.run(["verify", "--checkpoint", first]).output.contains("1 checkpoint compared"))
    let note = try String(contentsOfFile: second, encoding: .utf8)
    let forged = try write(note.replacing("\n3\n", with: "\n2\n"), "forged.note", sandbox)
    let differs = try sandbox.run(["verify", "--checkpoint", forged])
    #expect(differs.status == 1 && differs.output.contains("NOT SOUND at events 1 to 2"))
    let beyond = try write(note.replacing("\n3\n", with: "\n30\n"), "beyond.note", sandbox)
    #expect(try sandbox.run(["verify", "--checkpoint", beyond]).output.contains("NOT SOUND at event 4"))
    let broken = try write("nonsense\n", "broken.note", sandbox)
    for (file, words) in [(broken, "not a checkpoint"), (path("absent.note", sandbox), "cannot be read")] {
      let result = try sandbox.run(["verify", "--checkpoint", file])
      #expect(result.status == 1 && result.errors.contains(file) && result.errors.contains(words), "\(result.errors)")
    }
    let other = try Sandbox()
    let foreign = try other.run(["verify", "--checkpoint", first])
    #expect(foreign.status == 1 && foreign.errors.contains("is of the log"))
  }

  @Test("a proof is checked without the library, against the checkpoint that was kept")
  func check() throws {
    let sandbox = try Sandbox()
    _ = try sandbox.makeAssets(6)
    let (first, second) = (path("1.note", sandbox), path("2.note", sandbox))
    #expect(try sandbox.run(["checkpoint", "--out", first]).status == 0)
    let inclusion = try write(
      try sandbox.run(["prove", "inclusion", "3", "--record", "--json"]).output, "3.json", sandbox)
    #expect(try sandbox.run(["album", "create", "Sea"]).status == 0)
    #expect(try sandbox.run(["checkpoint", "--out", second]).status == 0)
    let consistency = try write(try sandbox.run(["prove", "consistency", "7", "--json"]).output, "c.json", sandbox)
    try FileManager.default.removeItem(atPath: sandbox.library)

    let alone = try sandbox.run(["prove", "check", inclusion])
    #expect(alone.status == 0 && alone.output.contains("event 3 is in the log of 7 events"))
    #expect(alone.output.contains("compare its root with a checkpoint"))
    #expect(try sandbox.run(["prove", "check", inclusion, "--checkpoint", first]).output.contains("agrees"))
    let both = ["prove", "check", consistency, "--checkpoint", first, "--checkpoint", second]
    #expect(try sandbox.run(both).output.contains("7 events are a prefix of 8"))
    let object = try #require(try sandbox.run(both + ["--json"]).objects().first)
    #expect(object["holds"] as? Bool == true && object["kind"] as? String == "consistency")
    #expect(object["checkpointCount"] as? Int == 2)

    let mismatch = try sandbox.run(["prove", "check", inclusion, "--checkpoint", second])
    #expect(mismatch.status == 1 && mismatch.errors.contains("about 7 events, but the checkpoint is about 8"))
    let text = try String(contentsOfFile: inclusion, encoding: .utf8)
    let leaf = try #require(try jsonObject(text)["leaf"] as? String)
    let altered = try write(
      text.replacing(leaf, with: String(leaf.reversed())), "altered.json", sandbox)
    #expect(try sandbox.run(["prove", "check", altered]).errors.contains("The proof is not valid"))
    for (name, bytes) in [
      ("n.json", "nonsense"), ("e.json", ""), ("o.json", "{\"proof\":\"other\"}"), ("l.json", "[]"),
    ] {
      let result = try sandbox.run(["prove", "check", try write(bytes, name, sandbox)])
      #expect(result.status == 1 && result.errors.contains("\(name) is not a proof"), "\(result.errors)")
    }
    #expect(try sandbox.run(["prove", "check", path("absent", sandbox)]).errors.contains("cannot be read"))
  }

  @Test("proofs are printed as text, and as JSON with keys in a fixed order")
  func printed() throws {
    let sandbox = try Sandbox()
    _ = try sandbox.makeAssets(4)
    let text = try sandbox.run(["prove", "inclusion", "2"]).lines
    #expect(text[0] == "event 2 of the log of 5 events" && text[1].hasPrefix("origin   photoledger/"))
    #expect(text.count == 11 && text[6].hasPrefix("root     ") && text[7].hasPrefix("first    "))
    let line = try sandbox.run(["prove", "inclusion", "2", "--size", "4", "--json"]).lines[0]
    let keys = [
      "proof", "origin", "sequence", "size", "leaf", "hashes", "root", "record", "chainBefore", "firstRecord",
      "firstHashes",
    ]
    let places = try keys.map { try #require(line.range(of: "\"\($0)\":")).lowerBound }
    #expect(places == places.sorted())
    let object = try jsonObject(line)
    #expect(Set(object.keys) == Set(keys) && object["size"] as? Int == 4 && object["record"] is NSNull)
    let consistency = try sandbox.run(["prove", "consistency", "2"]).lines
    #expect(consistency[0] == "2 events are a prefix of the log of 5 events")
    let proof = try #require(try sandbox.run(["prove", "consistency", "2", "--size", "3", "--json"]).objects().first)
    #expect(
      Set(proof.keys) == [
        "proof", "origin", "earlierSize", "earlierRoot", "size", "root", "hashes", "firstRecord", "firstHashes",
      ]
        && proof["earlierSize"] as? Int == 2 && proof["size"] as? Int == 3)
  }

  @Test("what cannot be proved is rejected with a sentence")
  func refused() throws {
    let sandbox = try Sandbox()
    for (words, status, sentence) in [
      (["prove", "inclusion", "2"], 1, "event 2 is not among the first 1"),
      (["prove", "inclusion", "1", "--size", "2"], 1, "the log has 1 events, not 2"),
      (["prove", "consistency", "2"], 1, "a log of 1 events has no prefix of 2"),
      (["prove", "inclusion", "6", "--size", "6"], 1, "the log has 1 events, not 6"),
      (["prove", "inclusion", "1", "--size", "\(UInt64.max)"], 1, "the log has 1 events, not \(UInt64.max)"),
      (["prove", "inclusion", "\(UInt64.max)", "--size", "\(UInt64.max)"], 1, "the log has 1 events, not"),
      (["prove", "inclusion", "\(UInt64.max)"], 1, "event \(UInt64.max) is not among the first 1"),
      (["prove", "consistency", "1", "--size", "\(UInt64.max)"], 1, "the log has 1 events, not \(UInt64.max)"),
      (["prove", "consistency", "\(UInt64.max)", "--size", "\(UInt64.max)"], 1, "the log has 1 events, not"),
      (["prove", "consistency", "\(UInt64.max)"], 1, "a log of 1 events has no prefix of"),
      (["prove", "inclusion", "0"], 2, "got '0'"), (["prove", "inclusion", "first"], 2, "got 'first'"),
      (["prove", "consistency", "1", "--size", "x"], 2, "--size needs a whole number"),
      (["prove"], 2, "needs one more word"),
    ] as [([String], Int32, String)] {
      let result = try sandbox.run(words)
      #expect(result.status == status && result.errors.contains(sentence), "\(words): \(result.errors)")
      #expect(!result.errors.contains("failed"), "\(words): \(result.errors)")
    }
  }
}
