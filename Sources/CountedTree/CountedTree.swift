// A sorted set that answers by position, and whose old values stay.
//
// Problem. A fetch result is a sorted list of up to millions of keys that is held while the next commit changes it.
// Given the changed keys, the next result must be computed in microseconds, the old one must not change, and for every
// changed key its position in the old list and in the new one must be found without walking either.
//
//            root  (starts 0 | 5 | 9)                   insert 7 while a reader holds the tree:
//           /         |                                 root' ── copied
//     (1 3 4 5 6)  (8 9 12 15)                          /    \
//      shared       shared                        (1 3 4 5 6 7)  (8 9 12 15)   the same leaf, in both trees
//
// The tree is a B+tree: all elements stand in leaves of equal depth, inner nodes hold separators and, for each child,
// how many elements come before it. A rank adds one such count per level; a selection looks a position up in them.
// Copying the value copies one reference. A change copies the nodes on its path that another value can reach and
// writes in place to those that none can, exactly as Swift's own arrays do.
//
// Invariants (all of them checked by `defects()`, after every change in checked builds):
//   - elements ascend strictly, within leaves and across them;
//   - all leaves have height 0, a parent is one higher than each of its children;
//   - a node other than the root has between a third of its capacity and its capacity; an inner root at least two
//     children; the empty tree has no node;
//   - `starts` are the running sums of the children's totals;
//   - separator i is greater than all elements of child i and not greater than any of child i + 1. It need not be an
//     element: removing one leaves separators alone.
//
// Rejected: a sorted array (a held copy costs 16 MB for each change of a million keys); a binary tree with counts, as
// in Firestore's client (192 bytes an entry, twenty cache misses a descent); one node class for leaves and another for
// inner nodes (a cast or a virtual call on each level); mutable cursors as a public idea (positions are enough here).
//
// What is `@inlinable` is what the loops of other modules run through: generic code that is not specialised for its
// element costs three times as much and more.

/// A sorted set with positions; copying it costs nothing and a held copy never changes.
///
/// Positions are offsets from 0 in ascending order. All costs below are in n (elements) and k (edits).
///
/// ```swift
/// var tree = CountedTree(sorted: [10, 20, 30])
/// let held = tree
/// tree.insert(25)          // (inserted: true, rank: 2)
/// tree.rank(of: 30)        // 3
/// tree[2]                  // 25
/// Array(held)              // [10, 20, 30]
/// ```
public struct CountedTree<Element: Comparable & Sendable>: @unchecked Sendable {
  // Guarded by copy-on-write: a node is written only while exactly one reference leads to it, on a path of such nodes
  // from a root that the writer holds exclusively (`mutating`). All others only read. Elements are Sendable.
  @usableFromInline var root: Node<Element>?

  /// The number of elements.
  ///
  /// - Complexity: O(1)
  public internal(set) var count: Int {
    @inlinable get { total }
    @inlinable set { total = newValue }
  }

  @usableFromInline var total: Int

  @usableFromInline typealias Body = NodeBody<Element>

  /// Creates an empty tree; allocates nothing.
  ///
  /// - Complexity: O(1)
  @inlinable
  public init() {
    root = nil
    total = 0
  }

  @inlinable
  init(root: Node<Element>?) {
    self.root = root
    total = root.map { Body($0).total } ?? 0
  }

  /// Whether both values are the same tree in memory, and so surely equal.
  ///
  /// - Complexity: O(1)
  @inlinable
  public func isIdentical(to other: Self) -> Bool { root === other.root }
}

// MARK: - Positions

extension CountedTree {
  /// Counts the elements that are less than a given one, present or not.
  ///
  /// - Returns: a position in `0...count`: the element's own if it is present, else the one it would be inserted at.
  /// - Complexity: O(log n)
  @inlinable
  public func rank(of element: Element) -> Int {
    guard let root else { return 0 }
    return withExtendedLifetime(root) {
      var body = Body(root)
      var rank = 0
      for _ in 0..<body.height {
        let slot = body.slot(for: element)
        rank &+= body.starts[slot]
        body = body.child(slot)
      }
      return rank &+ body.lowerBound(of: element)
    }
  }

  /// Finds the position of an element; nil if it is absent.
  ///
  /// - Complexity: O(log n)
  @inlinable
  public func index(of element: Element) -> Int? {
    let place = locate(element)
    return place.isPresent ? place.rank : nil
  }

  /// Whether an element is present.
  ///
  /// - Complexity: O(log n)
  @inlinable
  public func contains(_ element: Element) -> Bool { locate(element).isPresent }

  /// Returns the element at a position; traps outside `0..<count`.
  ///
  /// - Complexity: O(log n)
  @inlinable
  public func select(_ position: Int) -> Element {
    withLeaf(at: position) { leaf, index in leaf.elements[index] }
  }

  /// Counts the leading elements that satisfy a condition, which must hold for a prefix of the tree.
  ///
  /// - Parameter isBefore: true for the elements in front of the wanted position, false from there on.
  /// - Returns: the first position whose element does not satisfy the condition, or `count`.
  /// - Complexity: O(log n) calls
  @inlinable
  public func lowerBound(where isBefore: (Element) -> Bool) -> Int {
    guard let root else { return 0 }
    return withExtendedLifetime(root) {
      var body = Body(root)
      var rank = 0
      for _ in 0..<body.height {
        // A separator is not above the child it starts: if it is before the wanted position, look in or after it.
        let separators = body.separators
        let slot = Body.prefix(of: body.count - 1) { isBefore(separators[$0]) }
        rank &+= body.starts[slot]
        body = body.child(slot)
      }
      let elements = body.elements
      return rank &+ Body.prefix(of: body.count) { isBefore(elements[$0]) }
    }
  }

  /// Finds the leaf that holds a position, and the place in it.
  @inlinable
  func withLeaf<R>(at position: Int, _ read: (Body, Int) -> R) -> R {
    guard let root, UInt(bitPattern: position) < UInt(bitPattern: count) else {
      preconditionFailure("A position of a counted tree must be in 0..<count.")
    }
    return withExtendedLifetime(root) {
      var body = Body(root)
      var offset = position
      for _ in 0..<body.height {
        let slot = body.slot(at: offset)
        offset &-= body.starts[slot]
        body = body.child(slot)
      }
      return read(body, offset)
    }
  }

  /// Descends to an element, remembering the way.
  @inlinable
  func locate(_ element: Element) -> Place {
    var place = Place()
    guard let root else { return place }
    withExtendedLifetime(root) {
      var body = Body(root)
      for height in stride(from: body.height, to: 0, by: -1) {
        let slot = body.slot(for: element)
        place.slots[height] = UInt8(truncatingIfNeeded: slot)
        place.rank &+= body.starts[slot]
        body = body.child(slot)
      }
      let index = body.lowerBound(of: element)
      place.index = index
      place.rank &+= index
      place.isPresent = index < body.count && !(element < body.elements[index])
    }
    return place
  }
}
