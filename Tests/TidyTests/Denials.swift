// Turns that deny with "no" and "none" where English says "not a" and "does not have one".
//
//     Germanism                          English
//     The bytes *are no* record.         The bytes are not a record.
//     The owner *has none*.              The owner does not have one.
//     nil if it *is none*                nil if it is not one
//     there is no record, there is none  stays, also as "there would be no"
//     is no longer, is no deeper         stays: a comparison
//     is no secret, is no reason         stays: an idiom
//     has none of them                   stays
//
// Those that stay begin like the others, so a list of fixed turns (`Prose.turns`) cannot tell them apart; the words
// around them can. Comments and pages are held to it. Rejected: literals and the names of tests as well, which tests
// compare word by word; and each noun behind "is no", a list without an end.

/// Denials that the project does not use.
enum Denials {
  private static let being: Set<Substring> = ["is", "are", "was", "were", "be", "been", "being"]
  private static let having: Set<Substring> = ["has", "have", "had", "having"]

  /// What may follow "is no": comparisons and idioms.
  private static let customary: Set<Substring> = [
    "longer", "shorter", "more", "less", "fewer", "other", "different", "better", "worse", "deeper", "higher", "lower",
    "later", "earlier", "sooner", "older", "newer", "larger", "greater", "smaller", "wider", "further", "faster",
    "slower", "one", "matter", "doubt", "reason", "secret",
  ]

  /// The lines that hold such a denial, which are those of its "no", with the turn. The words of the lines above and
  /// below count as well.
  static func findings(in lines: [String]) -> [(line: Int, what: String)] {
    LinedBytes(lines: lines).lines(holding: "no").flatMap { index -> [(line: Int, what: String)] in
      guard mayDeny(lines[index]) else { return [] }
      let above = index > 0 ? words(of: lines[index - 1]) : []
      let own = words(of: lines[index])
      let below = index + 1 < lines.count ? words(of: lines[index + 1]) : []
      let all = above + own + below
      return own.indices.compactMap { turn(at: above.count + $0, in: all) }.map { turn in
        (index, "says '\(turn)'; write: is not a, does not have one, there is no")
      }
    }
  }

  /// Whether a line holds "no" or "none" without a letter of ASCII before or behind it: asked before the line is split
  /// into words, which takes long.
  private static func mayDeny(_ line: String) -> Bool {
    let bytes = Array(line.utf8)
    let (n, o, e) = (UInt8(ascii: "n"), UInt8(ascii: "o"), UInt8(ascii: "e"))
    /// The letter at a place, in lower case; 0 if there is another byte or none.
    func letter(_ place: Int) -> UInt8 {
      guard bytes.indices.contains(place) else { return 0 }
      let letter = bytes[place] | 0x20
      return letter &- 0x61 < 26 ? letter : 0
    }
    return bytes.indices.contains { place in
      guard bytes[place] | 0x20 == n, letter(place + 1) == o, letter(place - 1) == 0 else { return false }
      let next = letter(place + 2)
      return next == 0 || next == n && letter(place + 3) == e && letter(place + 4) == 0
    }
  }

  /// The words of a line, in lower case and with their punctuation; the marks of comments are left out.
  private static func words(of line: String) -> [Substring] {
    let marks: Set<Character> = ["/", "*", "#"]
    return line.lowercased().split { $0.isWhitespace }.filter { word in !word.allSatisfy { marks.contains($0) } }
  }

  /// The denial whose "no" or "none" is the word at a place; nil where there is none, or one that stays.
  private static func turn(at place: Int, in words: [Substring]) -> String? {
    guard place > 0 else { return nil }
    let verb = words[place - 1]
    let word = bare(words[place])
    guard word == "no" || word == "none", being.contains(verb) || having.contains(verb) else { return nil }
    if words[..<(place - 1)].suffix(3).contains(where: { bare($0) == "there" }) { return nil }
    let next: Substring? = place + 1 < words.count ? words[place + 1] : nil
    if word == "no" {
      guard being.contains(verb), words[place] == "no", let next, !customary.contains(bare(next)) else { return nil }
    } else if having.contains(verb), words[place] == "none", next == "of" {
      return nil
    }
    return "\(verb) \(word)"
  }

  /// A word without what stands around its letters.
  private static func bare(_ word: Substring) -> Substring {
    let start = word.drop { !$0.isLetter }
    guard let last = start.lastIndex(where: { $0.isLetter }) else { return start }
    return start[...last]
  }
}
