import Glibc

// Making a database hold what another one holds.
//
// A page that a transaction frees cannot be used again before the next one, so a database that is cleared and filled
// anew needs its space twice, and the file keeps it. What is the same already is therefore left where it is:
//
//     held     a=1   b=2   ·     d=4        both are walked in the order of their keys
//     wanted   a=1   b=3   c=5   ·
//               │     │     │     └─ deleted
//               │     └─────┴─ put
//               └─ looked up by its key too: it has to be found at the very place where the walk came by
//
// Changes are collected and applied between two ranges of the walk, since no cursor outlives a change.
//
// Invariant: afterwards a walk and a look-up of either database have the same entries. A database of which that cannot
// be said, since its keys do not ascend or a key is not found where it stands, is `.corrupted`; a caller that
// clears it and fills it anew needs none of it.
//
// A database that has the wanted entries already is recognised with fewer look-ups and no writer
// (ReadTransaction+Agreeing.swift).

/// Changes that wait for the end of a range: alternating keys and values.
private struct WaitingChanges {
  var bytes: [UInt8] = []
  /// The lengths of key and value; no value: the key is deleted.
  var rows: [(keyCount: Int, valueCount: Int?)] = []

  /// The number of bytes at which they are applied.
  static let bytesMax = 4 << 20

  var isFull: Bool { bytes.count + rows.count * 32 > Self.bytesMax }

  mutating func add(_ key: RawSpan, _ value: RawSpan?) {
    key.withUnsafeBytes { bytes.append(contentsOf: $0) }
    value?.withUnsafeBytes { bytes.append(contentsOf: $0) }
    rows.append((key.byteCount, value?.byteCount))
  }
}

extension WriteTransaction {
  /// Makes a database hold exactly the entries of a database of another store; entries that are the same stay.
  ///
  /// - Parameters:
  ///   - database: the database to change.
  ///   - wanted: its target contents, with the same kind of keys.
  ///   - source: the transaction that reads it.
  ///   - progress: called with the number of further entries of `wanted`.
  /// - Returns: the numbers of entries put and deleted.
  /// - Throws: `corrupted` if `database` is damaged, `mapFull`, `diskFull`, and the errors of `progress`.
  /// - Complexity: O(n log n) reads for n entries of both, and the writing of those that differ.
  public mutating func match(
    _ database: Database, to wanted: Database, of source: borrowing ReadTransaction,
    _ progress: (Int) throws -> Void = { _ in }
  ) throws -> Int {
    precondition(database.hasIntegerKeys == wanted.hasIntegerKeys, "Both databases have keys of one kind.")
    var changeCount = 0
    var start: [UInt8]? = []
    while let from = start {
      var changes = WaitingChanges()
      start = try differences(of: database, to: wanted, of: source, from: from, &changes, progress)
      changeCount += changes.rows.count
      try apply(changes, in: database)
    }
    guard try count(of: database) == source.count(of: wanted) else { throw Self.damaged(database) }
    return changeCount
  }

  /// Walks from a key on until there are enough changes.
  /// - Returns: the key to go on from; nil at the end.
  private borrowing func differences(
    of database: Database, to wanted: Database, of source: borrowing ReadTransaction, from start: [UInt8],
    _ changes: inout WaitingChanges, _ progress: (Int) throws -> Void
  ) throws -> [UInt8]? {
    var news = try source.cursor(in: wanted)
    var olds = try cursor(in: database)
    var new = try start.isEmpty ? news.first() : news.seek(atOrAfter: start.span.bytes)
    var old = try start.isEmpty ? olds.first() : olds.seek(atOrAfter: start.span.bytes)
    var previous: [UInt8] = []
    var passed = 0
    while true {
      if changes.isFull || passed == 4096 {
        try progress(passed)
        passed = 0
        letGoOfPages()
        source.letGoOfPages()
      }
      let order = Self.order(new, old, integerKeys: database.hasIntegerKeys)
      if changes.isFull, let next = order.map({ $0 <= 0 }) {
        return next ? new?.key.withUnsafeBytes { Array($0) } : old?.key.withUnsafeBytes { Array($0) }
      }
      guard let order else {
        try progress(passed)
        return nil
      }
      if order >= 0, let held = old {
        let ascends =
          previous.isEmpty || Self.order(previous.span.bytes, held.key, integerKeys: database.hasIntegerKeys) < 0
        guard ascends, try holds(database, held) else { throw Self.damaged(database) }
        previous.removeAll(keepingCapacity: true)
        held.key.withUnsafeBytes { previous.append(contentsOf: $0) }
        if order > 0 { changes.add(held.key, nil) }
      }
      if order <= 0, let entry = new {
        if order < 0 || !Self.isSame(entry.value, old) { changes.add(entry.key, entry.value) }
        passed += 1
        new = try news.next()
      }
      if order >= 0 { old = try olds.next() }
    }
  }

  /// Whether an entry is found by its key, at the very place.
  private borrowing func holds(_ database: Database, _ entry: Entry) throws(LMDBError) -> Bool {
    let found = try fetch(handle, database, entry.key)
    return entry.value.withUnsafeBytes { $0.baseAddress == found?.baseAddress && $0.count == found?.count }
  }

  private mutating func apply(_ changes: WaitingChanges, in database: Database) throws(LMDBError) {
    var start = 0
    for (keyCount, valueCount) in changes.rows {
      let key = changes.bytes.span.bytes.extracting(start..<start + keyCount)
      start += keyCount
      if let valueCount {
        try put(key, changes.bytes.span.bytes.extracting(start..<start + valueCount), in: database)
        start += valueCount
      } else if try !delete(key, in: database) {
        throw Self.damaged(database)
      }
    }
  }

  private static func damaged(_ database: Database) -> LMDBError {
    LMDBError(.corrupted, "match", detail: "the database \(database.name) has entries that it does not find")
  }

  // MARK: Comparing

  /// Negative, 0 or positive as the first entry's key lies before, on or after the second's; what is not there lies
  /// after everything. Nil if neither is there.
  private static func order(_ one: Entry?, _ two: Entry?, integerKeys: Bool) -> Int? {
    guard let one else { return two == nil ? nil : 1 }
    guard let two else { return -1 }
    return order(one.key, two.key, integerKeys: integerKeys)
  }

  private static func order(_ one: RawSpan, _ two: RawSpan, integerKeys: Bool) -> Int {
    one.withUnsafeBytes { one in
      two.withUnsafeBytes { two in keyOrder(one, two, integerKeys: integerKeys) }
    }
  }

  private static func isSame(_ value: RawSpan, _ entry: Entry?) -> Bool {
    guard let entry, entry.value.byteCount == value.byteCount else { return false }
    return value.withUnsafeBytes { one in
      entry.value.withUnsafeBytes { two in keyOrder(one, two) == 0 }
    }
  }
}

/// Negative, 0 or positive as `one` lies before, on or after `two` in the order of a database of one kind of keys.
func keyOrder(_ one: UnsafeRawBufferPointer, _ two: UnsafeRawBufferPointer, integerKeys: Bool) -> Int {
  guard integerKeys, one.count == 8, two.count == 8 else { return keyOrder(one, two) }
  let (first, second) = (one.loadUnaligned(as: UInt64.self), two.loadUnaligned(as: UInt64.self))
  return first < second ? -1 : first == second ? 0 : 1
}
