import LibraryJSON
import PhotoLedger

/// Text in columns, counted as a terminal shows it.
enum TextLayout {
  /// How many columns a text takes: two for East Asian wide characters and emoji, none for combining marks.
  static func width(_ text: String) -> Int {
    // Each of these is a character of one column.
    if text.utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) { return text.utf8.count }
    return text.reduce(0) { $0 + width($1) }
  }

  private static func width(_ character: Character) -> Int {
    guard let scalar = character.unicodeScalars.first else { return 0 }
    if scalar.properties.generalCategory == .nonspacingMark || scalar.properties.generalCategory == .format { return 0 }
    if character.unicodeScalars.count > 1, character.unicodeScalars.contains("\u{FE0F}") { return 2 }
    return isWide(scalar) ? 2 : 1
  }

  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
      true
    default: scalar.properties.isEmojiPresentation
    }
  }

  /// The text at exactly a width: filled with blanks, or cut and ended with an ellipsis.
  static func fitted(_ text: String, _ columns: Int) -> String {
    let clean = printable(text)
    let full = width(clean)
    if full <= columns { return clean + String(repeating: " ", count: columns - full) }
    var cut = ""
    var used = 0
    for character in clean {
      let next = width(character)
      if used + next > columns - 1 { break }
      cut.append(character)
      used += next
    }
    return cut + "…" + String(repeating: " ", count: max(0, columns - used - 1))
  }

  /// A line in lines of at most so many columns, broken between words; all but the first are indented. A word that is
  /// wider stands alone.
  /// - Parameter columns: nil: as many as the line has.
  static func folded(_ line: String, at columns: Int?) -> String {
    guard let columns, width(line) > columns else { return line }
    let indent = "    "
    var (text, used, gap) = ("", 0, 0)
    for (index, word) in line.split(separator: " ", omittingEmptySubsequences: false).enumerated() {
      if index > 0 { gap += 1 }
      if word.isEmpty { continue }
      let wordWidth = width(String(word))
      if used > 0, used + gap + wordWidth > columns {
        text += "\n" + indent
        used = indent.count
      } else {
        text += String(repeating: " ", count: gap)
        used += gap
      }
      text += word
      (used, gap) = (used + wordWidth, 0)
    }
    return text
  }

  /// Writes a text as ``fitted(_:_:)`` gives it.
  static func write(_ text: String, fittedTo columns: Int, to bytes: inout JSONBytes) {
    var text = text
    let isPlain = text.withUTF8 { utf8 in
      guard utf8.count <= columns, utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) else { return false }
      bytes.raw(UnsafeRawBufferPointer(utf8))
      bytes.blanks(columns - utf8.count)
      return true
    }
    if !isPlain { bytes.raw(fitted(text, columns)) }
  }

  /// The text as one word of a shell's command.
  static func shellWord(_ text: String) -> String { "'\(printable(text).replacing("'", with: "'\\''"))'" }

  /// The text with control characters escaped: a file name must not control a terminal, nor change the direction of the
  /// surrounding text.
  static func printable(_ text: String) -> String {
    // Nearly every text is plain ASCII, which is found out byte by byte.
    if text.utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.map { steers($0) ? "\u{FFFD}" : $0 }))
  }

  private static func steers(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    // The embeddings, overrides and isolates of the bidirectional algorithm (UAX #9, section 2).
    case 0x202A...0x202E, 0x2066...0x2069: true
    default: scalar.properties.generalCategory == .control
    }
  }

  /// A number of bytes for people.
  static func bytes(_ count: UInt64) -> String {
    if count < 1000 { return counted(Int(count), "byte") }
    var value = Double(count)
    for unit in ["kB", "MB", "GB"] {
      value /= 1000
      let rounded = (value * 10).rounded() / 10
      if rounded < 1000 { return "\(rounded) \(unit)" }
    }
    return "\((value / 100).rounded() / 10) TB"
  }

  /// A length of time for people, such as `1:02:03`.
  static func duration(_ seconds: Double) -> String {
    let whole = Int(max(0, min(1e9, seconds.rounded())))
    let tail = (whole % 60).padded(to: 2)
    if whole < 3600 { return "\(whole / 60):\(tail)" }
    return "\(whole / 3600):\((whole / 60 % 60).padded(to: 2)):\(tail)"
  }

  /// A count with its noun: `1 asset`, `1,204 assets`.
  static func counted(_ count: Int, _ noun: String) -> String {
    counted(count, noun, noun + "s")
  }

  /// A count with the words for one and for any other number: `1 stack made`, `2 stacks made`.
  static func counted(_ count: Int, _ one: String, _ several: String) -> String {
    "\(grouped(count)) \(count == 1 ? one : several)"
  }

  /// A whole number with commas between thousands.
  static func grouped(_ number: Int) -> String {
    var text = ""
    for (index, digit) in String(abs(number)).reversed().enumerated() {
      if index > 0, index % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return (number < 0 ? "-" : "") + String(text.reversed())
  }
}

extension StringProtocol {
  /// The words of the text in lines of at most so many columns.
  func wrapped(at columns: Int) -> String {
    var lines: [String] = [""]
    for word in split(separator: " ") {
      let last = lines[lines.count - 1]
      if last.isEmpty {
        lines[lines.count - 1] = String(word)
      } else if TextLayout.width(last) + 1 + TextLayout.width(String(word)) <= columns {
        lines[lines.count - 1] += " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines.joined(separator: "\n")
  }
}
