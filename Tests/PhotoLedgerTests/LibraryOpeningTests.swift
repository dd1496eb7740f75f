import Foundation
import LMDB
import LibraryMaintenance
import PhotoLedger
import StoreMigrations
import TestSupport
import Testing

@Suite("Making and opening a library")
struct LibraryOpeningTests {
  static func code(_ body: () throws -> Void) -> LibraryError.Code? {
    do { try body() } catch { return (error as? LibraryError)?.code }
    return nil
  }

  @Test("of those who create a library at once, one makes it and the others are told that it exists")
  func race() async throws {
    for _ in 0..<20 {
      let folder = try TemporaryFolder()
      let url = folder.place("library")
      let outcomes = try await withThrowingTaskGroup(of: Result<PhotoLibrary, any Error>.self) { group in
        for _ in 0..<3 { group.addTask { try await onThread { Result { try PhotoLibrary.create(at: url) } } } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      let made = outcomes.compactMap { try? $0.get() }
      let refused = outcomes.compactMap { outcome in Self.code { _ = try outcome.get() } }
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

  @Test("what a creation left half made is no library, and the next creation finishes it", arguments: Half.allCases)
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
    #expect(Self.code { _ = try PhotoLibrary.create(at: url) } == .alreadyExists)
  }

  @Test("a library of a newer format is refused with a sentence that names it; one without a format is none")
  func formats() throws {
    let folder = try TemporaryFolder()
    let url = folder.place("library")
    try PhotoLibrary.create(at: url).close()
    let environment = try LMDB.Environment.store(ofLibrary: url.path)
    let meta = try environment.database("store.meta")
    let next = [UInt8](repeating: 0, count: 7) + [UInt8(StoreFormat.current) + 1]
    try environment.write { t in try t.put(Array("format".utf8), next, in: meta) }
    let newer = #expect(throws: LibraryError.self) { try PhotoLibrary(at: url) }
    #expect(newer?.code == .newerThanProgram && newer?.description.contains(url.path) == true)
    #expect(Self.code { _ = try PhotoLibrary.create(at: url) } == .alreadyExists)
    try environment.write { t in _ = try t.delete(Array("format".utf8), in: meta) }
    let none = #expect(throws: LibraryError.self) { try PhotoLibrary(at: url) }
    #expect(none?.code == .notALibrary && none?.description.contains(url.path) == true)
  }

  @Test("a directory that holds something else is neither taken nor touched")
  func strangers() throws {
    let folder = try TemporaryFolder()
    try Data("x".utf8).write(to: folder.place("letter.txt"))
    #expect(Self.code { _ = try PhotoLibrary.create(at: folder.url) } == .alreadyExists)
    #expect(Self.code { _ = try PhotoLibrary.create(at: folder.place("letter.txt")) } == .alreadyExists)
    #expect(Self.code { _ = try PhotoLibrary(at: folder.url) } == .notALibrary)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["letter.txt"])
  }
}
