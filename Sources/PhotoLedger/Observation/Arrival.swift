/// The commits by which a lagging follower reaches the present; read once.
///
/// The follower keeps the previous value until the step is delivered, in case of an error; so the read commits are
/// never mutated, or each step would copy the rest of them.
struct Arrival: Sendable {
  private enum Way {
    /// One by one, the oldest first; how many of them were passed.
    case each([Delta], passed: Int)
    /// As one step. That is in memory of its own: it is large, and of thousands of followers few have one.
    indirect case atOnce(Step)
  }

  private var way: Way

  init(backlog: [Delta]) { way = .each(backlog, passed: 0) }

  init(step: Step) { way = .atOnce(step) }

  /// The commits to deliver one by one, the oldest first, the passed ones included.
  var backlog: [Delta] { if case .each(let backlog, _) = way { backlog } else { [] } }

  /// The step, if the commits are delivered as one.
  var step: Step? { if case .atOnce(let step) = way { step } else { nil } }

  /// Whether the follower is at the present.
  var isEmpty: Bool { backlog.isEmpty && step == nil }

  /// The next of the commits.
  mutating func next() -> Delta? {
    guard case .each(let backlog, let passed) = way, passed < backlog.count else { return nil }
    way = .each(backlog, passed: passed + 1)
    return backlog[passed]
  }
}

extension ResultCore {
  /// Whether more than so many of several deltas, each of which follows the one before, touch the list.
  /// - Throws: `.corrupted` if the result contradicts a delta.
  /// - Complexity: O(k log n) in the objects of the deltas.
  func isTouched(byMoreThan limit: Int, of deltas: [Delta]) throws(LibraryError) -> Bool {
    guard deltas.count > limit else { return false }
    var core = self
    var count = 0
    for delta in deltas where count <= limit {
      let (after, touched) = try core.advanced(by: delta)
      core = after
      if !touched.isEmpty { count += 1 }
    }
    return count > limit
  }
}
