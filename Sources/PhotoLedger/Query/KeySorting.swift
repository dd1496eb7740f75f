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
// The first pass reads the keys where they were gathered, by each core a list, so nothing is copied before it.
//
// Few keys, and keys of bytes, are compared.

extension NarrowKey {
  /// From this many keys on digits are faster than comparisons.
  private static let digitSortLimit = 512

  package static func sort(_ keys: inout [NarrowKey]) {
    if keys.count < digitSortLimit { keys.sort() } else { keys = sorted([keys]) }
  }

  package static func sorted(_ lists: [[NarrowKey]]) -> [NarrowKey] {
    let count = lists.reduce(0) { $0 + $1.count }
    guard count >= digitSortLimit else { return joined(lists).sorted() }
    let digits = varyingDigits(of: lists)
    guard let lowest = digits.first else { return joined(lists) }
    return Array(unsafeUninitializedCapacity: count) { keys, initializedCount in
      // Not an array: filling one with what is overwritten takes as long as a pass.
      withUnsafeTemporaryAllocation(of: NarrowKey.self, capacity: count) { other in
        // The last pass fills `keys`.
        var (source, target) = digits.count.isMultiple(of: 2) ? (keys, other) : (other, keys)
        lowest.deal(lists, into: target)
        for digit in digits.dropFirst() {
          swap(&source, &target)
          digit.deal(CollectionOfOne(source), into: target)
        }
      }
      initializedCount = count
    }
  }

  /// The digits that decide the order of keys, from the lowest: those of the numbers, if they do not ascend already,
  /// and then those of the words.
  private static func varyingDigits(of lists: [[NarrowKey]]) -> [KeyDigit] {
    guard let first = lists.lazy.compactMap(\.first).first else { return [] }
    var (words, numbers): (UInt64, UInt64) = (0, 0)
    var (isAscending, last) = (true, first.number)
    for list in lists {
      for key in list {
        words |= key.word ^ first.word
        numbers |= key.number ^ first.number
        isAscending = isAscending && key.number >= last
        last = key.number
      }
    }
    return (isAscending ? [] : KeyDigit.all(in: numbers, isOfNumber: true)) + KeyDigit.all(in: words, isOfNumber: false)
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
}

/// Eleven bits of the word of a key, or of its number.
private struct KeyDigit {
  private static let width: UInt64 = 11

  private let shift: UInt64
  private let isOfNumber: Bool

  /// The digits of a word that hold any of some bits, from the lowest.
  static func all(in bits: UInt64, isOfNumber: Bool) -> [KeyDigit] {
    stride(from: UInt64(0), to: 64, by: UInt64.Stride(width)).compactMap { shift in
      bits >> shift & (1 << width - 1) == 0 ? nil : KeyDigit(shift: shift, isOfNumber: isOfNumber)
    }
  }

  private init(shift: UInt64, isOfNumber: Bool) { (self.shift, self.isOfNumber) = (shift, isOfNumber) }

  /// Puts the keys of lists in the order of the digit; those that share it stay as they stood.
  /// - Parameter target: room for all keys, which need not be initialized, and is overwritten.
  @inline(__always)
  func deal(
    _ lists: some Sequence<some Sequence<NarrowKey>>, into target: UnsafeMutableBufferPointer<NarrowKey>
  ) {
    if isOfNumber { deal(lists, into: target, by: \.number) } else { deal(lists, into: target, by: \.word) }
  }

  @inline(__always)
  private func deal(
    _ lists: some Sequence<some Sequence<NarrowKey>>, into target: UnsafeMutableBufferPointer<NarrowKey>,
    by word: (NarrowKey) -> UInt64
  ) {
    withUnsafeTemporaryAllocation(of: Int.self, capacity: 1 << Self.width) { counters in
      counters.initialize(repeating: 0)
      for list in lists { for key in list { counters[value(in: word(key))] &+= 1 } }
      var start = 0
      for index in counters.indices { (counters[index], start) = (start, start &+ counters[index]) }
      for list in lists {
        for key in list {
          let value = value(in: word(key))
          target.initializeElement(at: counters[value], to: key)
          counters[value] &+= 1
        }
      }
    }
  }

  @inline(__always)
  private func value(in word: UInt64) -> Int {
    Int(truncatingIfNeeded: word &>> shift & (1 &<< Self.width &- 1))
  }
}

extension WideKey {
  package static func sort(_ keys: inout [WideKey]) { keys.sort() }

  package static func sorted(_ lists: [[WideKey]]) -> [WideKey] {
    var keys = joined(lists)
    keys.sort()
    return keys
  }
}

extension PlannedKey {
  /// The keys of lists, one list after the other. Each is copied as a whole, which `Array(lists.joined())` does not.
  fileprivate static func joined(_ lists: some Collection<[Self]>) -> [Self] {
    var keys: [Self] = []
    keys.reserveCapacity(lists.reduce(0) { $0 + $1.count })
    for list in lists { keys.append(contentsOf: list) }
    return keys
  }
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

  /// The keys, ascending; none are left here.
  mutating func takeSorted() -> [Key] {
    var taken: [Key] = []
    swap(&taken, &keys)
    if !isSorted { Key.sort(&taken) }
    isSorted = true
    return taken
  }

  /// The keys of parts that were gathered apart, each after the one before, ascending.
  static func sorted(_ parts: [GatheredKeys<Key>]) -> [Key] {
    let lists = parts.lazy.filter { !$0.keys.isEmpty }.map(\.keys)
    let areInOrder = zip(lists, lists.dropFirst()).allSatisfy { before, after in
      guard let last = before.last, let first = after.first else { return true }
      return last < first
    }
    if areInOrder, parts.allSatisfy(\.isSorted) { return Key.joined(lists) }
    return Key.sorted(Array(lists))
  }
}
