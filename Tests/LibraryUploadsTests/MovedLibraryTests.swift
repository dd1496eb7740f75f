import Foundation
import Synchronization
import TestSupport
import Testing

@testable import LibraryMaintenance
import LibraryUploads
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

    init(after preparation: (PhotoLibrary) throws -> Void = { _ in }) throws {
      folder = try ScratchFolder()
      library = try folder.makeLibrary()
      try preparation(library)
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
    try await library.performChanges { $0.createAsset(.photo(from: .data(data))) }
    let file = try moved.folder.write("a.jpg", Data("of a file".utf8))
    try await library.performChanges {
      $0.createAsset(.photo(from: .file(URL(filePath: file.description), shouldMove: true)))
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

  @Test("bytes are read, purged and rejected where the library is now")
  func readingAndPurging() async throws {
    let moved = try Moved()
    let library = moved.library
    defer { library.close() }
    let data = Data("bytes".utf8)
    let receipt = try await library.performChanges { $0.createAsset(.photo(from: .data(data))) }
    let id = try #require(receipt.created.first.flatMap { LocalIdentifier($0) })
    let asset = try #require(try library.asset(id.uuidString))
    let resource = try #require(try library.resources(of: asset).first)
    let target = URL(filePath: "\(moved.folder.path)/copy")
    try await library.write(resource, in: asset, to: target)
    #expect(try Data(contentsOf: target) == data)
    await #expect(throws: LibraryError.self) {
      try await library.performChanges {
        $0.createAsset(.photo(from: .data(Data("refused".utf8))))
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

  @Test("snapshots, a rebuild, a backup and a fork use the open library, and no other")
  func keeping() async throws {
    let moved = try Moved()
    let library = moved.library
    defer { library.close() }
    for index in 0..<4 {
      try await library.performChanges {
        $0.createAsset(.photo(from: .data(Data("\(index)".utf8))))
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

  /// Takes whole files only, and each after it is let go.
  private final class FileTaker: UploadTransport {
    private struct State {
      var isFree = false
      var file: URL?
      var bytes: Data?
    }

    private let state = Mutex(State())
    var file: URL? { state.withLock { $0.file } }
    var bytes: Data? { state.withLock { $0.bytes } }
    func letGo() { state.withLock { $0.isFree = true } }

    func send(_ call: UploadCall, _ body: UploadBody) async -> UploadOutcome {
      guard case .file(let file) = body else { return UploadOutcome(.success(UploadAnswer(status: 501, headers: [:]))) }
      state.withLock { $0.file = file }
      while !state.withLock({ $0.isFree }), !Task.isCancelled { await Task.yield() }
      let bytes = try? Data(contentsOf: file)
      state.withLock { $0.bytes = bytes }
      return UploadOutcome(.success(UploadAnswer(status: 201, headers: [:])))
    }
  }

  @Test("upload jobs, their lock and their copies are where the library is now", .timeLimit(.minutes(5)))
  func uploads() async throws {
    let moved = try Moved()
    let library = moved.library
    defer { library.close() }
    #expect(library.url.path == moved.newPath)
    let taker = FileTaker()
    var environment = UploadEnvironment(now: { Date() }, random: { 7 }, pause: { _ in await Task.yield() })
    environment.limits.portion = 4
    library.startUploads(over: taker, environment)
    try library.enableUploads()
    let data = Data("more than one portion".utf8)
    let receipt = try await library.performChanges { $0.createAsset(.photo(from: .data(data))) }
    let asset = try #require(try receipt.created.first.flatMap { try library.asset($0) })
    let resource = try #require(try library.resources(of: asset).first)
    let destination = UploadDestination(url: "https://server/upload", method: "POST", headers: [:])
    let identifier = library.newUploadIdentifier()
    try await library.performChanges {
      $0.add(UploadRequest.create(identifier: identifier, destination, resource, asset))
    }
    try await waitUntil("the copy is being sent") { taker.file != nil }
    func uploads(_ path: String) throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: path + "/uploads")
    }
    let files = try uploads(moved.newPath)
    for wanted in ["data.mdb", "whole-", "worker-"] { #expect(files.contains { $0.hasPrefix(wanted) }, "\(files)") }
    #expect(try moved.isOtherUntouched())
    // It moves on while the copy is being sent.
    let last = moved.newPath + " again"
    #expect(rename(moved.newPath, last) == 0)
    try PhotoLibrary.create(at: URL(filePath: moved.newPath)).close()
    taker.letGo()
    try await waitUntil("the job ended") { try library.uploadJob(identifier)?.state == .succeeded }
    #expect(taker.bytes == data)
    try await waitUntil("the copy was removed") { try !uploads(last).contains { $0.hasPrefix("whole-") } }
    for path in [moved.path, moved.newPath] { #expect(access(path + "/uploads", F_OK) != 0) }
    try library.disableUploads()
    #expect(try library.uploadSettings == nil)
  }

  @Test("uploads that were enabled before the move are disabled after it")
  func disabling() throws {
    let moved = try Moved { try $0.enableUploads() }
    defer { moved.library.close() }
    #expect(try moved.library.uploadSettings != nil)
    try moved.library.disableUploads()
    #expect(try moved.library.uploadSettings == nil)
    #expect(try moved.isOtherUntouched())
  }
}
