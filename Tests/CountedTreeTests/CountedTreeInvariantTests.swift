#if DEBUG
  import Testing

  @testable import CountedTree

  /// Damage planted in a sound tree is found and named.
  @Suite struct CountedTreeInvariantTests {
    enum Damage: CaseIterable {
      case swappedElements, wrongStart, staleTotal, lowSeparator, highSeparator, emptiedLeaf, wrongHeight
    }

    @Test("each kind of damage is found", arguments: Damage.allCases)
    func damage(kind: Damage) throws {
      var tree = CountedTree(sorted: 0..<40)
      #expect(tree.defects() == [])
      let root = try #require(tree.root)
      let body = NodeBody(root)
      var leaf = body
      while leaf.height > 0 { leaf = leaf.child(leaf.count - 1) }
      switch kind {
      case .swappedElements: (leaf.elements[0], leaf.elements[1]) = (leaf.elements[1], leaf.elements[0])
      case .wrongStart: body.starts[1] += 1
      case .staleTotal: tree.count += 1
      case .lowSeparator: body.separators[0] -= 1
      case .highSeparator: body.separators[0] += 1
      case .emptiedLeaf: leaf.count = 1
      case .wrongHeight: leaf.header.pointee.height = 1
      }
      #expect(tree.defects() != [])
      if kind == .wrongHeight { leaf.header.pointee.height = 0 }  // It must be destroyed as what it is.
    }

    @Test("a change beside planted damage traps in a debug build")
    func changeBesideDamage() async {
      await #expect(processExitsWith: .failure) {
        var tree = CountedTree(sorted: 0..<1000)
        if let root = tree.root { NodeBody(root).starts[1] += 1 }
        tree.remove(0)
      }
    }

    @Test("all defects are reported, not the first alone")
    func several() throws {
      let tree = CountedTree(sorted: 0..<40)
      let body = NodeBody(try #require(tree.root))
      body.starts[1] += 1
      body.separators[0] += 1
      #expect(tree.defects().count >= 3)
    }
  }
#endif
