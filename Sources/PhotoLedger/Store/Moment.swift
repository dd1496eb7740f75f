import EventLog
public import Foundation
import LMDB
import Synchronization

// A library at a moment.
//
// `library.at(…)` is a view as `library.as(…)` is one: the same engine, and a moment beside the name of who looks.
// Every reading function asks the store for the state at the view's moment, which is now where there is none; every
// changing one refuses. Nothing is read when the view is made but where the moment is.
//
// A moment is a commit, since only commits were ever seen by anybody: a sequence inside one stands for the whole of it.
// A date stands for the last commit that was made at or before it by its own time. Clocks are set back now and then, so
// times need not ascend with the commits: of two commits the later one in the log counts, whatever the times between
// say. What hangs on the day, the smart album of what was added recently, is shown as of the date that was asked for,
// or of the commit where none was.
//
// Who may see what. The view shows what the client saw at the moment, by its permission and selection of then: to be
// shown again what one saw is no disclosure. So that it is none, the client may name only what it knows. It must be
// allowed to read today; if it does not see everything today, it goes by its own tokens and by dates, which lead to the
// last sighting of its own (Sightings.swift), and not by sequences, which count what others did. Bytes are given by the
// permission of today besides. The owner may look at a moment through the eyes of any client:
// `library.at(token).as(client)`.

/// One commit as a place to look from; it keeps what it took to find out what was otherwise.
final class Moment: Sendable {
  let commit: UInt64
  /// The last event of the commit.
  let sequence: UInt64
  /// The instant that the view takes for now.
  let date: Date
  /// What was otherwise than at the head that is named, once somebody has asked; guarded by its lock.
  private let known = Mutex<(head: UInt64, past: Past)?>(nil)

  init(commit: UInt64, sequence: UInt64, date: Date) {
    (self.commit, self.sequence, self.date) = (commit, sequence, date)
  }

  /// What was otherwise than in the state that a transaction sees.
  /// - Complexity: O(e + k log n) the first time, for e events since the nearest snapshot and k touched objects; then
  ///   O(1), and for the events that were appended since.
  func past(_ core: StoreCore, _ t: borrowing StoreReading) throws -> Past {
    let head = try core.log.head(t).sequence
    let found = known.withLock { $0 }
    if let found, found.head == head { return found.past }
    let past: Past
    if let found, found.head < head {
      // What was touched since it was asked for the last time, as it was then and so at the moment too.
      var reader = PastReader(core, to: sequence)
      try reader.goBack(over: (found.head + 1)..<(head + 1), in: t)
      var later = reader.past
      later.overlay(found.past)
      past = later
    } else {
      past = try core.past(at: sequence, t)
    }
    known.withLock { if ($0?.head ?? 0) < head { $0 = (head, past) } }
    return past
  }
}

extension PhotoLibrary {
  // MARK: Looking back

  /// The library as it was at a state: read-only, with every fetch, count, album, permission and token of then.
  ///
  /// Nobody is waited for and nothing is copied; results that were fetched there can be followed to now like any
  /// other (``changes(to:composingBeyond:)``). Bytes of an asset that was purged since are gone, and are told as
  /// missing.
  /// - Parameter token: a state of this library.
  /// - Throws: ``LibraryError``: `.invalidToken` for a token of another library or client, or of a state that is not
  ///   there yet; `.accessUserDenied` or `.accessRestricted` for a client that may not read; what the store throws.
  /// - Complexity: O(log n). What is read there costs what it costs now, and what happened to it since; a fetch of the
  ///   whole library costs what happened since to the objects that were there.
  public func at(_ token: Token) throws -> PhotoLibrary {
    try at { t in try store.moment(ofCommit: try store.commit(of: token, for: client, t), t) }
  }

  /// The library as it was when the commit of an event was made.
  /// - Parameter sequence: the place of an event in the log, from 1; inside a commit, it stands for the whole of it. 0
  ///   is the state before the first.
  /// - Throws: ``LibraryError``: `.invalidToken` for an event that is not there yet; `.accessUserDenied` or
  ///   `.accessRestricted` for a client that does not see everything; what the store throws.
  /// - Complexity: O(log n).
  public func at(sequence: UInt64) throws -> PhotoLibrary {
    try at { t in
      let permission = try store.core.projections.permission(of: client, in: t)
      guard permission.access == .full else { throw permission.refusal(client, "name a moment by the log's sequence") }
      if sequence == 0 { return try store.moment(ofCommit: 0, t) }
      guard let event = try store.core.log.event(at: sequence, in: t) else {
        let last = try store.core.log.head(t).sequence
        throw LibraryError(
          .invalidToken, "The log has no event \(sequence) yet; its last one is \(last).")
      }
      return try store.moment(ofCommit: event.commit, t)
    }
  }

  /// The library as it was at a date.
  /// - Parameter date: the last commit made at or before it counts, by the commits' own times; a client that does not
  ///   see everything is shown its last sighting. Before the first there was nothing.
  /// - Throws: ``LibraryError``: `.accessUserDenied` or `.accessRestricted` for a client that may not read; what the
  ///   store throws.
  /// - Complexity: O(log n), and one look at each later commit's time.
  public func at(date: Date) throws -> PhotoLibrary {
    try at { t in
      let permission = try store.core.projections.permission(of: client, in: t)
      let commit: UInt64
      switch permission.access {
      case .none: throw permission.refusal(client, "look at the past")
      case .full: commit = try store.core.log.lastCommit(atOrBefore: date.microseconds, in: t) ?? 0
      case .limited(let number): commit = try store.lastSighting(of: number, atOrBefore: date, t)
      }
      return try store.moment(ofCommit: commit, at: date, t)
    }
  }

  private func at(_ find: (borrowing StoreReading) throws -> Moment) throws -> PhotoLibrary {
    PhotoLibrary(store: store, client: client, moment: try store.reading { t in try find(t) })
  }

  /// The instant whose state this view shows; nil for the library of now.
  public var momentDate: Date? { moment?.date }

  /// - Throws: ``LibraryError`` `.changeNotSupported` for a view of a moment.
  func checkIsNow(_ what: String) throws {
    guard moment != nil else { return }
    throw LibraryError(
      .changeNotSupported, "The library is shown as it was, and nobody can \(what) there; use the library of now.")
  }

  /// What this client may see and do at the view's moment.
  func permission(_ t: borrowing StoreReading) throws -> Permission { try store.permission(of: client, at: moment, t) }

  /// Asks the person at the library about this client, if it is about to read the library of now.
  func askIfNeeded() throws {
    if moment == nil { try store.prompting.askIfNeeded(for: client, in: store) }
  }

  /// The instant that counts as now for what is fetched.
  var today: Date { moment?.date ?? store.surroundings.now() }
}

extension LibraryStore {
  /// A commit as a moment; commit 0 is the state before the first.
  /// - Parameter date: what counts as now there; nil: the commit's own time.
  func moment(ofCommit number: UInt64, at date: Date? = nil, _ t: borrowing StoreReading) throws -> Moment {
    guard number > 0 else { return Moment(commit: 0, sequence: 0, date: date ?? .distantPast) }
    guard let commit = try core.log.commit(number, in: t) else {
      throw LibraryError(.corrupted, "The log has no row for commit \(number); run `verify`.")
    }
    let time = Date(microseconds: commit.information.time)
    return Moment(commit: number, sequence: commit.lastSequence, date: date ?? time)
  }

  /// The commit of a client's last sighting at or before a date; 0 if there is none.
  fileprivate func lastSighting(
    of client: ObjectNumber, atOrBefore date: Date, _ t: borrowing StoreReading
  ) throws -> UInt64 {
    var ordinal = try core.projections.lastSighting(of: client, in: t)?.ordinal ?? 0
    while ordinal > 0 {
      guard let number = try core.projections.commit(ofSighting: ordinal, of: client, in: t),
        let commit = try core.log.commit(number, in: t)
      else { throw core.projections.corruption("sighting \(ordinal) of client \(client)") }
      if commit.information.time <= date.microseconds { return number }
      ordinal -= 1
    }
    return 0
  }

  /// What a client may see and do at a moment; nil: now.
  func permission(of name: String, at moment: Moment?, _ t: borrowing StoreReading) throws -> Permission {
    guard let moment, name != PhotoLibrary.owner else { return try core.projections.permission(of: name, in: t) }
    try ClientRow.check(name: name)
    guard let now = try core.projections.client(named: name, in: t) else { return .stranger }
    return try clientRow(now.number, at: moment.sequence, t).map(Permission.init) ?? .stranger
  }
}
