// A cursor over one database, and the closure form that most callers use.
//
//        before the first │ entry │ entry │ … │ entry │ after the last
//          previous() ◀───┘                           └───▶ next()
//
// LMDB's own cursor keeps standing on the last entry when `MDB_NEXT` fails, so a following `MDB_PREV` would skip that
// entry. Here a failed movement leaves the cursor outside, on the side it left by, and moving back gives the outermost
// entry.
//
// A run of steps in one direction is bounded by the number of entries, so a scan of a damaged file ends, with
// `corrupted`, however its pages lead.
//
// The cursor and its entries borrow the transaction, so neither can be used too late, and nothing can be written
// while a cursor is open on a write transaction. To delete while scanning, use `WriteTransaction.delete` with a
// prefix, or collect the keys first.

/// One entry of a database, in place.
public struct Entry: ~Escapable {
  /// The key.
  public let key: RawSpan
  /// The value.
  public let value: RawSpan

  @inlinable @_lifetime(copy key, copy value)
  init(key: RawSpan, value: RawSpan) {
    self.key = key
    self.value = value
  }

  /// The key of an entry in a database of integers.
  @inlinable public var integerKey: UInt64 { key.unsafeLoadUnaligned(as: UInt64.self) }
}

/// Whether a scan goes on.
public enum Continuation: Sendable {
  /// With the next entry.
  case proceed
  /// No further.
  case stop
}

/// A position in a database, moved in key order.
public struct Cursor: ~Copyable, ~Escapable {
  @usableFromInline let pointer: OpaquePointer
  @usableFromInline let hasIntegerKeys: Bool
  /// -1 before the first entry, 1 after the last, 0 on an entry or not moved yet.
  @usableFromInline var side: Int8 = 0
  @usableFromInline var stepsUntilFar: UInt32 = MapAdvice.stepCount
  @usableFromInline var isForward = true
  /// How many times the cursor came far without turning or being placed anew.
  @usableFromInline var timesFar = 0
  /// The number that `seek(near:)` found last; the cursor may have been moved since.
  @usableFromInline var near: UInt64?

  @inlinable @_lifetime(immortal)
  init(_ pointer: OpaquePointer, hasIntegerKeys: Bool) {
    self.pointer = pointer
    self.hasIntegerKeys = hasIntegerKeys
  }

  @inlinable deinit { closeCursor(pointer) }

  @inlinable
  mutating func arrive(_ movement: Movement, otherwise side: Int8) throws(LMDBError) -> Place? {
    try arrive(movement, key: UnsafeRawBufferPointer(start: nil, count: 0), otherwise: side)
  }

  @inlinable
  mutating func arrive(
    _ movement: Movement, key: UnsafeRawBufferPointer, otherwise side: Int8
  ) throws(LMDBError) -> Place? {
    var place = Place(key: key, value: UnsafeRawBufferPointer(start: nil, count: 0))
    let found = try move(pointer, movement, &place)
    self.side = found ? 0 : side
    if found && hasIntegerKeys && place.key.count != 8 { throw keyIsNoNumber(pointer, place.key) }
    return found ? place : nil
  }

  @inlinable
  mutating func step(forward: Bool) throws(LMDBError) -> Place? {
    if forward != isForward { beginRun(forward: forward) }
    let place: Place?
    if forward {
      place = side > 0 ? nil : try arrive(side < 0 ? .first : .next, otherwise: 1)
    } else {
      place = side < 0 ? nil : try arrive(side > 0 ? .last : .previous, otherwise: -1)
    }
    stepsUntilFar &-= 1
    if stepsUntilFar == 0 { try comeFar(at: place?.key.baseAddress) }
    return place
  }

  /// The steps from here on are counted anew.
  @inlinable
  mutating func beginRun(forward: Bool) {
    (isForward, stepsUntilFar, timesFar) = (forward, MapAdvice.stepCount, 0)
  }

  /// Called every `MapAdvice.stepCount` steps of a run: a run has no more steps than the database has entries. Pages
  /// of a damaged file can lead back to themselves, and LMDB would go round for ever.
  @usableFromInline
  mutating func comeFar(at page: UnsafeRawPointer?) throws(LMDBError) {
    MapAdvice.readAround(pointer, at: page)
    timesFar += 1
    stepsUntilFar = MapAdvice.stepCount
    if (timesFar - 1) * Int(MapAdvice.stepCount) > entryBound(pointer) { throw endlessPages(pointer) }
  }

  @usableFromInline
  mutating func find(atOrAfter key: RawSpan) throws(LMDBError) -> Place? {
    beginRun(forward: true)
    if key.byteCount == 0 { return try arrive(.first, otherwise: 1) }
    precondition(!hasIntegerKeys || key.byteCount == 8, "A key of a database of integers must have 8 bytes.")
    return try key.withUnsafeBytes { (key) throws(LMDBError) in try arrive(.atOrAfter, key: key, otherwise: 1) }
  }

  @usableFromInline
  mutating func find(atOrBefore key: RawSpan) throws(LMDBError) -> Place? {
    guard let place = try find(atOrAfter: key) else { return try arrive(.last, otherwise: -1) }
    if place.key.count == key.byteCount && starts(place.key, with: key) { return place }
    return try step(forward: false)
  }

  @usableFromInline
  mutating func find(near key: UInt64) throws(LMDBError) -> Place? {
    precondition(hasIntegerKeys, "A number can be a key only in a database of integers.")
    let last = near
    near = nil
    if let last, key == last &+ 1 || key == last &- 1, let place = try step(forward: key > last),
      place.key.loadUnaligned(as: UInt64.self) == key
    {
      near = key
      return place
    }
    let bytes: InlineArray<1, UInt64> = [key]
    guard let place = try find(atOrAfter: bytes.span.bytes), place.key.loadUnaligned(as: UInt64.self) == key else {
      return nil
    }
    near = key
    return place
  }

  @inlinable @_lifetime(copy self)
  func entry(_ place: Place?) -> Entry? {
    guard let place else { return nil }
    let entry = Entry(key: RawSpan(_unsafeBytes: place.key), value: RawSpan(_unsafeBytes: place.value))
    return _overrideLifetime(entry, copying: self)
  }

  /// Moves to the first entry (MDB_FIRST); nil when the database is empty.
  ///
  /// - Throws: `corrupted`.
  /// - Complexity: O(log n).
  @inlinable @_lifetime(copy self)
  public mutating func first() throws(LMDBError) -> Entry? {
    beginRun(forward: true)
    return entry(try arrive(.first, otherwise: 1))
  }

  /// Moves to the last entry (MDB_LAST); nil when the database is empty.
  ///
  /// - Throws: `corrupted`.
  /// - Complexity: O(log n).
  @inlinable @_lifetime(copy self)
  public mutating func last() throws(LMDBError) -> Entry? {
    beginRun(forward: false)
    return entry(try arrive(.last, otherwise: -1))
  }

  /// Moves to the next entry, the first when not moved yet (MDB_NEXT); nil after the last.
  ///
  /// - Throws: `corrupted`.
  /// - Complexity: O(1) amortised.
  @inlinable @_lifetime(copy self)
  public mutating func next() throws(LMDBError) -> Entry? { entry(try step(forward: true)) }

  /// Moves to the entry before, the last when not moved yet (MDB_PREV); nil before the first.
  ///
  /// - Throws: `corrupted`.
  /// - Complexity: O(1) amortised.
  @inlinable @_lifetime(copy self)
  public mutating func previous() throws(LMDBError) -> Entry? { entry(try step(forward: false)) }

  /// Moves to the first entry whose key is at or after `key` (MDB_SET_RANGE); nil when all are before it.
  ///
  /// An empty key means the first entry.
  /// - Throws: `keyLength`, `corrupted`.
  /// - Complexity: O(log n).
  @inlinable @_lifetime(copy self)
  public mutating func seek(atOrAfter key: RawSpan) throws(LMDBError) -> Entry? {
    entry(try find(atOrAfter: key))
  }

  /// Moves to the first entry of a database of integers at or after `key`; nil when all are before it.
  ///
  /// - Throws: `corrupted`.
  /// - Complexity: O(log n).
  @inlinable @_lifetime(copy self)
  public mutating func seek(atOrAfter key: UInt64) throws(LMDBError) -> Entry? {
    precondition(hasIntegerKeys, "A number can be a key only in a database of integers.")
    let bytes: InlineArray<1, UInt64> = [key]
    return entry(try find(atOrAfter: bytes.span.bytes))
  }

  /// Moves to the last entry whose key is at or before `key`; nil when all are after it.
  ///
  /// - Throws: `keyLength`, `corrupted`.
  /// - Complexity: O(log n).
  @inlinable @_lifetime(copy self)
  public mutating func seek(atOrBefore key: RawSpan) throws(LMDBError) -> Entry? {
    entry(try find(atOrBefore: key))
  }

  /// Moves to the entry of the number `key` in a database of integers; nil when there is none.
  ///
  /// The entries before and after the one that this found last are found without a search.
  /// - Throws: `corrupted`.
  /// - Complexity: O(log n).
  @inlinable @_lifetime(copy self)
  public mutating func seek(near key: UInt64) throws(LMDBError) -> Entry? { entry(try find(near: key)) }

  /// Moves to the last entry of a database of integers at or before `key`; nil when all are after it.
  ///
  /// - Throws: `corrupted`.
  /// - Complexity: O(log n).
  @inlinable @_lifetime(copy self)
  public mutating func seek(atOrBefore key: UInt64) throws(LMDBError) -> Entry? {
    precondition(hasIntegerKeys, "A number can be a key only in a database of integers.")
    let bytes: InlineArray<1, UInt64> = [key]
    return entry(try find(atOrBefore: bytes.span.bytes))
  }
}
