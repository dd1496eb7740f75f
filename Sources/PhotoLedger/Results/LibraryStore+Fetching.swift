import CountedTree
import EventLog
import Foundation
import LMDB

// Carrying a fetch out: every row in scope is judged and given its key by the plan, the keys are sorted and become a
// tree. While an equal query is followed, its live tree is the answer and nothing is read.

extension LibraryStore {
  /// A query with its access; a client's own collections are its own at all times, so the state does not matter.
  func query(_ query: Query, seeing access: Access, _ t: borrowing StoreReading) throws -> Query {
    var query = query
    query.access = access
    if case .members(let container) = query.scope, query.access != .full, container != rootFolder {
      query.isScopeShown = try core.someRow(ofCollection: container, t).map(query.access.shows) ?? false
    } else {
      query.isScopeShown = true
    }
    return query
  }

  /// The result of a query as the transaction's state gives it.
  ///
  /// - Parameter client: whose access the query has; the result is followed in the client's name.
  func fetch(
    _ query: Query, _ window: Window, wantsIncrementalChanges: Bool = true, as client: String,
    _ t: borrowing StoreReading
  ) throws -> ResultCore {
    let head = try core.log.head(t)
    if let shared = sharedResult(query, at: head.commit) {
      return shared.shown(in: window, wantsIncrementalChanges: wantsIncrementalChanges, as: client)
    }
    let plan = QueryPlan(query)
    var holders = Holders()
    if case .containing(let object) = query.scope {
      holders.containers = Set(try core.projections.places(of: object, in: t).map(\.container))
      holders.isSeen = try isSeen(object, by: query.access, t)
    }
    let order: ResultOrder
    if let stored = StoredAnswer(query) {
      order = .narrow(CountedTree(sorted: try core.projections.keys(of: stored, in: t)))
    } else {
      order = plan.hasWideKeys ? .wide(try tree(plan, holders, t)) : .narrow(try tree(plan, holders, t))
    }
    return ResultCore(
      library: core.mark, plan: plan, wantsIncrementalChanges: wantsIncrementalChanges, window: window,
      commit: head.commit, sequence: head.sequence, order: order, holders: holders, client: client)
  }

  /// Whether a way of seeing shows an object of either kind.
  private func isSeen(_ object: ObjectNumber, by access: Access, _ t: borrowing StoreReading) throws -> Bool {
    if let row = try core.projections.collection(object, in: t) { return access.shows(row) }
    return try core.projections.shows(object, to: access, in: t)
  }

  private func tree<Key: PlannedKey>(
    _ plan: QueryPlan, _ holders: Holders, _ t: borrowing StoreReading
  ) throws -> CountedTree<Key> {
    var keys = GatheredKeys<Key>()
    let access = plan.query.access
    switch plan.query.entity {
    case _ where !plan.query.isOpen: break
    case .asset where plan.query.search != nil:
      try forEachDescribed(plan, t) { admit in
        try forEachAsset(foundBy: plan.query, t, admit)
      } body: {
        keys.append(plan.key($0, $1))
      }
    case .asset where plan.asksForDetails:
      try forEachDescribed(plan, t) { admit in
        try forEachAsset(in: plan.query.scope, access, t, admit)
      } body: {
        keys.append(plan.key($0, $1))
      }
    case .asset where plan.query.scope == .library && access.selection == nil: keys = try scanAssets(plan, t)
    case .asset:
      try forEachAsset(in: plan.query.scope, access, t) { row, place in
        if plan.admits(row) { keys.append(plan.key(row, place)) }
      }
    case .collection:
      try forEachCollection(in: plan.query.scope, holders, t) { row, place in
        let row = row.seen(by: access)
        if plan.admits(row) { keys.append(plan.key(row, place)) }
      }
    }
    return CountedTree(sorted: keys.sorted())
  }

  private func forEachAsset(
    in scope: Query.Scope, _ access: Access, _ t: borrowing StoreReading, _ body: (AssetView, OrderKey?) -> Void
  ) throws {
    guard let selection = access.selection else { return try forEachAsset(in: scope, t, body) }
    // A selection's members come in the order of their numbers, which is the library's.
    if scope == .library { return try forEachAsset(in: .members(of: selection), t) { row, _ in body(row, nil) } }
    var failure: (any Error)?
    try forEachAsset(in: scope, t) { row, place in
      do {
        if try core.projections.shows(row.number, to: access, in: t) { body(row, place) }
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  private func forEachAsset(
    in scope: Query.Scope, _ t: borrowing StoreReading, _ body: (AssetView, OrderKey?) -> Void
  ) throws {
    let projections = core.projections
    switch scope {
    case .library:
      try t.forEach(in: projections.assets, from: 0) { number, bytes in
        try bytes.withUnsafeBytes { body(try AssetView(number: number, bytes: $0), nil) }
        return .proceed
      }
    case .members(let album):
      try projections.forEachMember(of: album, in: t) { key, number in
        try projections.withAsset(number, in: t) { body($0, key) }
        return true
      }
    case .objects(let numbers):
      for number in numbers.sorted() { try projections.withAsset(number, in: t) { body($0, nil) } }
    case .listed(let places):
      for (number, place) in places.sorted(by: { $0.value < $1.value }) {
        try projections.withAsset(number, in: t) { body($0, place) }
      }
    case .containing: break
    }
  }

  private func forEachCollection(
    in scope: Query.Scope, _ holders: Holders, _ t: borrowing StoreReading,
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
    case .listed(let places):
      for (number, place) in places.sorted(by: { $0.value < $1.value }) {
        if let row = try projections.collection(number, in: t) { body(row, place) }
      }
    case .containing where !holders.isSeen: break
    case .containing:
      for number in holders.containers.sorted() {
        if let row = try projections.collection(number, in: t) { body(row, nil) }
      }
    }
  }

  /// The last event of a commit; 0 for the state before the first.
  package func sequence(ofCommit number: UInt64, _ t: borrowing StoreReading) throws -> UInt64 {
    if number == 0 { return 0 }
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
    if case .listed(let places) = result.plan.query.scope {
      place = places[number]
      guard place != nil else { return nil }
    }
    switch result.plan.query.entity {
    case .asset: return try assetRow(number, at: result.sequence, t).map { result.plan.key($0, place) }
    case .collection:
      let row = try collectionRow(number, at: result.sequence, t)?.seen(by: result.plan.query.access)
      return row.map { result.plan.key($0, place) }
    }
  }
}
