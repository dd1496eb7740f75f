import Foundation
import JSONReading
import LibraryJSON
import MediaImport
import PhotoLedger

// What people edited, as sidecars beside originals.

extension Option {
  /// How sidecars are named.
  static let sidecarNaming = Option("naming", "N", "sidecars as full (a.jpg.xmp, the default) or stem (a.xmp)")
}

extension Command {
  private static let dryRun = Option.dryRun("print what would be done, and write nothing")
  /// Those of hidden assets and of all members of bursts and stacks are written in any case.
  private static let choosing = FetchArguments.choosing.filter { $0.name != "hidden" }

  static let sidecarsWrite = Command(
    words: ["sidecars", "write"], summary: "write edited metadata as XMP beside referenced originals",
    options: .opening + choosing + [
      Option("mirror", "DIR", "write to the same paths below this folder, not beside the originals"),
      .sidecarNaming,
      Option("all", "write every field that has a value, edited or not"),
      Option("merge-changed", "merge sidecars that another program changed since they were written"), dryRun, .json,
    ],
    notes: """
      For a library of `import --reference`, whose originals remain at their paths. Fields are caption, keywords,
      stars, favourite, date and location; other contents of a sidecar are kept, as far as exiftool keeps them. Hidden
      assets and all members of bursts and stacks are included, but not the trash. A sidecar that another program
      changed since it was written is not overwritten, and is named. The status is 1 if a sidecar could not be written.
      """,
    example: "sidecars write --mirror ~/sidecars"
  ) { invocation in
    _ = try FetchArguments.read(invocation)
    var options = SidecarWriting.Options()
    options.naming = try invocation.choice(.sidecarNaming) ?? .full
    options.mirror = try invocation.text("mirror").map {
      try invocation.directory($0, "--mirror").standardizedFileURL.absoluteURL.path
    }
    options.takesAll = invocation.has(Option("all", ""))
    options.mergesChanged = invocation.has(Option("merge-changed", ""))
    options.isDryRun = invocation.has(dryRun)
    let interruption = Interruption()
    return try invocation.withLibrary(interruption: interruption) { [options] library in
      try SidecarPrinting(invocation: invocation, interruption: interruption).run(library, options)
    }
  }
}

/// Runs the writing of sidecars, and prints what became of them.
private struct SidecarPrinting: Sendable {
  let invocation: Invocation
  let interruption: Interruption

  func run(_ library: PhotoLibrary, _ options: SidecarWriting.Options) throws -> ExitStatus {
    let assets = try FetchArguments.fetch(invocation, from: library, widened: { $0.includeHiddenAssets = true })
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
    case .missing: "with missing originals"
    case .conflict: "changed by another program"
    case .failed: "failed"
    case .notReached: "not reached"
    }
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
