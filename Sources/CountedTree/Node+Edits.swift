// Changes to one path. Each function gets the location of a reference to the node, changes the node in place if it is
// uniquely referenced, and otherwise stores a changed copy there. A copied parent shares its children, so below the
// first shared node everything on the path is copied and nothing else is.

extension Node {
  /// Inserts at a located place; returns the right half if the node had to be divided.
  @inlinable
  static func insert(_ element: Element, at place: borrowing Place, in node: inout Node) -> Split? {
    let height = Body(node).height
    if height == 0 { return insertInLeaf(element, at: place.index, in: &node) }
    if !isKnownUniquelyReferenced(&node) { node = node.innerCopy() }
    let body = Body(node)
    let slot = place.slot(height: height)
    let split = insert(element, at: place, in: &body.children[slot])
    guard let split else {
      for later in slot + 1...body.count { body.starts[later] &+= 1 }
      return nil
    }
    return insertChild(split, after: slot, in: &node)
  }

  @inlinable
  static func insertInLeaf(_ element: Element, at index: Int, in node: inout Node) -> Split? {
    let body = Body(node)
    let count = body.count
    if count < Limits<Element>.leafCapacity {
      if count < body.room, isKnownUniquelyReferenced(&node) {
        let elements = body.elements
        (elements + index + 1).moveInitialize(from: elements + index, count: count - index)
        (elements + index).initialize(to: element)
        body.count = count + 1
      } else {
        node = node.leaf(0..<count + 1, inserting: element, at: index)
      }
      return nil
    }
    let middle = Limits<Element>.splitPoint(insertingAt: index, height: 0)
    let right = node.leaf(middle..<count + 1, inserting: element, at: index)
    node = node.leaf(0..<middle, inserting: element, at: index)
    return Split(separator: Body(right).elements[0], right: right)
  }

  /// Takes in the right half of child `slot`, which was just divided; the node must be unique.
  @inlinable
  static func insertChild(_ split: Split, after slot: Int, in node: inout Node) -> Split? {
    let body = Body(node)
    let count = body.count
    guard count == InnerLayout.capacity else {
      let (starts, children, separators) = (body.starts, body.children, body.separators)
      (children + slot + 2).moveInitialize(from: children + slot + 1, count: count - slot - 1)
      (children + slot + 1).initialize(to: split.right)
      (separators + slot + 1).moveInitialize(from: separators + slot, count: count - slot - 1)
      (separators + slot).initialize(to: split.separator)
      for later in stride(from: count + 1, to: slot + 1, by: -1) { starts[later] = starts[later - 1] &+ 1 }
      starts[slot + 1] = starts[slot] + body.child(slot).total
      body.count = count + 1
      return nil
    }
    let height = body.height
    let middle = Limits<Element>.splitPoint(insertingAt: slot + 1, height: height)
    let separator =
      middle == slot + 1 ? split.separator : body.separators[middle <= slot ? middle - 1 : middle - 2]
    let right = node.inner(middle..<count + 1, inserting: split, at: slot + 1)
    node = node.inner(0..<middle, inserting: split, at: slot + 1)
    return Split(separator: separator, right: right)
  }

  /// Removes the element at a located place; the node may be left with too few entries.
  @inlinable
  static func remove(at place: borrowing Place, in node: inout Node) {
    let height = Body(node).height
    if height == 0 { return removeInLeaf(at: place.index, in: &node) }
    if !isKnownUniquelyReferenced(&node) { node = node.innerCopy() }
    let body = Body(node)
    let slot = place.slot(height: height)
    remove(at: place, in: &body.children[slot])
    for later in slot + 1...body.count { body.starts[later] &-= 1 }
    if body.child(slot).count < Limits<Element>.minimum(height: height - 1) { mend(slot, in: body) }
  }

  @inlinable
  static func removeInLeaf(at index: Int, in node: inout Node) {
    guard isKnownUniquelyReferenced(&node) else {
      node = node.leaf(removingAt: index)
      return
    }
    let body = Body(node)
    let elements = body.elements
    (elements + index).deinitialize(count: 1)
    (elements + index).moveInitialize(from: elements + index + 1, count: body.count - index - 1)
    body.count -= 1
  }

  /// Joins a child that has too few entries with a neighbour, or lets the two share evenly.
  @inlinable
  static func mend(_ slot: Int, in body: Body) {
    let left = slot > 0 ? slot - 1 : slot
    let (first, second) = (body.child(left), body.child(left + 1))
    let total = first.count + second.count
    let separator = body.separators[left]
    guard total > Limits<Element>.joinLimit(height: first.height) else {
      let node = joined(first, separator, second, 0..<total)
      body.children[left] = node
      removeChild(left + 1, in: body)
      return
    }
    let middle = total / 2
    let divider = divider(first, separator, second, at: middle)
    let lower = joined(first, separator, second, 0..<middle)
    let upper = joined(first, separator, second, middle..<total)
    body.separators[left] = divider
    body.children[left] = lower
    body.children[left + 1] = upper
    body.starts[left + 1] = body.starts[left] + Body(lower).total
  }

  /// Takes out child `slot` (not the first), whose entries its left neighbour has taken over.
  @inlinable
  static func removeChild(_ slot: Int, in body: Body) {
    let (starts, children, separators) = (body.starts, body.children, body.separators)
    let behind = body.count - slot - 1
    (children + slot).deinitialize(count: 1)
    (children + slot).moveInitialize(from: children + slot + 1, count: behind)
    (separators + slot - 1).deinitialize(count: 1)
    (separators + slot - 1).moveInitialize(from: separators + slot, count: behind)
    for entry in slot..<body.count { starts[entry] = starts[entry + 1] }
    body.count -= 1
  }
}

/// Where an element is, or where it would have to be inserted.
@usableFromInline
struct Place {
  /// The child taken at each height; entry 0 is unused.
  @usableFromInline var slots: InlineArray<32, UInt8>
  /// The place inside the leaf.
  @usableFromInline var index: Int
  /// How many elements of the tree are less.
  @usableFromInline var rank: Int
  @usableFromInline var isPresent: Bool

  @inlinable
  init() {
    slots = InlineArray(repeating: 0)
    index = 0
    rank = 0
    isPresent = false
  }

  @inlinable
  borrowing func slot(height: Int) -> Int { Int(slots[height]) }
}
