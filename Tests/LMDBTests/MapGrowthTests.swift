import Foundation
import Synchronization
import Testing

@testable import LMDB

@Suite("Map growth")
struct MapGrowthTests {
  struct Wrapped: Error { var underlying: any Error }

  private static let small = Environment.Options.with {
    $0.durability = .unsafeNoSync
    $0.mapSize = 64 << 10
    $0.drainSeconds = 5
  }

  private static func opened(_ path: String, drainSeconds: Double) throws -> (Environment, Database) {
    var options = small
    options.drainSeconds = drainSeconds
    let environment = try Environment.open(path: path, options: options)
    return (environment, try environment.database("d"))
  }

  /// What a body does with the error that says the map is full.
  enum Handling: CaseIterable { case passOn, wrap, swallow }

  @Test("a full map is grown and the body runs again from the beginning, exactly", arguments: Handling.allCases)
  func rerun(handling: Handling) throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: Self.small)
      let database = try environment.database("d")
      try environment.write { t in try t.put([0], [0], in: database) }
      var runs = 0
      let result = try environment.write { t in
        runs += 1
        #expect(try t.dump(database) == [[0]: [0]], "each run begins with what was committed")
        do {
          for n in 0..<200 { try t.put(bigRow(n).key, bigRow(n).value, in: database) }
        } catch {
          switch handling {
          case .passOn: throw error
          case .wrap: throw Wrapped(underlying: Wrapped(underlying: error))
          case .swallow: break
          }
        }
        return runs
      }
      #expect(runs > 1 && result == runs)
      let stored = try environment.read { t in try t.dump(database) }
      #expect(stored.count == 201)
      #expect(try environment.statistics().mapSize >= 200 * 4096)
    }
  }

  @Test("readers of other threads finish first, and never lose the map")
  func readersFinish() async throws {
    try await withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: Self.small)
      let database = try environment.database("d")
      try environment.write { t in try t.put(bigRow(0).key, bigRow(0).value, in: database) }
      let isDone = Atomic(false)
      let reads = Atomic(0)
      let damaged = Atomic(0)
      do {
        let threads = (0..<3).map { _ in
          Thread {
            while !isDone.load(ordering: .relaxed) {
              let isSound = try? environment.read { t in
                var isSound = true
                try t.forEach(in: database) { key, value in
                  isSound = isSound && value.array == bigRow(Int(key.array[6]) << 8 | Int(key.array[7])).value
                  return .proceed
                }
                return isSound
              }
              if isSound != true { damaged.add(1, ordering: .relaxed) }
              reads.add(1, ordering: .relaxed)
            }
          }
        }
        threads.forEach { $0.start() }
        for n in 1..<600 {
          try environment.write { t in try t.put(bigRow(n).key, bigRow(n).value, in: database) }
          let target = reads.load(ordering: .relaxed) + 1
          if n % 50 == 0 { #expect(try await eventually { reads.load(ordering: .relaxed) >= target }) }
        }
        isDone.store(true, ordering: .relaxed)
        #expect(try await eventually { threads.allSatisfy(\.isFinished) })
      }
      #expect(damaged.load(ordering: .relaxed) == 0)
      #expect(try environment.statistics().mapSize >= 600 * 4096)
      #expect(try environment.read { t in try t.count(of: database) } == 600)
    }
  }

  @Test("a reader that does not end makes growing fail in time, and everything works again once it has ended")
  func stubbornReader() async throws {
    try await withTemporaryDirectory { path in
      let (environment, database) = try Self.opened(path, drainSeconds: 0.1)
      let (started, start) = AsyncStream.makeStream(of: Void.self)
      let (released, release) = AsyncStream.makeStream(of: Void.self)
      let reader = Task.detached {
        let read = try environment.beginRead()
        start.finish()
        for await _ in released {}
        return read.transactionID
      }
      for await _ in started {}
      let fill = {
        try environment.write { t in for n in 0..<100 { try t.put(bigRow(n).key, bigRow(n).value, in: database) } }
      }
      let error = #expect(throws: LMDBError.self) { try fill() }
      #expect(error?.code == .mapFull && error?.advice == .retry)
      #expect(error?.description.contains("1 read transactions of this process did not end in time") == true)
      #expect(try environment.read { t in try t.count(of: database) } == 0)
      release.finish()
      _ = try await reader.value
      try fill()
      #expect(try environment.read { t in try t.count(of: database) } == 100)
    }
  }

  @Test("a thread that reads while it writes gets an error: it would wait for itself")
  func readAroundWrite() throws {
    try withTemporaryDirectory { path in
      let (environment, database) = try Self.opened(path, drainSeconds: 0.1)
      try environment.read { _ in
        let error = #expect(throws: LMDBError.self) {
          try environment.write { t in for n in 0..<100 { try t.put(bigRow(n).key, bigRow(n).value, in: database) } }
        }
        #expect(error?.code == .mapFull)
        #expect(error?.description.contains("1 of them started by the waiting thread") == true)
      }
    }
  }

  @Test("threads that a reader waits for read its snapshot also while a growth waits for the reader")
  func helpersOfReader() async throws {
    try await withTemporaryDirectory { path in
      let (environment, database) = try Self.opened(path, drainSeconds: 60)
      try environment.write { t in try t.put([0], [0], in: database) }
      let wasGrown = Atomic(false)
      let readCount = Atomic(0)
      do {
        let writer = Thread {
          let grown: Void? = try? environment.write { t in
            for n in 0..<200 { try t.put(bigRow(n).key, bigRow(n).value, in: database) }
          }
          wasGrown.store(grown != nil, ordering: .relaxed)
        }
        let transaction = try environment.beginRead()
        let held = transaction.held
        writer.start()
        #expect(try await eventually { environment.gate.monitor.withLock { $0.isDraining } })
        let helper = Thread {
          for _ in 0..<20 {
            let count = try? held.read { t in try t.count(of: database) }
            if count == 1 { readCount.add(1, ordering: .relaxed) }
          }
        }
        helper.start()
        #expect(try await eventually { helper.isFinished })
        #expect(environment.gate.monitor.withLock { $0.isDraining }, "The growth still waits for the reader.")
        #expect(try transaction.count(of: database) == 1)
        _ = consume transaction
        #expect(try await eventually { writer.isFinished })
      }
      let (isLarger, count) = (wasGrown.load(ordering: .relaxed), readCount.load(ordering: .relaxed))
      #expect(isLarger, "the growth waited in vain for a reader who waited for a helper")
      #expect(count == 20)
    }
  }

  @Test("a held snapshot is shared by others until the next commit, and nothing newer is returned in its place")
  func heldSnapshotAges() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: Self.small)
      let database = try environment.database("d")
      try environment.write { t in try t.put([0], [0], in: database) }
      let transaction = try environment.beginRead()
      let held = transaction.held
      #expect(try held.read { t in try t.count(of: database) } == 1)
      let writer = Thread { try? environment.write { t in try t.put([1], [1], in: database) } }
      writer.start()
      while !writer.isFinished { sched_yield() }
      #expect(try held.read { t in try t.count(of: database) } == nil)
      #expect(try transaction.count(of: database) == 1)
    }
  }

  @Test("a read inside a write that others wait for does not wait for itself")
  func readInsideWrite() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment.open(path: path, options: Self.small)
      let database = try environment.database("d")
      try environment.write { t in
        for n in 0..<100 { try t.put(bigRow(n).key, bigRow(n).value, in: database) }
        #expect(try environment.read { r in try r.count(of: database) } == 0)
      }
      #expect(try environment.read { t in try t.count(of: database) } == 100)
    }
  }

  @Test("growing ends at mapSizeMax, and smaller transactions still fit")
  func limit() throws {
    try withTemporaryDirectory { path in
      var options = Self.small
      options.mapSizeMax = 256 << 10
      let environment = try Environment.open(path: path, options: options)
      let database = try environment.database("d")
      let error = #expect(throws: LMDBError.self) {
        try environment.write { t in for n in 0..<100 { try t.put(bigRow(n).key, bigRow(n).value, in: database) } }
      }
      #expect(error?.code == .mapFull)
      #expect(error?.description.contains("mapSizeMax, 262144 bytes") == true)
      try environment.write { t in for n in 0..<20 { try t.put(bigRow(n).key, bigRow(n).value, in: database) } }
      #expect(try environment.read { t in try t.count(of: database) } == 20)
    }
  }

  @Test("a grown store opens with its grown size, whatever the options say")
  func persists() throws {
    try withTemporaryDirectory { path in
      do {
        let environment = try Environment.open(path: path, options: Self.small)
        let database = try environment.database("d")
        try environment.write { t in for n in 0..<200 { try t.put(bigRow(n).key, bigRow(n).value, in: database) } }
      }
      let environment = try Environment.open(path: path, options: Self.small)
      #expect(try environment.statistics().mapSize >= 200 * 4096)
    }
  }

  /// How many bytes of addresses this process has (VmSize).
  private static func addressSpace() throws -> UInt64 {
    let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")[0]
    return (UInt64(pages) ?? 0) * UInt64(sysconf(Int32(_SC_PAGESIZE)))
  }

  private static func limitAddressSpace(to bytes: UInt64) {
    var limit = rlimit()
    precondition(getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
    limit.rlim_cur = min(rlim_t(bytes), limit.rlim_max)
    precondition(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
  }

  @Test("a growth without free addresses in the process changes nothing, and succeeds once there are some")
  func noAddresses() async throws {
    try await withTemporaryDirectory { path in
      await #expect(processExitsWith: .success) { [path = path as String] in
        let size = 192 << 20
        let environment = try Environment.open(
          path: path,
          options: .with {
            $0.durability = .unsafeNoSync
            $0.mapSize = size
          })
        let database = try environment.database("d")
        try environment.write { t in try t.put([1], [1], in: database) }
        Self.limitAddressSpace(to: try Self.addressSpace() + UInt64(size / 2))
        let error = #expect(throws: LMDBError.self) { try environment.grow(from: size) }
        #expect(error?.code == .mapFull && error?.advice == .retry)
        #expect(error?.description.contains("no room for a map of \(2 * size) bytes") == true)
        try environment.write { t in try t.put([2], [2], in: database) }
        #expect(try environment.read { t in try t.dump(database) } == [[1]: [1], [2]: [2]])
        #expect(try environment.statistics().mapSize == size)
        Self.limitAddressSpace(to: .max)
        try environment.grow(from: size)
        #expect(try environment.statistics().mapSize == 2 * size)
        #expect(try environment.read { t in try t.dump(database) } == [[1]: [1], [2]: [2]])
      }
    }
  }

  @Test("a store without free addresses for any map is closed, and opens again later")
  func noAddressesAtAll() async throws {
    try await withTemporaryDirectory { path in
      await #expect(processExitsWith: .success) { [path = path as String] in
        let size = 192 << 20
        let options = Environment.Options.with {
          $0.durability = .unsafeNoSync
          $0.mapSize = size
        }
        let environment = try Environment.open(path: path, options: options)
        let database = try environment.database("d")
        try environment.write { t in try t.put([1], [1], in: database) }
        Self.limitAddressSpace(to: try Self.addressSpace() - UInt64(size / 2))
        #expect(throws: LMDBError.self) { try environment.grow(from: size) }
        Self.limitAddressSpace(to: .max)
        let error = #expect(throws: LMDBError.self) { try environment.read { t in try t.count(of: database) } }
        #expect(error?.code == .closed)
        let again = try Environment.open(path: path, options: options)
        let same = try again.database("d")
        #expect(try again.read { t in try t.dump(same) } == [[1]: [1]])
      }
    }
  }
}
