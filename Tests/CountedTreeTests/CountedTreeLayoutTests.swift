import CountedTree
import Testing

/// Small trees in every form, not only the forms that random histories happen to reach.
@Suite struct CountedTreeLayoutTests {
  @Test("every single change of every size is correct, from every layout that insertions can produce")
  func everyChange() {
    for count in 0...20 {
      for layout in layouts(of: count) {
        TreeModel.check(layout, (0..<count).map { 2 * $0 })
        for key in -1...(2 * count) { changeOnce(layout, key: key, count: count) }
      }
    }
  }

  @Test("every batch that removes a range and fills every gap of a range is correct")
  func everyRangeBatch() throws {
    for count in [0, 1, 3, 5, 9, 14] {
      for low in 0...count {
        for high in low...count {
          var model = TreeModel<Int>()
          model.array = (0..<count).map { 2 * $0 }
          model.tree = CountedTree(sorted: model.array)
          model.hold()
          try model.apply(removing: (low..<high).map { 2 * $0 }, inserting: (low..<high).map { 2 * $0 + 1 })
          model.check()
        }
      }
    }
  }

  @Test("building, growing and shrinking cross every level boundary", arguments: [1, 4, 5, 16, 17, 64, 65, 300, 5_000])
  func boundaries(count: Int) {
    TreeModel.check(CountedTree(sorted: 0..<count), Array(0..<count))
    var ascending = CountedTree<Int>()
    for element in 0..<count { #expect(ascending.insert(element).rank == element) }
    var descending = CountedTree<Int>()
    for element in (0..<count).reversed() { #expect(descending.insert(element).rank == 0) }
    #expect(ascending == descending)
    #expect(ascending.defects() == [])
    #expect(descending.defects() == [])
    for element in 0..<count { #expect(ascending.remove(element) == 0) }
    for element in (0..<count).reversed() { #expect(descending.remove(element) == element) }
    #expect(ascending.isEmpty && descending.isEmpty)
    #expect(ascending.isIdentical(to: descending))
  }

  /// The tree built at once, those grown from both ends, and those grown in shuffled orders.
  private func layouts(of count: Int) -> [CountedTree<Int>] {
    let sorted = (0..<count).map { 2 * $0 }
    var orders = [sorted, Array(sorted.reversed())]
    for seed in 0..<4 {
      var random = Seeded(UInt64(seed))
      orders.append(sorted.shuffled(using: &random))
    }
    var trees = [CountedTree(sorted: sorted)]
    for order in orders {
      var tree = CountedTree<Int>()
      for element in order { tree.insert(element) }
      trees.append(tree)
      // Grown beyond and cut back, which leaves nodes at their least.
      for element in 0..<12 { tree.insert(2 * element + 1) }
      for element in 0..<12 { tree.remove(2 * element + 1) }
      trees.append(tree)
    }
    return trees
  }

  private func changeOnce(_ layout: CountedTree<Int>, key: Int, count: Int) {
    let array = (0..<count).map { 2 * $0 }
    var (inserted, removed) = (TreeModel<Int>(), TreeModel<Int>())
    (inserted.tree, inserted.array) = (layout, array)
    (removed.tree, removed.array) = (layout, array)
    inserted.insert(key)
    removed.remove(key)
    #expect(Array(inserted.tree) == inserted.array)
    #expect(Array(removed.tree) == removed.array)
    #expect(inserted.tree.defects() == [])
    #expect(removed.tree.defects() == [])
    #expect(Array(layout) == array)
  }
}
