import Foundation
import TestSupport
import Testing

@Suite("The commands duplicates and duplicates merge")
struct DuplicatesCommandTests {
  @Test("a merge unites albums, favourites, keywords and captions in one commit, and is undone")
  func merge() throws {
    let sandbox = try Sandbox()
    let ids = try sandbox.makeAssets(4)
    let album = try #require(try sandbox.run(["album", "create", "Sea"]).lines.first)
    #expect(try sandbox.run(["album", "add", album, ids[1], ids[2], ids[3]]).status == 0)
    #expect(try sandbox.run(["favorite", ids[2]]).status == 0)
    #expect(try sandbox.run(["keyword", "add", "storm", ids[2]]).status == 0)
    #expect(try sandbox.run(["caption", ids[2], "The bay"]).status == 0)
    let commits = try sandbox.run(["history", "--json"]).lines.count
    let run = try sandbox.run(["duplicates", "merge", ids[0], ids[2]])
    #expect(run.status == 0, "\(run)")
    #expect(try sandbox.run(["history", "--json"]).lines.count == commits + 1)
    #expect(try sandbox.identifiers(["--album", album]) == [ids[1], ids[0], ids[3]])
    let kept = try jsonObject(try sandbox.run(["show", ids[0], "--json"]).lines[0])
    #expect(kept["isFavorite"] as? Bool == true && kept["caption"] as? String == "The bay")
    #expect(kept["keywords"] as? [String] == ["storm"])
    #expect(try sandbox.identifiers(["--trash"]) == [ids[2]])
    #expect(try sandbox.run(["undo", "--commit", try #require(run.lines.last)]).status == 0)
    #expect(try sandbox.identifiers(["--album", album]) == [ids[1], ids[2], ids[3]])
    let refused = try sandbox.run(["duplicates", "merge", ids[0], ids[0]])
    #expect(refused.status == 1 && refused.errors.contains("needs other assets"), "\(refused)")
  }

  private func names(_ identifiers: String...) -> String {
    identifiers.map { String($0.prefix(36)) }.joined(separator: " ")
  }

  @Test("a decision needs the owner, photos of the library, and two of them")
  func rejected() throws {
    let sandbox = try Sandbox()
    let ids = try sandbox.makeAssets(3)
    for (arguments, words) in [
      ([ids[0], ids[0]], "2 to 100 different assets"), ([ids[0], "00000000-0000-4000-8000-000000000000"], "no asset"),
      ([ids[0], ids[1], "--as", "app"], "owner"),
    ] {
      let run = try sandbox.run(["duplicates", "reject"] + arguments)
      #expect(run.status == 1 && run.errors.contains(words), "\(run)")
    }
    let all = try sandbox.run(["duplicates", "reject", ids[0], ids[1], ids[2]])
    #expect(all.status == 0 && all.lines == ["3 pairs rejected."], "\(all)")
  }

  @Test("without libvips the search says so")
  func noTool() throws {
    let sandbox = try Sandbox()
    let run = try sandbox.run(["duplicates"], input: "", ["PATH": sandbox.folder.path])
    #expect(run.status == 1 && run.errors.contains("apt-get install libvips-tools"), "\(run)")
  }

  @Test(
    "a smaller copy is proposed, as text and as JSON, and nothing is changed by that",
    .enabled(if: SamplePhotos.canRender, "Needs libvips-tools, ffmpeg, exiftool and the folder of sample photos."))
  func search() throws {
    let sandbox = try Sandbox()
    let source = try #require(SamplePhotos.folder).appending(path: "albums/nature/silver_fir.jpg")
    let photos = sandbox.folder.appending(path: "photos")
    try FileManager.default.createDirectory(at: photos, withIntermediateDirectories: true)
    try FileManager.default.copyItem(at: source, to: photos.appending(path: "whole.jpg"))
    let copy = photos.appending(path: "copy.jpg").path
    let made = try ChildRun.of(["vipsthumbnail", source.path, "--size", "500x500", "-o", copy + "[Q=70,strip]"])
    #expect(made.end == .status(0))
    #expect(try sandbox.run(["import", photos.path]).status == 0)
    let token = try sandbox.run(["history", "token"]).lines
    let text = try sandbox.run(["duplicates"])
    #expect(text.status == 0 && text.lines.contains("2 photos compared: 1 group, 1 duplicate."), "\(text)")
    #expect(text.lines.first?.hasPrefix("keep") == true && text.lines.first?.contains("whole.jpg") == true)
    let json = try sandbox.run(["duplicates", "--distance", "8", "--json"]).objects()
    let keeper = try #require(json[0]["keeper"] as? String)
    let others = try #require(json[0]["others"] as? [[String: Any]])
    #expect(json.count == 2 && others.count == 1)
    #expect((json[1]["summary"] as? [String: Any])?["groups"] as? Int == 1)
    #expect(try sandbox.run(["history", "token"]).lines == token, "A search changes nothing.")
    let other = try #require(others[0]["localIdentifier"] as? String)
    // What is rejected is proposed no more, also where the hashes are made anew, until that is withdrawn.
    #expect(
      text.lines.contains("If they are different pictures: photoledger duplicates reject \(names(keeper, other))"))
    #expect(try sandbox.run(["duplicates", "reject", other, keeper]).lines == ["1 pair rejected."])
    try FileManager.default.removeItem(atPath: sandbox.library + "/picture-hashes")
    #expect(try sandbox.run(["duplicates"]).lines == ["2 photos compared: 0 groups, 0 duplicates."])
    #expect(try sandbox.run(["history", "token"]).lines == token, "A decision is no commit.")
    let withdrawn = try sandbox.run(["duplicates", "reject", keeper, other, "--withdraw", "--json"]).objects()
    #expect(withdrawn.first?["pairs"] as? Int == 1 && withdrawn.first?["isRejected"] as? Bool == false)
    #expect(try sandbox.run(["duplicates", "--json"]).objects().count == 2)
    #expect(try sandbox.run(["duplicates", "merge", keeper, other]).status == 0)
    #expect(try sandbox.run(["duplicates"]).lines == ["1 photo compared: 0 groups, 0 duplicates."])
  }
}
