import Foundation
import TestSupport
import Testing

@Suite("Maintenance and erasure on the command line")
struct MaintenanceCommandTests {
  private static func chain(_ sandbox: Sandbox, _ library: String? = nil) throws -> String {
    let words = ["stat", "--json"] + (library.map { ["--library", $0] } ?? [])
    return try #require(try sandbox.run(words).objects().first?["chain"] as? String)
  }

  private static func path(_ sandbox: Sandbox, _ name: String) -> String { sandbox.folder.appending(path: name).path }

  private static func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  @Test("a backup restores to a library with the same chain and the same assets")
  func backup() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(3)
    let (backup, restored) = (Self.path(sandbox, "backup"), Self.path(sandbox, "restored"))
    let made = try sandbox.run(["backup", backup, "--json"]).objects()
    let chain = try Self.chain(sandbox)
    #expect(made.first?["chain"] as? String == chain && made.first?["fileCount"] as? Int == 3)
    let again = try sandbox.run(["restore-backup", backup, "--to", restored, "--resources", "shared", "--json"])
    #expect(again.status == 0 && again.errors.isEmpty, "\(again.errors)")
    #expect(try again.objects().first?["chain"] as? String == chain)
    #expect(try Self.chain(sandbox, restored) == chain)
    #expect(try sandbox.identifiers(["--library", restored]).sorted() == assets.sorted())
    #expect(try sandbox.run(["verify", "--content", "--library", restored]).status == 0)
    let twice = try sandbox.run(["backup", backup])
    #expect(twice.status == 1 && twice.errors.contains("already exists"))
    let other = try sandbox.run(["backup", Self.path(sandbox, "b"), "--as", "com.example.app"])
    #expect(other.status == 1 && other.errors.contains("only the library's owner"))
  }

  @Test("a backup of a library with referenced originals counts them, since it does not hold them")
  func referencedFiles() throws {
    let sandbox = try Sandbox()
    _ = try sandbox.makeAssets(1)
    let photos = sandbox.folder.appending(path: "photos")
    try FileManager.default.createDirectory(at: photos, withIntermediateDirectories: true)
    for name in ["a", "b"] { try TinyMedia.jpeg(.init(comment: name)).write(to: photos.appending(path: "\(name).jpg")) }
    let imported = try sandbox.run(["import", "--reference", photos.path])
    #expect(imported.status == 0, "\(imported.errors)")
    let made = try sandbox.run(["backup", Self.path(sandbox, "first"), "--json"]).objects()
    #expect(made.first?["referencedFileCount"] as? Int == 2 && made.first?["fileCount"] as? Int == 1)
    let text = try sandbox.run(["backup", Self.path(sandbox, "second")])
    #expect(text.status == 0 && text.output.contains("2 referenced files not copied"), "\(text.output)")
  }

  @Test("a damaged backup is rejected with a sentence and status 1, and nothing is created")
  func damagedBackup() throws {
    let sandbox = try Sandbox()
    _ = try sandbox.makeAssets(40)
    let (backup, restored) = (Self.path(sandbox, "backup"), Self.path(sandbox, "restored"))
    #expect(try sandbox.run(["backup", backup]).status == 0)
    let file = URL(filePath: backup).appending(path: "store/data.mdb")
    let bytes = try Data(contentsOf: file)
    for length in [0, 100, 5000, 40_000] {
      #expect(bytes.count > length)
      try bytes.prefix(length).write(to: file)
      let result = try sandbox.run(["restore-backup", backup, "--to", restored])
      #expect(result.status == 1 && result.errors.hasSuffix(".\n"), "\(length): \(result.errors)")
      #expect(result.output.isEmpty, "\(length): \(result.output)")
      #expect(!Self.isThere(restored), "\(length)")
      // What a child that died left is taken away by the next attempt.
      try bytes.write(to: file)
      #expect(try sandbox.run(["restore-backup", backup, "--to", restored]).status == 0, "\(length)")
      let names = try FileManager.default.contentsOfDirectory(atPath: sandbox.folder.path).sorted()
      #expect(names == ["backup", "library", "restored"], "\(length)")
      try FileManager.default.removeItem(atPath: restored)
    }
  }

  @Test("the log is exported and imported, and exports as the same text; a bad line is named")
  func logLines() throws {
    let sandbox = try Sandbox()
    _ = try sandbox.makeAssets(3)
    let token = try sandbox.run(["history", "token"]).lines[0]
    let exported = try sandbox.run(["export"])
    #expect(exported.status == 0)
    let again = Self.path(sandbox, "again")
    let imported = try sandbox.run(["import-log", "--to", again], input: exported.output)
    #expect(imported.status == 0 && imported.lines == [token], "\(imported.errors)")
    #expect(try sandbox.run(["export", "--library", again]).output == exported.output)
    #expect(try sandbox.run(["favorite", sandbox.identifiers()[0]]).status == 0)
    #expect(try sandbox.run(["export", "--to", token]).output == exported.output)
    let rest = try sandbox.run(["export", "--after", token])
    let appended = try sandbox.run(["import-log", "--append", "--library", again], input: rest.output)
    #expect(appended.status == 0, "\(appended.errors)")
    #expect(try sandbox.run(["export", "--library", again]).output == sandbox.run(["export"]).output)
    let twice = try sandbox.run(["import-log", "--append", "--library", again], input: rest.output)
    #expect(twice.status == 1 && twice.errors.contains("`history token` prints for this library"), "\(twice.errors)")
    var lines = exported.lines
    lines[2] = lines[2].replacing(/"version":[0-9]+/, with: "\"version\":0")
    let file = sandbox.folder.appending(path: "lines")
    try Data(lines.joined(separator: "\n").utf8).write(to: file)
    let refused = try sandbox.run(["import-log", file.path, "--to", Self.path(sandbox, "refused")])
    #expect(refused.status == 1 && refused.errors.contains("Line 3 "), "\(refused.errors)")
    #expect(!Self.isThere(Self.path(sandbox, "refused")))
    let missing = try sandbox.run(["import-log", Self.path(sandbox, "none"), "--to", Self.path(sandbox, "refused")])
    #expect(missing.status == 1 && missing.errors.contains("cannot be read"))
  }

  @Test(
    "a copy of the library is not created inside it, nor in place of the file system's root",
    arguments: ["backup", "fork"])
  func copyInside(command: String) throws {
    let sandbox = try Sandbox()
    let link = Self.path(sandbox, "link")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: sandbox.library + "/store")
    for place in [sandbox.library + "/x", sandbox.library + "/store/x", link + "/x"] {
      let result = try sandbox.run([command, place])
      #expect(result.status == 1 && result.errors.contains("is inside the library"), "\(result.errors)")
      #expect(!Self.isThere(place))
    }
    #expect(try sandbox.run([command, "/"]).errors.contains("/ already exists"))
    #expect(try sandbox.run([command, sandbox.library + "x"]).status == 0)
  }

  /// How a command that works in a child is stopped.
  enum Stop: CaseIterable { case asked, killed }

  @Test(
    "a command that works in a child stops with it: on a request it answers; if it is killed, its child ends too",
    arguments: Stop.allCases)
  func stopped(stop: Stop) throws {
    let sandbox = try Sandbox()
    _ = try sandbox.makeAssets(3)
    let lines = try sandbox.run(["export"]).lines
    let running = try Running(sandbox, ["import-log", "--to", Self.path(sandbox, "again")])
    try running.send(lines[0] + "\n")
    func folders() throws -> Set<String> {
      Set(try FileManager.default.contentsOfDirectory(atPath: sandbox.folder.path))
    }
    try Self.wait(for: "a begun library") { try folders() != ["library"] }
    kill(running.child.identifier, stop == .asked ? SIGTERM : SIGKILL)
    // Both streams are at their end only when the child is gone as well.
    let result = try running.finish()
    #expect(try folders() == ["library"])
    if stop == .asked {
      #expect(result.status == 1 && result.errors.contains("was stopped; nothing was created"), "\(result.errors)")
    } else {
      #expect(result.end == .signal(SIGKILL))
    }
  }

  @Test(
    "a restore and a check that are asked to stop do so, and leave nothing", arguments: ["restore-backup", "verify"])
  func stoppedAtWork(command: String) throws {
    let sandbox = try Sandbox(LibraryCopy.of400.get())
    // Longer work is stopped at more places; the usual dose has work for a good part of a second.
    if Dose.isFull { for _ in 0..<4 { _ = try sandbox.makeAssets(500) } }
    let (backup, restored) = (Self.path(sandbox, "backup"), Self.path(sandbox, "restored"))
    #expect(try sandbox.run(["backup", backup]).status == 0)
    let words = command == "verify" ? [command, "--content"] : [command, backup, "--to", restored]
    var wasStopped = false
    // Again where it had ended before it was asked to stop.
    for _ in 0..<50 where !wasStopped {
      let running = try Running(sandbox, words)
      // The child is there, and has hardly begun.
      try Self.wait(for: "a child") {
        !children(of: running.child.identifier).isEmpty || !running.child.isRunning
      }
      let result = try running.finish(interrupting: running.child.isRunning)
      if result.status == 0 {
        try? FileManager.default.removeItem(atPath: restored)
        continue
      }
      wasStopped = true
      #expect(result.status == 1 && result.errors.contains("was stopped"), "\(result.end) \(result.errors)")
      #expect(result.errors.contains("; nothing ") && result.output.isEmpty)
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: sandbox.folder.path).sorted() == ["backup", "library"])
    }
    #expect(wasStopped, "It was never stopped at its work: the test proves nothing.")
  }

  /// Looks for something to happen every millisecond, for at most a minute.
  private static func wait(for what: String, _ condition: () throws -> Bool) throws {
    for _ in 0..<60_000 {
      if try condition() { return }
      usleep(1000)
    }
    Issue.record("Waited a minute in vain for \(what).")
  }

  @Test("a name that begins with two hyphens reaches the child as a name")
  func hyphens() throws {
    let sandbox = try Sandbox()
    _ = try sandbox.makeAssets(1)
    #expect(try sandbox.run(["backup", "--", "--bk"]).status == 0)
    let restored = try sandbox.run(["restore-backup", "--to", "--r", "--", "--bk"])
    #expect(restored.status == 0, "\(restored.errors)")
    try Data(try sandbox.run(["export"]).output.utf8).write(to: sandbox.folder.appending(path: "--lg"))
    let imported = try sandbox.run(["import-log", "--to", "--i", "--", "--lg"])
    #expect(imported.status == 0, "\(imported.errors)")
    #expect(Self.isThere(Self.path(sandbox, "--r/store")) && Self.isThere(Self.path(sandbox, "--i/store")))
  }

  @Test("an erasure asks first, says what goes, and after a compaction nothing is found")
  func erase() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(3)
    #expect(try sandbox.run(["caption", assets[1], "Zanzibar"]).status == 0)
    let chain = try Self.chain(sandbox)
    let unasked = try sandbox.run(["erase", assets[1]])
    #expect(unasked.status == 2 && unasked.errors.contains("needs --yes"))
    let dry = try sandbox.run(["erase", assets[1], "--dry-run", "--json"])
    #expect(try dry.objects().first?["originalFilenames"] as? [String] == ["IMG_1.jpg"])
    #expect(try dry.objects().first?["eventCount"] as? Int == 2)
    #expect(try Self.chain(sandbox) == chain)
    let erased = try sandbox.run(["erase", assets[1], "--yes", "--json", "--cause", "asked by mail"])
    #expect(erased.status == 0, "\(erased.errors)")
    #expect(try erased.objects().count == 2)
    #expect(try sandbox.run(["log", "--cause", "asked by mail", "--json"]).output.contains("asset.erased"))
    let before = try Self.chain(sandbox)
    let compacted = try sandbox.run(["compact", "--sweep", "--json"])
    #expect(compacted.status == 0, "\(compacted.errors)")
    #expect(try compacted.objects().first?["chain"] as? String == before)
    let store = try Data(contentsOf: URL(filePath: sandbox.library + "/store/data.mdb"))
    for word in ["Zanzibar", "IMG_1.jpg"] { #expect(store.range(of: Data(word.utf8)) == nil, "\(word)") }
    #expect(store.range(of: Data("IMG_2.jpg".utf8)) != nil)
    #expect(try sandbox.run(["verify", "--content"]).status == 0)
    let again = try sandbox.run(["erase", assets[1], "--dry-run"])
    #expect(again.lines.count == 1 && again.output.hasSuffix(": already erased\n"))
    #expect(try sandbox.run(["log"]).output.contains("Edited: an erased asset. Part"))
    let history = try sandbox.run(["history", assets[1]])
    #expect(history.lines.count { $0 == "  erased" } == 3 && !history.output.contains("unknown"), "\(history.output)")
    let undone = try sandbox.run(["undo", "--cause", "asked by mail"])
    #expect(undone.status == 1 && undone.errors.hasSuffix("then pass --on-conflict skip.\n"), "\(undone.errors)")
    let unknown = try sandbox.run(["erase", "00000000-0000-4000-8000-000000000000", "--yes"])
    #expect(unknown.status == 1 && unknown.errors.contains("never had"))
  }

  @Test("an erasure names what may still hold the bytes, and one that finds nothing left says so")
  func erasedAgain() throws {
    let sandbox = try Sandbox()
    let asset = try sandbox.makeAssets(1)[0]
    let files = try sandbox.run(["resource", "list", asset, "--json"]).objects()
    let path = try #require(files.first?["path"] as? String)
    try #require(link(path, sandbox.folder.appending(path: "other.jpg").path) == 0)
    let erased = try sandbox.run(["erase", asset, "--yes"])
    #expect(erased.status == 0 && erased.output.contains("run `compact`"), "\(erased)")
    let holders = "another link (a fork, a backup made with `--resources shared`, or an export made with `--link`)"
    #expect(erased.output.contains("; \(holders) still holds the bytes of \(path)"), "\(erased)")
    let again = try sandbox.run(["erase", asset, "--yes"])
    #expect(again.status == 0 && again.lines.count == 3, "\(again)")
    #expect(again.lines.first?.hasSuffix(": already erased") == true, "\(again)")
    #expect(again.lines[1] == "No event, file or line of an import report was left to erase.", "\(again)")
    #expect(again.lines.last?.contains("`compact`") == true, "\(again)")
  }

  @Test("every commit of an erasure has the command's name as its cause, unless another is given")
  func causeOfErasure() throws {
    let sandbox = try Sandbox()
    let asset = try sandbox.makeAssets(1)[0]
    #expect(try sandbox.run(["erase", asset, "--yes"]).status == 0)
    let events = try sandbox.run(["log", "--json", "--reverse", "--limit", "3"]).objects()
    #expect(events.map { $0["type"] as? String } == ["asset.erased", "asset.purged", "assets.trashed"])
    #expect(events.map { $0["cause"] as? String } == ["erase", "erase", "erase"])
  }

  @Test("a library that another process has open is not compacted")
  func inUse() throws {
    let sandbox = try Sandbox()
    _ = try sandbox.makeAssets(2)
    let watching = try Running(sandbox, ["watch"])
    _ = try watching.line()
    let refused = try sandbox.run(["compact"])
    #expect(refused.status == 1 && refused.errors.contains("while it is in use"), "\(refused.errors)")
    #expect(try sandbox.run(["favorite", sandbox.identifiers()[0]]).status == 0)
    _ = try watching.line()
    _ = try watching.finish(interrupting: true)
    #expect(try sandbox.run(["compact"]).status == 0)
  }

  /// When a compaction is killed, by what is seen of it in the folder.
  enum KillPoint: CaseIterable { case begun, writing, renamed }

  @Test(
    "a compaction that is killed leaves either the old store or the new one, complete", arguments: KillPoint.allCases)
  func killed(point: KillPoint) throws {
    let sandbox = try Sandbox()
    for _ in 0..<3 { _ = try sandbox.makeAssets(60) }
    let chain = try Self.chain(sandbox)
    let store = sandbox.library + "/store"
    func status(_ name: String) -> stat? {
      var status = stat()
      return stat("\(store)/\(name)", &status) == 0 ? status : nil
    }
    var (rounds, killed) = (0, 0)
    // More of them where the point was passed unseen each time; the usual dose has the second one after a first.
    while rounds < (Dose.isFull ? 5 : 2) || killed == 0 && rounds < 50 {
      rounds += 1
      let inode = try #require(status("data.mdb")).st_ino
      let running = try Running(sandbox, ["compact"])
      while running.child.isRunning {
        let isReached =
          switch point {
          case .begun: status("rewriting") != nil
          case .writing: (status("rewriting/data.mdb")?.st_size ?? 0) > 65_536
          case .renamed: status("data.mdb").map { $0.st_ino != inode } ?? false
          }
        if isReached { kill(running.child.identifier, SIGKILL) }
      }
      killed += try running.finish().end == .signal(SIGKILL) ? 1 : 0
      #expect(try sandbox.run(["verify", "--content"]).status == 0)
      #expect(try Self.chain(sandbox) == chain)
    }
    #expect(killed > 0, "No compaction was killed: the test proves nothing.")
    #expect(try sandbox.run(["compact"]).status == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: store).contains("rewriting") == false)
    #expect(try Self.chain(sandbox) == chain)
  }

  @Test("a fork names the files that are missing, as a backup does")
  func forkWithoutFile() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(2)
    let listed = try sandbox.run(["resource", "list", assets[0], "--json"]).objects()
    try FileManager.default.removeItem(atPath: #require(listed.first?["path"] as? String))
    for command in ["backup", "fork"] {
      let result = try sandbox.run([command, Self.path(sandbox, command)])
      #expect(result.status == 0 && result.lines.count { $0.hasPrefix("missing: ") } == 1, "\(result)")
    }
  }

  @Test("changes in a fork are listed object by object, and leave the first library as it was")
  func fork() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(3)
    let place = Self.path(sandbox, "fork")
    let chain = try Self.chain(sandbox)
    let forked = try sandbox.run(["fork", place, "--json"]).objects()
    #expect(forked.first?["fileCount"] as? Int == 3)
    #expect(forked.first?["commonToken"] as? String == (try sandbox.run(["history", "token"]).lines[0]))
    #expect(try sandbox.run(["favorite", assets[0], "--library", place]).status == 0)
    #expect(try sandbox.run(["trash", assets[1], "--library", place]).status == 0)
    #expect(try sandbox.run(["purge", assets[1], "--library", place]).status == 0)
    let compared = try sandbox.run(["compare", sandbox.library, "--library", place, "--json"])
    #expect(compared.status == 0, "\(compared.errors)")
    let lines = try compared.objects()
    #expect(lines.map { $0["kind"] as? String } == ["changed", "removed", nil])
    #expect(lines[0]["localIdentifier"] as? String == assets[0] && lines[1]["localIdentifier"] as? String == assets[1])
    let change = try #require((lines[0]["changes"] as? [String: Any])?["isFavorite"] as? [String: Any])
    #expect(change["old"] as? Bool == false && change["new"] as? Bool == true)
    #expect(lines[2]["commitCount"] as? Int == 4 && lines[2]["otherCommitCount"] as? Int == 0)
    let text = try sandbox.run(["compare", sandbox.library, "--library", place]).lines
    #expect(text.count == 3 && text[0].contains("\(assets[0])  'IMG_0.jpg'  "), "\(text)")
    #expect(text[1].hasSuffix("\(assets[1])  'IMG_1.jpg'"), "Its name is in the log.")
    #expect(try Self.chain(sandbox) == chain)
    #expect(try sandbox.run(["verify", "--content"]).status == 0)
    #expect(try sandbox.identifiers().count == 3)
  }
}
