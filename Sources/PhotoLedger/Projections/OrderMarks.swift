import Synchronization

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
// The conditions ask for little of a row: its flags, types and variations, and whether it is of a burst. The rows of an
// import are mostly alike in all of that, so the conditions are only judged where it differs from the row before.
//
// Invariant: the marks are those of the orders whose plans admit the row. `StoredOrder.judged` checks that the orders
// are of one kind, so that their plans differ in nothing else; `lastJudged` that no condition asks for more than that.

extension StoredOrder {
  private typealias Judgement = @Sendable (AssetView) -> UInt32

  private static let common = QueryPlan(query(where: .always, includesHidden: true))
  private static let marksOfShown = judgement(by: Array(judged.indices))
  private static let marksOfHidden = judgement(by: judged.indices.filter { judged[$0].includesHidden })

  /// A bit for each of ``judged`` that holds the row of an asset outside of the trash.
  static func marks(of row: AssetView) -> UInt32 {
    guard common.isOffered(row) else { return 0 }
    let kind = RowKind(of: row)
    return lastJudged.withLock { last in
      if let last, last.kind == kind { return last.marks }
      let marks = row.flags.contains(.hidden) ? marksOfHidden(row) : marksOfShown(row)
      last = (kind, marks)
      return marks
    }
  }

  private static let lastJudged: Mutex<(kind: RowKind, marks: UInt32)?> = {
    precondition(
      judged.allSatisfy { RowKind.asks($0.condition) },
      "The condition of a stored order asks for more than the kind of a row.")
    return Mutex(nil)
  }()

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

/// What the conditions of stored orders ask for of a row.
private struct RowKind: Equatable {
  typealias Layout = AssetRow.Layout

  /// The flags, the types and the selection in a burst.
  private let types: UInt64
  private let subtypes: UInt32
  /// The rating and the variations.
  private let variations: UInt64
  private let isOfBurst: Bool

  init(of row: AssetView) {
    types = row.load(Layout.flags, as: UInt64.self)
    subtypes = row.load(Layout.mediaSubtypes, as: UInt32.self)
    variations = row.load(Layout.rating, as: UInt64.self)
    isOfBurst = row.isOfBurst
  }

  private static let places = [
    Layout.flags..<Layout.mediaSubtypes, Layout.mediaSubtypes..<Layout.pixelWidth, Layout.rating..<Layout.stack,
  ]

  /// Whether a condition asks for nothing else.
  static func asks(_ condition: Condition) -> Bool {
    switch condition {
    case .always, .never: true
    case .comparison(.burstIdentifier, _, let value): value == .null
    case .comparison(let key, _, _), .bits(let key, _, _, _): has(key)
    case .and(let parts), .or(let parts): parts.allSatisfy(asks)
    case .not(let part): asks(part)
    case .pair, .oneOf, .text: false
    }
  }

  private static func has(_ key: PropertyKey) -> Bool {
    switch AssetProperty.named(key)?.form {
    case .flag, .clearFlag: true
    case .choice(let place, _), .isChosen(let place), .bits(let place, _): places.contains { $0.contains(place) }
    default: false
    }
  }
}
