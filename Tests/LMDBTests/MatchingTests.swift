import LMDB
import Testing

@Suite("Matching a database")
struct MatchingTests {
  /// Opens two stores, fills a database of each, and gives them to a test.
  private static func withStores(
    integerKeys: Bool, _ body: (_ held: (Environment, Database), _ wanted: (Environment, Database)) throws -> Void
  ) throws {
    try withTemporaryDirectory { one in
      try withTemporaryDirectory { two in
        let held = try Environment.open(path: one, options: .fast)
        let wanted = try Environment.open(path: two, options: .fast)
        try body(
          (held, try held.database("rows", integerKeys: integerKeys)),
          (wanted, try wanted.database("rows", integerKeys: integerKeys)))
      }
    }
  }

  @Test(
    "whatever either held, it then holds the wanted entries, and only entries that differ are changed",
    arguments: 0..<24 as Range<UInt64>)
  func model(seed: UInt64) throws {
    let integerKeys = seed.isMultiple(of: 2)
    try Self.withStores(integerKeys: integerKeys) { held, wanted in
      var random = SeededGenerator(seed: seed)
      var (had, wants): ([[UInt8]: [UInt8]], [[UInt8]: [UInt8]]) = ([:], [:])
      func key() -> [UInt8] {
        let count = integerKeys ? 8 : Int.random(in: 1...4, using: &random)
        return (0..<count).map { $0 < 2 ? .random(in: 0...255, using: &random) : .random(in: 0...1, using: &random) }
      }
      // Long values lie in pages of their own, and a walk takes more than one part.
      func value() -> [UInt8] {
        let count = [0, 3, 9000].randomElement(using: &random) ?? 0
        return Array(repeating: .random(in: 0...1, using: &random), count: count)
      }
      for _ in 0..<Int.random(in: 0...900, using: &random) { had[key()] = value() }
      if seed % 3 > 0 { wants = had }
      for _ in 0..<Int.random(in: 0...900, using: &random) {
        if random.next() % 2 == 0 {
          wants[key()] = value()
        } else {
          wants[key()] = nil
        }
      }
      try held.0.write { t in for (key, value) in had { try t.put(key, value, in: held.1) } }
      try wanted.0.write { t in for (key, value) in wants { try t.put(key, value, in: wanted.1) } }
      let differing = Set(had.keys).union(wants.keys).filter { had[$0] != wants[$0] }.count
      var passed = 0
      let changed = try held.0.write { t in
        try wanted.0.read { source in try t.match(held.1, to: wanted.1, of: source) { passed += $0 } }
      }
      #expect(changed == differing && passed == wants.count, "seed \(seed)")
      let found = try held.0.read { t in try t.dump(held.1) }
      let expected = try wanted.0.read { t in try t.dump(wanted.1) }
      #expect(found == expected, "seed \(seed)")
    }
  }

  @Test("equal entries are not written: the file does not grow")
  func unchanged() throws {
    try Self.withStores(integerKeys: true) { held, wanted in
      for (environment, database) in [held, wanted] {
        try environment.write { t in
          for number in UInt64(0)..<20_000 { try t.put(number, [UInt8(number % 251)].span.bytes, in: database) }
        }
      }
      let before = try held.0.statistics().usedPages
      let changed = try held.0.write { t in
        try wanted.0.read { source in try t.match(held.1, to: wanted.1, of: source) }
      }
      #expect(changed == 0)
      #expect(try held.0.statistics().usedPages <= before + 4)
    }
  }
}
