extension CountedTree {
  /// Builds a tree from elements in strictly ascending order.
  ///
  /// - Parameter elements: ascending and without equals; checked in debug builds.
  /// - Complexity: O(n), without a search
  @inlinable
  public init(sorted elements: some Sequence<Element>) {
    var builder = TreeBuilder<Element>()
    let isDone: Void? = elements.withContiguousStorageIfAvailable { builder.append($0) }
    if isDone == nil { for element in elements { builder.append(element) } }
    self = builder.finish()
    checkInvariants()
  }
}

/// Collects leaves from left to right, filled or taken over whole from another tree, and puts levels on top of them.
@usableFromInline
struct TreeBuilder<Element: Comparable & Sendable> {
  @usableFromInline typealias Body = NodeBody<Element>

  @usableFromInline var leaves: [Node<Element>] = []
  /// The leaf being filled; not yet among the leaves.
  @usableFromInline var open: Node<Element>?

  @inlinable
  init() {}

  /// Appends one element, which must be greater than all before it.
  @inlinable
  mutating func append(_ element: Element) {
    if let open, Body(open).count < Body(open).room {
      assert(Body(open).elements[Body(open).count - 1] < element, "Elements must be strictly ascending.")
      return Body(open).appendElement(element)
    }
    if let open {
      assert(Body(open).elements[Body(open).count - 1] < element, "Elements must be strictly ascending.")
      leaves.append(open)
    }
    let leaf = Node<Element>.leaf(for: Limits<Element>.leafCapacity)
    Body(leaf).appendElement(element)
    open = leaf
  }

  /// Appends elements that stand together, in strictly ascending order and greater than all before them, leaf by leaf.
  @inlinable
  mutating func append(_ run: UnsafeBufferPointer<Element>) {
    assert(zip(run, run.dropFirst()).allSatisfy { $0 < $1 }, "Elements must be strictly ascending.")
    leaves.reserveCapacity(leaves.count + run.count / Limits<Element>.leafCapacity + 1)
    var rest = run[...]
    while !rest.isEmpty {
      if let open, Body(open).count < Body(open).room {
        let piece = rest.prefix(Body(open).room - Body(open).count)
        Body(open).appendElements(UnsafeBufferPointer(rebasing: piece))
        rest = rest.dropFirst(piece.count)
      } else {
        if let open { leaves.append(open) }
        open = Node<Element>.leaf(for: Limits<Element>.leafCapacity)
      }
    }
  }

  /// Appends part of a leaf of another tree.
  @inlinable
  mutating func append(_ source: Body, _ range: Range<Int>) {
    var rest = range
    while !rest.isEmpty {
      if let open, Body(open).count < Body(open).room {
        let body = Body(open)
        let piece = Swift.min(rest.count, body.room - body.count)
        body.appendElements(of: source, rest.prefix(piece))
        rest = rest.dropFirst(piece)
      } else {
        if let open { leaves.append(open) }
        open = Node<Element>.leaf(for: Limits<Element>.leafCapacity)
      }
    }
  }

  /// Takes over a whole leaf of another tree, which stays shared.
  ///
  /// - Returns: false if that would leave a leaf with too few elements: then append the elements instead.
  @inlinable
  mutating func append(sharing leaf: Node<Element>) -> Bool {
    let minimum = Limits<Element>.minimum(height: 0)
    if Body(leaf).count < minimum { return false }
    if let open {
      if Body(open).count < minimum, leaves.isEmpty { return false }
      closeOpen()
    }
    leaves.append(leaf)
    return true
  }

  /// Closes the last leaf and builds the levels above the leaves.
  @inlinable
  consuming func finish() -> CountedTree<Element> {
    closeOpen()
    var nodes = leaves
    var firsts = nodes.map { Body($0).elements[0] }
    while nodes.count > 1 {
      let sizes = Self.sizes(of: nodes.count, height: Body(nodes[0]).height + 1)
      var (parents, lows): ([Node<Element>], [Element]) = ([], [])
      parents.reserveCapacity(sizes.count)
      lows.reserveCapacity(sizes.count)
      var next = 0
      for size in sizes {
        let parent = Node<Element>.inner(above: Body(nodes[0]).height)
        for index in next..<next + size {
          Body(parent).appendChild(nodes[index], size: Body(nodes[index]).total, separator: firsts[index])
        }
        parents.append(parent)
        lows.append(firsts[next])
        next += size
      }
      (nodes, firsts) = (parents, lows)
    }
    return CountedTree(root: nodes.first)
  }

  /// Puts the open leaf among the others, evened out with the leaf before it if it has too few elements alone.
  ///
  /// Evening out with the leaf behind instead could go on through a whole tree of full leaves.
  @inlinable
  mutating func closeOpen() {
    guard let last = open else { return }
    open = nil
    guard let previous = leaves.last, Body(last).count < Limits<Element>.minimum(height: 0) else {
      return leaves.append(Self.fitted(last))
    }
    let (left, right) = (Body(previous), Body(last))
    let total = left.count + right.count
    let separator = right.elements[0]
    leaves.removeLast()
    if total <= Limits<Element>.leafCapacity {
      leaves.append(Node.joined(left, separator, right, 0..<total))
    } else {
      leaves.append(Node.joined(left, separator, right, 0..<total / 2))
      leaves.append(Node.joined(left, separator, right, total / 2..<total))
    }
    withExtendedLifetime((previous, last)) {}
  }

  /// The leaf itself, or a copy in a smaller allocation if much of its room is unused.
  @inlinable
  static func fitted(_ leaf: Node<Element>) -> Node<Element> {
    let body = Body(leaf)
    if body.count + 2 * Limits<Element>.leafStep > body.room { return leaf }
    let copy = Node<Element>.leaf(for: body.count)
    Body(copy).appendElements(of: body, 0..<body.count)
    return copy
  }

  /// How many children each node of a level gets: as few nodes as can be, filled evenly.
  @inlinable
  static func sizes(of total: Int, height: Int) -> [Int] {
    let capacity = Limits<Element>.capacity(height: height)
    let nodes = (total + capacity - 1) / capacity
    return (0..<nodes).map { total * ($0 + 1) / nodes - total * $0 / nodes }
  }
}
