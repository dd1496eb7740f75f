import CountedTree
import PhotoLedger
import TestSupport
import Testing

/// Edits of keys to a tree, and the change they make.
@Suite struct IndexChangesEditsTests {
  @Test(
    "edits applied to a tree give the change that a comparison of both lists finds",
    arguments: 0..<(Dose.isFull ? 12 : 5))
  func edits(seed: UInt64) throws {
    var random = IndexChangesRandom(4_000 + seed)
    for number in 0..<200 {
      let model = IndexChangesModel(size: number % 4 == 0 ? 60 : 8, using: &random)
      // Keys are chosen so that sorting by key gives the model's lists; an untouched object keeps its key.
      let (old, new) = keys(of: model)
      let identities = Set(model.before).union(model.after).shuffled(using: &random)
      let edits = identities.compactMap { identity -> KeyTouch<Int>? in
        let edit = KeyTouch(old: old[identity], new: new[identity], isVisiblyChanged: model.altered.contains(identity))
        return edit.old == edit.new && !edit.isVisiblyChanged ? nil : edit
      }
      var tree = CountedTree(sorted: model.before.compactMap { old[$0] })
      let held = tree
      let changes = IndexChanges(try tree.apply(edits))
      #expect(Array(tree) == model.after.compactMap { new[$0] })
      #expect(Array(held) == model.before.compactMap { old[$0] })
      if let defect = model.defect(in: changes) {
        Issue.record("seed \(seed), case \(number): \(defect) in \(model)")
        return
      }
    }
  }

  /// Distinct keys for both lists, equal for an untouched object: its place in a merge of the two lists.
  private func keys(of model: IndexChangesModel) -> (old: [Int: Int], new: [Int: Int]) {
    var (old, new): ([Int: Int], [Int: Int]) = ([:], [:])
    let fixed = Set(model.before).intersection(model.after).subtracting(model.rekeyed)
    var (left, right, next) = (model.before[...], model.after[...], 0)
    while let identity = left.first ?? right.first {
      if left.first == identity, !fixed.contains(identity) {
        old[identity] = next
        left.removeFirst()
      } else if let other = right.first, !fixed.contains(other) {
        new[other] = next
        right.removeFirst()
      } else {
        precondition(left.first == right.first, "Untouched objects stand in the same order.")
        (old[identity], new[identity]) = (next, next)
        left.removeFirst()
        right.removeFirst()
      }
      next += 1
    }
    return (old, new)
  }

  @Test("an edit that contradicts the tree is an error that names it, alone or among others", arguments: [0, 2])
  func contradictions(others: Int) {
    // Each object stands at the far end, where a rank of an absent key would be outside the list.
    let bad: [(edit: KeyTouch<Int>, isAbsent: Bool)] = [
      (KeyTouch(old: 9, new: nil, isVisiblyChanged: false), true),
      (KeyTouch(old: nil, new: 4, isVisiblyChanged: false), false),
      (KeyTouch(old: 9, new: 7, isVisiblyChanged: true), true),
      (KeyTouch(old: 3, new: 4, isVisiblyChanged: true), false),
      (KeyTouch(old: 9, new: 9, isVisiblyChanged: true), true),
    ]
    let good = [KeyTouch(old: 1, new: nil, isVisiblyChanged: false), KeyTouch(old: 2, new: 6, isVisiblyChanged: true)]
    for (edit, isAbsent) in bad {
      var tree = CountedTree(sorted: [1, 2, 3, 4])
      let expected: TreeContradiction = isAbsent ? .absent(others) : .present(others)
      #expect(throws: expected) { try tree.apply(Array(good.prefix(others)) + [edit]) }
      #expect(tree.defects() == [])
    }
  }
}
