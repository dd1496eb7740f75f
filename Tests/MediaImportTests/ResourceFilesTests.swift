import Foundation
import Testing

@testable import MediaImport

@Suite("placing bytes")
struct ResourceStoreTests {
  static func incoming(_ folder: TemporaryFolder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path + "/resources/incoming")
  }

  @Test(
    "SHA-256 of a file is that of FIPS 180-4, whatever its size",
    arguments: [
      (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      (1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ])
  func hash(count: Int, digest: String) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("x", Data(repeating: UInt8(ascii: "a"), count: count))
    #expect(try FileContent(of: path).digest.description == digest)
  }

  @Test("a stored file is whole, read-only, named by its hash, and leaves nothing behind")
  func store() throws {
    let folder = try TemporaryFolder()
    let files = try ResourceStore(libraryFolder: folder.path)
    let data = Data((0..<3_000_001).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    let path = try folder.write("source", data)
    let digest = try FileContent(of: path).digest
    let stored = try files.store(fileAt: path, expecting: digest)
    try files.synchronize()
    #expect(stored.sha256 == digest && stored.byteCount == 3_000_001)
    #expect(stored.location == .library(ResourceStore.relativePath(of: digest)))
    #expect(try Data(contentsOf: URL(filePath: files.path(of: digest))) == data)
    var status = stat()
    #expect(stat(files.path(of: digest), &status) == 0 && status.st_mode & 0o222 == 0)
    #expect(try Self.incoming(folder).isEmpty)
    #expect(try files.store(fileAt: path) == stored, "Storing it again is the same.")
    #expect(try Self.incoming(folder).isEmpty)
  }

  @Test("a file that no longer holds what was read is refused and not stored")
  func changed() throws {
    let folder = try TemporaryFolder()
    let files = try ResourceStore(libraryFolder: folder.path)
    let path = try folder.write("source", Data("before".utf8))
    let digest = try FileContent(of: path).digest
    try folder.write("source", Data("after!".utf8))
    let error = #expect(throws: ImportError.self) { try files.store(fileAt: path, expecting: digest) }
    #expect(error?.code == .changedWhileRead)
    #expect(throws: ImportError.self) { try files.reference(fileAt: path, expecting: digest) }
    #expect(try Self.incoming(folder).isEmpty)
    #expect(access(files.path(of: digest), F_OK) != 0)
  }

  @Test("a file whose stamp changes between opening and the last byte is refused")
  func changedStamp() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("source", Data("content".utf8))
    let source = try SourceFile(path)
    try source.checkUnchanged(bytesRead: 7)
    var times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
    _ = path.withCString { utimensat(AT_FDCWD, $0, &times, 0) }
    var code: ImportError.Code?
    do throws(ImportError) { try source.checkUnchanged(bytesRead: 7) } catch { code = error.code }
    #expect(code == .changedWhileRead)
  }

  @Test("many threads storing one content make one file")
  func contention() async throws {
    let folder = try TemporaryFolder()
    let files = try ResourceStore(libraryFolder: folder.path)
    let paths = try (0..<16).map { try folder.write("copy\($0)", Data(repeating: 7, count: 500_000)) }
    let stored = try await onThreads(paths, width: 8) { path throws(ImportError) in try files.store(fileAt: path) }
    #expect(Set(stored).count == 1 && stored.count == 16)
    #expect(try Self.incoming(folder).isEmpty)
  }

  @Test("what a killed import left unfinished is removed; what a living one writes is not")
  func leftovers() throws {
    let folder = try TemporaryFolder()
    let child = Process()
    child.executableURL = URL(filePath: "/bin/true")
    try child.run()
    child.waitUntilExit()
    try folder.write("resources/incoming/\(child.processIdentifier).1", Data("half".utf8))
    try folder.write("resources/incoming/1.1", Data("another's".utf8))
    _ = try ResourceStore(libraryFolder: folder.path)
    #expect(try Self.incoming(folder) == ["1.1"])
  }

  @Test("a FIFO in a file's place does not hang the import")
  func fifo() throws {
    let folder = try TemporaryFolder()
    let path = folder.asRoot.appending(Array("pipe".utf8))
    mkfifo(path.description, 0o600)
    #expect(throws: ImportError.self) { try FileContent(of: path) }
  }

  @Test("a library that is not there is an error that names the folder")
  func noLibrary() {
    let error = #expect(throws: ImportError.self) { try ResourceStore(libraryFolder: "/no/such/library") }
    #expect(error?.code == .cannotStore)
    #expect(error?.description.contains("/no/such/library") == true)
  }
}
