internal import PhotoLedger

/// A file that was taken though something is wrong with it, as the summary lists it.
public struct FileWarning: Sendable, Hashable, Codable {
  /// Where it is; bytes that are not text are shown as U+FFFD.
  public let path: String
  /// What is wrong, mostly in exiftool's words.
  public let message: String
}

/// A file that was not taken, as the summary lists it.
public struct SkippedFile: Sendable, Hashable, Codable {
  /// Where it is; bytes that are not text are shown as U+FFFD.
  public let path: String
  /// Why, as one word.
  public let reason: SkipReason
  /// A full sentence.
  public let message: String
}

/// What an import did. Encodes to one JSON object.
public struct ImportSummary: Sendable, Hashable, Codable {
  /// The name of the import; the cause of its commits holds it, unless another was given.
  public var run = ""
  /// The cause of its commits, by which an undo finds them.
  public var cause = ""
  /// Where the outcome of every file is written down, one JSON object a line.
  public var reportFile = ""
  /// Files that the walk met; each is counted once below, a new asset by its primary file.
  public var filesFound = 0
  /// New assets, each the outcome of its primary file.
  public var assetsAdded = 0
  /// Files that became a further resource of an asset: movies of Live Photos, RAW beside JPEG, edits.
  public var resourcesAdded = 0
  /// Live Photos made or completed.
  public var livePhotos = 0
  /// Stacks made.
  public var stacks = 0
  /// Files with the same bytes as another file or a known asset.
  public var duplicates = 0
  /// Of these, the ones whose asset is in the trash, and no other asset with their bytes is outside it.
  public var duplicatesInTrash = 0
  /// Of the duplicates, the ones with the bytes of a file that the library had lost, and has again.
  public var restored = 0
  /// Files that describe other files, or albums.
  public var sidecars = 0
  /// Of these, the ones that were read and belong to a file or an album of the import.
  public var described = 0
  /// Files not taken, by reason.
  public var skipped: [String: Int] = [:]
  /// Files that were taken though something is wrong with them; counted above as well.
  public var warned = 0
  /// Files that an interrupted import leaves to the next one.
  public var notReached = 0
  /// Bytes of the resources added.
  public var bytesAdded: Int64 = 0
  /// Commits recorded.
  public var commits = 0
  /// True when there are such files.
  public var wasInterrupted = false
  /// The first files that were not taken, in the order of the walk; `skipped` counts all.
  public var skippedFiles: [SkippedFile] = []

  /// The first files that were taken with a warning, in the order of the walk; `warned` counts all.
  public var warnings: [FileWarning] = []
  /// Albums that the source has, with what was done about them.
  public var albums: [ImportedAlbum] = []
  /// The rules by which a source's files were understood.
  public var rules: [AppliedRule] = []
  /// What became of the files of each part of an export.
  public var parts: [PartAccount] = []
  /// Whether nothing was recorded: the counts say what an import would do.
  public var isDryRun = false
  /// What became of the originals of an import that removes them; nil for every other.
  public var moved: MovedOriginals?

  /// Creates a summary of nothing.
  public init() {}

  /// The most entries that `skippedFiles` and `warnings` list.
  public static let skippedFilesLimit = 10_000

  /// The number of outcomes that are counted; every file has one, so it is `filesFound` at the end of an import.
  public var outcomeCount: Int {
    assetsAdded + resourcesAdded + duplicates + sidecars + notReached + skipped.values.reduce(0, +)
  }

  /// How many files were there and could not be read: they vanished or changed meanwhile, or no program could read
  /// them. They may be photos that the library lacks.
  public var lostCount: Int {
    SkipReason.allCases.filter(\.isLoss).reduce(0) { $0 + skipped[$1.rawValue, default: 0] }
  }

  mutating func count(_ report: FileReport) {
    if !report.warnings.isEmpty {
      warned += 1
      if warnings.count < Self.skippedFilesLimit {
        let text = report.warnings.joined(separator: "; ")
        warnings.append(FileWarning(path: report.path.description, message: text))
      }
    }
    switch report.outcome {
    case .asset: assetsAdded += 1
    case .resource: resourcesAdded += 1
    case .duplicateOfFile, .duplicateOfAsset:
      duplicates += 1
      if report.isInTrash { duplicatesInTrash += 1 }
      if report.isRestored { restored += 1 }
    case .sidecar: sidecars += 1
    case .describes, .describesAlbum:
      sidecars += 1
      described += 1
    case .notReached: notReached += 1
    case .skipped(let reason, let message):
      skipped[reason.rawValue, default: 0] += 1
      if skippedFiles.count < Self.skippedFilesLimit {
        skippedFiles.append(SkippedFile(path: report.path.description, reason: reason, message: message))
      }
    }
  }

  mutating func count(_ change: ImportChange) {
    bytesAdded += change.resources.reduce(0) { $0 + Int64($1.stored.dataSize) }
    switch change {
    case .asset(let asset): if asset.others.contains(where: { $0.type == .pairedVideo }) { livePhotos += 1 }
    case .pairedVideo, .pairedStill: livePhotos += 1
    }
  }
}

/// How far an import is.
public struct ImportProgress: Sendable, Hashable {
  /// Files that the walk found.
  public var filesFound = 0
  /// Bytes that the walk found.
  public var bytesFound: Int64 = 0
  /// Files dealt with so far; a file counts when its bytes are in place or it is known not to be taken.
  public var filesDone = 0
  /// Bytes dealt with so far.
  public var bytesDone: Int64 = 0
  /// Assets recorded so far.
  public var assetsAdded = 0
  /// Originals that an import which removes them can remove, once all files are recorded; 0 before that.
  public var originalsFound = 0
  /// Those of them that were removed, or have to stay.
  public var originalsDone = 0
}
