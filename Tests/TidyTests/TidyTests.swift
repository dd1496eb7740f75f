import Foundation
import Testing

@Suite("Style")
struct TidyTests {
  @Test("the package keeps the rules", arguments: Rule.all)
  func keeps(_ rule: Rule) {
    let findings = rule.findings(in: PackageFiles.swift)
    #expect(findings.isEmpty, "\(rule.name):\n\(list(findings))")
  }

  @Test("the files of the package were found")
  func findsFiles() {
    #expect(PackageFiles.product.count > 100, "\(PackageFiles.root.path) holds too few sources to be the package.")
  }

  @Test("functions are short: 95 of 100 have at most 40 lines, and none more than 70")
  func functionLengths() {
    let lengths = PackageFiles.product.flatMap(FunctionLength.all).sorted { $0.count < $1.count }
    #expect(lengths.count > 500, "Only \(lengths.count) functions were found: the counter is blind.")
    let ninetyFifth = lengths[lengths.count * 95 / 100]
    #expect(ninetyFifth.count <= 40, "5 of 100 functions have more than \(ninetyFifth.count) lines.")
    let tooLong = lengths.filter { $0.count > 70 }
      .map { Finding(path: $0.path, line: $0.line, "\($0.name) has \($0.count) lines") }
    #expect(tooLong.isEmpty, "\(list(tooLong))")
  }

  @Test("half of the source files have at most 250 lines")
  func fileMedian() {
    let counts = PackageFiles.product.map(\.text.count).sorted()
    #expect(counts[counts.count / 2] <= 250)
  }

  @Test("each room of a module names only those before it")
  func roomOrder() {
    for (module, rooms) in RoomOrder.all {
      let order = RoomOrder(
        of: module, rooms: rooms, importing: Rule.allowedImports[module] ?? [], sources: PackageFiles.product)
      let findings = order.findings()
      #expect(findings.isEmpty, "\(list(findings))")
    }
  }

  @Test("every module with several rooms has an order of them, but for the one whose classes name each other")
  func roomsWithoutOrder() {
    var rooms: [String: Set<String>] = [:]
    for source in PackageFiles.product {
      let parts = source.path.split(separator: "/")
      guard let module = source.module, module != "StandIns" else { continue }
      rooms[module, default: []].insert(parts.count > 3 ? String(parts[2]) : ".")
    }
    let ordered = Set(RoomOrder.all.map(\.module))
    let others = rooms.filter { $0.value.count > 1 && !ordered.contains($0.key) }.keys.sorted()
    #expect(others == ["Photos"])
    for (module, order) in RoomOrder.all { #expect(Set(order) == rooms[module], "\(module)") }
  }

  @Test("each command is in the file of its words")
  func commandFiles() {
    let sources = PackageFiles.product.filter { $0.path.hasPrefix("Sources/PhotoLedgerCommand/Commands/") }
    let count = sources.map { CommandFiles.commands(in: $0.text.joined(separator: "\n")).count }.reduce(0, +)
    #expect(count > 60, "Only \(count) commands were found: the rule is blind.")
    let findings = sources.flatMap(CommandFiles.findings)
    #expect(findings.isEmpty, "\(list(findings))")
  }

  @Test("no file names the machine that it was written on")
  func machinePaths() {
    let places = ["/" + "work/", "/tmp/" + "wt", "/" + "root/"]
    var findings: [Finding] = []
    for path in PackageFiles.paths {
      guard let contents = PackageFiles.contents(path), places.contains(where: contents.holds) else { continue }
      for (index, line) in contents.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
        for place in places where line.contains(place) {
          findings.append(Finding(path: path, line: index + 1, "names \(place)"))
        }
      }
    }
    #expect(findings.isEmpty, "\(list(findings))")
  }

  @Test("the targets of Package.swift have the dependencies that the rules allow")
  func manifest() throws {
    let manifest = try #require(PackageFiles.contents("Package.swift"))
    let pattern = #/name: "(\w+)",\s*dependencies: \[([^\]]*)\]/#
    var found: Set<String> = []
    for match in manifest.matches(of: pattern) {
      guard let allowed = Rule.allowedImports[String(match.output.1)] else { continue }
      found.insert(String(match.output.1))
      let dependencies = match.output.2.matches(of: #/"(\w+)"/#).map { String($0.output.1) }
      #expect(
        Set(dependencies).subtracting(allowed).isEmpty, "\(match.output.1) depends on \(dependencies.sorted()).")
    }
    #expect(
      found.isSuperset(of: [
        "LMDB", "EventLog", "StoreMigrations", "PhotoLedger", "MediaImport", "PhotoLedgerCommand",
      ]))
  }

  @Test("the targets of tests in Package.swift depend on nothing above the module that they test")
  func manifestOfTests() throws {
    let manifest = try #require(PackageFiles.contents("Package.swift"))
    var found: Set<String> = []
    for match in manifest.matches(of: #/name: "(\w+Tests)",\s*dependencies: \[([^\]]*)\]/#) {
      guard let module = Rule.moduleTested(by: "Tests/\(match.output.1)/A.swift") else { continue }
      found.insert(module)
      let dependencies = match.output.2.matches(of: #/"(\w+)"/#).map { String($0.output.1) }
      let above = dependencies.filter { Rule.isAbove($0, module) }
      #expect(above.isEmpty, "\(match.output.1) depends on \(above).")
    }
    #expect(found.isSuperset(of: ["LMDB", "PhotoLedger", "LibraryAudit", "LibraryMaintenance", "MediaImport"]))
  }

  private func list(_ findings: [Finding]) -> String {
    findings.prefix(200).map(\.description).joined(separator: "\n")
  }
}

/// The rules are tried on files that break them: a rule that finds nothing anywhere proves nothing.
@Suite("Style rules find violations")
struct RuleTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var rule: Rule
    var path: String
    var contents: String
    /// The line that is found, from 1; nil: none.
    var line: Int?
    var testDescription: String { "\(rule.name): \(line == nil ? "keeps" : "breaks")" }
  }

  @Test("a rule finds the line that breaks it, and no other", arguments: cases)
  func finds(_ example: Case) {
    let source = SwiftSource(path: example.path, contents: example.contents)
    let found = example.rule.findings(in: [source]).map(\.line)
    #expect(found == (example.line.map { [$0] } ?? []), "\(example.contents)")
  }

  static let cases: [Case] = [
    Case(rule: .lineLength, path: "A.swift", contents: "\n" + String(repeating: "é", count: 121), line: 2),
    Case(rule: .lineLength, path: "A.swift", contents: String(repeating: "é", count: 120), line: nil),
    Case(rule: .noReminders, path: "A.swift", contents: "// TO" + "DO: later", line: 1),
    Case(rule: .fieldsOfComments, path: "A.swift", contents: "/// A sentence. -\n/// Returns: it.", line: 1),
    Case(rule: .fieldsOfComments, path: "A.swift", contents: "/// A sentence. - Returns: it.", line: 1),
    Case(
      rule: .fieldsOfComments, path: "A.swift",
      contents: "/// A sentence.\n/// - Parameters:\n///   - a: one - or two.\n/// - Returns: it.", line: nil),
    Case(rule: .noForcedTry, path: "A.swift", contents: "let a = try" + "! b()", line: 1),
    Case(rule: .noForcedTry, path: "A.swift", contents: "// try" + "! is refused\nlet a = \"try" + "! b\"", line: nil),
    Case(rule: .guardedState, path: "A.swift", contents: "final class A: @unchecked " + "Sendable {}", line: 1),
    Case(
      rule: .guardedState, path: "A.swift",
      contents: "// Guarded by: the lock.\n// More.\nfinal class A: @unchecked " + "Sendable {}", line: nil),
    Case(rule: .noFoundationBelow, path: "Sources/LMDB/A.swift", contents: "internal import Foundation", line: 1),
    Case(rule: .noFoundationBelow, path: "Sources/PhotoLedger/A.swift", contents: "import Foundation", line: nil),
    Case(rule: .arrows, path: "Sources/MediaImport/A.swift", contents: "import Glibc\nimport LMDB", line: 2),
    Case(
      rule: .arrowsOfTests, path: "Tests/CountedTreeTests/A.swift",
      contents: "@testable import CountedTree\nimport PhotoLedger", line: 2),
    Case(rule: .arrowsOfTests, path: "Tests/LMDBTests/A.swift", contents: "import benchmarks", line: 1),
    Case(rule: .arrowsOfTests, path: "Tests/LMDBTests/A.swift", contents: "import BenchmarkSupport", line: 1),
    Case(
      rule: .arrowsOfTests, path: "Tests/EventLogTests/A.swift",
      contents: "@testable import EventLog\nimport LMDB\nimport StoreTestSupport", line: nil),
    Case(rule: .arrowsOfTests, path: "Tests/EventLogTests/A.swift", contents: "import TestSupport", line: 1),
    Case(
      rule: .arrowsOfTests, path: "Tests/PhotoLedgerTests/A.swift",
      contents: "import LMDB\nimport TestSupport\nimport LibraryAudit\n@testable import PhotoLedger", line: 3),
    Case(
      rule: .arrowsOfTests, path: "Tests/LibraryAuditTests/A.swift",
      contents: "import LibraryAudit\n@testable import LibraryMaintenance", line: 2),
    Case(
      rule: .arrowsOfTests, path: "Tests/LibraryPickingTests/A.swift",
      contents: "import LibraryMaintenance\nimport PhotosUI", line: 2),
    Case(
      rule: .arrowsOfTests, path: "Tests/PhotosTests/A.swift", contents: "import Photos\nimport PhotosUI", line: nil),
    Case(rule: .arrowsOfTests, path: "Tests/SimulationTests/A.swift", contents: "import PhotoLedgerCommand", line: nil),
    Case(rule: .arrows, path: "Migrations/A.swift", contents: "public import PhotoLedger", line: 1),
    Case(rule: .arrows, path: "Sources/PhotoLedger/A.swift", contents: "package import EventLog", line: nil),
    Case(rule: .onlyOneTouchesLMDB, path: "Sources/EventLog/A.swift", contents: "import CLMDB", line: 1),
    Case(rule: .onlyOneTouchesLMDB, path: "Benchmarks/Store/A.swift", contents: "import CLMDB", line: 1),
    Case(rule: .onlyOneTouchesLMDB, path: "Benchmarks/Floors/A.swift", contents: "import CLMDB", line: nil),
    Case(
      rule: .limitedNamed, path: "Sources/LibraryAudit/A.swift",
      contents: "// .limited\nlet a = row.limitedAccess\nif b == .limited {}", line: 3),
    Case(
      rule: .limitedNamed, path: "Sources/PhotoLedger/Model/Access.swift",
      contents: "case .limited(let a): a", line: nil),
    Case(rule: .limitedNamed, path: "Sources/GalleryServer/A.swift", contents: "a(.limited)", line: nil),
    Case(rule: .locksOfFiles, path: "Sources/GalleryServer/A.swift", contents: "flock(number, LOCK_EX)", line: 1),
    Case(rule: .locksOfFiles, path: "Sources/PhotoLedger/Files/FileLock.swift", contents: "flock(a, b)", line: nil),
    Case(rule: .locksOfTests, path: "Tests/ATests/A.swift", contents: "\nflock(a, LOCK_EX)\nclose(a)", line: 2),
    Case(
      rule: .locksOfTests, path: "Tests/ATests/A.swift", contents: "flock(a, LOCK_EX)\nflock(a, LOCK_UN)\nclose(a)",
      line: nil),
    Case(rule: .logKnowsNoPhoto, path: "Sources/EventLog/A.swift", contents: "// photo\nlet albumCount = 1", line: 2),
    Case(
      rule: .passedIn, path: "Sources/PhotoLedger/A.swift", contents: "optionalDate()\na = \"\\(Date())\" + \"UUID()\"",
      line: 2),
    Case(rule: .passedIn, path: "Sources/PhotoLedger/A.swift", contents: "a(Date(timeIntervalSinceNow: 60))", line: 1),
    Case(rule: .passedIn, path: "Sources/PhotoLedger/LibraryEnvironment.swift", contents: "Date()", line: nil),
    Case(
      rule: .problemsInOnePlace, path: "Sources/GalleryServer/Feeds/A.swift",
      contents: "\nlet a = \"urn:photoledger:problem:\\(b)\"", line: 2),
    Case(
      rule: .problemsInOnePlace, path: "Sources/GalleryServer/Vocabulary/Problem.swift",
      contents: "\"urn:photoledger:problem:\"", line: nil),
    Case(rule: .fileLength, path: "A.swift", contents: String(repeating: "let a = 1\n", count: 600), line: 1),
    Case(
      rule: .fileLength, path: "A.swift",
      contents: "// Long because of a table.\n" + String(repeating: "let a = 1\n", count: 600), line: nil),
    Case(rule: .knownRoom, path: "Sources/PhotoLedger/Utils/A.swift", contents: "", line: 1),
    Case(rule: .knownRoom, path: "Sources/PhotoLedger/Events/A.swift", contents: "", line: nil),
    Case(rule: .prose, path: "Sources/A/A.swift", contents: "let told = 1\n// A reader is\n// told of it.", line: 2),
    Case(rule: .prose, path: "Sources/A/A.swift", contents: "let nobody = 1\n// Untold, is toldest.", line: nil),
    Case(rule: .prose, path: "Sources/A/A.swift", contents: "let a = 1\nthrow a(\"No \\(b) was told.\")", line: 2),
    Case(rule: .prose, path: "Sources/A/A.swift", contents: "a(\n  \"It is \"\n    + \"not to be had.\")", line: 3),
    Case(
      rule: .prose, path: "Sources/A/A.swift",
      contents: "let a = \"\"\"\n  A reader is \\\n  told of it.\n  \"\"\"", line: 2),
    Case(
      rule: .prose, path: "Sources/A/A.swift",
      contents: "json(\"firstToldCommit\", \"isRefused\": nobody, \"a \\(nobody)\")", line: nil),
    Case(rule: .prose, path: "Sources/A/A.swift", contents: "let a = 1\n// A line is\n// no `Record`.", line: 3),
    Case(rule: .prose, path: "Tests/ATests/A.swift", contents: "/// The bytes; nil if they are none.", line: 1),
    Case(rule: .prose, path: "Benchmarks/A.swift", contents: "let a = 1\n// The first has none, or are two.", line: 2),
    Case(
      rule: .prose, path: "Sources/A/A.swift",
      contents: "// There\n// would be no record (there is none); it is no\n// longer, has none of it.", line: nil),
    Case(rule: .prose, path: "Sources/A/A.swift", contents: "throw a(\"It is no record, and has none.\")", line: nil),
    Case(rule: .prose, path: "Tests/ATests/A.swift", contents: "// A.\n@Suite(\"What nobody sees\")", line: 2),
    Case(rule: .prose, path: "Tests/ATests/A.swift", contents: "a(\"nobody\")\n  // It is\n  // told.", line: 2),
    Case(
      rule: .prose, path: "Tests/ATests/A.swift",
      contents: "@Test(\n  \"a \\\"reader\\\" is told\", arguments: [1])\nfunc a() {}", line: 2),
    Case(
      rule: .prose, path: "Tests/ATests/A.swift",
      contents: "@Test(arguments: [\"nobody\"])\nfunc a() {}\n@Test(\"b\") func b() { c(\"nobody\") }", line: nil),
    Case(rule: .prose, path: "Benchmarks/A.swift", contents: "let told = 1\nadd(\"a commit is told\")", line: 2),
    Case(
      rule: .sentencesOfTraps, path: "Sources/PhotoLedger/Store/A.swift",
      contents: "public init(\n  a: Int\n) {\n  let b = a\n  precondition(b > 0)\n}", line: 5),
    Case(
      rule: .sentencesOfTraps, path: "Sources/PhotoLedger/Store/A.swift",
      contents: "public func a() {}\nfunc b() { precondition(c) }\npublic func d() { preconditionFailure() }", line: nil
    ),
    Case(rule: .sentencesOfTraps, path: "Sources/Photos/A.swift", contents: "func a() { precondition(b) }", line: 1),
    Case(
      rule: .eventsNamed, path: "Sources/PhotoLedger/Undo/A.swift",
      contents: "switch a {\ncase .arranged(let b):\n  switch b {\n  default: c()\n  }\ndefault: break\n}", line: 6),
    Case(
      rule: .eventsNamed, path: "Sources/PhotoLedger/Undo/A.swift",
      contents: "switch a {\ncase .arranged: b()\n}\nswitch c {\ncase .other: arranged()\ndefault: d()\n}", line: nil),
    Case(
      rule: .eventsNamed, path: "Sources/LibraryAudit/A.swift",
      contents: "switch a {\ncase .libraryForked(let b): c(b)\ncase .nothingChanged: d()\ndefault: e()\n}", line: 4),
    Case(
      rule: .eventsNamed, path: "Sources/LibraryAudit/A.swift",
      contents: "func isTrashed() {\n  switch a {\n  case .assetPurged: b()\n  default: c()\n  }\n}", line: nil),
    Case(
      rule: .typesNamed, path: "Sources/PhotoLedger/Observation/AccessChange.swift",
      contents: "func a() {\n  switch record.type {\n  case \"client.edited\": b()\n  default: break\n  }\n}", line: 3),
    Case(
      rule: .typesNamed, path: "Sources/LibraryAudit/A.swift", contents: "func a() {\n  b.type != \"asset.created\"\n}",
      line: 2),
    Case(
      rule: .typesNamed, path: "Sources/PhotoLedger/Rewind/Rewind.swift",
      contents: "func someRow() {\n  a.type == \"collection.created\"\n  // .type == \"b.c\"\n}", line: nil),
    Case(
      rule: .typesNamed, path: "Sources/MediaImport/A.swift",
      contents: "a(targetType == \"public.jpeg\")\nswitch b {\ncase \"image/jpeg\": c()\ndefault: d()\n}", line: nil),
    Case(
      rule: .privateUsed, path: "Sources/A/A.swift",
      contents: "private(set) var a = 1\nprivate let b = 1\nfileprivate func c() { d(\"c\\(b)\") }", line: 3),
    Case(
      rule: .parametersNamed, path: "Sources/A/A.swift",
      contents: "/// A.\n/// - Parameter old: it.\n@discardableResult\nfunc a(new: Int) {}", line: 2),
    Case(
      rule: .parametersNamed, path: "Sources/A/A.swift",
      contents: "/// - Parameters:\n///   - b: one.\n///   - at: two.\nfunc a(\n  b: Int, at c: Int\n) {}", line: 3),
    Case(
      rule: .parametersNamed, path: "Sources/A/A.swift",
      contents: "///   - item: none.\n/// - Parameter c: it.\ninit(_ b: Int, at c: (Int) -> Int) {}", line: nil),
    Case(rule: .documented, path: "Sources/A/A.swift", contents: "  open override func a() {}", line: 1),
    Case(rule: .documented, path: "Sources/A/A.swift", contents: "let a = open(b, c)\nopen = d\nopen(e)", line: nil),
    Case(rule: .documented, path: "Sources/A/A.swift", contents: "  @inlinable public func a() {}", line: 1),
    Case(rule: .documented, path: "Sources/A/A.swift", contents: "/// A.\npublic enum A {\n  case b\n}", line: 3),
    Case(rule: .documented, path: "Sources/A/A.swift", contents: "/// A.\npublic protocol A {\n  func b()\n}", line: 3),
    Case(
      rule: .documented, path: "Sources/A/A.swift",
      contents: "public import B\n/// A.\n@frozen\npublic struct A {\n  let b: Int\n}\nenum C { case d }", line: nil),
  ]

  @Test("a name of a later room is found, as a type and as a function; one of an earlier room, or of several, is not")
  func roomsOutOfOrder() {
    let early = SwiftSource(
      path: "Sources/M/Early/A.swift",
      contents: """
        struct A { func own() {} }
        // Late in a comment, and "deliver" in a text.
        let a = Late(), b = x.deliver(), c = x.own(), d = x.shared(), e = x.lowered(), f = Kept()
        let g = Conditional(), h = Conditional.Nested()
        """)
    let late = SwiftSource(
      path: "Sources/M/Late/B.swift",
      contents: """
        package final class Late { let a: A }
        extension A {
          func deliver() {}
          func shared() {}
          func lowered() {}
        }
        private struct Kept {}
        #if Gallery
          struct Conditional {
            struct Nested {}
          }
        #endif
        """)
    let below = SwiftSource(path: "Sources/Below/A.swift", contents: "public func lowered() {}")
    let other = SwiftSource(path: "Sources/M/Early/C.swift", contents: "extension A { var shared: Int { 1 } }")
    let lost = SwiftSource(path: "Sources/M/D.swift", contents: "struct D {}")
    let sources = [early, late, below, other, lost]
    let order = RoomOrder(of: "M", rooms: ["Early", "Late"], importing: ["Below"], sources: sources)
    let found = order.findings()
    let names = ["names Late, w", "names deliver", "names Conditi", "names Conditi", "lies in no ro"]
    #expect(found.map(\.what).map { $0.prefix(13) } == names.map { $0.prefix(13) })
    #expect(found.map(\.line) == [3, 3, 4, 4, 1])
    let whole = RoomOrder(of: "M", rooms: [".", "Early", "Late"], importing: ["Below"], sources: sources).findings()
    #expect(whole.map(\.line) == [3, 3, 4, 4])
  }

  @Test("a value, a property and a call of a later room are found; others of the same name or label are not")
  func membersOutOfOrder() {
    let early = SwiftSource(
      path: "Sources/M/Early/A.swift",
      contents: """
        struct Early {
          static let limit = 1
          let size: Int
          init(size: Int) {}
          func found(in place: Int) {}
        }
        let a = limit
        let b = (x.limit, x.title, x.own, x.hidden, x.low)
        let c = (Early(late: 1), Early(size: 2), Early(3), x.found(by: 4), x.found(in: 5))
        let d = x.found(
          by: 7)
        """)
    let late = SwiftSource(
      path: "Sources/M/Late/B.swift",
      contents: """
        let limit = 3
        extension Early {
          init(late: Int) {}
          init(_ number: Int) {}
          init(size: Int, late: Int) {}
          var title: String { "" }
          private var hidden: Int { 1 }
          var low: Int { 2 }
          func found(by number: Int) {
            let own = number
          }
        }
        """)
    let below = SwiftSource(path: "Sources/Below/A.swift", contents: "extension A {\n  public var low: Int { 1 }\n}")
    let order = RoomOrder(of: "M", rooms: ["Early", "Late"], importing: ["Below"], sources: [early, late, below])
    let found = order.findings().map { "\($0.line) \($0.what.split(separator: ",").first ?? "")" }
    #expect(
      found == [
        "7 names limit", "8 names title", "9 names Early(late:)", "9 names Early(_:)", "9 names found(by:)",
        "10 names found(by:)",
      ])
  }

  @Test("the members of a file are those of its types and its top level, without what stands in a body")
  func declaredMembers() {
    let source = SwiftSource(
      path: "A.swift",
      contents: """
        private let a = 1
        func b<T>(_ c: T) { let d = 1 }
        #if Gallery
          extension [UInt8]
          where Element: E {
            private(set) static var f = 1, g = 2
            @inlinable public init?(h i: Int) {}
            final class J {
              init() {
                let k = 1
                func l() {}
              }
              class func m(
                n: Int
              ) {}
            }
            static func < (o: Int, p: Int) {}
          }
        #endif
        """)
    let found = DeclaredMember.all(in: source)
    #expect(found.map(\.name) == ["a", "b(_", "f", "UInt8(h", "J(", "m(n"])
    #expect(found.map(\.type) == [nil, nil, "UInt8", "UInt8", "J", "J"])
    #expect(found.map(\.kind) == [.value, .function, .property, .initialiser, .initialiser, .function])
    #expect(found.map(\.isPrivate) == [true, false, false, false, false, false])
  }

  @Test("in every module with ordered rooms, a name of the next room is found", arguments: RoomOrder.all.map(\.module))
  func nextRooms(_ module: String) {
    let rooms = RoomOrder.all.filter { $0.module == module }.flatMap { $0.rooms }
    let sources = rooms.enumerated().map { index, room in
      SwiftSource(
        path: ["Sources", module, room, "A.swift"].filter { $0 != "." }.joined(separator: "/"),
        contents: "struct A\(index) {}\nfunc a\(index)() {}\nlet b = (A\(index + 1)(), c.a\(index + 1)())")
    }
    let expected = zip(sources, rooms.indices.dropFirst()).flatMap { source, next in
      ["A", "a"].map { Finding(source, 2, "names \($0)\(next), which a later room, \(rooms[next]), declares") }
    }
    #expect(!expected.isEmpty)
    #expect(RoomOrder(of: module, rooms: rooms, sources: sources).findings() == expected)
  }

  @Test("a command in a file of other words is found")
  func commandElsewhere() {
    let text = """
      static let a = Command(words: ["album", "add"])
      static let b = editing(
        "edit commit", "edits")
      static let c = editing("unhide", "shows"), d = Command(words: ["verify-here"])
      """
    #expect(CommandFiles.commands(in: text) == ["album add", "edit commit", "unhide", "verify-here"])
    let found = ["Album", "AlbumAdd", "Edit", "EditCommit", "Hide", "Verify", "Other"].map { name in
      4 - CommandFiles.findings(in: SwiftSource(path: "A/\(name).swift", contents: text)).count
    }
    #expect(found == [1, 1, 1, 1, 1, 1, 0])
  }

  @Test("the events are the cases of their declaration")
  func events() {
    #expect(Rule.events.isSuperset(of: ["libraryCreated", "assetsEdited", "historyShortened", "nothingChanged"]))
    #expect(Rule.events.count >= 17 && Rule.events.isDisjoint(with: ["edited", "trashed", "objectLimit"]))
  }

  @Test("a quote in a regular expression or a raw string begins no string, and two slashes there no comment")
  func literals() {
    let text = """
      let a = b.matches(of: #/"([^"\\\\]*/#), c = #/https?://d/#, e = "f"
      let g = "h", i = #\"""#
      let j = "k"
      """
    let code = """
      let a = b.matches(of: #/         /#), c = #/          /#, e = " "
      let g = " ", i = #" "#
      let j = " "
      """
    #expect(SwiftSource(path: "A.swift", contents: text).code.joined(separator: "\n") == code)
  }

  @Test("the counter of lines finds bodies, and skips requirements and closures")
  func counts() {
    let source = SwiftSource(
      path: "A.swift",
      contents: """
        protocol P { func a() }
        struct S {
          init(_ body: () -> Int = { 1 }) {
            // }
            let text = "}"
          }
          func b<T>(
            _ one: T
          ) where T: P {
            one.a()
          }
        }
        """)
    #expect(FunctionLength.all(in: source).map(\.count) == [4, 5])
  }
}
