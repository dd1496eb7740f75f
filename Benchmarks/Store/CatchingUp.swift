import BenchmarkSupport
import Foundation
import PhotoLedger
import Synchronization

/// S14: an observer that is thousands of commits behind.
enum CatchingUp {
  static let names =
    ["S14 catching up one by one, a commit", "S14 catching up composed, a commit"] + names(of: [1000, 4000, 16_000])

  private static func names(of backlogs: [Int]) -> [String] {
    backlogs.map { "S14 one asset read at each of \($0) commits, a commit" }
  }

  /// How far behind the reader of one asset's edits is; less in libraries that are smaller than any measured one, whose
  /// rows only show that the benchmark works.
  private static func backlogs(of size: Int) -> [Int] { size < 1000 ? [10, 40, 160] : [1000, 4000, 16_000] }

  static func measure(_ stage: Stage, into report: inout Report) throws {
    guard Stage.memoryFileSystem != nil else { return }
    if report.wantsAny(of: Array(names.prefix(2))) { try measureMany(stage, into: &report) }
    if report.wantsAny(of: Array(names.dropFirst(2))) { try measureBacklogs(stage, into: &report) }
  }

  /// One by one, as `watch --since` goes: the asset, its resources and its words at each commit. What a commit costs
  /// must not grow with what lies behind it.
  private static func measureBacklogs(_ stage: Stage, into report: inout Report) throws {
    try stage.withCopy { library in
      let asset = stage.shown[stage.shown.count / 2]
      let backlogs = backlogs(of: stage.size)
      var (touch, held) = (Touch([asset]), [Int: FetchResult<Asset>]())
      for left in stride(from: backlogs.max() ?? 0, to: 0, by: -1) {
        if backlogs.contains(left) { held[left] = try library.fetchAssets(try .newestFirst()).wholly() }
        try library.commit(touch.inPlace())
      }
      var delivered = [Int: [ChangeDetails<Asset>]]()
      let samples = try Turns.measure(
        min(5, report.repetitions),
        backlogs.map { count in
          {
            guard let held = held[count] else { return }
            delivered[count] = try follow(held, in: library, composingBeyond: .max, expecting: count) { details in
              guard let position = details.changedIndexes?.first else { return }
              let asset = try details.fetchResultAfterChanges.object(at: position)
              _ = (try library.resources(of: asset), try library.extendedMetadata(of: asset))
            }
          }
        })
      for (count, held) in held { try check(delivered[count] ?? [], from: held, expecting: count, in: library) }
      let base = samples[0].quantile(0.5) / Double(backlogs[0])
      for (index, count) in backlogs.enumerated() {
        report.add(
          names(of: backlogs)[index], size: stage.size, caches: .warm, samples[index], operations: count,
          comparedWith: index == 0 ? nil : base, goal: index == backlogs.count - 1 ? .atMost(1.3) : nil)
      }
    }
  }

  private static func measureMany(_ stage: Stage, into report: inout Report) throws {
    try stage.withCopy { library in
      let count = min(10_000, max(50, stage.size / 10))
      let held = try library.fetchAssets(try .newestFirst())
      var touch = Touch(stage.shown)
      for _ in 0..<count { try library.commit(touch.moving()) }
      let repetitions = min(5, report.repetitions)
      var delivered: ([ChangeDetails<Asset>], [ChangeDetails<Asset>]) = ([], [])
      let samples = try Turns.measure(
        repetitions,
        { delivered.0 = try follow(held, in: library, composingBeyond: .max, expecting: count) },
        { delivered.1 = try follow(held, in: library, composingBeyond: 8, expecting: 1) })
      try check(delivered.0, from: held, expecting: count, in: library)
      try check(delivered.1, from: held, expecting: 1, in: library)
      let base = samples[0].quantile(0.5) / Double(count)
      // One by one a late commit costs no more than S6 allows a prompt one; composed, a quarter of that.
      report.add(
        names[0], size: stage.size, caches: .warm, samples[0], operations: count, goal: .microseconds(60))
      report.add(
        names[1], size: stage.size, caches: .warm, samples[1], operations: count, comparedWith: base,
        goal: .microseconds(15))
    }
  }

  /// Follows a held result to the state of now.
  private static func follow(
    _ held: FetchResult<Asset>, in library: PhotoLibrary, composingBeyond limit: Int, expecting count: Int,
    reading read: @escaping @Sendable (ChangeDetails<Asset>) throws -> Void = { _ in }
  ) throws -> [ChangeDetails<Asset>] {
    let done = DispatchSemaphore(value: 0)
    let kept = Kept()
    Task.detached {
      var iterator = library.changes(to: held, composingBeyond: limit).makeAsyncIterator()
      do {
        while kept.count < count, let details = try await iterator.next() {
          try read(details)
          kept.add(details)
        }
      } catch { kept.fail(error) }
      done.signal()
    }
    done.wait()
    return try kept.result.get()
  }

  private final class Kept: Sendable {
    private let state = Mutex<(changes: [ChangeDetails<Asset>], error: (any Error)?)>(([], nil))
    var count: Int { state.withLock { $0.changes.count } }
    func add(_ details: ChangeDetails<Asset>) { state.withLock { $0.changes.append(details) } }
    func fail(_ error: any Error) { state.withLock { $0.error = error } }
    var result: Result<[ChangeDetails<Asset>], any Error> {
      state.withLock { state in state.error.map { .failure($0) } ?? .success(state.changes) }
    }
  }

  private static func check(
    _ changes: [ChangeDetails<Asset>], from held: FetchResult<Asset>, expecting count: Int, in library: PhotoLibrary
  ) throws {
    guard changes.count == count, let last = changes.last else {
      throw WrongAnswer(description: "An observer received \(changes.count) changes instead of \(count).")
    }
    let now = try library.fetchAssets(try .newestFirst()).numbers
    guard last.fetchResultAfterChanges.numbers == now else {
      throw WrongAnswer(description: "An observer that caught up holds another list than a fetch gives.")
    }
    guard count == 1, let indexes = last.changes else { return }
    let arrivals = indexes.inserted.map { now[$0] }
    guard indexes.appliedAtOnce(to: held.numbers, inserting: arrivals) == now else {
      throw WrongAnswer(description: "A composed change does not lead from the old list to the new one.")
    }
  }
}
