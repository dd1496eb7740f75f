import Foundation
import TestSupport
import Testing

@testable import PhotoLedgerCommand

@Suite("Watching folders from the shell", .blocking)
struct ImportWatchTests {
  @Test("files that come are imported, moved ones followed, and a signal ends it with status 0")
  func watch() throws {
    let sandbox = try Sandbox(makesLibrary: false)
    let photos = sandbox.folder.appending(path: "photos")
    try FileManager.default.createDirectory(at: photos, withIntermediateDirectories: true)
    try TinyMedia.jpeg(.init(comment: "a")).write(to: photos.appending(path: "a.jpg"))
    let watch = try Running(sandbox, ["import", "--reference", "--watch", photos.path, "--json"])
    let first = try next("imported", of: watch)
    #expect(first["assetsAdded"] as? Int == 1)
    #expect(first["cause"] as? String == "watch \(first["run"] as? String ?? "")")
    try TinyMedia.jpeg(.init(comment: "b")).write(to: photos.appending(path: "b.jpg"))
    #expect(try next("imported", of: watch)["assetsAdded"] as? Int == 1)
    #expect(rename(photos.path + "/a.jpg", photos.path + "/c.jpg") == 0)
    let moved = try line("moved", of: watch)
    let move = try #require((moved["files"] as? [[String: Any]])?.first)
    #expect((move["from"] as? String)?.hasSuffix("/a.jpg") == true)
    #expect((move["to"] as? String)?.hasSuffix("/c.jpg") == true)
    #expect(unlink(photos.path + "/b.jpg") == 0)
    #expect((try line("missing", of: watch)["files"] as? [String])?.count == 1)
    let end = try watch.finish(interrupting: true)
    #expect(end.status == 0, "\(end.errors)")
    #expect(try sandbox.identifiers().count == 2)
    #expect(try sandbox.run(["resource", "check"]).status == 1)
  }

  private func line(_ event: String, of watch: Running) throws -> [String: Any] {
    while true {
      let line = try jsonObject(watch.line())
      if line["event"] as? String == event { return line }
    }
  }

  private func next(_ event: String, of watch: Running) throws -> [String: Any] {
    try #require(line(event, of: watch)["summary"] as? [String: Any])
  }

  @Test("many missing files stop it, and it says what to run")
  func manyMissing() throws {
    let sandbox = try Sandbox()
    let photos = sandbox.folder.appending(path: "photos")
    try FileManager.default.createDirectory(at: photos, withIntermediateDirectories: true)
    for index in 0..<15 {
      try TinyMedia.jpeg(.init(comment: "\(index)")).write(to: photos.appending(path: "\(index).jpg"))
    }
    let first = try Running(sandbox, ["import", "--reference", "--watch", photos.path, "--json"])
    #expect(try next("imported", of: first)["assetsAdded"] as? Int == 15)
    for index in 0..<12 { #expect(unlink("\(photos.path)/\(index).jpg") == 0) }
    let end = try first.finish()
    #expect(end.status == 1)
    #expect(end.errors.contains("12 of 15 files") && end.errors.contains("--accept-missing"), "\(end.errors)")
    #expect(try sandbox.identifiers().count == 15)
    let second = try Running(sandbox, ["import", "--reference", "--watch", photos.path, "--json", "--accept-missing"])
    #expect((try line("missing", of: second)["files"] as? [String])?.count == 12)
    #expect(try second.finish(interrupting: true).status == 0)
  }

  @Test(
    "a watch that cannot run as requested says why",
    arguments: [
      (["--watch", "--dry-run", "."], 2, "cannot be used with --dry-run"),
      (["--watch", "--folder-albums", "."], 2, "whole folders"),
      (["--accept-missing", "."], 2, "needs --watch"), (["--watch", "nowhere"], 1, "nowhere cannot be imported"),
      (["--watch", "/etc/hostname"], 1, "is not a folder"),
    ])
  func refused(words: [String], status: Int, sentence: String) throws {
    let sandbox = try Sandbox()
    let result = try sandbox.run(["import", "--reference"] + words)
    #expect(result.status == Int32(status) && result.errors.contains(sentence), "\(result.errors)")
  }
}
