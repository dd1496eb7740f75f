package import JSONReading
package import PhotoLedger

/// An undo as lines, one object each: changes, conflicts, effects that cannot be undone, and a summary.
package struct UndoLines: RandomAccessCollection, Sendable {
  private let report: UndoReport
  private let isDryRun: Bool

  /// - Parameter isDryRun: whether the report is a plan.
  package init(_ report: UndoReport, isDryRun: Bool) { (self.report, self.isDryRun) = (report, isDryRun) }

  package var startIndex: Int { 0 }
  package var endIndex: Int { report.changes.count + report.conflicts.count + report.kept.count + 1 }

  package subscript(position: Int) -> JSON {
    var index = position
    if index < report.changes.count { return .object([.init("line", "change")] + report.changes[index].members) }
    index -= report.changes.count
    if index < report.conflicts.count { return line(report.conflicts[index]) }
    index -= report.conflicts.count
    if index < report.kept.count { return ["line": "kept", "sentence": .text(report.kept[index])] }
    return summary
  }

  private func line(_ conflict: UndoConflict) -> JSON {
    .object(
      [
        .init("line", "conflict"), .init("reason", .text(conflict.reason.rawValue)),
        .init("outcome", .text(conflict.outcome.rawValue)), .init("sentence", .text(conflict.sentence)),
      ] + conflict.change.members)
  }

  /// The last line: the state that holds the undo, and how much there is of each.
  package var summary: JSON {
    [
      "line": "summary", "token": JSON(report.token?.description), "isDryRun": .bool(isDryRun),
      "isRepetition": .bool(report.isRepetition), "isRefused": .bool(report.isRefused),
      "commits": .list(report.commits.map { .text($0.description) }),
      "changeCount": .integer(Int64(report.changes.count)), "conflictCount": .integer(Int64(report.conflicts.count)),
      "alreadyCount": .integer(Int64(report.alreadyCount)),
    ]
  }
}

extension UndoChange {
  fileprivate var members: [JSON.Member] {
    [
      .init("kind", .text(kind.rawValue)), .init("object", object.isEmpty ? .null : .text(object)),
      .init("container", JSON(container)), .init("property", .text(property)), .init("current", JSON(current)),
      .init("restored", JSON(restored)),
    ]
  }
}
