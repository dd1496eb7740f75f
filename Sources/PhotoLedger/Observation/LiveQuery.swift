import Synchronization

/// The current result of a followed query; stepped from commit to commit.
///
/// A commit that contradicts the result, as where rows of the store were damaged since it was fetched, ends the
/// stepping: followers get the steps before it and then the error, and the next fetch of the query is followed anew.
///
/// Mutable state and its guard: each member has a lock of its own. `state` is locked under the lock of
/// ``Observation``'s state or alone, so that followers read it without holding each other's queries up; `wakeUps` is
/// locked alone.
final class LiveQuery: Sendable {
  private struct State {
    var core: ResultCore
    /// The last commits that made it another value, ascending.
    var steps: [Advance] = []
    var last: SharedStep?
    /// Whether `steps` is complete back to this commit.
    var stepsReachBackTo: UInt64
    /// Why it stays where it is.
    var failure: Failure?
  }

  /// What ended the stepping.
  struct Failure: Sendable {
    let error: LibraryError
    /// The commit before the one that contradicts the result.
    let lastCommit: UInt64
  }

  /// A commit that made the result another value.
  struct Advance: Sendable {
    let commit: UInt64
    /// Whether it touched the list; if not, where the object of the scope stands is all that changed.
    let isTouching: Bool
  }

  /// How many live queries have come to their end.
  final class Departures: Sendable {
    let count = Atomic<Int>(0)
  }

  /// What a follower that holds a result of some commit has before it.
  enum Outlook {
    /// Nothing, or one commit.
    case next(SharedStep?)
    /// Several commits, or more than is remembered, or a failure.
    case more
  }

  static let stepLimit = 256

  private let plan: QueryPlan
  private let state: Mutex<State>
  private let wakeUps = Mutex<[ObjectIdentifier: WakeUp]>([:])
  private let departures: Departures

  init(_ core: ResultCore, departures: Departures) {
    plan = core.plan
    state = Mutex(State(core: core, stepsReachBackTo: core.commit))
    self.departures = departures
  }

  deinit { departures.count.add(1, ordering: .relaxed) }

  // MARK: Under the lock of the observation

  /// Steps over one commit; says whether it touched the result, or contradicts it: then followers have to be woken.
  /// - Parameter words: those that other searches have cut.
  func step(_ delta: Delta, _ words: DeltaWords) -> Bool {
    // Nearly every commit leaves nearly every result as it was: that is found before the result is looked at.
    let touches = plan.touches(by: delta, words)
    guard !(touches?.isEmpty ?? false) else { return false }
    return state.withLock { state in
      guard state.failure == nil, delta.from >= state.core.commit else { return false }
      let after: ResultCore
      let touched: TouchedPositions
      do throws(LibraryError) {
        (after, touched) = try state.core.advanced(by: delta, touches)
      } catch {
        state.failure = Failure(error: error, lastCommit: delta.from)
        return true
      }
      let isTouching = !touched.isEmpty
      // The position of the scope's object is part of the result, though it changes invisibly, so that going from one
      // step to the next need not read the commits in between.
      let isStep = isTouching || after.holders != state.core.holders
      state.core = after
      guard isStep else { return false }
      state.last = SharedStep(
        Step(after: after, touched: touched, commits: delta.commits, isBlind: plan.isBlind(to: delta)))
      state.steps.append(Advance(commit: delta.to, isTouching: isTouching))
      if state.steps.count > Self.stepLimit { state.stepsReachBackTo = state.steps.removeFirst().commit }
      return isTouching
    }
  }

  /// The result at the commit to which every live query has stepped, with the last event of that commit; after a
  /// failure, the last one before it.
  func current(at head: Observation.Position) -> ResultCore {
    let (core, failure) = state.withLock { ($0.core, $0.failure) }
    var current = core
    guard failure == nil, current.commit < head.commit else { return current }
    (current.commit, current.sequence) = (head.commit, head.sequence)
    return current
  }

  /// Why it cannot be stepped any further; nil while it can.
  var failure: Failure? { state.withLock { $0.failure } }

  /// Its order, as something that is kept in memory.
  /// - Complexity: O(log n).
  var keptOrder: KeptOrder { KeptOrder(state.withLock { $0.core }) }

  // MARK: Followers

  /// The change of the result by a commit.
  func outlook(after commit: UInt64) -> Outlook {
    state.withLock { state in
      guard commit >= state.stepsReachBackTo else { return .more }
      guard let last = state.steps.last, last.commit > commit else {
        return state.failure == nil ? .next(nil) : .more
      }
      if state.steps.count > 1, state.steps[state.steps.count - 2].commit > commit { return .more }
      return state.last.map { .next($0) } ?? .more
    }
  }

  /// The commits after one that made the result another value; nil if that is not known so far back.
  func steps(after commit: UInt64) -> ArraySlice<Advance>? {
    state.withLock { state in
      guard commit >= state.stepsReachBackTo else { return nil }
      return state.steps[state.steps.prefixCount { $0.commit <= commit }...]
    }
  }

  /// The step from one commit to another, if it is the last and the only one in between.
  func step(from: UInt64, to: UInt64) -> SharedStep? {
    guard case .next(let last?) = outlook(after: from), last.step.after.commit == to else { return nil }
    return last
  }

  /// What the last step did.
  var lastStep: SharedStep? { state.withLock { $0.last } }

  func listen(_ wakeUp: WakeUp) { wakeUps.withLock { $0[ObjectIdentifier(wakeUp)] = wakeUp } }

  func ignore(_ wakeUp: WakeUp) { wakeUps.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(wakeUp)) } }

  func wake() { for wakeUp in wakeUps.withLock({ $0 }).values { wakeUp.ring() } }

  func fail(_ error: LibraryError) { for wakeUp in wakeUps.withLock({ $0 }).values { wakeUp.fail(error) } }

  func recover() { for wakeUp in wakeUps.withLock({ $0 }).values { wakeUp.recover() } }

  func end() { for wakeUp in wakeUps.withLock({ $0 }).values { wakeUp.end() } }
}
