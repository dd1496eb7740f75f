import LMDB
import Testing

@testable import EventLog

@Suite("Erasing payloads and importing events")
struct ErasingTests {
  private static func fill(_ log: EventLog, commits: Int = 3, seed: UInt64 = 1) throws {
    var random = SeededGenerator(seed: seed)
    for number in 0..<commits {
      try log.environment.write { t in
        let information = CommitInformation(
          time: Int64(number), client: "client", cause: "cause", process: "process", key: number == 1 ? "key" : nil)
        let events = (0..<3).map { index in
          EventDraft(
            type: "type.\(index)", version: 1, payload: random.bytes(20), salt: Salt(random.next(), random.next()))
        }
        try log.append(information, events, in: &t)
      }
    }
  }

  private static func copies(_ log: EventLog) throws -> [EventCopy] {
    try log.environment.read { t in
      var copies: [EventCopy] = []
      try log.read(after: 0, in: t) { event in
        copies.append(try EventCopy(event))
        return .proceed
      }
      return copies
    }
  }

  @Test("an erased payload is gone, the chain remains valid, and its tombstone is read with the record")
  func erases() throws {
    try withLog { log in
      try Self.fill(log)
      let head = try log.environment.read { t in try log.head(t) }
      try log.environment.write { t in
        let (first, second) = (try log.erasePayload(of: 5, in: &t), try log.erasePayload(of: 5, in: &t))
        #expect(first && !second)
        do {
          try log.erasePayload(of: 50, in: &t)
          Issue.record("an event that is not there was erased")
        } catch let error as EventLogError {
          #expect(error.code == .corrupted)
        }
      }
      try log.environment.read { t in
        guard let event = try log.event(at: 5, in: t) else {
          Issue.record("the record is gone")
          return
        }
        let isBare = event.isErased && event.contentBytes == nil
        #expect(isBare)
      }
      try log.environment.write { t in try log.redactions.put(5, [1, 2, 3], version: 7, broughtBy: 9, in: &t) }
      try log.environment.read { t in
        guard let event = try log.event(at: 5, in: t) else {
          Issue.record("the record is gone")
          return
        }
        let (isErased, bytes, version) = (event.isErased, event.contentBytes, event.contentVersion)
        #expect(isErased && bytes == [1, 2, 3] && version == 7)
        let carriers = (try log.redactions.carrier(of: 5, in: t), try log.redactions.carrier(of: 4, in: t))
        #expect(carriers.0 == 9 && carriers.1 == nil)
        var cursor = try log.cursor(after: 3, in: t)
        var found: [[UInt8]?] = []
        while let event = try cursor.next() { found.append(event.isErased ? event.contentBytes : nil) }
        #expect(found == [nil, [1, 2, 3], nil, nil, nil, nil])
        let verified = try log.verify(in: t)
        #expect(verified.defect == nil && verified.erasedCount == 1 && verified.head == head)
      }
    }
  }

  @Test("imported events make the same log, byte for byte, erased ones too")
  func takesIn() throws {
    try withLog { log in
      try Self.fill(log)
      try log.environment.write { t in _ = try log.erasePayload(of: 2, in: &t) }
      let copies = try Self.copies(log)
      try withLog { other in
        try other.environment.write { t in
          var importer = try other.importer(in: t)
          for copy in copies { try importer.append(copy, in: &t) }
          #expect(importer.isBetweenCommits)
        }
        for name in ["events", "commits", "keys", "log.meta"] {
          #expect(try Self.entries(name, other) == Self.entries(name, log), "\(name)")
        }
      }
    }
  }

  private static func entries(_ name: String, _ log: EventLog) throws -> [[UInt8]] {
    let isNumbered = ["events", "commits"].contains(name)
    let database = try log.environment.database(name, integerKeys: isNumbered, create: false)
    return try log.environment.read { t in
      var entries: [[UInt8]] = []
      try t.forEach(in: database) { key, value in
        entries.append(key.array + [0xFF] + value.array)
        return .proceed
      }
      return entries
    }
  }

  /// One thing that is wrong with one event.
  private static let damages: [(name: String, damage: @Sendable (inout EventCopy) -> Void)] = [
    ("sequence", { $0.sequence += 1 }), ("commit", { $0.commit += 1 }), ("index", { $0.index += 1 }),
    ("isLast", { $0.isLast.toggle() }), ("time", { $0.time += 1 }), ("type", { $0.type += "x" }),
    ("empty type", { $0.type = "" }), ("version", { $0.version += 1 }), ("payload", { $0.payload?[0] ^= 1 }),
    ("no payload", { $0.payload = nil }), ("salt", { $0.salt?[3] ^= 1 }), ("short salt", { $0.salt?.removeLast() }),
    ("commitment", { $0.commitment = $0.leaf }), ("leaf", { $0.leaf = $0.commitment }),
    ("chain", { $0.chain = $0.leaf }),
    (
      "information",
      { copy in
        copy.information =
          copy.information == nil ? CommitInformation(time: copy.time, client: "", cause: "", process: "") : nil
      }
    ),
    ("client", { $0.information?.client += "x" }),
  ]

  @Test("an event that does not prove itself or does not follow is rejected", arguments: 0..<17, [3, 4, 6])
  func refuses(damage: Int, place: Int) throws {
    #expect(Self.damages.count == 17)
    try withLog { log in
      try Self.fill(log)
      var copies = try Self.copies(log)
      let before = copies[place]
      Self.damages[damage].damage(&copies[place])
      // The client stands in the first event of a commit alone.
      if copies[place] == before { return }
      try withLog { other in
        let error = #expect(throws: EventLogError.self) {
          try other.environment.write { t in
            var importer = try other.importer(in: t)
            for copy in copies { try importer.append(copy, in: &t) }
          }
        }
        #expect(error?.storage == nil, "\(Self.damages[damage].name): \(String(describing: error))")
        let head = try other.environment.read { t in try other.head(t) }
        #expect(head == .empty)
      }
    }
  }

  @Test("a used idempotency key is rejected, as in a commit")
  func keyUsed() throws {
    try withLog { log in
      try Self.fill(log, commits: 2)
      try Self.fill(log, commits: 1, seed: 2)
      let copies = try Self.copies(log)
      try withLog { other in
        try other.environment.write { t in
          var importer = try other.importer(in: t)
          for copy in copies { try importer.append(copy, in: &t) }
          var again = copies[3]
          (again.sequence, again.commit) = (10, 4)
          do {
            try importer.append(again, in: &t)
            Issue.record("the key was taken twice")
          } catch let error as EventLogError {
            #expect(error.code == .keyUsed)
          }
        }
      }
    }
  }
}
