import EventLog
import Foundation
import LMDB
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

/// A store in which a table is not found under its name.
@Suite("Missing tables")
struct MissingTableTests {
  /// Writes another name over that of a table, wherever it stands in a closed store's file: one in the same place of
  /// the order of names.
  static func spoil(_ name: String, of url: URL) throws {
    let file = url.appending(path: "store/data.mdb")
    var bytes = try Data(contentsOf: file)
    // A name is the key of a leaf of the main database, and its value begins with LMDB's description of the table.
    var start = bytes.startIndex
    var count = 0
    while let found = bytes.range(of: Data(name.utf8), in: start..<bytes.endIndex) {
      start = found.upperBound
      let flags = bytes[found.lowerBound - 4..<found.lowerBound - 2]
      let length = Int(bytes[found.lowerBound - 2]) | Int(bytes[found.lowerBound - 1]) << 8
      // A node's flags say that it holds a table (F_SUBDATA), and its length is that of the name.
      guard flags.first == 2, length == name.utf8.count else { continue }
      bytes[found.upperBound - 1] += 1
      count += 1
    }
    #expect(count > 0, "\(name) is found")
    try bytes.write(to: file)
  }

  private static func closedLibrary(_ folder: TemporaryFolder) throws -> (url: URL, sound: StoreDump) {
    let url = folder.place("library")
    try FormatLibrary.copy(to: url).close()
    let environment = try LMDB.Environment.store(ofLibrary: url.path)
    let sound = try StoreDump(environment)
    try environment.close()
    return (url, sound)
  }

  /// Whatever is there under names that are a library's own.
  private static func dump(_ url: URL, like sound: StoreDump) throws -> StoreDump {
    try StoreDump(LMDB.Environment.store(ofLibrary: url.path), only: Array(sound.databases.keys))
  }

  static let derived = Projections.names + EventLog.derivedTableNames

  @Test(
    "a library with a renamed table is rejected with advice, and a rebuild creates the table again",
    arguments: derived)
  func mended(name: String) throws {
    let folder = try TemporaryFolder()
    let (url, sound) = try Self.closedLibrary(folder)
    try Self.spoil(name, of: url)
    let error = #expect(throws: LibraryError.self) { try PhotoLibrary(at: url) }
    #expect(error?.code == .corrupted && error?.description.contains("rebuild") == true)
    try PhotoLibrary.rebuild(at: url)
    #expect(try Self.dump(url, like: sound).difference(from: sound) == nil)
    let library = try PhotoLibrary(at: url)
    defer { library.close() }
    #expect(try library.verify(scratch: folder.url).isSound)
    // What stood under the other name would be reached by no erasure.
    let environment = try LMDB.Environment.store(ofLibrary: url.path)
    let strangers = try environment.databaseNames().filter { sound.databases[$0] == nil }
    #expect(strangers.count == 1)
    let stranger = try environment.databaseOfAnyKeys(try #require(strangers.first))
    #expect(try environment.read { t in try t.count(of: stranger) } == 0)
  }

  @Test("a rebuild that is stopped after it created the tables leaves no empty library: the next opening rebuilds it")
  func stopped() throws {
    let folder = try TemporaryFolder()
    let (url, sound) = try Self.closedLibrary(folder)
    try Self.spoil("assets", of: url)
    let error = #expect(throws: LibraryError.self) { try PhotoLibrary.rebuild(at: url) { $0.phase != "rebuild" } }
    #expect(error?.code == .userCancelled)
    let library = try PhotoLibrary(at: url)
    defer { library.close() }
    #expect(try library.verify(scratch: folder.url).isSound)
    #expect(try Self.dump(url, like: sound).difference(from: sound) == nil)
  }

  @Test(
    "a library without its log is not created again: nothing says what it contained", arguments: EventLog.ownTableNames)
  func withoutLog(name: String) throws {
    let folder = try TemporaryFolder()
    let (url, _) = try Self.closedLibrary(folder)
    try Self.spoil(name, of: url)
    let file = url.appending(path: "store/data.mdb")
    let before = try Data(contentsOf: file)
    for attempt in [{ _ = try PhotoLibrary(at: url) }, { try PhotoLibrary.rebuild(at: url) }] {
      let error = #expect(throws: LibraryError.self) { try attempt() }
      #expect(error?.code == .corrupted && error?.description.contains("Run `rebuild`") == false)
    }
    #expect(try Data(contentsOf: file) == before)
  }

  @Test("a complete library is rebuilt by its directory as by its methods, and anything else is rejected")
  func whole() throws {
    let folder = try TemporaryFolder()
    let (url, sound) = try Self.closedLibrary(folder)
    try PhotoLibrary.rebuild(at: url)
    #expect(try Self.dump(url, like: sound).difference(from: sound) == nil)
    let error = #expect(throws: LibraryError.self) { try PhotoLibrary.rebuild(at: folder.place("nothing")) }
    #expect(error?.code == .notALibrary)
  }
}
