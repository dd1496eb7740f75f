import Foundation
import LMDB
import StoreTestSupport
import TestSupport
import Testing

// What stands in the way of opening a library, or does not.

@Suite("Opening from the command line")
struct OpeningTests {
  @Test("a log without its first event is reported as such, by `verify --json` too")
  func firstEvent() throws {
    let sandbox = try Sandbox()
    _ = try sandbox.makeAssets(2)
    let environment = try Environment.store(ofLibrary: sandbox.library)
    let events = try environment.database("events", integerKeys: true, create: false)
    try environment.write { t in _ = try t.delete(1, in: events) }
    try environment.close()
    let refused = try sandbox.run(["ls"])
    #expect(refused.status == 1 && refused.errors.contains("lacks event 1"), "\(refused.errors)")
    #expect(!refused.errors.contains("without a library"))
    let found = try sandbox.run(["verify", "--json"])
    #expect(found.status == 1, "\(found.errors)")
    let object = try #require(found.objects().first)
    let defect = try #require(object["defect"] as? [String: Any])
    #expect(object["isSound"] as? Bool == false && defect["place"] as? String == "event 1")
    #expect((defect["description"] as? String)?.contains("missing") == true)
    #expect(try sandbox.run(["verify"]).output.contains("NOT SOUND at event 1"))
  }

  @Test("a file in place of the notification pipe is rejected with what to do", arguments: [false, true])
  func changes(isFolder: Bool) throws {
    let sandbox = try Sandbox()
    let pipe = sandbox.library + "/store/changes"
    try FileManager.default.removeItem(atPath: pipe)
    if isFolder {
      try FileManager.default.createDirectory(atPath: pipe, withIntermediateDirectories: false)
    } else {
      try Data("x".utf8).write(to: URL(filePath: pipe))
    }
    let result = try sandbox.run(["ls"])
    #expect(result.status == 1 && result.errors.contains(pipe), "\(result.errors)")
    #expect(result.errors.contains("remove it"))
    try FileManager.default.removeItem(atPath: pipe)
    #expect(try sandbox.run(["ls"]).status == 0)
  }

  @Test(
    "a library on a read-only mount is listed, verified, proved and exported, and rejects changes with what to do",
    .mountsMemory)
  func readOnly() throws {
    let sandbox = try Sandbox(makesLibrary: false)
    let mounted = sandbox.folder.appending(path: "library").path
    try FileManager.default.createDirectory(atPath: mounted, withIntermediateDirectories: false)
    try #require(mount("tmpfs", mounted, "tmpfs", 0, "size=64m") == 0)
    defer { umount2(mounted, Int32(MNT_DETACH)) }
    #expect(try sandbox.run(["init"]).status == 0)
    let asset = try sandbox.makeAssets(3)[0]
    for name in ["lock.mdb", "changes"] { try FileManager.default.removeItem(atPath: mounted + "/store/" + name) }
    #expect(mount("tmpfs", mounted, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0)
    let backup = sandbox.folder.appending(path: "backup").path
    for words in [
      ["ls", "--json"], ["log", "--json"], ["show", asset], ["stat"], ["history"], ["verify", "--content"],
      ["checkpoint"], ["prove", "inclusion", "2"], ["resource", "check", "--hash"], ["export"], ["backup", backup],
    ] {
      let result = try sandbox.run(words)
      #expect(result.status == 0, "\(words): \(result.errors) \(result.output.suffix(300))")
    }
    for words in [["favorite", asset], ["album", "create", "x"], ["rebuild"], ["snapshots", "make"]] {
      let result = try sandbox.run(words)
      #expect(result.status == 1 && !result.errors.contains("(SIG"), "\(words): \(result.errors)")
    }
    #expect(try sandbox.run(["favorite", asset]).errors.contains("mounted read-only"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: mounted + "/store") == ["data.mdb"])
  }

  /// Whether strace is installed and may trace: some containers forbid it.
  private static let canTrace =
    SamplePhotos.areInstalled("strace")
    && (try? ChildRun.of(["strace", "-qq", "-e", "trace=none", "true"]))?.end == .status(0)

  @Test(
    "`init` makes the names of the library, its store and its data durable, also those left by a killed one",
    .enabled(if: canTrace, "Needs strace, which shows what is synced."))
  func durableNames() throws {
    func synced(_ library: String) throws -> [String] {
      let run = try ChildRun.of(
        ["strace", "-f", "-qq", "-y", "-e", "trace=fsync,fdatasync", programURL.path, "init", "--library", library])
      #expect(run.end == .status(0), "\(run.text)")
      return run.text.split(separator: "\n").compactMap { line in
        line.firstMatch(of: #/f(?:data)?sync\(\d+<([^>]*)>\)\s*= 0/#).map { String($0.output.1) }
      }
    }
    let sandbox = try Sandbox(makesLibrary: false)
    let root = sandbox.folder.resolvingSymlinksInPath().path
    let fresh = try synced(root + "/a/library")
    for folder in ["", "/a", "/a/library", "/a/library/store"] {
      #expect(fresh.contains(root + folder), "\(folder): \(fresh)")
    }
    // As a process leaves it that is killed after LMDB made the file.
    let killed = root + "/killed"
    try FileManager.default.createDirectory(atPath: killed + "/store", withIntermediateDirectories: true)
    let environment = try Environment.open(path: killed + "/store")
    try environment.close()
    let finished = try synced(killed)
    for folder in ["", "/killed", "/killed/store"] {
      #expect(finished.contains(root + folder), "\(folder): \(finished)")
    }
  }
}
