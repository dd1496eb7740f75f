// Many changes at once.
//
// Few edits are made one by one: removals from the last to the first, so that each rank is the rank in the old tree,
// then insertions from the first to the last, so that each rank is the rank in the new one.
//
// Many edits are one merge of the edits with the leaves, from left to right. A leaf without edits is taken over whole,
// still shared with the old tree; one with edits is written anew; the levels above are built again. That costs one
// copy for each touched leaf however many edits it gets, and a few steps for each untouched one; it is chosen from one
// edit for every hundred leaves on, an estimate. At k = n it is a merge of two sorted lists: no cliff.
//
// Edits may come from bytes on a disk, the tree from earlier ones, so an edit that the tree contradicts is an error and
// no misuse. It is found where the edit is made, without another search. Lists that do not ascend are misuse.

/// An edit that does not fit the elements of a counted tree.
public enum TreeContradiction: Error, Equatable {
  /// An element to remove is not in the tree; its index among those to remove.
  case absent(Int)
  /// An element to insert is in the tree already; its index among those to insert.
  case present(Int)
}

extension CountedTree {
  /// The positions of a batch of edits.
  public struct BatchRanks: Sendable, Equatable {
    /// Positions of the removed elements in the tree *before* the batch, ascending.
    public var removed: [Int]
    /// Positions of the inserted elements in the tree *after* the batch, ascending.
    public var inserted: [Int]

    @inlinable
    init(removed: [Int] = [], inserted: [Int] = []) {
      self.removed = removed
      self.inserted = inserted
    }
  }

  /// Removes and inserts elements in one step.
  ///
  /// - Parameters:
  ///   - removing: strictly ascending elements, all of them present.
  ///   - inserting: strictly ascending elements, none of them present once the removals are done.
  /// - Returns: the position of each: the removed before, the inserted after.
  /// - Throws: ``TreeContradiction`` for an element that is not present, or that is. The tree is sound then and may
  ///   have some of the edits; a copy from before has none of them.
  /// - Complexity: O(k log n), and never more than O(n + k)
  @inlinable
  @discardableResult
  public mutating func apply(
    removing: [Element], inserting: [Element]
  ) throws(TreeContradiction) -> BatchRanks {
    precondition(Self.ascends(removing), "The elements to remove must be strictly ascending.")
    precondition(Self.ascends(inserting), "The elements to insert must be strictly ascending.")
    let edits = removing.count + inserting.count
    let ranks =
      edits < 8 || edits * 100 * Limits<Element>.leafCapacity < count
      ? try applySingly(removing: removing, inserting: inserting)
      : try applyMerged(removing: removing, inserting: inserting)
    checkInvariants()
    return ranks
  }

  @inlinable
  static func ascends(_ elements: [Element]) -> Bool {
    for index in elements.indices.dropFirst() where !(elements[index - 1] < elements[index]) { return false }
    return true
  }

  @inlinable
  mutating func applySingly(
    removing: [Element], inserting: [Element]
  ) throws(TreeContradiction) -> BatchRanks {
    var ranks = BatchRanks()
    ranks.removed.reserveCapacity(removing.count)
    ranks.inserted.reserveCapacity(inserting.count)
    for index in removing.indices.reversed() {
      guard let rank = remove(removing[index]) else { throw .absent(index) }
      ranks.removed.append(rank)
    }
    ranks.removed.reverse()
    for index in inserting.indices {
      let (inserted, rank) = insert(inserting[index])
      if !inserted { throw .present(index) }
      ranks.inserted.append(rank)
    }
    return ranks
  }

  @inlinable
  mutating func applyMerged(
    removing: [Element], inserting: [Element]
  ) throws(TreeContradiction) -> BatchRanks {
    var merge = BatchMerge(removing: removing, inserting: inserting)
    if let root {
      defer { withExtendedLifetime(root) {} }
      try merge.take(.passUnretained(root), from: nil, below: nil)
    }
    merge.takeRemainingInsertions()
    if merge.nextRemoval < removing.count { throw .absent(merge.nextRemoval) }
    let ranks = merge.ranks
    self = merge.builder.finish()
    return ranks
  }
}

/// One walk over the old leaves and both lists of edits.
@usableFromInline
struct BatchMerge<Element: Comparable & Sendable>: ~Copyable {
  @usableFromInline typealias Body = NodeBody<Element>

  @usableFromInline let removing: [Element]
  @usableFromInline let inserting: [Element]
  @usableFromInline var nextRemoval = 0
  @usableFromInline var nextInsertion = 0
  /// Elements of the old tree in the leaves taken so far.
  @usableFromInline var before = 0
  @usableFromInline var builder = TreeBuilder<Element>()
  @usableFromInline var ranks = CountedTree<Element>.BatchRanks()

  @inlinable
  init(removing: [Element], inserting: [Element]) {
    self.removing = removing
    self.inserting = inserting
    ranks.removed.reserveCapacity(removing.count)
    ranks.inserted.reserveCapacity(inserting.count)
  }

  /// Takes a subtree with the edits less than `high`, all of them if nil.
  /// - Parameter low: what divides the subtree from what lies before it; nil if nothing does.
  @inlinable
  mutating func take(
    _ node: Unmanaged<Node<Element>>, from low: Element?, below high: Element?
  ) throws(TreeContradiction) {
    let body = Body(node)
    guard body.height > 0 else { return try takeLeaf(node, from: low, below: high) }
    body.readChildrenAhead()
    for slot in 0..<body.count {
      try take(
        body.unowned(slot), from: slot == 0 ? low : body.separators[slot - 1],
        below: slot == body.count - 1 ? high : body.separators[slot])
    }
  }

  @inlinable
  mutating func takeLeaf(
    _ leaf: Unmanaged<Node<Element>>, from low: Element?, below high: Element?
  ) throws(TreeContradiction) {
    let body = Body(leaf)
    if !hasEdit(below: high), builder.append(sharing: leaf, from: low) {
      before += body.count
      return
    }
    body.readElementsAhead()
    var taken = 0
    while true {
      let isRemoval = nextRemoval < removing.count && isBelow(removing[nextRemoval], high)
      let isInsertion = nextInsertion < inserting.count && isBelow(inserting[nextInsertion], high)
      if isRemoval, !isInsertion || !(inserting[nextInsertion] < removing[nextRemoval]) {
        try remove(from: body, &taken)
      } else if isInsertion {
        try insert(into: body, &taken)
      } else {
        break
      }
    }
    builder.append(body, taken..<body.count)
    before += body.count
  }

  @inlinable
  func hasEdit(below high: Element?) -> Bool {
    nextRemoval < removing.count && isBelow(removing[nextRemoval], high)
      || nextInsertion < inserting.count && isBelow(inserting[nextInsertion], high)
  }

  @inlinable
  func isBelow(_ element: Element, _ high: Element?) -> Bool {
    guard let high else { return true }
    return element < high
  }

  @inlinable
  mutating func remove(from body: Body, _ taken: inout Int) throws(TreeContradiction) {
    let index = advance(in: body, from: taken, to: removing[nextRemoval])
    guard index < body.count, !(removing[nextRemoval] < body.elements[index]) else { throw .absent(nextRemoval) }
    builder.append(body, taken..<index)
    ranks.removed.append(before + index)
    taken = index + 1
    nextRemoval += 1
  }

  @inlinable
  mutating func insert(into body: Body, _ taken: inout Int) throws(TreeContradiction) {
    let element = inserting[nextInsertion]
    let index = advance(in: body, from: taken, to: element)
    if index < body.count, !(element < body.elements[index]) { throw .present(nextInsertion) }
    builder.append(body, taken..<index)
    builder.append(element)
    ranks.inserted.append(before + index - nextRemoval + nextInsertion)
    taken = index
    nextInsertion += 1
  }

  /// The first index from `start` on whose element is not less than `element`.
  @inlinable
  func advance(in body: Body, from start: Int, to element: Element) -> Int {
    let elements = body.elements + start
    return start + Body.prefix(of: body.count - start) { elements[$0] < element }
  }

  /// Appends what is inserted into an empty tree.
  @inlinable
  mutating func takeRemainingInsertions() {
    while nextInsertion < inserting.count {
      builder.append(inserting[nextInsertion])
      ranks.inserted.append(before - nextRemoval + nextInsertion)
      nextInsertion += 1
    }
  }
}
