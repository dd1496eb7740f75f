import Foundation
import TestSupport
import Testing

@testable import PhotoLedger

@Suite("Copying a resource to a file", .timeLimit(.minutes(60)))
struct ResourceCopyTests {
  static let chunk = OneFileLibrary.chunk

  @Test(
    "the file has the bytes, is writable by its owner, and nothing else is left (a.5)",
    arguments: [0, 5, chunk, 2 * chunk + 1])
  func copies(count: Int) async throws {
    for isReferenced in [true, false] {
      let data = periodicBytes(count)
      let one = try await OneFileLibrary(data, isReferenced: isReferenced)
      #expect(await one.copy(to: "é 1.heic") == nil)
      #expect(try Data(contentsOf: one.target("é 1.heic")) == data)
      #expect(try one.written == ["é 1.heic"])
      var status = stat()
      #expect(stat(one.target("é 1.heic").path, &status) == 0 && status.st_mode & 0o600 == 0o600)
    }
  }

  @Test("an existing file is rejected by name and keeps its bytes, unless it is to be replaced")
  func existing() async throws {
    let one = try await OneFileLibrary(Data("photo".utf8))
    try Data("mine".utf8).write(to: one.target("a"))
    let error = await one.copy(to: "a")
    #expect(error?.code == .alreadyExists && error?.description.contains(one.target("a").path) == true)
    #expect(try Data(contentsOf: one.target("a")) == Data("mine".utf8))
    #expect(await one.copy(to: "a", replacing: true) == nil)
    #expect(try Data(contentsOf: one.target("a")) == Data("photo".utf8))
    #expect(try one.written == ["a"])
  }

  @Test("only a regular file is replaced: no folder, no symbolic link, no FIFO")
  func unreplaceable() async throws {
    let one = try await OneFileLibrary(Data("photo".utf8))
    mkdir(one.target("folder").path, 0o755)
    symlink("/dev/null", one.target("link").path)
    mkfifo(one.target("pipe").path, 0o644)
    for name in ["folder", "link", "pipe"] {
      for replacing in [true, false] {
        let error = await one.copy(to: name, replacing: replacing)
        #expect(error?.code == .alreadyExists && error?.description.contains(name) == true)
      }
    }
    #expect(try one.written == ["folder", "link", "pipe"])
  }

  @Test("a file that appears during the copy is kept, and the copy fails")
  func appearing() async throws {
    let one = try await OneFileLibrary(periodicBytes(2 * Self.chunk))
    let target = one.target("a")
    let error = await one.copy(
      to: "a", .init { _ in #expect(throws: Never.self) { try Data("mine".utf8).write(to: target) } })
    #expect(error?.code == .alreadyExists)
    #expect(try Data(contentsOf: target) == Data("mine".utf8))
    #expect(try one.written == ["a"])
  }

  @Test(
    "a cancelled copy leaves nothing, and a file that was to be replaced unchanged (a.7: 3072)",
    arguments: [true, false])
  func cancelling(replacing: Bool) async throws {
    let one = try await OneFileLibrary(periodicBytes(3 * Self.chunk))
    if replacing { try Data("mine".utf8).write(to: one.target("a")) }
    let (shares, told) = AsyncStream.makeStream(of: Double.self)
    let goOn = DispatchSemaphore(value: 0)
    let copying = Task {
      await one.copy(
        to: "a", replacing: replacing,
        .init { share in
          told.yield(share)
          goOn.wait()
          goOn.signal()
        })
    }
    var seen = shares.makeAsyncIterator()
    #expect(await seen.next() == 1.0 / 3)
    #expect(try one.written.count == (replacing ? 2 : 1), "The bytes go to a temporary name.")
    copying.cancel()
    goOn.signal()
    #expect(await copying.value?.code == .userCancelled)
    #expect(try one.written == (replacing ? ["a"] : []))
    if replacing { #expect(try Data(contentsOf: one.target("a")) == Data("mine".utf8)) }
    #expect(try one.openCount == 0)
  }

  @Test("bytes that are not the recorded ones never get the name (a.7: 3302)", arguments: [true, false])
  func altered(replacing: Bool) async throws {
    let one = try await OneFileLibrary(periodicBytes(Self.chunk + 1))
    try one.overwrite(Data(repeating: 7, count: Self.chunk + 1))
    if replacing { try Data("mine".utf8).write(to: one.target("a")) }
    #expect(await one.copy(to: "a", replacing: replacing)?.code == .invalidResource)
    #expect(try one.written == (replacing ? ["a"] : []))
    if replacing { #expect(try Data(contentsOf: one.target("a")) == Data("mine".utf8)) }
  }

  @Test(
    "a target that cannot be written is named in the error",
    arguments: ["absent/a", "file/a", String(repeating: "n", count: 300)])
  func noTarget(name: String) async throws {
    let one = try await OneFileLibrary(Data("photo".utf8))
    try Data().write(to: one.target("file"))
    let error = await one.copy(to: name)
    #expect(error?.code == .storage && error?.description.contains(one.target("").path) == true)
    #expect(try one.written == ["file"])
    let remote = try #require(URL(string: "https://example.com/a.jpg"))
    await #expect(throws: LibraryError.self) { try await one.library.write(one.resource, in: one.asset, to: remote) }
  }

  @Test("where renaming cannot avoid replacing, a hard link does it, and keeps an existing file")
  func linking() throws {
    let folder = try ScratchFolder()
    func place(_ text: String) throws {
      let file = try IncomingFile(becoming: folder.path + "/a", in: folder.path)
      try file.write(text)
      try file.linkWithoutReplacing(to: folder.path + "/a")
    }
    try place("first")
    #expect(throws: UnfinishedFile.exists(folder.path + "/a")) { try place("second") }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a"])
    #expect(try Data(contentsOf: URL(filePath: folder.path + "/a")) == Data("first".utf8))
  }

  @Test("a killed process's temporary file beside its target is removed; one in use, and other files, stay")
  func leftovers() throws {
    let (folder, elsewhere) = (try ScratchFolder(), try ScratchFolder())
    // No file of this process has this number, so that it is an earlier process's.
    let left = ".photoledger-\(getpid()).\(UInt.max)"
    let others = [".photoledger-\(getppid()).1", ".photoledger-notes", "\(left).txt"]
    for name in [left] + others { try Data("half".utf8).write(to: URL(filePath: "\(folder.path)/\(name)")) }
    func names() throws -> Set<String> { Set(try FileManager.default.contentsOfDirectory(atPath: folder.path)) }
    let written = try IncomingFile(becoming: folder.path + "/a", in: folder.path)
    try written.write("first")
    let made = try names().subtracting(others)
    #expect(made.count == 1 && !made.contains(left), "\(made)")
    // A second look at the folder, once another one was looked at.
    for place in [elsewhere.path, folder.path] {
      let other = try IncomingFile(becoming: place + "/b", in: place)
      try other.write("second")
    }
    #expect(try names() == made.union(others))
    try written.makeDurable()
  }

  @Test(
    "a clone is hashed in place: one with other bytes, or more, is rejected",
    arguments: ["photo", "phot0", "photos"])
  func clone(content: String) async throws {
    let one = try await OneFileLibrary(Data("photo".utf8))
    let clone = try IncomingFile(becoming: one.target("a").path, in: one.target("").path)
    try clone.write(content)
    var file = try one.library.openForReading(ResourceRequest(one.resource, in: one.asset))
    var code: LibraryError.Code?
    do throws(LibraryError) { try file.readBack(clone) } catch { code = error.code }
    #expect(code == (content == "photo" ? nil : content == "phot0" ? .invalidResource : .resourceChanged))
  }
}

extension IncomingFile {
  fileprivate func write(_ text: String) throws {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 1)
    defer { bytes.deallocate() }
    bytes.copyBytes(from: text.utf8)
    try write(UnsafeRawBufferPointer(bytes))
  }
}
