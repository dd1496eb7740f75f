import Foundation
import PhotoLedger
import StoreTestSupport
import Synchronization
import TestSupport
import Testing

@testable import MediaImport

@Suite("exports that end early")
struct ExportEndingTests {
  // Each starts a process of its own, so there are few at the usual dose.
  @Test(
    "killed at any point, it leaves complete files, and the next export continues",
    arguments: 0..<(Dose.isFull ? 8 : 4))
  func killed(point: Int) async throws {
    var random = SeededGenerator(seed: UInt64(point))
    let rig = try ExportRig()
    try await rig.add(20, &random)
    let options = ExportOptions(template: try ExportTemplate("{year|undated}/{name}"))
    let wanted = try rig.model(options)
    let (library, target) = (rig.library.url, rig.target)
    let left = random.int(0..<60)
    rig.library.close()
    let path = library.path
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, target = target as String, left = left as Int] in
      let library = try PhotoLibrary(at: URL(filePath: path))
      var options = ExportOptions(template: try ExportTemplate("{year|undated}/{name}"))
      options.threadCount = 2
      var export = try LibraryExport(of: library, options: options)
      let steps = Mutex(left)
      export.step = {
        let isOver = steps.withLock { steps in
          steps -= 1
          return steps < 0
        }
        if isOver { kill(getpid(), SIGKILL) }
      }
      _ = try await export.run(try library.fetchAssets(), to: target)
      kill(getpid(), SIGKILL)
    }
    if FileManager.default.fileExists(atPath: target) {
      for (path, bytes) in try rig.files() { #expect(wanted[path] == bytes, "\(path) is whole") }
    }
    let again = try PhotoLibrary(at: library)
    defer { again.close() }
    let summary = try await LibraryExport(of: again, options: options).run(try again.fetchAssets(), to: target)
    #expect(summary.isComplete && summary.outcomes.keys.allSatisfy { [.copied, .unchanged].contains($0) })
    #expect(try rig.files() == wanted)
    let own = try FileManager.default.contentsOfDirectory(atPath: "\(target)/\(ExportFolder.own)/coming")
    #expect(own.isEmpty, "What was on its way is gone.")
  }

  @Test("a file that exceeds the limit of the target's file system fails alone, and the others are exported")
  func tooLargeFile() async throws {
    var random = SeededGenerator(seed: 4)
    let rig = try ExportRig()
    try await rig.add(3, &random)
    let isFirst = Mutex(true)
    let fail: @Sendable () throws -> Void = {
      let fails = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      if fails { throw LibraryError(.limitExceeded, "film.mov would be larger than its file system allows.") }
    }
    let summary = try await rig.export("{id}", { $0.threadCount = 1 }, at: fail)
    #expect(summary.count(.failed) == 1 && summary.count(.copied) == 2 && !summary.isComplete)
    #expect(try rig.files().count == 2)
  }

  private struct Crash: Error {}

  @Test(
    "a file without its final name belongs to no export: a user's file there stays, and the next export continues",
    arguments: [false, true])
  func neverPlaced(isDryRun: Bool) async throws {
    var random = SeededGenerator(seed: 6)
    let rig = try ExportRig()
    try await rig.add(1, &random)
    let journal = "\(rig.target)/\(ExportFolder.own)/files"
    let end: @Sendable () throws -> Void = {
      // The line is there, the file has no name yet.
      if FileManager.default.fileExists(atPath: journal) { throw Crash() }
    }
    await #expect(throws: Crash.self) { try await rig.export("{id}", { $0.threadCount = 1 }, at: end) }
    let path = try #require(try FileJournal(at: journal).lines.keys.first)
    let own = Data("a person's own".utf8)
    try own.write(to: URL(filePath: "\(rig.target)/\(path)"))
    let summary = try await rig.export("{id}") { options in
      (options.replacesChanged, options.isDryRun) = (true, isDryRun)
    }
    #expect(summary.count(.conflict) == 1 && summary.outcomes.count == 1, "\(summary.outcomes)")
    #expect(try rig.files() == [path: own])
    #expect(try FileJournal(at: journal).lines.isEmpty != isDryRun, "A dry run writes nothing.")
    #expect(unlink("\(rig.target)/\(path)") == 0)
    #expect(try await rig.export("{id}").count(.copied) == 1)
  }

  @Test("the record of an unfinished file does not apply to another path with the same size and time")
  func equalStamps() throws {
    let folder = try MediaImportTests.TemporaryFolder()
    let placed = try folder.write("placed.xmp", Data("1234".utf8)).description
    do {
      let target = try ExportFolder(folder.path, isDryRun: false)
      let waiting = "\(target.work)/\(ExportFolder.workName(of: "waiting.xmp"))-1"
      try Data("5678".utf8).write(to: URL(filePath: waiting))
      for path in [placed, waiting] {
        let times = [timespec(tv_sec: 1_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000, tv_nsec: 0)]
        try #require(utimensat(AT_FDCWD, path, times, 0) == 0)
      }
      let stamp = try #require(FileStamp(of: waiting))
      try #require(FileStamp(of: placed) == stamp)
      try target.journal.append(
        ["placed.xmp", "waiting.xmp"].map { path in
          JournalLine(path: path, asset: "asset", kind: "sidecar", content: "x", stamp: stamp)
        })
    }
    // By a person, after the export was killed.
    try folder.write("placed.xmp", Data("changed".utf8))
    let again = try ExportFolder(folder.path, isDryRun: false)
    #expect(again.journal.lines.keys.sorted() == ["placed.xmp"], "\(again.journal.lines.keys)")
    #expect(again.occupant(of: "placed.xmp") == .changed)
    #expect(try FileManager.default.contentsOfDirectory(atPath: again.work).isEmpty)
  }

  @Test("a file that its folder rejects has failed, and does not belong to an export")
  func notTaken() async throws {
    var random = SeededGenerator(seed: 7)
    let rig = try ExportRig()
    try await rig.add(2, &random)
    let (folder, elsewhere) = (rig.target + "/photos", rig.target + "/elsewhere")
    let move: @Sendable () throws -> Void = {
      // The first file is in its place; the folder goes before the second one.
      if FileManager.default.fileExists(atPath: folder) { rename(folder, elsewhere) }
    }
    let summary = try await rig.export("photos/{id}", { $0.threadCount = 1 }, at: move)
    #expect(summary.count(.copied) == 1 && summary.count(.failed) == 1, "\(summary.outcomes)")
    let moved = try FileManager.default.contentsOfDirectory(atPath: elsewhere)
    let lines = try FileJournal(at: "\(rig.target)/\(ExportFolder.own)/files").lines
    #expect(lines.keys.sorted() == moved.map { "photos/\($0)" }, "\(lines.keys)")
    let again = try await rig.export("photos/{id}")
    #expect(again.isComplete && again.count(.copied) == 2)
  }

  @Test("cancelled, it reports what it did not reach, and the next export continues")
  func cancelled() async throws {
    var random = SeededGenerator(seed: 3)
    let rig = try ExportRig()
    try await rig.add(150, &random)
    let export = try LibraryExport(of: rig.library, options: ExportOptions(template: try ExportTemplate("{id}")))
    let assets = try rig.library.fetchAssets()
    let running = Mutex<Task<ExportSummary, any Error>?>(nil)
    let cancelWhenDone: @Sendable (ExportProgress) -> Void = { progress in
      if progress.filesDone == 64 { running.withLock { $0?.cancel() } }
    }
    let task = running.withLock { [target = rig.target] slot in
      let task = Task { () throws -> ExportSummary in
        try await export.run(assets, to: target, progress: cancelWhenDone)
      }
      slot = task
      return task
    }
    let summary = try await task.value
    #expect(summary.outcomes.values.reduce(0, +) == 150)
    #expect(summary.wasInterrupted && summary.count(.notReached) > 0)
    let rest = try await rig.export("{id}")
    #expect(rest.isComplete && rest.count(.unchanged) == summary.count(.copied))
    #expect(try rig.files().count == 150)
  }

  /// A file system of a few megabytes; only root can have one.
  private static func withSmallDisk(_ body: (String) async throws -> Void) async throws {
    let folder = try MediaImportTests.TemporaryFolder()
    let mount = try ChildRun.of(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder.path])
    try #require(mount.end == .status(0), "\(mount.text)")
    var failure: (any Error)?
    do { try await body(folder.path) } catch { failure = error }
    let unmount = try ChildRun.of(["umount", "--lazy", folder.path])
    #expect(unmount.end == .status(0))
    if let failure { throw failure }
  }

  @Test(
    "a full disk ends it with its own error, no file is partial, and it continues when there is room",
    .mountsMemory, arguments: [false, true])
  func fullDisk(embeds: Bool) async throws {
    let rig = try ExportRig()
    let pictures = (0..<16).map { TinyMedia.scanned("\($0)", isWhole: true) + Data(count: 200_000) }
    try await rig.library.performChanges { block in
      for (index, bytes) in pictures.enumerated() {
        var creation = AssetCreation(
          mediaType: .image, resources: [.init(type: .photo, source: .data(bytes), originalFilename: "\(index).jpg")])
        creation.caption = embeds ? "caption" : nil
        block.createAsset(creation)
      }
    }
    try await Self.withSmallDisk { disk in
      var options = ExportOptions(template: try ExportTemplate("{name}"))
      options.embeds = embeds
      // Each thread starts an exiftool that writes; those that end together are of the other course and the full dose.
      if embeds, !Dose.isFull { options.threadCount = 1 }
      let assets = try rig.library.fetchAssets()
      let export = try LibraryExport(of: rig.library, options: options)
      await #expect { try await export.run(assets, to: disk) } throws: { error in
        (error as? LibraryError)?.code == .notEnoughSpace && "\(error)".contains("free some space")
      }
      let work = try FileManager.default.contentsOfDirectory(atPath: "\(disk)/\(ExportFolder.own)/coming")
      #expect(work.isEmpty)
      let few = try rig.library.fetchAssets(where: nil, limit: 3)
      let summary = try await export.run(few, to: disk)
      #expect(summary.isComplete && summary.count(.copied) == 3, "\(summary)")
      await #expect(throws: LibraryError.self) { try await export.run(assets, to: disk) }
      #expect(try await export.run(few, to: disk).count(.unchanged) == 3)
    }
  }

  @Test("files that cannot be made occupy no space while the export continues", arguments: [false, true])
  func failures(embeds: Bool) async throws {
    let rig = try ExportRig()
    try await rig.library.performChanges { block in
      for index in 0..<6 {
        let bytes = Data("exiftool cannot write into \(index)".utf8)
        var creation = AssetCreation(
          mediaType: .image, resources: [.init(type: .photo, source: .data(bytes), originalFilename: "\(index).jpg")])
        creation.caption = "caption"
        block.createAsset(creation)
      }
    }
    if !embeds {
      for name in try rig.rig.storedFiles() {
        let path = rig.library.url.path + "/resources/" + name
        let size = try Data(contentsOf: URL(filePath: path)).count
        #expect(chmod(path, 0o644) == 0)
        try Data(count: size).write(to: URL(filePath: path))
      }
    }
    let most = Mutex(0)
    let work = "\(rig.target)/\(ExportFolder.own)/coming"
    let change = { (options: inout ExportOptions) in (options.embeds, options.threadCount) = (embeds, 1) }
    let summary = try await rig.export("{name}", change) {
      let count = try FileManager.default.contentsOfDirectory(atPath: work).count
      most.withLock { $0 = max($0, count) }
    }
    #expect(summary.count(.failed) == 6 && most.withLock { $0 } == 0)
  }

  @Test("one export at a time fills a folder")
  func oneAtATime() async throws {
    var random = SeededGenerator(seed: 4)
    let rig = try ExportRig()
    try await rig.add(1, &random)
    let held = try ExportFolder(rig.target, isDryRun: false)
    await #expect { try await rig.export() } throws: { ($0 as? LibraryError)?.code == .conflict }
    #expect(held.journal.lineCount == 0)
  }

  @Test("a forged journal removes nothing outside of the folder")
  func hostileJournal() async throws {
    var random = SeededGenerator(seed: 5)
    let rig = try ExportRig()
    try await rig.add(1, &random)
    _ = try await rig.export()
    let victim = try rig.folder.write("victim.jpg", Data("mine".utf8))
    let stamp = try #require(FileStamp(of: victim.description))
    let journal = FileHandle(forWritingAtPath: "\(rig.target)/\(ExportFolder.own)/files")
    let handle = try #require(journal)
    try handle.seekToEnd()
    for path in ["../victim.jpg", "a/../../victim.jpg", victim.description, "%2E%2E/victim.jpg"] {
      try handle.write(
        contentsOf: Data("\(stamp.byteCount)\t\(stamp.modified)\tx\tnobody\tphoto\t\(path)\n".utf8))
    }
    try handle.close()
    let summary = try await rig.export { $0.removesUnwanted = true }
    #expect(summary.unwanted.isEmpty && FileManager.default.fileExists(atPath: victim.description))
  }

  @Test("a time after 2262, beyond 64-bit nanoseconds, causes no failure")
  func lateTimes() throws {
    let folder = try MediaImportTests.TemporaryFolder()
    let path = try folder.write("late.jpg", Data("late".utf8)).description
    let seconds = 10_413_792_000
    var times = [timespec(tv_sec: seconds, tv_nsec: 1), timespec(tv_sec: seconds, tv_nsec: 1)]
    #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
    let stamp = try #require(FileStamp(of: path))
    times[1].tv_nsec = 2
    #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
    #expect(try #require(FileStamp(of: path)) != stamp)
    // The clock of the reader has passed that year, too.
    let state = FileState(byteCount: 4, modified: 1, changed: 1)
    #expect(KnownFile(describing: state, readAt: Date(timeIntervalSince1970: Double(seconds))).state == state)
  }

  private static func line(_ path: String) -> JournalLine {
    JournalLine(
      path: path, asset: "asset", kind: "photo", content: "x", stamp: FileStamp(byteCount: 1, modified: 2))
  }

  enum Trap: String, CaseIterable { case link, fifo, folder }

  @Test(
    "a journal that is a link, a FIFO or a folder is an error at once, and nothing is written", arguments: Trap.allCases
  )
  func trappedJournal(trap: Trap) throws {
    let folder = try MediaImportTests.TemporaryFolder()
    let victim = try folder.write("victim", Data("no line end".utf8))
    let path = "\(folder.path)/files"
    // One that comes after the journal was read, too.
    let journal = try FileJournal(at: path)
    switch trap {
    case .link: #expect(symlink(victim.description, path) == 0)
    case .fifo: #expect(mkfifo(path, 0o600) == 0)
    case .folder: #expect(mkdir(path, 0o755) == 0)
    }
    let opening = #expect(throws: LibraryError.self) { try FileJournal(at: path) }
    #expect(opening?.code == .malformedRequest && opening?.description.contains("not a regular file") == true)
    #expect(throws: LibraryError.self) { try journal.append([Self.line("a.jpg")]) }
    #expect(try String(contentsOfFile: victim.description, encoding: .utf8) == "no line end")
  }

  @Test("a journal is rewritten beside a link with its temporary name, which is not followed")
  func linkedNewJournal() throws {
    let folder = try MediaImportTests.TemporaryFolder()
    let victim = try folder.write("victim", Data("mine".utf8))
    let journal = try FileJournal(at: "\(folder.path)/files")
    try journal.append([Self.line("a.jpg"), Self.line("a.jpg")])
    #expect(symlink(victim.description, "\(folder.path)/files.new") == 0)
    try journal.compact { _ in victim.description }
    #expect(try FileJournal(at: "\(folder.path)/files").lineCount == 1)
    #expect(try String(contentsOfFile: victim.description, encoding: .utf8) == "mine")
  }

  @Test("an incomplete last line is cut off before the next one", arguments: [0, 3, 5000])
  func cutLine(count: Int) throws {
    let folder = try MediaImportTests.TemporaryFolder()
    let path = "\(folder.path)/files"
    try FileJournal(at: path).append([Self.line("a.jpg")])
    let handle = try #require(FileHandle(forWritingAtPath: path))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data(repeating: 0x78, count: count))
    try handle.close()
    try FileJournal(at: path).append([Self.line("b.jpg")])
    #expect(try Set(FileJournal(at: path).lines.keys) == ["a.jpg", "b.jpg"])
  }

  @Test("lines that a journal did not write completely are dropped, and a failed rewrite occupies no space")
  func refusedLines() async throws {
    let folder = try MediaImportTests.TemporaryFolder()
    let path = "\(folder.path)/files"
    await #expect(processExitsWith: .success) { [path = path as String] in
      func line(_ path: String) -> JournalLine {
        JournalLine(
          path: path, asset: "asset", kind: "photo", content: "x", stamp: FileStamp(byteCount: 1, modified: 2))
      }
      let journal = try FileJournal(at: path)
      try journal.append([line("a.jpg"), line("a.jpg")])
      let before = try Data(contentsOf: URL(filePath: path))
      let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
      var former = rlimit()
      try #require(getrlimit(resource, &former) == 0)
      // As on a full disk: some of the lines are taken, and the rest is an error.
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: rlim_t(before.count + 200), rlim_max: former.rlim_max)
      try #require(setrlimit(resource, &limit) == 0)
      #expect(throws: LibraryError.self) { try journal.append((0..<100).map { line("\($0).jpg") }) }
      limit.rlim_cur = 10
      try #require(setrlimit(resource, &limit) == 0)
      #expect(throws: LibraryError.self) { try journal.compact { _ in path } }
      try #require(setrlimit(resource, &former) == 0)
      #expect(!FileManager.default.fileExists(atPath: path + ".new"))
      #expect(try Data(contentsOf: URL(filePath: path)) == before)
      try journal.append([line("b.jpg")])
      #expect(try FileJournal(at: path).lines.keys.sorted() == ["a.jpg", "b.jpg"])
    }
  }

  @Test(
    "a journal stores any path",
    arguments: [
      "a.jpg", "100%.jpg", "%41.jpg", "100%\u{301}/%\u{FE0F}.jpg", "a\r\nb\tc\nd\r.jpg", "\u{1}\u{1F}.jpg",
      "é\u{301}.jpg",
    ])
  func anyPath(path: String) throws {
    let folder = try MediaImportTests.TemporaryFolder()
    let journal = "\(folder.path)/files"
    try FileJournal(at: journal).append([Self.line(path), Self.line("z")])
    let read = try FileJournal(at: journal)
    #expect(read.lineCount == 2 && read.lines[path] == [Self.line(path)])
    #expect(read.lines.keys.contains { Array($0.utf8) == Array(path.utf8) })
  }

  @Test("two paths are one name only if they lead to one file without a second name")
  func oneName() throws {
    let folder = try MediaImportTests.TemporaryFolder()
    let target = try ExportFolder(folder.path, isDryRun: false)
    try folder.write("Holiday/a.jpg", Data("a".utf8))
    // As a file system that folds case gives both spellings.
    #expect(symlink("Holiday", "\(folder.path)/holiday") == 0)
    #expect(target.isOneName("holiday/a.jpg", "Holiday/a.jpg"))
    try folder.write("Holiday/b.jpg", Data("a".utf8))
    #expect(!target.isOneName("Holiday/a.jpg", "Holiday/b.jpg"))
    #expect(!target.isOneName("Holiday/a.jpg", "Holiday/c.jpg") && !target.isOneName("c.jpg", "Holiday/a.jpg"))
    #expect(link("\(folder.path)/Holiday/a.jpg", "\(folder.path)/Holiday/A.jpg") == 0)
    #expect(!target.isOneName("Holiday/A.jpg", "Holiday/a.jpg"))
  }

  @Test("a file gets a free name on a file system that cannot rename without replacing, too", arguments: [0, EINVAL])
  func freeName(code: Int32) throws {
    let folder = try MediaImportTests.TemporaryFolder()
    let (made, name) = (try folder.write("made", Data("new".utf8)).description, "\(folder.path)/name")
    func rename() -> Int32 {
      if code == 0 { return renameWithoutReplacing(made, to: name) }
      return renameWithoutReplacing(made, to: name, renaming: { _, _ in code })
    }
    #expect(symlink("/nowhere", name) == 0)
    #expect(rename() == EEXIST && FileManager.default.fileExists(atPath: made))
    #expect(unlink(name) == 0)
    #expect(rename() == 0)
    #expect(try String(contentsOfFile: name, encoding: .utf8) == "new")
  }
}
