import EventLog
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
    let before = (old.map { SearchWords($0) } ?? SearchWords()).words
    let after = (new.map { SearchWords($0) } ?? SearchWords()).words
    // One buffer for all keys.
    var key: [UInt8] = []
    key.reserveCapacity(SearchWords.wordLimit + 9)
    for word in before where !after.holds(word) {
      Self.write(word, number, to: &key)
      try t.delete(key.span.bytes, in: words)
    }
    for word in after where !before.holds(word) {
      Self.write(word, number, to: &key)
      try t.put(key.span.bytes, RawSpan(), in: words)
    }
  }

  private static func wordKey(_ word: [UInt8], _ number: ObjectNumber) -> [UInt8] {
    var key: [UInt8] = []
    write(word[...], number, to: &key)
    return key
  }

  /// Replaces the bytes of a key by those for a word of an asset.
  private static func write(_ word: ArraySlice<UInt8>, _ number: ObjectNumber, to key: inout [UInt8]) {
    key.removeAll(keepingCapacity: true)
    key.append(contentsOf: word)
    key.append(0)
    withUnsafeBytes(of: number.bigEndian) { key.append(contentsOf: $0) }
  }

  /// Up to how many rows of a prefix count as few: the assets that they name are judged one by one where it helps. Few
  /// in debug builds: tests meet both ways.
  #if DEBUG
    static var fewRows: Int { 4 }
  #else
    static var fewRows: Int { 1 << 14 }
  #endif

  /// The assets that a search finds.
  ///
  /// The prefixes with few rows decide the cost where there are some: the others are then looked for in what those
  /// found, however many rows they have.
  /// - Complexity: O(m log n) for m rows of the rarest prefix if they are few; O(r) in the rows of all prefixes
  ///   otherwise, and a bit for each number of an asset.
  func assets(matching text: SearchText, in t: borrowing some Reading) throws -> NumberSet {
    if let few = try fewAssets(matching: text, in: t) { return few }
    return try candidates(for: text, mostRows: .max, in: t).numbers ?? NumberSet(upTo: try lastAsset(in: t))
  }

  /// The assets that a search finds; nil if each of its prefixes has many rows.
  /// - Complexity: O(m log n) for m rows of the rarest prefix.
  func fewAssets(matching text: SearchText, in t: borrowing some Reading) throws -> NumberSet? {
    let candidates = try candidates(for: text, mostRows: Self.fewRows, in: t)
    guard let numbers = candidates.numbers, !candidates.areFound else { return candidates.numbers }
    var found = NumberSet(upTo: numbers.largest)
    for number in numbers where try has(number, wordsOf: text, in: t) { found.insert(number) }
    return found
  }

  /// Whether a search finds an asset: the index has each prefix as a whole word of it, or its details decide.
  func has(_ number: ObjectNumber, wordsOf text: SearchText, in t: borrowing some Reading) throws -> Bool {
    let areWhole =
      try !text.prefixes.isEmpty
      && text.prefixes.allSatisfy { prefix in
        try t.value(for: Self.wordKey(prefix, number).span.bytes, in: words) != nil
      }
    return try areWhole || details(number, in: t).map(text.finds) ?? false
  }

  /// The assets that a search may find, according to the index.
  struct SearchCandidates {
    /// The assets that may be found; nil: all.
    var numbers: NumberSet?
    /// Whether all of these are found; if not, their details decide.
    var areFound = true
  }

  /// The assets that a search may find, by the prefixes that have not too many rows.
  /// - Parameter mostRows: a prefix with more rows is not evaluated.
  /// - Complexity: O(p · m) for p prefixes and at most m rows of each.
  func candidates(
    for text: SearchText, mostRows: Int, in t: borrowing some Reading
  ) throws -> SearchCandidates {
    let last = try lastAsset(in: t)
    guard !text.prefixes.isEmpty else { return SearchCandidates(numbers: NumberSet(upTo: last)) }
    var candidates = SearchCandidates()
    for prefix in text.prefixes {
      guard let numbers = try numbers(beginningWith: prefix, mostRows: mostRows, upTo: last, in: t) else {
        candidates.areFound = false
        continue
      }
      candidates.numbers?.formIntersection(numbers)
      if candidates.numbers == nil { candidates.numbers = numbers }
    }
    return candidates
  }

  /// The assets with a word that begins with a prefix; nil if there are more rows than so many.
  private func numbers(
    beginningWith prefix: [UInt8], mostRows: Int, upTo last: ObjectNumber, in t: borrowing some Reading
  ) throws -> NumberSet? {
    var (numbers, rowCount) = (NumberSet(upTo: last), 0)
    try t.forEach(in: words, prefix: prefix.span.bytes) { key, _ in
      rowCount += 1
      guard rowCount <= mostRows else { return .stop }
      guard key.byteCount > 9 else { throw corruption("a key of the index of words") }
      let number = try key.number(at: key.byteCount - 8)
      guard number <= last else { throw corruption("the index of words, which names asset \(number)") }
      numbers.insert(number)
      // The index lies among the pages of other tables.
      if rowCount & 0x7FF == 0 { t.letGoOfPages(.again) }
      return .proceed
    }
    return rowCount <= mostRows ? numbers : nil
  }

  /// The largest number of an asset; 0 if there is none.
  private func lastAsset(in t: borrowing some Reading) throws -> ObjectNumber {
    var last: ObjectNumber = 0
    try t.forEach(in: assets, from: .max, reverse: true) { number, _ in
      last = number
      return .stop
    }
    guard last <= EventLog.largestSequence else { throw corruption("the number \(last) of a row or key") }
    return last
  }
}
