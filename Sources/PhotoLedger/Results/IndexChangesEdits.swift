public import CountedTree

/// What a change did to one object's key in one result: a commit, or several composed.
///
/// - `old` nil: the object was not in the result; `new` nil: it is not in it any more.
/// - both, unequal: it was given another place; equal: it stays in place, and matters only if it is changed.
@usableFromInline
package struct KeyTouch<Key: Comparable & Sendable>: Sendable {
  @usableFromInline package var old: Key?
  @usableFromInline package var new: Key?
  /// Whether an object in both lists looks different now.
  @usableFromInline package var isVisiblyChanged: Bool

  @inlinable
  package init(old: Key?, new: Key?, isVisiblyChanged: Bool) {
    self.old = old
    self.new = new
    self.isVisiblyChanged = isVisiblyChanged
  }

  /// Whether the object is in the result before or after.
  var isTouch: Bool { isVisiblyChanged || old != new }
}

extension CountedTree {
  /// Applies the edits of a change and returns their positions.
  ///
  /// All live results step through this function, and the benchmarks measure it.
  ///
  /// - Parameter edits: in any order, at most one for an object; each old key is present, each new key is not unless
  ///   it is also an old one.
  /// - Returns: positions before and after, from which `IndexChanges` follow.
  /// - Throws: the contradiction, with the index of the edit: its old key is absent, or its new key is present already.
  ///   The tree may have some of the edits then; a copy from before has none of them.
  /// - Complexity: O(k log n) and never more than O(n + k log k)
  @inlinable
  package mutating func apply(_ edits: [KeyTouch<Element>]) throws(TreeContradiction) -> TouchedPositions {
    if edits.count == 1 { return try apply(edits[0]) }
    let beforeCount = count
    var (removals, insertions): ([(key: Element, edit: Int)], [(key: Element, edit: Int)]) = ([], [])
    for (index, edit) in edits.enumerated() where edit.old != edit.new {
      if let old = edit.old { removals.append((old, index)) }
      if let new = edit.new { insertions.append((new, index)) }
    }
    removals.sort { $0.key < $1.key }
    insertions.sort { $0.key < $1.key }
    let ranks: BatchRanks
    do throws(TreeContradiction) {
      ranks = try apply(removing: removals.map(\.key), inserting: insertions.map(\.key))
    } catch {
      switch error {
      case .absent(let index): throw .absent(removals[index].edit)
      case .present(let index): throw .present(insertions[index].edit)
      }
    }
    var (removed, inserted): ([Int], [Int]) = ([], [])
    var places = [Relocation](repeating: Relocation(before: -1, after: -1), count: edits.count)
    for (rank, removal) in zip(ranks.removed, removals) {
      if edits[removal.edit].new == nil { removed.append(rank) } else { places[removal.edit].before = rank }
    }
    for (rank, insertion) in zip(ranks.inserted, insertions) {
      if edits[insertion.edit].old == nil { inserted.append(rank) } else { places[insertion.edit].after = rank }
    }
    let changed = try changedRanks(edits, places)
    return TouchedPositions(
      beforeCount: beforeCount, afterCount: count, removed: removed, inserted: inserted,
      repositioned: places.filter { $0.after >= 0 }, changed: changed)
  }

  /// The positions of the changed among the edits, ascending.
  ///
  /// They are looked up in the order of their keys, so each descent finds the last one's nodes in the caches.
  @inlinable
  func changedRanks(
    _ edits: [KeyTouch<Element>], _ places: [Relocation]
  ) throws(TreeContradiction) -> [Int] {
    var visible: [(key: Element, edit: Int)] = []
    for (index, edit) in edits.enumerated() where edit.isVisiblyChanged && edit.old != nil {
      if let new = edit.new { visible.append((new, index)) }
    }
    visible.sort { $0.key < $1.key }
    var ranks: [Int] = []
    ranks.reserveCapacity(visible.count)
    for (key, edit) in visible {
      if places[edit].after >= 0 {
        ranks.append(places[edit].after)
      } else {
        guard let rank = index(of: key) else { throw .absent(edit) }
        ranks.append(rank)
      }
    }
    return ranks
  }

  /// Makes one edit: the common case, without the lists that several need.
  @inlinable
  mutating func apply(_ edit: KeyTouch<Element>) throws(TreeContradiction) -> TouchedPositions {
    let beforeCount = count
    var (removed, inserted, changed): ([Int], [Int], [Int]) = ([], [], [])
    var repositioned: [Relocation] = []
    switch (edit.old, edit.new) {
    case (let old?, let new?) where old == new:
      if edit.isVisiblyChanged {
        guard let rank = index(of: new) else { throw .absent(0) }
        changed.append(rank)
      }
    case (let old?, let new?):
      let before = try removePresent(old)
      let after = try insertAbsent(new)
      repositioned.append(Relocation(before: before, after: after))
      if edit.isVisiblyChanged { changed.append(after) }
    case (let old?, nil): removed.append(try removePresent(old))
    case (nil, let new?): inserted.append(try insertAbsent(new))
    case (nil, nil): break
    }
    return TouchedPositions(
      beforeCount: beforeCount, afterCount: count, removed: removed, inserted: inserted, repositioned: repositioned,
      changed: changed)
  }

  @inlinable
  mutating func removePresent(_ element: Element) throws(TreeContradiction) -> Int {
    guard let rank = remove(element) else { throw .absent(0) }
    return rank
  }

  @inlinable
  mutating func insertAbsent(_ element: Element) throws(TreeContradiction) -> Int {
    let (inserted, rank) = insert(element)
    guard inserted else { throw .present(0) }
    return rank
  }
}
