import Foundation
import Testing

/// The documentation catalog and the public names agree.
@Suite("Catalog")
struct CatalogTests {
  private static let catalog = "Sources/PhotoLedger/PhotoLedger.docc/"
  static let articles = PackageFiles.paths.filter { $0.hasPrefix(catalog) && $0.hasSuffix(".md") }

  private static let sources = PackageFiles.product.filter { source in
    Rule.modulesOfTheLibrary.contains { $0 == source.module }
  }

  /// The public types of the modules that are not inside another.
  private static let types: Set<String> = {
    let pattern = #/^public (?:final |indirect )*(?:struct|class|enum|protocol|actor|typealias) (\w+)/#
    let lines = sources.flatMap(\.code).filter { $0.hasPrefix("public ") }
    return Set(lines.compactMap { $0.firstMatch(of: pattern).map { String($0.output.1) } })
  }()

  /// Every name that is declared as public, wherever.
  private static let names: Set<String> = {
    let keywords: Set<Substring> = ["func", "var", "let", "struct", "class", "enum", "protocol", "typealias", "case"]
    return Set(sources.flatMap { $0.words.flatMap { $0.names(after: keywords) } }.map(String.init))
      .union(["init"])
  }()

  @Test("the root page names every public type")
  func rootPage() throws {
    #expect(Self.types.count > 40)
    let page = try #require(PackageFiles.contents(Self.catalog + "PhotoLedger.md"))
    let missing = Self.types.subtracting(Self.exempt).filter { !page.holds("- ``\($0)``") }
    #expect(missing.isEmpty, "The topics of PhotoLedger.md lack \(missing.sorted()).")
  }

  /// Types that only the compiler and #Predicate name.
  private static let exempt: Set<String> = ["OptionSetContains", "TextContains"]

  @Test("a symbol that an article links to is declared", arguments: articles)
  func symbols(_ path: String) throws {
    let text = try #require(PackageFiles.contents(path))
    let lines = LinedBytes(text).lines.filter { $0.holds("``") }
    let pattern = #/(?:^|[^`])``([A-Z][^`]*)``/#
    let links = lines.flatMap { $0.matches(of: pattern) }
    for link in links.map({ String($0.output.1) }) where link != "PhotoLedger" {
      let parts = link.split(separator: "/").map { String($0.prefix { $0.isLetter || $0.isNumber }) }
      let isKnown = Self.types.contains(parts[0]) && parts.dropFirst().allSatisfy(Self.names.contains)
      #expect(isKnown, "\(path) links to \(link)")
    }
  }
}
