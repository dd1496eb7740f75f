import Foundation
import PhotoLedger

/// What it costs to take a large commit back, compared with the commit: the scan that trashed 68,811 assets.
enum Undoing {
  private static let count = 68_811
  static let names = ["undo of a large commit, the commit: 68,811 assets trashed", "undo of a large commit"]

  static func measure(_ stage: Stage, into report: inout Report) throws {
    guard report.wantsAny(of: names), Stage.memoryFileSystem != nil else { return }
    try stage.withCopy { library in
      let assets = Array(stage.shown.prefix(count))
      var token = try library.currentToken
      let samples = try Turns.measure(
        max(2, report.repetitions / 10),
        { token = try library.performChangesAndWait(cause: "scan") { $0.deleteAssets(assets) }.token },
        {
          let undone = try library.undoAndWait(.commit(token))
          guard undone.changes.count == assets.count, undone.conflicts.isEmpty else {
            throw WrongAnswer(description: "An undo restored \(undone.changes.count) assets of \(assets.count).")
          }
        })
      report.add(names[0], size: stage.size, caches: .warm, samples[0])
      report.add(
        names[1], size: stage.size, caches: .warm, samples[1], comparedWith: samples[0].quantile(0.5), goal: .atMost(2))
    }
  }
}
