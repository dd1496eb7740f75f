import Foundation
import PhotoLedger

// Where the library of a command is.
//
//     1. --library PATH                       as it is given
//     2. PHOTOLEDGER_LIBRARY                  unless it is empty
//     3. $XDG_DATA_HOME/photoledger/library   if the variable holds an absolute path; others are ignored, as the
//                                             XDG Base Directory Specification demands
//        ~/.local/share/photoledger/library   otherwise
//
// The first that is there counts, whether or not there is a library: a command must not work on another library than
// the one that was named, because that one is on a volume which is not mounted. Only `init`, `import` and
// `demo --library` make one.

/// The directory of a command's library, and what names it.
struct LibraryLocation: Equatable {
  /// What names the directory.
  enum Source: Equatable {
    case option, variable, standard
  }

  let url: URL
  let source: Source

  /// The directory below the user's data folder.
  static let standardDirectory = "photoledger/library"

  /// The place of the standard directory, for the help.
  static let standardPath = "~/.local/share/\(standardDirectory) (or in XDG_DATA_HOME)"

  /// - Parameter option: the value of `--library`; nil if it is not given.
  /// - Throws: ``UsageError`` for an empty option, for a variable that is not UTF-8, and if there is no home folder to
  ///   look in.
  init(option: String?) throws {
    if let option {
      guard !option.isEmpty else { throw UsageError("--library needs a path; '' is empty.") }
      (url, source) = (URL(filePath: option, directoryHint: .isDirectory), .option)
    } else if let path = try Self.variable("PHOTOLEDGER_LIBRARY"), !path.isEmpty {
      (url, source) = (URL(filePath: path, directoryHint: .isDirectory), .variable)
    } else {
      let folder = try Self.dataFolder()
      (url, source) = (URL(filePath: "\(folder)/\(Self.standardDirectory)", directoryHint: .isDirectory), .standard)
    }
  }

  /// A variable of the process.
  /// - Throws: ``UsageError`` for bytes that are not UTF-8: the text of them would name another directory.
  private static func variable(_ name: String) throws -> String? {
    guard let bytes = getenv(name) else { return nil }
    guard let text = String(validatingCString: UnsafePointer(bytes)) else {
      throw UsageError("\(name) is not UTF-8; rename the directory that it names, or pass --library PATH.")
    }
    return text
  }

  private static func dataFolder() throws -> String {
    if let folder = try variable("XDG_DATA_HOME"), folder.hasPrefix("/") { return folder }
    let home = try variable("HOME").flatMap { $0.isEmpty ? nil : $0 } ?? NSHomeDirectory()
    guard home.hasPrefix("/") else {
      throw UsageError(
        "No library is named, and '\(home)' is not a home folder; pass --library PATH, or set PHOTOLEDGER_LIBRARY.")
    }
    return home + "/.local/share"
  }

  /// The failure of a command that needs a library where there is none.
  var absence: LibraryError {
    let isThere = FileManager.default.fileExists(atPath: url.path)
    let what = isThere ? "\(url.path) is not a library" : "There is no library at \(url.path)"
    let advice =
      switch source {
      case .option: "--library names it: correct the path, or create a library there with `import FOLDER` or `init`."
      case .variable:
        "PHOTOLEDGER_LIBRARY names it: create one there with `import FOLDER` or `init`, or pass --library PATH."
      case .standard:
        """
        It is looked for there if neither --library nor PHOTOLEDGER_LIBRARY names one: make one there with \
        `import FOLDER` or `init`, or pass --library PATH.
        """
      }
    return LibraryError(.notALibrary, "\(what). \(advice)")
  }

  /// Makes a library there.
  ///
  /// What is missing of the user's data folder is made for the user alone, as the XDG specification demands.
  func create() throws -> PhotoLibrary {
    if source == .standard {
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    return try PhotoLibrary.create(at: url)
  }
}

extension Invocation {
  /// Where the library is or will be.
  /// - Throws: as ``LibraryLocation/init(option:)``.
  func libraryLocation() throws -> LibraryLocation {
    try LibraryLocation(option: text("library"))
  }

  /// Where the library is, for a command that needs one.
  /// - Throws: ``UsageError``, and `LibraryError` `.notALibrary` if there is none, with the path and its source.
  func libraryURL() throws -> URL {
    let location = try libraryLocation()
    guard PhotoLibrary.exists(at: location.url) else { throw location.absence }
    return location.url
  }
}
