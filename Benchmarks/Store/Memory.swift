import BenchmarkSupport
import Foundation
import PhotoLedger

/// M1: what a process holds for live results, beside the pages of the store's file.
enum Memory {
  static let names = [
    "M1 memory of a live result of everything", "M1 memory of a second observer",
    "M1 memory of a held old result, a commit since",
  ]

  static func measure(_ stage: Stage, into report: inout Report) throws {
    guard report.wantsAny(of: names), Stage.memoryFileSystem != nil else { return }
    try stage.withCopiedFiles { folder in
      let empty = Int(try ChildProcess.run(.empty, folder.path).numbers.first ?? 0)
      let steps = try ChildProcess.run(.hold, folder.path).numbers.map { Int($0) }
      guard steps.count == 5, steps[0] == stage.shown.count else {
        throw WrongAnswer(description: "A process that holds results tells \(steps).")
      }
      let goals: [Goal] = [.bytes(64 << 20), .bytes(4 << 10), .bytes(16 << 10)]
      let bytes = [
        steps[1] - empty, (steps[2] - steps[1]) / count(steps[0]), (steps[4] - steps[3]) / count(steps[0]),
      ]
      for (index, name) in names.enumerated() {
        report.add(name, size: stage.size, bytes: max(1, bytes[index]), goal: goals[index])
      }
    }
  }

  /// How many observers, and how many commits, the memory is divided by.
  private static func count(_ size: Int) -> Int { min(2000, size) }

  /// In the new process: the number of assets, then the memory with one live result, with many observers of it, after
  /// as many commits again, and after those with each result between held.
  static func hold(_ path: String) throws -> [Int] {
    let library = try PhotoLibrary(at: URL(filePath: path), environment: .seeded(Stage.seed &+ 5))
    let result = try library.fetchAssets(try .newestFirst())
    let assets = try stride(from: 0, to: result.count, by: max(1, result.count / 1000)).map {
      try result.object(at: $0).id
    }
    let arrivals = Arrivals()
    var touch = Touch(assets)
    var watches = [Watch(result, of: library, telling: arrivals)]
    func commit(_ count: Int, keeping: (ChangeDetails<Asset>?) -> Void = { _ in }) throws {
      for _ in 0..<count {
        arrivals.expect(watches.count)
        try library.commit(touch.moving())
        _ = try arrivals.wait()
        keeping(watches[0].last)
      }
    }
    let count = count(result.count)
    try commit(3)
    var memory = [result.count, try ChildProcess.anonymousBytes()]
    // From the current state: an observer of an old result receives the changes since.
    let current = try library.fetchAssets(try .newestFirst())
    for _ in 0..<count {
      watches.append(Watch(current, of: library, telling: arrivals, isKeeping: false))
    }
    try commit(1)
    memory.append(try ChildProcess.anonymousBytes())
    watches.removeSubrange(1...)
    try commit(count)
    memory.append(try ChildProcess.anonymousBytes())
    var held: [FetchResult<Asset>] = []
    try commit(count) { details in if let details { held.append(details.fetchResultAfterChanges) } }
    memory.append(try ChildProcess.anonymousBytes())
    guard held.count == count else { throw WrongAnswer(description: "A commit was not delivered.") }
    return memory
  }
}
