import Foundation
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

@Suite("The index of words after a rebuild")
struct SearchIndexTests {
  @Test("the index matches the log: a rebuild gives the same words, and a very long caption has bounds")
  func bounds() async throws {
    let small = try SmallLibrary()
    let endless = (0..<5000).map { "w\($0)" }.joined(separator: " ") + String(repeating: "é", count: 500)
    var creation = AssetCreation.invented(1)
    creation.caption = endless
    let id = try small.temporary.create(creation)
    func ids(_ text: String) throws -> [LocalIdentifier] {
      try small.library.fetchAssets(FetchOptions(search: text)).map(\.id)
    }
    #expect(try ids("w0 w7") == [id] && ids("w4999").isEmpty)
    let folder = try TemporaryFolder()
    #expect(try small.library.verify(scratch: folder.url).isSound)
    try small.library.rebuild()
    #expect(try ids("w0 w7") == [id])
  }

  @Test("an edit of hundreds of words leaves the rows of those that stay, and of no others")
  func manyWords() async throws {
    let small = try SmallLibrary()
    func caption(_ numbers: Range<Int>) -> String { numbers.map { "w\($0)x" }.joined(separator: " ") }
    var creation = AssetCreation.invented(1)
    (creation.isHidden, creation.sourceType, creation.burstIdentifier) = (false, .userLibrary, nil)
    creation.caption = caption(0..<300)
    let id = try small.temporary.create(creation)
    var changes = AssetChanges()
    changes.caption = .set(caption(150..<450))
    try await small.change { $0.edit([id], changes) }
    for number in [0, 1, 149, 150, 299, 300, 449] {
      let found = try small.library.fetchAssets(FetchOptions(search: "w\(number)x")).map(\.id)
      #expect(found == (number < 150 ? [] : [id]), "\(number)")
    }
    let folder = try TemporaryFolder()
    #expect(try small.library.verify(scratch: folder.url).isSound)
  }
}
