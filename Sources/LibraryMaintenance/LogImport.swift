import EventLog
import Foundation
import LMDB
import StoreMigrations
import PhotoLedger

// Log import: the lines of `export` become the log of a new library, or continue that of a follower.
//
// Problem. The lines come from outside. They may be cut, edited, or of another history, and a log can be longer than a
// transaction should be. No state may become visible before all of it is proved.
//
//     first line   the library, the head that the lines continue, the head that they lead to
//     others       form, known type ─▶ hashes and order (EventImporter) ─▶ head as announced ─▶ projections
//
//     new library  transactions of 8 MiB, not synced ─▶ redactions ─▶ replay ─▶ sync ─▶ the folder gets its name
//     follower     one transaction of at most 1 GiB: append, erase, apply, remove the files of erased assets
//
// Invariant: all lines are taken in, or none. A new library has no name until it is complete, and its folder can be
// thrown away; a follower has readers, so its log and rows change in one transaction. The announced head has the chain
// value of the last event, which covers every event before it: no line is missing, altered or too many.
//
// Erasures come before the projections: a payload that the lines lack was erased by a later event, which carries its
// replacement. Rejected: importing into a follower commit by commit. Its rows would need replacements that are not yet
// there.

/// The lines of an exported log, counted and bounded.
final class LogLines {
  private let next: () throws -> [UInt8]?
  /// The number of the last line that was read, from 1.
  private(set) var number = 0
  /// What the source threw.
  private var failure: (any Error)?

  init(_ next: @escaping () throws -> [UInt8]?) { self.next = next }

  /// The next line; nil at the end.
  /// - Throws: ``LibraryError`` `.malformedRequest` for a line that is empty or too long; what the source throws.
  func line() throws -> [UInt8]? {
    let given: [UInt8]?
    do { given = try next() } catch {
      failure = error
      throw error
    }
    guard let line = given else { return nil }
    number += 1
    guard !line.isEmpty, line.count <= LogLineLimits.byteCount else {
      throw refusal(LogLineError("it is empty or longer than \(LogLineLimits.byteCount) bytes"))
    }
    return line
  }

  /// Runs work that reads the lines: what the source throws comes out as it is, other errors as the library's.
  func passingErrors<R>(_ work: () throws -> R) throws -> R {
    do { return try work() } catch { throw failure ?? LibraryError(error) }
  }

  /// The first line.
  func heading() throws -> LogHeading {
    guard let line = try line() else {
      throw LibraryError(.malformedRequest, "There are no lines; pass the output of `export`.")
    }
    do { return try LogHeading(line) } catch { throw refusal(error) }
  }

  /// The next event, in form and of a type that this program knows; nil at the end.
  func event() throws -> EventCopy? {
    guard let line = try line() else { return nil }
    do {
      let event = try EventCopy(line: line)
      if let payload = event.payload {
        _ = try Event(
          type: event.type, version: event.version, sequence: event.sequence, payload: payload.span.bytes)
      }
      return event
    } catch {
      throw refusal(error)
    }
  }

  /// Why a line is rejected, with its number.
  func refusal(_ error: any Error, at line: Int? = nil) -> LibraryError {
    let place = "Line \(line ?? number)"
    switch error {
    case let error as LogLineError: return LibraryError(.malformedRequest, "\(place) is invalid: \(error.clause).")
    case let error as EventLogError where error.storage == nil:
      return LibraryError(.corrupted, "\(place) is invalid. \(error.description)")
    case let error as LibraryError: return LibraryError(error.code, "\(place) is invalid. \(error.description)")
    default: return LibraryError(error)
    }
  }
}

extension StoreCore {
  /// The core of a store that is still empty.
  init(filling environment: LMDB.Environment, _ libraryEnvironment: LibraryEnvironment, _ identifier: LocalIdentifier)
    throws
  {
    try self.init(environment, try EventLog(in: environment), libraryEnvironment, identifier: identifier)
  }
}

/// Takes an exported log into a store.
struct LogImport {
  private let core: StoreCore
  private let heading: LogHeading

  /// How many bytes of payloads share a transaction; a commit is never torn.
  private static let batchBytes = 8 << 20
  /// What a follower takes in at once, since it takes all or nothing.
  private static let followerBytes = 1 << 30

  init(_ core: StoreCore, _ heading: LogHeading) {
    self.core = core
    self.heading = heading
  }

  /// Whole commits, with the line of the first event.
  private struct Batch {
    var firstLine = 0
    var events: [EventCopy] = []
    var byteCount = 0
  }

  /// Reads whole commits until they have so many bytes; none at the end.
  private func batch(_ lines: LogLines, upTo limit: Int) throws -> Batch {
    var batch = Batch()
    var (commitBytes, commitEvents) = (0, 0)
    while let event = try lines.event() {
      if batch.events.isEmpty { batch.firstLine = lines.number }
      let bytes = (event.payload?.count ?? 0) + 256
      (commitBytes, commitEvents) = (commitBytes + bytes, commitEvents + 1)
      let limits = core.log.limits
      guard commitBytes <= limits.commitBytes * 2, commitEvents <= limits.commitEvents else {
        throw lines.refusal(LogLineError("commit \(event.commit) is longer than a commit can be"))
      }
      batch.events.append(event)
      batch.byteCount += bytes
      guard event.isLast else { continue }
      (commitBytes, commitEvents) = (0, 0)
      if batch.byteCount >= limit { return batch }
    }
    return batch
  }

  private func append(
    _ batch: Batch, _ importer: inout EventImporter, _ lines: LogLines, _ t: inout WriteTransaction
  ) throws {
    for (offset, event) in batch.events.enumerated() {
      guard let error = Self.failure(of: event, &importer, &t) else { continue }
      throw error.storage == nil ? lines.refusal(error, at: batch.firstLine + offset) : LibraryError(error)
    }
    guard importer.isBetweenCommits else { throw cut(at: importer.head, lines) }
  }

  /// Why an event is not taken in; nil if it was.
  private static func failure(
    of event: EventCopy, _ importer: inout EventImporter, _ t: inout WriteTransaction
  ) -> EventLogError? {
    do throws(EventLogError) {
      try importer.append(event, in: &t)
      return nil
    } catch {
      return error
    }
  }

  private func cut(at head: EventLog.Head, _ lines: LogLines) -> LibraryError {
    LibraryError(
      .corrupted,
      "The lines end at line \(lines.number) with event \(head.sequence), but the first line says that the log ends "
        + "with event \(heading.head.sequence) and the chain \(heading.head.chain); lines are missing or too many.")
  }

  // MARK: A new store

  /// Fills the store of a library that is being made, and gives the token of its state.
  static func fill(
    _ folder: String, _ lines: LogLines, _ heading: LogHeading, _ libraryEnvironment: LibraryEnvironment,
    _ progress: (TaskProgress) -> Bool
  ) throws -> Token {
    var options = LibraryStore.options
    options.durability = .unsafeNoSync  // Made durable as a whole, before the folder has its name.
    return try LibraryCopy.withStore(in: folder, options) { store in
      let core = try StoreCore(filling: store, libraryEnvironment, heading.library)
      let token = try LogImport(core, heading).fill(lines, progress)
      try store.sync()
      return token
    }
  }

  private func fill(_ lines: LogLines, _ progress: (TaskProgress) -> Bool) throws -> Token {
    let format = try StoreFormat(in: core.environment)
    try core.environment.write { t in try format.note(in: &t) }
    var head = EventLog.Head.empty
    while true {
      let batch = try self.batch(lines, upTo: Self.batchBytes)
      if batch.events.isEmpty { break }
      head = try core.environment.write { t in
        var importer = try core.log.importer(in: t)
        try append(batch, &importer, lines, &t)
        return importer.head
      }
      guard progress(TaskProgress(phase: "log", done: head.sequence, total: heading.head.sequence)) else {
        throw LibraryCopy.stopped
      }
    }
    guard head == heading.head, head.sequence > 0 else { throw cut(at: head, lines) }
    try core.environment.write { t in _ = try core.deriveRedactions(&t) }
    try replay(through: head.sequence, progress)
    return try core.environment.read { t in
      guard let record = try core.log.event(at: rootFolder, in: t),
        case .libraryCreated(heading.library, _) = try Event(record)
      else { throw LibraryError(.corrupted, "The first event does not create the library named in the first line.") }
      var core = core
      core.forks = try core.projections.forks(in: t)
      return core.token(head.commit)
    }
  }

  private func replay(through head: UInt64, _ progress: (TaskProgress) -> Bool) throws {
    let batch = UInt64(Projections.replayBatch)
    do {
      for start in stride(from: UInt64(1), through: head, by: Int(batch)) {
        let wanted = start...min(head, start + batch - 1)
        try core.environment.write { t in try apply(wanted, of: head, in: &t, progress) }
      }
    } catch let unreadable as UnreadableEvent where unreadable.failure.code == .corrupted {
      // Payloads in the lines were decoded with them; what stands for an erased one is read once more, and throws where
      // it makes no event. So what makes one does not fit the events before it.
      try core.environment.read { t in _ = try event(at: unreadable.sequence, t) }
      throw contradiction(at: unreadable.sequence, unreadable.failure)
    } catch let error as LibraryError where error.code == .corrupted {
      throw LibraryError(.corrupted, "The lines are consistent, but do not form a library. \(error.description)")
    }
  }

  private static let advice = "Nothing was imported; run `verify` for the library that the lines were exported from"

  /// The error for an event that is well formed and does not fit the events before it. What the projections say of it
  /// is about a store, and advises to rebuild that; only what they disagree about is said here.
  private func contradiction(
    at sequence: UInt64, _ failure: LibraryError, isFollowing: Bool = false
  ) -> LibraryError {
    let subject = failure.subject.map { " about \($0)" } ?? ""
    let place = "event \(sequence) in line \(line(of: sequence)) contradicts the events before it\(subject)"
    return LibraryError(
      .corrupted,
      isFollowing
        ? "The lines are consistent, but \(place), or this library's rows are damaged. "
          + "\(Self.advice), and for this one."
        : "The lines are consistent, but do not form a library: \(place). \(Self.advice).")
  }

  /// The error for what stands for an erased payload and makes no event; a later event brought it.
  private func badReplacement(of sequence: UInt64, _ failure: LibraryError) -> LibraryError {
    LibraryError(
      .corrupted,
      "The lines are consistent, but the replacement of the erased event \(sequence) is invalid. "
        + "\(failure.description) \(Self.advice).")
  }

  /// The line of an event, from 1; the first line does not hold an event.
  private func line(of sequence: UInt64) -> UInt64 { sequence - heading.after.sequence + 1 }

  /// Applies events that the log has already. The snapshot that they are read from lasts no longer than this: a full
  /// map cannot grow, and the transaction cannot run again, before it ends.
  private func apply(
    _ wanted: ClosedRange<UInt64>, of head: UInt64, in t: inout WriteTransaction, _ progress: (TaskProgress) -> Bool
  ) throws {
    // Under the writer's lock it is of the last commit.
    try core.environment.read { source in
      _ = try core.projections.replay(core.log, wanted, from: source, in: &t) { done in
        progress(TaskProgress(phase: "replay", done: done, total: head))
      }
    }
  }

  // MARK: A follower

  // As for the original erasure (Erasure.swift), files of erased assets go before the log forgets their names: here in
  // the transaction that takes the lines in. If it is not committed after all, the files are missing, and the lines can
  // be taken in again.

  /// What a follower has to forget beside its store.
  struct Taken {
    /// The contents that purged assets had, whose files may not be needed any more.
    var orphans: [[UInt8]] = []
    /// The assets that were erased.
    var erased: [LocalIdentifier] = []
    /// The files that those ever named.
    fileprivate var erasedFiles: [AssetResource] = []
  }

  /// Appends all lines after the head, or none.
  /// - Parameter resources: the library's files; those of erased assets are removed.
  /// - Throws: ``LibraryError`` `.storage` if one of them cannot be removed.
  func append(
    _ lines: LogLines, from resources: ResourceStore, _ progress: (TaskProgress) -> Bool
  ) throws -> Taken {
    let batch = try self.batch(lines, upTo: Self.followerBytes)
    guard try lines.line() == nil else {
      throw LibraryError(
        .limitExceeded,
        """
        At most \(Self.followerBytes) bytes can be imported at once; export ranges that end earlier (`export --to`), \
        and import them one after the other.
        """)
    }
    return try core.environment.write { t in
      try core.checkFormat(t)
      let head = try core.log.head(t)
      guard head == heading.after else {
        throw LibraryError(
          .conflict,
          """
          The lines continue event \(heading.after.sequence) with the chain \(heading.after.chain), but the library \
          ends with event \(head.sequence) and the chain \(head.chain). Append the output of `export --after` with the \
          token that `history token` prints for this library.
          """)
      }
      var importer = try core.log.importer(in: t)
      try append(batch, &importer, lines, &t)
      guard importer.head == heading.head else { throw cut(at: importer.head, lines) }
      let taken = try apply(batch.events, &t, progress)
      try remove(taken.erasedFiles, from: resources, t)
      return taken
    }
  }

  /// The assets that the lines erase, if the library ends where they end: it has the lines already.
  /// - Complexity: O(1) if it ends elsewhere; O(n) in events of the lines.
  func erasedAlready(_ t: borrowing StoreReading) throws -> [LocalIdentifier] {
    guard try core.log.head(t) == heading.head else { return [] }
    // The library's own events are read, which the chain has proved, and not the lines.
    var erasures: [UInt64] = []
    try core.log.read(after: heading.after.sequence, in: t) { record in
      if record.type == AssetErased.type { erasures.append(record.sequence) }
      return .proceed
    }
    var found: [LocalIdentifier] = []
    for sequence in erasures {
      guard case .assetErased(let erased) = try event(at: sequence, t).event else { continue }
      found += try identifiers(of: erased.numbers, t)
    }
    return distinct(found)
  }

  /// Removes the files of erased assets that no other asset has and no undo can bring back.
  private func remove(
    _ files: [AssetResource], from resources: ResourceStore, _ t: borrowing WriteTransaction
  ) throws {
    for file in distinct(files) where file.storage == .library {
      if try core.projections.needsFile(file.sha256, in: t) { continue }
      guard resources.remove(file.sha256) else {
        throw LibraryError(
          .storage,
          """
          The file \(resources.path(of: file)) of an erased asset cannot be removed, or is just being added again, so \
          nothing was imported; make its folder writable and import the lines again.
          """)
      }
    }
  }

  private func apply(
    _ events: [EventCopy], _ t: inout WriteTransaction, _ progress: (TaskProgress) -> Bool
  ) throws -> Taken {
    var taken = try erase(&t)
    let last = events.last?.sequence ?? 0
    for copy in events {
      let (event, commit) = try self.event(at: copy.sequence, t)
      do {
        try core.projections.apply(event, sequence: copy.sequence, commit: commit, in: &t)
      } catch let error as LibraryError where error.code == .corrupted {
        throw contradiction(at: copy.sequence, error, isFollowing: true)
      }
      // What an undo takes out keeps its files, so that it can return.
      if case .assetPurged(let existence) = event, !existence.isByUndo {
        taken.orphans += try core.erasable(existence.row.number, t).resources.ownContents
      }
      guard progress(TaskProgress(phase: "replay", done: copy.sequence, total: last)) else {
        throw LibraryError(.userCancelled, "The log import was stopped; nothing was changed.")
      }
    }
    taken.orphans = distinct(taken.orphans)
    return taken
  }

  /// Erases from this log and its rows what the events that came in erase, and gives the assets with the files that the
  /// log named.
  private func erase(_ t: inout WriteTransaction) throws -> Taken {
    var taken = Taken()
    let last = heading.after.sequence
    let erasures = try core.erasures(after: last, t)
    // Of all of them before any payload goes: one may name files of several assets.
    for number in erasures.numbers { taken.erasedFiles += try core.erasable(number, t).resources }
    try core.applyErasures(erasures, through: last, in: &t)
    taken.erased = try identifiers(of: erasures.numbers, t)
    return taken
  }

  private func identifiers<T: TransactionReading & ~Copyable>(
    of numbers: [ObjectNumber], _ t: borrowing T
  ) throws -> [LocalIdentifier] {
    try numbers.compactMap { number in
      guard case .assetCreated(let existence) = try event(at: number, t).event else { return nil }
      return existence.row.identifier
    }
  }

  private func event<T: TransactionReading & ~Copyable>(
    at sequence: UInt64, _ t: borrowing T
  ) throws -> (event: Event, commit: UInt64) {
    guard let record = try core.log.event(at: sequence, in: t) else {
      throw LibraryError(.corrupted, "Event \(sequence) was imported but is missing.")
    }
    do {
      return (try core.projections.event(record, in: t), record.commit)
    } catch let failure as LibraryError where failure.code == .corrupted && record.substitute != nil {
      throw badReplacement(of: sequence, failure)
    }
  }
}
