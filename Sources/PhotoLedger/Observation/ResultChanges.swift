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
    private var wakes: AsyncThrowingStream<Void, any Error>.Iterator?
    private let stream: AsyncThrowingStream<Void, any Error>
    private let continuation: AsyncThrowingStream<Void, any Error>.Continuation

    init(_ held: FetchResult<Element>, _ backlogLimit: Int) {
      follower = Follower(held, backlogLimit: backlogLimit)
      (stream, continuation) = AsyncThrowingStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The next change; waits for it.
    /// - Throws: ``LibraryError`` if the log cannot be read.
    /// - Complexity: O(k log n) for k objects touched since the last one.
    public mutating func next() async throws -> ChangeDetails<Element>? {
      if wakes == nil {
        try follower.listen(wake: { [continuation] in continuation.yield() }) { [continuation] error in
          if let error { continuation.finish(throwing: error) } else { continuation.finish() }
        }
        wakes = stream.makeAsyncIterator()
      }
      while true {
        if let details = try follower.take() { return details }
        guard try await wakes?.next() != nil else { return nil }
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
    var listener: LiveQuery.Listener?
    /// For an owner who wants each commit and is far behind: the deltas after `core`, newest first, read once.
    var backlog: [Delta] = []
  }

  private let state: Mutex<State>
  private let key: UInt64
  private let backlogLimit: Int
  private let observation: Observation
  private let store: LibraryStore

  init(_ held: FetchResult<Element>, backlogLimit: Int) {
    state = Mutex(State(told: held, core: held.core, query: nil))
    store = held.store
    observation = held.store.observation
    self.backlogLimit = backlogLimit
    key = followerKeys.wrappingAdd(1, ordering: .relaxed).newValue
  }

  deinit { state.withLock { $0.query?.ignore(key) } }

  /// Asks to be woken when a commit touched the result.
  func listen(wake: @escaping @Sendable () -> Void, finish: @escaping @Sendable ((any Error)?) -> Void) throws {
    let listener = LiveQuery.Listener(wake: wake, finish: finish)
    try state.withLock { state in
      state.listener = listener
      try follow(&state)
    }
    if observation.isClosed { finish(nil) }
  }

  /// Listens to the live query of the result that is held now.
  private func follow(_ state: inout State) throws {
    let query = try observation.live(state.core)
    if let old = state.query, old !== query { old.ignore(key) }
    if let listener = state.listener { query.listen(key, listener) }
    state.query = query
  }

  /// What there is to tell now: nothing, one commit, or everything since.
  func take() throws -> ChangeDetails<Element>? {
    try state.withLock { state in
      while let query = state.query, let step = try next(&state, query) {
        let before = state.told
        state.core = step.after.shown(like: before.core)
        guard let changes = state.core.changes(step.touched) else { continue }
        state.told = try FetchResult(core: state.core, like: before)
        let commits = try before.store.commits(step.commits, asSeenBy: before.core.client)
        return ChangeDetails(before: before, after: state.told, commits: commits, changes: changes)
      }
      return nil
    }
  }

  private typealias Step = (after: ResultCore, touched: TouchedPositions, commits: [CommitSummary])

  private func next(_ state: inout State, _ query: LiveQuery) throws -> Step? {
    if let step = nextOfBacklog(&state) { return step }
    let held = state.core
    let (steps, current, last) = observation.reading(query) { query, commit in
      (query.steps(after: held.commit).map(Array.init), query.current(at: commit), query.lastStep)
    }
    // Asked after the look at the live query, which goes on meanwhile: no step is told that lies behind such a change.
    if let commit = try store.accessChange(of: held, through: current.commit) { return try cross(&state, commit) }
    guard let steps else { return try catchUp(&state, with: current) }
    // Told from the live tree where possible, so that all followers of a query share it.
    if steps.isEmpty { return nil }
    if steps.count == 1, let last { return (current, last.touched, last.commits) }
    // What is known to have left the result as it was need not be read.
    let start = steps[0].commit - 1
    if steps.count(where: \.isTouching) > backlogLimit { return try composed(held, current, after: start) }
    var step: Step?
    for delta in try observation.deltas(from: start, to: steps[0].commit) {
      let (after, touched) = (step?.after ?? held).advanced(by: delta)
      step = (after, touched, delta.commits)
    }
    return step
  }

  /// Goes on to a commit that changed the client's permission: what comes before it is told first.
  private func cross(_ state: inout State, _ commit: UInt64) throws -> Step? {
    var held = state.core
    var target = commit
    if held.commit < commit - 1 {
      let earlier = try observation.deltas(from: held.commit, to: commit - 1)
      if hasTooMany(earlier, touching: held) {
        target = try observation.head()
      } else {
        state.backlog = earlier.reversed()
        if let step = nextOfBacklog(&state) { return step }
        held = state.core
      }
    }
    let step = try store.crossed(held, to: target)
    state.core = step.after.shown(like: held)
    try follow(&state)
    return step
  }

  /// The first commit that touched a result which is older than what the live query remembers, or all as one.
  private func catchUp(_ state: inout State, with current: ResultCore) throws -> Step? {
    let held = state.core
    guard held.commit < current.commit else { return nil }
    let deltas = try observation.deltas(from: held.commit, to: current.commit)
    if hasTooMany(deltas, touching: held) { return try composed(held, current) }
    state.backlog = deltas.reversed()
    if let step = nextOfBacklog(&state) { return step }
    let size = current.order.count
    return (current, TouchedPositions(beforeCount: size, afterCount: size, removed: [], inserted: []), [])
  }

  /// Whether more commits touch a result than are told one by one.
  private func hasTooMany(_ deltas: [Delta], touching held: ResultCore) -> Bool {
    guard deltas.count > backlogLimit else { return false }
    var core = held
    var count = 0
    for delta in deltas where count <= backlogLimit {
      let (after, touched) = core.advanced(by: delta)
      core = after
      if !touched.isEmpty { count += 1 }
    }
    return count > backlogLimit
  }

  /// The next commit of the backlog that touched the result; passes over those that did not.
  private func nextOfBacklog(_ state: inout State) -> Step? {
    while let delta = state.backlog.popLast() {
      let (after, touched) = state.core.advanced(by: delta)
      if !touched.isEmpty { return (after, touched, delta.commits) }
      state.core = after
    }
    return nil
  }

  private func composed(_ held: ResultCore, _ current: ResultCore, after commit: UInt64? = nil) throws -> Step {
    let delta = try observation.composedDelta(from: commit ?? held.commit, to: current.commit)
    return (current, held.positions(of: delta, after: current), delta.commits)
  }
}

private let followerKeys = Atomic<UInt64>(0)
