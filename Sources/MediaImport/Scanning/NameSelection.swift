internal import Glibc
internal import PhotoLedger

// Which files an import looks at, by their names.
//
//     pattern without a slash     fits any folder or file name on the way:   @eaDir    ._*    *.lrdata
//     pattern with a slash        fits the path below the root:              2019/*    */Screenshots/*
//
// Patterns are the shell's (fnmatch), without regard to case; `*` goes over slashes. A folder that is excluded is not
// walked and is one entry of the report. Inclusion is asked of files only. The folder of another PhotoLedger library is
// left out always: its files have no names and are photos of that library.
//
// Every name is compared with every pattern, and most patterns are plain names, or have one star at an end. These are
// compared as bytes; only the others go to fnmatch, and only with names that begin as they do up to their first star.

/// A choice of files by name.
struct NameSelection: Sendable {
  /// Patterns of which one must fit; none: everything fits.
  var included: [String] { didSet { inclusion = included.map { NamePattern($0) } } }
  /// Patterns of which none may fit.
  var excluded: [String] { didSet { exclusion = excluded.map { NamePattern($0) } } }
  private var inclusion: [NamePattern]
  private var exclusion: [NamePattern]

  init(included: [String] = [], excluded: [String] = []) {
    (self.included, self.excluded) = (included, excluded)
    inclusion = included.map { NamePattern($0) }
    exclusion = excluded.map { NamePattern($0) }
  }

  /// Why a file or folder is left out by its name; nil if it is not. A folder may still be a library's.
  /// - Parameters:
  ///   - relative: the path below the root.
  ///   - isFolder: whether it is a folder.
  ///   - path: where it is, for the sentence.
  func reason(ofName relative: [UInt8], isFolder: Bool, at path: @autoclosure () -> FilePath) -> String? {
    if let pattern = exclusion.first(where: { $0.fits(relative) }) {
      return "\(path()) is skipped, since its name matches '\(pattern.text)'."
    }
    guard !isFolder, !inclusion.isEmpty, !inclusion.contains(where: { $0.fits(relative) }) else { return nil }
    return "\(path()) is skipped, since its name matches none of the given patterns."
  }

  /// The same for a member of an archive, whose folders are not walked one by one.
  func reason(againstMember relative: [UInt8], at path: FilePath) -> String? {
    var end = relative.startIndex
    while let slash = relative[end...].firstIndex(of: FilePath.slash) {
      let folder = Array(relative[..<slash])
      if let pattern = exclusion.first(where: { $0.fits(folder) }) {
        return "\(path) is skipped, since the name of its folder matches '\(pattern.text)'."
      }
      end = slash + 1
    }
    return reason(ofName: relative, isFolder: false, at: path)
  }

  /// Why a folder is left out that is a PhotoLedger library's; nil for any other.
  static func reason(ofLibrary path: FilePath) -> String? {
    guard path.appending(storePath).withCString({ access($0, F_OK) }) == 0 else { return nil }
    return "\(path) is the folder of a PhotoLedger library, which is skipped."
  }

  private static let storePath = Array(LibraryStore.storeFileName.utf8)
}

/// A pattern of names.
struct NamePattern: Sendable {
  /// The pattern as it was given.
  let text: String
  private let kind: Kind
  /// What is compared as bytes, of a pattern for fnmatch its plain beginning; its letters are small.
  private let bytes: [UInt8]

  private enum Kind {
    /// The whole name, its beginning, or its end.
    case name, beginning, end
    /// Anything else: what fnmatch says of the name, or of the path.
    case shell, shellOfPath
  }

  init(_ text: String) {
    self.text = text
    let all = Array(text.utf8)
    let special = all.indices.filter { Self.special.contains(all[$0]) }
    let isPlain = all.allSatisfy { $0 < 0x80 && $0 != 0 } && !all.contains(FilePath.slash) && !all.isEmpty
    let star = special.count == 1 && all[special[0]] == 0x2A ? special[0] : nil
    switch (isPlain, special.isEmpty, star) {
    case (true, true, _): (kind, bytes) = (.name, all.map(Self.small))
    case (true, _, 0?): (kind, bytes) = (.end, all.dropFirst().map(Self.small))
    case (true, _, (all.count - 1)?): (kind, bytes) = (.beginning, all.dropLast().map(Self.small))
    case _ where all.contains(FilePath.slash): (kind, bytes) = (.shellOfPath, [])
    default:
      let beginning = all.prefix { $0 < 0x80 && $0 != 0 && !Self.special.contains($0) }
      (kind, bytes) = (.shell, beginning.map(Self.small))
    }
  }

  /// What fnmatch does not take as it is: `*`, `?`, `[` and the backslash.
  private static let special: [UInt8] = [0x2A, 0x3F, 0x5B, 0x5C]

  /// Whether the pattern fits what has a path below the root.
  func fits(_ relative: [UInt8]) -> Bool {
    let start = relative.lastIndex(of: FilePath.slash).map { $0 + 1 } ?? 0
    let count = relative.count - start
    switch kind {
    case .name: return count == bytes.count && equals(relative, at: start)
    case .beginning: return count >= bytes.count && equals(relative, at: start)
    case .end: return count >= bytes.count && equals(relative, at: relative.count - bytes.count)
    case .shell:
      guard count >= bytes.count, equals(relative, at: start) else { return false }
      return Self.fits(text, FilePath(bytes: relative[start...]))
    case .shellOfPath: return Self.fits(text, FilePath(bytes: relative))
    }
  }

  private func equals(_ name: [UInt8], at start: Int) -> Bool {
    for index in bytes.indices where Self.small(name[start + index]) != bytes[index] { return false }
    return true
  }

  /// A letter of ASCII as a small one; any other byte as it is.
  @inline(__always)
  static func small(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

  private static func fits(_ pattern: String, _ path: FilePath) -> Bool {
    path.withCString { fnmatch(pattern, $0, withoutRegardToCase) } == 0
  }
}

/// FNM_CASEFOLD of <fnmatch.h>, which Swift does not import since it hides behind _GNU_SOURCE.
private let withoutRegardToCase: Int32 = 1 << 4
