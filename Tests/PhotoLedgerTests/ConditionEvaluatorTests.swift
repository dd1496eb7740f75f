import Foundation
import PhotoLedger
import Synchronization
import TestSupport
import Testing

@Suite struct ConditionEvaluatorTests {
  @Test(
    "the evaluator agrees with the model on every asset", arguments: 1...(Dose.isFull ? 4 : 1) as ClosedRange<UInt64>)
  func assets(seed: UInt64) throws {
    var random = QueryRandom(seed: seed)
    let rows = (0..<64).map { _ in random.asset() }
    let models = rows.map { QueryModel(value: Asset(row: $0, seenBy: .full, commit: 1).value(of:)) }
    let lying = rows.map { $0.bytesOffBounds() }
    var passed = 0
    for _ in 0..<2_000 {
      let condition = random.condition(for: .asset)
      let test = condition.evaluator(for: AssetRow.self)
      let lookAt = condition.evaluator(for: AssetView.self)
      for (index, row) in rows.enumerated() {
        let expected = models[index].holds(condition)
        passed += expected ? 1 : 0
        try #require(test(row) == expected, "seed \(seed): \(condition) on \(row)")
        // No asset of a library has an empty burst identifier, so bytes have no way to say so.
        guard row.burstIdentifier != "" else { continue }
        let isSeen = try row.whereItLies(in: lying[index], lookAt)
        try #require(isSeen == expected, "seed \(seed): \(condition) on the bytes of \(row)")
      }
    }
    #expect((20_000..<108_000).contains(passed), "conditions that nearly always or never hold prove little")
  }

  @Test(
    "the evaluator agrees with the model on every collection",
    arguments: 5...(Dose.isFull ? 6 : 5) as ClosedRange<UInt64>)
  func collections(seed: UInt64) throws {
    var random = QueryRandom(seed: seed)
    let rows = (0..<48).map { _ in random.collection() }
    let models = rows.map { row in
      QueryModel(
        suffix: row.kind == .album ? "/L0/040" : "/L0/020",
        value: PhotoCollection(row: row, seenBy: .full, commit: 1).value(of:))
    }
    for _ in 0..<2_000 {
      let condition = random.condition(for: .collection)
      let test = condition.evaluator(for: CollectionRow.self)
      for (row, model) in zip(rows, models) {
        let expected = model.holds(condition)
        try #require(test(row) == expected, "seed \(seed): \(condition) on \(row)")
      }
    }
  }

  @Test(
    "conditions of the wrong types have an answer too", arguments: 7...(Dose.isFull ? 8 : 7) as ClosedRange<UInt64>)
  func wrongKinds(seed: UInt64) throws {
    var random = QueryRandom(seed: seed)
    let rows = (0..<32).map { _ in random.asset() }
    let models = rows.map { QueryModel(value: Asset(row: $0, seenBy: .full, commit: 1).value(of:)) }
    for _ in 0..<3_000 {
      let key = random.one(of: QueryRandom.keys(of: .asset))
      let value = random.value(for: random.one(of: PropertyKey.allCases))
      let condition = Condition.comparison(key, random.one(of: Condition.Comparator.allCases), value)
      if key == .localIdentifier, case .text = value { continue }
      let test = condition.evaluator(for: AssetRow.self)
      for (row, model) in zip(rows, models) {
        let expected = model.holds(condition)
        try #require(test(row) == expected, "seed \(seed): \(condition) on \(row)")
      }
    }
  }

  /// A row whose texts are counted when they are read.
  private struct CountedRow: PropertyRow {
    let text: String?
    let readCount = Counter()

    final class Counter: Sendable { let value = Mutex(0) }

    static var entity: Entity { .asset }

    static func reader(of key: PropertyKey) -> PropertyReader<CountedRow> {
      .text { row in
        row.readCount.value.withLock { $0 += 1 }
        return row.text
      }
    }
  }

  @Test("IN with options reads and folds a property once, however many texts there are", arguments: ["", "NOT "])
  func foldedMembership(negation: String) throws {
    let list = (0..<100).map { "'Straße \($0)'" }.joined(separator: ", ")
    let format = "\(negation)(burstIdentifier IN[cd] {\(list)}) OR burstIdentifier ==[c] 'été'"
    let test = try Condition(format: format, for: .asset).evaluator(for: CountedRow.self)
    for (text, isIn, isSummer) in [
      ("STRASSE 99", true, false), ("strasse 100", false, false), ("ÉTÉ", false, true), ("ete", false, false),
      (nil, false, false),
    ] as [(String?, Bool, Bool)] {
      let row = CountedRow(text: text)
      #expect(test(row) == (isIn == negation.isEmpty || isSummer), "\(text ?? "no text")")
      #expect(row.readCount.value.withLock { $0 } <= 2)
    }
  }

  @Test("a comparison with a missing value is false, its negation true")
  func missingValues() {
    let row = AssetRow(
      number: 1, identifier: LocalIdentifier(high: 1, low: 2), addedDate: Date(timeIntervalSince1970: 0))
    func holds(_ condition: Condition) -> Bool { condition.evaluator(for: AssetRow.self)(row) }
    let past = PropertyValue.date(.distantPast)
    for comparator in Condition.Comparator.allCases where comparator != .notEqual {
      #expect(!holds(.comparison(.creationDate, comparator, past)))
      #expect(holds(.not(.comparison(.creationDate, comparator, past))))
    }
    #expect(holds(.comparison(.creationDate, .notEqual, past)))
    #expect(holds(.isNil(.creationDate)))
    #expect(!holds(.isPresent(.latitude)))
    #expect(holds(.pair(.latitude, .equal, .longitude)))
    #expect(!holds(.pair(.latitude, .lessOrEqual, .longitude)))
  }

  @Test("keys are those that the condition reads")
  func keys() {
    let condition = Condition.or([.not(.isNil(.latitude)), .pair(.pixelWidth, .less, .pixelHeight), .always])
    #expect(condition.keys == [.latitude, .pixelWidth, .pixelHeight])
    #expect(Condition.always.keys.isEmpty)
  }
}

extension AssetRow {
  /// Gives the row as a fetch sees it: its bytes, at a place where no word may be read whole.
  func whereItLies<Result>(_ body: (AssetView) throws -> Result) throws -> Result {
    try whereItLies(in: bytesOffBounds(), body)
  }

  /// The same with the bytes at hand.
  func whereItLies<Result>(in bytes: [UInt8], _ body: (AssetView) throws -> Result) throws -> Result {
    try bytes.withUnsafeBytes { bytes in
      try body(AssetView(number: number, bytes: UnsafeRawBufferPointer(rebasing: bytes[1...])))
    }
  }

  /// The bytes of the row after one other byte.
  func bytesOffBounds() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: byteCount)
    var span = bytes.mutableSpan
    var raw = span.mutableBytes
    write(into: &raw)
    return [0] + bytes
  }
}
