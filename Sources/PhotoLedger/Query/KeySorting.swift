// Sorting the keys of a fetch.
//
// A fetch that has no order to go by gathers a key for each object and sorts them once. The keys of nearly every sort
// are two words, and a million of them are sorted faster by their digits than by comparing: from the lowest digit to
// the highest, each pass puts the keys in the order of that digit and leaves those that share it as they stood. Digits
// that all keys share (the exponent of a date, the upper half of a number) cost no pass.
//
//     word      ├ 9 ┤├─ 11 ─┤├─ 11 ─┤├─ 11 ─┤├─ 11 ─┤├─ 11 ─┤      2048 counters fit the first cache
//     number    the same, only if the numbers do not ascend already: a scan of the library gives them in order
//
// Few keys, and keys of bytes, are compared.

extension NarrowKey {
  /// From this many keys on digits are faster than comparisons.
  private static let digitSortLimit = 512

  package static func sort(_ keys: inout [NarrowKey]) {
    guard keys.count >= digitSortLimit, let first = keys.first else { return keys.sort() }
    var (words, numbers): (UInt64, UInt64) = (0, 0)
    var (isAscending, last) = (true, first.number)
    for key in keys {
      words |= key.word ^ first.word
      numbers |= key.number ^ first.number
      isAscending = isAscending && key.number >= last
      last = key.number
    }
    keys.withUnsafeMutableBufferPointer { keys in
      // Not an array: filling one with what is overwritten takes as long as a pass.
      withUnsafeTemporaryAllocation(of: NarrowKey.self, capacity: keys.count) { other in
        var (sorted, free) = (keys, other)
        if !isAscending { sortByDigits(&sorted, &free, varying: numbers) { $0.number } }
        sortByDigits(&sorted, &free, varying: words) { $0.word }
        if sorted.baseAddress != keys.baseAddress { _ = keys.update(fromContentsOf: sorted) }
      }
    }
  }

  /// Two sorted lists as one.
  /// - Complexity: O(n) in the keys of both.
  static func merged(_ keys: [NarrowKey], _ others: [NarrowKey]) -> [NarrowKey] {
    if others.isEmpty { return keys }
    var merged: [NarrowKey] = []
    merged.reserveCapacity(keys.count + others.count)
    var place = 0
    for other in others {
      while place < keys.count, keys[place] < other {
        merged.append(keys[place])
        place += 1
      }
      merged.append(other)
    }
    return merged + keys[place...]
  }

  /// Sorts by the digits of a word, stably.
  /// - Parameters:
  ///   - keys: the keys to sort; then those that are sorted, in either of the two.
  ///   - other: as many keys, which need not be initialized, and are overwritten.
  ///   - varying: the bits in which the words differ.
  @inline(__always)
  private static func sortByDigits(
    _ keys: inout UnsafeMutableBufferPointer<NarrowKey>, _ other: inout UnsafeMutableBufferPointer<NarrowKey>,
    varying: UInt64, _ word: (NarrowKey) -> UInt64
  ) {
    let width: UInt64 = 11
    var counters = [Int](repeating: 0, count: 1 << width)
    for shift in stride(from: UInt64(0), to: 64, by: UInt64.Stride(width)) {
      if varying >> shift & (1 << width - 1) == 0 { continue }
      for index in counters.indices { counters[index] = 0 }
      counters.withUnsafeMutableBufferPointer { counters in
        for key in keys { counters[digit(word(key), shift, width)] &+= 1 }
        var start = 0
        for index in counters.indices { (counters[index], start) = (start, start &+ counters[index]) }
        for key in keys {
          let digit = digit(word(key), shift, width)
          other.initializeElement(at: counters[digit], to: key)
          counters[digit] &+= 1
        }
      }
      swap(&keys, &other)
    }
  }

  @inline(__always)
  private static func digit(_ word: UInt64, _ shift: UInt64, _ width: UInt64) -> Int {
    Int(truncatingIfNeeded: word &>> shift & (1 &<< width &- 1))
  }
}

extension WideKey {
  package static func sort(_ keys: inout [WideKey]) { keys.sort() }
}

/// The keys of a fetch, gathered in whatever order the scope gives them.
struct GatheredKeys<Key: PlannedKey> {
  private var keys: [Key] = []
  private var isSorted = true

  @inline(__always)
  mutating func append(_ key: Key) {
    if isSorted, let last = keys.last, !(last < key) { isSorted = false }
    keys.append(key)
  }

  init() {}

  /// - Parameter count: how many keys to make room for.
  init(expecting count: Int) { keys.reserveCapacity(count) }

  /// The keys of parts, one behind the other.
  init(joining parts: [GatheredKeys<Key>]) {
    keys.reserveCapacity(parts.reduce(0) { $0 + $1.keys.count })
    for part in parts {
      guard let first = part.keys.first else { continue }
      isSorted = isSorted && part.isSorted && keys.last.map { $0 < first } ?? true
      keys.append(contentsOf: part.keys)
    }
  }

  /// The keys, ascending.
  consuming func sorted() -> [Key] {
    var keys = keys
    if !isSorted { Key.sort(&keys) }
    return keys
  }
}
