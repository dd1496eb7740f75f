import EventLog
import Foundation
import LMDB
import Synchronization
import TestSupport
import Testing

@testable import PhotoLedger

@Suite("Observation")
struct ObservationRuleTests {
  @Test(
    "a lagging follower gets one change per commit, and beyond its limit one for all", arguments: [0, 1, 3, 8, 20])
  func backlog(limit: Int) async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(3)
    let result = try small.library.fetchAssets()
    var changes = small.library.changes(to: result, composingBeyond: limit).makeAsyncIterator()
    try await small.change { $0.setFavorite(true, for: [a[0]]) }
    _ = try await changes.next()
    for round in 0..<5 { try await small.change { $0.setFavorite(round % 2 == 1, for: [a[0]]) } }
    let first = try #require(try await changes.next())
    #expect(first.commits.count == (limit >= 5 ? 1 : 5))
    #expect(first.changedIndexes == [0])
    for _ in 0..<(limit >= 5 ? 4 : 0) { #expect(try await changes.next()?.commits.count == 1) }
    try await small.change { $0.deleteAssets([a[1]]) }
    let last = try #require(try await changes.next())
    #expect(last.removedIndexes == [1] && last.commits.count == 1)
  }

  @Test("a follower without a limit gets one change per commit, however large its lag")
  func farBehind() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(2)
    let result = try small.library.fetchAssets()
    var changes = small.library.changes(to: result, composingBeyond: .max).makeAsyncIterator()
    let start = try small.library.currentToken.commit
    // Two of three rounds are a commit; at either dose more are missed than a library remembers.
    for round in 0..<(Dose.isFull ? 1_500 : 600) {
      _ = try await small.library.performChanges { $0.setFavorite(round % 2 == 0, for: [a[round % 3 == 0 ? 0 : 1]]) }
    }
    let head = try small.library.currentToken.commit
    #expect(head > start + UInt64(Dose.isFull ? 800 : Observation.recentLimit))
    for number in (start + 1)...head {
      let details = try #require(try await changes.next())
      #expect(details.commits.map(\.number) == [number])
    }
  }

  @Test("what was added and removed again is not delivered")
  func cancelledOut() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(3)
    let result = try small.library.fetchAssets()
    var changes = small.library.changes(to: result, composingBeyond: 0).makeAsyncIterator()
    try await small.change { $0.setFavorite(true, for: [a[0]]) }
    _ = try await changes.next()
    var new: LocalIdentifier?
    try await small.change { new = $0.createAsset(.invented(50)) }
    try await small.change { $0.deleteAssets([new!]) }
    try await small.change { $0.setFavorite(true, for: [a[2]]) }
    let details = try #require(try await changes.next())
    #expect(details.insertedIndexes == [] && details.removedIndexes == [] && details.changedIndexes == [2])
    #expect(details.commits.count == 3)
  }

  @Test("observers are not retained, and a removed one receives nothing (OB-04)")
  func weakly() async throws {
    let small = try SmallLibrary()
    weak var forgotten: PromptObserver?
    let removed = PromptObserver()
    do {
      let observer = PromptObserver()
      forgotten = observer
      try small.library.register(observer)
    }
    #expect(forgotten == nil)
    try small.library.register(removed)
    small.library.unregisterChangeObserver(removed)
    _ = try await small.assets(1)
    removed.finish()
    for await _ in removed.changes { Issue.record("A removed observer received a change.") }
  }

  @Test("an observer that is removed while it is called receives no later change (OB-04)")
  func removedWhileBusy() async throws {
    let small = try SmallLibrary()
    let busy = BusyObserver()
    try small.library.register(busy)
    _ = try await small.assets(1)
    try await waitUntil("the observer is called") { busy.count == 1 }
    for _ in 0..<3 { _ = try await small.assets(1) }
    small.library.unregisterChangeObserver(busy)
    busy.goOn()
    // Each of these is delivered to another observer, after the call has ended.
    for _ in 0..<5 { _ = try await small.assets(1) }
    #expect(busy.count == 1)
  }

  /// An observer whose calls last until it may go on.
  private final class BusyObserver: PhotoLibraryChangeObserver {
    private let calls = Atomic(0)
    private let gate = DispatchSemaphore(value: 0)

    var count: Int { calls.load(ordering: .sequentiallyConsistent) }

    func photoLibraryDidChange(_ change: LibraryChange) {
      calls.add(1, ordering: .sequentiallyConsistent)
      gate.wait()
    }

    func goOn() { for _ in 0..<100 { gate.signal() } }
  }

  @Test("each of many observers receives every commit in order, from whichever thread it comes (OB-01, OB-03)")
  func manyWriters() async throws {
    let small = try SmallLibrary()
    let observers = (0..<8).map { _ in PromptObserver() }
    for observer in observers { try small.library.register(observer) }
    let library = small.library
    let first = try library.currentToken
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<4 {
        group.addTask {
          for index in 0..<25 {
            _ = try await library.performChanges { _ = $0.createAsset(.invented(writer * 100 + index)) }
          }
        }
      }
      try await group.waitForAll()
    }
    for observer in observers {
      var last = first.commit
      for await change in observer.changes {
        #expect(change.commits.map(\.number) == Array((last + 1)...(last + UInt64(change.commits.count))))
        last += UInt64(change.commits.count)
        if last == first.commit + 100 { break }
      }
    }
  }

  @Test("a library that is closed ends the sequences of its results")
  func closing() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(1)
    let result = try small.library.fetchAssets()
    var changes = small.library.changes(to: result).makeAsyncIterator()
    try await small.change { $0.setFavorite(true, for: a) }
    _ = try await changes.next()
    small.library.close()
    #expect(try await changes.next() == nil)
    await #expect(throws: LibraryError.self) {
      try await small.library.performChanges { _ = $0.createAlbum(title: "x") }
    }
  }

  @Test("equal queries share a live result; a fetch of one that is followed is the same result")
  func shared() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(4)
    let one = try small.library.fetchAssets(where: #Predicate { $0.isFavorite == false && $0.mediaType.rawValue == 1 })
    let two = try small.library.fetchAssets(
      where: #Predicate { $0.mediaType.rawValue == 1 && !$0.isFavorite }, limit: 2)
    var changes = [
      small.library.changes(to: one).makeAsyncIterator(), small.library.changes(to: two).makeAsyncIterator(),
    ]
    try await small.change { $0.setFavorite(true, for: [a[0]]) }
    let first = try #require(try await changes[0].next())
    let second = try #require(try await changes[1].next())
    #expect(first.removedIndexes == [0] && first.insertedIndexes == [])
    #expect(second.removedIndexes == [0] && second.insertedIndexes == [1])
    let again = try small.library.fetchAssets(
      where: #Predicate { $0.isFavorite == false && $0.mediaType.rawValue == 1 })
    #expect(again.map(\.id) == Array(a[1...]))
    #expect(again.token == first.fetchResultAfterChanges.token)
  }

  @Test("of queries that are repeatedly opened and closed nothing is kept that each commit would scan")
  func comeAndGone() async throws {
    let small = try SmallLibrary()
    _ = try await small.assets(1)
    func result(_ width: Int) throws -> ResultCore {
      try small.library.fetchAssets(where: #Predicate { $0.pixelWidth > width }).core
    }
    var queries = LiveQueries()
    var held = try (0..<40).map { queries.insert(try result($0)) }
    // Each is gone at once, and the next one takes its name.
    let again = try result(100)
    for _ in 0..<100 { _ = queries.insert(again) }
    #expect(queries.abandonedCount <= queries.all.count * 2)
    held = []
    queries.sweep()
    #expect(queries.abandonedCount == 0 && queries.all.isEmpty)
    held.append(queries.insert(again))
    #expect(queries.all.count == 1)
    withExtendedLifetime(held) {}
  }

  @Test("an observer that met an error and reads again receives the missed changes", arguments: 1...4)
  func askedAgain(changes: Int) async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(8)
    let app = try await small.ruleClient(.limited, [a[0]])
    let held = try app.fetchAssets()
    let follower = ResultChanges.Iterator(held, 2)
    if changes == 1 { try follower.listen() }
    for index in 1...changes { try await small.change { $0.grant([a[index]], to: app.client) } }
    if changes == 4 {
      try await small.change { $0.setAuthorizationStatus(.authorized, of: app.client) }
    }
    try follower.listen()
    try small.library.store.core.environment.withoutReaders {
      for _ in 0..<3 { #expect(throws: LibraryError.self) { try follower.take() } }
    }
    var shown = held.map(\.id)
    while let change = try follower.take() {
      try Self.follow(change, &shown)
    }
    #expect(try shown == app.fetchAssets().map(\.id))
  }

  @Test("a read of the log that fails for a moment ends no live result")
  func passingFailure() async throws {
    let made = try TemporaryLibrary()
    let environment = made.library.store.core.environment
    let changes = made.library.changes(to: try made.library.fetchAssets()).pending
    #expect(try changes.next() == nil)
    let waiting = Task { try await changes.wait() }
    // The thread that follows the log reads it at least twice meanwhile.
    try await onThread { try environment.withoutReaders { Thread.sleep(forTimeInterval: 1.5) } }
    try made.create(.invented(1))
    #expect(try await waiting.value)
    let change = try #require(try changes.next())
    #expect(change.insertedIndexes == [0])
  }

  @Test("while the log stays unreadable, each wait throws; once it can be read, none does, and closing ends them")
  func lastingFailure() async throws {
    let made = try TemporaryLibrary()
    let store = made.library.store
    let observation = Observation(
      core: store.core, signal: try ChangeSignal(path: store.signal.path), availability: store.availability,
      patience: 0)
    defer { observation.close() }
    let held = try made.library.fetchAssets().state.made(in: store)
    let query = try observation.live(held, composingBeyond: 8).query
    let (wakeUp, busy) = (WakeUp(), WakeUp())
    for follower in [wakeUp, busy] { query.listen(follower) }
    let (failures, left) = (Gathered<LibraryError>(), Gathered<LibraryError>())
    let waiting = Task {
      while failures.all.count < 2 {
        do {
          if try await !wakeUp.wait() { return }
        } catch let error as LibraryError {
          failures.append(error)
        }
      }
    }
    try await onThread {
      try store.core.environment.withoutReaders {
        let end = Date(timeIntervalSinceNow: 60)
        while failures.all.count < 2, Date() < end { Thread.sleep(forTimeInterval: 0.01) }
        if let failure = busy.failure { left.append(failure) }
      }
    }
    #expect(failures.all.map(\.code) == [.storage, .storage] && left.all.map(\.code) == [.storage])
    waiting.cancel()
    // It did not wait during the outage, and no commit wakes it before.
    try await waitUntil("the error of a busy follower is past", limit: .seconds(60)) { busy.failure == nil }
    let next = WakeUp()
    query.listen(next)
    try made.create(.invented(1))
    #expect(try await next.wait())
    #expect(try await busy.wait())
    observation.close()
    #expect(try await next.wait() == false)
    #expect(store.availability.reason == nil)
    withExtendedLifetime(query) {}
  }

  @Test(
    "a client whose permission was changed continues to receive changes, commit by commit or at once",
    arguments: [0, 2, 20])
  func toldOn(limit: Int) async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(8)
    let app = try await small.ruleClient(.authorized)
    // Other observers of either keep both queries live.
    var others = try [app, small.library].map { $0.changes(to: try $0.fetchAssets()).makeAsyncIterator() }
    let follower = ResultChanges.Iterator(try app.fetchAssets(), limit)
    try follower.listen()
    var shown = a
    for status in [AuthorizationStatus.limited, .authorized, .limited] {
      try await small.change { block in
        block.setAuthorizationStatus(status, of: app.client)
        if status == .limited { block.grant([a[1], a[3]], to: app.client) }
      }
      // Once: what follows it is asked for after the next commits.
      try Self.follow(try #require(try follower.take()), &shown)
      #expect(try shown == app.fetchAssets().map(\.id))
      for index in 0..<6 {
        try await small.change { block in
          block.setFavorite(status == .limited, for: [a[index]])
          if status == .limited { block.grant([a[7 - index]], to: app.client) }
        }
      }
      _ = try await others[0].next()
      _ = try await others[1].next()
      while let change = try follower.take() { try Self.follow(change, &shown) }
      #expect(try shown == app.fetchAssets().map(\.id))
    }
  }

  /// Checks a change against the list that is shown, which then is the next one.
  private static func follow(_ change: ChangeDetails<Asset>, _ shown: inout [LocalIdentifier]) throws {
    #expect(change.fetchResultBeforeChanges.map(\.id) == shown)
    let after = change.fetchResultAfterChanges.map(\.id)
    let expected = ListChange(before: shown, after: after, changed: [])
    #expect(change.insertedIndexes == IndexSet(expected.inserted))
    #expect(change.removedIndexes == IndexSet(expected.removed))
    shown = after
  }
}
