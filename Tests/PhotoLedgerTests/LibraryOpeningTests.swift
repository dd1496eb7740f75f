import Foundation
import LMDB
import PhotoLedger
import StoreMigrations
import TestSupport
import Testing

@Suite("Creating and opening a library")
struct LibraryOpeningTests {
  static func code(_ body: () throws -> Void) -> LibraryError.Code? {
    do { try body() } catch { return (error as? LibraryError)?.code }
    return nil
  }

  @Test("a library of a newer format is rejected with a sentence that names it; one without a format is not a library")
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

  @Test("a directory that holds something else is neither used nor touched")
  func strangers() throws {
    let folder = try TemporaryFolder()
    try Data("x".utf8).write(to: folder.place("letter.txt"))
    #expect(Self.code { _ = try PhotoLibrary.create(at: folder.url) } == .alreadyExists)
    #expect(Self.code { _ = try PhotoLibrary.create(at: folder.place("letter.txt")) } == .alreadyExists)
    #expect(Self.code { _ = try PhotoLibrary(at: folder.url) } == .notALibrary)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["letter.txt"])
  }
}
