import Foundation
import Testing

// Every rule of PhotoKit's that the library answers to has a row in Rules.md, and the row names tests that show it.
//
//     | CD-04 | removed positions count in *before* | `ChangeDetailsRuleTests/coordinates` |
//         │                                              └── a function of that suite, in some test target,
//         └──────────────────────────────────────────────── whose @Test name has the rule in parentheses
//
// A range such as (CD-04 to CD-08) in a name stands for every rule between.

@Suite("The table of rules")
struct RuleTableTests {
  /// How many rules each family has; 129 in all. A rule that is found later is added here and to the table.
  static let families: KeyValuePairs<String, Int> = [
    "CD": 23, "FR": 19, "CB": 13, "AS": 16, "LP": 2, "BU": 3, "AL": 8, "FO": 5, "AU": 11, "PH": 10, "CI": 7, "OB": 5,
    "PK": 7,
  ]

  static let rules: [String] = families.flatMap { family, count in (1...count).map { RuleCitation.rule(family, $0) } }

  private static let path = "Sources/PhotoLedger/PhotoLedger.docc/Rules.md"

  private static let tests: [NamedTest] = PackageFiles.swift.filter { $0.path.hasPrefix("Tests/") }
    .flatMap(NamedTest.all)

  private func table() throws -> [RuleRow] { RuleRow.all(in: try #require(PackageFiles.contents(Self.path))) }

  @Test("there are 129 rules, and each has one row, in their order")
  func rows() throws {
    #expect(Self.rules.count == 129)
    #expect(try table().map(\.rule) == Self.rules)
  }

  @Test("a row names tests that exist and carry its rule")
  func named() throws {
    #expect(Self.tests.count > 300, "Only \(Self.tests.count) tests were found: the reader is blind.")
    let known = Dictionary(Self.tests.map { ($0.path, $0) }) { first, _ in first }
    for row in try table() {
      #expect(row.clause.count > 10, "\(row.rule) says nothing.")
      for name in row.tests {
        guard let test = known[name] else {
          Issue.record("\(row.rule) names \(name), which is no test.")
          continue
        }
        #expect(test.rules.contains(row.rule), "\(name) does not carry \(row.rule) in its name: \(test.name)")
      }
    }
  }

  @Test("a rule has a test")
  func shown() throws {
    for row in try table() { #expect(!row.tests.isEmpty, "\(row.rule) has no test.") }
  }

  @Test("no test cites a rule that does not exist")
  func cited() {
    let known = Set(Self.rules)
    for test in Self.tests {
      #expect(test.rules.subtracting(known).isEmpty, "\(test.path) cites \(test.rules.subtracting(known).sorted()).")
    }
  }

  @Test("each difference from Apple says what Apple does, what the library does, and by which rule or of which symbol")
  func differences() throws {
    let text = try #require(PackageFiles.contents(Self.path))
    let part = try #require(text.split(separator: "## Where this differs from Apple").dropFirst().first)
    let rows = part.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
    #expect(rows.count >= 20)
    for row in rows {
      let cells = RuleRow.cells(row)
      #expect(cells.count == 4 && cells.allSatisfy { !$0.isEmpty }, "\(row)")
      let cited = RuleCitation.rules(in: cells.first ?? "")
      #expect(cited.isSubset(of: Self.rules), "\(row)")
      #expect(!cited.isEmpty || cells.first?.hasPrefix("`") == true, "\(row)")
    }
  }

  @Test("the readers of tests and rows find all of them")
  func readers() {
    let source = SwiftSource(
      path: "A.swift",
      contents: """
        struct First {
          @Test("one line (AB-01, AB-03)") func one() {}
          @Test(
            "a name \\"quoted\\" (CD-04 to CD-06)",
            arguments: [("x", 1)])
          func two(name: String) {}
          @Test func nameless() {}
        }
        final class Second {
          @Test("none") @MainActor func three() async {}
        }
        """)
    let found = NamedTest.all(in: source)
    #expect(found.map(\.path) == ["First/one", "First/two", "Second/three"])
    #expect(found.map(\.rules) == [["AB-01", "AB-03"], ["CD-04", "CD-05", "CD-06"], []])
    let rows = RuleRow.all(in: "| rule | a | b |\n|---|---|---|\n| AB-01 | c | `D/e`, `F/g` |\n| AB-02 | h | – |")
    #expect(rows.map(\.rule) == ["AB-01", "AB-02"] && rows.map(\.tests) == [["D/e", "F/g"], []])
  }
}

/// Rules that a text cites.
enum RuleCitation {
  static func rule(_ family: some StringProtocol, _ number: Int) -> String {
    "\(family)-\(number < 10 ? "0" : "")\(number)"
  }

  /// The rules of a text, ranges such as `CD-04 to CD-08` filled in.
  static func rules(in text: String) -> Set<String> {
    // Compiling the expression takes long, and few names have a hyphen.
    guard text.holds("-") else { return [] }
    return Set(
      text.matches(of: #/\b([A-Z]{2})-([0-9]{2})(?: to [A-Z]{2}-([0-9]{2}))?/#).flatMap { match -> [String] in
        guard let first = Int(match.output.2), let last = Int(match.output.3 ?? match.output.2), first <= last else {
          return []
        }
        return (first...last).map { rule(match.output.1, $0) }
      })
  }
}

/// A test, by its suite and function, with the name that it shows.
struct NamedTest {
  let path: String
  let name: String
  let rules: Set<String>

  private init(path: String, name: String) {
    self.path = path
    self.name = name
    rules = RuleCitation.rules(in: name)
  }

  static func all(in source: SwiftSource) -> [NamedTest] {
    var found: [NamedTest] = []
    var suite = ""
    var attribute: [String]?
    // Compiled once for a file: that takes longer than to match a line.
    let type = #/^(?:[a-z]+ |@\w+(?:\([^)]*\))? )*(?:struct|class|enum|extension) (\w+)/#
    let (test, title) = (#/\bfunc (\w+)/#, #/@Test\(\s*"((?:[^"\\]|\\.)*)"/#)
    let tests = Set(source.codeLines(holding: "@Test"))
    if tests.isEmpty { return [] }
    let types = Set(source.codeLines(holding: "struct ", "class ", "enum ", "extension "))
    for (index, (text, code)) in zip(source.text, source.code).enumerated() {
      if types.contains(index), code.first?.isWhitespace == false, let match = code.firstMatch(of: type) {
        suite = String(match.output.1)
      }
      if tests.contains(index) { attribute = [] }
      guard attribute != nil else { continue }
      attribute?.append(text)
      guard code.holds("func "), let function = code.firstMatch(of: test) else { continue }
      if let name = (attribute ?? []).joined(separator: "\n").firstMatch(of: title) {
        found.append(NamedTest(path: "\(suite)/\(function.output.1)", name: String(name.output.1)))
      }
      attribute = nil
    }
    return found
  }
}

/// A row of the table.
struct RuleRow {
  var rule: String
  var clause: String
  var tests: [String]

  static func all(in article: String) -> [RuleRow] {
    let table = article.split(separator: "## Where this differs from Apple").first ?? ""
    return table.split(separator: "\n").compactMap { line in
      let cells = cells(line)
      guard cells.count == 3, cells[0].wholeMatch(of: #/[A-Z]{2}-[0-9]{2}/#) != nil else { return nil }
      return RuleRow(
        rule: cells[0], clause: cells[1], tests: cells[2].matches(of: #/`([^`]+)`/#).map { String($0.output.1) })
    }
  }

  /// The cells of a line, without their margins.
  static func cells(_ line: some StringProtocol) -> [String] {
    guard line.hasPrefix("|"), line.hasSuffix("|") else { return [] }
    return line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
      .map { $0.trimmingCharacters(in: .whitespaces) }
  }
}
