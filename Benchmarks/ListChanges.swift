import CountedTree
import PhotoLedger

/// C1 … C6: the exact change of a held result, from the edits of one commit.
enum ListChanges {
  /// What is in the processor's caches when the clock starts: nothing; the code and what the allocator needs, but
  /// nothing of the list; all of it.
  private enum Start { case cold, code, warm }

  /// What the tree is compared with, in the order of the rows.
  private enum Baseline: String, CaseIterable {
    case paths = "floor: memcpy of the paths"
    case list = "floor: memcpy of the list"
    case walk = "one walk, both arrays given"
    case rebuild = "build from sorted, then walk"
    case heckel = "Heckel, both arrays given"
    case standard = "standard library difference"
    case inferring = "standard library difference, inferring moves"

    /// Whether it is left out for large changes, for which it takes quadratic time.
    var isForFew: Bool { self == .standard || self == .inferring }
  }

  static func measure(size: Int, into report: inout Report) throws {
    for workload in Workload.allCases {
      let tree = "\(workload.rawValue) counted tree, held"
      let baselines = Baseline.allCases.filter { baseline in
        report.wantsAny("\(workload.rawValue) \(baseline.rawValue)")
          && !(baseline.isForFew && workload.editCount(of: size) > 1000)
      }
      let isWanted = report.wantsAny(tree, tree + withCode) || wantsSet(workload, report)
      guard isWanted || !baselines.isEmpty else { continue }
      let repetitions = workload.editCount(of: size) > 1000 ? min(7, report.repetitions) : report.repetitions
      var list = ItemList(size: size, seed: 1)
      let cold = try ledger(&list, workload, .cold, repetitions)
      let base = cold.quantile(0.5)
      report.add(tree, size: size, caches: .cold, cold, goal: workload.goal)
      let warm = try ledger(&list, workload, .warm, repetitions)
      report.add(tree, size: size, caches: .warm, warm, comparedWith: base)
      let code = try ledger(&list, workload, .code, repetitions)
      report.add(tree + withCode, size: size, caches: .cold, code, comparedWith: base)
      if !workload.isLarge { try compareWithSet(&list, workload, repetitions, into: &report) }
      for baseline in baselines {
        let sample = try measure(baseline, &list, workload, repetitions)
        let name = "\(workload.rawValue) \(baseline.rawValue)"
        report.add(name, size: size, caches: .cold, sample, comparedWith: base)
      }
    }
  }

  private static let withCode = ", its code in the caches"

  /// The length of the list on which the code is run before the clock starts; that of the measured list where that is
  /// shorter than any of a real run.
  private static func rehearsedSize(of size: Int) -> Int { size < Report.leastSize ? size : 5000 }

  // MARK: Beside a sorted set

  private static func setName(_ workload: Workload, _ start: Start) -> String {
    "\(workload.rawValue) floor: sorted set of the same keys, held" + (start == .code ? withCode : "")
  }

  private static func wantsSet(_ workload: Workload, _ report: Report) -> Bool {
    !workload.isLarge && report.wantsAny(setName(workload, .code))
  }

  /// The tree and a sorted set of the same keys, in turns in one list of edits, each with the same things in the
  /// caches; the row of the tree has its ratio to the set.
  private static func compareWithSet(
    _ list: inout ItemList, _ workload: Workload, _ repetitions: Int, into report: inout Report
  ) throws {
    guard wantsSet(workload, report) else { return }
    let size = list.items.count
    for start in [Start.cold, .code, .warm] {
      let (tree, set) = try besideSet(&list, workload, start, repetitions)
      let caches = start == .warm ? Caches.warm : .cold
      report.add(setName(workload, start), size: size, caches: caches, set)
      let name = "\(workload.rawValue) counted tree, held" + (start == .code ? withCode : "") + ", to a sorted set"
      report.add(name, size: size, caches: caches, tree, comparedWith: set.quantile(0.5))
    }
  }

  private static func besideSet(
    _ list: inout ItemList, _ workload: Workload, _ start: Start, _ repetitions: Int
  ) throws -> (tree: Sample, set: Sample) {
    let stopwatch = Stopwatch()
    var flush = CacheFlush(before: list.items.count)
    var tree = CountedTree(sorted: list.items.lazy.map(\.key))
    var set = SortedSet(sorted: list.items.lazy.map(\.key))
    var small = ItemList(size: rehearsedSize(of: list.items.count), seed: 2)
    let smallTree = CountedTree(sorted: small.items.lazy.map(\.key))
    let smallSet = SortedSet(sorted: small.items.lazy.map(\.key))
    var times: (tree: [Double], set: [Double]) = ([], [])
    for repetition in 0..<repetitions + 3 {
      let rehearsals = (0..<3).map { _ in small.draw(workload).map(\.touch) }
      let edits = list.draw(workload)
      let touches = edits.map(\.touch)
      let before = list.items
      list.make(edits)
      let (heldTree, heldSet) = (tree, set)
      var (changes, positions) = (IndexChanges?.none, SortedSet.Positions())
      for turn in [repetition % 2, 1 - repetition % 2] {
        if start == .warm {
          if turn == 0 { try rehearse(tree, touches) } else { rehearse(set, touches) }
        } else {
          flush.flush()
        }
        if start == .code {
          for touches in rehearsals where turn == 0 { try rehearse(smallTree, touches) }
          for touches in rehearsals where turn == 1 { rehearse(smallSet, touches) }
        }
        let time =
          try turn == 0
          ? stopwatch.time { changes = IndexChanges(try tree.apply(touches)) }
          : stopwatch.time { positions = set.apply(touches) }
        if repetition >= 3 { if turn == 0 { times.tree.append(time) } else { times.set.append(time) } }
      }
      guard let changes else { continue }
      try check(changes, before: before, after: list.items, held: heldTree, tree: tree)
      try check(positions, against: changes, workload)
      if list.items.count <= 10_000 || repetition % 16 == 0 {
        guard heldSet.keys == before.map(\.key), set.keys == list.items.map(\.key) else {
          throw WrongAnswer(description: "A sorted set does not hold the keys of its list.")
        }
      }
    }
    return (Sample(times.tree), Sample(times.set))
  }

  private static func rehearse(_ set: SortedSet, _ edits: [KeyTouch<ResultKey>]) {
    var copy = set
    let positions = copy.apply(edits)
    precondition(positions.inserted.count - positions.removed.count == copy.count - set.count)
  }

  private static func check(
    _ positions: SortedSet.Positions, against changes: IndexChanges, _ workload: Workload
  ) throws {
    // The set knows no moves: what moves is removed and inserted.
    let removed = (changes.removed + changes.moved.map(\.before)).sorted()
    let inserted = (changes.inserted + changes.moved.map(\.after)).sorted()
    guard positions.removed == removed, positions.inserted == inserted,
      workload == .move || positions.changed == changes.changed
    else { throw WrongAnswer(description: "A sorted set and the change details disagree (\(workload.rawValue)).") }
  }

  private static func measure(
    _ baseline: Baseline, _ list: inout ItemList, _ workload: Workload, _ repetitions: Int
  ) throws -> Sample {
    let few = min(repetitions, list.items.count >= 100_000 ? 7 : 31)
    return switch baseline {
    case .paths: try paths(list.items.count, workload, repetitions)
    case .list: try copies(list.items, repetitions)
    case .walk: walk(&list, workload, repetitions)
    case .rebuild: rebuild(&list, workload, repetitions)
    case .heckel: try heckel(&list, workload, few)
    case .standard: try standard(&list, workload, few)
    case .inferring: try inferring(&list, workload, few)
    }
  }

  /// The library's way: edits to the tree while the old value is held, then the algebra.
  private static func ledger(
    _ list: inout ItemList, _ workload: Workload, _ start: Start, _ repetitions: Int
  ) throws -> Sample {
    let stopwatch = Stopwatch()
    var flush = CacheFlush(before: list.items.count)
    var tree = CountedTree(sorted: list.items.lazy.map(\.key))
    var small = ItemList(size: rehearsedSize(of: list.items.count), seed: 2)
    let smallTree = CountedTree(sorted: small.items.lazy.map(\.key))
    var times: [Double] = []
    for repetition in 0..<repetitions + 3 {
      // Edits of each kind, whichever comes next.
      let rehearsals = (0..<3).map { _ in small.draw(workload).map(\.touch) }
      let edits = list.draw(workload)
      let touches = edits.map(\.touch)
      let before = list.items
      list.make(edits)
      if start == .warm { try rehearse(tree, touches) } else { flush.flush() }
      if start == .code { for touches in rehearsals { try rehearse(smallTree, touches) } }
      let held = tree
      var changes: IndexChanges?
      let time = try stopwatch.time { changes = IndexChanges(try tree.apply(touches)) }
      if repetition >= 3 { times.append(time) }
      guard let changes else { continue }
      try check(changes, before: before, after: list.items, held: held, tree: tree)
      // Applying it twice to a million identities takes long, so large lists do it now and then.
      if list.items.count <= 10_000 || repetition % 16 == 0 { try checkApplied(changes, before, list.items) }
    }
    return Sample(times)
  }

  private static func paths(_ count: Int, _ workload: Workload, _ repetitions: Int) throws -> Sample {
    let (copies, stopwatch) = (Copies(count: count), Stopwatch())
    var flush = CacheFlush(before: count)
    return Sample(
      try (0..<repetitions).map { repetition in
        let places = workload.copiedPlaces(of: count, repetition)
        return try copies.paths(places, stopwatch, afterFlushing: &flush)
      })
  }

  private static func copies(_ items: [Item], _ repetitions: Int) throws -> Sample {
    let stopwatch = Stopwatch()
    var flush = CacheFlush(before: items.count)
    return Sample(try (0..<repetitions).map { _ in try Copies.list(items, stopwatch, afterFlushing: &flush) })
  }

  /// Makes the same edits in a copy, which leaves their paths and the code in the caches.
  private static func rehearse(_ tree: CountedTree<ResultKey>, _ edits: [KeyTouch<ResultKey>]) throws {
    var copy = tree
    let changes = IndexChanges(try copy.apply(edits))
    precondition(changes.afterCount == copy.count, "A rehearsal must not differ from the play.")
  }

  private static func walk(_ list: inout ItemList, _ workload: Workload, _ repetitions: Int) -> Sample {
    timed(&list, workload, repetitions) { before, after in
      WalkedChanges(before: before, after: after)
    } check: { _, _, walked in
      Report.keep(walked.removed.count)
    }
  }

  private static func rebuild(_ list: inout ItemList, _ workload: Workload, _ repetitions: Int) -> Sample {
    timed(&list, workload, min(repetitions, 11)) { before, after in
      let tree = CountedTree(sorted: after.lazy.map(\.key))
      return (tree.count, WalkedChanges(before: before, after: after))
    } check: { _, _, made in
      Report.keep(made.0 + made.1.removed.count)
    }
  }

  private static func standard(_ list: inout ItemList, _ workload: Workload, _ repetitions: Int) throws -> Sample {
    try timed(&list, workload, repetitions) { before, after in
      after.difference(from: before) { $0.number == $1.number && $0.salt == $1.salt }
    } check: { before, after, difference in
      let walked = WalkedChanges(before: before, after: after)
      guard difference.removals.count == walked.removed.count + walked.repositioned.count else {
        throw WrongAnswer(description: "The standard library and a walk of both lists disagree.")
      }
    }
  }

  /// Over identities alone, which it needs to be hashable.
  private static func inferring(_ list: inout ItemList, _ workload: Workload, _ repetitions: Int) throws -> Sample {
    try timed(&list, workload, repetitions, of: \.identity) { before, after in
      after.difference(from: before).inferringMoves()
    } check: { before, after, difference in
      guard before.applying(difference) == after else {
        throw WrongAnswer(description: "The standard library's difference does not lead to the new list.")
      }
    }
  }

  private static func heckel(_ list: inout ItemList, _ workload: Workload, _ repetitions: Int) throws -> Sample {
    try timed(&list, workload, repetitions) { before, after in
      HeckelChanges(before: before, after: after)
    } check: { before, after, found in
      let walked = WalkedChanges(before: before, after: after)
      guard found.removed == walked.removed, found.inserted == walked.inserted, found.changed == walked.changed,
        found.moved.isEmpty == walked.repositioned.isEmpty
      else { throw WrongAnswer(description: "The Heckel differ and a walk of both lists disagree.") }
    }
  }

  private static func timed<Found>(
    _ list: inout ItemList, _ workload: Workload, _ repetitions: Int, _ body: ([Item], [Item]) -> Found,
    check: ([Item], [Item], Found) throws -> Void
  ) rethrows -> Sample {
    try timed(&list, workload, repetitions, of: { $0 }, body, check: check)
  }

  /// Times a function of both lists.
  /// - Parameters:
  ///   - part: what the function is given of each item, taken before the clock starts.
  ///   - body: what is timed.
  ///   - check: looks at what was found, outside of the time.
  private static func timed<Part, Found>(
    _ list: inout ItemList, _ workload: Workload, _ repetitions: Int, of part: (Item) -> Part,
    _ body: ([Part], [Part]) -> Found, check: ([Part], [Part], Found) throws -> Void
  ) rethrows -> Sample {
    let stopwatch = Stopwatch()
    var flush = CacheFlush(before: list.items.count)
    var times: [Double] = []
    for repetition in 0..<repetitions + 1 {
      let before = list.items.map(part)
      list.make(list.draw(workload))
      let after = list.items.map(part)
      flush.flush()
      var found: Found?
      let time = stopwatch.time { found = body(before, after) }
      if repetition > 0 { times.append(time) }
      guard let found else { preconditionFailure("What is timed is executed.") }
      try check(before, after, found)
    }
    return Sample(times)
  }

  /// Compares with a walk of both lists, and both trees with theirs.
  private static func check(
    _ changes: IndexChanges, before: [Item], after: [Item], held: CountedTree<ResultKey>, tree: CountedTree<ResultKey>
  ) throws {
    let walked = WalkedChanges(before: before, after: after)
    guard walked.removed == changes.removed, walked.inserted == changes.inserted, walked.changed == changes.changed
    else {
      throw WrongAnswer(description: "The change details differ from a walk of both lists.")
    }
    guard changes.moved.count <= walked.repositioned.count else {
      throw WrongAnswer(description: "More objects moved than got a new key.")
    }
    guard held.count == before.count, held.elementsEqual(before.lazy.map(\.key)),
      tree.elementsEqual(after.lazy.map(\.key))
    else { throw WrongAnswer(description: "A tree does not hold the keys of its list.") }
  }

  /// Applies the change in both models.
  private static func checkApplied(_ changes: IndexChanges, _ before: [Item], _ after: [Item]) throws {
    let arrivals = changes.inserted.map { after[$0].number }
    let (old, new) = (before.map(\.number), after.map(\.number))
    guard changes.appliedInOrder(to: old, inserting: arrivals) == new,
      changes.appliedAtOnce(to: old, inserting: arrivals) == new
    else { throw WrongAnswer(description: "The change details do not lead from the old list to the new one.") }
  }
}
