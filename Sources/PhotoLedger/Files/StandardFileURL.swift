package import Foundation

extension URL {
  /// What `standardizedFileURL` gives. A URL that is standard already is returned as it is: Foundation would make it
  /// anew, and instantiates generic types for that when a process opens its first library.
  package var standardFileURL: URL { isStandardFileURL ? self : standardizedFileURL }

  /// Whether the URL surely is what `standardizedFileURL` gives: its path is absolute, has no empty, `.` or `..`
  /// component, and consists of characters that URLs never escape (the unreserved ones of RFC 3986).
  var isStandardFileURL: Bool {
    let (text, start) = (relativeString, "file:///")
    // Foundation removes these two folders from a path if the rest leads to a file, on Linux too.
    guard baseURL == nil, text.hasPrefix(start), !text.hasPrefix("file:///private/"),
      !text.hasPrefix("file:///var/automount/")
    else { return false }
    var path = text.utf8.dropFirst(start.utf8.count)
    // A slash after the last component belongs to the standard URL of a directory.
    if path.last == UInt8(ascii: "/") { path = path.dropLast() }
    // The bytes of the component, and how many of them are dots.
    var (count, dotCount) = (0, 0)
    var isNamed: Bool { count > dotCount || count > 2 }
    for byte in path {
      switch byte {
      case UInt8(ascii: "/"):
        guard isNamed else { return false }
        (count, dotCount) = (0, 0)
      case UInt8(ascii: "."): (count, dotCount) = (count + 1, dotCount + 1)
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"):
        count += 1
      default: return false
      }
    }
    return isNamed
  }
}
