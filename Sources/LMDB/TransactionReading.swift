// Reading, the same for both kinds of transaction.
//
// LMDB hands out pointers into its map. They are valid until the transaction ends, and in a write transaction only
// until its next change. The compiler holds callers to exactly that: `value(for:in:)` returns a `RawSpan` that
// borrows the transaction, so a span cannot outlive it, and a `put` (which needs the write transaction exclusively)
// does not compile while a span is alive. Copy (`bytes(for:in:)`) whatever must live longer.
//
// Values and keys are aligned to 2 bytes only: always `unsafeLoadUnaligned`.
//
// A read costs one call into this module and no allocation. The public faces are inlinable so that generic readers in
// other modules specialise; the calls into C stay behind `fetch`, so lmdb.h is seen by this module alone.

/// What both kinds of transaction can do. Write readers as `func f(_ t: borrowing some TransactionReading &
/// ~Copyable)`.
public protocol TransactionReading: ~Copyable {
  /// The transaction inside LMDB, for this module.
  var handle: TransactionHandle { get }
}

/// The transaction inside LMDB. Opaque outside this module.
public struct TransactionHandle {
  let pointer: OpaquePointer
  let owner: UInt64
  /// The databases, by index, whose changes are still being gathered and so cannot be read.
  var gathering: UInt64 = 0
}

extension TransactionReading where Self: ~Copyable {
  /// The number of the snapshot read here; in a write transaction, of the commit being made (mdb_txn_id).
  public var transactionID: UInt64 { snapshotNumber(handle) }

  /// The value of `key`, in place; nil when there is none (mdb_get).
  ///
  /// - Throws: `keyLength`, `corrupted`, `transactionFailed`.
  /// - Complexity: O(log n), n the number of entries; allocates nothing.
  @inlinable @_lifetime(borrow self)
  public borrowing func value(for key: RawSpan, in database: Database) throws(LMDBError) -> RawSpan? {
    guard let found = try fetch(handle, database, key) else { return nil }
    return _overrideLifetime(RawSpan(_unsafeBytes: found), borrowing: self)
  }

  /// The value of the number `key` in a database of integers, in place; nil when there is none.
  ///
  /// - Throws: as `value(for:in:)`.
  /// - Complexity: O(log n).
  @inlinable @_lifetime(borrow self)
  public borrowing func value(for key: UInt64, in database: Database) throws(LMDBError) -> RawSpan? {
    guard let found = try fetch(handle, database, key) else { return nil }
    return _overrideLifetime(RawSpan(_unsafeBytes: found), borrowing: self)
  }

  /// A copy of the value of `key`; nil when there is none.
  ///
  /// - Throws: as `value(for:in:)`.
  /// - Complexity: O(log n + value length); one allocation.
  @inlinable
  public borrowing func bytes(for key: RawSpan, in database: Database) throws(LMDBError) -> [UInt8]? {
    guard let found = try fetch(handle, database, key) else { return nil }
    return [UInt8](found)
  }

  /// A copy of the value of `key`; nil when there is none.
  ///
  /// - Throws: as `value(for:in:)`.
  /// - Complexity: O(log n + value length); one allocation.
  @inlinable
  public borrowing func bytes(for key: [UInt8], in database: Database) throws(LMDBError) -> [UInt8]? {
    try bytes(for: key.span.bytes, in: database)
  }

  /// A copy of the value of the number `key` in a database of integers; nil when there is none.
  ///
  /// - Throws: as `value(for:in:)`.
  /// - Complexity: O(log n + value length); one allocation.
  @inlinable
  public borrowing func bytes(for key: UInt64, in database: Database) throws(LMDBError) -> [UInt8]? {
    guard let found = try fetch(handle, database, key) else { return nil }
    return [UInt8](found)
  }

  /// What `body` makes of the value of `key`; nil when there is none. Code with typed errors uses `value(for:in:)`.
  ///
  /// - Throws: as `value(for:in:)`, and what `body` throws.
  /// - Complexity: O(log n).
  @inlinable
  public borrowing func get<R: ~Copyable>(
    _ database: Database, _ key: RawSpan, _ body: (RawSpan) throws -> R
  ) throws -> R? {
    guard let found = try fetch(handle, database, key) else { return nil }
    return try body(RawSpan(_unsafeBytes: found))
  }

  /// Whether `key` has a value.
  ///
  /// - Throws: as `value(for:in:)`.
  /// - Complexity: O(log n).
  @inlinable
  public borrowing func contains(_ key: RawSpan, in database: Database) throws(LMDBError) -> Bool {
    try fetch(handle, database, key) != nil
  }

  /// The number of entries of `database` (mdb_stat).
  ///
  /// - Throws: `transactionFailed`.
  /// - Complexity: O(1).
  public borrowing func count(of database: Database) throws(LMDBError) -> Int {
    try entryCount(handle, database)
  }

  /// A cursor before the first and after the last entry of `database` at once: any movement is possible.
  ///
  /// - Throws: `transactionFailed`.
  /// - Complexity: O(1); one allocation in C.
  @inlinable @_lifetime(borrow self)
  public borrowing func cursor(in database: Database) throws(LMDBError) -> Cursor {
    let pointer = try openCursor(handle, database)
    return _overrideLifetime(Cursor(pointer, hasIntegerKeys: database.hasIntegerKeys), borrowing: self)
  }
}
