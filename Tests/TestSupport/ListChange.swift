import Foundation
package import PhotoLedger

// What the change of a list must be, worked out from the two lists by walking them.
//
// This is the oracle for change details: quadratic, without trees, positions or sort keys. Both models of application
// are executed here as a client would do it, so a defect in the library's own helpers cannot hide one in its index
// sets.

/// A sentence about what is wrong.
package struct Divergence: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}

/// Throws the sentence unless the condition holds.
package func demand(_ holds: Bool, _ sentence: @autoclosure () -> String) throws {
  if !holds { throw Divergence(sentence()) }
}

/// Two lists of identities and which objects look different.
package struct ListChange<Identity: Hashable> {
  package let before: [Identity]
  package let after: [Identity]
  package let removed: [Int]
  package let inserted: [Int]
  package let changed: [Int]
  package let changedBefore: [Int]
  private let kept: Set<Identity>

  package init(before: [Identity], after: [Identity], changed: Set<Identity>) {
    self.before = before
    self.after = after
    let (old, new) = (Set(before), Set(after))
    kept = old.intersection(new)
    removed = before.indices.filter { !new.contains(before[$0]) }
    inserted = after.indices.filter { !old.contains(after[$0]) }
    let seen = changed.intersection(kept)
    self.changed = after.indices.filter { seen.contains(after[$0]) }
    changedBefore = before.indices.filter { seen.contains(before[$0]) }
  }

  /// Whether there is anything for an observer to receive (CD-01).
  package var isTouched: Bool {
    !removed.isEmpty || !inserted.isEmpty || !changed.isEmpty
      || before.filter(kept.contains) != after.filter(kept.contains)
  }

  /// The list between: before without the removed, with the inserted at ascending positions (CD-05, CD-10).
  package var middle: [Identity] {
    var list = before.filter(kept.contains)
    for index in inserted { list.insert(after[index], at: index) }
    return list
  }

  /// The fewest moves from the list between to after, with inserted objects as fixed points (CD-12).
  package var fewestMoves: Int {
    let middle = middle
    if middle == after { return 0 }
    let fixed = Set(inserted.map { after[$0] })
    return leastOutside(middle, after) { fixed.contains($0) ? 1000 : 1 }
  }

  /// The fewest moves from before to after if only some objects may move; nil allows all.
  package func fewestMoved(of touched: Set<Identity>?) -> Int {
    let (old, new) = (before.filter(kept.contains), after.filter(kept.contains))
    if old == new { return 0 }
    return leastOutside(old, new) { touched?.contains($0) ?? true ? 1 : 1000 }
  }

  /// How many objects a heaviest part with the same order in both lists leaves out.
  private func leastOutside(_ old: [Identity], _ new: [Identity], _ weight: (Identity) -> Int) -> Int {
    let places = Dictionary(uniqueKeysWithValues: old.enumerated().map { ($1, $0) })
    let sequence = new.map { places[$0]! }
    let weights = new.map(weight)
    var best: [(weight: Int, count: Int)] = []
    for index in sequence.indices {
      var found = (weight: 0, count: 0)
      for earlier in 0..<index where sequence[earlier] < sequence[index] && best[earlier].weight > found.weight {
        found = best[earlier]
      }
      best.append((found.weight + weights[index], found.count + 1))
    }
    return new.count - (best.max { $0.weight < $1.weight }?.count ?? 0)
  }
}

extension ListChange {
  /// Compares index sets and moves with what they must be (CD-04 to CD-13).
  /// - Parameters:
  ///   - details: what the library delivers.
  ///   - touched: the objects whose place the change itself concerned.
  ///   - exactly: whether these are exactly the ones with other sort keys. Of a manual order a model knows less: an
  ///     object may have been moved and come back, and others are given new keys to make room.
  package func check<Element>(
    _ details: ChangeDetails<Element>, touched: Set<Identity>, exactly: Bool
  ) throws {
    try demand(details.hasIncrementalChanges, "The details are not incremental (CD-16).")
    try demand(Array(details.removedIndexes ?? []) == removed, "removed \(details.removedIndexes.text), not \(removed)")
    try demand(
      Array(details.insertedIndexes ?? []) == inserted, "inserted \(details.insertedIndexes.text), not \(inserted)")
    try demand(Array(details.changedIndexes ?? []) == changed, "changed \(details.changedIndexes.text), not \(changed)")
    try demand(
      Array(details.changedIndexesBefore ?? []) == changedBefore,
      "changed before \(details.changedIndexesBefore.text), not \(changedBefore)")
    try check(details.moves, hasMoves: details.hasMoves)
    try check(details.moved, touched: touched, exactly: exactly)
  }

  private func check(_ moves: [Move], hasMoves: Bool) throws {
    let middle = middle
    try demand(hasMoves == (middle != after), "hasMoves is \(hasMoves) (CD-13).")
    try demand(moves.map(\.to) == moves.map(\.to).sorted(), "The moves do not ascend by target: \(moves).")
    let sources = Set(moves.map(\.from))
    try demand(sources.count == moves.count, "A source occurs twice: \(moves).")
    var list = middle.indices.filter { !sources.contains($0) }.map { middle[$0] }
    for move in moves { list.insert(middle[move.from], at: move.to) }
    try demand(list == after, "The batch of moves \(moves) does not lead to the new list (CD-11).")
    let fixed = Set(inserted)
    try demand(!moves.contains { fixed.contains($0.to) }, "An inserted object moves: \(moves) (CD-12).")
    try demand(moves.count == fewestMoves, "\(moves.count) moves where \(fewestMoves) do (CD-12).")
  }

  private func check(_ moved: [Relocation], touched: Set<Identity>, exactly: Bool) throws {
    let leaving = Set(removed + moved.map(\.before))
    try demand(leaving.count == removed.count + moved.count, "An object leaves its place twice: \(moved).")
    var list = before.indices.filter { !leaving.contains($0) }.map { before[$0] }
    let arrivals = inserted.map { ($0, after[$0]) } + moved.map { ($0.after, before[$0.before]) }
    for (position, object) in arrivals.sorted(by: { $0.0 < $1.0 }) { list.insert(object, at: position) }
    try demand(list == after, "The relocations \(moved) do not lead to the new list.")
    try demand(moved.count >= fewestMoved(of: nil), "Fewer relocations than can be: \(moved).")
    let bound = exactly ? fewestMoved(of: touched) : touched.intersection(kept).count
    try demand(moved.count <= bound, "\(moved.count) relocations where \(bound) do.")
    guard exactly else { return }
    try demand(moved.count == bound, "\(moved.count) relocations where \(bound) are needed.")
    try demand(moved.allSatisfy { touched.contains(before[$0.before]) }, "An untouched object is relocated: \(moved).")
  }
}

extension IndexSet? {
  fileprivate var text: String { map { "\(Array($0))" } ?? "nil" }
}
