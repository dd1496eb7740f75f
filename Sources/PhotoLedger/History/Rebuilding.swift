import EventLog
import LMDB
import StoreMigrations

extension PhotoLibrary {
  /// Checks the log, then drops every projection and makes it again from the events, in one transaction: readers see
  /// the old ones or the new. The log's own tables are made again where the check finds them other than the events say.
  ///
  /// - Parameters:
  ///   - policy: what is done with an event that cannot be carried out. One that an earlier rebuild set aside is tried
  ///     again, and stays aside if it still cannot.
  ///   - progress: is told how far it is; false stops, and the projections stay as they were.
  /// - Throws: ``LibraryError`` `.corrupted` or `.newerThanProgram` if the log cannot be replayed, `.userCancelled` if
  ///   `progress` stops.
  /// - Complexity: O(n log n) in events, again for each event that is set aside; the transaction holds all pages of the
  ///   new projections, and about 200 bytes of memory an event beside them.
  public func rebuild(
    unreadableEvents policy: UnreadableEventPolicy = .stop, progress: (TaskProgress) -> Bool = { _ in true }
  ) throws {
    try checkIsNow("rebuild the library")
    try checkIsOwner("rebuild the library")
    try store.core.remakeProjections(policy, progress: progress)
  }
}

extension StoreCore {
  /// Makes every projection again from the log, in one transaction.
  /// - Parameters:
  ///   - policy: what is done with an event that cannot be carried out.
  ///   - isNeeded: asked inside the transaction; false: nothing is done, since another process has done it.
  ///   - finish: what else belongs into the transaction.
  ///   - progress: is told how far it is; false stops.
  func remakeProjections(
    _ policy: UnreadableEventPolicy, if isNeeded: (borrowing WriteTransaction) throws -> Bool = { _ in true },
    finish: (inout WriteTransaction) throws -> Void = { _ in }, progress: (TaskProgress) -> Bool
  ) throws {
    var skipped: [UInt64: String] = [:]
    while true {
      do {
        return try environment.write { t in
          guard try isNeeded(t) else { return }
          try mendLog(&t)
          // What was set aside before may go on being so; whether it must is found out anew.
          let known = Set(try projections.setAside(in: t).map(\.sequence))
          do {
            for database in projections.all { try t.clear(database) }
            try replayAll(skipped, &t, progress)
            try finish(&t)
          } catch let unreadable as UnreadableEvent {
            guard policy == .setAside || known.contains(unreadable.sequence) else { throw unreadable.failure }
            throw unreadable
          }
        }
      } catch let unreadable as UnreadableEvent {
        guard unreadable.sequence > rootFolder, skipped.count < Projections.asideLimit else { throw unreadable.failure }
        skipped[unreadable.sequence] = unreadable.failure.description
      } catch {
        throw LibraryError(error)
      }
    }
  }

  private func replayAll(
    _ skipped: [UInt64: String], _ t: inout WriteTransaction, _ progress: (TaskProgress) -> Bool
  ) throws {
    // The events are read in a snapshot of their own, beside the pages that the transaction changes.
    try environment.read { source in
      let head = try log.head(source).sequence
      guard head > 0 else { return }
      var cursor = try log.cursor(after: 0, in: source)
      var isStopped = false
      do {
        try projections.replay(&cursor, 1...head, settingAside: skipped, in: &t) { done in
          isStopped = !progress(TaskProgress(phase: "rebuild", done: done, total: head))
          return !isStopped
        }
      } catch {
        guard isStopped else { throw error }
        throw LibraryError(.userCancelled, "The rebuild was stopped; the projections are as they were.")
      }
    }
  }

  /// Checks the log, and makes its tables again if they are all that is wrong with it: what was altered must not become
  /// what the library shows.
  private func mendLog(_ t: inout WriteTransaction) throws {
    var defect = try log.verify(in: t).defect
    if let kind = defect?.kind, kind == .derivedCommit || kind == .derivedKey {
      try log.rebuildDerivedTables(in: &t)
      // The check stopped at the table.
      defect = try log.verify(in: t).defect
    }
    if let defect {
      throw LibraryError(
        .corrupted, "\(defect.description) Nothing was rebuilt; restore the log from a backup that verifies.")
    }
  }
}
