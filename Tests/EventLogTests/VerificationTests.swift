import LMDB
import Testing

@testable import EventLog

/// Every change to a log must be found, and at the right event.
@Suite("Verification")
struct VerificationTests {
  @Test("every flipped byte of every record is found at its event")
  func everyByte() throws {
    try withLog { log in
      try fill(log, commits: 6, seed: 42)
      let sound = try records(of: log)
      for (offset, record) in sound.enumerated() {
        let number = UInt64(offset) + 1
        for index in record.indices {
          var damaged = record
          damaged[index] ^= 1 << UInt8(index % 8)
          try put(damaged, at: number, of: log)
          let defect = try log.verification().defect
          #expect(defect?.sequence == number, "event \(number), byte \(index): \(String(describing: defect))")
        }
        try put(record, at: number, of: log)
      }
      #expect(try log.verification().defect == nil)
    }
  }

  static let parts: [(String, LogVerification.Defect.Kind)] = [
    ("payload", .alteredPayload), ("salt", .alteredPayload), ("type", .alteredHeader), ("time", .alteredHeader),
    ("commitment", .alteredCommitment), ("leaf", .alteredLeaf), ("chain", .brokenChain), ("length", .malformed),
  ]

  @Test("a changed field of a record is named", arguments: parts)
  func kinds(part: String, kind: LogVerification.Defect.Kind) throws {
    try withLog { log in
      try fill(log, commits: 6, seed: 42)
      let record = try records(of: log)[4]
      guard case .array(var items) = try CBOR(decoding: record.span.bytes), case .array(var header) = items[0] else {
        throw CBORError(.unexpected, at: 0)
      }
      let other = SHA256.digest(of: [7]).bytes
      switch part {
      case "payload": items[3] = .bytes([1, 2, 3])
      case "salt": items[2] = .bytes([UInt8](repeating: 1, count: 16))
      case "type": header[5] = .text("forged")
      case "time": header[4] = .integer(1)
      case "commitment": items[1] = .bytes(other)
      case "leaf": items[4] = .bytes(other)
      case "chain": items[5] = .bytes(other)
      default: items[1] = .bytes([1])
      }
      items[0] = .array(header)
      try put(CBOR.array(items).encoded, at: 5, of: log)
      let defect = try log.verification().defect
      #expect(defect?.sequence == 5 && defect?.kind == kind, "\(String(describing: defect))")
    }
  }

  @Test("a removed, swapped, copied, inserted or added record is found")
  func wholeRecords() throws {
    try withLog { log in
      try fill(log, commits: 8, seed: 7)
      let sound = try records(of: log)
      let last = UInt64(sound.count)
      func defect(_ change: (inout WriteTransaction) throws -> Void) throws -> LogVerification.Defect? {
        try log.environment.write { t in try change(&t) }
        defer {
          #expect(throws: Never.self) {
            try log.environment.write { t in
              try t.clear(log.events)
              for (n, record) in sound.enumerated() { try t.put(UInt64(n) + 1, record, in: log.events) }
            }
          }
        }
        return try log.verification().defect
      }
      for n in 1...last {
        let removed = try defect { t in try t.delete(n, in: log.events) }
        #expect(removed?.kind == .missing && removed?.sequence == n)
      }
      for n in 1..<last {
        let swapped = try defect { t in
          try t.put(n, sound[Int(n)], in: log.events)
          try t.put(n + 1, sound[Int(n) - 1], in: log.events)
        }
        #expect(swapped?.kind == .misplaced && swapped?.sequence == n)
      }
      let added = try defect { t in try t.put(last + 1, sound[0], in: log.events) }
      #expect(added?.kind == .surplus && added?.sequence == last + 1)
      let zeroth = try defect { t in try t.put(0, sound[0], in: log.events) }
      #expect(zeroth?.kind == .surplus)
      // Everything from 5 moved up by one, to make room for a record that is right in itself but for its chain.
      let inserted = try defect { t in
        for n in stride(from: last, through: 5, by: -1) {
          try t.put(n + 1, sound[Int(n) - 1], in: log.events)
        }
        let place = EventPlace(sequence: 5, commit: 9, index: 0, isLast: true)
        let forged = EventRecord.encode(EventLogTests.event(), at: place, of: EventLogTests.information, after: .zero)
        try t.put(5, forged.bytes, in: log.events)
      }
      #expect(inserted?.kind == .brokenChain && inserted?.sequence == 5)
      #expect(try log.verification().defect == nil)
    }
  }

  @Test("a log rebuilt consistently after the removal of an event differs only in its head")
  func rewritten() throws {
    try withLog { log in
      try withLog { forged in
        for n in 0..<5 as Range<UInt8> {
          try log.append(EventLogTests.information, [EventLogTests.event([n])])
          if n != 2 { try forged.append(EventLogTests.information, [EventLogTests.event([n])]) }
        }
        #expect(try forged.verification().defect == nil, "a writer of everything can make it consistent")
        #expect(try forged.verification().head.chain != log.verification().head.chain)
      }
    }
  }

  @Test("forged commit numbers are found even when all hashes are correct")
  func commitStructure() throws {
    let places: [(EventPlace, LogVerification.Defect.Kind)] = [
      (EventPlace(sequence: 3, commit: 3, index: 0, isLast: true), .brokenCommit),
      (EventPlace(sequence: 3, commit: 2, index: 1, isLast: true), .brokenCommit),
      (EventPlace(sequence: 3, commit: 1, index: 2, isLast: true), .brokenCommit),
      (EventPlace(sequence: 4, commit: 2, index: 0, isLast: true), .misplaced),
      (EventPlace(sequence: 3, commit: 2, index: 0, isLast: false), .brokenCommit),
    ]
    for (place, kind) in places {
      try withLog { log in
        let first = try log.append(EventLogTests.information, [EventLogTests.event(), EventLogTests.event()])
        try log.environment.write { t in
          let forged = EventRecord.encode(
            EventLogTests.event(), at: place, of: EventLogTests.information, after: first.chain)
          try t.put(3, forged.bytes, in: log.events)
          try log.put(EventLog.Head(sequence: 3, commit: place.commit, chain: forged.chain), in: &t)
        }
        let defect = try log.verification().defect
        #expect(defect?.kind == kind && defect?.sequence == 3, "\(place): \(String(describing: defect))")
      }
    }
  }

  @Test("a wrong head, and rows of commits and keys that are wrong, missing or superfluous, are found")
  func derived() throws {
    try withLog { log in
      try fill(log, commits: 6, seed: 11)
      let head = try log.currentHead()
      func kind(_ change: (inout WriteTransaction) throws -> Void) throws -> LogVerification.Defect.Kind? {
        try log.environment.write { t in try change(&t) }
        let kind = try log.verification().defect?.kind
        try log.environment.write { t in
          try log.rebuildDerivedTables(in: &t)
          try log.put(head, in: &t)
        }
        return kind
      }
      let number = CBOR.unsigned(3).encoded
      #expect(try kind { t in try t.delete(3, in: log.commits) } == .derivedCommit)
      #expect(try kind { t in try t.put(3, number, in: log.commits) } == .derivedCommit)
      #expect(try kind { t in try t.put(99, number, in: log.commits) } == .derivedCommit)
      let key = EventLog.storedKey("key 4", of: "client 1")
      #expect(try kind { t in try t.delete(key, in: log.keys) } == .derivedKey)
      #expect(try kind { t in try t.put(key, number, in: log.keys) } == .derivedKey)
      let surplus = EventLog.storedKey("more", of: "client 1")
      #expect(try kind { t in try t.put(surplus, number, in: log.keys) } == .derivedKey)
      #expect(
        try kind { t in
          try log.put(EventLog.Head(sequence: head.sequence, commit: head.commit, chain: .zero), in: &t)
        } == .headMismatch)
      #expect(
        try kind { t in
          try log.put(EventLog.Head(sequence: head.sequence + 1, commit: head.commit, chain: head.chain), in: &t)
        } == .missing)
      #expect(try kind { t in try t.put(EventLog.MetaKey.head, [1], in: log.meta) } == .headMismatch)
      #expect(try kind { t in try t.delete(EventLog.MetaKey.head, in: log.meta) } == .surplus)
      #expect(try log.verification().defect == nil)
    }
  }

  @Test(
    "a record may hold any commit number, also where another verification begins",
    arguments: 1...20 as ClosedRange<UInt64>)
  func hugeNumbers(place: UInt64) throws {
    try withLog { log in
      try fill(log, commits: 20, seed: 5)
      let record = try records(of: log)[Int(place) - 1]
      for (item, value) in [(1, UInt64.max), (2, UInt64.max), (1, 0)] {
        for isLast in [false, true] {
          guard case .array(var items) = try CBOR(decoding: record.span.bytes),
            case .array(var header) = items[0]
          else { throw CBORError(.unexpected, at: 0) }
          (header[item], header[3]) = (.unsigned(value), .bool(isLast))
          items[0] = .array(header)
          let altered = CBOR.array(items).encoded
          if altered == record { continue }
          try put(altered, at: place, of: log)
          let defect = try log.verification().defect
          #expect(defect?.sequence == place && defect?.kind == .alteredHeader, "\(String(describing: defect))")
        }
      }
    }
  }

  @Test("a log truncated inside a commit is recognised, even with its head moved back")
  func truncated() throws {
    try withLog { log in
      let event = EventLogTests.event()
      try log.append(EventLogTests.information, [event, event, event])
      let cut = try log.environment.read { t in
        guard let event = try log.event(at: 2, in: t) else { return SHA256Digest.zero }
        return event.chain
      }
      try log.environment.write { t in
        try t.delete(3, in: log.events)
        try log.put(EventLog.Head(sequence: 2, commit: 1, chain: cut), in: &t)
      }
      let defect = try log.verification().defect
      #expect(defect?.kind == .brokenCommit && defect?.sequence == 2)
    }
  }

  @Test("an erased payload leaves the chain valid and is counted; a partial erasure is damage")
  func erased() throws {
    try withLog { log in
      try fill(log, commits: 6, seed: 13)
      let record = try records(of: log)[2]
      guard case .array(var items) = try CBOR(decoding: record.span.bytes) else { throw CBORError(.unexpected, at: 0) }
      let salt = items[2]
      (items[2], items[3]) = (.null, .null)
      try put(CBOR.array(items).encoded, at: 3, of: log)
      let verification = try log.verification()
      #expect(verification.defect == nil && verification.erasedCount == 1)
      try log.environment.read { t in
        guard let event = try log.event(at: 3, in: t) else { return #expect(Bool(false), "event 3 is there") }
        let (isErased, payload) = (event.isErased, event.payloadBytes)
        #expect(isErased && payload == nil)
      }
      items[2] = salt
      try put(CBOR.array(items).encoded, at: 3, of: log)
      #expect(try log.verification().defect?.kind == .malformed)
    }
  }

  @Test("a part of the log can be verified alone, and a verification cancelled")
  func ranges() throws {
    try withLog { log in
      try fill(log, commits: 40, seed: 17)
      let count = try log.currentHead().sequence
      try log.environment.read { t in
        for first in 1...count {
          let part = try log.verify(from: first, in: t)
          #expect(part.defect == nil && part.eventCount == count - first + 1)
          let head = try log.verify(from: first, to: first, in: t)
          #expect(head.defect == nil && head.eventCount == 1 && head.head.sequence == first)
        }
        let beyond = try log.verify(from: count + 2, in: t)
        #expect(beyond.defect?.kind == .missing && beyond.defect?.sequence == count + 1)
      }
    }
  }

  @Test("progress is reported, and its handler can cancel the verification")
  func progress() throws {
    try withLog { log in
      for _ in 0..<3 {
        try log.append(EventLogTests.information, [EventDraft](repeating: EventLogTests.event(), count: 3000))
      }
      try log.environment.read { t in
        var reached: [UInt64] = []
        let whole = try log.verify(in: t) { sequence in
          reached.append(sequence)
          return .proceed
        }
        #expect(reached == [4096, 8192] && whole.eventCount == 9000 && whole.defect == nil)
        let stopped = try log.verify(in: t) { _ in .stop }
        #expect(stopped.eventCount == 4096 && stopped.defect == nil && stopped.head.sequence == 4096)
      }
    }
  }

  private func records(of log: EventLog) throws -> [[UInt8]] {
    try log.environment.read { t in
      var records: [[UInt8]] = []
      try t.forEach(in: log.events, from: 0) { _, value in
        records.append(value.array)
        return .proceed
      }
      return records
    }
  }

  private func put(_ record: [UInt8], at sequence: UInt64, of log: EventLog) throws {
    try log.environment.write { t in try t.put(sequence, record, in: log.events) }
  }
}
