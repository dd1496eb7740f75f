import LMDB
import StoreTestSupport
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

  // MARK: Agreeing

  private typealias Rows = [(key: [UInt8], value: [UInt8])]

  private static func agree(_ held: (Environment, Database), _ wanted: (Environment, Database)) throws -> Bool {
    try held.0.read { t in
      try wanted.0.read { source in try t.agrees(held.1, with: wanted.1, of: source) }
    }
  }

  private static func put(_ rows: Rows, _ store: (Environment, Database)) throws {
    try store.0.write { t in for row in rows { try t.put(row.key, row.value, in: store.1) } }
  }

  /// How the entries of two databases differ.
  enum Difference: CaseIterable { case changed, longer, removed, added, moved, swapped }

  /// Rows with a difference; nil if they cannot have it.
  private static func altered(_ rows: Rows, _ difference: Difference, _ random: inout SeededGenerator) -> Rows? {
    guard let index = rows.indices.randomElement(using: &random) else { return nil }
    var altered = rows
    // No row has it: the third byte of the others is less.
    var key = Array(rows[index].key.prefix(2)) + [9, 9]
    if rows[index].key.count == 8 { key += [0, 0, 0, 0] }
    switch difference {
    case .changed:
      guard !rows[index].value.isEmpty else { return nil }
      altered[index].value[rows[index].value.count - 1] ^= 2
    case .longer: altered[index].value.append(0)
    case .removed: altered.remove(at: index)
    case .added: altered.append((key: key, value: [1]))
    case .moved: altered[index].key = key
    case .swapped:
      guard let other = rows.firstIndex(where: { $0.value != rows[index].value }) else { return nil }
      (altered[index].value, altered[other].value) = (rows[other].value, rows[index].value)
    }
    return altered
  }

  @Test("two databases agree if and only if they have the same entries", arguments: 0..<24 as Range<UInt64>)
  func agreement(seed: UInt64) throws {
    let integerKeys = seed.isMultiple(of: 2)
    try Self.withStores(integerKeys: integerKeys) { held, wanted in
      var random = SeededGenerator(seed: seed)
      #expect(try Self.agree(held, wanted), "Both are empty.")
      var made: [[UInt8]: [UInt8]] = [:]
      for _ in 0..<[1, 3, 200, 2000][Int(seed / 2 % 4)] {
        let count = integerKeys ? 8 : Int.random(in: 1...5, using: &random)
        let key = (0..<count).map { UInt8.random(in: 0...($0 < 2 ? 255 : 1), using: &random) }
        let valueCount = [0, 3, 40, 5000].randomElement(using: &random) ?? 0
        made[key] = Array(repeating: .random(in: 0...1, using: &random), count: valueCount)
      }
      let sorted = made.sorted { $0.key.lexicographicallyPrecedes($1.key) }
      let rows: Rows = sorted.map { (key: $0.key, value: $0.value) }
      try Self.put(rows.shuffled(using: &random), held)
      try Self.put(rows, wanted)
      #expect(try Self.agree(held, wanted), "seed \(seed)")
      for difference in Difference.allCases {
        guard let altered = Self.altered(rows, difference, &random) else { continue }
        try held.0.write { t in try t.clear(held.1) }
        try Self.put(altered, held)
        #expect(try !Self.agree(held, wanted), "seed \(seed), \(difference)")
        #expect(try !Self.agree(wanted, held), "seed \(seed), \(difference)")
      }
      try held.0.write { t in try t.clear(held.1) }
      #expect(try !Self.agree(held, wanted) && !Self.agree(wanted, held), "One is empty.")
    }
  }

  @Test("a comparison reports the entries that it has passed, and ends where it is asked to stop")
  func stopsComparing() throws {
    try Self.withStores(integerKeys: true) { held, wanted in
      for (environment, database) in [held, wanted] {
        try environment.write { t in
          for number in UInt64(0)..<10_000 { try t.put(number, [UInt8(number % 251)].span.bytes, in: database) }
        }
      }
      /// The result of a comparison that is stopped at one of its reports, and the reports.
      func compared(stoppingAt last: Int?) throws -> (agrees: Bool, reports: [Int]) {
        var reports: [Int] = []
        let agrees = try held.0.read { t in
          try wanted.0.read { source in
            try t.agrees(held.1, with: wanted.1, of: source) { count in
              reports.append(count)
              return reports.count == last ? .stop : .proceed
            }
          }
        }
        return (agrees, reports)
      }
      let whole = try compared(stoppingAt: nil)
      #expect(whole.agrees && whole.reports == [4096, 4096])
      let stopped = try compared(stoppingAt: 1)
      #expect(!stopped.agrees && stopped.reports == [4096])
    }
  }

  /// How the key of a branch is altered: the first key after it is then sought before it, or the reverse.
  enum Separator: CaseIterable { case raised, lowered }

  @Test(
    "a database whose branches lead a look-up astray does not agree, though a walk finds every entry",
    arguments: [false, true], Separator.allCases)
  func astray(integerKeys: Bool, separator: Separator) throws {
    func key(_ number: Int) -> [UInt8] {
      if integerKeys { return withUnsafeBytes(of: UInt64(number)) { Array($0) } }
      return number.bigEndianBytes + Array(repeating: 7, count: 300)
    }
    let rows: Rows = (0..<1500).map { (key: key($0), value: Array(repeating: 1, count: integerKeys ? 600 : 1)) }
    try withTemporaryDirectory { path in
      try withTemporaryDirectory { other in
        let environment = try Environment.open(path: other, options: .fast)
        let wanted = (environment, try environment.database("rows", integerKeys: integerKeys))
        try Self.put(rows, wanted)
        do {
          let environment = try Environment.open(path: path, options: .fast)
          try Self.put(rows, (environment, try environment.database("rows", integerKeys: integerKeys)))
          try environment.close()
        }
        let sound = try StorePages(path)
        let branches = sound.branches(from: try #require(sound.root(of: "rows")))
        try #require(branches.count > 2, "The tree has branches below its root.")
        for branch in branches {
          // The first node of a branch has no key.
          let nodes = sound.nodes(ofPage: branch).dropFirst()
          let node = nodes[nodes.startIndex + nodes.count / 2]
          var pages = sound
          switch separator {
          case .raised where integerKeys: pages.set(node + 8, sound.number(node + 8, as: UInt64.self) + 1)
          case .raised: pages.set(node + 8 + 8, UInt8(8))
          case .lowered: pages.set(node + 8, UInt64(0))
          }
          try pages.write()
          let environment = try Environment.open(path: path, options: .fast)
          let held = (environment, try environment.database("rows", integerKeys: integerKeys))
          let isSame = try held.0.read { t in try t.dump(held.1) } == wanted.0.read { t in try t.dump(wanted.1) }
          #expect(isSame, "branch \(branch)")
          #expect(try !Self.agree(held, wanted), "branch \(branch)")
          let found = try code {
            try held.0.write { t in
              try wanted.0.read { source in _ = try t.match(held.1, to: wanted.1, of: source) }
            }
          }
          #expect(found == .corrupted, "branch \(branch)")
          try environment.close()
        }
        try sound.write()
        let repaired = try Environment.open(path: path, options: .fast)
        let held = (repaired, try repaired.database("rows", integerKeys: integerKeys))
        #expect(try Self.agree(held, wanted))
        try repaired.close()
        try environment.close()
      }
    }
  }
}
