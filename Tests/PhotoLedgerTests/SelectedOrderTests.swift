import TestSupport
import Testing

@testable import PhotoLedger

// What decides how a limited client's result is found: how many assets its selection has.

@Suite("Results of selections")
struct SelectedOrderTests {
  private static let client = "com.example.some"

  /// A library of assets, of which a client may see the first ones.
  private static func library(_ count: Int, selecting size: Int) throws -> (TemporaryLibrary, [LocalIdentifier]) {
    let made = try TemporaryLibrary()
    let ids = try made.create(count)
    try made.library.performChangesAndWait { block in
      block.register(client: client)
      block.setAuthorizationStatus(.limited, of: client)
      block.grant(Array(ids.prefix(size)), to: client)
    }
    return (made, ids)
  }

  @Test("an earlier state is fetched by the selection of then, and the last one by that of now (AU-01)")
  func moments() throws {
    let (made, ids) = try Self.library(3 * BegunResult.firstCount, selecting: 2)
    let library = made.library.as(Self.client)
    let few = try library.fetchAssets()
    try made.library.performChangesAndWait { $0.grant(Array(ids.dropFirst(2)), to: Self.client) }
    let all = try library.fetchAssets()
    #expect(few.state.begun == nil && all.state.begun != nil)
    #expect(try library.at(few.token).fetchAssets().map(\.id) == Array(ids.prefix(2)))
    #expect(try library.at(all.token).fetchAssets().map(\.id) == ids)
    try made.library.performChangesAndWait { $0.withdraw(Array(ids.dropFirst()), from: Self.client) }
    #expect(try library.fetchAssets().map(\.id) == [ids[0]])
    #expect(try library.at(few.token).fetchAssets().map(\.id) == Array(ids.prefix(2)))
    #expect(try library.at(all.token).fetchAssets().map(\.id) == ids)
    #expect(all.map(\.id) == ids, "It is made as of its own commit.")
    #expect(try made.library.fetchAssets().count == ids.count)
  }
}
