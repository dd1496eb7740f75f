import Foundation
import TestSupport
import Testing

@testable import PhotoLedger

@Suite("storing bytes")
struct ResourceStoreTests {
  static func incoming(_ folder: ScratchFolder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path + "/resources/incoming")
  }

  @Test(
    "SHA-256 of a file is that of FIPS 180-4, whatever its size",
    arguments: [
      (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      (1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ])
  func hash(count: Int, digest: String) throws {
    let folder = try ScratchFolder()
    let path = try folder.write("x", Data(repeating: UInt8(ascii: "a"), count: count))
    #expect(try FileContent(of: path).sha256.hexadecimal == digest)
  }

  @Test("a stored file is complete, read-only, named by its hash, and leaves nothing behind")
  func store() throws {
    let folder = try ScratchFolder()
    let files = try ResourceStore(library: URL(filePath: folder.path))
    let data = Data((0..<3_000_001).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    let path = try folder.write("source", data)
    let digest = try FileContent(of: path).sha256
    let stored = try files.store(fileAt: path, expecting: digest)
    try files.synchronize()
    #expect(stored.sha256 == digest && stored.dataSize == 3_000_001)
    #expect(stored.storage == .library)
    #expect(try Data(contentsOf: URL(filePath: files.path(ofContent: digest))) == data)
    var status = stat()
    #expect(stat(files.path(ofContent: digest), &status) == 0 && status.st_mode & 0o222 == 0)
    #expect(try Self.incoming(folder).isEmpty)
    #expect(try files.store(fileAt: path) == stored, "Storing it again is the same.")
    #expect(try Self.incoming(folder).isEmpty)
  }

  @Test("a file that no longer holds what was read is rejected and not stored")
  func changed() throws {
    let folder = try ScratchFolder()
    let files = try ResourceStore(library: URL(filePath: folder.path))
    let path = try folder.write("source", Data("before".utf8))
    let digest = try FileContent(of: path).sha256
    try folder.write("source", Data("after!".utf8))
    let error = #expect(throws: LibraryError.self) { try files.store(fileAt: path, expecting: digest) }
    #expect(error?.code == .resourceChanged)
    #expect(throws: LibraryError.self) { try files.reference(fileAt: path, expecting: digest) }
    #expect(try Self.incoming(folder).isEmpty)
    #expect(access(files.path(ofContent: digest), F_OK) != 0)
  }

  @Test("a file whose stamp changes between opening and the last byte is rejected")
  func changedStamp() throws {
    let folder = try ScratchFolder()
    let path = try folder.write("source", Data("content".utf8))
    let source = try SourceFile(path)
    try source.checkUnchanged(bytesRead: 7)
    var times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
    _ = path.withCString { utimensat(AT_FDCWD, $0, &times, 0) }
    var code: LibraryError.Code?
    do throws(LibraryError) { try source.checkUnchanged(bytesRead: 7) } catch { code = error.code }
    #expect(code == .resourceChanged)
  }

  @Test("many threads storing one content make one file")
  func contention() async throws {
    let folder = try ScratchFolder()
    let files = try ResourceStore(library: URL(filePath: folder.path))
    let paths = try (0..<16).map { try folder.write("copy\($0)", Data(repeating: 7, count: 500_000)) }
    let stored = try await withThrowingTaskGroup(of: StoredContent.self) { group in
      for path in paths { group.addTask { try files.store(fileAt: path) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(Set(stored).count == 1 && stored.count == 16)
    #expect(try Self.incoming(folder).isEmpty)
  }

  @Test("unfinished files of a killed import are removed; those of a running one are not")
  func leftovers() throws {
    let folder = try ScratchFolder()
    let child = try ChildRun(URL(filePath: "/bin/true"), [])
    child.end()
    try folder.write("resources/incoming/\(child.identifier).1", Data("half".utf8))
    try folder.write("resources/incoming/1.1", Data("another's".utf8))
    _ = try ResourceStore(library: URL(filePath: folder.path))
    #expect(try Self.incoming(folder) == ["1.1"])
  }

  @Test("a FIFO in a file's place does not hang the import")
  func fifo() throws {
    let folder = try ScratchFolder()
    let path = folder.asRoot.appending(Array("pipe".utf8))
    mkfifo(path.description, 0o600)
    #expect(throws: LibraryError.self) { _ = try FileContent(of: path) }
  }

  @Test("a missing library is an error that names the folder")
  func noLibrary() {
    let error = #expect(throws: LibraryError.self) { try ResourceStore(library: URL(filePath: "/no/such/library")) }
    #expect(error?.code == .storage)
    #expect(error?.description.contains("/no/such/library") == true)
  }
}
