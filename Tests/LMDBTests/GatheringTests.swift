import LMDB
import Testing

@Suite("Gathered changes")
struct GatheringTests {
  /// One change of a key.
  enum Change: CaseIterable { case put, insert, delete }

  @Test(
    "gathered changes have the same outcome as immediate ones, whatever was there before",
    arguments: 0..<24 as Range<UInt64>)
  func model(seed: UInt64) throws {
    try withTemporaryDirectory { path in
      var random = SeededGenerator(seed: seed)
      let environment = try Environment.open(path: path, options: .fast)
      let (direct, gathered) = (try environment.database("direct"), try environment.database("gathered"))
      let other = try environment.database("other")
      // Few bytes and lengths around the sixteen that a comparison begins with: equal beginnings, equal keys.
      let keyCounts = [1, 7, 8, 15, 16, 17, 20].shuffled(using: &random).prefix(seed.isMultiple(of: 3) ? 1 : 4)
      func key() -> [UInt8] {
        (0..<(keyCounts.randomElement(using: &random) ?? 1)).map { _ in .random(in: 0...1, using: &random) }
      }
      func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: 0...255, using: &random) } }
      if seed.isMultiple(of: 2) {
        try environment.write { t in
          for _ in 0..<50 {
            let (key, value) = (key(), bytes(3))
            for database in [direct, gathered] { try t.put(key, value, in: database) }
          }
        }
      }
      for _ in 0..<3 {
        try environment.write { t in
          t.gather([gathered, other])
          for _ in 0..<400 {
            let (key, value) = (key(), bytes(.random(in: 0...40, using: &random)))
            switch Change.allCases.randomElement(using: &random) {
            case .insert:
              if try t.contains(key.span.bytes, in: direct) { continue }
              try t.put(key, value, in: direct, mode: .insert)
              try t.put(key, value, in: gathered, mode: .insert)
            case .delete:
              try t.delete(key, in: direct)
              let isTakenOnTrust = try t.delete(key, in: gathered)
              #expect(isTakenOnTrust)
            default:
              try t.put(key, value, in: direct)
              try t.put(key, value, in: gathered)
            }
            try t.put(key, [], in: other)
          }
          try t.settle()
          let (found, wanted) = (try t.dump(gathered), try t.dump(direct))
          #expect(found == wanted, "seed \(seed)")
        }
      }
      let (found, wanted) = try environment.read { t in (try t.dump(gathered), try t.dump(direct)) }
      #expect(found == wanted && !wanted.isEmpty)
    }
  }

  /// What keys have in common.
  enum Keys: CaseIterable {
    case hashes, numbers, prefixed, halves, words, few, zeroes

    func key(_ number: Int, _ random: inout SeededGenerator) -> [UInt8] {
      let drawn = random.next()
      switch self {
      case .hashes: return drawn.bigEndianBytes + drawn.byteSwapped.bigEndianBytes + (number / 2).bigEndianBytes
      case .numbers: return (drawn % 1500).bigEndianBytes
      case .prefixed: return [UInt8](repeating: 7, count: 40) + (drawn % 1500).bigEndianBytes.suffix(2)
      case .halves:
        let half: UInt8 = drawn % 2 == 0 ? 0 : 128
        return [half] + [UInt8](repeating: 1, count: 20) + [UInt8(drawn >> 56)]
      case .words:
        let words = ["img", "jpg", "a", "birthday cake"]
        return [UInt8](words[Int(drawn % 4)].utf8) + ([0] as [UInt8]) + number.bigEndianBytes
      case .few: return [UInt8](repeating: UInt8(drawn % 9), count: 1 + Int((drawn >> 8) % 3))
      case .zeroes:
        let end: [UInt8] = (drawn >> 32) % 4 == 0 ? [1] : []
        return [UInt8](repeating: 0, count: 1 + Int(drawn % 40)) + end
      }
    }
  }

  @Test(
    "thousands of gathered changes have the same outcome as immediate ones, whatever their keys have in common",
    arguments: Keys.allCases, [1023, 1024, 3000])
  func many(keys: Keys, count: Int) throws {
    try withTemporaryDirectory { path in
      var random = SeededGenerator(seed: UInt64(count))
      let environment = try Environment.open(path: path, options: .fast)
      let (others, gathered) = (try environment.database("others"), try environment.database("gathered"))
      let direct = try environment.database("direct")
      // The first round fills empty databases.
      for round in 0..<2 {
        try environment.write { t in
          t.gather([gathered, others])
          for number in 0..<count {
            let (key, value) = (keys.key(number, &random), (round * count + number).bigEndianBytes)
            if random.next() % 4 == 0 {
              try t.delete(key, in: direct)
              try t.delete(key, in: gathered)
            } else {
              try t.put(key, value, in: direct)
              try t.put(key, value, in: gathered)
            }
            try t.put(number.bigEndianBytes, key, in: others)
          }
          try t.settle()
          let (found, wanted, otherCount) = (try t.dump(gathered), try t.dump(direct), try t.count(of: others))
          #expect(found == wanted && !wanted.isEmpty && otherCount == count)
        }
      }
    }
  }

  @Test(
    "gathered changes that empty most pages, and put rows between and behind, have the same outcome as immediate ones",
    arguments: 0..<6 as Range<UInt64>)
  func emptying(seed: UInt64) throws {
    try withTemporaryDirectory { path in
      var random = SeededGenerator(seed: seed)
      let environment = try Environment.open(path: path, options: .fast)
      let (direct, gathered) = (try environment.database("direct"), try environment.database("gathered"))
      func key(_ number: Int) -> [UInt8] { [UInt8](repeating: 7, count: 40) + number.bigEndianBytes }
      try environment.write { t in
        for number in 0..<4000 {
          let (held, value) = (key(2 * number), number.bigEndianBytes)
          for database in [direct, gathered] { try t.put(held, value, in: database) }
        }
      }
      // Of each third seed nothing is kept; each second one puts rows.
      let (keeps, puts) = (seed % 3 != 0, seed % 2 == 0)
      try environment.write { t in
        t.gather([gathered])
        for number in (0..<4400).shuffled(using: &random) {
          let (held, between, drawn) = (key(2 * number), key(2 * number + 1), random.next() % 100)
          for database in [direct, gathered] {
            if !keeps || drawn > 2 { try t.delete(held, in: database) }
            if puts && drawn % 40 == 0 { try t.put(between, [1], in: database) }
          }
        }
        try t.settle()
      }
      try environment.read { t in
        let (found, wanted) = (try t.dump(gathered), try t.dump(direct))
        let (count, wantedCount) = (try t.count(of: gathered), try t.count(of: direct))
        #expect(found == wanted && count == wantedCount && count == found.count, "seed \(seed)")
        #expect(found.isEmpty == (!keeps && !puts), "seed \(seed)")
        // A walk and a look-up agree.
        for number in 0..<8800 {
          let sought = key(number)
          let isFound = try t.contains(sought.span.bytes, in: gathered)
          if isFound != (wanted[sought] != nil) { Issue.record("seed \(seed), row \(number)") }
        }
      }
    }
  }

  @Test("a key that is inserted twice is found when the changes are settled, and the transaction leaves nothing")
  func insertedTwice() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: .fast)
      let database = try environment.database("d")
      try environment.write { t in try t.put([5], [5], in: database) }
      for keys: [[UInt8]] in [[[1], [7], [1]], [[7], [9], [7]], [[6], [5]]] {
        let found = try code {
          try environment.write { t in
            t.gather([database])
            for key in keys { try t.put(key, [1], in: database, mode: .insert) }
            try t.settle()
          }
        }
        #expect(found == .keyExists, "\(keys)")
        #expect(try environment.read { t in try t.dump(database) } == [[5]: [5]])
      }
    }
  }

  @Test("changes beyond the bound of a database are executed in between, with the same outcome")
  func bounded() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: .fast)
      let database = try environment.database("d")
      let value = [UInt8](repeating: 7, count: 1 << 20)
      try environment.write { t in
        t.gather([database])
        for round in 0..<2 {
          for number in 0..<40 { try t.put([UInt8(number * 7 % 40), UInt8(round)], value, in: database) }
        }
        try t.settle()
        let count = try t.count(of: database)
        #expect(count == 80)
      }
    }
  }

  @Test("of a database beyond the first 64 changes are applied at once, and nothing gathered is settled")
  func manyDatabases() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: .with { $0.maxDatabases = 80 })
      let databases = try (0..<70).map { try environment.database("d\($0)") }
      let (early, late) = (databases[0], databases[69])
      try environment.write { t in
        t.gather([early, late])
        for database in [early, late] { for key in [3, 1, 2] as [UInt8] { try t.put([key], [key], in: database) } }
        let found = try t.dump(late)
        #expect(found == [[1]: [1], [2]: [2], [3]: [3]])
        try t.settle()
        // Nothing is gathered now.
        try t.settle(.again)
        let settled = try t.dump(early)
        #expect(settled == found)
      }
    }
  }

  @Test("a database with gathered changes cannot be read, nor a transaction with unsettled changes committed")
  func misuse() async throws {
    try await withTemporaryDirectory { path in
      await #expect(processExitsWith: trap) { [path = path as String] in
        let environment = try Environment.open(path: path, options: .fast)
        let database = try environment.database("d")
        try environment.write { t in
          t.gather([database])
          _ = try t.bytes(for: [1], in: database)
          try t.settle()
        }
      }
      await #expect(processExitsWith: trap) { [path = path as String] in
        let environment = try Environment.open(path: path, options: .fast)
        let database = try environment.database("d")
        try environment.write { t in t.gather([database]) }
      }
    }
  }
}
