import EventLog
import LMDB
import StoreMigrations

// Rebuilding: every projection made again from the log, while others go on reading and writing.
//
//     log       1 ──────────────────────▶ 900 ─────▶ 950          writers go on up to the swap
//     shadow    the events, replayed in batches │ the rest │      a throw-away store in the library's own folder
//     readers   the old rows ──────────────────────────────┤ the new rows
//                                         writer's lock ───┤ old rows out, the shadow's in: one transaction
//
// The shadow is a store of its own and not a second set of tables in the library's: names of tables would have to tell
// which set counts, and every process would have to ask before each read. So the swap copies rows, in the order of
// their keys, which is the part that writers wait for; the replay, which is the long part, nobody waits for.
//
// Invariant: what a rebuild leaves is what a replay of the log as of the swap gives. Should assets have been erased
// while the shadow was filled, it holds what the log no longer says, and is made again.
//
// The same makes the projections of a store of an older format, with the number of the new one in the same transaction.

extension PhotoLibrary {
  /// Checks the log, then makes every projection again from the events, beside those that are there, and swaps them in
  /// by one transaction: readers see the old ones or the new. The log's own tables are made again where the check finds
  /// them other than the events say.
  ///
  /// - Parameters:
  ///   - policy: what is done with an event that cannot be carried out. One that an earlier rebuild set aside is tried
  ///     again, and stays aside if it still cannot.
  ///   - progress: is told how far it is; false stops, and the projections stay as they were.
  /// - Throws: ``LibraryError`` `.corrupted` or `.newerThanProgram` if the log cannot be replayed, `.userCancelled` if
  ///   `progress` stops, `.notEnoughSpace`: it needs about as much space as the projections have.
  /// - Complexity: O(n log n) in events, again for each event that is set aside; writers wait for O(rows), which is the
  ///   swap. Memory is bounded.
  public func rebuild(
    unreadableEvents policy: UnreadableEventPolicy = .stop, progress: (TaskProgress) -> Bool = { _ in true }
  ) throws {
    try checkIsNow("rebuild the library")
    try checkIsOwner("rebuild the library")
    try store.core.remakeProjections(policy, progress: progress)
  }
}

extension StoreCore {
  /// Makes every projection again from the log, and swaps them in by one transaction.
  /// - Parameters:
  ///   - policy: what is done with an event that cannot be carried out.
  ///   - isNeeded: asked before the work and inside the transaction; false: nothing is done, since another process has
  ///     done it.
  ///   - finish: what else belongs into the transaction.
  ///   - progress: is told how far it is; false stops.
  func remakeProjections(
    _ policy: UnreadableEventPolicy, if isNeeded: (borrowing StoreReading) throws -> Bool = { _ in true },
    finish: (inout WriteTransaction) throws -> Void = { _ in }, progress: (TaskProgress) -> Bool
  ) throws {
    do {
      guard try environment.read(isNeeded) else { return }
      try mendLog(progress)
      // What was set aside before may go on being so; whether it must is found out anew.
      let known = Set(try environment.read { t in try projections.setAside(in: t) }.map(\.sequence))
      var skipped: [UInt64: String] = [:]
      while true {
        do {
          let shadow = try Shadow(of: self, settingAside: skipped)
          defer { shadow.close() }
          try shadow.fill(progress)
          if try shadow.swapIn(if: isNeeded, finish: finish, progress) { return }
        } catch let unreadable as UnreadableEvent {
          let mayGo = policy == .setAside || known.contains(unreadable.sequence)
          guard mayGo, unreadable.sequence > rootFolder, skipped.count < Projections.asideLimit else {
            throw unreadable.failure
          }
          skipped[unreadable.sequence] = unreadable.failure.description
        }
      }
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
        try log.rebuildDerivedTables(in: &t)
        // The check stopped at the table.
        if let defect = try log.verify(in: t).defect { throw Self.refusal(of: defect) }
      }
      defect = nil
    }
    if let defect { throw Self.refusal(of: defect) }
    if try environment.read({ t in try derivesRedactions(t) }) { return }
    _ = try environment.write { t in try deriveRedactions(&t) }
  }

  private static func refusal(of defect: LogVerification.Defect) -> LibraryError {
    LibraryError(
      .corrupted, "\(defect.description) Nothing was rebuilt; restore the log from a backup that verifies.")
  }

  private func provedLog(
    _ t: borrowing StoreReading, _ progress: (TaskProgress) -> Bool
  ) throws -> LogVerification.Defect? {
    let total = try log.head(t).sequence
    var isStopped = false
    let found = try log.verify(in: t) { sequence in
      isStopped = !progress(TaskProgress(phase: "log", done: sequence, total: total))
      return isStopped ? .stop : .proceed
    }
    if isStopped { throw Shadow.stopped }
    return found.defect
  }
}

/// The projections being made again, in a store of their own.
private final class Shadow {
  private let core: StoreCore
  private let folder: UnfinishedFolder
  private let environment: LMDB.Environment
  private let projections: Projections
  private let skipped: [UInt64: String]
  /// The last event that was carried out in the shadow.
  private var done: UInt64 = 0

  /// How many events are carried out in one transaction of the shadow: enough that rows under keys as good as random
  /// meet neighbours when they are put in order.
  private static let batch: UInt64 = 1 << 18

  static var stopped: LibraryError {
    LibraryError(.userCancelled, "The rebuild was stopped; the projections are as they were.")
  }

  init(of core: StoreCore, settingAside skipped: [UInt64: String]) throws {
    self.core = core
    self.skipped = skipped
    folder = try UnfinishedFolder(scratch: "shadow", in: core.environment.path)
    var options = LMDB.Environment.Options()
    options.maxDatabases = Projections.databasesMax
    options.durability = .unsafeNoSync  // What it is for is made durable by the swap.
    environment = try LMDB.Environment.open(path: folder.path, options: options)
    projections = try Projections(in: environment)
  }

  /// Lets go of the store; its folder goes with this value.
  func close() {
    // A mapping that stays until the process ends is all that would be left.
    try? environment.close()
  }

  /// Carries the log out up to where it ends now.
  func fill(_ progress: (TaskProgress) -> Bool) throws {
    var head: UInt64
    repeat {
      head = try core.environment.read { source in
        let head = try core.log.head(source).sequence
        guard done < head else { return head }
        try carryOut(through: min(head, done + Self.batch), of: head, from: source, progress)
        return head
      }
    } while done < head
  }

  private func carryOut(
    through last: UInt64, of total: UInt64, from source: borrowing StoreReading, _ progress: (TaskProgress) -> Bool
  ) throws {
    var isStopped = false
    let wanted = (done + 1)...last
    do {
      try environment.write { t in
        var cursor = try core.log.cursor(after: done, in: source)
        try projections.replay(&cursor, wanted, settingAside: skipped, in: &t) { sequence in
          isStopped = !progress(TaskProgress(phase: "rebuild", done: sequence, total: total))
          return !isStopped
        }
      }
    } catch {
      throw isStopped ? Self.stopped : error
    }
    done = last
  }

  /// Puts the shadow's rows in the place of the library's.
  /// - Returns: false if assets were erased meanwhile, so that the shadow has to be made again; nothing was changed.
  func swapIn(
    if isNeeded: (borrowing StoreReading) throws -> Bool, finish: (inout WriteTransaction) throws -> Void,
    _ progress: (TaskProgress) -> Bool
  ) throws -> Bool {
    try core.environment.write { t in
      // Under the writer's lock a snapshot is of the last commit, and stays so.
      let isRight = try core.environment.read { source in
        guard try isNeeded(source) else { return nil as Bool? }
        let head = try core.log.head(source).sequence
        if done == head { return true }
        if try erases(after: done, source) { return false }
        try carryOut(through: head, of: head, from: source, progress)
        return true
      }
      guard let isRight else { return true }
      guard isRight else { return false }
      try copyRows(into: &t, progress)
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

  private func copyRows(into t: inout WriteTransaction, _ progress: (TaskProgress) -> Bool) throws {
    try environment.read { source in
      let tables = Array(zip(core.projections.all, projections.all))
      let total = try tables.reduce(UInt64(0)) { $0 + UInt64(try source.count(of: $1.1)) }
      var copied: UInt64 = 0
      for (live, shadow) in tables {
        try t.clear(live)
        var rows = try source.cursor(in: shadow)
        var row = try rows.first()
        while let entry = row {
          try t.put(entry.key, entry.value, in: live, mode: .append)
          copied += 1
          if copied % Projections.reportInterval == 0 || copied == total {
            guard progress(TaskProgress(phase: "swap", done: copied, total: total)) else { throw Self.stopped }
          }
          row = try rows.next()
        }
      }
    }
  }
}
