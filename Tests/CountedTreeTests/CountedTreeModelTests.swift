import CountedTree
import Synchronization
import Testing

/// Random histories against a sorted array.
@Suite struct CountedTreeModelTests {
  @Test("a history of single changes agrees with a sorted array, and held values stay", arguments: 0..<24)
  func singles(seed: UInt64) throws {
    try run(seed: seed, steps: 600, keys: 160) { PlainKey(word: UInt64($0 / 3), number: UInt64($0 % 3)) }
  }

  @Test("keys with allocations of their own behave alike", arguments: 0..<8)
  func wide(seed: UInt64) throws {
    try run(seed: seed, steps: 400, keys: 120) { WideKey(bytes: Array(String($0, radix: 2).utf8)) }
  }

  @Test("a long history keeps a large tree sound", arguments: 0..<3)
  func large(seed: UInt64) {
    var random = Seeded(seed)
    var model = TreeModel<Int>()
    model.tree = CountedTree(sorted: 0..<20_000)
    model.array = Array(0..<20_000)
    for step in 0..<2_000 {
      let key = Int.random(in: -10...20_010, using: &random)
      if Bool.random(using: &random) { model.insert(key) } else { model.remove(key) }
      if step % 500 == 0 { model.hold() }
    }
    model.check()
  }

  @Test(
    "an edit that the tree contradicts is an error that names it, few edits or many, and a copy stays as it was",
    arguments: [2, 300])
  func contradictions(count: Int) throws {
    let original = CountedTree(sorted: (0..<400).map { 2 * $0 })
    for bad in [0, count / 2, count - 1] {
      var (present, absent) = ((0..<count).map { 2 * $0 }, (0..<count).map { 2 * $0 + 1 })
      (present[bad], absent[bad]) = (absent[bad], present[bad])
      var (removed, inserted) = (original, original)
      #expect(throws: TreeContradiction.absent(bad)) { try removed.apply(removing: present, inserting: []) }
      #expect(throws: TreeContradiction.present(bad)) { try inserted.apply(removing: [], inserting: absent) }
      #expect(removed.defects() == [] && inserted.defects() == [])
    }
    var empty = CountedTree<Int>()
    // Few are removed from the last on.
    let first = count < 8 ? count - 1 : 0
    #expect(throws: TreeContradiction.absent(first)) { try empty.apply(removing: Array(0..<count), inserting: []) }
    TreeModel.check(original, (0..<400).map { 2 * $0 })
  }

  @Test("every element is released, and only once", .serialized, arguments: 0..<6)
  func lifetimes(seed: UInt64) throws {
    let before = TrackedKey.living.withLock { $0 }
    try run(seed: seed, steps: 300, keys: 90) { TrackedKey($0) }
    for count in [2, 200] { failBatch(of: count) }
    #expect(TrackedKey.living.withLock { $0 } == before)
  }

  /// Has the last of so many removals fail.
  private func failBatch(of count: Int) {
    var tree = CountedTree(sorted: (0..<300).map { TrackedKey(2 * $0) })
    let held = tree
    let keys = (1..<count).map { TrackedKey(2 * $0) } + [TrackedKey(599)]
    #expect(throws: TreeContradiction.absent(count - 1)) { try tree.apply(removing: keys, inserting: []) }
    #expect(held.count == 300 && held.defects() == [])
  }

  private func run<Element: Comparable & Sendable>(
    seed: UInt64, steps: Int, keys: Int, _ key: (Int) -> Element
  ) throws {
    var random = Seeded(seed)
    var model = TreeModel<Element>()
    // Phases that grow and phases that shrink, so that the tree gains and loses levels.
    for step in 0..<steps {
      let grows = (step / 100) % 2 == 0
      switch Int.random(in: 0..<20, using: &random) {
      case 0: model.hold()
      case 1...2: try applyBatch(&model, keys: keys, random: &random, key)
      case 3...(grows ? 15 : 7): model.insert(key(Int.random(in: 0..<keys, using: &random)))
      default: model.remove(key(Int.random(in: 0..<keys, using: &random)))
      }
      if model.held.count > 4 { model.held.removeFirst() }
      if step % 40 == 0 { model.check() }
    }
    model.check()
  }

  private func applyBatch<Element: Comparable & Sendable>(
    _ model: inout TreeModel<Element>, keys: Int, random: inout Seeded, _ key: (Int) -> Element
  ) throws {
    let share = Int.random(in: 1...5, using: &random)
    let removing = model.array.filter { _ in Int.random(in: 0..<5, using: &random) < share - 1 }
    let rest = model.array.filter { element in !removing.contains(element) }
    var candidates: Set<Int> = []
    for _ in 0..<Int.random(in: 0...12, using: &random) { candidates.insert(Int.random(in: 0..<keys, using: &random)) }
    let inserting = candidates.sorted().map(key).sorted().filter { element in !rest.contains(element) }
    try model.apply(removing: removing, inserting: inserting)
  }
}
