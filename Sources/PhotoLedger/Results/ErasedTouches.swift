import CountedTree
import EventLog
import LMDB
import Synchronization

// Results that hold an asset which was erased since.
//
// A result finds a touched object in its tree by the sort key of its previous row. For an erased asset that row is no
// longer available: the log yields a redacted row for every earlier state, which has another key and other answers to
// every condition. The tree still has the key. So the key of such an asset is searched in the tree by its number, in
// one walk: O(n) for followers across an erasure, and nothing for all others.
//
//     result made ──▶ erasure ──▶ followed      exact: the tree has the keys of then
//     erasure ──▶ result of an earlier state made      blank: it lacks the asset, or has it at another position
//
// A client that holds positions in a result of the first kind cannot be led on from one of the second, though both are
// of one state; and a result that was only begun cannot be made any more. `FetchResult.checkIsExact()` tells them
// apart.

extension QueryPlan {
  /// Whether the rows of a delta do not determine the former positions of its objects.
  func isBlind(to delta: Delta) -> Bool { query.entity == .asset && !delta.erasedAssets.isEmpty }
}

extension CountedTree where Element: PlannedKey {
  /// What a delta does to this tree; the keys of erased assets are those that it has.
  /// - Parameter later: the tree that the delta leads to, if it is known already.
  /// - Complexity: O(k); O(n) where an asset of the delta was erased.
  func touches(
    of plan: QueryPlan, by delta: Delta, _ holders: Holders, after later: CountedTree<Element>? = nil
  ) -> [KeyTouch<Element>] {
    let known: [KeyTouch<Element>] = plan.touches(by: delta, holders: holders)
    guard plan.isBlind(to: delta) else { return known }
    let erased = delta.erasedAssets
    let standing = keys(of: erased)
    let standingLater = later?.keys(of: erased)
    var touches = known.filter { touch in
      !((touch.old ?? touch.new).map { erased.contains($0.number) } ?? false)
    }
    var blank: [ObjectNumber: Element] = [:]
    for touch in known { if let new = touch.new { blank[new.number] = new } }
    for number in erased {
      let new: Element? = standingLater == nil ? blank[number] : standingLater?[number]
      guard standing[number] != nil || new != nil else { continue }
      touches.append(KeyTouch(old: standing[number], new: new, isVisiblyChanged: true))
    }
    return touches
  }

  private func keys(of numbers: Set<ObjectNumber>) -> [ObjectNumber: Element] {
    var keys: [ObjectNumber: Element] = [:]
    for key in self where numbers.contains(key.number) { keys[key.number] = key }
    return keys
  }
}

extension LibraryStore {
  /// The last event by which payloads were erased; 0 if none was.
  ///
  /// Each erasure takes at least the event that created its asset, so the number of erased payloads grows with each.
  /// - Complexity: O(1); O(r) for r erased payloads once after an erasure.
  func lastErasure(_ t: borrowing StoreReading) throws -> UInt64 {
    let count = try t.count(of: core.log.redactions.database)
    if count == 0 { return 0 }
    if let known = lastErasure.withLock({ $0.count == count ? $0.sequence : nil }) { return known }
    let sequence = try core.log.redactions.lastCarrier(in: t) ?? 0
    lastErasure.withLock { if count > $0.count { $0 = (count, sequence) } }
    return sequence
  }

  /// Marks what is read of an earlier state after an erasure; nil if no erasure since then reached what a client saw.
  ///
  /// Full access: the last event by which payloads were erased. A limited client must not learn of other erasures, so
  /// for it the mark counts those assets of its selection as of the state that are erased now; it grows with each.
  /// - Parameter sequence: the last event of the state.
  /// - Complexity: O(1) with full access; O(k log n) for k assets of a selection, if anything was erased since.
  func erasure(since sequence: UInt64, seenBy access: Access, _ t: borrowing StoreReading) throws -> UInt64? {
    let last = try lastErasure(t)
    guard last > sequence else { return nil }
    guard let selection = access.selection else { return access == .full ? last : nil }
    let erased = try members(of: selection, at: sequence, t).count { member in
      try assetRow(member.number, at: sequence, t)?.isErased ?? false
    }
    return erased > 0 ? UInt64(erased) : nil
  }

  /// The error for a result of an earlier state that can no longer be worked out.
  static func erased(after state: Token) -> LibraryError {
    LibraryError(
      .tokenExpired,
      "Assets were erased after the state \(state), so a result of it is no longer known; fetch it again.")
  }
}

extension FetchResult {
  /// Checks that the result is the one that its state showed: it is completed if it was only begun.
  /// - Throws: ``LibraryError`` `.tokenExpired` if assets that the client saw were erased after its state, and it may
  ///   have been read only then; what a read of the store throws.
  /// - Complexity: as ``erasure``; O(n) the first time for a result of which only the beginning was read.
  package func checkIsExact() throws {
    _ = try core
    if try erasure != nil { throw LibraryStore.erased(after: token) }
  }

  /// What marks the result if assets that the client saw were erased after its state and the result may have been read
  /// after that, see ``LibraryStore/erasure(since:seenBy:_:)``; nil if not.
  /// - Complexity: O(1); for a limited client O(k log n) in its selection, if anything was erased since.
  package var erasure: UInt64? {
    get throws { state.readAt > state.frame.commit ? try laterErasure : nil }
  }

  /// The last erasure after the result's state of an asset that the client saw, whenever the result was read: its
  /// objects are read as they are asked for, and show nothing of what was erased; nil if there was none.
  /// - Complexity: as ``erasure``.
  package var laterErasure: UInt64? {
    get throws {
      let frame = state.frame
      guard frame.plan.query.entity == .asset else { return nil }
      let access = frame.plan.query.access
      return try store.reading { t in try store.erasure(since: frame.sequence, seenBy: access, t) }
    }
  }
}
