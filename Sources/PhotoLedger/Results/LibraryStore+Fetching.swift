import CountedTree
import EventLog
import Foundation
import LMDB

// Executing a fetch: every row in scope is judged and given its key by the plan, the keys are sorted and become a tree.
// While an equal query is followed, its live tree is the answer and nothing is read.
//
// One reader serves fetches of now and as of a moment. Where both differ is in the functions below it: a row or a place
// has a way back (LibraryStore+Rows.swift), and a scan of all objects has an overlay (LibraryStore+AsOf.swift). So a
// result as of a moment is the one that a library would have given which had stopped there, and can be followed from
// there to now.
//
//     scope                     now                                    as of a moment
//     a stored order            its keys                               its keys, but those of the overlay's rows
//     the library's assets      rows where they lie, on several cores  rows where they lie, and those of the overlay
//     the trash, a selection    keys of stored orders, if they do;     as members
//                               else each row where it lies
//     members, listed objects   each row where it lies                 each row as of the moment
//
// A condition on files or words (`asksForDetails`) is judged on one core, now too, by decoded rows and their details.
//
// Rejected: a fetch of now as one whose overlay is empty. It would read the same rows where they lie, but on one core;
// the scan on several (ParallelScan.swift) has no overlay.

/// What the steps of a fetch need of the state that its transaction sees, each read once.
struct FetchContext {
  /// The end of the log.
  let head: EventLog.Head
  /// How many assets the selection has that limits the client's access; nil if none does. Only a fetch of the state at
  /// the head asks for it.
  let selectionCount: Int?
}

extension FetchContext {
  /// - Parameter permission: that of the client at the state that is fetched.
  init(of permission: Permission, _ core: StoreCore, _ t: borrowing StoreReading) throws {
    self.init(head: try core.log.head(t), selectionCount: permission.selectionCount)
  }
}

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

  /// The result of a query as of a moment.
  /// - Parameters:
  ///   - client: whose access the query has; the result is followed in the client's name.
  ///   - moment: the state to read; nil: the one that the transaction sees.
  /// - Complexity: O(n log n) in the objects of the scope, and what happened to them since the moment.
  func fetch(
    _ query: Query, _ window: Window, wantsIncrementalChanges: Bool = true, as client: String, at moment: Moment? = nil,
    _ context: FetchContext, _ t: borrowing StoreReading
  ) throws -> ResultCore {
    let head = context.head
    let moment = moment?.commit == head.commit ? nil : moment
    if moment == nil, let shared = sharedResult(query, at: head.commit) {
      return shared.shown(in: window, wantsIncrementalChanges: wantsIncrementalChanges, as: client)
    }
    let plan = QueryPlan(query)
    var holders = Holders()
    if case .containing(let object) = query.scope {
      holders.containers = Set(try places(of: object, at: moment?.sequence ?? Self.now, t).keys)
      holders.isSeen = try isSeen(object, by: query.access, moment, t)
    }
    let found = try moment == nil ? self.found(by: plan, t) : nil
    let order: ResultOrder
    if let found, let keys = try keysOfMany(found, query, t) {
      order = .narrow(CountedTree(sorted: keys))
    } else if moment == nil, let stored = StoredAnswer(query) {
      order = .narrow(CountedTree(sorted: try core.projections.keys(of: stored, in: t)))
    } else if let moment, let keys = try storedKeys(plan, at: moment, t) {
      order = .narrow(CountedTree(sorted: keys))
    } else if moment == nil, let keys = try selectedKeys(plan, context, t) {
      order = .narrow(CountedTree(sorted: keys))
    } else {
      order =
        plan.hasWideKeys
        ? .wide(try tree(plan, holders, found, moment, t)) : .narrow(try tree(plan, holders, found, moment, t))
    }
    return ResultCore(
      library: core.mark, plan: plan, wantsIncrementalChanges: wantsIncrementalChanges, window: window,
      commit: moment?.commit ?? head.commit, sequence: moment?.sequence ?? head.sequence, order: order,
      holders: holders, client: client)
  }

  /// The keys of a query that the store keeps in order, as of a moment: those of now, but for the assets that were
  /// otherwise then.
  /// - Returns: nil if no order of all assets answers the query.
  /// - Complexity: O(n) in the keys, and what happened since the moment.
  private func storedKeys(
    _ plan: QueryPlan, at moment: Moment, _ t: borrowing StoreReading
  ) throws -> [NarrowKey]? {
    guard let stored = StoredAnswer(plan.query), case .order = stored.source else { return nil }
    let overlay = try moment.overlay(core, t)
    let kept = try core.projections.keys(of: stored, in: t).filter { key in
      overlay.reaches(key.number) && overlay.assets[key.number] == nil
    }
    var others: [NarrowKey] = overlay.assets.values.compactMap { row in
      guard let row, plan.admits(row) else { return nil }
      return plan.key(row, nil)
    }
    NarrowKey.sort(&others)
    return NarrowKey.merged(kept, others)
  }

  /// Whether an access shows an object of either kind.
  private func isSeen(
    _ object: ObjectNumber, by access: Access, _ moment: Moment?, _ t: borrowing StoreReading
  ) throws -> Bool {
    let row =
      try moment == nil ? core.projections.collection(object, in: t) : core.someRow(ofCollection: object, t)
    if let row { return access.shows(row) }
    return try shows(object, to: access, at: moment?.sequence ?? Self.now, t)
  }

  private func tree<Key: PlannedKey>(
    _ plan: QueryPlan, _ holders: Holders, _ found: NumberSet?, _ moment: Moment?, _ t: borrowing StoreReading
  ) throws -> CountedTree<Key> {
    var keys = GatheredKeys<Key>()
    let query = plan.query
    let isWhole = query.scope == .library && query.access.selection == nil && query.search == nil
    switch query.entity {
    case _ where !query.isOpen: break
    case .asset where try isWhole && moment == nil && isTrashShort(query, t):
      for (index, trashed) in try core.projections.datedKeys(StoredOrder.trashed, in: t).enumerated() {
        if let key: Key = try key(of: trashed.number, nil, plan, moment, t) { keys.append(key) }
        if index & 0x1F == 0x1F { t.letGoOfPages(.again) }
      }
      t.letGoOfPages(.again)
    case .asset where isWhole && plan.asksForDetails:
      for number in try admittedAssets(plan, moment, t) {
        if let key: Key = try key(of: number, nil, plan, moment, t) { keys.append(key) }
      }
    case .asset where isWhole && moment == nil: return CountedTree(sorted: try scanAssets(plan, t))
    case .asset where isWhole:
      try forEachAsset(at: moment, t) { row in
        if plan.admits(row) { keys.append(plan.key(row, nil)) }
      } changed: { row in
        if plan.admits(row) { keys.append(plan.key(row, nil)) }
      }
    case .asset where moment == nil && query.scope == .library && query.search == nil:
      keys = try keysOfSelection(plan, t)
    case .asset:
      let placed =
        try query.search.map { try assets(of: query, finding: $0, found: found, moment, t) }
        ?? assets(in: query.scope, query.access, moment, t)
      for (index, (number, place)) in placed.enumerated() {
        if let key: Key = try key(of: number, place, plan, moment, t) { keys.append(key) }
        // Each row of an album may have mapped pages of its own. Those of a search are asked for again with the next
        // letter.
        if query.search == nil, index & 0x1F == 0x1F { t.letGoOfPages(.again) }
      }
    case .collection where query.scope == .library:
      var seen = 0
      try forEachCollection(at: moment, t) { row in
        let row = row.seen(by: query.access)
        if plan.admits(row) { keys.append(plan.key(row, nil)) }
        // Rows lie among the pages of other tables.
        seen += 1
        if seen & 0xFF == 0 { t.letGoOfPages(.again) }
      }
      if seen > 0xFF { t.letGoOfPages(.again) }
    case .collection:
      let access = query.access
      for (index, (number, place)) in try collections(in: query.scope, holders, moment, t).enumerated() {
        let row = try collectionRow(number, at: moment?.sequence ?? Self.now, t)?.seen(by: access)
        if let row, plan.admits(row) { keys.append(plan.key(row, place)) }
        if index & 0xFF == 0xFF { t.letGoOfPages(.again) }
      }
    }
    let sorted = keys.takeSorted()
    // Damaged rows of a container can list an object twice.
    try Projections.checkOrder(sorted, "the objects of a fetch result")
    return CountedTree(sorted: sorted)
  }

  /// The keys of the selection that limits the access of a plan, by the members' rows, which are read on the way.
  private func keysOfSelection<Key: PlannedKey>(
    _ plan: QueryPlan, _ t: borrowing StoreReading
  ) throws -> GatheredKeys<Key> {
    var keys = GatheredKeys<Key>()
    guard let selection = plan.query.access.selection else { return keys }
    var memberCount = 0
    // The places of members in a selection order nothing.
    try core.projections.forEachMember(of: selection, in: t) { _, number in
      if let key: Key = try key(of: number, nil, plan, nil, t) { keys.append(key) }
      memberCount += 1
      if memberCount & 0x1F == 0 { t.letGoOfPages(.again) }
      return true
    }
    return keys
  }

  /// Whether a query asks for what the stored order of the trash has, which is so short that its rows are looked up.
  private func isTrashShort(_ query: Query, _ t: borrowing StoreReading) throws -> Bool {
    guard query.trash == .only, query.sources == .userLibrary else { return false }
    let projections = core.projections
    return try t.count(of: projections.orders[StoredOrder.trashed]) <= t.count(of: projections.assets) / 8
  }

  /// The assets of the library that their rows admit.
  private func admittedAssets(
    _ plan: QueryPlan, _ moment: Moment?, _ t: borrowing StoreReading
  ) throws -> [ObjectNumber] {
    var admitted: [ObjectNumber] = []
    try forEachAsset(at: moment, t) { row in
      if plan.admits(row) { admitted.append(row.number) }
    } changed: { row in
      if plan.admits(row) { admitted.append(row.number) }
    }
    return admitted
  }

  /// The key of an asset in a scope; nil if the plan does not admit it, by its row or by its details.
  private func key<Key: PlannedKey>(
    of number: ObjectNumber, _ place: OrderKey?, _ plan: QueryPlan, _ moment: Moment?, _ t: borrowing StoreReading
  ) throws -> Key? {
    let sequence = moment?.sequence ?? Self.now
    guard moment != nil || plan.asksForDetails else {
      var key: Key?
      try core.projections.withAsset(number, in: t) { row in if plan.admits(row) { key = plan.key(row, place) } }
      return key
    }
    guard let row = try assetRow(number, at: sequence, t), plan.admits(row) else { return nil }
    if plan.asksForDetails {
      guard let details = try assetDetails(number, at: sequence, t) else {
        throw core.projections.corruption("the details of asset \(number)")
      }
      if !plan.meetsCondition(row, details) { return nil }
    }
    return plan.key(row, place)
  }

  /// An asset or a collection, and its place in a scope that has places.
  typealias Placed = (number: ObjectNumber, place: OrderKey?)

  /// The visible assets of a scope, in no order.
  func assets(
    in scope: Query.Scope, _ access: Access, _ moment: Moment?, _ t: borrowing StoreReading
  ) throws -> [Placed] {
    if scope == .library {
      // A selection's members are all that a limited client sees; see `keysOfSelection`.
      guard let selection = access.selection else { return [] }
      return try members(of: selection, at: moment?.sequence ?? Self.now, t).map { ($0.number, nil) }
    }
    let found = try placed(in: scope, moment, t)
    if access == .full { return found }
    return try found.filter { try shows($0.number, to: access, at: moment?.sequence ?? Self.now, t) }
  }

  /// The collections of a scope, in no order.
  private func collections(
    in scope: Query.Scope, _ holders: Holders, _ moment: Moment?, _ t: borrowing StoreReading
  ) throws -> [Placed] {
    if case .containing = scope { return holders.isSeen ? holders.containers.sorted().map { ($0, nil) } : [] }
    return try placed(in: scope, moment, t)
  }

  /// The objects of a scope that lists some.
  private func placed(in scope: Query.Scope, _ moment: Moment?, _ t: borrowing StoreReading) throws -> [Placed] {
    switch scope {
    case .library, .containing: []
    case .members(let container):
      try members(of: container, at: moment?.sequence ?? Self.now, t).map { ($0.number, $0.key) }
    case .objects(let numbers): numbers.sorted().map { ($0, nil) }
    case .listed(let places): places.map { ($0.key, $0.value) }
    }
  }

  /// The last event of a commit; 0 for the state before the first.
  package func sequence(ofCommit number: UInt64, _ t: borrowing StoreReading) throws -> UInt64 {
    try number == 0 ? 0 : core.recordedCommit(number, t).lastSequence
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
    guard let place = try place(of: number, in: result.plan.query.scope, at: result.sequence, t) else { return nil }
    switch result.plan.query.entity {
    case .asset: return try assetRow(number, at: result.sequence, t).map { result.plan.key($0, place) }
    case .collection:
      let row = try collectionRow(number, at: result.sequence, t)?.seen(by: result.plan.query.access)
      return row.map { result.plan.key($0, place) }
    }
  }

  /// The place of an object in a scope; nil if the scope does not hold it, and nil within if the scope gives no places.
  func place(
    of number: ObjectNumber, in scope: Query.Scope, at sequence: UInt64, _ t: borrowing StoreReading
  ) throws -> OrderKey?? {
    switch scope {
    case .library, .containing: .some(nil)
    case .members(let container): try place(of: number, in: container, at: sequence, t).map { .some($0) }
    case .objects(let numbers): numbers.contains(number) ? .some(nil) : nil
    case .listed(let places): places[number].map { .some($0) }
    }
  }
}
