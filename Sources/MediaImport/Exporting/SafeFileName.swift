internal import Foundation

// Names of files from words of any origin.
//
// A caption, an album's title and the name that a file had elsewhere are hostile: `..`, `a/b`, a line feed, a right-to-
// left override that makes `gpj.exe` of `exe.jpg`. What comes out of here is one component of a path on every file
// system that people carry photos on, exFAT and NTFS among them, and never names another folder, a hidden file or a
// device.
//
// Invariant: the result is empty, or 1 to `byteLimit` bytes of UTF-8 in composed form, without `/`, NUL, control
// characters and the nine characters that Windows forbids, without a dot in front, without a dot or blank at its end.
//
// Rejected: percent escapes (no person reads them), a table of look-alike characters (two albums would change places
// with each update of it).

/// Makes names of files.
package enum SafeFileName {
  /// The longest name, in bytes; what is added to it, such as ` (12)_edited.jpeg.xmp`, fits below 255.
  static let byteLimit = 200

  private static let forbidden: Set<Unicode.Scalar> = ["/", "\\", ":", "*", "?", "\"", "<", ">", "|"]

  /// Names of devices on Windows, whatever extension they have.
  private static let devices: Set<String> = Set(
    ["con", "prn", "aux", "nul"] + (0...9).flatMap { ["com\($0)", "lpt\($0)"] })

  /// One component of a path; empty if nothing of the text is left.
  package static func component(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.precomposedStringWithCanonicalMapping.unicodeScalars {
      scalars.append(isHarmless(scalar) ? scalar : "_")
    }
    var name = shortened(trimmed(String(scalars)))
    if name.hasPrefix(".") { name = "_" + name.dropFirst() }
    let stem = name.prefix { $0 != "." }.lowercased()
    if devices.contains(stem) { name = "_" + name }
    return name
  }

  private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    if forbidden.contains(scalar) { return false }
    switch scalar.properties.generalCategory {
    // Control characters, and those that change the direction or show nothing; but the joiners are part of words.
    case .control, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse, .surrogate: return false
    case .format: return scalar.value == 0x200C || scalar.value == 0x200D
    default: return true
    }
  }

  private static func trimmed(_ text: String) -> String {
    var rest = text[...]
    while let last = rest.last, last == "." || last.isWhitespace { rest.removeLast() }
    while let first = rest.first, first.isWhitespace { rest.removeFirst() }
    return String(rest)
  }

  /// The longest beginning that keeps to the limit and ends between two characters; a character that is longer than
  /// the limit is left out.
  private static func shortened(_ text: String) -> String {
    guard text.utf8.count > byteLimit else { return text }
    var name = ""
    var count = 0
    for character in text {
      count += character.utf8.count
      if count > byteLimit - 1 { break }
      name.append(character)
    }
    return trimmed(name)
  }

  /// The ending of a name with its dot, as a file should keep it; nil if there is none, or it does not look like one.
  package static func ending(of name: String) -> String? {
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
    let ending = name[name.index(after: dot)...]
    guard (1...16).contains(ending.utf8.count), ending.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
    else { return nil }
    return ".\(ending)"
  }

  /// The name without its ending.
  package static func stem(of name: String) -> String {
    guard let ending = ending(of: name) else { return name }
    return String(name.dropLast(ending.count))
  }

  /// What two names have in common that some file system takes for one.
  package static func key(_ path: String) -> String { path.lowercased().precomposedStringWithCanonicalMapping }
}
