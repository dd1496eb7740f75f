import LibraryAudit
import LibraryJSON
import PhotoLedger

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
  var line: String { "\(DateText.second(date))  \(client)" }
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
