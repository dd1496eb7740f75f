import EventLog
public import Foundation
import LMDB
import Synchronization

// Finding the moment of a token, a sequence or a date (Moment.swift).

extension Moment {
  /// What was otherwise than in the state that a transaction sees.
  /// - Complexity: O(e + k log n) the first time, for e events since the nearest snapshot and k touched objects; then
  ///   O(1), and for the events that were appended since. After an erasure, as the first time.
  func overlay(_ core: StoreCore, _ t: borrowing StoreReading) throws -> StateOverlay {
    let head = try core.log.head(t).sequence
    let withdrawn = try core.withdrawnCount(t)
    // Rows from before an erasure have what was erased, and would be laid over what is left.
    let found = known.withLock { $0 }.flatMap { $0.withdrawn == withdrawn ? $0 : nil }
    if let found, found.head == head { return found.overlay }
    let overlay: StateOverlay
    if let found, found.head < head {
      // Objects touched since the last request, in their state at that time and so at the moment too.
      var reader = Rewind(core, to: sequence)
      try reader.goBack(over: (found.head + 1)..<(head + 1), in: t)
      var later = reader.overlay
      later.merge(found.overlay)
      overlay = later
    } else {
      overlay = try core.overlay(at: sequence, t)
    }
    known.withLock { if ($0?.head ?? 0) <= head { $0 = (head, withdrawn, overlay) } }
    return overlay
  }
}

extension PhotoLibrary {
  // MARK: Looking back

  /// The library as of a state: read-only, with every fetch, count, album, permission and token of that state.
  ///
  /// Creating a view does not wait and copies nothing; results that were fetched in it can be followed to the current
  /// state like any other (``changes(to:composingBeyond:)``). Bytes of an asset that was purged since are reported as
  /// missing.
  /// - Parameter token: a state of this library.
  /// - Throws: ``LibraryError``: `.invalidToken` for a token of another library or client, or of a state that does not
  ///   exist yet; `.accessUserDenied` or `.accessRestricted` for a client without read access; the store's errors.
  /// - Complexity: O(log n). A read costs what it costs in the current state, plus the later events of the objects
  ///   read; a fetch of the whole library costs the later events of the objects that existed.
  public func at(_ token: Token) throws -> PhotoLibrary {
    try at { t in try store.moment(ofCommit: try store.commit(of: token, for: client, t), t) }
  }

  /// The library as of the commit of an event.
  /// - Parameter sequence: the sequence of an event, from 1, which selects its whole commit. 0 is the state before the
  ///   first.
  /// - Throws: ``LibraryError``: `.invalidToken` for an event that does not exist yet; `.accessUserDenied` or
  ///   `.accessRestricted` for a client without full access; the store's errors.
  /// - Complexity: O(log n).
  public func at(sequence: UInt64) throws -> PhotoLibrary {
    try at { t in
      let permission = try store.core.projections.permission(of: client, in: t)
      guard permission.access == .full else { throw permission.refusal(client, "select a state by sequence") }
      if sequence == 0 { return try store.moment(ofCommit: 0, t) }
      return try store.moment(ofCommit: try store.commit(ofEvent: sequence, t), t)
    }
  }

  /// The library as of a date.
  /// - Parameter date: selects the last commit made at or before it, by the commits' own times; for a client without
  ///   full access, its last client revision. Before the first commit the library is empty.
  /// - Throws: ``LibraryError``: `.accessUserDenied` or `.accessRestricted` for a client without read access; the
  ///   store's errors.
  /// - Complexity: O(log n), and one read of each later commit's time.
  public func at(date: Date) throws -> PhotoLibrary {
    try at { t in
      let permission = try store.core.projections.permission(of: client, in: t)
      try permission.checkMayRead(client, "read earlier states")
      let commit =
        try permission.access.selection.map { try store.lastRevision(of: $0, atOrBefore: date, t) }
        ?? store.core.log.lastCommit(atOrBefore: date.microseconds, in: t) ?? 0
      return try store.moment(ofCommit: commit, at: date, t)
    }
  }

  private func at(_ find: (borrowing StoreReading) throws -> Moment) throws -> PhotoLibrary {
    PhotoLibrary(store: store, client: client, moment: try store.reading { t in try find(t) })
  }

  /// The instant whose state this view shows; nil for the library of now.
  public var momentDate: Date? { moment?.date }

  /// The instant that counts as now for what is fetched.
  package var today: Date { moment?.date ?? store.libraryEnvironment.now() }
}

extension LibraryStore {
  /// A commit as a moment; commit 0 is the state before the first.
  /// - Parameter date: what counts as now there; nil: the commit's own time.
  func moment(ofCommit number: UInt64, at date: Date? = nil, _ t: borrowing StoreReading) throws -> Moment {
    guard number > 0 else { return Moment(commit: 0, sequence: 0, date: date ?? .distantPast) }
    let commit = try core.recordedCommit(number, t)
    let time = Date(microseconds: commit.information.time)
    return Moment(commit: number, sequence: commit.lastSequence, date: date ?? time)
  }

  /// The commit of an event.
  /// - Throws: ``LibraryError`` `.invalidToken` for an event that does not exist yet.
  package func commit(ofEvent sequence: UInt64, _ t: borrowing StoreReading) throws -> UInt64 {
    if let event = try core.log.event(at: sequence, in: t) { return event.commit }
    let last = try core.log.head(t).sequence
    throw LibraryError(.invalidToken, "The log has no event \(sequence) yet; its last one is \(last).")
  }

  /// The commit of a client's last revision at or before a date; 0 if there is none.
  fileprivate func lastRevision(
    of client: ObjectNumber, atOrBefore date: Date, _ t: borrowing StoreReading
  ) throws -> UInt64 {
    var ordinal = try core.projections.lastRevision(of: client, in: t)?.ordinal ?? 0
    while ordinal > 0 {
      guard let number = try core.projections.commit(ofRevision: ordinal, of: client, in: t),
        let commit = try core.log.commit(number, in: t)
      else { throw core.projections.corruption("client revision \(ordinal) of client \(client)") }
      if commit.information.time <= date.microseconds { return number }
      ordinal -= 1
    }
    return 0
  }
}
