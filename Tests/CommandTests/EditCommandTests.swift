import Foundation
import Testing

@Suite("Edits on the command line")
struct EditCommandTests {
  private static func shown(_ sandbox: Sandbox, _ asset: String) throws -> [String: Any] {
    try jsonObject(sandbox.run(["show", asset, "--json"]).lines[0])
  }

  private static func types(_ sandbox: Sandbox, _ asset: String) throws -> [String] {
    let resources = try #require(try shown(sandbox, asset)["resources"] as? [[String: Any]])
    return resources.compactMap { $0["type"] as? String }
  }

  private static func write(_ sandbox: Sandbox, _ files: [String: String]) throws {
    for (name, text) in files { try Data(text.utf8).write(to: sandbox.folder.appending(path: name)) }
  }

  private static let format = ["--format", "com.example.editor", "--format-version", "2"]

  @Test("an edit begins from its input, is kept beside the original, and is undone (AS-04, AS-07, AS-09)")
  func photo() throws {
    let sandbox = try Sandbox()
    let asset = try sandbox.makeAssets(1)[0]
    try Self.write(sandbox, ["a.json": "sepia", "b.json": "crop", "a.jpg": "edited once", "b.jpg": "edited twice"])
    let first = try jsonObject(sandbox.run(["edit", "input", asset, "--json"]).lines[0])
    #expect(first["base"] as? String == "unedited" && first["adjustmentData"] is NSNull)
    let commit = ["edit", "commit", asset] + Self.format
    let words = commit + ["--adjustment", "a.json", "--rendered", "a.jpg", "--width", "40", "--height", "30"]
    #expect(try sandbox.run(words).status == 0)
    let edited = try Self.shown(sandbox, asset)
    #expect(edited["hasAdjustments"] as? Bool == true && edited["adjustmentsState"] as? String == "userAdjusted")
    #expect(edited["adjustmentFormatIdentifier"] as? String == "com.example.editor")
    #expect(edited["pixelWidth"] as? Int == 40 && edited["pixelHeight"] as? Int == 30)
    #expect((edited["adjustmentTimestamp"] as? String)?.hasSuffix("Z") == true)
    #expect(try Set(Self.types(sandbox, asset)) == ["photo", "fullSizePhoto", "adjustmentData"])
    #expect(try sandbox.run(["show", asset]).output.contains("com.example.editor 2"))

    let known = try jsonObject(
      sandbox.run(["edit", "input", asset, "--handles", "com.example.editor", "--output", "recipe", "--json"]).lines[0])
    #expect(known["base"] as? String == "unedited")
    #expect((known["adjustmentData"] as? [String: Any])?["formatVersion"] as? String == "2")
    #expect(try Data(contentsOf: sandbox.folder.appending(path: "recipe")) == Data("sepia".utf8))
    let foreign = try sandbox.run(["edit", "input", asset, "--handles", "com.example.other"])
    #expect(foreign.lines[0].hasSuffix("rendered") && foreign.lines[1].contains("fullSizePhoto"))
    let again = commit + ["--adjustment", "b.json", "--rendered", "b.jpg", "--base", "rendered", "--automatic"]
    #expect(try sandbox.run(again).status == 0)
    #expect(try Set(Self.types(sandbox, asset)).isSuperset(of: ["adjustmentBasePhoto", "fullSizePhoto", "photo"]))
    #expect(try Self.shown(sandbox, asset)["adjustmentsState"] as? String == "cameraAutoAdjusted")

    #expect(try sandbox.run(["edit", "revert", asset]).status == 0)
    #expect(try Self.types(sandbox, asset) == ["photo"])
    #expect(try Self.shown(sandbox, asset)["hasAdjustments"] as? Bool == false)
    #expect(try sandbox.run(["verify", "--content"]).status == 0)
  }

  @Test("an incomplete edit is rejected as a whole, with a sentence (AS-04, LP-01)")
  func refused() throws {
    let sandbox = try Sandbox()
    let asset = try sandbox.makeAssets(1)[0]
    try Self.write(sandbox, ["a.json": "sepia", "a.jpg": "edited", "a.mov": "movie", "empty": ""])
    let before = try sandbox.run(["log", "--json"]).lines.count
    let commit = ["edit", "commit", asset] + Self.format
    for (words, sentence) in [
      (commit + ["--adjustment", "nowhere", "--rendered", "a.jpg"], "nowhere"),
      (commit + ["--adjustment", "a.json", "--rendered", "nowhere.jpg"], "nowhere.jpg"),
      (commit + ["--adjustment", "empty", "--rendered", "a.jpg"], "at least one byte"),
      (commit + ["--adjustment", "a.json", "--rendered", "a.jpg", "--rendered-video", "a.mov"], "fullSizePhoto"),
      (commit + ["--adjustment", "a.json", "--rendered", "a.jpg", "--base", "rendered"], "no rendered file"),
      (["edit", "input", asset, "--output", "x"], "never edited"),
      (["edit", "input", "nonsense"], "'nonsense'"),
      (["edit", "revert", asset, "--to", "raw"], "RAW and JPEG pair"),
    ] {
      let result = try sandbox.run(words)
      #expect(result.status == 1 && result.errors.contains(sentence), "\(words): \(result.errors)")
    }
    #expect(try sandbox.run(["log", "--json"]).lines.count == before)
    #expect(!FileManager.default.fileExists(atPath: sandbox.folder.appending(path: "x").path))
  }

  @Test("a video is edited as a video, a Live Photo with both of its files, a RAW pair is reverted to its RAW (AS-16)")
  func kinds() throws {
    let sandbox = try Sandbox()
    try Self.write(sandbox, ["a.json": "cut", "a.jpg": "still", "a.mov": "movie"])
    let created = try sandbox.apply([
      #"{"changes":[{"op":"asset.create","mediaType":"video","duration":9,"#
        + #""resources":[{"type":"video","data":"YQ=="}]},"#
        + #"{"op":"asset.create","mediaType":"image","mediaSubtypes":["photoLive"],"resources":["#
        + #"{"type":"photo","data":"Yg==","originalFilename":"a.heic"},{"type":"pairedVideo","data":"Yw=="}]},"#
        + #"{"op":"asset.create","mediaType":"image","resources":[{"type":"photo","data":"ZA=="},"#
        + #"{"type":"alternatePhoto","data":"ZQ==","uniformTypeIdentifier":"com.adobe.raw-image"}]}]}"#
    ])
    let assets = try #require(created[0]["created"] as? [String], "\(created)")
    let recipe = Self.format + ["--adjustment", "a.json"]
    let video = ["edit", "commit", assets[0], "--rendered", "a.mov", "--duration", "4.5"] + recipe
    #expect(try sandbox.run(video).status == 0)
    #expect(try Self.types(sandbox, assets[0]).contains("fullSizeVideo"))
    #expect(try Self.shown(sandbox, assets[0])["duration"] as? Double == 4.5)
    let live = ["edit", "commit", assets[1], "--rendered", "a.jpg", "--rendered-video", "a.mov"] + recipe
    #expect(try sandbox.run(live).status == 0)
    #expect(try Set(Self.types(sandbox, assets[1])).isSuperset(of: ["fullSizePhoto", "fullSizePairedVideo"]))
    #expect(try sandbox.run(["edit", "revert", assets[2], "--to", "raw"]).status == 0)
    #expect(try Self.shown(sandbox, assets[2])["originalResourceChoice"] as? String == "raw")
    #expect(try sandbox.run(["show", assets[2]]).output.contains("the raw original"))
  }

  @Test("a date is set with its wall time and offset, and cleared with them")
  func dates() throws {
    let sandbox = try Sandbox()
    let asset = try sandbox.makeAssets(1)[0]
    #expect(try sandbox.run(["edit", asset, "--date", "2024-05-31T18:30:00+02:00"]).status == 0)
    let dated = try Self.shown(sandbox, asset)
    #expect(dated["creationDate"] as? String == "2024-05-31T18:30:00+02:00")
    #expect(dated["localCreationDate"] as? String == "2024-05-31T18:30:00")
    #expect(try sandbox.run(["ls"]).output.contains("2024-05-31 18:30"))
    #expect(try sandbox.run(["edit", asset, "--date", "none"]).status == 0)
    let undated = try Self.shown(sandbox, asset)
    #expect(undated["creationDate"] is NSNull && undated["localCreationDate"] is NSNull, "\(undated)")
    #expect(try sandbox.run(["ls"]).output.contains("no date"))
    // Without the offset of the date that was cleared.
    #expect(try sandbox.run(["edit", asset, "--date", "2024-05-31T16:30:00Z"]).status == 0)
    #expect(try Self.shown(sandbox, asset)["creationDate"] as? String == "2024-05-31T16:30:00Z")
  }

  @Test("ratings, captions and keywords are set and removed, for several assets at once (AS-15)")
  func words() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(2)
    #expect(try sandbox.run(["rate"] + assets + ["--stars", "4"]).status == 0)
    #expect(try sandbox.run(["caption"] + assets + ["The bay"]).status == 0)
    #expect(try sandbox.run(["keyword", "add", "storm at sea"] + assets).status == 0)
    #expect(try sandbox.run(["keyword", "add", "bay", assets[0]]).status == 0)
    for asset in assets {
      let shown = try Self.shown(sandbox, asset)
      #expect(shown["rating"] as? Int == 4 && shown["caption"] as? String == "The bay")
    }
    #expect(try Self.shown(sandbox, assets[0])["keywords"] as? [String] == ["bay", "storm at sea"])
    #expect(try sandbox.identifiers(["--where", "rating >= 4"]) == assets)
    let text = try sandbox.run(["show", assets[0]]).output
    for part in ["★★★★", "The bay", "bay, storm at sea"] { #expect(text.contains(part)) }
    #expect(try sandbox.run(["rate", assets[0], "--stars", "0"]).status == 0)
    #expect(try sandbox.run(["caption", assets[0], "--clear"]).status == 0)
    #expect(try sandbox.run(["keyword", "remove", "storm at sea", assets[0]]).status == 0)
    let cleared = try Self.shown(sandbox, assets[0])
    #expect(cleared["rating"] as? Int == 0 && cleared["caption"] is NSNull)
    #expect(cleared["keywords"] as? [String] == ["bay"])
    #expect(try Self.shown(sandbox, assets[1])["keywords"] as? [String] == ["storm at sea"])
  }

  @Test("assets are stacked, raised, taken out and unstacked; lists show the top, and all of it when asked")
  func stacks() throws {
    let sandbox = try Sandbox()
    let ids = try sandbox.makeAssets(4)
    let receipt = try jsonObject(sandbox.run(["stack", ids[1], ids[0], ids[2], "--json"]).lines[0])
    #expect(receipt["token"] as? String != nil)
    #expect(try sandbox.identifiers() == [ids[1], ids[3]])
    #expect(try sandbox.identifiers(["--all-stacks"]) == ids)
    #expect(try sandbox.identifiers(["--all-stacks", "--where", "stack == '\(ids[1])'"]) == Array(ids[..<3]))
    #expect(try Self.shown(sandbox, ids[0])["stack"] as? String == ids[1])
    #expect(try Self.shown(sandbox, ids[3])["stack"] is NSNull)
    #expect(try sandbox.run(["show", ids[0]]).output.contains("beneath \(ids[1])"))
    #expect(try sandbox.run(["show", ids[1]]).output.contains("on top"))
    #expect(try sandbox.run(["stack", ids[2]]).status == 0)
    #expect(try sandbox.identifiers() == [ids[2], ids[3]])
    #expect(try sandbox.run(["log"]).output.contains("stack"))
    #expect(try sandbox.run(["unstack", ids[0]]).status == 0)
    #expect(try sandbox.identifiers() == [ids[0], ids[2], ids[3]])
    #expect(try sandbox.run(["unstack", ids[2]]).status == 0)
    #expect(try sandbox.identifiers() == ids)
    let refused = try sandbox.run(["stack", ids[0]])
    #expect(refused.status == 1 && refused.errors.contains("at least one asset below its top"))
    let doubled = try sandbox.run(["stack", ids[0], ids[0]])
    #expect(doubled.status == 1 && doubled.errors.contains("cannot be below it too"), "\(doubled.errors)")
    #expect(try sandbox.run(["verify"]).status == 0)
  }

  @Test("one member stands for a burst and picks are shown beside it; the camera's proposals stay (BU-01 to BU-03)")
  func bursts() throws {
    let sandbox = try Sandbox()
    let lines = (0..<3).map { index in
      #"{"op":"asset.create","mediaType":"image","burstIdentifier":"B-1","burstSelectionTypes":["autoPick"],"#
        + #""resources":[{"type":"photo","data":"\#(Data("\(index)".utf8).base64EncodedString())"}]}"#
    }
    let created = try sandbox.apply([#"{"changes":[\#(lines.joined(separator: ","))]}"#])
    let burst = try #require(created[0]["created"] as? [String])
    let single = try sandbox.makeAssets(1)[0]
    #expect(try sandbox.identifiers() == [burst[0], single])
    #expect(try sandbox.identifiers(["--all-bursts"]) == burst + [single])
    #expect(try sandbox.run(["burst", "pick", burst[1], burst[2]]).status == 0)
    #expect(try sandbox.run(["burst", "unpick", burst[1]]).status == 0)
    #expect(try sandbox.identifiers() == [burst[0], burst[2], single])
    #expect(try Self.shown(sandbox, burst[2])["burstSelectionTypes"] as? [String] == ["autoPick", "userPick"])
    #expect(try Self.shown(sandbox, burst[1])["burstSelectionTypes"] as? [String] == ["autoPick"])
    #expect(try sandbox.run(["burst", "represent", burst[1]]).status == 0)
    #expect(try sandbox.identifiers(["--smart-album", "bursts"]) == [burst[1]])
    #expect(try Self.shown(sandbox, burst[0])["representsBurst"] as? Bool == false)
    #expect(try sandbox.run(["show", burst[1]]).output.contains("B-1, representative, autoPick"))
    for words in [["represent"], ["pick"], ["unpick"]] {
      let result = try sandbox.run(["burst"] + words + [single])
      #expect(result.status == 1 && result.errors.contains("not a member of a burst"))
    }
  }
}
