// The part of YAML 1.2 that programs write beside photos: maps of scalars, one level of nested maps and lists of maps.
//
//     Title: 'It''s the sea'      plain, single or double quotes; the lines with more indentation go on with it,
//       and the sun'              joined by blanks, empty ones as line ends
//     Details:                    a map below, by its indentation
//       Keywords: sea, sun
//     Notes: |-                   a block; the lines with more indentation, joined by line ends (or blanks with >)
//       first line
//     Photos:                     a list of maps
//     - UID: pq1
//
// Programs wrap long values after some 80 columns, so a value rarely ends with its line.
//
// Everything else (anchors, tags, flows) is kept as plain text or passed over, so a file that uses it gives less and
// never something wrong. Rejected: a whole YAML parser, whose aliases and tags are what hostile files are made of.

import JSONReading

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
      } else if let whole = Self.folded(value, lines, &index, below: indentation) {
        values[path, default: []].append(Self.scalar(whole))
      }
    }
  }

  /// A scalar with the lines that go on with it, each read once.
  /// - Parameters:
  ///   - first: what stands after the key.
  ///   - index: the line after it; after the scalar at the return.
  ///   - indentation: that of the key.
  /// - Returns: nil for quotes that do not end.
  private static func folded(
    _ first: String, _ lines: [Substring], _ index: inout Int, below indentation: Int
  ) -> String? {
    guard let mark = first.unicodeScalars.first, !"&*![{|>".unicodeScalars.contains(mark) else { return first }
    let isQuoted = mark == "'" || mark == "\""
    var text = first
    var end = isQuoted ? LineEnd(first.unicodeScalars.dropFirst(), quotedBy: mark) : .goesOn
    var emptyCount = 0
    while end != .quote, index < lines.count {
      let content = String(lines[index]).trimmingBlanks
      if content.isEmpty {
        (emptyCount, index) = (emptyCount + 1, index + 1)
        continue
      }
      let depth = lines[index].prefix { $0 == " " }.count
      guard depth > indentation, isQuoted || !content.hasPrefix("#") else { break }
      index += 1
      if end == .escape {
        text.unicodeScalars.removeLast()
      } else if emptyCount == 0 {
        text += " "
      }
      text += String(repeating: mark == "\"" ? "\\n" : "\n", count: emptyCount)
      text += content
      emptyCount = 0
      if isQuoted { end = LineEnd(content.unicodeScalars[...], quotedBy: mark) }
    }
    return isQuoted && end != .quote ? nil : text
  }

  /// How a line of a scalar ends.
  private enum LineEnd {
    /// The next line may go on with it; in quotes, has to.
    case goesOn
    /// With the quotes.
    case quote
    /// With a backslash, so that no blank comes between it and the next line.
    case escape

    init(_ line: Substring.UnicodeScalarView, quotedBy mark: Unicode.Scalar) {
      self = .goesOn
      var rest = line
      while let scalar = rest.popFirst() {
        if scalar == "\\", mark == "\"" {
          if rest.popFirst() == nil { self = .escape }
        } else if scalar == mark {
          // Within single quotes, one is written twice.
          guard mark == "'", rest.first == mark else {
            self = .quote
            return
          }
          rest.removeFirst()
        }
      }
    }
  }

  /// Double quotes as JSON has them: its escapes in place of those that only YAML has.
  private static func withJSONEscapes(_ text: String) -> String {
    var plain = String.UnicodeScalarView()
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      guard scalar == "\\", let kind = rest.popFirst() else {
        plain.append(scalar)
        continue
      }
      var code = codes[kind]
      if kind == "x" || kind == "U" {
        let digits = rest.prefix(kind == "x" ? 2 : 8)
        rest = rest.dropFirst(digits.count)
        code = UInt32(String(Substring(digits)), radix: 16)
      }
      guard let code, let meant = Unicode.Scalar(code) else {
        plain.append(contentsOf: [scalar, kind])
        continue
      }
      if code < 0x20 || meant == "\"" || meant == "\\" {
        plain.append(contentsOf: "\\u00\(code < 0x10 ? "0" : "")\(String(code, radix: 16))".unicodeScalars)
      } else {
        plain.append(meant)
      }
    }
    return String(plain)
  }

  /// The escapes of YAML that JSON does not have (YAML 1.2, 5.7).
  private static let codes: [Unicode.Scalar: UInt32] = [
    "0": 0, "a": 7, "v": 0xB, "e": 0x1B, " ": 0x20, "N": 0x85, "_": 0xA0, "L": 0x2028, "P": 0x2029,
  ]

  private static func scalar(_ text: String) -> String {
    if text.count >= 2, text.hasPrefix("'"), text.hasSuffix("'") {
      return String(text.dropFirst().dropLast()).replacing("''", with: "'")
    }
    guard text.hasPrefix("\""), case .text(let plain)? = JSON(foreign: Array(withJSONEscapes(text).utf8)) else {
      return text
    }
    return plain
  }
}
