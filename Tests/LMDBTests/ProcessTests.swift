import Foundation
import LMDB
import Testing

// Several processes on one store. Each child is this test program again, running one closure (an exit test).

@Suite("Several processes")
struct ProcessTests {
  @Test("the isolation experiment: a second open and close here does not cost a reader its snapshot")
  func isolation() async throws {
    try await withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: .fast)
      let database = try environment.database("d")
      let rows = 50
      try environment.write { t in for n in 0..<rows { try t.put(bigRow(n).key, bigRow(n).value, in: database) } }
      let snapshot = try environment.beginRead()
      let before = try snapshot.dump(database)
      do {
        // What broke 50 of 50 snapshots: the close drops the locks of the process, and the other process then takes
        // this one for dead, clears its reader slot and reuses the pages.
        let second = try Environment.open(path: path + "/.", options: .fast)
        let same = try second.database("d")
        #expect(try second.read { t in try t.count(of: same) } == rows)
      }
      await #expect(processExitsWith: .success) { [path = path as String] in
        let environment = try Environment.open(path: path, options: .fast)
        let database = try environment.database("d")
        guard try environment.readerCheck() == 0 else { exit(1) }
        for round in 1...40 {
          try environment.write { t in
            for n in 0..<50 { try t.put(bigRow(n).key, bigRow(n + round).value, in: database) }
          }
        }
      }
      #expect(try snapshot.dump(database) == before)
      #expect(try environment.read { t in try t.bytes(for: bigRow(0).key, in: database) } == bigRow(40).value)
    }
  }

  @Test("the child of a fork is rejected, and the parent does not notice")
  func fork() async throws {
    try await withTemporaryDirectory { path in
      await #expect(processExitsWith: .success) { [path = path as String] in
        typealias Fork = @convention(c) () -> pid_t
        guard let symbol = dlsym(nil, "fork") else { exit(2) }
        let fork = unsafeBitCast(symbol, to: Fork.self)  // hidden from Swift, and here on purpose
        let environment = try Environment.open(path: path, options: .fast)
        let database = try environment.database("d")
        let kept = try environment.beginRead()
        let child = fork()
        if child == 0 {
          let codes = try [
            code { _ = try environment.beginRead() }, code { try environment.write { _ in } },
            code { _ = try environment.lastTransactionID() },
            code { _ = try Environment.open(path: path, options: .fast) },
            code { try environment.close() }, code { try environment.reopen() },
          ]
          _exit(codes.allSatisfy { $0 == .openedInAnotherProcess } ? 42 : 1)
        }
        var status: Int32 = 0
        guard waitpid(child, &status, 0) == child, status == 42 << 8 else { exit(3) }
        try environment.write { t in try t.put([1], [2], in: database) }
        guard try kept.count(of: database) == 0, try environment.readerCheck() == 0 else { exit(4) }
      }
    }
  }

  @Test("a killed reader's slot is freed, and its pages with it")
  func deadReader() async throws {
    try await withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: .fast)
      let database = try environment.database("d")
      try environment.write { t in try t.put([1], [1], in: database) }
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        let read = try Environment.open(path: path, options: .fast).beginRead()
        kill(getpid(), SIGKILL)
        _ = read.transactionID
      }
      #expect(try environment.statistics().runningReaders == 1, "The dead reader still holds its slot.")
      for n in 0..<10 { try environment.write { t in try t.put([1], [UInt8(n)], in: database) } }
      // A write that comes a minute after the last check frees the slot by itself, on a busy machine already here.
      let lag = try environment.statistics().oldestReaderLag
      #expect(try environment.readerCheck() == (lag == 10 ? 1 : 0))
      #expect(try environment.statistics().oldestReaderLag == 0)
      #expect(try environment.readerCheck() == 0)
    }
  }

  @Test("a writer killed inside its transaction leaves the last commit and a free lock")
  func deadWriter() async throws {
    try await withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: .fast)
      let database = try environment.database("d")
      try environment.write { t in try t.put([1], [1], in: database) }
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        let environment = try Environment.open(path: path, options: .fast)
        let database = try environment.database("d")
        try environment.write { t in
          try t.put([1], [2], in: database)
          kill(getpid(), SIGKILL)
        }
      }
      #expect(try environment.read { t in try t.dump(database) } == [[1]: [1]])
      try environment.write { t in try t.put([2], [2], in: database) }
      #expect(try environment.read { t in try t.dump(database) } == [[1]: [1], [2]: [2]])
    }
  }

  @Test("a map that another process has grown is followed by readers, writers and copies")
  func resized() async throws {
    try await withTemporaryDirectory { path in
      let options = Environment.Options.with {
        $0.durability = .unsafeNoSync
        $0.mapSize = 64 << 10
      }
      let environment = try Environment.open(path: path + "/s", options: options)
      let database = try environment.database("d")
      for (round, use) in ["read", "write", "copy", "open"].enumerated() {
        let sizeBefore = try environment.statistics().mapSize
        await #expect(processExitsWith: .success) { [path = path as String, round = round as Int] in
          let environment = try Environment.open(
            path: path + "/s",
            options: .with {
              $0.durability = .unsafeNoSync; $0.mapSize = 64 << 10
            })
          let database = try environment.database("d")
          let rows = 100 << round
          try environment.write { t in
            for n in 0..<rows { try t.put(bigRow(n).key, bigRow(n).value, in: database) }
          }
        }
        switch use {
        case "read": #expect(try environment.read { t in try t.count(of: database) } == 100)
        case "write": #expect(try environment.write { t in try t.count(of: database) } == 200)
        case "copy": try environment.copy(to: path + "/copy")
        default: #expect(throws: Never.self) { try environment.database("new") }
        }
        #expect(try environment.statistics().mapSize > sizeBefore)
      }
      #expect(try environment.read { t in try t.count(of: database) } == 800)
    }
  }

  @Test("full reader slots are an error that names the remedy, and end with the reader")
  func readersFull() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: .with { $0.maxReaders = 2 })
      let first = try environment.beginRead()
      do {
        let second = try environment.beginRead()
        let error = #expect(throws: LMDBError.self) { try environment.read { _ in } }
        #expect(error?.code == .readersFull && error?.advice == .retry)
        _ = second.transactionID
      }
      try environment.read { _ in }
      _ = first.transactionID
    }
  }

  @Test("slots of dead processes are reclaimed when none is free")
  func readersFullOfDead() async throws {
    try await withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: .with { $0.maxReaders = 2 })
      let first = try environment.beginRead()
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        let read = try Environment.open(path: path, options: .with { $0.maxReaders = 2 }).beginRead()
        kill(getpid(), SIGKILL)
        _ = read.transactionID
      }
      try environment.read { _ in }
      _ = first.transactionID
    }
  }
}
