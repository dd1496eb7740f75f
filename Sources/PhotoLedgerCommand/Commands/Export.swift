import Foundation
import LibraryJSON
import LibraryMaintenance
import PhotoLedger

extension Command {
  static let exportLog = Command(
    words: ["export"], summary: "write the log as JSON lines, with complete records",
    options: .opening + [Option("after", "TOKEN", "only events after the state of a token")],
    notes: """
      The first line has the start and the end of the log; each further line is one event with its header, hashes,
      salt and payload. The same log yields the same text, byte for byte.
      """,
    example: "export > library.log"
  ) { invocation in
    let token = try invocation.text("after").map { try Token($0) }
    return try invocation.withLibrary { library in
      try library.exportLines(after: token) { try invocation.output.write($0) }
      return .done
    }
  }
}
