import EventLog
import LMDB
import TestSupport
import Testing

@testable import PhotoLedger

@Suite("Reading the log backward with damaged rows")
struct RewindDamageTests {
  private static let client = "com.example.app"

  /// A library with a limited client that sees three assets, which are in an album too.
  private static func make() throws -> (made: TemporaryLibrary, ids: [LocalIdentifier], album: LocalIdentifier) {
    let made = try TemporaryLibrary()
    let ids = try made.create(3)
    let album = try made.album(ids)
    try made.library.performChangesAndWait { block in
      block.setAuthorizationStatus(.limited, of: client)
      block.grant(ids, to: client)
    }
    return (made, ids, album)
  }

  @Test("an event that a reader needs and the log lacks is damage, and the error names it")
  func missingEvent() throws {
    let made = try TemporaryLibrary()
    let store = made.library.store
    let last = try store.observation.head().sequence
    func sequence(at place: UInt64) throws -> UInt64 {
      try store.reading { t in
        let record = try store.core.log.recordedEvent(at: place, in: t)
        return record.sequence
      }
    }
    #expect(try sequence(at: last) == last)
    let error = #expect(throws: LibraryError.self) { try sequence(at: last + 1) }
    #expect(error?.code == .corrupted)
    #expect(error?.description == "The log lacks event \(last + 1); run `verify`.")
  }

  @Test("a damaged row of a client ends neither following nor catching up of a query", arguments: [8, 0])
  func damagedClient(limit: Int) async throws {
    let (made, ids, _) = try Self.make()
    let library = made.library
    let held = try library.fetchAssets()
    try await library.performChanges { $0.withdraw([ids[1]], from: Self.client) }
    try await library.performChanges { $0.deleteAssets([ids[0]]) }
    try await library.performChanges { $0.purgeAssets([ids[0]]) }
    let core = library.store.core
    let clients = try core.environment.database("clients", integerKeys: true)
    let number = try Self.clientNumber(in: library)
    try core.environment.write { t in try t.put(number, [1], in: clients) }
    // An as-of view answers for clients as well, so it meets the damage.
    #expect(throws: LibraryError.self) { try library.at(held.token).fetchAssets() }
    var iterator = library.changes(to: held, composingBeyond: limit).makeAsyncIterator()
    let change = try #require(try await iterator.next())
    #expect(change.fetchResultBeforeChanges.map(\.id) == ids)
    #expect(change.fetchResultAfterChanges.map(\.id) == Array(ids.dropFirst()))
  }

  @Test("following ends with the object about which log and store disagree, and what to do", arguments: [8, 0])
  func mismatch(limit: Int) async throws {
    let (made, _, album) = try Self.make()
    let library = made.library
    let held = try library.fetchCollections()
    try await library.performChanges { $0.setTitle("another", of: album) }
    let number = try Self.number(of: album, in: library)
    try Self.remove(number, from: "collections", of: library)
    let error = await #expect(throws: LibraryError.self) {
      var iterator = library.changes(to: held, composingBeyond: limit).makeAsyncIterator()
      _ = try await iterator.next()
    }
    #expect(error?.code == .corrupted)
    let sentence =
      "The log and the store disagree about the existence of object \(number); run `verify`, then `rebuild`."
    #expect(error?.description.contains(sentence) == true)
  }

  @Test("a missing row of an album or client is damage when the purge of a member is read backward")
  func missingContainer() throws {
    let (made, ids, album) = try Self.make()
    let library = made.library
    try library.performChangesAndWait { $0.deleteAssets([ids[0]]) }
    let store = library.store
    let sequence = try store.observation.head().sequence
    try library.performChangesAndWait { $0.purgeAssets([ids[0]]) }
    let number = try Self.number(of: album, in: library)
    let client = try Self.clientNumber(in: library)
    func albumCount() throws -> Int? {
      try store.reading { t in try store.collectionRow(number, at: sequence, t)?.memberCount }
    }
    func selectionCount() throws -> Int? {
      try store.reading { t in try store.clientRow(client, at: sequence, t)?.selectionCount }
    }
    #expect(try albumCount() == 3)
    #expect(try selectionCount() == 3)
    try Self.remove(number, from: "collections", of: library)
    try Self.remove(client, from: "clients", of: library)
    let first = #expect(throws: LibraryError.self) { try albumCount() }
    let second = #expect(throws: LibraryError.self) { try selectionCount() }
    #expect(first?.code == .corrupted && second?.code == .corrupted)
  }

  private static func number(of object: LocalIdentifier, in library: PhotoLibrary) throws -> ObjectNumber {
    let store = library.store
    let found = try store.reading { t in try store.core.projections.object(object, in: t)?.number }
    return try #require(found)
  }

  private static func clientNumber(in library: PhotoLibrary) throws -> ObjectNumber {
    let store = library.store
    let found = try store.reading { t in try store.core.projections.client(named: client, in: t)?.number }
    return try #require(found)
  }

  private static func remove(_ number: ObjectNumber, from name: String, of library: PhotoLibrary) throws {
    let environment = library.store.core.environment
    let database = try environment.database(name, integerKeys: true)
    let wasThere = try environment.write { t in try t.delete(number, in: database) }
    #expect(wasThere)
  }
}
