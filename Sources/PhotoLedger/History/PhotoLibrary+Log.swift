import EventLog
import LMDB

extension PhotoLibrary {
  /// Goes through the events of the log that a filter wants, oldest first, up to the moment that the view shows.
  /// - Parameters:
  ///   - filter: which events; by object it reads only those that concern the object, by client, cause or time only
  ///     those of the commits that fit.
  ///   - body: is given each event, and says whether to go on. It must not change the library and wait for it.
  /// - Throws: ``LibraryError``: `.invalidToken`, `.identifierNotFound` for an object that never was, `.storage`; and
  ///   what `body` throws.
  /// - Complexity: O(log n + m) for m events after the token, or of the objects; O(c + m) for c commits after the token
  ///   and m events of those that fit, where a client, a cause or a time is wanted.
  public func forEachLogEntry(_ filter: LogFilter = LogFilter(), _ body: (LogEntry) throws -> Bool) throws {
    try askIfNeeded()
    try LibraryStore.passingErrors(of: body) { try readLog(filter, $0) }
  }

  private func readLog(_ filter: LogFilter, _ body: (LogEntry) throws -> Bool) throws {
    func bounded(_ entry: LogEntry) throws -> Bool { try entry.sequence <= sequence && body(entry) }
    try store.reading { t in
      try checkSeesEverything("read the log", t)
      let after = try filter.after.map { try store.commit(of: $0, for: client, at: moment, t) } ?? 0
      var reader = LogReader(of: store, at: sequence, filter: filter)
      if !filter.objects.isEmpty {
        try reader.readObjects(after: after == 0 ? 0 : try store.sequence(ofCommit: after, t), t, bounded)
      } else if filter.asksAboutCommits {
        try reader.readCommits(after: after, t, bounded)
      } else {
        try reader.readAll(after: after == 0 ? 0 : try store.sequence(ofCommit: after, t), limit: .max, t, bounded)
      }
    }
  }
}

extension StoreCore {
  /// The number of an asset, one that was purged included; nil if there never was one.
  /// - Complexity: O(log n).
  func assetNumber<T: TransactionReading & ~Copyable>(
    _ identifier: LocalIdentifier, _ t: borrowing T
  ) throws -> ObjectNumber? {
    if let object = try projections.object(identifier, in: t) { return object.isAsset ? object.number : nil }
    return try projections.departed(identifier, in: t)
  }
}

/// Turns records into entries.
private struct LogReader {
  let filter: LogFilter
  private var audit: AuditReader

  private static let commitsAtOnce = 1024

  init(of store: LibraryStore, at sequence: UInt64, filter: LogFilter) {
    self.filter = filter
    audit = AuditReader(of: store, at: sequence)
  }

  /// The events that touched all of the wanted objects.
  mutating func readObjects(
    after start: UInt64, _ t: borrowing StoreReading, _ body: (LogEntry) throws -> Bool
  ) throws {
    let numbers = try filter.objects.map { try audit.number(of: $0, t) }
    let histories = try numbers.map { try audit.core.projections.history(of: $0, after: start, in: t) }
      .sorted { $0.count < $1.count }
    let others = histories.dropFirst().map(Set.init)
    for sequence in histories[0] where others.allSatisfy({ $0.contains(sequence) }) {
      guard let record = try audit.core.log.event(at: sequence, in: t) else {
        throw LibraryError(.corrupted, "The log lacks event \(sequence); run `verify`.")
      }
      if let entry = try entry(record, t), try !body(entry) { return }
    }
  }

  /// The events of the wanted commits: of the others, only the rows are read.
  mutating func readCommits(
    after start: UInt64, _ t: borrowing StoreReading, _ body: (LogEntry) throws -> Bool
  ) throws {
    var last = start
    while true {
      let commits = try audit.core.log.commits(after: last, limit: Self.commitsAtOnce, in: t)
      for commit in commits where filter.wants(CommitSummary(commit)) {
        guard try readAll(after: commit.firstSequence - 1, limit: Int(commit.eventCount), t, body) else { return }
      }
      guard commits.count == Self.commitsAtOnce, let read = commits.last?.number else { return }
      last = read
    }
  }

  /// The events after a place in the log.
  /// - Returns: false if `body` stopped.
  @discardableResult
  mutating func readAll(
    after start: UInt64, limit: Int, _ t: borrowing StoreReading, _ body: (LogEntry) throws -> Bool
  ) throws -> Bool {
    var goesOn = true
    try audit.core.log.read(after: start, limit: limit, in: t) { record in
      guard let entry = try entry(record, t) else { return .proceed }
      goesOn = try body(entry)
      return goesOn ? .proceed : .stop
    }
    return goesOn
  }

  private mutating func entry(_ record: borrowing StoredEvent, _ t: borrowing StoreReading) throws -> LogEntry? {
    let type = record.type
    guard filter.wants(type: type) else { return nil }
    let commit = try audit.commit(record.commit, t)
    guard filter.wants(commit) else { return nil }
    let token = audit.core.token(record.commit)
    guard record.content != nil else {
      return LogEntry(
        sequence: record.sequence, token: token, commit: commit, type: type, objects: [],
        sentence: "The payload was erased.", details: .null)
    }
    if let reason = try audit.core.projections.reasonAside(record.sequence, in: t) {
      return LogEntry(
        sequence: record.sequence, token: token, commit: commit, type: type, objects: [],
        sentence: "Set aside: \(reason)", details: .null)
    }
    let event = try Event(record)
    let touched = event.touched
    let known = try touched.reduce(into: [:]) { $0[$1] = try audit.name($1, t) }
    var (sentence, details) = event.described(known)
    if record.isErased { sentence += " Part of it was erased." }
    return LogEntry(
      sequence: record.sequence, token: token, commit: commit, type: type,
      objects: distinct(touched).compactMap { known[$0]?.spelling }, sentence: sentence, details: details)
  }
}
