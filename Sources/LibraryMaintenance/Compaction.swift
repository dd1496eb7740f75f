import EventLog
public import Foundation
import Glibc
import LMDB
public import PhotoLedger
import StoreMigrations

// Compaction: rewriting the store without free space (Environment+Rewriting.swift), and on request removing files that
// no asset has and no undo can bring back.
//
// The library must not be in use meanwhile: a reader would continue with the old file, and a writer's commits would be
// lost with it. So this works on a directory and not on an open library. The new store is verified before it replaces
// the old one: its log from the first event, and that both end with the same one.

/// The result of a compaction.
public struct CompactionReport: Sendable, Hashable {
  /// The bytes of the store's file before.
  public let bytesBefore: Int
  /// The bytes of the store's file after.
  public let bytesAfter: Int
  /// How many entries the store has.
  public let entryCount: UInt64
  /// The files of resources that nothing needs and that were removed; empty unless that was asked for.
  public internal(set) var sweptFiles: [String] = []
  /// How many bytes those had.
  public internal(set) var sweptBytes: UInt64 = 0
  /// Whether no file is left that was to be removed; false if the progress handler stopped the sweep.
  public internal(set) var isSweepComplete = true
  /// The chain of the log, which compacting leaves as it is, in hexadecimal digits.
  public let chain: String
}

extension PhotoLibrary {
  /// Writes the store of a library anew: without free space, and without a byte of what was erased or deleted.
  ///
  /// The library must not be open, here or in another process. If this fails or its process is killed, the store is the
  /// old one or the new one, complete. It needs as much free space on the disk as the store has entries.
  /// - Parameters:
  ///   - url: the directory of the library.
  ///   - sweepsResources: whether files of resources are removed that no asset of the library has and no undo can bring
  ///     back: leftovers that a rejected block or a purge could not remove.
  ///   - progress: the progress handler; return `false` to cancel, which changes nothing. A sweep that is cancelled
  ///     ends with the report, see ``CompactionReport/isSweepComplete``: by then the store is rewritten.
  /// - Throws: ``LibraryError`` `.notALibrary`, `.conflict` if the library is open, `.userCancelled`, `.corrupted`,
  ///   `.changeNotSupported` if files are to be swept while events are quarantined, `.notEnoughSpace`, `.storage`.
  /// - Complexity: O(bytes) of the store, and O(log n) for each file where those are swept.
  @discardableResult
  public static func compact(
    at url: URL, sweepingResources sweepsResources: Bool = false, progress: (TaskProgress) -> Bool = { _ in true }
  ) throws -> CompactionReport {
    let url = url.standardFileURL
    do {
      try LMDB.Environment.checkIsUnused(path: LibraryStore.storePath(url))
    } catch  where error.code == .busy {
      throw inUse(url, error)
    } catch {
      // Opening says what is wrong, in words about a library.
    }
    try checkIsLibrary(url, sweepsResources: sweepsResources)
    var chain = ""
    do {
      let rewriting = try LMDB.Environment.rewrite(
        path: LibraryStore.storePath(url), options: LibraryStore.options,
        check: { old, new in
          let head = try LibraryCopy.provedLog(EventLog(in: new), in: new, progress)
          let log = try EventLog(in: old)
          guard try old.read({ t in try log.head(t) }) == head else {
            throw LibraryError(
              .corrupted, "The rewritten store does not end like the old one; nothing was changed.")
          }
          chain = head.chain.description
          // A rebuild that was killed left rows there, perhaps of an asset that was erased since.
          try UnfinishedFolder.removeScratch(StoreCore.shadowName, in: LibraryStore.storePath(url))
        },
        progress: { done, total in progress(TaskProgress(phase: "compact", done: done, total: total)) })
      guard let rewriting else {
        throw LibraryError(.userCancelled, "The compaction was stopped; nothing was changed.")
      }
      var report = CompactionReport(
        bytesBefore: rewriting.bytesBefore, bytesAfter: rewriting.bytesAfter, entryCount: rewriting.entryCount,
        chain: chain)
      if sweepsResources { try sweep(url, &report, progress) }
      return report
    } catch let error as LMDBError where error.code == .busy {
      throw inUse(url, error)
    } catch {
      throw LibraryError(error)
    }
  }

  private static func inUse(_ url: URL, _ error: LMDBError) -> LibraryError {
    LibraryError(
      .conflict, "The library at \(url.path) cannot be compacted while it is in use: \(error.detail ?? "it is open").")
  }

  /// Opens and closes a library that is not in use, for the error that describes its state.
  private static func checkIsLibrary(_ url: URL, sweepsResources: Bool) throws {
    let library = try PhotoLibrary(at: url)
    let refusal = Result {
      if sweepsResources { try library.checkAllEventsAreRead() }
      try library.dropOutdatedSnapshots()
    }
    library.close()
    // At once, also after a failure: a thread that still holds the store while it ends would block the next compaction.
    try library.store.core.environment.close()
    try refusal.get()
  }

  /// Throws if events are quarantined: they may name files, and a later version may apply them.
  private func checkAllEventsAreRead() throws {
    let quarantined = try store.reading { t in try store.core.projections.quarantined(in: t) }
    guard let first = quarantined.first else { return }
    throw LibraryError(
      .changeNotSupported,
      """
      Event \(first.sequence) is quarantined and may name files, so none is swept; compact without it, or rebuild by a \
      program that knows the event.
      """)
  }

  /// Removes the files of resources that no asset of a library has and no undo can bring back.
  static func sweep(
    _ url: URL, _ report: inout CompactionReport, _ progress: (TaskProgress) -> Bool
  ) throws {
    // The store alone, as a library has threads, which hold the store a moment longer than it is open: another
    // compaction that follows at once would find it in use.
    let environment = try LMDB.Environment.open(path: LibraryStore.storePath(url), options: LibraryStore.options)
    let projections = try Projections(in: environment, creates: false)
    let format = try StoreFormat(in: environment, creates: false)
    let files = try ResourceTransfer.files(of: url.path)
    // Under the writer's lock no block can name a file that is being looked at.
    try environment.write { t in
      // A newer format may name files where this program does not look.
      try format.checkIsKnown(t)
      for (index, file) in files.enumerated() {
        guard progress(TaskProgress(phase: "sweep", done: UInt64(index), total: UInt64(files.count))) else {
          report.isSweepComplete = false
          return
        }
        guard let content = SHA256Digest(hexadecimal: file.filter { $0 != "/" }),
          try !projections.needsFile(content.bytes, in: t)
        else { continue }
        let path = "\(url.path)/resources/\(file)"
        var status = stat()
        guard stat(path, &status) == 0, unlink(path) == 0 else {
          throw LibraryError.store(path, "remove", errno: errno)
        }
        report.sweptFiles.append(file)
        report.sweptBytes += UInt64(status.st_size)
      }
    }
  }
}
