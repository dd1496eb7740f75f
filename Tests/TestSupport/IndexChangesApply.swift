package import PhotoLedger

extension IndexChanges {
  /// Applies the change as PhotoKit's clients do: removals, insertions, then all moves as one batch (CD-09, CD-11).
  ///
  /// - Parameters:
  ///   - list: the old list.
  ///   - arrivals: the inserted objects in the order of `inserted`.
  /// - Returns: the new list.
  package func appliedInOrder<Object>(to list: [Object], inserting arrivals: [Object]) -> [Object] {
    requireOwn(list.count, arrivals.count)
    let kept = Self.removing(removed, from: list)
    let middle = Self.inserting(arrivals, at: inserted, into: kept)
    let sources = moves.map(\.from).sorted()
    let rest = Self.removing(sources, from: middle)
    return Self.inserting(moves.map { middle[$0.from] }, at: moves.map(\.to), into: rest)
  }

  /// Applies the change as UIKit does: removals and sources of moves in the old list, insertions and targets in the
  /// new one.
  ///
  /// - Parameters:
  ///   - list: the old list.
  ///   - arrivals: the inserted objects in the order of `inserted`.
  /// - Returns: the new list.
  package func appliedAtOnce<Object>(to list: [Object], inserting arrivals: [Object]) -> [Object] {
    requireOwn(list.count, arrivals.count)
    let rest = Self.removing((removed + moved.map(\.before)).sorted(), from: list)
    let placed =
      zip(inserted, arrivals).map { (position: $0, object: $1) }
      + moved.map { (position: $0.after, object: list[$0.before]) }
    let ascending = placed.sorted { $0.position < $1.position }
    return Self.inserting(ascending.map(\.object), at: ascending.map(\.position), into: rest)
  }

  private func requireOwn(_ listCount: Int, _ arrivalCount: Int) {
    precondition(listCount == beforeCount && arrivalCount == inserted.count, "The lists must be those of the change.")
  }

  /// The list without the objects at ascending positions.
  static func removing<Object>(_ positions: [Int], from list: [Object]) -> [Object] {
    var kept: [Object] = []
    var next = 0
    for (position, object) in list.enumerated() {
      if next < positions.count, positions[next] == position { next += 1 } else { kept.append(object) }
    }
    return kept
  }

  /// The list with objects put in at ascending positions, which count in the outcome.
  static func inserting<Object>(_ objects: [Object], at positions: [Int], into list: [Object]) -> [Object] {
    var outcome: [Object] = []
    var (nextObject, nextOld) = (0, 0)
    while outcome.count < list.count + objects.count {
      if nextObject < objects.count, positions[nextObject] == outcome.count {
        outcome.append(objects[nextObject])
        nextObject += 1
      } else {
        outcome.append(list[nextOld])
        nextOld += 1
      }
    }
    return outcome
  }
}
