package import Foundation

extension IndexChanges {
  /// Compares any two lists, for results that no commit connects (CD-20).
  ///
  /// Everything else derives changes from commits; this one walks both lists.
  ///
  /// - Parameters:
  ///   - before: identities of the old list, no two equal.
  ///   - after: identities of the new list, no two equal.
  ///   - changed: identities whose objects look different; it cannot find that out from identities.
  /// - Complexity: O(n log n): one table of identities, and a longest run over the common ones
  package static func between<Identity: Hashable>(
    before: [Identity], after: [Identity], changed: Set<Identity> = []
  ) -> IndexChanges {
    var places = [Identity: Int](minimumCapacity: before.count)
    for (position, identity) in before.enumerated() {
      let other = places.updateValue(position, forKey: identity)
      precondition(other == nil, "A list must not contain an identity twice.")
    }
    var inserted: [Int] = []
    var common: [Relocation] = []
    var isGone = [Bool](repeating: true, count: before.count)
    for (position, identity) in after.enumerated() {
      guard let place = places[identity] else {
        inserted.append(position)
        continue
      }
      precondition(isGone[place], "A list must not contain an identity twice.")
      isGone[place] = false
      common.append(Relocation(before: place, after: position))
    }
    let run = longestIncreasingRun(common.map(\.before))
    var (next, repositioned) = (0, [Relocation]())
    for (index, object) in common.enumerated() {
      if next < run.count, run[next] == index { next += 1 } else { repositioned.append(object) }
    }
    return IndexChanges(
      TouchedPositions(
        beforeCount: before.count, afterCount: after.count,
        removed: isGone.indices.filter { isGone[$0] }, inserted: inserted, repositioned: repositioned,
        changed: changed.isEmpty ? [] : after.indices.filter { changed.contains(after[$0]) }))
  }
}

extension [Int] {
  /// The ranges of consecutive numbers in an ascending list: [1, 2, 3, 7] has 1..<4 and 7..<8.
  package var consecutiveRanges: [Range<Int>] {
    var ranges: [Range<Int>] = []
    for position in self {
      if let last = ranges.last, last.upperBound == position {
        ranges[ranges.count - 1] = last.lowerBound..<position + 1
      } else {
        ranges.append(position..<position + 1)
      }
    }
    return ranges
  }

  /// The same positions as Foundation's set, range by range.
  package var indexSet: IndexSet {
    var set = IndexSet()
    for range in consecutiveRanges { set.insert(integersIn: range) }
    return set
  }
}
