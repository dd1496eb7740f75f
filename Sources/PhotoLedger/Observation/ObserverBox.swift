import Foundation
import LMDB
import Synchronization

// Observers that are called, rather than asking.
//
// Two kinds are told of commits: one is given each commit's change (PHPhotoLibraryChangeObserver), one hears that the
// history has grown and reads it itself (PHPhotoLibraryPersistentChangesObserver, PH-09). What they share is here: they
// are held weakly, called on a serial queue of their own, and told of what they missed while they were busy. What a
// kind is told of the commits that wait is its `CommitListener`'s business.
//
//     pump ──schedule(through: 7)──▶ head = 7, delivered = 4 ──▶ queue: tell(after 4, through 7) ──▶ delivered = 7

/// Who is told of commits, and how.
protocol CommitListener: Sendable {
  /// The observer; nil once it is gone. Not to be asked under a lock: see `Observation.forgetAbandoned`.
  var target: AnyObject? { get }

  /// Tells the observer of the commits after one, up to another.
  /// - Parameter advance: called with each commit up to which the observer has been told.
  func tell(
    after: UInt64, through: UInt64, _ observation: Observation, _ advance: (UInt64) -> Void
  ) throws
}

/// A registered observer, held weakly (OB-04), and how far it has been told.
final class ObserverBox: Sendable {
  private struct State {
    /// The last commit that it was told of.
    var delivered: UInt64 = 0
    /// The last commit that there is to tell of. Kept here, so that a commit that comes while the last one is being
    /// told is seen before `isScheduled` is taken back.
    var head: UInt64 = 0
    var isScheduled = false
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

  /// Whether an observer is told by the box, as an observer of a kind: an object may be of both.
  func isFor(_ observer: AnyObject, _ kind: any CommitListener.Type) -> Bool {
    address == ObjectIdentifier(observer) && type(of: listener) == kind
  }

  func begin(at commit: UInt64) { state.withLock { ($0.delivered, $0.head) = (commit, commit) } }

  /// Sees to it that the observer is told of everything up to a commit, unless it is being told already.
  func schedule(_ observation: Observation, through commit: UInt64) {
    let isFree = state.withLock { state in
      state.head = max(state.head, commit)
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    if isFree { queue.async { self.deliver(observation) } }
  }

  private func deliver(_ observation: Observation) {
    while true {
      let next = state.withLock { state -> (from: UInt64, to: UInt64)? in
        guard state.delivered < state.head else {
          state.isScheduled = false
          return nil
        }
        return (state.delivered, state.head)
      }
      guard let next, !isAbandoned else { return }
      do {
        try listener.tell(after: next.from, through: next.to, observation) { commit in
          state.withLock { $0.delivered = commit }
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

/// Tells an observer of the change that each commit is, or of several as one when it was slow.
struct ChangeListener: CommitListener {
  private weak let observer: (any PhotoLibraryChangeObserver)?
  private let client: String

  /// How many commits are told one by one before they are composed.
  static let backlogLimit = 8

  init(_ observer: any PhotoLibraryChangeObserver, client: String) {
    self.observer = observer
    self.client = client
  }

  var target: AnyObject? { observer }

  func tell(after: UInt64, through: UInt64, _ observation: Observation, _ advance: (UInt64) -> Void) throws {
    for delta in try pending(observation, after, through) {
      if let change = try observation.change(delta, asSeenBy: client) { observer?.photoLibraryDidChange(change) }
      advance(delta.to)
    }
  }

  private func pending(_ observation: Observation, _ from: UInt64, _ to: UInt64) throws -> [Delta] {
    if to - from <= UInt64(Self.backlogLimit) { return try observation.deltas(from: from, to: to) }
    return [try observation.composedDelta(from: from, to: to)]
  }
}

/// Is told that the history has grown, and reads it since its own token (PHPhotoLibraryPersistentChangesObserver,
/// PH-09).
public protocol PhotoLibraryPersistentChangesObserver: AnyObject, Sendable {
  /// Called when the library has commits that the observer was not told of, one call at a time, on a queue of the
  /// observer's own.
  ///
  /// Several commits may be one call. A client that does not see everything is told of commits that touched what it
  /// sees, and one that may not read of none (AU-10).
  /// - Parameter library: the library, as the client sees it that registered.
  func photoLibraryPersistentChangesDidUpdate(_ library: PhotoLibrary)
}

/// Tells an observer that there is something to read.
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

  func tell(after: UInt64, through: UInt64, _ observation: Observation, _ advance: (UInt64) -> Void) throws {
    if let store, try observation.isTold(client, of: after, through: through) {
      observer?.photoLibraryPersistentChangesDidUpdate(PhotoLibrary(store: store, client: client))
    }
    advance(through)
  }
}

extension Observation {
  /// Whether the history that a client may read has commits after one, up to another.
  /// - Complexity: O(log² n).
  fileprivate func isTold(_ client: String, of commit: UInt64, through limit: UInt64) throws -> Bool {
    try core.environment.read { t in
      let permission = try core.projections.permission(of: client, in: t)
      switch permission.access {
      case .full: return true
      case .none: return false
      case .limited(let number):
        return try !core.projections.sightings(of: number, after: commit, through: limit, most: 1, in: t).isEmpty
      }
    }
  }
}
