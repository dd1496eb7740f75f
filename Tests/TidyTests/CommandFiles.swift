import Foundation

// Where a command stands: in the file of its first word, or in that of all its words.
//
//     album create, album add   Album.swift        edit commit   EditCommit.swift        unhide   Hide.swift
//
// A command names its words in `words: ["album", "create"]` or in `editing("album create"`. What is not for people ends
// in `-here`, and stands with the command that starts it.

/// The commands that a file declares.
enum CommandFiles {
  static func findings(in source: SwiftSource) -> [Finding] {
    let name = source.path.split(separator: "/").last.map { $0.dropLast(".swift".count) } ?? ""
    let text = source.text.joined(separator: "\n")
    return commands(in: text).filter { !isAt(home: String(name), $0) }.map {
      Finding(path: source.path, line: 1, "declares '\($0)', which belongs to a file of its words")
    }
  }

  /// The words of the commands that a text declares.
  static func commands(in text: String) -> [String] {
    let pattern = #/(?:\bwords: \[|\bediting\(\s*)"([a-z -]+)"(?:, "([a-z-]+)")?/#
    return text.matches(of: pattern).map { match in
      let isList = match.output.0.hasPrefix("words")
      return [String(match.output.1), isList ? match.output.2.map(String.init) : nil].compactMap(\.self)
        .joined(separator: " ")
    }
  }

  private static func isAt(home name: String, _ command: String) -> Bool {
    let words = command.split { $0 == " " || $0 == "-" }.map(String.init)
    let first = command.split(separator: " ")[0].split(separator: "-").map(String.init)
    let homes = [words, first, words.filter { $0 != "here" }].map { $0.map(\.capitalized).joined() }
    return homes.contains(name) || command == "un" + name.lowercased()
  }
}
