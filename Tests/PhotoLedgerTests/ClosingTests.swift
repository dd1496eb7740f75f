import Foundation
import LMDB
import Synchronization
import TestSupport
import Testing

@testable import PhotoLedger

/// Records what it receives, and may do something then.
private final class Watcher: PhotoLibraryChangeObserver {
  let told = Gathered<Token>()
  let reaction: @Sendable () -> Void

  init(_ reaction: @escaping @Sendable () -> Void = {}) { self.reaction = reaction }

  func photoLibraryDidChange(_ change: LibraryChange) {
    told.append(change.token)
    reaction()
  }
}

@Suite("Closing", .timeLimit(.minutes(60)))
struct ClosingTests {
  @Test("a library can be closed in a completion handler")
  func inHandler() async throws {
    let made = try TemporaryLibrary()
    let library = made.library
    let outcomes = Gathered<Bool>()
    try LMDB.Environment.store(ofLibrary: made.url.path).write { _ in
      // The writer waits for this transaction, so both blocks are queued when the first handler is called.
      for title in ["first", "second"] {
        library.performChanges {
          $0.createAlbum(title: title)
        } completionHandler: { outcome in
          library.close()
          outcomes.append((try? outcome.get()) != nil)
        }
      }
    }
    try await waitUntil("both handlers have returned") { outcomes.all.count == 2 }
    #expect(outcomes.all == [true, true])
    let error = await #expect(throws: LibraryError.self) { try await library.performChanges { _ in } }
    #expect(error?.code == .closed)
  }

  @Test("a library can be closed by an observer")
  func inObserver() async throws {
    let made = try TemporaryLibrary()
    let library = made.library
    let isClosed = Gathered<Bool>()
    let watcher = Watcher {
      library.close()
      isClosed.append(true)
    }
    try library.register(watcher)
    try await library.performChanges { $0.createAlbum(title: "x") }
    try await waitUntil("the observer has closed the library") { isClosed.all.count == 1 }
  }

  @Test("a library whose last reference goes on the writer's thread is closed there")
  func droppedByWriter() async throws {
    let folder = try TemporaryFolder()
    let outcomes = Gathered<Bool>()
    weak let environment = try Self.queueBlockAndLetGo(in: folder) { outcomes.append((try? $0.get()) != nil) }
    try await waitUntil("the block is executed and the store is let go") {
      outcomes.all == [true] && environment == nil
    }
    let again = try PhotoLibrary(at: folder.place("library"))
    #expect(try again.fetchCollections().count == 1)
  }

  /// Queues a block while the writer cannot go on, so that only the block holds the library when it can.
  private static func queueBlockAndLetGo(
    in folder: TemporaryFolder, _ handler: @escaping @Sendable (Result<CommitReceipt, any Error>) -> Void
  ) throws -> LMDB.Environment {
    let url = folder.place("library")
    var library: PhotoLibrary? = try PhotoLibrary.create(at: url)
    let environment = try LMDB.Environment.store(ofLibrary: url.path)
    try environment.write { _ in
      library?.performChanges({ $0.createAlbum(title: "x") }, completionHandler: handler)
      library = nil
    }
    return environment
  }

  @Test("a closed library releases its store, so that the directory can be removed", arguments: [false, true])
  func letsGo(isFollowed: Bool) async throws {
    let folder = try TemporaryFolder()
    func use() async throws -> LMDB.Environment {
      let library = try PhotoLibrary.create(at: folder.place("library"))
      let held = try library.fetchCollections()
      try await library.performChanges { $0.createAlbum(title: "x") }
      if isFollowed {
        var iterator = library.changes(to: held).makeAsyncIterator()
        #expect(try await iterator.next()?.insertedIndexes == [0])
      }
      library.close()
      return try LMDB.Environment.store(ofLibrary: library.url.path)
    }
    weak let environment = try await use()
    try await waitUntil("the store is let go") { environment == nil }
  }

  @Test("concurrent closes each return when the queued blocks have been executed")
  func concurrently() async throws {
    let made = try TemporaryLibrary()
    let library = made.library
    let outcomes = Gathered<Bool>()
    for index in 0..<50 {
      library.performChanges {
        $0.createAlbum(title: "\(index)")
      } completionHandler: { outcome in
        outcomes.append((try? outcome.get()) != nil)
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          let count = try await onThread {
            library.close()
            return try library.fetchCollections().count
          }
          #expect(count == 50)
        }
      }
      try await group.waitForAll()
    }
    try await waitUntil("every handler was called") { outcomes.all.count == 50 }
    #expect(outcomes.all.allSatisfy { $0 })
  }

  @Test("closing delivers the last commit to followers and observers, then ends them")
  func tellsLastCommit() async throws {
    for _ in 0..<20 {
      let made = try TemporaryLibrary()
      let library = made.library
      let held = try library.fetchCollections()
      let seen = Gathered<Int>()
      let watcher = Watcher()
      try library.register(watcher)
      let follower = Task {
        for try await change in library.changes(to: held) { seen.append(change.fetchResultAfterChanges.count) }
      }
      try await library.performChanges { $0.createAlbum(title: "first") }
      try await waitUntil("the first is notified") { seen.all == [1] && watcher.told.all.count == 1 }
      let last = try await library.performChanges { $0.createAlbum(title: "last") }
      library.close()
      try await follower.value
      #expect(seen.all == [1, 2])
      try await waitUntil("the observer is notified") { watcher.told.all.last == last.token }
    }
  }

  @Test("closing delivers to a client everything up to the end, including a change of its permission and what followed")
  func tellsCrossing() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(4)
    let app = try await small.ruleClient(.authorized)
    var changes = app.changes(to: try app.fetchAssets()).makeAsyncIterator()
    try await small.change { $0.setFavorite(true, for: [a[0]]) }
    #expect(try await changes.next()?.changedIndexes == [0])
    try await small.change { block in
      block.setAuthorizationStatus(.limited, of: app.client)
      block.grant([a[1]], to: app.client)
    }
    try await small.change { $0.grant([a[2]], to: app.client) }
    try await small.change { $0.setFavorite(true, for: [a[3]]) }
    try await small.change { $0.setAuthorizationStatus(.authorized, of: app.client) }
    small.library.close()
    var told: [[LocalIdentifier]] = []
    while let change = try await changes.next() { told.append(change.fetchResultAfterChanges.map(\.id)) }
    #expect(told == [[a[1]], [a[1], a[2]], a])
  }

  @Test("what was fetched before can be read afterwards")
  func readsAfterwards() throws {
    let made = try TemporaryLibrary()
    try made.library.performChangesAndWait { $0.createAlbum(title: "x") }
    let held = try made.library.fetchCollections()
    made.library.close()
    made.library.close()
    #expect(held.map(\.localizedTitle) == ["x"])
  }
}
