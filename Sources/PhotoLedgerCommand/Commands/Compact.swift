import Foundation
import JSONReading
import LibraryJSON
import LibraryMaintenance
import PhotoLedger

extension Command {
  static let compact = Command(
    words: ["compact"], summary: "rewrite the store without free space and erased bytes",
    options: .opening + [Option("sweep", "also remove files that no asset has and no undo can restore"), .json],
    notes: """
      No other process may have the library open. The new store is verified before it replaces the old one; a
      compaction that is cancelled or killed leaves one of them, complete. A sweep that is cancelled leaves the files
      that it has not examined, and the status is 1.
      """,
    example: "compact --sweep"
  ) { invocation in
    let interruption = Interruption()
    if let client = try invocation.client(), client != PhotoLibrary.owner {
      throw LibraryError(
        .accessUserDenied, "The client '\(client)' may not compact the library; only the library's owner may.")
    }
    let url = try invocation.libraryURL()
    let report = try invocation.showingProgress(interruption) { progress in
      try PhotoLibrary.compact(at: url, sweepingResources: invocation.text("sweep") != nil, progress: progress)
    }
    let status = try invocation.output.finish(with: report.isSweepComplete ? .done : .failed) {
      if invocation.printsJSON { return try invocation.output.line(JSON(report)) }
      let sizes = [report.bytesBefore, report.bytesAfter].map { TextLayout.bytes(UInt64($0)) }
      try invocation.output.line("The store had \(sizes[0]) and has \(sizes[1]).")
      for file in report.sweptFiles { try invocation.output.line("removed: resources/\(file)") }
    }
    if !report.isSweepComplete {
      Output.notice("The sweep was stopped after the store was rewritten; `compact --sweep` removes the other files.")
    }
    return status
  }
}

extension JSON {
  fileprivate init(_ report: CompactionReport) {
    self = [
      "bytesBefore": .integer(Int64(report.bytesBefore)),
      "bytesAfter": .integer(Int64(report.bytesAfter)),
      "entryCount": .integer(Int64(clamping: report.entryCount)),
      "chain": .text(report.chain),
      "sweptFiles": .list(report.sweptFiles.map { .text($0) }),
      "sweptBytes": .integer(Int64(clamping: report.sweptBytes)),
      "isSweepComplete": .bool(report.isSweepComplete),
    ]
  }
}
