import Foundation

// Whether every public declaration has a doc comment. Three kinds of line are declarations:
//
//     … public …        any declaration that says so itself, or `open`
//     case …            directly inside a `public enum`
//     func, var, init … directly inside a `public protocol`
//
// A line's scope is the declaration whose brace encloses it; `import` lines and conformances alone declare nothing.

extension Rule {
  static let documented = Rule(
    "every public declaration has a doc comment",
    appliesTo: { $0.hasPrefix("Sources/") || $0.hasPrefix("Migrations/") },
    check: { source in
      // Elsewhere a line is public only inside a type that is.
      let marked = Set(source.codeLines(holding: "public", "open"))
      if marked.isEmpty { return [] }
      var scopes = ScopeReader()
      var findings: [Finding] = []
      for index in source.code.indices {
        let isMarked = marked.contains(index)
        if isMarked || scopes.isInPublicType {
          let line = source.code[index].trimmingCharacters(in: .whitespaces)
          if scopes.declares(line), !source.isDocumented(index) {
            findings.append(Finding(source, index, "has no doc comment: \(line.prefix(60))"))
          }
        }
        scopes.read(source.code[index], isMarked: isMarked)
      }
      return findings
    })
}

extension SwiftSource {
  fileprivate func isDocumented(_ index: Int) -> Bool { comment(above: index).contains { $0.hasPrefix("///") } }
}

/// Knows in which declaration a line stands.
private struct ScopeReader {
  private enum Scope {
    case publicEnum
    case publicProtocol
    case other
  }

  private var scopes: [Scope] = []
  /// The scope that the next brace opens.
  private var pending = Scope.other
  private var parentheses = 0

  /// Whether a line may declare something public without a word that says so.
  var isInPublicType: Bool {
    switch scopes.last {
    case .publicEnum, .publicProtocol: true
    default: false
    }
  }

  /// Whether a trimmed line of code declares something public.
  func declares(_ line: String) -> Bool {
    let words = Self.words(line)
    if parentheses > 0 || words.contains("import") { return false }
    if let place = words.firstIndex(where: { $0 == "public" || $0 == "open" }),
      words[..<place].allSatisfy(Self.isModifier)
    {
      return words[(place + 1)...].contains { Self.keywords.contains($0) }
    }
    switch scopes.last {
    case .publicEnum: return words.first == "case" || words.first == "indirect" && words.dropFirst().first == "case"
    case .publicProtocol: return words.contains { Self.keywords.contains($0) }
    default: return false
    }
  }

  /// Takes a line's braces into account, and if it holds the word "public" also what it declares.
  mutating func read(_ line: String, isMarked: Bool) {
    if isMarked {
      let words = Self.words(line)
      if words.contains("public"), words.contains("enum") { pending = .publicEnum }
      if words.contains("public"), words.contains("protocol") { pending = .publicProtocol }
    }
    let (opening, closing) = (UInt8(ascii: "("), UInt8(ascii: ")"))
    let (openingBracket, closingBracket) = (UInt8(ascii: "["), UInt8(ascii: "]"))
    let (openingBrace, closingBrace) = (UInt8(ascii: "{"), UInt8(ascii: "}"))
    for byte in line.utf8 {
      if byte == opening || byte == openingBracket { parentheses += 1 }
      if byte == closing || byte == closingBracket { parentheses -= 1 }
      if byte == openingBrace {
        scopes.append(pending)
        pending = .other
      }
      if byte == closingBrace { _ = scopes.popLast() }
    }
  }

  private static let keywords: Set<String> = [
    "func", "var", "let", "init", "subscript", "struct", "class", "enum", "protocol", "typealias", "associatedtype",
    "actor", "macro",
  ]

  private static func isModifier(_ word: String) -> Bool {
    word.hasPrefix("@") || word.hasPrefix("(")
      || ["final", "static", "override", "indirect", "nonisolated", "mutating", "borrowing", "consuming", "lazy"]
        .contains(word)
  }

  /// The words of a line, an attribute's arguments cut off, a keyword's punctuation too: `init(` counts as `init`.
  private static func words(_ line: String) -> [String] {
    var bare = line
    while bare.holds("@"), let start = bare.range(of: "@[A-Za-z_]+\\([^)]*\\)", options: .regularExpression) {
      bare.replaceSubrange(start, with: "@")
    }
    return bare.utf8.split { byte in
      byte < 0x80 && byte != UInt8(ascii: "_") && byte != UInt8(ascii: "@")
        && !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) && !(0x61...0x7A).contains(byte | 0x20)
    }.map { String(Substring($0)) }
  }
}
