import Foundation
import TestSupport
import Testing

import LibraryAudit
@testable import PhotoLedger

// What is written straight to text, against the same by way of values; and lines that are copied from the line before,
// against lines that are written by themselves.

@Suite("Writing records")
struct RecordWriterTests {
  private static func text(_ write: (inout JSONBytes) throws -> Void) rethrows -> String {
    var bytes = JSONBytes(capacity: 1)
    try write(&bytes)
    return bytes.text()
  }

  static let libraries: [@Sendable (URL) throws -> PhotoLibrary] = [
    FormatLibrary.make, KeptFormatLibrary.make, RecentFormatLibrary.make, DescribedFormatLibrary.make,
    CoverFormatLibrary.make, StackFormatLibrary.make,
  ]

  @Test("every event has the same text written directly and through values, in either direction", arguments: 0..<6)
  func events(library index: Int) throws {
    let folder = try TemporaryFolder()
    let library = try Self.libraries[index](folder.place("library"))
    defer { library.close() }
    for newestFirst in [false, true] {
      var lines: [String] = []
      try library.forEachLogEntry(newestFirst: newestFirst) { entry in
        let straight = Self.text { entry.write(to: &$0) }
        let byValues = Self.text { $0.write(entry.record) }
        #expect(straight == byValues, "event \(entry.sequence)")
        let values = try #require(try JSONSerialization.jsonObject(with: Data(straight.utf8)) as? [String: Any])
        #expect(values["sentence"] as? String == entry.sentence)
        #expect(values["objects"] as? [String] == entry.objects)
        #expect((values["titles"] as? [String: Any])?.count == entry.titles.count)
        lines.append(straight)
        return true
      }
      var written = ""
      try library.writeLogLines(LogFilter(), newestFirst: newestFirst) { written += $0.text() }
      #expect(written == lines.map { $0 + "\n" }.joined())
      #expect(!lines.isEmpty)
    }
  }

  @Test("a list of assets is the lines of its assets", arguments: 0..<6)
  func lists(library index: Int) throws {
    let folder = try TemporaryFolder()
    let library = try Self.libraries[index](folder.place("library"))
    defer { library.close() }
    var (written, expected) = ("", "")
    for showsTrash in [false, true] {
      var options = FetchOptions()
      (options.includeHiddenAssets, options.includeAllBurstAssets, options.showsTrash) = (true, true, showsTrash)
      let result = try library.fetchAssets(options)
      try library.forEachAsset(of: result) { asset, details in
        expected += try Self.text { try $0.write(asset, details.resources, ExtendedMetadata(details)) } + "\n"
      }
      try library.writeLines(of: result) {
        AssetLines()
      } _: { lines, asset, details, bytes in
        lines.write(asset, details, to: &bytes)
      } _: { lines in
        written += lines.text()
      }
    }
    #expect(written == expected && !written.isEmpty)
  }

  /// A value of a property.
  private static func value(of field: AssetField, _ random: inout SeededGenerator) -> FieldValue {
    let isMissing = random.next() % 3 == 0
    switch field.form {
    case .flag, .clearFlag: return .bool(isMissing)
    case .choice(_, let names):
      return .integer(Int64(names.names.indices.filter { names.names[$0] != nil }.randomElement(using: &random) ?? 0))
    case .bits: return .integer(Int64(random.next() % 4))
    case .size: return .integer(Int64(random.next() % 5000))
    case .seconds: return .double(Double(random.next() % 900) / 7)
    case .zoneOffset: return isMissing ? .null : .integer(Int64(random.next() % 24) * 1800 - 21_600)
    case .date: return isMissing ? .null : .double(Double(random.next() % 1_000_000_000) / 3)
    case .location:
      let altitude = random.next() % 2 == 0 ? nil : Double(random.next() % 100)
      let longitude = Double(random.next() % 90)
      return isMissing ? .null : .place(Location(latitude: 1.5, longitude: longitude, altitude: altitude))
    case .stack: return isMissing ? .null : .identifier(LocalIdentifier(using: &random))
    case .identifier, .flags, .isChosen, .isPresent, .coordinate, .burst, .isBeneathStack, .text, .texts, .measure,
      .record:
      return .null
    }
  }

  @Test(
    "a line copied in part from the previous one is the line of its asset",
    arguments: 0..<(Dose.isFull ? 20 : 6) as Range<UInt64>)
  func lines(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var row = AssetRow(number: 1, identifier: LocalIdentifier(using: &random), addedDate: Date())
    var bytes = JSONBytes(capacity: 1)
    var (lines, expected) = (AssetLines(), "")
    for _ in 0..<300 {
      for _ in 0..<(random.next() % 3) {
        guard let field = AssetField.allCases.randomElement(using: &random) else { continue }
        let isSet = row.set(field, Self.value(of: field, &random))
        #expect(isSet, "\(field)")
      }
      if random.next() % 4 == 0 { row.identifier = LocalIdentifier(using: &random) }
      if random.next() % 9 == 0 { row.burstIdentifier = row.burstIdentifier == nil ? "burst \(random.next())" : nil }
      if random.next() % 9 == 0 { row.addedDate = Date(timeIntervalSince1970: Double(random.next() % 1_000_000)) }
      if random.next() % 9 == 0 { row.sourceType = SourceTypes(rawValue: UInt8(random.next() % 4)) }
      var details = AssetDetails()
      if random.next() % 5 == 0 { details.caption = "caption \(random.next())" }
      if random.next() % 5 == 0 { details.keywords = ["a", "b \(random.next())"] }
      if random.next() % 5 == 0 { details.adjustment = .init(formatIdentifier: "f", formatVersion: "\(random.next())") }
      if random.next() % 5 == 0 {
        var metadata = AssetMetadata()
        metadata.title = "title \(random.next())"
        details.metadata = metadata
      }
      let asset = Asset(row: row, seenBy: .full, commit: 1)
      lines.write(asset, details, to: &bytes)
      expected += try Self.text { try $0.write(asset, details.resources, ExtendedMetadata(details)) } + "\n"
    }
    let written = bytes.text()
    #expect(written == expected)
  }
}
