import CountedTree
import PhotoLedger

/// The tree's own operations, back to back and so with warm caches.
enum Structure {
  static func measure(size: Int, into report: inout Report) throws {
    guard report.wantsAny("structure ") else { return }
    let keys = ItemList(size: size, seed: 2).items.map(\.key)
    let tree = CountedTree(sorted: keys)
    let inputs = Inputs(keys: keys)
    let flat = repeated(report) { inputs.probes.reduce(0) { $0 &+ binarySearch(keys, $1) } }
    let operations = inputs.probes.count
    let base = flat.quantile(0.5) / Double(operations)
    report.add("structure binary search, flat array", size: size, caches: .warm, flat, operations: operations)
    let rank = repeated(report) { inputs.probes.reduce(0) { $0 &+ tree.rank(of: $1) } }
    report.add("structure rank", size: size, caches: .warm, rank, operations: operations, comparedWith: base)
    let select = repeated(report) { inputs.positions.reduce(0) { $0 &+ Int(truncatingIfNeeded: tree[$1].number) } }
    report.add("structure select", size: size, caches: .warm, select, operations: operations, comparedWith: base)
    let iterate = repeated(report) { tree.makeIterator().reduce(0) { $0 &+ Int(truncatingIfNeeded: $1.number) } }
    report.add("structure iterate, an element", size: size, caches: .warm, iterate, operations: size)
    let build = repeated(report) { CountedTree(sorted: keys).count }
    report.add("structure build sorted, an element", size: size, caches: .warm, build, operations: size)
    try checkReads(tree, keys, inputs)
    try measureWrites(tree, inputs, size: size, base: base, into: &report)
    measureMemory(tree, inputs, size: size, into: &report)
  }

  /// What the loops are fed with.
  private struct Inputs {
    let probes: [ResultKey]
    let positions: [Int]
    let fresh: [ResultKey]

    init(keys: [ResultKey]) {
      var random = Seeded(3)
      let count = min(20_000, max(100, keys.count / 10))
      probes = (0..<count).map { _ in keys[Int.random(in: keys.indices, using: &random)] }
      positions = (0..<count).map { _ in Int.random(in: keys.indices, using: &random) }
      fresh = (0..<count).map { number in
        let near = keys[Int.random(in: keys.indices, using: &random)]
        return ResultKey(word: near.word, number: UInt64(keys.count + number + 1))
      }
    }
  }

  private static func measureWrites(
    _ original: CountedTree<ResultKey>, _ inputs: Inputs, size: Int, base: Double, into report: inout Report
  ) throws {
    let stopwatch = Stopwatch()
    let sorted = inputs.fresh.sorted()
    var (held, alone, removed, batched): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
    for _ in 0..<min(11, report.repetitions) + 1 {
      var (tree, old) = (original, original)
      let time = stopwatch.time {
        for key in inputs.fresh {
          old = tree
          tree.insert(key)
        }
      }
      held.append(time)
      guard old.count == tree.count - 1, tree.count == size + inputs.fresh.count else {
        throw WrongAnswer(description: "Insertions beside a held value lost an element.")
      }
      old = CountedTree()
      removed.append(stopwatch.time { for key in inputs.fresh { tree.remove(key) } })
      alone.append(stopwatch.time { for key in inputs.fresh { tree.insert(key) } })
      for key in inputs.fresh { tree.remove(key) }
      old = tree
      batched.append(try stopwatch.time { _ = try tree.apply(removing: [], inserting: sorted) })
      guard tree.count == old.count + sorted.count, tree.defects().isEmpty, old.elementsEqual(original) else {
        throw WrongAnswer(description: "A batch left an unsound tree.")
      }
    }
    let rows = [
      ("insert, old value held", held), ("insert, alone", alone), ("remove, alone", removed),
      ("insert in one batch, held", batched),
    ]
    for (name, times) in rows {
      let sample = Sample(Array(times.dropFirst()))
      report.add(
        "structure \(name)", size: size, caches: .warm, sample, operations: sorted.count, comparedWith: base)
    }
    let details = try repeated(report) { try detailsLoop(original, inputs) }
    report.add(
      "structure change details of one edit, held", size: size, caches: .warm, details,
      operations: 2 * inputs.fresh.count, comparedWith: base)
  }

  /// Inserts and removes one key after the other, each time with the old tree held and the full details derived.
  private static func detailsLoop(_ original: CountedTree<ResultKey>, _ inputs: Inputs) throws -> Int {
    var (tree, held, sum) = (original, original, 0)
    for key in inputs.fresh {
      held = tree
      sum &+= IndexChanges(try tree.apply([KeyTouch(old: nil, new: key, isVisiblyChanged: false)])).inserted.count
      held = tree
      sum &+= IndexChanges(try tree.apply([KeyTouch(old: key, new: nil, isVisiblyChanged: false)])).removed.count
    }
    return sum &+ held.count
  }

  private static func measureMemory(
    _ original: CountedTree<ResultKey>, _ inputs: Inputs, size: Int, into report: inout Report
  ) {
    let payload = original.count * MemoryLayout<ResultKey>.stride
    report.add("structure memory, built", size: size, bytes: original.footprint.bytes, comparedWith: payload)
    var tree = original
    tree.insert(inputs.fresh[0])
    let cost = tree.footprint(notSharedWith: original)
    report.add("structure memory, held across one change", size: size, bytes: cost.bytes)
    var grown = CountedTree<ResultKey>()
    var random = Seeded(5)
    for key in Array(original).shuffled(using: &random) { grown.insert(key) }
    report.add("structure memory, grown at random", size: size, bytes: grown.footprint.bytes, comparedWith: payload)
  }

  private static func checkReads(_ tree: CountedTree<ResultKey>, _ keys: [ResultKey], _ inputs: Inputs) throws {
    guard Array(tree) == keys, inputs.probes.allSatisfy({ tree.rank(of: $0) == binarySearch(keys, $0) }),
      inputs.positions.allSatisfy({ tree[$0] == keys[$0] })
    else { throw WrongAnswer(description: "A rank or a selection differs from the sorted array's.") }
  }

  private static func repeated(_ report: Report, _ body: () throws -> Int) rethrows -> Sample {
    let stopwatch = Stopwatch()
    var sum = 0
    let times = try (0..<min(11, report.repetitions) + 1).map { _ in try stopwatch.time { sum &+= try body() } }
    Report.keep(sum)
    return Sample(Array(times.dropFirst()))
  }

  private static func binarySearch(_ keys: [ResultKey], _ key: ResultKey) -> Int {
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
