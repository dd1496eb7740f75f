import CountedTree
import EventLog
import LMDB

// How the objects that a text search finds come into the order of a result.
//
// Problem. The index of words has the assets of a word by their numbers, and a result may have another order. A user
// who types "img" into a library of a million photos wants the first hundred, not all of them collected and sorted.
//
//     the first so many of a stored order     found       cost
//     few rows of some prefix                 by rows     m rows are read and their keys sorted; then words that other
//                                                         prefixes begin are looked for in the first of them
//     up to `candidateLimit` rows             by a set    the order is walked, and each of its keys looked up in a set;
//                                                         the order of addition is that of the set
//     more                                    by words    the order is walked, and each asset's words are compared
//
// A walk that has not found enough after a bounded number of steps is given up: the words may lie at the end of the
// order. Then, and for a result without a limit, all assets found become a set (Projections+Words.swift), and the whole
// result is made: of rows where they are few, of the stored order's keys that are in the set where they are many.
//
// What a client sees of a selection, and of an album, is a scope of its own: the members are compared with the words
// where these are many, and the assets found are looked for among the members where they are few.
//
// Invariant: each way finds what `SearchText.finds` says of every asset in scope. Rejected: sets of assets kept for
// frequent words, which every commit would have to maintain; counts by prefix, which know nothing of the trash.

extension LibraryStore {
  /// How many rows of a prefix are read for a set. Few in debug builds, like the steps: tests meet all ways.
  #if DEBUG
    private static var candidateLimit: Int { 12 }
    private static var keyLimit: Int { 16 }
    private static var detailLimit: Int { 8 }
    private static var memberLimit: Int { 4 }
  #else
    /// How many rows of a prefix are read for a set.
    private static var candidateLimit: Int { 1 << 16 }
    /// How many keys of a stored order are looked up in a set.
    private static var keyLimit: Int { 1 << 16 }
    /// How many assets of a stored order have their words compared.
    private static var detailLimit: Int { 2048 }
    /// How many members of a scope have their words compared.
    private static var memberLimit: Int { 4096 }
  #endif

  /// How many keys of a stored order are read in the time of one row, where the pages of both are mapped.
  private static var keysForRow: Int { 32 }

  /// What the store keeps of the query without its search; nil if nothing.
  private func storedAnswer(besidesSearch query: Query) -> StoredAnswer? {
    var query = query
    query.search = nil
    return StoredAnswer(query)
  }

  /// The first assets that a search finds, if the store keeps the order, the result is limited, and the limit is
  /// reached soon; otherwise nil.
  /// - Complexity: O(log n) and a bounded number of rows.
  func firstFound(_ query: Query, _ window: Window, _ t: borrowing StoreReading) throws -> [ObjectNumber]? {
    guard let text = query.search, let wanted = window.limit, window.offset == 0,
      wanted > 0, wanted <= BegunResult.mostCount, let stored = storedAnswer(besidesSearch: query)
    else { return nil }
    let projections = core.projections
    let candidates = try projections.candidates(for: text, mostRows: Self.candidateLimit, in: t)
    var comparedCount = 0
    func hasWords(_ number: ObjectNumber) throws -> Bool {
      comparedCount += 1
      return try comparedCount <= Self.detailLimit && projections.has(number, wordsOf: text, in: t)
    }
    guard let numbers = candidates.numbers else {
      let keys = try projections.keys(wanted, of: stored, rowLimit: Self.detailLimit, where: hasWords, in: t)
      return keys.count == wanted ? keys.map(\.number) : nil
    }
    guard numbers.count >= wanted else { return nil }
    func isFound(_ number: ObjectNumber) throws -> Bool { try candidates.areFound || hasWords(number) }
    if case .order(_, _, let way) = stored.source {
      let plan = QueryPlan(query)
      if way == .added { return try first(wanted, of: numbers) { try admits($0, plan, t) && isFound($0) } }
      if numbers.count <= Projections.fewRows {
        return try first(wanted, of: sorted(numbers, by: plan, t), where: isFound)
      }
    }
    let keys = try projections.keys(
      wanted, of: stored, rowLimit: Self.keyLimit, where: { try numbers.contains($0) && isFound($0) }, in: t)
    return keys.count == wanted ? keys.map(\.number) : nil
  }

  /// The first so many of some numbers that are wanted; nil if there are fewer.
  private func first(
    _ wanted: Int, of numbers: some Sequence<ObjectNumber>, where isWanted: (ObjectNumber) throws -> Bool
  ) rethrows -> [ObjectNumber]? {
    var first: [ObjectNumber] = []
    for number in numbers where try isWanted(number) {
      first.append(number)
      if first.count == wanted { return first }
    }
    return nil
  }

  /// Whether an asset's row belongs to a plan.
  private func admits(_ number: ObjectNumber, _ plan: QueryPlan, _ t: borrowing StoreReading) throws -> Bool {
    var isAdmitted = false
    try core.projections.withAsset(number, in: t) { isAdmitted = plan.admits($0) }
    return isAdmitted
  }

  /// The assets of some numbers whose rows belong to a plan, in its order.
  private func sorted(_ numbers: NumberSet, by plan: QueryPlan, _ t: borrowing StoreReading) throws -> [ObjectNumber] {
    var keys: [NarrowKey] = []
    for number in numbers {
      try core.projections.withAsset(number, in: t) { if plan.admits($0) { keys.append(plan.key($0, nil)) } }
    }
    NarrowKey.sort(&keys)
    return keys.map(\.number)
  }

  /// The assets that the search of a plan finds now; nil without a search of all that the library has, or if the result
  /// is empty whatever it finds.
  func found(by plan: QueryPlan, _ t: borrowing StoreReading) throws -> NumberSet? {
    let query = plan.query
    guard let text = query.search, query.entity == .asset, query.scope == .library, query.access == .full,
      query.isOpen
    else { return nil }
    return try core.projections.assets(matching: text, in: t)
  }

  /// The keys of the assets that a search finds, ascending, if the store keeps their order and they are many of it;
  /// otherwise nil.
  /// - Complexity: O(n) in the stored order, no row read.
  func keysOfMany(_ found: NumberSet, _ query: Query, _ t: borrowing StoreReading) throws -> [NarrowKey]? {
    guard let stored = storedAnswer(besidesSearch: query), case .order = stored.source,
      let count = try core.projections.count(of: stored, in: t), found.count >= count / Self.keysForRow
    else { return nil }
    return try core.projections.keys(of: stored, in: t).filter { found.contains($0.number) }
  }

  /// The visible assets of a query's scope that have the words of its search, in no order.
  /// - Parameter found: the assets that the search finds now, if that is known.
  /// - Complexity: for a search of now, O(m log n) for the smaller number m of assets that the words find and assets of
  ///   the scope, but for a set of the former if both are large.
  func assets(
    of query: Query, finding text: SearchText, found: NumberSet?, _ moment: Moment?, _ t: borrowing StoreReading
  ) throws -> [Placed] {
    let projections = core.projections
    if query.scope == .library, query.access.selection == nil {
      let found = try found ?? projections.assets(matching: text, in: t)
      return try assets(Array(found), at: moment, t, where: text.finds).map { ($0, nil) }
    }
    guard moment == nil else {
      let found = try projections.assets(matching: text, in: t)
      let numbers = Set(try assets(Array(found), at: moment, t, where: text.finds))
      return try assets(in: query.scope, query.access, moment, t).filter { numbers.contains($0.number) }
    }
    if let few = try projections.fewAssets(matching: text, in: t) {
      return try few.compactMap { number -> Placed? in
        guard let place = try place(of: number, in: query.scope, at: Self.now, t),
          try projections.shows(number, to: query.access, in: t)
        else { return nil }
        return (number, place)
      }
    }
    let members = try assets(in: query.scope, query.access, nil, t)
    if members.count <= Self.memberLimit {
      return try members.filter { try projections.has($0.number, wordsOf: text, in: t) }
    }
    let numbers = try projections.assets(matching: text, in: t)
    return members.filter { numbers.contains($0.number) }
  }
}
