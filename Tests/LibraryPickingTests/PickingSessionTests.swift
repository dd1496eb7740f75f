import Foundation
import TestSupport
import Testing

import LibraryAudit
import LibraryPicking
@testable import PhotoLedger

@Suite("Picking sessions side by side", .timeLimit(.minutes(60)))
struct PickingSessionTests {
  @Test("two sessions of two clients do not mix, however their taps interleave")
  func twoSessions() async throws {
    let picking = try await PickingLibrary(40)
    let clients = ["a", "b"].map { picking.library.as($0) }
    let sessions = try clients.map { try $0.beginPicking(picking.configuration(0, .continuousAndOrdered)) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, session) in sessions.enumerated() {
        let presenter = try picking.library.present(session)
        group.addTask {
          for index in 0..<40 where index % 2 == number { try await presenter.select(picking.name(index)) }
          try await presenter.finish()
        }
      }
      try await group.waitForAll()
    }
    for (number, session) in sessions.enumerated() {
      let results = await session.everyResult
      let mine = (0..<40).filter { $0 % 2 == number }
      #expect(results.map(picking.indexes) == mine.indices.map { Array(mine[...$0]) })
      let last = try #require(results.last?.last)
      #expect(try await clients[number].load(last) == Data(PickingLibrary.bytes(38 + number).utf8))
      #expect(await picking.code { _ = try await clients[1 - number].load(last) } == .accessUserDenied)
      for index in 0..<40 {
        let names = try picking.library.access(toAsset: picking.name(index)).map(\.client)
        #expect(names == [index % 2 == 0 ? "a" : "b"])
      }
    }
  }

  @Test("concurrent taps take effect one after another, and the limit holds")
  func manyTaps() async throws {
    let picking = try await PickingLibrary(30)
    let session = try picking.app.beginPicking(picking.configuration(7, .continuousAndOrdered))
    let presenters = try (0..<3).map { _ in try picking.library.present(session) }
    let refused = await withTaskGroup(of: Bool.self) { group in
      for index in 0..<30 {
        group.addTask {
          await picking.code { try await presenters[index % 3].select(picking.name(index)) } == .limitExceeded
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(refused == 23)
    try await presenters[0].finish()
    let results = await session.everyResult
    #expect(results.map(\.count) == Array(1...7))
    for (shorter, longer) in zip(results, results.dropFirst()) { #expect(Array(longer.dropLast()) == shorter) }
  }

  @Test("open sessions are listed for clients with full access, and for their own client")
  func finding() async throws {
    let picking = try await PickingLibrary()
    let library = picking.library
    let mine = try picking.app.beginPicking(picking.configuration())
    let other = try library.as("other").beginPicking()
    #expect(mine.id != other.id)
    #expect(try library.pickingSessions().map(\.id) == [mine.id, other.id])
    #expect(try picking.app.pickingSessions().map(\.id) == [mine.id])
    #expect(try library.as("third").pickingSessions().isEmpty)
    let found = try #require(try library.pickingSessions().first { $0.id == mine.id })
    #expect(found.client == PickingLibrary.client && found.configuration == mine.configuration)
    let presenter = try library.present(found)
    try await presenter.select(picking.name(0))
    try await presenter.finish()
    #expect(mine.state == .finished)
    #expect(picking.indexes(try #require(await mine.everyResult.last)) == [0])
    #expect(try library.pickingSessions().map(\.id) == [other.id])
    other.cancel()
    #expect(try library.pickingSessions().isEmpty)
  }

  @Test("the presenter of a session gets the selection whenever it changes, to the end")
  func watching() async throws {
    let picking = try await PickingLibrary()
    let session = try picking.app.beginPicking(picking.configuration(3, .ordered))
    let presenter = try picking.library.present(session)
    var shown = presenter.presentations().makeAsyncIterator()
    func next() async -> [Int]? {
      await shown.next()?.selection.compactMap { name in picking.photos.firstIndex { name.hasPrefix($0.uuidString) } }
    }
    #expect(await next() == [])
    try await presenter.select(picking.name(4))
    #expect(await next() == [4])
    try await presenter.select(picking.name(1))
    #expect(await next() == [4, 1])
    session.moveAsset(withIdentifier: picking.name(1), afterAssetWithIdentifier: nil)
    #expect(await next() == [1, 4])
    session.deselectAssets(withIdentifiers: [picking.name(4)])
    #expect(await next() == [1])
    try session.update(PickerUpdate(selectionLimit: 5))
    #expect(await shown.next()?.selectionLimit == 5)
    session.cancel()
    #expect(await shown.next()?.state == .cancelled)
    #expect(await shown.next() == nil)
    var late = presenter.presentations().makeAsyncIterator()
    #expect(await late.next()?.state == .cancelled)
    #expect(await late.next() == nil)
  }

  @Test("an asset that is purged while the session is open is left out; the rest is submitted")
  func purgedMeanwhile() async throws {
    let picking = try await PickingLibrary()
    let session = try picking.app.beginPicking(picking.configuration())
    let presenter = try picking.library.present(session)
    for index in [0, 1, 2] { try await presenter.select(picking.name(index)) }
    try await picking.library.performChanges { $0.deleteAssets([picking.photos[1]]) }
    try await picking.library.performChanges { $0.purgeAssets([picking.photos[1]]) }
    try await presenter.finish()
    #expect(picking.indexes(try #require(await session.everyResult.last)) == [0, 2])
    let empty = try await picking.pick([])
    #expect(empty.isEmpty)
    #expect(try picking.library.clients().map(\.pickCount) == [1], "Nothing picked is nothing recorded.")
  }

  @Test("an abandoned session does not prevent the library from closing, and its results end")
  func abandoned() async throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "library")
    weak var store: LibraryStore?
    var results: PickingResults?
    do {
      let library = try PhotoLibrary.create(at: url, environment: .seeded(1))
      store = library.store
      results = try library.as("app").beginPicking().results
    }
    #expect(store == nil)
    var found: [[PickedItem]] = []
    for await result in try #require(results) { found.append(result) }
    #expect(found == [[]])
  }

  @Test("a session that begins when the library is closed is over at once", arguments: [false, true])
  func late(hasEarlier: Bool) async throws {
    let picking = try await PickingLibrary()
    if hasEarlier { _ = try picking.app.beginPicking() }
    picking.library.close()
    let session = try picking.app.beginPicking()
    try #require(session.state == .cancelled)
    let results = await session.everyResult
    #expect(results.map(\.count) == [0])
    #expect(try picking.library.pickingSessions().isEmpty)
  }

  @Test("the library's owner also picks, without being granted what it has")
  func owner() async throws {
    let picking = try await PickingLibrary()
    let items = try await picking.pick([picking.name(1)], for: picking.library)
    #expect(picking.indexes(items) == [1])
    #expect(try await picking.library.load(items[0]) == Data(PickingLibrary.bytes(1).utf8))
    #expect(try picking.library.clients().isEmpty)
    #expect(await picking.code { _ = try await picking.app.load(items[0]) } == .accessUserDenied)
  }
}
