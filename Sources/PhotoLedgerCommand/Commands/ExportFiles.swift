import Foundation
import JSONReading
import LibraryJSON
import MediaImport
import PhotoLedger

// The files of assets out into folders.

extension Command {
  private static let template = Option(
    "template", "T", "the path of each file; default \(ExportTemplate.standardText)")
  private static let versions = Option("versions", "V", "originals, current (as shown) or both (the default)")
  private static let raw = Option("raw", "R", "of a RAW and JPEG pair: both (the default), raw or compressed")
  private static let noLive = Option("no-live-videos", "leave out the videos of Live Photos")
  private static let link = Option("link", "link files of the library instead of copying, where possible")
  private static let sidecars = Option("sidecars", "write an XMP sidecar beside each picture and video")
  private static let embed = Option("embed", "write the library's metadata into the copies with exiftool")
  private static let removing = Option("remove-unwanted", "remove files of earlier exports that are no longer wanted")
  private static let replacing = Option("replace-changed", "replace exported files that were changed in the folder")
  private static let dryRun = Option.dryRun("print what would be done, and write nothing")

  static let exportFiles = Command(
    words: ["export-files"], summary: "copy or link the files of assets to folders, and only what is new",
    operands: [Operand("FOLDER", "the target folder, created if it does not exist")],
    options: .looking + FetchArguments.options + [
      template, versions, raw, noLive, link, sidecars, .sidecarNaming, embed, removing, replacing, dryRun, .json,
    ],
    notes: """
      A template has fields in braces: {year}/{month}/{name}. The text after | is written if there is no value, the
      text after ? in place of a value: {year|undated}, {favorite?best/}{name}. A field with several values, such as
      {album}, yields a path for each. The fields are listed below.

      A second run copies only what is new or changed, and resumes one that was stopped or killed. Files that it did
      not write are never replaced. Files of earlier exports that are no longer wanted are listed; --remove-unwanted
      removes them, except those of an asset of which a wanted file could not be exported. The status is 1 if a wanted
      file is missing afterwards. Hidden assets, members of bursts and assets beneath the top of a stack are exported
      with --hidden, --all-bursts and --all-stacks; without them, their number is printed.
      """,
    fields: ExportTemplate.Field.allCases.map { (name: "{\($0.rawValue)}", meaning: $0.meaning) },
    example: "export-files /media/disk/photos --template '{year}/{album|no album}/{name}' --sidecars"
  ) { invocation in
    _ = try FetchArguments.read(invocation)
    _ = try invocation.path(invocation.operands[0], "FOLDER")
    let options = try exportOptions(invocation)
    let interruption = Interruption()
    return try invocation.withLibrary(interruption: interruption) { library in
      try Exporting(invocation: invocation, interruption: interruption).run(library, options)
    }
  }

  private static func exportOptions(_ invocation: Invocation) throws -> ExportOptions {
    let text = invocation.text(template.name) ?? ExportTemplate.standardText
    let parsed: ExportTemplate
    do throws(LibraryError) { parsed = try ExportTemplate(text) } catch { throw UsageError(error.description) }
    var options = ExportOptions(template: parsed)
    options.versions = try invocation.choice(versions) ?? .both
    options.raw = try invocation.choice(raw) ?? .both
    options.takesPairedVideos = !invocation.has(noLive)
    options.links = invocation.has(link)
    options.sidecars = invocation.has(sidecars) ? try invocation.choice(.sidecarNaming) ?? .full : nil
    if !invocation.has(sidecars), invocation.text(Option.sidecarNaming.name) != nil {
      throw UsageError("--naming applies to sidecars; pass --sidecars, too.")
    }
    options.embeds = invocation.has(embed)
    if options.embeds, options.links {
      throw UsageError("--embed writes to copies, and --link creates none; pass one of them.")
    }
    options.removesUnwanted = invocation.has(removing)
    options.replacesChanged = invocation.has(replacing)
    options.isDryRun = invocation.has(dryRun)
    return options
  }
}

/// Runs an export with a progress bar, and prints what became of the files.
private struct Exporting: Sendable {
  let invocation: Invocation
  let interruption: Interruption

  func run(_ library: PhotoLibrary, _ options: ExportOptions) throws -> ExitStatus {
    let export = try LibraryExport(of: library, options: options)
    let assets = try FetchArguments.fetch(invocation, from: library)
    let notChosen = try notChosenCount(beside: assets, library)
    let bar = SharedProgressBar()
    defer { bar.clear() }
    let printer = LinePrinter(invocation.output)
    let summary = try waiting(interruption) { [invocation] in
      try await export.run(assets, to: invocation.operands[0]) { progress in
        bar.show(
          options.isDryRun ? "comparing" : "exporting", done: progress.filesDone, total: progress.filesPlanned,
          note: TextLayout.bytes(progress.bytesCopied))
      } report: { file in
        if invocation.printsJSON {
          printer.print(file.json.description)
        } else if [.wanted, .conflict, .failed].contains(file.outcome) {
          bar.clear()
          printer.print(TextLayout.printable("\(file.outcome.rawValue): \(file.message ?? file.path ?? file.kind)"))
        }
      }
    }
    bar.clear()
    return try invocation.output.finish(with: summary.isComplete ? .done : .failed) {
      try printer.finish()
      try print(summary, notChosen)
    }
  }

  /// How many more assets would be chosen with hidden ones and all members of bursts and stacks; nil for a window.
  private func notChosenCount(beside assets: FetchResult<Asset>, _ library: PhotoLibrary) throws -> Int? {
    let options = try FetchArguments.read(invocation)
    guard options.fetchLimit == 0, options.fetchOffset == 0 else { return nil }
    let all = try FetchArguments.fetch(invocation, from: library, widened: { $0.includeHiddenAssets = true })
    return max(0, all.count - assets.count)
  }

  private func print(_ summary: ExportSummary, _ notChosen: Int?) throws {
    if invocation.printsJSON {
      for file in summary.unwanted { try invocation.output.line(file.json) }
      return try invocation.output.line(summary.json(notChosen: notChosen))
    }
    for file in summary.unwanted {
      let verb = file.isRemoved ? "removed" : file.reason.rawValue
      try invocation.output.line(TextLayout.printable("\(verb): \(file.message ?? file.path)"))
    }
    let counts = ExportOutcome.allCases.filter { summary.count($0) > 0 }
      .map { "\(TextLayout.grouped(summary.count($0))) \($0.words)" }
    let outcome = counts.isEmpty ? "nothing to export" : counts.joined(separator: ", ")
    try invocation.output.line(
      "\(TextLayout.counted(summary.assets, "asset")): \(outcome); \(TextLayout.bytes(summary.bytesCopied)) copied.")
    if summary.hidden > 0 {
      let assets = TextLayout.counted(summary.hidden, "hidden asset")
      let them = summary.hidden == 1 ? "it" : "them"
      try invocation.output.line(
        "\(assets) chosen; no file says so, and an import of the folder shows \(them).")
    }
    if summary.assetsWithoutFile > 0 {
      let assets = TextLayout.counted(summary.assetsWithoutFile, "asset")
      try invocation.output.line("\(assets) without a file in the folder; --json prints the reasons.")
    }
    if let notChosen, notChosen > 0 {
      let assets = TextLayout.counted(notChosen, "asset")
      try invocation.output.line(
        "\(assets) not chosen: hidden, or in bursts or stacks; --hidden, --all-bursts and --all-stacks choose them.")
    }
    let listed = summary.unwanted.count { !$0.isRemoved && $0.message == nil }
    if listed > 0 {
      let files = TextLayout.counted(listed, "file")
      let it = listed == 1 ? "it" : "them"
      try invocation.output.line("\(files) of earlier exports no longer wanted; --remove-unwanted removes \(it).")
    }
    if summary.wasInterrupted { Output.notice("Stopped; run it again to continue.") }
  }
}

extension ExportOutcome {
  /// The outcome as a part of a sentence.
  fileprivate var words: String {
    switch self {
    case .copied: "copied"
    case .linked: "linked"
    case .written: "written as sidecars"
    case .unchanged: "unchanged"
    case .found: "found in place"
    case .wanted: "to be written"
    case .left: "excluded by the options"
    case .conflict: "in conflict with other files"
    case .failed: "failed"
    case .notReached: "not reached"
    }
  }
}

extension ExportedFile {
  fileprivate var json: JSON {
    [
      "asset": .text(asset), "kind": .text(kind), "path": JSON(path), "outcome": .text(outcome.rawValue),
      "message": JSON(message),
    ]
  }
}

extension UnwantedFile {
  fileprivate var json: JSON {
    [
      "unwanted": .text(path), "asset": .text(asset), "reason": .text(reason.rawValue), "isRemoved": .bool(isRemoved),
      "message": JSON(message),
    ]
  }
}

extension ExportSummary {
  fileprivate func json(notChosen: Int?) -> JSON {
    let others: JSON = notChosen.map { JSON.integer(Int64($0)) } ?? .null
    let counts = ExportOutcome.allCases.map { JSON.Member($0.rawValue, .integer(Int64(count($0)))) }
    return [
      "summary": .object(
        [
          .init("assets", .integer(Int64(assets))), .init("hidden", .integer(Int64(hidden))),
          .init("assetsWithoutFile", .integer(Int64(assetsWithoutFile))), .init("notChosen", others),
        ] + counts + [
          .init("unwanted", .integer(Int64(unwanted.count))),
          .init("removed", .integer(Int64(unwanted.count { $0.isRemoved }))),
          .init("ofOtherAssets", .integer(Int64(ofOtherAssets))),
          .init("bytesCopied", .integer(Int64(clamping: bytesCopied))), .init("wasInterrupted", .bool(wasInterrupted)),
        ])
    ]
  }
}
