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
struct SearchWords: Equatable, Sendable {
  /// The most bytes of a word that count.
  static let wordLimit = 64
  /// The most different words of an object that count.
  static let countLimit = 1024
  /// The most scalars of an object's texts that count.
  static let scalarLimit = 65_536

  private(set) var words: Set<[UInt8]> = []
  private var scalarsLeft = scalarLimit

  init() {}

  /// The words of an asset: of its original files' names, its keywords and its caption; of the title, the people, the
  /// camera and the lens that its files name. What they say in captions and keywords is found once it is the asset's.
  init(_ details: AssetDetails) {
    words.reserveCapacity(16)
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
    scalarsLeft -= counted.unicodeScalars.count
    WordCutter.cut(counted, isSearch: false) { word in
      if words.count < Self.countLimit { words.insert(word) }
    }
  }

  /// Whether some word begins with a prefix.
  fileprivate func hasWord(beginningWith prefix: [UInt8]) -> Bool {
    words.contains(prefix) || words.contains { $0.starts(with: prefix) }
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
    var found: Set<[UInt8]> = []
    WordCutter.cut(text, isSearch: true) { found.insert($0) }
    // An object that matches the longer prefix also matches the shorter one.
    let ascending = found.sorted { $0.lexicographicallyPrecedes($1) }
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
  private var word: [UInt8] = []
  /// The characters of a script without spaces that stand together, each with its marks.
  private var run: [[UInt8]] = []

  private enum Kind { case spaced, unspaced, mark, single, dropped, separator }

  static func cut(_ text: String, isSearch: Bool, _ give: ([UInt8]) -> Void) {
    var cutter = WordCutter(isSearch: isSearch)
    if text.utf8.allSatisfy({ $0 < 0x80 }) {
      for byte in text.utf8 { cutter.take(ascii: byte, give) }
    } else {
      let folded = text.decomposedStringWithCompatibilityMapping.uppercased().lowercased()
      // Lower case letters may come with accents of their own (İ), and upper case ones of ligatures composed.
      for scalar in folded.decomposedStringWithCompatibilityMapping.unicodeScalars { cutter.take(scalar, give) }
    }
    cutter.endWord(give)
    cutter.endRun(give)
  }

  private init(isSearch: Bool) { self.isSearch = isSearch }

  private mutating func take(ascii byte: UInt8, _ give: ([UInt8]) -> Void) {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): word.append(byte)
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): word.append(byte | 0x20)
    default: endWord(give)
    }
  }

  private mutating func take(_ scalar: Unicode.Scalar, _ give: ([UInt8]) -> Void) {
    let bytes = Array(String(scalar).utf8)
    switch Self.kind(of: scalar) {
    case .dropped: break
    case .separator:
      endWord(give)
      endRun(give)
    case .spaced:
      endRun(give)
      word += bytes
    case .unspaced:
      endWord(give)
      run.append(bytes)
    case .mark:
      if run.isEmpty { word += bytes } else { run[run.count - 1] += bytes }
    case .single:
      endWord(give)
      endRun(give)
      give(bytes)
    }
  }

  private mutating func endWord(_ give: ([UInt8]) -> Void) {
    guard !word.isEmpty else { return }
    give(Self.limited(word))
    word.removeAll(keepingCapacity: true)
  }

  /// Gives each pair of characters, and of an object the last one alone, so that each character begins a word. A search
  /// for one character is a search for a word that it begins.
  private mutating func endRun(_ give: ([UInt8]) -> Void) {
    guard let last = run.last else { return }
    for index in run.indices.dropLast() { give(Self.limited(run[index] + run[index + 1])) }
    if !isSearch || run.count == 1 { give(Self.limited(last)) }
    run.removeAll(keepingCapacity: true)
  }

  /// The significant bytes of a word, which end with a complete scalar.
  private static func limited(_ word: [UInt8]) -> [UInt8] {
    guard word.count > SearchWords.wordLimit else { return word }
    var end = SearchWords.wordLimit
    while word[end] & 0xC0 == 0x80 { end -= 1 }
    return Array(word[..<end])
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
