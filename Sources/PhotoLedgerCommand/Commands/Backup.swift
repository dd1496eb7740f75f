import Foundation
import LibraryJSON
import LibraryMaintenance
import PhotoLedger

extension Option {
  static let resources = Option(
    "resources", "HOW", "copy the files (copied), link them (shared), or omit them (left)")
}

extension Command {
  static let backup = Command(
    words: ["backup"], summary: "copy the library as of one commit, while it is in use",
    operands: [Operand("DIR", "the directory of the backup; must not exist")],
    options: .opening + [.resources, .json],
    notes: """
      The log of the copy is verified, and each copied file hashed, before the directory gets its name; a cancelled
      backup leaves nothing. The default for --resources is copied. Missing and damaged files are named, but do not
      change the exit status.
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
  /// A path that the command line gives.
  /// - Parameters:
  ///   - text: the path.
  ///   - name: the operand, or the option with its hyphens.
  /// - Throws: ``UsageError`` for an empty one, which stands for the current directory: a variable of a script that is
  ///   not set must not choose that.
  func path(_ text: String, _ name: String) throws -> String {
    guard !text.isEmpty else { throw UsageError("\(name) needs a path; '' is empty.") }
    return text
  }

  /// The directory at a path that the command line gives.
  /// - Throws: as ``path(_:_:)``.
  func directory(_ text: String, _ name: String) throws -> URL {
    URL(filePath: try path(text, name), directoryHint: .isDirectory)
  }

  /// How `--resources` says that files come along.
  func resourceCopying() throws -> ResourceCopying {
    guard let text = text("resources") else { return .copied }
    guard let way = ResourceCopying(rawValue: text) else {
      let names = ResourceCopying.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError("--resources needs one of \(names); got '\(text)'.")
    }
    return way
  }

  /// Runs a body with what shows its progress and asks to stop when a signal came.
  func showingProgress<R>(_ interruption: Interruption, _ body: ((TaskProgress) -> Bool) throws -> R) throws -> R {
    let bar = SharedProgressBar()
    defer { bar.clear() }
    return try body { progress in
      bar.show(progress.phase, done: Int(progress.done), total: progress.total.map { Int($0) })
      return !interruption.isRequested
    }
  }

  /// Runs an internal command with these operands in a child, and turns a signal that ended it into a sentence.
  func runInChild(_ name: String, _ options: [String], reading what: String) throws -> ExitStatus {
    let interruption = Interruption(patience: ChildRun.parentPatience)
    try output.flush()
    switch try ChildRun.run(name, options, operands: operands, until: interruption) {
    case .exited(let status): return ExitStatus(rawValue: status) ?? .failed
    case .signalled(let number):
      let name = String(cString: strsignal(number))
      Output.tell(
        interruption.isRequested
          ? "Stopped by signal \(number) (\(name)); nothing was created."
          : "The child was ended by signal \(number) (\(name)) while it read \(what), which is damaged beyond what "
            + "can be reported; nothing was created.")
      return .failed
    }
  }

  func print(_ report: BackupReport) throws {
    if printsJSON { return try output.line(JSON(report)) }
    let files = TextLayout.counted(report.resources.fileCount, "file")
    try output.line(
      "\(TextLayout.counted(Int(report.eventCount), "event")) and \(files) "
        + "(\(TextLayout.bytes(report.resources.byteCount))) in \(TextLayout.printable(report.url.path))")
    try output.line("chain \(report.chain)")
    for path in report.resources.missingFiles { try output.line("missing: \(TextLayout.printable(path))") }
    for path in report.resources.damagedFiles { try output.line("damaged: \(TextLayout.printable(path))") }
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

  /// What became of the files.
  static func members(_ transfer: ResourceTransfer) -> [Member] {
    [
      Member("fileCount", .integer(Int64(transfer.fileCount))),
      Member("byteCount", .integer(Int64(clamping: transfer.byteCount))),
      Member("linkedCount", .integer(Int64(transfer.linkedCount))),
      Member("missingFiles", .list(transfer.missingFiles.map { .text($0) })),
      Member("damagedFiles", .list(transfer.damagedFiles.map { .text($0) })),
    ]
  }
}
