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
  /// - Throws: `.corrupted` if the result contradicts the delta.
  /// - Complexity: O(k log n).
  init(from held: ResultCore, by delta: Delta) throws(LibraryError) {
    let (after, touched) = try held.advanced(by: delta)
    self.init(after: after, touched: touched, commits: delta.commits, isBlind: held.plan.isBlind(to: delta))
  }

  /// What a delta did that led from a result to a known one, which is shared.
  /// - Throws: `.corrupted` if one of the results contradicts the delta.
  /// - Complexity: O(k log n).
  init(from held: ResultCore, to after: ResultCore, by delta: Delta) throws(LibraryError) {
    self.init(
      after: after, touched: try held.positions(of: delta, after: after), commits: delta.commits,
      isBlind: held.plan.isBlind(to: delta))
  }

  /// Checks that a step which another result took leads on from one of the same query and commit. The two were fetched
  /// apart, and differ if the store was damaged in between: then positions of the one are not positions of the other.
  /// - Parameter count: how many objects the order of the result has.
  /// - Complexity: O(1).
  func checkStart(count: Int) throws(LibraryError) {
    guard touched.beforeCount == count else { throw .contradictingResult }
  }
}
