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
// The rows are read where that costs less: a small selection from a long order. Rejected: an order for each selection,
// since each grant and each edit would cost as many entries; and a stored count of what each selection shows, since
// hiding an asset would have to update every selection that holds it.

extension LibraryStore {
  /// How many keys are walked in the time that reading a row takes whose pages have to be mapped first. Few in debug
  /// builds: tests meet both ways.
  #if DEBUG
    private static var keysOfRow: Int { 4 }
  #else
    private static var keysOfRow: Int { 128 }
  #endif

  /// The keys of a limited client's result from the stored order of the same query; nil if there is none, or if the
  /// rows of the selection are read sooner.
  /// - Complexity: O(k + w) for k members of the selection and w withheld assets by addition; in an order by date O(m)
  ///   too for its m keys.
  func selectedKeys(_ plan: QueryPlan, _ t: borrowing StoreReading) throws -> [NarrowKey]? {
    guard case .limited(let client) = plan.query.access, plan.query.scope == .library else { return nil }
    var query = plan.query
    query.access = .full
    let projections = core.projections
    guard let answer = StoredAnswer(query), case .order(let index, let without, let way) = answer.source,
      let row = try projections.client(client, in: t)
    else { return nil }
    let isWhole = index == StoredOrder.whole && without.isEmpty && way == .added
    var walked = try t.count(of: projections.orders[StoredOrder.withheld])
    for part in isWhole ? [] : [index] + without { walked += try t.count(of: projections.orders[part]) }
    guard walked / Self.keysOfRow <= row.selectionCount else { return nil }

    var members: [ObjectNumber] = []
    members.reserveCapacity(row.selectionCount)
    try projections.forEachMember(of: client, in: t) { _, number in
      members.append(number)
      return true
    }
    var shown = NumberSet(upTo: try core.log.head(t).sequence)
    for member in members {
      guard member <= shown.largest else { throw Projections.corruption("the members of a selection") }
      shown.insert(member)
    }
    var (judged, judgedCount) = ([NarrowKey](), 0)
    for withheld in try projections.datedKeys(StoredOrder.withheld, where: { shown.contains($0) }, in: t) {
      shown.remove(withheld.number)
      try projections.withAsset(withheld.number, in: t) { row in
        if plan.admits(row) { judged.append(plan.key(row, nil)) }
      }
      judgedCount += 1
      if judgedCount & 0xFF == 0 { t.letGoOfPages() }
    }
    var keys: [NarrowKey]
    if isWhole {
      keys = members.filter(shown.contains).map { NarrowKey(word: 0, number: $0) }
    } else {
      keys = try projections.datedKeys(index, from: answer.least, where: { shown.contains($0) }, in: t)
      for part in without {
        keys = Projections.difference(keys, try projections.datedKeys(part, where: { shown.contains($0) }, in: t))
      }
      keys = Projections.turned(keys, way)
    }
    if !judged.isEmpty {
      keys += judged
      NarrowKey.sort(&keys)
    }
    return keys
  }
}
