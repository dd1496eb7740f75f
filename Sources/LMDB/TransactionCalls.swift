import CLMDB

// The calls into C behind `TransactionReading`: plain functions, so that the inlinable faces name no C type.

@inline(__always)
private func check(_ handle: TransactionHandle, _ database: Database) {
  precondition(handle.owner == database.owner, "A database is used with the environment it was opened in.")
  precondition(
    handle.gathering & database.mark == 0, "A database whose changes are gathered is read after they are settled.")
}

private func path(of handle: TransactionHandle) -> String? {
  var text: UnsafePointer<CChar>?
  guard mdb_env_get_path(mdb_txn_env(handle.pointer), &text) == 0, let text else { return nil }
  return StoreDirectory.name(of: String(cString: text))
}

func failure(
  _ code: Int32, _ operation: String, _ handle: TransactionHandle, key: UnsafeRawBufferPointer? = nil
) -> LMDBError {
  LMDBError(code: code, operation, path: path(of: handle), key: key.map { [UInt8]($0) })
}

@inline(__always)
private func fetch(
  _ handle: TransactionHandle, _ database: Database, raw key: UnsafeRawBufferPointer
) throws(LMDBError) -> UnsafeRawBufferPointer? {
  check(handle, database)
  if database.hasIntegerKeys && key.count != 8 { throw failure(MDB_BAD_VALSIZE, "mdb_get", handle, key: key) }
  var keyValue = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
  var value = MDB_val()
  switch mdb_get(handle.pointer, database.index, &keyValue, &value) {
  case 0: return UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
  case MDB_NOTFOUND: return nil
  case let code: throw failure(code, "mdb_get", handle, key: key)
  }
}

@usableFromInline
func fetch(
  _ handle: TransactionHandle, _ database: Database, _ key: RawSpan
) throws(LMDBError) -> UnsafeRawBufferPointer? {
  try key.withUnsafeBytes { (key) throws(LMDBError) in try fetch(handle, database, raw: key) }
}

@usableFromInline
func fetch(
  _ handle: TransactionHandle, _ database: Database, _ key: UInt64
) throws(LMDBError) -> UnsafeRawBufferPointer? {
  precondition(database.hasIntegerKeys, "A number can be a key only in a database of integers.")
  return try withUnsafeBytes(of: key) { (key) throws(LMDBError) in try fetch(handle, database, raw: key) }
}

func snapshotNumber(_ handle: TransactionHandle) -> UInt64 { UInt64(bitPattern: Int64(mdb_txn_id(handle.pointer))) }

func entryCount(_ handle: TransactionHandle, _ database: Database) throws(LMDBError) -> Int {
  check(handle, database)
  var statistics = MDB_stat()
  let code = mdb_stat(handle.pointer, database.index, &statistics)
  guard code == 0 else { throw failure(code, "mdb_stat", handle) }
  guard statistics.ms_entries >= 0, statistics.ms_entries <= entryMaximum(handle, statistics) else {
    throw LMDBError(
      .corrupted, "mdb_stat", path: path(of: handle),
      detail: "it has more entries than can be counted: the file is damaged; restore a backup")
  }
  return statistics.ms_entries
}

@usableFromInline
func openCursor(_ handle: TransactionHandle, _ database: Database) throws(LMDBError) -> OpaquePointer {
  check(handle, database)
  var cursor: OpaquePointer?
  let code = mdb_cursor_open(handle.pointer, database.index, &cursor)
  guard code == 0, let cursor else { throw failure(code, "mdb_cursor_open", handle) }
  return cursor
}

@usableFromInline
func closeCursor(_ cursor: OpaquePointer) { mdb_cursor_close(cursor) }

/// How many entries the database of a cursor can have: as many as LMDB counted, and no more than the file has room for.
func entryBound(_ cursor: OpaquePointer) -> Int {
  let handle = TransactionHandle(pointer: mdb_cursor_txn(cursor), owner: 0)
  var statistics = MDB_stat()
  guard mdb_stat(handle.pointer, mdb_cursor_dbi(cursor), &statistics) == 0 else { return .max }
  return min(statistics.ms_entries, entryMaximum(handle, statistics))
}

/// The size of the pages of an environment, in bytes.
func pageSize(_ handle: TransactionHandle, _ database: Database) throws(LMDBError) -> Int {
  var statistics = MDB_stat()
  let code = mdb_stat(handle.pointer, database.index, &statistics)
  guard code == 0 else { throw failure(code, "mdb_stat", handle) }
  return Int(statistics.ms_psize)
}

/// How many entries the file has room for; a write transaction may have more pages than the file.
private func entryMaximum(_ handle: TransactionHandle, _ statistics: MDB_stat) -> Int {
  var information = MDB_envinfo()
  guard mdb_env_info(mdb_txn_env(handle.pointer), &information) == 0,
    mdb_txn_id(handle.pointer) <= information.me_last_txnid
  else { return .max }
  let (bytes, isTooMuch) = (information.me_last_pgno &+ 1).multipliedReportingOverflow(by: Int(statistics.ms_psize))
  return isTooMuch ? .max : bytes / leastEntryBytes
}

/// The head of a node, its place in the page, and a byte of its key.
private let leastEntryBytes = 11

func endlessPages(_ cursor: OpaquePointer) -> LMDBError {
  let handle = TransactionHandle(pointer: mdb_cursor_txn(cursor), owner: 0)
  return LMDBError(
    .corrupted, "mdb_cursor_get", path: path(of: handle),
    detail: "its pages lead to more entries than it has: the file is damaged; restore a backup")
}

/// Possible only on a damaged page, since it cannot be written.
@usableFromInline
func keyIsNoNumber(_ cursor: OpaquePointer, _ key: UnsafeRawBufferPointer) -> LMDBError {
  let handle = TransactionHandle(pointer: mdb_cursor_txn(cursor), owner: 0)
  return LMDBError(
    .corrupted, "mdb_cursor_get", path: path(of: handle),
    detail: "a key has \(key.count) bytes where all are numbers of 8: the file is damaged; restore a backup")
}

/// Possible only where pages of a damaged file lead to others than its tree would.
@usableFromInline
func keyIsOutOfOrder(_ handle: TransactionHandle, _ key: UInt64) -> LMDBError {
  LMDBError(
    .corrupted, "mdb_cursor_get", path: path(of: handle),
    detail: "its key \(key) is out of order: the file is damaged; restore a backup")
}

/// Where a cursor can be asked to go; the raw values are those of MDB_cursor_op.
@usableFromInline
enum Movement {
  case first, last, next, previous, atOrAfter

  var operation: MDB_cursor_op {
    switch self {
    case .first: MDB_FIRST
    case .last: MDB_LAST
    case .next: MDB_NEXT
    case .previous: MDB_PREV
    case .atOrAfter: MDB_SET_RANGE
    }
  }
}

/// A key and its value inside the map.
@usableFromInline
struct Place {
  @usableFromInline var key: UnsafeRawBufferPointer
  @usableFromInline var value: UnsafeRawBufferPointer

  @usableFromInline
  init(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
    self.key = key
    self.value = value
  }
}

/// Moves, to `place.key` where the movement asks for one, and sets `place` to the entry arrived at; false when none.
@usableFromInline
func move(_ cursor: OpaquePointer, _ movement: Movement, _ place: inout Place) throws(LMDBError) -> Bool {
  var key = MDB_val(mv_size: place.key.count, mv_data: UnsafeMutableRawPointer(mutating: place.key.baseAddress))
  var value = MDB_val()
  let code = mdb_cursor_get(cursor, &key, &value, movement.operation)
  if code == 0 {
    place.key = UnsafeRawBufferPointer(start: key.mv_data, count: key.mv_size)
    place.value = UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
    return true
  }
  if code == MDB_NOTFOUND { return false }
  let handle = TransactionHandle(pointer: mdb_cursor_txn(cursor), owner: 0)
  throw failure(code, "mdb_cursor_get", handle, key: movement == .atOrAfter ? place.key : nil)
}
