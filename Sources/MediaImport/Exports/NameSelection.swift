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

/// A choice of files by name.
struct NameSelection: Sendable {
  /// Patterns of which one must fit; none: everything fits.
  var included: [String] = []
  /// Patterns of which none may fit.
  var excluded: [String] = []

  /// Why a file or folder is left out; nil if it is not.
  /// - Parameters:
  ///   - relative: the path below the root.
  ///   - path: where it is, for the sentence.
  func reason(against relative: [UInt8], isFolder: Bool, at path: FilePath) -> String? {
    if isFolder, let reason = Self.reason(ofLibrary: path) { return reason }
    if included.isEmpty, excluded.isEmpty { return nil }
    let below = FilePath(bytes: relative)
    let name = FilePath(bytes: below.nameBytes)
    if let pattern = excluded.first(where: { Self.fits($0, name, below) }) {
      return "\(path) is skipped, since its name matches '\(pattern)'."
    }
    guard !isFolder, !included.isEmpty, !included.contains(where: { Self.fits($0, name, below) }) else { return nil }
    return "\(path) is skipped, since its name matches none of the given patterns."
  }

  /// The same for a member of an archive, whose folders are not walked one by one.
  func reason(againstMember relative: [UInt8], at path: FilePath) -> String? {
    var end = relative.startIndex
    while let slash = relative[end...].firstIndex(of: FilePath.slash) {
      let folder = Array(relative[..<slash])
      let below = FilePath(bytes: folder)
      if let pattern = excluded.first(where: { Self.fits($0, FilePath(bytes: below.nameBytes), below) }) {
        return "\(path) is skipped, since the name of its folder matches '\(pattern)'."
      }
      end = slash + 1
    }
    return reason(against: relative, isFolder: false, at: path)
  }

  private static func fits(_ pattern: String, _ name: FilePath, _ path: FilePath) -> Bool {
    let text = pattern.utf8.contains(FilePath.slash) ? path : name
    return text.withCString { fnmatch(pattern, $0, withoutRegardToCase) } == 0
  }

  /// Why a folder is left out that is a PhotoLedger library's; nil for any other.
  static func reason(ofLibrary path: FilePath) -> String? {
    guard path.appending(LibraryStore.storeFileName.utf8).withCString({ access($0, F_OK) }) == 0 else { return nil }
    return "\(path) is the folder of a PhotoLedger library, which is skipped."
  }
}

/// FNM_CASEFOLD of <fnmatch.h>, which Swift does not import since it hides behind _GNU_SOURCE.
private let withoutRegardToCase: Int32 = 1 << 4
