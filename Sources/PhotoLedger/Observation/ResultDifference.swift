import EventLog

// The difference of a result between two states.
//
// Given a result of some state, this computes the change to the same fetch at another state: later, as for followers,
// or earlier. It comes from the log, by the composed delta of the commits in between; the way back is the same delta
// inverted. If the client's permission differs between the two states, so does the query, and one walk of both results
// finds the step, as for followers (AccessChange.swift).
//
//     result at FROM ──── composed delta FROM→TO, or TO→FROM reversed ────▶ result at TO, positions, details

extension PhotoLibrary {
  /// What leads from a result to the same fetch at another state: the exact change details, composed from the log.
  ///
  /// A query does not change with the day: a result of the smart album of recent additions uses the thirty days of its
  /// own state.
  /// - Parameters:
  ///   - result: a result of this library, of any state; ``at(_:)`` returns results of earlier ones.
  ///   - token: the other state, earlier or later.
  /// - Returns: details whose *before* is the result, even if nothing differs. The commits are those between the two
  ///   states that the client may know, oldest first.
  /// - Throws: ``LibraryError``: `.invalidToken` for a token of another library or client, or of a state that does not
  ///   exist yet; `.accessUserDenied` or `.accessRestricted` for a client without read access; the store's errors.
  /// - Complexity: O(e + k log n) for e events since the earlier state and k objects touched between the two; O(n)
  ///   where the client's permission differs.
  public func changeDetails<Element>(
    from result: FetchResult<Element>, to token: Token
  ) throws -> ChangeDetails<Element> {
    let core = try result.core
    guard core.library == store.core.mark else {
      throw LibraryError(.invalidToken, "The fetch result belongs to another library; fetch it again in this one.")
    }
    let commit = try store.reading { t in try store.commit(of: token, for: client, at: moment, t) }
    let step = try store.difference(from: core, to: commit)
    return ChangeDetails(
      before: result, after: FetchResult(try store.state(step.after, readAt: .max), like: result),
      commits: try store.commits(step.commits, asSeenBy: core.client),
      changes: IndexChanges(step.touched.windowed(offset: core.window.offset, limit: core.window.limit)))
  }
}

extension LibraryStore {
  /// What leads from a result to the same fetch at a commit, earlier or later.
  fileprivate func difference(from before: ResultCore, to commit: UInt64) throws -> Step {
    // What is remembered of commits forgets what was erased, once the erasure is read.
    try observation.pump()
    let forward: Delta
    let isSearch = before.plan.searchesDetails
    switch commit {
    case before.commit: forward = .none(at: commit, lastSequence: before.sequence)
    case (before.commit + 1)...:
      forward = try observation.composedDelta(from: before.commit, to: commit, withDetails: isSearch)
    default: forward = try observation.composedDelta(from: commit, to: before.commit, withDetails: isSearch)
    }
    let isBackward = commit < before.commit
    let delta =
      try isBackward ? forward.reversed(endingAt: reading { t in try sequence(ofCommit: commit, t) }) : forward
    if try hasOtherAccess(at: commit, than: before) { return try crossing(before, to: commit, by: delta) }
    return try Step(from: before, by: delta)
  }

  /// Whether a client's permission at a commit makes another query of a result's fetch.
  private func hasOtherAccess(at commit: UInt64, than result: ResultCore) throws -> Bool {
    guard result.client != PhotoLibrary.owner else { return false }
    return try reading { t in
      let moment = try moment(ofCommit: commit, t)
      return try permission(of: result.client, at: moment, t).access != result.plan.query.access
    }
  }
}
