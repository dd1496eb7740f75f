import CountedTree
import Testing

/// Positions, iteration and differences.
@Suite struct CountedTreeReadingTests {
  @Test("ranks of absent elements count the elements before them")
  func absentRanks() {
    let tree = CountedTree(sorted: stride(from: 0, to: 400, by: 4))
    for key in -2...402 {
      #expect(tree.rank(of: key) == (0..<100).count { 4 * $0 < key })
      #expect(tree.lowerBound { $0 < key } == tree.rank(of: key))
      #expect(tree.contains(key) == (key % 4 == 0 && (0..<400).contains(key)))
      #expect(tree.index(of: key) == (tree.contains(key) ? key / 4 : nil))
    }
  }

  @Test("a range of positions is walked in order", arguments: [0, 1, 7, 33, 200])
  func ranges(count: Int) {
    let tree = CountedTree(sorted: 0..<count)
    for low in stride(from: 0, through: count, by: max(1, count / 9)) {
      for high in stride(from: low, through: count, by: max(1, count / 7)) {
        #expect(Array(tree.elements(in: low..<high)) == Array(low..<high))
        #expect(Array(tree[low..<high]) == Array(low..<high))
      }
    }
    #expect(tree.first == (count == 0 ? nil : 0))
    #expect(tree.last == (count == 0 ? nil : count - 1))
    #expect(Array(tree.reversed()) == (0..<count).reversed())
  }

  @Test("the difference of two values of one history is that of their contents", arguments: 0..<20)
  func differences(seed: UInt64) {
    var random = Seeded(seed)
    let start = Int.random(in: 0...300, using: &random)
    var tree = CountedTree(sorted: (0..<start).map { 3 * $0 })
    var versions = [tree]
    for _ in 0..<8 {
      for _ in 0..<Int.random(in: 0...20, using: &random) {
        let key = Int.random(in: 0...900, using: &random)
        if Bool.random(using: &random) { tree.insert(key) } else { tree.remove(key) }
      }
      versions.append(tree)
    }
    versions.append(CountedTree())
    versions.append(CountedTree(sorted: Array(tree)))
    for old in versions {
      for new in versions { checkDifference(old, new) }
    }
  }

  private func checkDifference(_ old: CountedTree<Int>, _ new: CountedTree<Int>) {
    let (before, after) = (Array(old), Array(new))
    let (olds, news) = (Set(before), Set(after))
    let difference = new.difference(from: old)
    #expect(difference.removed == before.indices.filter { !news.contains(before[$0]) })
    #expect(difference.inserted == after.indices.filter { !olds.contains(after[$0]) })
    #expect((old == new) == (before == after))
  }

  @Test("the same history gives the same tree")
  func deterministic() {
    let trees = (0..<2).map { _ in
      var random = Seeded(7)
      var tree = CountedTree<Int>()
      for _ in 0..<2_000 {
        let key = Int.random(in: 0..<500, using: &random)
        if Bool.random(using: &random) { tree.insert(key) } else { tree.remove(key) }
      }
      return tree
    }
    #expect(trees[0] == trees[1])
    #expect(trees[0].footprint == trees[1].footprint)
  }

  @Test("a value held across one change costs one path")
  func heldCost() {
    var tree = CountedTree(sorted: (0..<100_000).map { PlainKey(word: 2 * $0, number: $0) })
    let held = tree
    #expect(tree.footprint(notSharedWith: held) == .init(nodes: 0, bytes: 0))
    tree.insert(PlainKey(word: 99_999, number: 0))
    let cost = tree.footprint(notSharedWith: held)
    #expect(cost.bytes <= 16 * 1024)
    #expect(cost.nodes <= 20)
    #expect(tree.footprint.bytes <= held.footprint.bytes + 16 * 1024)
  }

  @Test("misuse traps with a sentence")
  func misuse() async {
    await #expect(processExitsWith: .failure) { _ = CountedTree(sorted: [1, 2])[2] }
    await #expect(processExitsWith: .failure) { _ = CountedTree<Int>().select(0) }
    await #expect(processExitsWith: .failure) { _ = CountedTree(sorted: [1, 2]).elements(in: 1..<3) }
    await #expect(processExitsWith: .failure) {
      var tree = CountedTree(sorted: [1, 2])
      try tree.apply(removing: [2, 1], inserting: [])
    }
  }
}
