import EventLog
import Foundation
import PhotoLedger
import Testing

/// The payloads that came with erasure and forks, as StorageFormat.md has them.
@Suite("The format of erasures and forks")
struct MaintenanceFormatTests {
  private static let erased = "a2018104028183050141a0"
  private static let forked = "a3015000112233445566778899aabbccddeeff02fa4e37fc6403622f70"

  private static func read(_ type: String, _ hex: String) throws -> Event {
    let payload = try #require(FormatDump.bytes(hex: hex))
    return try Event(type: type, version: 1, sequence: 9, payload: payload.span.bytes)
  }

  @Test("the payloads are read, written as they were, and quoted in the article")
  func payloads() throws {
    let erased = Event.assetErased(
      AssetErased(numbers: [4], redactions: [.init(sequence: 5, version: 1, payload: [0xA0])]))
    #expect(try Self.read("asset.erased", Self.erased) == erased)
    #expect(FormatDump.hex(erased.payload()) == Self.erased && erased.type == "asset.erased")
    let fork = LibraryFork(
      identifier: LocalIdentifier(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF),
      date: Date(timeIntervalSinceReferenceDate: 771_692_800), origin: "/p")
    #expect(try Self.read("library.forked", Self.forked) == .libraryForked(fork))
    #expect(FormatDump.hex(Event.libraryForked(fork).payload()) == Self.forked)
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let article = try String(
      contentsOf: root.appending(path: "Sources/PhotoLedger/PhotoLedger.docc/StorageFormat.md"), encoding: .utf8)
    for payload in [Self.erased, Self.forked] { #expect(article.contains("payload    h'\(payload)'")) }
  }

  @Test(
    "an invalid payload is rejected",
    arguments: [
      "a10180", "a2018104028283050141a083050141a0", "a2018104028183000141a0", "a201810402818305f641a0", "a10381",
      "a102818305014100",
    ])
  func refused(hex: String) throws {
    let error = #expect(throws: LibraryError.self) { try Self.read("asset.erased", hex) }
    #expect(error?.code == .corrupted)
  }

  @Test("neither event can be undone: its inverse changes nothing")
  func inverses() throws {
    #expect(try Self.read("asset.erased", Self.erased).inverse == .nothingChanged)
    #expect(try Self.read("library.forked", Self.forked).inverse == .nothingChanged)
  }
}
