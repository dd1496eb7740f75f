import Foundation
import PhotoLedger
import Synchronization
import TestSupport
import Testing

@testable import MediaImport

@Suite("exports that end early")
struct ExportEndingTests {
  @Test("killed at any point, it leaves whole files, and the next export goes on", arguments: 0..<8)
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

  @Test("cancelled, it says what it did not reach, and the next export goes on")
  func cancelled() async throws {
    var random = SeededGenerator(seed: 3)
    let rig = try ExportRig()
    try await rig.add(150, &random)
    let export = try LibraryExport(of: rig.library, options: ExportOptions(template: try ExportTemplate("{id}")))
    let assets = try rig.library.fetchAssets()
    let running = Mutex<Task<ExportSummary, any Error>?>(nil)
    let task = Task { [target = rig.target] in
      try await export.run(assets, to: target) { progress in
        if progress.filesDone == 64 { running.withLock { $0?.cancel() } }
      }
    }
    running.withLock { $0 = task }
    let summary = try await task.value
    // The first batch may have ended before the task was there to be cancelled.
    #expect(summary.outcomes.values.reduce(0, +) == 150)
    #expect(summary.wasInterrupted == (summary.count(.notReached) > 0))
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

  private static var isRoot: Bool { geteuid() == 0 }

  @Test(
    "a full disk ends it with its own error, nothing is half done, and it goes on when there is room",
    .enabled(if: isRoot, "mounting a small tmpfs needs root"), arguments: [false, true])
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

  @Test("what cannot be made takes no room while the export goes on", arguments: [false, true])
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

  @Test("a journal that somebody wrote removes nothing outside of the folder")
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
}
