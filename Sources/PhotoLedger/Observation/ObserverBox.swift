import Foundation
import LMDB
import Synchronization

// Observers that are called, rather than asking.
//
// Two kinds of observers follow commits: one receives each commit's change (PHPhotoLibraryChangeObserver), one is
// notified that the history has grown and reads it itself (PHPhotoLibraryPersistentChangesObserver, PH-09). Their
// common part is here: they are held weakly, called on a serial queue of their own, and receive what they missed while
// they were busy. The `CommitListener` of a kind delivers the pending commits.
//
//     pump ──schedule(through: 7)──▶ head = 7, delivered = 4 ──▶ queue: deliver(after 4, through 7) ──▶ delivered = 7

/// A recipient of commits.
protocol CommitListener: Sendable {
  /// The observer; nil once it was released. Must not be read under a lock: see `Observation.forgetAbandoned`.
  var target: AnyObject? { get }

  /// Delivers the commits after one, up to another.
  /// - Parameters:
  ///   - steps: what the observers that are notified of the last of them share.
  ///   - isWanted: whether the observer is still registered; asked right before each call, since preparing a change
  ///     may read the log.
  ///   - advance: called with each commit up to which the observer has been notified; false: it is not to be notified
  ///     of any more.
  func deliver(
    after: UInt64, through: UInt64, _ observation: Observation, sharing steps: SharedSteps,
    while isWanted: () -> Bool, _ advance: (UInt64) -> Bool
  ) throws
}

/// A registered observer, held weakly (OB-04), and the last commit delivered to it.
final class ObserverBox: Sendable {
  private struct State {
    /// The last commit delivered.
    var delivered: UInt64 = 0
    /// The last commit to deliver. Kept here, so that a commit that arrives during a delivery is seen before
    /// `isScheduled` is reset.
    var head: UInt64 = 0
    var isScheduled = false
    /// Whether the observer was unregistered: what it has not received is dropped.
    var isRemoved = false
    /// What the observers share that have the head before them; nil once it was delivered.
    var steps: SharedSteps?
  }

  private let listener: any CommitListener
  /// Where the observer lies, by which it is known even in its `deinit`.
  private let address: ObjectIdentifier
  private let queue = DispatchQueue(label: "photoledger.observer")
  private let state = Mutex(State())

  init(_ listener: any CommitListener, for observer: AnyObject) {
    self.listener = listener
    address = ObjectIdentifier(observer)
  }

  var isAbandoned: Bool { listener.target == nil }

  /// Whether the box belongs to an observer, as one of a kind: an object may be of both kinds.
  func isFor(_ observer: AnyObject, _ kind: any CommitListener.Type) -> Bool {
    address == ObjectIdentifier(observer) && type(of: listener) == kind
  }

  /// Ends the delivery; a call that is running, or about to begin on the observer's queue, is the last one. Waiting for
  /// it would be a deadlock where the observer waits for the calling thread.
  func remove() { state.withLock { $0.isRemoved = true } }

  func begin(at commit: UInt64) { state.withLock { ($0.delivered, $0.head) = (commit, commit) } }

  /// Schedules delivery of everything up to a commit, unless a delivery is already scheduled.
  func schedule(_ observation: Observation, through commit: UInt64, sharing steps: SharedSteps) {
    let isFree = state.withLock { state in
      state.head = max(state.head, commit)
      state.steps = steps
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    if isFree { queue.async { self.deliver(observation) } }
  }

  private func deliver(_ observation: Observation) {
    while true {
      let next = state.withLock { state -> (from: UInt64, to: UInt64, steps: SharedSteps)? in
        guard !state.isRemoved, state.delivered < state.head, let steps = state.steps else {
          (state.isScheduled, state.steps) = (false, nil)
          return nil
        }
        return (state.delivered, state.head, steps)
      }
      guard let next, !isAbandoned else { return }
      do {
        let isWanted = { self.state.withLock { !$0.isRemoved } }
        try listener.deliver(
          after: next.from, through: next.to, observation, sharing: next.steps, while: isWanted
        ) { commit in
          state.withLock { state in
            state.delivered = commit
            return !state.isRemoved
          }
        }
      } catch {
        // Nothing is skipped: the next commit brings the observer what it missed. A log that stays unreadable ends
        // every sequence with the error.
        state.withLock { $0.isScheduled = false }
        return
      }
    }
  }
}

/// Delivers the change of each commit, or of several as one to a slow observer.
struct ChangeListener: CommitListener {
  private weak let observer: (any PhotoLibraryChangeObserver)?
  private let client: String

  /// The number of commits that are delivered one by one before they are composed.
  static let backlogLimit = 8

  init(_ observer: any PhotoLibraryChangeObserver, client: String) {
    self.observer = observer
    self.client = client
  }

  var target: AnyObject? { observer }

  func deliver(
    after: UInt64, through: UInt64, _ observation: Observation, sharing steps: SharedSteps,
    while isWanted: () -> Bool, _ advance: (UInt64) -> Bool
  ) throws {
    for delta in try pending(observation, after, through) {
      if let change = try observation.change(delta, asSeenBy: client, sharing: steps) {
        guard isWanted() else { return }
        observer?.photoLibraryDidChange(change)
      }
      guard advance(delta.to) else { return }
    }
  }

  private func pending(_ observation: Observation, _ from: UInt64, _ to: UInt64) throws -> [Delta] {
    if to - from <= UInt64(Self.backlogLimit) { return try observation.deltas(from: from, to: to) }
    return [try observation.composedDelta(from: from, to: to)]
  }
}

/// An observer that is notified when the history has grown, and reads it since its own token
/// (PHPhotoLibraryPersistentChangesObserver, PH-09).
public protocol PhotoLibraryPersistentChangesObserver: AnyObject, Sendable {
  /// Called when the library has new commits for the observer, one call at a time, on a queue of the observer.
  ///
  /// Several commits may be one call. A client without full access is notified only of commits that touched its view,
  /// and one without read access of none (AU-10).
  /// - Parameter library: the registering client's view of the library.
  func photoLibraryPersistentChangesDidUpdate(_ library: PhotoLibrary)
}

/// Notifies an observer of new history.
struct HistoryListener: CommitListener {
  private weak let observer: (any PhotoLibraryPersistentChangesObserver)?
  /// Weak, since the store holds its observers.
  private weak let store: LibraryStore?
  private let client: String

  init(_ observer: any PhotoLibraryPersistentChangesObserver, of library: PhotoLibrary) {
    self.observer = observer
    store = library.store
    client = library.client
  }

  var target: AnyObject? { observer }

  func deliver(
    after: UInt64, through: UInt64, _ observation: Observation, sharing _: SharedSteps,
    while isWanted: () -> Bool, _ advance: (UInt64) -> Bool
  ) throws {
    if let store, try observation.hasCommits(seenBy: client, after: after, through: through) {
      guard isWanted() else { return }
      observer?.photoLibraryPersistentChangesDidUpdate(PhotoLibrary(store: store, client: client))
    }
    _ = advance(through)
  }
}

extension Observation {
  /// Whether the history that a client may read has commits after one, up to another.
  /// - Complexity: O(log² n).
  fileprivate func hasCommits(seenBy client: String, after commit: UInt64, through limit: UInt64) throws -> Bool {
    try core.environment.read { t in
      let permission = try core.projections.permission(of: client, in: t)
      guard let number = permission.access.selection else { return permission.access == .full }
      return try !core.projections.revisions(of: number, after: commit, through: limit, most: 1, in: t).isEmpty
    }
  }
}
