import Foundation
import LibraryJSON
import PhotoLedger

extension Command {
  private static let confirmed = Option("yes", "do it without asking")
  private static let dry = Option("dry-run", "only print what would go")

  static let erase = Command(
    words: ["erase"], summary: "forget assets for good: their files, and what the log tells of them",
    operands: [Operand("ASSET", .several, "identifiers of assets, purged ones included")],
    options: .opening + [confirmed, dry, Option("cause", "TEXT", "why, for the log, which keeps it"), .json],
    notes: """
      Nothing brings them back. Prints what goes, and asks at the terminal unless --yes is given.
      The identifier stays in the log, and so do the headers of commits: client, cause and key.
      A file that another asset has too stays. Backups, forks and exports keep what they have,
      and the store's free space does until `compact`.
      """,
    example: "erase 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F --yes"
  ) { invocation in
    let assets = try invocation.operands.map { text in
      guard let identifier = LocalIdentifier(text) else {
        throw LibraryError(.identifierNotFound, "'\(text)' is no identifier; `ls` shows those of the library.")
      }
      return identifier
    }
    return try invocation.withLibrary { library in
      let preview = try library.erasurePreview(of: assets)
      if invocation.has(dry) {
        for asset in preview { try invocation.print(asset) }
        return .done
      }
      if !invocation.has(confirmed) {
        guard let prompt = TerminalPrompt() else {
          throw UsageError("'erase' needs --yes where standard input is no terminal on which to ask.")
        }
        guard prompt.confirms(preview.map(sentence), "Erase for good?") else {
          Output.tell("Nothing was erased.")
          return .failed
        }
      }
      let report = try library.eraseAssets(assets, cause: invocation.text("cause"))
      for asset in report.assets { try invocation.print(asset) }
      try invocation.print(report)
      return .done
    }
  }

  static let compact = Command(
    words: ["compact"], summary: "write the store anew, without free space and erased bytes",
    options: .opening + [Option("sweep", "also remove files that no asset of the library ever named"), .json],
    notes: """
      Nobody may have the library open. The new store is proved before it takes the old one's
      place; a compaction that is stopped or killed leaves one of them, whole.
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
    if invocation.printsJSON {
      try invocation.output.line(JSON(report))
    } else {
      let sizes = [report.bytesBefore, report.bytesAfter].map { TextLayout.bytes(UInt64($0)) }
      try invocation.output.line("The store had \(sizes[0]) and has \(sizes[1]).")
      for file in report.sweptFiles { try invocation.output.line("removed: resources/\(file)") }
    }
    return .done
  }
}

/// What goes of an asset, for people.
private func sentence(_ asset: ErasedAsset) -> String {
  if asset.wasPurged, asset.eventCount == 0, asset.removedFiles.isEmpty, asset.keptFiles.isEmpty {
    return "\(asset.id.uuidString): erased already"
  }
  let names = asset.originalFilenames.prefix(3).map { "'\(TextLayout.printable($0))'" }.joined(separator: ", ")
  let subject = asset.id.uuidString + (names.isEmpty ? "" : " " + names)
  var text = "\(subject): \(TextLayout.counted(asset.eventCount, "event")), "
  text += "\(TextLayout.counted(asset.removedFiles.count, "file"))"
  for file in asset.keptFiles {
    text += file.reason == .shared ? "; kept for another asset: " : "; never the library's: "
    text += TextLayout.printable(file.path)
  }
  for path in asset.linkedFiles { text += "; a fork or backup still holds the bytes of \(TextLayout.printable(path))" }
  return text
}

extension Invocation {
  fileprivate func print(_ asset: ErasedAsset) throws {
    if printsJSON { try output.line(JSON(asset)) } else { try output.line(sentence(asset)) }
  }

  fileprivate func print(_ report: ErasureReport) throws {
    if printsJSON {
      return try output.line([
        "token": .text(report.token.description), "importLineCount": .integer(Int64(report.importLineCount)),
      ])
    }
    try output.line("Erased; \(TextLayout.counted(report.importLineCount, "line")) of import reports with it.")
    try output.line("The store's free space still has the bytes: run `compact`.")
  }
}

extension JSON {
  fileprivate init(_ asset: ErasedAsset) {
    self = [
      "localIdentifier": .text(asset.id.spelled(as: .asset)),
      "wasPurged": .bool(asset.wasPurged),
      "originalFilenames": .list(asset.originalFilenames.map { .text($0) }),
      "eventCount": .integer(Int64(asset.eventCount)),
      "removedFiles": .list(asset.removedFiles.map { .text($0) }),
      "keptFiles": .list(asset.keptFiles.map { ["path": .text($0.path), "reason": .text($0.reason.rawValue)] }),
      "linkedFiles": .list(asset.linkedFiles.map { .text($0) }),
    ]
  }

  fileprivate init(_ report: CompactionReport) {
    self = [
      "bytesBefore": .integer(Int64(report.bytesBefore)),
      "bytesAfter": .integer(Int64(report.bytesAfter)),
      "entryCount": .integer(Int64(clamping: report.entryCount)),
      "chain": .text(report.chain),
      "sweptFiles": .list(report.sweptFiles.map { .text($0) }),
      "sweptBytes": .integer(Int64(clamping: report.sweptBytes)),
    ]
  }
}
