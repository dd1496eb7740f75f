import PhotoLedger

/// A sorted set of the same keys as a plain B-tree that knows the size of each subtree: what a program would take that
/// has a good container and no library for changes.
///
/// A value, as the library's tree is: what two values share is copied before it is changed, so the value before an
/// edit can be held. Leaves and inner nodes are as large as the library's. It tells positions of removals, insertions
/// and updates, and nothing of moves, so it does less.
///
///     inner   (least key, count, node) × 31 at most
///     leaf    key × 256 at most
struct SortedSet {
  private static let (leafMax, innerMax) = (256, 31)

  fileprivate final class Node {
    /// The keys of a leaf; empty in an inner node.
    var keys: ContiguousArray<ResultKey>
    /// The children of an inner node; empty in a leaf.
    var children: ContiguousArray<Child>

    init(keys: ContiguousArray<ResultKey> = [], children: ContiguousArray<Child> = []) {
      (self.keys, self.children) = (keys, children)
    }

    var isLeaf: Bool { children.isEmpty }
    /// How many keys or children it has.
    var width: Int { isLeaf ? keys.count : children.count }
    var count: Int { isLeaf ? keys.count : children.reduce(0) { $0 + $1.count } }
    var least: ResultKey { isLeaf ? keys[0] : children[0].least }

    /// How many keys of a leaf are smaller.
    func position(of key: ResultKey) -> Int {
      keys.withUnsafeBufferPointer { keys in
        var (low, high) = (0, keys.count)
        while low < high {
          let middle = (low + high) / 2
          if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low
      }
    }

    /// The child under which a key is or belongs.
    func index(of key: ResultKey) -> Int {
      children.withUnsafeBufferPointer { children in
        var (low, high) = (1, children.count)
        while low < high {
          let middle = (low + high) / 2
          if children[middle].least <= key { low = middle + 1 } else { high = middle }
        }
        return low - 1
      }
    }
  }

  fileprivate struct Child {
    var least: ResultKey
    var count: Int
    var node: Node

    init(_ node: Node) { (least, count, self.node) = (node.least, node.count, node) }
  }

  private var root = Node()
  private(set) var count = 0

  /// Builds the set from ascending keys, three quarters full.
  init(sorted keys: some Collection<ResultKey>) {
    count = keys.count
    guard count > 0 else { return }
    var nodes = Self.chunks(Array(keys), Self.leafMax * 3 / 4).map { Node(keys: ContiguousArray($0)) }
    while nodes.count > 1 {
      nodes = Self.chunks(nodes.map(Child.init), Self.innerMax * 3 / 4).map { Node(children: ContiguousArray($0)) }
    }
    root = nodes[0]
  }

  /// Parts of nearly equal length, none longer than the limit.
  private static func chunks<Element>(_ all: [Element], _ most: Int) -> [ArraySlice<Element>] {
    let parts = (all.count + most - 1) / most
    return (0..<parts).map { all[($0 * all.count / parts)..<(($0 + 1) * all.count / parts)] }
  }

  /// How many keys are smaller.
  func rank(of key: ResultKey) -> Int {
    var (node, rank) = (root, 0)
    while !node.isLeaf {
      let index = node.index(of: key)
      rank += node.children.withUnsafeBufferPointer { children in children[..<index].reduce(0) { $0 + $1.count } }
      node = node.children[index].node
    }
    return rank + node.position(of: key)
  }

  /// All keys, ascending.
  var keys: [ResultKey] {
    func all(_ node: Node) -> [ResultKey] { node.isLeaf ? Array(node.keys) : node.children.flatMap { all($0.node) } }
    return all(root)
  }

  // MARK: Changing

  /// Adds a key that is not there.
  mutating func insert(_ key: ResultKey) {
    if let right = Self.insert(key, into: &root) { root = Node(children: [Child(root), right]) }
    count += 1
  }

  /// Removes a key that is there.
  mutating func remove(_ key: ResultKey) {
    Self.remove(key, from: &root)
    if root.children.count == 1 { root = root.children[0].node }
    count -= 1
  }

  private static func own(_ node: inout Node) {
    if !isKnownUniquelyReferenced(&node) { node = Node(keys: node.keys, children: node.children) }
  }

  /// - Returns: the right half of the node if it had to be split.
  private static func insert(_ key: ResultKey, into node: inout Node) -> Child? {
    own(&node)
    if node.isLeaf {
      node.keys.insert(key, at: node.position(of: key))
      guard node.keys.count > leafMax else { return nil }
      let right = Node(keys: ContiguousArray(node.keys[(node.keys.count / 2)...]))
      node.keys.removeLast(right.keys.count)
      return Child(right)
    }
    let index = node.index(of: key)
    let right = insert(key, into: &node.children[index].node)
    node.children[index].count += 1 - (right?.count ?? 0)
    node.children[index].least = min(node.children[index].least, key)
    guard let right else { return nil }
    node.children.insert(right, at: index + 1)
    guard node.children.count > innerMax else { return nil }
    let half = Node(children: ContiguousArray(node.children[(node.children.count / 2)...]))
    node.children.removeLast(half.children.count)
    return Child(half)
  }

  private static func remove(_ key: ResultKey, from node: inout Node) {
    own(&node)
    if node.isLeaf {
      let index = node.position(of: key)
      precondition(index < node.keys.count && node.keys[index] == key, "A key is removed that is not there.")
      node.keys.remove(at: index)
      return
    }
    let index = node.index(of: key)
    remove(key, from: &node.children[index].node)
    node.children[index].count -= 1
    let child = node.children[index].node
    if child.width < (child.isLeaf ? leafMax : innerMax) / 4, node.children.count > 1 {
      join(&node.children, at: max(0, index - 1))
    } else if child.width > 0 {
      node.children[index].least = child.least
    }
  }

  /// Joins a child with the next one where both fit into one node; an empty one goes.
  private static func join(_ children: inout ContiguousArray<Child>, at index: Int) {
    let next = children[index + 1].node
    let most = next.isLeaf ? leafMax : innerMax
    if children[index].node.width + next.width <= most {
      own(&children[index].node)
      children[index].node.keys.append(contentsOf: next.keys)
      children[index].node.children.append(contentsOf: next.children)
      children.remove(at: index + 1)
    } else {
      children[index + 1] = Child(next)
    }
    children[index] = Child(children[index].node)
  }

  // MARK: Changes

  /// Where the edits of a commit took place.
  struct Positions {
    /// In the set before.
    var removed: [Int] = []
    /// In the set after.
    var inserted: [Int] = []
    /// Keys that stay, in the set after.
    var changed: [Int] = []
  }

  /// Makes the edits of a commit and tells where they took place.
  mutating func apply(_ edits: [KeyTouch<ResultKey>]) -> Positions {
    var positions = Positions()
    for case let old? in edits.lazy.map({ $0.old == $0.new ? nil : $0.old }) {
      positions.removed.append(rank(of: old))
    }
    for edit in edits where edit.old != edit.new { if let old = edit.old { remove(old) } }
    for edit in edits where edit.old != edit.new { if let new = edit.new { insert(new) } }
    for edit in edits {
      guard let new = edit.new else { continue }
      if edit.old == new { positions.changed.append(rank(of: new)) } else { positions.inserted.append(rank(of: new)) }
    }
    positions.removed.sort()
    positions.inserted.sort()
    positions.changed.sort()
    return positions
  }
}
