import Foundation
import Testing

@testable import LibraryMaintenance
@testable import PhotoLedger

@Suite("a library whose directory is moved while it is open")
struct MovedLibraryTests {
  /// A library that was moved while it is open, and another that was made at its path.
  private struct Moved {
    let folder: ScratchFolder
    let library: PhotoLibrary
    let path: String
    let newPath: String
    let contents: [String: Date]

    init() throws {
      folder = try ScratchFolder()
      library = try ResourceDraftTests.library(folder)
      (path, newPath) = ("\(folder.path)/library", "\(folder.path)/moved")
      #expect(rename(path, newPath) == 0)
      try PhotoLibrary.create(at: URL(filePath: path)).close()
      contents = try Self.contents(path)
    }

    /// The files of a directory and when they were written last.
    static func contents(_ path: String) throws -> [String: Date] {
      var found: [String: Date] = [:]
      for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
        let facts = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
        found[name] = facts[.modificationDate] as? Date
      }
      return found
    }

    /// Whether the library that has the old path is as it was made.
    func isOtherUntouched() throws -> Bool { try Self.contents(path) == contents }
  }

  @Test("an asset that is created goes with its bytes where the library is now")
  func creation() async throws {
    let moved = try Moved()
    let library = moved.library
    defer { library.close() }
    let data = Data("bytes".utf8)
    try await library.performChanges { $0.createAsset(ResourceDraftTests.photo(.data(data))) }
    let file = try moved.folder.write("a.jpg", Data("of a file".utf8))
    try await library.performChanges {
      $0.createAsset(ResourceDraftTests.photo(.file(URL(filePath: file.description), shouldMove: true)))
    }
    #expect(try moved.isOtherUntouched())
    let again = try PhotoLibrary(at: URL(filePath: moved.newPath))
    defer { again.close() }
    let assets = try again.fetchAssets()
    #expect(assets.count == 2)
    for asset in assets {
      let resource = try #require(try library.resources(of: asset).first)
      let place = library.url(of: resource)
      #expect(place.path.hasPrefix(moved.newPath + "/resources/"))
      #expect(try Array(Data(contentsOf: place)).sha256 == resource.sha256)
    }
  }

  @Test("bytes are read, purged and refused where the library is now")
  func readingAndPurging() async throws {
    let moved = try Moved()
    let library = moved.library
    defer { library.close() }
    let data = Data("bytes".utf8)
    let receipt = try await library.performChanges { $0.createAsset(ResourceDraftTests.photo(.data(data))) }
    let id = try #require(receipt.created.first.flatMap { LocalIdentifier($0) })
    let asset = try #require(try library.asset(id.uuidString))
    let resource = try #require(try library.resources(of: asset).first)
    let target = URL(filePath: "\(moved.folder.path)/copy")
    try await library.write(resource, in: asset, to: target)
    #expect(try Data(contentsOf: target) == data)
    await #expect(throws: LibraryError.self) {
      try await library.performChanges {
        $0.createAsset(ResourceDraftTests.photo(.data(Data("refused".utf8))))
        $0.purgeAssets([id])
      }
    }
    try await library.performChanges { $0.deleteAssets([id]) }
    try await library.performChanges { $0.purgeAssets([id]) }
    try await library.performChanges { $0.createAlbum(title: "after") }
    let left = try FileManager.default.subpathsOfDirectory(atPath: moved.newPath + "/resources")
    #expect(!left.contains { $0.split(separator: "/").count == 2 })
    #expect(try moved.isOtherUntouched())
  }

  @Test("snapshots, a rebuild, a backup and a fork are of the library that is open, and touch no other")
  func keeping() async throws {
    let moved = try Moved()
    let library = moved.library
    defer { library.close() }
    for index in 0..<4 {
      try await library.performChanges {
        $0.createAsset(ResourceDraftTests.photo(.data(Data("\(index)".utf8))))
      }
    }
    _ = try library.makeSnapshots(spacing: 2)
    _ = try library.rebuild()
    let backup = try library.backup(to: URL(filePath: "\(moved.folder.path)/backup"))
    #expect(backup.resources.fileCount == 4 && backup.resources.missingFiles.isEmpty)
    let fork = try library.fork(to: URL(filePath: "\(moved.folder.path)/fork"))
    #expect(fork.resources.fileCount == 4 && fork.resources.missingFiles.isEmpty)
    #expect(try moved.isOtherUntouched())
    #expect(access(moved.newPath + "/snapshots/data.mdb", F_OK) == 0)
  }
}
