import Foundation
import TestSupport
import Testing

@testable import PhotoLedger

@Suite("Results whose order is stored, and their first change")
struct BegunResultTests {
  /// A library with more assets than are read at first.
  private static func library() throws -> (TemporaryLibrary, [LocalIdentifier]) {
    let made = try TemporaryLibrary()
    return (made, try made.create(3 * BegunResult.firstCount))
  }

  @Test("equal fetches of one commit share one begun result, which is completed once, whichever reader is first")
  func shared() async throws {
    let (made, ids) = try Self.library()
    let library = made.library
    let held = try (0..<3).map { _ in try library.fetchAssets() }
    #expect(held.allSatisfy { $0.state === held[0].state } && held[0].state.begun != nil)
    var window = FetchOptions()
    window.fetchLimit = BegunResult.firstCount + 1
    #expect(try library.fetchAssets(window).state !== held[0].state)

    let keeper = ChangeKeeper()
    try library.register(keeper)
    try await library.performChanges { $0.setFavorite(true, for: [ids[5]]) }
    #expect(try library.fetchAssets().state !== held[0].state, "This one is of the later commit.")
    try await waitUntil("the observer is called") { keeper.changes.all.count == 1 }
    for result in held {
      let details = try #require(try keeper.changes.all[0].changeDetails(for: result))
      #expect(details.changedIndexes == [5] && details.fetchResultBeforeChanges.state.begun == nil)
    }
  }

  @Test("a result without references is not kept")
  func released() throws {
    let (made, _) = try Self.library()
    weak var state: ResultState?
    do {
      let result = try made.library.fetchAssets()
      state = result.state
      #expect(state != nil && result.count > BegunResult.firstCount)
    }
    #expect(state == nil)
    for number in 0..<200 {
      try made.library.performChangesAndWait { $0.createAlbum(title: "\(number)") }
      _ = try made.library.fetchAssets()
    }
    #expect(made.library.store.begunResults.listedCount <= 64)
  }

  @Test("what a client holds is built ahead in the background, and what others hold is not")
  func ahead() async throws {
    let (made, _) = try Self.library()
    try await made.library.performChanges { block in
      block.register(client: "app", .described)
      block.setAuthorizationStatus(.authorized, of: "app")
    }
    let (own, other) = (try made.library.fetchAssets(), try made.library.as("app").fetchAssets())
    #expect(own.state.begun != nil && other.state.begun != nil)
    made.library.makeBegunResultsAhead()
    try await waitUntil("the result is made") { own.state.begun == nil }
    #expect(other.state.begun != nil)
  }
}
