import Foundation
import Testing

// `undo` as a person and a script use it.

@Suite("The command undo")
struct UndoCommandTests {
  private func trash(_ ids: [String], cause: String) -> String {
    let list = ids.map { "\"\($0)\"" }.joined(separator: ",")
    return #"{"changes":[{"op":"asset.trash","assets":[\#(list)]}],"cause":"\#(cause)"}"#
  }

  @Test("a scan that trashed everything is undone in one command, and the undo in another (AS-14)")
  func scan() throws {
    let sandbox = try Sandbox()
    let ids = try sandbox.makeAssets(12)
    let album = try #require(try sandbox.run(["album", "create", "Sea"]).lines.first)
    #expect(try sandbox.run(["album", "add", album] + ids.reversed()).status == 0)
    _ = try sandbox.apply([trash(ids, cause: "nightly scan")])
    #expect(try sandbox.identifiers().isEmpty)

    let dry = try sandbox.run(["undo", "--cause", "nightly scan", "--dry-run"])
    #expect(dry.status == 0 && dry.lines == ["       12  restored, at every position"])
    #expect(try sandbox.identifiers().isEmpty, "A dry run changes nothing.")

    let run = try sandbox.run(["undo", "--cause", "nightly scan"])
    #expect(run.status == 0 && run.lines.first == dry.lines.first && run.lines.count == 2)
    #expect(try sandbox.identifiers(["--album", album]) == ids.reversed())

    let log = try #require(try sandbox.run(["log", "--json", "--cause", "undo"]).objects().first)
    #expect((log["causation"] as? String)?.hasPrefix("undo:t1-") == true)
    #expect(try sandbox.run(["log", "--cause", "undo"]).output.contains("undoes t1-"))

    let again = try sandbox.run(["undo", "--commit", try #require(run.lines.last), "--json"]).objects()
    #expect(again.count == 13 && again[0]["line"] as? String == "change" && again[0]["kind"] as? String == "trash")
    #expect(again[12]["line"] as? String == "summary" && again[12]["changeCount"] as? Int == 12)
    #expect(try sandbox.identifiers().isEmpty)
    let nothing = try sandbox.run(["undo", "--commit", try #require(run.lines.last)])
    #expect(nothing.status == 0 && nothing.lines.first == "nothing was undone")
  }

  @Test("of all commits of a client, those with one kind of event, or from a span of time, are undone")
  func kinds() throws {
    let sandbox = try Sandbox()
    let client = "com.example.phone"
    #expect(try sandbox.run(["client", "authorize", client]).status == 0)
    let upload =
      #"{"changes":[{"op":"asset.create","mediaType":"image","resources":[{"type":"photo","data":"YQ=="}]}]}"#
    #expect(try sandbox.run(["apply", "--as", client], input: upload + "\n").status == 0)
    let ids = try sandbox.identifiers()
    #expect(ids.count == 1)
    #expect(try sandbox.run(["trash", "--as", client] + ids).status == 0)
    for words in [["--since", "2999-01-01"], ["--until", "2000-01-01"], ["--kind", "purged"]] {
      let none = try sandbox.run(["undo", "--client", client] + words)
      #expect(none.status == 0 && none.lines.first == "nothing was undone", "\(words): \(none)")
    }
    #expect(try sandbox.identifiers().isEmpty)
    let undone = try sandbox.run(["undo", "--client", client, "--kind", "trashed", "--since", "2000-01-01"])
    #expect(undone.lines.first == "        1  restored, at every position", "\(undone)")
    #expect(try sandbox.identifiers() == ids)
    let ofAsset = try sandbox.run(
      ["undo", "--kind", "created", "--until", "2999-01-01", "--object", ids[0], "--on-conflict", "force"])
    #expect(ofAsset.status == 0, "\(ofAsset)")
    #expect(try sandbox.identifiers().isEmpty)
  }

  @Test("later changes are named, and fail the whole undo unless the caller says otherwise")
  func conflicts() throws {
    let sandbox = try Sandbox()
    let ids = try sandbox.makeAssets(2)
    let rated = try #require(try sandbox.run(["rate", "--stars", "3"] + ids).lines.last)
    #expect(try sandbox.run(["rate", "--stars", "5", ids[0]]).status == 0)
    let refused = try sandbox.run(["undo", "--commit", rated])
    #expect(refused.status == 1 && refused.output.isEmpty)
    #expect(refused.errors.contains("'rating' of the asset \(ids[0]) was changed since."))
    #expect(refused.errors.hasSuffix("Check a dry run, then pass --on-conflict skip or force.\n"), "\(refused)")
    let dry = try sandbox.run(["undo", "--commit", rated, "--dry-run", "--json"]).objects()
    #expect(dry.last?["isRefused"] as? Bool == true && dry.last?["token"] is NSNull)
    #expect(dry.contains { $0["line"] as? String == "conflict" && $0["reason"] as? String == "changedSince" })
    let lines = try sandbox.run(["undo", "--commit", rated, "--json"])
    #expect(lines.status == 1 && lines.errors.contains("was changed since"))
    let summary = try #require(try lines.objects().last)
    #expect(summary["line"] as? String == "summary" && summary["isRefused"] as? Bool == true)
    #expect(summary["isDryRun"] as? Bool == false && summary["token"] is NSNull)
    let told = try Array(lines.objects().dropLast()) as NSArray
    #expect(told == Array(dry.dropLast()) as NSArray, "As the dry run has it.")
    let skipped = try sandbox.run(["undo", "--commit", rated, "--on-conflict", "skip"])
    #expect(skipped.status == 0 && skipped.lines.contains { $0.hasPrefix("skipped: ") })
    let ratings = try sandbox.run(["ls", "--json"]).objects().compactMap { $0["rating"] as? Int }
    #expect(ratings.sorted() == [0, 5])
  }

  @Test("one change is counted as one, and what remains of several picks is reported once for each client")
  func singular() throws {
    let sandbox = try Sandbox()
    let ids = try sandbox.makeAssets(2)
    #expect(try sandbox.run(["rate", "--stars", "3", ids[0]]).status == 0)
    let rated = try sandbox.run(["undo", "--cause", "rate", "--dry-run"])
    #expect(rated.lines == ["        1  property reverted"], "\(rated)")
    for client in ["app", "app", "other"] {
      #expect(try sandbox.run(["pick", "--as", client, "--choose", ids[0], "--json"]).status == 0)
    }
    let kept = try sandbox.run(["undo", "--all", "--dry-run"]).lines.filter { $0.hasPrefix("kept: Picked assets") }
    #expect(kept.count == 2 && ["app", "other"].allSatisfy { kept.joined().contains("'\($0)'") }, "\(kept)")
  }

  @Test("a purge is reported plainly, and only a forced undo brings back its record")
  func purge() throws {
    let sandbox = try Sandbox()
    let ids = try sandbox.makeAssets(1)
    #expect(try sandbox.run(["trash"] + ids).status == 0)
    let purged = try #require(try sandbox.run(["purge"] + ids).lines.last)
    let refused = try sandbox.run(["undo", "--commit", purged])
    #expect(refused.status == 1 && refused.errors.contains("The bytes of 'IMG_0.jpg' no longer exist"))
    #expect(try sandbox.run(["undo", "--commit", purged, "--on-conflict", "force"]).status == 0)
    #expect(try sandbox.run(["restore"] + ids).status == 0)
    #expect(try sandbox.identifiers() == ids)
    #expect(try sandbox.run(["resource", "check"]).status == 1, "Its file is missing, and is reported to be.")
  }

  @Test(
    "a command line that selects nothing, or too much, is a usage error",
    arguments: [
      ([], "--all for everything"), (["--all", "--cause", "x"], "--all selects everything"),
      (["--cause", "x", "--on-conflict", "ask"], "refuse, skip or force"),
      (["--kind", "trahsed"], "did you mean trashed?"), (["--since", "yesterday"], "needs a day or an instant"),
      (["--commit", "t1-0000000000000001-1", "--to", "t1-0000000000000001-1"], "either --commit or"),
    ])
  func usage(words: [String], sentence: String) throws {
    let sandbox = try Sandbox(makesLibrary: false)
    let run = try sandbox.run(["undo"] + words)
    #expect(run.status == 2 && run.errors.contains(sentence))
  }

  @Test("tokens and identifiers that name nothing are rejected with status 1 and change nothing")
  func bad() throws {
    let sandbox = try Sandbox()
    let head = try sandbox.run(["history", "token"]).output
    for words in [
      ["--commit", "nonsense"], ["--commit", "t1-0000000000000001-1"], ["--object", "x"],
      ["--object", "1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F"],
    ] {
      let run = try sandbox.run(["undo"] + words)
      #expect(run.status == 1 && run.output.isEmpty && !run.errors.isEmpty, "\(words)")
    }
    #expect(try sandbox.run(["history", "token"]).output == head)
  }

  @Test("an undo of everything leaves an empty library, and undoing that brings it all back")
  func everything() throws {
    let sandbox = try Sandbox()
    let ids = try sandbox.makeAssets(3)
    let album = try #require(try sandbox.run(["album", "create", "Sea"]).lines.first)
    #expect(try sandbox.run(["album", "add", album] + ids).status == 0)
    let undo = try sandbox.run(["undo", "--all"])
    #expect(undo.status == 0)
    #expect(try sandbox.identifiers().isEmpty && sandbox.run(["albums"]).output.isEmpty)
    #expect(try sandbox.run(["undo", "--commit", try #require(undo.lines.last)]).status == 0)
    #expect(try sandbox.identifiers(["--album", album]) == ids)
    #expect(try sandbox.run(["verify"]).status == 0)
  }
}
