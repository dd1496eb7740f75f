import Foundation
import Testing

// The public names of the products are a promise, so that a change of one is seen where it is made: the compiler's
// list of each module is compared with the one in PublicSymbols/.
//
//     Asset.isFavorite    var isFavorite: Bool { get }
//     └── name            └── declaration; one line a symbol, sorted
//
// PHOTOLEDGER_RECORD=1 writes the lists anew; the difference belongs into the commit that makes it, and a removed or
// altered line into the changelog. What a conformance of the standard library brings is left out: it changes with the
// compiler. Rejected: `swift package diagnose-api-breaking-changes`, which builds the older version from a clone first,
// takes as long as CI itself, and does not show what was added.

@Suite("Public symbols")
struct PublicSymbolsTests {
  static let modules = Rule.modulesOfTheLibrary + ["Photos", "PhotosUI", "ExtensionFoundation"]

  private static let isRecording = ProcessInfo.processInfo.environment["PHOTOLEDGER_RECORD"] == "1"

  @Test("the public symbols are those that the list names", arguments: modules)
  func list(module: String) throws {
    let path = "Tests/TidyTests/PublicSymbols/\(module).txt"
    let found = Set(try SymbolGraph.symbols(of: module).filter(\.isDeclared).map { "\($0.name)\t\($0.declaration)" })
    #expect(!found.isEmpty, "No symbol was found: the reader is blind.")
    if Self.isRecording {
      let text = found.sorted().joined(separator: "\n") + "\n"
      try Data(text.utf8).write(to: PackageFiles.root.appending(path: path))
      return
    }
    let text = try #require(PackageFiles.contents(path), "There is no list \(path).")
    let listed = Set(text.split(separator: "\n").map(String.init))
    let how = "If it is meant: PHOTOLEDGER_RECORD=1 swift test --skip-build --filter PublicSymbolsTests"
    #expect(listed.subtracting(found).sorted() == [], "These are gone. \(how)")
    #expect(found.subtracting(listed).sorted() == [], "These are new. \(how)")
  }

  @Test(
    "a module that only has Apple's name declares nothing: its symbols are those of Photos",
    arguments: ["AVFoundation", "CoreMedia", "UniformTypeIdentifiers"])
  func namesAlone(module: String) throws {
    #expect(try SymbolGraph.symbols(of: module).filter(\.isDeclared).map(\.name) == [])
  }
}
