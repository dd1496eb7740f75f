import Synchronization

/// The current result of a query that somebody follows; stepped from commit to commit.
///
/// Mutable state and its guard: `core`, `steps`, `last` are guarded by the lock of ``Observation``'s state, which every
/// caller of their methods holds; `listeners` has a lock of its own, since wake-ups happen outside.
final class LiveQuery: @unchecked Sendable {  // guarded by Observation's state lock, see above
  private var core: ResultCore
  /// The last commits that touched the result, ascending.
  private var steps: [UInt64] = []
  /// Where the last step's objects stood and stand, and the step's summary.
  private var last: (touched: TouchedPositions, commits: [CommitSummary])?
  /// Whether `steps` is complete back to this commit.
  private var stepsReachBackTo: UInt64
  private let listeners = Mutex<[UInt64: Listener]>([:])

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
    let isTouched = !touched.isEmpty
    core = after
    guard isTouched else { return false }
    last = (touched, delta.commits)
    steps.append(delta.to)
    if steps.count > Self.stepLimit { stepsReachBackTo = steps.removeFirst() }
    return true
  }

  /// The result at the commit to which every live query has stepped.
  func current(at commit: UInt64) -> ResultCore {
    var current = core
    current.commit = max(current.commit, commit)
    return current
  }

  /// The commits after one that touched the result; nil if that is not known so far back.
  func steps(after commit: UInt64) -> ArraySlice<UInt64>? {
    guard commit >= stepsReachBackTo else { return nil }
    return steps[steps.prefixCount { $0 <= commit }...]
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
