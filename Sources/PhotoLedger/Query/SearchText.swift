import Foundation

// Text search: the words of an object, and the prefixes of a search.
//
// A user types prefixes of a few words, in any script, and expects every object with words of these prefixes. Texts are
// folded first, so that case, accents and widths are ignored, and then split into words:
//
//     "Été à Zürich_02.JPG"   →  ete  a  zurich  02  jpg         letters, marks and digits of any script form words
//     "東京タワー"             →  東京  京タ  タワ  ワー  ー          scripts without spaces: every two characters
//     "🎂"                    →  🎂                              a pictograph is a word
//
// A search is a set of prefixes; an object matches if each of them is a prefix of one of its words. Text in a script
// without spaces is searched by its pairs of characters, so it is found at any position of a longer text; objects that
// contain all pairs, but not adjacent, match too.
//
// The fold is compatibility decomposition, then upper and lower case, then the combining marks of Latin, Greek,
// Cyrillic, Hebrew and Arabic are dropped. Decomposed Hangul makes what is typed a prefix at every keystroke (하, 한).
// It asks no locale, so a replay gives the same words.
//
// Bounds: a word counts with its first 64 bytes, an object with the first 65,536 scalars of its texts and 1,024
// different words. Both the index and the comparison with an object use `SearchWords`, so they cannot disagree.
//
// Rejected: a dictionary for scripts without spaces (it decides by version what is found); positions in the index for
// phrases (every edit of a caption would rewrite all of them); ranking (a result is ordered by its sort terms, since
// change details need an order that other objects do not change).

/// The folded words of an object, each as UTF-8.
struct SearchWords: Sendable {
  /// The most bytes of a word that count.
  static let wordLimit = 64
  /// The most different words of an object that count.
  static let countLimit = 1024
  /// The most scalars of an object's texts that count.
  static let scalarLimit = 65_536

  private(set) var words = FoldedWords(countLimit: SearchWords.countLimit)
  private var scalarsLeft = scalarLimit

  init() {}

  /// The words of an asset: of its original files' names, its keywords and its caption; of the title, the people, the
  /// camera and the lens that its files name. What they say in captions and keywords is found once it is the asset's.
  init(_ details: AssetDetails) {
    words.reserve(8, byteCount: 64)
    for resource in details.resources where resource.isOriginal { add(resource.originalFilename) }
    for keyword in details.keywords { add(keyword) }
    if let caption = details.caption { add(caption) }
    if let metadata = details.metadata { add(metadata) }
  }

  /// The words of a title.
  init(title: String?) {
    if let title { add(title) }
  }

  private mutating func add(_ metadata: AssetMetadata) {
    for text in [metadata.title, metadata.cameraMake, metadata.cameraModel, metadata.lens] {
      if let text { add(text) }
    }
    for name in metadata.people { add(name) }
  }

  private mutating func add(_ text: String) {
    guard scalarsLeft > 0 else { return }
    var counted = text
    if text.utf8.count > scalarsLeft { counted = String(text.unicodeScalars.prefix(scalarsLeft)) }
    scalarsLeft -= WordCutter.cut(counted, isSearch: false, into: &words)
  }

  /// Whether some word begins with a prefix.
  fileprivate func hasWord(beginningWith prefix: [UInt8]) -> Bool {
    words.contains { $0.starts(with: prefix) }
  }
}

/// A text search: a set of prefixes, each of which must match a word.
package struct SearchText: Hashable, Sendable {
  /// The most prefixes that a search may have.
  package static let prefixLimit = 32

  /// The folded prefixes, ascending, none of which begins another. None: nothing is found.
  let prefixes: [[UInt8]]

  /// Parses the user's text; nil if it consists of white space only, which does not restrict the fetch.
  package init?(_ text: String) {
    guard text.unicodeScalars.contains(where: { !$0.properties.isWhitespace }) else { return nil }
    var found = FoldedWords()
    WordCutter.cut(text, isSearch: true, into: &found)
    // An object that matches the longer prefix also matches the shorter one.
    let ascending = found.map { [UInt8]($0) }.sorted { $0.lexicographicallyPrecedes($1) }
    prefixes = ascending.indices.filter { index in
      index + 1 == ascending.count || !ascending[index + 1].starts(with: ascending[index])
    }.map { ascending[$0] }
  }

  /// Whether an asset with these details is found.
  func finds(_ details: AssetDetails) -> Bool { finds(SearchWords(details)) }

  /// Whether a collection with a title is found.
  func finds(title: String?) -> Bool { finds(SearchWords(title: title)) }

  /// Whether an object with these words is found.
  func finds(_ words: SearchWords) -> Bool {
    !prefixes.isEmpty && prefixes.allSatisfy(words.hasWord(beginningWith:))
  }
}

/// Cuts a text into folded words.
private struct WordCutter {
  private let isSearch: Bool
  /// The characters of a script without spaces that stand together, each with its marks.
  private var run: [UInt8] = []
  /// Where each of them ends.
  private var runEnds: [Int] = []

  private enum Kind { case spaced, unspaced, mark, single, dropped, separator }

  /// Adds the words of a text.
  /// - Returns: how many scalars the text has.
  @discardableResult
  static func cut(_ text: String, isSearch: Bool, into words: inout FoldedWords) -> Int {
    var text = text
    let asciiCount = text.withUTF8 { utf8 -> Int? in
      guard utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
      cut(ascii: utf8, into: &words)
      return utf8.count
    }
    if let asciiCount { return asciiCount }
    var cutter = WordCutter(isSearch: isSearch)
    let folded = text.decomposedStringWithCompatibilityMapping.uppercased().lowercased()
    // Lower case letters may come with accents of their own (İ), and upper case ones of ligatures composed.
    for scalar in folded.decomposedStringWithCompatibilityMapping.unicodeScalars { cutter.take(scalar, &words) }
    words.endWord()
    cutter.endRun(&words)
    return text.unicodeScalars.count
  }

  private static func cut(ascii text: UnsafeBufferPointer<UInt8>, into words: inout FoldedWords) {
    for byte in text {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): words.append(byte)
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): words.append(byte | 0x20)
      default: words.endWord()
      }
    }
    words.endWord()
  }

  private init(isSearch: Bool) { self.isSearch = isSearch }

  /// Takes the next scalar. While characters of a run wait for its end, no word is being written.
  private mutating func take(_ scalar: Unicode.Scalar, _ words: inout FoldedWords) {
    switch Self.kind(of: scalar) {
    case .dropped: break
    case .separator:
      words.endWord()
      endRun(&words)
    case .spaced:
      endRun(&words)
      words.append(contentsOf: scalar.utf8)
    case .unspaced:
      words.endWord()
      run.append(contentsOf: scalar.utf8)
      runEnds.append(run.count)
    case .mark where runEnds.isEmpty: words.append(contentsOf: scalar.utf8)
    case .mark:
      run.append(contentsOf: scalar.utf8)
      runEnds[runEnds.count - 1] = run.count
    case .single:
      words.endWord()
      endRun(&words)
      words.append(contentsOf: scalar.utf8)
      words.endWord()
    }
  }

  /// Adds each pair of characters, and of an object the last one alone, so that each character begins a word. A search
  /// for one character is a search for a word that it begins.
  private mutating func endRun(_ words: inout FoldedWords) {
    guard let last = runEnds.indices.last else { return }
    var start = 0
    for index in 0..<last {
      words.append(contentsOf: run[start..<runEnds[index + 1]])
      words.endWord()
      start = runEnds[index]
    }
    if !isSearch || last == 0 {
      words.append(contentsOf: run[start...])
      words.endWord()
    }
    run.removeAll(keepingCapacity: true)
    runEnds.removeAll(keepingCapacity: true)
  }

  private static func kind(of scalar: Unicode.Scalar) -> Kind {
    switch scalar.value {
    // Accents, points and signs that readers leave out; the selectors of the look of a pictograph.
    case 0x0300...0x036F, 0x0591...0x05C7, 0x0610...0x061A, 0x064B...0x065F, 0x0670, 0xFE00...0xFE0F: return .dropped
    default: break
    }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: return .mark
    case .otherSymbol: return .single
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
      .letterNumber, .otherNumber:
      return isUnspaced(scalar) ? .unspaced : .spaced
    default: return .separator
    }
  }

  /// Whether words of the scalar's script are written without spaces between them.
  private static func isUnspaced(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3040...0x30FF, 0x31F0...0x31FF: true
    default: scalar.properties.isIdeographic
    }
  }
}
