internal import PhotoLedger

// The last phase of an import that removes originals.
//
//     all batches committed ──▶ albums filled ──▶ originals removed, each with its own proof (OriginalRemoval.swift)
//
// Removal comes last, since a file states more than its bytes: its folder is an album, its name pairs it with another
// file. An import that is stopped or killed before has removed nothing, and the next one finds every file again. One
// that is killed during the removal leaves files of which each is there, or is proved to be in the library; the next
// one finds the rest as duplicates, and proves the same of them. So no journal is kept.

/// The originals of an import that removes them, until all of them are recorded.
struct OriginalsMove: Sendable {
  private let removal: OriginalRemoval
  private let report: ImportReportFile
  private var waiting: [OriginalRemoval.Original] = []
  private var account = MovedOriginals()

  init(_ removal: OriginalRemoval, in report: ImportReportFile) { (self.removal, self.report) = (removal, report) }

  /// Takes a file that has its outcome.
  /// - Parameter content: what this import knows to be in it; nil for what was not read.
  mutating func settle(_ path: FilePath, _ outcome: FileOutcome, _ content: FileContent?) {
    switch outcome {
    case .asset, .resource, .duplicateOfFile, .duplicateOfAsset:
      guard let content else { preconditionFailure("A file with an outcome by its content was read.") }
      waiting.append(OriginalRemoval.Original(path: path, outcome: outcome, read: content))
    case .sidecar, .describes, .describesAlbum:
      account.keep(path, .sidecar, "\(path) was kept: it describes other files, and the library does not contain it.")
    case .skipped(_, let message): account.keep(path, .notImported, message)
    case .notReached: account.keep(path, .stopped, "\(path) was kept: the import was stopped before it was reached.")
    }
  }

  /// How many originals are removed between two records of it.
  private static let batchCount = 200

  /// Removes the originals that it is proved for, and accounts for those that stay.
  func finish(
    width: Int, known: KnownFiles?, _ stop: StopFlag, _ progress: ProgressCounter
  ) async throws -> MovedOriginals {
    var account = account
    let removal = removal
    progress.originalsFound(waiting.count)
    for start in stride(from: 0, to: waiting.count, by: Self.batchCount) {
      let batch = Array(waiting[start...].prefix(Self.batchCount))
      let outcomes = try await onThreads(batch, width: width) { (original) throws(ImportError) in
        defer { progress.originalDone() }
        if stop.isSet { return OriginalRemoval.Outcome.stopped(original.path) }
        return removal.remove(original)
      }
      for (original, outcome) in zip(batch, outcomes) {
        switch outcome {
        case .removed: account.removed += 1
        case .kept(let reason, let message): account.keep(original.path, reason, message)
        }
      }
      if removal.isDryRun { continue }
      let done = Array(zip(batch, outcomes)).map { (original: $0, outcome: $1) }
      try report.append(done)
      // Nothing is known of a path that has no file.
      try known?.record(done.filter { $0.outcome == .removed }.map { ($0.original.path, nil) })
    }
    return account
  }
}
