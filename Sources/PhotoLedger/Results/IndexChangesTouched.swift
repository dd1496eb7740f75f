/// Strictly ascending positions, with the places between them.
package struct SortedPositions: Hashable, Sendable {
  package let members: [Int]

  /// - Parameter members: strictly ascending, none negative.
  package init(_ members: [Int]) {
    precondition(members.first ?? 0 >= 0, "A position must not be negative.")
    for index in members.indices.dropFirst() {
      precondition(members[index - 1] < members[index], "Positions must be strictly ascending.")
    }
    self.members = members
  }

  package var count: Int { members.count }

  /// How many members are less than a position.
  package func rank(of position: Int) -> Int { members.prefixCount { $0 < position } }

  /// The position of the free place with `ordinal` free places before it.
  package func freePlace(_ ordinal: Int) -> Int {
    // Before member i there are members[i] - i free places.
    ordinal + members.prefixCount(enumerated: { index, member in member - index <= ordinal })
  }

  /// How many free places lie before a position.
  package func freePlaces(before position: Int) -> Int { position - rank(of: position) }
}

extension Array {
  /// How many leading elements satisfy a condition that holds for a prefix.
  ///
  /// - Complexity: O(log n)
  func prefixCount(while isBefore: (Element) -> Bool) -> Int { prefixCount { _, element in isBefore(element) } }

  /// The same with the index given to the condition.
  func prefixCount(enumerated isBefore: (Int, Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(middle, self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// The positions of the objects that a commit touched, as the trees before and after it give them.
///
/// An object is *touched* if it was removed, inserted or given another sort key. An object with the same key but other
/// visible properties is not: it only appears among the changed.
@usableFromInline
package struct TouchedPositions: Hashable, Sendable {
  /// The lengths of the old and of the new list.
  package let beforeCount: Int
  package let afterCount: Int
  /// Positions in the *old* list.
  package let removed: SortedPositions
  /// Positions in the *new* list.
  package let inserted: SortedPositions
  /// Both positions of each object whose sort key changed, ascending by `before`.
  package let repositioned: [Relocation]
  /// Positions in the *new* list of objects that look different now; inserted ones among them do not count.
  package let changed: SortedPositions

  /// Positions in the old list of all touched objects, and in the new list.
  let touchedBefore: SortedPositions
  let touchedAfter: SortedPositions

  /// Takes the positions of one change; they must fit together.
  ///
  /// - Parameters:
  ///   - removed: ascending, in the old list.
  ///   - inserted: ascending, in the new list.
  ///   - repositioned: in any order.
  ///   - changed: ascending, in the new list.
  /// - Complexity: O(k log k)
  @usableFromInline
  package init(
    beforeCount: Int, afterCount: Int, removed: [Int], inserted: [Int], repositioned: [Relocation] = [],
    changed: [Int] = []
  ) {
    precondition(
      beforeCount - removed.count == afterCount - inserted.count,
      "The lengths of the lists must differ by the number of insertions minus removals.")
    self.beforeCount = beforeCount
    self.afterCount = afterCount
    self.removed = SortedPositions(removed)
    self.inserted = SortedPositions(inserted)
    self.repositioned = repositioned.count < 2 ? repositioned : repositioned.sorted { $0.before < $1.before }
    self.changed = SortedPositions(changed)
    touchedBefore =
      repositioned.isEmpty
      ? self.removed : SortedPositions((removed + repositioned.map(\.before)).sorted())
    touchedAfter =
      repositioned.isEmpty
      ? self.inserted : SortedPositions((inserted + repositioned.map(\.after)).sorted())
    precondition(
      touchedBefore.members.last ?? -1 < beforeCount && touchedAfter.members.last ?? -1 < afterCount
        && changed.last ?? -1 < afterCount,
      "A position must be less than the length of its list.")
  }

  /// Whether the change concerns the list at all.
  var isEmpty: Bool {
    removed.count == 0 && inserted.count == 0 && repositioned.isEmpty && changed.count == 0
  }

  /// How many objects are untouched; they have the ordinals `0..<untouchedCount`, the same in both lists.
  var untouchedCount: Int { beforeCount - touchedBefore.count }

  /// Whether every object keeps its position, so that both lists have the same coordinates.
  var isInPlace: Bool { touchedBefore.count == 0 && touchedAfter.count == 0 }

  /// Both positions of each changed object that is in both lists, ascending by `after`.
  ///
  /// - Complexity: O(k): one pass over the changed, the touched of both lists and the repositioned
  func changedInBoth() -> [Relocation] {
    let places = repositioned.count < 2 ? repositioned : repositioned.sorted { $0.after < $1.after }
    var both: [Relocation] = []
    both.reserveCapacity(changed.count)
    var (nextAfter, nextBefore, nextPlace) = (0, 0, 0)
    for position in changed.members {
      while nextAfter < touchedAfter.count, touchedAfter.members[nextAfter] < position { nextAfter += 1 }
      guard nextAfter < touchedAfter.count, touchedAfter.members[nextAfter] == position else {
        let ordinal = position - nextAfter
        while nextBefore < touchedBefore.count, touchedBefore.members[nextBefore] - nextBefore <= ordinal {
          nextBefore += 1
        }
        both.append(Relocation(before: ordinal + nextBefore, after: position))
        continue
      }
      while nextPlace < places.count, places[nextPlace].after < position { nextPlace += 1 }
      if nextPlace < places.count, places[nextPlace].after == position { both.append(places[nextPlace]) }
    }
    return both
  }
}
