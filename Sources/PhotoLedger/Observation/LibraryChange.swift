import Foundation
import Synchronization

/// One committed change, or several as one for an observer that was slow (PHChange).
public struct LibraryChange: Sendable {
  let delta: Delta
  let observation: Observation
  /// How the observer saw the library before, and sees it now.
  let accessBefore: Access
  let access: Access

  /// The commits it spans, oldest first; for an observer that does not see everything, those that it saw.
  public let commits: [CommitSummary]
  /// The state it leads to.
  public let token: Token

  /// How a result that the caller holds differs now; nil if the change does not touch it (CD-01).
  ///
  /// The result may be older than the change: what happened between the two is then part of the details (OB-02).
  /// - Parameter result: a result of this library; one that is newer than the change is not touched by it.
  /// - Throws: ``LibraryError`` if the log cannot be read.
  /// - Complexity: O(k log n) for k touched objects, since the last question about the result at most.
  public func changeDetails<Element>(for result: FetchResult<Element>) throws -> ChangeDetails<Element>? {
    let latest = result.latest.value
    guard latest.commit < delta.to else { return nil }
    let step: (after: ResultCore, touched: TouchedPositions, commits: [CommitSummary])
    if try result.store.accessChange(of: latest, through: delta.to) != nil {
      step = try result.store.crossed(latest, to: delta.to)
    } else {
      let delta =
        latest.commit == self.delta.from
        ? self.delta : try observation.composedDelta(from: latest.commit, to: self.delta.to)
      let (core, touched) = latest.advanced(by: delta)
      step = (core, touched, delta.commits)
    }
    guard let changes = step.after.changes(step.touched) else {
      result.latest.advance(to: step.after)
      return nil
    }
    return ChangeDetails(
      before: result, after: try FetchResult(core: step.after, like: result),
      commits: try result.store.commits(step.commits, asSeenBy: latest.client), changes: changes)
  }

  /// How an asset differs now; nil if no property of it was changed (CD-21).
  ///
  /// For an observer that does not see everything, an asset that was withdrawn from it is gone. What a change of its
  /// status takes away untouched is told by its results alone.
  public func changeDetails(for asset: Asset) -> ObjectChangeDetails<Asset>? {
    let number = asset.row.number
    guard let touch = delta.assets[number], let before = touch.before else { return nil }
    let place = delta.placing(of: number, in: access.selection ?? accessBefore.selection ?? 0)
    guard accessBefore.shows(place.before) else { return nil }
    let isSeen = access.shows(place.after)
    guard touch.isVisiblyChanged || !isSeen else { return nil }
    return ObjectChangeDetails(
      objectBeforeChanges: Asset(row: before, commit: delta.from),
      objectAfterChanges: touch.after.flatMap { isSeen ? Asset(row: $0, commit: delta.to) : nil },
      assetContentChanged: touch.isContentChanged)
  }

  /// How a collection's own properties differ now; nil if none was changed (CD-22).
  public func changeDetails(for collection: PhotoCollection) -> ObjectChangeDetails<PhotoCollection>? {
    guard let touch = delta.collections[collection.row.number], let before = touch.before, accessBefore.shows(before)
    else { return nil }
    let isGone = touch.after.map { $0.deletedDate != nil || !access.shows($0) } ?? true
    let isChanged = access.selection == nil ? touch.isVisiblyChanged : touch.isChangedForCreator
    guard isChanged || isGone else { return nil }
    let after = isGone ? nil : touch.after?.seen(by: access)
    return ObjectChangeDetails(
      objectBeforeChanges: PhotoCollection(row: before.seen(by: accessBefore), commit: delta.from),
      objectAfterChanges: after.map { PhotoCollection(row: $0, commit: delta.to) },
      assetContentChanged: false)
  }
}

extension Access {
  /// Whether an asset may be shown that has a place in the selection, or none.
  fileprivate func shows(_ place: OrderKey?) -> Bool {
    switch self {
    case .full: true
    case .limited: place != nil
    case .none: false
    }
  }
}

/// Is told of every committed change of a library (PHPhotoLibraryChangeObserver).
public protocol PhotoLibraryChangeObserver: AnyObject, Sendable {
  /// Called once for each commit, in their order, one at a time, on a queue of the observer's own (OB-01, OB-03).
  ///
  /// An observer that takes long is told of what happened meanwhile as one composed change.
  func photoLibraryDidChange(_ change: LibraryChange)
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

  private struct WeakObserver: Sendable {
    weak let observer: (any PhotoLibraryChangeObserver)?
  }

  private let target: WeakObserver
  private let client: String
  private let queue = DispatchQueue(label: "photoledger.observer")
  private let state = Mutex(State())

  /// How many commits are told one by one before they are composed.
  static let backlogLimit = 8

  init(_ observer: any PhotoLibraryChangeObserver, client: String) {
    target = WeakObserver(observer: observer)
    self.client = client
  }

  var isAbandoned: Bool { target.observer == nil }

  func isFor(_ observer: AnyObject) -> Bool { target.observer === observer }

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
      guard let next, let observer = target.observer else { return }
      do {
        for delta in try pending(observation, next.from, next.to) {
          if let change = try observation.change(delta, asSeenBy: client) { observer.photoLibraryDidChange(change) }
          state.withLock { $0.delivered = delta.to }
        }
      } catch {
        // Nothing is skipped: the next commit brings the observer what it missed. A log that stays unreadable ends
        // every sequence with the error.
        state.withLock { $0.isScheduled = false }
        return
      }
    }
  }

  private func pending(_ observation: Observation, _ from: UInt64, _ to: UInt64) throws -> [Delta] {
    if to - from <= UInt64(Self.backlogLimit) { return try observation.deltas(from: from, to: to) }
    return [try observation.composedDelta(from: from, to: to)]
  }
}
