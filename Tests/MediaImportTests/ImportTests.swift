import Foundation
import Synchronization
import TestSupport
import Testing

import PhotoLedger
@testable import MediaImport

/// An import of a folder into a library in memory.
struct Rig {
  let library: TemporaryFolder
  let files: ResourceStore
  let tool: ExifTool
  var target = MemoryTarget()
  var options = LibraryImport.Options()

  init(limits: ExifToolLimits? = nil) throws {
    library = try TemporaryFolder()
    files = try ResourceStore(library: URL(filePath: library.path))
    tool = try limits.map { try ExifTool(limits: $0) } ?? SharedTool.exiftool()
  }

  /// Runs an import whose only exiftool hangs on files with matching paths, and stops it there.
  /// - Parameter pattern: a pattern of the shell.
  /// - Returns: the summary, and the process that hung.
  func stopped(
    _ roots: [FilePath], whereToolHangsOn pattern: String
  ) async throws -> (summary: ImportSummary, child: pid_t) {
    let programs = try TemporaryFolder()
    let executable = try ExifToolTests.standIn(
      programs,
      """
      while read -r l; do case $l in \(pattern)) echo $$ > "$0.pid"; sleep 1000 ;; -execute*)
        echo '[{"File:MIMEType":"image/jpeg","File:FileType":"JPEG"}]'; echo "{ready${l#-execute}}";; esac; done
      """)
    let tool = try ExifTool(executable: executable, processCount: 1, sandbox: Sandbox(layer: .none))
    var options = LibraryImport.Options()
    options.threadCount = 1
    let importer = MediaImporter(target: target, resources: files, tool: tool, options: options)
    let task = Task { try await importer.run(roots) }
    let place = URL(filePath: executable + ".pid")
    try await waitUntil("exiftool hangs") { (try? Data(contentsOf: place).isEmpty) == false }
    task.cancel()
    let summary = try await task.value
    let text = try String(contentsOf: place, encoding: .utf8)
    return (summary, try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines))))
  }

  /// Runs an import and returns the summary with the outcome of each file by its relative path.
  func run(_ roots: [FilePath]) async throws -> (summary: ImportSummary, outcomes: [String: FileOutcome]) {
    let outcomes = Mutex<[String: FileOutcome]>([:])
    let reports = Mutex(0)
    let importer = MediaImporter(target: target, resources: files, tool: tool, options: options)
    let summary = try await importer.run(
      roots,
      report: { files in
        for file in files { outcomes.withLock { $0[file.relativePath.description] = file.outcome } }
        reports.withLock { $0 += files.count }
      })
    #expect(reports.withLock { $0 } == summary.filesFound, "Every file has exactly one outcome.")
    let skipped = summary.skipped.values.reduce(0, +)
    let others = summary.duplicates + summary.sidecars + summary.notReached
    #expect(summary.assetsAdded + summary.resourcesAdded + skipped + others == summary.filesFound)
    return (summary, outcomes.withLock { $0 })
  }
}

@Suite("importing folders")
struct ImportTests {
  static let identifier = "0A0B0C0D-0000-4000-8000-000000000001"

  static func still(_ comment: String = "", identifier: String? = identifier) -> Data {
    TinyMedia.jpeg(.init(contentIdentifier: identifier, comment: comment))
  }

  @Test("a second import of the same folder adds nothing")
  func secondImport() async throws {
    let rig = try Rig()
    let folder = try TemporaryFolder()
    for index in 0..<20 { try folder.write("d\(index % 3)/p\(index).jpg", Self.still("\(index)", identifier: nil)) }
    try folder.write("notes.txt", Data("no photo".utf8))
    let first = try await rig.run([folder.asRoot])
    #expect(first.summary.assetsAdded == 20)
    #expect(first.summary.skipped == ["notMedia": 1])
    let second = try await rig.run([folder.asRoot])
    #expect(second.summary.assetsAdded == 0 && second.summary.commits == 0)
    #expect(second.summary.duplicates == 20)
    for case .asset(let reference) in first.outcomes.values {
      #expect(second.outcomes.values.contains(.duplicateOfAsset(reference)))
    }
  }

  @Test("bytes in the library are the file's, named by their hash, at any batch size", arguments: [1, 3, 200])
  func bytes(batch: Int) async throws {
    var rig = try Rig()
    rig.options.batchFileCount = batch
    let folder = try TemporaryFolder()
    let path = try folder.write("a/x.JPG", Self.still())
    try folder.write("b/copy of x.png", Self.still())
    try folder.write("c/other.jpg", Self.still("other"))
    let (summary, outcomes) = try await rig.run([folder.asRoot])
    #expect(summary.assetsAdded == 2)
    #expect(outcomes["b/copy of x.png"] == .duplicateOfFile(path))
    let content = try FileContent(of: path)
    let stored = rig.files.path(ofContent: content.sha256)
    #expect(try Data(contentsOf: URL(filePath: stored)) == Self.still())
    let digits = content.sha256.hexadecimal
    #expect(stored.hasSuffix("resources/\(digits.prefix(2))/\(digits.dropFirst(2))"))
  }

  enum Arrival: CaseIterable {
    case together, stillFirst, movieFirst, movieInEarlierFolder
  }

  @Test(
    "the halves of a Live Photo become one asset in any order", arguments: Arrival.allCases, [1, 200])
  func livePhoto(arrival: Arrival, batch: Int) async throws {
    var rig = try Rig()
    rig.options.batchFileCount = batch
    let folder = try TemporaryFolder()
    let still = try folder.write("m/IMG_1.JPG", Self.still())
    let name = arrival == .movieInEarlierFolder ? "a/other.mov" : "m/IMG_1.MOV"
    let movie = try folder.write(name, TinyMedia.movie(contentIdentifier: Self.identifier))
    let rounds: [[FilePath]] =
      switch arrival {
      case .together, .movieInEarlierFolder: [[folder.asRoot]]
      case .stillFirst: [[still], [movie]]
      case .movieFirst: [[movie], [still]]
      }
    var livePhotos = 0
    for round in rounds { livePhotos += try await rig.run(round).summary.livePhotos }
    #expect(livePhotos == 1)
    let assets = await rig.target.assets
    #expect(assets.count == 1)
    let asset = try #require(assets.values.first?.imported)
    #expect(asset.primary.type == .photo && asset.others.map(\.type) == [.pairedVideo])
    #expect(asset.subtypes.contains(.photoLive) && asset.playbackStyle == .livePhoto)
    #expect(asset.primary.metadata.duration == 0)
    #expect(try await rig.run([folder.asRoot]).summary.commits == 0)
  }

  @Test("equal names without an equal identifier are not a Live Photo")
  func sameNameOtherIdentifier() async throws {
    let rig = try Rig()
    let folder = try TemporaryFolder()
    try folder.write("IMG_1.JPG", Self.still())
    try folder.write("IMG_1.MOV", TinyMedia.movie(contentIdentifier: "FFFFFFFF-0000-4000-8000-000000000009"))
    let (summary, _) = try await rig.run([folder.asRoot])
    #expect(summary.assetsAdded == 2 && summary.livePhotos == 0)
  }

  @Test("of several stills with one identifier the one beside the movie gets it")
  func nearestStill() async throws {
    let rig = try Rig()
    let folder = try TemporaryFolder()
    try folder.write("a/IMG_1.JPG", Self.still("edited copy"))
    try folder.write("b/IMG_1.JPG", Self.still())
    try folder.write("b/IMG_1.MOV", TinyMedia.movie(contentIdentifier: Self.identifier))
    let (summary, outcomes) = try await rig.run([folder.asRoot])
    #expect(summary.assetsAdded == 2 && summary.livePhotos == 1)
    guard case .asset(let near)? = outcomes["b/IMG_1.JPG"] else { throw ImportError(.unreadable, "b/IMG_1.JPG") }
    #expect(outcomes["b/IMG_1.MOV"] == .resource(near, .pairedVideo))
  }

  @Test("RAW and JPEG of one picture are one asset, of different pictures two", arguments: [true, false])
  func rawAndJPEG(isSamePicture: Bool) async throws {
    let rig = try Rig()
    let folder = try TemporaryFolder()
    let photo = TinyMedia.Photo(make: "NIKON CORPORATION", model: "NIKON D70")
    var raw = photo
    if !isSamePicture { raw.dateTimeOriginal = "2021:02:03 04:05:07" }
    try folder.write("DSC_1.JPG", TinyMedia.jpeg(photo))
    try folder.write("DSC_1.NEF", TinyMedia.tiff(raw, isWithSize: true))
    let (summary, outcomes) = try await rig.run([folder.asRoot])
    #expect(summary.assetsAdded == (isSamePicture ? 1 : 2))
    guard case .asset(let asset)? = outcomes["DSC_1.JPG"] else { throw ImportError(.unreadable, "DSC_1.JPG") }
    #expect((outcomes["DSC_1.NEF"] == .resource(asset, .alternatePhoto)) == isSamePicture)
  }

  @Test(
    "RAW and JPEG of one picture are one asset with a sidecar between them, wherever batches end",
    arguments: [2, 3, 200], [Duration.zero, .seconds(600)])
  func rawAndJPEGWithSidecars(batch: Int, duration: Duration) async throws {
    var rig = try Rig()
    (rig.options.batchFileCount, rig.options.batchDuration) = (batch, duration)
    let folder = try TemporaryFolder()
    for number in 1...3 {
      var photo = TinyMedia.Photo(make: "NIKON CORPORATION", model: "NIKON D70")
      photo.dateTimeOriginal = "2021:02:03 04:05:0\(number)"
      try folder.write("DSC_\(number).JPG", TinyMedia.jpeg(photo))
      try folder.write("DSC_\(number).NEF", TinyMedia.tiff(photo, isWithSize: true))
      for ending in ["JPG", "NEF"] { try folder.write("DSC_\(number).\(ending).xmp", Data("<x/>".utf8)) }
    }
    let (summary, outcomes) = try await rig.run([folder.asRoot])
    #expect(summary.assetsAdded == 3 && summary.resourcesAdded == 3 && summary.sidecars == 6)
    for number in 1...3 {
      let name = "DSC_\(number).JPG"
      guard case .asset(let asset)? = outcomes[name] else { throw ImportError(.unreadable, name) }
      #expect(outcomes["DSC_\(number).NEF"] == .resource(asset, .alternatePhoto))
    }
  }

  @Test("a file that cannot be imported is recorded with its reason, and the others are imported")
  func reasons() async throws {
    let rig = try Rig()
    let folder = try TemporaryFolder()
    try folder.write("a.jpg", Self.still())
    try folder.write("empty.jpg", Data())
    try folder.write("text.jpg", Data("not a photo\n".utf8))
    try folder.write("a.xmp", Data("<x/>".utf8))
    symlink("/nowhere/at/all", "\(folder.path)/broken")
    symlink(folder.path, "\(folder.path)/loop")
    mkfifo("\(folder.path)/pipe", 0o600)
    let (summary, outcomes) = try await rig.run([folder.asRoot])
    #expect(summary.assetsAdded == 1 && summary.sidecars == 1)
    #expect(summary.skipped == ["empty": 1, "notMedia": 1, "unusable": 3])
    guard case .skipped(.unusable, let reason)? = outcomes["loop"] else { throw ImportError(.unreadable, "loop") }
    #expect(reason.contains("symbolic link to a folder"))
  }

  @Test("a file that vanishes between the scan and the reading is recorded as vanished")
  func vanishes() async throws {
    let folder = try TemporaryFolder()
    try folder.write("a.jpg", Self.still("a"))
    try folder.write("b.jpg", Self.still("b"))
    let path = folder.path
    var rig = try Rig()
    rig.options.batchFileCount = 1
    // It is looked up, once it is read to its end, before its metadata are.
    let lookUps = Mutex(0)
    rig.target = MemoryTarget(beforeLookUp: { _ in
      let number = lookUps.withLock { lookUps in
        lookUps += 1
        return lookUps
      }
      if number == 2 { unlink("\(path)/b.jpg") }
    })
    let (summary, outcomes) = try await rig.run([folder.asRoot])
    #expect(summary.assetsAdded == 1)
    guard case .skipped(.vanished, let reason)? = outcomes["b.jpg"] else { throw ImportError(.unreadable, "b.jpg") }
    #expect(reason.contains("b.jpg"))
  }

  @Test("an interrupted import keeps its batches and what it read of the next, and continues", arguments: [0, 1, 2])
  func interruption(after batches: Int) async throws {
    let folder = try TemporaryFolder()
    for index in 0..<10 { try folder.write("p\(index).jpg", Self.still("\(index)", identifier: nil)) }
    var rig = try Rig()
    (rig.options.batchFileCount, rig.options.batchDuration) = (2, .seconds(3600))
    let running = Mutex<Task<ImportSummary, any Error>?>(nil)
    let target = MemoryTarget(beforeRecording: { count in
      if count == batches { running.withLock { $0?.cancel() } }
    })
    rig.target = target
    let importer = MediaImporter(target: target, resources: rig.files, tool: rig.tool, options: rig.options)
    // The lock is held while the task begins, so that it can be cancelled from its own first recording.
    let task = running.withLock { running in
      let task = Task { try await importer.run([folder.asRoot]) }
      running = task
      return task
    }
    let summary = try await task.value
    #expect(summary.wasInterrupted)
    // Of the batch after it, what was read by then is recorded too.
    #expect(((batches + 1) * 2...(batches + 2) * 2).contains(summary.assetsAdded))
    #expect(summary.notReached == 10 - summary.assetsAdded)
    let rest = try await rig.run([folder.asRoot])
    #expect(rest.summary.assetsAdded == summary.notReached && rest.summary.duplicates == summary.assetsAdded)
  }

  @Test("an import that is cancelled before it read anything of a batch leaves that batch complete")
  func interruptionWhileReading() async throws {
    let folder = try TemporaryFolder()
    for index in 0..<6 { try folder.write("p\(index).jpg", Self.still("\(index)", identifier: nil)) }
    var rig = try Rig()
    (rig.options.batchFileCount, rig.options.batchDuration) = (2, .seconds(3600))
    let running = Mutex<Task<ImportSummary, any Error>?>(nil)
    rig.target = MemoryTarget(beforeLookUp: { count in if count == 1 { running.withLock { $0?.cancel() } } })
    let importer = MediaImporter(target: rig.target, resources: rig.files, tool: rig.tool, options: rig.options)
    let task = running.withLock { running in
      let task = Task { try await importer.run([folder.asRoot]) }
      running = task
      return task
    }
    let summary = try await task.value
    // The third batch is looked up while one is recorded; the second is read by then.
    #expect(summary.assetsAdded == 4 && summary.notReached == 2 && summary.commits == 2)
    #expect(await rig.target.assets.count == 4)
  }

  @Test("metadata of a batch is read while the previous one is recorded", .timeLimit(.minutes(5)))
  func overlapping() async throws {
    let folder = try TemporaryFolder()
    for index in 0..<6 { try folder.write("p\(index).jpg", Self.still("\(index)", identifier: nil)) }
    var rig = try Rig()
    (rig.options.batchFileCount, rig.options.batchDuration) = (2, .seconds(3600))
    // The first recording ends when a file of the second batch is done.
    let (thirds, told) = AsyncStream<Void>.makeStream()
    rig.target = MemoryTarget(beforeRecording: { count in
      if count == 0 { for await _ in thirds { break } }
    })
    let importer = MediaImporter(target: rig.target, resources: rig.files, tool: rig.tool, options: rig.options)
    let summary = try await importer.run([folder.asRoot]) { if $0.filesDone >= 3 { told.yield() } }
    #expect(summary.assetsAdded == 6 && summary.commits == 3)
    #expect(await rig.target.batches.map(\.changes.count) == [2, 2, 2])
  }

  @Test("a library that rejects a batch ends the import with its error")
  func refusal() async throws {
    struct Refused: Error {}
    let folder = try TemporaryFolder()
    try folder.write("a.jpg", Self.still())
    var rig = try Rig()
    rig.target = MemoryTarget(beforeRecording: { _ in throw Refused() })
    await #expect(throws: Refused.self) { try await rig.run([folder.asRoot]) }
    #expect(await rig.target.assets.isEmpty)
  }

  @Test("files left in place are referenced by their absolute path and not copied")
  func inPlace() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("a.jpg", Self.still())
    var rig = try Rig()
    rig.options.leavesFilesInPlace = true
    _ = try await rig.run([folder.asRoot])
    let resources = await rig.target.assets.values.flatMap(\.imported.resources)
    let canonical = FilePath(URL(filePath: path.description).resolvingSymlinksInPath().path)
    #expect(resources.map(\.stored.storage) == [.referenced(path: canonical.description)])
    #expect(try FileManager.default.contentsOfDirectory(atPath: rig.library.path + "/resources") == ["incoming"])
  }

  @Test("a folder inside the one being imported that is left out is an entry of the report, with the reason")
  func ownLibrary() async throws {
    let folder = try TemporaryFolder()
    try folder.write("a.jpg", Self.still())
    try folder.write("library/resources/ab/photo", Self.still("inside"))
    var rig = try Rig()
    rig.options.excludedFolders = [FilePath("\(folder.path)/library")]
    let summary = try await rig.run([folder.asRoot]).summary
    #expect(summary.filesFound == 2 && summary.assetsAdded == 1 && summary.skipped == ["excluded": 1])
    #expect(summary.skippedFiles.first?.message.hasSuffix("/library is skipped on request.") == true)
  }

  @Test("progress reaches its end and never goes back")
  func progress() async throws {
    let rig = try Rig()
    let folder = try TemporaryFolder()
    for index in 0..<12 { try folder.write("p\(index / 2).jpg\(index % 2)", Self.still("\(index / 2)")) }
    try folder.write("t.txt", Data("text".utf8))
    let last = Mutex(ImportProgress())
    let importer = MediaImporter(target: rig.target, resources: rig.files, tool: rig.tool)
    _ = try await importer.run(
      [folder.asRoot],
      progress: { progress in
        last.withLock { last in if progress.filesDone > last.filesDone || last.filesFound == 0 { last = progress } }
      })
    let end = last.withLock { $0 }
    #expect(end.filesDone == 13 && end.filesFound == 13 && end.bytesDone == end.bytesFound)
  }
}
