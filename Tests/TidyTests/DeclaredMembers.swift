import Foundation

// What a file declares in its types and at its top level, as other files spell it.
//
//     let limit = 3                          limit           a value
//     extension JSON {
//       var texts: [String] { … }            texts           a property
//       func value(of name: String) { … }    value(of        a function, with its first label
//       init?(foreign bytes: [UInt8]) { … }  JSON(foreign    an initialiser, with its type and first label
//     }
//
// A line counts if each line around it, by the margins, declares a type or is a condition of the compiler: what stands
// in a body is local. A type whose body is on the line of its head is read as one without members.

/// A member of a type, or a constant, variable or function at the top level of a file.
struct DeclaredMember: Equatable {
  enum Kind {
    case value, property, function, initialiser
  }

  var kind: Kind
  /// As the table above has it; `_` for no label, and nothing for no parameter.
  var name: String
  /// The type around it, without those around that; nil at the top level.
  var type: String?
  var isPrivate: Bool

  private static let types: Set<Substring> = ["struct", "class", "enum", "protocol", "actor", "extension"]

  /// What may stand before the keyword, with what stands there in parentheses.
  private static let modifiers: Set<Substring> = [
    "public", "open", "package", "internal", "private", "fileprivate", "static", "final", "override", "mutating",
    "nonmutating", "consuming", "borrowing", "convenience", "required", "nonisolated", "indirect", "lazy", "weak",
    "unowned", "set", "unsafe", "nonsending", "prefix", "postfix", "infix",
  ]

  /// See `SwiftSource.members`.
  static func all(in source: SwiftSource) -> [DeclaredMember] {
    var found: [DeclaredMember] = []
    /// The lines around the next one: their margins, and whether they hold members, and of which type.
    var around: [(margin: Int, holdsMembers: Bool, type: String?)] = []
    for (index, (line, all)) in zip(source.code, source.words).enumerated() {
      let text = line.bare
      // A head of several lines ends with its conditions, or with the brace alone.
      guard let first = text.utf8.first, first != UInt8(ascii: "{"), !text.hasPrefix("where ") else { continue }
      let margin = line.utf8.count - text.utf8.count
      while let last = around.last, last.margin >= margin { around.removeLast() }
      if let last = around.last, !last.holdsMembers { continue }
      let type = around.last?.type
      guard first != UInt8(ascii: "#") else {
        around.append((margin, true, type))
        continue
      }
      let (words, isPrivate) = declaration(all)
      if let inner = declaredType(words) {
        around.append((margin, true, inner))
        continue
      }
      around.append((margin, false, nil))
      guard var next = member(words, of: type, at: index, in: source) else { continue }
      next.isPrivate = isPrivate
      found.append(next)
    }
    return found
  }

  /// The words from the keyword on, and whether the declaration is private.
  private static func declaration(_ words: [Substring]) -> (words: [Substring], isPrivate: Bool) {
    var isPrivate = false
    let modifierCount = words.indices.first { place in
      let word = words[place]
      let isOfClass = word == "class" && place + 1 < words.count && ["func", "var"].contains(words[place + 1])
      guard isOfClass || modifiers.contains(word) || word.byteBefore == UInt8(ascii: "@") else { return true }
      if word.hasSuffix("private"), word.byteBehind != UInt8(ascii: "(") { isPrivate = true }
      return false
    }
    return (Array(words.dropFirst(modifierCount ?? words.count)), isPrivate)
  }

  /// The name of a type that is declared or extended, the last one of `A.B`; nil for another declaration.
  private static func declaredType(_ words: [Substring]) -> String? {
    guard words.count > 1, types.contains(words[0]) else { return nil }
    var place = 1
    while place + 1 < words.count, words[place].byteBehind == UInt8(ascii: ".") { place += 1 }
    return String(words[place])
  }

  private static func member(
    _ words: [Substring], of type: String?, at index: Int, in source: SwiftSource
  ) -> DeclaredMember? {
    guard let keyword = words.first else { return nil }
    if keyword == "init" {
      guard let type, let label = source.firstLabel(behind: keyword, at: index, isCall: false) else { return nil }
      return DeclaredMember(kind: .initialiser, name: "\(type)(\(label)", type: type, isPrivate: false)
    }
    // Not the parameter of an operator, nor a part of a pattern.
    guard let name = words.dropFirst().first, name.byteBefore == UInt8(ascii: " ") else { return nil }
    switch keyword {
    case "let", "var":
      let kind: Kind = type == nil ? .value : .property
      return DeclaredMember(kind: kind, name: String(name), type: type, isPrivate: false)
    case "func":
      guard let label = source.firstLabel(behind: name, at: index, isCall: false) else { return nil }
      return DeclaredMember(kind: .function, name: "\(name)(\(label)", type: type, isPrivate: false)
    default: return nil
    }
  }
}

extension SwiftSource {
  /// The first label of the list in parentheses that begins behind a word: `_` if there is none, and nothing for an
  /// empty list; nil if no list begins there.
  /// - Parameters:
  ///   - word: a word of the line.
  ///   - index: the index of the line.
  ///   - isCall: whether a colon follows a label; that of a declaration may be followed by a name.
  func firstLabel(behind word: Substring, at index: Int, isCall: Bool) -> String? {
    var rest = word.base.utf8[word.endIndex...]
    // `init?(`, `[UInt8](`
    if let sign = rest.first, sign == UInt8(ascii: "?") || sign == UInt8(ascii: "!") || sign == UInt8(ascii: "]") {
      rest = rest.dropFirst()
    }
    if !isCall, rest.first == UInt8(ascii: "<") { rest = rest.drop { $0 != UInt8(ascii: "(") } }
    guard rest.first == UInt8(ascii: "(") else { return nil }
    rest = rest.dropFirst()
    if rest.first == UInt8(ascii: ")") { return "" }
    if rest.isEmpty, index + 1 < code.count { rest = code[index + 1].utf8.drop { $0 == UInt8(ascii: " ") } }
    let label = rest.prefix { $0.isOfName }
    guard !label.isEmpty, !isCall || rest.dropFirst(label.count).first == UInt8(ascii: ":") else { return "_" }
    return String(Substring(label))
  }
}
