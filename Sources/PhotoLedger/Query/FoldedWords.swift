import Foundation

// Different words, one after another in one buffer:
//
//     bytes    img0001jpgbirthday        ends    7  10  18
//
// A word is written where it will stay, and removed again if it was there already: an asset has three words or four,
// and a buffer for each of them, hashed into a set, cost more than cutting its texts. Few words are compared one by
// one; from `comparedLimit` words on, a table finds a word by its hash, so that a text of many words takes a time
// proportional to its length. The hash is seeded for each process: no text can make all its words collide.

/// Different words in the order of their first occurrence, each as UTF-8.
struct FoldedWords: RandomAccessCollection, Sendable {
  /// How many words are compared one by one at most.
  private static let comparedLimit = 24

  /// The words, and after them the beginning of the one that is being written.
  private var bytes: [UInt8] = []
  /// Where each word ends; the first begins at 0.
  private var ends: [Int] = []
  /// The number of a word, counted from 1, at the place of its hash or after that; 0: free. Twice as many places as
  /// words at least, a power of two; none while the words are compared one by one.
  private var places: [UInt32] = []
  /// The most words.
  private let countLimit: Int

  init(countLimit: Int = .max) { self.countLimit = countLimit }

  /// Makes room for words.
  mutating func reserve(_ wordCount: Int, byteCount: Int) {
    bytes.reserveCapacity(byteCount)
    ends.reserveCapacity(wordCount)
  }

  var startIndex: Int { 0 }
  var endIndex: Int { ends.count }

  subscript(index: Int) -> ArraySlice<UInt8> { bytes[range(of: index)] }

  private func range(of index: Int) -> Range<Int> { (index == 0 ? 0 : ends[index - 1])..<ends[index] }

  /// Whether a word is among them.
  /// - Complexity: O(1).
  func holds(_ word: ArraySlice<UInt8>) -> Bool {
    word.withUnsafeBytes { word in bytes.withUnsafeBytes { holds(word, in: $0) } }
  }

  // MARK: Writing

  /// Writes the next byte of a word.
  @inline(__always)
  mutating func append(_ byte: UInt8) { bytes.append(byte) }

  /// Writes the next bytes of a word.
  mutating func append(contentsOf part: some Sequence<UInt8>) { bytes.append(contentsOf: part) }

  /// Ends the word that was written, if there is one. Its significant bytes, which end with a complete scalar, become
  /// the last word, unless they are a word already or there are as many words as there may be.
  mutating func endWord() {
    let start = ends.last ?? 0
    guard bytes.count > start else { return }
    if bytes.count - start > SearchWords.wordLimit {
      var end = start + SearchWords.wordLimit
      while bytes[end] & 0xC0 == 0x80 { end -= 1 }
      bytes.removeSubrange(end...)
    }
    let isNew =
      ends.count < countLimit
      && bytes.withUnsafeBytes { !holds(UnsafeRawBufferPointer(rebasing: $0[start...]), in: $0) }
    guard isNew else { return bytes.removeSubrange(start...) }
    ends.append(bytes.count)
    guard ends.count >= Self.comparedLimit else { return }
    if ends.count * 2 > places.count { makePlaces() } else { enter(ends.count - 1) }
  }

  // MARK: Finding

  private func holds(_ word: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer) -> Bool {
    if !places.isEmpty { return places[place(of: word, in: bytes)] != 0 }
    var start = 0
    for end in ends {
      if Self.areSame(word, UnsafeRawBufferPointer(rebasing: bytes[start..<end])) { return true }
      start = end
    }
    return false
  }

  /// The place in the table that a word has, or the free one for it.
  private func place(of word: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer) -> Int {
    var hasher = Hasher()
    hasher.combine(bytes: word)
    var place = hasher.finalize() & (places.count - 1)
    while places[place] != 0 {
      let known = UnsafeRawBufferPointer(rebasing: bytes[range(of: Int(places[place]) - 1)])
      if Self.areSame(word, known) { break }
      place = (place + 1) & (places.count - 1)
    }
    return place
  }

  @inline(__always)
  private static func areSame(_ one: UnsafeRawBufferPointer, _ two: UnsafeRawBufferPointer) -> Bool {
    guard one.count == two.count else { return false }
    guard let first = one.baseAddress, let second = two.baseAddress else { return true }
    return memcmp(first, second, one.count) == 0
  }

  private mutating func enter(_ index: Int) {
    let range = range(of: index)
    let free = bytes.withUnsafeBytes { place(of: UnsafeRawBufferPointer(rebasing: $0[range]), in: $0) }
    places[free] = UInt32(index + 1)
  }

  /// Makes the table, or a larger one.
  private mutating func makePlaces() {
    places = [UInt32](repeating: 0, count: places.isEmpty ? 128 : places.count * 4)
    for index in indices { enter(index) }
  }
}
