import Foundation
import JSONReading
import LibraryJSON
import LibraryMaintenance
import PhotoLedger

extension Command {
  static let checkpoint = Command(
    words: ["checkpoint"], summary: "recompute the log and print its size, Merkle root and head",
    options: .opening + [Option("out", "FILE", "write the note to a new file instead"), .json],
    notes: """
      The note has the text form of transparency logs (c2sp.org/tlog-checkpoint) and is not signed. Store it where
      no one with write access to the library can change it; `verify --checkpoint` compares the library with it.
      """,
    example: "checkpoint --out 2025-06-15.note"
  ) { invocation in
    let file = try invocation.text("out").map { try invocation.file($0, "--out") }
    return try invocation.withLibrary { library in
      var bar = ProgressBar()
      let checkpoint = try library.checkpoint { progress in
        bar.show(progress.phase, done: Int(progress.done), total: progress.total.map { Int($0) })
        return true
      }
      bar.clear()
      if let file { try checkpoint.write(to: file) }
      if invocation.printsJSON {
        try invocation.output.line(JSON(checkpoint, in: file))
      } else if file == nil {
        try invocation.output.write(checkpoint.description)
      }
      return .done
    }
  }
}
