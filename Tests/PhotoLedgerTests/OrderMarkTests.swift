import TestSupport
import Testing

@testable import PhotoLedger

@Suite("The marks of stored orders")
struct OrderMarkTests {
  @Test(
    "the orders of a row outside of the trash are those whose plans admit it, though they are judged together",
    arguments: 1...(Dose.isFull ? 3 : 1) as ClosedRange<UInt64>)
  func marks(seed: UInt64) {
    var random = QueryRandom(seed: seed)
    var met: UInt32 = 0
    for index in 0..<4000 {
      var row = random.asset()
      row.trashedDate = nil
      if index.isMultiple(of: 2) { row.mediaSubtypes = MediaSubtypes(rawValue: UInt32(random.next() >> 32)) }
      Self.expectMarks(of: row)
      met |= row.withView { StoredOrder.marks(of: $0) }
    }
    #expect(met.nonzeroBitCount == StoredOrder.judged.count, "Some order is never met.")
  }

  @Test(
    "a row that differs from the one before in a single property has its own marks",
    arguments: 4...(Dose.isFull ? 6 : 4) as ClosedRange<UInt64>
  )
  func neighbours(seed: UInt64) {
    var random = QueryRandom(seed: seed)
    for _ in 0..<200 {
      var row = random.asset()
      row.trashedDate = nil
      Self.expectMarks(of: row)
      for property in AssetProperty.all {
        guard let field = property.field, field != .trashedDate, field != .stack else { continue }
        var other = row
        let next = random.asset()
        guard other.set(field, next[field]) else { continue }
        Self.expectMarks(of: other)
        Self.expectMarks(of: row)
      }
      for flags in [AssetRow.Flags.representsBurst, .selfPortrait, .raw, .stillPlayback, .favorite, .hidden] {
        var other = row
        other.flags.formSymmetricDifference(flags)
        Self.expectMarks(of: other)
        Self.expectMarks(of: row)
      }
      var other = row
      other.burstIdentifier = row.burstIdentifier == nil ? "burst" : nil
      Self.expectMarks(of: other)
    }
  }

  private static func expectMarks(of row: AssetRow) {
    var wanted: UInt32 = 0
    for order in StoredOrder.judged.indices where StoredOrder.plans[order].admits(row) { wanted |= 1 << UInt32(order) }
    #expect(row.withView { StoredOrder.marks(of: $0) } == wanted, "\(row)")
  }

  @Test("each order by date answers its own query, either way, and no query of another access")
  func answers() throws {
    for (index, order) in StoredOrder.all.enumerated() where order.kind != .undated {
      for ascending in [true, false] {
        var query = order.query
        query.sort = try query.sort.map { try SortTerm($0.key, ascending: ascending, for: .asset) }
        guard case .order(let found, let without, let way)? = StoredAnswer(query)?.source else {
          Issue.record("\(order.name) does not answer its query.")
          continue
        }
        #expect(found == index && without.isEmpty && way == .dated(ascending: ascending), "\(order.name)")
        query.access = Access(.limited, of: 1)
        #expect(StoredAnswer(query) == nil, "\(order.name)")
      }
    }
    #expect(StoredOrder.all[StoredOrder.whole].query == StoredOrder.query(where: .always))
    #expect(StoredOrder.plans.map(\.query) == StoredOrder.all.map(\.query))
  }

  @Test("a row in the trash has no mark")
  func trashed() {
    var random = QueryRandom(seed: 9)
    for _ in 0..<500 {
      var row = random.asset()
      row.trashedDate = QueryRandom.dates[0]
      #expect(row.withView { StoredOrder.marks(of: $0) } == 0)
    }
  }
}
