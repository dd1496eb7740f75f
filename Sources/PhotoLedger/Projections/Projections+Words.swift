import LMDB

// The index of words: which assets have a word, so that a search need not read the library.
//
//     words    folded word (1 … 64)  00  number (8)     → nothing
//
// A word holds no zero byte, so the words that begin with a prefix stand together, and the assets of one word in the
// order of their numbers. The words are those of `SearchWords`, by which a live result judges an asset that a commit
// touched; so the index and change details cannot disagree.
//
// Invariant: after each event there is a row for each word of each row of `details`, and no other.
//
// Titles of collections are not here: a fetch of collections judges their rows, which are few. A title is a word of
// its album and not of the assets in it. Rejected: words of the albums as words of their members, since a new title
// would rewrite rows for every member, in the transaction that gives it.

extension Projections {
  /// Carries over to the index that an asset's details became others, came or went.
  /// - Complexity: O(log n) for each word that came or went.
  func reindex(
    _ number: ObjectNumber, from old: AssetDetails?, to new: AssetDetails?, _ t: inout WriteTransaction
  ) throws(LMDBError) {
    let before = old.map { SearchWords($0).words } ?? []
    let after = new.map { SearchWords($0).words } ?? []
    for word in before where !after.contains(word) {
      try t.delete(Self.wordKey(word, number).span.bytes, in: words)
    }
    for word in after where !before.contains(word) {
      try t.put(Self.wordKey(word, number).span.bytes, RawSpan(), in: words)
    }
  }

  private static func wordKey(_ word: [UInt8], _ number: ObjectNumber) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { word + [0] + $0 }
  }

  /// How many assets are few enough to be judged one by one. Few in debug builds: tests meet both ways.
  #if DEBUG
    private static var judgedLimit: Int { 4 }
  #else
    private static var judgedLimit: Int { 4096 }
  #endif

  /// The numbers of the assets that a search finds, ascending.
  ///
  /// The prefix with the fewest rows decides the cost where that is small: the others are then looked for in what it
  /// found, however many rows they have.
  /// - Complexity: O(p · m) for p prefixes and m rows of the rarest one; O(r log r) in the rows of all prefixes if m is
  ///   large.
  func assets(matching text: SearchText, in t: borrowing some Reading) throws -> [ObjectNumber] {
    guard !text.prefixes.isEmpty else { return [] }
    if text.prefixes.count > 1 {
      for prefix in text.prefixes {
        guard let few = try numbers(beginningWith: prefix, most: Self.judgedLimit, in: t) else { continue }
        return try few.filter { number in try details(number, in: t).map(text.finds) ?? false }
      }
    }
    var found: [ObjectNumber]?
    for prefix in text.prefixes {
      let next = try numbers(beginningWith: prefix, most: .max, in: t) ?? []
      found = found.map { Self.common($0, next) } ?? next
    }
    return found ?? []
  }

  /// The numbers of the assets with a word that begins with a prefix, ascending and each once; nil if there are more
  /// rows than so many.
  private func numbers(
    beginningWith prefix: [UInt8], most: Int, in t: borrowing some Reading
  ) throws -> [ObjectNumber]? {
    var (numbers, isAscending, rowCount) = ([ObjectNumber](), true, 0)
    try t.forEach(in: words, prefix: prefix.span.bytes) { key, _ in
      rowCount += 1
      guard rowCount <= most else { return .stop }
      guard key.byteCount > 9 else { throw corruption("a key of the index of words") }
      let number = try key.place(at: key.byteCount - 8)
      if let last = numbers.last {
        if last == number { return .proceed }
        isAscending = isAscending && last < number
      }
      numbers.append(number)
      return .proceed
    }
    guard rowCount <= most else { return nil }
    guard !isAscending else { return numbers }
    numbers.sort()
    var unique: [ObjectNumber] = []
    unique.reserveCapacity(numbers.count)
    for number in numbers where unique.last != number { unique.append(number) }
    return unique
  }

  /// The numbers that two ascending lists have in common.
  private static func common(_ one: [ObjectNumber], _ two: [ObjectNumber]) -> [ObjectNumber] {
    var (common, index) = ([ObjectNumber](), 0)
    for number in one {
      while index < two.count, two[index] < number { index += 1 }
      if index < two.count, two[index] == number { common.append(number) }
    }
    return common
  }
}
