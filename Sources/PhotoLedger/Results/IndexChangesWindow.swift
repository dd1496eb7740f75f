// A fetch with an offset and a limit shows a window of the sorted list. Objects that enter the window are inserted for
// its observer and objects that leave it are removed, whether or not they were touched: with a limit of n, one
// insertion at the head pushes the last object out, inserted[0] and removed[n - 1] (CD-19).
//
// The touched positions of the whole list are converted to touched positions of the window, and everything else is the
// same algebra. The untouched objects in the window have consecutive ordinals, one range before and one after; those in
// one range only crossed an edge, and their positions follow by counting.

extension TouchedPositions {
  /// The change as seen through a window.
  ///
  /// - Parameters:
  ///   - offset: how many objects of the list come before the window, in both lists.
  ///   - limit: the most objects in the window; nil if it reaches to the end.
  /// - Complexity: O((k + output) log k)
  package func windowed(offset: Int, limit: Int?) -> TouchedPositions {
    windowed(
      before: Self.window(offset: offset, limit: limit, count: beforeCount),
      after: Self.window(offset: offset, limit: limit, count: afterCount))
  }

  /// The positions that a window shows of a list of `count` objects.
  package static func window(offset: Int, limit: Int?, count: Int) -> Range<Int> {
    precondition(offset >= 0 && limit ?? 0 >= 0, "An offset and a limit must not be negative.")
    let start = min(offset, count)
    return start..<(limit.map { min(count - start, $0) + start } ?? count)
  }

  /// The change seen through a window that may itself have moved.
  ///
  /// - Parameters:
  ///   - before: positions of the old list that were in view.
  ///   - after: positions of the new list that are in view.
  package func windowed(before: Range<Int>, after: Range<Int>) -> TouchedPositions {
    precondition(
      before.upperBound <= beforeCount && after.upperBound <= afterCount, "A window must be within its list.")
    if before == 0..<beforeCount, after == 0..<afterCount { return self }
    let wereSeen = touchedBefore.freePlaces(in: before)
    let areSeen = touchedAfter.freePlaces(in: after)
    var left = removed.members(in: before)
    var entered = inserted.members(in: after)
    var stayed: [Relocation] = []
    for object in repositioned {
      switch (before.contains(object.before), after.contains(object.after)) {
      case (true, true):
        stayed.append(Relocation(before: object.before - before.lowerBound, after: object.after - after.lowerBound))
      case (true, false): left.append(object.before)
      case (false, true): entered.append(object.after)
      case (false, false): break
      }
    }
    left += touchedBefore.freePlaces(ofOrdinals: wereSeen, butNot: areSeen)
    entered += touchedAfter.freePlaces(ofOrdinals: areSeen, butNot: wereSeen)
    let visible = changedInBoth().filter { before.contains($0.before) && after.contains($0.after) }
    return TouchedPositions(
      beforeCount: before.count, afterCount: after.count,
      removed: left.sorted().map { $0 - before.lowerBound },
      inserted: entered.sorted().map { $0 - after.lowerBound },
      repositioned: stayed, changed: visible.map { $0.after - after.lowerBound })
  }
}

extension SortedPositions {
  fileprivate func members(in range: Range<Int>) -> [Int] {
    Array(members[rank(of: range.lowerBound)..<rank(of: range.upperBound)])
  }

  /// The ordinals of the free places in a range of positions.
  fileprivate func freePlaces(in range: Range<Int>) -> Range<Int> {
    freePlaces(before: range.lowerBound)..<freePlaces(before: range.upperBound)
  }

  /// The positions of free places whose ordinals are in one range and not in another.
  fileprivate func freePlaces(ofOrdinals ordinals: Range<Int>, butNot others: Range<Int>) -> [Int] {
    let lower = ordinals.lowerBound..<max(ordinals.lowerBound, min(ordinals.upperBound, others.lowerBound))
    let upper = max(ordinals.lowerBound, lower.upperBound, min(others.upperBound, ordinals.upperBound))
    return lower.map(freePlace) + (upper..<ordinals.upperBound).map(freePlace)
  }
}

extension Window {
  /// The positions of the whole order that are shown.
  package func range(in count: Int) -> Range<Int> {
    TouchedPositions.window(offset: offset, limit: limit, count: count)
  }
}
