import Foundation
import TestSupport
import Testing

@Suite("Probing files on the command line")
struct ProbeCommandTests {
  private static func creation(_ data: Data, _ more: String = "") -> String {
    let bytes = data.base64EncodedString()
    return #"{"changes":[{"op":"asset.create","mediaType":"image","#
      + #""resources":[{"type":"photo","data":"\#(bytes)"}]\#(more)}]}"#
  }

  /// A program in exiftool's place, alone on a search path with the system's programs behind it.
  private static func path(_ sandbox: Sandbox, _ script: String) throws -> [String: String] {
    let folder = sandbox.folder.appending(path: "bin")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let text = folder.appending(path: "text")
    try Data("#!/bin/bash\n\(script)\n".utf8).write(to: text)
    // Written by another process: a program that somebody has open for writing cannot be started.
    let place = folder.appending(path: "exiftool").path
    let install = try ChildRun(
      URL(filePath: "/usr/bin/install"), ["-m", "755", text.path, place], environment: [:], input: .pipe)
    #expect(install.end() == .status(0))
    return ["PATH": "\(folder.path):/usr/bin:/bin", "PHOTOLEDGER_PROBE": "exiftool"]
  }

  @Test("apply records the probed properties, keeps those of the line, and rejects files that are not photos (CB-06)")
  func apply() throws {
    let sandbox = try Sandbox()
    var photo = TinyMedia.Photo()
    (photo.orientation, photo.offset) = (6, "+02:00")
    let lines = [
      Self.creation(TinyMedia.jpeg(photo)), Self.creation(TinyMedia.jpeg(photo), #","pixelWidth":40,"pixelHeight":30"#),
      Self.creation(Data("text".utf8)), Self.creation(Data()), Self.creation(TinyMedia.movie()),
    ]
    let result = try sandbox.run(
      ["apply"], input: lines.joined(separator: "\n") + "\n", ["PHOTOLEDGER_PROBE": "exiftool"])
    let answers = try result.objects()
    #expect(answers.map { ($0["error"] as? [String: Any])?["code"] as? Int } == [nil, nil, 3302, 3302, 3302])
    #expect(result.status == 1 && result.errors.isEmpty)
    let shown = try sandbox.run(["ls", "--json"]).objects()
    #expect(shown.map { $0["pixelWidth"] as? Int } == [6, 40] && shown.map { $0["pixelHeight"] as? Int } == [8, 30])
    #expect(shown[0]["creationDate"] as? String == "2021-02-03T04:05:06+02:00")
  }

  @Test("without exiftool it says once what follows, and takes types from file names")
  func missing() throws {
    let sandbox = try Sandbox()
    let lines = [Self.creation(Data("a".utf8)), Self.creation(Data("b".utf8))]
    let nowhere = ["PATH": sandbox.folder.path, "PHOTOLEDGER_PROBE": "exiftool"]
    let result = try sandbox.run(["apply"], input: lines.joined(separator: "\n") + "\n", nowhere)
    #expect(result.status == 0)
    #expect(result.errors.components(separatedBy: "exiftool is not installed").count == 2)
    #expect(result.errors.contains("without pixel size") && result.errors.contains("libimage-exiftool-perl"))
    #expect(try sandbox.run(["album", "create", "Sea"], input: "", nowhere).errors.isEmpty, "Nothing needs it.")
  }

  @Test("an invalid value for the probe is an error that names it")
  func wrongWord() throws {
    let result = try Sandbox().run(["ls"], input: "", ["PHOTOLEDGER_PROBE": "file"])
    #expect(result.status == 2 && result.errors.contains("got 'file'"))
  }

  /// A program that hangs under its own name. It may write no file and start no process: exiftool runs confined.
  private static let hanging = "exec -a \"$0\" sleep 1000"

  /// Waits for a process of the invented exiftool; a program that ends before it has started one says why.
  ///
  /// The caller runs `onBlockingThreads`: exiftool is ended after its time per file, so a test that got no thread of
  /// the shared pool for that long would look for a process that has come and gone.
  /// - Parameter words: what its command line begins with, the program's path as `$0`.
  private nonisolated(nonsending) func waitForExifTool(
    _ sandbox: Sandbox, of program: Running, _ words: [String]
  ) async throws {
    let place = sandbox.folder.appending(path: "bin/exiftool").path
    let start = Array(words.map { ($0 == "$0" ? place : $0) + "\0" }.joined().utf8)
    try await waitUntil("exiftool runs") {
      guard program.child.isRunning else {
        let result = try program.finish()
        throw TimeIsUp(description: "No exiftool ran: \(result.end) \(result.errors) \(result.output)")
      }
      return try FileManager.default.contentsOfDirectory(atPath: "/proc").contains { name in
        // Processes end while they are looked at.
        name.first?.isNumber == true
          && FileManager.default.contents(atPath: "/proc/\(name)/cmdline")?.starts(with: start) == true
      }
    }
  }

  @Test("one signal ends an apply and an import while exiftool hangs", .timeLimit(.minutes(30)))
  func signals() async throws {
    try await onBlockingThreads { try await signalEnds() }
  }

  private nonisolated(nonsending) func signalEnds() async throws {
    let sandbox = try Sandbox()
    let variables = try Self.path(sandbox, Self.hanging)
    let apply = try Running(sandbox, ["apply"], variables)
    try apply.send(Self.creation(TinyMedia.jpeg()) + "\n")
    try await waitForExifTool(sandbox, of: apply, ["$0", "1000"])
    let stopped = try apply.finish(interrupting: true)
    #expect(stopped.status == 1 && stopped.errors.contains("Stopped after line 1"))
    #expect(try stopped.objects().first?["error"] != nil)
    try FileManager.default.removeItem(at: sandbox.folder.appending(path: "bin"))
    let pictures = sandbox.folder.appending(path: "pictures")
    try FileManager.default.createDirectory(at: pictures, withIntermediateDirectories: true)
    try TinyMedia.jpeg().write(to: pictures.appending(path: "a.jpg"))
    let again = try Self.path(sandbox, Self.hanging)
    let importing = try Running(sandbox, ["import", pictures.path], again)
    try await waitForExifTool(sandbox, of: importing, ["$0", "1000"])
    let result = try importing.finish(interrupting: true)
    #expect(result.status == 1 && result.errors.contains("Stopped with 1 file left"))
    let outcome = try #require(result.lines.first { $0.contains("outcome: ") }?.components(separatedBy: ": ").last)
    #expect(FileManager.default.fileExists(atPath: outcome), "\(result)")
    // A library that was created for the import is removed again, and so is the report in it.
    let new = sandbox.folder.appending(path: "new").path
    for options in [[], ["--json"]] {
      let first = try Running(sandbox, ["import", pictures.path, "--library", new] + options, again)
      try await waitForExifTool(sandbox, of: first, ["$0", "1000"])
      let result = try first.finish(interrupting: true)
      #expect(result.status == 1 && result.errors.contains("was removed again"), "\(result)")
      #expect(!FileManager.default.fileExists(atPath: new) && !result.output.contains(new), "\(result)")
      if !options.isEmpty { #expect(try result.objects().first?["reportFile"] as? String == "", "\(result)") }
    }
  }

  @Test("an import that was stopped names the cause with which it continues, and one undo reverts all of it")
  func continued() async throws {
    try await onBlockingThreads { try await importIsContinued() }
  }

  private nonisolated(nonsending) func importIsContinued() async throws {
    let sandbox = try Sandbox()
    let pictures = sandbox.folder.appending(path: "pictures")
    try FileManager.default.createDirectory(at: pictures, withIntermediateDirectories: true)
    // A batch, and one more.
    for name in (1_000..<1_200).map({ "a\($0)" }) + ["z"] {
      try TinyMedia.jpeg(TinyMedia.Photo(comment: name)).write(to: pictures.appending(path: "\(name).jpg"))
    }
    let script = """
      while read -r l; do case $l in *.jpg) file=$l ;; -execute*)
        case $file in */z.jpg) while read -r l; do :; done; exit ;; esac
        echo '[{"File:MIMEType":"image/jpeg","File:FileType":"JPEG"}]'
        echo "{ready${l#-execute}}";; esac; done
      """
    let importing = try Running(sandbox, ["import", pictures.path, "--json"], try Self.path(sandbox, script))
    // On a busy machine a batch ends by its time, and has fewer files.
    try await waitUntil("a batch is recorded") {
      try !importing.child.isRunning || !sandbox.identifiers().isEmpty
    }
    let stopped = try importing.finish(interrupting: true)
    let cause = try #require(try stopped.objects().last?["cause"] as? String, "\(stopped.errors)")
    #expect(stopped.status == 1 && stopped.errors.contains("With --cause '\(cause)' it continues"), "\(stopped.errors)")
    let rest = try sandbox.run(["import", pictures.path, "--cause", cause])
    #expect(try rest.status == 0 && sandbox.identifiers().count == 201, "\(rest.errors)")
    #expect(try sandbox.run(["undo", "--cause", cause]).status == 0)
    #expect(try sandbox.identifiers().isEmpty)
  }

  /// Two photos in a folder.
  private static func pictures(in sandbox: Sandbox) throws -> URL {
    let pictures = sandbox.folder.appending(path: "pictures")
    try FileManager.default.createDirectory(at: pictures, withIntermediateDirectories: true)
    for name in ["a", "b"] {
      try TinyMedia.jpeg(TinyMedia.Photo(comment: name)).write(to: pictures.appending(path: "\(name).jpg"))
    }
    return pictures
  }

  /// A program that waits for a gate, and then says of each file that is there that it is a JPEG.
  private static func gated(_ sandbox: Sandbox) -> String {
    """
    while [ ! -e '\(sandbox.folder.path)/gate' ]; do :; done
    while read -r l; do case $l in *.jpg) file=$l ;; -execute*)
      if [ -e "$file" ]; then echo '[{"File:MIMEType":"image/jpeg","File:FileType":"JPEG"}]'; fi
      echo "{ready${l#-execute}}";; esac; done
    """
  }

  private static func openGate(of sandbox: Sandbox) {
    #expect(FileManager.default.createFile(atPath: sandbox.folder.path + "/gate", contents: nil))
  }

  /// Imports pictures, and moves the library meanwhile.
  /// - Parameter makingAnother: whether `init` makes a library at the old path.
  /// - Returns: how the import ended, where its library is, and what was at the old path before the import went on.
  private nonisolated(nonsending) func importing(
    _ options: [String], in sandbox: Sandbox, makingAnother: Bool
  ) async throws -> (result: RunResult, new: String, files: [String]) {
    let pictures = try Self.pictures(in: sandbox)
    let variables = try Self.path(sandbox, Self.gated(sandbox))
    let importing = try Running(sandbox, ["import", pictures.path] + options, variables)
    try await waitForExifTool(sandbox, of: importing, ["/bin/bash", "$0"])
    let (old, new) = (sandbox.library, sandbox.library + " elsewhere")
    try #require(rename(old, new) == 0)
    if makingAnother { #expect(try sandbox.run(["init"]).status == 0) }
    let files = makingAnother ? try FileManager.default.subpathsOfDirectory(atPath: old).sorted() : []
    Self.openGate(of: sandbox)
    return (try importing.finish(), new, files)
  }

  @Test(
    "an import whose library is moved follows it, report included, and not into one that `init` creates",
    arguments: [true, false])
  func movedLibrary(isThereBefore: Bool) async throws {
    try await onBlockingThreads { try await importWhileLibraryIsMoved(isThereBefore) }
  }

  private nonisolated(nonsending) func importWhileLibraryIsMoved(_ isThereBefore: Bool) async throws {
    let sandbox = try Sandbox(makesLibrary: isThereBefore)
    let (result, new, files) = try await importing(["--json"], in: sandbox, makingAnother: true)
    let old = sandbox.library
    let summary = try #require(try result.objects().first, "\(result.errors)")
    #expect(result.status == 0 && summary["assetsAdded"] as? Int == 2, "\(result.errors)")
    let report = try #require(summary["reportFile"] as? String)
    #expect(report.hasPrefix(new + "/imports/") && FileManager.default.fileExists(atPath: report), "\(report)")
    #expect(try FileManager.default.subpathsOfDirectory(atPath: old).sorted() == files)
    #expect(try sandbox.run(["ls", "--json", "--library", new]).lines.count == 2)
    #expect(try sandbox.run(["verify", "--content", "--library", new]).status == 0)
    #expect(try sandbox.run(["ls", "--json"]).output.isEmpty)
  }

  @Test(
    "a dry run that created a library removes none when that was moved, and does not claim to",
    arguments: [true, false])
  func movedDryRun(isOtherMade: Bool) async throws {
    try await onBlockingThreads { try await dryRunWhileLibraryIsMoved(isOtherMade) }
  }

  private nonisolated(nonsending) func dryRunWhileLibraryIsMoved(_ isOtherMade: Bool) async throws {
    let sandbox = try Sandbox(makesLibrary: false)
    let (result, new, _) = try await importing(["--dry-run"], in: sandbox, makingAnother: isOtherMade)
    #expect(result.status == 0 && result.output.contains("2 assets would be added"), "\(result.errors)")
    #expect(!result.errors.contains("removed"), "\(result.errors)")
    #expect(try sandbox.run(["stat", "--library", new]).status == 0)
    #expect(FileManager.default.fileExists(atPath: sandbox.library) == isOtherMade)
    if isOtherMade { #expect(try sandbox.run(["stat"]).status == 0) }
  }

  @Test("an import from which files vanish counts them and ends with status 1")
  func vanished() async throws {
    try await onBlockingThreads { try await importWhileFilesVanish() }
  }

  private nonisolated(nonsending) func importWhileFilesVanish() async throws {
    let sandbox = try Sandbox()
    let pictures = try Self.pictures(in: sandbox)
    let variables = try Self.path(sandbox, Self.gated(sandbox))
    let importing = try Running(sandbox, ["import", pictures.path, "--json"], variables)
    try await waitForExifTool(sandbox, of: importing, ["/bin/bash", "$0"])
    try FileManager.default.removeItem(at: pictures.appending(path: "b.jpg"))
    Self.openGate(of: sandbox)
    let result = try importing.finish()
    let summary = try #require(try result.objects().first)
    #expect(summary["assetsAdded"] as? Int == 1 && (summary["skipped"] as? [String: Int])?["vanished"] == 1)
    #expect(result.status == 1 && result.errors.contains("1 file could not be read"))
    // The next import of what is there is a success.
    #expect(try sandbox.run(["import", pictures.path]).status == 0)
  }
}
