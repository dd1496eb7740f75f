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
///
/// It owns a reference to each node that it has collected, and hands that on to the node's parent. Counting a reference
/// is an atomic write to the node itself, and a batch takes over thousands of leaves that it does not read otherwise.
@usableFromInline
struct TreeBuilder<Element: Comparable & Sendable>: ~Copyable {
  @usableFromInline typealias Body = NodeBody<Element>

  /// The nodes of one level, each with a reference that is the builder's.
  @usableFromInline var nodes: [Unmanaged<Node<Element>>] = []
  /// What divides each node from the one before it.
  @usableFromInline var lows: [Element] = []
  /// The leaf being filled; not yet among the nodes.
  @usableFromInline var open: Node<Element>?

  @inlinable
  init() {}

  @inlinable
  deinit { for node in nodes { node.release() } }

  /// Appends one element, which must be greater than all before it.
  @inlinable
  mutating func append(_ element: Element) {
    if let open, Body(open).count < Body(open).room {
      assert(Body(open).elements[Body(open).count - 1] < element, "Elements must be strictly ascending.")
      return Body(open).appendElement(element)
    }
    if let open {
      assert(Body(open).elements[Body(open).count - 1] < element, "Elements must be strictly ascending.")
    }
    openLeaf()
    if let open { Body(open).appendElement(element) }
  }

  /// Appends elements that stand together, in strictly ascending order and greater than all before them, leaf by leaf.
  @inlinable
  mutating func append(_ run: UnsafeBufferPointer<Element>) {
    assert(zip(run, run.dropFirst()).allSatisfy { $0 < $1 }, "Elements must be strictly ascending.")
    nodes.reserveCapacity(nodes.count + run.count / Limits<Element>.leafCapacity + 1)
    var rest = run[...]
    while !rest.isEmpty {
      if let open, Body(open).count < Body(open).room {
        let piece = rest.prefix(Body(open).room - Body(open).count)
        Body(open).appendElements(UnsafeBufferPointer(rebasing: piece))
        rest = rest.dropFirst(piece.count)
      } else {
        openLeaf()
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
        openLeaf()
      }
    }
  }

  /// Takes over a whole leaf of another tree, which stays shared.
  ///
  /// - Parameter low: what divides it from the leaf before it in that tree; nil if it was the first.
  /// - Returns: false if that would leave a leaf with too few elements: then append the elements instead.
  @inlinable
  mutating func append(sharing leaf: Unmanaged<Node<Element>>, from low: Element?) -> Bool {
    let minimum = Limits<Element>.minimum(height: 0)
    let body = Body(leaf)
    if body.count < minimum { return false }
    if let open {
      if Body(open).count < minimum, nodes.isEmpty { return false }
      closeOpen()
    }
    nodes.append(leaf.retain())
    lows.append(low ?? body.elements[0])
    return true
  }

  /// Puts a finished leaf after the others.
  @inlinable
  mutating func add(_ leaf: Node<Element>) {
    lows.append(Body(leaf).elements[0])
    nodes.append(.passRetained(leaf))
  }

  /// Begins a leaf; the one that was being filled is full.
  @inlinable
  mutating func openLeaf() {
    if let open { add(open) }
    open = Node<Element>.leaf(for: Limits<Element>.leafCapacity)
  }

  /// Closes the last leaf and builds the levels above the leaves.
  @inlinable
  consuming func finish() -> CountedTree<Element> {
    closeOpen()
    while nodes.count > 1 { raise() }
    return CountedTree(root: nodes.popLast().map { $0.takeRetainedValue() })
  }

  /// Replaces the nodes of one level by their parents.
  @inlinable
  mutating func raise() {
    let height = Body(nodes[0]).height
    let sizes = Self.sizes(of: nodes.count, height: height + 1)
    var next = 0
    for (index, size) in sizes.enumerated() {
      let parent = Node<Element>.inner(above: height)
      for child in next..<next + size {
        Body(parent).adoptChild(nodes[child], size: Body(nodes[child]).total, separator: lows[child])
      }
      nodes[index] = .passRetained(parent)
      lows[index] = lows[next]
      next += size
    }
    nodes.removeLast(nodes.count - sizes.count)
    lows.removeLast(lows.count - sizes.count)
  }

  /// Puts the open leaf among the others, evened out with the leaf before it if it has too few elements alone.
  ///
  /// Evening out with the next leaf instead could go on through a whole tree of full leaves.
  @inlinable
  mutating func closeOpen() {
    guard let last = open else { return }
    open = nil
    guard !nodes.isEmpty, Body(last).count < Limits<Element>.minimum(height: 0) else {
      return add(Self.fitted(last))
    }
    lows.removeLast()
    let previous = nodes.removeLast().takeRetainedValue()
    let (left, right) = (Body(previous), Body(last))
    let total = left.count + right.count
    let separator = right.elements[0]
    if total <= Limits<Element>.leafCapacity {
      add(Node.joined(left, separator, right, 0..<total))
    } else {
      add(Node.joined(left, separator, right, 0..<total / 2))
      add(Node.joined(left, separator, right, total / 2..<total))
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
