import PhotoLedger
import TestSupport

/// A random change of a list of identities, and what a walk of both lists says about it.
///
/// Nothing here shares code with `IndexChanges`: positions are looked up object by object.
struct IndexChangesModel {
  var before: [Int] = []
  var after: [Int] = []
  /// Identities that got another sort key, those whose properties changed.
  var rekeyed: Set<Int> = []
  var altered: Set<Int> = []

  /// Draws a change of at most `size` objects.
  init(size: Int, using random: inout some RandomNumberGenerator) {
    before = Array(0..<Int.random(in: 0...size, using: &random)).shuffled(using: &random)
    let (removal, rekeying) = (Int.random(in: 0...4, using: &random), Int.random(in: 0...4, using: &random))
    var arrivals: [Int] = []
    for identity in before {
      if Int.random(in: 0..<10, using: &random) < removal { continue }
      if Int.random(in: 0..<10, using: &random) < rekeying {
        rekeyed.insert(identity)
        arrivals.append(identity)
      } else {
        after.append(identity)
      }
    }
    for new in 0..<Int.random(in: 0...4, using: &random) where before.count + new < size + 3 {
      arrivals.append(10_000 + new)
    }
    for identity in arrivals.shuffled(using: &random) {
      after.insert(identity, at: Int.random(in: 0...after.count, using: &random))
    }
    for identity in after where Int.random(in: 0..<4, using: &random) == 0 { altered.insert(identity) }
  }

  init(before: [Int], after: [Int], rekeyed: Set<Int>, altered: Set<Int> = []) {
    (self.before, self.after, self.rekeyed, self.altered) = (before, after, rekeyed, altered)
  }

  var touched: TouchedPositions {
    let common = Set(before).intersection(after)
    return TouchedPositions(
      beforeCount: before.count, afterCount: after.count,
      removed: before.indices.filter { !common.contains(before[$0]) },
      inserted: after.indices.filter { !common.contains(after[$0]) },
      repositioned: common.intersection(rekeyed).map { identity in
        Relocation(before: before.firstIndex(of: identity)!, after: after.firstIndex(of: identity)!)
      },
      changed: after.indices.filter { altered.contains(after[$0]) })
  }

  /// The same change seen through windows.
  func windowed(_ old: Range<Int>, _ new: Range<Int>) -> IndexChangesModel {
    IndexChangesModel(before: Array(before[old]), after: Array(after[new]), rekeyed: rekeyed, altered: altered)
  }

  /// The first thing that is wrong with a change; nil if it is right.
  func defect(in changes: IndexChanges, allMayMove: Bool = false) -> String? {
    let common = Set(before).intersection(after)
    let arrivals = changes.inserted.map { after[$0] }
    if changes.removed != before.indices.filter({ !common.contains(before[$0]) }) { return "removed" }
    if changes.inserted != after.indices.filter({ !common.contains(after[$0]) }) { return "inserted" }
    let changed = common.intersection(altered)
    if changes.changed != after.indices.filter({ changed.contains(after[$0]) }) { return "changed" }
    if changes.changedBefore != before.indices.filter({ changed.contains(before[$0]) }) { return "changedBefore" }
    if changes.appliedInOrder(to: before, inserting: arrivals) != after { return "applied in order" }
    if changes.appliedAtOnce(to: before, inserting: arrivals) != after { return "applied at once" }
    return defectInMoves(changes, common) ?? defectInMoved(changes, common, allMayMove: allMayMove)
  }

  private func defectInMoves(_ changes: IndexChanges, _ common: Set<Int>) -> String? {
    var middle = before.filter { common.contains($0) }
    for position in changes.inserted { middle.insert(after[position], at: position) }
    if changes.hasMoves != (middle != after) { return "hasMoves" }
    for move in changes.moves where middle[move.from] != after[move.to] { return "a move of another object" }
    for move in changes.moves where changes.inserted.contains(move.to) { return "an inserted object moved" }
    // Per gap between inserted positions, the longest run of objects that are in it on both sides.
    var places: [Int: Int] = [:]
    for (position, identity) in after.enumerated() { places[identity] = position }
    func gap(_ position: Int) -> Int { changes.inserted.count { $0 < position } }
    var staying = 0
    for number in 0...changes.inserted.count {
      let inGap = middle.indices.filter { common.contains(middle[$0]) && gap($0) == number }
      staying += Self.longestRun(inGap.compactMap { places[middle[$0]] }.filter { gap($0) == number })
    }
    return changes.moves.count == common.count - staying ? nil : "not the fewest moves"
  }

  private func defectInMoved(_ changes: IndexChanges, _ common: Set<Int>, allMayMove: Bool) -> String? {
    for move in changes.moved where before[move.before] != after[move.after] { return "another object moved" }
    let movable = common.filter { allMayMove || rekeyed.contains($0) }.sorted()
    if changes.moved.contains(where: { !movable.contains(before[$0.before]) }) { return "an untouched object moved" }
    // The smallest set of movable objects without which both lists are in the same order.
    let (old, new) = (before.filter { common.contains($0) }, after.filter { common.contains($0) })
    func mask(_ list: [Int]) -> [Int] { list.map { identity in movable.firstIndex(of: identity).map { 1 << $0 } ?? 0 } }
    let (oldMask, newMask) = (mask(old), mask(new))
    var fewest = Int.max
    for subset in 0..<(1 << movable.count) where subset.nonzeroBitCount < fewest {
      if Self.agree(old, oldMask, new, newMask, without: subset) { fewest = subset.nonzeroBitCount }
    }
    return changes.moved.count == fewest ? nil : "not the fewest moved: \(changes.moved.count) for \(fewest)"
  }

  /// Whether two lists are the same in order when the objects of a subset are left out.
  private static func agree(
    _ old: [Int], _ oldMask: [Int], _ new: [Int], _ newMask: [Int], without subset: Int
  ) -> Bool {
    var (left, right) = (0, 0)
    while true {
      while left < old.count, oldMask[left] & subset != 0 { left += 1 }
      while right < new.count, newMask[right] & subset != 0 { right += 1 }
      guard left < old.count, right < new.count else { return left == old.count && right == new.count }
      if old[left] != new[right] { return false }
      left += 1
      right += 1
    }
  }

  /// The length of a longest increasing subsequence, by comparing all pairs.
  private static func longestRun(_ values: [Int]) -> Int {
    var lengths: [Int] = []
    for (index, value) in values.enumerated() {
      lengths.append(1 + ((0..<index).filter { values[$0] < value }.map { lengths[$0] }.max() ?? 0))
    }
    return lengths.max() ?? 0
  }
}

/// A repeatable source of randomness (SplitMix64).
struct IndexChangesRandom: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}
