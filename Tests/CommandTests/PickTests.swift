import Foundation
import Testing

@Suite("pick", .timeLimit(.minutes(60)))
struct PickTests {
  private static func names(_ result: RunResult) throws -> [String?] {
    try result.objects().map { $0["assetIdentifier"] as? String }
  }

  @Test("a client without permission gets what was picked, loads it, and sees nothing else (PK-01, PK-02)")
  func choosing() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(3)
    let result = try sandbox.run(["pick", "--as", "app", "--choose", assets[1], "--json"])
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    let item = try #require(try result.objects().first)
    #expect(item["assetIdentifier"] as? String == assets[1])
    #expect(item["supportedContentTypes"] as? [String] == ["public.jpeg"])
    let token = try #require(item["token"] as? String)
    #expect(try sandbox.run(["pick", "load", token, "--as", "app"]).output == "picture 1")
    let other = try sandbox.run(["pick", "load", token, "--as", "other"])
    #expect(other.status == 1 && other.output.isEmpty && other.errors.contains("'other'"))
    #expect(try sandbox.run(["pick", "load", "p1.made.up", "--as", "app"]).errors.contains("not a valid token"))
    let log = try sandbox.run(["log", "--json"]).objects()
    #expect(log.last?["cause"] as? String == "picking session" && log.last?["client"] as? String == "owner")
  }

  @Test("the session applies limit, order, preselection and filter (PK-03, PK-04, PK-05)")
  func options() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(4)
    let choose = [3, 0, 2].flatMap { ["--choose", assets[$0]] }
    let refused = try sandbox.run(["pick", "--as", "app"] + choose)
    #expect(refused.status == 1 && refused.output.isEmpty)
    #expect(refused.errors.hasSuffix("One asset may be picked; deselect one first.\n"), "\(refused)")
    let most = try sandbox.run(["pick", "--as", "app", "--limit", "2"] + choose)
    #expect(most.errors.hasSuffix("At most 2 assets may be picked; deselect one first.\n"), "\(most)")
    let plain = try sandbox.run(["pick", "--as", "app", "--limit", "0", "--json"] + choose)
    #expect(try Self.names(plain) == [0, 2, 3].map { assets[$0] })
    let ordered = try sandbox.run(
      ["pick", "--as", "app", "--limit", "0", "--ordered", "--preselect", assets[1], "--json"] + choose)
    #expect(try Self.names(ordered) == [1, 3, 0, 2].map { assets[$0] })
    #expect(try ordered.objects().map { $0["token"] is String } == [false, true, true, true])
    let filtered = try sandbox.run(["pick", "--as", "app", "--filter", "any(videos,livePhotos)", "--choose", assets[0]])
    #expect(filtered.status == 1 && filtered.errors.contains("any(videos,livePhotos)"))
    let text = try sandbox.run(["pick", "--as", "app", "--preselect", assets[1], "--limit", "2", "--choose", assets[0]])
    #expect(text.lines.count == 2 && text.lines[1].contains("selected beforehand"))
  }

  @Test("a person chooses from a numbered list, and invalid input is reported")
  func dialogue() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(4)
    let words = ["pick", "--as", "app", "--limit", "2", "--json"]
    let chosen = try sandbox.run(words, input: "1 3\n1\n9 x\n2,4\n\n")
    #expect(chosen.status == 0, "\(chosen.errors)")
    #expect(try Self.names(chosen) == [assets[1], assets[2]])
    for part in ["IMG_3.jpg", "2 of 2 picked>", "'9' is not a number", "'x' is not a number", "At most 2", "'app'"] {
      #expect(chosen.errors.contains(part), "\(part) is not in:\n\(chosen.errors)")
    }
    for ending in ["q\n", ""] {
      let cancelled = try sandbox.run(words + ["--preselect", assets[0]], input: "2\n\(ending)")
      #expect(cancelled.status == 1 && cancelled.errors.contains("cancelled"))
      #expect(try Self.names(cancelled) == [assets[0]], "Cancelling returns the preselection (PK-04).")
    }
  }

  @Test("a picked asset is written to a file, as a type of data, or rejected with the program to install (PK-07)")
  func loading() throws {
    let sandbox = try Sandbox()
    let heic = #"{"type":"photo","data":"c3RpbGw=","originalFilename":"a.heic"}"#
    let answer = try sandbox.apply(
      [#"{"changes":[{"op":"asset.create","mediaType":"image","resources":[\#(heic)]}]}"#])
    let asset = try #require((answer.first?["created"] as? [String])?.first)
    let item = try #require(try sandbox.run(["pick", "--as", "app", "--choose", asset, "--json"]).objects().first)
    let load = ["pick", "load", try #require(item["token"] as? String), "--as", "app"]
    #expect(try sandbox.run(load + ["--current", "--output", "a.heic"]).status == 0)
    #expect(try Data(contentsOf: sandbox.folder.appending(path: "a.heic")) == Data("still".utf8))
    #expect(try sandbox.run(load + ["--current", "--output", "a.heic"]).errors.contains("pass --force"))
    #expect(try sandbox.run(load + ["--type", "public.heic", "--current"]).output == "still")
    let wrong = try sandbox.run(load + ["--type", "public.png"])
    #expect(wrong.status == 1 && wrong.errors.contains("public.heic") && wrong.output.isEmpty)
    let stripped = try sandbox.run(load + ["--current", "--strip-location", "--output", "b.heic"])
    #expect(stripped.status == 1 && stripped.errors.contains("exiftool"), "These bytes are no picture.")
    #expect(!FileManager.default.fileExists(atPath: sandbox.folder.appending(path: "b.heic").path))
  }

  @Test(
    "a wrong command line ends with status 2 and a sentence",
    arguments: [
      (["pick"], "needs --as"), (["pick", "load", "x"], "needs --as"), (["pick", "load", "--as", "a"], "needs TOKEN"),
      (["pick", "--as", "a", "--filter", "any(images"], "closing parenthesis"),
      (["pick", "--as", "a", "--limit", "-1"], "got '-1'"),
      (["pick", "load", "x", "--as", "a", "--current", "--compatible"], "exclude each other; pass one of them"),
    ])
  func wrongUsage(words: [String], sentence: String) throws {
    let result = try Sandbox().run(words)
    #expect(result.status == 2 && result.errors.contains(sentence), "\(result.errors)")
    #expect(result.output.isEmpty)
  }
}
