import CountedTree
import Synchronization
import Testing

/// A repeatable source of randomness (SplitMix64).
struct Seeded: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}

/// The key of a fetch result as the library uses it: a sort word, ties by number.
struct PlainKey: Comparable, Sendable {
  var word: UInt64
  var number: UInt64

  static func < (left: Self, right: Self) -> Bool {
    left.word == right.word ? left.number < right.number : left.word < right.word
  }
}

/// A key with an allocation of its own.
struct WideKey: Comparable, Sendable {
  var bytes: [UInt8]

  static func < (left: Self, right: Self) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
}

/// A key whose instances are counted, to find elements released twice or never.
final class TrackedKey: Comparable, Sendable {
  static let living = Mutex(0)
  let value: Int

  init(_ value: Int) {
    self.value = value
    Self.living.withLock { $0 += 1 }
  }

  deinit { Self.living.withLock { $0 -= 1 } }

  static func < (left: TrackedKey, right: TrackedKey) -> Bool { left.value < right.value }
  static func == (left: TrackedKey, right: TrackedKey) -> Bool { left.value == right.value }
}

/// The tree beside a sorted array that is changed in the same way.
struct TreeModel<Element: Comparable & Sendable> {
  var tree = CountedTree<Element>()
  var array: [Element] = []
  var held: [(tree: CountedTree<Element>, array: [Element])] = []

  /// By halving: to walk a large array for each change took most of the time of its history.
  func arrayRank(_ element: Element) -> Int {
    var (low, high) = (0, array.count)
    while low < high {
      let middle = (low + high) / 2
      if array[middle] < element { low = middle + 1 } else { high = middle }
    }
    return low
  }

  mutating func insert(_ element: Element) {
    let rank = arrayRank(element)
    let isNew = rank == array.count || element < array[rank]
    if isNew { array.insert(element, at: rank) }
    let result = tree.insert(element)
    #expect(result.inserted == isNew)
    #expect(result.rank == rank)
  }

  mutating func remove(_ element: Element) {
    let rank = arrayRank(element)
    let isPresent = rank < array.count && !(element < array[rank])
    if isPresent { array.remove(at: rank) }
    #expect(tree.remove(element) == (isPresent ? rank : nil))
  }

  mutating func apply(removing: [Element], inserting: [Element]) throws {
    let before = array
    array = (before.filter { element in !removing.contains(element) } + inserting).sorted()
    let ranks = try tree.apply(removing: removing, inserting: inserting)
    #expect(ranks.removed == removing.map { element in before.firstIndex(of: element) ?? -1 })
    #expect(ranks.inserted == inserting.map { element in array.firstIndex(of: element) ?? -1 })
  }

  mutating func hold() { held.append((tree, array)) }

  /// Compares everything: contents by iteration and by position, ranks, the structure, and all values held.
  func check() {
    Self.check(tree, array)
    for (old, contents) in held { Self.check(old, contents) }
  }

  static func check(_ tree: CountedTree<Element>, _ array: [Element]) {
    #expect(tree.defects() == [])
    #expect(tree.count == array.count)
    #expect(Array(tree) == array)
    guard tree.count == array.count else { return }
    // One expectation for all: there are thousands of elements.
    for position in 0..<array.count {
      let element = array[position]
      if tree[position] == element, tree.rank(of: element) == position, tree.index(of: element) == position { continue }
      Issue.record("At \(position) is \(tree[position]), and \(element) at \(tree.rank(of: element)).")
    }
  }
}
