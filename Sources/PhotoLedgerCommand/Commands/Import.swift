import Foundation
import JSONReading
import LibraryJSON
import LibraryMaintenance
import MediaImport
import PhotoLedger

extension Command {
  private static let reference = Option("reference", "reference the files at their paths instead of copying them")
  private static let watching = Option("watch", "keep running, and import files as they appear in the folders")
  private static let acceptMissing = Option(
    "accept-missing", "with --watch: continue even if many files are missing or a folder has become empty")
  private static let folderAlbums = Option("folder-albums", "create an album for each folder that contains photos")
  private static let sidecars = Option(
    "sidecars", "read sidecars: XMP, JSON of exiftool and osxphotos, YAML of PhotoPrism with its albums")
  private static let people = Option("people-as-keywords", "import the names of people as keywords")
  private static let partnerShared = Option(
    "partner-shared", "TREATMENT", "photos of the account's partner: take (the default), leave, or keyword:WORD")
  private static let selectionNotes = """
    Patterns are case-insensitive shell patterns: one without a slash matches the name of a file or of a folder on its \
    path, one with a slash the path below the root. Files that other programs keep beside photos are skipped unless \
    --all-names is given: thumbnails, previews, bins, libraries of other programs. --dry-run does everything except \
    recording: it prints what would be imported, and up to 20 examples of each rule that was applied.
    """
  private static let move = Option(
    "move", "remove each original after verifying the library's copy; keep all other files")
  /// The library, and the fork that an import goes into.
  private static let importPlaces: @Sendable (Invocation) -> [String] = { $0.libraryPaths + $0.texts("into-fork") }

  private static let noCreation = Option("no-create", "fail instead of creating a library if there is none yet")

  static let `import` = Command(
    words: ["import"], summary: "import photos and videos",
    operands: [Operand("FOLDER", .several, "folders, which are walked, or files")],
    options: .opening
      + [reference, move, watching, acceptMissing, noCreation, folderAlbums, sidecars, people]
      + .importing(asCause: "'import' ('watch' with --watch)") + [.json],
    notes: """
      If there is no library yet, one is created, and its path is printed on standard error; an import that fails
      before it has added anything removes it again. With --no-create, or --as with any client other than the owner,
      the command fails instead.

      Files that are already in the library are skipped, so the same folder can be imported again, and an import that
      was stopped continues when it is started again. Files that could not be imported are listed with the reason, and
      every file is listed in the report that the summary names. The summary also has the command that undoes the
      import by the cause of its commits. The status is 1 if files vanished or could not be read meanwhile. exiftool
      must be installed.

      With --watch the command does not end: it imports what is new in the folders, and then files as they come, once \
      they have been left alone for a second. A line is printed for each batch. With --reference files are recognised \
      by their content when they were moved or renamed, and missing ones are reported; nothing is removed from the \
      library. If more than 1,000 files of a folder, or more than 5 % and more than 10, are missing at once, the \
      command stops with status 1; --accept-missing accepts it. Ctrl-C ends it.

      With --move originals are removed when all files are recorded: each only if the library's copy was read back, is \
      another file, and has the hash of the original, which was read again, was not changed, and is not open for \
      writing in any program. Sidecars, links, files with several hard links, files of libraries and files that were \
      not imported are kept, and counted by reason. An import that was stopped or killed continues when it is started \
      again. Only the owner can use --move, without --reference and --watch; --dry-run counts what would be removed.

      \(selectionNotes)
      """,
    example: "import ~/Pictures /media/card/DCIM", places: importPlaces
  ) { invocation in
    var options = try invocation.importOptions()
    options.removesOriginals = invocation.has(move)
    for option in [move, watching] where invocation.has(option) && invocation.text("into-fork") != nil {
      throw UsageError("--into-fork tries an import out in a fork; it cannot be used with --\(option.name).")
    }
    for option in [reference, watching] where invocation.has(move) && invocation.has(option) {
      throw UsageError("--move removes originals of one import by copy; it cannot be used with --\(option.name).")
    }
    options.leavesFilesInPlace = invocation.has(reference)
    options.makesFolderAlbums = invocation.has(folderAlbums)
    options.readsSidecars = invocation.has(sidecars)
    options.takesPeopleAsKeywords = invocation.has(people)
    guard invocation.has(watching) else {
      if invocation.has(acceptMissing) { throw UsageError("--accept-missing needs --watch.") }
      return try invocation.runImport(of: .folders, options)
    }
    return try invocation.runWatch(options, acceptsMissing: invocation.has(acceptMissing))
  }

  static let importTakeout = Command(
    words: ["import", "takeout"], summary: "import a Google Takeout, with albums and descriptions",
    operands: [Operand("PART", .several, "all parts of one export: .zip, .tgz, .tar, or the unpacked folders")],
    options: .opening + [noCreation, people, partnerShared] + .importing() + [.json],
    notes: """
      Name all parts at once: the JSON of a photo may be in another part than the photo. Archives are read once, from \
      beginning to end, and need not be unpacked. JSON restores names, missing dates, locations, descriptions, \
      favourites, the archive (as hidden) and the bin; albums are created. photoTakenTime never replaces the wall time \
      of a file. Every file and every JSON of every part is in the report: added, duplicate of, describes, or skipped \
      with the reason.

      The summary names the cause of its commits; `undo --cause` with it undoes the import. \
      Zip needs bsdtar (libarchive-tools), tgz needs gzip. A folder called takeout is imported as ./takeout.

      \(selectionNotes)
      """,
    example: "import takeout takeout-20240131T120000Z-*.zip --dry-run", places: importPlaces
  ) { invocation in
    var options = try invocation.importOptions()
    options.takesPeopleAsKeywords = invocation.has(people)
    options.partnerShared = try invocation.partnerShared()
    return try invocation.runImport(of: .takeout, options)
  }
}

extension Command {
  static let importICloud = Command(
    words: ["import", "icloud"], summary: "import an export of iCloud Photos, with albums",
    operands: [Operand("PART", .several, "all parts of one export: .zip, .tgz, .tar, or the unpacked folders")],
    options: .opening + [noCreation] + .importing() + [.json],
    notes: """
      Name all parts at once: the lists of albums name photos of any part. The lists contain favourites, hidden \
      photos, the bin, and missing dates. A name that several photos have is added to no album; --dry-run shows which. \
      Zip needs bsdtar (libarchive-tools). A folder called icloud is imported as ./icloud.

      \(selectionNotes)
      """,
    example: "import icloud 'iCloud Photos Part '*.zip --dry-run", places: importPlaces
  ) { invocation in
    try invocation.runImport(of: .iCloud, try invocation.importOptions())
  }
}

extension Invocation {
  /// Runs an import, prints its summary, and reports missing files.
  fileprivate func runImport(of export: MediaExport, _ options: LibraryImport.Options) throws -> ExitStatus {
    let interruption = Interruption()
    for operand in operands { _ = try path(operand, command.operands[0].name) }
    guard let fork = try text("into-fork").map({ try directory($0, "--into-fork") }) else {
      return try withLibraryOfImport(isCreating: text("no-create") == nil, isKept: !options.isDryRun) {
        try runImport(of: export, into: $0, isNew: $1, options, interruption)
      }
    }
    // Before anything is made: what ends most imports that fail.
    try LibraryImport.check(operands.map { FilePath($0) })
    let first = try withLibrary { library in
      _ = try showingProgress(interruption) { progress in try library.fork(to: fork, progress: progress) }
      return library.url.path
    }
    let (firstWord, forkWord) = (TextLayout.shellWord(first), TextLayout.shellWord(fork.path))
    defer {
      Output.notice("The library \(first) is unchanged; the import went into its fork \(fork.path).")
      // Not as a notice, which breaks lines at blanks, and so within quoted paths.
      Output.complain(
        "`photoledger compare \(firstWord) --library \(forkWord)` lists what it created; with --library \(forkWord) an "
          + "import continues there. To discard it, delete the directory.\n")
    }
    return try withLibrary(at: fork) { library in
      try runImport(of: export, into: library, isNew: false, options, interruption)
    }
  }

  /// - Parameter isNew: whether the library was created for this import, and so is removed again with its report if it
  ///   got nothing.
  private func runImport(
    of export: MediaExport, into library: PhotoLibrary, isNew: Bool, _ options: LibraryImport.Options,
    _ interruption: Interruption
  ) throws -> ExitStatus {
    var summary = try Importing(library: library, interruption: interruption, options: options)
      .run(operands, of: export, cause: cause())
    let unprovedCount = summary.moved?.kept[KeepReason.copyUnproved.rawValue] ?? 0
    let isComplete = !summary.wasInterrupted && summary.lostCount == 0 && unprovedCount == 0
    if isNew, !isComplete, summary.commits == 0 { summary.reportFile = "" }
    let status = try output.finish(with: isComplete ? .done : .failed) {
      if printsJSON {
        try output.line(JSON(summary))
      } else {
        try output.write(Importing.text(summary, of: library))
      }
    }
    if summary.lostCount > 0 {
      let files = TextLayout.counted(summary.lostCount, "file")
      let hint = summary.reportFile.isEmpty ? "import again" : "import again, or see the report"
      Output.notice("\(files) could not be read and may be missing from the library; \(hint).")
    }
    if unprovedCount > 0 {
      let files = TextLayout.counted(unprovedCount, "file")
      Output.notice("\(files) of the library could not be read back as copies; run `photoledger resource check`.")
    }
    if summary.wasInterrupted {
      Output.notice("Stopped with \(TextLayout.counted(summary.notReached, "file")) left; run it again to continue.")
      if text("cause") == nil, summary.commits > 0 {
        // Not as a notice, which breaks lines at blanks, and so within the quoted cause.
        let cause = TextLayout.shellWord(summary.cause)
        Output.complain("With --cause \(cause) it continues under the same cause, and one undo reverts all of it.\n")
      }
    }
    return status
  }
}

extension Invocation {
  /// Opens the library for an import, or creates one, also where an earlier creation was cut short; a created one that
  /// got nothing is removed again.
  /// - Parameter body: gets the library, and whether it was created.
  func withLibraryOfImport(
    isCreating: Bool, isKept: Bool, _ body: (PhotoLibrary, _ isNew: Bool) throws -> ExitStatus
  ) throws -> ExitStatus {
    let location = try libraryLocation()
    guard isCreating, try client() ?? PhotoLibrary.owner == PhotoLibrary.owner,
      !PhotoLibrary.exists(at: location.url) || PhotoLibrary.isUnfinished(at: location.url)
    else { return try withLibrary { library in try body(library, false) } }
    // Before anything is made: what ends most imports that fail.
    try LibraryImport.check(operands.map { FilePath($0) })
    let rollback = CreationRollback(of: location.url)
    let library = try location.create()
    Output.notice("Created the library \(location.url.path).")
    do {
      let status = try body(library, true)
      if status == .done, isKept { library.close() } else { try discardIfEmpty(library, rollback) }
      return status
    } catch {
      try discardIfEmpty(library, rollback)
      throw error
    }
  }

  private func discardIfEmpty(_ library: PhotoLibrary, _ rollback: CreationRollback) throws {
    guard try library.closeAndDiscard(by: rollback) else { return }
    Output.notice("Nothing was imported; the new library \(library.url.path) was removed again.")
  }
}

/// Runs an import with a progress bar.
struct Importing {
  let library: PhotoLibrary
  let interruption: Interruption
  var options = LibraryImport.Options()

  func run(_ folders: [String], of export: MediaExport = .folders, cause: String? = nil) throws -> ImportSummary {
    let importing = try LibraryImport(into: library, options: options)
    let line = SharedProgressBar()
    defer { line.clear() }
    return try waiting(interruption) {
      try await importing.run(
        folders.map { FilePath($0) }, of: export, cause: cause, progress: { line.show($0) })
    }
  }

  /// The summary for people.
  /// - Parameters:
  ///   - library: where the import went.
  ///   - isKept: whether the library lasts, and so the report and the commits in it.
  static func text(_ summary: ImportSummary, of library: PhotoLibrary, isKept: Bool = true) -> String {
    let assets = TextLayout.counted(summary.assetsAdded, "asset")
    let done = summary.isDryRun ? "would be added" : "added"
    var text = """
      \(TextLayout.counted(summary.filesFound, "file")) found: \(assets) \(done) in \
      \(TextLayout.counted(summary.commits, "commit")), \(TextLayout.bytes(UInt64(clamping: summary.bytesAdded))).

      """
    let joined = "joined another as its video, RAW or edit"
    let made = summary.isDryRun ? "would be made" : "made"
    let restored = summary.isDryRun ? "of the library would be restored" : "restored"
    let inTrash = "in the trash; `photoledger restore` brings assets back"
    let others: [(count: Int, one: String, several: String)] = [
      (summary.resourcesAdded, joined, joined), (summary.stacks, "stack \(made)", "stacks \(made)"),
      (summary.duplicates, "duplicate", "duplicates"),
      (summary.duplicatesInTrash, "duplicate \(inTrash)", "duplicates \(inTrash)"),
      (summary.restored, "lost file \(restored)", "lost files \(restored)"),
      (summary.sidecars, "describes other files", "describe other files"),
      (summary.notReached, "not reached", "not reached"),
    ]
    for (count, one, several) in others where count > 0 { text += "  \(TextLayout.counted(count, one, several))\n" }
    for (reason, count) in summary.skipped.sorted(by: { $0.key < $1.key }) {
      text += "  \(TextLayout.grouped(count)) skipped: \(reason)\n"
    }
    for file in summary.skippedFiles.prefix(20) { text += "    \(TextLayout.printable(file.message))\n" }
    if summary.warned > 0 { text += "  \(TextLayout.grouped(summary.warned)) imported with a warning\n" }
    for file in summary.warnings.prefix(20) {
      text += "    \(TextLayout.printable("\(file.path): \(file.message)"))\n"
    }
    text += originals(summary)
    text += collections(summary)
    guard isKept, !summary.isDryRun else { return text }
    if !summary.reportFile.isEmpty { text += "  Every file's outcome: \(summary.reportFile)\n" }
    guard summary.commits > 0 else { return text }
    text += "  To undo it: \(library.undoCommand(cause: summary.cause))\n"
    // By far not all of them reach the limit of a commit; the error of the undo says what to do.
    if summary.assetsAdded > 50_000 { text += "  If that does not fit into one commit, undo it by ranges.\n" }
    return text
  }

  /// What became of originals, if they were to be removed.
  private static func originals(_ summary: ImportSummary) -> String {
    guard let moved = summary.moved else { return "" }
    let (removed, kept) = summary.isDryRun ? ("would be removed", "would stay") : ("removed", "kept")
    var text = "  \(TextLayout.counted(moved.removed, "original")) \(removed)\n"
    for (reason, count) in moved.kept.sorted(by: { $0.key < $1.key }) {
      text += "  \(TextLayout.grouped(count)) \(kept): \(reason)\n"
    }
    // Why files were not imported is listed already.
    let others = moved.keptFiles.filter { $0.reason != .notImported }
    for file in others.prefix(20) { text += "    \(TextLayout.printable(file.message))\n" }
    return text
  }

  /// Albums, parts and the rules with examples: of a dry run all, else those that warn.
  private static func collections(_ summary: ImportSummary) -> String {
    var text = ""
    let (made, gets) = summary.isDryRun ? ("would be created", "would get") : ("created", "got")
    for album in summary.albums.prefix(summary.isDryRun ? summary.albums.count : 20) {
      let title = TextLayout.printable(album.title)
      text += "  album '\(title)'\(album.isNew ? " (\(made))" : "") \(gets) \(TextLayout.counted(album.added, "photo"))"
      let known = album.memberCount - album.added
      text += known > 0 ? ", \(TextLayout.grouped(known)) were there\n" : "\n"
    }
    if summary.parts.count > 1 {
      for part in summary.parts {
        text += "  \(TextLayout.printable(part.part)): \(TextLayout.counted(part.files, "file")), "
        text += "\(TextLayout.grouped(part.taken)) imported, \(TextLayout.counted(part.duplicates, "duplicate")), "
        text += "\(TextLayout.grouped(part.describing)) describing, \(TextLayout.grouped(part.leftOut)) skipped\n"
      }
    }
    for rule in summary.rules where summary.isDryRun || AppliedRule.warnings.contains(rule.rule) {
      text += "  \(TextLayout.grouped(rule.count)) × \(rule.rule)\n"
      for example in rule.examples { text += "    \(TextLayout.printable(example))\n" }
    }
    return text
  }
}

extension SharedProgressBar {
  /// Shows how far an import is.
  func show(_ progress: ImportProgress) {
    if progress.originalsFound > 0 {
      show("removing originals", done: progress.originalsDone, total: progress.originalsFound, note: "")
      return
    }
    let note =
      "\(TextLayout.bytes(UInt64(clamping: progress.bytesDone))), \(TextLayout.counted(progress.assetsAdded, "asset"))"
    show("importing", done: progress.filesDone, total: progress.filesFound, note: note)
  }
}

extension JSON {
  /// What an import did.
  init(_ summary: ImportSummary) {
    func number(_ value: some BinaryInteger) -> JSON { .integer(Int64(clamping: value)) }
    self = [
      "run": .text(summary.run),
      "cause": summary.isDryRun ? .null : .text(summary.cause),
      "filesFound": number(summary.filesFound),
      "assetsAdded": number(summary.assetsAdded),
      "resourcesAdded": number(summary.resourcesAdded),
      "stacks": number(summary.stacks),
      "livePhotos": number(summary.livePhotos),
      "duplicates": number(summary.duplicates),
      "duplicatesInTrash": number(summary.duplicatesInTrash),
      "restored": number(summary.restored),
      "sidecars": number(summary.sidecars),
      "described": number(summary.described),
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
      "albums": .list(
        summary.albums.map {
          [
            "title": .text($0.title), "members": number($0.memberCount), "isNew": .bool($0.isNew),
            "added": number($0.added), "named": number($0.named),
          ]
        }),
      "parts": .list(
        summary.parts.map {
          [
            "part": .text($0.part), "files": number($0.files), "taken": number($0.taken),
            "duplicates": number($0.duplicates), "describing": number($0.describing), "leftOut": number($0.leftOut),
          ]
        }),
      "rules": .list(
        summary.rules.map {
          ["rule": .text($0.rule), "count": number($0.count), "examples": .list($0.examples.map { .text($0) })]
        }),
      "isDryRun": .bool(summary.isDryRun),
      "moved": summary.moved.map { JSON($0) } ?? .null,
    ]
  }

  /// What became of originals.
  private init(_ moved: MovedOriginals) {
    self = [
      "removed": .integer(Int64(moved.removed)),
      "kept": .object(moved.kept.sorted { $0.key < $1.key }.map { Member($0.key, .integer(Int64($0.value))) }),
      "keptFiles": .list(
        moved.keptFiles.map {
          ["path": .text($0.path), "reason": .text($0.reason.rawValue), "message": .text($0.message)]
        }),
    ]
  }
}
