import Foundation

// Rules about switches and comments that the compiler does not ask for.

extension Rule {
  /// Readers of events without a `default` are what makes the compiler report each place that a new event concerns.
  /// CONTRIBUTING.md names the two that have one (the forms of payloads, and a search for two kinds of event) and those
  /// that ask for one case without a switch.
  static let eventsNamed = Rule(
    "a switch over events names each of them",
    appliesTo: { $0.hasPrefix("Sources/") && !$0.hasSuffix("/Events/EventCoding.swift") },
    check: { source in
      source.codeLines(holding: "default:").filter { index in
        source.cases(above: index).contains(where: namesEvent) && source.function(around: index) != "isTrashed"
      }.map { Finding(source, $0, "stands for the events that the switch does not name") }
    })

  /// A text is not a case, so that the compiler does not report it at a new event either.
  static let typesNamed = Rule(
    "a reader that compares the type of an event with a text is listed",
    appliesTo: { $0.hasPrefix("Sources/") && !$0.hasPrefix("Sources/PhotoLedger/Events/") },
    check: { source in
      source.codeLines(holding: "case \"", ".type == \"", ".type != \"").filter { index in
        guard source.text[index].holds(".") else { return false }
        let compared = #/(?:\bcase |\.type [=!]= )"[a-z]+\.[a-z]+"/#
        guard source.text[index].firstMatch(of: compared) != nil else { return false }
        let file = source.path.split(separator: "/").last ?? ""
        let function = source.function(around: index) ?? ""
        return !readersOfOneType.contains("\(file) \(function)")
      }.map { line in
        Finding(
          source, line, "compares the type of an event with a text; ask the event, or list it in 'readersOfOneType'")
      }
    })

  /// The functions that look for events of one type, and what a new event would have to do to concern them.
  private static let readersOfOneType: Set<String> = [
    // Record or decide a client's request for permission.
    "AccessRequests.swift lastRequest",
    // Give a client an asset by picking.
    "AccessIntervals.swift pickers", "PhotoLibrary+PickedItems.swift given",
    // Give the members of a container other order keys in the same order.
    "Rekeyings.swift rekeyings",
    // Create a collection.
    "Rewind.swift someRow",
    // Create an asset with values that its files have.
    "SidecarWriting.swift fields",
  ]

  /// The cases of `Event`, as its declaration has them.
  static let events: Set<Substring> = {
    guard let source = PackageFiles.product.first(where: { $0.path == "Sources/PhotoLedger/Events/Event.swift" }),
      let begin = source.code.firstIndex(where: { $0.names(after: ["enum"]).first == "Event" })
    else { return [] }
    let body = source.code[begin...].prefix { $0 != "}" }
    let cases = body.filter { $0.hasPrefix("  case ") || $0.hasPrefix("  indirect case ") }
    return Set(cases.compactMap { $0.names(after: ["case"]).first })
  }()

  /// Whether a line has the pattern of an event.
  private static func namesEvent(_ line: String) -> Bool {
    line.codeWords.contains { $0.byteBefore == UInt8(ascii: ".") && events.contains($0) }
  }
}

extension SwiftSource {
  /// The lines that begin the cases above a line, in the same switch.
  fileprivate func cases(above line: Int) -> [String] {
    let margin = code[line].margin
    var found: [String] = []
    for other in code[..<line].reversed() {
      let indent = other.margin
      if indent > margin || indent == other.utf8.count { continue }
      guard indent == margin, other.dropFirst(margin).hasPrefix("case ") else { break }
      found.append(other)
    }
    return found
  }

  /// The name of the last function that is declared above a line.
  fileprivate func function(around line: Int) -> String? {
    code[..<line].last { $0.holds("func ") }?.names(after: ["func"]).first.map { String($0) }
  }
}

// MARK: - Unused

extension Rule {
  /// The compiler warns of values that are not used, and not of functions and properties. Tests are called by what
  /// runs them.
  static let privateUsed = Rule(
    "what is private to a file is used in it",
    appliesTo: { !$0.hasPrefix("Tests/") },
    check: { source in
      source.codeLines(holding: "private ").compactMap { index -> Finding? in
        let line = source.code[index]
        guard !line.holds("(set)"),
          let name = line.names(after: ["func", "var", "let"]).first, source.count(of: name) < 2
        else { return nil }
        return Finding(source, index, "'\(name)' is not used")
      }
    })
}

extension SwiftSource {
  /// How often a name occurs as a word of code.
  fileprivate func count(of name: Substring) -> Int {
    codeLines(holding: String(name)).map { line in code[line].codeWords.count { $0 == name } }.reduce(0, +)
  }
}

// MARK: - Parameters

extension Rule {
  /// A name that the declaration does not have is a label, or one that it had once.
  static let parametersNamed = Rule("each parameter of a comment is one of the declaration") { source in
    var findings: [Finding] = []
    var documented: [(name: Substring, line: Int)] = []
    var isInList = false
    var rest = source.textLines(holding: "/// - Parameter")[...]
    var next = 0
    while next < source.text.count {
      if documented.isEmpty, !isInList {
        // Only such a line begins anything.
        rest = rest.drop { $0 < next }
        guard let begin = rest.first else { break }
        next = begin
      }
      let index = next
      next += 1
      let line = source.text[index].bare
      if line.hasPrefix("///") {
        let isItem = line.hasPrefix("///   - ")
        if line.hasPrefix("/// - ") { isInList = line.hasPrefix("/// - Parameters:") }
        guard line.hasPrefix("/// - Parameter ") || isItem && isInList else { continue }
        let name = line.dropFirst(isItem ? 8 : 16).prefix { $0 != ":" }
        if !name.holds(" ") { documented.append((name, index)) }
        continue
      }
      isInList = false
      if documented.isEmpty || isBetween(line) { continue }
      let names = Set(source.parameters(from: index))
      for (name, place) in documented where !names.contains(name) {
        findings.append(Finding(source, place, "'\(name)' is no parameter of the declaration"))
      }
      documented = []
    }
    return findings
  }
}

extension Rule {
  /// Whether a line stands between documentation and its declaration: an attribute, a condition, another comment.
  private static func isBetween(_ line: Substring) -> Bool {
    if line.hasPrefix("//") || line.hasPrefix("#") { return true }
    return line.hasPrefix("@") && !["func ", "init", "subscript"].contains { line.holds($0) }
  }
}

extension SwiftSource {
  /// The words before a colon in a declaration, up to the end of its first parentheses.
  fileprivate func parameters(from line: Int) -> [Substring] {
    var (found, depth, hasBegun): ([Substring], Int, Bool) = ([], 0, false)
    for line in code[line...] {
      found += line.labels
      for byte in line.utf8 {
        if byte == UInt8(ascii: "(") { (depth, hasBegun) = (depth + 1, true) }
        if byte == UInt8(ascii: ")") { depth -= 1 }
      }
      if hasBegun, depth <= 0 { break }
    }
    return found
  }
}
