import Foundation
import LibraryMaintenance
import PhotoLedger
import Synchronization
import TestSupport
import Testing

@testable import MediaImport

// A library that is moved while an import into it runs, and another that is made at its old path: bytes, commits, the
// report, and what the import knows of its files are where the library is now.

@Suite("an import into a library that is moved meanwhile")
struct MovedImportTests {
  /// What becomes of the files that are imported.
  enum Way: String, CaseIterable { case copied, referenced, moved }

  /// When the library is moved.
  enum Moment: String, CaseIterable { case beforeTheFirstFile, afterTheFirstBatch, afterHalf }

  /// Moves the directory of a library once, and makes another library at its path.
  private final class Removal: Sendable {
    private struct State {
      /// The files at the old path and when they were written last; nil before the move.
      var contents: [String: Date]?
      var failure: (any Error)?
    }

    let old: String
    let new: String
    private let state = Mutex(State())

    init(of library: PhotoLibrary) { (old, new) = (library.url.path, library.url.path + " elsewhere") }

    func happen() {
      state.withLock { state in
        guard state.contents == nil, state.failure == nil else { return }
        do {
          try #require(rename(old, new) == 0)
          try PhotoLibrary.create(at: URL(filePath: old)).close()
          state.contents = try Self.contents(old)
        } catch {
          state.failure = error
        }
      }
    }

    /// Whether the library at the old path is as it was made.
    func isOtherUntouched() throws -> Bool {
      let (contents, failure) = state.withLock { ($0.contents, $0.failure) }
      if let failure { throw failure }
      return try Self.contents(old) == (try #require(contents, "The library was not moved."))
    }

    private static func contents(_ path: String) throws -> [String: Date] {
      var found: [String: Date] = [:]
      for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
        found[name] = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")[.modificationDate] as? Date
      }
      return found
    }
  }

  /// Each way at each moment; at the usual dose each way, and each moment, at least once.
  private static let courses: [(Way, Moment)] =
    Dose.isFull
    ? Way.allCases.flatMap { way in Moment.allCases.map { (way, $0) } }
    : [
      (.copied, .beforeTheFirstFile), (.referenced, .afterTheFirstBatch), (.moved, .afterTheFirstBatch),
      (.copied, .afterHalf), (.moved, .afterHalf),
    ]

  private static let count = 12

  /// A folder with photos, a second copy of one, and a file that is not a photo.
  private static func pictures() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    for index in 0..<count { try folder.write("sea/p\(index).jpg", ImportTests.still("\(index)")) }
    try folder.write("sea/q.jpg", ImportTests.still("0"))
    try folder.write("sea/words.txt", Data("words".utf8))
    return folder
  }

  @Test(
    "files, commits, albums, the report and the known files follow the library, whatever has its old path",
    arguments: courses)
  func everything(way: Way, moment: Moment) async throws {
    let folder = try Self.pictures()
    let rig = try ImportedLibrary()
    let removal = Removal(of: rig.library)
    var options = try LibraryImport.Options().sharingTool()
    (options.batchFileCount, options.makesFolderAlbums) = (3, true)
    (options.leavesFilesInPlace, options.removesOriginals) = (way == .referenced, way == .moved)
    let summary = try await LibraryImport(into: rig.library, options: options).run(
      [folder.asRoot],
      progress: { progress in
        switch moment {
        case .beforeTheFirstFile: removal.happen()
        case .afterTheFirstBatch: if progress.assetsAdded > 0 { removal.happen() }
        case .afterHalf: if progress.filesDone > Self.count / 2 { removal.happen() }
        }
      })
    #expect(summary.assetsAdded == Self.count && summary.lostCount == 0 && !summary.wasInterrupted)
    #expect(summary.albums.first?.added == Self.count)
    #expect(try removal.isOtherUntouched())
    #expect(summary.reportFile.hasPrefix(removal.new + "/imports/"), "\(summary.reportFile)")
    let lines = try ImportedLibrary.lines(summary)
    let originals = lines.count { $0["outcome"] as? String == "original" }
    #expect(lines.count - originals == summary.filesFound + 2 && originals == (way == .moved ? Self.count + 1 : 0))
    #expect(lines.last?["summary"] != nil)
    if way == .moved {
      #expect(summary.moved?.removed == Self.count + 1)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/sea") == ["words.txt"])
    }
    rig.library.close()
    try await check(removal, folder, way, options)
  }

  /// Opens the library at its new path, looks at what it has, and imports into it again.
  private func check(_ removal: Removal, _ folder: TemporaryFolder, _ way: Way, _ options: LibraryImport.Options)
    async throws
  {
    let library = try PhotoLibrary(at: URL(filePath: removal.new))
    defer { library.close() }
    let assets = try library.fetchAssets()
    #expect(assets.count == Self.count)
    let found = try library.verify(scratch: URL(filePath: folder.path), hashingContent: true)
    #expect(found.isSound && found.missingResources.isEmpty, "\(found.missingResources)")
    for asset in assets {
      let resource = try #require(try library.resources(of: asset).first)
      let root = way == .referenced ? URL(filePath: folder.path).resolvingSymlinksInPath().path : removal.new
      #expect(library.url(of: resource).path.hasPrefix(root + "/"))
    }
    let known = KnownFiles(in: library.store.folder)
    known.refresh()
    let place = URL(filePath: folder.path).resolvingSymlinksInPath().path + "/sea/p3.jpg"
    #expect((known[FilePath(place)] != nil) == (way != .moved))
    guard way != .moved else { return }
    let again = try await LibraryImport(into: library, options: options).run([folder.asRoot])
    #expect(again.assetsAdded == 0 && again.duplicates == Self.count + 1)
  }

  @Test("a Takeout's albums and words follow the library")
  func takeout() async throws {
    let folder = try TemporaryFolder()
    for name in ["a.jpg", "b.jpg", "c.jpg"] {
      try folder.write("Takeout/Google Photos/Sea/\(name)", ImportTests.still(name))
      let words = #"{"title":"\#(name)","description":"words","photoTakenTime":{"timestamp":"1600000000"}}"#
      try folder.write("Takeout/Google Photos/Sea/\(name).supplemental-metadata.json", Data(words.utf8))
    }
    try folder.write("Takeout/Google Photos/Sea/metadata.json", Data(#"{"title":"The sea"}"#.utf8))
    let rig = try ImportedLibrary()
    let removal = Removal(of: rig.library)
    var options = LibraryImport.Options()
    options.batchFileCount = 1
    let (summary, _) = try await rig.run([folder.asRoot], options, of: .takeout) { _ in removal.happen() }
    #expect(summary.assetsAdded == 3 && summary.albums.first?.added == 3)
    #expect(try removal.isOtherUntouched())
    #expect(try ImportedLibrary.lines(summary).count == summary.filesFound + 2)
    rig.library.close()
    let library = try PhotoLibrary(at: URL(filePath: removal.new))
    defer { library.close() }
    #expect(try library.fetchAssets().allSatisfy { try library.extendedMetadata(of: $0).caption == "words" })
    #expect(try library.fetchCollections(with: .album).map(\.localizedTitle) == ["The sea"])
  }
}
