public import PhotoLedger

/// What became of one file. Every file that the walk met has exactly one outcome.
public enum FileOutcome: Sendable, Hashable {
  /// A new asset, whose primary resource this file is.
  case asset(LocalIdentifier)
  /// A further resource of an asset, new or known.
  case resource(LocalIdentifier, ResourceType)
  /// The same bytes as another file of this import.
  case duplicateOfFile(FilePath)
  /// The same bytes as a resource of an asset that the library had before.
  case duplicateOfAsset(LocalIdentifier)
  /// Describes another file by its name, and is not kept.
  case sidecar
  /// Was read, and says something about another file.
  case describes(FilePath)
  /// Was read, and says something about an album.
  case describesAlbum(String)
  /// Not taken, for a reason.
  case skipped(SkipReason, String)
  /// The import was interrupted before this file was recorded; the next one will take it.
  case notReached

  /// Whether the file is worth another attempt without being changed.
  var isForLater: Bool {
    switch self {
    case .notReached, .skipped(.changedWhileRead, _), .skipped(.vanished, _): true
    default: false
    }
  }

  /// Whether the file could not be read, which may be due to where it is and not to what it is.
  var isUnread: Bool {
    switch self {
    case .skipped(.unreadable, _), .skipped(.toolTimeout, _), .skipped(.toolCrashed, _): true
    default: false
    }
  }

  /// Whether the library has the content of the file.
  var isInLibrary: Bool {
    switch self {
    case .asset, .resource, .duplicateOfFile, .duplicateOfAsset: true
    default: false
    }
  }
}

/// Why a file was not taken.
public enum SkipReason: String, Sendable, Hashable, Codable, CaseIterable {
  /// No photo, video or sound recording, or a file of no bytes, or one that the metadata tool can make nothing of.
  case notMedia, empty, unusable
  /// Gone before it was read, not readable by this user (or an archive in a folder of an export, which is not read as a
  /// part), or written to while it was read.
  case vanished, unreadable, changedWhileRead
  /// The metadata tool took too long, ended by a signal, or said more than is believed of it.
  case toolTimeout, toolCrashed, toolOutputTooLarge
  /// Left out on request: by its name, its date or where it comes from.
  case excluded
  /// Describes a photo or video that is in none of the parts.
  case orphan
  /// A member of an archive whose bytes are not those that the archive promises.
  case damaged
}

/// A file with its outcome.
public struct FileReport: Sendable, Hashable {
  /// Where the file is.
  public let path: FilePath
  /// The path below the folder that was named.
  public let relativePath: FilePath
  /// What became of it.
  public let outcome: FileOutcome
  /// What is wrong with a file that was taken all the same, such as one that was cut off; mostly in exiftool's words.
  public var warnings: [String] = []
  /// Where the values of a new asset come from, by the name of the property; only for the file that is the asset's
  /// primary resource.
  public var sources: [String: String] = [:]
  /// The folder or archive that was named and has it.
  public var part = ""
  /// Where its asset is in the stack that the import put it into with the commit that recorded the file; nil: nowhere.
  public var stack: StackPlace?
  /// Whether it is a duplicate of an asset whose file the library had lost, and which has its bytes again.
  public var isRestored = false
  /// Whether it is a duplicate of an asset that is in the trash.
  public var isInTrash = false
}

/// Where an asset is in its stack.
public enum StackPlace: String, Sendable, Hashable {
  /// It is shown in place of all.
  case top
  /// It lies beneath the top.
  case beneath
}

extension SkipReason {
  /// Whether the file may be a photo all the same.
  var isLoss: Bool {
    switch self {
    case .notMedia, .empty, .unusable, .excluded, .orphan: false
    case .vanished, .unreadable, .changedWhileRead, .toolTimeout, .toolCrashed, .toolOutputTooLarge, .damaged: true
    }
  }

  /// The reason for a failure that concerns one file.
  init(_ error: ImportError) {
    self =
      switch error.code {
      case .vanished: .vanished
      case .notMedia: .notMedia
      case .changedWhileRead: .changedWhileRead
      case .toolTimeout: .toolTimeout
      case .toolCrashed: .toolCrashed
      case .toolOutputTooLarge: .toolOutputTooLarge
      default: .unreadable
      }
  }
}
