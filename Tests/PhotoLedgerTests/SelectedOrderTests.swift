import EventLog
import LMDB
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

  @Test("a result is begun, and shared with equal fetches, of one asset more than are read at first (AU-01)")
  func begun() throws {
    let size = BegunResult.firstCount + 1
    let (made, ids) = try Self.library(size + 1, selecting: size)
    let library = made.library.as(Self.client)
    var further = FetchOptions()
    further.fetchOffset = 1
    func expect(_ count: Int, isBegun: Bool) throws {
      let (held, equal) = (try library.fetchAssets(), try library.fetchAssets())
      #expect((held.state.begun != nil) == isBegun && (held.state === equal.state) == isBegun)
      #expect(held.map(\.id) == Array(ids.prefix(count)))
      let later = try library.fetchAssets(further)
      #expect(later.state.begun == nil && later.map(\.id) == Array(ids[1..<count]))
    }
    try expect(size, isBegun: true)
    try made.library.performChangesAndWait { $0.withdraw([ids[size - 1]], from: Self.client) }
    try expect(size - 1, isBegun: false)
    try made.library.performChangesAndWait { $0.grant([ids[size - 1]], to: Self.client) }
    try expect(size, isBegun: true)
    try made.library.performChangesAndWait { $0.setAuthorizationStatus(.denied, of: Self.client) }
    let none = try library.fetchAssets()
    #expect(none.isEmpty && none.state.begun == nil)
    #expect(try made.library.fetchAssets().count == ids.count)
  }

  @Test(
    "an order is walked until the rows of the selection cost less, and a small selection is found so by its count",
    arguments: ["", "creationDate"], [1, 5])
  func boundary(order: String, size: Int) throws {
    let (made, ids) = try Self.library(6, selecting: size)
    var options = FetchOptions()
    if !order.isEmpty { options.sort = [try SortTerm(order, for: .asset)] }
    let result = try made.library.as(Self.client).fetchAssets(options)
    #expect(result.map(\.id) == Array(ids.prefix(size)))
    let (plan, numbers, store) = (try result.core.plan, try result.core.numbers, made.library.store)
    let orders = store.core.projections.orders
    let isByNumber = order.isEmpty
    let most = LibraryStore.keysOfRow * (size + 1)
    try store.reading { t in
      let head = try store.core.log.head(t)
      var walked = try t.count(of: orders[StoredOrder.withheld])
      if !isByNumber { walked += try t.count(of: orders[StoredOrder.whole]) }
      // From these events on, the bits and the keys, or the bits alone, cost more than the rows.
      let first = UInt64((most - walked) * LibraryStore.wordsOfKey) << 6
      let small = UInt64(most * LibraryStore.wordsOfKey) << 6
      #expect(first > head.sequence)
      for (last, isWalked) in [(first - 1, true), (first, false), (small - 1, isByNumber), (small, false)] {
        let later = EventLog.Head(sequence: last, commit: head.commit, chain: head.chain)
        let keys = try store.selectedKeys(plan, FetchContext(head: later, selectionCount: size), t)
        #expect((keys != nil) == isWalked, "\(last) events")
        if let keys { #expect(keys.map(\.number) == numbers) }
      }
    }
  }

  @Test(
    "the rows of a selection are read in the order of the library, without those that are not shown (AU-01, FR-11)",
    arguments: [[], ["addedDate"], ["addedDate", "isTrashed"]] as [[String]])
  func rows(order: [String]) throws {
    let (made, ids) = try Self.library(80, selecting: 70)
    let (hidden, deleted) = ([ids[0], ids[31], ids[69]], [ids[32]])
    try made.library.performChangesAndWait { block in
      block.setHidden(true, for: hidden)
      block.deleteAssets(deleted)
    }
    let library = made.library.as(Self.client)
    var options = FetchOptions()
    options.sort = try order.map { try SortTerm($0, for: .asset) }
    // No order of these is stored.
    options.condition = .comparison(.isFavorite, .equal, .bool(false))
    let shown = ids.prefix(70).filter { !hidden.contains($0) && !deleted.contains($0) }
    let result = try library.fetchAssets(options)
    #expect(result.map(\.id) == shown && result.state.begun == nil)
    #expect(try library.at(result.token).fetchAssets(options).map(\.id) == shown)
    try made.library.performChangesAndWait { $0.withdraw([ids[1]], from: Self.client) }
    #expect(try library.at(result.token).fetchAssets(options).map(\.id) == shown, "as of before")
    #expect(try library.fetchAssets(options).map(\.id) == shown.filter { $0 != ids[1] })
    #expect(try made.library.fetchAssets().count == 76)
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
