import Testing

@testable import PhotoLedger

@Suite("The marks of stored orders")
struct OrderMarkTests {
  @Test(
    "the orders of a row outside of the trash are those whose plans admit it, though they are judged together",
    arguments: 1...3 as ClosedRange<UInt64>)
  func marks(seed: UInt64) {
    var random = QueryRandom(seed: seed)
    var met: UInt32 = 0
    for index in 0..<4000 {
      var row = random.asset()
      row.trashedDate = nil
      if index.isMultiple(of: 2) { row.mediaSubtypes = MediaSubtypes(rawValue: UInt32(random.next() >> 32)) }
      var wanted: UInt32 = 0
      for (order, stored) in StoredOrder.judged.enumerated() where stored.plan.admits(row) {
        wanted |= 1 << UInt32(order)
      }
      let found = row.withView { StoredOrder.marks(of: $0) }
      #expect(found == wanted, "\(row)")
      met |= found
    }
    #expect(met.nonzeroBitCount == StoredOrder.judged.count, "Some order is never met.")
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
