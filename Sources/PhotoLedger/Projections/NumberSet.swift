/// A set of object numbers up to a largest one, a bit for each.
struct NumberSet: Sequence {
  /// No number of the set is larger.
  let largest: ObjectNumber
  private var words: [UInt64]

  /// Creates an empty set.
  /// - Complexity: O(n) in the largest number: 125 kB for a million.
  init(upTo largest: ObjectNumber) {
    self.largest = largest
    words = Array(repeating: 0, count: Int(largest >> 6) + 1)
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
  func makeIterator() -> Iterator { Iterator(words) }

  struct Iterator: IteratorProtocol {
    private let words: [UInt64]
    private var index = 0
    private var left: UInt64

    fileprivate init(_ words: [UInt64]) {
      self.words = words
      left = words[0]
    }

    mutating func next() -> ObjectNumber? {
      while left == 0 {
        index += 1
        guard index < words.count else { return nil }
        left = words[index]
      }
      defer { left &= left - 1 }
      return ObjectNumber(index << 6 + left.trailingZeroBitCount)
    }
  }
}
