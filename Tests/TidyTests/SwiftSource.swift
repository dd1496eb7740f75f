import Foundation

// A Swift file as the rules read it: each line as it stands, and beside it the same line with comments and the contents
// of string literals blanked out, so that a word in a sentence is never taken for code.
//
//     text   let path = "a { b"  // not a { brace        code   let path = "     "
//
// The scanner knows line and block comments (nested), strings of one and of several lines, raw strings, and code inside
// an interpolation. It does not know regular expression literals; the package has none.

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

/// Blanks out comments and the contents of literals.
private struct Blanker {
  private enum Place {
    case code(parentheses: Int)
    case lineComment
    case blockComment(depth: Int)
    case string(pounds: Int, isMultiline: Bool)
  }

  private let characters: [Character]
  private var index = 0
  private var places: [Place] = [.code(parentheses: 0)]
  private var output = ""

  init(_ contents: String) { characters = Array(contents) }

  private func sees(_ text: String, at start: Int) -> Bool {
    let wanted = Array(text)
    return start + wanted.count <= characters.count && characters[start..<(start + wanted.count)].elementsEqual(wanted)
  }

  private mutating func keep(_ count: Int = 1) {
    output.append(contentsOf: characters[index..<min(index + count, characters.count)])
    index += count
  }

  private mutating func hide(_ count: Int = 1) {
    for _ in 0..<count where index < characters.count {
      output.append(characters[index] == "\n" ? "\n" : " ")
      index += 1
    }
  }

  mutating func blank() -> String {
    while index < characters.count {
      switch places[places.count - 1] {
      case .code(let parentheses): readCode(parentheses)
      case .lineComment:
        if characters[index] == "\n" { places.removeLast() }
        hide()
      case .blockComment(let depth): readBlockComment(depth)
      case .string(let pounds, let isMultiline): readString(pounds, isMultiline)
      }
    }
    return output
  }

  private mutating func readCode(_ parentheses: Int) {
    if sees("//", at: index) {
      places.append(.lineComment)
      hide(2)
    } else if sees("/*", at: index) {
      places.append(.blockComment(depth: 1))
      hide(2)
    } else if let opening = stringOpening() {
      places.append(.string(pounds: opening.pounds, isMultiline: opening.isMultiline))
      keep(opening.pounds + (opening.isMultiline ? 3 : 1))
    } else {
      readCodeCharacter(parentheses)
    }
  }

  private mutating func readCodeCharacter(_ parentheses: Int) {
    switch characters[index] {
    case "(": places[places.count - 1] = .code(parentheses: parentheses + 1)
    case ")" where parentheses == 0 && places.count > 1:
      // The end of an interpolation: back in the string.
      places.removeLast()
      hide()
      return
    case ")": places[places.count - 1] = .code(parentheses: parentheses - 1)
    default: break
    }
    keep()
  }

  private func stringOpening() -> (pounds: Int, isMultiline: Bool)? {
    var pounds = 0
    while index + pounds < characters.count, characters[index + pounds] == "#" { pounds += 1 }
    guard index + pounds < characters.count, characters[index + pounds] == "\"" else { return nil }
    return (pounds, sees("\"\"\"", at: index + pounds))
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

  private mutating func readString(_ pounds: Int, _ isMultiline: Bool) {
    let fence = String(repeating: "#", count: pounds)
    let end = (isMultiline ? "\"\"\"" : "\"") + fence
    if sees(end, at: index) {
      places.removeLast()
      keep(end.count)
    } else if sees("\\" + fence + "(", at: index) {
      places.append(.code(parentheses: 0))
      hide(pounds + 2)
    } else if sees("\\" + fence, at: index) {
      hide(pounds + 2)
    } else {
      hide()
    }
  }
}
