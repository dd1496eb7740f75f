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
    #expect(try sandbox.run(["duplicates", "merge", keeper, other]).status == 0)
    #expect(try sandbox.run(["duplicates"]).lines == ["1 photo compared: 0 groups, 0 duplicates."])
  }
}
