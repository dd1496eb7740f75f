import Foundation
import LibraryJSON
import TestSupport
import Testing

@testable import PhotoLedgerCommand

@Suite("Usage")
struct UsageTests {
  @Test(
    "a wrong command line ends with status 2 and a sentence",
    arguments: [
      (["lss"], "did you mean ls?"),
      (["ls", "--limt", "3"], "did you mean --limit?"),
      (["ls", "--limit", "three"], "got 'three'"),
      (["ls", "--limit", "0"], "above 0"),
      (["diff", "1", "now", "--collections", "--limit", "0"], "above 0"),
      (["ls", "--limit"], "needs a value"),
      (["ls", "--json=yes"], "takes no value"),
      (["ls", "extra"], "too many operands, from 'extra' on"),
      (["album"], "needs one more word"),
      (["album", "crate", "x"], "did you mean album create?"),
      (["favorite"], "needs ID…"),
      (["album", "insert", "A", "B"], "needs --at"),
      (["album", "move", "A", "--at", "1,x", "--to", "0"], "got 'x'"),
      (["edit", "A"], "needs --date or --location"),
      (["edit", "A", "--date", "yesterday"], "got 'yesterday'"),
      (["edit", "A", "--location", "1"], "got '1'"),
      (["edit", "A", "--location", "91,0"], "--location needs a number from -90.0 to 90.0 as latitude; got '91,0'"),
      (["edit", "A", "--location", "0,-181"], "as longitude"), (["edit", "A", "--location", "0,0,nan"], "as altitude"),
      (["album", "move", "A", "--at", "0,0", "--to", "1"], "--at needs each number once; got '0,0'"),
      (["shift", "A"], "needs --by"), (["shift", "A", "--by", "1h"], "got '1h'"),
      (["shift", "A", "--by", "+01:75"], "got '+01:75'"), (["shift", "A", "--by", "-0"], "got '-0'"),
      (["shift", "--by", "-01:00", "--hidden"], "an option that chooses assets"),
      (["shift", "A", "--by", "60", "--album", "B"], "not both"),
      (["shift", "A", "--by", "60", "--from", "2024-05-31T18:30:00Z"], "a wall time or a day"),
      (["shift", "A", "--by", "60", "--from", "2024-05-31", "--until", "2024-05-30"], "--from is after --until"),
      (["metadata", "read", "A", "--album", "B"], "not both"),
      (["metadata", "read", "--jobs", "0"], "from 1 to 256"),
      (["duplicates", "--distance", "9"], "from 0 to 8; got 9"), (["duplicates", "merge", "A"], "needs OTHER…"),
      (["ls", "--where", "fnord == 1"], "Unknown key 'fnord'"),
      (["watch", "--where", "isFavorite ="], "column"),
      (["ls", "--sort", "fnord"], "Unknown key 'fnord'"),
      (["ls", "--sort", "creationDate:down"], "KEY:desc"),
      (["stat", "--as"], "needs a value"),
      (["init", "--as", "x"], "has no option --as"),
      (["ls", "--as", String(repeating: "x", count: 257)], "1 to 256 bytes"),
      (["ls", "--source", "user,mars"], "got 'mars'"),
      (["ls", "--smart-album", "favorits"], "did you mean favorites?"),
      (["watch", "--album", "A", "--smart-album", "favorites"], "pass one of them"),
      (["rate", "A", "--stars", "6"], "got '6'"),
      (["rate", "A"], "needs --stars"),
      (["caption", "A"], "needs TEXT"),
      (["caption", "A", "00000000-0000-4000-8000-000000000000"], "needs TEXT"),
      (["keyword", "put", "w", "A"], "There is no command 'keyword put'"),
      (["keyword", "add", "", "A"], "WORD needs a keyword; '' is blank"),
      (["keyword", "add", " ", "A"], "WORD needs a keyword; ' ' is blank"),
      (["keyword", "remove", "", "A"], "WORD needs a keyword; '' is blank"),
      (["import", ".", "--keyword", "sea", "--keyword", ""], "--keyword needs a keyword; '' is blank"),
      (["import", "takeout", ".", "--partner-shared", "keyword: "], "--partner-shared keyword:WORD needs a keyword"),
      (["smart-album", "create", "A", "--where", "fnord == 1"], "Unknown key 'fnord'"),
      (["edit", "commit", "A", "--format", "f"], "needs --format-version"),
      (
        ["edit", "commit", "A", "--format", "f", "--format-version", "1", "--adjustment", "a", "--rendered", "b"]
          + ["--base", "draft"], "got 'draft'"
      ),
      (
        [
          "edit", "commit", "A", "--format", "f", "--format-version", "1", "--adjustment", "a", "--rendered", "b",
          "--width", "3000000000",
        ], "--width needs a number of pixels from 0 to 2147483647; got '3000000000'"
      ),
      (
        [
          "edit", "commit", "A", "--format", "f", "--format-version", "1", "--adjustment", "a", "--rendered", "b",
          "--duration", "2e9",
        ], "--duration needs a number of seconds from 0.0 to 1000000000.0; got '2e9'"
      ),
      (["edit", "revert", "A", "--to", "jpeg"], "got 'jpeg'"),
      (["client", "authorize", "a", "--level", "all"], "got 'all'"),
      (["client", "request"], "needs --as CLIENT"),
      (["client", "grant", "a"], "needs ASSET…"),
      (["history", "--limit", "0"], "above 0"), (["restore-backup", "A"], "needs --to DIR"),
      (["backup", "A", "--resources", "some"], "got 'some'"), (["import-log"], "either --to DIR or --append"),
      (["import-log", "--to", "A", "--append"], "either --to DIR or --append"), (["erase"], "needs ASSET…"),
    ])
  func wrongUsage(words: [String], sentence: String) throws {
    let result = try Sandbox(makesLibrary: false).run(words)
    #expect(result.status == 2)
    #expect(result.errors.contains(sentence), "\(result.errors)")
    #expect(result.output.isEmpty)
  }

  @Test("--version names the version of the changelog's newest section")
  func version() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let changelog = try String(contentsOf: root.appending(path: "CHANGELOG.md"), encoding: .utf8)
    let section = changelog.split(separator: "\n").drop { !$0.hasPrefix("## ") }
    let heading = try #require(section.first)
    // What is not released yet names its version in the sentence below the heading.
    let isReleased = heading != "## [Unreleased]"
    let line = isReleased ? heading : section.dropFirst().first ?? ""
    let number = PhotoLedgerCommand.Program.version
    #expect(line.hasPrefix(isReleased ? "## [\(number)] - " : "This will be version \(number),"), "\(line)")
    let result = try Sandbox(makesLibrary: false).run(["--version"])
    #expect(result.output.hasPrefix("photoledger \(PhotoLedgerCommand.Program.version), with"))
  }

  @Test("a closed reader ends a command quietly, however much it would have printed")
  func closedOutput() throws {
    let copy = try LibraryCopy.of400.get()
    let (sandbox, assets) = (try Sandbox(copy), copy.assets)
    let fork = sandbox.folder.appending(path: "fork").path
    #expect(try sandbox.run(["fork", fork]).status == 0)
    #expect(try sandbox.run(["favorite", "--library", fork] + assets).status == 0)
    for words in [
      ["export"], ["log", "--json"], ["ls", "--json"], ["history", "--json"],
      ["compare", sandbox.library, "--library", fork, "--json"],
    ] {
      let running = try Running(sandbox, words, closesOutput: true)
      running.endInput()
      #expect(running.child.end() == .status(0), "\(words)")
      #expect(try running.complaint() == "", "\(words)")
    }
  }

  @Test("the options of every command may stand before it")
  func leadingOptions() throws {
    let sandbox = try Sandbox(makesLibrary: false)
    let other = sandbox.folder.appending(path: "other").path
    #expect(try sandbox.run(["--library", other, "init"]).status == 0)
    #expect(try sandbox.run(["--json", "--library=\(other)", "stat"]).objects().first?["eventCount"] as? Int == 1)
    #expect(try sandbox.run(["--library", other, "client", "authorize", "com.example.app"]).status == 0)
    #expect(try sandbox.run(["--library", other, "--as", "com.example.app", "album", "create", "Sea"]).status == 0)
    let last = try #require(try sandbox.run(["log", "--library", other, "--json"]).objects().last)
    #expect(last["client"] as? String == "com.example.app")
    #expect(try sandbox.run(["--limit", "3", "ls"]).errors.contains("stands before the command"))
    #expect(try sandbox.run(["--library"]).errors.contains("needs a value"))
  }

  @Test("every command has a help that shows its operands, options and an example within 80 columns")
  func helps() throws {
    let sandbox = try Sandbox(makesLibrary: false)
    let overview = try sandbox.run(["--help"])
    #expect(overview.status == 0)
    for command in Commands.all where !command.isInternal {
      let help = try sandbox.run(command.words + ["--help"])
      #expect(help.status == 0)
      #expect(overview.output.contains("  \(command.name)"), "\(command.name) is not in the overview")
      for option in command.options { #expect(help.output.contains(option.spelling)) }
      for field in command.fields { #expect(help.lines.contains { $0.hasPrefix("  \(field.name) ") }, "\(field.name)") }
      #expect(help.output.contains("photoledger \(command.example)"))
      for line in help.lines where !line.contains("photoledger ") {
        #expect(TextLayout.width(line) <= 80, "too wide: \(line)")
      }
    }
    #expect(Commands.all.filter { !$0.fields.isEmpty }.map(\.name) == ["export-files"])
  }

  @Test("the help of an option names no option that its command lacks")
  func optionsOfHelps() {
    for command in Commands.all {
      let names = Set(command.options.map(\.name))
      for option in command.options {
        for name in option.help.matches(of: #/--([a-z][a-z-]*)/#).map({ String($0.output.1) }) {
          #expect(names.contains(name), "\(command.name): --\(option.name) names --\(name)")
        }
      }
    }
  }

  @Test("an option that selects assets does not say that they are shown, as many commands show nothing")
  func choosingOptions() {
    let names = Set(FetchArguments.options.map(\.name))
    for command in Commands.all {
      for option in command.options where names.contains(option.name) {
        #expect(!option.help.contains("show"), "\(command.name): --\(option.name): \(option.help)")
      }
    }
  }

  @Test("a usage line shows in brackets exactly what may be left out")
  func usageLines() throws {
    let sandbox = try Sandbox(makesLibrary: false)
    // A build without the server refuses each line of `serve`.
    for command in Commands.all where !command.isInternal && command.name != "serve" {
      let words = Help.usage(of: command).split(separator: " ").filter { !$0.hasPrefix("[") }.map(String.init)
      let alternatives = words.drop { !$0.hasPrefix("(") }.filter { $0.contains("--") }
      let shown = Set(words.filter { $0.contains("--") }.map(optionName))
      // Without a library a command fails with status 1, and with 2 if it refuses its line.
      let shortest = exampleWords(of: command) { shown.contains($0) }
      #expect(try sandbox.run(shortest).status != 2, "\(shortest)")
      let either = Set(alternatives.map(optionName))
      for name in shown.subtracting(either) {
        let lacking = exampleWords(of: command) { shown.contains($0) && $0 != name }
        #expect(try sandbox.run(lacking).status == 2, "\(lacking)")
      }
      for option in command.options where shown.contains(option.name) {
        #expect(Help.usage(of: command).contains(option.spelling), "\(command.name) \(option.name)")
      }
      #expect(shown.isSubset(of: command.options.map(\.name)), "\(command.name)")
      let bare = exampleWords(of: command) { shown.contains($0) && !either.contains($0) }
      if bare != shortest { #expect(try sandbox.run(bare).status == 2, "\(bare)") }
    }
  }

  /// The name of the option that a word of a usage line spells.
  private func optionName(_ word: String) -> String {
    word.trimmingCharacters(in: CharacterSet(charactersIn: "(-)…"))
  }

  /// The words of a command's example, without the options that are not kept, and without what is the shell's.
  private func exampleWords(of command: Command, keeping isKept: (String) -> Bool) -> [String] {
    var rest = command.example.matches(of: #/'([^']*)'|"([^"]*)"|\S+/#)
      .map { String($0.output.1 ?? $0.output.2 ?? $0.output.0) }
      .prefix { $0 != ">" && $0 != "<<<" }
    var words: [String] = []
    while let word = rest.popFirst() {
      guard word.hasPrefix("--") else {
        words.append(word)
        continue
      }
      let name = String(word.dropFirst(2))
      let takesValue = command.options.contains { $0.name == name && $0.placeholder != nil }
      let value = takesValue ? rest.popFirst().map { [$0] } ?? [] : []
      if isKept(name) { words += [word] + value }
    }
    return words
  }

  @Test("every command that opens a library can run as a client")
  func asClient() {
    // A request to the server acts as the client of its key.
    let asOwner = ["demo", "init", "prove check", "restore-backup", "serve"]
    for command in Commands.all where !asOwner.contains(command.name) {
      let names = Set(command.options.map(\.name))
      #expect(names.isSuperset(of: ["library", "as"]), "\(command.name)")
    }
  }

  @Test("the nearest word is suggested, and none for a word that is far from all others")
  func suggestions() {
    #expect(Suggestion.nearest(to: "wacth", among: ["watch", "stat", "trash"]) == "watch")
    #expect(Suggestion.nearest(to: "al", among: ["albums", "apply"]) == "albums")
    #expect(Suggestion.nearest(to: "zzzzzz", among: ["watch", "stat"]) == nil)
    #expect(Suggestion.distance("ab", "ba") == 1)
    #expect(Suggestion.distance("", "abc") == 3)
  }
}
