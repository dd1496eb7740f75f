internal import CSystem
internal import Foundation
internal import Glibc
public import PhotoLedger
internal import Synchronization

// Folders that are imported as they change.
//
//     FolderEvents ──hints──▶ FolderWatch ──actions──▶ here: list, import, find again, report
//                                  ▲                            │
//                                  └────────── results ─────────┘
//
// FolderWatch decides, FolderEvents hears from the kernel, and this executes: a batch of files is an import like any
// other, with the same duplicates, pairs and report. Originals are only read.
//
// Moved files. A file that the library references and that is gone is looked for by its content among the files that
// are known; a file that comes with the content of an asset whose own file is gone is that file. In both cases the
// asset's resource gets the new path (FileRelocation) and keeps everything else. What is nowhere is missing, which is a
// condition of the file and not of the library: nothing is recorded there, and `state(of:in:)` says it as well.
//
// The right to import is taken for each batch, so other imports go on beside a watch; a batch waits for them.

/// Imports what comes into folders, for as long as it runs.
public struct LibraryWatch: Sendable {
  /// How a watch goes about it.
  public struct Options: Sendable {
    /// How each batch is imported. Folder albums and dry runs do not apply: a batch is only a part of a folder.
    public var importing = LibraryImport.Options()
    /// Whether any number of files may be missing, and a folder may be empty that had files.
    public var acceptsMissing = false
    /// How long a file must keep its size and times before it is imported.
    public var quietTime: Duration = .seconds(1)
    /// How long a file may be gone before it is looked for elsewhere, and missing if it is not found.
    public var graceTime: Duration = .seconds(3)
    /// The cause of all commits; nil: `watch` and the name of the run.
    public var cause: String?
    /// The most folders that the kernel is asked to watch.
    var watchLimit = Int.max
    /// The time since some fixed moment.
    var clock: @Sendable () -> Duration = {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// The usual way, with references to the files where they are.
    public init() { importing.leavesFilesInPlace = true }
  }

  /// What a watch has to say.
  public enum News: Sendable {
    /// All folders have been read once.
    case watching(folders: Int, files: Int)
    /// A batch of files was imported.
    case imported(ImportSummary)
    /// Files were found at other paths, which the library now has.
    case moved([Move])
    /// Files are gone and nowhere else; their assets stay.
    case missing([String])
    /// A folder is gone, or empty where it had files; nothing below it changes until it returns.
    case away(folder: String, files: Int)
    /// It returned.
    case returned(folder: String)
    /// Some folders are compared by their times every few seconds, for a reason. Said once for each reason.
    case scanning(String)
    /// Another import is running, and a batch waits for its end.
    case waiting
  }

  /// A file that was moved or renamed.
  public struct Move: Sendable, Hashable {
    /// The former path.
    public let from: String
    /// The path where it is.
    public let to: String
  }

  /// How a watch ended.
  public enum End: Sendable, Hashable {
    /// The task was cancelled.
    case cancelled
    /// More files of a folder are missing than happens by itself. Nothing was recorded about it.
    case manyMissing(folder: String, missing: Int, of: Int)
  }

  let library: PhotoLibrary
  let options: Options
  let tool: ExifTool

  /// Prepares a watch.
  /// - Parameters:
  ///   - library: the view of the client that imports.
  ///   - options: how to go about it.
  /// - Throws: ``ImportError`` `.toolMissing` when exiftool is not installed.
  public init(of library: PhotoLibrary, options: Options = Options()) throws(ImportError) {
    (self.library, self.options) = (library, options)
    precondition(
      !options.importing.makesFolderAlbums && !options.importing.isDryRun && !options.importing.removesOriginals,
      "A watch imports a part of a folder at a time, so it makes no folder albums; it records what it does, and "
        + "removes nothing.")
    let running = options.importing.tool
    if let running { tool = running } else { tool = try ExifTool(limits: options.importing.metadataLimits) }
  }

  /// Imports what is in the folders and not known yet, and then what comes, until the task is cancelled.
  /// - Parameters:
  ///   - roots: folders. One that is not there must have files that are known.
  ///   - progress: called from any thread, during a batch.
  ///   - news: called for each piece of news, one after the other.
  /// - Returns: how it ended.
  /// - Throws: ``ImportError`` for errors that stop an import.
  /// - Complexity: at the start O(n) in files and folders, with a system call for each; no known file is read. Later,
  ///   O(m) in the entries of a folder in which something happens.
  public func run(
    _ roots: [FilePath], progress: @escaping @Sendable (ImportProgress) -> Void = { _ in },
    news: @escaping @Sendable (News) -> Void
  ) async throws(ImportError) -> End {
    do {
      let run = try WatchRun(self, roots, progress, news)
      defer { if options.importing.tool == nil { tool.close() } }
      return try await withTaskCancellationHandler {
        try await run.run()
      } onCancel: { [stop = run.stop] in
        stop.request()
      }
    } catch let error as ImportError {
      throw error
    } catch {
      throw ImportError(LibraryError(error))
    }
  }
}

/// Ends the waiting of a watch.
final class WatchStop: Sendable {
  let descriptor: Int32
  private let flag = StopFlag()

  init() throws(LibraryError) {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC))
    guard descriptor >= 0 else { throw LibraryError.store("eventfd", "make", errno: errno) }
  }

  deinit { close(descriptor) }

  var isRequested: Bool { flag.isSet }

  func request() {
    flag.set()
    var one: UInt64 = 1
    _ = write(descriptor, &one, 8)
  }
}

/// A watch under way. Used by one task.
private final class WatchRun {
  let stop: WatchStop
  private let watch: LibraryWatch
  private let roots: [FilePath]
  private let progress: @Sendable (ImportProgress) -> Void
  private let news: @Sendable (LibraryWatch.News) -> Void
  private let known: KnownFiles
  private let listing: FolderListing
  private let events: FolderEvents
  private let report: ImportReportFile
  private let name: String
  private let cause: String
  private let start: Duration
  private var decider: FolderWatch
  private var batchCount = 0
  private var total = ImportSummary()
  private var hasSaidWatching = false
  private var reasons: Set<FolderEvents.Reason> = []
  private var identities: [FilePath: UInt64] = [:]
  private var nextLook: Duration
  private var nextScan = Duration.zero

  init(
    _ watch: LibraryWatch, _ roots: [FilePath], _ progress: @escaping @Sendable (ImportProgress) -> Void,
    _ news: @escaping @Sendable (LibraryWatch.News) -> Void
  ) throws {
    (self.watch, self.progress, self.news) = (watch, progress, news)
    let folder = watch.library.store.folder
    stop = try WatchStop()
    name = watch.library.newRunName()
    cause = watch.options.cause ?? "watch \(name)"
    try folder.makeFolder(ImportReportFile.folder)
    report = ImportReportFile(in: folder, run: name, cause: cause, client: watch.library.client)
    known = KnownFiles(in: folder)
    known.refresh()
    let importing = watch.options.importing
    listing = FolderListing(
      selection: NameSelection(included: importing.includedNames, excluded: importing.excludedNames),
      excluded: (importing.excludedFolders + [FilePath(folder.currentPath)]).map { FolderScan.canonical($0) })
    events = FolderEvents(watchLimit: watch.options.watchLimit)
    self.roots = try Self.checked(roots, known, outside: listing.excluded)
    var rules = FolderWatch.Rules()
    rules.quiet = watch.options.quietTime
    rules.grace = watch.options.graceTime
    rules.tracksMissing = importing.leavesFilesInPlace
    rules.acceptsMissing = watch.options.acceptsMissing
    // What the library has no longer, after an undo or a restore, is taken as though it came now.
    let library = watch.library
    let taken = try known.states(below: self.roots) { try !library.assets(withContent: $0).isEmpty }
    decider = FolderWatch(roots: self.roots, known: taken, rules: rules)
    start = watch.options.clock()
    nextLook = rules.returning
  }

  /// The folders as the kernel names them, none inside another.
  private static func checked(
    _ roots: [FilePath], _ known: KnownFiles, outside excluded: [FilePath]
  ) throws(ImportError) -> [FilePath] {
    var checked: [FilePath] = []
    for root in roots {
      var path = FolderScan.canonical(root)
      if !path.isAbsolute { path = FilePath(FileManager.default.currentDirectoryPath).appending(path.bytes) }
      guard !excluded.contains(where: { path == $0 || path.isBelow($0) }) else {
        throw ImportError(
          .notFound, path: root.description,
          "\(root) is the library's own folder, or one that is excluded; name another folder.")
      }
      var status = stat()
      if path.withCString({ stat($0, &status) }) == 0 {
        guard status.st_mode & S_IFMT == S_IFDIR else {
          throw ImportError(.notFound, path: root.description, "\(root) is not a folder; only folders can be watched.")
        }
      } else if known.states(below: [path], where: { _ in true }).isEmpty {
        _ = try FolderScan.status(ofRoot: root)
      }
      checked.append(path)
    }
    return Set(checked).filter { path in !checked.contains { path.isBelow($0) } }.sorted()
  }

  private var now: Duration { watch.options.clock() - start }

  func run() async throws -> LibraryWatch.End {
    defer { finish() }
    while !stop.isRequested {
      hear()
      if let action = decider.next(at: now) {
        if case .ask(let root, let missing, let count) = action {
          return .manyMissing(folder: root.description, missing: missing, of: count)
        }
        try await execute(action)
        continue
      }
      if !hasSaidWatching, decider.isListed {
        hasSaidWatching = true
        news(.watching(folders: decider.folderCount, files: decider.takenCount))
      }
      await wait()
    }
    return .cancelled
  }

  private func finish() {
    if batchCount == 0 { return }
    // The report has all files; only its last line would be missing, as after a crash.
    try? report.finish(total)
  }

  /// Receives hints, from the kernel and by looking.
  private func hear() {
    for event in events.read() { decider.receive(event, at: now) }
    if events.scannedCount > 0, now >= nextScan {
      let began = now
      for event in events.scan() { decider.receive(event, at: now) }
      // Not more than a tenth of the time.
      nextScan = now + max(.seconds(2), (now - began) * 9)
    }
    guard now >= nextLook else { return }
    nextLook = now + decider.rules.returning
    // Another file system may have been mounted there, of which the kernel says nothing.
    for root in roots where identity(of: root) != identities[root] { decider.receive(.changed(root), at: now) }
  }

  private func identity(of root: FilePath) -> UInt64? {
    var status = stat()
    guard root.withCString({ stat($0, &status) }) == 0 else { return nil }
    return UInt64(status.st_dev) &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(status.st_ino)
  }

  private func wait() async {
    var end = min(nextLook, decider.deadline ?? nextLook)
    if events.scannedCount > 0 { end = min(end, nextScan) }
    let left = max(.zero, end - now)
    let milliseconds = Int32(clamping: Int64(left / .milliseconds(1)) + 1)
    let descriptors = [events.descriptor, stop.descriptor]
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        FolderEvents.wait(for: milliseconds, or: descriptors)
        continuation.resume()
      }
    }
  }

  private func execute(_ action: FolderWatch.Action) async throws {
    switch action {
    case .list(let folder): list(folder)
    case .forget(let folder): events.forget(folder)
    case .take(let files): try await take(files)
    case .resolve(let files): try await resolve(files)
    case .missing(let files):
      try await withTurn {
        try known.record(files.map { path in (path, known[path].map { $0.with(.missing) }) })
      }
      news(.missing(files.map(\.description)))
    case .away(let root, let files): news(.away(folder: root.description, files: files))
    case .returned(let root): news(.returned(folder: root.description))
    case .ask: preconditionFailure("A question ends the watch.")
    }
  }

  private func list(_ folder: FilePath) {
    guard let root = root(of: folder) else { return }
    if folder == root { identities[root] = identity(of: root) }
    guard let number = FolderEntries.open(folder) else {
      let code = errno
      follow(folder, open: nil)
      return decider.receive(.listed(folder, FolderListing.unopened(errno: code)), at: now)
    }
    let open = Descriptor(number)
    follow(folder, open: open.number)
    decider.receive(.listed(folder, listing.list(folder, open.number, root: root)), at: now)
  }

  private func follow(_ folder: FilePath, open: Int32?) {
    guard let reason = events.follow(folder, open: open) else { return }
    decider.receive(.unhinted(folder), at: now)
    if reasons.insert(reason).inserted { news(.scanning(reason.sentence(folder))) }
  }

  private func root(of path: FilePath) -> FilePath? { roots.first { path == $0 || path.isBelow($0) } }

  /// Executes something while no other import runs; nothing if the watch is to end before that.
  private func withTurn(_ body: () async throws -> Void) async throws {
    var hasSaidWaiting = false
    while !stop.isRequested {
      do {
        let turn = try ImportTurn(watch.library.store.folder)
        defer { turn.end() }
        known.refresh()
        return try await body()
      } catch let error as ImportError where error.code == .importRunning {
        if !hasSaidWaiting { news(.waiting) }
        hasSaidWaiting = true
        let descriptors = [stop.descriptor]
        await withCheckedContinuation { continuation in
          DispatchQueue.global().async {
            FolderEvents.wait(for: 500, or: descriptors)
            continuation.resume()
          }
        }
      }
    }
  }
}

// Files that come.
extension WatchRun {
  private func take(_ paths: [FilePath]) async throws {
    var again = Set(paths)
    var (left, unread): (Set<FilePath>, Set<FilePath>) = ([], [])
    try await withTurn {
      let outcomes = Mutex<[FilePath: FileOutcome]>([:])
      let neighbours = neighbours(of: paths)
      let others = Set(neighbours.map(\.path))
      let passedOver = Atomic(0)
      let passedOverInTrash = Atomic(0)
      batchCount += 1
      let target = LibraryTarget(library: watch.library, cause: cause, run: "\(name)-\(batchCount)")
      let importer = MediaImporter(
        target: target, resources: watch.library.store.resources, tool: watch.tool,
        options: watch.options.importing, known: known)
      let (file, began) = (report, watch.options.importing.now())
      var summary = try await importer.run(
        files: ((paths + sidecars(of: paths)).map { scanned($0) } + neighbours).sorted { $0.path < $1.path },
        progress: progress,
        report: { all in
          let reports = all.filter { report in
            if report.isRestored { return true }
            return if case .duplicateOfAsset = report.outcome { !others.contains(report.path) } else { true }
          }
          passedOver.add(all.count - reports.count, ordering: .relaxed)
          passedOverInTrash.add(
            all.count { $0.isInTrash } - reports.count { $0.isInTrash }, ordering: .relaxed)
          try file.append(reports)
          outcomes.withLock { outcomes in for report in reports { outcomes[report.path] = report.outcome } }
        })
      (summary.run, summary.cause, summary.reportFile) = (name, cause, report.path)
      summary.filesFound -= passedOver.load(ordering: .relaxed)
      summary.duplicates -= passedOver.load(ordering: .relaxed)
      summary.duplicatesInTrash -= passedOverInTrash.load(ordering: .relaxed)
      total.add(summary)
      let found = outcomes.withLock { $0 }
      again = Set(paths.filter { found[$0]?.isForLater ?? true })
      unread = Set(paths.filter { found[$0]?.isUnread ?? false })
      left = Set(paths.filter { found[$0].map { !$0.isInLibrary && !$0.isUnread } ?? false })
      let count = summary.assetsAdded + summary.resourcesAdded + summary.restored
      if count + summary.skipped.count + summary.warned > 0 {
        news(.imported(summary))
      }
      try await findAgain(found)
      try known.record(sidecarsAmong: found, readAt: began) { decider.state(of: $0) }
    }
    decider.receive(.taken(again: again, left: left, unread: unread), at: now)
  }

  private func scanned(_ path: FilePath, _ stamp: SourceStamp? = nil) -> ScannedFile {
    let root = root(of: path) ?? FilePath("/")
    let isSidecar = FolderScan.sidecarExtensions.contains(path.pathExtension)
    return ScannedFile(
      path: path, relativeCount: path.bytes.dropFirst(root.bytes.count).drop { $0 == FilePath.slash }.count,
      role: isSidecar ? .sidecar : .candidate, byteCount: decider.state(of: path)?.byteCount ?? 0,
      part: root.description, stamp: stamp)
  }

  /// Files that the library has beside those that come, with which these may be stacked.
  private func neighbours(of paths: [FilePath]) -> [ScannedFile] {
    guard watch.options.importing.formsStacks else { return [] }
    var found: [ScannedFile] = []
    for (folder, files) in Dictionary(grouping: paths, by: { FilePath(bytes: $0.folderBytes) }) {
      let names = StackPlanner.neighbours(of: files.map { Array($0.nameBytes) }, among: decider.names(in: folder))
      for path in names.map({ folder.appending($0) }) where decider.isTaken(path) {
        // One that is not what it was comes by itself.
        guard let stamp = Self.stamp(of: path), FileState(stamp) == decider.state(of: path) else { continue }
        found.append(scanned(path, stamp))
      }
    }
    return found
  }

  /// The sidecars of files, which came before them.
  private func sidecars(of paths: [FilePath]) -> [FilePath] {
    guard watch.options.importing.readsSidecars else { return [] }
    var found: Set<FilePath> = []
    for (folder, files) in Dictionary(grouping: paths, by: { FilePath(bytes: $0.folderBytes) }) {
      let names = Set(decider.names(in: folder))
      func unit(_ name: [UInt8]) -> [UInt8] { FolderWatch.unit(name, isThere: names.contains) }
      let units = Set(files.map { unit(Array($0.nameBytes)) })
      for name in names where SidecarSource.endings.contains(FilePath(bytes: name).pathExtension) {
        if units.contains(unit(name)) { found.insert(folder.appending(name)) }
      }
    }
    return Array(found.subtracting(paths))
  }

  /// Gives assets whose file is gone the one that came with the same content.
  private func findAgain(_ outcomes: [FilePath: FileOutcome]) async throws {
    guard watch.options.importing.leavesFilesInPlace else { return }
    var relocations: [Relocation] = []
    for (path, outcome) in outcomes.sorted(by: { $0.key < $1.key }) {
      // What the library cannot name is not a place to give to an asset.
      guard case .duplicateOfAsset = outcome, let content = known[path]?.sha256,
        String(validating: path.bytes, as: UTF8.self) != nil
      else { continue }
      relocations += try references(to: content) { former in
        former != path && decider.isThere(rootOf: former) && !mayHold(former, content)
      }.map { ($0.asset, $0.path, path, content) }
    }
    try await relocate(relocations)
  }
}

// Files that are gone.
extension WatchRun {
  private typealias Relocation = (asset: LocalIdentifier, from: FilePath, to: FilePath, content: [UInt8])

  /// Looks for files elsewhere.
  private func resolve(_ paths: [FilePath]) async throws {
    let there = Set(paths.filter(Self.exists))
    var elsewhere: Set<FilePath> = []
    try await withTurn {
      var relocations: [Relocation] = []
      for path in paths where !there.contains(path) {
        // What is not known any more was found again when its content came.
        guard let content = known[path]?.sha256 else {
          elsewhere.insert(path)
          continue
        }
        let references = try references(to: content) { $0 == path }
        let found = references.isEmpty ? nil : place(of: content, insteadOf: path)
        guard references.isEmpty || found != nil else { continue }
        elsewhere.insert(path)
        if let found { relocations += references.map { ($0.asset, path, found, content) } }
      }
      try await relocate(relocations)
      try known.record(elsewhere.sorted().map { ($0, nil) })
    }
    decider.receive(.resolved(elsewhere: elsewhere, there: there), at: now)
  }

  /// A file with a content; one of the same name before others. It is read again unless it is what it was.
  private func place(of content: [UInt8], insteadOf path: FilePath) -> FilePath? {
    let places = known.paths(ofContent: content).filter { other in
      guard other != path, String(validating: other.bytes, as: UTF8.self) != nil, let file = known[other],
        let state = Self.state(of: other)
      else { return false }
      // What cannot be read is not where the content is.
      return file.state == state || (try? FileContent(of: other))?.sha256 == content
    }
    return places.first { $0.nameBytes == path.nameBytes } ?? places.first
  }

  /// Whether a path has a content still; another file may have its name by now. What cannot be read may have it.
  private func mayHold(_ path: FilePath, _ content: [UInt8]) -> Bool {
    guard Self.exists(path) else { return false }
    if let file = known[path], let state = Self.state(of: path), file.state == state { return file.sha256 == content }
    return (try? FileContent(of: path)).map { $0.sha256 == content } ?? true
  }

  /// The assets that reference a file with a content, by its path.
  private func references(
    to content: [UInt8], where isMeant: (FilePath) -> Bool
  ) throws -> [(asset: LocalIdentifier, path: FilePath)] {
    try watch.library.assets(withContent: content).flatMap { asset in
      try watch.library.resources(of: asset).compactMap { resource in
        guard resource.sha256 == content, case .referenced(let text) = resource.storage, isMeant(FilePath(text)) else {
          return nil
        }
        return (asset.id, FilePath(text))
      }
    }
  }

  /// Records other paths in one commit.
  private func relocate(_ relocations: [Relocation]) async throws {
    if relocations.isEmpty { return }
    try await watch.library.performChanges(cause: cause) { block in
      for (asset, from, to, content) in relocations {
        block.relocate(FileRelocation(sha256: content, from: from.description, to: to.description), of: asset)
      }
    }
    try known.record(relocations.map { ($0.from, nil) })
    news(.moved(relocations.map { LibraryWatch.Move(from: $0.from.description, to: $0.to.description) }))
  }

  /// Whether a file may be there: an error other than its absence says nothing about it.
  private static func exists(_ path: FilePath) -> Bool {
    var status = stat()
    return path.withCString { stat($0, &status) } == 0 || (errno != ENOENT && errno != ENOTDIR)
  }

  private static func stamp(of path: FilePath) -> SourceStamp? {
    var status = stat()
    return path.withCString { stat($0, &status) } == 0 ? SourceStamp(status) : nil
  }

  private static func state(of path: FilePath) -> FileState? { stamp(of: path).map { FileState($0) } }
}

extension KnownFile {
  fileprivate func with(_ condition: Condition) -> KnownFile {
    var file = self
    file.condition = condition
    return file
  }
}

extension ImportSummary {
  /// Counts another import as a part of this one.
  fileprivate mutating func add(_ other: ImportSummary) {
    (run, cause, reportFile) = (other.run, other.cause, other.reportFile)
    filesFound += other.filesFound
    assetsAdded += other.assetsAdded
    resourcesAdded += other.resourcesAdded
    stacks += other.stacks
    livePhotos += other.livePhotos
    duplicates += other.duplicates
    duplicatesInTrash += other.duplicatesInTrash
    restored += other.restored
    sidecars += other.sidecars
    described += other.described
    skipped.merge(other.skipped, uniquingKeysWith: +)
    warned += other.warned
    notReached += other.notReached
    bytesAdded += other.bytesAdded
    commits += other.commits
  }
}
