import EventLog
import LMDB

extension PhotoLibrary {
  /// Goes through the events of the log that a filter wants, oldest first.
  /// - Parameters:
  ///   - filter: which events; by object it reads only those that concern the object.
  ///   - body: is given each event, and says whether to go on. It must not change the library and wait for it.
  /// - Throws: ``LibraryError``: `.invalidToken`, `.identifierNotFound` for an object that never was, `.storage`; and
  ///   what `body` throws.
  /// - Complexity: O(log n + m) for m events after the token, or of the object.
  public func forEachLogEntry(_ filter: LogFilter = LogFilter(), _ body: (LogEntry) throws -> Bool) throws {
    try store.prompting.askIfNeeded(for: client, in: store)
    try store.reading { t in
      try checkSeesEverything("read the log", t)
      let after = try filter.after.map { try store.commit(of: $0, for: client, t) } ?? 0
      var reader = LogReader(core: store.core, filter: filter)
      let start = after == 0 ? 0 : try store.sequence(ofCommit: after, t)
      if let object = filter.object {
        let number = try reader.number(of: object, t)
        for sequence in try store.core.projections.history(of: number, after: start, in: t) {
          guard let record = try store.core.log.event(at: sequence, in: t) else {
            throw LibraryError(.corrupted, "The log lacks event \(sequence); run `verify`.")
          }
          if let entry = try reader.entry(record, t), try !body(entry) { return }
        }
      } else {
        try store.core.log.read(after: start, in: t) { record in
          guard let entry = try reader.entry(record, t) else { return .proceed }
          return try body(entry) ? .proceed : .stop
        }
      }
    }
  }
}

extension StoreCore {
  /// The number of an asset, one that was purged included; nil if there never was one.
  /// - Complexity: O(log n); O(events) for one that was purged.
  func assetNumber(_ identifier: LocalIdentifier, _ t: borrowing StoreReading) throws -> ObjectNumber? {
    if let object = try projections.object(identifier, in: t) { return object.isAsset ? object.number : nil }
    // A purged object has no row any more; its creation is still in the log.
    var found: ObjectNumber?
    try log.read(after: 0, in: t) { record in
      guard record.type == "asset.created", case .assetCreated(let existence) = try Event(record) else {
        return .proceed
      }
      if existence.row.identifier == identifier { found = existence.row.number }
      return found == nil ? .proceed : .stop
    }
    return found
  }
}

/// Turns records into entries; keeps the commit and the names that it has just looked up.
private struct LogReader {
  let core: StoreCore
  let filter: LogFilter
  private var commit: CommitSummary?
  private var names: ObjectNames

  init(core: StoreCore, filter: LogFilter) {
    self.core = core
    self.filter = filter
    names = ObjectNames(core: core)
  }

  /// The number of an object, gone ones included.
  func number(of identifier: LocalIdentifier, _ t: borrowing StoreReading) throws -> ObjectNumber {
    if let object = try core.projections.object(identifier, in: t) { return object.number }
    guard let found = try core.assetNumber(identifier, t) else {
      throw LibraryError(
        .identifierNotFound, "The library never had an object with the identifier \(identifier.uuidString).")
    }
    return found
  }

  mutating func entry(_ record: borrowing StoredEvent, _ t: borrowing StoreReading) throws -> LogEntry? {
    let commit = try commit(record.commit, t)
    guard filter.client ?? commit.client == commit.client, filter.cause == nil || filter.cause == commit.cause else {
      return nil
    }
    let type = record.type
    if let prefix = filter.typePrefix, !type.hasPrefix(prefix) { return nil }
    guard record.content != nil else {
      return LogEntry(
        sequence: record.sequence, token: core.token(record.commit), commit: commit, type: type, objects: [],
        sentence: "The payload was erased.", details: .null)
    }
    let event = try Event(record)
    let touched = event.touched
    let known = try touched.reduce(into: [:]) { $0[$1] = try names.name(of: $1, t) }
    var (sentence, details) = event.described(known)
    if record.isErased { sentence += " Part of it was erased." }
    return LogEntry(
      sequence: record.sequence, token: core.token(record.commit), commit: commit, type: type,
      objects: distinct(touched).compactMap { known[$0]?.spelling }, sentence: sentence, details: details)
  }

  private mutating func commit(_ number: UInt64, _ t: borrowing StoreReading) throws -> CommitSummary {
    if let commit, commit.number == number { return commit }
    guard let found = try core.log.commit(number, in: t) else {
      throw LibraryError(.corrupted, "The log has no row for commit \(number); run `verify`.")
    }
    let summary = CommitSummary(found)
    commit = summary
    return summary
  }
}
