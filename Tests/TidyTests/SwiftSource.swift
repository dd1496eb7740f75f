import Foundation
import Synchronization

// A Swift file as the rules read it: each line as it stands, and beside it the same line with comments and the contents
// of string literals blanked out, so that a word in a sentence is never taken for code.
//
//     text   let path = "a { b"  // not a { brace        code   let path = "     "
//
// A rule asks for the lines that hold a text (`codeLines(holding:)`), rather than each line whether it holds it. The
// words of a file and the members that it declares, which several rules ask for, are read once.
//
// The scanner knows line and block comments (nested), strings of one and of several lines, raw strings, code inside an
// interpolation, and regular expressions with one pound, `#/…/#`. One without is read as code, in which a quote begins
// a string: it must not hold a quote, or hold two.

/// One Swift file of the package.
struct SwiftSource: Sendable {
  /// The path below the root of the package.
  let path: String
  /// The module that the file belongs to; nil outside Sources.
  let module: String?
  /// The lines as they stand.
  let text: [String]
  /// The lines without comments and without the contents of literals; as many as `text`, and each as long.
  let code: [String]
  let textBytes: LinedBytes
  let codeBytes: LinedBytes
  private let readWords = Lazily<[[Substring]]>()
  private let readMembers = Lazily<[DeclaredMember]>()
  private let readFunctions = Lazily<[String]>()

  init(path: String, contents: String) {
    self.path = path
    let parts = path.split(separator: "/")
    module = parts.count > 2 && parts[0] == "Sources" ? String(parts[1]) : nil
    textBytes = LinedBytes(contents)
    codeBytes = textBytes.blanked()
    text = textBytes.lines
    code = codeBytes.lines
  }

  /// The indices of the lines that hold one of some texts, in order.
  func textLines(holding texts: String...) -> [Int] { textBytes.lines(holding: texts) }

  /// The indices of the lines whose code holds one of some texts, in order.
  func codeLines(holding texts: String...) -> [Int] { codeBytes.lines(holding: texts) }

  /// The words of each line of code.
  var words: [[Substring]] { readWords.value { code.map { $0.codeWords } } }

  /// What the file declares in its types and at its top level.
  var members: [DeclaredMember] { readMembers.value { DeclaredMember.all(in: self) } }

  /// The names of all functions that the file declares.
  var functions: [String] {
    readFunctions.value {
      // Compiled once for a file: that takes longer than to match a line.
      let declaration = #/^ *(?:[a-z]+ |@\w+ )*func (\w+)/#
      return codeLines(holding: "func ").compactMap { line in
        code[line].firstMatch(of: declaration).map { String($0.output.1) }
      }
    }
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

/// A value that is computed when it is first asked for.
private final class Lazily<Value: Sendable>: Sendable {
  private let computed = Mutex<Value?>(nil)

  func value(_ compute: () -> Value) -> Value {
    computed.withLock { computed in
      if let computed { return computed }
      let value = compute()
      computed = value
      return value
    }
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
}
