import Foundation
import LibraryAudit
import Testing

@testable import PhotoLedger

// The page has no list of properties but its phrases `property.NAME`, and shows the name of the log where there is
// none. So the phrases are compared with the tables here.

@Suite("Properties in the words of the page")
struct PagePropertyTests {
  /// The names of the page's phrases.
  private static func phrases() throws -> Set<String> {
    let page = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources/GalleryServer/Page/text/en.js")
    let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
    return Set(lines.compactMap { line in line.firstMatch(of: #/^  '([^']+)':/#).map { String($0.output.1) } })
  }

  @Test("every property that the log, a history or an undo names has a phrase, and nothing else has")
  func properties() throws {
    let ofAssets = AssetField.allCases.map(\.name) + AssetDetails().fields.map(\.name) + ["addedDate", "existence"]
    let ofCollections = CollectionProperty.edited.map { $0.name.description }
    let prefix = "property."
    let named = Set(try Self.phrases().filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) })
    let differing = named.symmetricDifference(ofAssets + ofCollections)
    #expect(differing.isEmpty, "text/en.js and the tables differ in \(differing.sorted()).")
  }

  @Test("every value of an enumeration has a phrase, and every reason to select a photo of a burst")
  func values() throws {
    let phrases = try Self.phrases()
    for field in AssetField.allCases {
      // Stars are shown as their number.
      guard case .choice(_, let names) = field.form, !names.isNumberInJSON else { continue }
      for name in names.names.compactMap(\.self) where names.number(named: name) != nil {
        let phrase = field == .mediaType ? "media.\(name)" : "value.\(field.name).\(name)"
        #expect(phrases.contains(phrase), "text/en.js lacks '\(phrase)'.")
      }
    }
    for name in BurstSelectionTypes.namedBits.map(\.name) {
      #expect(phrases.contains("value.burstSelectionTypes.\(name)"))
    }
  }
}
