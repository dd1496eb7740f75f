import Foundation
import LibraryJSON
import MediaImport
import PhotoLedger

extension Command {
  private static let reference = Option("reference", "leave the bytes where they are; the library holds their paths")
  private static let noCreation = Option("no-create", "refuse if there is no library yet, rather than make one")

  static let `import` = Command(
    words: ["import"], summary: "take photos and videos into the library",
    operands: [Operand("FOLDER", .several, "folders, which are walked, or files")],
    options: .opening + [reference, noCreation, .json],
    notes: """
      If there is no library yet, one is made, and standard error says where; an import that fails before it has taken
      anything removes it again. --no-create refuses instead, and so does --as with any client but the owner.

      What the library has already is passed over, so the same folder can be imported again, and an import that was
      stopped goes on when it is started again. What could not be taken is told with the reason, and for every file
      in the report that the summary names. The status is 1 if files vanished or could not be read meanwhile.
      exiftool must be installed.
      """,
    example: "import ~/Pictures /media/card/DCIM"
  ) { invocation in
    let interruption = Interruption()
    return try invocation.withLibraryOfImport(isCreating: !invocation.has(noCreation)) { library in
      let summary = try Importing(library: library, interruption: interruption)
        .run(invocation.operands, isByReference: invocation.has(reference))
      if invocation.printsJSON {
        try invocation.output.line(JSON(summary))
      } else {
        try invocation.output.write(Importing.text(summary))
      }
      if summary.lostCount > 0 {
        let files = TextLayout.counted(summary.lostCount, "file")
        Output.tell("\(files) could not be read and may be missing in the library; import again, or see the report.")
      }
      if summary.wasInterrupted {
        Output.tell("Stopped with \(TextLayout.counted(summary.notReached, "file")) left; start it again to go on.")
      }
      return summary.wasInterrupted || summary.lostCount > 0 ? .failed : .done
    }
  }
}

extension Invocation {
  /// Opens the library for an import, or makes one where there is none; one that was made and got nothing goes again.
  fileprivate func withLibraryOfImport(
    isCreating: Bool, _ body: (PhotoLibrary) throws -> ExitStatus
  ) throws -> ExitStatus {
    let location = try libraryLocation()
    guard isCreating, try client() ?? PhotoLibrary.owner == PhotoLibrary.owner,
      !PhotoLibrary.exists(at: location.url)
    else { return try withLibrary(body) }
    // Before anything is made: what ends most imports that fail.
    try LibraryImport.check(operands.map { FilePath($0) })
    let rollback = CreationRollback(of: location.url)
    let library = try location.create()
    Output.tell("There was no library at \(location.url.path) yet; it was made.")
    do {
      let status = try body(library)
      if status == .done { library.close() } else { try discardIfEmpty(library, rollback) }
      return status
    } catch {
      try discardIfEmpty(library, rollback)
      throw error
    }
  }

  private func discardIfEmpty(_ library: PhotoLibrary, _ rollback: CreationRollback) throws {
    guard try library.closeAndDiscard(by: rollback) else { return }
    Output.tell("Nothing was imported, so the new library at \(library.url.path) was removed again.")
  }
}

/// Runs an import with a progress bar.
struct Importing {
  let library: PhotoLibrary
  let interruption: Interruption

  func run(_ folders: [String], isByReference: Bool) throws -> ImportSummary {
    var options = LibraryImport.Options()
    options.leavesFilesInPlace = isByReference
    let importing = try LibraryImport(into: library, options: options)
    let line = SharedProgressBar()
    defer { line.clear() }
    return try waiting(interruption) {
      try await importing.run(folders.map { FilePath($0) }, progress: { line.show($0) })
    }
  }

  /// The summary for people.
  /// - Parameter namesReport: whether the library lasts, and so the report in it.
  static func text(_ summary: ImportSummary, namesReport: Bool = true) -> String {
    let assets = TextLayout.counted(summary.assetsAdded, "asset")
    var text = """
      \(TextLayout.counted(summary.filesFound, "file")) found: \(assets) added in \
      \(TextLayout.counted(summary.commits, "commit")), \(TextLayout.bytes(UInt64(clamping: summary.bytesAdded))).

      """
    let others = [
      (summary.resourcesAdded, "joined another as its movie or RAW"), (summary.duplicates, "known already"),
      (summary.sidecars, "describe other files"), (summary.notReached, "not reached"),
    ]
    for (count, what) in others where count > 0 { text += "  \(TextLayout.grouped(count)) \(what)\n" }
    for (reason, count) in summary.skipped.sorted(by: { $0.key < $1.key }) {
      text += "  \(TextLayout.grouped(count)) not taken: \(reason)\n"
    }
    for file in summary.skippedFiles.prefix(20) { text += "    \(TextLayout.printable(file.message))\n" }
    if summary.warned > 0 { text += "  \(TextLayout.grouped(summary.warned)) taken with a warning\n" }
    for file in summary.warnings.prefix(20) {
      text += "    \(TextLayout.printable("\(file.path): \(file.message)"))\n"
    }
    if namesReport, !summary.skippedFiles.isEmpty || summary.warned > 0 {
      text += "  Every file's outcome: \(summary.reportFile)\n"
    }
    return text
  }
}

extension SharedProgressBar {
  /// Shows how far an import is.
  fileprivate func show(_ progress: ImportProgress) {
    let note =
      "\(TextLayout.bytes(UInt64(clamping: progress.bytesDone))), \(TextLayout.counted(progress.assetsAdded, "asset"))"
    show("importing", done: progress.filesDone, total: progress.filesFound, note: note)
  }
}

extension JSON {
  /// What an import did.
  fileprivate init(_ summary: ImportSummary) {
    func number(_ value: some BinaryInteger) -> JSON { .integer(Int64(clamping: value)) }
    self = [
      "run": .text(summary.run),
      "filesFound": number(summary.filesFound),
      "assetsAdded": number(summary.assetsAdded),
      "resourcesAdded": number(summary.resourcesAdded),
      "livePhotos": number(summary.livePhotos),
      "duplicates": number(summary.duplicates),
      "sidecars": number(summary.sidecars),
      "skipped": .object(summary.skipped.sorted { $0.key < $1.key }.map { Member($0.key, number($0.value)) }),
      "warned": number(summary.warned),
      "notReached": number(summary.notReached),
      "bytesAdded": number(summary.bytesAdded),
      "commits": number(summary.commits),
      "wasInterrupted": .bool(summary.wasInterrupted),
      "reportFile": .text(summary.reportFile),
      "skippedFiles": .list(
        summary.skippedFiles.map {
          ["path": .text($0.path), "reason": .text($0.reason.rawValue), "message": .text($0.message)]
        }),
      "warnings": .list(summary.warnings.map { ["path": .text($0.path), "message": .text($0.message)] }),
    ]
  }
}
