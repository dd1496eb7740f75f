import Foundation
import Testing

@Suite("Audit on the command line")
struct AuditCommandTests {
  /// A library in which a client was given things, an album was filled and emptied, and an asset was purged.
  private struct Scene {
    let sandbox: Sandbox
    let assets: [String]
    let album: String
    static let client = "com.example.gallery"

    init() throws {
      sandbox = try Sandbox()
      assets = try sandbox.makeAssets(3)
      album = try sandbox.run(["album", "create", "Sea"]).lines[0]
      for words in [
        ["album", "add", album, assets[0], assets[1]], ["client", "limit", Self.client, assets[0]],
        ["album", "remove", album, assets[0]], ["client", "withdraw", Self.client, assets[0]],
        ["trash", assets[2]], ["purge", assets[2]],
      ] {
        let result = try sandbox.run(words)
        #expect(result.status == 0, "\(words): \(result.errors)")
      }
    }
  }

  @Test("the log has the oldest events first and the newest if reversed, and at most as many as are asked for")
  func orders() throws {
    let scene = try Scene()
    let run = { (words: [String]) in try scene.sandbox.run(["log", "--json"] + words).lines }
    for filter in [[], ["--client", "owner"], ["--kind", "created"]] {
      let all = try run(filter)
      #expect(all.count > 3, "\(filter)")
      #expect(try run(filter + ["--reverse"]) == all.reversed(), "\(filter)")
      #expect(try run(filter + ["--limit", "2"]) == Array(all.prefix(2)), "\(filter)")
      #expect(try run(filter + ["--limit", "2", "--reverse"]) == Array(all.reversed().prefix(2)), "\(filter)")
      #expect(try run(filter + ["--limit", "1000"]) == all, "\(filter)")
    }
    let text = try scene.sandbox.run(["log", "--reverse", "--limit", "1"])
    #expect(text.status == 0 && text.lines.filter { $0.hasPrefix("  ") && !$0.hasPrefix("  (") }.count == 1)
    for limit in ["0", "-1", "x"] { #expect(try scene.sandbox.run(["log", "--limit", limit]).status == 2, "\(limit)") }
  }

  @Test("the log is filtered by asset, album, client, cause, kind and time, and by several of them")
  func log() throws {
    let scene = try Scene()
    let run = { (words: [String]) in try scene.sandbox.run(["log", "--json"] + words).objects() }
    let all = try run([])
    let types = { (lines: [[String: Any]]) in lines.compactMap { $0["type"] as? String } }
    #expect(all.allSatisfy { $0["schema"] as? Int == 1 && $0["record"] as? String == "event" })
    #expect(types(try run(["--asset", scene.assets[2]])) == ["asset.created", "assets.trashed", "asset.purged"])
    #expect(
      types(try run(["--album", scene.album, "--asset", scene.assets[0]])) == ["content.inserted", "content.removed"])
    #expect(types(try run(["--kind", "purged", "--kind", "content.removed"])) == ["content.removed", "asset.purged"])
    #expect(types(try run(["--cause", "trash", "--kind", "assets"])) == ["assets.trashed"])
    #expect(try run(["--client", "nobody"]).isEmpty)
    let date = try #require(all[5]["date"] as? String)
    let earlier = try run(["--to", date])
    #expect(earlier.count + (try run(["--from", date]).count) == all.count && !earlier.isEmpty && earlier.count < 6)
    let days = try all.map { String(try #require($0["date"] as? String).prefix(10)) }
    let span = ["--from", days[0], "--to", days[days.count - 1]]
    #expect(try run(span).count == all.count, "A day to its end.")
    #expect(try run(["--from", "2999-01-01"]).isEmpty && run(["--to", "2000-01-01"]).isEmpty)
    let history = ["history", scene.album, "--json"]
    #expect(try scene.sandbox.run(history + span).lines == scene.sandbox.run(history).lines)
    for (words, sentence) in [
      (["--kind", "trahsed"], "did you mean trashed?"),
      (["--kind", "qqqqqqqq"], "'qqqqqqqq'; pass a type of event such as assets.trashed"),
      (["--from", "yesterday"], "got 'yesterday'"),
      (["--to", "2024-05-32"], "needs a day or an instant"),
    ] {
      let result = try scene.sandbox.run(["log"] + words)
      #expect(result.status == 2 && result.errors.contains(sentence), "\(result.errors)")
    }
  }

  @Test("the history of an object has every change with its old and new value, for people and as JSON")
  func history() throws {
    let scene = try Scene()
    let lines = try scene.sandbox.run(["history", scene.assets[2], "--json"]).objects()
    #expect(lines.allSatisfy { $0["record"] as? String == "change" && $0["client"] as? String == "owner" })
    let trashed = lines.filter { $0["property"] as? String == "trashedDate" }
    #expect(trashed.map { $0["cause"] as? String } == ["trash", "purge"])
    #expect(trashed[0]["old"] is NSNull && trashed[1]["new"] is NSNull)
    #expect(trashed[0]["new"] as? String == trashed[1]["old"] as? String)
    let text = try scene.sandbox.run(["history", scene.album]).output
    #expect(text.contains("(album remove)") && text.contains("localizedTitle: null → \"Sea\""))
    #expect(text.contains("members: null → \(scene.assets[0])  'IMG_0.jpg'\n") && !text.contains("orderKey"), "\(text)")
    for words in [["add", scene.album, scene.assets[0]], ["move", scene.album, "--at", "1", "--to", "0"]] {
      #expect(try scene.sandbox.run(["album"] + words).status == 0, "\(words)")
    }
    let moves = try scene.sandbox.run(["history", scene.album, "--kind", "moved"]).output
    #expect(moves.contains("members: \(scene.assets[0])  'IMG_0.jpg' moved\n"), "\(moves)")
    let some = try scene.sandbox.run(["history", scene.album, "--kind", "removed", "--json"]).objects()
    #expect(some.contains { $0["property"] as? String == "members" && $0["new"] is NSNull })
    #expect(Set(some.compactMap { $0["type"] as? String }) == ["content.removed"])
    for (words, sentence) in [
      ([scene.album, "--limit", "1"], "--limit applies to the history of commits"),
      (["--kind", "removed"], "--kind applies to the history of one object"),
    ] {
      let result = try scene.sandbox.run(["history"] + words)
      #expect(result.status == 2 && result.errors.contains(sentence))
    }
    let wrong = try scene.sandbox.run(["history", "nonsense"])
    #expect(wrong.status == 1 && wrong.output.isEmpty && wrong.errors.contains("'nonsense' is not a valid identifier"))
  }

  @Test("times are printed in UTC with its letter, wherever the program runs, and options read them")
  func zone() throws {
    let scene = try Scene()
    let events = try scene.sandbox.run(["log", "--json"]).objects()
    let dates = try events.map { event in
      String(try #require(event["date"] as? String).prefix(19)).replacing("T", with: " ") + "Z"
    }
    for words in [
      ["log"], ["history"], ["history", scene.album], ["blame", scene.album], ["access", "--client", Scene.client],
      ["client", "list"],
    ] {
      let output = try scene.sandbox.run(words, ["TZ": "America/Los_Angeles"]).output
      let printed = output.matches(of: #/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(Z?)/#).map { String($0.output.0) }
      #expect(!printed.isEmpty && Set(dates).isSuperset(of: printed), "\(words): \(output)")
    }
    let all = try scene.sandbox.run(["log", "--from", dates[0], "--json"])
    #expect(try all.status == 0 && all.objects().count == events.count, "\(all)")
  }

  @Test("blame names who put each member in, and with --former who took it out")
  func blame() throws {
    let scene = try Scene()
    let present = try scene.sandbox.run(["blame", scene.album, "--json"]).objects()
    #expect(present.count == 1 && (present[0]["member"] as? String)?.hasPrefix(scene.assets[1].prefix(36)) == true)
    #expect((present[0]["added"] as? [String: Any])?["cause"] as? String == "album add")
    #expect(present[0]["removed"] is NSNull && present[0]["isPresent"] as? Bool == true)
    let all = try scene.sandbox.run(["blame", scene.album, "--former", "--json"]).objects()
    #expect(all.count == 2 && (all[1]["removed"] as? [String: Any])?["cause"] as? String == "album remove")
    let inserted = try scene.sandbox.run(["log", "--json", "--kind", "inserted"]).objects()
    let sequence = try #require(inserted.first?["sequence"] as? Int)
    #expect(try scene.sandbox.run(["blame", scene.album, "--at", "\(sequence)"]).lines.count == 2)
    let text = try scene.sandbox.run(["blame", scene.album, "--former"]).lines
    #expect(text[0].hasPrefix("in ") && text[1].hasPrefix("out  ") && text[1].contains("(album remove)"))
    #expect(try scene.sandbox.run(["blame", scene.assets[0]]).status == 1)
    #expect(try scene.sandbox.run(["blame"]).status == 2)
  }

  @Test("access reports who could see an object at a moment, and what a client could see from when to when")
  func access() throws {
    let scene = try Scene()
    let withdrawn = try scene.sandbox.run(["log", "--json", "--kind", "withdrawn"]).objects()
    let sequence = try #require(withdrawn.first?["sequence"] as? Int)
    let granted = try scene.sandbox.run(["log", "--json", "--kind", "granted"]).objects()
    let token = try #require(granted.first?["token"] as? String)
    let date = try #require(granted.first?["date"] as? String)
    #expect(try scene.sandbox.run(["access", scene.assets[0]]).lines.isEmpty)
    for moment in ["\(sequence - 1)", token, date] {
      let seers = try scene.sandbox.run(["access", scene.assets[0], "--at", moment, "--json"]).objects()
      #expect(seers.map { $0["client"] as? String } == [Scene.client] && seers[0]["ground"] as? String == "selection")
    }
    #expect(try scene.sandbox.run(["access", scene.assets[0], "--at", "\(sequence)"]).lines.isEmpty)
    #expect(try scene.sandbox.run(["access", scene.assets[0], "--at", "1999-01-01T00:00:00Z"]).lines.isEmpty)
    let intervals = try scene.sandbox.run(["access", "--client", Scene.client, "--json"]).objects()
    let selection = intervals.filter { $0["ground"] as? String == "selection" }
    #expect(selection.count == 1)
    #expect((selection[0]["from"] as? [String: Any])?["cause"] as? String == "client limit")
    #expect((selection[0]["to"] as? [String: Any])?["cause"] as? String == "client withdraw")
    let then = try scene.sandbox.run(["access", "--client", Scene.client, "--at", token]).output
    #expect(then.contains("selection") && then.contains("until") && then.contains("\(scene.assets[0])  'IMG_0.jpg'"))
    for (words, status, sentence) in [
      ([], 2, "needs either an identifier or --client"), ([scene.assets[0], "--client", "x"], 2, "needs either"),
      ([scene.assets[0], "--at", "noon"], 2, "got 'noon'"), ([scene.assets[0], "--at", "9999"], 1, "no event 9999"),
      (["--client", "nobody"], 1, "has no client 'nobody'"), (["--client", ""], 1, "has no client ''"),
      ([scene.assets[0], "--as", Scene.client], 1, "only the library's owner may"),
    ] as [([String], Int32, String)] {
      let result = try scene.sandbox.run(["access"] + words)
      #expect(result.status == status && result.errors.contains(sentence), "\(words): \(result.errors)")
    }
    let unnamed = try scene.sandbox.run(["client", "selection", ""])
    #expect(unnamed.status == 1 && unnamed.errors.contains("has no client ''"), "\(unnamed.errors)")
  }
}
