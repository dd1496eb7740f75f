import Foundation
import TestSupport
import Testing

@Suite("Files of assets", .timeLimit(.minutes(60)))
struct ResourceCommandTests {
  /// Makes a Live Photo from two texts and gives its identifier.
  private static func makeLivePhoto(_ sandbox: Sandbox) throws -> String {
    let resources = [("photo", "still", "IMG_1.HEIC"), ("pairedVideo", "movie", "IMG_1.MOV")].map { type, text, name in
      let data = Data(text.utf8).base64EncodedString()
      return #"{"type":"\#(type)","data":"\#(data)","originalFilename":"\#(name)"}"#
    }
    let list = resources.joined(separator: ",")
    let answer = try sandbox.apply(
      [#"{"changes":[{"op":"asset.create","mediaType":"image","resources":[\#(list)]}]}"#])
    return try #require((answer.first?["created"] as? [String])?.first)
  }

  /// The path of a file of an asset.
  private static func path(_ sandbox: Sandbox, _ asset: String, _ index: Int = 0) throws -> String {
    let objects = try sandbox.run(["resource", "list", asset, "--json"]).objects()
    return try #require(objects[index]["path"] as? String)
  }

  @Test("the files of an asset are listed with type, name, kind, size, pixels, hash and state (a.5)")
  func list() throws {
    let sandbox = try Sandbox()
    let asset = try Self.makeLivePhoto(sandbox)
    let objects = try sandbox.run(["resource", "list", asset, "--json"]).objects()
    #expect(objects.map { $0["type"] as? String } == ["photo", "pairedVideo"])
    #expect(objects.map { $0["index"] as? Int } == [0, 1])
    #expect(objects.map { $0["originalFilename"] as? String } == ["IMG_1.HEIC", "IMG_1.MOV"])
    #expect(objects.map { $0["dataSize"] as? Int } == [5, 5])
    #expect(objects.allSatisfy { $0["state"] as? String == "present" && $0["pixelWidth"] as? Int == 0 })
    #expect(objects.allSatisfy { $0["assetLocalIdentifier"] as? String == asset })
    #expect(objects[0]["uniformTypeIdentifier"] as? String == "public.heic")
    let text = try sandbox.run(["resource", "list", asset])
    #expect(text.status == 0 && text.lines.count == 4)
    for part in ["photo", "IMG_1.HEIC", "public.heic", "5 bytes", "present"] { #expect(text.lines[0].contains(part)) }
    #expect(text.lines[1].contains(try #require(objects[0]["sha256"] as? String)))
  }

  @Test(
    "a file is chosen by its type or its number, the first if neither is given, and goes to standard output",
    arguments: [
      ([], "still"), (["--index", "1"], "movie"), (["--type", "photo"], "still"), (["--type", "pairedVideo"], "movie"),
    ] as [([String], String)])
  func get(words: [String], content: String) throws {
    let sandbox = try Sandbox()
    let result = try sandbox.run(["resource", "get", try Self.makeLivePhoto(sandbox)] + words)
    #expect(result.status == 0 && result.output == content && result.errors.isEmpty)
  }

  @Test("bytes of any value and length come through standard output and into a file unchanged")
  func binary() throws {
    let sandbox = try Sandbox()
    let data = Data((0..<2_500_001).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 11) })
    try data.write(to: sandbox.folder.appending(path: "big.jpg"))
    let answer = try sandbox.apply(
      [#"{"changes":[{"op":"asset.create","mediaType":"image","resources":[{"type":"photo","path":"big.jpg"}]}]}"#])
    let asset = try #require((answer.first?["created"] as? [String])?.first)
    #expect(try sandbox.run(["resource", "get", asset, "--output", "out.jpg"]).status == 0)
    #expect(try Data(contentsOf: sandbox.folder.appending(path: "out.jpg")) == data)
    let piped = sandbox.folder.appending(path: "piped.jpg")
    try Data().write(to: piped)
    let file = try FileHandle(forWritingTo: piped)
    let words = ["resource", "get", asset, "--library", sandbox.library]
    #expect(try ChildRun(programURL, words, output: .descriptor(file.fileDescriptor)).end() == .status(0))
    #expect(try Data(contentsOf: piped) == data)
  }

  @Test("an existing file is not overwritten unless requested; nothing else is left in the folder")
  func overwriting() throws {
    let sandbox = try Sandbox()
    let asset = try Self.makeLivePhoto(sandbox)
    let target = sandbox.folder.appending(path: "a.heic")
    try Data("mine".utf8).write(to: target)
    let refused = try sandbox.run(["resource", "get", asset, "--output", "a.heic"])
    #expect(refused.status == 1 && refused.errors.contains("\(target.path) already exists; "))
    #expect(refused.errors.hasSuffix("or pass --force to replace it.\n"), "\(refused.errors)")
    #expect(try Data(contentsOf: target) == Data("mine".utf8))
    #expect(try sandbox.run(["resource", "get", asset, "--output", "a.heic", "--force"]).status == 0)
    #expect(try Data(contentsOf: target) == Data("still".utf8))
    #expect(try FileManager.default.contentsOfDirectory(atPath: sandbox.folder.path).sorted() == ["a.heic", "library"])
  }

  @Test(
    "a missing file is named in the error",
    arguments: [
      (["--index", "2"], "no file 2", 1), (["--type", "video"], "of type video", 1), (["--type", "foto"], "'foto'", 2),
      (["--type", "photo", "--index", "0"], "pass one of them", 2), (["--index", "-1"], "got '-1'", 2),
    ] as [([String], String, Int32)])
  func noSuchFile(words: [String], sentence: String, status: Int32) throws {
    let sandbox = try Sandbox()
    let result = try sandbox.run(["resource", "get", try Self.makeLivePhoto(sandbox)] + words)
    #expect(result.status == status && result.errors.contains(sentence), "\(result.errors)")
    #expect(result.output.isEmpty)
  }

  @Test("an asset that does not exist is named in the error", arguments: ["list", "get", "check"])
  func noAsset(command: String) throws {
    let result = try Sandbox().run(["resource", command, "nonsense"])
    #expect(result.status == 1 && result.errors.contains("'nonsense'"))
  }

  @Test("two files of one type are distinguished by their number")
  func ambiguous() throws {
    let sandbox = try Sandbox()
    let lines = ["a", "b"].map { #"{"type":"alternatePhoto","data":"\#(Data($0.utf8).base64EncodedString())"}"# }
    let resources = ([#"{"type":"photo","data":"Yw=="}"#] + lines).joined(separator: ",")
    let answer = try sandbox.apply(
      [#"{"changes":[{"op":"asset.create","mediaType":"image","resources":[\#(resources)]}]}"#])
    let asset = try #require((answer.first?["created"] as? [String])?.first, "\(answer)")
    let result = try sandbox.run(["resource", "get", asset, "--type", "alternatePhoto"])
    #expect(result.status == 1 && result.errors.contains("--index"))
    #expect(try sandbox.run(["resource", "get", asset, "--index", "2"]).output == "b")
  }

  @Test("nothing is written to a terminal unless requested")
  func terminal() throws {
    let sandbox = try Sandbox()
    let asset = try Self.makeLivePhoto(sandbox)
    for (words, isRefused) in [([], true), (["--force"], false)] as [([String], Bool)] {
      var (controller, screen) = (Int32(-1), Int32(-1))
      try #require(openpty(&controller, &screen, nil, nil, nil) == 0)
      defer { for end in [controller, screen] { close(end) } }
      let line = ["resource", "get", asset, "--library", sandbox.library] + words
      let child = try ChildRun(programURL, line, output: .descriptor(screen))
      #expect(child.end() == .status(isRefused ? 2 : 0))
      let complaint = String(decoding: try child.errors.readToEnd() ?? Data(), as: UTF8.self)
      #expect(complaint.contains("terminal") == isRefused, "\(complaint)")
    }
  }

  @Test("a copy that is stopped half way leaves nothing")
  func interrupted() throws {
    let sandbox = try Sandbox()
    let source = sandbox.folder.appending(path: "big.mov")
    try Data().write(to: source)
    try #require(truncate(source.path, 96 << 20) == 0)
    let answer = try sandbox.apply(
      [#"{"changes":[{"op":"asset.create","mediaType":"video","resources":[{"type":"video","path":"big.mov"}]}]}"#])
    let asset = try #require((answer.first?["created"] as? [String])?.first)
    let target = sandbox.folder.appending(path: "out")
    // A copy may be finished before the signal comes; then it is tried again.
    for attempt in 1...20 {
      try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
      let running = try Running(sandbox, ["resource", "get", asset, "--output", "out/a.mov"])
      running.endInput()
      while running.child.isRunning, try FileManager.default.contentsOfDirectory(atPath: target.path).isEmpty {}
      let result = try running.finish(interrupting: true)
      let left = try FileManager.default.contentsOfDirectory(atPath: target.path)
      try FileManager.default.removeItem(at: target)
      #expect(left == (result.status == 0 ? ["a.mov"] : []), "attempt \(attempt)")
      if result.status == 0 { continue }
      #expect(result.status == 1 && result.errors.contains("cancelled"), "\(result.errors)")
      return
    }
    Issue.record("No signal came while the file was being copied.")
  }

  @Test("a check reports missing or altered files, of all assets or of some, also by its exit status (a.7)")
  func check() throws {
    let sandbox = try Sandbox()
    let live = try Self.makeLivePhoto(sandbox)
    let others = try sandbox.makeAssets(3)
    #expect(try sandbox.run(["trash", others[0]]).status == 0)
    let sound = try sandbox.run(["resource", "check"])
    #expect(sound.status == 0 && sound.lines == ["5 files checked: 0 missing, 0 altered."])

    let missing = try Self.path(sandbox, live, 1)
    try #require(unlink(missing) == 0)
    let altered = try Self.path(sandbox, others[0])
    chmod(altered, 0o644)
    try Data("pictura 0".utf8).write(to: URL(filePath: altered))
    let bySize = try sandbox.run(["resource", "check"])
    #expect(bySize.status == 1 && bySize.lines.count == 2)
    #expect(
      bySize.lines[0].hasPrefix("missing: pairedVideo IMG_1.MOV of \(live)") && bySize.lines[0].hasSuffix(missing))
    let byHash = try sandbox.run(["resource", "check", "--hash", "--json"])
    #expect(byHash.status == 1)
    let states = try byHash.objects().map { $0["state"] as? String }
    #expect(states == ["present", "missing", "present", "present", "altered"], "The trash comes last.")
    #expect(try sandbox.run(["resource", "check", "--hash", others[1], others[2]]).status == 0)
    let some = try sandbox.run(["resource", "check", "--hash", others[0]])
    #expect(some.status == 1 && some.lines.last == "1 file checked and hashed: 0 missing, 1 altered.")
    #expect(try sandbox.run(["resource", "list", live, "--json"]).objects()[1]["state"] as? String == "missing")
  }

  @Test("bytes that are missing or altered end a copy with status 1 and a sentence that names the file (a.7)")
  func badBytes() throws {
    let sandbox = try Sandbox()
    let asset = try Self.makeLivePhoto(sandbox)
    let (still, movie) = (try Self.path(sandbox, asset), try Self.path(sandbox, asset, 1))
    try #require(unlink(still) == 0)
    chmod(movie, 0o644)
    try Data("MOVIE".utf8).write(to: URL(filePath: movie))
    for (index, path, content) in [("0", still, ""), ("1", movie, "MOVIE")] {
      let printed = try sandbox.run(["resource", "get", asset, "--index", index])
      #expect(printed.status == 1 && printed.output == content && printed.errors.contains(path))
      let copied = try sandbox.run(["resource", "get", asset, "--index", index, "--output", "a"])
      #expect(copied.status == 1 && copied.errors.contains(path) && copied.errors.contains(asset))
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: sandbox.folder.path) == ["library"])
  }

  @Test("a closed reader ends a copy to standard output quietly")
  func closedOutput() throws {
    let sandbox = try Sandbox()
    let running = try Running(
      sandbox, ["resource", "get", try Self.makeLivePhoto(sandbox)], closesOutput: true)
    running.endInput()
    #expect(running.child.end() == .status(0))
  }
}
