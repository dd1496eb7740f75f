import Foundation
import LibraryJSON
import MediaImport
import PhotoLedger

// The files of assets out into folders, and what people edited as sidecars beside originals.

extension Command {
  private static let template = Option(
    "template", "T", "the path of each file; default \(ExportTemplate.standardText)")
  private static let versions = Option("versions", "V", "originals, current (as shown) or both (the default)")
  private static let raw = Option("raw", "R", "of a RAW and JPEG pair: both (the default), raw or compressed")
  private static let noLive = Option("no-live-videos", "leave out the videos of Live Photos")
  private static let link = Option("link", "link files of the library instead of copying, where possible")
  private static let sidecars = Option("sidecars", "write an XMP sidecar beside each picture and video")
  private static let naming = Option("naming", "N", "sidecars as full (a.jpg.xmp, the default) or stem (a.xmp)")
  private static let embed = Option("embed", "write the library's metadata into the copies with exiftool")
  private static let removing = Option("remove-unwanted", "remove files of earlier exports that are no longer wanted")
  private static let replacing = Option("replace-changed", "replace exported files that were changed in the folder")
  private static let dryRun = Option.dryRun("print what would be done, and write nothing")

  static let exportFiles = Command(
    words: ["export-files"], summary: "copy or link the files of assets to folders, and only what is new",
    operands: [Operand("FOLDER", "the target folder, created if it does not exist")],
    options: .looking + FetchArguments.options + [
      template, versions, raw, noLive, link, sidecars, naming, embed, removing, replacing, dryRun, .json,
    ],
    notes: """
      A template has fields in braces: {year}/{month}/{name}. The text after | is written if there is no value, the
      text after ? in place of a value: {year|undated}, {favorite?best/}{name}. A field with several values, such as
      {album}, yields a path for each. The fields: \(ExportTemplate.Field.allCases.map(\.rawValue).joined(separator:
      ", ")).

      A second run copies only what is new or changed, and resumes one that was stopped or killed. Files that it did
      not write are never replaced. Files of earlier exports that are no longer wanted are listed; --remove-unwanted
      removes them, except those of an asset of which a wanted file could not be exported. The status is 1 if a wanted
      file is missing afterwards.
      """,
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

  static let sidecarsWrite = Command(
    words: ["sidecars", "write"], summary: "write edited metadata as XMP beside referenced originals",
    options: .opening + FetchArguments.options + [
      Option("mirror", "DIR", "write to the same paths below this folder, not beside the originals"), naming,
      Option("all", "write every field that has a value, edited or not"),
      Option("merge-changed", "merge sidecars that another program changed since they were written"), dryRun, .json,
    ],
    notes: """
      For a library of `import --reference`, whose originals remain at their paths. Fields are caption, keywords,
      stars, favourite, date and location; other contents of a sidecar are kept, as far as exiftool keeps them. A
      sidecar that another program changed since it was written is left alone and named. The status is 1 if a sidecar
      could not be written.
      """,
    example: "sidecars write --mirror ~/sidecars"
  ) { invocation in
    _ = try FetchArguments.read(invocation)
    var options = SidecarWriting.Options()
    options.naming = try choice(naming, of: invocation) ?? .full
    options.mirror = try invocation.text("mirror").map {
      try invocation.directory($0, "--mirror").standardizedFileURL.absoluteURL.path
    }
    options.takesAll = invocation.has(Option("all", ""))
    options.mergesChanged = invocation.has(Option("merge-changed", ""))
    options.isRehearsal = invocation.has(dryRun)
    let interruption = Interruption()
    return try invocation.withLibrary(interruption: interruption) { [options] library in
      try SidecarPrinting(invocation: invocation, interruption: interruption).run(library, options)
    }
  }

  private static func exportOptions(_ invocation: Invocation) throws -> ExportOptions {
    let text = invocation.text(template.name) ?? ExportTemplate.standardText
    let parsed: ExportTemplate
    do throws(LibraryError) { parsed = try ExportTemplate(text) } catch { throw UsageError(error.description) }
    var options = ExportOptions(template: parsed)
    options.versions = try choice(versions, of: invocation) ?? .both
    options.raw = try choice(raw, of: invocation) ?? .both
    options.takesPairedVideos = !invocation.has(noLive)
    options.links = invocation.has(link)
    options.sidecars = invocation.has(sidecars) ? try choice(naming, of: invocation) ?? .full : nil
    if !invocation.has(sidecars), invocation.text(naming.name) != nil {
      throw UsageError("--naming applies to sidecars; pass --sidecars, too.")
    }
    options.embeds = invocation.has(embed)
    if options.embeds, options.links {
      throw UsageError("--embed writes to copies, and --link creates none; pass one of them.")
    }
    options.removesUnwanted = invocation.has(removing)
    options.replacesChanged = invocation.has(replacing)
    options.isRehearsal = invocation.has(dryRun)
    return options
  }

  /// The value of an option that takes one of a few words.
  private static func choice<Value: RawRepresentable & CaseIterable>(
    _ option: Option, of invocation: Invocation
  ) throws -> Value? where Value.RawValue == String {
    guard let text = invocation.text(option.name) else { return nil }
    guard let value = Value(rawValue: text) else {
      let names = Value.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError("--\(option.name) needs one of \(names); got '\(text)'.")
    }
    return value
  }
}

/// Runs an export with a progress bar, and prints what became of the files.
private struct Exporting: Sendable {
  let invocation: Invocation
  let interruption: Interruption

  func run(_ library: PhotoLibrary, _ options: ExportOptions) throws -> ExitStatus {
    let export = try LibraryExport(of: library, options: options)
    let assets = try FetchArguments.fetch(invocation, from: library)
    let bar = SharedProgressBar()
    defer { bar.clear() }
    let printer = LinePrinter(invocation.output)
    let summary = try waiting(interruption) { [invocation] in
      try await export.run(assets, to: invocation.operands[0]) { progress in
        bar.show(
          options.isRehearsal ? "comparing" : "exporting", done: progress.filesDone, total: progress.filesPlanned,
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
      try print(summary)
    }
  }

  private func print(_ summary: ExportSummary) throws {
    if invocation.printsJSON {
      for file in summary.unwanted { try invocation.output.line(file.json) }
      return try invocation.output.line(summary.json)
    }
    for file in summary.unwanted {
      let verb = file.isRemoved ? "removed" : file.reason.rawValue
      try invocation.output.line(TextLayout.printable("\(verb): \(file.message ?? file.path)"))
    }
    let counts = ExportOutcome.allCases.filter { summary.count($0) > 0 }
      .map { "\(TextLayout.grouped(summary.count($0))) \($0.words)" }
    try invocation.output.line(
      "\(TextLayout.counted(summary.assets, "asset")): \(counts.joined(separator: ", ")); "
        + "\(TextLayout.bytes(summary.bytesCopied)) copied.")
    if summary.assetsWithoutFile > 0 {
      let assets = TextLayout.counted(summary.assetsWithoutFile, "asset")
      try invocation.output.line("\(assets) without a file in the folder; --json prints the reasons.")
    }
    let listed = summary.unwanted.count { !$0.isRemoved && $0.message == nil }
    if listed > 0 {
      let files = TextLayout.counted(listed, "file")
      try invocation.output.line("\(files) of earlier exports no longer wanted; --remove-unwanted removes them.")
    }
    if summary.wasInterrupted { Output.tell("Stopped; run it again to continue.") }
  }
}

/// Runs the writing of sidecars, and prints what became of them.
private struct SidecarPrinting: Sendable {
  let invocation: Invocation
  let interruption: Interruption

  func run(_ library: PhotoLibrary, _ options: SidecarWriting.Options) throws -> ExitStatus {
    let assets = try FetchArguments.fetch(invocation, from: library)
    let bar = SharedProgressBar()
    defer { bar.clear() }
    let printer = LinePrinter(invocation.output)
    let counts = try waiting(interruption) { [invocation] in
      try await SidecarWriting(of: library, options: options).run(assets) { done in
        bar.show("writing sidecars", done: done, total: assets.count)
      } report: { sidecar in
        if invocation.printsJSON {
          printer.print(sidecar.json.description)
        } else if [.wanted, .missing, .conflict, .failed].contains(sidecar.outcome) {
          bar.clear()
          let text = sidecar.message ?? sidecar.path ?? sidecar.asset
          printer.print(TextLayout.printable("\(sidecar.outcome.rawValue): \(text)"))
        }
      }
    }
    bar.clear()
    let bad: [SidecarOutcome] = [.missing, .conflict, .failed, .notReached]
    return try invocation.output.finish(with: bad.allSatisfy { counts[$0] == nil } ? .done : .failed) {
      try printer.finish()
      try print(counts)
    }
  }

  private func print(_ counts: [SidecarOutcome: Int]) throws {
    let found = SidecarOutcome.allCases.filter { counts[$0] != nil }
    if invocation.printsJSON {
      return try invocation.output.line(
        ["summary": .object(found.map { .init($0.rawValue, .integer(Int64(counts[$0] ?? 0))) })])
    }
    let texts = found.map { "\(TextLayout.grouped(counts[$0] ?? 0)) \($0.words)" }
    try invocation.output.line(texts.isEmpty ? "No matching assets." : "Sidecars: \(texts.joined(separator: ", ")).")
  }
}

extension ExportOutcome {
  /// The outcome as a part of a sentence.
  fileprivate var words: String {
    switch self {
    case .copied: "copied"
    case .linked: "linked"
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

extension SidecarOutcome {
  /// The outcome as a part of a sentence.
  fileprivate var words: String {
    switch self {
    case .written: "written"
    case .merged: "merged"
    case .unchanged: "unchanged"
    case .wanted: "to be written"
    case .nothing: "not needed, since nothing was edited"
    case .noPlace: "without a path, since the library owns the file"
    case .missing: "of missing originals"
    case .conflict: "changed by another program"
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
  fileprivate var json: JSON {
    let counts = ExportOutcome.allCases.map { JSON.Member($0.rawValue, .integer(Int64(count($0)))) }
    return [
      "summary": .object(
        [
          .init("assets", .integer(Int64(assets))), .init("assetsWithoutFile", .integer(Int64(assetsWithoutFile))),
        ] + counts + [
          .init("unwanted", .integer(Int64(unwanted.count))),
          .init("removed", .integer(Int64(unwanted.count { $0.isRemoved }))),
          .init("ofOtherAssets", .integer(Int64(ofOtherAssets))),
          .init("bytesCopied", .integer(Int64(clamping: bytesCopied))), .init("wasInterrupted", .bool(wasInterrupted)),
        ])
    ]
  }
}

extension SidecarReport {
  fileprivate var json: JSON {
    [
      "asset": .text(asset), "path": JSON(path), "outcome": .text(outcome.rawValue),
      "fields": .list(fields.map { .text($0) }), "message": JSON(message),
    ]
  }
}
