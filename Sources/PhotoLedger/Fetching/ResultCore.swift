import CountedTree

/// What a fetch result is, without the type of its objects: a plan, an order and the commit it belongs to.
///
/// A value: the order is a persistent tree, so a copy costs nothing and holding one pins no page of the store.
package struct ResultCore: Sendable {
  package let plan: QueryPlan
  package let window: Window
  /// The commit whose state the result shows.
  package var commit: UInt64
  /// The last event of that commit.
  package var sequence: UInt64
  package var order: ResultOrder
  /// For ``Query/Scope/containing(_:)``: where the object stands, whether or not the condition admits it.
  var holders: Set<ObjectNumber> = []

  /// The positions of the order that are shown.
  var shown: Range<Int> { window.range(in: order.count) }

  /// The number of the object at a shown position.
  func number(at position: Int) -> ObjectNumber { order.number(at: shown.lowerBound + position) }

  /// The result after a delta, and where the touched objects stood and stand.
  /// - Complexity: O(k log n).
  func advanced(by delta: Delta, sequence: UInt64) -> (after: ResultCore, ranks: TouchedRanks) {
    var after = self
    after.commit = delta.to
    after.sequence = sequence
    after.holders = plan.holders(holders, after: delta)
    let ranks: TouchedRanks
    switch order {
    case .narrow(let tree):
      let (next, found) = tree.advanced(by: plan.touches(by: delta, holders: holders))
      after.order = .narrow(next)
      ranks = found
    case .wide(let tree):
      let (next, found) = tree.advanced(by: plan.touches(by: delta, holders: holders))
      after.order = .wide(next)
      ranks = found
    }
    return (after, ranks)
  }

  /// Where the objects of a delta stand in this result and in a later one of the same query.
  /// - Complexity: O(k log n).
  func ranks(by delta: Delta, after: ResultCore) -> TouchedRanks {
    switch (order, after.order) {
    case (.narrow(let tree), .narrow(let later)):
      tree.ranks(of: plan.touches(by: delta, holders: holders), after: later)
    case (.wide(let tree), .wide(let later)):
      tree.ranks(of: plan.touches(by: delta, holders: holders), after: later)
    default: preconditionFailure("Two results of one query have keys of different widths.")
    }
  }

  /// The index changes that lead from this result to a later one; nil if none shows (CD-01).
  func changes(_ ranks: TouchedRanks, after: ResultCore) -> IndexChanges? {
    let changes = IndexChanges(
      beforeCount: order.count, afterCount: after.order.count, removed: ranks.removed, inserted: ranks.inserted,
      repositioned: ranks.repositioned, changed: ranks.changed, offset: window.offset, limit: window.limit)
    return changes.isEmpty ? nil : changes
  }
}
