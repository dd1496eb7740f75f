import Synchronization

/// The changes of one fetch result, from the one that is held on: an endless asynchronous sequence (FR-17, OB-01,
/// OB-03).
///
/// Each element is exact and names the result it starts from and the one it leads to; the next one starts from there.
/// While the consumer keeps up, every commit that touches the result is one element. When it has fallen more than
/// ``backlogLimit`` such commits behind, they come as one composed element. The sequence ends when the library is
/// closed and throws if the log can no longer be read.
public struct ResultChanges<Element: Hashable & Sendable>: AsyncSequence, Sendable {
  let held: FetchResult<Element>
  /// How many touching commits are told one by one before they are composed.
  public let backlogLimit: Int

  /// Starts to follow; several iterators follow independently, each from the held result.
  public func makeAsyncIterator() -> Iterator { Iterator(held, backlogLimit) }

  /// Follows a result.
  public struct Iterator: AsyncIteratorProtocol {
    private let follower: Follower<Element>
    private var isListening = false

    init(_ held: FetchResult<Element>, _ backlogLimit: Int) { follower = Follower(held, backlogLimit: backlogLimit) }

    /// The next change; waits for it.
    /// - Throws: ``LibraryError`` if the log cannot be read.
    /// - Complexity: O(k log n) for k objects touched since the last one.
    public mutating func next() async throws -> ChangeDetails<Element>? {
      if !isListening {
        try follower.listen()
        isListening = true
      }
      while true {
        if let details = try follower.take() { return details }
        guard try await follower.alarm.wait() else { return nil }
      }
    }
  }
}

/// Holds a result and works out what to tell about it.
final class Follower<Element: Hashable & Sendable>: Sendable {
  private struct State {
    /// What the owner was told last: the next change starts from it (CD-02).
    var told: FetchResult<Element>
    /// The same result, gone on over commits that showed nothing.
    var core: ResultCore
    var query: LiveQuery?
    /// For an owner who wants each commit and is far behind: the deltas after `core`, newest first, read once.
    var backlog: [Delta] = []
    /// For an owner who is far behind and wants one: the step from `core` to what was the present when it was read.
    var arrival: Step?

    var store: LibraryStore { told.store }
    var observation: Observation { store.observation }
  }

  let alarm = Alarm()
  private let state: Mutex<State>
  private let backlogLimit: Int

  init(_ held: FetchResult<Element>, backlogLimit: Int) {
    state = Mutex(State(told: held, core: held.core))
    self.backlogLimit = backlogLimit
  }

  deinit { state.withLock { $0.query?.ignore(alarm) } }

  /// Asks to be woken when a commit touched the result.
  func listen() throws {
    try state.withLock { state in
      try follow(&state)
      if state.observation.isClosed { alarm.end(.success(())) }
    }
  }

  /// Listens to the live query of the result that is held now.
  private func follow(_ state: inout State) throws {
    let (query, arrival) = try state.observation.live(state.core, composingBeyond: backlogLimit)
    if let old = state.query, old !== query { old.ignore(alarm) }
    query.listen(alarm)
    state.query = query
    // What lies behind a change of the client's permission is not told.
    guard let arrival, try state.store.accessChange(of: state.core, through: arrival.after.commit) == nil else { return }
    (state.backlog, state.arrival) = (arrival.backlog, arrival.step)
  }

  /// What there is to tell now: nothing, one commit, or everything since.
  func take() throws -> ChangeDetails<Element>? {
    try state.withLock { state in
      while let query = state.query, let step = try next(&state, query) {
        let before = state.told
        let view = step.last?.view(like: state.core) ?? LastStep.View(step.after.shown(like: state.core), step.touched)
        state.core = view.after
        guard let changes = view.changes else { continue }
        state.told = try FetchResult(core: view.after, view.latest, view.mediaTypeCounts, like: before)
        let commits = try state.store.commits(step.commits, asSeenBy: before.core.client)
        return ChangeDetails(before: before, after: state.told, commits: commits, changes: changes)
      }
      return nil
    }
  }

  /// The first step from what is held, if there is one; afterwards it is what is held.
  private func next(_ state: inout State, _ query: LiveQuery) throws -> Step? {
    if let step = state.arrival {
      state.arrival = nil
      return step
    }
    if let step = nextOfBacklog(&state) { return step }
    // The common case takes one lock: nobody's permission to see everything changes.
    if state.core.client == PhotoLibrary.owner, case .next(let last) = query.outlook(after: state.core.commit) {
      return last.map(Step.init)
    }
    let held = state.core
    let (steps, current, last) = state.observation.reading(query) { query, head in
      (query.steps(after: held.commit).map(Array.init), query.current(at: head), query.lastStep)
    }
    // Asked after the look at the live query, which goes on meanwhile: no step is told that lies behind such a change.
    if let commit = try state.store.accessChange(of: held, through: current.commit) { return try cross(&state, commit) }
    guard let steps else { return try catchUp(&state, with: current) }
    // Told from the live tree where possible, so that all followers of a query share it.
    if steps.isEmpty { return nil }
    if steps.count == 1, let last { return Step(last) }
    // What is known to have left the result as it was need not be read.
    let start = steps[0].commit - 1
    if steps.count(where: \.isTouching) > backlogLimit {
      let delta = try state.observation.composedDelta(from: start, to: current.commit)
      return Step(from: held, to: current, by: delta)
    }
    var step: Step?
    for delta in try state.observation.deltas(from: start, to: steps[0].commit) {
      step = Step(from: step?.after ?? held, by: delta)
    }
    return step
  }

  /// Goes on to a commit that changed the client's permission: what comes before it is told first.
  private func cross(_ state: inout State, _ commit: UInt64) throws -> Step? {
    var target = commit
    if state.core.commit < commit - 1 {
      let earlier = try state.observation.deltas(from: state.core.commit, to: commit - 1)
      if state.core.isTouched(byMoreThan: backlogLimit, of: earlier) {
        target = try state.observation.head().commit
      } else {
        state.backlog = earlier.reversed()
        if let step = nextOfBacklog(&state) { return step }
      }
    }
    let held = state.core
    let (after, touched, commits) = try state.store.crossed(held, to: target)
    state.core = after.shown(like: held)
    try follow(&state)
    return Step(after: after, touched: touched, commits: commits)
  }

  /// The first commit that touched a result which is older than what the live query remembers, or all as one.
  private func catchUp(_ state: inout State, with current: ResultCore) throws -> Step? {
    let held = state.core
    guard held.commit < current.commit else { return nil }
    switch try state.observation.way(of: held, to: current.commit, composingBeyond: backlogLimit) {
    case .atOnce(let delta): return Step(from: held, to: current, by: delta)
    case .each(let deltas): state.backlog = deltas
    }
    if let step = nextOfBacklog(&state) { return step }
    let size = current.order.count
    let nothing = TouchedPositions(beforeCount: size, afterCount: size, removed: [], inserted: [])
    return Step(after: current, touched: nothing, commits: [])
  }

  /// The next commit of the backlog that touched the result; passes over those that did not.
  private func nextOfBacklog(_ state: inout State) -> Step? {
    while let delta = state.backlog.popLast() {
      let step = Step(from: state.core, by: delta)
      if !step.touched.isEmpty { return step }
      state.core = step.after
    }
    return nil
  }
}

/// What leads from one value of a result to a later one.
struct Step: Sendable {
  let after: ResultCore
  /// Where the touched objects stood and stand.
  let touched: TouchedPositions
  let commits: [CommitSummary]
  /// The step of a live query that it is, if it is one.
  var last: LastStep?
}

extension Step {
  /// What a delta does to a result.
  /// - Complexity: O(k log n).
  init(from held: ResultCore, by delta: Delta) {
    let (after, touched) = held.advanced(by: delta)
    self.init(after: after, touched: touched, commits: delta.commits)
  }

  /// What a delta did that led from a result to a known one, which is shared.
  /// - Complexity: O(k log n).
  init(from held: ResultCore, to after: ResultCore, by delta: Delta) {
    self.init(after: after, touched: held.positions(of: delta, after: after), commits: delta.commits)
  }

  init(_ last: LastStep) { self.init(after: last.after, touched: last.touched, commits: last.commits, last: last) }
}

/// How somebody came to the present who made a result live.
struct Arrival: Sendable {
  /// The result of the present.
  let after: ResultCore
  /// The commits that lead there, newest first, if they are to be told one by one.
  var backlog: [Delta] = []
  /// The step that leads there, if they are to be told as one.
  var step: Step?

  init(of held: ResultCore, by way: Observation.Way) {
    switch way {
    case .each(let deltas):
      after = deltas.reversed().reduce(held) { $0.advanced(by: $1).after }
      backlog = deltas
    case .atOnce(let delta):
      let step = Step(from: held, by: delta)
      after = step.after
      self.step = step
    }
  }
}

extension ResultCore {
  /// Whether more than so many of several deltas, each of which follows the one before, touch the list.
  /// - Complexity: O(k log n) in the objects of the deltas.
  func isTouched(byMoreThan limit: Int, of deltas: [Delta]) -> Bool {
    guard deltas.count > limit else { return false }
    var core = self
    var count = 0
    for delta in deltas where count <= limit {
      let (after, touched) = core.advanced(by: delta)
      core = after
      if !touched.isEmpty { count += 1 }
    }
    return count > limit
  }
}
