import BenchmarkSupport
import EventLog
import Foundation
import PhotoLedger
import Synchronization

/// S6, S7, S12, S13: the time from a commit to its observers.
enum Observing {
  static let names = [
    "S6 commit to observer, no sync, edit in place", "S6 commit to observer, no sync, edit that moves",
    "S7 commit to observer, no sync, 1 of 100 live results touched", "S12 commit alone, durable",
    "S12 commit to callback, durable", "S12 a commit of 100 writers at once, durable",
    "S13 commit to observer, no sync, 1 observer", "S13 commit to notified observers",
    "S6 floor: the same threads hand over, nothing delivered",
    "S13 floor: the same tasks are woken, nothing delivered",
    "S6 floor: LMDB, the same puts, then the same threads hand over",
    "S12 floor: LMDB, the same puts of 100 writers in a commit, durable",
    "S13 floor: the tasks of one of 100 queries are woken, nothing delivered",
    "S13 commit to registered observer, no sync, 1 asks",
    "S13 commit to registered observers, no sync, 100 ask about one query",
    "S13 commit to registered observers, no sync, the first change of 10 fetches of all",
  ]

  static func measure(_ stage: Stage, into report: inout Report) throws {
    if report.wantsAny(of: Array(names[3...5]) + [names[11]]) { try durable(stage, into: &report) }
    guard report.wantsAny(of: names.filter { !$0.hasPrefix("S12") }), Stage.memoryFileSystem != nil else { return }
    try stage.withCopy { library in
      try single(library, stage, into: &report)
      if report.wantsAny(names[6], names[7], names[9], names[12]) { try crowd(library, stage, into: &report) }
      if report.wantsAny(names[13], names[14]) { try asking(library, stage, into: &report) }
      if report.wantsAny(names[15]) { try first(library, stage, into: &report) }
    }
  }

  /// Times commits until the expected observers have received them.
  static func times(
    _ repetitions: Int, _ arrivals: Arrivals, of library: PhotoLibrary, expecting count: Int = 1,
    _ draw: () -> (asset: LocalIdentifier, changes: AssetChanges), check: (LocalIdentifier) throws -> Void = { _ in }
  ) throws -> Sample {
    var times: [Double] = []
    for repetition in 0..<repetitions + 3 {
      let touch = draw()
      let time = try time(arrivals, of: library, expecting: count, touch)
      if repetition >= 3 { times.append(time) }
      try check(touch.asset)
    }
    return Sample(times)
  }

  /// Times one commit until the expected observers have received it, in nanoseconds.
  private static func time(
    _ arrivals: Arrivals, of library: PhotoLibrary, expecting count: Int = 1,
    _ touch: (asset: LocalIdentifier, changes: AssetChanges)
  ) throws -> Double {
    arrivals.expect(count)
    let start = ContinuousClock.now
    try library.commit(touch)
    return (try arrivals.wait() - start).nanoseconds
  }

  /// The change names the asset that was touched, and nothing else.
  static func check(_ details: ChangeDetails<Asset>?, names asset: LocalIdentifier) throws {
    guard let details, details.changedIndexes?.count == 1, let changed = try details.changedObjects().first,
      changed.id == asset, details.removedIndexes?.isEmpty == true, details.insertedIndexes?.isEmpty == true
    else { throw WrongAnswer(description: "An observer received another change than the one made.") }
  }

  private static func single(_ library: PhotoLibrary, _ stage: Stage, into report: inout Report) throws {
    guard report.wantsAny(names[0], names[1], names[2], names[8], names[10]) else { return }
    let repetitions = report.repetitions * 30
    let arrivals = Arrivals()
    try floor(names[8], tasks: 1, repetitions, stage, into: &report)
    var touch = Touch(stage.shown)
    let options = try FetchOptions.newestFirst()
    var watch: Watch? = Watch(try library.fetchAssets(options), of: library, telling: arrivals)
    let checked = { (asset: LocalIdentifier) in try check(watch?.last, names: asset) }
    let folder = try stage.copyStore(onDisk: false)
    defer { stage.remove(folder) }
    // What is left without deciding, encoding, hashing, reading and delivering.
    let puts = try SamePuts(folder.appending(path: "store"), isDurable: false)
    let handover = Handover(to: 1)
    defer { handover.close() }
    var random = Seeded(14)
    var samples = [[Double]](repeating: [], count: 3)
    for _ in 0..<repetitions {
      samples[0].append(
        try handover.time { try puts.commit([UInt64.random(in: 2...UInt64(stage.size), using: &random)]) })
      for (index, edit) in [touch.inPlace(), touch.moving()].enumerated() {
        samples[index + 1].append(try time(arrivals, of: library, edit))
        try checked(edit.asset)
      }
    }
    // The first ones of new copies meet no page in the process's map.
    let measured = samples.map { Sample($0.suffix(max(1, repetitions * 3 / 4))) }
    let inPlace = measured[1]
    report.add(names[10], size: stage.size, caches: .warm, measured[0])
    for (name, sample) in zip(names, measured[1...]) {
      report.add(
        name, size: stage.size, caches: .warm, sample, comparedWith: measured[0].quantile(0.5),
        goal: .microseconds(60))
    }
    watch = nil
    let results = try windows(100, of: library)
    let watches = results.map { result in Watch(result, of: library, telling: arrivals) }
    try settle(watches.count, results, library, arrivals)
    let one = try times(repetitions, arrivals, of: library) { touch.inPlace() }
    report.add(
      names[2], size: stage.size, caches: .warm, one, comparedWith: inPlace.quantile(0.5), goal: .atMost(2))
    Report.keep(watches.count)
  }

  private static func floor(
    _ name: String, tasks: Int, _ repetitions: Int, _ stage: Stage, into report: inout Report
  ) throws {
    let handover = Handover(to: tasks)
    defer { handover.close() }
    report.add(name, size: stage.size, caches: .warm, try handover.times(repetitions))
  }

  /// Results of so many distinct queries, which have every shown asset in one of them.
  static func windows(_ wanted: Int, of library: PhotoLibrary) throws -> [FetchResult<Asset>] {
    let all = try library.fetchAssets(try .newestFirst())
    let count = min(wanted, all.count)
    let dates = try (1..<count).compactMap { try all.object(at: $0 * all.count / count).creationDate }
    let edges = Set(dates).sorted(by: >)
    var results: [FetchResult<Asset>] = []
    for index in 0...edges.count {
      var parts: [Condition] = []
      if index > 0 { parts.append(.comparison(.creationDate, .less, .date(edges[index - 1]))) }
      if index < edges.count { parts.append(.comparison(.creationDate, .greaterOrEqual, .date(edges[index]))) }
      results.append(try library.fetchAssets(try .newestFirst(where: .and(parts))))
    }
    guard results.reduce(0, { $0 + $1.count }) == all.count else {
      throw WrongAnswer(description: "Windows of dates hold another number of assets than all dates do.")
    }
    return results.filter { !$0.isEmpty }
  }

  /// Touches every result once, and waits until all have the change: from then on all observers listen.
  private static func settle(
    _ count: Int, _ results: [FetchResult<Asset>], _ library: PhotoLibrary, _ arrivals: Arrivals
  ) throws {
    let assets = try results.compactMap { try $0.isEmpty ? nil : $0.object(at: 0).id }
    var touch = Touch(assets)
    arrivals.expect(count)
    try library.performChangesAndWait { $0.edit(assets, touch.inPlace().changes) }
    _ = try arrivals.wait()
  }

  // MARK: Many observers

  private static func crowd(_ library: PhotoLibrary, _ stage: Stage, into report: inout Report) throws {
    let repetitions = report.repetitions
    let arrivals = Arrivals()
    var touch = Touch(stage.shown)
    let observers = stage.size >= Goal.leastSize ? 10_000 : min(10_000, stage.size)
    try floor(names[9], tasks: observers, repetitions, stage, into: &report)
    try floor(names[12], tasks: max(1, observers / 100), repetitions * 8, stage, into: &report)
    var watches = [Watch(try library.fetchAssets(try .newestFirst()), of: library, telling: arrivals)]
    let alone = try times(repetitions, arrivals, of: library) { touch.inPlace() }
    report.add(names[6], size: stage.size, caches: .warm, alone)
    let disjoint = try windows(100, of: library)
    let each = max(1, observers / disjoint.count)
    watches = disjoint.flatMap { result in (0..<each).map { _ in Watch(result, of: library, telling: arrivals) } }
    try settle(watches.count, disjoint, library, arrivals)
    try add(try times(repetitions, arrivals, of: library, expecting: each) { touch.inPlace() }, notifying: each)
    watches = try (0..<disjoint.count).flatMap { index in
      let wide = Condition.comparison(.pixelWidth, .greater, .integer(Int64(-1 - index)))
      let result = try library.fetchAssets(try .newestFirst(where: wide))
      return (0..<each).map { _ in Watch(result, of: library, telling: arrivals) }
    }
    try add(
      try times(max(3, repetitions / 4), arrivals, of: library, expecting: watches.count) { touch.inPlace() },
      notifying: watches.count)

    func add(_ sample: Sample, notifying count: Int) throws {
      let name = "\(names[7]), no sync, \(count) of \(watches.count) on \(disjoint.count) queries"
      let base = alone.quantile(0.5)
      let goal = Goal.microseconds(2 * base / 1000 + Double(count))
      report.add(name, size: stage.size, caches: .warm, sample, comparedWith: base, goal: goal)
    }
  }

  /// Times commits until observers that are registered as in PhotoKit have asked what their result became.
  private static func asking(_ library: PhotoLibrary, _ stage: Stage, into report: inout Report) throws {
    let arrivals = Arrivals()
    var touch = Touch(stage.shown)
    func sample(_ count: Int) throws -> Sample {
      let held = try library.fetchAssets(try .newestFirst())
      let observers = (0..<count).map { _ in HeldResult(held, telling: arrivals) }
      for observer in observers { try library.register(observer) }
      defer { for observer in observers { library.unregisterChangeObserver(observer) } }
      return try times(report.repetitions * 4, arrivals, of: library, expecting: count) {
        touch.inPlace()
      } check: { asset in
        for observer in observers { try check(observer.last.details, names: asset) }
      }
    }
    let (one, many) = (try sample(1), try sample(100))
    let base = one.quantile(0.5)
    report.add(names[13], size: stage.size, caches: .warm, one)
    report.add(
      names[14], size: stage.size, caches: .warm, many, comparedWith: base,
      goal: .microseconds(2 * base / 1000 + 100 * 10))
  }

  /// Times the first commit after fetches whose results are complete only when their first change needs it.
  private static func first(_ library: PhotoLibrary, _ stage: Stage, into report: inout Report) throws {
    let arrivals = Arrivals()
    var touch = Touch(stage.shown)
    var samples: [Double] = []
    for _ in 0..<max(2, report.repetitions) {
      let observers = try (0..<10).map { _ in
        HeldResult(try library.fetchAssets(try .newestFirst()), telling: arrivals)
      }
      for observer in observers { try library.register(observer) }
      defer { for observer in observers { library.unregisterChangeObserver(observer) } }
      let edit = touch.inPlace()
      samples.append(try time(arrivals, of: library, expecting: observers.count, edit))
      for observer in observers { try check(observer.last.details, names: edit.asset) }
    }
    report.add(names[15], size: stage.size, caches: .warm, Sample(samples))
  }

  // MARK: Durable

  private static func durable(_ stage: Stage, into report: inout Report) throws {
    try stage.withCopiedFiles(onDisk: true) { folder in
      let library = try PhotoLibrary(at: folder, environment: .seeded(Stage.seed &+ 3))
      defer { library.close() }
      let base = try callback(besides: library, stage, into: &report)
      let writers = 100
      let rounds = max(2, report.repetitions / 4)
      let copy = try stage.copyStore(onDisk: true)
      defer { stage.remove(copy) }
      let puts = try SamePuts(copy.appending(path: "store"), isDurable: true)
      var random = Seeded(15)
      let together = try Turns.measure(
        max(2, report.repetitions / 2), { try write(rounds, by: writers, to: library, stage.shown) },
        {
          for _ in 0..<rounds {
            try puts.commit((0..<writers).map { _ in UInt64.random(in: 2...UInt64(stage.size), using: &random) })
          }
        })
      let many = together[0]
      report.add(
        names[11], size: stage.size, caches: .warm, together[1], operations: writers * rounds, comparedWith: base)
      report.add(
        names[5], size: stage.size, caches: .warm, many, operations: writers * rounds, comparedWith: base,
        goal: .atMost(1.0 / 50))
    }
  }

  /// Times commits of a library without observers, in turns with those of an observed copy.
  /// - Returns: the median of the first, in nanoseconds.
  private static func callback(
    besides library: PhotoLibrary, _ stage: Stage, into report: inout Report
  ) throws -> Double {
    let folder = try stage.copyStore(onDisk: true)
    defer { stage.remove(folder) }
    let observed = try PhotoLibrary(at: folder, environment: .seeded(Stage.seed &+ 7))
    defer { observed.close() }
    let (arrivals, stopwatch) = (Arrivals(), Stopwatch())
    let observer = HeldResult(try observed.fetchAssets(try .newestFirst()), telling: arrivals)
    try observed.register(observer)
    defer { observed.unregisterChangeObserver(observer) }
    var touch = Touch(stage.shown)
    var (alone, delivered) = ([Double](), [Double]())
    for repetition in 0..<report.repetitions * 4 + 3 {
      let first = try stopwatch.time { try library.commit(touch.inPlace()) }
      let edit = touch.inPlace()
      let second = try time(arrivals, of: observed, edit)
      try check(observer.last.details, names: edit.asset)
      guard repetition >= 3 else { continue }
      alone.append(first)
      delivered.append(second)
    }
    let base = Sample(alone).quantile(0.5)
    report.add(names[3], size: stage.size, caches: .warm, Sample(alone))
    report.add(names[4], size: stage.size, caches: .warm, Sample(delivered), comparedWith: base, goal: .atMost(1.25))
    return base
  }

  /// Lets tasks write side by side, each one commit after the other.
  private static func write(
    _ rounds: Int, by writers: Int, to library: PhotoLibrary, _ assets: [LocalIdentifier]
  ) throws {
    let (failures, done) = (Failures(), DispatchSemaphore(value: 0))
    let before = try library.commitCount()
    Task.detached {
      await withTaskGroup(of: Void.self) { group in
        for writer in 0..<writers {
          group.addTask {
            do {
              for round in 0..<rounds {
                var changes = AssetChanges()
                changes.pixelHeight = 20_000 + counter.wrappingAdd(1, ordering: .relaxed).newValue
                let asset = assets[(writer * 7919 + round * 104_729) % assets.count]
                try await library.performChanges { [changes] in $0.edit([asset], changes) }
              }
            } catch { failures.note(error) }
          }
        }
      }
      done.signal()
    }
    done.wait()
    if let error = failures.first { throw error }
    guard try library.commitCount() == before + UInt64(writers * rounds) else {
      throw WrongAnswer(description: "Concurrent writers lost a commit.")
    }
  }
}

/// The first failure of several tasks.
private final class Failures: Sendable {
  private let kept = Mutex<(any Error)?>(nil)
  var first: (any Error)? { kept.withLock { $0 } }
  func note(_ error: any Error) { kept.withLock { $0 = $0 ?? error } }
}

/// Makes the edits of concurrent writers differ.
private let counter = Atomic<Int>(0)

extension PhotoLibrary {
  /// The number of commits.
  fileprivate func commitCount() throws -> UInt64 { try StoreReader(self).head().commit }
}
