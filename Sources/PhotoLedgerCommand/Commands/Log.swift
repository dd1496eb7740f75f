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
    filter.objects = try ["asset", "album"].compactMap { try invocation.text($0).map(LocalIdentifier.init(ofOption:)) }
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
}
