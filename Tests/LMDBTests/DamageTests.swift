import Foundation
import LMDB
import StoreTestSupport
import Testing

@Suite("Damage and failing disks")
struct DamageTests {
  @Test("a file that is not a store is rejected by name", arguments: [1, 100, 4096, 100_000])
  func foreignFile(size: Int) throws {
    try withTemporaryDirectory { path in
      let foreign = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) })
      try foreign.write(to: URL(fileURLWithPath: path + "/data.mdb"))
      let error = #expect(throws: LMDBError.self) { try Environment.open(path: path) }
      #expect(error?.code == .invalidFile && error?.advice == .stop)
      #expect(error?.description == "open failed in \(path): the file is not an LMDB file.")
      #expect(try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb")) == foreign)
    }
  }

  @Test("an empty data file is a new store")
  func emptyFile() throws {
    try withTemporaryDirectory { path in
      #expect(FileManager.default.createFile(atPath: path + "/data.mdb", contents: nil))
      _ = try Environment.open(path: path).database("d")
    }
  }

  @Test("a store whose head pages are damaged, or that was truncated, is rejected")
  func damagedHead() throws {
    try withTemporaryDirectory { path in
      let file = URL(fileURLWithPath: path + "/data.mdb")
      do {
        let environment = try Environment.open(path: path)
        let database = try environment.database("d")
        for n in 0..<300 { try environment.write { t in try t.put(bigRow(n).key, bigRow(n).value, in: database) } }
      }
      let sound = try Data(contentsOf: file)
      func refusal(_ change: (inout Data) -> Void) throws -> LMDBError.Code? {
        var data = sound
        change(&data)
        try data.write(to: file)
        return try code { _ = try Environment.open(path: path) }
      }
      #expect(try refusal { $0[16] ^= 1 } == .invalidFile)
      #expect(try refusal { $0[4096 + 17] ^= 1 } == .invalidFile)
      #expect(try refusal { $0[20] = 2 } == .versionMismatch)
      #expect(try refusal { $0[40] = 3 } == .corrupted)
      #expect(try refusal { $0.removeSubrange(20_000...) } == .corrupted)
      #expect(try refusal { $0.removeSubrange(5000...) } == .corrupted)
      #expect(try refusal { $0.removeSubrange(4200...) } == .invalidFile)
      #expect(try refusal { _ in } == nil)
    }
  }

  @Test("a full disk is a typed error; reading and deleting still work, and writing once there is room", .mountsMemory)
  func diskFull() throws {
    try withTemporaryDirectory { path in
      try #require(mount("tmpfs", path, "tmpfs", 0, "size=4m") == 0)
      defer { umount2(path, Int32(MNT_DETACH)) }
      let environment = try Environment.open(path: path + "/s")
      let database = try environment.database("d")
      var rows = 0
      let error = #expect(throws: LMDBError.self) {
        while rows < 10_000 {
          try environment.write { t in
            for n in rows..<rows + 50 { try t.put(bigRow(n).key, bigRow(n).value, in: database) }
          }
          rows += 50
        }
      }
      #expect(error?.code == .diskFull && error?.advice == .retry && error?.outcomeUnknown == false)
      #expect(rows > 100)
      #expect(!environment.isPanicked)
      #expect(try code { try environment.copy(to: path + "/copy") } == .diskFull)
      #expect(!FileManager.default.fileExists(atPath: path + "/copy"))
      let stored = try environment.read { t in try t.dump(database) }
      #expect(stored == Dictionary(uniqueKeysWithValues: (0..<rows).map { bigRow($0) }.map { ($0.key, $0.value) }))
      for n in 0..<rows / 2 { try environment.write { t in _ = try t.delete(bigRow(n).key, in: database) } }
      try environment.write { t in for n in 0..<50 { try t.put(bigRow(n).key, bigRow(n).value, in: database) } }
      #expect(try environment.read { t in try t.count(of: database) } == rows - rows / 2 + 50)
    }
  }

  @Test("a meta page that cannot be written: outcome unknown, then panic, then reopen finds the truth")
  func panic() async throws {
    try await withTemporaryDirectory { path in
      await #expect(processExitsWith: .success) { [path = path as String] in
        crowdDescriptors()
        let environment = try Environment.open(path: path)
        let database = try environment.database("d")
        try environment.write { t in try t.put([1], [1], in: database) }
        // LMDB writes meta pages through a descriptor of its own, opened O_DSYNC: aim that one at a full device.
        let full = open("/dev/full", O_WRONLY)
        let targets = dataDescriptors(of: path).filter { fcntl($0, F_GETFL) & O_DSYNC != 0 }
        guard targets.count == 1 else { exit(2) }
        dup2(full, targets[0])
        do {
          try environment.write { t in try t.put([1], [2], in: database) }
          exit(3)
        } catch let error as LMDBError {
          guard error.outcomeUnknown, error.advice == .stop else { exit(4) }
        }
        guard environment.isPanicked else { exit(5) }
        guard try code({ _ = try environment.beginRead() }) == .panic else { exit(6) }
        guard try code({ try environment.write { _ in } }) == .panic else { exit(7) }
        try environment.reopen()
        guard try environment.read({ t in try t.bytes(for: [1], in: database) }) == [1] else { exit(8) }
        try environment.write { t in try t.put([1], [3], in: database) }
        guard try environment.read({ t in try t.bytes(for: [1], in: database) }) == [3] else { exit(9) }
      }
    }
  }

  @Test("a meta page that cannot be written is an unknown outcome and a panic also where no reader slot is free")
  func panicWithoutSlots() async throws {
    try await withTemporaryDirectory { path in
      await #expect(processExitsWith: .success) { [path = path as String] in
        crowdDescriptors()
        let environment = try Environment.open(path: path, options: .with { $0.maxReaders = 2 })
        let database = try environment.database("d")
        try environment.write { t in try t.put([1], [1], in: database) }
        do {
          let first = try environment.beginRead()
          let second = try environment.beginRead()
          guard try code({ _ = try environment.beginRead() }) == .readersFull else { exit(2) }
          let full = open("/dev/full", O_WRONLY)
          let targets = dataDescriptors(of: path).filter { fcntl($0, F_GETFL) & O_DSYNC != 0 }
          guard targets.count == 1 else { exit(3) }
          dup2(full, targets[0])
          do {
            try environment.write { t in try t.put([1], [2], in: database) }
            exit(4)
          } catch let error as LMDBError {
            guard error.outcomeUnknown else { exit(5) }
          }
          guard environment.isPanicked else { exit(6) }
          _ = (first.transactionID, second.transactionID)
        }
        // The ended readers keep their slots.
        guard environment.isPanicked else { exit(7) }
        try environment.reopen()
        guard !environment.isPanicked else { exit(8) }
        try environment.write { t in try t.put([1], [3], in: database) }
        guard try environment.read({ t in try t.bytes(for: [1], in: database) }) == [3] else { exit(9) }
      }
    }
  }
}
