import Foundation
import PhotoLedger
import TestSupport
import Testing

@Suite struct SortTermTests {
  @Test(
    "a term is read from its spelling",
    arguments: [
      ("creationDate", "creationDate"), ("creationDate:desc", "creationDate:desc"),
      ("favorite:DESC", "isFavorite:desc"),
      ("duration:asc", "duration"),
    ])
  func read(text: String, description: String) throws {
    #expect(try SortTerm(text, for: .asset).description == description)
  }

  @Test(
    "a term that no fetch can use is rejected by name (FR-09)",
    arguments: [
      ("localIdentifier", .unsupportedSort), ("SELF:desc", .unsupportedSort), ("filename", .unknownKey),
      ("creationDate:down", .unsupportedSort), ("", .unknownKey), ("localizedTitle", .unknownKey),
    ] as [(String, FetchError.Code)])
  func refused(text: String, code: FetchError.Code) {
    let error = #expect(throws: FetchError.self) { try SortTerm(text, for: .asset) }
    #expect(error?.code == code)
  }

  @Test("a later term of the same key has no effect: such queries are the same, and share their result")
  func repeated() throws {
    func query(_ terms: [String]) throws -> Query {
      Query(.asset, .library, sortedBy: try terms.map { try SortTerm($0, for: .asset) })
    }
    let once = try query(["creationDate:desc", "duration"])
    #expect(try query(["creationDate:desc", "creationDate", "duration", "duration:desc", "creationDate:desc"]) == once)
    #expect(try query(["creationDate", "duration"]) != once)
    #expect(try query(["duration", "creationDate:desc"]) != once)
  }

  @Test("an unknown key's error lists the keys that a fetch can be sorted by, and no others")
  func listsKeys() throws {
    let kinds: [(Entity, String, String)] = [
      (.asset, "localizedTitle", "assets"), (.collection, "filename", "collections"),
    ]
    for (entity, name, plural) in kinds {
      let error = #expect(throws: FetchError.self) { try SortTerm("\(name):desc", for: entity) }
      let (start, end) = ("Unknown key '\(name)' for the order of \(plural); the keys are ", ".")
      let sentence = try #require(error?.sentence)
      try #require(sentence.hasPrefix(start) && sentence.hasSuffix(end), "\(sentence)")
      let listed = sentence.dropFirst(start.count).dropLast().split(separator: ", ").map(String.init)
      let keys = PropertyKey.allCases.filter { $0.isValid(for: entity) }
      let sortable = keys.filter { (try? SortTerm($0, ascending: true, for: entity)) != nil }
      #expect(listed == sortable.map(\.rawValue).sorted() && listed.count < keys.count, "\(listed)")
    }
  }

  @Test("sort descriptors are converted by their key path")
  func descriptors() throws {
    #expect(try SortTerm(SortDescriptor(\Asset.creationDate, order: .reverse)).description == "creationDate:desc")
    #expect(try SortTerm(SortDescriptor(\Asset.pixelWidth)).description == "pixelWidth")
    #expect(try SortTerm(SortDescriptor(\PhotoCollection.localizedTitle)).description == "localizedTitle")
    let error = #expect(throws: FetchError.self) { try SortTerm(SortDescriptor(\Asset.localIdentifier)) }
    #expect(error?.subject == "localIdentifier")
  }

  @Test(
    "one term's words, and every list's bytes, order as the values do", arguments: UInt64(71)...(Dose.isFull ? 74 : 71))
  func order(seed: UInt64) throws {
    var random = QueryRandom(seed: seed)
    let keys = PropertyKey.allCases.filter { $0.isValid(for: .asset) && $0.valueKind != .identifier && !$0.isDetail }
    for _ in 0..<(Dose.isFull ? 400 : 200) {
      let terms = try (0..<Int.random(in: 1...3, using: &random)).map { _ in
        try SortTerm(random.one(of: keys), ascending: random.chance(1, of: 2), for: .asset)
      }
      let encoder = SortKeyEncoder<AssetRow>(terms)
      #expect(encoder.isWord == (terms.count == 1 && terms[0].key.valueKind != .text))
      for _ in 0..<60 {
        let (one, two) = (random.asset(), random.asset())
        let (first, second) = (Asset(row: one, seenBy: .full, commit: 1), Asset(row: two, seenBy: .full, commit: 1))
        let expected = naive(first, second, terms)
        let (a, b) = (encoder.bytes(for: one), encoder.bytes(for: two))
        try #require(order(a, b) == expected, "seed \(seed): \(terms) of \(one) and \(two)")
        if encoder.isWord {
          let (a, b) = (encoder.word(for: one), encoder.word(for: two))
          try #require((a < b ? -1 : a > b ? 1 : 0) == expected, "seed \(seed): \(terms) of \(one) and \(two)")
        }
      }
    }
  }

  @Test("titles are ordered without regard to case and accents, then as they are")
  func titles() throws {
    let encoder = SortKeyEncoder<CollectionRow>([try SortTerm(.localizedTitle, ascending: true, for: .collection)])
    let expected: [String?] = [nil, "", "a", "a\u{0}", "a\u{0}b", "eta", "Été", "été", "etf", "Zoo"]
    let rows = expected.map { title in
      CollectionRow(
        number: 1, identifier: LocalIdentifier(high: 1, low: 1), kind: .album, title: title,
        date: Date(timeIntervalSinceReferenceDate: 0))
    }
    let sorted = rows.shuffled().sorted { order(encoder.bytes(for: $0), encoder.bytes(for: $1)) < 0 }
    #expect(sorted.map(\.title) == expected)
  }

  private func order(_ one: [UInt8], _ two: [UInt8]) -> Int {
    one.lexicographicallyPrecedes(two) ? -1 : two.lexicographicallyPrecedes(one) ? 1 : 0
  }

  private func naive(_ one: Asset, _ two: Asset, _ terms: [SortTerm]) -> Int {
    for term in terms {
      let order = naive(one.value(of: term.key), two.value(of: term.key))
      if order != 0 { return term.ascending ? order : -order }
    }
    return 0
  }

  private func naive(_ one: PropertyValue, _ two: PropertyValue) -> Int {
    func order<Value: Comparable>(_ one: Value, _ two: Value) -> Int { one < two ? -1 : one > two ? 1 : 0 }
    switch (one, two) {
    case (.null, .null): return 0
    case (.null, _): return -1
    case (_, .null): return 1
    case (.bool(let one), .bool(let two)): return order(one ? 1 : 0, two ? 1 : 0)
    case (.integer(let one), .integer(let two)): return order(one, two)
    case (.double(let one), .double(let two)): return order(one, two)
    case (.date(let one), .date(let two)): return order(one, two)
    case (.text(let one), .text(let two)):
      let folded = [one, two].map { $0.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil) }
      let byFolding = order(scalars(folded[0]), scalars(folded[1]))
      return byFolding != 0 ? byFolding : order(scalars(one), scalars(two))
    default: preconditionFailure("values of one key are of one kind")
    }
  }

  /// The text as something whose order is that of its scalars.
  private func scalars(_ text: String) -> ComparableScalars {
    ComparableScalars(list: text.unicodeScalars.map(\.value))
  }

  private struct ComparableScalars: Comparable {
    let list: [UInt32]
    static func < (one: Self, two: Self) -> Bool { one.list.lexicographicallyPrecedes(two.list) }
  }
}
