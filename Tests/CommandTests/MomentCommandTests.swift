import Foundation
import Testing

@Suite("Looking back on the command line")
struct MomentCommandTests {
  private static func token(_ sandbox: Sandbox) throws -> String { try sandbox.run(["history", "token"]).lines[0] }

  @Test("every reading command shows the library as of a token, an event or a date (PH-01)")
  func at() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(3)
    let album = try sandbox.run(["album", "create", "Sea"]).lines[0]
    #expect(try sandbox.run(["album", "add", album, assets[0], assets[1]]).status == 0)
    let then = try Self.token(sandbox)
    let events = try sandbox.run(["log", "--json"]).objects().count
    let names = try sandbox.run(["ls"]).output
    #expect(try sandbox.run(["favorite", assets[0]]).status == 0)
    #expect(try sandbox.run(["trash", assets[1]]).status == 0)
    #expect(try sandbox.run(["purge", assets[1]]).status == 0)
    #expect(try sandbox.run(["album", "delete", album]).status == 0)

    for moment in [then, String(events)] {
      #expect(try sandbox.identifiers(["--at", moment]) == assets)
      #expect(try sandbox.identifiers(["--album", album, "--at", moment]) == [assets[0], assets[1]])
      #expect(try sandbox.run(["ls", "--at", moment]).output == names)
      #expect(try sandbox.run(["albums", "--at", moment]).output.contains("Sea"))
      let shown = try sandbox.run(["show", assets[1], "--json", "--at", moment]).objects()[0]
      #expect(shown["albums"] as? [String] == [album] && shown["isFavorite"] as? Bool == false)
      let sections = try sandbox.run(["sections", "--json", "--at", moment]).objects()
      #expect(sections.compactMap { $0["count"] as? Int } == [3])
      let stat = try sandbox.run(["stat", "--json", "--at", moment]).objects()[0]
      #expect(stat["eventCount"] as? Int == events && stat["albumCount"] as? Int == 1)
      #expect(try sandbox.run(["log", "--json", "--at", moment]).objects().count == events)
      #expect(try sandbox.run(["history", "--json", "--at", moment]).objects().count == 4)
      #expect(try sandbox.run(["history", "token", "--at", moment]).lines == [then])
      #expect(try sandbox.run(["identifier", "cloud", assets[1], "--at", moment]).status == 0)
      let files = try sandbox.run(["resource", "list", assets[1], "--json", "--at", moment]).objects()
      #expect(files.map { $0["state"] as? String } == ["missing"], "A purge takes the bytes.")
      #expect(try sandbox.run(["resource", "check", "--at", moment]).status == 1)
      #expect(try sandbox.run(["client", "list", "--at", moment]).output.isEmpty)
      #expect(try sandbox.run(["client", "access", assets[1], "--at", moment]).status == 0)
    }
    #expect(try sandbox.identifiers(["--at", "2001-01-01"]).isEmpty)
    #expect(try sandbox.identifiers(["--at", "9999-12-30T00:00:00Z"]) == [assets[0], assets[2]])
    #expect(try sandbox.run(["show", album]).status == 1)
  }

  @Test("the log as of a moment uses the names of that moment, and the current log the current names")
  func namesOfThen() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(1)
    let album = try sandbox.run(["album", "create", "Sea"]).lines[0]
    let folder = try sandbox.run(["folder", "create", "Travels"]).lines[0]
    #expect(try sandbox.run(["folder", "insert", folder, album]).status == 0)
    #expect(try sandbox.run(["album", "add", album, assets[0]]).status == 0)
    let then = try Self.token(sandbox)
    #expect(try sandbox.run(["album", "rename", album, "Ocean"]).status == 0)
    #expect(try sandbox.run(["folder", "rename", folder, "Journeys"]).status == 0)
    #expect(try sandbox.run(["album", "delete", album]).status == 0)
    for words in [["log"], ["log", "--asset", assets[0]], ["log", "--client", "owner"]] {
      let past = try sandbox.run(words + ["--at", then]).output
      #expect(past.contains("Added to 'Sea': 'IMG_0.jpg'.") && !past.contains("Ocean"), "\(words): \(past)")
      #expect(try sandbox.run(words).output.contains("Added to 'Ocean': 'IMG_0.jpg'."))
    }
    #expect(try sandbox.run(["log", "--at", then]).output.contains("Added to 'Travels': 'Sea'."))
    let record = try #require(try sandbox.run(["log", "--json", "--at", then]).objects().last)
    #expect(record["sentence"] as? String == "Added to 'Sea': 'IMG_0.jpg'.")
  }

  @Test(
    "an invalid moment is rejected with a sentence",
    arguments: [
      ("yesterday", Int32(2)), ("t1-0123456789abcdef-2s", 1), ("99999999", 1), ("2024-13-01", 2), ("t1-x", 1),
    ])
  func noMoment(text: String, status: Int32) throws {
    let sandbox = try Sandbox()
    for command in [["ls", "--at", text], ["diff", text, "now"], ["watch", "--since", text]] {
      let run = try sandbox.run(command)
      #expect(run.status == status && run.output.isEmpty && run.errors.hasSuffix(".\n"), "\(command): \(run.errors)")
    }
  }

  @Test("diff lists the changes from one state of a fetch to another, with the objects (CD-01, CD-08)")
  func diff() throws {
    let sandbox = try Sandbox()
    let start = try Self.token(sandbox)
    let assets = try sandbox.makeAssets(3)
    let one = try Self.token(sandbox)
    #expect(try sandbox.run(["favorite", assets[2]]).status == 0)
    #expect(try sandbox.run(["trash", assets[0]]).status == 0)
    let album = try sandbox.run(["album", "create", "Sea"]).lines[0]
    #expect(try sandbox.run(["album", "add", album, assets[1]]).status == 0)
    let two = try Self.token(sandbox)

    let forward = try sandbox.run(["diff", one, two, "--json"]).objects()[0]
    #expect(forward["before"] as? String == one && forward["after"] as? String == two)
    #expect(forward["removed"] as? [[Int]] == [[0, 1]] && forward["inserted"] as? [[Int]] == [])
    #expect(forward["changed"] as? [[Int]] == [[1, 1]] && forward["commits"] as? Int == 4)
    let gone = try #require(forward["removedItems"] as? [String: [String: Any]])
    #expect(gone["0"]?["localIdentifier"] as? String == assets[0])
    let items = try #require(forward["items"] as? [String: [String: Any]])
    #expect(items["1"]?["isFavorite"] as? Bool == true)
    let back = try sandbox.run(["diff", two, one, "--json"]).objects()[0]
    #expect(back["inserted"] as? [[Int]] == [[0, 1]] && back["changed"] as? [[Int]] == [[2, 1]])

    let lines = try sandbox.run(["diff", one, "now"]).lines
    #expect(lines.count == 2 && lines[0].hasPrefix("- ") && lines[1].hasPrefix("~ "))
    #expect(try sandbox.run(["diff", "now", "now"]).output.isEmpty)
    // An album that was made in between begins empty.
    let inAlbum = try sandbox.run(["diff", start, "now", "--album", album, "--json"]).objects()[0]
    #expect(inAlbum["inserted"] as? [[Int]] == [[0, 1]] && inAlbum["count"] as? Int == 1)
    let albums = try sandbox.run(["diff", start, "now", "--collections", "--json"]).objects()[0]
    #expect(albums["inserted"] as? [[Int]] == [[0, 1]])
    #expect(try sandbox.run(["diff", start, "now", "--collections", "--album", album]).status == 2)
    let since = try sandbox.run(["watch", "--since", one, "--until", two]).objects()
    #expect(since[0]["count"] as? Int == 3 && since.count == 3)
  }

  @Test("snapshots are made, shown and dropped, and change no answer")
  func snapshots() throws {
    let sandbox = try Sandbox()
    _ = try sandbox.makeAssets(5)
    let then = try Self.token(sandbox)
    let assets = try sandbox.identifiers()
    for asset in assets { #expect(try sandbox.run(["favorite", asset]).status == 0) }
    let before = try sandbox.run(["ls", "--json", "--at", then]).output
    #expect(try sandbox.run(["snapshots", "show"]).output == "There are no snapshots yet.\n")
    let made = try sandbox.run(["snapshots", "make", "--spacing", "2", "--json"]).objects()[0]
    #expect(made["spacing"] as? Int == 2 && made["count"] as? Int == 3)
    #expect(try sandbox.run(["ls", "--json", "--at", then]).output == before)
    #expect(try sandbox.run(["snapshots", "show", "--json"]).objects()[0]["count"] as? Int == 3)
    #expect(try sandbox.run(["snapshots", "drop"]).status == 0)
    #expect(try sandbox.run(["snapshots", "show", "--json"]).objects()[0]["count"] as? Int == 0)
    #expect(try sandbox.run(["ls", "--json", "--at", then]).output == before)
    for spacing in ["0", "\((1 << 62) + 1)", "\(Int.max)"] {
      let refused = try sandbox.run(["snapshots", "make", "--spacing", spacing])
      #expect(refused.status == 2 && refused.errors.contains("got \(spacing)"), "\(refused)")
    }
    #expect(try sandbox.run(["snapshots", "make", "--spacing", "\(1 << 62)"]).status == 0)
    #expect(try sandbox.run(["snapshots", "show", "--json"]).objects()[0]["spacing"] as? Int == 1 << 62)
    #expect(try sandbox.run(["snapshots", "make", "--as", "com.example.app"]).status == 1)
  }
}
