import Synchronization

/// The current result of a query that somebody follows; stepped from commit to commit.
///
/// Mutable state and its guard: `core`, `steps`, `last` are guarded by the lock of ``Observation``'s state, which every
/// caller of their methods holds; `listeners` has a lock of its own, since wake-ups happen outside.
final class LiveQuery: @unchecked Sendable {  // guarded by Observation's state lock, see above
  private var core: ResultCore
  /// The last commits that made it another value, ascending.
  private var steps: [Step] = []
  /// Where the last step's objects stood and stand, and the step's summary.
  private var last: (touched: TouchedPositions, commits: [CommitSummary])?
  /// Whether `steps` is complete back to this commit.
  private var stepsReachBackTo: UInt64
  private let listeners = Mutex<[UInt64: Listener]>([:])

  /// A commit that made the result another value.
  struct Step: Sendable {
    let commit: UInt64
    /// Whether it touched the list; if not, where the object of the scope stands is all that changed.
    let isTouching: Bool
  }

  struct Listener: Sendable {
    var wake: @Sendable () -> Void
    var finish: @Sendable ((any Error)?) -> Void
  }

  static let stepLimit = 256

  init(_ core: ResultCore) {
    self.core = core
    stepsReachBackTo = core.commit
  }

  // MARK: Under the lock of the observation

  /// Steps over one commit; says whether it touched the result.
  func step(_ delta: Delta) -> Bool {
    guard delta.from >= core.commit else { return false }
    let (after, touched) = core.advanced(by: delta)
    let isTouching = !touched.isEmpty
    // Where the object of the scope stands is part of the result, though it changes unseen: whoever goes from one step
    // to the next need not read what lies between.
    let isStep = isTouching || after.holders != core.holders
    core = after
    guard isStep else { return false }
    last = (touched, delta.commits)
    steps.append(Step(commit: delta.to, isTouching: isTouching))
    if steps.count > Self.stepLimit { stepsReachBackTo = steps.removeFirst().commit }
    return isTouching
  }

  /// The result at the commit to which every live query has stepped.
  func current(at commit: UInt64) -> ResultCore {
    var current = core
    current.commit = max(current.commit, commit)
    return current
  }

  /// The commits after one that made the result another value; nil if that is not known so far back.
  func steps(after commit: UInt64) -> ArraySlice<Step>? {
    guard commit >= stepsReachBackTo else { return nil }
    return steps[steps.prefixCount { $0.commit <= commit }...]
  }

  /// What the last step did.
  var lastStep: (touched: TouchedPositions, commits: [CommitSummary])? { last }

  // MARK: Listeners

  func listen(_ key: UInt64, _ listener: Listener) { listeners.withLock { $0[key] = listener } }

  func ignore(_ key: UInt64) { listeners.withLock { _ = $0.removeValue(forKey: key) } }

  func wake() { for listener in listeners.withLock({ Array($0.values) }) { listener.wake() } }

  func finish() { for listener in listeners.withLock({ Array($0.values) }) { listener.finish(nil) } }

  func fail(_ error: LibraryError) {
    for listener in listeners.withLock({ Array($0.values) }) { listener.finish(error) }
  }
}
