import CountedTree
import EventLog
import LMDB

// What a limited client sees of a stored order, without the rows of its selection.
//
// The rows of a selection lie far apart: reading one costs as much as walking a hundred keys of an order, and maps
// sixteen pages around it. So the rows of nearly all members are not read:
//
//     selection            members, ascending by number      (members: the key of a member is its number)
//      − order.withheld    what a client with full access would not be shown: these rows are judged
//      ∩ the order         keys of the other members, in their order; by addition the numbers are the keys
//
// A limited client sees what lies beneath the top of a stack, and hidden assets where an album shows them, so a
// withheld member may well belong; a member that is not withheld belongs if and only if the order has it.
//
// A result that is only begun (ResultState.swift) asks for less: its count is that of the members which are not
// withheld, and an order by date is walked until it has had enough of them.
//
// The rows are read where that costs less: a small selection from a long order. Of the smallest ones the count alone
// says so, and no order is looked for: clearing a bit for each number would take longer.
//
// Rejected: an order for each selection, since each grant and each edit would cost as many entries; and a stored count
// of what each selection shows, since hiding an asset would have to update every selection that holds it.

extension LibraryStore {
  /// How many keys are walked in the time that reading a row takes whose pages have to be mapped first. Few in debug
  /// builds: tests meet both ways.
  #if DEBUG
    static var keysOfRow: Int { 4 }
  #else
    static var keysOfRow: Int { 128 }
  #endif

  /// How many words of bits are cleared in the time that walking a key takes.
  static var wordsOfKey: Int { 8 }

  /// The keys of a limited client's result from the stored order of the same query; nil if there is none, or if the
  /// rows of the selection are read sooner.
  /// - Complexity: O(k + w) for k members of the selection and w withheld assets by addition, beside a bit for each
  ///   asset that is cleared; in an order by date O(m) too for its m keys.
  func selectedKeys(
    _ plan: QueryPlan, _ context: FetchContext, _ t: borrowing StoreReading
  ) throws -> [NarrowKey]? {
    guard context.mayWalk, let order = SelectedOrder(plan.query),
      try isWalked(order, order.isOfNumbers ? 0 : .max, context, t)
    else { return nil }
    let selection = try members(of: order, plan, context, t)
    var keys =
      try order.isOfNumbers
      ? selection.shown.map { NarrowKey(word: 0, number: $0) }
      : core.projections.keys(
        ofOrder: order.index, without: order.without, order.way, from: order.answer.least,
        where: { selection.shown.contains($0) }, in: t)
    if !selection.judged.isEmpty {
      keys += selection.judged
      NarrowKey.sort(&keys)
      try Projections.checkOrder(keys, "the order of withheld assets")
    }
    return keys
  }

  /// How many assets a limited client's result has, and its first ones; nil if no stored order of the whole library has
  /// them, if they are few, or if they are found sooner with the others.
  ///
  /// The selection must have assets (``FetchContext/mayBegin(_:_:)``).
  /// - Parameter wanted: how many assets are wanted, if there are so many.
  /// - Complexity: as ``selectedKeys(_:_:_:)`` by addition, but that an order by date is walked until it has had enough
  ///   members, and its parts to their ends.
  func firstSelected(
    _ wanted: Int, of query: Query, _ context: FetchContext, _ t: borrowing StoreReading
  ) throws -> (plan: QueryPlan, count: Int, numbers: [ObjectNumber])? {
    // What is not withheld is in the order of the whole library, so the count is known without a walk.
    guard context.mayWalk, let size = context.selectionCount, let order = SelectedOrder(query), order.isWhole,
      order.isOfNumbers || order.way != .added
    else { return nil }
    let projections = core.projections
    let orderCount = try t.count(of: projections.orders[order.index])
    let expected = order.isOfNumbers ? 0 : orderCount * Swift.min(wanted, size) / size
    guard try isWalked(order, expected, context, t) else { return nil }
    let plan = QueryPlan(query)
    let selection = try members(of: order, plan, context, t)
    var count = selection.shown.count
    for part in order.without {
      count -= try projections.datedKeys(part, where: { selection.shown.contains($0) }, in: t).count
    }
    let rest = Swift.min(wanted, count)
    count += selection.judged.count
    guard count > BegunResult.firstCount else { return nil }
    var keys: [NarrowKey]
    if order.isOfNumbers {
      keys = selection.shown.prefix(rest).map { NarrowKey(word: 0, number: $0) }
    } else {
      // The members may lie after much that is newer. Half of the order costs half of what making the result costs.
      keys = try projections.keys(
        rest, of: order.answer, rowLimit: Swift.max(4 * expected + BegunResult.firstCount, orderCount / 2),
        where: { selection.shown.contains($0) }, in: t)
      guard keys.count == rest else { return nil }
      if order.way == .dated(ascending: false) { keys = keys.map { NarrowKey(word: ~$0.word, number: $0.number) } }
    }
    keys += selection.judged
    NarrowKey.sort(&keys)
    return (plan, count, keys.prefix(wanted).map(\.number))
  }

  /// How many assets the selection of an access has now; nil for an access without one.
  func selectionCount(of access: Access, _ t: borrowing StoreReading) throws -> Int? {
    guard let client = access.selection else { return nil }
    return try core.projections.client(client, in: t)?.selectionCount
  }

  /// Whether walking an order costs no more than reading the rows of the selection.
  /// - Parameter keyCount: how many keys of the order will be walked, at most all.
  private func isWalked(
    _ order: SelectedOrder, _ keyCount: Int, _ context: FetchContext, _ t: borrowing StoreReading
  ) throws -> Bool {
    let orders = core.projections.orders
    var walked = try t.count(of: orders[StoredOrder.withheld])
    walked += try Swift.min(keyCount, t.count(of: orders[order.index]))
    for part in order.without { walked += try t.count(of: orders[part]) }
    return context.isSooner(walking: walked)
  }

  /// The members of a selection.
  private func members(
    of order: SelectedOrder, _ plan: QueryPlan, _ context: FetchContext, _ t: borrowing StoreReading
  ) throws -> SelectedMembers {
    let projections = core.projections
    var shown = NumberSet(upTo: context.head.sequence)
    var memberCount = 0
    try projections.forEachMember(of: order.client, in: t) { _, member in
      guard member <= shown.largest else { throw Projections.corruption("the members of a selection") }
      shown.insert(member)
      // The pages of a selection lie apart, too.
      memberCount += 1
      if memberCount & 0x3FF == 0 { t.letGoOfPages(.again) }
      return true
    }
    var (judged, judgedCount) = ([NarrowKey](), 0)
    for withheld in try projections.datedKeys(StoredOrder.withheld, where: { shown.contains($0) }, in: t) {
      shown.remove(withheld.number)
      try projections.withAsset(withheld.number, in: t) { row in
        if plan.admits(row) { judged.append(plan.key(row, nil)) }
      }
      judgedCount += 1
      if judgedCount & 0x1F == 0 { t.letGoOfPages(.again) }
    }
    return SelectedMembers(shown: shown, judged: judged)
  }
}

extension FetchContext {
  /// Whether a stored order may be walked for the client's selection: without one there is no need, and for a small one
  /// the bits alone cost more than the rows.
  fileprivate var mayWalk: Bool { isSooner(walking: 0) }

  /// Whether walking so many keys, and clearing a bit for each number, costs no more than reading the rows of the
  /// selection.
  fileprivate func isSooner(walking keyCount: Int) -> Bool {
    guard let selectionCount else { return false }
    let walked = keyCount + Int(head.sequence >> 6) / LibraryStore.wordsOfKey
    return walked / LibraryStore.keysOfRow <= selectionCount
  }
}

/// A limited client's query of which the store keeps the order for a client with full access.
private struct SelectedOrder {
  let client: ObjectNumber
  /// What answers the query of a client with full access.
  let answer: StoredAnswer
  let index: Int
  let without: [Int]
  let way: StoredWay

  init?(_ query: Query) {
    guard let client = query.access.selection, query.scope == .library else { return nil }
    var query = query
    query.access = .full
    guard let answer = StoredAnswer(query), case .order(let index, let without, let way) = answer.source else {
      return nil
    }
    (self.client, self.answer) = (client, answer)
    (self.index, self.without, self.way) = (index, without, way)
  }

  /// Whether the order has every asset that is not withheld, but for those of its parts.
  var isWhole: Bool { (index == StoredOrder.whole || index == StoredOrder.added) && answer.least == 0 }
  /// Whether the numbers of the members are the keys of the order.
  var isOfNumbers: Bool { index == StoredOrder.whole && without.isEmpty && way == .added }
}

/// The members of a selection, by whether a stored order decides about them.
private struct SelectedMembers {
  /// Those that the order decides about.
  let shown: NumberSet
  /// The keys of those that belong to the result by their rows.
  let judged: [NarrowKey]
}
