internal import Foundation
internal import Glibc
package import PhotoLedger
internal import Synchronization

// Out of the library, into folders.
//
//     assets of a result ─▶ plan (ExportPlan) ─▶ for each file: is it there? (ExportFolder, FileJournal)
//                                                  as wanted: nothing is read or written
//                                                  not there, or an earlier version of ours: copied, in batches
//                                                  of another asset: after all others (ExportOwners)
//                                                  anything else: left as it is, and said
//                         ─▶ what earlier exports left and nothing wants: listed, removed when asked for, unless a
//                            wanted file of the same asset is not in its place
//
// Nothing is decided by the times of the library: a file is wanted with a content (the hash of its bytes, and of the
// fields that are written into it), and the journal says which content lies under a path. So an export that finds
// everything in place costs one look at each file, and one after a change costs what changed.
//
// Interruption. Cancelling the task stops between two files; what was copied by then is put in its place. A kill at any
// point leaves whole files, and the next export goes on. A full disk ends an export: the files of the batch are removed
// again, those before stay.
//
// Rejected: deleting first and copying then when a path changes (a full disk would leave neither); following links; a
// copy in place of a hard link for files that lie outside of the library (they are copied, since a link would share a
// person's own file).

/// Exports the files of assets to a folder.
package struct LibraryExport: Sendable {
  private let library: PhotoLibrary
  private let options: ExportOptions
  /// Called at each step that leaves a trace; a test ends an export there by throwing.
  var step: @Sendable () throws -> Void = {}

  /// - Parameters:
  ///   - library: the exporting client's view; an as-of view exports the library as of its state.
  ///   - options: the options.
  /// - Throws: ``LibraryError`` `.malformedRequest` for options that exclude each other.
  package init(of library: PhotoLibrary, options: ExportOptions) throws(LibraryError) {
    guard !options.links || !options.embeds else {
      throw LibraryError(
        .malformedRequest,
        "Metadata can be written to copies only: a link shares its bytes with the library. Omit one of the two.")
    }
    (self.library, self.options) = (library, options)
  }

  /// Exports the assets of a result.
  /// - Parameters:
  ///   - assets: the assets to export.
  ///   - folder: the path of the folder, created if it does not exist.
  ///   - progress: called from any thread.
  ///   - report: called once for each file of each asset.
  /// - Returns: the summary; `wasInterrupted` if the task was cancelled.
  /// - Throws: ``LibraryError`` for errors that stop an export, such as `.notEnoughSpace` and `.conflict`;
  ///   ``ImportError`` `toolMissing`, before anything is written. Files that are in place stay.
  /// - Complexity: O(n log n + bytes of what is new) for n files of assets and of earlier exports.
  package func run(
    _ assets: FetchResult<Asset>, to folder: String,
    progress: @escaping @Sendable (ExportProgress) -> Void = { _ in },
    report: @escaping @Sendable (ExportedFile) -> Void = { _ in }
  ) async throws -> ExportSummary {
    let path = try target(folder)
    let stop = StopFlag()
    return try await withTaskCancellationHandler {
      if options.embeds {
        _ = try ExifTool.find(options.searchPath)
        guard !path.utf8.contains(where: { $0 == 0x0A || $0 == 0x0D }) else {
          throw LibraryError(.malformedRequest, "exiftool cannot read '\(path)', whose name contains a line end.")
        }
      }
      let run = ExportRun(
        library: library, options: options, folder: try ExportFolder(path, isDryRun: options.isDryRun),
        stop: stop, step: step, progress: progress, report: report)
      return try await run.run(assets)
    } onCancel: {
      stop.set()
    }
  }

  /// The absolute path of the target.
  private func target(_ folder: String) throws -> String {
    let url = URL(filePath: folder, directoryHint: .isDirectory).standardFileURL.absoluteURL
    let path = url.path == "/" ? "" : url.path
    func resolved(_ url: URL) -> String { url.resolvingSymlinksInPath().path + "/" }
    guard !path.isEmpty, !resolved(url).hasPrefix(resolved(library.url)) else {
      throw LibraryError(.malformedRequest, "\(folder) is the library's own folder or inside it; choose another.")
    }
    return path
  }
}

/// One export.
private final class ExportRun {
  private let library: PhotoLibrary
  private let options: ExportOptions
  private let folder: ExportFolder
  private let stop: StopFlag
  private let step: @Sendable () throws -> Void
  private let reportProgress: @Sendable (ExportProgress) -> Void
  private let reportFile: @Sendable (ExportedFile) -> Void
  private var summary = ExportSummary()
  private var progress = ExportProgress()
  private var present: Set<LocalIdentifier> = []
  /// The assets of which some wanted file is not in its place.
  private var incomplete: Set<String> = []
  private let owners: ExportOwners
  /// By path.
  private var takeovers: [String: ExportTakeover] = [:]
  /// The lines that say of unchanged files whose they are by now; written with the next batch.
  private var renamed: [JournalLine] = []
  private var copies = 0
  private let maker: FileMaker

  /// A batch ends with so many files or bytes.
  private static let batchFileCount = 64
  private static let batchByteCount: UInt64 = 64 << 20

  init(
    library: PhotoLibrary, options: ExportOptions, folder: ExportFolder, stop: StopFlag,
    step: @escaping @Sendable () throws -> Void, progress: @escaping @Sendable (ExportProgress) -> Void,
    report: @escaping @Sendable (ExportedFile) -> Void
  ) {
    (self.library, self.options, self.folder, self.stop) = (library, options, folder, stop)
    (self.step, reportProgress, reportFile) = (step, progress, report)
    owners = ExportOwners(library)
    maker = FileMaker(library: library, options: options, work: folder.work, stop: stop, step: step)
  }

  func run(_ assets: FetchResult<Asset>) async throws -> ExportSummary {
    let subjects = try subjects(of: assets)
    try owners.find(folder.journal.lines, subjects)
    if !options.isDryRun { renamed = owners.inherited() }
    let others = owners.others
    let plan = ExportPlan(subjects, options, reserved: others.union(try keptPaths()))
    summary.assets = plan.assetCount
    summary.hidden = subjects.count { $0.asset.isHidden }
    summary.ofOtherAssets = others.count
    progress.filesPlanned = plan.files.count
    for file in plan.left { note(file) }
    try await bringIn(plan.files.lazy.map { [$0] })
    let waiting = plan.files.compactMap { takeovers[$0.path] }
    owners.findWanted(plan.files, waiting)
    try await bringIn(ExportTakeover.inOrder(waiting))
    if !stop.isSet { try clear(than: Set(plan.files.map(\.path)), others) }
    summary.wasInterrupted = stop.isSet
    summary.assetsWithoutFile = plan.assetCount - present.count
    if !options.isDryRun { try settle() }
    return summary
  }

  private func note(_ file: ExportedFile) {
    summary.outcomes[file.outcome, default: 0] += 1
    reportFile(file)
  }

  private func done(_ file: PlannedFile, _ outcome: ExportOutcome, _ message: String? = nil) {
    if [.copied, .linked, .written, .unchanged, .found, .wanted].contains(outcome) {
      present.insert(file.asset.id)
    } else {
      incomplete.insert(file.asset.id.uuidString)
    }
    progress.filesDone += 1
    note(file.report(outcome, message))
    reportProgress(progress)
  }

  // MARK: What is wanted

  /// The assets in the order of addition, each with its albums if the template asks for them.
  private func subjects(of assets: FetchResult<Asset>) throws -> [ExportSubject] {
    let albums = options.template.usesAlbums ? try AlbumPaths(library) : nil
    var subjects: [ExportSubject] = []
    subjects.reserveCapacity(assets.count)
    try library.forEachAsset(of: assets) { asset, details in
      if asset.isErased { return }
      subjects.append(ExportSubject(asset: asset, details: details, albums: albums?.paths[asset.id] ?? []))
    }
    return subjects.sorted {
      ($0.asset.addedDate, $0.asset.id.uuidString) < ($1.asset.addedDate, $1.asset.id.uuidString)
    }
  }

  /// The paths of what earlier exports left of assets that are gone, if that is to stay.
  private func keptPaths() throws -> Set<String> {
    if options.removesUnwanted { return [] }
    return try owners.pathsWithoutOwner().filter { folder.occupant(of: $0) != .none }
  }

  // MARK: Bringing in

  /// Brings in what can have its path at once; `takeovers` has the others then, for which it is called again. The files
  /// of a group are in one batch.
  private func bringIn(_ groups: some Sequence<[PlannedFile]>) async throws {
    var batch: [PlannedFile] = []
    var byteCount: UInt64 = 0
    for files in groups {
      for file in files {
        guard !stop.isSet else {
          done(file, .notReached)
          continue
        }
        guard try isToBeWritten(file) else { continue }
        batch.append(file)
        byteCount += file.resource?.dataSize ?? 0
      }
      if batch.count >= Self.batchFileCount || byteCount >= Self.batchByteCount {
        try await write(batch)
        (batch, byteCount) = ([], 0)
      }
    }
    try await write(batch)
  }

  /// Whether a file has to be written now; if not, what became of it is noted, or it is noted as a takeover.
  private func isToBeWritten(_ file: PlannedFile) throws -> Bool {
    switch folder.occupant(of: file.path) {
    case .none: break
    case .own(let line):
      if line.content == file.content {
        if line.asset != file.asset.id.uuidString || line.kind != file.kind, !options.isDryRun {
          renamed.append(self.line(file, line.stamp))
        }
        done(file, .unchanged)
        return false
      }
      guard try mayReplace(line, file) else { return false }
    case .changed where options.replacesChanged:
      // One that has other times and its bytes may be the last good copy as well.
      if let line = folder.journal.lines[file.path]?.last, try !mayReplace(line, file) { return false }
    case .changed, .foreign:
      if try adopt(file) { return false }
      // What it is to be is known only once it has been made; `isSettled` compares it then.
      if file.isMade, !options.isDryRun, mayBeWanted(file) { return true }
      conflict(file)
      return false
    }
    if options.isDryRun {
      noteReplaced(file)
      done(file, .wanted)
      return false
    }
    return true
  }

  /// Whether a file may have the place of that of a line now; if not, it is noted as a takeover, or what became of it.
  private func mayReplace(_ line: JournalLine, _ file: PlannedFile) throws -> Bool {
    if takeovers[file.path] != nil { return !isHeld(file) }
    let owner = try owners.owner(of: line)
    if owner == file.asset.id.uuidString { return true }
    takeovers[file.path] = ExportTakeover(file: file, former: line, owner: owner)
    return false
  }

  /// Whether the path of a file has one of another asset that has to stay; that is noted.
  private func isHeld(_ file: PlannedFile) -> Bool {
    guard let takeover = takeovers[file.path] else { return false }
    guard let reason = owners.reasonToKeep(takeover, incomplete, removesUnwanted: options.removesUnwanted) else {
      return false
    }
    conflict(file, "was exported for the asset \(takeover.owner ?? takeover.former.asset), \(reason)")
    return true
  }

  /// Lists the file of an asset that is gone, and whose path another has now.
  private func noteReplaced(_ file: PlannedFile) {
    guard let takeover = takeovers[file.path], takeover.owner == nil else { return }
    summary.unwanted.append(
      UnwantedFile(
        path: file.path, asset: takeover.former.asset, reason: .vanished, isRemoved: !options.isDryRun, message: nil))
  }

  /// Whether what has the path of a file that is to be made may be that file: not if it was made of the same before,
  /// and had another size.
  private func mayBeWanted(_ file: PlannedFile) -> Bool {
    guard let stamp = FileStamp(of: folder.place(file.path)) else { return false }
    let sizes = (folder.journal.lines[file.path] ?? []).filter { $0.content == file.content }.map(\.stamp.byteCount)
    return sizes.isEmpty || sizes.contains(stamp.byteCount)
  }

  /// Leaves alone what has the path of a file.
  private func conflict(_ file: PlannedFile, _ what: String? = nil) {
    let isKnown = folder.journal.lines[file.path] != nil
    let what = what ?? (isKnown ? "was changed since it was exported" : "was not written by an export")
    done(file, .conflict, "\(folder.place(file.path)) \(what); it was left alone.")
  }

  /// Takes a file that has the right bytes and no line in the journal for exported.
  /// - Parameter made: a file with the right bytes, if it had to be made to know them.
  private func adopt(_ file: PlannedFile, _ made: String? = nil) throws -> Bool {
    let place = folder.place(file.path)
    guard let stamp = FileStamp(of: place), try isAsWanted(place, stamp, file, made), FileStamp(of: place) == stamp
    else { return false }
    if !options.isDryRun { try folder.journal.append([line(file, stamp)]) }
    done(file, .found)
    return true
  }

  private func isAsWanted(_ place: String, _ stamp: FileStamp, _ file: PlannedFile, _ made: String?) throws -> Bool {
    if let made { return FileManager.default.contentsEqual(atPath: place, andPath: made) }
    if file.isMade { return false }
    guard var resource = file.resource else {
      let bytes = file.packet?.bytes ?? []
      return stamp.byteCount == bytes.count && FileManager.default.contents(atPath: place).map { Array($0) } == bytes
    }
    // Read as a file that the library refers to: the same size and hash.
    resource.storage = .referenced(path: place)
    return try library.store.resources.state(of: resource, hashing: true) == .present
  }

  /// Takes a file for exported that has the bytes of one that was made, or leaves it alone.
  /// - Returns: false if the path is free for the one that was made.
  private func isSettled(_ made: Made) throws -> Bool {
    guard made.file.isMade else { return false }
    switch folder.occupant(of: made.file.path) {
    case .none, .own: return false
    case .changed where options.replacesChanged: return false
    case .changed, .foreign: break
    }
    if try !adopt(made.file, made.path) { conflict(made.file) }
    try discard(made)
    return true
  }

  /// Discards what may not have its path. That leaves its own asset incomplete, and another one of the batch may be to
  /// have the path of that.
  private func withoutHeld(_ made: [Made]) throws -> [Made] {
    var followers = Dictionary(grouping: made.indices) { takeovers[made[$0].file.path]?.owner }
    var held: Set<Int> = []
    var open = Array(made.indices.reversed())
    while let index = open.popLast() {
      guard !held.contains(index), isHeld(made[index].file) else { continue }
      held.insert(index)
      try discard(made[index])
      open += followers.removeValue(forKey: made[index].file.asset.id.uuidString) ?? []
    }
    return made.indices.filter { !held.contains($0) }.map { made[$0] }
  }

  private func discard(_ made: Made) throws {
    guard unlink(made.path) == 0 || errno == ENOENT else {
      throw LibraryError.store(made.path, "remove", errno: errno)
    }
  }

  private func line(_ file: PlannedFile, _ stamp: FileStamp) -> JournalLine {
    JournalLine(
      path: file.path, asset: file.asset.id.uuidString, kind: file.kind, content: file.content, stamp: stamp)
  }

  /// A file that was made and has no name yet.
  private struct Made {
    let file: PlannedFile
    let path: String
    let isLink: Bool
  }

  private func write(_ batch: [PlannedFile]) async throws {
    if batch.isEmpty, renamed.isEmpty { return }
    do {
      let made = try await withoutHeld(make(batch).filter { try !isSettled($0) })
      try step()
      try folder.synchronize()
      try step()
      let lines = try made.map { made -> JournalLine in
        guard let stamp = FileStamp(of: made.path) else {
          throw LibraryError(.storage, "\(made.path) vanished while it was written; does another program clear it?")
        }
        return line(made.file, stamp)
      }
      try folder.journal.append(renamed + lines)
      renamed = []
      for made in made { try place(made) }
    } catch let error as LibraryError where error.code == .notEnoughSpace {
      // Where the journal has no room to be written anew, the next export does both.
      do throws(LibraryError) { try folder.clearWork() } catch { if error.code != .notEnoughSpace { throw error } }
      throw LibraryError(
        .notEnoughSpace,
        "\(folder.path) is full. The exported files are complete; free some space and export again to continue.")
    }
  }

  private func place(_ made: Made) throws {
    try step()
    // What was made stays in the work folder, where it proves that its line is of no file under that name.
    if isHeld(made.file) { return }
    do throws(LibraryError) {
      try folder.put(made.path, at: made.file.path, replacingChanged: options.replacesChanged)
    } catch {
      if error.code == .notEnoughSpace { throw error }
      done(made.file, error.code == .conflict ? .conflict : .failed, error.description)
      return
    }
    noteReplaced(made.file)
    guard let resource = made.file.resource else { return done(made.file, .written) }
    if !made.isLink { progress.bytesCopied += resource.dataSize }
    summary.bytesCopied = progress.bytesCopied
    done(made.file, made.isLink ? .linked : .copied)
  }

  /// Makes the files of a batch on several threads.
  private func make(_ batch: [PlannedFile]) async throws -> [Made] {
    let maker = maker
    let numbered = batch.enumerated().map { (copies + $0, $1) }
    copies += batch.count
    let width = options.threadCount ?? 2 * max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    let results = try await onThreads(numbered, width: width) { (number, file) throws(ImportError) in
      maker.make(file, number)
    }
    var made: [Made] = []
    var failure: (any Error)?
    for (file, result) in zip(batch, results) {
      switch result {
      case .success(let (path, isLink)): made.append(Made(file: file, path: path, isLink: isLink))
      case .failure(let error as LibraryError) where error.code == .userCancelled: done(file, .notReached)
      case .failure(let error as ImportError) where error.code == .cancelled: done(file, .notReached)
      case .failure(let error as LibraryError) where Self.concernOneFile.contains(error.code):
        done(file, .failed, error.description)
      case .failure(let error as ImportError) where error.concernsOneFile || error.code == .toolFailed:
        done(file, .failed, error.description)
      case .failure(let error): failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return made
  }

  private static let concernOneFile: Set<LibraryError.Code> = [
    .missingResource, .invalidResource, .resourceChanged, .identifierNotFound, .limitExceeded,
  ]

  // MARK: Clearing

  /// Lists the files of earlier exports that are not wanted, and removes them if that was asked for. All files of an
  /// asset stay until each file that is wanted of it is in its place, since one of them may be the last good copy.
  private func clear(than wanted: Set<String>, _ others: Set<String>) throws {
    let left = folder.journal.lines.keys.filter { !wanted.contains($0) && !others.contains($0) }.sorted()
    if left.isEmpty { return }
    let kept = Dictionary(wanted.union(others).map { (SafeFileName.key($0), $0) }) { first, _ in first }
    for path in left {
      guard let line = folder.journal.lines[path]?.last else { continue }
      // A path that we did not create is never removed: other programs may write to the journal's folder.
      guard ExportFolder.isOwn(path) else { continue }
      let occupant = folder.occupant(of: path)
      if occupant == .none { continue }
      // A former spelling of a path that is to stay, where the file system takes both for one.
      if let name = kept[SafeFileName.key(path)], folder.isOneName(path, name) { continue }
      var isRemoved = false
      var message: String?
      if options.removesUnwanted {
        if let owner = try owners.owner(of: line), incomplete.contains(owner) {
          message = "\(folder.place(path)) was kept: a file of its asset that is to replace it could not be exported."
        } else if case .own = occupant {
          if !options.isDryRun {
            try step()
            try folder.remove(path)
            isRemoved = true
          }
        } else {
          message = "\(folder.place(path)) was changed since it was exported; it was left alone."
        }
      }
      let reason: UnwantedFile.Reason = try owners.isThere(line.asset) ? .superseded : .vanished
      summary.unwanted.append(
        UnwantedFile(path: path, asset: line.asset, reason: reason, isRemoved: isRemoved, message: message))
    }
  }

  /// Makes the names durable; then one line of the journal for each file is of use.
  private func settle() throws {
    try step()
    try folder.synchronize()
    try folder.clearWork()
    let folder = folder
    guard !summary.wasInterrupted else { return }
    guard folder.journal.lineCount > folder.journal.lines.count || summary.unwanted.contains(where: \.isRemoved) else {
      return
    }
    try step()
    try folder.journal.compact { folder.place($0) }
  }
}

/// Makes files of the library in the work folder. Used by several threads.
private struct FileMaker: Sendable {
  let library: PhotoLibrary
  let options: ExportOptions
  let work: String
  let stop: StopFlag
  let step: @Sendable () throws -> Void
  private let writers = WriterPool()

  init(
    library: PhotoLibrary, options: ExportOptions, work: String, stop: StopFlag,
    step: @escaping @Sendable () throws -> Void
  ) {
    (self.library, self.options, self.work, self.stop, self.step) = (library, options, work, stop, step)
  }

  /// Makes a file; one that cannot be made leaves nothing in the work folder.
  /// - Returns: its path, and whether it is a second name of the library's own file.
  func make(_ file: PlannedFile, _ number: Int) -> Result<(path: String, isLink: Bool), any Error> {
    Result {
      try step()
      // exiftool goes by the endings of what it reads and makes.
      let known = file.resource.map { UniformType.filenameExtension(of: $0.uniformTypeIdentifier) } ?? ""
      let ending = known.isEmpty ? file.resource.flatMap { _ in SafeFileName.ending(of: file.path) } ?? "" : known
      let name = "\(ExportFolder.workName(of: file.path))-\(number)"
      let path = "\(work)/\(name)\(ending)"
      guard let resource = file.resource else {
        try write(file.packet?.bytes ?? [], to: path)
        return (path, false)
      }
      if options.links, case .library = resource.storage, try link(resource, of: file.asset, to: path) {
        return (path, true)
      }
      try ResourceCopy(resource, of: file.asset, in: library, stop: stop).write(to: path)
      guard let packet = file.packet else { return (path, false) }
      defer { unlink(path) }
      return (try embed(packet, of: file.asset, in: path, resource.dataSize, as: "\(name).result\(ending)"), false)
    }
  }

  /// Makes a file with metadata of a copy.
  /// - Returns: its path.
  private func embed(
    _ packet: XMPPacket, of asset: Asset, in path: String, _ byteCount: UInt64, as result: String
  ) throws -> String {
    let writer = try writers.take {
      try MetadataWriter(folder: work, limits: options.metadataLimits, searchPath: options.searchPath)
    }
    defer { writers.give(writer) }
    let stop = stop
    do throws(ImportError) {
      try writer.write(
        packet.filled, of: packet, from: path, to: result, picture: asset.mediaType == .image ? asset : nil,
        isCancelled: { stop.isSet })
      return "\(work)/\(result)"
    } catch {
      let isFull = freeByteCount < byteCount + 1 << 16
      unlink("\(work)/\(result)")
      // What exiftool has to say of a full disk is not heard.
      if error.code == .toolFailed, isFull { throw LibraryError.store(path, "write metadata into", errno: ENOSPC) }
      throw error
    }
  }

  private var freeByteCount: UInt64 {
    var status = statvfs()
    return statvfs(work, &status) == 0 ? UInt64(status.f_bavail) * UInt64(status.f_frsize) : .max
  }

  /// Gives the library's file a second name; false where the file system cannot.
  private func link(_ resource: AssetResource, of asset: Asset, to path: String) throws -> Bool {
    let source = try library.url(of: resource, in: asset).path
    guard let stamp = FileStamp(of: source), UInt64(stamp.byteCount) == resource.dataSize else { return false }
    if Glibc.link(source, path) == 0 { return true }
    guard [EXDEV, EPERM, EMLINK, EOPNOTSUPP, EACCES].contains(errno) else {
      throw LibraryError.store(path, "link", errno: errno)
    }
    return false
  }

  private func write(_ bytes: [UInt8], to path: String) throws(LibraryError) {
    let number = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard number >= 0 else { throw LibraryError.store(path, "make", errno: errno) }
    defer { close(number) }
    do throws(LibraryError) { try writeWhole(bytes, to: number, path) } catch {
      unlink(path)
      throw error
    }
  }
}

/// The exiftool processes for writing; a process that is removed is used exclusively until it is returned.
private final class WriterPool: Sendable {
  private struct Idle: @unchecked Sendable {  // guarded by: the mutex, from which one thread takes it at a time
    var writers: [MetadataWriter] = []
  }

  private let idle = Mutex(Idle())

  func take(_ make: () throws -> MetadataWriter) throws -> MetadataWriter {
    let found = idle.withLock { idle in Idle(writers: idle.writers.popLast().map { [$0] } ?? []) }
    return try found.writers.first ?? make()
  }

  func give(_ writer: MetadataWriter) {
    let given = Idle(writers: [writer])
    idle.withLock { $0.writers += given.writers }
  }
}
