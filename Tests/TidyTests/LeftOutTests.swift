import Foundation
import Testing

// `.ci/run` runs the tests twice: all of them without the server, on a machine without the programs that render and
// unpack, and later some of them with both. A test that the first run leaves out has to be named by the filter of the
// second one:
//
//   @Suite(.enabled(if: SamplePhotos.canRender))      the suite           MediaImportTests.RendererTests/
//   @Test(.enabled(if: TakeoutImportTests.canUnpack))  the test           MediaImportTests.AppleEditTests/iCloud(
//   #if Gallery                                       what lies in it     CommandTests.ServerLogTests/order(
//
// A condition is a call of `areInstalled` that names a program which the first run lacks, or a variable that holds one.

/// The tests that the plain run of `.ci/run` leaves out.
struct LeftOut {
  /// What each machine of the plain run has.
  private static let programs: Set<String> = ["exiftool", "git", "gzip", "perl", "python3", "tar"]
  private let sources: [SwiftSource]
  /// The variables that say whether a program is there which the plain run lacks.
  private(set) var conditions: Set<String> = []
  /// The suites and tests that are left out, by the names that a filter is compared with.
  private var tests: [(source: SwiftSource, line: Int, name: String)] = []

  init(in sources: [SwiftSource]) {
    self.sources = sources
    var count = -1
    while count < conditions.count {
      count = conditions.count
      for source in sources {
        for index in conditionalLines(of: source) {
          let above = index > 0 && source.code[index - 1].hasSuffix("{") ? source.code[index - 1] : ""
          let names = [above, source.code[index]].flatMap { $0.names(after: ["let", "var"]) }
          conditions.formUnion(names.map(String.init))
        }
      }
    }
    for source in sources { tests += leftOut(of: source).map { (source: source, line: $0.line, name: $0.name) } }
  }

  /// The alternatives of the filter with which a script runs tests with the server.
  static func filter(of script: String) -> [String] {
    let programs = script.matches(of: #/\bwith_programs=['"](?:\$with_programs\|)?([^'"]*)['"]/#).map(\.output.1)
    let server = script.matches(of: #/--filter "([^"]*)\|\$with_programs"/#).map(\.output.1)
    return (programs + server).flatMap { $0.split(separator: "|") }.map(String.init)
  }

  /// The suites and tests that a filter does not name.
  func missing(in filter: [String]) -> [Finding] {
    tests.filter { test in !filter.contains { test.name.holds($0) } }.map { test in
      Finding(test.source, test.line, "declares \(test.name), which .ci/run never runs")
    }
  }

  private func conditionalLines(of source: SwiftSource) -> [Int] {
    source.textBytes.lines(holding: ["areInstalled("] + conditions).filter { isConditional(source.text[$0]) }
  }

  private func isConditional(_ text: String) -> Bool {
    if text.holds("areInstalled(") {
      for call in text.matches(of: #/areInstalled\(([^)]*)\)/#) {
        let programs = call.output.1.matches(of: #/"([^"]+)"/#).map { String($0.output.1) }
        if !Self.programs.isSuperset(of: programs) { return true }
      }
    }
    return conditions.contains { text.holds($0) } && text.codeWords.contains { conditions.contains(String($0)) }
  }

  private static let typeKeywords: Set<Substring> = ["struct", "class", "enum", "extension", "actor"]

  /// The suites and tests of a file that are left out, by the names that a filter is compared with, and their lines.
  private func leftOut(of source: SwiftSource) -> [(line: Int, name: String)] {
    guard !source.textLines(holding: "#if Gallery").isEmpty || !conditionalLines(of: source).isEmpty else { return [] }
    let target = source.path.split(separator: "/")[1]
    var found: [(line: Int, name: String)] = []
    /// Whether each branch of the compiler's conditions that the line lies in is that of the server.
    var branches: [Bool] = []
    var types: [(indent: Int, name: String)] = []
    var test: (indent: Int, name: String)?
    /// The attribute of a suite or test whose declaration follows.
    var attribute: String?
    for (index, line) in source.code.enumerated() {
      let indent = line.margin
      let code = line.bare
      let words = source.words[index]
      if code.hasPrefix("#if") {
        branches.append(code == "#if Gallery")
        if code == "#if Gallery", let test, test.indent < indent { found.append((index, test.name)) }
      } else if code.hasPrefix("#else"), !branches.isEmpty {
        branches[branches.count - 1] = false
      } else if code.hasPrefix("#endif") {
        _ = branches.popLast()
      }
      if code.hasPrefix("@Test") || code.hasPrefix("@Suite") { attribute = "" }
      if let text = attribute { attribute = text + source.text[index] + "\n" }
      if code.hasPrefix("}") { types.removeAll { $0.indent >= indent } }
      let type = words.names(after: Self.typeKeywords).first
      guard let name = type ?? words.names(after: ["func"]).first else { continue }
      types.removeAll { $0.indent >= indent }
      if let last = test, last.indent >= indent { test = nil }
      if type != nil { types.append((indent, String(name))) }
      let path = types.map(\.name).joined(separator: "/")
      let whole = "\(target).\(path)/" + (type == nil ? "\(name)(" : "")
      guard let text = attribute else { continue }
      attribute = nil
      if type == nil { test = (indent, whole) }
      if branches.contains(true) || isConditional(text) { found.append((index, whole)) }
    }
    return found
  }
}

@Suite("The tests of .ci/run")
struct LeftOutTests {
  @Test("what the plain run leaves out for want of the server or of a program is named by the filter of the other run")
  func named() throws {
    let filter = LeftOut.filter(of: try #require(PackageFiles.contents(".ci/run")))
    #expect(filter.count > 15 && filter.contains("GalleryServerTests") && filter.contains("RendererTests"))
    // Each is a name or the beginning of one, compared here without a regular expression.
    #expect(filter.allSatisfy { $0.wholeMatch(of: #/[A-Za-z/]+/#) != nil }, "\(filter)")
    let tests = LeftOut(in: PackageFiles.swift.filter { $0.path.hasPrefix("Tests/") })
    #expect(tests.conditions.isSuperset(of: ["canRender", "canUnpack", "isPossible"]), "\(tests.conditions)")
    let findings = tests.missing(in: filter)
    #expect(findings.isEmpty, "\(findings.map(\.description).joined(separator: "\n"))")
    #expect(tests.missing(in: []).count > 300, "The rule is blind.")
  }

  @Test("a suite or test that only the other run has is found, and no other")
  func finds() {
    let source = SwiftSource(
      path: "Tests/ATests/A.swift",
      contents: """
        static var canDraw: Bool {
          folder != nil && areInstalled("exiftool", "vips")
        }
        @Suite("One", .enabled(if: canDraw))
        struct One {
          @Test("a") func a() {}
        }
        struct Two {
          @Test("b", .enabled(if: areInstalled("exiftool")))
          func b() {
            c()
          }
          @Test(
            "d",
            .enabled(if: canDraw))
          func d() {}
          @Test("e")
          func e() {
            #if Gallery
              f()
            #endif
          }
        }
        #if Gallery
          extension Two {
            @Test("g") func g() {}
          }
        #else
          struct Three { @Test("h") func h() {} }
        #endif
        """)
    let tests = LeftOut(in: [source])
    let names = ["One/", "Two/d(", "Two/e(", "Two/g("].map { "declares ATests.\($0), which .ci/run never runs" }
    #expect(tests.missing(in: []).map(\.what) == names)
    #expect(tests.missing(in: ["One", "Two/d", "Two/g"]).map(\.line) == [19])
    let script = "with_programs='A|B'\nwith_programs=\"$with_programs|C/d\"\nrun --filter \"E|$with_programs\""
    #expect(LeftOut.filter(of: script) == ["A", "B", "C/d", "E"])
  }
}
