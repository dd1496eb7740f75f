import LMDB
import Testing

/// Cursors and scans against a sorted array.
@Suite("Cursors")
struct CursorTests {
  @Test(
    "scans from any position, with any prefix, in both directions, return what a sorted array returns",
    arguments: 0..<40 as Range<UInt64>)
  func scans(seed: UInt64) throws {
    try withTemporaryDirectory { path in
      var random = SeededGenerator(seed: seed)
      let environment = try Environment.open(path: path, options: .fast)
      let database = try environment.database("d")
      let keys = try fill(database, of: environment, count: Int(seed) * 7, &random)
      try environment.read { t in
        for _ in 0..<100 {
          let start = Bool.random(using: &random) ? [] : randomKey(&random)
          let prefix =
            start.isEmpty ? Array(randomKey(&random).prefix(2).dropFirst(Int.random(in: 0...2, using: &random))) : []
          let reverse = Bool.random(using: &random)
          let limit = Int.random(in: 1...20, using: &random)
          var seen: [[UInt8]] = []
          try t.forEach(in: database, from: start.span.bytes, prefix: prefix.span.bytes, reverse: reverse) {
            key, value in
            #expect(value.array == Array(key.array.reversed()))
            seen.append(key.array)
            return seen.count == limit ? .stop : .proceed
          }
          let ordered = reverse ? keys.reversed() : keys
          let expected = ordered.filter { key in
            key.starts(with: prefix)
              && (start.isEmpty
                || (reverse ? !start.lexicographicallyPrecedes(key) : !key.lexicographicallyPrecedes(start)))
          }
          #expect(
            seen == Array(expected.prefix(limit)), "seed \(seed), from \(start), prefix \(prefix), reverse \(reverse)")
        }
      }
    }
  }

  @Test("any sequence of movements leads where an index into a sorted array does", arguments: 0..<40 as Range<UInt64>)
  func movements(seed: UInt64) throws {
    try withTemporaryDirectory { path in
      var random = SeededGenerator(seed: 1000 + seed)
      let environment = try Environment.open(path: path, options: .fast)
      let database = try environment.database("d")
      let keys = try fill(database, of: environment, count: Int(seed), &random)
      try environment.read { t in
        var cursor = try t.cursor(in: database)
        var place = -1  // index in keys; -1 before the first, keys.count after the last
        place = try cursor.first() == nil ? keys.count : 0
        for _ in 0..<300 {
          let key = randomKey(&random)
          let movement = Int.random(in: 0..<8, using: &random)
          let found: [UInt8]?
          switch movement {
          case 0:
            found = try cursor.first()?.key.array
            place = 0
          case 1:
            found = try cursor.last()?.key.array
            place = keys.count - 1
          case 2:
            found = try cursor.seek(atOrAfter: key.span.bytes)?.key.array
            place = keys.firstIndex { !$0.lexicographicallyPrecedes(key) } ?? keys.count
          case 3:
            found = try cursor.seek(atOrBefore: key.span.bytes)?.key.array
            place = keys.lastIndex { !key.lexicographicallyPrecedes($0) } ?? -1
          case 4, 5:
            found = try cursor.next()?.key.array
            place = min(place + 1, keys.count)
          default:
            found = try cursor.previous()?.key.array
            place = max(place - 1, -1)
          }
          let expected = keys.indices.contains(place) ? keys[place] : nil
          #expect(found == expected, "seed \(seed), movement \(movement)")
          if keys.isEmpty { place = movement == 1 || movement == 3 || movement > 5 ? -1 : 0 }
        }
      }
    }
  }

  @Test("a database of integers is ordered by number, not by bytes")
  func integers() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: .fast)
      let database = try environment.database("n", integerKeys: true)
      let numbers: [UInt64] = [0, 1, 255, 256, 65_535, 1 << 32, .max]
      let value: [UInt8] = [1]
      try environment.write { t in for n in numbers.shuffled() { try t.put(n, value.span.bytes, in: database) } }
      try environment.read { t in
        var cursor = try t.cursor(in: database)
        var seen: [UInt64] = []
        while let entry = try cursor.next() { seen.append(entry.integerKey) }
        #expect(seen == numbers)
        #expect(try cursor.seek(atOrAfter: 257 as UInt64)?.integerKey == 65_535)
        #expect(try cursor.seek(atOrBefore: 257 as UInt64)?.integerKey == 256)
        #expect(try cursor.seek(atOrBefore: 256 as UInt64)?.integerKey == 256)
        var reversed: [UInt64] = []
        try t.forEach(in: database, from: 300 as UInt64, reverse: true) { key, _ in
          reversed.append(key)
          return .proceed
        }
        #expect(reversed == [256, 255, 1, 0])
      }
    }
  }

  @Test("a number near the last one is found as any other, and a missing one is not")
  func near() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: .fast)
      let database = try environment.database("n", integerKeys: true)
      // Runs of neighbours over several pages, with gaps, and both ends of the numbers.
      let small: [UInt64] = (0..<2000).filter { (n: UInt64) -> Bool in n % 7 != 3 && n % 90 < 80 }
      let numbers = Set(small).union([.max - 1, .max])
      try environment.write { t in
        for n in numbers {
          let value = [UInt8(truncatingIfNeeded: n)]
          try t.put(n, value.span.bytes, in: database)
        }
      }
      try environment.read { t in
        var cursor = try t.cursor(in: database)
        var wanted = [UInt64](0...2001)
        wanted += [.max, 0, .max - 1, .max]
        wanted += wanted.reversed()
        for _ in 0..<2000 { wanted.append(UInt64.random(in: 0...2100)) }
        for (place, n) in wanted.enumerated() {
          let value = try cursor.seek(near: n)?.value.unsafeLoad(as: UInt8.self)
          let isRight = value == (numbers.contains(n) ? UInt8(truncatingIfNeeded: n) : nil)
          #expect(isRight, "\(n) at \(place)")
          // Another movement in between does not matter.
          if place % 11 == 0 { _ = try cursor.next() }
        }
      }
    }
  }

  @Test("a scan passes on the error of its body, whatever its type")
  func bodyErrors() throws {
    struct Stop: Error {}
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: .fast)
      let database = try environment.database("d")
      try environment.write { t in try t.put([1], [1], in: database) }
      #expect(throws: Stop.self) {
        try environment.read { t in try t.forEach(in: database) { _, _ in throw Stop() } }
      }
      let key: [UInt8] = [1]
      #expect(throws: Stop.self) {
        try environment.read { t in
          _ = try t.get(database, key.span.bytes) { (_) throws -> Int in throw Stop() }
        }
      }
    }
  }

  private func fill(
    _ database: Database, of environment: Environment, count: Int, _ random: inout SeededGenerator
  ) throws -> [[UInt8]] {
    let keys = Set((0..<count).map { _ in randomKey(&random) })
    try environment.write { t in for key in keys { try t.put(key, key.reversed(), in: database) } }
    return keys.sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Short keys over few bytes, so that prefixes are shared and the highest byte occurs.
  private func randomKey(_ random: inout SeededGenerator) -> [UInt8] {
    (0..<Int.random(in: 1...4, using: &random)).map { _ in [0, 1, 2, 0xFE, 0xFF].randomElement(using: &random) ?? 0 }
  }
}
