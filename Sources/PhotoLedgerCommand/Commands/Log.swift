import LibraryAudit
import LibraryJSON
import PhotoLedger

extension Command {
  static let log = Command(
    words: ["log"], summary: "print the events of the library, by default the newest last",
    options: .looking + [Option("after", "TOKEN", "only events after the state of a token")] + filtering + [
      Option("asset", "ID", "only events about an asset, album or folder"),
      Option("album", "ID", "only events about an album or folder, and also --asset if given"),
      Option("limit", "N", "at most N events"), reverse, .json,
    ],
    notes: "With --json each event is complete, with old and new values. " + kindNote,
    example: "log --asset 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F --kind trashed --reverse --limit 20"
  ) { invocation in
    var filter = try invocation.logFilter()
    filter.objects = try ["asset", "album"].compactMap { try invocation.identifier($0) }
    let limit = try FetchArguments.limit(invocation)
    return try invocation.withLibrary { library in
      if invocation.printsJSON, limit == 0 {
        try library.writeLogLines(filter, newestFirst: invocation.has(reverse)) { try invocation.output.write($0) }
        return .done
      }
      var printer = LogPrinter(output: invocation.output)
      let isReversed = invocation.has(reverse)
      try library.forEachLogEntry(filter, newestFirst: isReversed, limit: limit == 0 ? nil : limit) { entry in
        if invocation.printsJSON {
          try invocation.output.line { entry.write(to: &$0) }
        } else {
          try printer.print(entry)
        }
        return true
      }
      return .done
    }
  }

  private static let reverse = Option("reverse", "the newest event first; with --limit the last N")

  /// The options by which events are chosen.
  static let filtering: [Option] = [
    Option("client", "C", "only events of a client"), Option("cause", "C", "only events of a cause"),
    Option("kind", "KIND", isRepeatable: true, "only events of a kind"),
    Option("from", "DATE", "only events of this instant or later"),
    Option("to", "DATE", "only events before this instant"),
  ]

  static let kindNote = """
    A kind is a type of event such as assets.trashed, its object (assets) or its action (trashed); \
    an instant is written as 2024-05-31T18:30:00Z.
    """
}

extension Invocation {
  /// The filter that the options name, but for objects.
  func logFilter() throws -> LogFilter {
    var filter = LogFilter()
    filter.after = try text("after").map { try Token($0) }
    filter.client = text("client")
    filter.cause = text("cause")
    filter.kinds = Set(texts("kind"))
    for kind in texts("kind") where !LogFilter.isKnown(kind: kind) {
      let words = LogFilter.knownTypes.flatMap { type in [type] + type.split(separator: ".").map(String.init) }
      throw UsageError("There is no kind of event '\(kind)'\(Suggestion.sentence(for: kind, among: words))")
    }
    filter.from = try instant("from")?.date
    filter.to = try instant("to")?.date
    return filter
  }

  /// The identifier that an option names; nil if it is not given.
  fileprivate func identifier(_ name: String) throws -> LocalIdentifier? {
    guard let text = text(name) else { return nil }
    guard let identifier = LocalIdentifier(text) else {
      throw LibraryError(
        .identifierNotFound, "'\(text)' is not a valid identifier; `ls` and `albums` list those of the library.")
    }
    return identifier
  }
}

/// Prints events for people: a heading for each commit, its events below.
struct LogPrinter {
  let output: Output
  private var token: Token?

  init(output: Output) { self.output = output }

  mutating func print(_ entry: LogEntry) throws {
    try head(entry.token, entry.commit)
    try output.line("  " + TextLayout.printable(entry.sentence))
  }

  /// Prints a change of a property below the heading of its commit.
  mutating func print(_ change: PropertyChange) throws {
    try head(change.origin.token, change.origin.commit)
    let (old, new) = (JSON(change.old).description, JSON(change.new).description)
    try output.line(
      "  \(TextLayout.printable(change.property)): \(TextLayout.printable(old)) → \(TextLayout.printable(new))")
  }

  private mutating func head(_ token: Token, _ commit: CommitSummary) throws {
    guard self.token != token else { return }
    self.token = token
    let terminal = output.terminal
    let heading = TextLayout.printable(commit.line)
    try output.line(terminal.styled(heading, .heading) + "  " + terminal.styled(token.description, .faint))
    if let cause = commit.cause {
      try output.line(terminal.styled("  (" + TextLayout.printable(cause) + ")", .faint))
    }
    if let undone = commit.undone { try output.line(terminal.styled("  undoes " + undone.phrase, .faint)) }
  }
}

extension CommitSummary {
  /// When and who, for people.
  var line: String { "\(DateText.wallTime(date).prefix(19).replacing("T", with: " "))  \(client)" }
}

extension AuditOrigin {
  /// When, who and why, for people.
  var line: String { commit.line + (commit.cause.map { " (\($0))" } ?? "") }
}

extension UndoneCommits {
  /// The commits as people read them.
  fileprivate var phrase: String {
    let runs = ranges.map { run in
      run.lowerBound == run.upperBound ? "\(run.lowerBound)" : "\(run.lowerBound) … \(run.upperBound)"
    }
    return (runs + (furtherCount > 0 ? ["\(furtherCount) more"] : [])).joined(separator: ", ")
  }
}
