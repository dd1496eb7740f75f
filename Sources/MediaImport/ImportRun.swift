internal import PhotoLedger

/// Is told of files with their outcomes, a batch at a time, in the order of the walk.
typealias ReportFiles = @Sendable ([FileReport]) throws -> Void

/// One import under way. Used by one task; only the file work in `prepare` and `hash` is on other threads.
final class ImportRun {
  private let found: [ScannedFile]
  private let target: any ImportTarget
  private let resources: ResourceStore
  private let tool: ExifTool
  private let options: LibraryImport.Options
  private let stop: StopFlag
  private let progress: ProgressCounter
  private let report: ReportFiles

  private var planner = ImportPlanner()
  private var summary = ImportSummary()
  /// The file of this import that each new content was taken from.
  private var taken: [[UInt8]: Int] = [:]

  init(
    found: [ScannedFile], target: any ImportTarget, resources: ResourceStore, tool: ExifTool,
    options: LibraryImport.Options, stop: StopFlag, progress: ProgressCounter, report: @escaping ReportFiles
  ) {
    (self.found, self.target, self.resources, self.tool) = (found, target, resources, tool)
    (self.options, self.stop, self.progress, self.report) = (options, stop, progress, report)
  }

  /// Imports batch after batch.
  func run() async throws -> ImportSummary {
    summary.filesFound = found.count
    var start = 0
    while start < found.count {
      let end = batchEnd(from: start)
      guard !stop.isSet, try await importBatch(start..<end) else { break }
      start = end
    }
    if start == found.count { try await recordWaiting() }
    let open = planner.takeWaiting().map(\.index) + Array(start..<found.count)
    try settleAll(Dictionary(uniqueKeysWithValues: open.map { ($0, .notReached) }))
    summary.wasInterrupted = summary.notReached > 0
    return summary
  }

  /// Imports one batch. False when it was dropped because the import was told to stop.
  private func importBatch(_ batch: Range<Int>) async throws -> Bool {
    do {
      return try await planAndRecord(batch)
    } catch is CancellationError where stop.isSet {
      return false
    }
  }

  /// The end of the batch that begins at `start`: files whose names differ in the extension only are not torn apart,
  /// unless there are as many of them as a batch holds.
  private func batchEnd(from start: Int) -> Int {
    var end = min(start + max(1, options.batchFileCount), found.count)
    let latest = min(end + options.batchFileCount, found.count)
    while end < latest && found[end].path.stemBytes == found[end - 1].path.stemBytes { end += 1 }
    return end
  }

  /// Gives files their one outcome, in the order of the walk; a movie that waited may be from an earlier batch.
  private func settleAll(_ outcomes: [Int: FileOutcome]) throws {
    let reports = outcomes.sorted { $0.key < $1.key }.map { index, outcome in
      FileReport(path: found[index].path, relativePath: found[index].relativePath, outcome: outcome)
    }
    for file in reports { summary.count(file) }
    if !reports.isEmpty { try report(reports) }
  }

  private func planAndRecord(_ batch: Range<Int>) async throws -> Bool {
    var outcomes: [Int: FileOutcome] = [:]
    let hashed = try await hash(batch, &outcomes)
    let groups = try await newContents(hashed, &outcomes)
    let attempts = try await prepare(groups)
    if stop.isSet { return false }
    var prepared: [PreparedFile] = []
    for attempt in attempts {
      outcomes.merge(attempt.outcomes) { $1 }
      guard let file = attempt.taken else { continue }
      taken[file.stored.sha256] = file.index
      prepared.append(file)
    }
    prepared.sort { $0.index < $1.index }
    let halves = try await halves(of: prepared)
    try await record(planner.plan(prepared, halves: halves), &outcomes)
    try settleAll(outcomes)
    return true
  }

  private func halves(of files: [PreparedFile]) async throws -> [String: [LivePhotoHalf]] {
    let identifiers = planner.contentIdentifiers(files)
    return identifiers.isEmpty ? [:] : try await target.unpairedHalves(contentIdentifiers: identifiers)
  }

  /// Records planned changes as one commit. A cancelled task does not cancel the recording: it is done or not begun.
  private func record(_ planned: [PlannedChange], _ outcomes: inout [Int: FileOutcome]) async throws {
    if planned.isEmpty { return }
    try resources.synchronize()
    let batch = ImportBatch(changes: planned.map(\.change))
    let recorded = try await Task { [target] in try await target.record(batch) }.value
    precondition(recorded.count == planned.count, "A target tells what it did for each change.")
    for (planned, recorded) in zip(planned, recorded) {
      summary.count(recorded.change)
      for (file, resource) in zip(planned.files, recorded.change.resources) {
        if case .asset = recorded.change, file == planned.files.first {
          outcomes[file] = .asset(recorded.asset)
        } else {
          outcomes[file] = .resource(recorded.asset, resource.type)
        }
      }
    }
    summary.commits += 1
    progress.assetsAdded(summary.assetsAdded)
  }

  /// Records the movies whose still did not come in this import.
  private func recordWaiting() async throws {
    var movies = planner.takeWaiting()[...]
    while !movies.isEmpty && !stop.isSet {
      let batch = Array(movies.prefix(max(1, options.batchFileCount)))
      var outcomes: [Int: FileOutcome] = [:]
      let halves = try await halves(of: batch)
      try await record(planner.planWaiting(batch, halves: halves), &outcomes)
      try settleAll(outcomes)
      movies = movies.dropFirst(batch.count)
    }
    try settleAll(Dictionary(uniqueKeysWithValues: movies.map { ($0.index, .notReached) }))
  }
}

// The work on files.
extension ImportRun {
  /// A file whose content is known.
  struct HashedFile: Sendable {
    let index: Int
    let path: FilePath
    let content: FileContent
  }

  /// What came of the files with one content.
  struct Attempt: Sendable {
    var taken: PreparedFile?
    var outcomes: [Int: FileOutcome] = [:]
  }

  private var width: Int { options.threadCount ?? tool.processCount * 2 }

  /// Reads the candidates of a batch to their end.
  private func hash(_ batch: Range<Int>, _ outcomes: inout [Int: FileOutcome]) async throws -> [HashedFile] {
    var candidates: [(index: Int, path: FilePath)] = []
    for index in batch {
      switch found[index].role {
      case .candidate: candidates.append((index, found[index].path))
      case .sidecar: outcomes[index] = .sidecar
      case .unusable(let reason): outcomes[index] = .skipped(.unusable, reason)
      }
      if found[index].role != .candidate { progress.fileDone(byteCount: found[index].byteCount) }
    }
    let stop = stop
    let results = try await onThreads(candidates, width: width) {
      candidate throws(ImportError) -> (Int, Result<HashedFile, ImportError>)? in
      if stop.isSet { return nil }
      return (candidate.index, Self.hashed(candidate.index, candidate.path))
    }
    var hashed: [HashedFile] = []
    for case (let index, let result)? in results {
      switch result {
      case .success(let file) where file.content.byteCount == 0:
        finish(index, .skipped(.empty, "\(file.path) is empty."), &outcomes)
      case .success(let file): hashed.append(file)
      case .failure(let error): finish(index, .skipped(SkipReason(error), error.description), &outcomes)
      }
    }
    return hashed
  }

  private static func hashed(_ index: Int, _ path: FilePath) -> Result<HashedFile, ImportError> {
    do throws(LibraryError) {
      return .success(HashedFile(index: index, path: path, content: try FileContent(of: path)))
    } catch {
      return .failure(ImportError(error, path: path))
    }
  }

  private func finish(_ index: Int, _ outcome: FileOutcome, _ outcomes: inout [Int: FileOutcome]) {
    outcomes[index] = outcome
    progress.fileDone(byteCount: found[index].byteCount)
  }

  /// Leaves out what the library or this import has already and groups the rest by content, in walking order.
  private func newContents(_ files: [HashedFile], _ outcomes: inout [Int: FileOutcome]) async throws
    -> [[HashedFile]]
  {
    let unseen = Set(files.lazy.map(\.content.sha256)).filter { taken[$0] == nil }
    let known = unseen.isEmpty ? [:] : try await target.assets(holding: unseen)
    var positions: [[UInt8]: Int] = [:]
    var groups: [[HashedFile]] = []
    for file in files {
      let digest = file.content.sha256
      if let first = taken[digest] {
        finish(file.index, .duplicateOfFile(found[first].path), &outcomes)
      } else if let asset = known[digest] {
        finish(file.index, .duplicateOfAsset(asset), &outcomes)
      } else if let position = positions[digest] {
        groups[position].append(file)
      } else {
        positions[digest] = groups.count
        groups.append([file])
      }
    }
    return groups
  }

  /// Reads the metadata of each new content and puts its bytes into the library.
  private func prepare(_ groups: [[HashedFile]]) async throws -> [Attempt] {
    let work = FileWork(resources: resources, tool: tool, leavesFilesInPlace: options.leavesFilesInPlace)
    let (stop, progress) = (stop, progress)
    return try await onThreads(groups, width: width) { group throws(ImportError) -> Attempt in
      var attempt = Attempt()
      for file in group {
        if stop.isSet { break }
        if let taken = attempt.taken {
          attempt.outcomes[file.index] = .duplicateOfFile(taken.path)
        } else {
          switch try work.prepare(file) {
          case .taken(let prepared): attempt.taken = prepared
          case .skipped(let outcome): attempt.outcomes[file.index] = outcome
          }
        }
        progress.fileDone(byteCount: file.content.byteCount)
      }
      return attempt
    }
  }
}

/// What is done with one new file: metadata, then bytes.
struct FileWork: Sendable {
  enum Outcome {
    case taken(PreparedFile)
    case skipped(FileOutcome)
  }

  let resources: ResourceStore
  let tool: ExifTool
  let leavesFilesInPlace: Bool

  /// - Throws: What ends the import; what concerns this file alone is an outcome.
  func prepare(_ file: ImportRun.HashedFile) throws(ImportError) -> Outcome {
    do throws(ImportError) {
      let tags = try tool.tags(of: file.path)
      guard let metadata = MediaMetadata(tags), metadata.mediaType != .audio else {
        let type = tags.text("MIMEType") ?? tags.text("Error") ?? "unknown"
        return .skipped(.skipped(.notMedia, "\(file.path) is not a photo or video (\(type))."))
      }
      let stored = try place(file)
      return .taken(PreparedFile(index: file.index, path: file.path, stored: stored, metadata: metadata))
    } catch {
      guard error.concernsOneFile else { throw error }
      return .skipped(.skipped(SkipReason(error), error.description))
    }
  }

  private func place(_ file: ImportRun.HashedFile) throws(ImportError) -> StoredContent {
    do throws(LibraryError) {
      return leavesFilesInPlace
        ? try resources.reference(fileAt: file.path, expecting: file.content.sha256)
        : try resources.store(fileAt: file.path, expecting: file.content.sha256)
    } catch {
      throw ImportError(error, path: file.path)
    }
  }
}
