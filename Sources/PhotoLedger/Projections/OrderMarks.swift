// Which stored orders hold a row outside of the trash, judged for all of them together.
//
// Each row that comes or changes is judged for some twenty orders. Their plans have in common what an ordinary fetch
// leaves out: the trash, the inside of a burst, what lies beneath the top of a stack, other sources. That is judged
// once, by a plan that lets hidden assets in, and then only the condition of each order is left:
//
//     common ─┬─ no ───────────▶ no order
//             ├─ yes, hidden ──▶ those with hidden assets whose condition holds
//             └─ yes ──────────▶ those whose condition holds
//
// Invariant: the marks are those of the orders whose plans admit the row. `StoredOrder.judged` checks that the orders
// are of one kind, so that their plans differ in nothing else.

extension StoredOrder {
  private typealias Judgement = @Sendable (AssetView) -> UInt32

  private static let common = QueryPlan(query(where: .always, includesHidden: true))
  private static let marksOfShown = judgement(by: Array(judged.indices))
  private static let marksOfHidden = judgement(by: judged.indices.filter { judged[$0].includesHidden })

  /// A bit for each of ``judged`` that holds the row of an asset outside of the trash.
  static func marks(of row: AssetView) -> UInt32 {
    guard common.isOffered(row) else { return 0 }
    return row.flags.contains(.hidden) ? marksOfHidden(row) : marksOfShown(row)
  }

  /// Gives a bit for each of some orders whose condition a row meets. In halves, as conditions are compiled: a closure
  /// calls those that it holds without copying them.
  private static func judgement(by indexes: [Int]) -> Judgement {
    let parts = indexes.map { (passes: plans[$0].assetPasses, mark: UInt32(1) << UInt32($0)) }
    switch parts.count {
    case 0: return { _ in 0 }
    case 1:
      let one = parts[0]
      return { one.passes($0) ? one.mark : 0 }
    case 2:
      let (one, two) = (parts[0], parts[1])
      return { (one.passes($0) ? one.mark : 0) | (two.passes($0) ? two.mark : 0) }
    default:
      let middle = indexes.count / 2
      let (head, tail) = (judgement(by: Array(indexes[..<middle])), judgement(by: Array(indexes[middle...])))
      return { head($0) | tail($0) }
    }
  }
}
