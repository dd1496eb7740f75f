import CountedTree

// Results that hold an asset which was erased since.
//
// A result finds a touched object in its tree by the sort key of its previous row. For an erased asset that row is no
// longer available: the log yields a redacted row for every earlier state, which has another key and other answers to
// every condition. The tree still has the key. So the key of such an asset is searched in the tree by its number, in
// one walk: O(n) for followers across an erasure, and nothing for all others.

extension QueryPlan {
  /// Whether the rows of a delta do not determine the former positions of its objects.
  func isBlind(to delta: Delta) -> Bool { query.entity == .asset && !delta.erasedAssets.isEmpty }
}

extension AssetRow {
  package var isErased: Bool { flags.contains(.erased) }
}

extension CountedTree where Element: PlannedKey {
  /// What a delta does to this tree; the keys of erased assets are those that it has.
  /// - Parameter later: the tree that the delta leads to, if it is known already.
  /// - Complexity: O(k); O(n) where an asset of the delta was erased.
  func touches(
    of plan: QueryPlan, by delta: Delta, _ holders: Holders, after later: CountedTree<Element>? = nil
  ) -> [KeyTouch<Element>] {
    let told: [KeyTouch<Element>] = plan.touches(by: delta, holders: holders)
    guard plan.isBlind(to: delta) else { return told }
    let erased = delta.erasedAssets
    let standing = keys(of: erased)
    let standingLater = later?.keys(of: erased)
    var touches = told.filter { touch in
      !((touch.old ?? touch.new).map { erased.contains($0.number) } ?? false)
    }
    var blank: [ObjectNumber: Element] = [:]
    for touch in told { if let new = touch.new { blank[new.number] = new } }
    for number in erased {
      let new: Element? = standingLater == nil ? blank[number] : standingLater?[number]
      guard standing[number] != nil || new != nil else { continue }
      touches.append(KeyTouch(old: standing[number], new: new, isVisiblyChanged: true))
    }
    return touches
  }

  private func keys(of numbers: Set<ObjectNumber>) -> [ObjectNumber: Element] {
    var keys: [ObjectNumber: Element] = [:]
    for key in self where numbers.contains(key.number) { keys[key.number] = key }
    return keys
  }
}
