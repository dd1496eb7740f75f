import Foundation
import LibraryMaintenance
import PhotoLedger
import StoreTestSupport
import Synchronization
import TestSupport
import Testing

@testable import MediaImport

// An import that is ended, by a person, by the kernel, or by a full disk. Afterwards the library is sound, and
// importing again gives what one import without a hitch gives.

@Suite("interrupted imports")
struct InterruptedImportTests {
  /// A folder with stills, a Live Photo over two folders, a duplicate, and files that are not taken.
  static func pictures(paddedTo byteCount: Int = 0) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    for index in 0..<24 {
      var data = ImportTests.still("\(index)", identifier: index == 20 ? ImportTests.identifier : nil)
      if byteCount > data.count { data += Data(repeating: UInt8(index), count: byteCount - data.count) }
      try folder.write("d\(index % 4)/p\(index).jpg", data)
    }
    try folder.write("a/movie.mov", TinyMedia.movie(contentIdentifier: ImportTests.identifier))
    try folder.write("z/again.mov", TinyMedia.movie(contentIdentifier: ImportTests.identifier))
    try folder.write("z/text.txt", Data("text".utf8))
    return folder
  }

  static func options(_ batch: Int) -> LibraryImport.Options {
    var options = LibraryImport.Options()
    options.batchFileCount = batch
    return options
  }

  /// What one import of the pictures gives, with their own sizes; the same for all tests.
  private static let whole: Task<[String], any Error> = Task { try await wholeContent(of: pictures()) }

  static func wholeContent(of folder: TemporaryFolder) async throws -> [String] {
    let rig = try ImportedLibrary()
    _ = try await rig.run([folder.asRoot])
    #expect(try rig.assets().count == 24)
    return try rig.content()
  }

  @Test("cancelled after any number of files, it records what was read, and the next import completes it")
  func cancelled() async throws {
    let folder = try Self.pictures()
    let whole = try await Self.whole.value
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix(state: seed)
    var interrupted = 0
    // Each ends the exiftool that reads for it, and the next one starts another: few at the usual dose.
    let count = Dose.isFull ? 11 : 4
    // Cancelled before the first file, it has something left in any case.
    for limit in [0] + (0..<count).map({ _ in Int.random(in: 0...27, using: &random) }) {
      let rig = try ImportedLibrary()
      let running = Mutex<Task<ImportSummary, any Error>?>(nil)
      let cancelWhenDone: @Sendable (ImportProgress) -> Void = { progress in
        if progress.filesDone >= limit { running.withLock { $0?.cancel() } }
      }
      let importer = try LibraryImport(into: rig.library, options: Self.options(3).sharingTool())
      let task = running.withLock { slot in
        let task = Task { () throws -> ImportSummary in
          try await importer.run([folder.asRoot], progress: cancelWhenDone)
        }
        slot = task
        return task
      }
      let summary = try await task.value
      interrupted += summary.wasInterrupted ? 1 : 0
      let found = try rig.verify()
      #expect(found.isSound && found.missingResources.isEmpty, "seed \(seed), \(limit) files")
      #expect(try rig.assets().count == summary.assetsAdded, "seed \(seed), \(limit) files")
      _ = try await rig.run([folder.asRoot])
      #expect(try rig.content() == whole, "seed \(seed), \(limit) files")
    }
    #expect(interrupted > 0, "seed \(seed)")
  }

  @Test("cancelled while it reads a long film, it ends at once, with what was read before", arguments: [false, true])
  func stoppedInFilm(leavesFilesInPlace: Bool) async throws {
    let folder = try TemporaryFolder()
    try folder.write("a.jpg", ImportTests.still("a"))
    try folder.write("b.mov", TinyMedia.movie())
    // A hole of so many bytes takes minutes to hash; what is not a film is not hashed.
    let film = try FileHandle(forWritingTo: URL(filePath: "\(folder.path)/b.mov"))
    try film.truncate(atOffset: 256 << 30)
    try film.close()
    var options = Self.options(1)
    options.leavesFilesInPlace = leavesFilesInPlace
    let rig = try ImportedLibrary()
    let running = Mutex<Task<ImportSummary, any Error>?>(nil)
    let cancelAfterFirst: @Sendable (ImportProgress) -> Void = { progress in
      if progress.filesDone == 1 { running.withLock { $0?.cancel() } }
    }
    let importer = try LibraryImport(into: rig.library, options: options.sharingTool())
    let task = running.withLock { slot in
      let task = Task { () throws -> ImportSummary in
        try await importer.run([folder.asRoot], progress: cancelAfterFirst)
      }
      slot = task
      return task
    }
    let summary = try await task.value
    #expect(summary.wasInterrupted && summary.assetsAdded == 1 && summary.notReached == 1)
    #expect(try rig.assets().count == 1 && rig.verify().isSound)
  }

  /// What became of each file, without the identifiers of assets.
  private static func kinds(_ outcomes: [String: FileOutcome]) -> [String: String] {
    outcomes.mapValues { outcome in
      switch outcome {
      case .asset: "asset"
      case .resource(_, let type): type.name
      case .duplicateOfFile(let path): "duplicate of \(path.name)"
      case .duplicateOfAsset: "duplicate"
      case .sidecar: "sidecar"
      case .describes: "describes"
      case .describesAlbum: "describes an album"
      case .skipped(let reason, _): reason.rawValue
      case .notReached: "not reached"
      }
    }
  }

  /// What an import gives that is compared with another one of the same files.
  private struct Course: Sendable {
    let summary: ImportSummary
    let kinds: [String: String]
    let content: [String]
    /// Whether the RAW file of a name is a resource of its JPEG.
    let hasRawBehind: Bool
    let lineCount: Int
  }

  /// One import of the pictures with those of a camera that writes two files for a shot.
  /// - Parameter duration: how long a batch takes at most.
  private static func course(_ duration: Duration) async throws -> Course {
    let folder = try Self.pictures()
    let nikon = TinyMedia.Photo(make: "NIKON CORPORATION", model: "NIKON D70")
    for index in 0..<4 {
      var photo = nikon
      photo.dateTimeOriginal = "2021:02:03 04:05:1\(index)"
      try folder.write("r/DSC_\(index).JPG", TinyMedia.jpeg(photo))
      try folder.write("r/DSC_\(index).NEF", TinyMedia.tiff(photo, isWithSize: true))
      try folder.write("r/DSC_\(index).xmp", Data("<x/>".utf8))
      try folder.write("s/copy\(index).jpg", TinyMedia.jpeg(photo))
      try folder.write("s/empty\(index).jpg", Data())
    }
    var options = LibraryImport.Options()
    options.batchDuration = duration
    let rig = try ImportedLibrary()
    let (summary, outcomes) = try await rig.run([folder.asRoot], options)
    let hasRawBehind = if case .resource(_, .alternatePhoto)? = outcomes["r/DSC_1.NEF"] { true } else { false }
    return Course(
      summary: summary, kinds: Self.kinds(outcomes), content: try rig.content(), hasRawBehind: hasRawBehind,
      lineCount: try ImportedLibrary.lines(summary).count)
  }

  /// The course in one batch; the same for all tests.
  private static let inOneBatch: Task<Course, any Error> = Task { try await course(.seconds(3600)) }

  @Test(
    "a batch ends when its time is over, between two names; every file has the outcome that it has in one batch",
    arguments: Dose.isFull ? [Duration.zero, .milliseconds(1), .milliseconds(20)] : [.zero, .milliseconds(20)])
  func batchesEndInTime(duration: Duration) async throws {
    let (one, many) = (try await Self.inOneBatch.value, try await Self.course(duration))
    let (all, cut) = (one.summary, many.summary)
    #expect(all.commits <= 2 && cut.commits >= all.commits)
    if duration == .zero { #expect(cut.commits >= 28, "Each name is a commit of its own.") }
    #expect(many.kinds == one.kinds && many.hasRawBehind && many.content == one.content)
    #expect(cut.filesFound == all.filesFound && cut.skipped == all.skipped && cut.duplicates == all.duplicates)
    #expect(many.lineCount == cut.filesFound + 2)
  }

  @Test("unless another duration is set, a batch ends after a second of reading")
  func usualBatchDuration() async throws {
    let folder = try TemporaryFolder()
    for index in 0..<12 { try folder.write("\(index).jpg", ImportTests.still("\(index)", identifier: nil)) }
    // Each file whose metadata are read takes a tenth of a second.
    let done = Mutex(0)
    let start = ContinuousClock.now
    var options = LibraryImport.Options()
    options.threadCount = 1
    options.instant = { start + .milliseconds(100 * done.withLock { $0 }) }
    let rig = try ImportedLibrary()
    let importer = try LibraryImport(into: rig.library, options: options.sharingTool())
    let summary = try await importer.run([folder.asRoot]) { progress in
      done.withLock { $0 = progress.filesDone }
    }
    #expect(summary.assetsAdded == 12)
    #expect(summary.commits == 3, "Half a second of reading ends with the fifth file.")
  }

  @Test("cancelled while exiftool hangs, it ends at once and records what was read", .timeLimit(.minutes(30)))
  func stoppedWhileHanging() async throws {
    let folder = try TemporaryFolder()
    for name in ["a", "b", "hang", "z"] { try folder.write("\(name).jpg", ImportTests.still(name, identifier: nil)) }
    let rig = try Rig()
    let (summary, child) = try await rig.stopped([folder.asRoot], whereToolHangsOn: "*hang*")
    #expect(summary.wasInterrupted && summary.assetsAdded == 2 && summary.notReached == 2)
    #expect(await rig.target.assets.count == 2)
    #expect(ExifToolTests.isGone(child))
  }

  // Each starts a process of its own with an exiftool, so there are few at the usual dose: first, last, two between.
  @Test(
    "killed at any point, it leaves a sound library, and the next import completes it",
    arguments: Dose.isFull ? Array(0..<8) : [0, 2, 5, 7])
  func killed(point: Int) async throws {
    let folder = try Self.pictures()
    let whole = try await Self.whole.value
    let place = try TemporaryFolder()
    let (source, target) = (folder.path, place.path)
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [source = source as String, target = target as String, point = point as Int] in
      let library = try PhotoLibrary.create(at: ImportedLibrary.place(in: target))
      let count = Mutex(0)
      _ = try await LibraryImport(into: library, options: InterruptedImportTests.options(4).inKilledProcess()).run(
        [FilePath(source)],
        progress: { _ in
          // A file done, or a commit done.
          let isTime = count.withLock { count in
            count += 1
            return count > point * 4
          }
          if isTime { kill(getpid(), SIGKILL) }
        })
      kill(getpid(), SIGKILL)
    }
    let library = try PhotoLibrary(at: ImportedLibrary.place(in: target))
    defer { library.close() }
    let found = try library.verify(scratch: URL(filePath: target), hashingContent: true)
    #expect(found.isSound && found.missingResources.isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: library.url.path + "/resources/incoming").isEmpty)
    _ = try await LibraryImport(into: library, options: .init().sharingTool()).run([folder.asRoot])
    #expect(try ImportedLibrary.content(of: library) == whole)
  }

  @Test("a full disk ends it with its own error; reads still work; with room again it continues", .mountsMemory)
  func diskFull() async throws {
    let folder = try Self.pictures(paddedTo: 300_000)
    let whole = try await Self.wholeContent(of: folder)
    let place = try TemporaryFolder()
    try #require(mount("tmpfs", place.path, "tmpfs", 0, "size=4m") == 0)
    // At once, though a program that another test starts has copies of the descriptors for a moment.
    defer { umount2(place.path, Int32(MNT_DETACH)) }
    do {
      let library = try PhotoLibrary.create(at: ImportedLibrary.place(in: place.path))
      defer { library.close() }
      let importer = try LibraryImport(into: library, options: Self.options(3).sharingTool())
      let error = await #expect(throws: ImportError.self) { try await importer.run([folder.asRoot]) }
      #expect(error?.code == .diskFull && error?.description.contains("space") == true)
      let count = try ImportedLibrary.content(of: library).count
      #expect(count > 0 && count < whole.count)
      #expect(mount("tmpfs", place.path, "tmpfs", UInt(MS_REMOUNT), "size=64m") == 0)
      _ = try await importer.run([folder.asRoot])
      #expect(try ImportedLibrary.content(of: library) == whole)
      let found = try library.verify(scratch: URL(filePath: place.path), hashingContent: true)
      #expect(found.isSound && found.missingResources.isEmpty)
    }
  }

  @Test("a photo that is purged before the albums are filled is left out of its album, and the others are filled")
  func purgedMember() async throws {
    let folder = try TemporaryFolder()
    for path in ["a/1.jpg", "a/2.jpg", "b/3.jpg"] { try folder.write(path, ImportTests.still(path, identifier: nil)) }
    let rig = try ImportedLibrary()
    var options = LibraryImport.Options()
    (options.makesFolderAlbums, options.batchDuration) = (true, .seconds(600))
    let (summary, _) = try await rig.run(
      [folder.asRoot], options,
      report: { file in
        guard case .asset(let asset) = file.outcome, file.path.name == "1.jpg" else { return }
        do {
          try rig.library.performChangesAndWait { $0.deleteAssets([asset]) }
          try rig.library.performChangesAndWait { $0.purgeAssets([asset]) }
        } catch {
          Issue.record(error)
        }
      })
    #expect(
      summary.albums == [
        ImportedAlbum(title: "a", memberCount: 1, isNew: true, added: 1, named: 2),
        ImportedAlbum(title: "b", memberCount: 1, isNew: true, added: 1, named: 1),
      ])
    let albums = try rig.library.fetchCollections(with: .album).map { album in
      try rig.members(of: album).map { id in
        let asset = try #require(try rig.library.asset(id.uuidString))
        return try rig.library.resources(of: asset)[0].originalFilename
      }
    }
    #expect(albums == [["2.jpg"], ["3.jpg"]])
    let lines = try ImportedLibrary.lines(summary)
    #expect(lines.last?["summary"] != nil && !summary.wasInterrupted)
  }

  @Test("assets that the library no longer has are left out of an album, and counted")
  func goneMembers() async throws {
    let folder = try TemporaryFolder()
    for path in ["1.jpg", "2.jpg"] { try folder.write(path, ImportTests.still(path, identifier: nil)) }
    let rig = try ImportedLibrary()
    _ = try await rig.run([folder.asRoot])
    let assets = try rig.assets().map(\.id)
    let target = LibraryTarget(library: rig.library, cause: "test", run: "run")
    let place = AlbumPlace(title: "Sea", ordinal: 0, count: 1)
    let gone = LocalIdentifier(high: 1, low: 2)
    let first = try await target.place([gone] + assets, in: place)
    #expect(first == PlacedMembers(isNew: true, added: 2, commits: 1, gone: 1))
    let second = try await target.place([gone] + assets, in: place)
    #expect(second == PlacedMembers(isNew: false, added: 0, commits: 0, gone: 1))
    #expect(try await target.place([gone], in: AlbumPlace(title: "Sun", ordinal: 0, count: 1)).gone == 1)
    #expect(try rig.library.fetchCollections(with: .album).map(\.localizedTitle) == ["Sea"])
  }
}

/// Random numbers from a seed that a failure can name.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
