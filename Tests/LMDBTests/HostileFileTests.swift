import Foundation
import Testing

@testable import LMDB

// Files whose pages say what LMDB never writes. Opening or reading them throws, and ends.

@Suite("Hostile files")
struct HostileFileTests {
  /// The file of a store, page by page.
  struct Pages {
    let file: URL
    var data: Data
    var count: Int { data.count / 4096 }

    init(_ path: String) throws {
      file = URL(fileURLWithPath: path + "/data.mdb")
      data = try Data(contentsOf: file)
    }

    func number<Number: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as: Number.Type) -> Number {
      data.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Number.self) }
    }

    mutating func set<Number: FixedWidthInteger>(_ offset: Int, _ number: Number) {
      withUnsafeBytes(of: number) { data.replaceSubrange(offset..<offset + $0.count, with: $0) }
    }

    func write() throws { try data.write(to: file) }

    /// The offset of the meta page of the last commit.
    var meta: Int { number(144, as: UInt64.self) >= number(4096 + 144, as: UInt64.self) ? 0 : 4096 }

    /// The offsets of the nodes of a page (mp_lower, mp_ptrs).
    func nodes(ofPage page: Int) -> [Int] {
      let start = page * 4096
      return (0..<(Int(number(start + 12, as: UInt16.self)) - 16) / 2).map {
        start + Int(number(start + 16 + 2 * $0, as: UInt16.self))
      }
    }

    /// The pages that the pages of branches lead to from a root, without what they lead to in turn.
    func branches(from root: Int) -> [Int] {
      guard number(root * 4096 + 10, as: UInt16.self) & 1 != 0 else { return [] }
      return [root] + nodes(ofPage: root).flatMap { branches(from: child($0)) }
    }

    func child(_ node: Int) -> Int {
      Int(number(node, as: UInt32.self)) | Int(number(node + 4, as: UInt16.self)) << 32
    }

    mutating func lead(_ node: Int, to page: Int) {
      set(node, UInt32(truncatingIfNeeded: page))
      set(node + 4, UInt16(truncatingIfNeeded: page >> 32))
    }
  }

  @Test("pages that lead to the same pages again and again end a scan as corrupted, forward and backward")
  func cycles() throws {
    try withTemporaryDirectory { path in
      do {
        let environment = try Environment.open(path: path, options: .fast)
        let database = try environment.database("d")
        try environment.write { t in
          for n in 0..<2000 {
            let key = withUnsafeBytes(of: UInt64(n).bigEndian) { Array($0) } + Array(repeating: 7, count: 490)
            try t.put(key, [1], in: database)
          }
        }
        try environment.close()
      }
      var pages = try Pages(path)
      // The main database has one entry, whose value is the record of the other: its root is the last word.
      let main = Int(pages.number(pages.meta + 128, as: UInt64.self))
      let record = pages.nodes(ofPage: main)[0] + 8 + 1
      let branches = pages.branches(from: Int(pages.number(record + 40, as: UInt64.self)))
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

  @Test("a cursor may go back and forth for longer than there are entries, and be placed anew")
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
      var pages = try Pages(path)
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
      var pages = try Pages(path)
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

  @Test("a number of the last commit that no store reaches is refused when the store is opened", arguments: [62, 63])
  func transactionNumber(bit: UInt64) throws {
    try withTemporaryDirectory { path in
      do {
        let environment = try Environment.open(path: path, options: .fast)
        _ = try environment.database("d")
        try environment.close()
      }
      var pages = try Pages(path)
      pages.set(pages.meta + 144, UInt64(1) << bit + 1)
      try pages.write()
      let error = #expect(throws: LMDBError.self) { try Environment.open(path: path, options: .fast) }
      #expect(error?.code == .corrupted && error?.description.contains("last commit") == true)
    }
  }

  @Test("a sync that fails is no unknown outcome: the commit is not there, and never will be")
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

  @Test("a full disk says that reading still works where it does, and not where opening failed")
  func diskFullText() {
    #expect(LMDBError(code: ENOSPC, "mdb_put", path: "/l").description.contains("reading still works"))
    for operation in ["mkdir", "fsync", "mdb_env_open", "open"] {
      let text = LMDBError(code: ENOSPC, operation, path: "/l").description
      #expect(text.contains("free some space and try again") && !text.contains("still works"), "\(text)")
    }
  }

  @Test("a store on a file system that is mounted read-only is read without a lock file, and not written")
  func readOnlyMount() throws {
    try withTemporaryDirectory { path in
      guard mount("tmpfs", path, "tmpfs", 0, "size=4m") == 0 else {
        print("SKIPPED: a read-only mount needs the right to mount a tmpfs (\(String(cString: strerror(errno))))")
        return
      }
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
