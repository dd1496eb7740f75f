// The words of a line of code, and what they are by what stands beside them. A word is a part of its line, so that the
// bytes before and behind it can be asked for.

extension StringProtocol {
  /// The names and numbers of a line of code, in order.
  var codeWords: [Substring] {
    let line = String(self)
    /// Where words begin and end, in turn.
    var bounds: [Int] = []
    var copy = line
    copy.withUTF8 { bytes in
      guard let start = bytes.baseAddress else { return }
      let count = bytes.count
      var place = 0
      while place < count {
        let begin = place
        while place < count, start[place].isOfName { place += 1 }
        if place > begin {
          bounds.append(begin)
          bounds.append(place)
        }
        place += 1
      }
    }
    let (utf8, first) = (line.utf8, line.startIndex)
    var words: [Substring] = []
    words.reserveCapacity(bounds.count / 2)
    var next = 0
    while next < bounds.count {
      words.append(
        line[utf8.index(first, offsetBy: bounds[next])..<utf8.index(first, offsetBy: bounds[next + 1])])
      next += 2
    }
    return words
  }

  /// The words that follow one of some keywords, with one space between.
  func names(after keywords: Set<Substring>) -> [Substring] { codeWords.names(after: keywords) }

  /// The words directly before a colon.
  var labels: [Substring] { codeWords.labels }
}

/// The words of one line.
extension [Substring] {
  /// The words that follow one of some keywords, with one space between.
  func names(after keywords: Set<Substring>) -> [Substring] {
    var found: [Substring] = []
    var place = 1
    while place < count {
      let (keyword, name) = (self[place - 1], self[place])
      if keyword.byteBehind == UInt8(ascii: " "), keywords.contains(keyword),
        keyword.base.utf8.index(after: keyword.endIndex) == name.startIndex
      {
        found.append(name)
      }
      place += 1
    }
    return found
  }

  /// The words directly before a colon.
  var labels: [Substring] { filter { $0.byteBehind == UInt8(ascii: ":") } }

  /// The names of patterns in parentheses: `let (a, b)`, `for (a, b) in`.
  var patternNames: [Substring] {
    guard let line = first?.base, line.holds("let (") || line.holds("var (") || line.holds("for (") else { return [] }
    var found: [Substring] = []
    for (place, word) in enumerated() where ["let", "var", "for"].contains(word) {
      let rest = line[word.endIndex...]
      guard rest.hasPrefix(" ("), let end = rest.utf8.firstIndex(of: UInt8(ascii: ")")) else { continue }
      found += self[(place + 1)...].prefix { $0.startIndex < end }
    }
    return found
  }
}

extension UInt8 {
  /// Whether the byte may be part of a name or number: a letter, a digit, an underscore, or of no ASCII character.
  var isOfName: Bool { self >= 0x80 || (self | 0x20) &- 0x61 < 26 || self &- 0x30 < 10 || self == 0x5F }
}

extension Substring {
  /// The byte of the line before the word; nil at its beginning.
  var byteBefore: UInt8? {
    startIndex > base.startIndex ? base.utf8[base.utf8.index(before: startIndex)] : nil
  }

  /// The byte of the line behind the word; nil at its end.
  var byteBehind: UInt8? { endIndex < base.endIndex ? base.utf8[endIndex] : nil }
}

extension String {
  /// How many spaces it begins with.
  var margin: Int {
    var count = 0
    for byte in utf8 {
      guard byte == 0x20 else { break }
      count += 1
    }
    return count
  }

  /// What follows the spaces that it begins with.
  var bare: Substring { self[utf8.index(startIndex, offsetBy: margin)...] }
}
