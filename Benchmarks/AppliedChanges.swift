import PhotoLedger

extension IndexChanges {
  /// Applies the change as UIKit does: removals and sources of moves in the old list, insertions and targets in the
  /// new one.
  func appliedAtOnce<Object>(to list: [Object], inserting arrivals: [Object]) -> [Object] {
    let leaving = Set(removed + moved.map(\.before))
    let coming = zip(inserted, arrivals).map { ($0, $1) } + moved.map { ($0.after, list[$0.before]) }
    return Self.inserting(
      coming.sorted { $0.0 < $1.0 }, into: list.indices.lazy.filter { !leaving.contains($0) }.map { list[$0] })
  }

  /// Applies it as PhotoKit's clients do: removals, insertions, then all moves as one batch.
  func appliedInOrder<Object>(to list: [Object], inserting arrivals: [Object]) -> [Object] {
    let gone = Set(removed)
    let middle = Self.inserting(
      Array(zip(inserted, arrivals)), into: list.indices.lazy.filter { !gone.contains($0) }.map { list[$0] })
    let sources = Set(moves.map(\.from))
    let rest = middle.indices.lazy.filter { !sources.contains($0) }.map { middle[$0] }
    return Self.inserting(moves.map { ($0.to, middle[$0.from]) }, into: rest)
  }

  /// A list with objects put in at ascending positions, which count in the outcome.
  private static func inserting<Object>(
    _ objects: [(position: Int, object: Object)], into list: some Sequence<Object>
  ) -> [Object] {
    var outcome: [Object] = []
    var (next, rest) = (objects.makeIterator(), list.makeIterator())
    var waiting = next.next()
    while true {
      if let (position, object) = waiting, position == outcome.count {
        outcome.append(object)
        waiting = next.next()
      } else if let object = rest.next() {
        outcome.append(object)
      } else {
        return outcome
      }
    }
  }
}
