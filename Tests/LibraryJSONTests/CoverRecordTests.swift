import JSONReading
import LibraryJSON
import PhotoLedger
import TestSupport
import Testing

@Suite("Covers in records")
struct CoverRecordTests {
  @Test("the record of an album names its chosen cover, and null where there is none")
  func cover() async throws {
    let small = try SmallLibrary()
    let a = try await small.assets(3)
    let album = try await small.album("Shore", a)
    for cover in [a[1], a[2], nil] {
      try await small.change { $0.setCover(cover, of: album.id) }
      let now = try small.now(album.id)
      #expect(now.cover == cover)
      #expect(JSON(now)["cover"] == cover.map { .text($0.spelled(as: .asset)) } ?? .null)
    }
  }
}
