import Foundation
import Synchronization
import TestSupport
import Testing

@testable import PhotoLedger

// Counted in commits, deliveries and events, not in seconds: what a watcher has to do follows from what it has missed.

@Suite("live watchers behind a busy writer")
struct BusyWriterTests {
  private let small: SmallLibrary
  private var library: PhotoLibrary { small.library }

  init() throws { small = try SmallLibrary() }

  /// Edits an asset in a commit of its own.
  private func edit(_ asset: LocalIdentifier, _ index: Int) async throws {
    var changes = AssetChanges()
    changes.pixelWidth = 1000 + index
    try await library.performChanges { $0.edit([asset], changes) }
  }

  @Test(
    "one that accepts a change while three commits are made never lags by more than its backlog", arguments: [0, 8])
  func bounded(backlog: Int) async throws {
    let asset = try await small.assets(3)[1]
    var changes = library.changes(to: try library.fetchAssets(), composingBeyond: backlog).makeAsyncIterator()
    var lag = 0
    for round in 0..<60 {
      for index in 0..<3 { try await edit(asset, 3 * round + index) }
      // The thread that follows does it within half a second in any case.
      try library.store.observation.pump()
      let details = try #require(try await changes.next())
      let after = details.fetchResultAfterChanges
      lag = Int(try library.currentToken.position - after.token.position)
      #expect(lag <= backlog, "round \(round)")
      let position = try #require(details.changedIndexes?.first)
      #expect(try after.object(at: position).pixelWidth == 1000 + 3 * round + 2 - lag)
    }
    // When the writer rests, what is left comes one commit at a time.
    for left in (0..<lag).reversed() {
      let details = try #require(try await changes.next())
      #expect(Int(try library.currentToken.position - details.fetchResultAfterChanges.token.position) == left)
    }
  }

  @Test("several that have missed hundreds of commits of one asset read a few events for each of them")
  func held() async throws {
    let count = 200
    let asset = try await small.assets(3)[1]
    let result = try library.fetchAssets()
    var watchers = (0..<3).map { _ in library.changes(to: result, composingBeyond: .max).makeAsyncIterator() }
    // They are live before the writer begins.
    for index in 0..<2 { try await edit(asset, index) }
    for watcher in watchers.indices {
      for _ in 0..<2 { _ = try #require(try await watchers[watcher].next()) }
    }
    for index in 2..<count { try await edit(asset, index) }
    try library.store.observation.pump()
    let before = library.store.eventsCrossed.load(ordering: .relaxed)
    for index in 2..<count {
      for watcher in watchers.indices {
        let details = try #require(try await watchers[watcher].next())
        let position = try #require(details.changedIndexes?.first)
        #expect(try details.fetchResultAfterChanges.object(at: position).pixelWidth == 1000 + index)
      }
    }
    let crossed = library.store.eventsCrossed.load(ordering: .relaxed) - before
    #expect(crossed <= 6 * count * watchers.count, "\(crossed) events for \(count) edits")
  }
}
