import LibraryAudit
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

@Suite("The limit of the history")
struct HistoryLimitTests {
  @Test("a token older than the history is 3105, for a client from which it hides something (PH-06)")
  func expired() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(2)
    let app = try await small.ruleClient(.limited, [a[0]])
    let tokens = (try small.library.currentToken, try app.currentToken)
    try await small.change { $0.setFavorite(true, for: [a[1]]) }
    let middle = try small.library.currentToken
    try await small.change { $0.setFavorite(true, for: [a[0]]) }
    try small.library.shortenHistory(to: middle)
    let error = #expect(throws: LibraryError.self) { try small.library.fetchPersistentChanges(since: tokens.0) }
    #expect(error?.code == .tokenExpired && LibraryError.Code.tokenExpired.rawValue == 3105)
    #expect(try small.library.fetchPersistentChanges(since: middle).count == 2)
    #expect(try app.fetchPersistentChanges(since: tokens.1).count == 1, "It missed nothing of what it sees.")
    try small.library.shortenHistory(to: try small.library.currentToken)
    let later = #expect(throws: LibraryError.self) { try app.fetchPersistentChanges(since: tokens.1) }
    #expect(later?.code == .tokenExpired)
    #expect(throws: LibraryError.self) { try app.shortenHistory(to: tokens.1) }
    #expect(try small.library.fetchAssets().count == 2, "Reading anew is how a client goes on.")
    #expect(try small.library.verify().isSound)
  }
}
