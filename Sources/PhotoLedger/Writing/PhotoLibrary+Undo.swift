import EventLog
import Foundation
import LMDB
import Synchronization

// Undo: a compensating commit that names the commits it reverts.
//
//   choose     the commits that a selection names; the log does not change, so this is done where the caller is
//   compose their net effect, property by property                       UndoComposition.swift
//   plan what still holds, and what was changed since           UndoPlan.swift
//   execute in one commit, on the writer's thread, after planning again    Decider+Undo.swift
//
// The commit names in its causation the commits that it undoes (``UndoneCommits``), and is a commit like any other:
// undoing it restores the previous state.

extension PhotoLibrary {
  /// What an undo would do, without doing it.
  ///
  /// The owner can undo every commit. A client with full access can undo its own: of a range or a cause, only its own
  /// commits are chosen.
  /// - Parameters:
  ///   - selection: the commits, and the objects.
  ///   - policy: how to handle values that were changed since.
  /// - Returns: the report that ``undo(_:onConflict:cause:key:)`` would return now.
  /// - Throws: ``LibraryError``: `.accessUserDenied` for a client without full access, and for another client's commit
  ///   unless called by the owner; `.invalidToken`, `.identifierNotFound`; the store's errors.
  /// - Complexity: O(c + k log n) for c commits in the range of the selection and k properties that they touched, and
  ///   for the later events of the albums and folders whose members they changed, and of the selections that they made
  ///   follow an album.
  public func planUndo(_ selection: UndoSelection, onConflict policy: UndoConflictPolicy = .refuse) throws -> UndoReport
  {
    let composition = try composition(of: selection)
    return try judged(composition, policy)
  }

  /// Undoes commits, as one commit.
  ///
  /// Each property that still has the value set by those commits gets the value that it would have without them. Assets
  /// that they added are removed, and their files kept; collections that they created are deleted; objects that they
  /// trashed or deleted are restored at every position; assets that they purged are restored if their bytes exist.
  /// Permissions, selections and the start of the available history are reverted likewise. An undo is a change: objects
  /// that it edits have its date as the modification date (AS-01).
  ///
  /// Undoing the undo restores the previous state, except for modification dates.
  /// - Parameters:
  ///   - selection: the commits, and the objects.
  ///   - policy: how to handle values that were changed since.
  ///   - cause: the reason, for the log.
  ///   - key: an idempotency key: an undo with a known key has already been executed.
  /// - Returns: the report.
  /// - Throws: as ``planUndo(_:onConflict:)``; `.conflict` if there is a conflict and the policy is `refuse`;
  ///   `.limitExceeded` if folders would be too deep (FO-02) or the undo does not fit into one commit; `.userCancelled`
  ///   if the confirmation handler rejects it (CB-12).
  /// - Complexity: as ``planUndo(_:onConflict:)``, and O(k log n) to write.
  @discardableResult
  nonisolated(nonsending) public func undo(
    _ selection: UndoSelection, onConflict policy: UndoConflictPolicy = .refuse, cause: String? = "undo",
    key: String? = nil
  ) async throws -> UndoReport {
    let (submission, order) = try submission(of: selection, policy, cause, key)
    let receipt = try await withCheckedThrowingContinuation { continuation in
      submission.send { continuation.resume(with: $0) }
    }
    return Self.report(receipt, order)
  }

  /// The same, blocking the calling thread until the commit is durable.
  ///
  /// Not for code that runs on an actor or in a task: it would block a thread that others need.
  /// - Throws: as ``undo(_:onConflict:cause:key:)``.
  @discardableResult
  public func undoAndWait(
    _ selection: UndoSelection, onConflict policy: UndoConflictPolicy = .refuse, cause: String? = "undo",
    key: String? = nil
  ) throws -> UndoReport {
    try undoAndWait(selection, onConflict: policy, cause: cause, key: key) { _ in }
  }

  /// The same, if what it does is accepted.
  /// - Parameter accept: receives the report in the transaction of the commit, before anything is recorded; an error
  ///   rejects the undo and is thrown. It is not called for a known key.
  /// - Throws: as ``undo(_:onConflict:cause:key:)``; what `accept` throws.
  package func undoAndWait(
    _ selection: UndoSelection, onConflict policy: UndoConflictPolicy, cause: String?, key: String?,
    ifAccepted accept: @escaping @Sendable (UndoReport) throws -> Void
  ) throws -> UndoReport {
    let (submission, order) = try submission(of: selection, policy, cause, key, accept)
    do { return Self.report(try submission.sendAndWait(), order) } catch { throw order.outcome.rejected ?? error }
  }

  private func submission(
    of selection: UndoSelection, _ policy: UndoConflictPolicy, _ cause: String?, _ key: String?,
    _ accept: @escaping @Sendable (UndoReport) throws -> Void = { _ in }
  ) throws -> (Submission, UndoOrder) {
    let composition = try composition(of: selection)
    var order = UndoOrder(composition: composition, policy: policy, accept: accept)
    let isConfirmed = store.installed((any ChangeConfirmation).self).current != nil
    if isConfirmed { order.preview = try judged(composition, policy) }
    var submission = Submission(
      store: store, requests: [.undo(order)], client: client, cause: cause, key: key, caller: blocks)
    if !composition.commits.isEmpty {
      submission.causation = UndoneCommits(composition.commits.map(store.core.token)).description
    }
    return (submission, order)
  }

  private static func report(_ receipt: CommitReceipt, _ order: UndoOrder) -> UndoReport {
    var report = UndoReport()
    if !receipt.isRepetition { report = order.outcome.value }
    report.isRepetition = receipt.isRepetition
    if receipt.isRepetition || !report.changes.isEmpty { report.token = receipt.token }
    return report
  }

  private func judged(_ composition: UndoComposition, _ policy: UndoConflictPolicy) throws -> UndoReport {
    try store.reading { t in
      var judge = UndoJudge(
        composition, policy, projections: store.core.projections, resources: store.resources, mark: store.core.mark)
      return try judge.judge(t).report
    }
  }

  // MARK: Choosing

  /// What the chosen commits came to, as this client may undo them.
  func composition(of selection: UndoSelection) throws -> UndoComposition {
    try checkIsNow("undo commits")
    try store.prompting.askIfNeeded(for: client, in: store)
    return try store.reading { t in
      try checkHasFullAccess("undo commits", t)
      let (log, projections) = (store.core.log, store.core.projections)
      let rekeyings = Rekeyings(log: log, projections: projections, head: try log.head(t).sequence)
      var composition = UndoComposition(of: try numbers(of: selection.objects, t), rekeyings)
      let range = try range(of: selection, t)
      if selection.objects.isEmpty {
        for commit in try log.commits(after: range.lowerBound - 1, limit: range.count, in: t) {
          guard try isChosen(commit, by: selection, t) else { continue }
          try log.read(after: commit.firstSequence - 1, limit: Int(commit.eventCount), in: t) { record in
            let event = try projections.event(record, in: t)
            try composition.add(event, at: record.sequence, of: commit.number, in: t)
            return .proceed
          }
        }
      } else {
        try compose(&composition, range, selection, t)
      }
      try composition.finish(in: t)
      return composition
    }
  }

  /// Takes in what concerns some objects, by their own histories.
  private func compose(
    _ composition: inout UndoComposition, _ range: Range<UInt64>, _ selection: UndoSelection,
    _ t: borrowing StoreReading
  ) throws {
    let start = range.lowerBound == 1 ? 0 : try store.sequence(ofCommit: range.lowerBound - 1, t)
    var sequences: Set<UInt64> = []
    for number in try numbers(of: selection.objects, t) ?? [] {
      sequences.formUnion(try store.core.projections.history(of: number, after: start, in: t))
    }
    var commit: Commit?
    var noted: UInt64?
    var isWanted = false
    for sequence in sequences.sorted() {
      let record = try store.core.log.recordedEvent(at: sequence, in: t)
      guard record.commit < range.upperBound else { return }
      if record.commit != commit?.number {
        let found = try store.core.recordedCommit(record.commit, t)
        commit = found
        isWanted = try isChosen(found, by: selection, t)
      }
      guard isWanted else { continue }
      let event = try store.core.projections.event(record, in: t)
      if event.movesRepresentative, let commit, noted != commit.number {
        // The asset that took over, or gave way, may be in another event than the wanted one.
        noted = commit.number
        try store.core.log.read(after: commit.firstSequence - 1, limit: Int(commit.eventCount), in: t) { record in
          let event = try store.core.projections.event(record, in: t)
          composition.noteRepresentatives(of: event)
          return .proceed
        }
      }
      try composition.add(event, at: sequence, of: record.commit, in: t)
    }
  }

  /// Whether a commit is chosen; commits of others can be undone only by the owner.
  private func isChosen(
    _ commit: Commit, by selection: UndoSelection, _ t: borrowing StoreReading
  ) throws -> Bool {
    let summary = CommitSummary(commit)
    guard (selection.client ?? summary.client).exact == summary.client.exact,
      selection.cause == nil || selection.cause?.exact == summary.cause?.exact,
      selection.since ?? summary.date <= summary.date
    else { return false }
    if let end = selection.until, summary.date >= end { return false }
    guard client == Self.owner || summary.client.exact == client.exact else {
      if selection.commit == nil { return false }
      throw LibraryError(
        .accessUserDenied,
        """
        The client '\(client)' may undo its own commits only; the commit \(store.token(commit.number)) was made by \
        '\(summary.client)', and only the library's owner may undo it.
        """)
    }
    return try selection.kinds.isEmpty || hasEvent(of: selection.kinds, commit, t)
  }

  /// Whether some event of a commit is of one of several kinds.
  private func hasEvent(of kinds: Set<String>, _ commit: Commit, _ t: borrowing StoreReading) throws -> Bool {
    var isFound = false
    try store.core.log.read(after: commit.firstSequence - 1, limit: Int(commit.eventCount), in: t) { record in
      let type = record.type
      isFound = kinds.contains { Event.isType(type, ofKind: $0) }
      return isFound ? .stop : .proceed
    }
    return isFound
  }

  /// The commits between the tokens of a selection; none if both name one state.
  private func range(of selection: UndoSelection, _ t: borrowing StoreReading) throws -> Range<UInt64> {
    let head = try store.core.log.head(t).commit
    if let token = selection.commit {
      guard selection.after == nil, selection.through == nil else {
        throw LibraryError(
          .malformedRequest, "An undo takes either one commit or a range of commits; pass one of them.")
      }
      let number = try store.commit(of: token, for: client, t)
      guard number > 0 else {
        throw LibraryError(.invalidToken, "The token \(token) names the state before the first commit.")
      }
      return number..<(number + 1)
    }
    let after = try selection.after.map { try store.commit(of: $0, for: client, t) } ?? 0
    let through = try selection.through.map { try store.commit(of: $0, for: client, t) } ?? head
    guard after <= through else {
      throw LibraryError(.malformedRequest, "The range of commits ends before it starts; exchange the two tokens.")
    }
    return (after + 1)..<(through + 1)
  }

  private func numbers(
    of objects: [LocalIdentifier], _ t: borrowing StoreReading
  ) throws -> Set<ObjectNumber>? {
    if objects.isEmpty { return nil }
    return try Set(
      objects.map { identifier in
        if let object = try store.core.projections.object(identifier, in: t) { return object.number }
        guard let number = try store.core.assetNumber(identifier, t) else {
          throw LibraryError(
            .identifierNotFound, "The library never had an object with the identifier \(identifier.uuidString).")
        }
        return number
      })
  }
}
