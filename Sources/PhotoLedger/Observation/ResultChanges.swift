import Synchronization

/// The changes of one fetch result, from the one that is held on: an endless asynchronous sequence (FR-17, OB-01,
/// OB-03).
///
/// Each element is exact and names the result it starts from and the one it leads to; the next one starts from there.
/// While the consumer keeps up, every commit that touches the result is one element. When it has fallen more than
/// ``backlogLimit`` such commits behind, they come as one composed element. The sequence ends when the library is
/// closed.
///
/// It throws if the log cannot be read. A reason that passes, such as no free reader slot, is given ten seconds to pass
/// before a waiting consumer gets the error. An iterator that is asked again continues where it was.
///
/// It throws `.corrupted` if the result contradicts the store, as after damage to its rows: an iterator that follows by
/// then delivers the changes before it first, and one that is asked again throws the same. Results of other queries
/// continue.
public struct ResultChanges<Element: Hashable & Sendable>: AsyncSequence, Sendable {
  let held: FetchResult<Element>
  /// The number of touching commits that are delivered one by one before they are composed.
  public let backlogLimit: Int

  /// Starts to follow; several iterators follow independently, each from the held result.
  public func makeAsyncIterator() -> Iterator { Iterator(held, backlogLimit) }

  /// The changes in two steps, for a task that waits for long.
  package var pending: PendingChanges<Element> { PendingChanges(held, backlogLimit) }

  /// Follows a result.
  public struct Iterator: AsyncIteratorProtocol {
    private let changes: PendingChanges<Element>

    init(_ held: FetchResult<Element>, _ backlogLimit: Int) { changes = PendingChanges(held, backlogLimit) }

    /// The next change; waits for it.
    /// - Throws: ``LibraryError`` if the log cannot be read.
    /// - Complexity: O(k log n) for k objects touched since the last one.
    public mutating func next() async throws -> ChangeDetails<Element>? {
      try await changes.follower.next().map { changes.details($0) }
    }

    /// The pending change, if there is a subscription.
    func take() throws -> ChangeDetails<Element>? { try changes.take() }

    /// Begins to listen, if it was not begun before.
    func listen() throws { try changes.follower.listen() }
  }
}

/// The changes of a result, read and waited for in two steps: a task keeps the largest stack that it ever had, and one
/// that only waits needs no room for a change.
package struct PendingChanges<Element: Hashable & Sendable>: Sendable {
  fileprivate let follower: Follower
  private let load: ObjectLoader<Element>

  fileprivate init(_ held: FetchResult<Element>, _ backlogLimit: Int) {
    follower = Follower(held.state, in: held.store, backlogLimit: backlogLimit)
    load = held.load
  }

  /// Begins to listen, if it was not begun before.
  /// - Throws: ``LibraryError`` as ``next()`` does.
  /// - Complexity: O(n) the first time for a result of which only the beginning was read.
  package func begin() throws { try follower.listen() }

  /// The orders that following keeps in memory.
  package var followedOrders: FollowedOrders { follower.orders }

  /// The next change; nil if there is none yet.
  /// - Throws: ``LibraryError`` if the log cannot be read.
  /// - Complexity: O(k log n) for k objects touched since the last one.
  package func next() throws -> ChangeDetails<Element>? {
    try follower.listen()
    return try take()
  }

  /// Waits, after ``next()`` found nothing, until there may be a change; false when there will be none any more, or the
  /// task is cancelled.
  package func wait() async throws -> Bool { try await follower.wait() }

  fileprivate func take() throws -> ChangeDetails<Element>? { try follower.take().map { details($0) } }

  fileprivate func details(_ delivery: Follower.Delivery) -> ChangeDetails<Element> {
    ChangeDetails(
      before: FetchResult(delivery.before, store: follower.store, load: load),
      after: FetchResult(delivery.after, store: follower.store, load: load), commits: delivery.commits,
      changes: delivery.changes)
  }
}

/// The orders that a follower keeps in memory: those of the results that it holds, and that of its live query.
package struct FollowedOrders: Sendable {
  /// Those of the results that it holds.
  package let held: [KeptOrder]
  private let query: LiveQuery?

  fileprivate init(_ held: [ResultCore], _ query: LiveQuery?) {
    (self.held, self.query) = (held.map { KeptOrder($0) }, query)
  }

  /// That of the live query as it is now, which grows while the follower does nothing; nil before it listens.
  /// - Complexity: O(log n).
  package var live: KeptOrder? { query.map { $0.keptOrder } }

  /// All of them.
  /// - Parameter live: that of the live query, as it was read before.
  package func all(with live: KeptOrder?) -> [KeptOrder] { held + (live.map { [$0] } ?? []) }

  /// Whether other orders are of the same live query, and those of the results of the same origins.
  package func areOfSameOrigins(as other: FollowedOrders) -> Bool {
    query === other.query && held.elementsEqual(other.held) { $0.origin === $1.origin }
  }
}

/// Holds a result and computes its changes; independent of the type of its objects.
///
/// Mutable state and its guard: `state` has a lock, which is taken before those of ``Observation`` and of live queries.
final class Follower: Sendable {
  /// A change as delivered.
  typealias Delivery = (before: ResultState, after: ResultState, commits: [CommitSummary], changes: SharedChanges)

  private struct State {
    /// The last delivered result: the next change starts from it (CD-02).
    var delivered: ResultState
    /// The same result, advanced over commits without visible changes; nil if it was not.
    var ahead: ResultCore?
    var query: LiveQuery?
    /// Whether that is not the query of what is held, whose client's permission was changed.
    var isAdrift = false
    /// The known commits up to the present, for a lagging owner.
    var arrival: Arrival?
    /// Whether rows of erased assets led to what is held: then it may stand elsewhere than in the live query, whose
    /// steps are not its own any more.
    var isBlind = false

    var held: ResultCore { ahead ?? delivered.core }
    var commit: UInt64 { ahead?.commit ?? delivered.commit }
    /// How many objects the order of what is held has.
    var orderCount: Int { ahead?.order.count ?? delivered.madeCount }
  }

  let store: LibraryStore
  private let state: Mutex<State>
  private let wakeUp = WakeUp()
  private let backlogLimit: Int
  private var observation: Observation { store.observation }

  init(_ held: ResultState, in store: LibraryStore, backlogLimit: Int) {
    state = Mutex(State(delivered: held))
    self.store = store
    self.backlogLimit = backlogLimit
  }

  deinit { state.withLock { $0.query?.ignore(wakeUp) } }

  /// The orders that it keeps in memory.
  var orders: FollowedOrders {
    state.withLock { state in
      FollowedOrders([state.delivered.frame] + (state.ahead.map { [$0] } ?? []), state.query)
    }
  }

  /// The next change; waits for it. Nil when there will be none.
  func next() async throws -> Delivery? {
    try listen()
    while true {
      if let delivery = try take() { return delivery }
      guard try await wait() else { return nil }
    }
  }

  /// Waits until there may be a change; false when there will be none any more.
  func wait() async throws -> Bool { try await wakeUp.wait() }

  /// Subscribes to commits that touch the result, on first use.
  func listen() throws {
    try state.withLock { state in
      guard state.query == nil else { return }
      _ = try state.delivered.made(in: store)
      try follow(&state)
      let held = state.held
      state.isBlind =
        held.plan.query.entity == .asset
        && observation.mayBeBlank(held.commit, readAt: state.delivered.readAt)
      if observation.isClosed { wakeUp.end() }
    }
  }

  /// Listens to the live query of the result that is held now.
  private func follow(_ state: inout State) throws {
    let held = state.held
    let (query, arrival) = try observation.live(held, composingBeyond: backlogLimit)
    if let old = state.query, old !== query { old.ignore(wakeUp) }
    query.listen(wakeUp)
    (state.query, state.isAdrift) = (query, false)
    // Nothing after a change of the client's permission is delivered.
    if let arrival, !arrival.way.isEmpty, try store.accessChange(of: held, through: arrival.to) == nil {
      state.arrival = arrival.way
    }
  }

  /// The pending change: nothing, one commit, or everything since.
  func take() throws -> Delivery? {
    try state.withLock { state in
      while let query = state.query {
        // The common case: the live query's last step, which all share.
        if state.arrival == nil, !state.isBlind, !state.isAdrift,
          case .next(let last) = query.outlook(after: state.commit), last?.step.isBlind != true,
          !mayHaveNewAccess(state)
        {
          guard let last else { return nil }
          try last.step.checkStart(count: state.orderCount)
          let view = try last.view(like: state.delivered, in: store)
          if let delivery = try deliver(&state, view, last.step.commits) { return delivery }
        } else {
          // After an error the caller may ask again, and gets the undelivered changes.
          let before = (state.delivered, state.ahead, state.arrival, state.isBlind, state.isAdrift)
          do {
            guard let step = try next(&state) else { return nil }
            state.isBlind = state.isBlind || step.isBlind
            let readAt = step.readAt ?? state.delivered.readAt
            let view = try StepView(of: step, like: state.delivered, readAt: readAt, in: store)
            if let delivery = try deliver(&state, view, step.commits) { return delivery }
          } catch {
            (state.delivered, state.ahead, state.arrival, state.isBlind, state.isAdrift) = before
            throw error
          }
        }
      }
      return nil
    }
  }

  /// Whether the client's permission may have been changed by the last commit that the live query has stepped over.
  /// Asked after reading the live query, which advances meanwhile.
  private func mayHaveNewAccess(_ state: State) -> Bool {
    state.delivered.client != PhotoLibrary.owner && observation.mayHaveNewAccess(since: state.commit)
  }

  /// Advances to the result of a step, and returns the change to deliver.
  private func deliver(_ state: inout State, _ view: StepView, _ commits: [CommitSummary]) throws -> Delivery? {
    guard let changes = view.changes else {
      state.ahead = view.state.core
      return nil
    }
    let before = state.delivered
    let commits = try store.commits(commits, asSeenBy: before.client)
    (state.delivered, state.ahead) = (view.state, nil)
    return (before, view.state, commits, changes)
  }

  /// The first step from what is held, if there is one; afterwards it is what is held.
  private func next(_ state: inout State) throws -> Step? {
    if let step = try nextOfArrival(&state) { return step }
    if state.isAdrift, try !comeBack(&state) { return try nextAtTheEnd(&state) }
    if let step = try nextOfArrival(&state) { return step }
    guard let query = state.query else { return nil }
    let held = state.held
    let isBlind = state.isBlind
    // Read at once: a failure that came later may have steps before it.
    let (steps, current, last, failure) = observation.reading(query) { query, head in
      // Other commits touch what lacks the values of erased assets than touch the live query.
      (
        isBlind ? nil : query.steps(after: held.commit).map(Array.init), query.current(at: head), query.lastStep,
        query.failure
      )
    }
    // Checked after reading the live query, which advances meanwhile: no step after such a change is delivered.
    if let commit = try store.accessChange(of: held, through: max(current.commit, failure?.lastCommit ?? 0)) {
      return try cross(&state, commit, steps)
    }
    if steps?.isEmpty ?? (held.commit >= current.commit) {
      // What came before is delivered; the live query cannot be stepped any further.
      if let failure { throw failure.error }
      return nil
    }
    guard let steps else { return try catchUp(&state, with: current) }
    // Computed from the live tree where possible, so that all followers of a query share it.
    if steps.count == 1, let last = last?.step, !last.isBlind {
      try last.checkStart(count: held.order.count)
      return Step(after: current, touched: last.touched, commits: last.commits)
    }
    // Commits that are known not to touch the result need not be read.
    let start = steps[0].commit - 1
    if steps.count(where: \.isTouching) > backlogLimit {
      let delta = try observation.composedDelta(
        from: start, to: current.commit, withDetails: held.plan.searchesDetails)
      return try Step(from: held, to: current, by: delta)
    }
    let withDetails = held.plan.searchesDetails
    guard let deltas = observation.recentDeltas(from: start, to: steps[0].commit, withDetails: withDetails) else {
      // Everything up to now has to be read for one of them, so it is read once for all.
      if start > state.commit { state.ahead = try store.unchanged(held, at: start) }
      return try catchUp(&state, with: current)
    }
    var step: Step?
    for delta in deltas {
      step = try Step(from: step?.after ?? held, by: delta)
    }
    return step
  }

  /// Advances to a commit that changed the client's permission: earlier commits are delivered first.
  /// - Parameter steps: the commits that changed the result, as far as the live query remembers.
  private func cross(_ state: inout State, _ commit: UInt64, _ steps: [LiveQuery.Advance]?) throws -> Step? {
    var target = commit
    // Commits that are known not to touch the result need not be read.
    if let steps {
      let start = steps.first { $0.commit < commit }.map { $0.commit - 1 } ?? commit - 1
      if start > state.commit { state.ahead = try store.unchanged(state.held, at: start) }
    }
    if state.commit < commit - 1 {
      let earlier = try observation.deltas(
        from: state.commit, to: commit - 1, withDetails: state.held.plan.searchesDetails)
      if try state.held.isTouched(byMoreThan: backlogLimit, of: earlier) {
        target = try observation.head().commit
      } else {
        state.arrival = Arrival(backlog: earlier)
        if let step = try nextOfArrival(&state) { return step }
      }
    }
    let held = state.held
    let step = try store.crossing(held, to: target)
    (state.ahead, state.isAdrift) = (step.after.shown(like: held), true)
    return step
  }

  /// Listens to the live query of what is held now; false in a library that was closed, where nothing is live.
  private func comeBack(_ state: inout State) throws -> Bool {
    do {
      try follow(&state)
    } catch {
      guard observation.isClosed else { throw error }
    }
    // A close in between may have missed this wake-up.
    if observation.isClosed { wakeUp.end() }
    return !state.isAdrift
  }

  /// The remaining changes of a closed library, for followers without a live query.
  private func nextAtTheEnd(_ state: inout State) throws -> Step? {
    let held = state.held
    let end = try observation.head().commit
    if let commit = try store.accessChange(of: held, through: end) { return try cross(&state, commit, nil) }
    switch try observation.way(of: held, to: end, composingBeyond: backlogLimit) {
    case .atOnce(let delta): return try Step(from: held, by: delta)
    case .each(let deltas): state.arrival = Arrival(backlog: deltas)
    }
    return try nextOfArrival(&state)
  }

  /// The first commit that touched a result which is older than what the live query remembers, or all as one.
  private func catchUp(_ state: inout State, with current: ResultCore) throws -> Step? {
    let held = state.held
    guard held.commit < current.commit else { return nil }
    switch try observation.way(of: held, to: current.commit, composingBeyond: backlogLimit) {
    case .atOnce(let delta): return try Step(from: held, to: current, by: delta)
    case .each(let deltas): state.arrival = Arrival(backlog: deltas)
    }
    if let step = try nextOfArrival(&state) { return step }
    let size = current.order.count
    let nothing = TouchedPositions(beforeCount: size, afterCount: size, removed: [], inserted: [])
    let step = Step(after: current, touched: nothing, commits: [])
    if !state.isBlind { try step.checkStart(count: state.held.order.count) }
    return step
  }

  /// All as one, or the next commit of a backlog that touched the result; passes over those that did not.
  private func nextOfArrival(_ state: inout State) throws(LibraryError) -> Step? {
    if let step = state.arrival?.step {
      state.arrival = nil
      return step
    }
    while let delta = state.arrival?.next() {
      let step = try Step(from: state.held, by: delta)
      if !step.touched.isEmpty { return step }
      state.ahead = step.after
    }
    state.arrival = nil
    return nil
  }
}
