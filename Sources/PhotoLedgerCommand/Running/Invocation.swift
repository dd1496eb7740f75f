import Foundation
import JSONReading
import LibraryJSON
import MediaImport
import PhotoLedger

/// An invalid command line.
struct UsageError: Error, CustomStringConvertible {
  /// A full sentence.
  let description: String
  init(_ sentence: String) { description = sentence }
}

/// A command with the operands and options that a command line gave it.
struct Invocation: Sendable {
  let command: Command
  let output: Output
  private(set) var operands: [String] = []
  private var values: [String: [String]] = [:]

  /// Takes the words after the command's own.
  /// - Throws: ``UsageError`` for an unknown option, a missing or superfluous value or operand.
  init(_ command: Command, _ words: [String], output: Output) throws {
    self.command = command
    self.output = output
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" {
        operands.append(contentsOf: rest)
        break
      }
      guard word.hasPrefix("--") else {
        operands.append(word)
        continue
      }
      try take(word, &rest)
    }
    try checkOperands()
  }

  private mutating func take(_ word: String, _ rest: inout ArraySlice<String>) throws {
    let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard let option = command.options.first(where: { $0.name == parts[0] }) else {
      let names = command.options.map(\.name) + ["help"]
      throw UsageError(
        "'\(command.name)' has no option --\(parts[0])\(Suggestion.sentence(for: parts[0], among: names, prefix: "--"))"
      )
    }
    guard option.isRepeatable || values[option.name] == nil else {
      throw UsageError("--\(option.name) is given twice; pass it once.")
    }
    guard let placeholder = option.placeholder else {
      guard parts.count == 1 else { throw UsageError("--\(option.name) takes no value.") }
      values[option.name] = [""]
      return
    }
    guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
      throw UsageError("--\(option.name) needs a value: --\(option.name) \(placeholder).")
    }
    values[option.name, default: []].append(value)
  }

  private func checkOperands() throws {
    let required = command.operands.filter { $0.count == .one || $0.count == .several }
    if operands.count < required.count {
      throw UsageError(
        "'\(command.name)' needs \(required[operands.count].spelling): \(required[operands.count].help).")
    }
    let isOpenEnded = command.operands.contains { $0.count == .several || $0.count == .any }
    if !isOpenEnded, operands.count > command.operands.count {
      throw UsageError("'\(command.name)' has too many operands, from '\(operands[command.operands.count])' on.")
    }
  }

  // MARK: Reading

  /// Whether a flag is set.
  func has(_ option: Option) -> Bool { values[option.name] != nil }

  /// Whether data is to be printed as JSON.
  var printsJSON: Bool { has(.json) }

  /// The value of an option, the last if there are several.
  func text(_ name: String) -> String? { values[name]?.last }

  /// All values of a repeatable option.
  func texts(_ name: String) -> [String] { values[name] ?? [] }

  /// A whole number, 0 or more.
  func count(_ name: String) throws -> Int? {
    guard let text = text(name) else { return nil }
    guard let number = Int(text), number >= 0 else {
      throw UsageError("--\(name) needs a whole number, 0 or more; got '\(text)'.")
    }
    return number
  }

  /// A cause that an option names, of the commits to make or of those to choose.
  /// - Throws: ``UsageError`` for one that no commit can have. An empty one stands for no cause, and chooses no commit:
  ///   a variable of a script that is not set must do neither.
  func cause(_ name: String = "cause") throws -> String? {
    guard let text = text(name) else { return nil }
    guard (1...1024).contains(text.utf8.count) else {
      throw UsageError("--\(name) needs 1 to 1024 bytes; this one has \(text.utf8.count).")
    }
    return text
  }

  /// A keyword that assets get.
  /// - Parameters:
  ///   - text: the keyword.
  ///   - name: the operand, or the option with its hyphens.
  /// - Throws: ``UsageError`` for a blank one, which would do nothing or be invisible: a variable of a script that is
  ///   not set must not be passed over.
  func keyword(_ text: String, _ name: String) throws -> String {
    guard !text.isBlank else { throw UsageError("\(name) needs a keyword; '\(text)' is blank.") }
    return text
  }

  /// A path that the command line gives.
  /// - Parameters:
  ///   - text: the path.
  ///   - name: the operand, or the option with its hyphens.
  /// - Throws: ``UsageError`` for an empty one, which stands for the current directory: a variable of a script that is
  ///   not set must not choose that.
  func path(_ text: String, _ name: String) throws -> String {
    guard !text.isEmpty else { throw UsageError("\(name) needs a path; '' is empty.") }
    return text
  }

  /// The file at a path that the command line gives.
  /// - Throws: as ``path(_:_:)``.
  func file(_ text: String, _ name: String) throws -> URL {
    URL(filePath: try path(text, name), directoryHint: .notDirectory)
  }

  /// The directory at a path that the command line gives.
  /// - Throws: as ``path(_:_:)``.
  func directory(_ text: String, _ name: String) throws -> URL {
    URL(filePath: try path(text, name), directoryHint: .isDirectory)
  }

  /// Runs work that writes a file which `--force` replaces; if the file is there, the error names that option.
  func writing(to file: URL, _ work: () throws -> Void) throws {
    do { try work() } catch let error as LibraryError where error.code == .alreadyExists && text("force") == nil {
      throw LibraryError(
        .alreadyExists, "\(file.absoluteURL.path) already exists; choose another path, or pass --force to replace it.")
    }
  }

  /// The value of an option that takes one of a few words.
  func choice<Value: RawRepresentable & CaseIterable>(_ option: Option) throws -> Value?
  where Value.RawValue == String {
    guard let text = text(option.name) else { return nil }
    guard let value = Value(rawValue: text) else {
      let names = Value.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError("--\(option.name) needs one of \(names); got '\(text)'.")
    }
    return value
  }

  /// A whole number that must be given.
  func requiredCount(_ name: String) throws -> Int {
    guard let number = try count(name) else { throw UsageError("'\(command.name)' needs --\(name).") }
    return number
  }

  /// The numbers of a list such as `0,3,5`, each once.
  func positions(_ name: String) throws -> [Int] {
    guard let text = text(name) else { throw UsageError("'\(command.name)' needs --\(name).") }
    let positions = try text.split(separator: ",", omittingEmptySubsequences: false).map { part in
      guard let number = Int(part), number >= 0 else {
        throw UsageError("--\(name) needs whole numbers separated by commas, such as 0,3,5; got '\(part)'.")
      }
      return number
    }
    guard Set(positions).count == positions.count else {
      throw UsageError("--\(name) needs each number once; got '\(text)'.")
    }
    return positions
  }

  // MARK: The library

  /// Opens the library for a body, as the client that `--as` names and at the moment that `--at` names, and closes it
  /// afterwards.
  ///
  /// For an undecided client, the user at the terminal is prompted; without a terminal there is no prompt, and a
  /// message says so.
  /// - Parameters:
  ///   - isTelling: whether the message is printed here, and not by the body.
  ///   - policy: how a migration handles events that cannot be applied.
  ///   - interruption: what ends the examination of new files early; nil where a signal ends the process.
  ///   - isServed: whether other programs send new files, so that what examines them may read nothing else.
  func withLibrary<R>(
    at place: URL? = nil, isTelling: Bool = true, unreadableEvents policy: UnreadableEventPolicy = .stop,
    interruption: Interruption? = nil, isServed: Bool = false, _ body: (PhotoLibrary) throws -> R
  ) throws -> R {
    let client = try self.client()
    let moment = try self.moment()
    let url = try place ?? libraryURL()
    var bar = ProgressBar()
    defer { bar.clear() }
    let library = try PhotoLibrary(at: url, unreadableEvents: policy) { progress in
      bar.show("migrating the library", done: Int(progress.done), total: progress.total.map { Int($0) })
      return true
    }
    bar.clear()
    defer { library.close() }
    let probe = try self.probe(interruption, servedFrom: isServed ? library : nil)
    try library.setMediaProbe(probe, whenUnavailable: { Output.notice($0) })
    guard let client else { return try body(try moment?.view(of: library) ?? library) }
    let now = library.as(client)
    let view = try moment?.view(of: now) ?? now
    if let prompt = TerminalPrompt() {
      try library.setPermissionPrompt(prompt)
    } else if isTelling, try now.isUndecided {
      Output.notice(TerminalPrompt.absence(for: client))
    }
    return try body(view)
  }

  /// What examines the bytes of new files: exiftool, unless `PHOTOLEDGER_PROBE` says that nothing does.
  /// - Parameter library: the library that is served; nil for other commands.
  private func probe(_ interruption: Interruption?, servedFrom library: PhotoLibrary?) throws -> (any MediaProbe)? {
    switch ProcessInfo.processInfo.environment["PHOTOLEDGER_PROBE"] ?? "" {
    case "", "exiftool":
      let isCancelled: @Sendable () -> Bool = { interruption?.isRequested ?? false }
      guard let library else { return ExternalProbe(isCancelled: isCancelled) }
      return ExternalProbe(servedFrom: library, isCancelled: isCancelled)
    case "none": return nil
    case let other: throw UsageError("PHOTOLEDGER_PROBE must be exiftool or none; got '\(other)'.")
    }
  }

  /// The client that `--as` names.
  func client() throws -> String? {
    guard let client = text("as") else { return nil }
    guard (1...256).contains(client.utf8.count) else {
      throw UsageError("--as needs a name of 1 to 256 bytes; this one has \(client.utf8.count).")
    }
    return client
  }
}

extension Invocation {
  /// Runs a body with what shows its progress and asks to stop when a signal came.
  func showingProgress<R>(_ interruption: Interruption, _ body: ((TaskProgress) -> Bool) throws -> R) throws -> R {
    let bar = SharedProgressBar()
    defer { bar.clear() }
    return try body { progress in
      bar.show(progress.phase, done: Int(progress.done), total: progress.total.map { Int($0) })
      return !interruption.isRequested
    }
  }
}
