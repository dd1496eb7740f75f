import Foundation
import Testing

// Comments and pages use the terms of the field. Whether prose reads well is not for a test to decide; a few turns of
// phrase are always a detour, and the list below has a plain form for each.
//
// The list holds only turns without a good use. A turn whose last word wraps to the next line is found as well: a line
// is read with the first word of the one below. The rule covers comments in Swift, JavaScript and C, those of tests
// included, pages, the names of tests and suites in Swift and JavaScript, the literals of the sources, which are error
// messages and help, and the benchmarks as a whole, whose texts are printed. Other strings of tests are data, or are
// compared with what the program says.
//
// "somebody", "anybody" and "is no more" are not in the list: of a person the first two are right, as in "a screen that
// somebody left open", and the last begins "is no more than". Rejected: a spelling checker or a grammar, which judge
// far more than they know.
//
// Denials whose words have a good use as well are judged by `Denials`, in comments and pages only.

/// Turns of phrase that the project does not use.
enum Prose {
  /// The turns, in lower case, and what to write instead.
  static let turns: KeyValuePairs<String, String> = [
    "whoever": "the caller, the reader", "nobody": "no client, no process", "is told": "receives, gets",
    "are told": "receive, get", "was told": "received, got", "were told": "received, got", "be told": "receive, get",
    "carry out": "execute, apply", "carries out": "executes, applies", "carried out": "executed, applied",
    "carrying out": "executing, applying", "sees everything": "has full access",
    "brought up": "migrated, upcast", "taken back": "undone, reverted", "takes back": "undoes, reverts",
    "makes sense": "is valid", "makes no sense": "is invalid", "refused:": "Rejected:",
    "heard of": "registered, received", "came into being": "was created", "not to be had": "not available",
  ]

  /// The lines that hold a turn, with its name.
  static func findings(in lines: [String]) -> [(line: Int, what: String)] {
    let lower = lines.map { $0.lowercased() }
    let bytes = LinedBytes(lines: lower)
    var found: [(line: Int, turn: Int, what: String)] = []
    for (place, (turn, instead)) in turns.enumerated() {
      // The words of a turn before the last one may end the line.
      let head = turn.split(separator: " ").dropLast().joined(separator: " ")
      for line in bytes.lines(holding: head.isEmpty ? [turn] : [turn, head + "\n"]) {
        let text = head.isEmpty ? lower[line] : lower[line] + " " + firstWord(ofLine: line + 1, in: lower)
        if contains(turn, text) { found.append((line, place, "says '\(turn)'; write: \(instead)")) }
      }
    }
    return found.sorted { ($0.line, $0.turn) < ($1.line, $1.turn) }.map { ($0.line, $0.what) }
  }

  /// The first word of a line, without the marks of a comment before it; nothing where there is none.
  private static func firstWord(ofLine line: Int, in lines: [String]) -> String {
    func isBetween(_ character: Character) -> Bool { character.isWhitespace || "/*".contains(character) }
    return line < lines.count ? String(lines[line].drop { isBetween($0) }.prefix { !isBetween($0) }) : ""
  }

  /// Whether a text holds a turn as whole words.
  private static func contains(_ turn: String, _ text: String) -> Bool {
    var rest = text[...]
    while let found = rest.range(of: turn) {
      let before = found.lowerBound == text.startIndex ? nil : text[text.index(before: found.lowerBound)]
      let after = found.upperBound == text.endIndex ? nil : text[found.upperBound]
      if before?.isLetter != true, after?.isLetter != true { return true }
      rest = text[found.upperBound...]
    }
    return false
  }

  /// The pages: the catalog, and what lies beside the sources. Code blocks are left out.
  static let pages: [String] = PackageFiles.paths.filter { path in
    path.hasSuffix(".md")
      && (!path.contains("/")
        || [".github", "Benchmarks", "Migrations", "Sources"].contains(
          String(path.prefix { $0 != "/" })))
  }

  /// The lines of a file in Swift that are comments; other lines are emptied, also those with a comment behind code.
  static func comments(of source: SwiftSource) -> [String] {
    var comments = [String](repeating: "", count: source.text.count)
    for line in source.textLines(holding: "//") {
      let bare = source.text[line].bare
      if bare.hasPrefix("//") { comments[line] = String(bare) }
    }
    return comments
  }

  /// The comments of a file in Swift and the texts of its literals, line by line, with one space between words; code is
  /// left out, that of interpolations as well.
  static func sentences(of source: SwiftSource) -> [String] {
    source.text.indices.map { line in
      source.textBytes.withLine(line) { text in source.codeBytes.withLine(line) { sentence(text, code: $0) } }
    }
  }

  /// What the rules blank out of a line is a comment or the text of a literal, byte by byte.
  private static func sentence(_ text: UnsafeBufferPointer<UInt8>, code: UnsafeBufferPointer<UInt8>) -> String {
    let count = text.count
    guard let text = text.baseAddress, let code = code.baseAddress, memcmp(text, code, count) != 0 else { return "" }
    let space = UInt8(ascii: " ")
    return String(unsafeUninitializedCapacity: count) { output in
      guard let prose = output.baseAddress else { return 0 }
      var (place, length, isBehindSpace) = (0, 0, false)
      while place < count {
        let isProse = code[place] == space && text[place] != space
        if isProse {
          if isBehindSpace, length > 0 {
            prose[length] = space
            length += 1
          }
          prose[length] = text[place]
          length += 1
        }
        isBehindSpace = !isProse
        place += 1
      }
      // The backslash that continues a line of a literal.
      if length > 0, prose[length - 1] == UInt8(ascii: "\\"), length == 1 || prose[length - 2] == space {
        length = max(length - 2, 0)
      }
      return length
    }
  }

  /// The files in JavaScript and C.
  static let scripts: [String] = PackageFiles.paths.filter { path in
    [".js", ".mjs", ".c", ".h"].contains { path.hasSuffix($0) }
  }

  /// The lines of such a file that are comments; other lines are emptied, also those with a comment behind code.
  static func comments(ofScript contents: String) -> [String] {
    var isOpen = false
    return LinedBytes(contents).lines.map { line in
      let bare = line.bare
      let isBlock = isOpen || bare.hasPrefix("/*")
      guard isBlock || bare.hasPrefix("//") else { return "" }
      isOpen = isBlock && !bare.holds("*/")
      return String(bare)
    }
  }

  /// The names of a script's tests, each in its line; other lines are emptied.
  static func names(ofScript contents: String) -> [String] {
    let pattern = #/^test\((?:'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`)/#
    return LinedBytes(contents).lines.map { line in
      guard line.holds("test(") else { return "" }
      let bare = line.bare
      guard bare.hasPrefix("test("), let match = bare.firstMatch(of: pattern) else { return "" }
      return String(match.output.1 ?? match.output.2 ?? "")
    }
  }

  /// What a line of the API's description says to readers: its summaries and descriptions.
  static func descriptions(inLine line: some StringProtocol) -> String {
    guard line.holds("summary\": \"") || line.holds("description\": \"") else { return "" }
    return String(line).matches(of: #/"(?:summary|description)": "((?:[^"\\]|\\.)*)"/#)
      .map { String($0.output.1) }.joined(separator: " ")
  }

  /// The names of a file's tests and suites, each in its line; other lines are emptied.
  static func names(ofTests source: SwiftSource) -> [String] {
    var names = [String](repeating: "", count: source.text.count)
    let pattern = #/@(?:Test|Suite)\(\s*"((?:[^"\\]|\\.)*)"/#
    for index in source.codeLines(holding: "@Test(", "@Suite(") {
      // The name stands behind the parenthesis, or on the line below.
      let line = source.code[index].hasSuffix("(") ? index + 1 : index
      guard line < source.text.count else { continue }
      let text = source.text[index...line].joined(separator: "\n")
      if let match = text.firstMatch(of: pattern) { names[line] = String(match.output.1) }
    }
    return names
  }

  /// The lines of a page, those of code blocks emptied.
  static func lines(ofPage contents: String) -> [String] {
    var isCode = false
    return LinedBytes(contents).lines.map { line in
      let isFence = line.bare.hasPrefix("```")
      if isFence { isCode.toggle() }
      return isCode || isFence ? "" : line
    }
  }
}

extension Rule {
  static let prose = Rule(
    "comments, literals of sources, benchmarks and the names of tests use the terms of the field",
    check: { source in
      let comments = Prose.comments(of: source)
      let lines: [String]
      switch source.path.prefix(while: { $0 != "/" }) {
      case "Tests":
        // A line is a comment or holds a name, so that one of both is empty.
        lines = zip(comments, Prose.names(ofTests: source)).map { $0 + $1 }
      case "Benchmarks": lines = source.text
      default: lines = Prose.sentences(of: source)
      }
      let found = Prose.findings(in: lines) + Denials.findings(in: comments)
      return found.map { Finding(source, $0.line, $0.what) }
    })
}

/// The pages are held to the same terms.
@Suite("Prose")
struct ProseTests {
  @Test("a page uses the terms of the field", arguments: Prose.pages)
  func page(_ path: String) throws {
    let contents = try #require(PackageFiles.contents(path))
    let lines = Prose.lines(ofPage: contents)
    let found = (Prose.findings(in: lines) + Denials.findings(in: lines))
      .map { "\(path):\($0.line + 1): \($0.what)" }
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
  }

  @Test("a comment in JavaScript or C, or a test's name there, uses the terms of the field", arguments: Prose.scripts)
  func script(_ path: String) throws {
    let contents = try #require(PackageFiles.contents(path))
    let comments = Prose.comments(ofScript: contents)
    let lines = zip(comments, Prose.names(ofScript: contents)).map { $0 + $1 }
    let found = (Prose.findings(in: lines) + Denials.findings(in: comments))
      .map { "\(path):\($0.line + 1): \($0.what)" }
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
  }

  @Test("the scripts were found, and their code is left out")
  func scripts() {
    #expect(Prose.scripts.contains("Sources/GalleryServer/Page/views/app.js"))
    #expect(Prose.scripts.contains("Sources/CSystem/guard.c"))
    let text = "let nobody;\n// It is\n// told.\n/**\n * Said to\n * nobody, as it was\n * told. */\nnobody();\n/* A */"
    #expect(Prose.findings(in: Prose.comments(ofScript: text)).map(\.line) == [1, 5, 5])
  }

  @Test("the names of a script's tests were found, and their code is left out")
  func namesOfScripts() throws {
    let contents = try #require(PackageFiles.contents("Tests/PageTests/views.test.mjs"))
    #expect(Prose.names(ofScript: contents).count { !$0.isEmpty } > 20)
    let text = "test('a \\'reader\\' is told', () => say('nobody'));\n  test(`nobody (${a})`, b);\nc.test('nobody');"
    #expect(Prose.names(ofScript: text) == ["a \\'reader\\' is told", "nobody (${a})", ""])
    #expect(Prose.findings(in: Prose.names(ofScript: text)).map(\.line) == [0, 1])
  }

  @Test("the API's description uses the terms of the field")
  func descriptions() throws {
    let path = "Sources/GalleryServer/Service/openapi.json"
    let contents = try #require(PackageFiles.contents(path))
    let lines = LinedBytes(contents).lines.map { Prose.descriptions(inLine: $0) }
    #expect(lines.count { !$0.isEmpty } > 100)
    let found = Prose.findings(in: lines).map { "\(path):\($0.line + 1): \($0.what)" }
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    let line = #"{"summary": "a \"b\"", "enum": ["nobody"], "description": "c"}"#
    #expect(Prose.descriptions(inLine: line) == #"a \"b\" c"#)
  }

  @Test("the names of tests and suites were found")
  func names() {
    let tests = PackageFiles.swift.filter { $0.path.hasPrefix("Tests/") }
    #expect(tests.flatMap { Prose.names(ofTests: $0) }.count { !$0.isEmpty } > 2000)
  }

  @Test("the pages were found, and a page's code is left out")
  func pages() {
    #expect(Prose.pages.contains("README.md") && Prose.pages.count > 25)
    let lines = Prose.lines(ofPage: "It is\ntold.\n```\nnobody\n```\nNobody")
    #expect(Prose.findings(in: lines).map(\.line) == [0, 5])
  }
}
