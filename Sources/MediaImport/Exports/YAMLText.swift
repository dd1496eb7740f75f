// The part of YAML 1.2 that programs write beside photos: maps of scalars, one level of nested maps and lists of maps.
//
//     Title: 'It''s the sea'      plain, single or double quotes
//     Details:                    a map below, by its indentation
//       Keywords: sea, sun
//     Notes: |-                   a block; the lines with more indentation, joined by line ends (or blanks with >)
//       first line
//     Photos:                     a list of maps
//     - UID: pq1
//
// Everything else (anchors, tags, flows) is kept as plain text or passed over, so a file that uses it gives less and
// never something wrong. Rejected: a whole YAML parser, whose aliases and tags are what hostile files are made of.

import LibraryJSON

/// The scalars of a YAML text, by the path of their keys: `Title`, `Details.Keywords`, `Photos[].UID`.
struct YAMLText {
  private var values: [String: [String]] = [:]

  /// The first value at a path.
  subscript(path: String) -> String? { values[path]?.first }

  /// All values at a path.
  func all(_ path: String) -> [String] { values[path] ?? [] }

  /// Reads a text; bytes that are not UTF-8 become U+FFFD, and further marks of a character than
  /// `String.markLimit` are left out.
  init(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self).boundedInMarks
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    var parent: (indentation: Int, path: String) = (-1, "")
    var index = 0
    while index < lines.count {
      let line = lines[index]
      index += 1
      var indentation = line.prefix { $0 == " " }.count
      var content = line.dropFirst(indentation)
      if content.isEmpty || content.hasPrefix("#") || content.hasPrefix("---") { continue }
      let isItem = content.hasPrefix("- ")
      if isItem {
        content = content.dropFirst(2)
        indentation += 2
      }
      guard let colon = content.firstIndex(of: ":"), colon > content.startIndex else { continue }
      let key = String(content[..<colon])
      let rest = content[content.index(after: colon)...]
      guard rest.isEmpty || rest.hasPrefix(" ") else { continue }
      // Items of a list may stand below their key without indentation.
      if indentation <= parent.indentation { parent = (-1, "") }
      let mark = isItem && !parent.path.isEmpty ? "[]." : "."
      let path = parent.path.isEmpty ? key : parent.path + mark + key
      let value = String(rest).trimmingBlanks
      if value.isEmpty {
        parent = (indentation, key)
      } else if ["|", "|-", "|+", ">", ">-", ">+"].contains(value) {
        var block: [String] = []
        while index < lines.count {
          let depth = lines[index].prefix { $0 == " " }.count
          guard depth > indentation || lines[index].allSatisfy({ $0 == " " }) else { break }
          block.append(String(lines[index]).trimmingBlanks)
          index += 1
        }
        values[path, default: []].append(block.joined(separator: value.hasPrefix("|") ? "\n" : " "))
      } else {
        values[path, default: []].append(Self.scalar(value))
      }
    }
  }

  private static func scalar(_ text: String) -> String {
    if text.count >= 2, text.hasPrefix("'"), text.hasSuffix("'") {
      return String(text.dropFirst().dropLast()).replacing("''", with: "'")
    }
    guard text.hasPrefix("\""), case .text(let plain)? = JSON(foreign: Array(text.utf8)) else { return text }
    return plain
  }
}
