import Foundation
import LMDB

// Stored orders, so that common fetches need not compute them.
//
// Problem. A gallery first fetches everything by date, and then the smart albums. Each is a fetch that tests every row
// of the library, collects a key for each and sorts them: a fifth of a second for a million assets, before anything is
// on the screen.
//
// So the keys of those fetches are a projection. A stored order is a query, and a database that holds the key of each
// asset that the query's plan admits, in the order of the date:
//
//     order.smartAlbumUserLibrary     word of the creation date (8) number (8)     → nothing
//     order.smartAlbumFavorites       the same of the assets that are favourites   → nothing
//     order.…                         one for each of the library's own smart albums that a row alone decides
//     order.audio, order.unknown      the same of the assets of the rarer media types
//     order.added                     word of the date of addition, number: of the assets of the whole library
//     order.trashed                   word of the date of the trash, number: of the assets in the trash
//     order.withheld                  0, number: of the assets that the whole library lacks
//
// The plan that fills it is the plan that a fetch and a live query ask, so the three cannot disagree about what
// belongs. LMDB counts the entries of a database, so an order's count is one read. Newest first is the same order
// against the dates; those of one date keep the order of their numbers, which is the library's, both ways.
//
// The plans are made when a row is first judged: opening a library needs the names of the orders only, and a fetch by
// date the index of one.
//
// The dates of addition ascend with the numbers unless the clock was set back, so `order.added` grows at its end.
// "Recently added" is its end from a date on. The keys from there and those before are counted by turns, until either
// ends.
//
// What a limited client sees of an order is what `order.withheld` is for (SelectedOrders.swift).
//
// The order of addition is that of the numbers, in which the rows of assets lie, so it needs no keys of its own: it is
// begun by walking the rows, and its count is that of the same members by date. Where the first rows have few members
// (of favourites, say), the keys by date are read and put in the order of their numbers instead.
//
// Images are most of a library, so an order of them would cost nearly every commit an entry more. They are what the
// other media types leave of everything:
//
//     images             = smartAlbumUserLibrary  −  smartAlbumVideos  −  audio  −  unknown
//     images and videos  = smartAlbumUserLibrary  −  audio  −  unknown
//
// The subtracted orders are subsets of the whole, and disjoint, so the count is a difference of counts; a walk skips
// the keys of a subset. A new photo or video enters no order that it did not enter before.
//
// An album in its own order needs no keys either: `members` has its order, and its row counts the members that a fetch
// shows, since an album says how many assets it has.
//
// Invariant: after each event the database holds the key of each row of `assets` that the plan admits, and no other;
// `order.withheld` the key of each row that the plan of the whole library does not admit.
//
// Rejected: orders by other properties, and of user-defined smart albums (each costs every commit; a follower of a
// result pays once); counters beside the orders (LMDB has them); a bitmap of memberships, since the first screen would
// still have to find its place in the order.

/// The way in which a result goes through a stored order.
package enum StoredWay: Sendable, Equatable {
  /// In the order of addition (FR-11).
  case added
  /// In the order of its date, mostly that of the creation.
  case dated(ascending: Bool)
}

/// A query whose result the store keeps, in ascending order of a date.
package struct StoredOrder: Sendable {
  /// Which date an order is sorted by.
  enum Kind: Int, CaseIterable { case created, added, trashed, undated }

  /// The name of the database.
  package let name: String
  let kind: Kind
  let condition: Condition
  let includesHidden: Bool

  private init(
    _ name: String, where condition: Condition = .always, includesHidden: Bool = false, by kind: Kind = .created
  ) {
    self.name = "order.\(name)"
    self.kind = kind
    self.condition = condition
    self.includesHidden = includesHidden
  }

  private init(_ album: BuiltInAlbum) {
    self.init(album.subtype.name, where: album.condition, includesHidden: album.includesHidden)
  }

  private init(_ type: MediaType) { self.init(type.name, where: .media(type)) }

  /// The query whose result it is.
  var query: Query {
    var query = Self.query(where: condition, includesHidden: includesHidden, by: kind)
    // As a fetch of the trash shows it.
    if kind == .trashed { (query.includesAllBurst, query.includesAllStack, query.trash) = (true, true, .only) }
    return query
  }

  /// The terms by which each kind of order ascends.
  private static let termsOfKinds: [[SortTerm]] = Kind.allCases.map { kind in
    let key: PropertyKey
    switch kind {
    case .created: key = .creationDate
    case .added: key = .addedDate
    case .trashed: key = .trashedDate
    case .undated: return []
    }
    guard let date = try? SortTerm(key, ascending: true, for: .asset) else {
      preconditionFailure("Assets can be sorted by their \(key.rawValue).")
    }
    return [date]
  }

  /// The terms by which a kind of order ascends.
  fileprivate static func terms(_ kind: Kind) -> [SortTerm] { termsOfKinds[kind.rawValue] }

  /// The library's assets that satisfy a condition, in ascending order of a date.
  static func query(
    where condition: Condition, includesHidden: Bool = false, by kind: Kind = .created
  ) -> Query {
    var query = Query(.asset, .library, where: condition, sortedBy: terms(kind))
    query.includesHidden = includesHidden
    query.sources = .userLibrary
    return query
  }

  /// Those that the rows of assets outside of the trash are judged for: everything, and the library's own smart albums
  /// but for "recently added", which the day decides; and the media types that no smart album shows, but for images.
  /// They are of one kind, so their plans differ in the condition and in whether hidden assets belong, and in nothing
  /// else (OrderMarks.swift).
  static let judged: [StoredOrder] = {
    let judged =
      BuiltInAlbum.all.filter { $0.addedWithinDays == nil }.map { StoredOrder($0) }
      + [MediaType.audio, .unknown].map { StoredOrder($0) }
    precondition(judged.allSatisfy { $0.kind == .created }, "Orders that are judged together must be of one kind.")
    return judged
  }()
  fileprivate static let judgedCount = judged.count

  /// All of them: those above, and those that follow from everything and from the trash.
  package static let all: [StoredOrder] = {
    let all =
      judged + [
        StoredOrder("added", by: .added), StoredOrder("trashed", includesHidden: true, by: .trashed),
        StoredOrder("withheld", by: .undated),
      ]
    precondition(all.count <= UInt32.bitWidth, "The bit set must have a bit for each stored order.")
    return all
  }()

  /// What decides which rows belong to each of them, and gives these their keys.
  static let plans = all.map { QueryPlan($0.query) }

  private static let everything = query(where: .always)
  /// The index of everything.
  static let whole: Int = {
    guard let index = judged.firstIndex(where: { $0.condition == .always && !$0.includesHidden }) else {
      preconditionFailure("There is a stored order of the whole library.")
    }
    return index
  }()
  /// The index of the same members by the date of their addition.
  static let added = judgedCount
  /// The index of the trash.
  static let trashed = judgedCount + 1
  /// The index of the assets that the whole library lacks.
  static let withheld = judgedCount + 2

  /// A bit for each order of a kind, by the kinds.
  fileprivate static let masks: [UInt32] = Kind.allCases.map { kind in
    all.indices.reduce(0) { all[$1].kind == kind ? $0 | 1 << $1 : $0 }
  }

  /// An order by its index, and those that are subtracted from it.
  fileprivate typealias Ordered = (index: Int, without: [Int])

  /// What answers a query that is sorted by date, ascending; nil if nothing does.
  fileprivate static func answer(to query: Query) -> Ordered? {
    // What a gallery fetches first; the answers to other queries are made when one is asked.
    if query == everything { return (whole, []) }
    return answers[query]
  }

  /// All answers: each order, and what is left of everything without some.
  private static let answers: [Query: Ordered] = {
    let indexes = Dictionary(uniqueKeysWithValues: all.enumerated().map { ($1.query, $0) })
    var answers: [Query: Ordered] = [:]
    for (asked, order) in indexes where all[order].kind != .undated { answers[asked] = (order, []) }
    func index(_ condition: Condition) -> Int {
      guard let index = indexes[query(where: condition)] else {
        preconditionFailure("There is no stored order for \(condition).")
      }
      return index
    }
    let parts = [MediaType.video, .audio, .unknown]
    // Each set of media types that holds images, as what belongs and as what does not.
    for bits in 0..<1 << parts.count {
      let without = parts.indices.filter { bits >> $0 & 1 == 0 }.map { parts[$0] }
      let wanted = Set(MediaType.allCases).subtracting(without)
      var spellings = [Condition.or(wanted.map(Condition.media))]
      if !without.isEmpty { spellings.append(.not(.or(without.map(Condition.media)))) }
      for spelling in spellings {
        answers[query(where: spelling)] = (index(.always), without.map { index(.media($0)) })
      }
    }
    return answers
  }()
}

/// What the store keeps that answers a query, from its first object on.
package struct StoredAnswer: Sendable {
  enum Source: Sendable {
    /// One of ``StoredOrder/all`` without the assets of others, by one of its ways.
    case order(Int, without: [Int], StoredWay)
    /// The members of an album, in its own order.
    case album(ObjectNumber)
  }

  /// What is asked for, ascending.
  private let query: Query
  let source: Source
  /// The word of the first date that belongs, in an order by date; 0: all do.
  let least: UInt64

  /// What decides which rows belong; only walks through rows need it.
  fileprivate var plan: QueryPlan { QueryPlan(query) }

  private init(_ query: Query, _ source: Source, from least: UInt64 = 0) {
    self.query = query
    self.source = source
    self.least = least
  }

  /// A stored order by one of its ways.
  package init(order index: Int, _ way: StoredWay = .dated(ascending: true)) {
    self.init(StoredOrder.all[index].query, .order(index, without: [], way))
  }

  /// What answers a query; nil if nothing does.
  init?(_ query: Query) {
    // Most fetches of limited clients end here, before the query is looked up.
    guard query.access == .full else { return nil }
    if case .members(let container) = query.scope {
      guard query == Query(.asset, query.scope) else { return nil }
      self.init(query, .album(container))
      return
    }
    let (way, kind): (StoredWay, StoredOrder.Kind)
    switch query.sort.count {
    case 0: (way, kind) = (.added, query.trash == .only ? .trashed : .created)
    case 1:
      way = .dated(ascending: query.sort[0].ascending)
      switch query.sort[0].key {
      case .creationDate: kind = .created
      case .addedDate: kind = .added
      case .trashedDate: kind = .trashed
      default: return nil
      }
    default: return nil
    }
    var (ascending, least) = (query, UInt64(0))
    ascending.sort = StoredOrder.terms(kind)
    // Days that a smart album of what was added lately begins with, or others.
    if kind == .added, case .comparison(.addedDate, .greaterOrEqual, .date(let date)) = query.condition {
      ascending.condition = .always
      least = SortKeyEncoder<AssetView>.word(of: date.timeIntervalSinceReferenceDate)
    }
    guard let answer = StoredOrder.answer(to: ascending) else { return nil }
    self.init(ascending, .order(answer.index, without: answer.without, way), from: least)
  }
}

/// Which stored orders hold an asset, and at what dates; those of one kind have the same key for it.
struct OrderStanding {
  /// A bit for each of ``StoredOrder/all``.
  fileprivate var orders: UInt32 = 0
  /// The word of the date of each ``StoredOrder/Kind``.
  fileprivate var words = InlineArray<4, UInt64>(repeating: 0)

  /// The standing of an asset that is not there.
  static let absent = OrderStanding()

  private init() {}

  /// The standing of an asset by its row.
  /// - Complexity: O(1), and a look at the row for each order.
  init(of row: AssetView) {
    if row.isTrashed {
      if StoredOrder.plans[StoredOrder.trashed].admits(row) { orders |= 1 << StoredOrder.trashed }
      words[StoredOrder.Kind.trashed.rawValue] = Self.word(of: row, in: StoredOrder.trashed)
    } else {
      orders = StoredOrder.marks(of: row)
    }
    let isShown = orders >> StoredOrder.whole & 1 == 1
    orders |= 1 << (isShown ? StoredOrder.added : StoredOrder.withheld)
    words[StoredOrder.Kind.created.rawValue] = Self.word(of: row, in: StoredOrder.whole)
    words[StoredOrder.Kind.added.rawValue] = Self.word(of: row, in: StoredOrder.added)
  }

  private static func word(of row: AssetView, in index: Int) -> UInt64 {
    let key: NarrowKey = StoredOrder.plans[index].key(row, nil)
    return key.word
  }
}

extension Projections {
  /// Carries over to the stored orders that the row of an asset became another one, came or went.
  /// - Complexity: O(log n) for each order that the asset enters, leaves or moves in.
  func reorder(
    _ number: ObjectNumber, from old: OrderStanding, to new: OrderStanding, _ t: inout WriteTransaction
  ) throws(LMDBError) {
    var touched = old.orders ^ new.orders
    for (kind, mask) in StoredOrder.masks.enumerated() where old.words[kind] != new.words[kind] {
      touched |= (old.orders | new.orders) & mask
    }
    while touched != 0 {
      let index = touched.trailingZeroBitCount
      touched &= touched - 1
      let kind = StoredOrder.all[index].kind.rawValue
      let (before, after) = (pairKey(old.words[kind], number), pairKey(new.words[kind], number))
      if old.orders >> index & 1 == 1 { try t.delete(before.span.bytes, in: orders[index]) }
      if new.orders >> index & 1 == 1 { try t.put(after.span.bytes, RawSpan(), in: orders[index]) }
    }
  }

  /// How many objects an answer has; nil if there is no such album.
  /// - Complexity: O(log n); from a date on, O(m) for the m keys on that side of the date which has fewer.
  func count(of answer: StoredAnswer, in t: borrowing some Reading) throws -> Int? {
    switch answer.source {
    case .order(let index, _, _) where answer.least > 0: return try count(in: orders[index], from: answer.least, t)
    case .order(let index, let without, _):
      let count = try without.reduce(t.count(of: orders[index])) { $0 - (try t.count(of: orders[$1])) }
      guard count >= 0 else { throw corruption("the stored orders") }
      return count
    case .album(let number):
      guard let row = try collection(number, in: t), row.kind == .album else { return nil }
      return row.assetCount
    }
  }

  /// How many keys of an order have a word or a larger one: they are counted from both ends by turns.
  private func count(in order: Database, from least: UInt64, _ t: borrowing some Reading) throws -> Int {
    var low = try t.cursor(in: order)
    var high = try t.cursor(in: order)
    var (first, last) = (try low.first()?.key, try high.last()?.key)
    var (before, count) = (0, 0)
    while true {
      guard let key = first, try key.datedKey().word < least else { return try t.count(of: order) - before }
      (before, first) = (before + 1, try low.next()?.key)
      guard let key = last, try key.datedKey().word >= least else { return count }
      (count, last) = (count + 1, try high.previous()?.key)
      if before & 0x7FF == 0 { t.letGoOfPages(.again) }
    }
  }

  /// All keys of an answer, ascending as a result sorted so has them.
  /// - Complexity: O(n) in the order, nothing judged; by addition they are sorted. O(m log n) for an album.
  func keys(of answer: StoredAnswer, in t: borrowing some Reading) throws -> [NarrowKey] {
    guard case .order(let index, let without, let way) = answer.source else {
      return try keys(.max, of: answer, in: t)
    }
    return try keys(ofOrder: index, without: without, way, from: answer.least, in: t)
  }

  /// The keys of a stored order that others lack, ascending as a result has them that goes through it in a way.
  /// - Parameters:
  ///   - least: the word of the first date.
  ///   - isWanted: which numbers; nil: all.
  func keys(
    ofOrder index: Int, without: [Int], _ way: StoredWay, from least: UInt64,
    where isWanted: ((ObjectNumber) -> Bool)? = nil, in t: borrowing some Reading
  ) throws -> [NarrowKey] {
    func keys(_ index: Int, from least: UInt64) throws -> [NarrowKey] {
      guard way == .added else {
        return try datedKeys(index, from: least, ascending: way == .dated(ascending: true), where: isWanted, in: t)
      }
      // Of everything the dates of addition ascend with the numbers, so there is mostly nothing to sort.
      let order = index == StoredOrder.whole ? StoredOrder.added : index
      var keys = try datedKeys(order, from: least, where: isWanted, in: t)
      for position in keys.indices { keys[position] = NarrowKey(word: 0, number: keys[position].number) }
      NarrowKey.sort(&keys)
      // A damaged order can have an asset under two dates.
      try Self.checkOrder(keys, "the order of stored keys")
      return keys
    }
    return try without.reduce(keys(index, from: least)) { Self.difference($0, try keys($1, from: 0)) }
  }

  /// The keys of a stored order as a result has them that is sorted by its date.
  /// - Parameters:
  ///   - least: the word of the first date.
  ///   - isWanted: which numbers; nil: all.
  func datedKeys(
    _ index: Int, from least: UInt64 = 0, ascending: Bool = true, where isWanted: ((ObjectNumber) -> Bool)? = nil,
    in t: borrowing some Reading
  ) throws -> [NarrowKey] {
    let entryCount = try t.count(of: orders[index])
    let start = ascending ? pairKey(least, 0) : pairKey(.max, .max)
    let turned: UInt64 = ascending ? 0 : .max
    var keys = try [NarrowKey](unsafeUninitializedCapacity: entryCount) { keys, count in
      var walkedCount = 0
      var cursor = try t.cursor(in: orders[index])
      var entry = try ascending ? cursor.seek(atOrAfter: start.span.bytes) : cursor.seek(atOrBefore: start.span.bytes)
      while let found = entry {
        let key = try found.key.datedKey()
        if key.word < least { break }
        walkedCount += 1
        guard walkedCount <= entryCount else { throw Projections.corruption("the number of keys of a stored order") }
        // The pages of an order lie apart, and a fault maps those around one.
        if walkedCount & 0x7FF == 0 { t.letGoOfPages(.again) }
        if isWanted?(key.number) ?? true {
          keys.initializeElement(at: count, to: NarrowKey(word: key.word ^ turned, number: key.number))
          count += 1
        }
        entry = try ascending ? cursor.next() : cursor.previous()
      }
    }
    if !ascending { Self.turnRuns(&keys) }
    // Pages of a damaged file can lead to some twice.
    try Self.checkOrder(keys, "the order of stored keys")
    return keys
  }

  /// Checks what a tree of keys takes for granted: they ascend, and no object has two that are equal.
  /// - Parameter what: what the store contradicts itself about if not.
  static func checkOrder(_ keys: [some ResultKey], _ what: String) throws {
    guard keys.indices.dropFirst().allSatisfy({ keys[$0 - 1] < keys[$0] }) else { throw corruption(what) }
  }

  /// Turns each run of keys of one word round: assets of one date are in ascending order either way.
  static func turnRuns(_ keys: inout [NarrowKey]) {
    var start = 0
    while start < keys.count {
      var end = start + 1
      while end < keys.count, keys[end].word == keys[start].word { end += 1 }
      if end - start > 1 { keys[start..<end].reverse() }
      start = end
    }
  }

  /// The ascending keys that are not among others, which are ascending too.
  static func difference(_ keys: [NarrowKey], _ others: [NarrowKey]) -> [NarrowKey] {
    var place = 0
    return keys.filter { key in
      while place < others.count, others[place] < key { place += 1 }
      return place == others.count || others[place] != key
    }
  }

  /// Keys of an answer as the store has them, from its beginning or from after a place on.
  ///
  /// - Parameters:
  ///   - most: the maximum number of keys.
  ///   - place: the last returned key; nil: from the beginning.
  ///   - rowLimit: the maximum number of rows or keys to test, if not all belong.
  ///   - isWanted: which assets of the answer are wanted.
  /// - Returns: fewer than `most` at the end of the order, or if `rowLimit` rows had no more.
  /// - Complexity: O(m log n) for m keys; but by date of a whole order, O(log n) too for each that does not belong.
  func keys(
    _ most: Int, of answer: StoredAnswer, after place: NarrowKey? = nil, rowLimit: Int = .max,
    where isWanted: (ObjectNumber) throws -> Bool = { _ in true }, in t: borrowing some Reading
  ) throws -> [NarrowKey] {
    switch answer.source {
    case .order(_, _, .added): try addedKeys(most, answer.plan, after: place?.number, rowLimit, where: isWanted, in: t)
    case .order(let index, let without, .dated(let ascending)):
      try datedKeys(
        most, orders[index], without: without.map { orders[$0] }, ascending, from: answer.least, after: place, rowLimit,
        where: isWanted, in: t)
    case .album(let number):
      try memberKeys(most, number, answer.plan, after: place, rowLimit, where: isWanted, in: t)
    }
  }

  private func addedKeys(
    _ most: Int, _ plan: QueryPlan, after number: ObjectNumber?, _ rowLimit: Int,
    where isWanted: (ObjectNumber) throws -> Bool, in t: borrowing some Reading
  ) throws -> [NarrowKey] {
    var keys: [NarrowKey] = []
    var judged = 0
    try t.forEach(in: assets, from: number.map { $0 + 1 } ?? 0) { number, bytes in
      try bytes.withUnsafeBytes { bytes in
        if plan.admits(try AssetView(number: number, bytes: bytes)), try isWanted(number) {
          keys.append(NarrowKey(word: 0, number: number))
        }
      }
      judged += 1
      if judged & 0x3FF == 0 { t.letGoOfPages(.again) }
      return keys.count < most && judged < rowLimit ? .proceed : .stop
    }
    // What is shown lies apart, and is read next.
    if judged > 0x3FF { t.letGoOfPages(.again) }
    return keys
  }

  private func memberKeys(
    _ most: Int, _ album: ObjectNumber, _ plan: QueryPlan, after place: NarrowKey?, _ rowLimit: Int,
    where isWanted: (ObjectNumber) throws -> Bool, in t: borrowing some Reading
  ) throws -> [NarrowKey] {
    var keys: [NarrowKey] = []
    var judged = 0
    // No two members have one place, and no member has the last place of all.
    let start = place.flatMap { OrderKey(stored: $0.word + 1) }
    guard place == nil || start != nil else { return [] }
    try forEachMember(of: album, from: start, in: t) { key, number in
      var isAdmitted = false
      try withAsset(number, in: t) { isAdmitted = plan.admits($0) }
      if isAdmitted, try isWanted(number) { keys.append(NarrowKey(word: key.rawValue, number: number)) }
      judged += 1
      return keys.count < most && judged < rowLimit
    }
    return keys
  }

  private func datedKeys(
    _ most: Int, _ order: Database, without parts: [Database], _ ascending: Bool, from least: UInt64,
    after place: NarrowKey?, _ rowLimit: Int, where isWanted: (ObjectNumber) throws -> Bool,
    in t: borrowing some Reading
  ) throws -> [NarrowKey] {
    var (keys, judged) = ([NarrowKey](), 0)
    func judge(_ key: NarrowKey) throws {
      judged += 1
      if judged & 0x7FF == 0 { t.letGoOfPages(.again) }
      if try isWanted(key.number), try !isHeld(key, by: parts, in: t) { keys.append(key) }
    }
    var cursor = try t.cursor(in: order)
    // Assets of one date are in ascending order either way, so the descending walk goes through such a date forward.
    var start = place.map { NarrowKey(word: $0.word, number: $0.number + 1) }
    if start == nil, ascending { start = NarrowKey(word: least, number: 0) }
    var next = start == nil ? try cursor.last()?.key.datedKey() : nil
    while keys.count < most, judged < rowLimit {
      if let from = start {
        let bytes = pairKey(from.word, from.number)
        next = try cursor.seek(atOrAfter: bytes.span.bytes)?.key.datedKey()
        start = nil
        guard !ascending else { continue }
        while let key = next, key.word == from.word, keys.count < most, judged < rowLimit {
          try judge(key)
          next = try cursor.next()?.key.datedKey()
        }
        let date = pairKey(from.word, 0)
        _ = try cursor.seek(atOrAfter: date.span.bytes)
        next = try cursor.previous()?.key.datedKey()
        continue
      }
      guard let key = next, key.word >= least else { break }
      next = try (ascending ? cursor.next() : cursor.previous())?.key.datedKey()
      if !ascending, next?.word == key.word {
        start = NarrowKey(word: key.word, number: 0)
      } else {
        try judge(key)
      }
    }
    return keys
  }

  /// Whether one of some databases has a key.
  private func isHeld(_ key: NarrowKey, by databases: [Database], in t: borrowing some Reading) throws -> Bool {
    guard !databases.isEmpty else { return false }
    let bytes = pairKey(key.word, key.number)
    for database in databases where try t.value(for: bytes.span.bytes, in: database) != nil { return true }
    return false
  }
}

extension RawSpan {
  /// A key of a stored order. One of another length would sort beside its position, and a walk from date to date would
  /// return to it for ever.
  @inline(__always)
  fileprivate func datedKey() throws(LibraryError) -> NarrowKey {
    guard byteCount == 16 else { throw Projections.corruption("a key of a stored order") }
    return NarrowKey(word: try number(at: 0), number: try place(at: 8))
  }
}
