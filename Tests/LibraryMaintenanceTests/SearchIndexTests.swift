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
}
