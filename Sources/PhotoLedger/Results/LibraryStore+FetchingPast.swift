import CountedTree
import EventLog
import LMDB

// Carrying a fetch out as of a moment: the same plan judges the rows of then and gives them their keys, so the result
// is the one that a library would have given which had stopped at the moment, and can be followed from there to now.

extension LibraryStore {
  /// The result of a query at a moment.
  ///
  /// - Parameter client: whose access the query has; the result is followed in the client's name.
  /// - Complexity: O(n log n) in the objects of the scope, and what happened to them since.
  func fetch(
    _ query: Query, _ window: Window, wantsIncrementalChanges: Bool = true, as client: String, at moment: Moment,
    _ t: borrowing StoreReading
  ) throws -> ResultCore {
    let plan = QueryPlan(query)
    var holders = Holders()
    if case .containing(let object) = query.scope {
      holders.containers = Set(try places(of: object, at: moment.sequence, t).keys)
      holders.isSeen = try wasSeen(object, by: query.access, at: moment, t)
    }
    let order: ResultOrder =
      plan.hasWideKeys
      ? .wide(try tree(plan, holders, moment, t)) : .narrow(try tree(plan, holders, moment, t))
    return ResultCore(
      library: core.mark, plan: plan, wantsIncrementalChanges: wantsIncrementalChanges, window: window,
      commit: moment.commit, sequence: moment.sequence, order: order, holders: holders, client: client)
  }

  /// Whether a way of seeing showed an object of either kind.
  private func wasSeen(
    _ object: ObjectNumber, by access: Access, at moment: Moment, _ t: borrowing StoreReading
  ) throws -> Bool {
    if let row = try core.someRow(ofCollection: object, t) { return access.shows(row) }
    return try shows(object, to: access, at: moment, t)
  }

  private func tree<Key: PlannedKey>(
    _ plan: QueryPlan, _ holders: Holders, _ moment: Moment, _ t: borrowing StoreReading
  ) throws -> CountedTree<Key> {
    var keys = GatheredKeys<Key>()
    let access = plan.query.access
    switch plan.query.entity {
    case _ where !plan.query.isOpen: break
    case .asset where plan.query.search != nil:
      for (number, place) in try assets(foundBy: plan.query, moment, t) {
        guard let row = try assetRow(number, at: moment.sequence, t), plan.admits(row) else { continue }
        if try isDescribed(row, by: plan, moment, t) { keys.append(plan.key(row, place)) }
      }
    case .asset where !plan.asksForDetails && plan.query.scope == .library && access.selection == nil:
      try forEachAsset(at: moment, t) { row in
        if plan.admits(row) { keys.append(plan.key(row, nil)) }
      } changed: { row in
        if plan.admits(row) { keys.append(plan.key(row, nil)) }
      }
    case .asset where plan.asksForDetails && plan.query.scope == .library && access.selection == nil:
      var admitted: [ObjectNumber] = []
      try forEachAsset(at: moment, t) { row in
        if plan.admits(row) { admitted.append(row.number) }
      } changed: { row in
        if plan.admits(row) { admitted.append(row.number) }
      }
      for number in admitted {
        guard let row = try assetRow(number, at: moment.sequence, t) else { continue }
        if try isDescribed(row, by: plan, moment, t) { keys.append(plan.key(row, nil)) }
      }
    case .asset:
      for (number, place) in try assets(in: plan.query.scope, access, moment, t) {
        guard let row = try assetRow(number, at: moment.sequence, t), plan.admits(row) else { continue }
        if try isDescribed(row, by: plan, moment, t) { keys.append(plan.key(row, place)) }
      }
    case .collection where plan.query.scope == .library:
      try forEachCollection(at: moment, t) { row in
        let row = row.seen(by: access)
        if plan.admits(row) { keys.append(plan.key(row, nil)) }
      }
    case .collection:
      for (number, place) in try collections(in: plan.query.scope, holders, moment, t) {
        guard let row = try collectionRow(number, at: moment.sequence, t)?.seen(by: access), plan.admits(row) else {
          continue
        }
        keys.append(plan.key(row, place))
      }
    }
    return CountedTree(sorted: keys.sorted())
  }

  /// Whether an asset of a moment that its row admits meets the condition by its details of then.
  private func isDescribed(
    _ row: AssetRow, by plan: QueryPlan, _ moment: Moment, _ t: borrowing StoreReading
  ) throws -> Bool {
    guard plan.asksForDetails else { return true }
    return try assetDetails(row.number, at: moment.sequence, t).map { plan.meetsCondition(row, $0) } ?? false
  }

  /// The visible assets of a search's scope that have its words, in no order.
  private func assets(foundBy query: Query, _ moment: Moment, _ t: borrowing StoreReading) throws -> [Placed] {
    guard let text = query.search else { return [] }
    let found = try assets(try core.projections.assets(matching: text, in: t), at: moment, t, where: text.finds)
    if query.scope == .library, query.access.selection == nil { return found.map { ($0, nil) } }
    let numbers = Set(found)
    return try assets(in: query.scope, query.access, moment, t).filter { numbers.contains($0.number) }
  }

  private typealias Placed = (number: ObjectNumber, place: OrderKey?)

  /// The visible assets of a scope, in no order.
  private func assets(
    in scope: Query.Scope, _ access: Access, _ moment: Moment, _ t: borrowing StoreReading
  ) throws -> [Placed] {
    let found: [Placed]
    switch scope {
    case .library:
      // A selection's members are all that a limited client sees; their places there order nothing.
      guard let selection = access.selection else { return [] }
      return try members(of: selection, at: moment.sequence, t).map { ($0.number, nil) }
    case .members(let album): found = try members(of: album, at: moment.sequence, t).map { ($0.number, $0.key) }
    case .objects(let numbers): found = numbers.map { ($0, nil) }
    case .listed(let places): found = places.map { ($0.key, $0.value) }
    case .containing: found = []
    }
    return try found.filter { try shows($0.number, to: access, at: moment, t) }
  }

  /// The collections of a scope, in no order.
  private func collections(
    in scope: Query.Scope, _ holders: Holders, _ moment: Moment, _ t: borrowing StoreReading
  ) throws -> [Placed] {
    switch scope {
    case .library: []
    case .members(let folder): try members(of: folder, at: moment.sequence, t).map { ($0.number, $0.key) }
    case .objects(let numbers): numbers.map { ($0, nil) }
    case .listed(let places): places.map { ($0.key, $0.value) }
    case .containing: holders.isSeen ? holders.containers.map { ($0, nil) } : []
    }
  }
}
