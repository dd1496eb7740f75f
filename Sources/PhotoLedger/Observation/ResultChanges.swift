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
  }

  private let state: Mutex<State>
  private let key: UInt64
  private let backlogLimit: Int
  private let observation: Observation

  init(_ held: FetchResult<Element>, backlogLimit: Int) {
    state = Mutex(State(told: held, core: held.core, query: nil))
    observation = held.store.observation
    self.backlogLimit = backlogLimit
    key = followerKeys.wrappingAdd(1, ordering: .relaxed).newValue
  }

  deinit { state.withLock { $0.query?.ignore(key) } }

  /// Asks to be woken when a commit touched the result.
  func listen(wake: @escaping @Sendable () -> Void, finish: @escaping @Sendable ((any Error)?) -> Void) throws {
    let query = try observation.live(state.withLock { $0.core })
    query.listen(key, LiveQuery.Listener(wake: wake, finish: finish))
    state.withLock { $0.query = query }
    if observation.isClosed { finish(nil) }
  }

  /// What there is to tell now: nothing, one commit, or everything since.
  func take() throws -> ChangeDetails<Element>? {
    try state.withLock { state in
      guard let query = state.query else { return nil }
      while let step = try next(state.core, query) {
        let before = state.told
        state.core = step.after.shown(
          in: before.core.window, wantsIncrementalChanges: before.core.wantsIncrementalChanges)
        guard let changes = state.core.changes(step.touched) else { continue }
        state.told = FetchResult(core: state.core, store: before.store, load: before.load)
        return ChangeDetails(before: before, after: state.told, commits: step.commits, changes: changes)
      }
      return nil
    }
  }

  private typealias Step = (after: ResultCore, touched: TouchedPositions, commits: [CommitSummary])

  private func next(_ held: ResultCore, _ query: LiveQuery) throws -> Step? {
    let (steps, current, last) = observation.reading(query) { query, commit in
      (query.steps(after: held.commit).map(Array.init), query.current(at: commit), query.lastStep)
    }
    guard let steps else { return try catchUp(held, with: current) }
    // Told from the live tree where possible, so that all followers of a query share it.
    if steps.isEmpty { return nil }
    if steps.count == 1, let last { return (current, last.touched, last.commits) }
    // What is known not to have touched the result need not be read.
    if steps.count > backlogLimit { return try composed(held, current, after: steps[0] - 1) }
    guard let delta = try observation.deltas(from: steps[0] - 1, to: steps[0]).first else { return nil }
    let (after, touched) = held.advanced(by: delta)
    return (after, touched, delta.commits)
  }

  /// The first commit that touched a result which is older than what the live query remembers, or all as one.
  private func catchUp(_ held: ResultCore, with current: ResultCore) throws -> Step? {
    guard held.commit < current.commit else { return nil }
    var first: Step?
    var count = 0
    var core = held
    for delta in try observation.deltas(from: held.commit, to: current.commit) {
      let (after, touched) = core.advanced(by: delta)
      core = after
      guard !touched.isEmpty else { continue }
      count += 1
      if first == nil { first = (after, touched, delta.commits) }
      if backlogLimit == .max { return first }
      if count > backlogLimit { return try composed(held, current) }
    }
    let unchanged = TouchedPositions(
      beforeCount: held.order.count, afterCount: held.order.count, removed: [], inserted: [])
    return first ?? (current, unchanged, [])
  }

  private func composed(_ held: ResultCore, _ current: ResultCore, after commit: UInt64? = nil) throws -> Step {
    let delta = try observation.composedDelta(from: commit ?? held.commit, to: current.commit)
    return (current, held.positions(of: delta, after: current), delta.commits)
  }
}

private let followerKeys = Atomic<UInt64>(0)
