import Foundation
import Testing

@Suite("History on the command line")
struct HistoryCommandTests {
  private static func details(_ line: [String: Any], _ type: String) throws -> [String: [String]] {
    try #require((line["changeDetails"] as? [String: Any])?[type] as? [String: [String]])
  }

  @Test("a change of the client's own access has no details, and is not reported as an erasure (PH-07)")
  func access() throws {
    let sandbox = try Sandbox()
    #expect(try sandbox.run(["client", "authorize", "app"]).status == 0)
    let text = try sandbox.run(["history", "--as", "app"]).output
    #expect(text.contains("no details: some were erased, or the access changed"), "\(text)")
  }

  @Test("each commit after a token is a line, with what it inserted, updated and deleted by type (PH-02, PH-03)")
  func since() throws {
    let sandbox = try Sandbox()
    let start = try sandbox.run(["history", "token"]).lines[0]
    let assets = try sandbox.makeAssets(2)
    let album = try sandbox.run(["album", "create", "Sea"]).lines[0]
    #expect(try sandbox.run(["album", "add", album, assets[0]]).status == 0)
    let folder = try sandbox.run(["folder", "create", "Travels"]).lines[0]
    #expect(try sandbox.run(["trash", assets[1]]).status == 0)
    #expect(try sandbox.run(["purge", assets[1]]).status == 0)
    let lines = try sandbox.run(["history", "--since", start, "--json"]).objects()
    #expect(lines.count == 6)
    #expect(try Self.details(lines[0], "asset")["insertedLocalIdentifiers"] == assets.sorted())
    #expect(try Self.details(lines[1], "assetCollection")["insertedLocalIdentifiers"] == [album])
    #expect(try Self.details(lines[2], "assetCollection")["updatedLocalIdentifiers"] == [album])
    #expect(try Self.details(lines[3], "collectionList")["insertedLocalIdentifiers"] == [folder])
    #expect(try Self.details(lines[4], "asset")["updatedLocalIdentifiers"] == [assets[1]])
    #expect(try Self.details(lines[5], "asset")["deletedLocalIdentifiers"] == [assets[1]])
    #expect(
      lines.map { $0["cause"] as? String } == [nil, "album create", "album add", "folder create", "trash", "purge"])
    #expect(lines.allSatisfy { $0["client"] as? String == "owner" })

    let some = try sandbox.run(["history", "--since", start, "--limit", "2", "--json"]).objects()
    let reached = try #require(some[1]["token"] as? String)
    #expect(some.count == 2)
    #expect(try sandbox.run(["history", "--since", reached, "--json"]).lines.count == 4)
    let last = try #require(lines[5]["token"] as? String)
    #expect(try sandbox.run(["history", "token"]).lines == [last])
    #expect(try sandbox.run(["history", "--since", last]).output.isEmpty)
    #expect(try sandbox.run(["history", "--json"]).lines.count == 7, "Without a token, from the beginning on.")
    let text = try sandbox.run(["history", "--since", reached]).output
    #expect(text.contains("(purge)") && text.contains("deleted   asset  \(assets[1])  'IMG_1.jpg'\n"), "\(text)")
  }

  @Test("more commits than one read returns are all listed, up to the limit")
  func pieces() throws {
    let sandbox = try Sandbox()
    let asset = try sandbox.makeAssets(1)[0]
    let lines = (0..<600).map { index in
      #"{"changes":[{"op":"asset.edit","assets":["\#(asset)"],"isFavorite":\#(index % 2 == 0)}]}"#
    }
    #expect(try sandbox.apply(lines).count == 600)
    let told = try sandbox.run(["history", "--json"]).objects().compactMap { $0["token"] as? String }
    #expect(told.count == 602 && Set(told).count == 602)
    #expect(try sandbox.run(["history", "--json", "--limit", "300"]).lines.count == 300)
    #expect(try sandbox.run(["history", "--json", "--limit", "512"]).lines.count == 512)
  }

  @Test("a shortened history expires older tokens, and begins at the cut; earlier states stay readable (PH-06)")
  func shorten() throws {
    let sandbox = try Sandbox()
    let start = try sandbox.run(["history", "token"]).lines[0]
    _ = try sandbox.makeAssets(1)
    let cut = try sandbox.run(["history", "token"]).lines[0]
    let album = try sandbox.run(["album", "create", "Sea"]).lines[0]
    #expect(try sandbox.run(["history", "shorten", cut]).lines == [cut])
    let expired = try sandbox.run(["history", "--since", start])
    #expect(expired.status == 1 && expired.output.isEmpty && expired.errors.contains(start))
    let kept = try sandbox.run(["history", "--json"]).objects()
    #expect(try Self.details(kept[0], "assetCollection")["insertedLocalIdentifiers"] == [album])
    #expect(try sandbox.run(["log", "--json"]).lines.count > kept.count, "The log keeps everything.")
    #expect(try sandbox.run(["ls", "--at", start]).status == 0)
    let watched = try sandbox.run(["watch", "--since", start, "--until", cut])
    #expect(watched.status == 0 && watched.lines.count > 1, "\(watched)")
    for words in [["history", "--since", "nonsense"], ["history", "shorten", "nonsense"]] {
      let result = try sandbox.run(words)
      #expect(result.status == 1 && result.errors.contains("'nonsense' is not a valid token"))
    }
  }

  @Test("a limited client gets the history of its own view: grants are insertions, withdrawals deletions (AU-10)")
  func limited() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(3)
    let asClient = ["--as", "com.example.backup"]
    #expect(try sandbox.run(["client", "limit", asClient[1], assets[0]]).status == 0)
    let token = try sandbox.run(["history", "token"] + asClient).lines[0]
    #expect(try sandbox.run(["favorite", assets[2]]).status == 0)
    #expect(try sandbox.run(["client", "grant", asClient[1], assets[1]]).status == 0)
    #expect(try sandbox.run(["favorite", assets[0]]).status == 0)
    #expect(try sandbox.run(["client", "withdraw", asClient[1], assets[0]]).status == 0)
    let lines = try sandbox.run(["history", "--since", token, "--json"] + asClient).objects()
    #expect(lines.count == 3)
    #expect(try Self.details(lines[0], "asset")["insertedLocalIdentifiers"] == [assets[1]])
    #expect(try Self.details(lines[1], "asset")["updatedLocalIdentifiers"] == [assets[0]])
    #expect(try Self.details(lines[2], "asset")["deletedLocalIdentifiers"] == [assets[0]])
    #expect(lines.allSatisfy { $0["client"] is NSNull && $0["cause"] is NSNull })
    let text = try sandbox.run(["history", "--since", token] + asClient).output
    #expect(text.contains("inserted  asset  \(assets[1])  'IMG_1.jpg'\n"), "\(text)")
    #expect(text.contains("deleted   asset  \(assets[0])\n"), "What was withdrawn is not named.")
    #expect(try sandbox.run(["history", "--since", token]).errors.contains("another client"))
    let stranger = try sandbox.run(["history", "--since", token, "--as", "com.example.stranger"])
    #expect(stranger.status == 1 && stranger.errors.contains("may not read the history"))
  }
}
