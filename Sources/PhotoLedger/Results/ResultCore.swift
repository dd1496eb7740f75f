import CountedTree

/// The core of a fetch result, without the type of its objects: a plan, an order and the commit it belongs to.
///
/// A value: the order is a persistent tree, so a copy costs nothing and holding one pins no page of the store.
package struct ResultCore: Sendable {
  /// The mark of the library that the result is of.
  package let library: UInt64
  package let plan: QueryPlan
  /// Whether observers want index sets (CD-15).
  let wantsIncrementalChanges: Bool
  package var window: Window
  /// The commit whose state the result shows.
  package var commit: UInt64
  /// The last event of that commit.
  package var sequence: UInt64
  package var order: ResultOrder
  /// For ``Query/Scope/containing(_:)``: where the object stands.
  var holders = Holders()
  /// What it has in common with the results that it was stepped from.
  var origin = OrderOrigin()
  /// How many keys were added, removed or moved since the first result of that origin.
  var changedKeyCount = 0
  /// In whose name the result is followed.
  let client: String

  /// The same objects as another fetch of the query shows them.
  func shown(in window: Window, wantsIncrementalChanges: Bool, as client: String) -> ResultCore {
    ResultCore(
      library: library, plan: plan, wantsIncrementalChanges: wantsIncrementalChanges, window: window, commit: commit,
      sequence: sequence, order: order, holders: holders, origin: origin, changedKeyCount: changedKeyCount,
      client: client)
  }

  /// The same objects as the owner of another result wants them shown.
  func shown(like other: ResultCore) -> ResultCore {
    shown(in: other.window, wantsIncrementalChanges: other.wantsIncrementalChanges, as: other.client)
  }

  /// The positions of the order that are shown.
  var shown: Range<Int> { window.range(in: order.count) }

  /// The numbers of all shown objects, in order.
  package var numbers: [ObjectNumber] {
    switch order {
    case .narrow(let tree): tree.elements(in: shown).map(\.number)
    case .wide(let tree): tree.elements(in: shown).map(\.number)
    }
  }

  /// The number of the object at a shown position.
  func number(at position: Int) -> ObjectNumber { order.number(at: shown.lowerBound + position) }

  /// What a delta does to the result.
  /// - Complexity: O(k) in the objects of the delta; O(n) where an asset of it was erased.
  func touches(by delta: Delta) -> OrderTouches {
    switch order {
    case .narrow(let tree): .narrow(tree.touches(of: plan, by: delta, holders))
    case .wide(let tree): .wide(tree.touches(of: plan, by: delta, holders))
    }
  }

  /// The result after a delta, and where the touched objects stood and stand.
  /// - Parameter touches: what the delta does to the result, if that is known.
  /// - Throws: `.corrupted` if the result contradicts the delta, as after damage to the rows of the store.
  /// - Complexity: O(k log n).
  func advanced(
    by delta: Delta, _ touches: OrderTouches? = nil
  ) throws(LibraryError) -> (after: ResultCore, touched: TouchedPositions) {
    var after = self
    after.commit = delta.to
    after.sequence = delta.lastSequence
    after.holders = plan.holders(holders, after: delta)
    let touched: TouchedPositions
    switch (order, touches ?? self.touches(by: delta)) {
    case (.narrow(let tree), .narrow(let touches)):
      let (next, positions) = try tree.advanced(by: touches)
      after.order = .narrow(next)
      touched = positions
    case (.wide(let tree), .wide(let touches)):
      let (next, positions) = try tree.advanced(by: touches)
      after.order = .wide(next)
      touched = positions
    default: preconditionFailure("A result and what a delta does to it have keys of different widths.")
    }
    after.countChangedKeys(touched)
    return (after, touched)
  }

  /// Begins another origin once so many keys were changed that little memory may be shared with the first result.
  private mutating func countChangedKeys(_ touched: TouchedPositions) {
    changedKeyCount += touched.removed.count + touched.inserted.count + touched.repositioned.count
    guard changedKeyCount > order.count / OrderOrigin.keysOfChange else { return }
    (origin, changedKeyCount) = (OrderOrigin(), 0)
  }

  /// Whether it can be said of any commit, knowing those before it or not, whether it touches the list. Not so where an
  /// object's standing decides what is shown: it is known from the oldest commit on.
  var isFollowedBackward: Bool { if case .containing = plan.query.scope { false } else { true } }

  /// Whether a delta touches the list, wherever it starts; to be called only if ``isFollowedBackward``.
  /// - Complexity: O(k).
  func isTouched(by delta: Delta) -> Bool {
    if plan.isBlind(to: delta) { return true }
    return switch order {
    case .narrow: plan.touches(by: delta, holders: holders, as: NarrowKey.self).contains(where: \.isTouch)
    case .wide: plan.touches(by: delta, holders: holders, as: WideKey.self).contains(where: \.isTouch)
    }
  }

  /// The positions of the objects of a delta in this result and in a later one of the same query.
  /// - Throws: `.corrupted` if one of the results contradicts the delta.
  /// - Complexity: O(k log n).
  func positions(of delta: Delta, after: ResultCore) throws(LibraryError) -> TouchedPositions {
    switch (order, after.order) {
    case (.narrow(let tree), .narrow(let later)):
      return try tree.positions(of: tree.touches(of: plan, by: delta, holders, after: later), after: later)
    case (.wide(let tree), .wide(let later)):
      return try tree.positions(of: tree.touches(of: plan, by: delta, holders, after: later), after: later)
    default: preconditionFailure("Two results of one query have keys of different widths.")
    }
  }

  /// The index changes that an observer of the result is shown; nil if none shows (CD-01).
  func changes(_ touched: TouchedPositions) -> IndexChanges? {
    let changes = IndexChanges(touched.windowed(offset: window.offset, limit: window.limit))
    return changes.isEmpty ? nil : changes
  }
}

/// What holds the trees of live results, so that equal fetches of one commit share one.
protocol SharedResults: Sendable {
  /// The result of a query at a commit, if it is at hand.
  func shared(_ query: Query, at commit: UInt64) -> ResultCore?
}

extension LibraryStore {
  /// The result of a query at a commit, if something follows it already.
  func sharedResult(_ query: Query, at commit: UInt64) -> ResultCore? {
    installed((any SharedResults).self).current?.shared(query, at: commit)
  }
}
