extension CountedTree: RandomAccessCollection {
  /// Walks the elements leaf by leaf; holds the tree it walks.
  public struct Iterator: IteratorProtocol, Sequence {
    @usableFromInline let tree: CountedTree
    @usableFromInline var leaf: UnsafeMutablePointer<Element>?
    @usableFromInline var remainingInLeaf: Int
    /// The position in the tree after the current leaf.
    @usableFromInline var behindLeaf: Int
    @usableFromInline let end: Int

    @inlinable
    init(_ tree: CountedTree, _ range: Range<Int>) {
      self.tree = tree
      leaf = nil
      remainingInLeaf = 0
      behindLeaf = range.lowerBound
      end = range.upperBound
    }

    /// Returns the next element in ascending order.
    ///
    /// - Complexity: O(1) amortised
    @inlinable
    public mutating func next() -> Element? {
      if remainingInLeaf == 0 {
        guard behindLeaf < end else { return nil }
        enterLeaf()
      }
      guard let current = leaf else { return nil }
      leaf = current + 1
      remainingInLeaf &-= 1
      return current.pointee
    }

    @inlinable
    mutating func enterLeaf() {
      let (start, count) = tree.withLeaf(at: behindLeaf) { body, index in (body.elements + index, body.count - index) }
      leaf = start
      remainingInLeaf = Swift.min(count, end - behindLeaf)
      behindLeaf += remainingInLeaf
    }
  }

  /// The position of the first element: always 0.
  @inlinable public var startIndex: Int { 0 }

  /// The position after the last element.
  @inlinable public var endIndex: Int { count }

  /// The element at a position in `0..<count`; traps elsewhere.
  ///
  /// - Complexity: O(log n). To read a range, iterate `elements(in:)`: O(1) for each after the first.
  @inlinable
  public subscript(position: Int) -> Element { select(position) }

  /// Walks all elements in ascending order.
  ///
  /// - Complexity: O(1) amortised for each element
  @inlinable
  public func makeIterator() -> Iterator { Iterator(self, 0..<count) }

  /// Walks the elements at a range of positions, which must lie within `0..<count`.
  ///
  /// - Complexity: O(log n) to start, then O(1) amortised for each element
  @inlinable
  public func elements(in range: Range<Int>) -> Iterator {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "A range of positions must lie in 0..<count.")
    return Iterator(self, range)
  }
}

extension CountedTree.Iterator: @unchecked Sendable {
  // Guarded by the tree it holds: the leaf pointer only reads memory of that tree, which is not written while held.
}

extension CountedTree: Equatable {
  /// Whether both trees hold equal elements.
  ///
  /// - Complexity: O(d log n) where d elements differ and the trees share the rest, else O(n)
  public static func == (left: Self, right: Self) -> Bool {
    if left.isIdentical(to: right) { return true }
    guard left.count == right.count else { return false }
    return left.difference(from: right).isEmpty
  }
}
