import Foundation
import Glibc
import Testing

@testable import LMDB

@Suite("Environment")
struct EnvironmentTests {
  @Test("a second open of the same files gives the same environment, however the path is spelled")
  func secondOpen() throws {
    try withTemporaryDirectory { path in
      let store = path + "/store"
      let first = try Environment.open(path: store)
      try FileManager.default.createSymbolicLink(atPath: path + "/link", withDestinationPath: store)
      for other in [store, path + "/./store", path + "/link", store + "/../store"] {
        #expect(try Environment.open(path: other) === first)
      }
    }
  }

  @Test("the lock file has room for every reader, so that a full file system cannot end the process")
  func reserved() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path)
      var status = stat()
      #expect(stat(path + "/lock.mdb", &status) == 0)
      #expect(try environment.statistics().maxReaders == Environment.Options().maxReaders)
      #expect(Int(status.st_size) > Environment.Options().maxReaders * 64)
      #expect(Int(status.st_blocks) * 512 >= Int(status.st_size))
      try environment.close()
    }
  }

  @Test("two threads that open at the same time get one environment")
  func concurrentOpen() async throws {
    try await withTemporaryDirectory { path in
      for round in 0..<20 {
        let identities = try await withThrowingTaskGroup(of: Environment.self) { group in
          for _ in 0..<8 { group.addTask { try Environment.open(path: "\(path)/\(round)") } }
          return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(identities.map(ObjectIdentifier.init)).count == 1)
      }
    }
  }

  @Test("the store is closed with its last reference, and can be opened again with other options")
  func lastReference() throws {
    try withTemporaryDirectory { path in
      do {
        let environment = try Environment.open(path: path)
        let database = try environment.database("d")
        try environment.write { t in try t.put([1], [2], in: database) }
      }
      let again = try Environment.open(path: path, options: .with { $0.isReadOnly = true })
      let database = try again.database("d")
      #expect(try again.read { t in try t.bytes(for: [1], in: database) } == [2])
      #expect(try code { try again.write { _ in } } == .permission)
    }
  }

  @Test("closing and opening in many threads never overlaps two environments")
  func openAndClose() async throws {
    try await withTemporaryDirectory { path in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for worker in 0..<4 {
          group.addTask {
            for round in 0..<100 {
              let environment = try Environment.open(path: path, options: .fast)
              let database = try environment.database("d")
              try environment.write { t in try t.put([UInt8(worker)], [UInt8(round)], in: database) }
            }
          }
        }
        try await group.waitForAll()
      }
      let environment = try Environment.open(path: path, options: .fast)
      let database = try environment.database("d")
      #expect(try environment.read { t in try t.dump(database) } == [[0]: [99], [1]: [99], [2]: [99], [3]: [99]])
    }
  }

  @Test("other options on an open store are rejected")
  func optionsDiffer() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path)
      #expect(try code { _ = try Environment.open(path: path, options: .fast) } == .optionsDiffer)
      #expect(try Environment.open(path: path, options: .with { $0.mapSize = 1 << 20 }) === environment)
    }
  }

  @Test("a path without a store is named in the error", arguments: [true, false])
  func noStore(isReadOnly: Bool) throws {
    try withTemporaryDirectory { path in
      let options = Environment.Options.with {
        $0.isReadOnly = isReadOnly
        $0.createsStore = false
      }
      for missing in [path, path + "/nowhere"] {
        let error = #expect(throws: LMDBError.self) { try Environment.open(path: missing, options: options) }
        #expect(error?.code == .noStore)
        #expect(error?.description == "open failed in \(missing): there is no store.")
      }
      #expect(!FileManager.default.fileExists(atPath: path + "/nowhere"))
      #expect(!FileManager.default.fileExists(atPath: path + "/data.mdb"))
    }
  }

  @Test("a store inside of an open directory is named by that directory's path")
  func storeInOpenDirectory() throws {
    try withTemporaryDirectory { path in
      try FileManager.default.createDirectory(atPath: path + "/inner/data.mdb", withIntermediateDirectories: true)
      let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      defer { Glibc.close(directory) }
      let error = #expect(throws: LMDBError.self) { try Environment.open(path: "/proc/self/fd/\(directory)/inner") }
      let text = error?.description ?? ""
      #expect(text.contains("\(path)/inner") && !text.contains("/proc/"), "\(text)")
    }
  }

  @Test("a data file replaced under an open store is rejected until the store is closed")
  func replacedFile() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path + "/a")
      try environment.copy(to: path + "/b")
      try FileManager.default.removeItem(atPath: path + "/a/data.mdb")
      try FileManager.default.moveItem(atPath: path + "/b/data.mdb", toPath: path + "/a/data.mdb")
      #expect(try code { _ = try Environment.open(path: path + "/a") } == .fileReplaced)
      try environment.close()
      #expect(try Environment.open(path: path + "/a") !== environment)
    }
  }

  @Test("of several stores that are open each is found by its own files, while others close and open again")
  func severalStores() throws {
    try withTemporaryDirectory { path in
      let paths = (0..<5).map { "\(path)/\($0)" }
      var open = try paths.map { try Environment.open(path: $0) }
      for round in 0..<10 {
        let turn = round * 3 % paths.count
        try open[turn].close()
        let opened = try Environment.open(path: paths[turn])
        #expect(opened !== open[turn])
        open[turn] = opened
        for (index, path) in paths.enumerated() { #expect(try Environment.open(path: path) === open[index]) }
      }
    }
  }

  @Test("after close every use throws an error that says so, and close waits for readers of other threads")
  func close() async throws {
    try await withTemporaryDirectory { path in
      let environment = try Environment.open(path: path)
      let database = try environment.database("d")
      try environment.write { t in try t.put([1], [2], in: database) }
      let (started, start) = AsyncStream.makeStream(of: Void.self)
      let (released, release) = AsyncStream.makeStream(of: Void.self)
      let reader = Task.detached {
        let read = try environment.beginRead()
        start.finish()
        for await _ in released {}
        return try read.bytes(for: [1], in: database)
      }
      for await _ in started {}
      let closer = Thread { try? environment.close() }
      closer.start()
      #expect(try await eventually { closer.isFinished || environment.gate.monitor.withLock { $0.isDraining } })
      #expect(!closer.isFinished)
      release.finish()
      #expect(try await reader.value == [2])
      #expect(try await eventually { closer.isFinished })
      #expect(try code { _ = try environment.beginRead() } == .closed)
      #expect(try code { try environment.write { _ in } } == .closed)
      #expect(try code { _ = try environment.statistics() } == .closed)
      #expect(try code { _ = try environment.lastTransactionID() } == .closed)
    }
  }

  @Test("a thread that holds a transaction gets an error when it closes")
  func closeInsideRead() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path)
      let result = try environment.read { _ in try code { try environment.close() } }
      #expect(result == .busy)
    }
  }

  @Test("databases: kinds must agree, missing ones are named, too many are rejected")
  func databases() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: .with { $0.maxDatabases = 3 })
      let a = try environment.database("a")
      #expect(try environment.database("a") == a)
      #expect(try code { _ = try environment.database("a", integerKeys: true) } == .incompatibleDatabase)
      #expect(try code { _ = try environment.database("b", create: false) } == .notFound)
      _ = try environment.database("b", integerKeys: true)
      _ = try environment.database("c")
      #expect(try code { _ = try environment.database("d") } == .databasesFull)
      #expect(try environment.databaseNames() == ["a", "b", "c"])
      try environment.close()
      let again = try Environment.open(path: path)
      #expect(try code { _ = try again.database("b") } == .incompatibleDatabase)
      #expect(try again.database("b", integerKeys: true, create: false).hasIntegerKeys)
    }
  }

  @Test("remote file systems are recognised by their magic number, local ones are accepted")
  func remoteFileSystems() throws {
    #expect(remoteFileSystemName(magic: 0x6969) == "NFS")
    #expect(remoteFileSystemName(magic: 0xFF53_4D42) == "CIFS")
    #expect(remoteFileSystemName(magic: 0x6573_5546) == "FUSE")
    #expect(remoteFileSystemName(magic: 0x0102_1997) == "9P")
    for local: UInt32 in [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630] {
      #expect(remoteFileSystemName(magic: local) == nil)
    }
  }

  @Test("a copy is a complete store, durable under its name, and a failed one leaves nothing")
  func copy() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path + "/a", options: .fast)
      let database = try environment.database("d")
      try environment.write { t in
        for n in 0..<1000 { try t.put(n.bigEndianBytes, Array(repeating: 7, count: 100), in: database) }
      }
      try environment.write { t in for n in 0..<500 { try t.delete(n.bigEndianBytes, in: database) } }
      let expected = try environment.read { t in try t.dump(database) }
      for compacting in [false, true] {
        let copy = "\(path)/copy-\(compacting)"
        try environment.copy(to: copy, compacting: compacting)
        let opened = try Environment.open(path: copy)
        let same = try opened.database("d")
        #expect(try opened.read { t in try t.dump(same) } == expected)
      }
      #expect(try code { try environment.copy(to: path + "/copy-true") } == .io)
      #expect(try code { try environment.copy(to: path + "/no/where") } == .io)
      #expect(!FileManager.default.fileExists(atPath: path + "/no"))
    }
  }

  @Test("statistics: readers, lag of the oldest reader, free pages, last commit")
  func statistics() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: .fast)
      let database = try environment.database("d")
      for n in 0..<50 { try environment.write { t in try t.put([UInt8(n)], [], in: database) } }
      let before = try environment.statistics()
      #expect(before.runningReaders == 0 && before.oldestReaderLag == 0)
      #expect(try before.lastTransactionID == environment.lastTransactionID())
      let read = try environment.beginRead()
      for n in 0..<20 { try environment.write { t in try t.put([UInt8(n)], [1], in: database) } }
      let during = try environment.statistics()
      #expect(during.runningReaders == 1)
      #expect(during.oldestReaderLag == 20)
      #expect(during.readers.contains { $0.process == getpid() && $0.transactionID == read.transactionID })
      #expect(during.freePages > 0 && during.freePages < during.usedPages)
      #expect(during.lastTransactionID == before.lastTransactionID + 20)
      #expect(during.mapSize == 64 << 30 && during.maxReaders == 510)
      #expect(try read.bytes(for: [0], in: database) == [])
    }
  }

  @Test("errors are full sentences that name path, key and number, and say what to do")
  func errorText() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path)
      let database = try environment.database("d")
      let error = #expect(throws: LMDBError.self) {
        try environment.write { t in
          try t.put([0xAB, 1], [2], in: database)
          try t.put([0xAB, 1], [2], in: database, mode: .insert)
        }
      }
      let text = try #require(error?.description)
      #expect(text.hasPrefix("mdb_put failed in \(path) for key ab01: the key already exists (MDB_KEYEXIST"))
      #expect(error?.advice == .correct)
      #expect(error?.outcomeUnknown == false)
    }
  }
}
