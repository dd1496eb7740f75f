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

  init(_ databases: [Database]) { runs = databases.map { Run(database: $0) } }

  /// How many bytes are gathered at most, for all databases together.
  static let bytesMax = 128 << 20

  /// How many bytes are gathered.
  private var byteCount = 0

  /// Adds a change; hands out the changes of the database with the most when they have become too many.
  mutating func add(_ key: RawSpan, _ value: RawSpan?, _ change: Change, in database: Database) -> Run? {
    guard let index = runs.firstIndex(where: { $0.database.index == database.index }) else {
      preconditionFailure("A database that is marked has a place for its changes.")
    }
    runs[index].add(key, value, change)
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

  /// Puts the rows in the order of their keys; those of one key stay in the order they were made.
  mutating func sort() {
    var sorted = rows
    rows = []
    bytes.withUnsafeBytes { bytes in
      sorted.sort { one, two in
        if one.high != two.high { return one.high < two.high }
        if one.low != two.low { return one.low < two.low }
        if one.keyCount == 16 && two.keyCount == 16 { return one.start < two.start }
        let order = keyOrder(
          UnsafeRawBufferPointer(rebasing: bytes[Int(one.start)..<Int(one.start) + Int(one.keyCount)]),
          UnsafeRawBufferPointer(rebasing: bytes[Int(two.start)..<Int(two.start) + Int(two.keyCount)]))
        return order == 0 ? one.start < two.start : order < 0
      }
    }
    rows = sorted
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
  /// None of them has integers for keys. `keyExists` of an `insert` is thrown by `settle()`.
  public mutating func gather(_ databases: [Database]) {
    precondition(gathered == nil, "What was gathered before is settled first.")
    for database in databases {
      checkUse(of: database)
      precondition(database.mark != 0 && !database.hasIntegerKeys, "The changes of \(database.name) can be gathered.")
      handle.gathering |= database.mark
    }
    gathered = GatheredRows(databases)
  }

  /// Applies the collected changes in key order, and ends collecting.
  ///
  /// - Throws: as `put(_:_:in:mode:)`.
  /// - Complexity: O(k log k) comparisons for k changes, and O(k log n) pages at worst; an empty database is filled
  ///   page by page.
  public mutating func settle() throws(LMDBError) {
    guard var rows = gathered.take() else { return }
    handle.gathering = 0
    for index in rows.runs.indices { try apply(&rows.runs[index]) }
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
    try apply(&full)
  }

  /// After how many rows pages are released: as good as random keys lie on all pages of their database.
  private static let rowsBetweenLettingGo = 4096

  private mutating func apply(_ run: inout GatheredRows.Run) throws(LMDBError) {
    guard !run.rows.isEmpty else { return }
    run.sort()
    let cursor = try openCursor(TransactionHandle(pointer: handle.pointer, owner: handle.owner), run.database)
    defer { closeCursor(cursor) }
    var place = Place(key: UnsafeRawBufferPointer(start: nil, count: 0), value: .init(start: nil, count: 0))
    let hasLast = try move(cursor, .last, &place)
    try run.bytes.span.bytes.withUnsafeBytes { (bytes) throws(LMDBError) in
      var previous: UnsafeRawBufferPointer?
      var appends = !hasLast
      for (index, row) in run.rows.enumerated() {
        if index % Self.rowsBetweenLettingGo == 0 { letGoOfPages() }
        let start = Int(row.start)
        let key = UnsafeRawBufferPointer(rebasing: bytes[start..<start + Int(row.keyCount)])
        let value = UnsafeRawBufferPointer(
          rebasing: bytes[start + key.count..<start + key.count + Int(row.valueCount)])
        let isNew = previous.map { keyOrder($0, key) != 0 } ?? true
        if previous == nil && hasLast { appends = keyOrder(place.key, key) < 0 }
        try apply(row.change, key, value, run.database, cursor, appends: appends && isNew)
        previous = key
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
