import JSONReading
import LibraryAudit
import LibraryJSON
import PhotoLedger

// The persistent history (PH-02): the missed changes of a program, commit by commit. Unlike the log, it is each
// client's own view.

extension Command {
  private static let pieceCount = 256

  static let history = Command(
    words: ["history"],
    summary: "print what each commit inserted, updated and deleted, or every value that one object had",
    operands: [Operand("ID", .optional, "the identifier of an asset, album or folder, also of a purged one")],
    options: .looking + [
      Option("since", "TOKEN", "only commits after the state of a token; without an ID"),
      Option("limit", "N", "at most N commits, the oldest; without an ID"),
    ] + filtering + [.json],
    notes: """
      Pass the token of the last line to --since next time. Trashing and hiding are updates; an asset that leaves a
      limited client's selection is a deletion for it.

      With an ID, each change of each property of the object is printed with client, date and cause, the old and the
      new value, the newest last; --client, --cause, --kind, --from and --to filter them. \(kindNote)
      """,
    example: "history --since t1-0123456789abcdef-2s --json"
  ) { invocation in
    if let object = invocation.operands.first {
      for name in ["since", "limit"] where invocation.text(name) != nil {
        throw UsageError("--\(name) applies to the history of commits; omit it, or the ID.")
      }
      return try tellHistory(of: object, invocation)
    }
    for option in filtering where invocation.text(option.name) != nil {
      throw UsageError("--\(option.name) applies to the history of one object; pass its ID.")
    }
    let since = try invocation.text("since").map { try Token($0) }
    let limit = try invocation.count("limit") ?? .max
    guard limit > 0 else { throw UsageError("--limit needs a number above 0; omit it for all.") }
    return try invocation.withLibrary { library in
      var token = try since ?? library.earliestToken
      var rest = limit
      var names = ObjectLabels(of: library)
      while rest > 0 {
        let changes = try library.fetchPersistentChanges(since: token, limit: min(rest, pieceCount))
        for change in changes { try print(change, &names, invocation) }
        guard let last = changes.last, changes.count == min(rest, pieceCount) else { break }
        token = last.changeToken
        rest -= changes.count
      }
      return .done
    }
  }

  static let historyToken = Command(
    words: ["history", "token"], summary: "print the token of the current state", options: .looking + [.json],
    example: "history token"
  ) { invocation in
    try invocation.withLibrary { library in
      let token = try library.currentToken.description
      try invocation.output.line(
        invocation.printsJSON ? JSON.object([.init("token", .text(token))]).description : token)
      return .done
    }
  }

  static let historyShorten = Command(
    words: ["history", "shorten"], summary: "make the available history start at a state",
    operands: [Operand("TOKEN", "the state, as `history` or `history token` printed it")], options: .opening + [.json],
    notes: """
      `history --since` fails with 3105 for older tokens: their clients must read the library again. As-of views and
      `watch` read the log, which keeps everything.
      """,
    example: "history shorten t1-0123456789abcdef-2s"
  ) { invocation in
    let token = try Token(invocation.operands[0])
    return try invocation.withLibrary { library in
      try library.shortenHistory(to: token)
      let earliest = try library.earliestToken.description
      try invocation.output.line(
        invocation.printsJSON ? JSON.object([.init("token", .text(earliest))]).description : earliest)
      return .done
    }
  }

  /// The history of one object, for `history ID`.
  private static func tellHistory(of object: String, _ invocation: Invocation) throws -> ExitStatus {
    let filter = try invocation.logFilter()
    return try invocation.withLibrary { library in
      var printer = LogPrinter(output: invocation.output)
      var names = ObjectLabels(of: library)
      try library.readPropertyChanges(of: object, filter) { change, t in
        if invocation.printsJSON {
          try invocation.output.line { $0.write(change.record) }
        } else {
          try printer.print(change, names.labels(of: change.placed, t))
        }
        return true
      }
      return .done
    }
  }

  private static func print(
    _ change: PersistentChange, _ names: inout ObjectLabels, _ invocation: Invocation
  ) throws {
    if invocation.printsJSON { return try invocation.output.line(JSON(change)) }
    let terminal = invocation.output.terminal
    let heading = TextLayout.printable(change.commit.line)
    try invocation.output.line(
      terminal.styled(heading, .heading) + "  " + terminal.styled(change.changeToken.description, .faint))
    if let cause = change.commit.cause { try invocation.output.line("  (" + TextLayout.printable(cause) + ")") }
    guard change.isItemised else {
      return try invocation.output.line("  no details: some were erased, or the access changed; read the library again")
    }
    for (type, word) in [(ObjectType.asset, "asset"), (.assetCollection, "album"), (.collectionList, "folder")] {
      let details = try change.changeDetails(for: type)
      let parts: [(String, Style, Set<String>)] = [
        ("inserted", .inserted, details.insertedLocalIdentifiers),
        ("updated", .changed, details.updatedLocalIdentifiers),
        ("deleted", .removed, details.deletedLocalIdentifiers),
      ]
      for (verb, style, identifiers) in parts {
        let labels = try names.labels(of: identifiers)
        for identifier in identifiers.sorted() {
          let label = labels[identifier].map { "  " + TextLayout.printable($0) } ?? ""
          let start = "  \(terminal.styled(TextLayout.fitted(verb, 8), style))  \(word)  "
          try invocation.output.line(start + identifier + label)
        }
      }
    }
  }
}
