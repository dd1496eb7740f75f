import JSONReading
import LibraryJSON
import MediaImport
import PhotoLedger

// What files say, read again for assets that are in the library.

extension Command {
  private static let sidecars = Option("sidecars", "read the sidecars beside originals outside the library, too")
  private static let onlyMissing = Option("only-missing", "only assets without recorded file metadata")
  private static let dryRun = Option.dryRun("print what would be recorded, and record nothing")
  /// Hidden assets and all members of bursts and stacks are read in any case.
  private static let choosing = FetchArguments.choosing.filter { $0.name != "hidden" }

  static let metadataRead = Command(
    words: ["metadata", "read"], summary: "read the metadata of the original files again",
    operands: [Operand("ID", .any, "identifiers of assets, instead of options that choose them")],
    options: .opening + choosing + [
      sidecars, onlyMissing, dryRun, Option("cause", "TEXT", "the cause of the commits; default names the run"),
      Option("jobs", "N", "files read at the same time; default two for each processor"), .json,
    ],
    notes: """
      Records what the files say now: title, people, camera, lens, exposure and the other fields of `fileMetadata`.
      Captions, keywords, stars, dates and locations of assets are not changed: edits outrank the files. Without
      identifiers and options all assets are read, hidden ones included, but not the trash.

      A file that is missing, or is not the one that was imported, is named, and the status is 1. What a service's
      record or a sidecar said at import is kept; --sidecars reads sidecars again. A stopped run can be repeated: only
      what differs is recorded. `undo --cause` with the printed cause undoes a run.
      """,
    example: "metadata read --only-missing"
  ) { invocation in
    var options = MetadataReading.Options()
    options.readsSidecars = invocation.has(sidecars)
    options.onlyMissing = invocation.has(onlyMissing)
    options.isDryRun = invocation.has(dryRun)
    if let jobs = try invocation.count("jobs") {
      guard (1...256).contains(jobs) else { throw UsageError("--jobs needs a number from 1 to 256; got \(jobs).") }
      options.threadCount = jobs
    }
    if let option = choosing.first(where: { invocation.has($0) }), !invocation.operands.isEmpty {
      throw UsageError("'metadata read' takes identifiers or --\(option.name), not both.")
    }
    _ = try FetchArguments.read(invocation)
    let interruption = Interruption()
    return try invocation.withLibrary(interruption: interruption) { [options] library in
      try MetadataPrinting(invocation: invocation, interruption: interruption).run(library, options)
    }
  }
}

/// Runs a reading with a progress bar, and prints what became of it.
private struct MetadataPrinting: Sendable {
  let invocation: Invocation
  let interruption: Interruption

  func run(_ library: PhotoLibrary, _ options: MetadataReading.Options) throws -> ExitStatus {
    let cause = try invocation.cause()
    let reading = try MetadataReading(of: library, options: options)
    let assets = try chosen(library)
    let total = assets.reduce(0) { $0 + $1.count }
    let bar = SharedProgressBar()
    defer { bar.clear() }
    let printer = LinePrinter(invocation.output)
    let summary = try waiting(interruption) { [invocation] in
      try await reading.run(assets, cause: cause) { done in
        bar.show("reading metadata", done: done, total: total)
      } report: { report in
        if invocation.printsJSON {
          printer.print(report.json.description)
        } else if let line = report.line {
          bar.clear()
          printer.print(TextLayout.printable(line))
        }
      }
    }
    bar.clear()
    return try invocation.output.finish(with: summary.isComplete ? .done : .failed) {
      try printer.finish()
      try print(summary, of: library, isDryRun: options.isDryRun)
    }
  }

  private func chosen(_ library: PhotoLibrary) throws -> [FetchResult<Asset>] {
    guard !invocation.operands.isEmpty else {
      return [try FetchArguments.fetch(invocation, from: library, widened: { $0.includeHiddenAssets = true })]
    }
    var options = FetchOptions()
    (options.includeHiddenAssets, options.includeAllBurstAssets, options.includeAllStackAssets) = (true, true, true)
    let names = try invocation.operands.map { try library.asset(named: $0) }
    return try [false, true].map { isTrashed in
      options.showsTrash = isTrashed
      let named = names.filter { $0.isTrashed == isTrashed }.map(\.localIdentifier)
      return try library.fetchAssets(withLocalIdentifiers: named, options)
    }
  }

  private func print(_ summary: MetadataSummary, of library: PhotoLibrary, isDryRun: Bool) throws {
    let found = MetadataOutcome.allCases.filter { summary.counts[$0] != nil }
    if invocation.printsJSON {
      let counts = found.map { JSON.Member($0.rawValue, .integer(Int64(summary.counts[$0] ?? 0))) }
      return try invocation.output.line(
        ["summary": .object(counts + [.init("cause", isDryRun ? .null : .text(summary.cause))])])
    }
    let texts = found.map { "\(TextLayout.grouped(summary.counts[$0] ?? 0)) \($0.words)" }
    try invocation.output.line(texts.isEmpty ? "No matching assets." : "Assets: \(texts.joined(separator: ", ")).")
    if summary.counts[.recorded] != nil {
      try invocation.output.line("To undo it: \(library.undoCommand(cause: summary.cause))")
    }
    if summary.counts[.notReached] != nil { Output.notice("Stopped; run it again to continue.") }
  }
}

extension MetadataOutcome {
  /// The outcome as a part of a sentence.
  fileprivate var words: String {
    switch self {
    case .recorded: "recorded"
    case .wanted: "to be recorded"
    case .unchanged: "unchanged"
    case .missing: "with missing files"
    case .altered: "with files other than those imported"
    case .failed: "unreadable"
    case .notEditable: "not editable here"
    case .notReached: "not reached"
    }
  }
}

extension MetadataReport {
  /// A line about what a person wants to know of; nil if it is nothing.
  fileprivate var line: String? {
    switch outcome {
    case .wanted: "\(asset): \(fields.joined(separator: ", "))"
    case .missing, .altered, .failed: "\(outcome.rawValue): \(message ?? path ?? asset)"
    case .recorded, .unchanged, .notEditable, .notReached: nil
    }
  }

  fileprivate var json: JSON {
    [
      "asset": .text(asset), "path": JSON(path), "outcome": .text(outcome.rawValue),
      "fields": .list(fields.map { .text($0) }), "message": JSON(message),
    ]
  }
}
