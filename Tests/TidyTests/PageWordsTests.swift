import Foundation
import Testing

// The page words the log in the reader's language. Causes that the library, its server and the page write into it have
// a phrase there. `PagePropertyTests`, which know the library, compare the properties.

@Suite("The page's words")
struct PageWordsTests {
  @Test("a cause that the library, its server or the page sets has a phrase")
  func causes() throws {
    let page = try #require(PackageFiles.contents("Sources/GalleryServer/Page/text/en.js"))
    var given: Set<String> = []
    let pattern = #/\bcause(?:: (?:String\? = )?| = )"(\w[\w ]*)"/#
    for source in PackageFiles.product where !source.path.hasPrefix("Sources/PhotoLedgerCommand/") {
      for index in source.codeLines(holding: "cause") {
        for match in source.text[index].matches(of: pattern) {
          given.insert(String(match.output.1))
        }
      }
    }
    #expect(given.isSuperset(of: ["undo", "upload", "fork"]), "Only \(given.sorted()) were found: the rule is blind.")
    var ofPage: Set<String> = []
    for path in PackageFiles.paths where path.hasPrefix("Sources/GalleryServer/Page/") && path.hasSuffix(".js") {
      guard let script = PackageFiles.contents(path), script.holds("cause: '") else { continue }
      ofPage.formUnion(script.matches(of: #/\bcause: '(\w[\w ]*)'/#).map { String($0.output.1) })
    }
    #expect(ofPage.contains("privacy page"), "Only \(ofPage.sorted()) were found in the page: the rule is blind.")
    given.formUnion(ofPage)
    let missing = given.filter { !page.holds("'cause.\($0)':") }
    #expect(missing.isEmpty, "text/en.js lacks a phrase for \(missing.sorted()).")
  }
}
