extension CountedTree {
  /// What a tree costs in memory.
  public struct Footprint: Sendable, Equatable {
    /// Heap objects.
    public var nodes: Int
    /// Bytes of their allocations, without what elements own elsewhere and without the allocator's own overhead.
    public var bytes: Int

    /// Creates a footprint.
    public init(nodes: Int, bytes: Int) {
      self.nodes = nodes
      self.bytes = bytes
    }
  }

  /// The memory of all nodes, shared ones included.
  ///
  /// - Complexity: O(n)
  public var footprint: Footprint { footprint(notSharedWith: CountedTree()) }

  /// The memory of the nodes that another value does not hold as well: what holding both costs more than holding one.
  ///
  /// - Complexity: O(n)
  public func footprint(notSharedWith other: CountedTree) -> Footprint {
    var known: Set<ObjectIdentifier> = []
    if let root = other.root { Self.visit(root) { known.insert(ObjectIdentifier($0)).inserted } }
    var footprint = Footprint(nodes: 0, bytes: 0)
    guard let root else { return footprint }
    Self.visit(root) { node in
      if known.contains(ObjectIdentifier(node)) { return false }
      footprint.nodes += 1
      footprint.bytes += Body(node).byteCount
      return true
    }
    return footprint
  }

  /// Visits a subtree, not going below the nodes for which `visitor` returns false.
  private static func visit(_ node: Node<Element>, _ visitor: (Node<Element>) -> Bool) {
    guard visitor(node) else { return }
    let body = Body(node)
    guard body.height > 0 else { return }
    for slot in 0..<body.count { visit(body.children[slot], visitor) }
  }
}

extension NodeBody {
  /// Bytes of the node's allocation: object header, own header, entries.
  var byteCount: Int {
    32 + (height == 0 ? room * MemoryLayout<Element>.stride : Self.innerByteCount)
  }
}
