internal import Foundation
internal import Glibc
public import PhotoLedger

// Only one import into a library runs at a time, in any process: duplicates are determined before they are recorded,
// and two simultaneous imports of one folder would both add them. A file lock ensures that; the kernel releases it when
// a process dies. The other import fails rather than waits, so that a user who started it by mistake learns of it.
//
// A failed or interrupted import leaves whole batches, each one commit, and the next one goes on where it ended. What
// ends it is thrown as one `ImportError`, whether a folder, the metadata tool or the library was the reason.

extension LibraryImport {
  /// Imports everything below `roots`. Cancelling the task stops it between two files.
  /// - Parameters:
  ///   - roots: files or folders; of an export also its archives, all parts together.
  ///   - export: what wrote them.
  ///   - cause: the cause of every commit of the import, at most 1024 bytes; nil: `import` and the name of the run.
  ///   - progress: called from any thread, after each file and each commit.
  ///   - report: called once for each file, in the order of the walk, when its batch is recorded.
  /// - Returns: what was done; `wasInterrupted` when the task was cancelled.
  /// - Throws: ``ImportError`` for errors that stop an import. Recorded batches stay recorded.
  /// - Complexity: O(bytes) of all files: each is read once to determine whether its content is known.
  public func run(
    _ roots: [FilePath], of export: MediaExport = .folders, cause: String? = nil,
    progress: @escaping @Sendable (ImportProgress) -> Void = { _ in },
    report: @escaping @Sendable (FileReport) -> Void = { _ in }
  ) async throws(ImportError) -> ImportSummary {
    do {
      return try await runAlone(roots, export, cause, progress, report)
    } catch let error as ImportError {
      throw error
    } catch {
      throw ImportError(LibraryError(error))
    }
  }

  private func runAlone(
    _ roots: [FilePath], _ export: MediaExport, _ cause: String?,
    _ progress: @escaping @Sendable (ImportProgress) -> Void, _ report: @escaping @Sendable (FileReport) -> Void
  ) async throws -> ImportSummary {
    precondition(!options.removesOriginals || export == .folders, "Originals of an export are not removed.")
    // Other clients do not see all assets, and so not each that refers to a file.
    if options.removesOriginals { try library.checkIsOwner("remove originals") }
    let turn = try ImportTurn(library.store.folder)
    defer { turn.end() }
    let name = library.newRunName()
    let cause = cause ?? "import \(name)"
    let file = ImportReportFile(in: library.store.folder, run: name, cause: cause, client: library.client)
    let real = LibraryTarget(library: library, cause: cause, run: name)
    let target: any ImportTarget = options.isDryRun ? DryRunTarget(real) : real
    var options = options
    options.excludedFolders.append(FilePath(library.store.folder.currentPath))
    let known = KnownFiles(in: library.store.folder)
    let importer = MediaImporter(
      target: target, resources: library.store.resources, tool: tool, options: options,
      known: options.isDryRun ? nil : known,
      move: options.removesOriginals
        ? OriginalsMove(OriginalRemoval(library: library, isDryRun: options.isDryRun), in: file) : nil)
    defer { if options.tool == nil { tool.close() } }
    let parts = PartCounts()
    var summary = try await importer.run(
      roots, of: export, in: library.store.folder, progress: progress,
      report: { [isDryRun = options.isDryRun] reports in
        if !isDryRun { try file.append(reports) }
        parts.count(reports)
        for one in reports { report(one) }
      })
    (summary.run, summary.cause) = (name, cause)
    summary.parts = parts.accounts
    summary.isDryRun = options.isDryRun
    if options.isDryRun { return summary }
    summary.reportFile = file.path
    try file.finish(summary)
    return summary
  }
}

extension PhotoLibrary {
  /// A name that sorts by time and is not used twice: `20261120T110447Z-5D6A2B4C`.
  func newRunName() -> String {
    let libraryEnvironment = store.libraryEnvironment
    var seconds = time_t(libraryEnvironment.date().timeIntervalSince1970.rounded(.down))
    var parts = tm()
    gmtime_r(&seconds, &parts)
    let date = (parts.tm_year + 1900).padded(to: 4) + (parts.tm_mon + 1).padded(to: 2) + parts.tm_mday.padded(to: 2)
    let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0.padded(to: 2) }.joined()
    return "\(date)T\(time)Z-\(libraryEnvironment.identifier().uuidString.prefix(8))"
  }
}

/// The right to import into a library, held while an import runs.
final class ImportTurn: Sendable {
  private let lock: FileLock

  init(_ library: LibraryFolder) throws {
    try library.makeFolder(ImportReportFile.folder)
    let name = ImportReportFile.folder + "/lock"
    let lock = try FileLock(library.open(name, O_RDWR | O_CREAT, 0o644)) { code in
      LibraryError.store(library.path(of: name), "lock", errno: code)
    }
    guard let lock else {
      throw ImportError(
        .importRunning, path: library.currentPath,
        "Another import into \(library.currentPath) is running; start this one again when it has ended.")
    }
    self.lock = lock
  }

  func end() { lock.release() }
}
