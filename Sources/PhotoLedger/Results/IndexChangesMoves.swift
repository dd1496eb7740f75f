// Which objects move.
//
// Take the inserted and removed objects away and both lists hold the same *common* objects: the untouched, in the same
// order on both sides, and the repositioned. A common object's ordinal among the common ones is its *common place*,
// one in before and one in after.
//
// For `moved` the untouched stand still. They cut both lists into gaps; a repositioned object that changes its gap
// moves; of those that stay in theirs, a longest increasing run stays. Objects of different gaps are in the same order
// in both lists, so one run over all of them is the same as one for each gap.
//
// For `moves` the inserted stand still, at the same positions in B and in after. An inserted object with b common
// places before it is a *boundary* b; a common object that has places on both sides of a boundary must move:
//
//     place in before  <  b  ≤  place in after      or the other way round.
//
// The untouched between two touched ones form a *block*: they share one shift, the number of repositioned objects that
// passed from behind them to before them less those that passed the other way. Inside a block with shift s > 0 exactly
// the places b - s ..< b cross boundary b, so the crossing ones are found by arithmetic, range by range. The rest stays
// in complete blocks: there is nothing between two objects of a block in either list, so a run that keeps one of them
// can keep them all. A heaviest increasing run over the blocks and the repositioned objects decides which stay; at
// equal weight it keeps the more untouched ones.

extension TouchedPositions {
  /// The fewest repositioned objects whose moving, from before to after, leaves the rest in order.
  func moved() -> [Relocation] {
    var moved: [Relocation] = []
    var staying: [Relocation] = []
    for object in repositioned {
      let gapBefore = touchedBefore.freePlaces(before: object.before)
      let gapAfter = touchedAfter.freePlaces(before: object.after)
      if gapBefore == gapAfter { staying.append(object) } else { moved.append(object) }
    }
    if staying.count < 2 { return moved.count < 2 ? moved : moved.sorted { $0.after < $1.after } }
    let run = longestIncreasingRun(staying.map(\.after))
    var next = 0
    for (index, object) in staying.enumerated() {
      if next < run.count, run[next] == index { next += 1 } else { moved.append(object) }
    }
    return moved.sorted { $0.after < $1.after }
  }

  /// The moves from B to after with the inserted objects as fixed points.
  func moves() -> [Move] {
    if let object = repositioned.first, repositioned.count == 1, inserted.count == 0 {
      let place = removed.freePlaces(before: object.before)
      return place == object.after ? [] : [Move(from: place, to: object.after)]
    }
    var sieve = BoundarySieve(boundaries: inserted)
    let objects = repositioned.map { object in
      Block(
        before: removed.freePlaces(before: object.before), after: inserted.freePlaces(before: object.after),
        count: 1, isTouched: true)
    }
    var blocks = objects
    blocks += untouchedBlocks(objects)
    for block in blocks { sieve.pass(block) }
    sieve.staying.sort { $0.before < $1.before }
    let run = heaviestIncreasingRun(sieve.staying)
    var next = 0
    for (index, block) in sieve.staying.enumerated() {
      if next < run.count, run[next] == index { next += 1 } else { sieve.moving.append(block) }
    }
    var moves: [Move] = []
    for block in sieve.moving {
      for offset in 0..<block.count {
        let (from, to) = (block.before + offset, block.after + offset)
        moves.append(Move(from: inserted.freePlace(from), to: inserted.freePlace(to)))
      }
    }
    return moves.sorted { $0.to < $1.to }
  }

  /// The untouched objects in blocks of equal shift.
  private func untouchedBlocks(_ repositioned: [Block]) -> [Block] {
    // In each list, a repositioned object has its common place less the repositioned ones before it untouched ones
    // before it. Blocks end at these ordinals.
    let cutsBefore = repositioned.enumerated().map { $1.before - $0 }
    let cutsAfter = repositioned.map(\.after).sorted().enumerated().map { $1 - $0 }
    var blocks: [Block] = []
    var (passedBefore, passedAfter, start) = (0, 0, 0)
    while start < untouchedCount {
      while passedBefore < cutsBefore.count, cutsBefore[passedBefore] <= start { passedBefore += 1 }
      while passedAfter < cutsAfter.count, cutsAfter[passedAfter] <= start { passedAfter += 1 }
      var end = untouchedCount
      if passedBefore < cutsBefore.count { end = min(end, cutsBefore[passedBefore]) }
      if passedAfter < cutsAfter.count { end = min(end, cutsAfter[passedAfter]) }
      blocks.append(
        Block(before: start + passedBefore, after: start + passedAfter, count: end - start, isTouched: false))
      start = end
    }
    return blocks
  }
}

/// Common objects that stand side by side in both lists; places count common objects only.
private struct Block {
  /// The first object's common place in the old list.
  var before: Int
  /// The first object's common place in the new list.
  var after: Int
  var count: Int
  var isTouched: Bool

  func part(_ range: Range<Int>) -> Block {
    Block(before: before + range.lowerBound, after: after + range.lowerBound, count: range.count, isTouched: isTouched)
  }
}

/// Separates the objects that must cross an inserted one from those that need not.
private struct BoundarySieve {
  let boundaries: SortedPositions
  var staying: [Block] = []
  var moving: [Block] = []

  init(boundaries: SortedPositions) { self.boundaries = boundaries }

  /// The first boundary at or above a common place: inserted object i has members[i] - i common places before it.
  private func boundary(from place: Int) -> Int? {
    let members = boundaries.members
    let index = members.prefixCount(enumerated: { index, member in member - index < place })
    return index < members.count ? members[index] - index : nil
  }

  /// Cuts a block into what crosses a boundary and what does not.
  mutating func pass(_ block: Block) {
    let shift = block.after - block.before
    // An object at lower place p (of its two) crosses boundary b if p < b ≤ p + |shift|.
    let lowest = min(block.before, block.after)
    var offset = 0
    while shift != 0, offset < block.count, let boundary = boundary(from: lowest + offset + 1) {
      let first = max(offset, boundary - abs(shift) - lowest)
      guard first < block.count else { break }
      let crossing = first..<min(block.count, boundary - lowest)
      if offset < crossing.lowerBound { staying.append(block.part(offset..<crossing.lowerBound)) }
      moving.append(block.part(crossing))
      offset = crossing.upperBound
    }
    if offset < block.count { staying.append(block.part(offset..<block.count)) }
  }
}

/// Indexes of a longest strictly increasing subsequence, ascending.
///
/// - Complexity: O(n log n)
package func longestIncreasingRun(_ values: [Int]) -> [Int] {
  var tails: [Int] = []  // tails[l]: index of the least value that ends a run of length l + 1
  var previous = [Int](repeating: -1, count: values.count)
  for (index, value) in values.enumerated() {
    let length = tails.prefixCount { values[$0] < value }
    if length > 0 { previous[index] = tails[length - 1] }
    if length == tails.count { tails.append(index) } else { tails[length] = index }
  }
  var run: [Int] = []
  var index = tails.last ?? -1
  while index >= 0 {
    run.append(index)
    index = previous[index]
  }
  return run.reversed()
}

/// Indexes of a run of blocks, ascending in `after`, that keeps the most objects and, at equal numbers, the most
/// untouched ones; the blocks must ascend in `before`.
///
/// - Complexity: O(n log n)
private func heaviestIncreasingRun(_ blocks: [Block]) -> [Int] {
  let order = blocks.indices.sorted { blocks[$0].after < blocks[$1].after }
  var place = [Int](repeating: 0, count: blocks.count)
  for (rank, index) in order.enumerated() { place[index] = rank }
  var best = PrefixMaximum(count: blocks.count)
  var previous = [Int](repeating: -1, count: blocks.count)
  for (index, block) in blocks.enumerated() {
    let (weight, last) = best.maximum(before: place[index])
    previous[index] = last
    let untouched = block.isTouched ? 0 : block.count
    let own = PrefixMaximum.Weight(objects: weight.objects + block.count, untouched: weight.untouched + untouched)
    best.raise(place[index], to: own, index: index)
  }
  var run: [Int] = []
  var index = best.maximum(before: blocks.count).index
  while index >= 0 {
    run.append(index)
    index = previous[index]
  }
  return run.reversed()
}

/// A binary indexed tree of maxima over prefixes.
private struct PrefixMaximum {
  struct Weight: Comparable {
    var objects = 0
    var untouched = 0

    static func < (left: Weight, right: Weight) -> Bool {
      (left.objects, left.untouched) < (right.objects, right.untouched)
    }
  }

  private var entries: [(weight: Weight, index: Int)]

  init(count: Int) { entries = Array(repeating: (Weight(), -1), count: count + 1) }

  /// The greatest weight set at a place below `place`, and whose it is (-1: none).
  func maximum(before place: Int) -> (weight: Weight, index: Int) {
    var (best, node) = (entries[0], place)
    while node > 0 {
      if best.weight < entries[node].weight { best = entries[node] }
      node &= node - 1
    }
    return best
  }

  mutating func raise(_ place: Int, to weight: Weight, index: Int) {
    var node = place + 1
    while node < entries.count {
      if entries[node].weight < weight { entries[node] = (weight, index) }
      node += node & -node
    }
  }
}
