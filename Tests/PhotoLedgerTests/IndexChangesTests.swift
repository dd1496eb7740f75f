import PhotoLedger
import TestSupport
import Testing

/// The algebra of positions against a walk of both lists.
@Suite struct IndexChangesTests {
  #if DEBUG
    /// Cases for each seed; at the full dose 62 000 in all in a debug build, 310 000 in a release build.
    static let cases = 2_000
  #else
    static let cases = 10_000
  #endif

  @Test("random changes of short lists are exact and minimal (CD-04 … CD-13)", arguments: 0..<(Dose.isFull ? 20 : 4))
  func exact(seed: UInt64) {
    var random = IndexChangesRandom(seed)
    for number in 0..<Self.cases {
      let model = IndexChangesModel(size: number % 8 == 0 ? 12 : 6, using: &random)
      if let defect = model.defect(in: IndexChanges(model.touched)) {
        Issue.record("seed \(seed), case \(number): \(defect) in \(model)")
        return
      }
    }
  }

  @Test("what a window shows is exact too (CD-19)", arguments: 0..<(Dose.isFull ? 10 : 4))
  func windows(seed: UInt64) {
    var random = IndexChangesRandom(1_000 + seed)
    for number in 0..<Self.cases {
      let model = IndexChangesModel(size: 7, using: &random)
      let offset = Int.random(in: 0...5, using: &random)
      let limit = Bool.random(using: &random) ? Int.random(in: 0...8, using: &random) : nil
      let old = TouchedPositions.window(offset: offset, limit: limit, count: model.before.count)
      var new = TouchedPositions.window(offset: offset, limit: limit, count: model.after.count)
      // Every fourth window is also moved by its observer.
      if number % 4 == 0 { new = Int.random(in: 0...new.lowerBound, using: &random)..<new.upperBound }
      let seen = model.windowed(old, new)
      let touched = model.touched.windowed(before: old, after: new)
      if let defect = seen.defect(in: IndexChanges(touched)) {
        Issue.record("seed \(seed), case \(number), \(old) to \(new): \(defect) in \(model)")
        return
      }
    }
  }

  @Test("any two lists are compared exactly, with the fewest moved (CD-20)", arguments: 0..<4)
  func between(seed: UInt64) {
    var random = IndexChangesRandom(2_000 + seed)
    for number in 0..<Self.cases / 4 {
      var model = IndexChangesModel(size: 7, using: &random)
      if number % 2 == 0 { model.after.shuffle(using: &random) }
      let changes = IndexChanges.between(before: model.before, after: model.after, changed: model.altered)
      if let defect = model.defect(in: changes, allMayMove: true) {
        Issue.record("seed \(seed), case \(number): \(defect) in \(model)")
        return
      }
    }
  }

  @Test("long lists are exact", arguments: 0..<4)
  func long(seed: UInt64) {
    var random = IndexChangesRandom(3_000 + seed)
    for _ in 0..<20 {
      let model = IndexChangesModel(size: 400, using: &random)
      let changes = IndexChanges(model.touched)
      let arrivals = changes.inserted.map { model.after[$0] }
      #expect(changes.appliedInOrder(to: model.before, inserting: arrivals) == model.after)
      #expect(changes.appliedAtOnce(to: model.before, inserting: arrivals) == model.after)
      #expect(changes.moved.count <= model.rekeyed.count)
    }
  }

  @Test("the example of the documentation is correct")
  func example() {
    let changes = IndexChanges(
      TouchedPositions(
        beforeCount: 7, afterCount: 7, removed: [2], inserted: [0],
        repositioned: [Relocation(before: 5, after: 3)], changed: [2, 3]))
    #expect(changes.changed == [2, 3])
    #expect(changes.changedBefore == [1, 5])
    #expect(changes.moves == [Move(from: 5, to: 3)])
    #expect(changes.moved == [Relocation(before: 5, after: 3)])
    #expect(changes.appliedInOrder(to: Array("abcdefg"), inserting: ["x"]) == Array("xabfdeg"))
  }

  @Test("an untouched object that must pass an inserted one is in moves and never in moved")
  func forced() {
    let changes = IndexChanges(
      TouchedPositions(
        beforeCount: 4, afterCount: 5, removed: [], inserted: [2], repositioned: [Relocation(before: 0, after: 4)]))
    #expect(changes.moves == [Move(from: 3, to: 1), Move(from: 0, to: 4)])
    #expect(changes.moved == [Relocation(before: 0, after: 4)])
    #expect(changes.appliedInOrder(to: Array("abcd"), inserting: ["x"]) == Array("bcxda"))
  }

  @Test("one insertion at the head of a full window removes its last object (CD-19)")
  func head() {
    let whole = TouchedPositions(beforeCount: 1_000_000, afterCount: 1_000_001, removed: [], inserted: [0])
    let changes = IndexChanges(whole.windowed(offset: 0, limit: 50))
    #expect(changes.inserted == [0])
    #expect(changes.removed == [49])
    #expect(!changes.hasMoves)
  }

  @Test("one object from the end to the front of a million is one move")
  func endToFront() {
    let changes = IndexChanges(
      TouchedPositions(
        beforeCount: 1_000_000, afterCount: 1_000_000, removed: [], inserted: [],
        repositioned: [Relocation(before: 999_999, after: 0)], changed: [0]))
    #expect(changes.moves == [Move(from: 999_999, to: 0)])
    #expect(changes.moved == [Relocation(before: 999_999, after: 0)])
    #expect(changes.changedBefore == [999_999])
  }

  @Test("a new key that leaves the object in its place is not a move")
  func inPlace() {
    let changes = IndexChanges(
      TouchedPositions(
        beforeCount: 9, afterCount: 9, removed: [], inserted: [], repositioned: [Relocation(before: 4, after: 4)]))
    #expect(changes.isEmpty)
    #expect(changes.moved.isEmpty)
  }

  @Test("positions become ranges and back")
  func ranges() {
    #expect([1, 2, 3, 7].consecutiveRanges == [1..<4, 7..<8])
    #expect([Int]().consecutiveRanges.isEmpty)
    #expect(Array([0, 4, 5].indexSet) == [0, 4, 5])
  }

  @Test("impossible positions trap")
  func misuse() async {
    await #expect(processExitsWith: .failure) {
      _ = TouchedPositions(beforeCount: 3, afterCount: 3, removed: [1], inserted: [])
    }
    await #expect(processExitsWith: .failure) {
      _ = TouchedPositions(beforeCount: 3, afterCount: 2, removed: [3], inserted: [])
    }
    await #expect(processExitsWith: .failure) {
      _ = TouchedPositions(beforeCount: 3, afterCount: 1, removed: [2, 1], inserted: [])
    }
  }
}
