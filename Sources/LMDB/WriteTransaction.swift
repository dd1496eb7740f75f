import CLMDB
import CSystem
import Glibc

/// The one transaction that may change the store; obtained in `Environment.write`, and committed when its body returns.
///
/// It belongs to the thread it was begun on (LMDB's writer lock is a robust mutex), which a synchronous body and a
/// value that cannot be copied already ensure; every change asserts it.
public struct WriteTransaction: ~Copyable, TransactionReading {
  /// How a value is put.
  public enum Mode: Sendable {
    /// Replaces a value that is there.
    case overwrite
    /// Fails with `keyExists` when there is a value (MDB_NOOVERWRITE).
    case insert
    /// The key must follow the last one, else `keyOutOfOrder`; fills pages completely (MDB_APPEND).
    case append
  }

  /// The environment written to.
  public let environment: Environment
  /// The transaction inside LMDB, for the LMDB module.
  public internal(set) var handle: TransactionHandle
  /// Changes to be applied in key order; nil while none are collected.
  var gathered: GatheredRows?
  /// Set by the first MDB_MAP_FULL. The body's own error may wrap LMDB's beyond recognition, this flag cannot be lost.
  private(set) var mapIsFull = false
  private let thread = psys_thread_id()
  private var isOpen = true

  init(_ environment: Environment, _ handle: TransactionHandle) {
    self.environment = environment
    self.handle = handle
  }

  deinit {
    guard environment.gate.isInOwnProcess else { return }  // a fork inside the body: the parent's to end
    if isOpen { mdb_txn_abort(handle.pointer) }
    environment.gate.endWrite()
  }

  /// Puts `value` at `key` (mdb_put).
  ///
  /// - Throws: `keyExists`, `keyOutOfOrder`, `keyLength`, `mapFull`, `diskFull`, `transactionFailed`.
  /// - Complexity: O(log n), n the number of entries.
  public mutating func put(
    _ key: RawSpan, _ value: RawSpan, in database: Database, mode: Mode = .overwrite
  ) throws(LMDBError) {
    if handle.gathering & database.mark != 0 { return try gather(key, value, in: database, mode) }
    try key.withUnsafeBytes { (key) throws(LMDBError) in
      try value.withUnsafeBytes { (value) throws(LMDBError) in
        var found = MDB_val(mv_size: value.count, mv_data: UnsafeMutableRawPointer(mutating: value.baseAddress))
        try put(key, &found, database, mode.flags)
      }
    }
  }

  /// Puts `value` at the number `key` of a database of integers.
  ///
  /// - Throws: as `put(_:_:in:mode:)`.
  /// - Complexity: O(log n); O(1) amortised when appending.
  public mutating func put(
    _ key: UInt64, _ value: RawSpan, in database: Database, mode: Mode = .overwrite
  ) throws(LMDBError) {
    let bytes: InlineArray<1, UInt64> = [key]
    try put(bytes.span.bytes, value, in: database, mode: mode)
  }

  /// Puts a copy of `value` at `key`.
  ///
  /// - Throws: as `put(_:_:in:mode:)`.
  /// - Complexity: O(log n).
  public mutating func put(
    _ key: [UInt8], _ value: [UInt8], in database: Database, mode: Mode = .overwrite
  ) throws(LMDBError) {
    try put(key.span.bytes, value.span.bytes, in: database, mode: mode)
  }

  /// Puts a copy of `value` at the number `key` of a database of integers.
  ///
  /// - Throws: as `put(_:_:in:mode:)`.
  /// - Complexity: O(log n); O(1) amortised when appending.
  public mutating func put(
    _ key: UInt64, _ value: [UInt8], in database: Database, mode: Mode = .overwrite
  ) throws(LMDBError) {
    try put(key, value.span.bytes, in: database, mode: mode)
  }

  /// Puts a value of `count` bytes that `fill` writes in place, into zeroes (MDB_RESERVE).
  ///
  /// - Throws: as `put(_:_:in:mode:)`.
  /// - Complexity: O(log n + count).
  public mutating func put(
    _ key: RawSpan, reserving count: Int, in database: Database, mode: Mode = .overwrite,
    _ fill: (inout MutableRawSpan) -> Void
  ) throws(LMDBError) {
    precondition(handle.gathering & database.mark == 0, "A value that is written in place cannot be gathered.")
    var reserved = MDB_val(mv_size: count, mv_data: nil)
    try key.withUnsafeBytes { (key) throws(LMDBError) in
      try put(key, &reserved, database, mode.flags | UInt32(MDB_RESERVE))
    }
    let place = UnsafeMutableRawBufferPointer(start: reserved.mv_data, count: count)
    place.initializeMemory(as: UInt8.self, repeating: 0)
    var span = place.mutableBytes
    fill(&span)
  }

  /// Removes the entry of `key` (mdb_del); false when there was none. While changes are collected, the database was not
  /// read yet, and the answer is true.
  ///
  /// - Throws: `keyLength`, `mapFull`, `diskFull`, `transactionFailed`.
  /// - Complexity: O(log n).
  @discardableResult
  public mutating func delete(_ key: RawSpan, in database: Database) throws(LMDBError) -> Bool {
    if handle.gathering & database.mark != 0 {
      try gather(key, nil, in: database, .overwrite)
      return true
    }
    checkUse(of: database)
    return try key.withUnsafeBytes { (key) throws(LMDBError) in
      try checkLength(of: key, in: database, "mdb_del")
      var keyValue = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
      let code = mdb_del(handle.pointer, database.index, &keyValue, nil)
      if code == MDB_NOTFOUND { return false }
      if code != 0 { throw note(code, "mdb_del", key: key) }
      return true
    }
  }

  /// Removes the entry of the number `key` of a database of integers; false when there was none.
  ///
  /// - Throws: as `delete(_:in:)`.
  /// - Complexity: O(log n).
  @discardableResult
  public mutating func delete(_ key: UInt64, in database: Database) throws(LMDBError) -> Bool {
    let bytes: InlineArray<1, UInt64> = [key]
    return try delete(bytes.span.bytes, in: database)
  }

  /// Removes the entry of `key`; false when there was none.
  ///
  /// - Throws: as `delete(_:in:)`.
  /// - Complexity: O(log n).
  @discardableResult
  public mutating func delete(_ key: [UInt8], in database: Database) throws(LMDBError) -> Bool {
    try delete(key.span.bytes, in: database)
  }

  /// Removes every entry whose key begins with `prefix`, and says how many there were.
  ///
  /// - Throws: as `delete(_:in:)`, and `corrupted`.
  /// - Complexity: O(k log n), k the number of entries removed.
  @discardableResult
  public mutating func delete(prefix: RawSpan, in database: Database) throws(LMDBError) -> Int {
    checkUse(of: database)
    precondition(handle.gathering & database.mark == 0, "A prefix is removed after gathered changes are settled.")
    let cursor = try openCursor(handle, database)
    defer { closeCursor(cursor) }
    var removed = 0
    try prefix.withUnsafeBytes { (start) throws(LMDBError) in
      while true {
        // Sought anew each time: what MDB_NEXT does after a deletion has changed between releases of LMDB.
        var place = Place(key: start, value: UnsafeRawBufferPointer(start: nil, count: 0))
        guard try move(cursor, start.isEmpty ? .first : .atOrAfter, &place), has(place, prefix: prefix) else { return }
        let code = mdb_cursor_del(cursor, 0)
        if code != 0 { throw note(code, "mdb_cursor_del", key: place.key) }
        removed += 1
      }
    }
    return removed
  }

  /// Removes every entry of `database` and keeps the database (mdb_drop).
  ///
  /// - Throws: `mapFull`, `diskFull`, `transactionFailed`.
  /// - Complexity: O(pages of the database).
  public mutating func clear(_ database: Database) throws(LMDBError) {
    checkUse(of: database)
    precondition(handle.gathering & database.mark == 0, "A database is cleared after gathered changes are settled.")
    let code = mdb_drop(handle.pointer, database.index, 0)
    if code != 0 { throw note(code, "mdb_drop", key: nil) }
  }
}

extension WriteTransaction.Mode {
  var flags: UInt32 {
    switch self {
    case .overwrite: 0
    case .insert: UInt32(MDB_NOOVERWRITE)
    case .append: UInt32(MDB_APPEND)
    }
  }
}

extension WriteTransaction {
  func checkUse(of database: Database) {
    precondition(handle.owner == database.owner, "A database is used with the environment it was opened in.")
    precondition(thread == psys_thread_id(), "A write transaction stays on the thread it was begun on.")
  }

  func checkLength(
    of key: UnsafeRawBufferPointer, in database: Database, _ operation: String
  ) throws(LMDBError) {
    let isValid = database.hasIntegerKeys ? key.count == 8 : (1...511).contains(key.count)
    if !isValid { throw failure(MDB_BAD_VALSIZE, operation, handle, key: key) }
  }

  private mutating func put(
    _ key: UnsafeRawBufferPointer, _ value: inout MDB_val, _ database: Database, _ flags: UInt32
  ) throws(LMDBError) {
    checkUse(of: database)
    try checkLength(of: key, in: database, "mdb_put")
    var keyValue = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
    let code = mdb_put(handle.pointer, database.index, &keyValue, &value, flags)
    if code == 0 { return }
    if code == MDB_KEYEXIST && flags & UInt32(MDB_APPEND) != 0 {
      throw LMDBError(
        .keyOutOfOrder, "mdb_put", path: environment.path, key: [UInt8](key), number: code)
    }
    throw note(code, "mdb_put", key: key)
  }

  mutating func note(_ code: Int32, _ operation: String, key: UnsafeRawBufferPointer?) -> LMDBError {
    if code == MDB_MAP_FULL { mapIsFull = true }
    return failure(code, operation, handle, key: key)
  }

  /// Opens a database inside this transaction; the handle is good for others once it has committed.
  mutating func openDatabase(_ name: String, flags: UInt32) throws(LMDBError) -> UInt32 {
    var index: UInt32 = 0
    let code = mdb_dbi_open(handle.pointer, name, flags, &index)
    if code != 0 { throw note(code, "mdb_dbi_open", key: nil) }
    return index
  }

  /// Commits. After a meta page that could not be written it is unknown whether the commit is in the file
  /// (`outcomeUnknown`); after any other error it is not.
  mutating func commit() throws(LMDBError) {
    precondition(thread == psys_thread_id(), "A write transaction stays on the thread it was begun on.")
    precondition(gathered == nil, "Gathered changes are settled before the commit.")
    isOpen = false
    let code = mdb_txn_commit(handle.pointer)
    if code == 0 { return }
    if code == MDB_MAP_FULL { mapIsFull = true }
    var error = LMDBError(code: code, "mdb_txn_commit", path: environment.path)
    // A commit is real when its meta page is written, which comes last: pages, sync, meta page. LMDB puts the
    // environment in panic if the meta page could not be written, and then only it is unknown whether the commit is in
    // the file. Where writing or syncing the pages failed, no meta page leads to them, now or ever.
    error.outcomeUnknown = environment.isPanicked
    throw error
  }
}
