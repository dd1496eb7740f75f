import EventLog
public import Foundation
import LMDB
public import PhotoLedger

// The log out of a library, and into one (LogLine.swift has the form).
//
//     library ── export ──▶ lines ──▶ a new library with the same records, the same chain, and no files
//                              └────▶ a follower: a library whose head is where the lines begin
//
// Input is hostile until verified: each line is bounded, each record is consistent and continues the one before, each
// payload is an event of a known type, and the whole is applied as a replay. A new library gets its name only after
// that; a follower imports all lines in one transaction, or none.

extension PhotoLibrary {
  /// Writes the log, or a range of it, as JSON lines; the same range of the same log is the same text.
  ///
  /// Ranges can be exported and imported one after the other: each starts after the state that the import of the one
  /// before it returns. If data of a range was erased after its end, the range goes on to the first state at which it
  /// has the replacements of all that was erased in it.
  ///
  /// Quarantined events are exported like all others, so no program that cannot apply them can import the range.
  /// - Parameters:
  ///   - token: the state after which to begin; nil: from the beginning.
  ///   - last: the state with which to end, or a later one, as described; nil: the last one.
  ///   - write: is given each line without its line end.
  /// - Throws: ``LibraryError`` `.accessUserDenied` for any client but the owner, `.invalidToken`, `.malformedRequest`
  ///   for a range that ends before it begins, `.corrupted`; what `write` throws.
  /// - Complexity: O(bytes) of the events.
  public func exportLog(
    after token: Token? = nil, through last: Token? = nil, _ write: (String) throws -> Void
  ) throws {
    try exportLines(after: token, through: last) { bytes in
      let lines = bytes.withUnsafeBytes { $0.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) } }
      for line in lines { try write(line) }
    }
  }

  /// How many events one core writes at a time, and how many such parts are written before they are passed on.
  #if DEBUG
    private static let exportPart: UInt64 = 3
  #else
    private static let exportPart: UInt64 = 128
  #endif
  private static let exportParts: UInt64 = 8

  /// The same, many lines at a time, which several cores have written.
  package func exportLines(
    after token: Token? = nil, through last: Token? = nil, _ write: (borrowing JSONBytes) throws -> Void
  ) throws {
    try checkIsNow("export the log")
    try checkIsOwner("export the log")
    try MadeAhead.run { give in
      try self.writeLog(after: token, through: last, give)
    } _: { (lines: WrittenLines) in
      try write(lines.bytes)
      return true
    }
  }

  /// The quarantined events of a range of the log. An import rejects the lines of the range if its program cannot apply
  /// them either.
  /// - Complexity: O(1) unless events are quarantined, and the range ends with the log.
  package func quarantinedEvents(after token: Token? = nil, through last: Token? = nil) throws -> [QuarantinedEvent] {
    try checkIsNow("export the log")
    try checkIsOwner("export the log")
    return try store.reading { t in
      let range = try self.range(after: token, through: last, t)
      return try store.core.projections.quarantined(in: t)
        .filter { $0.sequence > range.after.sequence && $0.sequence <= range.head.sequence }
    }
  }

  private func range(
    after token: Token?, through last: Token?, _ t: borrowing StoreReading
  ) throws -> (after: EventLog.Head, head: EventLog.Head) {
    let after = try self.head(with: try token.map { try store.commit(of: $0, for: client, t) } ?? 0, t)
    guard let last else { return (after, try store.core.log.head(t)) }
    return (after, try end(of: last, after: after, t))
  }

  /// The end of the log with a commit.
  private func head(with number: UInt64, _ t: borrowing StoreReading) throws -> EventLog.Head {
    if number == 0 { return .empty }
    let commit = try store.core.recordedCommit(number, t)
    return EventLog.Head(sequence: commit.lastSequence, commit: number, chain: commit.chain)
  }

  /// The end of a range: a replay of the range needs the replacements of all payloads that were erased in it.
  private func end(
    of range: Token, after start: EventLog.Head, _ t: borrowing StoreReading
  ) throws -> EventLog.Head {
    let log = store.core.log
    var head = try self.head(with: try store.commit(of: range, for: client, t), t)
    guard head.sequence >= start.sequence else {
      throw LibraryError(
        .malformedRequest,
        "The range ends with commit \(head.commit) but starts after commit \(start.commit); exchange the two tokens.")
    }
    var checked = start.sequence
    while true {
      let needed = try log.redactions.end(after: checked, through: head.sequence, in: t)
      guard needed > head.sequence else { return head }
      guard let carrier = try log.event(at: needed, in: t) else {
        throw LibraryError(.corrupted, "The log lacks event \(needed); run `verify`, then `rebuild`.")
      }
      // The rest of its commit may have been erased, too.
      checked = needed
      head = try self.head(with: carrier.commit, t)
    }
  }

  private func writeLog(
    after token: Token?, through last: Token?, _ give: (WrittenLines) -> Bool
  ) throws {
    try store.reading { t in
      let log = store.core.log
      let (after, head) = try range(after: token, through: last, t)
      let heading = LogHeading(library: store.core.identifier, after: after, head: head)
      let first = WrittenLines { bytes in
        bytes.write(heading)
        bytes.endLine()
      }
      guard give(first) else { return }
      // One snapshot from end to end: what is erased meanwhile is erased in all of it, or in none.
      var place = after.sequence
      while place < head.sequence {
        let end = min(head.sequence, place + Self.exportPart * Self.exportParts)
        let starts = Array(stride(from: place, to: end, by: Int(Self.exportPart)))
        let parts = try t.onSeveralCores(starts.count) { part, t in
          try Self.lines(after: starts[part], through: min(end, starts[part] + Self.exportPart), of: log, t)
        }
        for part in parts { guard give(part) else { return } }
        t.letGoOfPages()
        place = end
      }
    }
  }

  private static func lines(
    after place: UInt64, through last: UInt64, of log: EventLog, _ t: borrowing StoreReading
  ) throws -> WrittenLines {
    try WrittenLines { bytes in
      try log.read(after: place, in: t) { record in
        guard record.sequence <= last else { return .stop }
        try bytes.write(record)
        bytes.endLine()
        return record.sequence == last ? .stop : .proceed
      }
    }
  }

  /// Creates a library from an exported log, in a new directory; its files are missing until they are copied to it.
  /// - Parameters:
  ///   - url: a directory that does not exist.
  ///   - environment: clock, randomness and the name of the process.
  ///   - next: returns the next line without its line end; nil at the end.
  ///   - progress: the progress handler; return `false` to cancel, which leaves nothing.
  /// - Returns: the state of the new library.
  /// - Throws: ``LibraryError`` `.malformedRequest` or `.corrupted` with the number of the line, `.newerThanProgram`,
  ///   `.alreadyExists`, `.userCancelled`, `.notEnoughSpace`, `.storage`; the errors of `next`.
  /// - Complexity: O(bytes), and O(n log n) in events.
  @discardableResult
  public static func importLog(
    to url: URL, environment: LibraryEnvironment = .system, next: @escaping () throws -> [UInt8]?,
    progress: (TaskProgress) -> Bool = { _ in true }
  ) throws -> Token {
    let lines = LogLines(next)
    return try lines.passingErrors {
      let folder = try UnfinishedFolder(becoming: url)
      try folder.makeFolder("store")
      let heading = try lines.heading()
      guard heading.after == .empty else {
        throw LibraryError(
          .conflict,
          "The lines start after event \(heading.after.sequence); append them to a library that ends there, "
            + "or export the whole log.")
      }
      let token = try LogImport.fill(folder.path, lines, heading, environment, progress)
      try folder.finish()
      return token
    }
  }

  /// Imports an exported log range that starts where this library ends.
  ///
  /// The files of assets that the lines erase are removed before the lines are committed; a file that cannot be removed
  /// stops the import. What else is beside the store follows the commit: if the process was killed meanwhile, importing
  /// the same lines again erases it, and throws `.conflict` all the same.
  ///
  /// If the lines are those of a fork, tokens bear the mark of the fork from then on, as the returned one does. This
  /// library, and any process that has the library open, goes on with the mark from before until it is opened again.
  /// - Parameters:
  ///   - next: returns the next line without its line end; nil at the end.
  ///   - progress: the progress handler; return `false` to cancel, which changes nothing.
  /// - Returns: the state afterwards.
  /// - Throws: as ``importLog(to:environment:next:progress:)``; `.conflict` if the library is another one or ends
  ///   elsewhere, `.storage` if a file of an erased asset cannot be removed, `.accessUserDenied` for any client but the
  ///   owner, `.limitExceeded` for more than 1 GiB, which ``exportLog(after:through:_:)`` divides into ranges.
  /// - Complexity: O(bytes), and O(k log n) for k events of the lines, and of the assets that they erase.
  @discardableResult
  public func appendLog(
    next: @escaping () throws -> [UInt8]?, progress: (TaskProgress) -> Bool = { _ in true }
  ) throws -> Token {
    try checkIsNow("append to the log")
    try checkIsOwner("append to the log")
    let lines = LogLines(next)
    return try lines.passingErrors {
      let heading = try lines.heading()
      guard heading.library == store.core.identifier else {
        throw LibraryError(
          .conflict, "The lines are of another library, \(heading.library.uuidString).")
      }
      let logImport = LogImport(store.core, heading)
      let taken: LogImport.Taken
      do {
        taken = try logImport.append(lines, from: store.resources, progress)
      } catch let error as LibraryError where error.code == .conflict {
        // An import of the same lines may have been killed between its commit and what follows it.
        try forget(try store.reading { t in try logImport.erasedAlready(t) })
        throw error
      }
      store.signal.notify()
      store.core.discard(taken.orphans, from: store.resources)
      try forget(taken.erased)
      return try store.reading { t in
        // The lines may be those of a fork, which this library was not when it was opened.
        var core = store.core
        core.forks = try core.projections.forks(in: t)
        return core.token(try core.log.head(t).commit)
      }
    }
  }

  /// Erases what is beside the store of assets that lines erase: as for the original erasure, it contains their data.
  private func forget(_ erased: [LocalIdentifier]) throws {
    if !erased.isEmpty { _ = try eraseTraces(of: erased) }
  }
}
