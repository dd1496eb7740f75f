import EventLog
import Foundation
import LMDB
import Synchronization

// Following the log.
//
// One thread for each opened library sleeps on the change signal. Whenever a process has committed, it reads the new
// commits as deltas, steps every live query from commit to commit, and wakes the subscribers of touched queries, and
// the observers. The log is the source of truth and the signal a hint: a lost hint is repaired by checking the head
// twice a second, and commits of this process take the same path as those of others.
//
//     signal ─→ pump ─→ deltas of the new commits ─→ live queries step ─→ subscriptions, observers are woken
//                                                                            │
//                            held result ─ take() ─→ one commit on, or one composed change if far behind
//
// A subscription stores only the result that its owner holds. The change is computed when it asks: one commit at a time
// while it keeps up, one exact composed change when it lags by more than its backlog. So ten thousand observers of one
// query cost one step of one tree and a wake-up each. LiveQueries.swift selects the live queries that a commit visits;
// the others remain at an earlier commit, and their state is also valid at the later one.
//
// Everything mutable is in `state` and guarded by its lock; a live query has a lock of its own beneath it, so that
// followers of one query do not wait for those of another. `pumping` is taken before both and lets one thread at a
// time read ahead.

/// Follows the commits of a store and notifies live results and observers.
package final class Observation: StorePart, SharedResults {
  package static var closing: ClosingStage { .followers }

  /// A commit and its last event.
  package struct Position: Sendable {
    package var commit: UInt64 = 0
    package var sequence: UInt64 = 0
  }

  struct State {
    /// The last commit that live queries have stepped to; nil before the first is requested.
    var position: Position?
    /// The deltas that lead to it, oldest first, without gaps; older ones are read from the log again.
    var recent: [Delta] = []
    /// How many objects those touch.
    var recentObjectCount = 0
    var queries = LiveQueries()
    var observers: [ObserverBox] = []
    /// The commit at which following began, and the last one since that changed a permission.
    var beginning: UInt64 = 0
    var lastAccessChange: UInt64 = 0
    /// The last commit since then that erased assets.
    var lastErasure: UInt64 = 0
    /// Whether a search was ever followed: from then on the words of what commits touch are read.
    var isSearched = false
    var isClosed = false

    var commit: UInt64? { position?.commit }
  }

  /// How many deltas are kept for subscriptions that lag.
  static let recentLimit = 256
  /// How many objects those may touch: an import's deltas are large, and the log has them too.
  static let recentObjectLimit = 20_000
  /// How long a lost hint can go unnoticed, in milliseconds.
  static let pollMilliseconds = 500
  /// How long a read may fail for a passing reason, such as no free reader slot, before followers get the error.
  static let patienceSeconds = 10.0

  let core: StoreCore
  private let signal: ChangeSignal
  private let availability: Availability
  private let patience: Double
  private let state = Mutex(State())
  private let pumping = Mutex(())

  /// - Parameter patience: seconds, as ``patienceSeconds``.
  init(
    core: StoreCore, signal: ChangeSignal, availability: Availability, patience: Double = Observation.patienceSeconds
  ) {
    self.core = core
    self.signal = signal
    self.availability = availability
    self.patience = patience
  }

  /// Delivers the commits so far, then ends all following.
  package func close() {
    do { try pump() } catch { fail(error) }
    let queries = state.withLock { state in
      state.isClosed = true
      state.observers = []
      return state.queries.all
    }
    for query in queries { query.end() }
    signal.cancel()
  }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  // MARK: The thread

  /// Starts following, on first use.
  private func start() throws {
    guard state.withLock({ $0.commit == nil || $0.isClosed }) else { return }
    // Read before the lock is taken: a fetch holds a transaction while it waits for the lock.
    let head = try head()
    try state.withLock { state in
      guard !state.isClosed else { throw LibraryError(.closed, "The library was closed; open it again.") }
      guard state.commit == nil else { return }
      // Under the lock, for which the thread waits: where none can be had, no other caller has seen a position.
      try OwnThread.start("ledger-observer") { [self] in follow() }
      state.position = head
      state.beginning = head.commit
    }
  }

  /// Delivers commits until the end.
  ///
  /// A read that fails for a passing reason is repeated at the next signal or poll: live queries have not advanced, so
  /// nothing is lost. If it goes on failing, followers get the error, and those that ask again get it again; those that
  /// ask once this thread's read has succeeded do not.
  private func follow() {
    var failingSince: Double?
    while !isClosed {
      _ = signal.wait(milliseconds: Self.pollMilliseconds)
      do {
        try advance(recovering: failingSince != nil)
        failingSince = nil
      } catch {
        let now = monotonicSeconds(coarse: true)
        let since = failingSince ?? now
        failingSince = since
        if !Self.isPassing(error) || now - since >= patience { fail(error) }
      }
    }
  }

  /// Whether the same read may succeed later.
  private static func isPassing(_ error: any Error) -> Bool {
    switch error {
    case let error as LMDBError: error.advice == .retry
    case let error as EventLogError: error.advice == .retry
    default: false
    }
  }

  /// Every subscriber gets the error of a log that cannot be read; a damaged one makes the library unavailable.
  private func fail(_ error: any Error) {
    let error = LibraryError(error)
    for query in state.withLock({ $0.queries.all }) { query.fail(error) }
    if error.code == .corrupted { availability.end(error) }
  }

  /// Reads the commits that are new and lets every live query step over them.
  func pump() throws { try LibraryStore.reporting { try advance() } }

  /// The same, with the errors of the store as they are.
  /// - Parameter recovering: whether a read has failed before, so that followers may have an error that is past. It is
  ///   removed before another thread can read and fail, as at the end, whose error stays.
  private func advance(recovering: Bool = false) throws {
    let hasGoneOn = try pumping.withLock { _ in
      guard let commit = state.withLock({ $0.isClosed ? nil : $0.commit }) else { return false }
      let isSearched = state.withLock { $0.isSearched }
      let deltas = try core.environment.read { t in
        try checkFormat(t)
        return try newDeltas(after: commit, withDetails: isSearched, t)
      }
      if recovering { for query in state.withLock({ $0.queries.all }) { query.recover() } }
      guard let head = deltas.last?.to else { return false }
      let (touched, observers) = state.withLock { state in step(&state, deltas) }
      for query in touched { query.wake() }
      let steps = SharedSteps()
      for observer in observers { observer.schedule(self, through: head, sharing: steps) }
      return true
    }
    if hasGoneOn { forgetAbandoned() }
  }

  /// A store that a newer program has migrated makes the library unavailable.
  private func checkFormat(_ t: borrowing StoreReading) throws {
    do {
      try core.checkFormat(t)
    } catch let error as LibraryError {
      availability.end(error)
      throw error
    }
  }

  private func step(_ state: inout State, _ deltas: [Delta]) -> (touched: [LiveQuery], observers: [ObserverBox]) {
    var touched: [ObjectIdentifier: LiveQuery] = [:]
    state.queries.sweep()
    for delta in deltas {
      let words = DeltaWords()
      state.queries.forEach(touchableBy: delta) { query in
        if query.step(delta, words) { touched[ObjectIdentifier(query)] = query }
      }
      if delta.hasErasure { state.lastErasure = delta.to }
      // A client whose permission was changed follows another query from now on.
      guard !delta.clients.isEmpty else { continue }
      state.lastAccessChange = delta.to
      for query in state.queries.all { touched[ObjectIdentifier(query)] = query }
    }
    keep(deltas, in: &state)
    return (Array(touched.values), state.observers)
  }

  /// Remembers where live queries stand now, and the last deltas that led there.
  private func keep(_ deltas: [Delta], in state: inout State) {
    state.position = deltas.last.map { Position(commit: $0.to, sequence: $0.lastSequence) }
    // What was read before an erasure has rows that a result of an earlier state, fetched since, does not have.
    if deltas.contains(where: \.hasErasure) { (state.recent, state.recentObjectCount) = ([], 0) }
    state.recent.append(contentsOf: deltas)
    state.recentObjectCount += deltas.reduce(0) { $0 + $1.objectCount }
    var dropped = 0
    while state.recent.count - dropped > 1,
      state.recent.count - dropped > Self.recentLimit || state.recentObjectCount > Self.recentObjectLimit
    {
      state.recentObjectCount -= state.recent[dropped].objectCount
      dropped += 1
    }
    state.recent.removeFirst(dropped)
  }

  /// The deltas after a commit, read from the log.
  private func deltas(after commit: UInt64, through limit: UInt64, withDetails: Bool) throws -> [Delta] {
    try reading { t in try newDeltas(after: commit, through: limit, withDetails: withDetails, t) }
  }

  private func newDeltas(
    after commit: UInt64, through limit: UInt64? = nil, withDetails: Bool, _ t: borrowing StoreReading
  ) throws -> [Delta] {
    guard try core.log.head(t).commit > commit else { return [] }
    var reader = DeltaReader(core, readsDetails: withDetails)
    return try reader.deltas(after: commit, through: limit, in: t)
  }

  /// The deltas that lead from one commit to another, from memory if they are recent.
  func deltas(from: UInt64, to: UInt64, withDetails: Bool = false) throws -> [Delta] {
    guard from < to else { return [] }
    return try recentDeltas(from: from, to: to, withDetails: withDetails)
      ?? deltas(after: from, through: to, withDetails: withDetails)
  }

  /// The deltas that lead from one commit to another; nil if they are not remembered.
  func recentDeltas(from: UInt64, to: UInt64, withDetails: Bool = false) -> [Delta]? {
    state.withLock { state in
      guard let first = state.recent.first?.from, first <= from, from <= to, state.commit ?? 0 >= to else { return nil }
      let deltas = state.recent[Int(from - first)..<Int(to - first)]
      // Those from before the first search was followed have no words.
      return withDetails && !deltas.allSatisfy(\.hasDetails) ? nil : Array(deltas)
    }
  }

  /// Whether some client's permission may have been changed after a commit, as far as is known without reading.
  func mayHaveNewAccess(since commit: UInt64) -> Bool {
    state.withLock { $0.position == nil || commit < $0.beginning || commit < $0.lastAccessChange }
  }

  /// Whether all results of a query at a commit hold the same keys: no asset was erased after the commit, up to the
  /// last commit that was read for the result.
  func sharesSteps(from commit: UInt64, readAt last: UInt64) -> Bool {
    state.withLock { state in
      guard let known = state.position?.commit else { return false }
      return commit >= state.beginning && commit >= state.lastErasure && last <= known
    }
  }

  /// Whether a result of a commit may lack what was erased since, or have it elsewhere: it was read after the erasure.
  ///
  /// Asked after ``pump()``, so that every erasure is known that the result may have met.
  func mayBeBlank(_ commit: UInt64, readAt last: UInt64) -> Bool {
    last > commit && state.withLock { commit < $0.lastErasure }
  }

  /// The step of a live query from a result to a commit, if there is one.
  func liveStep(of held: ResultCore, to commit: UInt64) -> SharedStep? {
    let live = state.withLock { $0.queries[held.plan.query] }
    return live?.step(from: held.commit, to: commit)
  }

  /// The end of the log.
  package func head() throws -> Position {
    try reading { t in
      let head = try core.log.head(t)
      return Position(commit: head.commit, sequence: head.sequence)
    }
  }

  /// Reads the store; throws only library errors, which followers expect.
  private func reading<R>(_ body: (borrowing StoreReading) throws -> R) throws -> R {
    do {
      return try core.environment.read(body)
    } catch {
      throw LibraryError(error)
    }
  }

  /// One delta that leads from a commit to a later one.
  package func composedDelta(from: UInt64, to: UInt64, withDetails: Bool = false) throws -> Delta {
    let composed: Delta?
    if let kept = recentDeltas(from: from, to: to, withDetails: withDetails) {
      composed = Delta(composing: kept)
    } else {
      composed = try reading { t in
        var reader = DeltaReader(core, readsDetails: withDetails)
        return try reader.composed(after: from, through: to, in: t)
      }
    }
    guard let composed, composed.from == from, composed.to == to else {
      throw LibraryError(.corrupted, "The log lacks commits between \(from) and \(to); run `verify`.")
    }
    return composed
  }

  // MARK: Catching up

  /// How a lagging follower catches up: over each commit, oldest first, or over all at once.
  enum Way {
    case each([Delta])
    case atOnce(Delta)
  }

  /// The number of commits to check whether too many touch a result, for each that may.
  private static let lookBackShare: UInt64 = 8

  /// The way from a result to a commit: over each if no more than so many touch it, else over all at once.
  ///
  /// The newest commits mostly show that a follower lags far; then the rest is read as one.
  /// - Complexity: O(k log n) in the objects of the commits.
  func way(of result: ResultCore, to commit: UInt64, composingBeyond limit: Int) throws -> Way {
    guard result.commit < commit else { return .each([]) }
    let withDetails = result.plan.searchesDetails
    let (lookBack, isTooFar) = Self.lookBackShare.multipliedReportingOverflow(by: UInt64(limit) + 1)
    if !isTooFar, commit - result.commit > lookBack, result.isFollowedBackward {
      let newest = try deltas(from: commit - lookBack, to: commit, withDetails: withDetails)
      if newest.count(where: { result.isTouched(by: $0) }) > limit {
        return .atOnce(try composedDelta(from: result.commit, to: commit, withDetails: withDetails))
      }
    }
    let deltas = try deltas(from: result.commit, to: commit, withDetails: withDetails)
    if try result.isTouched(byMoreThan: limit, of: deltas), let composed = Delta(composing: deltas) {
      return .atOnce(composed)
    }
    return .each(deltas)
  }

  // MARK: Live queries

  /// The live query of a result, shared by all results of equal queries.
  ///
  /// Creating it reads the commits up to the present; they are returned, so that they need not be read again, with the
  /// last commit.
  func live(
    _ result: ResultCore, composingBeyond limit: Int
  ) throws -> (query: LiveQuery, arrival: (way: Arrival, to: UInt64)?) {
    // Before the pump: it waits for one that is under way, and every later one reads the words of what was touched.
    let isSearch = result.plan.searchesDetails
    if isSearch { state.withLock { $0.isSearched = true } }
    try start()
    try pump()
    var current = result
    var arrival: (way: Arrival, to: UInt64)?
    while true {
      let (known, commit) = state.withLock { ($0.queries[result.plan.query], $0.commit ?? 0) }
      if let known { return (known, arrival) }
      if arrival == nil {
        switch try way(of: result, to: commit, composingBeyond: limit) {
        case .each(let deltas):
          for delta in deltas { current = try current.advanced(by: delta).after }
          arrival = (Arrival(backlog: deltas), commit)
        case .atOnce(let delta):
          let step = try Step(from: result, by: delta)
          current = step.after
          arrival = (Arrival(step: step), commit)
        }
      } else {
        for delta in try deltas(from: current.commit, to: commit, withDetails: isSearch) {
          current = try current.advanced(by: delta).after
        }
      }
      let made = state.withLock { state -> LiveQuery? in
        // Another thread may have created it, or the pump may have advanced.
        guard state.queries[result.plan.query] == nil, state.commit == commit else { return nil }
        return state.queries.insert(
          current.shown(in: Window(), wantsIncrementalChanges: true, as: PhotoLibrary.owner))
      }
      if let made { return (made, arrival) }
    }
  }

  /// The current result of a query that is live at a commit, if there is one: a fetch that costs nothing.
  func shared(_ query: Query, at commit: UInt64) -> ResultCore? {
    state.withLock { state in
      guard let position = state.position, position.commit == commit else { return nil }
      return state.queries[query]?.current(at: position)
    }
  }

  /// Reads a live query at the commit to which all have stepped.
  func reading<R>(_ query: LiveQuery, _ body: (LiveQuery, Position) -> R) -> R {
    state.withLock { body(query, $0.position ?? Position()) }
  }

  // MARK: Observers

  /// A delta for an observer of a client; nil if it does not touch the client's view.
  func change(_ delta: Delta, asSeenBy client: String, sharing steps: SharedSteps) throws -> LibraryChange? {
    if client == PhotoLibrary.owner {
      return LibraryChange(
        delta: delta, observation: self, steps: steps, accessBefore: .full, access: .full, client: nil,
        commits: delta.commits, token: core.token(delta.to))
    }
    return try core.environment.read { t in
      let permission = try core.projections.permission(of: client, in: t)
      let token = try core.token(delta.to, for: client, t)
      let commits = try core.commits(delta.commits, asSeenBy: client, permission, t)
      guard !commits.isEmpty else { return nil }
      return LibraryChange(
        delta: delta, observation: self, steps: steps,
        accessBefore: delta.accessBefore(of: permission.client, then: permission.access), access: permission.access,
        client: permission.client, commits: commits, token: token)
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
    let removed = state.withLock { state in
      let removed = state.observers.filter { $0.isFor(observer, kind) }
      state.observers.removeAll { $0.isFor(observer, kind) }
      return removed
    }
    for box in removed { box.remove() }
  }

  /// Removes the boxes whose observers were released.
  ///
  /// Outside the locks: reading a weak observer retains it briefly, possibly as the last reference. Its `deinit` may
  /// then call back here, for example to unregister.
  private func forgetAbandoned() {
    let abandoned = state.withLock { $0.observers }.filter(\.isAbandoned)
    guard !abandoned.isEmpty else { return }
    let gone = Set(abandoned.map(ObjectIdentifier.init))
    state.withLock { state in state.observers.removeAll { gone.contains(ObjectIdentifier($0)) } }
  }
}

extension LibraryStore {
  /// What follows the log and lets live results step.
  package var observation: Observation {
    part { Observation(core: $0.core, signal: $0.signal, availability: $0.availability) }
  }
}
