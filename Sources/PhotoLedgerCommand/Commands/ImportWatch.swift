import Foundation
import JSONReading
import LibraryJSON
import MediaImport
import PhotoLedger

// `import --watch`: a line for each piece of news, as text or as an object with its kind in `event`.

extension Invocation {
  /// Watches folders until a signal comes, or too much is missing.
  func runWatch(_ importing: LibraryImport.Options, acceptsMissing: Bool) throws -> ExitStatus {
    if importing.isDryRun {
      throw UsageError("--watch imports files as they appear; it cannot be used with --dry-run.")
    }
    if importing.makesFolderAlbums {
      throw UsageError("--folder-albums needs whole folders, and --watch imports a part at a time; use one of them.")
    }
    for operand in operands { _ = try path(operand, command.operands[0].name) }
    let interruption = Interruption()
    interruption.requestWhenClosed(STDOUT_FILENO)
    return try withLibraryOfImport(isCreating: text("no-create") == nil, isKept: true) { library, _ in
      var options = LibraryWatch.Options()
      (options.importing, options.acceptsMissing) = (importing, acceptsMissing)
      options.cause = try cause()
      let watch = try LibraryWatch(of: library, options: options)
      let (folders, output, printsJSON) = (operands.map { FilePath($0) }, output, printsJSON)
      let line = SharedProgressBar()
      defer { line.clear() }
      let end = try waiting(interruption) {
        try await watch.run(
          folders, progress: { line.show($0) },
          news: { news in
            line.clear()
            // A reader that has gone is noticed by `requestWhenClosed`, which ends the watch.
            Output.warn(
              of: {
                if printsJSON { try output.line(JSON(news)) } else { try output.line(news.text) }
                try output.flush()
              }, after: "News could not be printed")
          })
      }
      switch end {
      case .cancelled: return .done
      case .manyMissing(let folder, let missing, let count):
        Output.notice(
          """
          \(TextLayout.grouped(missing)) of \(TextLayout.counted(count, "file")) in \(folder) are missing at once; \
          nothing was changed. If a disk is not mounted, mount it and start again. If the files are meant to be gone, \
          run the same command with --accept-missing; their assets stay in the library.
          """)
        return .failed
      }
    }
  }
}

extension LibraryWatch.News {
  /// A line for people.
  fileprivate var text: String {
    switch self {
    case .watching(let folders, let files):
      "Watching \(TextLayout.counted(folders, "folder")) with \(TextLayout.counted(files, "known file"))."
    case .imported(let summary):
      Self.line(Self.counts(summary))
        + (summary.skippedFiles.first.map { " " + TextLayout.printable($0.message) } ?? "")
    case .moved(let moves):
      "\(TextLayout.counted(moves.count, "file")) moved"
        + Self.example(moves.first.map { "\($0.from) is now \($0.to)" }, of: moves.count)
    case .missing(let paths):
      "\(TextLayout.counted(paths.count, "file")) missing" + Self.example(paths.first, of: paths.count)
    case .away(let folder, let files):
      TextLayout.printable(folder) + " is gone, or empty where it had \(TextLayout.counted(files, "file")): "
        + "is it mounted? Nothing is changed until it returns; --accept-missing accepts an empty folder."
    case .returned(let folder): TextLayout.printable(folder) + " is there again."
    case .scanning(let sentence): TextLayout.printable(sentence)
    case .waiting: "Another import is running; files wait for its end."
    }
  }

  /// A count with the words for one and for several.
  private typealias Counted = (count: Int, one: String, several: String)

  private static func counts(_ summary: ImportSummary) -> [Counted] {
    let joined = "joined another as its video, RAW or edit"
    var counts: [Counted] = [
      (summary.assetsAdded, "added", "added"), (summary.resourcesAdded, joined, joined),
      (summary.stacks, "stack made", "stacks made"), (summary.duplicates, "duplicate", "duplicates"),
      (summary.duplicatesInTrash, "of them in the trash", "of them in the trash"),
      (summary.restored, "lost file restored", "lost files restored"),
      (summary.sidecars, "describes other files", "describe other files"), (summary.warned, "warning", "warnings"),
    ]
    for (reason, count) in summary.skipped.sorted(by: { $0.key < $1.key }) {
      counts.append((count, "skipped: \(reason)", "skipped: \(reason)"))
    }
    return counts
  }

  private static func line(_ counts: [Counted]) -> String {
    let words = counts.filter { $0.count > 0 }.map { TextLayout.counted($0.count, $0.one, $0.several) }
    return words.joined(separator: ", ") + "."
  }

  private static func example(_ text: String?, of count: Int) -> String {
    guard let text else { return "." }
    return (count > 1 ? ", the first: " : ": ") + TextLayout.printable(text)
  }
}

extension JSON {
  /// A piece of news of a watch.
  fileprivate init(_ news: LibraryWatch.News) {
    func number(_ value: Int) -> JSON { .integer(Int64(value)) }
    switch news {
    case .watching(let folders, let files):
      self = ["event": "watching", "folders": number(folders), "files": number(files)]
    case .imported(let summary): self = ["event": "imported", "summary": JSON(summary)]
    case .moved(let moves):
      self = ["event": "moved", "files": .list(moves.map { ["from": .text($0.from), "to": .text($0.to)] })]
    case .missing(let paths): self = ["event": "missing", "files": .list(paths.map { .text($0) })]
    case .away(let folder, let files):
      self = ["event": "away", "folder": .text(folder), "files": number(files)]
    case .returned(let folder): self = ["event": "returned", "folder": .text(folder)]
    case .scanning(let sentence): self = ["event": "scanning", "message": .text(sentence)]
    case .waiting: self = ["event": "waiting"]
    }
  }
}
