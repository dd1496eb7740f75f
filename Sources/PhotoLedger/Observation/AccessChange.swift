import CountedTree
import EventLog
import LMDB

// What a result becomes when its client's permission changes.
//
// A result is a query with the client's access. When that changes (full access becomes a selection, a selection is
// withdrawn) the same fetch is another query, with another tree. The step from one to the other is a commit like any
// other, delivered once, with exact index changes:
//
//     commit        X-1                    X                     …    head
//     all photos    tree A ──────────┐
//     selection                      └──▶ tree B ◀── reversed delta ─── tree B of now
//                                    walk of both: what left, what came
//
// Tree B at X is fetched as of X (LibraryStore+Fetching.swift), or now where X is the head. The walk is
// O(n) in the two results, as only that for an erased asset is (ErasedTouches.swift): such a change takes away or
// brings a share of all objects, so k is of the order of n. A selection that grows or shrinks is not of this kind; its
// commits are deltas as those of an album.

extension LibraryStore {
  /// The first commit after a result's that changed the permission of its client; nil if there is none.
  func accessChange(of result: ResultCore, through limit: UInt64) throws -> UInt64? {
    guard result.client != PhotoLibrary.owner, observation.mayHaveNewAccess(since: result.commit) else { return nil }
    return try reading { t in
      guard let row = try core.projections.client(named: result.client, in: t) else { return nil }
      for sequence in try core.projections.history(of: row.number, after: result.sequence, in: t) {
        guard let record = try core.log.event(at: sequence, in: t), record.commit <= limit else { return nil }
        guard Event.typesOfReadAccess.contains(record.type) else { continue }
        let change = try core.projections.event(record, in: t).readAccessChange
        if change?.client == row.number { return record.commit }
      }
      return nil
    }
  }

  /// A result at a later commit up to which nothing touched it.
  func unchanged(_ result: ResultCore, at commit: UInt64) throws -> ResultCore {
    var later = result
    later.commit = commit
    later.sequence = try reading { t in try sequence(ofCommit: commit, t) }
    return later
  }

  /// The step from a result to the same fetch at a later commit, its client's permission having changed in between.
  /// - Complexity: O(n) in the two results, and O(k log n) for what later commits touched.
  func crossing(_ before: ResultCore, to commit: UInt64) throws -> Step {
    try crossing(before, to: commit, by: try observation.composedDelta(from: before.commit, to: commit))
  }

  /// The same along a delta that is known, which may lead back.
  func crossing(_ before: ResultCore, to commit: UInt64, by delta: Delta) throws -> Step {
    let (after, readAt, isBlind) = try fetched(before, at: commit)
    let changed: Set<ObjectNumber>
    switch before.plan.query.entity {
    case .asset: changed = try changedAssets(before, after, delta)
    case .collection: changed = try changedCollections(before, after)
    }
    let touched: TouchedPositions
    switch (before.order, after.order) {
    case (.narrow(let one), .narrow(let two)): touched = try one.walked(to: two, changed: changed)
    // Stacks order nothing for a limited client: one of its results may have narrow keys where the other has wide ones.
    default: touched = try before.order.widened.walked(to: after.order.widened, changed: changed)
    }
    return Step(after: after, touched: touched, commits: delta.commits, isBlind: isBlind, readAt: readAt)
  }

  /// The same fetch as of an earlier commit, the last commit when it was read, and whether assets were erased since.
  private func fetched(
    _ result: ResultCore, at commit: UInt64
  ) throws -> (after: ResultCore, readAt: UInt64, isBlind: Bool) {
    let after = try self.result(of: result, at: commit)
    // Erasures that came after the fetch are taken for earlier ones, which costs a shared step.
    return try reading { t in
      let isBlind = try result.plan.query.entity == .asset && lastErasure(t) > after.sequence
      return (after, try core.log.head(t).commit, isBlind)
    }
  }

  /// The same fetch by the permission of an earlier commit, as of that commit.
  func result(of result: ResultCore, at commit: UInt64) throws -> ResultCore {
    try reading { t in
      let moment = try moment(ofCommit: commit, t)
      let permission = try permission(of: result.client, at: moment, t)
      let query = try query(result.plan.query, seeing: permission.access, t)
      let context = try FetchContext(of: permission, core, t)
      return try fetch(query, result.window, as: result.client, at: moment, context, t).shown(like: result)
    }
  }

  /// The assets that look different to the client; to a limited one, nothing is in a stack.
  private func changedAssets(
    _ before: ResultCore, _ after: ResultCore, _ delta: Delta
  ) throws -> Set<ObjectNumber> {
    let (one, two) = (before.plan.query.access, after.plan.query.access)
    if one == .full, two == .full { return Set(delta.assets.filter { $0.value.isVisiblyChanged }.map(\.key)) }
    var changed = Set(delta.assets.filter { $0.value.isChangedForLimited }.map(\.key))
    guard one == .full || two == .full else { return changed }
    let full = one == .full ? before : after
    let common = Set(before.allNumbers).intersection(after.allNumbers)
    try reading { t in
      for number in common where try assetRow(number, at: full.sequence, t)?.stack != nil { changed.insert(number) }
    }
    return changed
  }

  /// The collections in both results of which the client sees another row.
  private func changedCollections(_ before: ResultCore, _ after: ResultCore) throws -> Set<ObjectNumber> {
    let common = Set(before.allNumbers).intersection(after.allNumbers)
    return try reading { t in
      try common.filter { number in
        let one = try collectionRow(number, at: before.sequence, t)?.seen(by: before.plan.query.access)
        let two = try collectionRow(number, at: after.sequence, t)?.seen(by: after.plan.query.access)
        return one?.visible != two?.visible
      }
    }
  }
}

extension ResultCore {
  /// The numbers of all objects, shown in the window or not.
  fileprivate var allNumbers: [ObjectNumber] { (0..<order.count).map { order.number(at: $0) } }
}

extension ResultOrder {
  /// The order with keys of bytes, which compare as the words do.
  /// - Complexity: O(1) if it has them already; O(n) otherwise.
  fileprivate var widened: CountedTree<WideKey> {
    switch self {
    case .narrow(let tree):
      CountedTree(
        sorted: tree.map { key in
          WideKey(bytes: withUnsafeBytes(of: key.word.bigEndian) { Array($0) }, number: key.number)
        })
    case .wide(let tree): tree
    }
  }
}

extension CountedTree where Element: ResultKey {
  /// The positions in both trees of the objects that only one of them contains, or both under different keys.
  /// - Throws: `.corrupted` if a tree has an object twice, as damaged rows of a container can list it.
  /// - Complexity: O(n) in both trees, O(k log k) for what differs.
  fileprivate func walked(
    to later: CountedTree<Element>, changed: Set<ObjectNumber>
  ) throws(LibraryError) -> TouchedPositions {
    var (leaving, coming): ([ObjectNumber: Int], [ObjectNumber: Int]) = ([:], [:])
    var changedPositions: [Int] = []
    var (one, two) = (makeIterator(), later.makeIterator())
    var (old, new) = (one.next(), two.next())
    var (position, laterPosition) = (0, 0)
    while old != nil || new != nil {
      if let key = old, let other = new, key == other {
        if changed.contains(key.number) { changedPositions.append(laterPosition) }
        (old, new, position, laterPosition) = (one.next(), two.next(), position + 1, laterPosition + 1)
      } else if let key = old, new.map({ key < $0 }) ?? true {
        guard leaving.updateValue(position, forKey: key.number) == nil else { throw .contradiction(at: key) }
        (old, position) = (one.next(), position + 1)
      } else if let key = new {
        guard coming.updateValue(laterPosition, forKey: key.number) == nil else { throw .contradiction(at: key) }
        (new, laterPosition) = (two.next(), laterPosition + 1)
      }
    }
    var repositioned: [Relocation] = []
    for (number, before) in leaving {
      guard let after = coming.removeValue(forKey: number) else { continue }
      leaving[number] = nil
      repositioned.append(Relocation(before: before, after: after))
      if changed.contains(number) { changedPositions.append(after) }
    }
    return TouchedPositions(
      beforeCount: count, afterCount: later.count, removed: leaving.values.sorted(), inserted: coming.values.sorted(),
      repositioned: repositioned.sorted { $0.before < $1.before }, changed: changedPositions.sorted())
  }
}
