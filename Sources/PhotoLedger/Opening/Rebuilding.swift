package import EventLog
import Foundation
import Glibc
package import LMDB
import StoreMigrations

// Rebuilding: every projection made again from the log, while others go on reading and writing.
//
//     log       1 ──────────────────────▶ 900 ─────▶ 950          writers go on up to the swap
//     shadow    the events, replayed in batches │ the rest │      a throw-away store in the library's own folder
//     readers   the old rows ──────────────────────────────┤ the new rows
//                                         writer's lock ───┤ rows that differ out, the shadow's in: one transaction
//
// The shadow is a separate store and not a second set of tables in the library's: table names would have to say which
// set is valid, and every process would have to check before each read. So the swap walks both in key order and copies
// the rows that differ, which is the part that writers wait for; the replay, the long part, blocks no one. Tables that
// are right already are recognised first, on several cores; they are most. If nothing is wrong nothing is written, and
// the file does not grow: a transaction cannot reuse what it frees, so clearing and refilling tables would take their
// space twice, and keep it. That is still done with unreadable tables, and for a new format in which all rows differ.
//
// Invariant: the result of a rebuild is that of a replay of the log as of the swap. If assets were erased while the
// shadow was filled, it contains erased data, and is built again.
//
// The same makes the projections of a store of an older format, with the number of the new one in the same transaction.

extension StoreCore {
  /// The name of the folder in the store's that a shadow is filled in.
  package static let shadowName = "shadow"

  /// How much a transaction of the shadow changes, in the weights of its events: enough that rows under keys as good as
  /// random meet neighbours when they are put in order, and so few that the pages that it changes stay a part of the
  /// memory.
  ///
  /// A created object adds to the last pages of some tables, and half a kilobyte of rows to those that are gathered:
  /// 2¹⁷ of them are 70 MiB, within what may be gathered at once. An edit lands anywhere, and each may change two pages
  /// of its own, of the rows and of the details of assets: 2¹⁵ of them are 256 MiB, hence the fourfold weight
  /// (`Projections.editWeight`).
  package static let rebuildBatch: UInt64 = 1 << 17

  /// Rebuilds every projection from the log, and swaps them in by one transaction.
  /// - Parameters:
  ///   - policy: how to handle an event that cannot be applied.
  ///   - isNeeded: called before the work and inside the transaction; false: nothing is done, since another process has
  ///     done it.
  ///   - finish: further changes in the same transaction.
  ///   - batch: the weight of events after which a transaction of the shadow ends; it does not affect the result.
  ///   - progress: the progress handler; return `false` to cancel.
  package func remakeProjections(
    _ policy: UnreadableEventPolicy, if isNeeded: (borrowing StoreReading) throws -> Bool = { _ in true },
    finish: (inout WriteTransaction) throws -> Void = { _ in }, batch: UInt64 = StoreCore.rebuildBatch,
    progress: (TaskProgress) -> Bool
  ) throws {
    do {
      guard try environment.read(isNeeded) else { return }
      try mendLog(progress)
      // Events that were quarantined before may be quarantined again, if still necessary. An unreadable table of them
      // does not prevent a rebuild.
      let known = (try? environment.read { t in try projections.quarantined(in: t) }) ?? []
      var skipped: [UInt64: String] = [:]
      var tried: (of: UInt64, skipping: [UInt64]) = (0, [])
      while true {
        do {
          let shadow = try Shadow(of: self, quarantining: skipped, batch: batch)
          defer { shadow.close() }
          guard try shadow.fill(progress) else { continue }
          if try shadow.swapIn(if: isNeeded, finish: finish, progress) { return }
        } catch let unreadable as UnreadableEvent {
          let isKnown = known.contains { $0.sequence == unreadable.sequence }
          let former = known.filter { $0.sequence < unreadable.sequence && skipped[$0.sequence] == nil }
          // What was quarantined applies now, as after an erasure of its data; but this one was recorded without it.
          if !isKnown, !former.isEmpty, tried.of != unreadable.sequence {
            for event in former { skipped[event.sequence] = event.reason }
            tried = (unreadable.sequence, former.map(\.sequence))
            continue
          }
          // It was not recorded without them, so they apply.
          if tried.of == unreadable.sequence { for sequence in tried.skipping { skipped[sequence] = nil } }
          let mayGo = policy == .quarantine || isKnown
          guard mayGo, unreadable.sequence > rootFolder, skipped.count < Projections.quarantineLimit else {
            throw unreadable.failure
          }
          skipped[unreadable.sequence] = unreadable.failure.description
        }
      }
    } catch let error as LMDBError {
      throw LibraryError(error.ofScratch(in: LMDB.Environment.displayedPath(environment.location)))
    } catch {
      throw LibraryError(error)
    }
  }

  /// Checks the log, and makes its tables again if they are all that is wrong with it: what was altered must not become
  /// what the library shows.
  private func mendLog(_ progress: (TaskProgress) -> Bool) throws {
    var defect = try environment.read { t in try provedLog(t, progress) }
    if let kind = defect?.kind, kind == .derivedCommit || kind == .derivedKey {
      try environment.write { t in
        try checkFormat(t)
        try log.rebuildDerivedTables(in: &t)
        // The check stopped at the table.
        if let defect = try log.verify(in: t).defect { throw Self.refusal(of: defect) }
      }
      defect = nil
    }
    if let defect { throw Self.refusal(of: defect) }
    if try environment.read({ t in try derivesRedactions(t) }) { return }
    _ = try environment.write { t in
      try checkFormat(t)
      return try deriveRedactions(&t)
    }
  }

  /// The error for a log that was altered, from which nothing is replayed.
  package static func refusal(of defect: LogVerification.Defect) -> LibraryError {
    LibraryError(
      .corrupted, "\(defect.description) Nothing was rebuilt; restore the log from a backup that verifies.")
  }

  private func provedLog(
    _ t: borrowing StoreReading, _ progress: (TaskProgress) -> Bool
  ) throws -> LogVerification.Defect? {
    guard let found = try log.proved(in: t, progress) else { throw Shadow.stopped }
    return found.defect
  }
}

/// The projections being made again, in a store of their own.
final class Shadow {
  private let core: StoreCore
  private let folder: UnfinishedFolder
  private let environment: LMDB.Environment
  private let projections: Projections
  private let skipped: [UInt64: String]
  private let batch: UInt64
  /// The last event applied to the shadow.
  private var done: UInt64 = 0
  /// The end of the log as of the last snapshot that events were read from. Assets that were erased up to there were so
  /// for all that was read from it, and not for what was read before.
  private var seen: UInt64 = 0

  /// The name of the file, in the store's folder, that says that the library's tables are being read for a swap.
  static let readingMark = ".reading-for-rebuild"

  fileprivate static var stopped: LibraryError {
    LibraryError(.userCancelled, "The rebuild was stopped; the projections are unchanged.")
  }

  fileprivate init(of core: StoreCore, quarantining skipped: [UInt64: String], batch: UInt64) throws {
    (self.core, self.skipped, self.batch) = (core, skipped, batch)
    folder = try UnfinishedFolder(scratch: StoreCore.shadowName, in: core.environment.location)
    var options = LMDB.Environment.Options()
    options.maxDatabases = Projections.databasesMax
    options.durability = .unsafeNoSync  // The swap makes its result durable.
    environment = try LMDB.Environment.open(path: folder.path, options: options)
    projections = try Projections(in: environment)
  }

  /// Releases the store; its folder is removed with this value.
  fileprivate func close() {
    // A mapping that stays until the process ends is all that would be left.
    try? environment.close()
  }

  /// Replays the log up to where it ends now.
  /// - Returns: false if assets were erased meanwhile, so that the shadow has to be made again.
  fileprivate func fill(_ progress: (TaskProgress) -> Bool) throws -> Bool {
    while true {
      // The end of the log; nil if the shadow holds what it no longer says.
      let head = try core.environment.read { source -> UInt64? in
        let head = try core.log.head(source).sequence
        guard done < head else { return head }
        if done > 0, try erases(after: seen, source) { return nil }
        seen = head
        try replay(upTo: head, of: head, phase: "rebuild", from: source, progress)
        return head
      }
      guard let head else { return false }
      if done >= head { return true }
    }
  }

  /// Applies a batch of the next events in one transaction.
  private func replay(
    upTo last: UInt64, of total: UInt64, phase: String, from source: borrowing StoreReading,
    _ progress: (TaskProgress) -> Bool
  ) throws {
    var isStopped = false
    do {
      done = try environment.write { t in
        try projections.replay(
          core.log, (done + 1)...last, from: source, quarantining: skipped, weightMax: batch, in: &t
        ) {
          isStopped = !progress(TaskProgress(phase: phase, done: $0, total: total))
          return !isStopped
        }
      }
    } catch {
      throw isStopped ? Self.stopped : error
    }
  }

  /// Puts the shadow's rows in the place of the library's.
  /// - Returns: false if assets were erased meanwhile, so that the shadow has to be made again; nothing was changed.
  fileprivate func swapIn(
    if isNeeded: (borrowing StoreReading) throws -> Bool, finish: (inout WriteTransaction) throws -> Void,
    _ progress: (TaskProgress) -> Bool
  ) throws -> Bool {
    // Tables that can be read are changed only where they differ. LMDB may end the process over one that cannot, so a
    // mark says that they are being read, and the next rebuild reads none of them.
    let mark = core.environment.location + "/" + Self.readingMark
    let diedReading = FileManager.default.fileExists(atPath: mark)
    if !diedReading {
      // In one step: a file that is written aside and renamed would be left by a kill between the two.
      let number = Glibc.open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
      guard number >= 0 else { throw LibraryError.store(mark, "create the file", errno: errno) }
      Glibc.close(number)
    }
    defer { unlink(mark) }
    do {
      return try swapIn(afresh: diedReading, if: isNeeded, finish: finish, progress)
    } catch let error as LMDBError where error.code == .corrupted && !diedReading {
      return try swapIn(afresh: true, if: isNeeded, finish: finish, progress)
    }
  }

  private func swapIn(
    afresh: Bool, if isNeeded: (borrowing StoreReading) throws -> Bool,
    finish: (inout WriteTransaction) throws -> Void, _ progress: (TaskProgress) -> Bool
  ) throws -> Bool {
    try core.environment.write { t in
      try core.checkFormat(t)
      // Under the writer's lock a snapshot is of the last commit, and stays so.
      let isRight = try core.environment.read { source in
        guard try isNeeded(source) else { return nil as Bool? }
        let head = try core.log.head(source).sequence
        if done == head { return true }
        if try erases(after: seen, source) { return false }
        while done < head { try replay(upTo: head, of: head, phase: "swap", from: source, progress) }
        return true
      }
      guard let isRight else { return true }
      guard isRight else { return false }
      try copyRows(into: &t, afresh: afresh, progress)
      try finish(&t)
      return true
    }
  }

  private func erases(after sequence: UInt64, _ t: borrowing StoreReading) throws -> Bool {
    var erases = false
    try core.log.read(after: sequence, in: t) { record in
      erases = erases || record.type == AssetErased.type
      return erases ? .stop : .proceed
    }
    return erases
  }

  /// Makes the library's tables hold what the shadow's hold.
  private func copyRows(into t: inout WriteTransaction, afresh: Bool, _ progress: (TaskProgress) -> Bool) throws {
    try environment.read { source in
      let pairs: [TableComparison.Pair] = zip(core.projections.all, projections.all).map { (live: $0, shadow: $1) }
      let counts = try pairs.map { UInt64(try source.count(of: $0.shadow)) }
      let total = counts.reduce(0, +)
      let areRight = try afresh ? pairs.map { _ in false } : agreement(of: pairs, counts, source, progress)
      var copied: UInt64 = 0
      func advance(by count: UInt64) throws {
        copied += count
        guard progress(TaskProgress(phase: "swap", done: copied, total: total)) else { throw Self.stopped }
      }
      for (index, pair) in pairs.enumerated() {
        if areRight[index] {
          try advance(by: counts[index])
          continue
        }
        if afresh { try t.clear(pair.live) }
        _ = try t.match(pair.live, to: pair.shadow, of: source) { try advance(by: UInt64($0)) }
      }
    }
  }

  /// Which of the library's tables hold what the shadow's hold already. Called under the writer's lock before anything
  /// is put, so that a snapshot has what the transaction has.
  /// - Parameter counts: the numbers of rows of the shadow's tables.
  /// - Returns: for each pair whether nothing is to be done; false also for a table that cannot be compared.
  private func agreement(
    of pairs: [TableComparison.Pair], _ counts: [UInt64], _ source: borrowing StoreReading,
    _ progress: (TaskProgress) -> Bool
  ) throws -> [Bool] {
    let comparison = TableComparison(of: pairs, counts)
    let (shadow, total) = (source.held, counts.reduce(0, +))
    var isStopped = false
    let areRight = try? core.environment.read { t -> [Bool] in
      let found = comparison.run(t.held, beside: shadow) { done in
        progress(TaskProgress(phase: "compare", done: done, total: total))
      }
      isStopped = found == nil
      return found ?? []
    }
    if isStopped { throw Self.stopped }
    return areRight ?? pairs.map { _ in false }
  }
}
