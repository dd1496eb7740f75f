import PhotoLedger

extension Command {
  static let log = Command(
    words: ["log"], summary: "show the events of the library, the newest last",
    options: .looking + [
      Option("after", "TOKEN", "only events after the state of a token"),
      Option("asset", "ID", "only events that concern an asset, album or folder"),
      Option("client", "C", "only events of a client"), Option("cause", "C", "only events of a cause"), .json,
    ],
    notes: "With --json each event is whole: what was replaced stands beside what replaced it.",
    example: "log --asset 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F"
  ) { invocation in
    var filter = LogFilter()
    filter.after = try invocation.text("after").map { try Token($0) }
    filter.client = invocation.text("client")
    filter.cause = invocation.text("cause")
    filter.object = try invocation.text("asset").map { text in
      guard let identifier = LocalIdentifier(text) else {
        throw LibraryError(
          .identifierNotFound, "'\(text)' is no identifier; `ls` and `albums` show those of the library.")
      }
      return identifier
    }
    return try invocation.withLibrary { library in
      var printer = LogPrinter(output: invocation.output)
      try library.forEachLogEntry(filter) { entry in
        if invocation.printsJSON { try invocation.output.line(JSON(entry)) } else { try printer.print(entry) }
        return true
      }
      return .done
    }
  }
}

/// Prints events for people: a heading for each commit, its events below.
struct LogPrinter {
  let output: Output
  private var token: Token?

  init(output: Output) { self.output = output }

  mutating func print(_ entry: LogEntry) throws {
    let terminal = output.terminal
    if token != entry.token {
      token = entry.token
      let date = DateText.wallTime(entry.commit.date).prefix(19).replacing("T", with: " ")
      let heading = TextLayout.printable("\(date)  \(entry.commit.client)")
      try output.line(terminal.styled(heading, .heading) + "  " + terminal.styled(entry.token.description, .faint))
      if let cause = entry.commit.cause {
        try output.line(terminal.styled("  (" + TextLayout.printable(cause) + ")", .faint))
      }
    }
    try output.line("  " + TextLayout.printable(entry.sentence))
  }
}

extension JSON {
  /// An event of the log, whole.
  init(_ entry: LogEntry) {
    self = [
      "sequence": .integer(Int64(entry.sequence)),
      "token": .text(entry.token.description),
      "date": .text(DateText.instant(entry.commit.date)),
      "client": .text(entry.commit.client),
      "process": .text(entry.commit.process),
      "cause": JSON(entry.commit.cause),
      "key": JSON(entry.commit.key),
      "type": .text(entry.type),
      "objects": .list(entry.objects.map { .text($0) }),
      "sentence": .text(entry.sentence),
      "details": JSON(entry.details),
    ]
  }
}
