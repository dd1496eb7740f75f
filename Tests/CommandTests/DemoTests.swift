import Foundation
import TestSupport
import Testing

@Suite("Demonstration and import")
struct DemoTests {
  @Test("the same seed gives the same library, another seed another")
  func seeds() throws {
    func history(_ seed: String, isVerified: Bool = Dose.isFull) throws -> String {
      let sandbox = try Sandbox(makesLibrary: false)
      let result = try sandbox.run(["demo", "--library", sandbox.library, "--seed", seed])
      #expect(result.status == 0)
      #expect(result.output.contains("Checked: each of the 13 changes"))
      // The usual dose verifies one of them.
      if isVerified { #expect(try sandbox.run(["verify", "--content"]).status == 0) }
      return try sandbox.run(["log", "--json"]).output
    }
    let first = try history("7", isVerified: true)
    #expect(try history("7") == first)
    #expect(try history("8") != first)
  }

  @Test("a demonstration with a folder of one photo, and with an empty folder")
  func smallFolders() throws {
    let sandbox = try Sandbox(makesLibrary: false)
    let folder = try sandbox.pictures(1)
    try Data("no picture".utf8).write(to: URL(filePath: folder + "/notes.txt"))
    let one = try sandbox.run(["demo", folder])
    #expect(one.status == 0)
    #expect(one.output.contains("1 asset added") && one.output.contains("Checked: "))
    #expect(one.output.contains("notes.txt") && !one.output.contains("Every file's outcome"))
    let kept = try sandbox.run(["demo", folder, "--library", sandbox.library])
    let report = try #require(kept.lines.first { $0.contains("Every file's outcome: ") }?.split(separator: ": ").last)
    #expect(FileManager.default.fileExists(atPath: String(report)))
    try FileManager.default.removeItem(atPath: folder + "/0.gif")
    let none = try sandbox.run(["demo", folder])
    #expect(none.status == 0)
    #expect(none.output.contains("nothing to show"))
  }

  @Test("the temporary library of a demonstration is private to its user, and is removed")
  func temporaryFolder() throws {
    let sandbox = try Sandbox(makesLibrary: false)
    let temporary = sandbox.folder.appending(path: "temporary")
    try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
    func folders() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: temporary.path).filter { $0.hasPrefix("photoledger-demo-") }
    }
    let running = try Running(sandbox, ["demo", sandbox.pictures(1)], ["TMPDIR": temporary.path])
    running.endInput()
    var modes: Set<UInt32> = []
    while running.child.isRunning {
      for folder in try folders() {
        var status = stat()
        if stat("\(temporary.path)/\(folder)", &status) == 0 { modes.insert(status.st_mode & 0o777) }
      }
    }
    let result = try running.finish()
    #expect(result.status == 0 && result.output.contains("The library was temporary"), "\(result)")
    #expect(modes == [0o700])
    #expect(try folders().isEmpty)
    let nowhere = try sandbox.run(["demo"], ["TMPDIR": temporary.path + "/none"])
    #expect(nowhere.status == 1 && nowhere.errors.contains("photoledger-demo-"), "\(nowhere)")
  }

  @Test("the line that names the library of a demonstration is valid shell input, whatever the path")
  func printedPath() throws {
    let sandbox = try Sandbox(makesLibrary: false)
    let library = sandbox.folder.appending(path: "it's a demo").path
    let result = try sandbox.run(["demo", sandbox.pictures(1), "--library", library])
    let line = try #require(result.lines.first { $0.contains("export PHOTOLEDGER_LIBRARY=") }, "\(result)")
    let shown = try ChildRun.of(["sh", "-c", line + #"; printf %s "$PHOTOLEDGER_LIBRARY""#])
    #expect(shown == (library, .status(0)))
  }

  @Test("an import reports what it did, and the second one adds nothing", arguments: [false, true])
  func imports(isByReference: Bool) throws {
    let sandbox = try Sandbox()
    let folder = try sandbox.pictures(3)
    try Data("no picture".utf8).write(to: URL(filePath: folder + "/notes.txt"))
    #expect(try sandbox.run(["client", "authorize", "com.example.scanner"]).status == 0)
    let words = ["import", folder, "--json", "--as", "com.example.scanner"] + (isByReference ? ["--reference"] : [])
    let first = try #require(try sandbox.run(words).objects().first)
    #expect(first["assetsAdded"] as? Int == 3)
    #expect((first["skipped"] as? [String: Int])?["notMedia"] == 1)
    let second = try #require(try sandbox.run(words).objects().first)
    #expect(second["assetsAdded"] as? Int == 0)
    #expect(second["duplicates"] as? Int == 3)
    let shown = try #require(try sandbox.identifiers().first)
    let path = isByReference ? folder : sandbox.library + "/resources"
    #expect(try sandbox.run(["show", shown]).output.contains(path))
    let last = try #require(try sandbox.run(["log", "--json", "--client", "com.example.scanner"]).objects().last)
    #expect((last["cause"] as? String)?.hasPrefix("import ") == true)
  }

  @Test("a folder that does not exist is named in the error")
  func missingFolder() throws {
    let sandbox = try Sandbox()
    let result = try sandbox.run(["import", sandbox.folder.path + "/nowhere"])
    #expect(result.status == 1)
    #expect(result.errors.contains("/nowhere"))
    #expect(try sandbox.run(["log", "--json"]).lines.count == 1)
  }
}
