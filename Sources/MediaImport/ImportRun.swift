/// One import under way. Used by one task; only the file work in `prepare` and `hash` is on other threads.
final class ImportRun {
  private let found: [ScannedFile]
  private let target: any ImportTarget
  private let files: ResourceFiles
  private let tool: ExifTool
  private let options: MediaImporter.Options
  private let stop: StopFlag
  private let progress: ProgressCounter
  private let report: @Sendable (FileReport) -> Void

  private var planner = ImportPlanner()
  private var summary = ImportSummary()
  /// The file of this import that each new content was taken from.
  private var taken: [ContentDigest: Int] = [:]

  init(
    found: [ScannedFile], target: any ImportTarget, files: ResourceFiles, tool: ExifTool,
    options: MediaImporter.Options, stop: StopFlag, progress: ProgressCounter,
    report: @escaping @Sendable (FileReport) -> Void
  ) {
    (self.found, self.target, self.files, self.tool) = (found, target, files, tool)
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
    for movie in planner.takeWaiting() { settle(movie.index, .notReached) }
    for index in start..<found.count { settle(index, .notReached) }
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

  /// Gives a file its one outcome.
  private func settle(_ index: Int, _ outcome: FileOutcome) {
    let file = FileReport(path: found[index].path, relativePath: found[index].relativePath, outcome: outcome)
    summary.count(file)
    report(file)
  }

  /// Gives files their outcomes in the order of the walk; a movie that waited may be from an earlier batch.
  private func settleAll(_ outcomes: [Int: FileOutcome]) {
    for (index, outcome) in outcomes.sorted(by: { $0.key < $1.key }) { settle(index, outcome) }
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
    settleAll(outcomes)
    return true
  }

  private func halves(of files: [PreparedFile]) async throws -> [String: [LivePhotoHalf]] {
    let identifiers = planner.contentIdentifiers(files)
    return identifiers.isEmpty ? [:] : try await target.unpairedHalves(contentIdentifiers: identifiers)
  }

  /// Records planned changes as one commit. A cancelled task does not cancel the recording: it is done or not begun.
  private func record(_ planned: [PlannedChange], _ outcomes: inout [Int: FileOutcome]) async throws {
    if planned.isEmpty { return }
    try files.synchronize()
    let batch = ImportBatch(changes: planned.map(\.change))
    let references = try await Task { [target] in try await target.record(batch) }.value
    precondition(references.count == planned.count, "A target returns one asset for each change it recorded.")
    for (planned, reference) in zip(planned, references) {
      summary.count(planned.change)
      for (file, resource) in zip(planned.files, planned.change.resources) {
        if case .asset = planned.change, file == planned.files.first {
          outcomes[file] = .asset(reference)
        } else {
          outcomes[file] = .resource(reference, resource.kind)
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
      settleAll(outcomes)
      movies = movies.dropFirst(batch.count)
    }
    for movie in movies { settle(movie.index, .notReached) }
  }
}

// The work on files.
extension ImportRun {
  /// A file whose content is known.
  struct HashedFile: Sendable {
    let index: Int
    let path: ImportPath
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
    var candidates: [(index: Int, path: ImportPath)] = []
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

  private static func hashed(_ index: Int, _ path: ImportPath) -> Result<HashedFile, ImportError> {
    do throws(ImportError) {
      return .success(HashedFile(index: index, path: path, content: try FileContent(of: path)))
    } catch {
      return .failure(error)
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
    let unseen = Set(files.lazy.map(\.content.digest)).filter { taken[$0] == nil }
    let known = unseen.isEmpty ? [:] : try await target.assets(holding: unseen.sorted())
    var positions: [ContentDigest: Int] = [:]
    var groups: [[HashedFile]] = []
    for file in files {
      let digest = file.content.digest
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
    let work = FileWork(files: files, tool: tool, leavesFilesInPlace: options.leavesFilesInPlace)
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

  let files: ResourceFiles
  let tool: ExifTool
  let leavesFilesInPlace: Bool

  /// - Throws: What ends the import; what concerns this file alone is an outcome.
  func prepare(_ file: ImportRun.HashedFile) throws(ImportError) -> Outcome {
    do throws(ImportError) {
      let tags = try tool.tags(of: file.path)
      guard let metadata = MediaMetadata(tags), metadata.kind != .audio else {
        let type = tags.text("MIMEType") ?? tags.text("Error") ?? "unknown"
        return .skipped(.skipped(.notMedia, "\(file.path) is not a photo or video (\(type))."))
      }
      let digest = file.content.digest
      let stored =
        leavesFilesInPlace
        ? try files.reference(fileAt: file.path, expecting: digest)
        : try files.store(fileAt: file.path, expecting: digest)
      let stamp = file.content.stamp
      return .taken(
        PreparedFile(
          index: file.index, path: file.path, stored: stored, metadata: metadata,
          fileModifiedNanoseconds: stamp.modifiedSeconds * 1_000_000_000 + stamp.modifiedNanoseconds))
    } catch {
      guard error.concernsOneFile else { throw error }
      return .skipped(.skipped(SkipReason(error), error.description))
    }
  }
}
