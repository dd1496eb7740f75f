import Foundation
import TestSupport
import Testing

@testable import PhotoLedger

// The words of an object are compared with a plain reading of the rules: every text by its scalars, every word a value
// of its own, kept if it was not there.

@Suite("The words of an object")
struct SearchWordTests {
  private static let plain = [
    "img", "IMG_0001", "jpg", "a", "7", " ", "-", "'", ", ", "\r\n", "^|~$", String(repeating: "Longer", count: 12),
  ]
  private static let others = [
    "é", "É", "e\u{301}", "ß", "ﬁ", "İ", "Ω", "ё", "Straße", "½", "№", "𝒜", "東", "京", "タ", "ﾀ", "ー", "が", "🎂",
    "❤️", "👩‍🚀", "한", "हिन्दी", "สวย", "ทั่", "שָׁ", "مَ", "\u{301}", "\u{20DD}", "、", "\u{0}", "\u{FE0F}",
  ]

  private static func text(_ random: inout SeededGenerator, pieces: Int) -> String {
    let vocabulary = random.chance(1, of: 2) ? plain : plain + others
    let gap = random.chance(1, of: 2) ? " " : ""
    return (0..<random.int(0..<pieces + 1)).map { _ in
      random.chance(1, of: 3) ? "w\(random.int(0..<60))" : random.one(of: vocabulary)
    }.joined(separator: gap)
  }

  private static func words(_ texts: [String]) -> [[UInt8]] {
    var details = AssetDetails()
    (details.keywords, details.caption) = (Array(texts.dropLast()), texts.last)
    return SearchWords(details).words.map { [UInt8]($0) }
  }

  @Test("the words are those of the rules, in the order of their first occurrence", arguments: 0..<30 as Range<UInt64>)
  func cutting(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for pieces in [1, 3, 8, 8, 30, 120] {
      let texts = (0..<4).map { _ in Self.text(&random, pieces: pieces) }
      var naive = NaiveWords(isSearch: false)
      for text in texts { naive.add(text) }
      #expect(Self.words(texts) == naive.words, "\(texts)")
    }
  }

  @Test("the prefixes of a search are those of the rules", arguments: 0..<30 as Range<UInt64>)
  func searching(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for pieces in [1, 2, 4, 8, 60] {
      let text = Self.text(&random, pieces: pieces)
      var naive = NaiveWords(isSearch: true)
      naive.add(text)
      let wanted = naive.words.filter { word in !naive.words.contains { $0 != word && $0.starts(with: word) } }
      let found = SearchText(text)?.prefixes ?? []
      #expect(found == wanted.sorted { $0.lexicographicallyPrecedes($1) }, "\(text)")
    }
  }

  @Test("a word counts with its first 64 bytes, an object with 65,536 scalars and 1,024 words, wherever they end")
  func limits() {
    func many(_ count: Int, _ letter: String = "w") -> String {
      (0..<count).map { "\(letter)\($0)" }.joined(separator: " ")
    }
    let long = [62, 63, 64, 65, 130].map { String(repeating: "a", count: $0) + "東京" }
    let wide = [31, 32, 33].map { String(repeating: "ж", count: $0) + " " + String(repeating: "क", count: $0 - 10) }
    let marked = "タ" + String(repeating: "\u{20DD}", count: 40) + "ワ"
    let lists = [
      [many(23), many(30)], [many(24)], [many(25), many(64)], [many(65)], [many(256), many(257)],
      [many(1023), many(1030)],
      [many(1024), "x"], [many(1025)], [many(600), many(600, "ж"), "w1023"], long, wide, [marked],
      [String(repeating: "é ", count: 32_760), "one two three four five"],
      [String(repeating: "x ", count: 32_765), "one two three four five", "six"],
      [many(20_000)], [many(20_000, "ж")],
    ]
    for texts in lists {
      var naive = NaiveWords(isSearch: false)
      for text in texts { naive.add(text) }
      #expect(Self.words(texts) == naive.words, "\(texts.map { $0.prefix(40) })")
    }
  }

  @Test("a word is found among few and among many, and no other", arguments: [0, 1, 23, 24, 25, 300])
  func finding(count: Int) {
    func words(_ prefix: String) -> FoldedWords {
      var words = FoldedWords()
      for number in 0..<count {
        words.append(contentsOf: "\(prefix)\(number)".utf8)
        words.endWord()
      }
      return words
    }
    let (known, others) = (words("a"), words("b"))
    #expect(known.count == count)
    #expect(known.allSatisfy(known.holds))
    #expect(!others.contains(where: known.holds))
  }
}

/// The words of texts by the rules of SearchText.swift.
private struct NaiveWords {
  let isSearch: Bool
  private(set) var words: [[UInt8]] = []
  private var known: Set<[UInt8]> = []
  private var scalarsLeft = 65_536
  private var word: [UInt8] = []
  private var run: [[UInt8]] = []

  init(isSearch: Bool) { self.isSearch = isSearch }

  mutating func add(_ text: String) {
    let scalars = text.unicodeScalars.prefix(scalarsLeft)
    scalarsLeft -= scalars.count
    let folded = String(scalars).decomposedStringWithCompatibilityMapping.uppercased().lowercased()
    for scalar in folded.decomposedStringWithCompatibilityMapping.unicodeScalars { take(scalar) }
    endWord()
    endRun()
  }

  private mutating func take(_ scalar: Unicode.Scalar) {
    let bytes = Array(String(scalar).utf8)
    switch scalar.value {
    case 0x0300...0x036F, 0x0591...0x05C7, 0x0610...0x061A, 0x064B...0x065F, 0x0670, 0xFE00...0xFE0F: return
    default: break
    }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark:
      if run.isEmpty { word += bytes } else { run[run.count - 1] += bytes }
    case .otherSymbol:
      endWord()
      endRun()
      keep(bytes)
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
      .letterNumber, .otherNumber:
      if Self.isUnspaced(scalar) {
        endWord()
        run.append(bytes)
      } else {
        endRun()
        word += bytes
      }
    default:
      endWord()
      endRun()
    }
  }

  private mutating func endWord() {
    if !word.isEmpty { keep(word) }
    word = []
  }

  private mutating func endRun() {
    for (one, two) in zip(run, run.dropFirst()) { keep(one + two) }
    if let last = run.last, !isSearch || run.count == 1 { keep(last) }
    run = []
  }

  private mutating func keep(_ word: [UInt8]) {
    var counted = word
    if word.count > 64 {
      var end = 64
      while word[end] & 0xC0 == 0x80 { end -= 1 }
      counted = Array(word[..<end])
    }
    guard isSearch || words.count < 1024, known.insert(counted).inserted else { return }
    words.append(counted)
  }

  private static func isUnspaced(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3040...0x30FF, 0x31F0...0x31FF: true
    default: scalar.properties.isIdeographic
    }
  }
}
