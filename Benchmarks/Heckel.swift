import PhotoLedger

// Heckel's way of comparing two lists ("A technique for isolating differences between files", 1978), which
// DifferenceKit, IGListKit and their kin use: a table of all elements by identity, then one pass over each list.
//
// Written for the comparison, with dense storage and no boxes, so that it flatters the way and not the library. It is
// given both lists; it finds removals, insertions, changes, and which of those that stayed have another position than
// the removals and insertions explain.

/// What a Heckel differ finds.
struct HeckelChanges {
  var removed: [Int] = []
  var inserted: [Int] = []
  /// In the new list.
  var changed: [Int] = []
  /// Those that stand elsewhere than removals and insertions explain, as ListDiff and IGListKit tell them: far from the
  /// fewest. One item moved to the front moves all others.
  var moved: [Relocation] = []

  init(before: [Item], after: [Item]) {
    var places = [UInt64: Int](minimumCapacity: before.count)
    for (index, item) in before.enumerated() { places[item.number] = index }
    // The place in the old list of each element of the new one, or -1.
    var origin = [Int](repeating: -1, count: after.count)
    var isKept = [Bool](repeating: false, count: before.count)
    for (index, item) in after.enumerated() {
      guard let place = places[item.number] else {
        inserted.append(index)
        continue
      }
      origin[index] = place
      isKept[place] = true
      if before[place].revision != item.revision { changed.append(index) }
    }
    var offsets = [Int](repeating: 0, count: before.count)
    for index in before.indices {
      offsets[index] = removed.count
      if !isKept[index] { removed.append(index) }
    }
    findMoved(origin, offsets)
  }

  private mutating func findMoved(_ origin: [Int], _ offsets: [Int]) {
    var insertedBefore = 0
    for (index, place) in origin.enumerated() {
      if place < 0 {
        insertedBefore += 1
      } else if place - offsets[place] + insertedBefore != index {
        moved.append(Relocation(before: place, after: index))
      }
    }
  }
}
