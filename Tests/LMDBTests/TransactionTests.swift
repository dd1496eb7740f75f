import LMDB
import Testing

@Suite("Transactions")
struct TransactionTests {
  struct Refusal: Error, Equatable {}

  @Test("a throw aborts everything, and the next write begins from the previous state")
  func abort() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: .fast)
      let database = try environment.database("d")
      try environment.write { t in try t.put([1], [1], in: database) }
      #expect(throws: Refusal.self) {
        try environment.write { t in
          try t.put([1], [2], in: database)
          try t.put([2], [2], in: database)
          #expect(try t.bytes(for: [1], in: database) == [2])
          throw Refusal()
        }
      }
      #expect(try environment.read { t in try t.dump(database) } == [[1]: [1]])
      try environment.write { t in try t.put([3], [3], in: database) }
      #expect(try environment.read { t in try t.dump(database) } == [[1]: [1], [3]: [3]])
    }
  }

  @Test("a reader keeps its snapshot while others commit")
  func snapshot() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: .fast)
      let database = try environment.database("d")
      try environment.write { t in try t.put([1], [1], in: database) }
      let old = try environment.beginRead()
      for n in 2..<50 { try environment.write { t in try t.put([1], [UInt8(n)], in: database) } }
      #expect(try old.bytes(for: [1], in: database) == [1])
      #expect(try environment.read { t in try t.bytes(for: [1], in: database) } == [49])
    }
  }

  @Test("keys must have 1 to 511 bytes, and 8 in a database of integers")
  func keyLengths() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: .fast)
      let database = try environment.database("d")
      let numbers = try environment.database("n", integerKeys: true)
      for count in [0, 512, 5000] {
        let key = [UInt8](repeating: 1, count: count)
        #expect(try code { try environment.write { t in try t.put(key, [1], in: database) } } == .keyLength)
        #expect(try code { _ = try environment.write { t in try t.delete(key, in: database) } } == .keyLength)
      }
      try environment.write { t in try t.put([UInt8](repeating: 1, count: 511), [1], in: database) }
      #expect(try code { try environment.write { t in try t.put([1, 2, 3, 4], [1], in: numbers) } } == .keyLength)
      #expect(try code { _ = try environment.read { t in try t.bytes(for: [1], in: numbers) } } == .keyLength)
    }
  }

  @Test("modes: insert rejects a key that exists, append one that does not follow")
  func modes() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: .fast)
      let numbers = try environment.database("n", integerKeys: true)
      let value: [UInt8] = [1]
      try environment.write { t in
        for n: UInt64 in [1, 2, 300, 70_000] { try t.put(n, value.span.bytes, in: numbers, mode: .append) }
        #expect(try code { try t.put(300, value.span.bytes, in: numbers, mode: .append) } == .keyOutOfOrder)
        #expect(try code { try t.put(70_000, value.span.bytes, in: numbers, mode: .append) } == .keyOutOfOrder)
        #expect(try code { try t.put(2, value.span.bytes, in: numbers, mode: .insert) } == .keyExists)
        try t.put(3, value.span.bytes, in: numbers, mode: .insert)
      }
      var keys: [UInt64] = []
      try environment.read { t in
        try t.forEach(in: numbers, from: 2) { key, _ in
          keys.append(key)
          return .proceed
        }
      }
      #expect(keys == [2, 3, 300, 70_000])
    }
  }

  @Test("a reserved value starts as zeroes and is what was written in place")
  func reserve() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: .fast)
      let database = try environment.database("d")
      let key: [UInt8] = [9]
      try environment.write { t in
        try t.put([7], [7], in: database)
        try t.put([9], [UInt8](repeating: 0xEE, count: 300), in: database)
        try t.delete([9], in: database)
        try t.put(key.span.bytes, reserving: 300, in: database) { span in
          span.storeBytes(of: 0xAA, toByteOffset: 299, as: UInt8.self)
        }
      }
      let expected = [UInt8](repeating: 0, count: 299) + [0xAA]
      #expect(try environment.read { t in try t.bytes(for: key, in: database) } == expected)
    }
  }

  @Test("deleting by prefix removes these and no others", arguments: [[], [1], [1, 2], [0xFF], [0xFF, 0xFF], [7]])
  func deletePrefix(prefix: [UInt8]) throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: .fast)
      let database = try environment.database("d")
      var model: [[UInt8]: [UInt8]] = [:]
      for a in [0, 1, 2, 0xFE, 0xFF] as [UInt8] {
        for b in [0, 2, 0xFF] as [UInt8] { for c in [0, 0xFF] as [UInt8] { model[[a, b, c]] = [c, b] } }
      }
      try environment.write { t in for (key, value) in model { try t.put(key, value, in: database) } }
      let removed = try environment.write { t in try t.delete(prefix: prefix.span.bytes, in: database) }
      let kept = model.filter { !$0.key.starts(with: prefix) }
      #expect(removed == model.count - kept.count)
      #expect(try environment.read { t in try t.dump(database) } == kept)
      #expect(try environment.read { t in try t.count(of: database) } == kept.count)
      try environment.write { t in try t.clear(database) }
      #expect(try environment.read { t in try t.dump(database) }.isEmpty)
    }
  }

  @Test("the same reader runs on a read and on a write transaction, with its own typed error")
  func genericReader() throws {
    func length(
      of key: [UInt8], _ t: borrowing some TransactionReading & ~Copyable, _ database: Database
    ) throws(Refusal) -> Int {
      do {
        guard let value = try t.value(for: key.span.bytes, in: database) else { return -1 }
        return value.byteCount
      } catch { throw Refusal() }
    }
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: .fast)
      let database = try environment.database("d")
      try environment.write { t in
        try t.put([1], [1, 2, 3], in: database)
        #expect(try length(of: [1], t, database) == 3)
        #expect(try length(of: [2], t, database) == -1)
      }
      let typed: Int = try environment.read(mapping: { _ in Refusal() }) { (t) throws(Refusal) in
        try length(of: [1], t, database)
      }
      #expect(typed == 3)
      #expect(throws: Refusal.self) { try environment.read { t in try length(of: [], t, database) } }
    }
  }

  @Test("a write inside a write of the same thread traps instead of waiting for ever")
  func nestedWrite() async throws {
    try await withTemporaryDirectory { path in
      await #expect(processExitsWith: trap) { [path = path as String] in
        let environment = try Environment.open(path: path)
        try environment.write { _ in try environment.write { _ in } }
      }
    }
  }

  @Test("a database of another environment traps")
  func foreignDatabase() async throws {
    try await withTemporaryDirectory { path in
      await #expect(processExitsWith: trap) { [path = path as String] in
        let other = try Environment.open(path: path + "/b").database("d")
        _ = try Environment.open(path: path + "/a").read { t in try t.bytes(for: [1], in: other) }
      }
    }
  }
}
