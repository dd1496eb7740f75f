import Foundation
import Testing

// PhotoKitSymbols.md says of Apple's symbols what is here, what differs and what is absent. The compiler knows what is
// here: its symbol graphs of `Photos` and `PhotosUI` are compared with the page, so that neither can go stale.
//
//     symbol graph ── public symbols of PH… types and functions ──┐
//     ## Present, ## Different, ## Added  ── rows ────────────────┴── the same set
//     ## Absent                           ── rows ── nothing of it in the graph
//
// What Apple has is written down too, names only, in PhotoKitNames.txt. Each name of it is in the graph or is absent
// with a reason, so that none can be forgotten; and the page calls nothing Apple's that is not in the list.
//
//     PhotoKitNames.txt ── each name ──┬── in the graph: of the module, or of the core's type under Apple's name
//                                      └── in ## Absent: itself, or its type

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
    Set(
      try SymbolGraph.symbols(of: module).filter(\.isDeclared).map(\.name).filter { name in
        !Self.inherited.contains(name.split(separator: ".").last.map(String.init) ?? name)
      })
  }

  /// What the modules have under Apple's names, with the members of the core's types that stand under them.
  private func everything() throws -> Set<String> {
    let declared = try Rule.modulesOfTheLibrary.flatMap { module in
      try SymbolGraph.symbols(of: module).filter(\.isDeclared).map(\.name)
    }
    let core = Dictionary(grouping: declared) { name in
      name.split(separator: ".").dropLast().joined(separator: ".")
    }
    var names: Set<String> = []
    let symbols = try SymbolGraph.symbols(of: "Photos") + SymbolGraph.symbols(of: "PhotosUI")
    for symbol in symbols where symbol.isDeclared {
      names.insert(symbol.name)
      guard let target = symbol.aliasedType else { continue }
      for member in core[target] ?? [] { names.insert(symbol.name + member.dropFirst(target.count)) }
    }
    return names
  }

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

  @Test("no symbol is listed twice")
  func once() throws {
    let told =
      try symbols(in: "Present", listsMembers: true) + symbols(in: "Different") + symbols(in: "Added")
      + symbols(in: "Absent")
    // A type stands in its own row and before its members.
    let twice = Dictionary(told.map { ($0, 1) }, uniquingKeysWith: +).filter { $0.value > 1 }.keys.sorted()
    #expect(twice.isEmpty, "\(twice)")
  }
  // MARK: Apple's names

  /// The list: a type, function or constant a line, its members indented below it.
  private static func names(in text: String) -> [String] {
    var type = ""
    return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
      if line.hasPrefix("  ") { return "\(type).\(line.dropFirst(2))" }
      type = String(line)
      return type
    }
  }

  private func names() throws -> [String] {
    Self.names(in: try #require(PackageFiles.contents("Tests/TidyTests/PhotoKitNames.txt")))
  }

  /// The names that are neither there nor absent with a reason; a type brings its members.
  private static func forgotten(_ names: [String], present: Set<String>, absent: Set<String>) -> [String] {
    names.filter { name in
      guard !present.contains(name), !absent.contains(name) else { return false }
      // What stands before a member: its type, and the type that this is in.
      let words = name.prefix { $0 != "(" }.split(separator: ".")
      return !words.indices.dropFirst().contains { absent.contains(words[..<$0].joined(separator: ".")) }
    }
  }

  @Test("each of Apple's names is in the modules, or listed on the page as absent, with the reason")
  func accounted() throws {
    let names = try names()
    #expect(names.count > 900)
    // A type inside another is a member of that one, and has members of its own.
    let twice = Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +).filter { $0.value > 1 }.keys
    #expect(twice.filter { !$0.contains(/\.[A-Z]\w+$/) }.sorted() == [], "These stand in the list twice.")
    let (present, absent) = (try everything(), Set(try symbols(in: "Absent")))
    #expect(Self.forgotten(names, present: present, absent: absent) == [], "Neither here, nor absent with a reason.")
    #expect(present.intersection(absent).sorted() == [], "These are there, and the page calls them absent.")
    let text = try #require(PackageFiles.contents(Self.page)?.components(separatedBy: "\n## Absent\n").last)
    for row in text.split(separator: "\n").filter({ $0.hasPrefix("| `") }) {
      let cells = RuleRow.cells(row)
      #expect(cells.count == 2 && cells[1].count > 5, "No reason: \(row)")
    }
  }

  @Test("the page attributes to Apple only names of Apple's list")
  func isApples() throws {
    let names = Set(try names())
    let told = try symbols(in: "Present", listsMembers: true) + symbols(in: "Different") + symbols(in: "Absent")
    #expect(told.filter { !names.contains($0) } == [], "PhotoKitNames.txt lacks these.")
  }

  @Test("a missing name is found, and so is one of a type that exists")
  func readers() {
    let list = "# Comment.\nPHOne\n  first\n  second(_:)\nPHOne.Inner\n  third\nPHTwo\n  init(of:in:)\nPHThree\n"
    let names = Self.names(in: list)
    #expect(
      names == [
        "PHOne", "PHOne.first", "PHOne.second(_:)", "PHOne.Inner", "PHOne.Inner.third", "PHTwo", "PHTwo.init(of:in:)",
        "PHThree",
      ])
    let present: Set = ["PHOne", "PHOne.first"]
    func forgotten(_ absent: Set<String>) -> [String] { Self.forgotten(names, present: present, absent: absent) }
    #expect(forgotten(["PHTwo", "PHOne.Inner"]) == ["PHOne.second(_:)", "PHThree"])
    let members: Set = ["PHOne.second(_:)", "PHThree", "PHTwo.init(of:in:)"]
    #expect(forgotten(members) == ["PHOne.Inner", "PHOne.Inner.third", "PHTwo"])
  }
}
