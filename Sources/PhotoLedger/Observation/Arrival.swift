/// The commits by which a lagging follower reaches the present; read once.
///
/// The follower keeps the previous value until the step is delivered, in case of an error; so the read commits are
/// never mutated, or each step would copy the rest of them.
struct Arrival: Sendable {
  /// The commits to deliver one by one, oldest first.
  let backlog: [Delta]
  /// How many of them were passed.
  private var passed = 0
  /// The step, if they are delivered as one.
  let step: Step?

  init(backlog: [Delta]) { (self.backlog, step) = (backlog, nil) }

  init(step: Step) { (backlog, self.step) = ([], step) }

  /// Whether the follower is at the present.
  var isEmpty: Bool { backlog.isEmpty && step == nil }

  /// The next of the commits.
  mutating func next() -> Delta? {
    guard passed < backlog.count else { return nil }
    defer { passed += 1 }
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
