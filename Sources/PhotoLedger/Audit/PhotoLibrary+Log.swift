import EventLog
package import LMDB

// The log, event by event.
//
// Which events are read is known before any is: all after a token, those of the commits that fit, or those in the
// history of an object. So they can be read from either end, in pieces, each in a transaction of its own that has ended
// when the piece is handed out: a reader that is slow holds no page of the store. The log only grows at its end, which
// is where it was when the reading began, so the pieces are those of one walk. Several cores read some of them at once.

extension PhotoLibrary {
  /// Goes through the events of the log that a filter wants, up to the moment that the view shows.
  /// - Parameters:
  ///   - filter: which events; by object it reads only those that concern the object, by client, cause or time only
  ///     those of the commits that fit.
  ///   - newestFirst: whether the newest comes first, instead of the oldest.
  ///   - body: is given each event, and says whether to go on.
  /// - Throws: ``LibraryError``: `.invalidToken`, `.identifierNotFound` for an object that never was, `.storage`; and
  ///   what `body` throws.
  /// - Complexity: O(log n + m log n) for m events after the token, or of the objects; O(c + m) for c commits after the
  ///   token and m events of those that fit, where a client, a cause or a time is wanted. Memory is bounded.
  public func forEachLogEntry(
    _ filter: LogFilter = LogFilter(), newestFirst: Bool = false, _ body: (LogEntry) throws -> Bool
  ) throws {
    // Not made ahead: many readers stop soon.
    try makeLogPieces(filter, newestFirst: newestFirst, { $0 }) { entries in
      for entry in entries where try !body(entry) { return false }
      return true
    }
  }

  /// Gives what is made of the events in pieces, which are made on several cores, ahead of the body, and given in
  /// order.
  /// - Parameters:
  ///   - make: makes something of the entries of a piece.
  ///   - body: is given that, and says whether to go on.
  package func forEachLogPiece<Piece: Sendable>(
    _ filter: LogFilter, newestFirst: Bool, _ make: @escaping @Sendable ([LogEntry]) throws -> Piece,
    _ body: (Piece) throws -> Bool
  ) throws {
    try MadeAhead.run({ give in try self.makeLogPieces(filter, newestFirst: newestFirst, make, give) }, body)
  }

  private func makeLogPieces<Piece: Sendable>(
    _ filter: LogFilter, newestFirst: Bool, _ make: @Sendable ([LogEntry]) throws -> Piece,
    _ give: (Piece) throws -> Bool
  ) throws {
    try askIfNeeded()
    var reader = try store.reading { t in
      try checkSeesEverything("read the log", t)
      let after = try filter.after.map { try store.commit(of: $0, for: client, at: moment, t) } ?? 0
      let head = try store.head(at: moment, t)
      let first = try store.sequence(ofCommit: after, t) + 1
      return try LogReader(
        of: store, at: sequence, filter, newestFirst, commits: (after + 1)..<(max(after, head.commit) + 1),
        events: first..<(max(first - 1, head.sequence) + 1), t)
    }
    while true {
      let pieces = try store.reading { t in
        defer { t.letGoOfPages() }
        let parts = try reader.parts(t)
        let part = reader
        return try t.onSeveralCores(parts.count) { index, t in
          defer { t.letGoOfPages() }
          var part = part
          let (entries, rest) = try part.entries(parts[index], t)
          return (made: try make(entries), rest: rest)
        }
      }
      if pieces.isEmpty { return }
      for piece in pieces {
        guard try give(piece.made) else { return }
        var rest = piece.rest
        while !rest.isEmpty {
          let entries: [LogEntry]
          (entries, rest) = try store.reading { t in
            defer { t.letGoOfPages() }
            return try reader.entries(rest, t)
          }
          guard try give(try make(entries)) else { return }
        }
      }
    }
  }
}

extension StoreCore {
  /// The number of an asset, one that was purged included; nil if there never was one.
  /// - Complexity: O(log n).
  package func assetNumber<T: TransactionReading & ~Copyable>(
    _ identifier: LocalIdentifier, _ t: borrowing T
  ) throws -> ObjectNumber? {
    if let object = try projections.object(identifier, in: t) { return object.isAsset ? object.number : nil }
    return try projections.departed(identifier, in: t)
  }
}

/// Turns records into entries.
private struct LogReader {
  private let filter: LogFilter
  private let newestFirst: Bool
  private var audit: AuditReader
  /// The events to read next, before other conditions.
  private var events: Range<UInt64>
  /// The commits to read if there are none of those; empty without conditions on commits.
  private var commits: Range<UInt64> = 0..<0
  /// The readable range; events outside are after the moment, or before the token.
  private let bounds: Range<UInt64>
  /// The events that touched all of the wanted objects; empty unless objects are wanted.
  private var histories: ArraySlice<UInt64> = []

  /// How many events one core reads at a time, at about how many bytes of them it is enough, and how many such parts
  /// are read before they are given.
  #if DEBUG
    private static let pieceCount = 3
  #else
    private static let pieceCount = 256
  #endif
  private static let pieceBytes = 3 << 18
  /// After how many events, or names of one event, pages are let go of: each is a row on a page of its own, with which
  /// its neighbours are mapped.
  private static let countBetweenLettingGo = 32
  private static let partCountMax = 4
  /// How many parts are read next: few at first, since many readers stop soon.
  private var partCount = 1

  init(
    of store: LibraryStore, at sequence: UInt64, _ filter: LogFilter, _ newestFirst: Bool, commits: Range<UInt64>,
    events: Range<UInt64>, _ t: borrowing StoreReading
  ) throws {
    (self.filter, self.newestFirst, bounds) = (filter, newestFirst, events)
    audit = AuditReader(of: store, at: sequence)
    if filter.objects.isEmpty {
      self.events = filter.asksAboutCommits ? 0..<0 : events
      self.commits = filter.asksAboutCommits ? commits : 0..<0
    } else {
      self.events = 0..<0
      let numbers = try filter.objects.map { try audit.number(of: $0, t) }
      let histories = try numbers.map { number in
        try store.core.projections.history(of: number, after: events.lowerBound - 1, in: t)
      }.sorted { $0.count < $1.count }
      let others = histories.dropFirst().map(Set.init)
      let wanted = histories[0].filter { event in
        event < events.upperBound && others.allSatisfy { $0.contains(event) }
      }
      self.histories = (newestFirst ? wanted.reversed() : wanted)[...]
    }
  }

  /// The places of the next events, in parts; none at the end.
  mutating func parts(_ t: borrowing StoreReading) throws -> [ArraySlice<UInt64>] {
    var places: [UInt64] = []
    while places.count < Self.pieceCount * partCount, let place = try next(t) { places.append(place) }
    partCount = min(Self.partCountMax, partCount * 2)
    return stride(from: 0, to: places.count, by: Self.pieceCount).map { start in
      places[start..<min(start + Self.pieceCount, places.count)]
    }
  }

  /// The entries of events, in order; of large ones only the first.
  /// - Returns: the entries, perhaps none, and the places of the events that were not read.
  mutating func entries(
    _ places: ArraySlice<UInt64>, _ t: borrowing StoreReading
  ) throws -> (entries: [LogEntry], rest: ArraySlice<UInt64>) {
    var entries: [LogEntry] = []
    var (rest, byteCount) = (places, 0)
    while byteCount < Self.pieceBytes, let sequence = rest.popFirst() {
      guard let record = try audit.core.log.event(at: sequence, in: t) else {
        throw LibraryError(.corrupted, "The log lacks event \(sequence); run `verify`.")
      }
      byteCount += record.content?.byteCount ?? 0
      if let entry = try entry(record, t) { entries.append(entry) }
      if (places.count - rest.count) % Self.countBetweenLettingGo == 0 { t.letGoOfPages() }
    }
    return (entries, rest)
  }

  /// The place of the next event; nil at the end.
  private mutating func next(_ t: borrowing StoreReading) throws -> UInt64? {
    if let sequence = histories.popFirst() { return sequence }
    while events.isEmpty {
      guard let number = take(from: &commits) else { return nil }
      guard let commit = try audit.core.log.commit(number, in: t) else {
        throw LibraryError(.corrupted, "The log has no row for commit \(number); run `verify`.")
      }
      guard filter.wants(CommitSummary(commit)) else { continue }
      events = (commit.firstSequence..<commit.lastSequence + 1).clamped(to: bounds)
    }
    return take(from: &events)
  }

  private func take(from numbers: inout Range<UInt64>) -> UInt64? {
    guard !numbers.isEmpty else { return nil }
    if newestFirst {
      numbers = numbers.lowerBound..<numbers.upperBound - 1
      return numbers.upperBound
    }
    defer { numbers = numbers.lowerBound + 1..<numbers.upperBound }
    return numbers.lowerBound
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
        sentence: "The payload was erased.", isErased: true)
    }
    if let reason = try audit.core.projections.reasonAside(record.sequence, in: t) {
      return LogEntry(
        sequence: record.sequence, token: token, commit: commit, type: type, objects: [],
        sentence: "Quarantined: \(reason)", isErased: record.isErased)
    }
    let event = try Event(record)
    let touched = event.touched
    var known: [ObjectNumber: ObjectNames.Name] = [:]
    if case .assetCreated(let existence) = event {
      // Its sentence uses the name at its addition, so the current name is not needed.
      known[existence.row.number] = ObjectNames.Name(existence.row, nil)
    }
    for (index, number) in (touched + event.mentioned).enumerated() where known[number] == nil {
      known[number] = try audit.name(number, t)
      // One event can name a hundred thousand objects.
      if index % Self.countBetweenLettingGo == Self.countBetweenLettingGo - 1 { t.letGoOfPages() }
    }
    var sentence = event.words.sentence(known)
    if record.isErased { sentence += " Part of it was erased." }
    return LogEntry(
      sequence: record.sequence, token: token, commit: commit, type: type,
      objects: distinct(touched).compactMap { known[$0]?.spelling }, sentence: sentence, isErased: record.isErased,
      event: event, names: known)
  }
}
