import JSONReading
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
    try output.folded("  " + TextLayout.printable(entry.sentence))
  }

  /// Prints a change of a property below the heading of its commit.
  /// - Parameter labels: what members and the albums that an object is in are called.
  mutating func print(_ change: PropertyChange, _ labels: [String: String]) throws {
    try head(change.origin.token, change.origin.commit)
    // What was erased has no values.
    guard change.old != change.new else { return try output.line("  " + TextLayout.printable(change.property)) }
    let (old, new) = (change.old.text(labels), change.new.text(labels))
    // Only the order key of a member differs that has another place.
    let what = old == new && change.new.placed != nil ? "\(new) moved" : "\(old) → \(new)"
    try output.folded("  " + TextLayout.printable("\(change.property): \(what)"))
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

extension PropertyChange {
  /// The objects that have a place before or after it.
  var placed: [String] { [old.placed, new.placed].compactMap(\.self) }
}

extension LogValue {
  /// The object of a place in an album or folder; nil for any other value.
  fileprivate var placed: String? {
    guard case .object(let fields) = self, fields.count == 2, fields[1].name == "orderKey",
      case .text(let identifier) = fields[0].value
    else { return nil }
    return identifier
  }

  /// The value for people: JSON, but the object alone instead of its place.
  fileprivate func text(_ labels: [String: String]) -> String {
    guard let placed else { return JSON(self).description }
    return labels[placed].map { "\(placed)  \($0)" } ?? placed
  }
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
