import Foundation
import LMDB

// Orders that are kept, so that nobody has to make them.
//
// Problem. What a gallery asks first is everything by date, and what it asks next are the smart albums. Each is a
// fetch that judges every row of the library, gathers a key for each and sorts them: a fifth of a second for a million
// assets, before anything is on the screen.
//
// So the keys of those fetches are a projection. A stored order is a query with its plan, and a database that holds the
// key of each asset that the plan admits, in the order of the date:
//
//     order.smartAlbumUserLibrary     word of the creation date (8) number (8)     → nothing
//     order.smartAlbumFavorites       the same of the assets that are favourites   → nothing
//     order.…                         one for each of the library's own smart albums that a row alone decides
//
// The plan that fills it is the plan that a fetch and a live query ask, so the three cannot disagree about what
// belongs. LMDB counts the entries of a database, so an order's count is one read. Newest first is the same order
// against the dates; those of one date keep the order of their numbers, which is the library's, both ways.
//
// The order of addition is that of the numbers, in which the rows of assets lie, so it needs no keys of its own: it is
// begun by walking the rows, and its count is that of the same members by date. Where the first rows have few members
// (of favourites, say), the keys by date are read and put in the order of their numbers instead.
//
// Invariant: after each event the database holds the key of each row of `assets` that the plan admits, and no other.
//
// Refused: orders by other properties, and of people's own smart albums (every one costs each commit; whoever follows
// a result pays once); counters beside the orders (LMDB has them); a bitmap of what belongs to what, since the first
// screen would still have to find its place in the order.

/// The way in which a result goes through a stored order.
package enum StoredWay: Sendable, Equatable {
  /// In the order of addition (FR-11).
  case added
  /// In the order of the creation date.
  case dated(ascending: Bool)
}

/// A query whose result the store keeps, in ascending order of the creation date.
package struct StoredOrder: Sendable {
  let plan: QueryPlan
  /// The name of the database.
  package let name: String

  private init(_ album: SmartAlbumQuery) {
    // The conditions are the program's own, and its tests read each of them.
    guard let condition = try? album.condition(at: .distantPast),
      let date = try? SortTerm(.creationDate, ascending: true, for: .asset)
    else { preconditionFailure("The condition of \(album.subtype.name) can be read.") }
    var query = Query(.asset, .library, where: condition, sortedBy: [date])
    query.includesHidden = album.includesHidden
    query.sources = .userLibrary
    plan = QueryPlan(query)
    name = "order.\(album.subtype.name)"
  }

  /// All of them: everything, and the library's own smart albums but for "recently added", which the day decides.
  package static let all: [StoredOrder] = {
    let all = SmartAlbumQuery.builtIn.filter { $0.addedWithinDays == nil }.map(StoredOrder.init)
    precondition(all.count <= UInt32.bitWidth, "A standing has a bit for each stored order.")
    return all
  }()

  private static let byQuery = Dictionary(uniqueKeysWithValues: all.enumerated().map { ($1.plan.query, $0) })

  /// Which stored order answers a query, and by which way; nil if none does.
  static func answering(_ query: Query) -> (index: Int, way: StoredWay)? {
    let way: StoredWay
    switch query.sort.count {
    case 0: way = .added
    case 1 where query.sort[0].key == .creationDate: way = .dated(ascending: query.sort[0].ascending)
    default: return nil
    }
    var ascending = query
    ascending.sort = all[0].plan.query.sort
    return byQuery[ascending].map { ($0, way) }
  }
}

/// Which stored orders hold an asset, and at what date; all of them have the same key for it.
struct OrderStanding {
  /// A bit for each of ``StoredOrder/all``.
  fileprivate var orders: UInt32 = 0
  fileprivate var word: UInt64 = 0

  /// The standing of an asset that is not there.
  static let absent = OrderStanding()
}

extension Projections {
  /// The standing of an asset by its row.
  /// - Complexity: O(log n), and a look at the row for each order.
  func standing(of number: ObjectNumber, in t: borrowing some Reading) throws -> OrderStanding {
    var standing = OrderStanding.absent
    try withAsset(number, in: t) { row in
      for (index, order) in StoredOrder.all.enumerated() where order.plan.admits(row) { standing.orders |= 1 << index }
      let key: NarrowKey = StoredOrder.all[0].plan.key(row, nil)
      standing.word = key.word
    }
    return standing
  }

  /// Carries over to the stored orders that the row of an asset became another one, came or went.
  /// - Complexity: O(log n) for each order that the asset enters, leaves or moves in.
  func reorder(
    _ number: ObjectNumber, from old: OrderStanding, to new: OrderStanding, _ t: inout WriteTransaction
  ) throws(LMDBError) {
    let (before, after) = (pairKey(old.word, number), pairKey(new.word, number))
    var touched = old.word == new.word ? old.orders ^ new.orders : old.orders | new.orders
    while touched != 0 {
      let index = touched.trailingZeroBitCount
      touched &= touched - 1
      if old.orders >> index & 1 == 1 { try t.delete(before.span.bytes, in: orders[index]) }
      if new.orders >> index & 1 == 1 { try t.put(after.span.bytes, RawSpan(), in: orders[index]) }
    }
  }

  /// The keys of a stored order, ascending as a result sorted so has them.
  /// - Complexity: O(n) in the order, nothing judged; by addition they are sorted.
  func keys(ofOrder index: Int, _ way: StoredWay, in t: borrowing some Reading) throws -> [NarrowKey] {
    var keys: [NarrowKey] = []
    keys.reserveCapacity(try t.count(of: orders[index]))
    try t.forEach(in: orders[index]) { key, _ in
      keys.append(NarrowKey(word: way == .added ? 0 : try key.number(at: 0), number: try key.place(at: 8)))
      return .proceed
    }
    switch way {
    case .added: NarrowKey.sort(&keys)
    case .dated(ascending: true): break
    case .dated(ascending: false): keys = Self.backward(keys)
    }
    return keys
  }

  /// Keys of a stored order as the store has them, from its beginning or from behind a place on.
  ///
  /// - Parameters:
  ///   - most: how many at most.
  ///   - place: the last key that was given; nil: from the beginning.
  ///   - rowLimit: by addition, how many rows are judged at most.
  /// - Returns: fewer than `most` at the end of the order, or where `rowLimit` rows had no more.
  /// - Complexity: O(m log n) for m keys; by addition O(log n) and the rows between them.
  func keys(
    _ most: Int, ofOrder index: Int, _ way: StoredWay, after place: NarrowKey? = nil, rowLimit: Int = .max,
    in t: borrowing some Reading
  ) throws -> [NarrowKey] {
    switch way {
    case .added: try addedKeys(most, StoredOrder.all[index].plan, after: place?.number, rowLimit, in: t)
    case .dated(let ascending): try datedKeys(most, orders[index], ascending, after: place, in: t)
    }
  }

  private func addedKeys(
    _ most: Int, _ plan: QueryPlan, after number: ObjectNumber?, _ rowLimit: Int, in t: borrowing some Reading
  ) throws -> [NarrowKey] {
    var keys: [NarrowKey] = []
    var judged = 0
    try t.forEach(in: assets, from: number.map { $0 + 1 } ?? 0) { number, bytes in
      try bytes.withUnsafeBytes { bytes in
        if plan.admits(try AssetView(number: number, bytes: bytes)) { keys.append(NarrowKey(word: 0, number: number)) }
      }
      judged += 1
      return keys.count < most && judged < rowLimit ? .proceed : .stop
    }
    return keys
  }

  private func datedKeys(
    _ most: Int, _ order: Database, _ ascending: Bool, after place: NarrowKey?, in t: borrowing some Reading
  ) throws -> [NarrowKey] {
    var keys: [NarrowKey] = []
    var cursor = try t.cursor(in: order)
    // Those of one date stand in ascending order either way, so the way back goes from date to date.
    var next = place.map { NarrowKey(word: $0.word, number: $0.number + 1) }
    if next == nil {
      next = (try ascending ? cursor.first()?.key.dateWord() : cursor.last()?.key.dateWord())
        .map { NarrowKey(word: $0, number: 0) }
    }
    while let from = next, keys.count < most {
      let first = pairKey(from.word, from.number)
      var holder = try cursor.seek(atOrAfter: first.span.bytes)?.key
      next = nil
      while let key = holder, keys.count < most {
        let word = try key.dateWord()
        guard ascending || word == from.word else { break }
        keys.append(NarrowKey(word: word, number: try key.place(at: 8)))
        holder = try cursor.next()?.key
      }
      guard !ascending, keys.count < most else { break }
      let date = pairKey(from.word, 0)
      _ = try cursor.seek(atOrAfter: date.span.bytes)
      next = (try cursor.previous()?.key.dateWord()).map { NarrowKey(word: $0, number: 0) }
    }
    return keys
  }

  /// The keys of the same objects with the larger words first, those of one word as they stood.
  static func backward(_ keys: [NarrowKey]) -> [NarrowKey] {
    [NarrowKey](unsafeUninitializedCapacity: keys.count) { turned, count in
      var end = keys.count
      while end > 0 {
        var start = end - 1
        while start > 0, keys[start - 1].word == keys[end - 1].word { start -= 1 }
        for index in start..<end {
          turned.initializeElement(at: count, to: NarrowKey(word: ~keys[index].word, number: keys[index].number))
          count += 1
        }
        end = start
      }
    }
  }
}

extension RawSpan {
  /// The word of the date in a key of a stored order. One of another length would stand beside its place, and who goes
  /// from date to date would come back to it for ever.
  fileprivate func dateWord() throws(LibraryError) -> UInt64 {
    guard byteCount == 16 else { throw Projections.corruption("a key of a stored order") }
    return try number(at: 0)
  }
}
