// Scans in closure form. A body that throws no error, or LMDBError, keeps the typed throw; a body with another error
// type makes the scan `throws`. Code that wants its own error typed writes the loop over a `Cursor`, which is short:
//
//     var cursor = try t.cursor(in: database)
//     var place = try cursor.seek(atOrAfter: start)
//     while let entry = place { …; place = try cursor.next() }

import Glibc

extension TransactionReading where Self: ~Copyable {
  /// Calls `body` with each entry from `start` on whose key begins with `prefix`, until it says stop.
  ///
  /// - Parameters:
  ///   - start: the key to begin at or after, or, in reverse, at or before. Empty: the outermost one.
  ///   - prefix: what every key must begin with. Empty: no condition. Both may be given when `start` has the prefix.
  ///   - reverse: from the highest key to the lowest.
  /// - Throws: `corrupted`, and what `body` throws.
  /// - Complexity: O(log n + k), k the number of entries seen; no allocation in Swift.
  @inlinable
  public borrowing func forEach(
    in database: Database, from start: RawSpan = RawSpan(), prefix: RawSpan = RawSpan(), reverse: Bool = false,
    _ body: (_ key: RawSpan, _ value: RawSpan) throws(LMDBError) -> Continuation
  ) throws(LMDBError) {
    var cursor = try cursor(in: database)
    var place = try cursor.begin(start, prefix, reverse: reverse)
    while let found = place, has(found, prefix: prefix) {
      let next = try body(RawSpan(_unsafeBytes: found.key), RawSpan(_unsafeBytes: found.value))
      if next == .stop { return }
      place = try cursor.step(forward: !reverse)
    }
  }

  /// Calls `body` with each entry from `start` on whose key begins with `prefix`; `body` may throw any error.
  ///
  /// - Throws: `corrupted`, and what `body` throws.
  /// - Complexity: O(log n + k), k the number of entries seen.
  @inlinable @_disfavoredOverload
  public borrowing func forEach(
    in database: Database, from start: RawSpan = RawSpan(), prefix: RawSpan = RawSpan(), reverse: Bool = false,
    _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Continuation
  ) throws {
    var cursor = try cursor(in: database)
    var place = try cursor.begin(start, prefix, reverse: reverse)
    while let found = place, has(found, prefix: prefix) {
      let next = try body(RawSpan(_unsafeBytes: found.key), RawSpan(_unsafeBytes: found.value))
      if next == .stop { return }
      place = try cursor.step(forward: !reverse)
    }
  }

  /// Calls `body` with each entry of a database of integers from `start` on.
  ///
  /// - Throws: `corrupted`, also where pages of a damaged file lead to numbers that do not ascend, or in reverse
  ///   descend; and what `body` throws.
  /// - Complexity: O(log n + k), k the number of entries seen.
  @inlinable
  public borrowing func forEach(
    in database: Database, from start: UInt64, reverse: Bool = false,
    _ body: (_ key: UInt64, _ value: RawSpan) throws(LMDBError) -> Continuation
  ) throws(LMDBError) {
    let bytes: InlineArray<1, UInt64> = [start]
    let handle = handle
    var last: UInt64?
    try forEach(in: database, from: bytes.span.bytes, reverse: reverse) { (key, value) throws(LMDBError) in
      let number = key.unsafeLoadUnaligned(as: UInt64.self)
      if let last, reverse ? number >= last : number <= last { throw keyIsOutOfOrder(handle, number) }
      last = number
      return try body(number, value)
    }
  }

  /// Calls `body` with each entry of a database of integers from `start` on; `body` may throw any error.
  ///
  /// - Throws: `corrupted`, also where pages of a damaged file lead to numbers that do not ascend, or in reverse
  ///   descend; and what `body` throws.
  /// - Complexity: O(log n + k), k the number of entries seen.
  @inlinable @_disfavoredOverload
  public borrowing func forEach(
    in database: Database, from start: UInt64, reverse: Bool = false,
    _ body: (_ key: UInt64, _ value: RawSpan) throws -> Continuation
  ) throws {
    let bytes: InlineArray<1, UInt64> = [start]
    let handle = handle
    var last: UInt64?
    try forEach(in: database, from: bytes.span.bytes, reverse: reverse) { (key, value) in
      let number = key.unsafeLoadUnaligned(as: UInt64.self)
      if let last, reverse ? number >= last : number <= last { throw keyIsOutOfOrder(handle, number) }
      last = number
      return try body(number, value)
    }
  }
}

extension Cursor {
  /// The first place of a scan: see `forEach`.
  @usableFromInline
  mutating func begin(_ start: RawSpan, _ prefix: RawSpan, reverse: Bool) throws(LMDBError) -> Place? {
    if start.byteCount > 0 { return try reverse ? find(atOrBefore: start) : find(atOrAfter: start) }
    if !reverse { return try find(atOrAfter: prefix) }
    let limit = successor(of: prefix)
    guard !limit.isEmpty, try find(atOrAfter: limit.span.bytes) != nil else {
      return try arrive(.last, otherwise: -1)
    }
    return try step(forward: false)
  }
}

/// The least byte string after all that begin with `prefix`; empty when there is none.
func successor(of prefix: RawSpan) -> [UInt8] {
  var bytes = prefix.withUnsafeBytes { [UInt8]($0) }
  while bytes.last == .max { bytes.removeLast() }
  if let last = bytes.indices.last { bytes[last] += 1 }
  return bytes
}

@inlinable
func has(_ place: Place, prefix: RawSpan) -> Bool {
  prefix.byteCount == 0 || starts(place.key, with: prefix)
}

@usableFromInline
func starts(_ bytes: UnsafeRawBufferPointer, with prefix: RawSpan) -> Bool {
  prefix.withUnsafeBytes { prefix in
    guard bytes.count >= prefix.count, let start = bytes.baseAddress, let wanted = prefix.baseAddress else {
      return prefix.isEmpty
    }
    return memcmp(start, wanted, prefix.count) == 0
  }
}
