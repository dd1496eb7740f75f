import Foundation
import TestSupport
import Testing

@testable import PhotoLedgerCommand

@Suite("Importing exports from the shell")
struct ImportCommandTests {
  /// A Takeout with two photos in an album, one of them also in the folder of its year, and a JSON without its photo.
  private static func takeout(in folder: URL) throws -> String {
    func write(_ path: String, _ data: Data) throws {
      let place = folder.appending(path: "export/Takeout/Google Photos/\(path)")
      try FileManager.default.createDirectory(at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
      try data.write(to: place)
    }
    func item(_ title: String) -> Data {
      Data("{\"title\":\"\(title)\",\"description\":\"words\",\"photoTakenTime\":{\"timestamp\":\"1600000000\"}}".utf8)
    }
    for name in ["a.jpg", "b.jpg"] {
      try write("Sea/\(name)", TinyMedia.jpeg(.init(comment: name)))
      try write("Sea/\(name).supplemental-metadata.json", item(name))
    }
    try write("Sea/metadata.json", Data("{\"title\":\"The sea\"}".utf8))
    try write("Photos from 2020/a.jpg", TinyMedia.jpeg(.init(comment: "a.jpg")))
    try write("Photos from 2020/a.jpg.supplemental-metadata.json", item("a.jpg"))
    try write("Photos from 2020/gone.jpg.supplemental-metadata.json", item("gone.jpg"))
    return folder.appending(path: "export").path
  }

  @Test("a Takeout is imported in a dry run, then for real, and undone by its cause")
  func takeout() throws {
    let sandbox = try Sandbox()
    let part = try Self.takeout(in: sandbox.folder)
    let dry = try sandbox.run(["import", "takeout", part, "--dry-run"])
    #expect(dry.status == 0, "\(dry.errors)")
    #expect(dry.output.contains("2 assets would be added") && dry.output.contains("album 'The sea' (would be created)"))
    #expect(dry.output.contains("a JSON describes an item that is in none of the parts"))
    #expect(try sandbox.run(["ls", "--json"]).output.isEmpty)
    let done = try sandbox.run(["import", "takeout", part, "--cause", "my takeout", "--keyword", "google", "--json"])
    let summary = try #require(try done.objects().first)
    #expect(summary["assetsAdded"] as? Int == 2 && summary["duplicates"] as? Int == 1)
    #expect(summary["restored"] as? Int == 0 && summary["duplicatesInTrash"] as? Int == 0)
    #expect(summary["described"] as? Int == 4 && (summary["skipped"] as? [String: Int]) == ["orphan": 1])
    #expect((summary["albums"] as? [[String: Any]])?.first?["added"] as? Int == 2)
    #expect(try sandbox.run(["albums"]).output.contains("The sea"))
    let undone = try sandbox.run(["undo", "--cause", "my takeout"])
    #expect(undone.status == 0, "\(undone.errors)")
    #expect(try sandbox.run(["ls", "--json"]).output.isEmpty)
    #expect(try !sandbox.run(["albums"]).output.contains("The sea"))
  }

  @Test("the summary counts photos of a Takeout that have no JSON, and names them")
  func withoutJSON() throws {
    let sandbox = try Sandbox()
    let part = try Self.takeout(in: sandbox.folder)
    let photo = URL(filePath: part).appending(path: "Takeout/Google Photos/Photos from 2020/alone.jpg")
    try TinyMedia.jpeg(.init(comment: "alone")).write(to: photo)
    let done = try sandbox.run(["import", "takeout", part])
    #expect(done.status == 0 && done.output.contains("1 × an item has no JSON\n"), "\(done.errors) \(done.output)")
    #expect(done.output.contains("Photos from 2020/alone.jpg\n"), "\(done.output)")
  }

  @Test("the summary of two Takeouts that are imported together has examples of photos with the same name")
  func joinedTakeouts() throws {
    let sandbox = try Sandbox()
    let parts = try ["ana", "ben"].map { try Self.takeout(in: sandbox.folder.appending(path: $0)) }
    let alone = try sandbox.run(["import", "takeout", parts[0]])
    #expect(alone.status == 0 && !alone.output.contains("folders of the same name"), "\(alone.errors)")
    let joined = try sandbox.run(["import", "takeout"] + parts)
    #expect(joined.status == 0, "\(joined.errors)")
    #expect(joined.output.contains("3 × folders of the same name contain items of the same name"), "\(joined.output)")
    #expect(joined.output.contains("Sea/a.jpg\n"), "\(joined.output)")
  }

  @Test("an import is rehearsed in a fork, and the library stays as it was")
  func intoFork() throws {
    let sandbox = try Sandbox()
    let part = try Self.takeout(in: sandbox.folder)
    #expect(try sandbox.makeAssets(1).count == 1)
    let before = try sandbox.run(["log", "--json"]).output
    let fork = sandbox.folder.appending(path: "it's a fork").path
    let tried = try sandbox.run(["import", "takeout", part, "--into-fork", fork, "--json"])
    #expect(tried.status == 0, "\(tried.errors)")
    #expect(try tried.objects().first?["assetsAdded"] as? Int == 2)
    let word = "'\(fork.replacing("'", with: #"'\''"#))'"
    #expect(tried.errors.contains("`photoledger compare '\(sandbox.library)' --library \(word)`"), "\(tried.errors)")
    #expect(try sandbox.run(["log", "--json"]).output == before)
    #expect(try sandbox.run(["verify", "--content"]).status == 0)
    let compared = try sandbox.run(["compare", sandbox.library, "--library", fork, "--json"]).objects()
    // Two photos and an album, and the top level that has it.
    let kinds = compared.compactMap { $0["kind"] as? String }
    #expect(kinds.sorted() == ["changed", "created", "created", "created"])
    #expect(try sandbox.run(["ls", "--json", "--library", fork]).lines.count == 3)
    // It is there now: an import into it is one into a library.
    let again = try sandbox.run(["import", "takeout", part, "--into-fork", fork])
    #expect(again.status != 0 && again.errors.contains(fork), "\(again.errors)")
    let more = try sandbox.run(["import", "takeout", part, "--library", fork, "--json"])
    #expect(try more.objects().first?["assetsAdded"] as? Int == 0, "\(more.errors)")
  }

  @Test("an option that a rehearsal in a fork does not support is rejected, and no fork is made")
  func refusedForks() throws {
    let sandbox = try Sandbox()
    let part = try Self.takeout(in: sandbox.folder)
    let fork = sandbox.folder.appending(path: "fork").path
    let none = sandbox.folder.appending(path: "none").path
    #expect(try sandbox.run(["client", "authorize", "com.example.scanner"]).status == 0)
    let refused: [(words: [String], sentence: String)] = [
      ([part, "--dry-run"], "--dry-run records nothing"), ([part, "--move"], "cannot be used with --move"),
      ([part, "--reference", "--watch"], "cannot be used with --watch"), ([none], none),
      ([part, "--library", none], none), ([part, "--as", "com.example.scanner"], "com.example.scanner"),
    ]
    for (words, sentence) in refused {
      let result = try sandbox.run(["import"] + words + ["--into-fork", fork])
      #expect(result.status != 0 && result.errors.contains(sentence), "\(words): \(result.errors)")
      #expect(!FileManager.default.fileExists(atPath: fork) && !FileManager.default.fileExists(atPath: none))
    }
    #expect(try sandbox.run(["ls", "--json"]).output.isEmpty)
  }

  @Test("originals are moved, and what stays is counted by reason, as the dry run says before")
  func moved() throws {
    let sandbox = try Sandbox()
    let folder = sandbox.folder.appending(path: "card")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try TinyMedia.jpeg(.init(comment: "a")).write(to: folder.appending(path: "a.jpg"))
    try Data("words".utf8).write(to: folder.appending(path: "a.xmp"))
    let dry = try sandbox.run(["import", folder.path, "--move", "--dry-run"])
    #expect(dry.status == 0 && dry.output.contains("1 original would be removed\n  1 would stay: sidecar"), "\(dry)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
    let run = try sandbox.run(["import", folder.path, "--move"])
    #expect(run.status == 0 && run.output.contains("1 original removed\n  1 kept: sidecar\n"), "\(run)")
    #expect(run.output.contains("a.xmp was kept: it describes other files"), "\(run)")
    #expect(run.output.contains("  1 describes other files\n"), "\(run)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.xmp"])
    #expect(try sandbox.run(["resource", "check"]).status == 0)
    let again = try sandbox.run(["import", folder.path, "--move", "--json"]).objects().first?["moved"]
    let moved = try #require(again as? [String: Any])
    #expect(moved["removed"] as? Int == 0 && moved["kept"] as? [String: Int] == ["sidecar": 1])
    #expect((moved["keptFiles"] as? [[String: String]])?.first?["reason"] == "sidecar")
  }

  @Test("an original whose copy cannot be read back is kept, and the status is 1")
  func unproved() throws {
    let sandbox = try Sandbox()
    let path = sandbox.folder.appending(path: "a.jpg")
    try TinyMedia.jpeg(.init(comment: "a")).write(to: path)
    #expect(try sandbox.run(["import", path.path]).status == 0)
    let resources = URL(filePath: sandbox.library).appending(path: "resources").path
    for name in try FileManager.default.subpathsOfDirectory(atPath: resources) where name.count == 65 {
      // Of the same size: one that is missing, or shorter, would be restored from the original.
      let copy = URL(filePath: "\(resources)/\(name)")
      let byteCount = try Data(contentsOf: copy).count
      try FileManager.default.removeItem(at: copy)
      try Data(repeating: 0, count: byteCount).write(to: copy)
    }
    let run = try sandbox.run(["import", path.path, "--move"])
    #expect(run.status == 1 && run.errors.contains("1 file of the library could not be read back"), "\(run)")
    #expect(FileManager.default.fileExists(atPath: path.path))
  }

  @Test("every summary names the report and the cause; one without a commit has nothing to undo")
  func summaries() throws {
    let sandbox = try Sandbox()
    let folder = sandbox.folder.appending(path: "card")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try TinyMedia.jpeg(.init(comment: "a")).write(to: folder.appending(path: "a.jpg"))
    func report(_ run: RunResult) throws {
      let path = try #require(run.lines.first { $0.hasPrefix("  Every file's outcome: ") }?.split(separator: ": ").last)
      #expect(FileManager.default.fileExists(atPath: String(path)), "\(run)")
    }
    let first = try sandbox.run(["import", folder.path])
    try report(first)
    let line = try #require(first.lines.first { $0.hasPrefix("  To undo it: ") }, "\(first)")
    let words = line.components(separatedBy: "'")
    #expect(words.count == 3 && words[0] == "  To undo it: photoledger undo --cause ", "\(line)")
    let again = try sandbox.run(["import", folder.path])
    try report(again)
    let empty = sandbox.folder.appending(path: "empty")
    try FileManager.default.createDirectory(at: empty, withIntermediateDirectories: true)
    try report(try sandbox.run(["import", empty.path]))
    #expect(!again.output.contains("To undo it"), "\(again)")
    #expect(try sandbox.run(["undo", "--cause", words[1]]).status == 0)
    #expect(try sandbox.identifiers().isEmpty)
    let named = try sandbox.run(["import", folder.path, "--cause", "Anna's card"])
    #expect(named.lines.last == #"  To undo it: photoledger undo --cause 'Anna'\''s card'"#, "\(named)")
    let dry = try #require(try sandbox.run(["import", folder.path, "--dry-run", "--json"]).objects().first)
    #expect(dry["cause"] is NSNull)
    let plain = try #require(try sandbox.run(["import", folder.path, "--json"]).objects().first)
    let run = try #require(plain["run"] as? String)
    #expect(plain["cause"] as? String == "import \(run)")
  }

  @Test("the printed undo names the library unless commands find it without that")
  func printedUndo() throws {
    let sandbox = try Sandbox()
    let part = try Self.takeout(in: sandbox.folder)
    let (fork, other) = (sandbox.folder.appending(path: "it's a fork").path, sandbox.folder.path + "/other")
    func undo(_ words: [String]) throws -> String {
      let run = try sandbox.run(["import", "takeout", part, "--cause", "party"] + words)
      let line = try #require(run.lines.last { $0.hasPrefix("  To undo it: ") }, "\(run)")
      return String(line.dropFirst("  To undo it: ".count))
    }
    func named(_ path: String) -> String { "photoledger undo --cause 'party' --library \(TextLayout.shellWord(path))" }
    #expect(try undo(["--into-fork", fork]) == named(fork))
    #expect(try undo(["--library", other]) == named(other))
    #expect(try undo([]) == "photoledger undo --cause 'party'")
    #expect(try sandbox.run(["undo", "--cause", "party", "--library", other]).status == 0)
    #expect(try sandbox.identifiers(["--library", other]).isEmpty && sandbox.identifiers().count == 2)
  }

  @Test("a dry run makes no library")
  func dryRunWithoutLibrary() throws {
    let sandbox = try Sandbox(makesLibrary: false)
    let part = try Self.takeout(in: sandbox.folder)
    let dry = try sandbox.run(["import", "takeout", part, "--dry-run", "--json"])
    #expect(dry.status == 0, "\(dry.errors)")
    #expect(try dry.objects().first?["isDryRun"] as? Bool == true)
    #expect(!FileManager.default.fileExists(atPath: sandbox.library))
  }

  @Test(
    "an import that cannot run as requested says why",
    arguments: [
      (["import", "takeout"], 2, "needs PART"), (["import", "takeout", "nowhere"], 1, "nowhere cannot be imported"),
      (["import", "x", "--jobs", "0"], 2, "1 to 256"), (["import", "x", "--time-zone", "Mars"], 2, "got 'Mars'"),
      (["import", "x", "--from", "soon"], 2, "got 'soon'"),
      (["import", "x", "--from", "2024-01-02", "--until", "2024-01-01"], 2, "after --until"),
      (["import", "x", "--move", "--reference"], 2, "cannot be used with --reference"),
      (["import", "x", "--move", "--watch"], 2, "cannot be used with --watch"),
      (["import", "takeout", "x", "--move"], 2, "--move"), (["import", "icloud", "x", "--move"], 2, "--move"),
      (["import", "text.txt", "--move", "--as", "phone"], 1, "may not remove originals"),
      (["import", "takeout", "x", "--partner-shared", "maybe"], 2, "got 'maybe'"),
      (["import", "takeout", "text.txt"], 1, "neither a folder nor an archive"),
    ])
  func refused(words: [String], status: Int, sentence: String) throws {
    let sandbox = try Sandbox()
    let text = sandbox.folder.appending(path: "text.txt")
    try Data("no archive".utf8).write(to: text)
    let result = try sandbox.run(words.map { $0 == "text.txt" ? text.path : $0 })
    #expect(result.status == Int32(status) && result.errors.contains(sentence), "\(result.errors)")
  }
}
