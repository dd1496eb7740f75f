import Foundation

// How long functions are, counted in lines from the declaration to the closing brace.
//
// A declaration is the word `func`, `init`, `deinit` or `subscript` where a declaration may stand; the body begins at
// the first brace outside parentheses. A requirement of a protocol ends without one, at the next declaration or brace.

/// A function and how many lines it takes.
struct FunctionLength: Sendable {
  var path: String
  /// The line of the declaration, from 1.
  var line: Int
  var name: String
  var count: Int

  static func all(in source: SwiftSource) -> [FunctionLength] {
    let declaration = Declaration()
    /// What lines declare, by their indices.
    var names: [Int: String] = [:]
    for index in source.codeLines(holding: "func", "init", "subscript") {
      names[index] = declaration.name(in: source.code[index])
    }
    return names.sorted { $0.key < $1.key }.compactMap { index, name in
      guard let end = lastLine(of: source.code, from: index, names) else { return nil }
      return FunctionLength(path: source.path, line: index + 1, name: name, count: end - index + 1)
    }
  }

  /// What a line declares. The pattern is compiled once for a file: that takes longer than to match a line.
  private struct Declaration {
    let pattern =
      #/
      ^\s* (?: @\S+\s+ | [a-z]+ (?: \([a-z]+\) )? \s+ )*
      (?: func\s+(\S+?)\s*[\(<] | (init|subscript)[?!]?\s*[\(<] | (deinit)\s*\{ )
      /#

    func name(in line: String) -> String? {
      let first = line.bare.prefix { $0 != " " && $0 != "(" }
      if ["return", "self", "case", "let", "var", "try", "throw"].contains(first) { return nil }
      guard let match = line.firstMatch(of: pattern) else { return nil }
      return String(match.output.1 ?? match.output.2 ?? match.output.3 ?? "")
    }
  }

  private static func lastLine(of code: [String], from start: Int, _ names: [Int: String]) -> Int? {
    let (opening, closing) = (UInt8(ascii: "("), UInt8(ascii: ")"))
    let (openingBracket, closingBracket) = (UInt8(ascii: "["), UInt8(ascii: "]"))
    let (openingBrace, closingBrace) = (UInt8(ascii: "{"), UInt8(ascii: "}"))
    var (parentheses, braces) = (0, 0)
    for index in start..<code.count {
      if index > start, braces == 0, parentheses == 0, names[index] != nil { return nil }
      for byte in code[index].utf8 {
        if byte == opening || byte == openingBracket { parentheses += 1 }
        if byte == closing || byte == closingBracket { parentheses -= 1 }
        guard parentheses == 0 || braces > 0 else { continue }
        if byte == openingBrace { braces += 1 }
        if byte == closingBrace {
          if braces == 0 { return nil }
          braces -= 1
          if braces == 0 { return index }
        }
      }
    }
    return nil
  }
}
