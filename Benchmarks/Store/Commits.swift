import EventLog
import Foundation
import LMDB
import LibraryMaintenance
import PhotoLedger

/// S1 … S4: what a commit costs over what LMDB and the disk cost anyhow.
enum Commits {
  private static let ways = [
    "S1 one event, log alone, no sync", "S2 one event with its projections, no sync", "S3 one event, durable",
    "S4 1000 events, durable",
  ]
  static let names = [
    "\(ways[0]), floor: LMDB", ways[0], "\(ways[1]), floor: LMDB, one key at random", ways[1],
    "\(ways[2]), floor: LMDB", "\(ways[2]), floor: fdatasync", "\(ways[2]), log alone",
    "\(ways[2]), log alone, to fdatasync", "\(ways[2]), with its projections", "\(ways[3]), floor: LMDB", ways[3],
    "\(ways[3]), floor: LMDB and the same hashes",
  ]
  /// What the tables need, however they are filled.
  static let samePuts = [
    "\(ways[1]), floor: LMDB, the same puts", "\(ways[1]), to the same puts",
    "\(ways[2]), with its projections, floor: LMDB, the same puts",
    "\(ways[2]), with its projections, to the same puts",
  ]

  static func measure(_ stage: Stage, into report: inout Report) throws {
    if report.wantsAny(names[0], names[1]) { try logAlone(stage, into: &report) }
    if report.wantsAny(of: Array(names[2...3] + samePuts[..<2])) { try withProjections(stage, into: &report) }
    guard report.wantsAny(of: Array(names[4...] + samePuts[2...])) else { return }
    try durable(stage, into: &report)
  }

  /// A log of its own, with nothing derived from it.
  private struct LoneLog {
    let environment: LMDB.Environment
    let log: EventLog
    let folder: URL
    var time: Int64 = 0
    private let events: Database

    init(_ folder: URL, _ durability: LMDB.Environment.Durability) throws {
      self.folder = folder
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      var options = LMDB.Environment.Options()
      options.durability = durability
      environment = try LMDB.Environment.open(path: folder.path, options: options)
      log = try EventLog(in: environment)
      events = try environment.database("events", integerKeys: true)
    }

    /// Commits so many events with payloads of a usual length: that of an edit of one asset.
    mutating func commit(_ count: Int) throws {
      time += 1
      let information = CommitInformation(time: time, client: "owner", cause: "", process: "benchmarks")
      try environment.write { t in
        var appender = try log.begin(information, in: &t)
        for number in 0..<count {
          let salt = Salt(UInt64(number), UInt64(bitPattern: time))
          try appender.append(type: "assets.edited", version: 1, payload: Self.payload, salt: salt, in: &t)
        }
        _ = try appender.finish(in: &t)
      }
    }

    private static let payload = [UInt8](repeating: 7, count: 64)

    /// The bytes of the last event's record, as the store holds it.
    func lastRecord() throws -> [UInt8] {
      try environment.read { t in try t.bytes(for: try log.head(t).sequence, in: events) ?? [] }
    }

    /// The hashes that the last so many events need.
    func lastHashes(_ count: UInt64) throws -> SameHashes {
      try environment.read { t in try SameHashes(of: log, after: try log.head(t).sequence - count, t) }
    }

    /// Proves what was written, and removes the files.
    func end() throws {
      let found = try environment.read { t in try log.verify(in: t) }
      guard found.defect == nil, found.commitCount == UInt64(time) else {
        throw WrongAnswer(description: "A log of \(time) commits verifies as \(found.commitCount), or not at all.")
      }
      try environment.close()
      try FileManager.default.removeItem(at: folder)
    }
  }

  private static func logAlone(_ stage: Stage, into report: inout Report) throws {
    var log = try LoneLog(try stage.memoryPath("log"), .unsafeNoSync)
    try log.commit(1)
    let record = try log.lastRecord()
    let floor = try RawLMDB(try stage.memoryPath("floor"), isDurable: false)
    // Both have some pages to copy.
    for _ in 0..<max(1, stage.size / 1000) {
      try log.commit(1000)
      try floor.append(1000, record)
    }
    let repetitions = report.repetitions * 30
    let samples = try Turns.measure(repetitions, { try floor.append(1, record) }, { try log.commit(1) })
    report.add(names[0], size: stage.size, caches: .warm, samples[0])
    report.add(
      names[1], size: stage.size, caches: .warm, samples[1], comparedWith: samples[0].quantile(0.5), goal: .atMost(3))
    try log.end()
  }

  private static func withProjections(_ stage: Stage, into report: inout Report) throws {
    guard Stage.memoryFileSystem != nil else { return }
    try stage.withCopy { library in
      let floor = try RawLMDB(try stage.memoryPath("floor"), isDurable: false)
      let value = [UInt8](repeating: 7, count: 144)
      for start in stride(from: 0, to: stage.size, by: 1000) { try floor.append(min(1000, stage.size - start), value) }
      var random = Seeded(12)
      var touch = Touch(stage.shown)
      let before = try StoreReader(library).head().commit
      let repetitions = report.repetitions * 30
      let folder = try stage.copyStore(onDisk: false)
      defer { stage.remove(folder) }
      let puts = try SamePuts(folder.appending(path: "store"), isDurable: false)
      var other = Seeded(13)
      let samples = try Turns.measure(
        repetitions,
        { try floor.put(UInt64.random(in: 1...UInt64(stage.size), using: &random), value) },
        { try library.commit(touch.inPlace()) },
        { try puts.commit([UInt64.random(in: 2...UInt64(stage.size), using: &other)]) })
      guard try StoreReader(library).head().commit == before + UInt64(repetitions) + 1 else {
        throw WrongAnswer(description: "The library lost a commit.")
      }
      report.add(names[2], size: stage.size, caches: .warm, samples[0])
      report.add(
        names[3], size: stage.size, caches: .warm, samples[1], comparedWith: samples[0].quantile(0.5),
        goal: .atMost(3))
      report.add(samePuts[0], size: stage.size, caches: .warm, samples[2])
      report.add(
        samePuts[1], size: stage.size, caches: .warm, samples[1], comparedWith: samples[2].quantile(0.5))
    }
  }

  private static func durable(_ stage: Stage, into report: inout Report) throws {
    try stage.withCopiedFiles(onDisk: true) { folder in
      let library = try PhotoLibrary(at: folder, environment: .seeded(Stage.seed &+ 6))
      defer { library.close() }
      var log = try LoneLog(stage.path("log"), .durable)
      try log.commit(1)
      let record = try log.lastRecord()
      let floor = try RawLMDB(stage.path("floor"), isDurable: true)
      let file = try RawFile(stage.path("file"))
      let copy = try stage.copyStore(onDisk: true)
      defer { stage.remove(copy) }
      let puts = try SamePuts(copy.appending(path: "store"), isDurable: true)
      var random = Seeded(13)
      var touch = Touch(stage.shown)
      let repetitions = report.repetitions * 3
      try log.commit(1000)
      let hashes = try log.lastHashes(1000)
      let samples = try Turns.measure(
        repetitions, { try floor.append(1, record) }, { try file.append(record) }, { try log.commit(1) },
        { try library.commit(touch.inPlace()) }, { try floor.append(1000, record) }, { try log.commit(1000) },
        { try puts.commit([UInt64.random(in: 2...UInt64(stage.size), using: &random)]) },
        {
          try floor.append(1000, record)
          hashes.make()
        })
      let (lmdb, disk, many) = (samples[0].quantile(0.5), samples[1].quantile(0.5), samples[4].quantile(0.5))
      report.add(names[4], size: stage.size, caches: .warm, samples[0])
      report.add(names[5], size: stage.size, caches: .warm, samples[1])
      report.add(names[6], size: stage.size, caches: .warm, samples[2], comparedWith: lmdb, goal: .atMost(1.25))
      report.add(names[7], size: stage.size, caches: .warm, samples[2], comparedWith: disk)
      report.add(names[8], size: stage.size, caches: .warm, samples[3], comparedWith: lmdb, goal: .atMost(1.25))
      report.add(samePuts[2], size: stage.size, caches: .warm, samples[6])
      report.add(
        samePuts[3], size: stage.size, caches: .warm, samples[3], comparedWith: samples[6].quantile(0.5))
      report.add(names[9], size: stage.size, caches: .warm, samples[4])
      report.add(names[11], size: stage.size, caches: .warm, samples[7], comparedWith: many)
      report.add(names[10], size: stage.size, caches: .warm, samples[5], comparedWith: many, goal: .atMost(1.7))
      try log.end()
    }
  }
}
