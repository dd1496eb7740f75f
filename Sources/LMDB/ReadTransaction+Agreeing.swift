// Whether a database has the entries of another store's database, and finds them.
//
// A walk shows what the leaves hold, but not whether a look-up ends at the right one, which the keys in the branches
// decide. A look-up of every key is most of the cost of comparing, and proves no more than one at both ends of a leaf:
//
//     branch               c                g
//     leaves      a  b  │  c  d  e  f   │  g  h
//                 ▲  ▲     ▲        ▲      ▲  ▲      looked up, and found at the place where the walk came by
//
// A binary search compares the key with one key of a branch after another, whatever those are. If the first and the
// last key of a leaf take the same way down, a key between the two compares alike at each step, and takes that way too.
// In the leaf it is found, since the walk has seen that the keys ascend.
//
// The pages of a snapshot lie in the map, each at a multiple of its size, and a key lies in its leaf. So a key in other
// 4 KiB than the one before begins a leaf or, where pages are larger, a part of one: that costs look-ups, and proves no
// less.
//
// Invariant: of a database that agrees, a walk and a look-up have the wanted entries. One that is only suspect does not
// agree: `WriteTransaction.match` says what is wrong with it.

extension ReadTransaction {
  /// After how many entries pages are released, and progress is reported.
  private static let entriesBetweenReports = 4096

  /// Whether a database has exactly the entries of a database of another store, and a look-up finds each of them.
  ///
  /// - Parameters:
  ///   - database: the database to compare.
  ///   - wanted: the entries that it should have, with the same kind of keys.
  ///   - other: the transaction that reads them.
  ///   - progress: called every 4096 entries with their number; `.stop` ends the comparison there.
  /// - Returns: false also where a walk or a look-up shows that `database` is damaged, and where `progress` ended it.
  /// - Throws: `corrupted` if the damage is such that LMDB reports it.
  /// - Complexity: O(n) for n entries, and a look-up at each end of a page of them.
  package borrowing func agrees(
    _ database: Database, with wanted: Database, of other: borrowing ReadTransaction,
    _ progress: (Int) -> Continuation = { _ in .proceed }
  ) throws(LMDBError) -> Bool {
    precondition(database.hasIntegerKeys == wanted.hasIntegerKeys, "Both databases have keys of one kind.")
    // Of smaller pages, which only a file of another system has, several would share 4 KiB.
    guard try count(of: database) == other.count(of: wanted), try pageSize(handle, database) >= 4096 else {
      return false
    }
    var olds = try cursor(in: database)
    var news = try other.cursor(in: wanted)
    var previous: Place?
    // Whether a look-up has found the previous entry.
    var wasFound = false
    var passed = 0
    while let held = try olds.step(forward: true) {
      guard let entry = try news.step(forward: true) else { return false }
      guard Self.isSame(held.key, entry.key), Self.isSame(held.value, entry.value) else { return false }
      var beginsPage = true
      if let last = previous {
        guard keyOrder(last.key, held.key, integerKeys: database.hasIntegerKeys) < 0 else { return false }
        beginsPage = Self.page(of: last) != Self.page(of: held)
        if beginsPage, !wasFound, try !finds(last, in: database) { return false }
      }
      if beginsPage, try !finds(held, in: database) { return false }
      (previous, wasFound) = (held, beginsPage)
      passed += 1
      if passed % Self.entriesBetweenReports == 0 {
        letGoOfPages()
        other.letGoOfPages()
        if progress(Self.entriesBetweenReports) == .stop { return false }
      }
    }
    if let last = previous, !wasFound, try !finds(last, in: database) { return false }
    return try news.step(forward: true) == nil
  }

  /// Whether an entry is found by its key, at the very place.
  private borrowing func finds(_ entry: Place, in database: Database) throws(LMDBError) -> Bool {
    guard let found = try fetch(handle, database, RawSpan(_unsafeBytes: entry.key)) else { return false }
    return found.baseAddress == entry.value.baseAddress && found.count == entry.value.count
  }

  /// The 4 KiB of the map that the key of an entry begins in.
  private static func page(of entry: Place) -> UInt { UInt(bitPattern: entry.key.baseAddress) >> 12 }

  private static func isSame(_ one: UnsafeRawBufferPointer, _ two: UnsafeRawBufferPointer) -> Bool {
    one.count == two.count && keyOrder(one, two) == 0
  }
}
