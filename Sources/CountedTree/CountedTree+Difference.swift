// What differs between two trees, without reading what they share.
//
// Both trees are opened level by level from the greater height down. On each level stand two lists, the nodes of the
// old tree and those of the new one that are not known to be shared, in order. Where the same node stands in both, its
// elements are in both trees and it is struck off both lists; the rest is opened, which makes the lists of the next
// level. What remains of the leaves is compared element by element.
//
//   height 1   old: A B C      new: A B' C        A and C struck off, B and B' opened
//   height 0   old: p q r      new: p q' r        q and q' compared
//
// Nodes that both trees share are in the same order in both, so one pass over the two lists finds them: two different
// nodes are distinguished by their least elements, and the one with the lesser cannot come later in the other list.
// Elements of an unshared leaf cannot stand in a shared leaf of the same tree, so comparing only the remaining leaves
// misses nothing.

extension CountedTree {
  /// The positions at which two trees differ.
  public struct Difference: Sendable, Equatable {
    /// Positions in the *old* tree of elements that the new one lacks, ascending.
    public internal(set) var removed: [Int]
    /// Positions in the *new* tree of elements that the old one lacks, ascending.
    public internal(set) var inserted: [Int]

    /// Whether the trees hold equal elements.
    public var isEmpty: Bool { removed.isEmpty && inserted.isEmpty }

    @usableFromInline
    init(removed: [Int], inserted: [Int]) {
      self.removed = removed
      self.inserted = inserted
    }
  }

  /// Compares this tree with an older one.
  ///
  /// - Parameter old: usually a value that this one was made from; trees that share nothing are compared whole.
  /// - Returns: what must be removed from `old` and inserted to get this tree.
  /// - Complexity: O(d log n) where a path of d changes lies between the two values, else O(n)
  @inlinable
  public func difference(from old: CountedTree) -> Difference {
    if isIdentical(to: old) { return Difference(removed: [], inserted: []) }
    return withExtendedLifetime((root, old.root)) {
      var (olds, news) = (Self.top(old.root), Self.top(root))
      var height = Swift.max(olds.first?.body.height ?? 0, news.first?.body.height ?? 0)
      while true {
        Self.strikeShared(&olds, &news)
        if height == 0 { return Self.compare(olds, news) }
        olds = Self.opened(olds, at: height)
        news = Self.opened(news, at: height)
        height -= 1
      }
    }
  }

  /// A node that may differ, with the position of its first element in its tree.
  @usableFromInline
  struct Subtree {
    @usableFromInline let body: Body
    @usableFromInline let start: Int

    @inlinable
    init(_ body: Body, _ start: Int) {
      self.body = body
      self.start = start
    }

    /// The least element of the subtree.
    @inlinable var least: Element {
      var body = body
      while body.height > 0 { body = body.child(0) }
      return body.elements[0]
    }
  }

  @inlinable
  static func top(_ root: Node<Element>?) -> [Subtree] { root.map { [Subtree(Body($0), 0)] } ?? [] }

  /// Replaces the nodes of one height by their children; the lower tree's root waits for its level.
  @inlinable
  static func opened(_ subtrees: [Subtree], at height: Int) -> [Subtree] {
    guard subtrees.first?.body.height == height else { return subtrees }
    var children: [Subtree] = []
    children.reserveCapacity(subtrees.reduce(0) { $0 + $1.body.count })
    for subtree in subtrees {
      for slot in 0..<subtree.body.count {
        children.append(Subtree(subtree.body.child(slot), subtree.start + subtree.body.starts[slot]))
      }
    }
    return children
  }

  /// Takes the nodes that stand in both lists out of both.
  @inlinable
  static func strikeShared(_ olds: inout [Subtree], _ news: inout [Subtree]) {
    var (left, right) = (0, 0)
    var (keptOld, keptNew): ([Subtree], [Subtree]) = ([], [])
    while left < olds.count, right < news.count {
      if olds[left].body.header == news[right].body.header {
        left += 1
        right += 1
      } else if news[right].least < olds[left].least {
        keptNew.append(news[right])
        right += 1
      } else {
        keptOld.append(olds[left])
        left += 1
      }
    }
    keptOld.append(contentsOf: olds[left...])
    keptNew.append(contentsOf: news[right...])
    (olds, news) = (keptOld, keptNew)
  }

  /// Compares the elements of leaves.
  @inlinable
  static func compare(_ olds: [Subtree], _ news: [Subtree]) -> Difference {
    var (removed, inserted): ([Int], [Int]) = ([], [])
    var (old, new) = (Reader(olds), Reader(news))
    while let left = old.current, let right = new.current {
      if left.pointee < right.pointee {
        removed.append(old.position)
        old.advance()
      } else if right.pointee < left.pointee {
        inserted.append(new.position)
        new.advance()
      } else {
        old.advance()
        new.advance()
      }
    }
    while old.current != nil {
      removed.append(old.position)
      old.advance()
    }
    while new.current != nil {
      inserted.append(new.position)
      new.advance()
    }
    return Difference(removed: removed, inserted: inserted)
  }

  /// Reads the elements of a list of leaves in order.
  @usableFromInline
  struct Reader {
    @usableFromInline let leaves: [Subtree]
    @usableFromInline var leaf = 0
    @usableFromInline var index = 0

    @inlinable
    init(_ leaves: [Subtree]) { self.leaves = leaves }

    @inlinable var current: UnsafeMutablePointer<Element>? {
      leaf < leaves.count ? leaves[leaf].body.elements + index : nil
    }

    /// The position of the current element in its tree.
    @inlinable var position: Int { leaves[leaf].start + index }

    @inlinable
    mutating func advance() {
      index += 1
      guard index == leaves[leaf].body.count else { return }
      leaf += 1
      index = 0
    }
  }
}
