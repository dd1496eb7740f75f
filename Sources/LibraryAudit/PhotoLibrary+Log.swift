import EventLog
import LMDB
public import PhotoLedger

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
  ///   - limit: at most how many, from 0; nil: all. With one, fewer are read ahead.
  ///   - body: is given each event, and says whether to go on.
  /// - Throws: ``LibraryError``: `.invalidToken`, `.identifierNotFound` for an object that never was, `.storage`; and
  ///   what `body` throws.
  /// - Complexity: O(log n + m log n) for m events after the token, or of the objects; O(c + m) for c commits after the
  ///   token and m events of those that fit, where a client, a cause or a time is wanted. Memory is bounded.
  public func forEachLogEntry(
    _ filter: LogFilter = LogFilter(), newestFirst: Bool = false, limit: Int? = nil, _ body: (LogEntry) throws -> Bool
  ) throws {
    requireCorrectUse(limit ?? 0 >= 0, "A log cannot be limited to \(limit ?? 0) events; pass nil for all.")
    var rest = limit ?? .max
    // Not made ahead: many readers stop soon.
    try makeLogPieces(filter, newestFirst: newestFirst, limit: limit, atOnce: 8) { read in
      var entries: [LogEntry] = []
      try read { reader, record, commit, t in
        entries.append(try reader.entry(record, of: commit, t))
        return true
      }
      return entries
    } _: { entries in
      for entry in entries {
        guard rest > 0, try body(entry) else { return false }
        rest -= 1
      }
      return rest > 0
    }
  }

  /// Writes the events of the log as the lines of the audit's export, on several cores and ahead of the body.
  /// - Parameter body: is given the lines in order, many at a time.
  package func writeLogLines(
    _ filter: LogFilter, newestFirst: Bool, _ body: (borrowing JSONBytes) throws -> Void
  ) throws {
    try MadeAhead.run { give in
      try self.makeLogPieces(
        filter, newestFirst: newestFirst, limit: nil, atOnce: 16,
        { read in
          try WrittenLines { bytes in
            var lines = LogLines()
            try read { reader, record, commit, t in
              if !reader.mayBeQuarantined,
                let asset = lines.write(record, of: commit, reader.token(of: record), to: &bytes)
              {
                reader.learn(asset, of: record.sequence)
              } else {
                lines.write(try reader.entry(record, of: commit, t), to: &bytes)
              }
              return bytes.count < LogReader.pieceBytes
            }
          }
        }, give)
    } _: { (lines: WrittenLines) in
      try body(lines.bytes)
      return true
    }
  }

  /// What reads the records of a piece, one after another, until its function says that it is enough.
  private typealias RecordReading = (LogReader.Use) throws -> Void

  /// Gives what is made of the events in pieces, which are made on several cores and given in order.
  /// - Parameters:
  ///   - limit: how many events are wanted; nil: all. More may be given.
  ///   - partCountMax: how many are made at most before they are given; one core waits for the other only then.
  private func makeLogPieces<Piece: Sendable>(
    _ filter: LogFilter, newestFirst: Bool, limit: Int?, atOnce partCountMax: Int,
    _ make: @Sendable (_ read: RecordReading) throws -> Piece,
    _ give: (Piece) throws -> Bool
  ) throws {
    try askIfNeeded()
    var reader = try store.reading { t in
      try checkHasFullAccess("read the log", t)
      let after = try filter.after.map { try store.commit(of: $0, for: client, at: moment, t) } ?? 0
      let head = try store.head(at: moment, t)
      let first = try store.sequence(ofCommit: after, t) + 1
      var events = first..<(max(first - 1, head.sequence) + 1)
      var commits = (after + 1)..<(max(after, head.commit) + 1)
      if let beyond = filter.beyond {
        let commit = try store.commit(ofEvent: beyond, t)
        events = events.clamped(to: newestFirst ? 0..<beyond : beyond + 1..<UInt64.max)
        commits = commits.clamped(to: newestFirst ? 0..<commit + 1 : commit..<UInt64.max)
      }
      return try LogReader(
        of: store, at: sequence, filter, newestFirst, limit, commits: commits, events: events, t)
    }
    while true {
      let pieces = try store.reading { t in
        defer { t.letGoOfPages() }
        let parts = try reader.parts(t, atMost: partCountMax)
        let part = reader
        return try t.onSeveralCores(parts.count) { index, t in
          // Pages are released for all cores, also those that another part is reading.
          defer { if index % LogReader.partsBetweenLettingGo == 1 { t.letGoOfPages() } }
          var (part, rest) = (part, parts[index])
          let made = try make { take in try part.read(&rest, t, take) }
          return (made: made, rest: rest, created: part.created, takenCount: part.takenCount)
        }
      }
      if pieces.isEmpty { return }
      reader.keep(pieces.map(\.created))
      reader.note(takenCount: pieces.reduce(0) { $0 + $1.takenCount })
      reader.adapt(isTooMany: pieces.contains { !$0.rest.isEmpty })
      for piece in pieces {
        guard try give(piece.made) else { return }
        var rest = piece.rest
        while !rest.isEmpty {
          let made = try store.reading { t in
            defer { t.letGoOfPages() }
            return try make { take in try reader.read(&rest, t, take) }
          }
          guard try give(made) else { return }
        }
      }
      reader.keepCreated()
    }
  }
}

/// Turns records into entries.
private struct LogReader {
  /// What is given each record that is wanted, with its commit, and says whether there may be more.
  typealias Use = (inout LogReader, borrowing StoredEvent, CommitSummary, borrowing StoreReading) throws -> Bool

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

  /// How many events one core reads at a time at most, at least so many where few are wanted, so that others read some,
  /// too; and at about how many bytes of them it stops. Few in debug builds: tests meet both ends.
  #if DEBUG
    private static let (pieceCountMin, pieceCountMax) = (1, 3)
  #else
    private static let (pieceCountMin, pieceCountMax) = (16, 256)
  #endif
  static let pieceBytes = 1 << 19
  /// After how many names pages are let go of: each is a row on a page of its own, with which its neighbours are
  /// mapped.
  private static let countBetweenLettingGo = 128
  /// One part in so many releases pages; each maps some 3 MiB.
  static let partsBetweenLettingGo = 4
  /// How many events one core reads at a time: fewer where events are large, so that the others have some too.
  private var pieceCount = Self.pieceCountMax
  /// The assets whose creations were read, but for those in ``created``.
  private var assets: CreatedAssets
  /// The assets whose creations were read last.
  private(set) var created: [CreatedAssets.Creation] = []
  /// Whether events were quarantined when the last ones were read.
  private(set) var mayBeQuarantined = false
  /// How many names were looked up since pages were last let go of.
  private var nameCount = 0
  /// How many parts are read next: few at first, since many readers stop soon.
  private var partCount = 1
  /// How many events are wanted yet, and how many of them were taken since the last parts.
  private var wantedCount: Int
  private(set) var takenCount = 0

  init(
    of store: LibraryStore, at sequence: UInt64, _ filter: LogFilter, _ newestFirst: Bool, _ limit: Int?,
    commits: Range<UInt64>, events: Range<UInt64>, _ t: borrowing StoreReading
  ) throws {
    wantedCount = limit ?? .max
    (self.filter, self.newestFirst, bounds) = (filter, newestFirst, events)
    audit = AuditReader(of: store, at: sequence)
    assets = CreatedAssets(newestFirst || !filter.objects.isEmpty ? 0..<0 : events)
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
  mutating func parts(_ t: borrowing StoreReading, atMost partCountMax: Int) throws -> [ArraySlice<UInt64>] {
    wantedCount -= takenCount
    takenCount = 0
    guard wantedCount > 0 else { return [] }
    var (count, pieceCount) = (pieceCount * partCount, pieceCount)
    // How many of the next events have a type, or how many in a history are of some commits, is only known once they
    // are read.
    if count > wantedCount, !filter.asksAboutTypes, filter.objects.isEmpty || !filter.asksAboutCommits {
      count = wantedCount
      pieceCount = min(pieceCount, max(Self.pieceCountMin, (count + partCountMax - 1) / partCountMax))
    }
    var places: [UInt64] = []
    while places.count < count, let place = try next(t) { places.append(place) }
    partCount = min(partCountMax, partCount * 2)
    return stride(from: 0, to: places.count, by: pieceCount).map { start in
      places[start..<min(start + pieceCount, places.count)]
    }
  }

  /// Notes how many events others have taken.
  mutating func note(takenCount: Int) { wantedCount -= takenCount }

  /// Adapts the parts to the size of the events.
  /// - Parameter isTooMany: whether some of the parts read last were not read to their end.
  mutating func adapt(isTooMany: Bool) {
    pieceCount = isTooMany ? max(1, pieceCount / 2) : min(Self.pieceCountMax, pieceCount * 2)
  }

  /// Reads the records of events, in order; of large ones only the first.
  /// - Parameters:
  ///   - places: the places of the events; of those that were not read, when it returns.
  ///   - take: is given each record.
  mutating func read(_ places: inout ArraySlice<UInt64>, _ t: borrowing StoreReading, _ take: Use) throws {
    var byteCount = 0
    mayBeQuarantined = try audit.core.projections.hasQuarantined(in: t)
    // Places that follow one another are read by one cursor, and found only once.
    if let first = places.first, let last = places.last, last >= first, last - first == UInt64(places.count - 1) {
      var isEnough = false
      try audit.core.log.read(after: first - 1, limit: places.count, in: t) { record in
        guard record.sequence == places.first else { return .stop }
        places.removeFirst()
        isEnough = try !read(record, t, take, &byteCount)
        return isEnough ? .stop : .proceed
      }
      if isEnough { return }
    }
    while let sequence = places.popFirst() {
      let record = try audit.core.log.recordedEvent(at: sequence, in: t)
      guard try read(record, t, take, &byteCount) else { return }
    }
  }

  /// - Returns: whether there may be more.
  private mutating func read(
    _ record: borrowing StoredEvent, _ t: borrowing StoreReading, _ take: Use, _ byteCount: inout Int
  ) throws -> Bool {
    byteCount += record.content?.byteCount ?? 0
    if filter.asksAboutTypes, !filter.wants(type: record.type) { return byteCount < Self.pieceBytes }
    let commit = try audit.commit(record.commit, t)
    guard filter.wants(commit) else { return byteCount < Self.pieceBytes }
    takenCount += 1
    return try take(&self, record, commit, t) && byteCount < Self.pieceBytes
  }

  /// The place of the next event; nil at the end.
  private mutating func next(_ t: borrowing StoreReading) throws -> UInt64? {
    if let sequence = histories.popFirst() { return sequence }
    while events.isEmpty {
      guard let number = take(from: &commits) else { return nil }
      let commit = try audit.core.recordedCommit(number, t)
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

  /// Keeps the assets whose creations others have read.
  mutating func keep(_ created: [[CreatedAssets.Creation]]) { for part in created { assets.add(part) } }

  /// Keeps the assets whose creations were read last.
  mutating func keepCreated() {
    assets.add(created)
    created.removeAll(keepingCapacity: true)
  }

  /// Learns the identifier of an asset whose creation was read.
  mutating func learn(_ asset: LocalIdentifier, of number: ObjectNumber) { created.append((number, asset)) }

  /// The state that holds the commit of a record.
  func token(of record: borrowing StoredEvent) -> Token { audit.core.token(record.commit) }

  /// The entry of a record.
  mutating func entry(
    _ record: borrowing StoredEvent, of commit: CommitSummary, _ t: borrowing StoreReading
  ) throws -> LogEntry {
    let token = token(of: record)
    guard record.content != nil else {
      return LogEntry(record, token, commit, sentence: "The payload was erased.")
    }
    if let reason = try audit.core.projections.quarantineReason(of: record.sequence, in: t) {
      return LogEntry(record, token, commit, sentence: "Quarantined: \(reason)")
    }
    let event = try Event(record)
    return LogEntry(record, token, commit, event, try names(of: event, t))
  }

  /// The names of the objects of an event.
  private mutating func names(of event: Event, _ t: borrowing StoreReading) throws -> EventNames {
    var names = EventNames()
    // The sentence uses the name at the addition, so the current name is not needed.
    if case .assetCreated(let existence) = event {
      names.add(ObjectNames.Name(existence.row, nil), of: existence.row.number)
    }
    // A file name is read only where the sentence says it.
    let titled = event.calledByName + event.mentioned
    func learn(_ number: ObjectNumber) throws {
      guard names[number] == nil else { return }
      let (isTitled, known) = (titled.contains(number), assets[number])
      if let known, !isTitled { return names.add(ObjectNames.Name(asset: known, nil), of: number) }
      let found =
        if let known { try audit.name(number, identified: known, t) } else {
          try isTitled ? audit.name(number, t) : audit.untitledName(number, t)
        }
      if let found { names.add(found, of: number) }
      nameCount += 1
      guard nameCount >= Self.countBetweenLettingGo else { return }
      nameCount = 0
      t.letGoOfPages()
    }
    try event.forEachTouched(learn)
    for number in event.mentioned { try learn(number) }
    return names
  }
}
