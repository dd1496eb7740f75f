import Foundation
import LibraryAudit
import Testing

@testable import PhotoLedger

// The page has no lists of properties and of types of event but its phrases, such as `property.NAME` and `log.TYPE`,
// and shows the name of the log where there is none. So the phrases are compared with the tables here.

@Suite("The page's words for properties and events")
struct PagePropertyTests {
  /// A file of the page.
  private static func page(_ path: String) throws -> String {
    let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/GalleryServer/Page")
    return try String(contentsOf: page.appending(path: path), encoding: .utf8)
  }

  /// The names of the page's phrases.
  private static func phrases() throws -> Set<String> {
    let lines = try page("text/en.js").split(separator: "\n")
    return Set(lines.compactMap { line in line.firstMatch(of: #/^  '([^']+)':/#).map { String($0.output.1) } })
  }

  /// What the names of phrases that begin so continue with.
  private static func phrases(_ prefix: String) throws -> Set<String> {
    Set(try phrases().filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) })
  }

  @Test("every property that the log, a history or an undo names has a phrase, and only these have one")
  func properties() throws {
    let ofAssets = AssetField.allCases.map(\.name) + AssetDetails().fields.map(\.name) + ["addedDate", "existence"]
    let ofCollections = CollectionProperty.edited.map { $0.name.description }
    let differing = try Self.phrases("property.").symmetricDifference(ofAssets + ofCollections)
    #expect(differing.isEmpty, "text/en.js and the tables differ in \(differing.sorted()).")
  }

  @Test("every type of event that the library records is a kind of the history, and has a phrase and a sentence")
  func events() throws {
    let types = Set(LogFilter.knownTypes)
    // A rekeying is not a person's change, so a history is not narrowed to it.
    let differing = try Self.phrases("history.kind.").symmetricDifference(types.subtracting(["content.spread"]))
    #expect(differing == ["all"], "text/en.js and the types of events differ in \(differing.sorted()).")
    let unnamed = types.subtracting(try Self.phrases("log."))
    #expect(unnamed.isEmpty, "text/en.js has no phrase `log.…` for \(unnamed.sorted()).")
    let sentences = try Self.page("views/log-sentences.js")
    let unsaid = types.subtracting(try Self.phrases("said.")).filter { !sentences.contains("case '\($0)':") }
    #expect(unsaid.isEmpty, "views/log-sentences.js has no sentence for \(unsaid.sorted()).")
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
