internal import Foundation
internal import PhotoLedger

/// Receives files with their outcomes, a batch at a time, in the order of the walk.
typealias ReportFiles = @Sendable ([FileReport]) throws -> Void

/// One import under way. Used by one task; only the file work in `prepare` and `hash` is on other threads.
final class ImportRun {
  private let found: [ScannedFile]
  private let catalog: MediaCatalog
  private let target: any ImportTarget
  private let resources: ResourceStore
  private let tool: ExifTool
  private let options: LibraryImport.Options
  private let stop: StopFlag
  private let progress: ProgressCounter
  private let report: ReportFiles
  /// Where what was read is noted for later imports.
  private let knownFiles: KnownFiles?
  /// Removes originals that the library has; nil: they stay.
  private var move: OriginalsMove?
  /// What was read of files that have no outcome yet, and when the reading began.
  private var contents: [Int: (content: FileContent, began: Date)] = [:]

  private var planner = ImportPlanner()
  private var summary = ImportSummary()
  /// The file of this import that each new content was taken from.
  private var taken: [[UInt8]: Int] = [:]
  /// What is known of files behind the end of a batch that was cut.
  private var ahead = Ahead()
  /// What exiftool found wrong with files that are taken and not reported yet.
  private var warnings: [Int: [String]] = [:]
  /// Where the values of new assets come from that are not reported yet.
  private var sources: [Int: [String: String]] = [:]
  /// The assets that members of the source's albums became, by the file.
  private var members: AlbumMembers
  /// The rules by which files were understood.
  private var rules: RuleLog
  /// Whether the source has adjustment data at all.
  private let hasAdjustments: Bool
  /// The file of adjustment data that was recorded with each file.
  private var adjustments: [FilePath: (content: [UInt8], path: FilePath)] = [:]

  /// What is known of files that belong to a later batch.
  private struct Ahead {
    var hashed: [Int: HashedFile] = [:]
    var outcomes: [Int: FileOutcome] = [:]
  }

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
    var start = 0
    while start < found.count, !stop.isSet {
      do {
        start = try await planAndRecord(start..<batchEnd(from: start))
      } catch is CancellationError where stop.isSet {
        break
      }
    }
    if start == found.count { try await recordWaiting() }
    let open = planner.takeWaiting().map(\.index) + Array(start..<found.count)
    let outcomes = Dictionary(uniqueKeysWithValues: open.map { ($0, FileOutcome.notReached) })
    try await settleAll(outcomes.merging(ahead.outcomes) { $1 })
    summary.wasInterrupted = summary.notReached > 0
    precondition(summary.outcomeCount == found.count, "Every file of an import must have one outcome.")
    summary.rules = rules.sorted()
    if !summary.wasInterrupted { try await placeMembers() }
    try await removeOriginals()
    return summary
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
      summary.albums.append(
        ImportedAlbum(
          title: place.title, memberCount: assets.count, isNew: done.isNew, added: done.added, named: asked))
    }
  }

  /// The end of the batch that begins at `start`: files whose names differ in the extension only are not torn apart,
  /// unless there are as many of them as a batch holds.
  private func batchEnd(from start: Int) -> Int {
    var end = min(start + max(1, options.batchFileCount), found.count)
    let latest = min(end + options.batchFileCount, found.count)
    while end < latest && found[end].unitBytes == found[end - 1].unitBytes { end += 1 }
    return end
  }

  /// Gives files their one outcome, in the order of the walk; a movie that waited may be from an earlier batch.
  private func settleAll(_ outcomes: [Int: FileOutcome]) async throws {
    let reports = outcomes.sorted { $0.key < $1.key }.map { index, outcome in
      let warnings = warnings.removeValue(forKey: index) ?? []
      return FileReport(
        path: found[index].path, relativePath: found[index].relativePath, outcome: outcome,
        warnings: outcome == .notReached ? [] : warnings, sources: sources.removeValue(forKey: index) ?? [:],
        part: found[index].part)
    }
    for (index, outcome) in outcomes { members.settle(index, found[index].path, outcome) }
    if move != nil {
      for file in outcomes.sorted(by: { $0.key < $1.key }) {
        let content = contents[file.key]?.content ?? found[file.key].content
        move?.settle(found[file.key].path, file.value, content)
      }
    }
    for file in reports { summary.count(file) }
    if !reports.isEmpty { try report(reports) }
    try await noteContents(of: outcomes)
  }

  /// Notes what was read for later imports, of files that have an outcome by their content.
  private func noteContents(of outcomes: [Int: FileOutcome]) async throws {
    guard let knownFiles else {
      for index in outcomes.keys { contents[index] = nil }
      return
    }
    let read = outcomes.keys.sorted().compactMap { index -> (path: FilePath, file: KnownFile)? in
      guard let read = contents.removeValue(forKey: index), let condition = outcomes[index]?.condition else {
        return nil
      }
      return (found[index].path, KnownFile(read.content, readAt: read.began, condition))
    }
    let target = target
    try await knownFiles.record(read) { Set(try await target.assets(holding: $0).keys) }
  }

  /// Imports the files of a batch, as many as there is time for.
  /// - Returns: where the next batch begins.
  private func planAndRecord(_ batch: Range<Int>) async throws -> Int {
    var outcomes = ahead.outcomes
    let (hashed, hashedEnd) = try await hash(batch, &outcomes)
    let groups = try await newContents(hashed, &outcomes)
    let (attempts, end) = try await prepare(groups, of: batch.lowerBound..<hashedEnd)
    var prepared: [PreparedFile] = []
    var adjustments: [PreparedAdjustment] = []
    for attempt in attempts {
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
      prepared.append(file)
    }
    prepared.sort { $0.index < $1.index }
    let halves = try await halves(of: prepared)
    try await record(planner.plan(prepared, halves: halves, adjustments: adjustments), &outcomes)
    try await settleAdjustments(in: batch.lowerBound..<end, &outcomes)
    for file in hashed where file.index >= end { ahead.hashed[file.index] = file }
    ahead.hashed = ahead.hashed.filter { $0.key >= end }
    // Adjustment data are decided with the files of their name.
    ahead.outcomes = outcomes.filter { $0.key >= end && found[$0.key].edit != .adjustmentData }
    try await settleAll(outcomes.filter { $0.key < end })
    return end
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
    precondition(recorded.count == planned.count, "A target must return an outcome for each change.")
    for (planned, recorded) in zip(planned, recorded) {
      summary.count(recorded.change)
      if case .asset(let asset) = recorded.change, let file = planned.files.first {
        sources[file] = asset.facts.sources
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
  /// A file whose content is known.
  struct HashedFile: Sendable {
    let index: Int
    let path: FilePath
    let content: FileContent
    /// Where its bytes are, if not at its path.
    var place: FilePath?
    /// The name of the library's own copy of a member of an archive.
    var copy: String?
    var unit: [UInt8]?
    var note: MediaNote?
    var edit: AppleEdits.Part?

    /// Reads a small file; nil for one that is too long.
    typealias Reading = @Sendable () throws(ImportError) -> HashedFile?

    /// What is planned together has the same.
    var unitBytes: ArraySlice<UInt8> { unit.map { $0[...] } ?? path.stemBytes }

    var bytes: FilePath { place ?? path }
  }

  /// What came of the files with one content.
  struct Attempt: Sendable {
    var taken: PreparedFile?
    var outcomes: [Int: FileOutcome] = [:]
    /// The adjustment data of the file that was taken, or of one of its name, with when they were read.
    var adjustment: (file: PreparedAdjustment, content: FileContent, began: Date)?
  }

  private var width: Int { options.threadCount ?? tool.processCount * 2 }

  /// The files of a part of the walk whose names differ in the extension only, together.
  private func runs(of files: Range<Int>) -> [Range<Int>] {
    var runs: [Range<Int>] = []
    var start = files.lowerBound
    for index in files.dropFirst() where found[index].unitBytes != found[index - 1].unitBytes {
      runs.append(start..<index)
      start = index
    }
    if start < files.upperBound { runs.append(start..<files.upperBound) }
    return runs
  }

  /// Reads the candidates of a batch to their end, as many as there is time for.
  /// - Returns: the files, and where those that were left begin.
  private func hash(
    _ batch: Range<Int>, _ outcomes: inout [Int: FileOutcome]
  ) async throws -> (files: [HashedFile], end: Int) {
    let runs = runs(of: batch)
    let work = runs.enumerated().map { position, run in
      let candidates = run.filter { found[$0].role == .candidate && ahead.outcomes[$0] == nil }
      return (position, candidates.map { (index: $0, file: found[$0], known: known($0)) })
    }
    let copies = catalog.copies
    let began = options.now()
    let pace = Pace(options, stop)
    let results = try await onThreads(work, width: width) {
      (position, files) throws(ImportError) -> [(Int, Result<HashedFile, ImportError>)]? in
      if pace.leaves(position) { return nil }
      return files.map { file in
        (file.index, file.known.map { .success($0) } ?? Self.hashed(file.index, file.file, copies))
      }
    }
    let count = results.firstIndex { $0 == nil } ?? results.count
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
    for (position, result) in results.enumerated() {
      for (index, result) in result ?? [] {
        if case .success(let file) = result { note(file.content, of: index, began) }
        switch result {
        case .success(let file) where position >= count: ahead.hashed[index] = file
        case .failure where position >= count: continue
        case .success(let file) where file.content.byteCount == 0:
          finish(index, .skipped(.empty, "\(file.path) is empty."), &outcomes)
        case .success(let file): hashed.append(file)
        case .failure(let error): finish(index, .skipped(SkipReason(error), error.description), &outcomes)
        }
      }
    }
    return (hashed, end)
  }

  /// Notes what was read of a file; what was known already is not newer for being used.
  private func note(_ content: FileContent, of index: Int, _ began: Date) {
    let file = found[index]
    guard knownFiles != nil || move != nil, !file.isKnown, contents[index] == nil, file.copy == nil else { return }
    contents[index] = (content, began)
  }

  /// A file whose content is known already: from an earlier batch, or since the source was read.
  private func known(_ index: Int) -> HashedFile? {
    ahead.hashed[index]
      ?? found[index].content.map { HashedFile(index: index, found[index], content: $0, catalog.copies) }
  }

  private static func hashed(
    _ index: Int, _ file: ScannedFile, _ copies: MemberCopies?
  ) -> Result<HashedFile, ImportError> {
    do throws(LibraryError) {
      let content = try FileContent(of: file.bytes(in: copies))
      return .success(HashedFile(index: index, file, content: content, copies))
    } catch {
      return .failure(ImportError(error, path: file.path))
    }
  }

  private func finish(_ index: Int, _ outcome: FileOutcome, _ outcomes: inout [Int: FileOutcome]) {
    outcomes[index] = outcome
    progress.fileDone(index, byteCount: found[index].byteCount)
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

  /// Reads the metadata of new contents and puts their bytes into the library, as many as there is time for.
  /// - Returns: what came of them, and where the files that were left begin.
  private func prepare(
    _ groups: [[HashedFile]], of files: Range<Int>
  ) async throws -> (attempts: [Attempt], end: Int) {
    // What is named alike is planned together, so it is prepared together.
    var pieces: [(start: Int, groups: [[HashedFile]], adjustment: HashedFile.Reading?)] = []
    var rest = groups[...]
    for run in runs(of: files) {
      let piece = rest.prefix { $0[0].index < run.upperBound }
      if !piece.isEmpty { pieces.append((run.lowerBound, Array(piece), adjustment(in: run))) }
      rest = rest.dropFirst(piece.count)
    }
    let work = FileWork(
      resources: resources, tool: tool, leavesFilesInPlace: options.leavesFilesInPlace || options.isRehearsal,
      stop: stop, wishes: options.wishes, dates: options.dates)
    let (pace, progress, began) = (Pace(options, stop), progress, options.now())
    let results = try await onThreads(Array(pieces.enumerated()), width: width) {
      (position, piece) throws(ImportError) -> [Attempt]? in
      if pace.leaves(position) { return nil }
      var attempts: [Attempt] = []
      for group in piece.groups {
        guard let attempt = try work.attempt(group, progress) else { return nil }
        attempts.append(attempt)
      }
      // Without it, the files of its name would be recorded, and it would never be.
      guard let reading = piece.adjustment, ImportPlanner.takesAdjustment(attempts.compactMap(\.taken)) else {
        return attempts
      }
      do throws(ImportError) {
        if let (file, content) = try work.adjustment(reading()) { attempts[0].adjustment = (file, content, began) }
      } catch {
        if error.code == .cancelled { return nil }
        guard error.concernsOneFile else { throw error }
      }
      return attempts
    }
    let count = results.firstIndex { $0 == nil } ?? results.count
    let end = count < pieces.count ? pieces[count].start : files.upperBound
    return (results.prefix(count).flatMap { $0 ?? [] }, end)
  }
}

// Adjustment data of other programs.
extension ImportRun {
  /// How the adjustment data among files of one name are read, if there are any that can be.
  private func adjustment(in run: Range<Int>) -> HashedFile.Reading? {
    guard hasAdjustments, let index = run.first(where: { found[$0].edit == .adjustmentData }) else { return nil }
    return reading(of: index)
  }

  private func reading(of index: Int) -> HashedFile.Reading {
    let (file, known, copies) = (found[index], known(index), catalog.copies)
    return { () throws(ImportError) in
      guard file.byteCount <= SmallFile.descriptionLimit else { return nil }
      if let known { return known }
      return try Self.hashed(index, file, copies).get()
    }
  }

  /// Remembers the adjustment data that were recorded, for copies of the same files.
  private func noteAdjustment(of change: ImportChange, _ files: [Int]) {
    guard case .asset(let asset) = change, let adjustment = asset.adjustment, let last = files.last else { return }
    let path = found[last].path
    for file in files.dropLast() { adjustments[found[file].path] = (adjustment.data.stored.sha256, path) }
    rules.note(
      adjustment.rendered.isEmpty
        ? "adjustment data without a certain rendition are kept with the original"
        : "an original, its rendition and its adjustment data are one asset", path.description)
  }

  /// Settles adjustment data that are not recorded: those of files that are copies belong to what these are copies of,
  /// if that has them; all others stay what they are, a sidecar.
  private func settleAdjustments(in files: Range<Int>, _ outcomes: inout [Int: FileOutcome]) async throws {
    guard hasAdjustments else { return }
    var copies: [(index: Int, of: FileOutcome)] = []
    for run in runs(of: files) {
      for index in run where found[index].edit == .adjustmentData && outcomes[index] == .sidecar {
        let originals = run.filter { found[$0].role == .candidate && found[$0].edit != .rendition }
        let became = Set(originals.compactMap { outcomes[$0] })
        if became.count == 1, let one = became.first { copies.append((index, one)) }
      }
    }
    let (began, work) = (options.now(), copies.map { reading(of: $0.index) })
    let read = try await onThreads(work, width: width) { (reading) throws(ImportError) -> FileContent? in
      do throws(ImportError) { return try reading()?.content } catch  where error.concernsOneFile { return nil }
    }
    let holders = try await target.holders(of: Set(read.compactMap { $0?.sha256 }))
    for ((index, original), content) in zip(copies, read) {
      guard let content else { continue }
      switch original {
      case .duplicateOfAsset(let asset) where holders[content.sha256]?.contains(asset) == true:
        outcomes[index] = .duplicateOfAsset(asset)
      case .duplicateOfFile(let file) where adjustments[file]?.content == content.sha256:
        outcomes[index] = adjustments[file].map { .duplicateOfFile($0.path) }
      default: continue
      }
      note(content, of: index, began)
    }
    for index in files where found[index].edit == .adjustmentData && outcomes[index] == .sidecar {
      rules.note(
        "adjustment data that cannot be kept with a photo or video are a sidecar", found[index].path.description)
    }
  }
}

extension FileOutcome {
  /// What a later import has to know of a file whose content decided; nil if something else did.
  fileprivate var condition: KnownFile.Condition? {
    switch self {
    case .asset, .resource, .duplicateOfAsset, .duplicateOfFile: .taken
    case .skipped(.notMedia, _): .left
    default: nil
    }
  }
}

extension ImportRun.HashedFile {
  init(index: Int, _ file: ScannedFile, content: FileContent, _ copies: MemberCopies?) {
    self.init(
      index: index, path: file.path, content: content, place: file.bytes(in: copies), copy: file.copy,
      unit: file.unit, note: file.note, edit: file.edit)
  }
}

extension ScannedFile {
  /// Where the bytes of the file are.
  func bytes(in copies: MemberCopies?) -> FilePath {
    guard let copy, let copies else { return path }
    return copies.path(of: copy)
  }
}
