import TestSupport
import Testing

@testable import PhotoLedger

@Suite struct NumberSetTests {
  @Test(
    "a set of numbers agrees with the standard library's",
    arguments: [0, 63, 64, 4_095, 4_096, 300_000] as [ObjectNumber], [1, 2] as [UInt64])
  func model(largest: ObjectNumber, seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var (set, model) = (NumberSet(upTo: largest), Set<ObjectNumber>())
    for step in 0..<200 {
      // Bounds of words and of blocks of words, too.
      let edge = random.one(of: [0, 63, 64, 4_095, 4_096, 8_191, largest]) as ObjectNumber
      let number = random.chance(1, of: 3) ? min(edge, largest) : ObjectNumber.random(in: 0...largest, using: &random)
      if random.chance(2, of: 3) {
        set.insert(number)
        model.insert(number)
      } else {
        set.remove(number)
        model.remove(number)
      }
      #expect(set.contains(number) == model.contains(number))
      if step % 20 == 19 { #expect(Array(set) == model.sorted() && set.count == model.count) }
    }
    var other = NumberSet(upTo: largest)
    for number in model where number % 2 == 0 { other.insert(number) }
    other.insert(largest)
    set.formIntersection(other)
    #expect(Array(set) == model.filter { $0 % 2 == 0 || $0 == largest }.sorted())
    #expect(!set.contains(largest + 1))
  }
}
