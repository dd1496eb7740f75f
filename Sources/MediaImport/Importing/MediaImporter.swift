// An import, from a list of folders to commits.
//
//     what the source says (ImportSources) ──▶ files in order, notes, albums
//     walk ──▶ batches of about 200 files, names that differ in the extension only kept together
//     files whose contents are known from an earlier import and in the library: no more work
//     for each batch of the others:
//       hash the files, until half a second is over    threads
//       which contents does the library have?          one question
//       metadata and bytes of the new ones, until      threads; exiftool in children
//         another half second is over
//       what belongs together                          ImportPlanner
//       make names durable, then record                one commit
//     at the end: movies whose still never came, albums, then the removal of originals (OriginalsMove)
//
// Three batches are under way: one is recorded while exiftool reads the next, and the one after that is hashed. So
// exiftool, which takes most of the time, never waits for the disk. A batch is recorded before the metadata of the one
// after it are waited for, and at once if the hashing of a later one takes long.
//
// Content decides identity. A file is read once to learn its digest; a known digest ends its way there, so importing a
// folder again costs reading it and nothing else, and an interrupted import goes on by being started again. Among files
// with the same new content the first in walking order that can be taken is, and the others are its duplicates.
//
// A batch ends where its time is over, before a name: what belongs together stays together, what was done for later
// files is kept for the next batch. So an import that is killed loses two seconds of work and the files being read.
//
// Interruption. Cancelling the task ends exiftool and stops the work between two files; what is read by then is
// recorded, as at the end of any batch, and the rest is for the next import. Bytes that were stored and not recorded
// are unnamed files and found again.
//
// A failure that concerns one file is that file's outcome. One that concerns the library (no room) ends the import.

internal import PhotoLedger
internal import Synchronization

/// Imports files and folders into a library.
struct MediaImporter: Sendable {
  private let target: any ImportTarget
  private let resources: ResourceStore
  private let tool: ExifTool
  private let options: LibraryImport.Options
  private let known: KnownFiles?
  private let move: OriginalsMove?

  /// Prepares an import.
  /// - Parameters:
  ///   - target: The library that records the assets.
  ///   - resources: The library's files.
  ///   - tool: Reads metadata.
  ///   - options: How to go about it.
  ///   - known: What earlier imports read, and where this one notes what it read; nil: neither.
  ///   - move: Removes originals that the library has; nil: they stay.
  init(
    target: any ImportTarget, resources: ResourceStore, tool: ExifTool,
    options: LibraryImport.Options = LibraryImport.Options(), known: KnownFiles? = nil,
    move: OriginalsMove? = nil
  ) {
    (self.target, self.resources, self.tool, self.options) = (target, resources, tool, options)
    (self.known, self.move) = (known, move)
  }

  /// Imports everything below `roots`.
  /// - Parameters:
  ///   - roots: Files or folders; of an export also its archives.
  ///   - export: What wrote them.
  ///   - folder: The library's, for copies of members of archives; nil where there are none.
  ///   - progress: Called from any thread, after each file and each commit.
  ///   - report: Called with each file once, a batch at a time; what it throws ends the import.
  /// - Returns: What was done; `wasInterrupted` when the task was cancelled.
  /// - Throws: What ends an import: `ImportError`, and what the target and `report` throw. Recorded batches stay.
  func run(
    _ roots: [FilePath], of export: MediaExport = .folders, in folder: LibraryFolder? = nil,
    progress: @escaping @Sendable (ImportProgress) -> Void = { _ in }, report: @escaping ReportFiles = { _ in }
  ) async throws -> ImportSummary {
    try await run(export, in: folder, progress, report) { (reading) throws(ImportError) in
      try await reading.catalog(of: roots)
    }
  }

  /// Imports files of folders that have been found already, in the order of a walk.
  func run(
    files: [ScannedFile], progress: @escaping @Sendable (ImportProgress) -> Void, report: @escaping ReportFiles
  ) async throws -> ImportSummary {
    try await run(.folders, in: nil, progress, report) { (reading) throws(ImportError) in
      try await reading.catalog(of: files)
    }
  }

  private func run(
    _ export: MediaExport, in folder: LibraryFolder?, _ progress: @escaping @Sendable (ImportProgress) -> Void,
    _ report: @escaping ReportFiles, _ read: (SourceReading) async throws(ImportError) -> MediaCatalog
  ) async throws -> ImportSummary {
    let stop = StopFlag()
    let reading = SourceReading(
      export: export, options: options, tool: tool, copies: folder.map { MemberCopies(in: $0) }, stop: stop,
      known: known)
    return try await withTaskCancellationHandler {
      let catalog = try await read(reading)
      let run = ImportRun(
        catalog: catalog, target: target, resources: resources, tool: tool, options: options, stop: stop,
        progress: ProgressCounter(catalog.files, progress), known: known, move: move, report: report)
      return try await run.run()
    } onCancel: {
      stop.set()
    }
  }
}

/// Counts and reports progress; a file that is read again, since its batch was split, counts once.
final class ProgressCounter: Sendable {
  private struct State {
    var progress: ImportProgress
    var isDone: [Bool]
  }

  private let state: Mutex<State>
  private let report: @Sendable (ImportProgress) -> Void

  init(_ found: [ScannedFile], _ report: @escaping @Sendable (ImportProgress) -> Void) {
    let start = ImportProgress(filesFound: found.count, bytesFound: found.reduce(0) { $0 + $1.byteCount })
    self.state = Mutex(State(progress: start, isDone: Array(repeating: false, count: found.count)))
    self.report = report
    report(start)
  }

  func fileDone(_ index: Int, byteCount: Int64) {
    let progress: ImportProgress? = state.withLock { state in
      if state.isDone[index] { return nil }
      state.isDone[index] = true
      state.progress.filesDone += 1
      state.progress.bytesDone += byteCount
      return state.progress
    }
    if let progress { report(progress) }
  }

  func originalsFound(_ count: Int) {
    report(
      state.withLock { state in
        state.progress.originalsFound = count
        return state.progress
      })
  }

  func originalDone() {
    report(
      state.withLock { state in
        state.progress.originalsDone += 1
        return state.progress
      })
  }

  func assetsAdded(_ count: Int) {
    report(
      state.withLock { state in
        state.progress.assetsAdded = count
        return state.progress
      })
  }
}

/// The time that a part of a batch may take: hashing and the reading of metadata each have half of it.
struct Pace: Sendable {
  private let stop: StopFlag
  private let instant: @Sendable () -> ContinuousClock.Instant
  private let end: ContinuousClock.Instant

  init(_ options: LibraryImport.Options, _ stop: StopFlag) {
    (self.stop, instant) = (stop, options.instant)
    end = options.instant() + options.batchDuration / 2
  }

  /// Whether a piece of work is left for later; the first one is done in any case, so that each batch gets on.
  func leaves(_ position: Int) -> Bool { stop.isSet || position > 0 && instant() >= end }
}
