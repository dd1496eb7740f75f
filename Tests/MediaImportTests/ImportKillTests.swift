import Foundation
import Glibc
import LibraryMaintenance
import PhotoLedger
import Synchronization
import TestSupport
import Testing

@testable import MediaImport

// Imports of every kind of source are killed at random points: at a random callback of their progress, which comes
// after each file and each commit, or after a random time, which can be in the middle of a commit or of a removal.
// After each kill the library is sound and no original is lost; the next import goes on, is killed in its turn, and the
// last one gives what an import without a kill gives.
//
//     PHOTOLEDGER_TEST_DOSE=42 swift test --filter ImportKillTests        504 kills

@Suite("imports that are killed")
struct ImportKillTests {
  /// How many imports of each source are killed.
  static var kills: Int { Dose.of(2) }

  enum Source: Int, CaseIterable {
    case copied, referenced, moved, takeout, takeoutArchives, iCloudArchives

    var export: MediaExport {
      switch self {
      case .copied, .referenced, .moved: .folders
      case .takeout, .takeoutArchives: .takeout
      case .iCloudArchives: .iCloud
      }
    }

    var options: LibraryImport.Options {
      var options = LibraryImport.Options()
      options.batchFileCount = 4
      options.makesFolderAlbums = export == .folders
      options.leavesFilesInPlace = self == .referenced
      options.removesOriginals = self == .moved
      return options
    }

    var isPossible: Bool { export == .folders || TakeoutImportTests.canUnpack }

    /// Makes the files of the source.
    func parts(in folder: MediaImportTests.TemporaryFolder) throws -> [FilePath] {
      switch self {
      case .takeout: return try TakeoutCourseTests.parts(ModelTakeout(seed: 32), .mixed, in: folder)
      case .takeoutArchives: return try TakeoutCourseTests.parts(ModelTakeout(seed: 35), .zips, in: folder)
      case .iCloudArchives:
        for file in ICloudImportTests.files(ICloudImportTests.photos(seed: 3)) {
          try folder.write("part\(file.part)/\(file.path)", file.data)
        }
        return try (0..<3).map { part in
          let target = "\(folder.path)/iCloud Photos Part \(part + 1) of 3.zip"
          let source = "\(folder.path)/part\(part)"
          try TakeoutImportTests.run(["bsdtar", "--format=zip", "-cf", target, "-C", source, "."])
          return FilePath(target)
        }
      case .copied, .referenced, .moved:
        for index in 0..<16 {
          let identifier = index == 12 ? ImportTests.identifier : nil
          try folder.write("d\(index % 4)/p\(index).jpg", ImportTests.still("\(index)", identifier: identifier))
        }
        try folder.write("a/movie.mov", TinyMedia.movie(contentIdentifier: ImportTests.identifier))
        try folder.write("z/again.mov", TinyMedia.movie(contentIdentifier: ImportTests.identifier))
        for number in 1000..<1004 {
          try folder.write("e/IMG_\(number).JPG", AppleFiles.photo("original \(number)"))
          try folder.write("e/IMG_E\(number).JPG", AppleFiles.photo("edit \(number)", isRendered: true))
          try folder.write("e/IMG_\(number).AAE", AppleFiles.adjustmentData("edit \(number)"))
        }
        for (path, data) in StackImportTests.all { try folder.write("s/\(path)", data) }
        return [folder.asRoot]
      }
    }
  }

  /// Imports and is killed, at the latest when all is done.
  static func importAndDie(_ source: Source, _ parts: [FilePath], into place: URL, point: Int, delay: Int) async throws
  {
    let isThere = FileManager.default.fileExists(atPath: place.path)
    let library = try isThere ? PhotoLibrary(at: place) : PhotoLibrary.create(at: place)
    if delay > 0 {
      Thread.detachNewThread {
        usleep(UInt32(delay))
        kill(getpid(), SIGKILL)
      }
    }
    let count = Atomic(0)
    _ = try await LibraryImport(into: library, options: source.options.inKilledProcess()).run(
      parts, of: source.export,
      progress: { _ in
        if count.add(1, ordering: .relaxed).newValue == point { kill(getpid(), SIGKILL) }
      })
    kill(getpid(), SIGKILL)
  }

  @Test(
    "killed repeatedly at any point, the library is sound, no original is lost, and the last import is complete",
    .timeLimit(.minutes(60)), arguments: Source.allCases.filter(\.isPossible))
  func killed(source: Source) async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    let shared = try MediaImportTests.TemporaryFolder()
    let sharedParts = try source.parts(in: shared)
    let whole = try ImportedLibrary()
    let callbacks = Atomic(0)
    let began = ContinuousClock.now
    var options = source.options
    options.removesOriginals = false
    _ = try await LibraryImport(into: whole.library, options: options.inKilledProcess()).run(
      sharedParts, of: source.export, progress: { _ in callbacks.add(1, ordering: .relaxed) })
    let duration = max(1, Int((ContinuousClock.now - began) / .microseconds(1)))
    let expected = try TakeoutCourseTests.content(whole.library)
    var left = Self.kills
    while left > 0 {
      let own = source == .moved ? try MediaImportTests.TemporaryFolder() : shared
      let parts = source == .moved ? try source.parts(in: own) : sharedParts
      let originals = source == .moved ? try Self.contents(of: own) : [:]
      let place = try MediaImportTests.TemporaryFolder()
      let library = ImportedLibrary.place(in: place.path)
      // At the usual dose the second one goes on where the first was killed.
      let repetitions = Dose.isFull ? random.int(1..<5) : Self.kills
      for _ in 0..<min(left, repetitions) {
        left -= 1
        let point = random.chance(1, of: 2) ? random.int(1..<callbacks.load(ordering: .relaxed) + 1) : 0
        let delay = point == 0 ? random.int(1..<duration + 1) : 0
        let what: Comment = "seed \(seed), \(left) left: \(source) after \(point) callbacks or \(delay) µs"
        let (names, target) = (parts.map(\.description).joined(separator: "\n"), library.path)
        await #expect(processExitsWith: .signal(SIGKILL), what) {
          [
            which = source.rawValue as Int, names = names as String, target = target as String, point = point as Int,
            delay = delay as Int
          ] in
          try await ImportKillTests.importAndDie(
            #require(Source(rawValue: which)), names.split(separator: "\n").map { FilePath(String($0)) },
            into: URL(filePath: target), point: point, delay: delay)
        }
        try Self.check(library, originals, place, what)
      }
      let opened = try PhotoLibrary(at: library)
      defer { opened.close() }
      let summary = try await LibraryImport(into: opened, options: source.options.sharingTool()).run(
        parts, of: source.export)
      #expect(!summary.wasInterrupted)
      #expect(try TakeoutCourseTests.content(opened) == expected, "seed \(seed), \(left) left: \(source)")
      if source == .moved { #expect(try Self.contents(of: own).isEmpty, "seed \(seed), \(left) left") }
    }
    print("\(Self.kills) kills of imports, \(source)")
  }

  /// The contents of the files of a folder.
  private static func contents(of folder: MediaImportTests.TemporaryFolder) throws -> [FilePath: [UInt8]] {
    var contents: [FilePath: [UInt8]] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
      let path = FilePath("\(folder.path)/\(name)")
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: path.description, isDirectory: &isFolder), !isFolder.boolValue else {
        continue
      }
      contents[path] = try FileContent(of: path).sha256
    }
    return contents
  }

  private static func check(
    _ place: URL, _ originals: [FilePath: [UInt8]], _ scratch: MediaImportTests.TemporaryFolder, _ what: Comment
  ) throws {
    let library = try PhotoLibrary(at: place)
    defer { library.close() }
    let found = try library.verify(scratch: URL(filePath: scratch.path), hashingContent: true)
    #expect(found.isSound && found.missingResources.isEmpty, what)
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.path + "/resources/incoming").isEmpty, what)
    for (path, content) in originals {
      let isThere = FileManager.default.fileExists(atPath: path.description)
      #expect(
        try isThere ? FileContent(of: path).sha256 == content : !library.assets(withContent: content).isEmpty, what)
    }
  }
}
