import Foundation
import LibraryJSON
import LibraryMaintenance
import PhotoLedger

extension Command {
  static let exportLog = Command(
    words: ["export"], summary: "write the log as JSON lines, with complete records",
    options: .opening + [
      Option("after", "TOKEN", "only events after the state of a token"),
      Option("to", "TOKEN", "only events up to the state of a token; see below"),
    ],
    notes: """
      The first line has the start and the end of the log; each further line is one event with its header, hashes,
      salt and payload. The same log yields the same text, byte for byte.

      With --to, ranges can be exported and imported one after the other: pass the token that `import-log` prints to
      --after of the next one. If data of a range was erased after its end, the range is extended to the first
      state that contains all replacements.

      Lines with events that a rebuild quarantined are imported only by a program that can apply them; a message on
      standard error names the events. A backup has no such limit.
      """,
    example: "export > library.log"
  ) { invocation in
    let start = try invocation.text("after").map { try Token($0) }
    let end = try invocation.text("to").map { try Token($0) }
    return try invocation.withLibrary { library in
      let quarantined = try library.quarantinedEvents(after: start, through: end)
      if !quarantined.isEmpty {
        let sequences = quarantined.map { "\($0.sequence)" }.joined(separator: ", ")
        Output.notice(
          "The lines have events that are quarantined in this library (\(sequences)), so `import-log` rejects them "
            + "unless its program can apply them: run `rebuild`, which tries them again, or use `backup` to copy this "
            + "library.")
      }
      try library.exportLines(after: start, through: end) { try invocation.output.write($0) }
      return .done
    }
  }
}
