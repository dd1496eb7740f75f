import Foundation
import LibraryJSON
import PhotoLedger

/// The program: finds the command, runs it, and turns what went wrong into a sentence and an exit status.
enum Program {
  /// The version, as the changelog's newest section names it.
  static let version = "0.1.0"

  /// The arguments of the process without the program's own name; nil for one that is not UTF-8.
  ///
  /// `CommandLine.arguments` replaces such bytes, and the path that it makes of them names another file.
  static var arguments: [String?] {
    (1..<max(1, Int(CommandLine.argc))).map { index in
      CommandLine.unsafeArgv[index].flatMap { String(validatingCString: UnsafePointer($0)) }
    }
  }

  /// Runs a command line without the program's own name.
  /// - Parameter arguments: what the command line has, nil for what is not UTF-8.
  /// - Returns: the exit status.
  static func run(_ arguments: [String?]) -> Int32 {
    StandardDescriptors.replaceClosed()
    // A reader that goes away is a write that fails, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    let output = Output(descriptor: STDOUT_FILENO)
    let words = arguments.compactMap { $0 }
    do {
      if let index = arguments.firstIndex(where: { $0 == nil }) {
        throw UsageError(
          "Argument \(index + 1) is not UTF-8; rename the file that it names, or pass a folder above it.")
      }
      return try output.finish(with: try dispatch(words, output)) { try output.flush() }.rawValue
    } catch is OutputClosed {
      // A command that prints what there is until its reader has seen enough, and so has no other status.
      return ExitStatus.done.rawValue
    } catch {
      return report(error, words, output).rawValue
    }
  }

  private static func dispatch(_ line: [String], _ output: Output) throws -> ExitStatus {
    let (leading, words) = try splitLeadingOptions(line)
    if words.isEmpty {
      Output.complain(Help.program(Commands.all))
      return .usage
    }
    if ["help", "--help", "-h"].contains(words[0]), words.count == 1 || words[0] != "help" {
      try output.write(Help.program(Commands.all))
      return .done
    }
    if words == ["--version"] {
      #if Gallery
        try output.line("photoledger \(version), with the server")
      #else
        try output.line("photoledger \(version), without the server")
      #endif
      return .done
    }
    if words[0] == "help" { return try dispatch(Array(words.dropFirst()) + ["--help"], output) }
    let command = try find(words)
    let rest = leading + words.dropFirst(command.words.count)
    if rest.prefix(while: { $0 != "--" }).contains("--help") {
      try output.write(Help.command(command))
      return .done
    }
    do {
      let invocation = try Invocation(command, rest, output: output)
      invocation.guardAgainstFaults()
      return try command.run(invocation)
    } catch let error as UsageError {
      Output.notice(shortened("\(error)", line))
      Output.complain("See `photoledger \(command.isInternal ? "" : command.name + " ")--help`.\n")
      return .usage
    }
  }

  /// Separates the options that stand before the command, as `photoledger --library PATH ls` has it.
  private static func splitLeadingOptions(_ words: [String]) throws -> (options: [String], words: [String]) {
    var rest = words[...]
    var options: [String] = []
    while let word = rest.first, word.hasPrefix("--"), word != "--help", word != "--version" {
      let name = word.dropFirst(2).prefix { $0 != "=" }
      guard let option = [Option.library, .client, .json].first(where: { $0.name == name }) else {
        throw UsageError("The option \(word) stands before the command; write it after.")
      }
      let count = option.placeholder == nil || word.contains("=") ? 1 : 2
      guard rest.count >= count else { throw UsageError("\(word) needs a value: \(option.spelling).") }
      options += rest.prefix(count)
      rest = rest.dropFirst(count)
    }
    return (options, Array(rest))
  }

  private static func find(_ words: [String]) throws -> Command {
    let fits = Commands.all.filter { words.starts(with: $0.words) }
    if let command = fits.max(by: { $0.words.count < $1.words.count }) { return command }
    let siblings = Commands.all.filter { $0.words.count == 2 && $0.words[0] == words[0] }.map { $0.words[1] }
    guard !siblings.isEmpty else {
      let names = Commands.all.filter { !$0.isInternal }.map { $0.words[0] }
      throw UsageError("There is no command '\(words[0])'\(Suggestion.sentence(for: words[0], among: names))")
    }
    guard words.count > 1, !words[1].hasPrefix("--") else {
      throw UsageError("'\(words[0])' needs one more word: \(siblings.joined(separator: ", ")).")
    }
    let suggestion = Suggestion.sentence(for: words[1], among: siblings, prefix: "\(words[0]) ")
    throw UsageError("There is no command '\(words[0]) \(words[1])'\(suggestion)")
  }

  private static func report(_ error: any Error, _ words: [String], _ output: Output) -> ExitStatus {
    do {
      // What was printed before the failure is still wanted; without a reader the failure is reported all the same.
      _ = try output.finish(with: .failed) { try output.flush() }
    } catch {
      Output.notice(sentence(of: error))
    }
    switch error {
    case let error as UsageError:
      Output.notice(shortened("\(error)", words))
      Output.complain("See `photoledger --help`.\n")
      return .usage
    case let error as FetchError:
      let lines = error.excerpt?.split(separator: "\n") ?? []
      let place = error.offset.map { "At column \($0 + 1): " } ?? ""
      Output.notice(place + shortened(error.sentence, words))
      Output.complain(lines.map { "  \(TextLayout.printable(String($0)))\n" }.joined())
      return .usage
    default:
      Output.notice(shortened(sentence(of: error), words))
      return .failed
    }
  }

  /// A message with excessively long arguments truncated.
  private static func shortened(_ sentence: String, _ words: [String]) -> String {
    words.filter { $0.utf8.count > argumentByteLimit }.reduce(sentence) { sentence, word in
      let value = word.hasPrefix("--") ? word.drop { $0 != "=" }.dropFirst() : word[...]
      guard !value.isEmpty else { return sentence.replacingOccurrences(of: word, with: word.prefix(80) + "…") }
      return sentence.replacingOccurrences(of: value, with: value.prefix(80) + "…")
    }
  }

  /// Longer than what people name, paths included.
  private static let argumentByteLimit = 1024
}
