import Foundation

// A public call that is used incorrectly ends the process, and says why. `precondition` says it in debug builds only,
// in which most servers are not built; so what programs reach directly uses `requireCorrectUse`, or `fatalError`.
// Inside the library `precondition` is right: there it guards against a defect of the library itself.

extension Rule {
  /// The modules that programs import, apart from those with Apple's names.
  private static let imported = modulesOfTheLibrary.map { "Sources/\($0)/" }
  /// Where everything is called by programs, or for them by Apple's names.
  private static let whole = ["Photos", "PhotosUI", "ExtensionFoundation", "StandIns"].map { "Sources/\($0)/" }

  static let sentencesOfTraps = Rule(
    "a public call that is used incorrectly traps with its sentence in every build",
    appliesTo: { path in (imported + whole).contains { path.hasPrefix($0) } },
    check: { source in
      let isWhole = source.path.hasSuffix("/ChangeBlock.swift") || whole.contains { source.path.hasPrefix($0) }
      return source.codeLines(holding: "precondition").filter { index in
        isWhole || source.code[index].holds("precondition(") && source.isInPublicCall(index)
      }.map { Finding(source, $0, "traps without a sentence in optimised builds; use requireCorrectUse") }
    })
}

extension SwiftSource {
  /// Whether the function around a line is public.
  fileprivate func isInPublicCall(_ line: Int) -> Bool {
    for text in code[...line].reversed() {
      let words = text.split(separator: " ")
      let declared = words.drop { word in
        word.hasPrefix("@") || Self.modifiers.contains(word.prefix { $0 != "(" })
      }
      guard let first = declared.first, let kind = Self.kinds.first(where: { first.hasPrefix($0) }) else { continue }
      // A constant inside a function does not contain the line.
      if kind == "let" || kind == "var", !words.contains("static") { continue }
      return words.contains("public") || words.contains("open")
    }
    return false
  }

  private static let kinds = ["func", "init", "subscript", "let", "var"]

  private static let modifiers: Set<Substring> = [
    "public", "open", "package", "internal", "private", "fileprivate", "static", "class", "final", "override",
    "convenience", "required", "mutating", "consuming", "nonisolated",
  ]
}
