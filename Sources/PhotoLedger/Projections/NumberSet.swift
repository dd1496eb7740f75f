/// A set of object numbers up to a largest one, a bit for each.
///
/// A second bitmap marks the words that may have members, so that iterating over a small set skips the empty ones: the
/// selections of limited clients are small, and the library is not.
struct NumberSet: Sequence {
  /// No number of the set is larger.
  let largest: ObjectNumber
  private var words: [UInt64]
  /// A bit for each word; it stays when the last member of the word goes.
  private var blocks: [UInt64]

  /// Creates an empty set.
  /// - Complexity: O(n) in the largest number: 125 kB for a million.
  init(upTo largest: ObjectNumber) {
    self.largest = largest
    words = Array(repeating: 0, count: Int(largest >> 6) + 1)
    blocks = Array(repeating: 0, count: Int(largest >> 12) + 1)
  }

  /// How many numbers the set has.
  /// - Complexity: O(n) in the largest number.
  var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

  func contains(_ number: ObjectNumber) -> Bool {
    number <= largest && words[Int(number >> 6)] >> (number & 63) & 1 == 1
  }

  /// - Parameter number: at most ``largest``.
  mutating func insert(_ number: ObjectNumber) {
    precondition(number <= largest, "The set has numbers up to \(largest), and \(number) is larger.")
    words[Int(number >> 6)] |= 1 << (number & 63)
    blocks[Int(number >> 12)] |= 1 << (number >> 6 & 63)
  }

  mutating func remove(_ number: ObjectNumber) {
    if number <= largest { words[Int(number >> 6)] &= ~(1 << (number & 63)) }
  }

  /// Removes what another set of the same largest number does not have.
  mutating func formIntersection(_ other: NumberSet) {
    precondition(largest == other.largest, "Two sets that are compared have the same largest number.")
    for index in words.indices { words[index] &= other.words[index] }
  }

  /// Gives the numbers ascending.
  /// - Complexity: O(k) for k members, and one step for each 4096 numbers.
  func makeIterator() -> Iterator { Iterator(words, blocks) }

  struct Iterator: IteratorProtocol {
    private let words: [UInt64]
    private let blocks: [UInt64]
    /// The index of the block, and its words that were not visited yet.
    private var block = 0
    private var wordsLeft: UInt64
    /// The index of the word, and its members that were not returned yet.
    private var word = 0
    private var left: UInt64 = 0

    fileprivate init(_ words: [UInt64], _ blocks: [UInt64]) {
      (self.words, self.blocks) = (words, blocks)
      wordsLeft = blocks[0]
    }

    mutating func next() -> ObjectNumber? {
      while left == 0 {
        while wordsLeft == 0 {
          block += 1
          guard block < blocks.count else { return nil }
          wordsLeft = blocks[block]
        }
        word = block << 6 + wordsLeft.trailingZeroBitCount
        wordsLeft &= wordsLeft - 1
        left = words[word]
      }
      defer { left &= left - 1 }
      return ObjectNumber(word << 6 + left.trailingZeroBitCount)
    }
  }
}
