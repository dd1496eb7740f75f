import Foundation
import PhotoLedger
import Synchronization

/// S14: an observer that is thousands of commits behind.
enum CatchingUp {
  static let names = ["S14 catching up one by one, a commit", "S14 catching up composed, a commit"]

  static func measure(_ stage: Stage, into report: inout Report) throws {
    guard report.wantsAny(of: names), Stage.memoryFileSystem != nil else { return }
    try stage.withCopy { library in
      let count = min(10_000, max(50, stage.size / 10))
      let held = try library.fetchAssets(try .newestFirst())
      var touch = Touch(stage.shown)
      for _ in 0..<count { try library.commit(touch.moving()) }
      let repetitions = min(5, report.repetitions)
      var told: ([ChangeDetails<Asset>], [ChangeDetails<Asset>]) = ([], [])
      let samples = try Turns.measure(
        repetitions,
        { told.0 = try follow(held, in: library, composingBeyond: .max, expecting: count) },
        { told.1 = try follow(held, in: library, composingBeyond: 8, expecting: 1) })
      try check(told.0, from: held, expecting: count, in: library)
      try check(told.1, from: held, expecting: 1, in: library)
      let base = samples[0].quantile(0.5) / Double(count)
      // One by one a late commit costs no more than S6 allows one that is told at once; composed, a quarter of that.
      report.add(
        names[0], size: stage.size, caches: .warm, samples[0], operations: count, goal: .microseconds(60))
      report.add(
        names[1], size: stage.size, caches: .warm, samples[1], operations: count, comparedWith: base,
        goal: .microseconds(15))
    }
  }

  /// Follows a held result to the state of now.
  private static func follow(
    _ held: FetchResult<Asset>, in library: PhotoLibrary, composingBeyond limit: Int, expecting count: Int
  ) throws -> [ChangeDetails<Asset>] {
    let done = DispatchSemaphore(value: 0)
    let kept = Kept()
    Task.detached {
      var iterator = library.changes(to: held, composingBeyond: limit).makeAsyncIterator()
      do {
        while kept.count < count, let details = try await iterator.next() { kept.add(details) }
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
      throw WrongAnswer(description: "An observer was told of \(changes.count) changes instead of \(count).")
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
