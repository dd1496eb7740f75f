import LMDB
import Testing

import EventLog

@Suite("Event log")
struct EventLogTests {
  static let information = CommitInformation(time: 1, client: "c", cause: "w", process: "p")

  static func event(_ payload: [UInt8] = [1], type: String = "t") -> EventDraft {
    EventDraft(type: type, version: 1, payload: payload, salt: Salt(1, 2))
  }

  @Test(
    "sequences and commits are gapless from 1, and reading gives back what was appended",
    arguments: 0..<10 as Range<UInt64>)
  func gapless(seed: UInt64) throws {
    try withLog { log in
      var random = SeededGenerator(seed: seed)
      var drafts: [EventDraft] = []
      var commits: [Commit] = []
      #expect(try log.currentHead() == .empty)
      for number in 1...30 as ClosedRange<UInt64> {
        let events = (0..<Int.random(in: 1...5, using: &random)).map { _ in
          EventDraft(
            type: ["a", "b.c", "ü"].randomElement(using: &random) ?? "",
            version: UInt32.random(in: 0...9, using: &random),
            payload: random.bytes(.random(in: 0...300, using: &random)), salt: Salt(random.next(), random.next()))
        }
        let information = CommitInformation(
          time: .random(in: -5...5, using: &random), client: "c\(number)", cause: "w", process: "p",
          key: Bool.random(using: &random) ? "key \(number)" : nil, correlation: "r")
        let commit = try log.append(information, events)
        #expect(commit.number == number)
        #expect(commit.firstSequence == UInt64(drafts.count) + 1 && commit.eventCount == UInt64(events.count))
        drafts += events
        commits.append(commit)
        let head = try log.currentHead()
        #expect(head == EventLog.Head(sequence: UInt64(drafts.count), commit: number, chain: commit.chain))
      }
      try compare(log, drafts, commits)
      let verification = try log.verification()
      #expect(verification.defect == nil && verification.eventCount == UInt64(drafts.count))
      #expect(verification.commitCount == 30 && verification.erasedCount == 0)
      #expect(try verification.head == log.currentHead())
    }
  }

  private func compare(_ log: EventLog, _ drafts: [EventDraft], _ commits: [Commit]) throws {
    try log.environment.read { t in
      for start in [0, 1, drafts.count / 2, drafts.count, drafts.count + 5] {
        for limit in [0, 1, 7, Int.max] {
          var sequence = start
          try log.read(after: UInt64(start), limit: limit, in: t) { event in
            let draft = drafts[sequence]
            sequence += 1
            #expect(event.sequence == UInt64(sequence) && event.type == draft.type && event.version == draft.version)
            #expect(event.payloadBytes == draft.payload && !event.isErased)
            let commit = commits[Int(event.commit) - 1]
            #expect(commit.sequences.contains(event.sequence) && event.time == commit.information.time)
            #expect(event.index == event.sequence - commit.firstSequence)
            #expect(event.isLast == (event.sequence == commit.lastSequence))
            let information = try event.information()
            #expect(information == (event.index == 0 ? commit.information : nil))
            return .proceed
          }
          #expect(sequence == max(start, min(drafts.count, start + min(limit, drafts.count))))
        }
        let found = try log.event(at: UInt64(start), in: t)
        let sequence = found?.sequence
        #expect(sequence == (1...drafts.count ~= start ? UInt64(start) : nil))
      }
      #expect(try log.commits(after: 0, in: t) == commits)
      #expect(try log.commits(after: 3, limit: 4, in: t) == Array(commits[3..<7]))
      #expect(try log.commits(after: .max, in: t) == [] && log.commits(after: 0, limit: 0, in: t) == [])
      #expect(try log.commit(7, in: t) == commits[6] && log.commit(31, in: t) == nil && log.commit(0, in: t) == nil)
      for commit in commits {
        if let key = commit.information.key {
          #expect(try log.commit(forKey: key, of: commit.information.client, in: t) == commit)
        }
      }
      #expect(try log.commit(forKey: "none", of: "c", in: t) == nil)
    }
  }

  @Test("an appender returns each sequence before the next event is decided")
  func incremental() throws {
    try withLog { log in
      try fill(log, commits: 3, seed: 5)
      let before = try log.currentHead()
      let commit = try log.environment.write { t in
        var appender = try log.begin(Self.information, expectedHead: before.sequence, in: &t)
        #expect(appender.commit == 4 && appender.nextSequence == before.sequence + 1 && appender.eventCount == 0)
        for n in 1...3 as ClosedRange<UInt64> {
          let next = appender.nextSequence
          let sequence = try appender.append(type: "t", version: 1, payload: [UInt8(next)], salt: Salt(0, n), in: &t)
          #expect(sequence == next && appender.eventCount == n)
        }
        return try appender.finish(in: &t)
      }
      #expect(commit.sequences == before.sequence + 1...before.sequence + 3)
      #expect(try log.verification().defect == nil)
    }
  }

  @Test("an unexpected head is a conflict that names the head, and nothing is appended")
  func conflict() throws {
    try withLog { log in
      try log.append(Self.information, [Self.event(), Self.event()], expectedHead: 0)
      for expected in [0, 1, 3] as [UInt64] {
        let error = try failure { try log.append(Self.information, [Self.event()], expectedHead: expected) }
        #expect(error?.code == .conflict && error?.sequence == 2 && error?.advice == .retry)
      }
      #expect(try log.currentHead().sequence == 2)
      try log.append(Self.information, [Self.event()], expectedHead: 2)
      #expect(try log.verification().defect == nil)
    }
  }

  @Test("of many racing appends with one expected head exactly one wins each time")
  func race() async throws {
    try await withTemporaryDirectory { path in
      let log = try EventLog(in: openStore(path))
      var wins = 0
      for round in 0..<50 as Range<UInt64> {
        wins += try await withThrowingTaskGroup(of: Bool.self) { group in
          for _ in 0..<4 {
            group.addTask {
              let error = try failure { try log.append(Self.information, [Self.event()], expectedHead: round) }
              #expect(error == nil || error?.code == .conflict)
              return error == nil
            }
          }
          return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
      }
      #expect(wins == 50)
      #expect(try log.currentHead().sequence == 50)
    }
  }

  @Test("an idempotency key is accepted once, whatever its length", arguments: [1, 255, 256, 1024])
  func idempotency(length: Int) throws {
    try withLog { log in
      var information = Self.information
      information.key = String(repeating: "k", count: length)
      let first = try log.append(information, [Self.event()])
      information.key?.removeLast()
      information.key?.append("l")
      try log.append(information, [Self.event()])
      information.key = first.information.key
      let error = try failure { try log.append(information, [Self.event()]) }
      #expect(error?.code == .keyUsed && error?.commit == 1 && error?.advice == .correct)
      #expect(
        try log.environment.read { t in try log.commit(forKey: information.key ?? "", of: information.client, in: t) }
          == first)
      #expect(try log.currentHead().sequence == 2)
    }
  }

  @Test("limits are enforced with the field or event named, and the log remains usable")
  func limits() throws {
    var limits = EventLog.Limits()
    limits.payloadBytes = 1000
    limits.commitBytes = 3000
    limits.commitEvents = 10
    try withLog(limits: limits) { (log) throws in
      func code(
        _ events: [EventDraft], _ change: (inout CommitInformation) -> Void = { _ in }
      ) throws -> EventLogError.Code? {
        var information = Self.information
        change(&information)
        return try failure { try log.append(information, events) }?.code
      }
      let event = Self.event()
      #expect(try code([Self.event([UInt8](repeating: 0, count: 1001))]) == .tooLarge)
      #expect(try code([EventDraft](repeating: event, count: 11)) == .tooLarge)
      #expect(try code([EventDraft](repeating: Self.event([UInt8](repeating: 0, count: 1000)), count: 4)) == .tooLarge)
      #expect(try code([]) == .invalidField)
      #expect(try code([Self.event(type: "")]) == .invalidField)
      #expect(try code([Self.event(type: String(repeating: "t", count: 129))]) == .invalidField)
      #expect(try code([event]) { $0.key = "" } == .invalidField)
      #expect(try code([event]) { $0.key = String(repeating: "k", count: 1025) } == .tooLarge)
      #expect(try code([event]) { $0.cause = String(repeating: "ü", count: 513) } == .tooLarge)
      #expect(try code([event]) { $0.client = String(repeating: "k", count: 257) } == .tooLarge)
      #expect(try code([event]) { $0.client = "a\0b" } == .invalidField)
      var keyless = Self.information
      keyless.key = ""
      let error = try failure { try log.append(keyless, [event]) }
      #expect(
        error?.description == "The request is invalid: the key of a commit has 0 bytes, and may have 1 to 1024.")
      #expect(try log.currentHead() == .empty)
      #expect(try code([EventDraft](repeating: Self.event([UInt8](repeating: 0, count: 100)), count: 10)) == nil)
      #expect(try log.verification().defect == nil)
    }
  }

  @Test("a commit whose transaction is aborted leaves no trace")
  func abort() throws {
    struct Refusal: Error {}
    try withLog { log in
      try fill(log, commits: 2, seed: 1)
      let head = try log.currentHead()
      #expect(throws: Refusal.self) {
        try log.environment.write { t in
          var information = Self.information
          information.key = "given up"
          try log.append(information, [Self.event()], in: &t)
          throw Refusal()
        }
      }
      #expect(try log.currentHead() == head && log.verification().defect == nil)
      #expect(try log.environment.read { t in try log.commit(forKey: "given up", of: "c", in: t) } == nil)
    }
  }

  @Test("the events of a type are found after any event, erased ones too")
  func types() throws {
    try withLog { log in
      try fill(log, commits: 20, seed: 6)
      let last = try log.currentHead().sequence
      try log.environment.write { t in _ = try log.erasePayload(of: 2, in: &t) }
      try log.environment.read { t in
        for type in ["kind.0", "kind.1", "kind.3", "kind.9", "kind", "kind.00", ""] {
          for start in [0, 1, 2, last - 1, last, last + 5, .max] as [UInt64] {
            var wanted: [UInt64] = []
            try log.read(after: start, in: t) { event in
              if event.type == type { wanted.append(event.sequence) }
              return .proceed
            }
            #expect(try log.sequences(ofType: type, after: start, in: t) == wanted, "\(type) after \(start)")
          }
        }
      }
    }
  }

  @Test("an unfinished appender is detected, by the next append and by verify")
  func unfinished() throws {
    try withLog { log in
      try fill(log, commits: 2, seed: 1)
      let next = try log.currentHead().sequence + 1
      try log.environment.write { t in
        var appender = try log.begin(Self.information, in: &t)
        try appender.append(Self.event(), in: &t)
        try appender.append(Self.event(), in: &t)
      }
      let error = try failure { try log.append(Self.information, [Self.event()]) }
      #expect(error?.code == .corrupted && error?.sequence == next)
      #expect(try log.verification().defect?.kind == .surplus)
    }
  }

  @Test("the log is found again, and one of a later format is rejected")
  func reopening() throws {
    try withLog { log in
      try fill(log, commits: 5, seed: 9)
      let head = try log.currentHead()
      let again = try EventLog(in: log.environment)
      #expect(try again.currentHead() == head)
      let meta = try log.environment.database("log.meta")
      try log.environment.write { t in try t.put(Array("format".utf8), CBOR.unsigned(2).encoded, in: meta) }
      let error = try failure { _ = try EventLog(in: log.environment) }
      #expect(error?.code == .newerThanProgram && error?.advice == .stop)
      #expect(error?.description == "The event log failed: the log has format 2, this program knows up to 1.")
    }
  }

  @Test("the derived tables can be rebuilt from the events", arguments: [0, 1, 25])
  func rebuild(commits: Int) throws {
    try withLog { log in
      if commits > 0 { try fill(log, commits: commits, seed: 3) }
      let tables = try [log.environment.database("commits", integerKeys: true), log.environment.database("keys")]
      func dump() throws -> [[[UInt8]]] {
        try tables.map { table in
          try log.environment.read { t in
            var rows: [[UInt8]] = []
            try t.forEach(in: table) { key, value in
              rows.append(key.array + value.array)
              return .proceed
            }
            return rows
          }
        }
      }
      let before = try dump()
      try log.environment.write { t in for table in tables { try t.clear(table) } }
      #expect(try commits == 0 || log.verification().defect?.kind == .derivedCommit)
      try log.environment.write { t in try log.rebuildDerivedTables(in: &t) }
      #expect(try dump() == before)
      #expect(try log.verification().defect == nil)
    }
  }
}
