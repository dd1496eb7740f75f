import CountedTree
import EventLog
import Foundation
import LMDB

// Carrying a fetch out: every row in scope is judged and given its key by the plan, the keys are sorted and become a
// tree. While an equal query is followed, its live tree is the answer and nothing is read.

extension LibraryStore {
  func fetch(_ query: Query, _ window: Window, wantsIncrementalChanges: Bool = true) throws -> ResultCore {
    try reading { t in
      let head = try core.log.head(t)
      if let shared = observation.shared(query, at: head.commit) {
        return shared.shown(in: window, wantsIncrementalChanges: wantsIncrementalChanges)
      }
      let plan = QueryPlan(query)
      var holders: Set<ObjectNumber> = []
      if case .containing(let object) = query.scope {
        holders = Set(try core.projections.places(of: object, in: t).map(\.container))
      }
      let order: ResultOrder =
        plan.hasWideKeys
        ? .wide(try tree(plan, holders, t)) : .narrow(try tree(plan, holders, t))
      return ResultCore(
        library: core.mark, plan: plan, wantsIncrementalChanges: wantsIncrementalChanges, window: window,
        commit: head.commit, sequence: head.sequence, order: order, holders: holders)
    }
  }

  private func tree<Key: PlannedKey>(
    _ plan: QueryPlan, _ holders: Set<ObjectNumber>, _ t: borrowing StoreReading
  ) throws -> CountedTree<Key> {
    var keys: [Key] = []
    var isSorted = true
    func take(_ key: Key?) {
      guard let key else { return }
      if let last = keys.last, !(last < key) { isSorted = false }
      keys.append(key)
    }
    switch plan.query.entity {
    case .asset: try forEachAsset(in: plan.query.scope, t) { take(plan.admits($0) ? Key.make(plan, $0, $1) : nil) }
    case .collection:
      try forEachCollection(in: plan.query.scope, holders, t) { take(plan.admits($0) ? Key.make(plan, $0, $1) : nil) }
    }
    if !isSorted { keys.sort() }
    return CountedTree(sorted: keys)
  }

  private func forEachAsset(
    in scope: Query.Scope, _ t: borrowing StoreReading, _ body: (AssetRow, OrderKey?) -> Void
  ) throws {
    let projections = core.projections
    switch scope {
    case .library:
      try t.forEach(in: projections.assets, from: 0) { number, bytes in
        body(try AssetRow(number: number, bytes: bytes), nil)
        return .proceed
      }
    case .members(let album):
      try projections.forEachMember(of: album, in: t) { key, number in
        if let row = try projections.asset(number, in: t) { body(row, key) }
        return true
      }
    case .objects(let numbers):
      for number in numbers.sorted() {
        if let row = try projections.asset(number, in: t) { body(row, nil) }
      }
    case .containing: break
    }
  }

  private func forEachCollection(
    in scope: Query.Scope, _ holders: Set<ObjectNumber>, _ t: borrowing StoreReading,
    _ body: (CollectionRow, OrderKey?) -> Void
  ) throws {
    let projections = core.projections
    switch scope {
    case .library:
      try t.forEach(in: projections.collections, from: 0) { number, bytes in
        body(try CollectionRow(number: number, encoded: bytes.withUnsafeBytes { Array($0) }), nil)
        return .proceed
      }
    case .members(let folder):
      try projections.forEachMember(of: folder, in: t) { key, number in
        if let row = try projections.collection(number, in: t) { body(row, key) }
        return true
      }
    case .objects(let numbers):
      for number in numbers.sorted() {
        if let row = try projections.collection(number, in: t) { body(row, nil) }
      }
    case .containing:
      for number in holders.sorted() {
        if let row = try projections.collection(number, in: t) { body(row, nil) }
      }
    }
  }

  /// The last event of a commit.
  func sequence(ofCommit number: UInt64, _ t: borrowing StoreReading) throws -> UInt64 {
    guard let commit = try core.log.commit(number, in: t) else {
      throw LibraryError(.corrupted, "The log has no row for commit \(number); run `verify`.")
    }
    return commit.lastSequence
  }

  /// The shown position of an object in a result; nil if it is not shown.
  func position(of number: ObjectNumber, in result: ResultCore) throws -> Int? {
    try reading { t in
      switch result.order {
      case .narrow(let tree):
        guard let key: NarrowKey = try key(of: number, in: result, t) else { return nil }
        return shown(tree.index(of: key), in: result)
      case .wide(let tree):
        guard let key: WideKey = try key(of: number, in: result, t) else { return nil }
        return shown(tree.index(of: key), in: result)
      }
    }
  }

  private func shown(_ index: Int?, in result: ResultCore) -> Int? {
    guard let index, result.shown.contains(index) else { return nil }
    return index - result.shown.lowerBound
  }

  private func key<Key: PlannedKey>(
    of number: ObjectNumber, in result: ResultCore, _ t: borrowing StoreReading
  ) throws -> Key? {
    var place: OrderKey?
    if case .members(let container) = result.plan.query.scope {
      place = try self.place(of: number, in: container, at: result.sequence, t)
      guard place != nil else { return nil }
    }
    switch result.plan.query.entity {
    case .asset: return try assetRow(number, at: result.sequence, t).map { Key.make(result.plan, $0, place) }
    case .collection: return try collectionRow(number, at: result.sequence, t).map { Key.make(result.plan, $0, place) }
    }
  }
}
