internal import Foundation
internal import PhotoLedger

// One import under way.
//
// exiftool takes most of the time of an import; hashing and commits wait for the disk. So three batches of the walk are
// under way at once:
//
//     batch n + 1   hashed
//     batch n       metadata read, bytes stored      what there is no time for begins the next batch (`ahead`)
//     batch n − 1   planned, recorded as one commit, reported
//
//     found ──▶ hashed ──▶ new content ──▶ prepared ──▶ recorded: an asset or a resource
//                 ├──▶ empty, unreadable: skipped └──▶ not media: skipped; stopped before it: not reached
//                 └──▶ known content: a duplicate; what the library has lost of it is restored
//
// Invariant: each file has one outcome, reported after the commit that it names. Batches are recorded in the order of
// the walk, and a stop ends the reading, never a commit. A movie may wait for its still until the end.
//
// Rejected: queues between the stages. Files of one name are planned together, so each stage would form batches again.

/// Receives files with their outcomes, a batch at a time, in the order of the walk.
typealias ReportFiles = @Sendable ([FileReport]) throws -> Void

/// One import under way. Used by one task; only the file work in `prepare` and `hash` is on other threads.
final class ImportRun {
  let found: [ScannedFile]
  let catalog: MediaCatalog
  let target: any ImportTarget
  private let resources: ResourceStore
  let tool: ExifTool
  let options: LibraryImport.Options
  let stop: StopFlag
  private let progress: ProgressCounter
  private let report: ReportFiles
  /// Where what was read is noted for later imports.
  private let knownFiles: KnownFiles?
  /// Removes originals that the library has; nil: they stay.
  private var move: OriginalsMove?
  /// What was read of files that have no outcome yet, and when the reading began.
  private var contents: [Int: (content: FileContent, began: Date)] = [:]

  private var planner = ImportPlanner()
  /// Decides what is stacked; nil: nothing is.
  private var stackPlanner: StackPlanner?
  /// Files that are not reported yet with whose bytes the library has again what it had lost.
  private var restored: Set<Int> = []
  /// The assets in the trash whose contents were found.
  private var trashed: Set<LocalIdentifier> = []
  /// The places in stacks of files that are not reported yet.
  private var stackPlaces: [Int: StackPlace] = [:]
  private var summary = ImportSummary()
  /// The file of this import that each new content was taken from.
  private var taken: [[UInt8]: Int] = [:]
  /// What is known of files after the end of a batch that was cut, or that is not begun yet.
  private var ahead = Ahead()
  /// Where the files end that were hashed ahead.
  private var hashedEnd = 0
  /// The batch that is to be recorded.
  private var gathered: GatheredBatch?
  /// Where the files end that have an outcome.
  private var settledEnd = 0
  /// What is wrong with files that are taken and not reported yet.
  private var warnings: [Int: [String]] = [:]
  /// Where the values of new assets come from that are not reported yet.
  private var sources: [Int: [String: String]] = [:]
  /// The assets that members of the source's albums became, by the file.
  private var members: AlbumMembers
  /// The rules by which files were understood.
  var rules: RuleLog
  /// Whether the source has adjustment data at all.
  let hasAdjustments: Bool
  /// The file of adjustment data that was recorded with each file.
  var adjustments: [FilePath: (content: [UInt8], path: FilePath)] = [:]

  init(
    catalog: MediaCatalog, target: any ImportTarget, resources: ResourceStore, tool: ExifTool,
    options: LibraryImport.Options, stop: StopFlag, progress: ProgressCounter, known: KnownFiles? = nil,
    move: OriginalsMove? = nil, report: @escaping ReportFiles
  ) {
    (self.found, self.target, self.resources, self.tool) = (catalog.files, target, resources, tool)
    (self.options, self.stop, self.progress, self.report) = (options, stop, progress, report)
    (self.catalog, self.knownFiles, self.move) = (catalog, known, move)
    members = AlbumMembers(of: catalog)
    rules = catalog.rules
    hasAdjustments = catalog.files.contains { $0.edit == .adjustmentData }
  }

  /// Imports batch after batch.
  func run() async throws -> ImportSummary {
    summary.filesFound = found.count
    if options.formsStacks, try target.canStack { stackPlanner = StackPlanner(of: catalog) }
    var start = 0
    do {
      while start < found.count, !stop.isSet {
        if found[start].isKnown {
          try await settleGathered()
          start = try await settleKnown(from: start)
          settledEnd = start
          if start == found.count { break }
        }
        let reading = try await beginReading(start..<batchEnd(from: start, among: hashedEnd))
        do {
          try await settleGathered()
          let batch = try await finish(reading)
          (start, gathered) = (batch.files.upperBound, batch)
          if let hashing = reading.hashing {
            // What is read already is not kept waiting for a long file.
            if !hashing.isDone.isSet { try await settleGathered() }
            keep(try await hashing.task.value)
          }
        } catch {
          if !(error is CancellationError) { stop.set() }
          await reading.end()
          throw error
        }
      }
    } catch is CancellationError where stop.isSet {
      // What was read before is recorded all the same.
    }
    do {
      try await settleGathered()
    } catch is CancellationError where stop.isSet {
      // Its files were not reached.
    }
    if settledEnd == found.count { try await recordWaiting() }
    let rest = planner.takeWaiting().map(\.index) + Array(settledEnd..<found.count)
    let outcomes = Dictionary(rest.map { ($0, FileOutcome.notReached) }) { first, _ in first }
    try await settleAll(outcomes.merging(ahead.outcomes) { $1 })
    summary.wasInterrupted = summary.notReached > 0
    precondition(summary.outcomeCount == found.count, "Every file of an import must have one outcome.")
    summary.rules = rules.sorted()
    if !summary.wasInterrupted { try await placeMembers() }
    try await removeOriginals()
    return summary
  }

  /// The most files that are settled at once without being read.
  private static let knownCount = 1024

  /// Settles files that an earlier import read and whose contents the library has still, as many as follow one another.
  /// One whose bytes the library has lost is read like a new one, which restores them.
  /// - Returns: where the others begin.
  private func settleKnown(from start: Int) async throws -> Int {
    var start = start
    while !stop.isSet {
      var end = start
      while end < min(start + Self.knownCount, found.count), isKnown(end) { end += 1 }
      if start == end { return start }
      let files = start..<end
      let assets = try await target.firstAssets(holding: files.map { found[$0].content?.sha256 ?? [] })
      let lost = try await lost(zip(files, assets).compactMap { $0.1 == nil ? nil : found[$0.0].content })
      let settled = zip(files, assets).prefix { index, asset in
        asset != nil && !(found[index].content.map { lost.contains($0.sha256) } ?? false)
      }
      let outcomes = settled.compactMap { index, asset in
        asset.map { (index: index, outcome: duplicate(of: $0)) }
      }
      for (index, _) in outcomes { progress.fileDone(index, byteCount: found[index].byteCount) }
      try settleInOrder(outcomes)
      start += outcomes.count
      stackPlanner?.settle(to: start, Dictionary(outcomes.map { ($0.index, $0.outcome) }) { first, _ in first })
      if outcomes.count < files.count { return start }
    }
    return start
  }

  private func duplicate(of holder: ContentHolder) -> FileOutcome {
    if holder.isTrashed { trashed.insert(holder.asset) }
    return .duplicateOfAsset(holder.asset)
  }

  /// Whether nothing but the content of a file, which is known, decides about it.
  private func isKnown(_ index: Int) -> Bool {
    let file = found[index]
    guard file.isKnown, file.edit == nil, file.role == .candidate, let content = file.content else { return false }
    return content.byteCount > 0 && taken[content.sha256] == nil && ahead.outcomes[index] == nil
  }

  /// Removes originals when all that they say is recorded: files, pairs, albums.
  private func removeOriginals() async throws {
    guard let move else { return }
    if summary.wasInterrupted { stop.set() }
    let moved = try await move.finish(width: width, known: knownFiles, stop, progress)
    summary.moved = moved
    if moved.kept[KeepReason.stopped.rawValue] != nil { summary.wasInterrupted = true }
  }

  /// Fills the albums of the source, in its order. What was there before stays where it is.
  private func placeMembers() async throws {
    for (place, asked, assets) in members.albums() {
      if stop.isSet {
        summary.wasInterrupted = true
        return
      }
      let done = try await Task { [target] in try await target.place(assets, in: place) }.value
      summary.commits += done.commits
      summary.albums.append(
        ImportedAlbum(
          title: place.title, memberCount: assets.count - done.gone, isNew: done.isNew, added: done.added,
          named: asked))
    }
  }

  /// The end of the batch that begins at `start`: files whose names differ in the extension only are not torn apart,
  /// whatever lies between them, unless there are as many of them as a batch holds.
  /// - Parameter hashedEnd: where the files end that were hashed ahead; a batch of such files has no others.
  private func batchEnd(from start: Int, among hashedEnd: Int = 0) -> Int {
    var end = min(start + max(1, options.batchFileCount), found.count)
    if hashedEnd > start, hashedEnd <= end { return hashedEnd }
    let latest = min(end + options.batchFileCount, found.count)
    while end < latest && !found.beginsUnit(at: end) { end += 1 }
    return end
  }

  /// Gives files their one outcome, in the order of the walk; a movie that waited may be from an earlier batch.
  private func settleAll(_ outcomes: [Int: FileOutcome]) async throws {
    try settleInOrder(outcomes.sorted { $0.key < $1.key }.map { (index: $0.key, outcome: $0.value) })
    try await noteContents(of: outcomes)
  }

  private func settleInOrder(_ outcomes: [(index: Int, outcome: FileOutcome)]) throws {
    if outcomes.isEmpty { return }
    let reports = outcomes.map { index, outcome in
      let file = found[index]
      var report = FileReport(
        path: file.path, relativePath: file.relativePath, outcome: outcome, part: file.part)
      if !warnings.isEmpty, let said = warnings.removeValue(forKey: index), outcome != .notReached {
        report.warnings = said
      }
      if !sources.isEmpty, let origin = sources.removeValue(forKey: index) { report.sources = origin }
      if !stackPlaces.isEmpty { report.stack = stackPlaces.removeValue(forKey: index) }
      if !restored.isEmpty, restored.remove(index) != nil, case .duplicateOfAsset = outcome {
        report.isRestored = true
      }
      if case .duplicateOfAsset(let asset) = outcome, trashed.contains(asset) { report.isInTrash = true }
      members.settle(index, file.path, outcome)
      if move != nil { move?.settle(file.path, outcome, contents[index]?.content ?? file.content) }
      return report
    }
    for file in reports { summary.count(file) }
    try report(reports)
  }

  /// Notes what was read for later imports, of files that have an outcome by their content.
  private func noteContents(of outcomes: [Int: FileOutcome]) async throws {
    guard let knownFiles else {
      for index in outcomes.keys { contents[index] = nil }
      return
    }
    let read = outcomes.keys.sorted().compactMap { index -> (path: FilePath, file: KnownFile)? in
      guard let read = contents.removeValue(forKey: index), let condition = outcomes[index]?.condition
      else { return nil }
      return (found[index].path, KnownFile(read.content, readAt: read.began, condition))
    }
    let target = target
    try await knownFiles.record(read) { Set(try await target.assets(holding: $0).keys) }
  }

  /// Begins to read the files of a batch: their contents are known at the return, their metadata are being read.
  private func beginReading(_ batch: Range<Int>) async throws -> BatchReading {
    var outcomes = ahead.outcomes
    let (hashed, end) = try await hash(batch, &outcomes)
    let groups = try await newContents(hashed, &outcomes)
    let preparing = prepare(groups, of: batch.lowerBound..<end)
    let next = end..<min(batchEnd(from: end), found.count)
    return BatchReading(
      files: batch.lowerBound..<end, hashed: hashed, outcomes: outcomes, preparing: preparing,
      hashing: next.isEmpty || found[next.lowerBound].isKnown ? nil : hashing(next))
  }

  /// Waits until the metadata of a batch are read, of as many files as there was time for.
  private func finish(_ reading: BatchReading) async throws -> GatheredBatch {
    let prepared = try await reading.preparing.value
    let end = prepared.end
    var (outcomes, files, adjustments) = (reading.outcomes, [PreparedFile](), [PreparedAdjustment]())
    for attempt in prepared.attempts {
      if let (adjustment, content, began) = attempt.adjustment {
        adjustments.append(adjustment)
        note(content, of: adjustment.index, began)
      }
      // A file that stands in for an equal one before it, and belongs to the next batch, is taken by that.
      let isLater = attempt.taken.map { $0.index >= end } ?? false
      outcomes.merge(attempt.outcomes.filter { !isLater || $0.key < end }) { $1 }
      guard !isLater, let file = attempt.taken else { continue }
      taken[file.stored.sha256] = file.index
      if !file.metadata.warnings.isEmpty { warnings[file.index] = file.metadata.warnings }
      files.append(file)
    }
    files.sort { $0.index < $1.index }
    for file in reading.hashed where file.index >= end { ahead.hashed[file.index] = file }
    ahead.hashed = ahead.hashed.filter { $0.key >= end }
    // Adjustment data are decided with the files of their name.
    ahead.outcomes = outcomes.filter { $0.key >= end && found[$0.key].edit != .adjustmentData }
    return GatheredBatch(
      files: reading.files.lowerBound..<end, prepared: files, adjustments: adjustments,
      outcomes: outcomes.filter { $0.key < end })
  }

  /// Records the batch that was gathered, if there is one, and gives its files their outcomes.
  private func settleGathered() async throws {
    guard let batch = gathered else { return }
    gathered = nil
    var outcomes = batch.outcomes
    let halves = try await halves(of: batch.prepared)
    let planned = planner.plan(batch.prepared, halves: halves, adjustments: batch.adjustments)
    try await record(planned, stacking: try await stacks(of: planned, outcomes), &outcomes)
    stackPlanner?.settle(to: batch.files.upperBound, outcomes)
    try await settleAdjustments(in: batch.files, &outcomes)
    try await settleAll(outcomes)
    settledEnd = batch.files.upperBound
  }

  private func halves(of files: [PreparedFile]) async throws -> [ExactText: [LivePhotoHalf]] {
    let identifiers = planner.contentIdentifiers(files)
    return identifiers.isEmpty ? [:] : try await target.unpairedHalves(contentIdentifiers: identifiers)
  }

  /// Records planned changes as one commit. A cancelled task does not cancel the recording: it is done or not begun.
  private func record(
    _ planned: [PlannedChange], stacking stacks: [ImportedStack] = [], _ outcomes: inout [Int: FileOutcome]
  ) async throws {
    if planned.isEmpty { return }
    try resources.synchronize()
    let batch = ImportBatch(changes: planned.map(\.change), stacks: stacks)
    let recorded = try await Task { [target] in try await target.record(batch) }.value
    precondition(recorded.count == planned.count, "A target must return an outcome for each change.")
    for (planned, recorded) in zip(planned, recorded) {
      summary.count(recorded.change)
      if case .asset(let asset) = recorded.change, let file = planned.files.first {
        sources[file] = asset.facts.sources
        if let warning = recorded.warning(for: planned.change) { warnings[file, default: []].append(warning) }
      }
      noteAdjustment(of: recorded.change, planned.files)
      for (file, resource) in zip(planned.files, recorded.change.resources) {
        if case .asset = recorded.change, file == planned.files.first {
          outcomes[file] = .asset(recorded.asset)
        } else {
          outcomes[file] = .resource(recorded.asset, resource.type)
        }
      }
    }
    note(stacks, of: planned, recorded)
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
      try await settleAll(outcomes)
      movies = movies.dropFirst(batch.count)
    }
    try await settleAll(Dictionary(uniqueKeysWithValues: movies.map { ($0.index, .notReached) }))
  }
}

// The work on files.
extension ImportRun {
  var width: Int { options.threadCount ?? tool.processCount * 2 }

  /// The files of a part of the walk whose names differ in the extension only, together, with what lies between them.
  func runs(of files: Range<Int>) -> [Range<Int>] {
    var runs: [Range<Int>] = []
    var start = files.lowerBound
    for index in files.dropFirst() where found.beginsUnit(at: index) {
      runs.append(start..<index)
      start = index
    }
    if start < files.upperBound { runs.append(start..<files.upperBound) }
    return runs
  }

  /// Begins to read the candidates of a batch to their end, as many as there is time for.
  private func hashing(_ batch: Range<Int>) -> Hashing {
    let runs = runs(of: batch).enumerated().map { position, run in
      let candidates = run.filter { found[$0].role == .candidate && ahead.outcomes[$0] == nil }
      return NamedAlike(
        position: position, files: candidates.map { Candidate(index: $0, file: found[$0], known: known($0)) })
    }
    let work = HashWork(
      files: batch, runs: runs, copies: catalog.copies,
      large: LargeFiles(tool: tool, byteCount: options.largeByteCount), began: options.now(), width: width,
      pace: Pace(options, stop), stop: stop)
    let isDone = StopFlag()
    let task = Task { () async throws -> Hashed in
      defer { isDone.set() }
      return try await work.done()
    }
    return Hashing(task: task, isDone: isDone)
  }

  /// Keeps what was read of files for the batch that they will be in.
  private func keep(_ hashed: Hashed) {
    let runs = runs(of: hashed.files)
    let count = hashed.results.firstIndex { $0 == nil } ?? runs.count
    hashedEnd = count < runs.count ? runs[count].lowerBound : hashed.files.upperBound
    _ = keep(hashed, from: 0)
  }

  /// Keeps what was read of files that belong to a later batch, and notes everything that was read.
  /// - Parameter start: the position from which on files belong to a later batch.
  /// - Returns: the others.
  private func keep(_ hashed: Hashed, from start: Int) -> [(Int, Result<HashedFile, ImportError>)] {
    var others: [(Int, Result<HashedFile, ImportError>)] = []
    for (position, result) in hashed.results.enumerated() {
      for (index, result) in result ?? [] {
        if case .success(let file) = result {
          note(file.content, of: index, hashed.began)
          if position >= start { ahead.hashed[index] = file }
        }
        if position < start { others.append((index, result)) }
      }
    }
    return others
  }

  /// Reads the candidates of a batch to their end, as many as there is time for.
  /// - Returns: the files, and where those that were left begin.
  private func hash(
    _ batch: Range<Int>, _ outcomes: inout [Int: FileOutcome]
  ) async throws -> (files: [HashedFile], end: Int) {
    let read = try await hashing(batch).task.value
    let runs = runs(of: batch)
    let count = read.results.firstIndex { $0 == nil } ?? runs.count
    let end = count < runs.count ? runs[count].lowerBound : batch.upperBound
    for index in batch.lowerBound..<end {
      switch found[index].role {
      case .candidate: continue
      case .sidecar: finish(index, .sidecar, &outcomes)
      case .unusable(let reason): finish(index, .skipped(.unusable, reason), &outcomes)
      case .settled(let outcome): finish(index, outcome, &outcomes)
      }
    }
    var hashed: [HashedFile] = []
    for (index, result) in keep(read, from: count) {
      switch result {
      case .success(let file) where file.content.byteCount == 0:
        finish(index, .skipped(.empty, "\(file.path) is empty."), &outcomes)
      case .success(let file): hashed.append(file)
      case .failure(let error): finish(index, .skipped(SkipReason(error), error.description), &outcomes)
      }
    }
    return (hashed, end)
  }

  /// Notes what was read of a file; what was known already is not newer for being used.
  func note(_ content: FileContent, of index: Int, _ began: Date) {
    let file = found[index]
    guard knownFiles != nil || move != nil, !file.isKnown, contents[index] == nil, file.copy == nil else { return }
    contents[index] = (content, began)
  }

  /// A file whose content is known already: from an earlier batch, or since the source was read.
  func known(_ index: Int) -> HashedFile? {
    ahead.hashed[index]
      ?? found[index].content.map { HashedFile(index: index, found[index], content: $0, catalog.copies) }
  }

  private func finish(_ index: Int, _ outcome: FileOutcome, _ outcomes: inout [Int: FileOutcome]) {
    outcomes[index] = outcome
    progress.fileDone(index, byteCount: found[index].byteCount)
  }

  /// Leaves out what the library or this import has already and groups the rest by content, in walking order.
  private func newContents(
    _ files: [HashedFile], _ outcomes: inout [Int: FileOutcome]
  ) async throws -> [[HashedFile]] {
    let unseen = Set(files.lazy.map(\.content.sha256)).filter { taken[$0] == nil }
    let known = unseen.isEmpty ? [:] : try await target.assets(holding: unseen)
    var positions: [[UInt8]: Int] = [:]
    var groups: [[HashedFile]] = []
    var duplicates: [HashedFile] = []
    for file in files {
      let digest = file.content.sha256
      if let first = taken[digest] {
        finish(file.index, .duplicateOfFile(found[first].path), &outcomes)
      } else if let asset = known[digest] {
        outcomes[file.index] = duplicate(of: asset)
        duplicates.append(file)
      } else if let position = positions[digest] {
        groups[position].append(file)
      } else {
        positions[digest] = groups.count
        groups.append([file])
      }
    }
    try await restoreLost(duplicates, &outcomes)
    for file in duplicates { progress.fileDone(file.index, byteCount: file.content.byteCount) }
    return groups
  }

  /// How many contents a thread looks for at once.
  private static let askedTogether = 128

  /// The contents among some of the library's assets whose file it should have and has not.
  private func lost(_ contents: [FileContent]) async throws -> Set<[UInt8]> {
    // An import that leaves files where they are copies none.
    if options.leavesFilesInPlace { return [] }
    let pieces = stride(from: 0, to: contents.count, by: Self.askedTogether).map { start in
      Array(contents[start..<min(start + Self.askedTogether, contents.count)])
    }
    let missing = try await onThreads(pieces, width: width) { [resources] (piece) throws(ImportError) in
      piece.filter { !resources.holds($0.sha256, byteCount: UInt64(clamping: $0.byteCount)) }
    }.joined()
    return missing.isEmpty ? [] : try await target.copied(Set(missing.map(\.sha256)))
  }

  /// Restores what the library has lost of the contents of files that are duplicates of its assets.
  func restoreLost(_ files: [HashedFile], _ outcomes: inout [Int: FileOutcome]) async throws {
    let lost = try await lost(files.map(\.content))
    if lost.isEmpty { return }
    let groups = Dictionary(grouping: files.filter { lost.contains($0.content.sha256) }) { $0.content.sha256 }
    let work = fileWork
    let done = try await onThreads(Array(groups.values), width: width) { (group) throws(ImportError) in
      try work.restore(group)
    }
    if !options.isDryRun { try resources.synchronize() }
    for (file, others) in done {
      if let file { restored.insert(file) }
      outcomes.merge(others) { $1 }
    }
  }

  private var fileWork: FileWork {
    FileWork(
      resources: resources, tool: tool, leavesFilesInPlace: options.leavesFilesInPlace, isDryRun: options.isDryRun,
      stop: stop, wishes: options.wishes, dates: options.dates)
  }

  /// Begins to read the metadata of new contents and to put their bytes into the library, as many as there is time for.
  /// - Returns: what will come of them, and where the files that are left begin.
  private func prepare(_ groups: [[HashedFile]], of files: Range<Int>) -> Task<Prepared, any Error> {
    // What is named alike is planned together, so it is prepared together.
    var pieces: [PrepareWork.Piece] = []
    var rest = groups[...]
    for run in runs(of: files) {
      let piece = rest.prefix { $0[0].index < run.upperBound }
      if !piece.isEmpty {
        pieces.append(
          PrepareWork.Piece(
            position: pieces.count, start: run.lowerBound, groups: Array(piece), adjustment: adjustment(in: run)))
      }
      rest = rest.dropFirst(piece.count)
    }
    let work = PrepareWork(
      end: files.upperBound, pieces: pieces, file: fileWork, pace: Pace(options, stop), progress: progress,
      began: options.now(), width: width)
    return Task { () async throws -> Prepared in try await work.done() }
  }
}

// Stacks.
extension ImportRun {
  /// What is stacked of a batch, when what is to be known of assets of the library has been read.
  private func stacks(
    of planned: [PlannedChange], _ outcomes: [Int: FileOutcome]
  ) async throws -> [ImportedStack] {
    guard let questions = stackPlanner?.questions(planned, outcomes) else { return [] }
    var known: [Int: StackPlanner.KnownFile] = [:]
    let untouched = questions.isEmpty ? [:] : try await target.untouched(Set(questions.values))
    let (tool, stop, copies) = (tool, stop, catalog.copies)
    let files = questions.filter { untouched[$0.value] != nil }.keys.map { ($0, found[$0].bytes(in: copies)) }
    let read = try await onThreads(files, width: width) { (index, path) throws(ImportError) -> (Int, MediaMetadata?) in
      do throws(ImportError) {
        return (index, MediaMetadata(try tool.tags(of: path, isCancelled: { stop.isSet })))
      } catch  where error.concernsOneFile || error.code == .cancelled {
        return (index, nil)
      }
    }
    for case (let index, let metadata?) in read {
      guard let id = questions[index], let asset = untouched[id] else { continue }
      known[index] = StackPlanner.KnownFile(id: id, asset: asset, metadata: metadata)
    }
    return stackPlanner?.plan(planned, outcomes, known) ?? []
  }

  /// Counts the stacks that were made, and remembers what was put where.
  private func note(_ stacks: [ImportedStack], of planned: [PlannedChange], _ recorded: [RecordedChange]) {
    stackPlanner?.note(recorded)
    for (planned, recorded) in zip(planned, recorded) {
      guard let top = recorded.stack, let file = planned.files.first else { continue }
      stackPlaces[file] = top == recorded.asset ? .top : .beneath
    }
    for stack in stacks where !stack.isGrowing {
      let isMade = stack.members.contains { member in
        if case .change(let position) = member { recorded[position].stack != nil } else { false }
      }
      if !isMade { continue }
      summary.stacks += 1
      rules.note(stack.rule.rawValue, stack.files.map { found[$0].path.description }.joined(separator: " over "))
    }
  }
}
