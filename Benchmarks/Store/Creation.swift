import BenchmarkSupport
import EventLog
import Foundation
import LMDB
import LibraryMaintenance
import PhotoLedger

/// S10, S11: making a library, making its projections again, and proving its log.
enum Creation {
  static let names = [
    "S10 creation, SQLite, an asset", "S10 creation, 1000 a durable commit, an asset",
    "S10 bytes on disk, SQLite, log included", "S10 bytes on disk", "S11 rebuild of all projections, an event",
    "S11 floor: the same hashes alone, an event", "S11 verification of the chain on one core, an event",
    "S11 verification of the chain, an event", "S11 floor: LMDB, the rows of all projections twice, an event",
    "S10 creation, SQLite tuned, an asset", "S10 creation, 1000 a durable commit, an asset, to SQLite tuned",
  ]

  /// Makes the library that the store's rows are measured in, and measures that if it is wanted.
  static func stage(_ size: Int, into report: inout Report) throws -> Stage {
    let isWanted = report.wantsAny(of: Array(names[..<4]) + names[9...])
    let stopwatch = Stopwatch()
    var (own, blocks) = (0.0, [Double]())
    #if PeerBenchmarks
      let folder = FileManager.default.temporaryDirectory
      let file = folder.appending(path: "photoledger-peer-\(ProcessInfo.processInfo.processIdentifier)-\(size).sqlite")
      let peer = report.leavesPeersOut ? nil : try SQLiteLibrary(at: file)
      // Only for its creation: what follows reads, from a mapped file.
      let isTunedWanted = isWanted && !report.leavesPeersOut
      var tuned = try isTunedWanted ? SQLiteLibrary(at: URL(filePath: file.path + "-tuned"), .tuned) : nil
      var (others, tunedOnes, next) = (0.0, 0.0, UInt64(2))
    #endif
    let stage = try Stage(size: size) { library, chunk in
      var made: [LocalIdentifier] = []
      let time = try stopwatch.time { made = try Stage.make(library, chunk) }
      own += time
      blocks.append(time)
      #if PeerBenchmarks
        guard let peer else { return made }
        let reader = try StoreReader(library)
        let entries = try zip(chunk, made).enumerated().map { offset, pair in
          let number = next + UInt64(offset)
          return SQLiteLibrary.Entry(
            asset: pair.0, number: number, identifier: pair.1,
            record: try reader.bytes(number, in: reader.events), details: try reader.bytes(number, in: reader.details))
        }
        next += UInt64(chunk.count)
        let commit = UInt64(blocks.count + 1)
        let row = try reader.bytes(commit, in: reader.commits)
        guard entries.allSatisfy({ !$0.record.isEmpty && !$0.details.isEmpty }), !row.isEmpty else {
          throw WrongAnswer(description: "The store does not hold what was just created.")
        }
        others += try stopwatch.time { try peer.insert(entries, commit: commit, row: row) }
        if let tuned { tunedOnes += try stopwatch.time { try tuned.insert(entries, commit: commit, row: row) } }
      #endif
      return made
    }
    var base: (time: Double, bytes: Int)?
    #if PeerBenchmarks
      // What still stands in the logs belongs to the creation; the tuned one has more of it.
      others += try stopwatch.time { try peer?.finish() }
      tunedOnes += try stopwatch.time { try tuned?.finish() }
      let tunedBase = tuned.map { _ in tunedOnes / Double(size) }
      tuned = nil
      base = try peer.map { (others / Double(size), try $0.byteCount()) }
      try peer?.dropOrders()
      if isWanted, let base {
        report.add(names[0], size: size, caches: nil, Sample([others]), operations: size)
        report.add(names[2], size: size, bytes: base.bytes)
      }
      if isWanted, let tunedBase {
        report.add(names[9], size: size, caches: nil, Sample([tunedOnes]), operations: size)
        report.add(
          names[10], size: size, caches: nil, Sample([own]), operations: size, comparedWith: tunedBase,
          goal: .atMost(1 / 1.5))
      }
      stage.peer = peer
    #endif
    let bytes = try stage.storeBytes()
    try stage.furnish()
    try check(stage)
    guard isWanted else { return stage }
    report.add(
      names[1], size: size, caches: nil, Sample([own]), operations: size, comparedWith: base?.time,
      goal: base.map { _ in .atMost(1 / 1.5) })
    report.add("S10 creation, one commit of 1000 assets", size: size, caches: nil, Sample(blocks))
    report.add(
      names[3], size: size, bytes: bytes, comparedWith: base?.bytes,
      goal: base.map { _ in .atMost(1.5) })
    return stage
  }

  private static func check(_ stage: Stage) throws {
    let count = try stage.library().fetchAssets().count
    guard count == stage.shown.count else {
      throw WrongAnswer(description: "A library that should show \(stage.shown.count) assets shows \(count).")
    }
  }

  /// Rebuilds and verifies.
  static func measure(_ stage: Stage, into report: inout Report) throws {
    let repetitions = stage.size >= Goal.leastSize ? 1 : min(3, report.repetitions)
    if report.wantsAny(of: Array(names[5...7])) { try verify(stage, max(3, repetitions), into: &report) }
    guard report.wantsAny(names[4], names[8]) else { return }
    try stage.withCopiedFiles(onDisk: true) { folder in
      let library = try PhotoLibrary(at: folder, environment: .seeded(Stage.seed &+ 4))
      defer { library.close() }
      let before = try library.fetchAssets(try .newestFirst()).numbers
      let events = Int(try StoreReader(library).head().sequence)
      let stopwatch = Stopwatch()
      let rows = try SameRows(of: library.url.appending(path: "store"), in: stage.path("rows"))
      let floor = try (0..<repetitions).map { _ in try rows.putTwice(stopwatch) }
      report.add(names[8], size: stage.size, caches: nil, Sample(floor), operations: events)
      let times = try (0..<repetitions).map { _ in try stopwatch.time { try library.rebuild() } }
      guard try library.fetchAssets(try .newestFirst()).numbers == before else {
        throw WrongAnswer(description: "A rebuilt library shows another list.")
      }
      report.add(names[4], size: stage.size, caches: nil, Sample(times), operations: events, goal: .microseconds(4))
    }
  }

  private static func verify(_ stage: Stage, _ repetitions: Int, into report: inout Report) throws {
    let reader = try StoreReader(try stage.library())
    let log = try EventLog(in: reader.environment)
    let hashes = try reader.environment.read { t in try SameHashes(of: log, after: 0, t) }
    func check(_ found: LogVerification) throws {
      guard found.defect == nil, found.eventCount == UInt64(hashes.eventCount) else {
        throw WrongAnswer(description: "The log of a new library has a defect.")
      }
    }
    let samples = try Turns.measure(
      repetitions,
      { hashes.make() },
      { try check(try reader.environment.read { t in try log.verify(in: t) }) },
      { try check(try reader.environment.read { t in try log.verifyOnSeveralCores(in: t) }) })
    report.add(names[5], size: stage.size, caches: .warm, samples[0], operations: hashes.eventCount)
    // Events a second become microseconds an event: 800,000 a second are 1.25.
    for (name, sample) in zip(names[6...7], samples[1...2]) {
      report.add(
        name, size: stage.size, caches: .warm, sample, operations: hashes.eventCount, goal: .microseconds(1.25))
    }
  }
}
