import Foundation
import PhotoLedger
import TestSupport
import Testing

@Suite struct ConditionNormalFormTests {
  static let favorite = Condition.isTrue(.isFavorite)
  static let wide = Condition.comparison(.pixelWidth, .greater, .integer(100))
  static let dated = Condition.comparison(.creationDate, .less, .date(Date(timeIntervalSinceReferenceDate: 5)))

  @Test("a fold of many names equals the flat condition, on a small stack; what nests too deep is rejected")
  func folds() async throws {
    // Half of the names on half of the stack at the usual dose.
    let half = Dose.isFull ? 1 : 2
    let outcome = await withCheckedContinuation { continuation in
      let thread = Thread {
        let names = (0..<3_000 / half).map {
          Condition.text(.originalFilename, .equals, "IMG_\($0).jpg", .caseInsensitive)
        }
        let fold = names.reduce(Condition.never) { .or([$0, $1]) }
        let isFlat = fold.normalized() == Condition.or(names).normalized()
        let isChecked = (try? fold.check(for: .asset)) != nil
        _ = fold.evaluator(for: AssetRow.self)
        continuation.resume(returning: isFlat && isChecked)
      }
      thread.stackSize = (4 << 20) / half
      thread.start()
    }
    #expect(outcome)
    var deep = Self.favorite
    for _ in 0..<600 { deep = .or([.and([deep, Self.wide]), Self.dated]) }
    let error = #expect(throws: FetchError.self) { try deep.check(for: .asset) }
    #expect(error?.code == .malformedPredicate && error?.description.contains("1000 levels") == true)
  }

  @Test(
    "spellings of one query are equal in normal form",
    arguments: [
      (.and([favorite, wide]), .and([wide, favorite, wide])),
      (.and([favorite, .and([wide, dated])]), .and([.and([favorite, wide]), dated])),
      (.not(.not(dated)), dated),
      (.not(.and([favorite, dated])), .or([.not(dated), .comparison(.isFavorite, .equal, .integer(0))])),
      (.not(favorite), .comparison(.isFavorite, .notEqual, .bool(true))),
      (.not(wide), .comparison(.pixelWidth, .lessOrEqual, .integer(100))),
      (.and([favorite, .always]), favorite),
      (.and([favorite, .never]), .never),
      (.or([]), .never),
      (.comparison(.pixelWidth, .equal, .double(100)), .comparison(.pixelWidth, .equal, .integer(100))),
      (.comparison(.pixelWidth, .less, .double(99.5)), .comparison(.pixelWidth, .lessOrEqual, .integer(99))),
      (.comparison(.duration, .equal, .double(-0.0)), .comparison(.duration, .equal, .integer(0))),
      (.comparison(.isFavorite, .equal, .integer(2)), .never),
      (.isNil(.isFavorite), .never),
      (.comparison(.mediaType, .equal, .text("x")), .never),
      (.comparison(.duration, .less, .null), .never),
      (.oneOf(.mediaType, [.integer(2), .integer(1), .double(2)]), .oneOf(.mediaType, [.integer(1), .integer(2)])),
      (
        .or([.comparison(.mediaType, .equal, .integer(2)), .comparison(.mediaType, .equal, .integer(1))]),
        .oneOf(.mediaType, [.integer(1), .integer(2)])
      ),
      (
        .and([.comparison(.mediaType, .notEqual, .integer(2)), .comparison(.mediaType, .notEqual, .integer(1))]),
        .not(.oneOf(.mediaType, [.integer(1), .integer(2)]))
      ),
      (.oneOf(.localIdentifier, []), .never),
      (.bits(.mediaSubtypes, mask: 8, .equal, 8), .bits(.mediaSubtypes, mask: 8, .notEqual, 0)),
      (.bits(.mediaSubtypes, mask: 8, .equal, 4), .never),
      (.not(.bits(.mediaSubtypes, mask: 8, .notEqual, 0)), .bits(.mediaSubtypes, mask: 8, .equal, 0)),
      (.pair(.pixelWidth, .greater, .pixelHeight), .pair(.pixelHeight, .less, .pixelWidth)),
      (.pair(.latitude, .equal, .latitude), .always),
      (.pair(.latitude, .lessOrEqual, .latitude), .isPresent(.latitude)),
      (.text(.burstIdentifier, .contains, "", []), .isPresent(.burstIdentifier)),
    ] as [(Condition, Condition)])
  func equal(one: Condition, two: Condition) {
    #expect(one.normalized() == two.normalized())
    #expect(one.normalized().hashValue == two.normalized().hashValue)
  }

  @Test("NOT of an order stays where the property may be missing")
  func notOfOrder() {
    #expect(Condition.not(Self.dated).normalized() == .not(Self.dated))
  }

  @Test("the normal form of a normal form is itself", arguments: [11, 12] as [UInt64])
  func idempotent(seed: UInt64) throws {
    var random = QueryRandom(seed: seed)
    for entity in [Entity.asset, .collection] {
      for _ in 0..<(Dose.isFull ? 3_000 : 1_000) {
        let normal = random.condition(for: entity).normalized()
        try #require(normal.normalized() == normal, "seed \(seed): \(normal)")
        try normal.check(for: entity)
      }
    }
  }
}
