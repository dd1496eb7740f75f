import LMDB
import Testing

@testable import EventLog

// Everything that somebody can do to one entry of the log's tables, for every entry and every byte: change it, cut it,
// lengthen it, take it away, put it elsewhere, put a copy beside it. VerificationTests names what each kind of change
// is taken for; here nothing may pass.

@Suite("Every byte of a log")
struct FlippedByteTests {
  private struct Row {
    let key: [UInt8]
    let value: [UInt8]
  }

  private static let tables = ["events", "commits", "keys", "log.meta"]

  private func database(_ name: String, of log: EventLog) -> Database {
    switch name {
    case "events": log.events
    case "commits": log.commits
    case "keys": log.keys
    default: log.meta
    }
  }

  private func rows(of database: Database, _ log: EventLog) throws -> [Row] {
    try log.environment.read { t in
      var rows: [Row] = []
      try t.forEach(in: database) { (key, value) throws(LMDBError) in
        rows.append(Row(key: key.array, value: value.array))
        return .proceed
      }
      return rows
    }
  }

  /// Puts rows in place of a row, verifies, and puts the row back.
  private func defect(
    _ log: EventLog, _ database: Database, replacing row: Row, by others: [Row]
  ) throws -> LogVerification.Defect? {
    try log.environment.write { t in
      _ = try t.delete(row.key.span.bytes, in: database)
      for other in others { try t.put(other.key.span.bytes, other.value.span.bytes, in: database) }
    }
    let defect = try log.verification().defect
    try log.environment.write { t in
      for other in others { _ = try t.delete(other.key.span.bytes, in: database) }
      try t.put(row.key.span.bytes, row.value.span.bytes, in: database)
    }
    return defect
  }

  @Test("every byte of every value, changed in one way or in two, is found at its event", arguments: tables)
  func values(table: String) throws {
    try withLog { log in
      try fill(log, commits: 5, seed: 42)
      let database = database(table, of: log)
      for row in try rows(of: database, log) {
        for index in row.value.indices {
          // At the usual dose one of the ways in turn: each takes two verifications.
          let masks: [UInt8] = [1 << UInt8(index % 8), 0xFF]
          for mask in isFullDose ? masks : [masks[index % 2]] {
            var value = row.value
            value[index] ^= mask
            let found = try defect(log, database, replacing: row, by: [Row(key: row.key, value: value)])
            #expect(try isPlaced(found, table, row, log), "\(row.key), byte \(index): \(String(describing: found))")
          }
        }
        for value in [Array(row.value.dropLast()), row.value + [0], []] {
          let found = try defect(log, database, replacing: row, by: [Row(key: row.key, value: value)])
          #expect(try isPlaced(found, table, row, log), "\(row.key) with \(value.count) bytes")
        }
      }
      #expect(try log.verification().defect == nil)
    }
  }

  @Test("an entry that is removed, moved to any other key by one byte, or copied there is found", arguments: tables)
  func keys(table: String) throws {
    try withLog { log in
      try fill(log, commits: 5, seed: 43)
      let database = database(table, of: log)
      for row in try rows(of: database, log) {
        #expect(try defect(log, database, replacing: row, by: []) != nil, "\(row.key) removed")
        for index in row.key.indices {
          var key = row.key
          key[index] ^= 1 << UInt8(index % 8)
          let moved = Row(key: key, value: row.value)
          let isTaken = try log.environment.read { t in try t.contains(key.span.bytes, in: database) }
          if isTaken { continue }
          #expect(try defect(log, database, replacing: row, by: [moved]) != nil, "\(row.key) moved to \(key)")
          #expect(try defect(log, database, replacing: row, by: [row, moved]) != nil, "\(row.key) copied to \(key)")
        }
      }
      #expect(try log.verification().defect == nil)
    }
  }

  /// The commit that a row of its table describes.
  private func commit(_ row: Row) throws -> Commit {
    try Commit(number: row.key.span.bytes.unsafeLoadUnaligned(as: UInt64.self), row: row.value.span.bytes)
  }

  /// Whether a defect names the event that the row belongs to.
  private func isPlaced(_ found: LogVerification.Defect?, _ table: String, _ row: Row, _ log: EventLog) throws -> Bool {
    guard let found else { return false }
    switch table {
    case "events": return found.sequence == row.key.span.bytes.unsafeLoadUnaligned(as: UInt64.self)
    case "commits":
      return found.sequence == (try commit(row)).lastSequence
        && found.kind == .derivedCommit
    case "keys": return found.kind == .derivedKey
    default: return [.headMismatch, .missing, .surplus, .alteredFormat, .derivedCommit].contains(found.kind)
    }
  }

  /// The events of a type, as a short look at each record finds them, and as reading the whole log does.
  private func ofType(
    _ type: String, _ log: EventLog
  ) throws -> (short: Result<[UInt64], EventLogError>, whole: Result<[UInt64], EventLogError>) {
    try log.environment.read { t in
      let short = Result { () throws(EventLogError) in try log.sequences(ofType: type, after: 0, in: t) }
      let whole = Result { () throws(EventLogError) in
        var found: [UInt64] = []
        try log.read(after: 0, in: t) { (event) throws(EventLogError) in
          if event.type == type { found.append(event.sequence) }
          return .proceed
        }
        return found
      }
      return (short, whole)
    }
  }

  @Test("a look for the events of a type fails as reading does at a record that is damaged before or in its type")
  func types() throws {
    try withLog { log in
      try fill(log, commits: 4, seed: 45)
      let sound = try ofType("kind.0", log).whole.get()
      #expect(try ofType("kind.0", log).short.get() == sound)
      for row in try rows(of: log.events, log) {
        let (sequence, end) = try typeEnd(of: row.value.span.bytes)
        for count in row.value.indices {
          let value = Array(row.value.prefix(count))
          try log.environment.write { t in try t.put(row.key.span.bytes, value.span.bytes, in: log.events) }
          let found = try ofType("kind.0", log)
          #expect(throws: EventLogError.self) { try found.whole.get() }
          #expect(found.short == (count < end ? found.whole : .success(sound)), "event \(sequence), \(count) bytes")
        }
        for index in row.value.indices {
          var value = row.value
          value[index] ^= 1 << UInt8(index % 8)
          try log.environment.write { t in try t.put(row.key.span.bytes, value.span.bytes, in: log.events) }
          let found = try ofType("kind.0", log)
          switch (found.short, found.whole) {
          case (.failure, _), (_, .success): #expect(found.short == found.whole, "event \(sequence), byte \(index)")
          case (.success(let short), .failure):
            #expect(short.filter { $0 != sequence } == sound.filter { $0 != sequence })
          }
        }
        try log.environment.write { t in try t.put(row.key.span.bytes, row.value.span.bytes, in: log.events) }
      }
    }
  }

  /// The sequence of the event of a record, and where the type ends in it.
  private func typeEnd(of record: RawSpan) throws -> (sequence: UInt64, end: Int) {
    let event = try StoredEvent(decoding: record)
    // A type of few bytes has a head of one.
    return (event.sequence, event.typeOffset + 1 + event.typeBytes.byteCount)
  }

  @Test("samples of a log of 20,000 events are found at their events")
  func samples() throws {
    try withLog { log in
      let events = (0..<2000).map { EventLogTests.event([UInt8($0 % 251), UInt8($0 % 13)]) }
      for _ in 0..<10 { try log.append(EventLogTests.information, events) }
      var random = SeededGenerator(seed: 44)
      for round in 0..<300 {
        let sequence = UInt64.random(in: 1...20_000, using: &random)
        let key = withUnsafeBytes(of: sequence) { [UInt8]($0) }
        let record = try log.environment.read { t in try #require(try log.record(at: sequence, in: t)) }
        var altered = record
        altered[Int.random(in: 0..<record.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
        try log.environment.write { t in try t.put(key.span.bytes, altered.span.bytes, in: log.events) }
        let found = try log.environment.read { t in
          // Some over the whole log, which takes long; the others around the event.
          try round % (isFullDose ? 60 : 150) == 0
            ? log.verify(in: t)
            : log.verify(from: max(2, sequence) - 1, to: min(20_000, sequence + 3), in: t)
        }
        #expect(found.defect?.sequence == sequence, "event \(sequence): \(String(describing: found.defect))")
        try log.environment.write { t in try t.put(key.span.bytes, record.span.bytes, in: log.events) }
      }
      #expect(try log.verification().defect == nil)
    }
  }
}
