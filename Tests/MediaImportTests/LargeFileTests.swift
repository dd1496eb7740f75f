import Foundation
import PhotoLedger
import TestSupport
import Testing

@testable import MediaImport

@Suite("importing large files")
struct LargeFileTests {
  // Hashing so much takes more than half an hour.

  @Test("a large file that is not a photo or video is not read to its end", .timeLimit(.minutes(10)))
  func images() async throws {
    let folder = try TemporaryFolder()
    try folder.write("a.jpg", ImportTests.still("beside"))
    try folder.write("a.jpg.json", Data(#"[{"SourceFile": "a.jpg", "XMP-dc:Description": "words"}]"#.utf8))
    for (name, head) in [("text.img", "no photo"), ("zeros.img", "")] {
      let path = try folder.write(name, Data(head.utf8))
      let file = try FileHandle(forWritingTo: URL(filePath: path.description))
      try file.truncate(atOffset: 4 << 40)
      try file.close()
    }
    var options = LibraryImport.Options()
    // Files of equal size are read before the import, if something is said about any file.
    options.readsSidecars = true
    let rig = try ImportedLibrary()
    let (summary, outcomes) = try await rig.run([folder.asRoot], options)
    #expect(summary.assetsAdded == 1 && summary.described == 1, "\(outcomes)")
    #expect(summary.skipped == ["notMedia": 2] && summary.lostCount == 0, "\(summary.skippedFiles)")
  }

  @Test("what becomes of files does not depend on how large a large file is")
  func sameOutcomes() async throws {
    let folder = try TemporaryFolder()
    try folder.write("a.jpg", ImportTests.still("one", identifier: nil))
    try folder.write("b.jpg", ImportTests.still("one", identifier: nil))
    try folder.write("c.mov", TinyMedia.movie(contentIdentifier: ImportTests.identifier))
    try folder.write("empty.jpg", Data())
    for name in ["text.jpg", "words.txt"] { try folder.write(name, Data("no photo\n".utf8)) }
    var found: [(summary: ImportSummary, content: [String])] = []
    for byteCount in [Int64(0), .max] {
      let rig = try ImportedLibrary()
      var options = LibraryImport.Options()
      options.largeByteCount = byteCount
      let (summary, _) = try await rig.run([folder.asRoot], options)
      found.append((summary, try rig.content()))
    }
    let (asked, read) = (found[0], found[1])
    #expect(asked.content == read.content && asked.content.count == 2)
    #expect(asked.summary.duplicates == 1 && read.summary.duplicates == 1)
    #expect(asked.summary.skipped == ["empty": 1, "notMedia": 2] && asked.summary.skipped == read.summary.skipped)
    #expect(asked.summary.skippedFiles == read.summary.skippedFiles)
  }

  @Test("a large file that cannot be opened has the outcome of reading it, whatever exiftool says about it")
  func unopened() throws {
    let folder = try TemporaryFolder()
    let path = folder.asRoot.appending(Array("gone.img".utf8))
    let file = ScannedFile(path: path, relativeCount: 8, role: .candidate, byteCount: 1)
    let large = ImportRun.LargeFiles(tool: try SharedTool.exiftool(), byteCount: 0)
    let result = ImportRun.hashed(0, file, nil, large, StopFlag())
    guard case .failure(let error) = result else {
      Issue.record("It is not there.")
      return
    }
    #expect(error.code == .vanished)
  }
}
