import Foundation
import StoreTestSupport
import Testing

@testable import LMDB

// Files whose pages say what LMDB never writes. Opening or reading them throws, and ends.

@Suite("Hostile files")
struct HostileFileTests {
  /// Makes a store of a database whose pages are four deep, and another of integers, three deep.
  private static func makeDeepStore(_ path: String) throws {
    let environment = try Environment.open(path: path, options: .fast)
    let databases = [try environment.database("d"), try environment.database("n", integerKeys: true)]
    // Several rows a page: LMDB stops at an assertion at a branch that leads to one page only.
    let value = [UInt8](repeating: 1, count: 600)
    try environment.write { t in
      for n in 0..<2000 {
        try t.put(key(n), [1], in: databases[0])
        try t.put(UInt64(n), value.span.bytes, in: databases[1])
      }
    }
    try environment.close()
  }

  private static func key(_ number: Int) -> [UInt8] {
    withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) } + Array(repeating: 7, count: 490)
  }

  @Test("pages that lead to the same pages repeatedly end a scan as corrupted, forward and backward")
  func cycles() throws {
    try withTemporaryDirectory { path in
      try Self.makeDeepStore(path)
      var pages = try StorePages(path)
      let branches = pages.branches(from: try #require(pages.root(of: "d")))
      try #require(branches.count > 12)
      let leaf = pages.child(pages.nodes(ofPage: branches[branches.count - 1])[0])
      for (index, branch) in branches.enumerated() {
        let next = index + 1 < min(branches.count, 20) ? branches[index + 1] : leaf
        for node in pages.nodes(ofPage: branch) { pages.lead(node, to: next) }
      }
      try pages.write()
      let environment = try Environment.open(path: path, options: .fast)
      let database = try environment.database("d")
      for reverse in [false, true] {
        var seen = 0
        let error = #expect(throws: LMDBError.self) {
          try environment.read { t in
            try t.forEach(in: database, reverse: reverse) { (_, _) throws(LMDBError) in
              seen += 1
              return .proceed
            }
          }
        }
        #expect(error?.code == .corrupted && error?.description.contains("more entries than it has") == true)
        #expect(seen < 10_000)
      }
      try environment.close()
    }
  }

  @Test(
    "pages that form a loop quickly end a look-up, a placed cursor and a write as corrupted",
    arguments: StorePages.Loop.allCases)
  func loops(loop: StorePages.Loop) async throws {
    await #expect(processExitsWith: .success) { [loop = loop as StorePages.Loop] in
      // A call that did not return could not be ended otherwise.
      alarm(60)
      try withTemporaryDirectory { path in
        try HostileFileTests.makeDeepStore(path)
        var pages = try StorePages(path)
        for name in ["d", "n"] { pages.make(loop, from: try #require(pages.root(of: name))) }
        try pages.write()
        let environment = try Environment.open(path: path, options: .fast)
        let (d, n) = (try environment.database("d"), try environment.database("n", integerKeys: true))
        func expectDamage(_ body: () throws -> Void) {
          let error = #expect(throws: LMDBError.self) { try body() }
          #expect(error?.code == .corrupted && error?.advice == .stop, "\(String(describing: error))")
        }
        // One in the middle may be off a loop of the first pages and the last.
        for number in [0, 1999, 5000] {
          expectDamage { _ = try environment.read { t in try t.bytes(for: HostileFileTests.key(number), in: d) } }
          expectDamage { _ = try environment.read { t in try t.bytes(for: UInt64(number), in: n) } }
          expectDamage {
            try environment.read { t in
              var cursor = try t.cursor(in: d)
              let entry = try cursor.seek(atOrAfter: HostileFileTests.key(number).span.bytes)
              let isThere = entry != nil
              #expect(!isThere)
            }
          }
          expectDamage { try environment.write { t in try t.put(HostileFileTests.key(number), [2], in: d) } }
          expectDamage { try environment.write { t in _ = try t.delete(HostileFileTests.key(number), in: d) } }
        }
        for isFirst in [true, false] {
          expectDamage {
            try environment.read { t in
              var cursor = try t.cursor(in: d)
              if isFirst { _ = try cursor.first() } else { _ = try cursor.last() }
            }
          }
        }
        try environment.close()
      }
    }
  }

  @Test("records of databases that form a loop of pages quickly end the opening of one as corrupted")
  func loopOfRecords() async throws {
    await #expect(processExitsWith: .success) {
      alarm(60)
      try withTemporaryDirectory { path in
        try HostileFileTests.makeDeepStore(path)
        var pages = try StorePages(path)
        pages.make(.root, from: Int(pages.number(pages.meta + 128, as: UInt64.self)))
        try pages.write()
        let environment = try Environment.open(path: path, options: .fast)
        for name in ["d", "n", "other"] {
          #expect(try code { _ = try environment.database(name, create: false) } == .corrupted)
        }
        try environment.close()
      }
    }
  }

  @Test("a cursor may move back and forth for longer than there are entries, and be placed again")
  func backAndForth() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: .fast)
      let database = try environment.database("d")
      try environment.write { t in for n in 0..<5 { try t.put([UInt8(n)], [1], in: database) } }
      try environment.read { t in
        var cursor = try t.cursor(in: database)
        for _ in 0..<5000 {
          let forward = try cursor.next()
          let isThere = forward != nil
          #expect(isThere)
          _ = try cursor.previous()
        }
        for _ in 0..<1000 {
          var entry = try cursor.first()
          while entry != nil { entry = try cursor.next() }
        }
      }
    }
  }

  @Test("a free list that names more pages than it holds is corrupted", arguments: [1 << 62, UInt64.max, 1 << 63, 400])
  func freeList(count: UInt64) throws {
    try withTemporaryDirectory { path in
      do {
        let environment = try Environment.open(path: path, options: .fast)
        let database = try environment.database("d")
        for n in 0..<20 { try environment.write { t in try t.put([UInt8(n)], [1], in: database) } }
        #expect(try environment.statistics().freePages > 0)
        try environment.close()
      }
      var pages = try StorePages(path)
      let root = Int(pages.number(pages.meta + 80, as: UInt64.self))
      let node = try #require(pages.nodes(ofPage: root).first)
      pages.set(node + 8 + 8, count)
      try pages.write()
      let environment = try Environment.open(path: path, options: .fast)
      let error = #expect(throws: LMDBError.self) { try environment.statistics() }
      #expect(error?.code == .corrupted && error?.description.contains("free list") == true)
      try environment.close()
    }
  }

  @Test("a free list with an entry of too few bytes is corrupted", arguments: [0, 1, 7] as [UInt16])
  func shortFreeList(byteCount: UInt16) throws {
    try withTemporaryDirectory { path in
      do {
        let environment = try Environment.open(path: path, options: .fast)
        let database = try environment.database("d")
        for n in 0..<20 { try environment.write { t in try t.put([UInt8(n)], [1], in: database) } }
        try environment.close()
      }
      var pages = try StorePages(path)
      let root = Int(pages.number(pages.meta + 80, as: UInt64.self))
      // The size of the value is in the first two words of a node.
      pages.set(try #require(pages.nodes(ofPage: root).first), byteCount)
      try pages.write()
      let environment = try Environment.open(path: path, options: .fast)
      let error = #expect(throws: LMDBError.self) { try environment.statistics() }
      #expect(error?.code == .corrupted && error?.description.contains("free list") == true)
      #expect(error?.description.contains("in \(byteCount) bytes") == true, "\(String(describing: error))")
      try environment.close()
    }
  }

  @Test("a number of the last commit that no store reaches is rejected when the store is opened", arguments: [62, 63])
  func transactionNumber(bit: UInt64) throws {
    try withTemporaryDirectory { path in
      do {
        let environment = try Environment.open(path: path, options: .fast)
        _ = try environment.database("d")
        try environment.close()
      }
      var pages = try StorePages(path)
      pages.set(pages.meta + 144, UInt64(1) << bit + 1)
      try pages.write()
      let error = #expect(throws: LMDBError.self) { try Environment.open(path: path, options: .fast) }
      #expect(error?.code == .corrupted && error?.description.contains("last commit") == true)
    }
  }

  @Test("a failed sync is not an unknown outcome: the commit does not exist, and never will")
  func failedSync() async throws {
    try await withTemporaryDirectory { path in
      await #expect(processExitsWith: .success) { [path = path as String] in
        crowdDescriptors()
        let environment = try Environment.open(path: path)
        let database = try environment.database("d")
        try environment.write { t in try t.put([1], [1], in: database) }
        // Pages go through the descriptor that is not opened O_DSYNC: writing to the null device works, syncing not.
        let null = open("/dev/null", O_RDWR)
        let targets = dataDescriptors(of: path).filter { fcntl($0, F_GETFL) & O_DSYNC == 0 }
        guard let first = targets.first else { exit(2) }
        let kept = dup(first)
        for target in targets { dup2(null, target) }
        do {
          try environment.write { t in try t.put([1], [2], in: database) }
          exit(3)
        } catch let error as LMDBError {
          guard error.operation == "mdb_txn_commit", !error.outcomeUnknown else { exit(4) }
        }
        guard !environment.isPanicked else { exit(5) }
        for target in targets { dup2(kept, target) }
        guard try environment.read({ t in try t.bytes(for: [1], in: database) }) == [1] else { exit(6) }
        try environment.write { t in try t.put([1], [3], in: database) }
        guard try environment.read({ t in try t.bytes(for: [1], in: database) }) == [3] else { exit(7) }
      }
    }
  }

  @Test("a full disk's error says that reading still works where it does, and not where opening failed")
  func diskFullText() {
    #expect(LMDBError(code: ENOSPC, "mdb_put", path: "/l").description.contains("reading still works"))
    for operation in ["mkdir", "fsync", "mdb_env_open", "open"] {
      let text = LMDBError(code: ENOSPC, operation, path: "/l").description
      #expect(text.contains("free some space and try again") && !text.contains("still works"), "\(text)")
    }
  }

  @Test(
    "a store on a file system that is mounted read-only is read without a lock file, and not written", .mountsMemory)
  func readOnlyMount() throws {
    try withTemporaryDirectory { path in
      try #require(mount("tmpfs", path, "tmpfs", 0, "size=4m") == 0)
      defer { umount2(path, Int32(MNT_DETACH)) }
      do {
        let environment = try Environment.open(path: path + "/s")
        let database = try environment.database("d")
        try environment.write { t in try t.put([1], [1], in: database) }
        try environment.close()
      }
      try FileManager.default.removeItem(atPath: path + "/s/lock.mdb")
      #expect(mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0)
      let environment = try Environment.open(path: path + "/s")
      let database = try environment.database("d")
      #expect(environment.isOnReadOnlyFileSystem)
      #expect(try environment.read { t in try t.bytes(for: [1], in: database) } == [1])
      #expect(try environment.statistics().readers.isEmpty)
      let error = #expect(throws: LMDBError.self) {
        try environment.write { t in try t.put([1], [2], in: database) }
      }
      #expect(error?.code == .permission && error?.description.contains("mounted read-only") == true)
      #expect(try code { _ = try environment.database("e") } == .notFound)
      try environment.close()
    }
  }
}
