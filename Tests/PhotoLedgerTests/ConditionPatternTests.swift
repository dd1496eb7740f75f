import Foundation
import TestSupport
import Testing

@testable import PhotoLedger

@Suite struct ConditionPatternTests {
  @Test("expressions match what Swift's own match", arguments: 51...(Dose.isFull ? 52 : 51) as ClosedRange<UInt64>)
  func agrees(seed: UInt64) throws {
    var random = QueryRandom(seed: seed)
    var fitting = 0
    for _ in 0..<1_500 {
      let pattern = expression(3, &random)
      let ours = try TextPattern(regularExpression: pattern, options: [])
      let theirs = try Regex(pattern)
      for _ in 0..<12 {
        let text = String(
          (0..<Int.random(in: 0...5, using: &random)).map { _ in random.one(of: ["a", "b", "c", "1"]) as Character })
        let fits = try theirs.wholeMatch(in: text) != nil
        fitting += fits ? 1 : 0
        try #require(ours.fits(text) == fits, "seed \(seed): \(pattern) on '\(text)'")
      }
    }
    #expect(fitting > 1_000)
  }

  private func expression(_ depth: Int, _ random: inout QueryRandom) -> String {
    let atoms = ["a", "b", ".", "[ab]", "[^a]", "[a-c]", "\\d", "\\w"]
    guard depth > 0 else { return random.one(of: atoms) }
    let part = { (random: inout QueryRandom) in self.expression(depth - 1, &random) }
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return part(&random) + part(&random)
    case 1: return "(\(part(&random))|\(part(&random)))"
    case 2: return "(?:\(part(&random)))" + random.one(of: ["*", "+", "?", "{2}", "{1,}", "{0,2}", "*?"])
    case 3: return part(&random) + part(&random) + part(&random)
    default: return random.one(of: atoms)
    }
  }

  @Test("members of a set are folded as the text is", arguments: ["Été", "ete", "ÉTÉ"])
  func foldedSets(text: String) throws {
    let options: Condition.TextOptions = [.caseInsensitive, .diacriticInsensitive]
    for pattern in ["[é]t[e]", "[É]T[É]", "été"] {
      #expect(try TextPattern(regularExpression: pattern, options: options).fits(text.folded(options)), "\(pattern)")
    }
  }

  @Test("alternatives side by side are not nesting")
  func manyAlternatives() throws {
    let pattern = (0..<200).map { "a\($0)" }.joined(separator: "|")
    let compiled = try TextPattern(regularExpression: pattern, options: [])
    #expect(compiled.fits("a0") && compiled.fits("a199") && !compiled.fits("a200"))
  }

  @Test("a pattern that other engines evaluate for years is answered at once")
  func linear() throws {
    let text = String(repeating: "a", count: 4_000)
    #expect(try !TextPattern(regularExpression: "(a+)+b", options: []).fits(text))
    #expect(try !TextPattern(regularExpression: "(a|a)*(a|a)*(a|a)*b", options: []).fits(text))
    #expect(try !TextPattern(wildcards: String(repeating: "*a", count: 50) + "b", options: []).fits(text))
  }

  @Test(
    "options fold letters, in sets too",
    arguments: [("ÉTÉ", "été", true), ("[a-z]+", "ABC", true), ("[^a]", "A", false), ("\\D", "x", true)])
  func options(pattern: String, text: String, fits: Bool) {
    #expect(TextTest(.matches, pattern, [.caseInsensitive, .diacriticInsensitive]).holds(text) == fits)
  }

  @Test(
    "wildcards stand for runs and single characters",
    arguments: [
      ("*", "", true), ("?", "", false), ("a*c", "abbc", true), ("a*c", "abbd", false), ("a\\*c", "a*c", true),
      ("a\\*c", "abc", false), ("?\u{301}", "é", false), ("????", "日本語字", true), ("**a**", "bab", true),
      ("a**\\*", "ab*", true), ("a**\\*", "ab", false), ("*?*", "", false), ("**", "", true),
    ])
  func wildcards(pattern: String, text: String, fits: Bool) throws {
    #expect(try TextPattern(wildcards: pattern, options: []).fits(text) == fits)
  }

  @Test(
    "ranges of a set are folded as the text is", arguments: [("[à-ý]+", "é", true), ("[à-ý]+", "z", false)])
  func foldedRanges(pattern: String, text: String, fits: Bool) {
    #expect(TextTest(.matches, pattern, [.diacriticInsensitive]).holds(text) == fits)
    let both: Condition.TextOptions = [.caseInsensitive, .diacriticInsensitive]
    #expect(TextTest(.matches, pattern.uppercased(), both).holds(text) == fits)
  }

  @Test(
    "what is checked is what is compiled: patterns too long after folding, a long LIKE and a large set are rejected",
    arguments: [
      ("MATCHES[c]", "ß{3000}"), ("MATCHES[cd]", "(ﬁ|ŉ){2000}"), ("LIKE", String(repeating: "*?", count: 2_000)),
      ("LIKE[c]", String(repeating: "ß", count: 3_000)),
      ("MATCHES", "[" + String(repeating: "a-b", count: 300) + "]"),
      // A range counts as a step, since each is compared with each character.
      ("MATCHES", "[a-z]{3000}"), ("MATCHES", "([^!-/:-@]?){1500}"),
      // These cost much although little remains of them.
      ("MATCHES", String(repeating: "a{4000}{0}", count: 100)),
      ("MATCHES", "a{4000}" + String(repeating: "{1}", count: 100)),
      ("MATCHES", [String](repeating: "a{4000}", count: 1_000).joined(separator: "|")),
      ("MATCHES[d]", String(repeating: "[\u{100}-\u{4ff}]?", count: 300)),
    ])
  func checkedAsCompiled(test: String, pattern: String) {
    for left in ["burstIdentifier", "'a'"] {
      let error = #expect(throws: FetchError.self) {
        try Condition(format: "\(left) \(test) '\(pattern)'", for: .asset)
      }
      #expect(error?.code == .malformedPredicate, "\(left)")
    }
  }

  @Test(
    "a text to look for is as long as a pattern may be, counted as it is compared",
    arguments: ["CONTAINS", "BEGINSWITH", "ENDSWITH"])
  func constantLength(test: String) throws {
    func check(_ options: String, _ text: String) throws {
      try Condition(format: "burstIdentifier \(test)\(options) '\(text)'", for: .asset).check(for: .asset)
    }
    try check("", String(repeating: "é", count: 4_095))
    try check("", String(repeating: "ß", count: 3_000))
    for (options, text) in [("", String(repeating: "é", count: 4_096)), ("[c]", String(repeating: "ß", count: 3_000))] {
      let error = #expect(throws: FetchError.self) { try check(options, text) }
      #expect(error?.code == .malformedPredicate)
    }
    let text = String(repeating: "a", count: 70_000)
    try Condition(format: "burstIdentifier ==[c] '\(text)'", for: .asset).check(for: .asset)
  }

  @Test("a smart album of earlier versions is fetched with a text of any length, and none is created with one (AL-07)")
  func storedConstant() async throws {
    let small = try SmallLibrary()
    let assets = try await small.assets(2)
    let text = String(repeating: "é", count: 4_096)
    let condition = Condition.not(.text(.burstIdentifier, .contains, text, []))
    var row = CollectionRow(
      number: 1_000, identifier: LocalIdentifier(high: 1, low: 1), kind: .smartAlbum, title: "Old", date: .distantPast)
    row.query = SmartAlbumQuery(.smartAlbumGeneric, where: condition)
    let album = PhotoCollection(row: row, seenBy: .full, commit: 0)
    #expect(try small.members(album) == assets)
    var options = FetchOptions()
    options.condition = condition
    let error = #expect(throws: FetchError.self) { try small.library.fetchAssets(options, in: album) }
    #expect(error?.code == .malformedPredicate, "The bound holds for what a caller adds.")
    await #expect(throws: (any Error).self) {
      try await small.library.performChanges { $0.createSmartAlbum(title: "New", where: condition) }
    }
  }

  @Test("a condition has at most 64 patterns", arguments: ["LIKE", "MATCHES"])
  func patternCount(test: String) throws {
    let tests = (0..<65).map { "burstIdentifier \(test) 'a\($0)'" }
    try Condition(format: tests.dropLast().joined(separator: " OR "), for: .asset).check(for: .asset)
    let condition = try Condition(format: tests.joined(separator: " OR "), for: .asset)
    let error = #expect(throws: FetchError.self) { try condition.check(for: .asset) }
    #expect(error?.code == .malformedPredicate)
  }

  @Test("whatever options a random pattern is checked with, it compiles with them", arguments: [53, 54] as [UInt64])
  func checkedCompiles(seed: UInt64) {
    var random = QueryRandom(seed: seed)
    var acceptedCount = 0
    for _ in 0..<60 {
      // One step a letter, or two or three when it is folded: the bound lies at the longest program or at a part of it.
      let bound = 4_096 / Int.random(in: 1...3, using: &random)
      let count = random.one(of: [Int.random(in: 0...4_100, using: &random), bound - 1, bound, bound + 1])
      let pattern = random.one(of: ["ß", "ﬁ", "ŉ", "a", "[ß-ÿ]"]) + "{\(count)}"
      for options in [[], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive]]
        as [Condition.TextOptions]
      {
        let condition = Condition.text(.burstIdentifier, .matches, pattern, options)
        if (try? condition.check(for: .asset)) != nil {
          _ = TextTest(.matches, pattern, options)
          acceptedCount += 1
        }
      }
    }
    #expect((20..<220).contains(acceptedCount))
  }

  @Test(
    "a pattern that is malformed or cannot be matched in bounded time is rejected by name",
    arguments: [
      "(", ")", "[a", "a{", "a{2,1}", "a{5000}", "(a{100}){100}", "*", "\\1", "(?=a)", "(?i)a", "a++", "\\b", "[z-a]",
      "\\",
      "[[:alpha:]]",
    ])
  func refused(pattern: String) {
    let error = #expect(throws: FetchError.self) { try TextPattern(regularExpression: pattern, options: []) }
    #expect(error?.description.contains("'\(pattern)'") == true)
  }
}
