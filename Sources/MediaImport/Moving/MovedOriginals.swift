internal import PhotoLedger

/// Why an original stays that an import with removal was given.
public enum KeepReason: String, Sendable, Hashable, Codable, CaseIterable {
  /// Was not imported, or the import was stopped before it was removed.
  case notImported, stopped
  /// Describes other files: the library has what it states, and not the file.
  case sidecar
  /// A symbolic link, or a file with further names.
  case link, hardLinked
  /// Lies in the folder of a library, or where libraries keep their files.
  case insideLibrary
  /// Another program has it open for writing, or the system does not say whether one has.
  case beingWritten, writersUnknown
  /// Differs from what was read, is no longer there, or cannot be read.
  case changed, vanished, unreadable
  /// No asset has its content, only one in the trash has, or one refers to a file with it.
  case notInLibrary, inTrash, referenced
  /// The library's copy is missing, is not a file of its own, or does not have its hash.
  case copyUnproved
  /// The system refused to remove it.
  case notRemovable
}

/// An original that stays, as the summary lists it.
public struct KeptOriginal: Sendable, Hashable, Codable {
  /// Where it is; bytes that are not text are shown as U+FFFD.
  public let path: String
  /// Why, as one word.
  public let reason: KeepReason
  /// A full sentence.
  public let message: String
}

/// What an import with removal did with the originals. Encodes to one JSON object.
public struct MovedOriginals: Sendable, Hashable, Codable {
  /// How many were removed; of a dry run, how many would be.
  public var removed = 0
  /// How many stay, by reason.
  public var kept: [String: Int] = [:]
  /// The first of these; `kept` counts all.
  public var keptFiles: [KeptOriginal] = []

  /// The most entries that `keptFiles` lists, as of the lists of an ``ImportSummary``.
  private static let keptFilesLimit = 10_000

  /// Creates an account of nothing.
  public init() {}

  mutating func keep(_ path: FilePath, _ reason: KeepReason, _ message: String) {
    kept[reason.rawValue, default: 0] += 1
    if keptFiles.count < Self.keptFilesLimit {
      keptFiles.append(KeptOriginal(path: path.description, reason: reason, message: message))
    }
  }
}
