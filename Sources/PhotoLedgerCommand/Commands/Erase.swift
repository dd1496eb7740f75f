import Foundation
import JSONReading
import LibraryJSON
import LibraryMaintenance
import PhotoLedger

extension Command {
  private static let confirmed = Option("yes", "do not ask for confirmation")
  private static let dryRun = Option.dryRun("only print what would be erased")
  private static let cause = Option("cause", "TEXT", "the reason, which the log keeps; default 'erase'")

  static let erase = Command(
    words: ["erase"], summary: "permanently erase assets: their files, and their data in the log",
    operands: [Operand("ASSET", .several, "identifiers of assets, purged ones included")],
    options: .opening + [confirmed, dryRun, cause, .json],
    notes: """
      This cannot be undone. Prints what will be erased, and asks at the terminal unless --yes is given. The
      identifier and the headers of commits (client, cause and key) remain in the log. A file that another asset has,
      or had and an undo can bring back, is kept. Backups, forks and exports are not affected, and the store's free
      space keeps the bytes until `compact`.
      """,
    example: "erase 1B4E28BA-2FA1-4D2E-A8B1-7A1B2C3D4E5F --yes"
  ) { invocation in
    let assets = try invocation.operands.map { text in
      guard let identifier = LocalIdentifier(text) else {
        throw LibraryError(.identifierNotFound, "'\(text)' is not a valid identifier; `ls` lists those of the library.")
      }
      return identifier
    }
    let cause = try invocation.cause() ?? "erase"
    return try invocation.withLibrary { library in
      let preview = try library.erasurePreview(of: assets)
      if invocation.has(dryRun) {
        for asset in preview { try invocation.print(asset) }
        return .done
      }
      if !invocation.has(confirmed) {
        guard let prompt = TerminalPrompt() else {
          throw UsageError("'erase' needs --yes if standard input is not a terminal.")
        }
        guard prompt.confirms(preview.map(sentence), "Erase permanently?") else {
          Output.notice("Nothing was erased.")
          return .failed
        }
      }
      let report = try library.eraseAssets(assets, cause: cause)
      for asset in report.assets { try invocation.print(asset) }
      try invocation.print(report)
      return .done
    }
  }
}

extension ErasedAsset {
  /// Whether an earlier erasure left nothing of it.
  fileprivate var wasErased: Bool { wasPurged && eventCount == 0 && removedFiles.isEmpty && keptFiles.isEmpty }
}

/// What goes of an asset, for people.
private func sentence(_ asset: ErasedAsset) -> String {
  if asset.wasErased { return "\(asset.id.uuidString): already erased" }
  let names = asset.originalFilenames.prefix(3).map { "'\(TextLayout.printable($0))'" }.joined(separator: ", ")
  let subject = asset.id.uuidString + (names.isEmpty ? "" : " " + names)
  var text = "\(subject): \(TextLayout.counted(asset.eventCount, "event")), "
  text += "\(TextLayout.counted(asset.removedFiles.count, "file"))"
  for file in asset.keptFiles {
    text += file.reason == .shared ? "; kept for another asset: " : "; not owned by the library: "
    text += TextLayout.printable(file.path)
  }
  for path in asset.linkedFiles {
    text += "; another link (a fork, a backup made with `--resources shared`, or an export made with `--link`) "
    text += "still holds the bytes of \(TextLayout.printable(path))"
  }
  return text
}

extension Invocation {
  fileprivate func print(_ asset: ErasedAsset) throws {
    if printsJSON { try output.line(JSON(asset)) } else { try output.folded(sentence(asset)) }
  }

  fileprivate func print(_ report: ErasureReport) throws {
    if printsJSON {
      return try output.line([
        "token": .text(report.token.description), "importLineCount": .integer(Int64(report.importLineCount)),
      ])
    }
    guard report.importLineCount > 0 || !report.assets.allSatisfy(\.wasErased) else {
      try output.line("No event, file or line of an import report was left to erase.")
      return try output.line("Until a `compact` after the erasure, the store's free space contains the bytes.")
    }
    try output.line("Erased, with \(TextLayout.counted(report.importLineCount, "line")) of import reports.")
    try output.line("The store's free space still contains the bytes: run `compact`.")
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
}
