import Foundation
import LibraryJSON
import LibraryMaintenance
import PhotoLedger

// A rebuild runs in a child process, as `verify` does; see there.

extension Command {
  private static let quarantining = Option(
    "quarantine", "quarantine events that cannot be applied, and continue without them")

  static let rebuild = Command(
    words: ["rebuild"], summary: "drop all derived data and rebuild it from the log",
    options: .opening + [quarantining],
    notes: """
      Readers see the old projections or the new, never a part; a cancelled rebuild changes nothing. Missing tables of a
      damaged store are recreated if they can be derived. An event \
      that this version does not know, or that is invalid, stops it with an error that names the event. With \
      --quarantine such an event is quarantined: `stat` counts it, `verify` and `log` show it, and every \
      later rebuild tries it again.
      """,
    example: "rebuild"
  ) { invocation in
    var options = ["--library", try invocation.libraryURL().path]
    if let client = try invocation.client() { options += ["--as", client] }
    if invocation.has(quarantining) { options.append("--\(quarantining.name)") }
    let interruption = Interruption(patience: ChildRun.parentPatience)
    try invocation.output.flush()
    // A damaged table can end the child that reads it. Its mark says so, and the next one reads none of them.
    for isLast in [false, true] {
      switch try ChildRun.run(rebuildHere.name, options, until: interruption) {
      case .exited(let status):
        return ExitStatus(rawValue: status)
      case .signalled(let number):
        let name = String(cString: strsignal(number))
        if interruption.isRequested {
          Output.notice("Stopped by signal \(number) (\(name)); the projections are as they were.")
          return .failed
        }
        guard ChildRun.isFault(number) else {
          Output.notice(
            "The rebuild was killed by signal \(number) (\(name)) \(ChildRun.fromOutside). Run it again; the "
              + "projections are the old ones or the new ones, complete, and missing tables are filled by the next "
              + "opening.")
          return .failed
        }
        Output.notice(
          isLast
            ? "The rebuild was killed by signal \(number) (\(name)) again: the store is damaged in its log, or beyond "
              + "what can be described. Restore it from a copy."
            : "The rebuild was killed by signal \(number) (\(name)) while it read a damaged table; it starts again and "
              + "reads only the log.")
      }
    }
    return .failed
  }

  static let rebuildHere = Command(
    words: ["rebuild-here"], summary: "rebuild in this process",
    options: .opening + [quarantining, .lifeline], example: "rebuild-here", isInternal: true,
    // The parent puts a fault into words: it has to know that there was one.
    places: { _ in [] }
  ) { invocation in
    let interruption = try Interruption(of: invocation)
    let policy: UnreadableEventPolicy = invocation.has(quarantining) ? .quarantine : .stop
    if let client = try invocation.client(), client != PhotoLibrary.owner {
      throw LibraryError(
        .accessUserDenied, "The client '\(client)' may not rebuild the library; only the library's owner may.")
    }
    let url = try invocation.libraryURL()
    try invocation.showingProgress(interruption) { progress in
      try PhotoLibrary.rebuild(at: url, unreadableEvents: policy, progress: progress)
    }
    return .done
  }
}
