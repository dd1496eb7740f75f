import Foundation
import LibraryJSON
import PhotoLedger

// Undoing commits. A dry run and a run print the same lines; what differs is the token at the end.

extension Command {
  private static let everything = Option("all", "everything since the library was created")
  private static let dryRun = Option.dryRun("print what would be undone, and change nothing")

  static let undo = Command(
    words: ["undo"], summary: "undo commits, as one commit that names them",
    syntax: """
      (--commit TOKEN | --from TOKEN | --to TOKEN | --cause C | --client C | --kind KIND | --since DATE | \
      --until DATE | --object ID | --all)…
      """,
    options: .opening + [
      Option("commit", "TOKEN", "the commit that led to a state"),
      Option("from", "TOKEN", "only commits after the state of a token"),
      Option("to", "TOKEN", "only commits up to the state of a token, its own included"),
      Option("cause", "C", "only commits of a cause"), Option("client", "C", "only commits of a client"),
      Option("kind", "KIND", isRepeatable: true, "only commits with an event of a kind, as in `log`"),
      Option("since", "DATE", "only commits of this instant or day, or later"),
      Option("until", "DATE", "only commits before this instant, or to the end of this day"),
      Option("object", "ID", isRepeatable: true, "only changes of an asset, album or folder"), everything,
      Option("on-conflict", "POLICY", "for values changed since: refuse (the default), skip or force"),
      Option("why", "TEXT", "the cause of the undo itself; default 'undo'"),
      Option("key", "KEY", "an idempotency key: the same undo is executed once"), dryRun, .json,
    ],
    notes: """
      A property that still has the value set by the commits gets the value that it would have without them. Added \
      assets are removed and their files kept; trashed or deleted objects are restored at every position; a purged \
      asset whose bytes no longer exist is restored as a record, and only with --on-conflict force.

      The undo is a commit like any other: undo --commit with its token undoes it. What does not fit into one commit \
      is undone by ranges, the latest first, with --from and --to and the tokens that `log` prints.
      """,
    example: "undo --cause 'nightly scan' --dry-run"
  ) { invocation in
    let selection = try invocation.undoSelection(isEverything: invocation.has(everything))
    let policy = try invocation.conflictPolicy()
    let cause = try invocation.cause("why") ?? "undo"
    return try invocation.withLibrary { library in
      if invocation.has(dryRun) {
        try invocation.print(library.planUndo(selection, onConflict: policy), isDry: true)
        return .done
      }
      let report: UndoReport
      do {
        report = try library.undoAndWait(selection, onConflict: policy, cause: cause, key: invocation.text("key"))
      } catch let error as LibraryError where error.code == .conflict {
        let plan = try library.planUndo(selection, onConflict: policy)
        // JSON has all of it; the text output has enough to understand the conflict.
        if invocation.printsJSON, plan.isRefused {
          try invocation.print(plan, isDry: false)
        } else {
          for conflict in plan.conflicts.prefix(20) { Output.notice(TextLayout.printable(conflict.sentence)) }
        }
        throw plan.rejection(skipping: "pass --on-conflict skip", forcing: "force") ?? error
      }
      try invocation.print(report, isDry: false)
      return .done
    }
  }
}

extension PhotoLibrary {
  /// The command line that undoes all commits of a cause, for the shell of this process: it names the library unless a
  /// command finds it there by itself.
  func undoCommand(cause: String) -> String {
    let location = try? LibraryLocation(option: nil)
    let place = location?.url.path == url.path ? "" : " --library \(TextLayout.shellWord(url.path))"
    return "photoledger undo --cause \(TextLayout.shellWord(cause))\(place)"
  }
}

extension Invocation {
  fileprivate func undoSelection(isEverything: Bool) throws -> UndoSelection {
    var selection = UndoSelection()
    selection.commit = try text("commit").map { try Token($0) }
    selection.after = try text("from").map { try Token($0) }
    selection.through = try text("to").map { try Token($0) }
    selection.cause = try cause()
    selection.client = text("client")
    selection.kinds = try eventKinds()
    selection.since = try instant("since", inDay: 0)
    selection.until = try instant("until", inDay: 86_400)
    selection.objects = try texts("object").map(LocalIdentifier.init(ofOption:))
    if selection.commit != nil, selection.after != nil || selection.through != nil {
      throw UsageError("'undo' takes either --commit or --from and --to.")
    }
    guard isEverything || selection != UndoSelection() else {
      throw UsageError(
        "'undo' needs --commit, --from, --to, --cause, --client, --kind, --since, --until or --object; or --all for "
          + "everything.")
    }
    guard !isEverything || selection == UndoSelection() else {
      throw UsageError("--all selects everything; omit it to select a part.")
    }
    return selection
  }

  fileprivate func conflictPolicy() throws -> UndoConflictPolicy {
    guard let text = text("on-conflict") else { return .refuse }
    guard let policy = UndoConflictPolicy(rawValue: text) else {
      throw UsageError("--on-conflict needs refuse, skip or force; got '\(text)'.")
    }
    return policy
  }

  fileprivate func print(_ report: UndoReport, isDry: Bool) throws {
    if printsJSON {
      for line in UndoLines(report, isDryRun: isDry) { try output.line(line) }
      return
    }
    try printText(report, isDry: isDry)
  }

  private func printText(_ report: UndoReport, isDry: Bool) throws {
    if report.isRepetition {
      return try output.line("already executed under this key: \(report.token?.description ?? "")")
    }
    let counts = report.counts
    if counts.isEmpty { try output.line(isDry ? "nothing would be undone" : "nothing was undone") }
    let already = report.alreadyCount > 0 ? [(count: report.alreadyCount, what: "already as wanted")] : []
    for (count, what) in counts + already {
      let number = TextLayout.grouped(count)
      try output.line(String(repeating: " ", count: max(0, 9 - number.count)) + "\(number)  \(what)")
    }
    for conflict in report.conflicts.prefix(20) {
      try output.line("\(conflict.outcome.rawValue): " + TextLayout.printable(conflict.sentence))
    }
    if report.conflicts.count > 20 {
      let others = TextLayout.counted(report.conflicts.count - 20, "more conflict")
      try output.line("and \(others); --json shows all")
    }
    for sentence in report.kept { try output.line("kept: " + TextLayout.printable(sentence)) }
    if let token = report.token { try output.line(token.description) }
  }
}

extension UndoReport {
  /// The number of changes of each kind, in a fixed order.
  fileprivate var counts: [(count: Int, what: String)] {
    let words: [(kind: UndoChange.Kind, one: String, several: String)] = [
      (.restoration, "restored, at every position", "restored, at every position"),
      (.purge, "restored after a purge", "restored after a purge"),
      (.creation, "removed, as before its creation", "removed, as before their creation"),
      (.trash, "trashed or deleted again", "trashed or deleted again"),
      (.property, "property reverted", "properties reverted"),
      (.membership, "position reverted", "positions reverted"),
      (.permission, "permission reverted", "permissions reverted"),
      (.history, "start of the available history reverted", "starts of the available history reverted"),
    ]
    return words.compactMap { kind, one, several in
      let count = changes.count { $0.kind == kind }
      return count == 0 ? nil : (count, count == 1 ? one : several)
    }
  }
}
