// Texts from outside are compared, hashed and folded, and Swift does all of that by their canonical form: the marks on
// a character are put into order first, which takes time that grows with their square. 64 KB of marks on one letter
// take a second at each look for a key, and a megabyte takes minutes.
//
//     a ◌̀ ◌̣ ◌̀ ◌̣ … at most 128 marks on a character ─▶ every comparison is linear in the text
//
// So a text is checked once, where it comes in, and what has more is refused, or cut where other programs wrote it.
// Unicode's own bound for such streams is 30 (UAX 15, Stream-Safe Text Format); no writing needs more than a few.
//
// Rejected: comparing bytes everywhere (one place that is forgotten is enough); a bound on the length of texts (a
// caption may have 64 KB).

extension String {
  /// The most marks that a character of a text from outside may have.
  package static let markLimit = 128

  /// Whether no character has more than ``markLimit`` marks.
  /// - Complexity: O(n) for n bytes; O(1) for a text too short to have so many.
  package var isBoundedInMarks: Bool {
    guard mayHaveManyMarks else { return true }
    var run = 0
    for scalar in unicodeScalars {
      run = Self.isMark(scalar) ? run + 1 : 0
      if run > Self.markLimit { return false }
    }
    return true
  }

  /// The text without the marks of a character that are more than ``markLimit``.
  /// - Complexity: O(n) for n bytes.
  package var boundedInMarks: String {
    if isBoundedInMarks { return self }
    var (run, kept) = (0, String.UnicodeScalarView())
    for scalar in unicodeScalars {
      run = Self.isMark(scalar) ? run + 1 : 0
      if run <= Self.markLimit { kept.append(scalar) }
    }
    return String(kept)
  }

  /// The first mark is U+0300, whose first byte is 0xCC; each has two bytes at least.
  private var mayHaveManyMarks: Bool { utf8.count > 2 * Self.markLimit && utf8.contains { $0 >= 0xCC } }

  /// Whether a scalar is ordered among others (Unicode's Canonical_Combining_Class).
  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value >= 0x300 && scalar.properties.canonicalCombiningClass != .notReordered
  }
}
