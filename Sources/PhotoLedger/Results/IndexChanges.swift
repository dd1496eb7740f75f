// What happened to the positions of a sorted list, from the positions of the touched objects alone.
//
// Problem. A result of n objects changed in k of them. Counted trees give the position of each touched object in the
// old list and in the new one, O(log n) each. Everything an observer needs (removed, inserted, changed, moves) must
// follow from those numbers, without reading the n - k untouched objects. It can, because untouched objects keep their
// order among each other: the j-th untouched object is at the j-th position that the touched ones leave free in the old
// list, and likewise in the new list. So its position on either side is j plus a count.
//
// Worked example. Sorted by letter; c is removed, x inserted in front, f gets a new key and goes between b and d,
// b's title changes:
//
//     position   0 1 2 3 4 5 6
//     before     a b c d e f g         removed  [2]  in before
//     B          x a b d e f g         inserted [0]  in after (and in B: there the two agree)
//     after      x a b f d e g         changed  [2, 3] in after, [1, 5] in before
//                                      moves    [5 → 3] from B to after
//                                      moved    [5 → 3] from before to after
//
// Three lists, then, and which one a position counts in is part of its meaning:
//
//   before   the old list;
//   B        before, without the removed, with the inserted objects at ascending positions (CD-05, CD-06, CD-10). It
//            has the length of after, and each inserted object already has its position in after;
//   after    the new list.
//
// Two descriptions of movement are given, because two models of application are in use.
//
//   moves    PhotoKit's (CD-10 … CD-12). From B to after, a batch: all moved objects are taken out of B and put
//            back at their targets in ascending order. Inserted objects are fixed points. An object that is after an
//            inserted one in B and before it in after must therefore be reported, even if it was not touched: from a b
//            c d to b c x d a (a moves last, x is new) B is a b x c d, and c has to pass x. With c
//            objects repositioned and m inserted up to c·m untouched ones are forced to move, more than were touched: a
//            property of the coordinates, not of the algorithm.
//            Between two fixed points a longest increasing run stays, the rest moves.
//   moved From before to after, as UIKit's batch updates and our wire format need it. Derived separately: an untouched
//   object never moves, so it has at most as many entries as objects were repositioned, and as few of those as
//   possible.
//
// Invariant, tested against a naive walk on every small case: both models turn before into after exactly.
//
// Rejected: comparing two lists (O(n), see Benchmarks); one set of moves for both models (either untouched objects move
// needlessly, or PhotoKit's order of application breaks); moves as a sequence of steps, each in the coordinates after
// the previous one, as in Firestore: those cannot be applied as a batch.

/// A move from the list after removals and insertions to the new list (CD-10).
public struct Move: Hashable, Sendable {
  /// The position in B: the old list with removals and insertions applied.
  public var from: Int
  /// The position in the new list.
  public var to: Int

  /// Creates a move.
  public init(from: Int, to: Int) {
    self.from = from
    self.to = to
  }
}

/// The two positions of one object that is in both lists.
public struct Relocation: Hashable, Sendable {
  /// The position in the old list.
  public var before: Int
  /// The position in the new list.
  public var after: Int

  /// Creates a relocation.
  public init(before: Int, after: Int) {
    self.before = before
    self.after = after
  }
}

/// The exact change of a list as positions; every property says which list it counts in.
package struct IndexChanges: Hashable, Sendable {
  /// The length of the old list.
  package let beforeCount: Int
  /// The length of the new list.
  package let afterCount: Int
  /// Positions in the *old* list of removed objects, ascending (CD-04).
  package let removed: [Int]
  /// Positions in the *new* list of objects that were not in the old one, ascending (CD-05, CD-06).
  package let inserted: [Int]
  /// Positions in the *new* list of objects that look different now, ascending (CD-07).
  package let changed: [Int]
  /// Positions in the *old* list of the same objects, ascending.
  package let changedBefore: [Int]
  /// Moves from B to the new list, a batch, ascending by target (CD-10 … CD-12).
  package let moves: [Move]
  /// Moves from the *old* list to the new one, fewest repositioned objects and no other, ascending by target.
  package let moved: [Relocation]

  /// Whether B differs from the new list (CD-13).
  package var hasMoves: Bool { !moves.isEmpty }

  /// Whether nothing at all happened to the list.
  package var isEmpty: Bool { removed.isEmpty && inserted.isEmpty && changed.isEmpty && moves.isEmpty }

  /// Derives the change from the positions of the touched objects.
  ///
  /// - Complexity: O((k + output) log k) for k touched objects, whatever the lengths of the lists
  package init(_ touched: TouchedPositions) {
    beforeCount = touched.beforeCount
    afterCount = touched.afterCount
    removed = touched.removed.members
    inserted = touched.inserted.members
    if touched.isInPlace {
      changed = touched.changed.members
      changedBefore = changed
    } else {
      let visible = touched.changedInBoth()
      changed = visible.map(\.after)
      changedBefore = touched.repositioned.isEmpty ? visible.map(\.before) : visible.map(\.before).sorted()
    }
    if touched.repositioned.isEmpty {
      moves = []
      moved = []
    } else {
      moves = touched.moves()
      moved = touched.moved()
    }
  }
}
