import Foundation
import JSONReading
import LibraryJSON
import LibraryMaintenance
import PhotoLedger

extension Command {
  static let backup = Command(
    words: ["backup"], summary: "copy the library as of one commit, while it is in use",
    operands: [Operand("DIR", "the directory of the backup; must not exist")],
    options: .opening + [.resources, .json],
    notes: """
      The log of the copy is verified, and each copied file hashed, before the directory gets its name; a cancelled
      backup leaves nothing. The default for --resources is copied. Missing and damaged files are named, but do not
      change the exit status. Referenced files are not in a backup; they are counted.
      """,
    example: "backup /media/disk/photos-2026-11-22", places: { $0.libraryPaths + $0.operands }
  ) { invocation in
    let interruption = Interruption()
    let way = try invocation.resourceCopying()
    let url = try invocation.directory(invocation.operands[0], "DIR")
    return try invocation.withLibrary { library in
      let report = try invocation.showingProgress(interruption) { progress in
        try library.backup(to: url, resources: way, progress: progress)
      }
      try invocation.print(report)
      Output.warn(of: { try library.note(report) }, after: "The backup is complete; its time was not recorded")
      return .done
    }
  }
}

extension Invocation {
  func print(_ report: BackupReport) throws {
    if printsJSON { return try output.line(JSON(report)) }
    let files = TextLayout.counted(report.resources.fileCount, "file")
    try output.line(
      "\(TextLayout.counted(Int(report.eventCount), "event")) and \(files) "
        + "(\(TextLayout.bytes(report.resources.byteCount))) in \(TextLayout.printable(report.url.path))")
    try output.line("chain \(report.chain)")
    let referencedCount = report.resources.referencedFileCount
    if referencedCount > 0 {
      let referenced = TextLayout.counted(referencedCount, "referenced file")
      try output.line("\(referenced) not copied; back up their folders, too")
    }
    try printLacking(report.resources)
  }

  /// Prints the files that a copy of the library lacks, and those that were left out of it.
  func printLacking(_ resources: ResourceTransfer) throws {
    for path in resources.missingFiles { try output.line("missing: \(TextLayout.printable(path))") }
    for path in resources.damagedFiles { try output.line("damaged: \(TextLayout.printable(path))") }
  }
}

extension JSON {
  fileprivate init(_ report: BackupReport) {
    self = .object(
      [
        Member("directory", .text(report.url.path)), Member("token", .text(report.token.description)),
        Member("eventCount", .integer(Int64(clamping: report.eventCount))), Member("chain", .text(report.chain)),
      ] + Self.members(report.resources))
  }
}
