import EventLog
import Foundation
import LMDB
import Synchronization

// Following the log.
//
// One thread for each opened library sleeps on the change signal. Whenever some process has committed, it reads the
// new commits as deltas, lets every live query step from commit to commit, and wakes whoever subscribed to a query
// that was touched, and the observers. The log is the truth and the signal a hint: a lost hint is repaired by looking
// at the head twice a second, and commits of this process come by the same road as those of others.
//
//     signal ─→ pump ─→ deltas of the new commits ─→ live queries step ─→ subscriptions, observers are woken
//                                                                            │
//                            held result ─ take() ─→ one commit on, or one composed change if far behind
//
// A subscription keeps nothing but the result its owner holds. What to tell is worked out when it asks: one commit at a
// time while it keeps up, one exact composed change when it is more than its backlog behind. So ten thousand
// observers of one query cost one step of one tree and a wake-up each.
//
// Everything mutable is in `state` and guarded by its lock, live queries included. `pumping` is taken before it
// and lets one thread at a time read ahead.

/// Follows the commits of a store and tells live results and observers.
final class Observation: Sendable {
  struct State {
    /// The last commit that live queries have stepped to; nil before the first is asked for.
    var commit: UInt64?
    /// The deltas that lead to it, oldest first, without gaps; older ones are read from the log again.
    var recent: [Delta] = []
    var queries: [Query: WeakQuery] = [:]
    var observers: [ObserverBox] = []
    /// The commit at which following began, and the last one since that changed somebody's permission.
    var beginning: UInt64 = 0
    var lastAccessChange: UInt64 = 0
    var isClosed = false
  }

  struct WeakQuery {
    weak var query: LiveQuery?
  }

  /// How many deltas are kept for subscriptions that lag.
  static let recentLimit = 256
  /// How many objects those may touch: an import's deltas are large, and the log has them too.
  static let recentObjectLimit = 20_000
  /// How long a lost hint can go unnoticed, in milliseconds.
  static let pollMilliseconds = 500

  let core: StoreCore
  private let signal: ChangeSignal
  private let availability: Availability
  private let state = Mutex(State())
  private let pumping = Mutex(())

  init(core: StoreCore, signal: ChangeSignal, availability: Availability) {
    self.core = core
    self.signal = signal
    self.availability = availability
  }

  /// Tells what was committed before, then ends all following.
  func close() {
    do { try pump() } catch { fail(error) }
    let queries = state.withLock { state in
      state.isClosed = true
      state.observers = []
      return state.queries.values.compactMap(\.query)
    }
    for query in queries { query.finish() }
    signal.cancel()
  }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  // MARK: The thread

  /// Begins to follow, if nobody has asked before.
  private func start() throws {
    guard state.withLock({ $0.commit == nil || $0.isClosed }) else { return }
    // Read before the lock is taken: whoever fetches holds a transaction while it asks for the lock.
    let head = try head()
    let isFirst = try state.withLock { state in
      guard !state.isClosed else { throw LibraryError(.closed, "The library was closed; open it again.") }
      guard state.commit == nil else { return false }
      state.commit = head
      state.beginning = head
      return true
    }
    guard isFirst else { return }
    let thread = Thread { [self] in
      while !isClosed {
        _ = signal.wait(milliseconds: Self.pollMilliseconds)
        do {
          try pump()
        } catch {
          fail(error)
        }
      }
    }
    thread.name = "ledger-observer"  // Linux allows 15 bytes.
    thread.start()
  }

  /// A log that cannot be read ends all following, and says so to every subscriber.
  private func fail(_ error: any Error) {
    let error = LibraryError(error)
    let queries = state.withLock { $0.queries.values.compactMap(\.query) }
    for query in queries { query.fail(error) }
    if error.code == .corrupted { availability.end(error) }
  }

  /// Reads the commits that are new and lets every live query step over them.
  func pump() throws {
    try pumping.withLock { _ in
      guard let commit = state.withLock({ $0.isClosed ? nil : $0.commit }) else { return }
      let deltas = try deltas(after: commit)
      guard let head = deltas.last?.to else { return }
      let (touched, observers) = state.withLock { state in step(&state, deltas) }
      for query in touched { query.wake() }
      for observer in observers { observer.schedule(self, through: head) }
    }
  }

  private func step(_ state: inout State, _ deltas: [Delta]) -> (touched: [LiveQuery], observers: [ObserverBox]) {
    var touched: [ObjectIdentifier: LiveQuery] = [:]
    state.queries = state.queries.filter { $0.value.query != nil }
    for delta in deltas {
      // Whoever sees the library by a permission that was changed looks at another query from now on.
      if !delta.clients.isEmpty { state.lastAccessChange = delta.to }
      for case let query? in state.queries.values.map(\.query) where query.step(delta) || !delta.clients.isEmpty {
        touched[ObjectIdentifier(query)] = query
      }
    }
    state.recent.append(contentsOf: deltas)
    var size = state.recent.reduce(0) { $0 + $1.objectCount }
    while state.recent.count > Self.recentLimit || size > Self.recentObjectLimit, state.recent.count > 1 {
      size -= state.recent.removeFirst().objectCount
    }
    state.commit = deltas.last?.to
    state.observers.removeAll { $0.isAbandoned }
    return (Array(touched.values), state.observers)
  }

  /// The deltas after a commit, read from the log.
  private func deltas(after commit: UInt64, through limit: UInt64? = nil) throws -> [Delta] {
    try reading { t in
      guard try core.log.head(t).commit > commit else { return [] }
      var reader = DeltaReader(log: core.log, projections: core.projections)
      return try reader.deltas(after: commit, through: limit, in: t)
    }
  }

  /// The deltas that lead from one commit to another, from memory if they are recent.
  func deltas(from: UInt64, to: UInt64) throws -> [Delta] {
    guard from < to else { return [] }
    let kept = state.withLock { state -> [Delta]? in
      guard let first = state.recent.first?.from, first <= from, state.commit ?? 0 >= to else { return nil }
      return state.recent.filter { $0.from >= from && $0.to <= to }
    }
    return try kept ?? deltas(after: from, through: to)
  }

  /// Whether some client's permission may have been changed after a commit, as far as is known without reading.
  func mayHaveNewAccess(since commit: UInt64) -> Bool {
    state.withLock { $0.commit == nil || commit < $0.beginning || commit < $0.lastAccessChange }
  }

  /// The last commit of the log.
  func head() throws -> UInt64 { try reading { t in try core.log.head(t).commit } }

  /// Reads the store; what it throws is an error of the library, which is all that followers know.
  private func reading<R>(_ body: (borrowing StoreReading) throws -> R) throws -> R {
    do {
      return try core.environment.read(body)
    } catch {
      throw LibraryError(error)
    }
  }

  /// One delta that leads from a commit to a later one.
  func composedDelta(from: UInt64, to: UInt64) throws -> Delta {
    let deltas = try deltas(from: from, to: to)
    guard var composed = deltas.first, deltas.last?.to == to else {
      throw LibraryError(.corrupted, "The log lacks commits between \(from) and \(to); run `verify`.")
    }
    for delta in deltas.dropFirst() { composed = composed.followed(by: delta) }
    return composed
  }

  // MARK: Live queries

  /// The live query of a result, shared by all results of equal queries.
  func live(_ result: ResultCore) throws -> LiveQuery {
    try start()
    try pump()
    while true {
      let (known, commit) = state.withLock { ($0.queries[result.plan.query]?.query, $0.commit ?? 0) }
      if let known { return known }
      var current = result
      for delta in try deltas(from: result.commit, to: commit) { current = current.advanced(by: delta).after }
      let made = state.withLock { state -> LiveQuery? in
        // Another thread may have made it, or the pump gone on.
        guard state.queries[result.plan.query]?.query == nil, state.commit == commit else { return nil }
        let query = LiveQuery(
          current.shown(in: Window(), wantsIncrementalChanges: true, as: PhotoLibrary.owner))
        state.queries[result.plan.query] = WeakQuery(query: query)
        return query
      }
      if let made { return made }
    }
  }

  /// The current result of a query that is live at a commit, if there is one: a fetch that costs nothing.
  func shared(_ query: Query, at commit: UInt64) -> ResultCore? {
    state.withLock { state in
      guard state.commit == commit else { return nil }
      return state.queries[query]?.query?.current(at: commit)
    }
  }

  /// Reads a live query under the lock that guards it.
  func reading<R>(_ query: LiveQuery, _ body: (LiveQuery, _ commit: UInt64) -> R) -> R {
    state.withLock { body(query, $0.commit ?? 0) }
  }

  // MARK: Observers

  /// A delta as an observer of a client is told of it; nil if it does not touch what the client sees.
  func change(_ delta: Delta, asSeenBy client: String) throws -> LibraryChange? {
    if client == PhotoLibrary.owner {
      return LibraryChange(
        delta: delta, observation: self, accessBefore: .full, access: .full, commits: delta.commits,
        token: core.token(delta.to))
    }
    return try core.environment.read { t in
      let permission = try core.projections.permission(of: client, in: t)
      let token = try core.token(delta.to, for: client, t)
      let commits = try core.commits(delta.commits, asSeenBy: client, permission, t)
      guard !commits.isEmpty else { return nil }
      let before = permission.client.flatMap { client in delta.clients[client].map { Access($0.old, of: client) } }
      return LibraryChange(
        delta: delta, observation: self, accessBefore: before ?? permission.access, access: permission.access,
        commits: commits, token: token)
    }
  }

  func add(_ box: ObserverBox) throws {
    try start()
    try pump()
    state.withLock { state in
      box.begin(at: state.commit ?? 0)
      state.observers.append(box)
    }
  }

  func remove(_ observer: AnyObject, from kind: any CommitListener.Type) {
    state.withLock { state in state.observers.removeAll { $0.isFor(observer, kind) || $0.isAbandoned } }
  }
}
