import Foundation
import LMDB
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

@Suite("Concurrent and interrupted creation of a library")
struct LibraryMakingTests {
  @Test("when a library is created concurrently, one creation succeeds and the others report that it exists")
  func race() async throws {
    for _ in 0..<20 {
      let folder = try TemporaryFolder()
      let url = folder.place("library")
      let outcomes = try await withThrowingTaskGroup(of: Result<PhotoLibrary, any Error>.self) { group in
        for _ in 0..<3 { group.addTask { try await onThread { Result { try PhotoLibrary.create(at: url) } } } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      let made = outcomes.compactMap { try? $0.get() }
      let refused = outcomes.compactMap { outcome -> LibraryError.Code? in
        guard case .failure(let error) = outcome else { return nil }
        return (error as? LibraryError)?.code
      }
      #expect(made.count == 1 && refused == [.alreadyExists, .alreadyExists])
      try await made.first?.performChanges { $0.createAlbum(title: "x") }
      #expect(try made.first?.verify(scratch: folder.url).isSound == true)
      made.first?.close()
      #expect(try PhotoLibrary(at: url).fetchCollections().count == 1)
    }
  }

  /// How far a creation came that did not finish.
  enum Half: CaseIterable {
    case directory, emptyStore, killedInTransaction
  }

  static func make(_ half: Half, at url: URL) async throws {
    switch half {
    case .directory:
      try FileManager.default.createDirectory(atPath: url.path + "/store", withIntermediateDirectories: true)
    case .emptyStore:
      try FileManager.default.createDirectory(atPath: url.path + "/store", withIntermediateDirectories: true)
      _ = try LMDB.Environment.store(ofLibrary: url.path).database("store.meta")
    case .killedInTransaction:
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = url.path as String] in
        var environment = LibraryEnvironment.seeded(1)
        // The one look at the clock is in the transaction that begins the library.
        environment.now = {
          kill(getpid(), SIGKILL)
          return Date()
        }
        _ = try PhotoLibrary.create(at: URL(filePath: path), environment: environment)
      }
    }
  }

  @Test(
    "a library whose creation was interrupted is not a library, and the next creation finishes it",
    arguments: Half.allCases)
  func finishes(half: Half) async throws {
    let folder = try TemporaryFolder()
    let url = folder.place("library")
    try await Self.make(half, at: url)
    let error = #expect(throws: LibraryError.self) { try PhotoLibrary(at: url) }
    #expect(error?.code == .notALibrary && error?.description.contains(url.path) == true)
    let library = try PhotoLibrary.create(at: url)
    try await library.performChanges { $0.createAsset(.invented(1)) }
    #expect(try library.verify(scratch: folder.url).isSound)
    library.close()
    #expect(try PhotoLibrary(at: url).fetchAssets().count == 1)
    let again = #expect(throws: LibraryError.self) { try PhotoLibrary.create(at: url) }
    #expect(again?.code == .alreadyExists)
  }

  @Test("a creation that is rolled back leaves what existed before it, and nothing else", arguments: [true, false])
  func rolledBack(hasResources: Bool) throws {
    let folder = try TemporaryFolder()
    let url = folder.place("library")
    if hasResources {
      try FileManager.default.createDirectory(
        at: url.appending(path: "resources/ab"), withIntermediateDirectories: true)
      try Data("an original".utf8).write(to: url.appending(path: "resources/ab/x"))
    }
    let rollback = CreationRollback(of: url)
    let library = try PhotoLibrary.create(at: url)
    #expect(FileManager.default.fileExists(atPath: url.path + "/resources/incoming"))
    #expect(try library.closeAndDiscard(by: rollback))
    let left = try FileManager.default.subpathsOfDirectory(atPath: folder.url.path).sorted()
    let former = ["library", "library/resources", "library/resources/ab", "library/resources/ab/x"]
    #expect(left == (hasResources ? former : []))
  }
}
