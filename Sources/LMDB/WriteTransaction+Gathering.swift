import CLMDB
import Glibc

// Changes collected, and applied in key order.
//
// A row under a practically random key costs a descent of the tree, a page that no other row needs and, when the
// transaction is large, LMDB's search for that page among all it has changed. Sorted first, neighbours share all of
// that, and a database that was empty is filled from left to right, page after page:
//
//     put c ─┐                                   ┌─ a
//     put a ─┼─▶ rows: c a x·(deleted) b ─ sort ─┼─ b ──▶ one cursor, appending where nothing follows
//     put b ─┘                                   └─ c
//
// Invariant: after `settle` each database holds what it would hold if every change had been applied immediately.
// Changes of one key keep their order among each other, and keys do not depend on one another; only that a key is there
// already (`insert`) is found out later. Until then the database cannot be read, and trying to is a precondition that
// fails: a gathered database is one that nothing reads. When all that is gathered has become more than `bytesMax`, the
// changes of the database with the most are applied before the rest is collected.
//
// Keys that are as good as random differ in their first bits. So the rows of a large run are dealt into buckets before
// any are compared, by twelve bits from the first one that is not the same in all keys; the rows of a bucket keep their
// order, and are then sorted among themselves.
//
// Rejected: answering reads from what is gathered (a second index over it, for databases that are mostly read), and
// LMDB's own bulk load (it is MDB_APPEND as used here).

/// The changes of some databases, in the order they were made.
struct GatheredRows {
  /// One change: the key and, for a put, the value lie in `bytes` one after the other.
  struct Row {
    /// The first sixteen bytes of the key as numbers, zeroes where it is shorter: they decide nearly every comparison.
    let high: UInt64
    let low: UInt64
    let start: UInt32
    let valueCount: UInt32
    let keyCount: UInt16
    let change: Change
  }

  enum Change: UInt8 { case put, insert, delete }

  struct Run {
    let database: Database
    var rows: [Row] = []
    var bytes: [UInt8] = []
    var byteCount: Int { bytes.count + rows.count * MemoryLayout<Row>.stride }
  }

  var runs: [Run]

  /// The place of each database in `runs`, by the database's index.
  private var places = InlineArray<64, UInt8>(repeating: .max)

  init(_ databases: [Database]) {
    runs = databases.map { Run(database: $0) }
    for (place, database) in databases.enumerated() where database.mark != 0 {
      places[Int(database.index)] = UInt8(place)
    }
  }

  /// How many bytes are gathered at most, for all databases together.
  static let bytesMax = 128 << 20

  /// How many bytes are gathered.
  private var byteCount = 0

  /// Adds a change; hands out the changes of the database with the most when they have become too many.
  mutating func add(_ key: RawSpan, _ value: RawSpan?, _ change: Change, in database: Database) -> Run? {
    let place = Int(places[Int(database.index)])
    precondition(place < runs.count, "A database that is marked has a place for its changes.")
    runs[place].add(key, value, change)
    byteCount += key.byteCount + (value?.byteCount ?? 0) + MemoryLayout<Row>.stride
    guard byteCount > Self.bytesMax, let largest = runs.indices.max(by: { runs[$0].byteCount < runs[$1].byteCount })
    else { return nil }
    let full = runs[largest]
    runs[largest] = Run(database: full.database)
    byteCount -= full.byteCount
    return full
  }
}

extension GatheredRows.Run {
  mutating func add(_ key: RawSpan, _ value: RawSpan?, _ change: GatheredRows.Change) {
    let start = bytes.count
    key.withUnsafeBytes { bytes.append(contentsOf: $0) }
    value?.withUnsafeBytes { bytes.append(contentsOf: $0) }
    rows.append(
      GatheredRows.Row(
        high: Self.word(0, of: key), low: Self.word(8, of: key), start: UInt32(start),
        valueCount: UInt32(value?.byteCount ?? 0), keyCount: UInt16(key.byteCount), change: change))
  }

  private static func word(_ offset: Int, of key: RawSpan) -> UInt64 {
    if key.byteCount >= offset + 8 {
      return UInt64(bigEndian: key.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    return (offset..<offset + 8).reduce(0) { word, index in
      word << 8 | UInt64(index < key.byteCount ? key.unsafeLoad(fromByteOffset: index, as: UInt8.self) : 0)
    }
  }

  /// From how many rows on they are dealt into buckets before they are compared.
  private static let dealtCount = 1024
  /// By how many bits of their keys at most.
  private static let dealtBits = 12

  /// Puts the rows in the order of their keys; those of one key stay in the order they were made.
  mutating func sort() {
    let buckets = rows.count < Self.dealtCount ? [0..<rows.count] : deal()
    var sorted = rows
    rows = []
    bytes.withUnsafeBytes { bytes in
      sorted.withUnsafeMutableBufferPointer { sorted in
        for bucket in buckets where bucket.count > 1 {
          var part = UnsafeMutableBufferPointer(rebasing: sorted[bucket])
          part.sort { $0.precedes($1, in: bytes) }
        }
      }
    }
    rows = sorted
  }

  /// Deals the rows into buckets by the first bits in which their keys differ, and keeps their order within each.
  /// - Returns: the buckets, ascending.
  /// - Complexity: O(k) for k rows, and as much memory as they take.
  private mutating func deal() -> [Range<Int>] {
    let all = rows
    let varied = all.reduce(UInt64(0)) { $0 | ($1.high ^ all[0].high) }
    guard varied != 0 else { return [0..<all.count] }
    let width = UInt64.bitWidth - varied.leadingZeroBitCount
    let shift = UInt64(max(0, width - Self.dealtBits))
    let mask: UInt64 = 1 << UInt64(min(width, Self.dealtBits)) - 1
    // Where each bucket begins, and then where its next row goes; after the last one, how many rows there are.
    var places = [Int](repeating: 0, count: Int(mask) + 2)
    for row in all { places[Int(row.high &>> shift & mask) + 1] += 1 }
    for bucket in 1..<places.count { places[bucket] += places[bucket - 1] }
    let buckets = (1..<places.count).map { places[$0 - 1]..<places[$0] }
    rows = [GatheredRows.Row](unsafeUninitializedCapacity: all.count) { dealt, count in
      for row in all {
        let bucket = Int(row.high &>> shift & mask)
        dealt.initializeElement(at: places[bucket], to: row)
        places[bucket] += 1
      }
      count = all.count
    }
    return buckets
  }
}

extension GatheredRows.Row {
  /// Whether the key lies before that of another row, or is the same and was changed before.
  @inline(__always)
  fileprivate func precedes(_ other: GatheredRows.Row, in bytes: UnsafeRawBufferPointer) -> Bool {
    if high != other.high { return high < other.high }
    if low != other.low { return low < other.low }
    if isWhole && other.isWhole { return (keyCount, start) < (other.keyCount, other.start) }
    let order = keyOrder(key(in: bytes), other.key(in: bytes))
    return order == 0 ? start < other.start : order < 0
  }

  /// Whether the key is that of another row.
  @inline(__always)
  fileprivate func hasKey(of other: GatheredRows.Row, in bytes: UnsafeRawBufferPointer) -> Bool {
    high == other.high && low == other.low && keyCount == other.keyCount
      && (isWhole || keyOrder(key(in: bytes), other.key(in: bytes)) == 0)
  }

  /// Whether the two numbers hold the whole key, and zeroes after it if it is shorter than they are.
  private var isWhole: Bool { keyCount <= 16 }

  @inline(__always)
  fileprivate func key(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[Int(start)..<Int(start) + Int(keyCount)])
  }

  @inline(__always)
  fileprivate func value(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let place = Int(start) + Int(keyCount)
    return UnsafeRawBufferPointer(rebasing: bytes[place..<place + Int(valueCount)])
  }
}

/// Negative, 0 or positive as `one` lies before, on or after `two` in LMDB's order of keys.
func keyOrder(_ one: UnsafeRawBufferPointer, _ two: UnsafeRawBufferPointer) -> Int {
  if let first = one.baseAddress, let second = two.baseAddress {
    let order = memcmp(first, second, min(one.count, two.count))
    if order != 0 { return Int(order) }
  }
  return one.count - two.count
}

extension WriteTransaction {
  /// From here to `settle()`, gathers what is put into and deleted from `databases`, which nothing may read meanwhile.
  ///
  /// None of them has integers for keys. `keyExists` of an `insert` is thrown by `settle()`. Of a database beyond the
  /// first 64 of the environment, changes are applied at once.
  public mutating func gather(_ databases: [Database]) {
    precondition(gathered == nil, "What was gathered before is settled first.")
    for database in databases {
      checkUse(of: database)
      precondition(!database.hasIntegerKeys, "The changes of \(database.name) can be gathered.")
      handle.gathering |= database.mark
    }
    gathered = GatheredRows(databases)
  }

  /// Applies the collected changes in key order, and ends collecting; does nothing if none are collected.
  ///
  /// - Parameter use: as for `letGoOfPages(_:)`, which is called in between.
  /// - Throws: as `put(_:_:in:mode:)`.
  /// - Complexity: O(k log k) comparisons for k changes, and O(k log n) pages at worst; an empty database is filled
  ///   page by page.
  public mutating func settle(_ use: PageUse = .once) throws(LMDBError) {
    guard var rows = gathered.take() else { return }
    handle.gathering = 0
    var rowCount = 0
    for index in rows.runs.indices { try apply(&rows.runs[index], use, &rowCount) }
  }

  mutating func gather(
    _ key: RawSpan, _ value: RawSpan?, in database: Database, _ mode: Mode
  ) throws(LMDBError) {
    checkUse(of: database)
    try key.withUnsafeBytes { (key) throws(LMDBError) in try checkLength(of: key, in: database, "mdb_put") }
    let change: GatheredRows.Change
    switch mode {
    case .overwrite: change = value == nil ? .delete : .put
    case .insert: change = .insert
    case .append: preconditionFailure("What is appended in order needs no gathering.")
    }
    guard var full = gathered?.add(key, value, change, in: database) else { return }
    var rowCount = 0
    try apply(&full, .once, &rowCount)
  }

  /// After how many rows pages are released: as good as random keys lie on all pages of their database. Those that are
  /// read again stay for longer, since the next block finds them mapped.
  private static func rowsBetweenLettingGo(_ use: PageUse) -> Int { use == .again ? 65_536 : 4096 }

  /// - Parameter rowCount: how many rows were applied before, of this database and of others.
  private mutating func apply(
    _ run: inout GatheredRows.Run, _ use: PageUse, _ rowCount: inout Int
  ) throws(LMDBError) {
    guard !run.rows.isEmpty else { return }
    run.sort()
    let cursor = try openCursor(TransactionHandle(pointer: handle.pointer, owner: handle.owner), run.database)
    defer { closeCursor(cursor) }
    var place = Place(key: UnsafeRawBufferPointer(start: nil, count: 0), value: .init(start: nil, count: 0))
    let hasLast = try move(cursor, .last, &place)
    try run.bytes.span.bytes.withUnsafeBytes { (bytes) throws(LMDBError) in
      let limit = Self.rowsBetweenLettingGo(use)
      var previous: GatheredRows.Row?
      var appends = !hasLast
      for row in run.rows {
        rowCount += 1
        if rowCount % limit == 0 { letGoOfPages(use) }
        let key = row.key(in: bytes)
        let isNew = previous.map { !row.hasKey(of: $0, in: bytes) } ?? true
        if previous == nil && hasLast { appends = keyOrder(place.key, key) < 0 }
        try apply(row.change, key, row.value(in: bytes), run.database, cursor, appends: appends && isNew)
        previous = row
      }
    }
    run = GatheredRows.Run(database: run.database)
  }

  private mutating func apply(
    _ change: GatheredRows.Change, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
    _ database: Database, _ cursor: OpaquePointer, appends: Bool
  ) throws(LMDBError) {
    var keyValue = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
    var newValue = MDB_val(mv_size: value.count, mv_data: UnsafeMutableRawPointer(mutating: value.baseAddress))
    if change == .delete {
      let code = mdb_del(handle.pointer, database.index, &keyValue, nil)
      if code != 0 && code != MDB_NOTFOUND { throw note(code, "mdb_del", key: key) }
      return
    }
    var flags = change == .insert ? UInt32(MDB_NOOVERWRITE) : 0
    if appends { flags |= UInt32(MDB_APPEND) }
    let code = mdb_cursor_put(cursor, &keyValue, &newValue, flags)
    if code != 0 { throw note(code, "mdb_cursor_put", key: key) }
  }
}
