/// One committed change, or several as one for an observer that was slow (PHChange).
public struct LibraryChange: Sendable {
  let delta: Delta
  let observation: Observation
  /// The steps that observers of the same commits have asked for.
  let steps: SharedSteps
  /// How the observer saw the library before, and sees it now.
  let accessBefore: Access
  let access: Access
  /// The observer's client; nil for the owner.
  let client: ObjectNumber?

  /// The commits it spans, oldest first; for an observer without full access, those that touched its view.
  public let commits: [CommitSummary]
  /// The state it leads to.
  public let token: Token
  /// The commit that it leads to.
  package var commit: UInt64 { delta.to }
  /// Whether assets were erased from the log.
  package var erasesAssets: Bool { delta.hasErasure }

  /// How a result that the caller holds differs now; nil if the change does not touch it (CD-01).
  ///
  /// The result may be older than the change: the details then include everything in between (OB-02). They have no
  /// index sets where an asset was erased before the order of the result was made: what it showed is not known any more
  /// (CD-14).
  /// - Parameter result: a result of this library; one that is newer than the change is not touched by it.
  /// - Throws: ``LibraryError``: `.invalidToken` for a result of another library; others if the log cannot be read.
  /// - Complexity: O(k log n) for k touched objects, at most since the last call for the result; O(1) for all but the
  ///   first of the observers that ask about equal results of one commit. O(n) for an erasure or another permission of
  ///   the client, and once for a result of which only the first screen was read.
  public func changeDetails<Element>(for result: FetchResult<Element>) throws -> ChangeDetails<Element>? {
    let store = result.store
    guard result.state.frame.library == observation.core.mark else {
      throw LibraryError(.invalidToken, "The fetch result belongs to another library; fetch it again in this one.")
    }
    let latest: ResultCore
    do {
      latest = try result.state.latest(in: store)
    } catch let error as LibraryError where error.code == .tokenExpired {
      return try fetchedAgain(result)
    }
    guard latest.commit < delta.to else { return nil }
    let (view, commits) = try step(of: latest, result.state, in: store)
    guard let changes = view.changes else {
      result.state.advance(to: view.state.core)
      return nil
    }
    return ChangeDetails(
      before: result, after: FetchResult(view.state, like: result),
      commits: try store.commits(commits, asSeenBy: latest.client), changes: changes)
  }

  /// The details of a result that was begun, and cannot be made any more.
  private func fetchedAgain<Element>(_ result: FetchResult<Element>) throws -> ChangeDetails<Element>? {
    let (store, frame) = (result.store, result.state.frame)
    guard frame.commit < delta.to else { return nil }
    let after = try store.result(of: frame, at: delta.to)
    return ChangeDetails(
      before: result, after: FetchResult(try store.state(after, readAt: .max), like: result),
      commits: try store.commits(try delta(from: frame).commits, asSeenBy: frame.client), changes: nil)
  }

  /// What leads from a result to the state of the change; shared where equal results share it.
  private func step(
    of latest: ResultCore, _ held: ResultState, in store: LibraryStore
  ) throws -> (view: StepView, commits: [CommitSummary]) {
    if try store.accessChange(of: latest, through: delta.to) != nil {
      let step = try store.crossing(latest, to: delta.to)
      return (try StepView(of: step, like: held, readAt: step.readAt ?? held.readAt, in: store), step.commits)
    }
    guard observation.sharesSteps(from: latest.commit, readAt: held.readAt) else {
      try observation.pump()
      let isBlank = observation.mayBeBlank(delta.to, readAt: held.readAt)
      let step = try Step(from: latest, by: delta(from: latest, isBlank: isBlank))
      return (try StepView(of: step, like: held, readAt: held.readAt, in: store), step.commits)
    }
    let shared = try steps.step(of: latest, to: delta.to) {
      try observation.liveStep(of: latest, to: delta.to) ?? SharedStep(Step(from: latest, by: delta(from: latest)))
    }
    try shared.step.checkStart(count: latest.order.count)
    return (try shared.view(like: held, in: store), shared.step.commits)
  }

  /// The delta that leads from a result to the state of the change.
  /// - Parameter isBlank: whether the result may lack what the change's own delta knows, as it was erased since.
  private func delta(from latest: ResultCore, isBlank: Bool = false) throws -> Delta {
    let isSearch = latest.plan.searchesDetails
    if latest.commit == delta.from, delta.hasDetails || !isSearch, !isBlank { return delta }
    return try observation.composedDelta(from: latest.commit, to: delta.to, withDetails: isSearch)
  }

  /// How an asset differs now; nil if no property of it was changed (CD-21).
  ///
  /// For an observer without full access, an asset that was withdrawn from it is deleted. Untouched assets that become
  /// invisible by a change of its status are reported only by its results.
  /// - Parameters:
  ///   - asset: the asset, as of any commit. If it was fetched in the middle of a composed change, the details are
  ///     about what came after it (OB-02); one that was fetched at the end of the change or later gets all of it.
  ///   - showsTrash: whether assets in the trash are included; if not, one that was moved to the trash is deleted, and
  ///     one that was in the trash before the change has no details (PH-05).
  public func changeDetails(for asset: Asset, showsTrash: Bool = true) -> ObjectChangeDetails<Asset>? {
    let number = asset.row.number
    guard self.delta.assets[number] != nil else { return nil }
    let (delta, accessBefore) = rest(after: asset.commit) { $0.assets[number]?.before = asset.row }
    guard let touch = delta.assets[number], let before = touch.before else { return nil }
    let shown = delta.shows(number, to: accessBefore, then: access)
    guard shown.before, showsTrash || !before.isTrashed else { return nil }
    let after = touch.after.flatMap { shown.after && (showsTrash || !$0.isTrashed) ? $0 : nil }
    let isChanged =
      access == accessBefore
      ? touch.isChanged(to: access)
      : touch.isChangedForLimited || after?.seen(by: access) != before.seen(by: accessBefore)
    guard isChanged || after == nil else { return nil }
    return ObjectChangeDetails(
      objectBeforeChanges: Asset(row: before, seenBy: accessBefore, commit: delta.from),
      objectAfterChanges: after.map { Asset(row: $0, seenBy: access, commit: delta.to) },
      assetContentChanged: touch.isContentChanged)
  }

  /// How a collection's own properties differ now; nil if none was changed (CD-22).
  /// - Parameter collection: the collection, as of any commit. If it was fetched in the middle of a composed change,
  ///   the details are about what came after it (OB-02); one that was fetched at its end or later gets all of it.
  public func changeDetails(for collection: PhotoCollection) -> ObjectChangeDetails<PhotoCollection>? {
    let number = collection.row.number
    guard self.delta.collections[number] != nil else { return nil }
    let (delta, accessBefore) = rest(after: collection.commit) { $0.collections[number]?.before = collection.row }
    guard let touch = delta.collections[number], let before = touch.before, accessBefore.shows(before),
      before.deletedDate == nil
    else { return nil }
    let isGone = touch.after.map { $0.deletedDate != nil || !access.shows($0) } ?? true
    guard touch.isChanged(to: access) || isGone else { return nil }
    let after = isGone ? nil : touch.after
    return ObjectChangeDetails(
      objectBeforeChanges: PhotoCollection(row: before, seenBy: accessBefore, commit: delta.from),
      objectAfterChanges: after.map { PhotoCollection(row: $0, seenBy: access, commit: delta.to) },
      assetContentChanged: false)
  }

  /// What an object that is held has not seen of the change, and how the observer saw the library before that.
  ///
  /// That is all of it, unless the object was fetched in its middle.
  /// - Parameters:
  ///   - commit: the commit of the object.
  ///   - hold: makes the object, as it is held, the one before a delta.
  private func rest(after commit: UInt64, hold: (inout Delta) -> Void) -> (delta: Delta, accessBefore: Access) {
    guard delta.from < commit, commit < delta.to else { return (delta, accessBefore) }
    do {
      let rest = try steps.rest(after: commit, to: delta.to) {
        try observation.composedDelta(from: commit, to: delta.to)
      }
      return (rest, rest.accessBefore(of: client, then: access))
    } catch {
      // Where the log cannot be read, too much is reported rather than too little: what the whole change did, to the
      // object as it is held by one who was shown it. A log that stays unreadable ends every sequence with the error.
      var whole = delta
      whole.from = commit
      hold(&whole)
      return (whole, .full)
    }
  }
}

/// An observer of every committed change of a library (PHPhotoLibraryChangeObserver).
public protocol PhotoLibraryChangeObserver: AnyObject, Sendable {
  /// Called once for each commit, in their order, one at a time, on a queue of the observer's own (OB-01, OB-03).
  ///
  /// An observer that takes long gets the changes made meanwhile as one composed change.
  func photoLibraryDidChange(_ change: LibraryChange)
}
