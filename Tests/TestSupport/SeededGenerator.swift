/// SplitMix64: the same seed draws the same numbers, on every machine and for ever.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A whole number of `range`.
  package mutating func int(_ range: Range<Int>) -> Int { Int.random(in: range, using: &self) }

  /// Whether something happens that happens `part` times in `whole`.
  package mutating func chance(_ part: Int, of whole: Int) -> Bool { int(0..<whole) < part }

  /// One element of a list that is not empty.
  package mutating func one<Element>(of list: [Element]) -> Element { list[int(0..<list.count)] }

  /// Up to `count` different elements of a list, in a random order.
  package mutating func some<Element>(_ count: Int, of list: [Element]) -> [Element] {
    var list = list
    var found: [Element] = []
    while found.count < count, !list.isEmpty { found.append(list.remove(at: int(0..<list.count))) }
    return found
  }

  /// Up to `count` different positions of a list.
  package mutating func positions(_ count: Int, of length: Int) -> [Int] { some(count, of: Array(0..<length)).sorted() }
}
