import CountedTree
import EventLog
import Foundation
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

  @Test("a live result that contradicts damaged rows fails with what to do, and other results go on")
  func contradiction() async throws {
    let (made, ids, album) = try Self.make()
    let (library, observation) = (made.library, made.library.store.observation)
    let (held, all) = (try made.members(album), try library.fetchAssets())
    let (failing, other) = (ResultChanges.Iterator(held, 8), ResultChanges.Iterator(all, 8))
    try failing.listen()
    try other.listen()
    let keeper = ChangeKeeper()
    try library.register(keeper)
    func favor(_ id: LocalIdentifier) throws {
      try library.performChangesAndWait { $0.setFavorite(true, for: [id]) }
      try observation.pump()
    }
    try favor(ids[0])
    let number = try Self.number(of: ids[2], in: library)
    try Self.misplace(number, in: try Self.number(of: album, in: library), of: library)
    try favor(ids[2])
    let sentence = "the place of object \(number) in a fetch result; stop writing and run `verify`, then `rebuild`."
    func expectDamage(_ body: () throws -> Void) {
      let error = #expect(throws: LibraryError.self) { try body() }
      #expect(error?.code == .corrupted && error?.description.contains(sentence) == true)
    }
    #expect(try failing.take()?.changedIndexes == [0], "What came before is delivered.")
    for _ in 0..<2 { expectDamage { _ = try failing.take() } }
    #expect(try other.take()?.changedIndexes == [0])
    #expect(try other.take()?.changedIndexes == [2])
    expectDamage { _ = try library.changeDetails(from: held, to: library.currentToken) }
    try await waitUntil("the observer is notified") { keeper.changes.all.count == 2 }
    expectDamage { _ = try keeper.changes.all[1].changeDetails(for: held) }
    #expect(try keeper.changes.all[1].changeDetails(for: all)?.changedIndexes == [0, 2])
    // The same list is followed anew by those that fetch it now.
    let again = ResultChanges.Iterator(try made.members(album), 8)
    try again.listen()
    try favor(ids[1])
    #expect(try again.take()?.changedIndexes == [1])
    #expect(try other.take()?.changedIndexes == [1])
    let error = await #expect(throws: LibraryError.self) {
      var late = library.changes(to: held).makeAsyncIterator()
      for _ in 0..<2 { _ = try await late.next() }
    }
    #expect(error?.code == .corrupted)
  }

  @Test("a change of a client's permission is delivered where its former result contradicts the store later")
  func contradictionAfterAccess() throws {
    let (made, ids, album) = try Self.make()
    let (library, app) = (made.library, made.library.as(Self.client))
    try library.performChangesAndWait { $0.setAuthorizationStatus(.authorized, of: Self.client) }
    let collection = try #require(try app.collection(album.uuidString))
    let held = try app.fetchAssets(FetchOptions(), in: collection)
    #expect(held.map(\.id) == ids)
    let follower = ResultChanges.Iterator(held, 8)
    try follower.listen()
    try library.performChangesAndWait { $0.setAuthorizationStatus(.denied, of: Self.client) }
    let (child, container) = (try Self.number(of: ids[2], in: library), try Self.number(of: album, in: library))
    try Self.misplace(child, in: container, of: library)
    try library.performChangesAndWait { $0.setFavorite(true, for: [ids[2]]) }
    try library.store.observation.pump()
    #expect(try follower.take()?.removedIndexes == [0, 1, 2])
    #expect(try follower.take()?.commits.count == nil, "What the client follows now contradicts nothing.")
  }

  @Test("a key that a result lacks, or two results that do not fit a delta, are damage")
  func contradictingPositions() {
    func key(_ number: UInt64) -> NarrowKey { NarrowKey(word: number, number: number) }
    let before = CountedTree(sorted: [key(1), key(2)])
    let after = CountedTree(sorted: [key(1)])
    let touches = [
      KeyTouch(old: key(9), new: nil, isVisiblyChanged: false),
      KeyTouch(old: nil, new: key(9), isVisiblyChanged: false),
      KeyTouch(old: key(9), new: key(1), isVisiblyChanged: false),
      KeyTouch(old: key(9), new: key(9), isVisiblyChanged: true),
    ]
    for touch in touches {
      let error = #expect(throws: LibraryError.self) { try before.positions(of: [touch], after: after) }
      #expect(error?.code == .corrupted && error?.description.contains("object 9") == true)
    }
    let error = #expect(throws: LibraryError.self) { try before.positions(of: [], after: after) }
    #expect(error?.code == .corrupted)
  }

  @Test("a step of an equal fetch that found another number of objects is damage")
  func otherCount() throws {
    let made = try TemporaryLibrary()
    _ = try made.create(2)
    let core = try made.library.fetchAssets().core
    let nothing = TouchedPositions(beforeCount: 2, afterCount: 2, removed: [], inserted: [])
    let step = Step(after: core, touched: nothing, commits: [])
    try step.checkStart(count: 2)
    #expect(throws: LibraryError.self) { try step.checkStart(count: 3) }
  }

  @Test("an album that lists a member twice is damage")
  func listedTwice() throws {
    let (made, ids, album) = try Self.make()
    let library = made.library
    let (child, container) = (try Self.number(of: ids[2], in: library), try Self.number(of: album, in: library))
    let core = library.store.core
    let place = try Self.place(of: child, in: container, of: library)
    try core.environment.write { t in
      try t.put(Self.bytes([container, place + 1]), Self.bytes([child]), in: core.projections.members)
    }
    var options = FetchOptions()
    options.sort = [try SortTerm("creationDate", for: .asset)]
    let collection = try made.collection(album)
    let error = #expect(throws: LibraryError.self) { try library.fetchAssets(options, in: collection).core }
    #expect(error?.code == .corrupted)
  }

  @Test("a stored date that is not a number is damage when the result is divided into sections")
  func dateBeyondAll() throws {
    let (made, ids, _) = try Self.make()
    let library = made.library
    let number = try Self.number(of: ids[0], in: library)
    let core = library.store.core
    try core.environment.write { t in
      try t.put(Self.bytes([.max, number]), [], in: core.projections.orders[StoredOrder.whole])
    }
    var options = FetchOptions()
    options.sort = [try SortTerm("creationDate", for: .asset)]
    let result = try library.fetchAssets(options)
    let error = #expect(throws: LibraryError.self) { try result.sections(by: .month) }
    #expect(error?.code == .corrupted && error?.description.contains("the date of object \(number)") == true)
  }

  /// Gives a member another place, of which the list of its album knows nothing.
  private static func misplace(
    _ child: ObjectNumber, in container: ObjectNumber, of library: PhotoLibrary
  ) throws {
    let core = library.store.core
    let place = try place(of: child, in: container, of: library)
    try core.environment.write { t in
      try t.put(bytes([child, container]), bytes([place + 1]), in: core.projections.containers)
    }
  }

  private static func place(
    of child: ObjectNumber, in container: ObjectNumber, of library: PhotoLibrary
  ) throws -> UInt64 {
    let store = library.store
    let key = try store.reading { t in try store.core.projections.key(of: child, in: container, t) }
    return try #require(key).rawValue
  }

  private static func bytes(_ numbers: [UInt64]) -> [UInt8] {
    numbers.flatMap { number in withUnsafeBytes(of: number.bigEndian) { Array($0) } }
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
