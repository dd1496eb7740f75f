import Foundation
import TestSupport
import Testing

@Suite("Output that is not read, or read slowly")
struct ClosedOutputTests {
  @Test("output and messages wait for the reader of a pipe that does not block, and arrive whole")
  func notBlocking() async throws {
    let sandbox = try Sandbox(LibraryCopy.of400.get())
    let listed = try sandbox.run(["ls", "--json"])
    let output = try NarrowPipe(blocks: false)
    let list = try ChildRun(
      programURL, ["ls", "--json", "--library", sandbox.library], directory: sandbox.folder,
      output: .descriptor(output.writeEnd))
    try await waitUntil("the pipe is full") { output.isFull || !list.isRunning }
    #expect(try output.rest() == listed.output)
    #expect(list.end() == .status(0))
    let helped = try sandbox.run([])
    try #require(helped.errors.utf8.count > 4096)
    let errors = try NarrowPipe(blocks: false)
    let help = try ChildRun(programURL, [], directory: sandbox.folder, errors: .descriptor(errors.writeEnd))
    try await waitUntil("the pipe is full") { errors.isFull || !help.isRunning }
    #expect(try errors.rest() == helped.errors)
    #expect(help.end() == .status(2))
  }

  /// The status and the messages of a command whose output has no reader.
  private static func closed(_ sandbox: Sandbox, _ words: [String]) throws -> (status: ChildRun.End, errors: String) {
    let running = try Running(sandbox, words, closesOutput: true)
    running.endInput()
    let end = running.child.end()
    return (end, try running.complaint())
  }

  /// The path of an asset's file.
  private static func path(_ sandbox: Sandbox, _ asset: String) throws -> String {
    try #require(try sandbox.run(["resource", "list", asset, "--json"]).objects().first?["path"] as? String)
  }

  @Test("a check reports its status without a reader too, whether it found damage or not")
  func checks() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(3)
    for words in [["verify", "--content"], ["resource", "check", "--hash"], ["resource", "check", "--json"]] {
      #expect(try Self.closed(sandbox, words) == (.status(0), ""), "\(words)")
    }
    let altered = try Self.path(sandbox, assets[0])
    chmod(altered, 0o644)
    try Data("pictura 0".utf8).write(to: URL(filePath: altered))
    try #require(unlink(try Self.path(sandbox, assets[1])) == 0)
    for words in [
      ["verify", "--content"], ["verify", "--content", "--json"], ["resource", "check"],
      ["resource", "check", "--json"],
    ] {
      #expect(try Self.closed(sandbox, words) == (.status(1), ""), "\(words)")
    }
  }

  @Test("a check whose output is closed before it has examined everything fails, and says so")
  func unfinishedCheck() throws {
    let sandbox = try Sandbox(LibraryCopy.of400.get())
    let (end, errors) = try Self.closed(sandbox, ["resource", "check", "--json"])
    #expect(end == .status(1) && errors.contains("not every file was checked"), "\(errors)")
    #expect(try sandbox.run(["resource", "check", "--json"]).status == 0)
  }

  @Test("a failure in an export, in reading metadata or in a list of identifiers sets the status without a reader too")
  func failures() throws {
    let copy = try LibraryCopy.of400.get()
    let (sandbox, assets) = (try Sandbox(copy), copy.assets)
    try #require(unlink(try Self.path(sandbox, assets[399])) == 0)
    let unknown = UUID().uuidString
    for words in [
      ["export-files", "out", "--json"], ["metadata", "read", "--json"], ["metadata", "read", assets[399]],
      ["identifier", "cloud"] + assets + [unknown],
    ] {
      let (end, errors) = try Self.closed(sandbox, words)
      #expect(end == .status(1), "\(words.prefix(3)): \(errors)")
    }
    let exported = try FileManager.default.subpathsOfDirectory(atPath: sandbox.folder.appending(path: "out").path)
    #expect(exported.count { $0.hasSuffix(".jpg") } == 399, "The export goes on without a reader.")
  }

  @Test("sidecars that could not be written set the status without a reader too")
  func sidecars() throws {
    let sandbox = try Sandbox()
    let photos = sandbox.folder.appending(path: "photos")
    try FileManager.default.createDirectory(at: photos, withIntermediateDirectories: true)
    let photo = photos.appending(path: "a.jpg")
    try TinyMedia.jpeg(.init(comment: "a")).write(to: photo)
    #expect(try sandbox.run(["import", "--reference", photos.path]).status == 0)
    let asset = try sandbox.identifiers()[0]
    #expect(try sandbox.run(["caption", asset, "Sea"]).status == 0)
    try FileManager.default.removeItem(at: photo)
    #expect(try sandbox.run(["sidecars", "write"]).status == 1)
    #expect(try Self.closed(sandbox, ["sidecars", "write"]) == (.status(1), ""))
  }

  @Test("a failure after the first lines is reported on standard error, whether the lines are read or not")
  func lateFailure() throws {
    let sandbox = try Sandbox()
    _ = try sandbox.makeAssets(1)
    // The last record is damaged where it names the process that wrote it: a text of no length.
    let information = try sandbox.run(["export"]).objects().last?["information"] as? [String: Any]
    let process = Data(try #require(information?["process"] as? String).utf8)
    let store = URL(filePath: sandbox.library + "/store/data.mdb")
    var bytes = try Data(contentsOf: store)
    while let place = bytes.range(of: [0x60 + UInt8(process.count)] + process) { bytes[place.lowerBound] = 0x7F }
    try bytes.write(to: store)
    let read = try sandbox.run(["export"])
    #expect(read.status == 1 && read.lines.count > 0 && !read.errors.isEmpty, "\(read)")
    #expect(try Self.closed(sandbox, ["export"]) == (.status(1), read.errors))
  }
}
