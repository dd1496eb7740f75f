import Foundation

// A Swift file as the rules read it: each line as it stands, and beside it the same line with comments and the contents
// of string literals blanked out, so that a word in a sentence is never taken for code.
//
//     text   let path = "a { b"  // not a { brace        code   let path = "     "
//
// The scanner knows line and block comments (nested), strings of one and of several lines, raw strings, code inside an
// interpolation, and regular expressions with one pound, `#/…/#`. One without is read as code, in which a quote begins
// a string: it must not hold a quote, or hold two.

/// One Swift file of the package.
struct SwiftSource: Sendable {
  /// The path below the root of the package.
  let path: String
  /// The lines as they stand.
  let text: [String]
  /// The lines without comments and without the contents of literals; as many as `text`.
  let code: [String]

  init(path: String, contents: String) {
    self.path = path
    text = contents.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    var blanker = Blanker(contents)
    code = blanker.blank().split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    precondition(text.count == code.count, "Blanking \(path) changed its number of lines.")
  }

  /// The module that the file belongs to; nil outside Sources.
  var module: String? {
    let parts = path.split(separator: "/")
    return parts.count > 2 && parts[0] == "Sources" ? String(parts[1]) : nil
  }

  /// The comment lines directly above a line, attributes passed over.
  func comment(above line: Int) -> [String] {
    var found: [String] = []
    var index = line - 1
    while index >= 0 {
      let above = text[index].trimmingCharacters(in: .whitespaces)
      guard above.hasPrefix("//") || above.hasPrefix("@") else { break }
      if above.hasPrefix("//") { found.append(above) }
      index -= 1
    }
    return found.reversed()
  }

  /// The comment lines directly below a line.
  func comment(below line: Int) -> [String] {
    text.dropFirst(line + 1).map { $0.trimmingCharacters(in: .whitespaces) }.prefix { $0.hasPrefix("//") }.map(\.self)
  }

  /// The comment at the head of the file: every comment before the first declaration.
  var essay: String {
    let end = code.firstIndex { line in
      let line = line.trimmingCharacters(in: .whitespaces)
      return !line.isEmpty && !line.contains("import ")
    }
    return text[..<(end ?? text.count)].joined(separator: "\n")
  }
}

/// Something that breaks a rule, and where.
struct Finding: Hashable, CustomStringConvertible {
  var path: String
  /// The line, from 1.
  var line: Int
  var what: String

  init(_ source: SwiftSource, _ index: Int, _ what: String) {
    path = source.path
    line = index + 1
    self.what = what
  }

  init(path: String, line: Int, _ what: String) {
    self.path = path
    self.line = line
    self.what = what
  }

  var description: String { "\(path):\(line): \(what)" }
}

extension StringProtocol {
  /// Whether the text occurs, compared byte by byte: asked before a regular expression is, which takes a hundred times
  /// as long in a debug build, and finds nothing on nearly every line.
  func holds(_ text: String) -> Bool {
    var (own, wanted) = (String(self), text)
    return own.withUTF8 { own in
      wanted.withUTF8 { wanted in
        guard let start = own.baseAddress, let sought = wanted.baseAddress, let first = wanted.first else {
          return false
        }
        var place = 0
        while own.count - place >= wanted.count,
          let found = memchr(start + place, Int32(first), own.count - wanted.count + 1 - place)
        {
          if memcmp(found, sought, wanted.count) == 0 { return true }
          place = UnsafeRawPointer(found) - UnsafeRawPointer(start) + 1
        }
        return false
      }
    }
  }

  /// The names and numbers of a line of code, in order.
  var codeWords: [Substring] {
    String(self).utf8.split { !$0.isOfName }.map(Substring.init)
  }

  /// The words that follow one of some keywords, with one space between.
  func names(after keywords: Set<Substring>) -> [Substring] {
    let words = codeWords
    return zip(words, words.dropFirst()).filter { keyword, name in
      keywords.contains(keyword) && keyword.base[keyword.endIndex..<name.startIndex] == " "
    }.map(\.1)
  }

  /// The names of patterns in parentheses: `let (a, b)`, `for (a, b) in`.
  var patternNames: [Substring] {
    guard holds("let (") || holds("var (") || holds("for (") else { return [] }
    return String(self).matches(of: #/\b(?:let|var|for) \(([^)]*)\)/#).flatMap { $0.output.1.codeWords }
  }

  /// The words directly before a colon.
  var labels: [Substring] {
    codeWords.filter { $0.endIndex < $0.base.endIndex && $0.base.utf8[$0.endIndex] == UInt8(ascii: ":") }
  }
}

/// Blanks out comments and the contents of literals. Works on bytes: comparing `Character`s in a debug build takes ten
/// times as long, and every file of the package comes by here.
private struct Blanker {
  private enum Place {
    case code(parentheses: Int)
    case lineComment
    case blockComment(depth: Int)
    case string(pounds: Int, isMultiline: Bool)
    case expression
  }

  private let bytes: [UInt8]
  private var index = 0
  private var places: [Place] = [.code(parentheses: 0)]
  private var output: [UInt8] = []

  init(_ contents: String) {
    bytes = Array(contents.utf8)
    output.reserveCapacity(bytes.count)
  }

  private func sees(_ text: StaticString, at start: Int) -> Bool {
    let count = text.utf8CodeUnitCount
    guard start + count <= bytes.count else { return false }
    for offset in 0..<count where bytes[start + offset] != text.utf8Start[offset] { return false }
    return true
  }

  /// Whether a quote, a backslash or the like stands here, with the pounds of the literal before or behind it.
  private func sees(_ text: StaticString, _ pounds: Int, _ end: StaticString = "") -> Bool {
    let fence = index + text.utf8CodeUnitCount
    guard sees(text, at: index), fence + pounds <= bytes.count else { return false }
    for place in fence..<(fence + pounds) where bytes[place] != UInt8(ascii: "#") { return false }
    return sees(end, at: fence + pounds)
  }

  private mutating func keep(_ count: Int = 1) {
    output.append(contentsOf: bytes[index..<min(index + count, bytes.count)])
    index += count
  }

  private mutating func hide(_ count: Int = 1) {
    for _ in 0..<count where index < bytes.count {
      output.append(bytes[index] == UInt8(ascii: "\n") ? UInt8(ascii: "\n") : UInt8(ascii: " "))
      index += 1
    }
  }

  mutating func blank() -> String {
    while index < bytes.count {
      switch places[places.count - 1] {
      case .code(let parentheses): readCode(parentheses)
      case .lineComment:
        if bytes[index] == UInt8(ascii: "\n") { places.removeLast() }
        hide()
      case .blockComment(let depth): readBlockComment(depth)
      case .string(let pounds, let isMultiline): readString(pounds, isMultiline)
      case .expression: readExpression()
      }
    }
    return String(decoding: output, as: UTF8.self)
  }

  private mutating func readCode(_ parentheses: Int) {
    if sees("//", at: index) {
      places.append(.lineComment)
      hide(2)
    } else if sees("/*", at: index) {
      places.append(.blockComment(depth: 1))
      hide(2)
    } else if sees("#/", at: index) {
      places.append(.expression)
      keep(2)
    } else if let opening = stringOpening() {
      places.append(.string(pounds: opening.pounds, isMultiline: opening.isMultiline))
      keep(opening.pounds + (opening.isMultiline ? 3 : 1))
    } else {
      readCodeCharacter(parentheses)
    }
  }

  private mutating func readCodeCharacter(_ parentheses: Int) {
    switch bytes[index] {
    case UInt8(ascii: "("): places[places.count - 1] = .code(parentheses: parentheses + 1)
    case UInt8(ascii: ")") where parentheses == 0 && places.count > 1:
      // The end of an interpolation: back in the string.
      places.removeLast()
      hide()
      return
    case UInt8(ascii: ")"): places[places.count - 1] = .code(parentheses: parentheses - 1)
    default: break
    }
    keep()
  }

  private func stringOpening() -> (pounds: Int, isMultiline: Bool)? {
    var pounds = 0
    while index + pounds < bytes.count, bytes[index + pounds] == UInt8(ascii: "#") { pounds += 1 }
    guard index + pounds < bytes.count, bytes[index + pounds] == UInt8(ascii: "\"") else { return nil }
    // `#"""#` is a string of one line that holds a quote.
    return (pounds, sees("\"\"\"\n", at: index + pounds))
  }

  private mutating func readBlockComment(_ depth: Int) {
    if sees("/*", at: index) {
      places[places.count - 1] = .blockComment(depth: depth + 1)
      hide(2)
    } else if sees("*/", at: index) {
      if depth == 1 { places.removeLast() } else { places[places.count - 1] = .blockComment(depth: depth - 1) }
      hide(2)
    } else {
      hide()
    }
  }

  private mutating func readExpression() {
    if sees("/#", at: index) {
      places.removeLast()
      keep(2)
    } else {
      hide()
    }
  }

  private mutating func readString(_ pounds: Int, _ isMultiline: Bool) {
    if sees(isMultiline ? "\"\"\"" : "\"", pounds) {
      places.removeLast()
      keep((isMultiline ? 3 : 1) + pounds)
    } else if sees("\\", pounds, "(") {
      places.append(.code(parentheses: 0))
      hide(pounds + 2)
    } else if sees("\\", pounds) {
      hide(pounds + 2)
    } else {
      hide()
    }
  }
}
