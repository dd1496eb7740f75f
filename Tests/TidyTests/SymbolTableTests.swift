import Foundation
import TestSupport
import Testing

// PhotoKitSymbols.md says of Apple's symbols what is here, what differs and what is absent. The compiler knows what is
// here: its symbol graphs of `Photos` and `PhotosUI` are compared with the page, so that neither can go stale.
//
//     symbol graph ── public symbols of PH… types and functions ──┐
//     ## Present, ## Different, ## Added  ── rows ────────────────┴── the same set
//     ## Absent                           ── rows ── nothing of it in the graph

@Suite("The table of Apple's symbols")
struct SymbolTableTests {
  private static let page = "Sources/PhotoLedger/PhotoLedger.docc/PhotoKitSymbols.md"

  /// The symbols of a section: the type of the first column with each name in backquotes of the second, or the first
  /// column alone where the section has one symbol a row.
  private func symbols(in section: String, listsMembers: Bool = false) throws -> [String] {
    let text = try #require(PackageFiles.contents(Self.page))
    let body = try #require(text.components(separatedBy: "\n## ").first { $0.hasPrefix(section + "\n") }, "\(section)")
    return body.split(separator: "\n").filter { $0.hasPrefix("| `") }.flatMap { row -> [String] in
      let columns = row.split(separator: "|").map { $0.matches(of: #/`([^`]+)`/#).map { String($0.output.1) } }
      guard let type = columns[0].first else { return [] }
      return listsMembers ? [type] + columns[1].map { "\(type).\($0)" } : [type]
    }
  }

  /// What classes have because of protocols of Foundation and the standard library.
  private static let inherited: Set<String> = [
    "copy(with:)", "encode(with:)", "init(coder:)", "supportsSecureCoding", "hash", "isEqual(_:)", "hash(into:)",
    "==(_:_:)", "~=(_:_:)", "rawValue", "init(rawValue:)", "description", "predicateArgument", "enumeratedObjects",
    "makeIterator()", "errorDomain", "errorCode", "errorUserInfo", "errorDescription", "init()",
  ]

  /// The public symbols of a module by the compiler, without those that only a conformance brings.
  private func graph(of module: String) throws -> Set<String> {
    let products = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    let folder = try TemporaryFolder()
    let words = [
      "swift", "symbolgraph-extract", "-module-name", module, "-I", products.appending(path: "Modules").path,
      "-I", PackageFiles.root.appending(path: "Sources/CLMDB").path,
      "-Xcc", "-fmodule-map-file=\(products.appending(path: "CSystem.build/module.modulemap").path)",
      "-target", Self.target, "-minimum-access-level", "public", "-output-dir", folder.url.path,
    ]
    let run = try ChildRun.of(words)
    try #require(run.end == .status(0), "\(run.text)")
    var symbols: Set<String> = []
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
      let data = try Data(contentsOf: folder.place(name))
      for symbol in try JSONDecoder().decode(Graph.self, from: data).symbols where symbol.isDeclared {
        guard let last = symbol.pathComponents.last, !Self.inherited.contains(last) else { continue }
        symbols.insert(symbol.pathComponents.joined(separator: "."))
      }
    }
    return symbols
  }

  private struct Graph: Decodable {
    struct Symbol: Decodable {
      struct Identifier: Decodable { let precise: String }
      let identifier: Identifier
      let pathComponents: [String]

      var isDeclared: Bool { !identifier.precise.contains("::SYNTHESIZED::") }
    }
    let symbols: [Symbol]
  }

  #if arch(arm64)
    private static let target = "aarch64-unknown-linux-gnu"
  #else
    private static let target = "x86_64-unknown-linux-gnu"
  #endif

  @Test("the page and the modules agree: what is present, different or added is there, what is absent is not")
  func agreement() throws {
    let graph = try graph(of: "Photos").union(graph(of: "PhotosUI"))
    #expect(graph.count > 400, "Only \(graph.count) symbols were found: the reader is blind.")
    let standIns = Set(try symbols(in: "Stand-ins"))
    let present = try symbols(in: "Present", listsMembers: true)
    let told = present + (try symbols(in: "Different")) + (try symbols(in: "Added"))
    let known = graph.filter { symbol in !standIns.contains(String(symbol.prefix { $0 != "." })) }
    #expect(known.subtracting(told).sorted() == [], "The page does not tell of these.")
    #expect(Set(told).subtracting(graph).sorted() == [], "The page tells of these, which are not there.")
    // Initialisers given to a type of Foundation's are found under its name.
    let heads = Set(graph.map { $0.prefix { $0 != "." } }.map(String.init))
    #expect(standIns.subtracting(heads).sorted() == [], "These stand-ins are not there.")
    let absent = try symbols(in: "Absent")
    #expect(absent.count > 20)
    #expect(graph.intersection(absent).sorted() == [], "These are there, and the page calls them absent.")
  }

  @Test("no symbol is told of twice")
  func once() throws {
    let told =
      try symbols(in: "Present", listsMembers: true) + symbols(in: "Different") + symbols(in: "Added")
      + symbols(in: "Absent")
    // A type stands in its own row and before its members.
    let twice = Dictionary(told.map { ($0, 1) }, uniquingKeysWith: +).filter { $0.value > 1 }.keys.sorted()
    #expect(twice.isEmpty, "\(twice)")
  }
}
