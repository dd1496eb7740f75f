import Foundation
import Glibc
import TestSupport
import Testing

@testable import PhotoLedger

@Suite("Folders that get their name when they are complete")
struct UnfinishedFolderTests {
  /// A folder being filled that has what is made durable.
  private static func folder(becoming url: URL) throws -> UnfinishedFolder {
    let folder = try UnfinishedFolder(becoming: url)
    try folder.makeFolder("store")
    try Data("rows".utf8).write(to: URL(filePath: "\(folder.path)/store/data.mdb"))
    return folder
  }

  @Test(
    "a file system that cannot rename without replacing gets the folder all the same",
    arguments: [EINVAL, ENOSYS, EOPNOTSUPP])
  func plainRename(code: Int32) throws {
    let parent = try TemporaryFolder()
    let url = parent.place("backup")
    try Self.folder(becoming: url).finish { _, _ in code }
    #expect(try FileManager.default.contentsOfDirectory(atPath: parent.url.path) == ["backup"])
    #expect(try String(contentsOf: url.appending(path: "store/data.mdb"), encoding: .utf8) == "rows")
  }

  @Test("a folder that cannot be made inside of an open directory is reported by that directory's path")
  func named() throws {
    let parent = try TemporaryFolder()
    let directory = open(parent.url.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(directory) }
    let error = #expect(throws: LibraryError.self) {
      try UnfinishedFolder(scratch: "shadow", in: "/proc/self/fd/\(directory)/missing")
    }
    let text = error?.description ?? ""
    #expect(text.contains("\(parent.url.lastPathComponent)/missing:") && !text.contains("/proc/"), "\(text)")
    #expect(!text.contains(".photoledger-"), "A folder that was not made means nothing to people: \(text)")
  }

  @Test("there too, an existing item of that name is not replaced, not even an empty folder")
  func taken() throws {
    let parent = try TemporaryFolder()
    let url = parent.place("backup")
    let error = #expect(throws: LibraryError.self) {
      let folder = try Self.folder(becoming: url)
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
      try folder.finish { _, _ in EINVAL }
    }
    #expect(error?.code == .alreadyExists)
    #expect(try FileManager.default.subpathsOfDirectory(atPath: parent.url.path) == ["backup"])
  }

  @Test("any other error is reported, and nothing is left")
  func failed() throws {
    let parent = try TemporaryFolder()
    #expect(throws: LibraryError.self) {
      try Self.folder(becoming: parent.place("backup")).finish { _, _ in EIO }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: parent.url.path).isEmpty)
  }
}
