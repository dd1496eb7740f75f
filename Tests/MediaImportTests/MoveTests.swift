import Foundation
import Glibc
import LibraryMaintenance
import PhotoLedger
import Synchronization
import TestSupport
import Testing

@testable import MediaImport

// Originals go only with proof: each test breaks one of the proofs between the commit and the removal, which is where
// the report of a batch is written.

@Suite("moving instead of copying")
struct MoveTests {
  private static var options: LibraryImport.Options {
    var options = LibraryImport.Options()
    options.removesOriginals = true
    return options
  }

  private static func still(_ name: String) -> Data { ImportTests.still(name, identifier: nil) }

  /// The names that are left in a folder.
  private static func left(_ folder: MediaImportTests.TemporaryFolder) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
  }

  /// The reasons for which files stayed, by their name.
  private static func reasons(_ summary: ImportSummary) -> [String: String] {
    Dictionary(
      uniqueKeysWithValues: (summary.moved?.keptFiles ?? []).map { (FilePath($0.path).name, $0.message) })
  }

  @Test("originals and their duplicates go, and sidecars, links, folders and other files stay and are listed")
  func moved() async throws {
    let folder = try MediaImportTests.TemporaryFolder()
    let outside = try MediaImportTests.TemporaryFolder()
    try folder.write("a.jpg", Self.still("a"))
    try folder.write("deep/a-copy.jpg", Self.still("a"))
    try folder.write("live.jpg", ImportTests.still("live"))
    try folder.write("live.mov", TinyMedia.movie(contentIdentifier: ImportTests.identifier))
    try folder.write("a.jpg.xmp", Data("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"></x:xmpmeta>".utf8))
    try folder.write("notes.txt", Data("words".utf8))
    let target = try outside.write("linked.jpg", Self.still("linked"))
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder.path)/link.jpg", withDestinationPath: target.description)
    let rig = try ImportedLibrary()
    let (summary, _) = try await rig.run([folder.asRoot], Self.options)
    #expect(try Self.left(folder) == ["a.jpg.xmp", "deep", "link.jpg", "notes.txt"])
    #expect(summary.moved?.removed == 4 && summary.moved?.kept == 3)
    let reasons = Self.reasons(summary)
    #expect(reasons["a.jpg.xmp"]?.contains("sidecars are not removed") == true, "\(reasons)")
    #expect(reasons["link.jpg"]?.contains("links are not removed") == true)
    #expect(reasons["notes.txt"]?.contains("is not a photo or video") == true)
    #expect(FileManager.default.fileExists(atPath: target.description))
    #expect(try rig.assets().count == 3)
    let verified = try rig.verify()
    #expect(verified.isSound && verified.missingResources.isEmpty, "\(verified)")
    // Nothing is known of paths that have no file any more.
    let known = KnownFiles(in: rig.library.store.folder)
    known.refresh()
    #expect(known[FilePath("\(folder.path)/a.jpg")] == nil && known[FilePath("\(folder.path)/notes.txt")] != nil)
    let plain = try await rig.run([folder.asRoot]).summary
    #expect(plain.moved == nil && plain.duplicates == 1)
  }

  @Test("an original that is written or replaced after it was read stays, with what it has by then")
  func changed() async throws {
    for isReplaced in [false, true] {
      let folder = try MediaImportTests.TemporaryFolder()
      let path = try folder.write("a.jpg", Self.still("a")).description
      try folder.write("b.jpg", Self.still("b"))
      let rig = try ImportedLibrary()
      let data = Self.still("a")
      let (summary, _) = try await rig.run([folder.asRoot], Self.options) { file in
        guard file.relativePath.name == "a.jpg" else { return }
        // The same bytes under the same name, and with the former times where it is another file.
        var status = stat()
        #expect(stat(path, &status) == 0)
        if isReplaced { #expect(unlink(path) == 0) }
        #expect(FileManager.default.createFile(atPath: path, contents: data))
        var times = [status.st_atim, status.st_mtim]
        #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
      }
      #expect(try Self.left(folder) == ["a.jpg"], "\(isReplaced)")
      #expect(Self.reasons(summary)["a.jpg"]?.contains("was changed after it was read") == true)
      #expect(summary.moved?.removed == 1 && summary.moved?.kept == 1)
    }
  }

  @Test("without a copy in the library that has the hash, the original stays", arguments: [false, true])
  func damaged(isRemoved: Bool) async throws {
    let folder = try MediaImportTests.TemporaryFolder()
    try folder.write("a.jpg", Self.still("a"))
    let rig = try ImportedLibrary()
    let (summary, _) = try await rig.run([folder.asRoot], Self.options) { [rig] _ in
      // Not a test of the caller: the closure only breaks the copy.
      let names = (try? rig.storedFiles()) ?? []
      for name in names {
        let copy = rig.library.url.appending(path: "resources/\(name)").path
        chmod(copy, 0o600)
        if isRemoved {
          unlink(copy)
        } else if let file = FileHandle(forUpdatingAtPath: copy) {
          file.write(Data([0]))
          try? file.close()
        }
      }
    }
    #expect(try Self.left(folder) == ["a.jpg"])
    let reason = Self.reasons(summary)["a.jpg"]
    #expect(reason?.contains(isRemoved ? "copy is missing" : "does not have its hash") == true, "\(reason ?? "")")
    #expect(summary.moved?.removed == 0)
  }

  @Test("a run that was stopped before the removal goes on, and proves anew what it did not read")
  func goesOn() async throws {
    let folder = try MediaImportTests.TemporaryFolder()
    for index in 0..<5 { try folder.write("\(index).jpg", Self.still("\(index)")) }
    // Older than what is too fresh to be known.
    for index in 0..<5 {
      var times = [timespec(tv_sec: 1_600_000_000, tv_nsec: 0), timespec(tv_sec: 1_600_000_000, tv_nsec: 0)]
      #expect(utimensat(AT_FDCWD, "\(folder.path)/\(index).jpg", &times, 0) == 0)
    }
    let rig = try ImportedLibrary()
    // As after a kill between the commit and the first removal.
    _ = try await rig.run([folder.asRoot])
    let known = KnownFiles(in: rig.library.store.folder)
    known.refresh()
    // Of one file the record is wrong: other bytes with the size and times of before.
    let path = FilePath("\(folder.path)/3.jpg")
    let other = Self.still("9")
    #expect(other.count == Self.still("3").count)
    try other.write(to: URL(filePath: path.description))
    var status = stat()
    #expect(path.withCString { stat($0, &status) } == 0)
    var record = try #require(known[path])
    record.state = FileState(SourceStamp(status))
    try known.record([(path, record)])
    let (summary, _) = try await rig.run([folder.asRoot], Self.options)
    #expect(try Self.left(folder) == ["3.jpg"])
    #expect(summary.duplicates == 5 && summary.moved?.removed == 4)
    #expect(Self.reasons(summary)["3.jpg"]?.contains("no asset has its content") == true, "\(Self.reasons(summary))")
  }

  @Test("an original that an asset refers to, or whose asset is in the trash, stays")
  func referencedAndTrashed() async throws {
    let folder = try MediaImportTests.TemporaryFolder()
    try folder.write("a.jpg", Self.still("a"))
    let rig = try ImportedLibrary()
    var inPlace = LibraryImport.Options()
    inPlace.leavesFilesInPlace = true
    _ = try await rig.run([folder.asRoot], inPlace)
    let first = try await rig.run([folder.asRoot], Self.options).summary
    #expect(Self.reasons(first)["a.jpg"]?.contains("refers to a file of this content") == true)
    #expect(try Self.left(folder) == ["a.jpg"])

    let other = try ImportedLibrary()
    _ = try await other.run([folder.asRoot])
    let ids = try other.assets().map(\.id)
    try await other.library.performChanges { $0.deleteAssets(ids) }
    let second = try await other.run([folder.asRoot], Self.options).summary
    #expect(Self.reasons(second)["a.jpg"]?.contains("is in the trash") == true)
    #expect(try Self.left(folder) == ["a.jpg"])
  }
}
