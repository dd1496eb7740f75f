internal import Foundation
internal import Glibc
internal import LibraryAudit
package import PhotoLedger

// What people edited, beside the originals.
//
//     original (of a folder that the library refers to)    /photos/a.jpg
//     its sidecar                                          /photos/a.jpg.xmp, or a.xmp where that is there already
//     in a mirror                                          MIRROR/photos/a.jpg.xmp
//
// Only the fields of which a person or a program changed something since the asset was made are written; what is there
// besides stays. A new sidecar is our own packet; an existing one is read, merged by exiftool outside of its folder,
// and replaced in one step if it is still, byte for byte, what was read.
//
// A journal in the library says how each sidecar was left. One that is another now was changed by another program,
// whose words may be newer than the library's: it is left as it is and named, until a person decides.
//
// Invariant: nothing is written without a stamp and hash of what it replaces, taken before the values were merged and
// compared after. Rejected: comparing dates of change (they survive copies, and clocks are wrong); writing into the
// originals (a library of people's own folders never changes them).

/// What became of the sidecar of an asset.
package enum SidecarOutcome: String, Sendable, Hashable, CaseIterable {
  /// A new one was made.
  case written
  /// The fields were merged into one that was there.
  case merged
  /// It says all that, as an earlier run left it.
  case unchanged
  /// It would be written or merged: a dry run writes nothing.
  case wanted
  /// There is nothing to say: nothing was edited.
  case nothing
  /// The library keeps the asset's file itself, so that there is no place beside an original.
  case noPlace
  /// The original is not where the library says it is.
  case missing
  /// It was changed by another program, or belongs to another asset as well.
  case conflict
  /// It could not be read or written.
  case failed
  /// The run was stopped before it.
  case notReached
}

/// The sidecar of an asset, and what became of it.
package struct SidecarReport: Sendable, Hashable {
  /// The asset, as PhotoKit spells its identifier.
  package let asset: String
  package let path: String?
  package let outcome: SidecarOutcome
  /// The names of the fields that it is about.
  package let fields: [String]
  package let message: String?
}

/// Writes sidecars beside originals, or into a mirror of their folders.
package struct SidecarWriting: Sendable {
  /// What is written and how.
  package struct Options: Sendable {
    /// How a sidecar is named where there is none yet.
    package var naming = SidecarNaming.full
    /// A folder that gets the sidecars in place of the originals' folders.
    package var mirror: String?
    /// Whether every field that has a value is written, edited or not.
    package var takesAll = false
    /// Whether sidecars are merged that another program changed since they were written.
    package var mergesChanged = false
    /// Whether nothing is written.
    package var isDryRun = false
    /// What one file may cost exiftool.
    package var metadataLimits = ExifToolLimits()
    /// Where exiftool is looked for; nil: `PATH`.
    package var searchPath: String?

    /// The usual way.
    package init() {}
  }

  private let library: PhotoLibrary
  private let options: Options

  /// - Parameter library: the owner's view.
  package init(of library: PhotoLibrary, options: Options = Options()) {
    (self.library, self.options) = (library, options)
  }

  /// Writes the sidecars of the assets of a result. Cancelling the task stops it between two assets.
  /// - Parameters:
  ///   - assets: which.
  ///   - report: called once for each asset.
  /// - Returns: how many assets had each outcome.
  /// - Throws: ``LibraryError`` `.conflict` while another run is under way, `.accessUserDenied` for any client but the
  ///   owner, `.notEnoughSpace`; ``ImportError`` `toolMissing` when a sidecar has to be merged.
  /// - Complexity: O(n log n + k) for n assets with k events, and one exiftool's work for each merged sidecar.
  package func run(
    _ assets: FetchResult<Asset>, progress: @escaping @Sendable (Int) -> Void = { _ in },
    report: @escaping @Sendable (SidecarReport) -> Void = { _ in }
  ) async throws -> [SidecarOutcome: Int] {
    try library.checkIsOwner("write sidecars")
    let stop = StopFlag()
    let (library, options) = (library, options)
    return try await withTaskCancellationHandler {
      let answers = try await onThreads([assets], width: 1) { (assets) throws(ImportError) in
        Result { () throws -> [SidecarOutcome: Int] in
          let run = try SidecarRun(library: library, options: options, stop: stop)
          var counts: [SidecarOutcome: Int] = [:]
          var count = 0
          try library.forEachAsset(of: assets) { asset, details in
            let answer = try run.write(ExportSubject(asset: asset, details: details, albums: []))
            counts[answer.outcome, default: 0] += 1
            count += 1
            report(answer)
            progress(count)
          }
          try run.finish()
          return counts
        }
      }
      guard let answer = answers.first else { preconditionFailure("One task must have one answer.") }
      return try answer.get()
    } onCancel: {
      stop.set()
    }
  }
}

/// One run. For one thread.
final class SidecarRun {
  private let library: PhotoLibrary
  private let options: SidecarWriting.Options
  private let stop: StopFlag
  private let journal: FileJournal
  private let work: String
  private var lock: FileLock?
  private var writer: MetadataWriter?
  private var owners: [String: LocalIdentifier] = [:]
  private var made = 0

  private static let folder = "sidecars"
  /// What is reported of one sidecar, and the others are written.
  private static let concernOneFile: Set<LibraryError.Code> = [.storage, .alreadyExists, .limitExceeded]
  /// A larger file is not a sidecar.
  private static let byteLimit = 16 << 20

  init(library: PhotoLibrary, options: SidecarWriting.Options, stop: StopFlag) throws {
    (self.library, self.options, self.stop) = (library, options, stop)
    let folder = library.store.folder
    if !options.isDryRun {
      try folder.makeFolder(Self.folder)
      lock = try FileLock(folder.open(Self.folder + "/lock", O_RDWR | O_CREAT, 0o644)) { code in
        LibraryError.store(folder.path(of: Self.folder), "lock", errno: code)
      }
      guard lock != nil else {
        throw LibraryError(.conflict, "Sidecars of this library are being written; start again when that has ended.")
      }
    }
    journal = try FileJournal(at: folder.path(of: Self.folder + "/files"))
    work = try FileManager.default.makeTemporaryFolder("photoledger-sidecars").resolvingSymlinksInPath().path
  }

  deinit {
    lock?.release()
    // What cannot be removed is the system's to clear: it lies among the temporary files.
    try? FileManager.default.removeItem(atPath: work)
  }

  func finish() throws {
    guard !options.isDryRun, !stop.isSet, journal.lineCount > journal.lines.count else { return }
    try journal.compact { $0 }
  }

  /// Writes the sidecar of an asset.
  func write(_ subject: ExportSubject) throws -> SidecarReport {
    var path: String?
    var fields: Set<MetadataField> = []
    func answer(_ outcome: SidecarOutcome, _ message: String? = nil) -> SidecarReport {
      SidecarReport(
        asset: subject.asset.localIdentifier, path: path, outcome: outcome, fields: fields.map(\.rawValue).sorted(),
        message: message)
    }
    if stop.isSet { return answer(.notReached) }
    guard case .referenced(let original)? = subject.original?.storage else {
      return answer(.noPlace, "The library owns this file; `export-files --sidecars` writes a sidecar beside a copy.")
    }
    fields = try self.fields(of: subject)
    if fields.isEmpty { return answer(.nothing) }
    let target = try place(of: original, for: subject.asset)
    path = target
    // Links to files are followed, as at the import.
    var status = stat()
    guard stat(original, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return answer(.missing, "\(original) does not exist, or is not a file.")
    }
    if let owner = try otherOwner(of: target, than: subject.asset) {
      return answer(.conflict, "\(target) is also the sidecar of \(owner.spelled(as: .asset)); use full names.")
    }
    owners[target] = subject.asset.id
    do {
      let (outcome, message) = try write(XMPPacket(subject, fields), fields, of: subject.asset, to: target)
      return answer(outcome, message)
    } catch let error as LibraryError where Self.concernOneFile.contains(error.code) {
      return answer(.failed, error.description)
    } catch let error as ImportError where error.code == .cancelled {
      return answer(.notReached)
    } catch let error as ImportError where error.concernsOneFile || error.code == .toolFailed {
      return answer(.failed, "\(target) cannot be merged: \(error.description)")
    }
  }

  /// The fields that are written: those of which something was changed since the asset was made.
  private func fields(of subject: ExportSubject) throws -> Set<MetadataField> {
    if options.takesAll { return XMPPacket(subject).filled }
    var changed: Set<String> = []
    try library.forEachPropertyChange(of: subject.asset.localIdentifier) { change in
      if change.origin.type != "asset.created" { changed.insert(change.property) }
      return true
    }
    return Set(MetadataField.allCases.filter { !$0.properties.isDisjoint(with: changed) })
  }

  /// Where the sidecar of an original is to lie: a full name is free of other assets, whatever shorter one is there. A
  /// short one that the top of the asset's stack has as well, such as of one shot in two codings, is the top's.
  private func place(of original: String, for asset: Asset) throws -> String {
    let found = place(of: original)
    let full = SidecarNaming.full.path(of: options.mirror.map { $0 + original } ?? original)
    if found == full { return found }
    if options.naming == .full, try otherOwner(of: found, than: asset) != nil { return full }
    return try isOfTop(found, of: asset) ? full : found
  }

  private func isOfTop(_ target: String, of asset: Asset) throws -> Bool {
    guard asset.isBeneathStack, let stack = asset.stack, let top = try library.asset(stack.uuidString),
      case .referenced(let original)? = try library.resources(of: top).original(top.originalResourceChoice)?.storage
    else { return false }
    return place(of: original) == target
  }

  /// The other asset whose sidecar lies at a path: one of this run, or the one that an earlier run wrote it for, if
  /// that is in the library and has its sidecar still there.
  private func otherOwner(of target: String, than asset: Asset) throws -> LocalIdentifier? {
    if let owner = owners[target] { return owner == asset.id ? nil : owner }
    guard let line = journal.lines[target]?.last, line.asset != asset.id.uuidString,
      let other = try library.asset(line.asset), !other.isTrashed, !other.isErased,
      case .referenced(let original)? = try library.resources(of: other).original(other.originalResourceChoice)?.storage
    else { return nil }
    return place(of: original) == target ? other.id : nil
  }

  /// Where the sidecar of an original lies: under the name that is there, else under the one that is wanted.
  private func place(of original: String) -> String {
    let base = options.mirror.map { $0 + original } ?? original
    let wanted = options.naming.path(of: base)
    let other = SidecarNaming.allCases.first { $0 != options.naming }.map { $0.path(of: base) } ?? wanted
    return FileStamp(of: wanted) == nil && FileStamp(of: other) != nil ? other : wanted
  }

  private func write(
    _ packet: XMPPacket, _ fields: Set<MetadataField>, of asset: Asset, to target: String
  ) throws -> (SidecarOutcome, String?) {
    let wanted = (Array(fields.map(\.rawValue).sorted().joined(separator: " ").utf8) + packet.bytes).sha256.hexadecimal
    var status = stat()
    guard lstat(target, &status) == 0 else {
      guard errno == ENOENT || errno == ENOTDIR else { throw LibraryError.store(target, "read", errno: errno) }
      if packet.filled.isEmpty { return (.nothing, nil) }
      if options.isDryRun { return (.wanted, nil) }
      try install(packet.bytes, over: nil, wanted, of: asset, at: target)
      return (.written, nil)
    }
    guard let stamp = FileStamp(of: target), stamp.byteCount <= Self.byteLimit,
      let old = FileManager.default.contents(atPath: target).map({ Array($0) })
    else { return (.failed, "\(target) is not a sidecar: it is not a file, cannot be read, or is too large.") }
    let hash = old.sha256.hexadecimal
    if let lines = journal.lines[target] {
      let known = lines.last { $0.content.hasSuffix(hash) }
      if let known, known.content.hasPrefix(wanted) { return (.unchanged, nil) }
      if known == nil, !options.mergesChanged {
        return (.conflict, "\(target) was changed by another program since it was written; check it, then merge it.")
      }
    }
    if options.isDryRun { return (.wanted, nil) }
    let new = try merged(old, packet, fields)
    try install(new, over: (stamp, old), wanted, of: asset, at: target)
    return (.merged, nil)
  }

  /// The sidecar with our fields in it.
  private func merged(_ old: [UInt8], _ packet: XMPPacket, _ fields: Set<MetadataField>) throws -> [UInt8] {
    let writer =
      try self.writer
      ?? MetadataWriter(folder: work, limits: options.metadataLimits, searchPath: options.searchPath)
    self.writer = writer
    made += 1
    let (source, result) = ("\(work)/\(made).xmp", "\(made).merged.xmp")
    defer {
      unlink(source)
      unlink("\(work)/\(result)")
    }
    guard FileManager.default.createFile(atPath: source, contents: Data(old)) else {
      throw LibraryError(.notEnoughSpace, "There is not enough space in \(work) to merge a sidecar; free some.")
    }
    let stop = stop
    try writer.write(fields, of: packet, from: source, to: result, isCancelled: { stop.isSet })
    guard let new = FileManager.default.contents(atPath: "\(work)/\(result)"), !new.isEmpty else {
      throw ImportError(.toolFailed, path: source, "exiftool wrote no sidecar.")
    }
    return Array(new)
  }

  /// Where a sidecar is written before it gets its name: one place for each, so that the next run finds it.
  ///
  /// A restored or imported copy has the identifier of its library, and may be run at the same time, so the name is
  /// also made of the library's folder: by device and inode, since a path may be spelled in several ways.
  static func temporaryFile(for target: String, of library: PhotoLibrary) throws(LibraryError) -> String {
    let place = library.store.folder
    guard let status = place.status(of: ".") else {
      let code = errno
      throw LibraryError.store(place.path(of: "."), "examine", errno: code)
    }
    let owner = "\(library.store.core.identifier.uuidString) \(status.st_dev) \(status.st_ino)"
    let folder = String(decoding: FilePath(target).folderBytes, as: UTF8.self)
    let name = Array("\(owner)\n\(target)".utf8).sha256.hexadecimal.prefix(16)
    return "\(folder)/.photoledger-\(name).xmp"
  }

  /// Puts a sidecar in its place if what is there is still what was read.
  private func install(
    _ new: [UInt8], over old: (stamp: FileStamp, bytes: [UInt8])?, _ wanted: String, of asset: Asset, at target: String
  ) throws {
    let folder = String(decoding: FilePath(target).folderBytes, as: UTF8.self)
    if options.mirror != nil {
      do { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) } catch {
        throw LibraryError(.storage, "The folder \(folder) cannot be created: \(LibraryError.reason(of: error)).")
      }
    }
    let temporary = try Self.temporaryFile(for: target, of: library)
    // Of a run that was killed: it did not write this sidecar, so that a later run comes to it, and runs of one library
    // exclude each other.
    guard unlink(temporary) == 0 || errno == ENOENT else { throw LibraryError.store(target, "write", errno: errno) }
    let number = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard number >= 0 else { throw LibraryError.store(target, "write", errno: errno) }
    defer {
      close(number)
      unlink(temporary)
    }
    try writeWhole(new, to: number, target)
    guard fsync(number) == 0, let stamp = FileStamp(of: number) else {
      throw LibraryError.store(target, "make durable", errno: errno)
    }
    let line = JournalLine(
      path: target, asset: asset.id.uuidString, kind: "sidecar", content: "\(wanted)-\(new.sha256.hexadecimal)",
      stamp: stamp)
    if let old {
      guard FileStamp(of: target) == old.stamp,
        FileManager.default.contents(atPath: target).map({ Array($0) }) == old.bytes
      else {
        throw LibraryError(.storage, "\(target) was changed while its fields were merged; start again.")
      }
      try journal.append([line])
      guard rename(temporary, target) == 0 else { throw LibraryError.store(target, "replace", errno: errno) }
    } else {
      try journal.append([line])
      let code = renameWithoutReplacing(temporary, to: target)
      guard code == 0 else {
        if code == EEXIST { throw LibraryError(.alreadyExists, "\(target) appeared meanwhile; start again.") }
        throw LibraryError.store(target, "write", errno: code)
      }
    }
    let parent = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if parent >= 0 {
      defer { close(parent) }
      guard fsync(parent) == 0 || errno == EINVAL || errno == EOPNOTSUPP else {
        throw LibraryError.store(folder, "make durable", errno: errno)
      }
    }
  }
}
