extension CountedTree {
  /// Inserts an element unless an equal one is present.
  ///
  /// - Returns: whether it was inserted, and its position in the tree as it is now.
  /// - Complexity: O(log n); copies at most one path of nodes if another value shares them.
  @inlinable
  @discardableResult
  public mutating func insert(_ element: Element) -> (inserted: Bool, rank: Int) {
    let place = locate(element)
    if place.isPresent { return (false, place.rank) }
    guard var top = root else {
      let leaf = Node<Element>.leaf(for: 1)
      Body(leaf).appendElement(element)
      root = leaf
      count = 1
      return (true, 0)
    }
    root = nil
    if let split = Node.insert(element, at: place, in: &top) { top = Self.root(over: top, split) }
    root = top
    count += 1
    checkInvariants(near: element)
    return (true, place.rank)
  }

  /// Removes an element.
  ///
  /// - Returns: the position it had, or nil if it was absent.
  /// - Complexity: O(log n); copies at most one path of nodes if another value shares them.
  @inlinable
  @discardableResult
  public mutating func remove(_ element: Element) -> Int? {
    let place = locate(element)
    guard place.isPresent, var top = root else { return nil }
    root = nil
    Node.remove(at: place, in: &top)
    let body = Body(top)
    if body.height > 0, body.count == 1 { top = body.children[0] }
    root = Body(top).count == 0 ? nil : top
    count -= 1
    checkInvariants(near: element)
    return place.rank
  }

  /// Makes the root above two halves of a divided one.
  @inlinable
  static func root(over left: Node<Element>, _ split: NodeSplit<Element>) -> Node<Element> {
    let height = Body(left).height
    precondition(height < 31, "A counted tree cannot grow beyond 31 levels.")
    let node = Node<Element>.inner(above: height)
    Body(node).appendChild(left, size: Body(left).total, separator: nil)
    Body(node).appendChild(split.right, size: Body(split.right).total, separator: split.separator)
    return node
  }
}
