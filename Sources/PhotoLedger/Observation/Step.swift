/// What leads from one value of a result to a later one.
struct Step: Sendable {
  let after: ResultCore
  /// Where the touched objects stood and stand.
  let touched: TouchedPositions
  let commits: [CommitSummary]
  /// Whether rows of erased assets led there.
  var isBlind = false
  /// The last commit when `after` was fetched; nil if it was stepped to.
  var readAt: UInt64?
}

extension Step {
  /// What a delta does to a result.
  /// - Complexity: O(k log n).
  init(from held: ResultCore, by delta: Delta) {
    let (after, touched) = held.advanced(by: delta)
    self.init(after: after, touched: touched, commits: delta.commits, isBlind: held.plan.isBlind(to: delta))
  }

  /// What a delta did that led from a result to a known one, which is shared.
  /// - Complexity: O(k log n).
  init(from held: ResultCore, to after: ResultCore, by delta: Delta) {
    self.init(
      after: after, touched: held.positions(of: delta, after: after), commits: delta.commits,
      isBlind: held.plan.isBlind(to: delta))
  }
}
