import TestSupport
import Testing

@testable import LibraryAudit
@testable import PhotoLedger

@Suite("Collected creations of assets")
struct CreatedAssetsTests {
  @Test("identifiers are found by the numbers of assets whose creations were collected, in any order")
  func createdAssets() {
    var random = SeededGenerator(seed: 1)
    var assets = CreatedAssets(10..<40)
    var expected: [ObjectNumber: LocalIdentifier] = [:]
    for numbers in [[12, 13, 20], [9, 39, 40], [15, 11], []] as [[ObjectNumber]] {
      let creations = numbers.map { ($0, LocalIdentifier(using: &random)) }
      assets.add(creations.map { (number: $0.0, identifier: $0.1) })
      for (number, identifier) in creations where (10..<40).contains(number) { expected[number] = identifier }
      for number in 0..<50 as Range<ObjectNumber> { #expect(assets[number] == expected[number]) }
    }
    assets.add([(number: 14, identifier: LocalIdentifier(high: 0, low: 0))])
    #expect(assets[14] == nil, "one that is no identifier is not kept")
    #expect(expected.count == 6)
  }
}
