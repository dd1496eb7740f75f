import EventLog
public import Foundation
import Glibc
import JSONReading
import LMDB
public import PhotoLedger

// Backup and restore.
//
//     BACKUP/
//       store/data.mdb      the log and the projections of one commit, compacted (mdb_env_copy in a read snapshot)
//       resources/          the files, or nothing
//       imports/            the reports of imports
//       decisions/          the pairs of photos that are not duplicates
//       sidecars/           which sidecars were written beside originals, and with what content
//       backup.json         which commit, which chain, what is not there, and the SHA-256 of each record, by its path
//                           (imports, decisions, sidecars); written last
//
// A backup is made while the library is used. LMDB copies a snapshot, so the copy is of one commit; files are taken
// after it, so every file that the snapshot names is there, unless it was purged meanwhile or was missing before, and
// then the manifest says so. The log of the copy is proved from its first event before the folder takes its name, and
// so is every file that is copied: its name is its hash.
//
// A backup is itself a library, and can be looked at as one. Restoring proves it again, whole: log, projections and
// files, against the manifest.
//
// Compacted copies leave free pages out, but take over the bytes that deleted entries left inside pages; after an
// erasure, compact first (`compact(at:)`).

/// What a backup holds.
public struct BackupReport: Sendable, Hashable {
  /// The directory.
  public let url: URL
  /// The state that it holds.
  public let token: Token
  /// The number of events in it.
  public let eventCount: UInt64
  /// The chain up to the last of them, in hexadecimal digits.
  public let chain: String
  /// What became of the files.
  public let resources: ResourceTransfer
}

/// What stands in `backup.json`.
struct BackupManifest: Codable {
  static let name = "backup.json"
  static let currentFormat = 1
  /// One that is longer was not written by this program: it names each missing file with 66 bytes.
  fileprivate static let byteLimit: Int64 = 1 << 28
  /// The most bytes of the path of a record: its folder, and the longest name that Linux has.
  fileprivate static let recordByteLimit = 300
  /// The bytes of the name of a file: two digits of its hash, a slash and the others.
  fileprivate static let nameByteLimit = 65
  /// The most values in so many bytes, nearly all of which are names of files and digests of records.
  fileprivate static func valueLimit(ofBytes count: Int) -> Int { 64 + count / nameByteLimit }

  var format = currentFormat
  var library: String
  var date: Date
  var events: UInt64
  var commits: UInt64
  var chain: String
  var resources: String
  var files: Int
  var bytes: UInt64
  var damagedFiles: [String]
  var missingFiles: [String]
  /// The SHA-256 of each report, decision and journal, by its path; nil in manifests of earlier versions.
  var records: [String: String]?
}

extension PhotoLibrary {
  /// Copies the library, as of one commit, to a new directory, while it is in use.
  /// - Parameters:
  ///   - url: a directory that does not exist.
  ///   - resources: how the files of photos are copied.
  ///   - progress: the progress handler; return `false` to cancel, which leaves nothing.
  /// - Returns: the contents of the backup; missing or damaged files are left out and named.
  /// - Throws: ``LibraryError`` `.accessUserDenied` for any client but the owner, `.alreadyExists`,
  ///   `.changeNotSupported` for a directory inside the library, `.userCancelled`, `.corrupted` if the log of the copy
  ///   does not verify, `.notEnoughSpace`, `.storage`.
  /// - Complexity: O(bytes).
  @discardableResult
  public func backup(
    to url: URL, resources: ResourceCopying = .copied, progress: (TaskProgress) -> Bool = { _ in true }
  ) throws -> BackupReport {
    try checkIsNow("back up the library")
    try checkIsOwner("back up the library")
    return try LibraryStore.reporting {
      let folder = try UnfinishedFolder(becoming: url, outside: URL(filePath: store.folder.currentPath))
      let head = try store.copyStore(to: folder, progress, LibraryCopy.backupOptions)
      var transfer = ResourceTransfer()
      let records: [String: String] = try store.folder.withPath { library in
        try transfer.take(from: library, to: folder, resources, progress: progress)
        return try LibraryCopy.takeRecords(from: library, to: folder)
      }
      try LibraryCopy.noteMissing(in: folder.path, &transfer, LibraryCopy.backupOptions)
      let manifest = BackupManifest(
        library: store.core.identifier.uuidString, date: store.core.libraryEnvironment.date(), events: head.sequence,
        commits: head.commit, chain: head.chain.description, resources: resources.rawValue, files: transfer.fileCount,
        bytes: transfer.byteCount, damagedFiles: transfer.damagedFiles, missingFiles: transfer.missingFiles,
        records: records)
      try manifest.write(to: folder.path)
      try folder.finish()
      return BackupReport(
        url: url, token: store.token(head.commit), eventCount: head.sequence, chain: head.chain.description,
        resources: transfer)
    }
  }

  /// Makes a library of a backup again, in a new directory: with the same events, the same chain and the same files.
  ///
  /// The backup is read and not changed. A damaged one can crash the process, since LMDB aborts on some damage: restore
  /// in a child process.
  /// - Parameters:
  ///   - backup: a directory created by ``backup(to:resources:progress:)``.
  ///   - url: a directory that does not exist.
  ///   - resources: how the files of photos are copied.
  ///   - skipsDamagedFiles: whether the restoration does without files whose hash does not match their name or the
  ///     manifest, and without files that the backup no longer has; otherwise such a file stops it.
  ///   - environment: clock, randomness and the name of the process.
  ///   - progress: the progress handler; return `false` to cancel, which leaves nothing.
  /// - Throws: ``LibraryError`` `.notALibrary` if it is not a backup, `.alreadyExists`, `.corrupted` if it does not
  ///   match its manifest, `.newerThanProgram`, `.userCancelled`, `.notEnoughSpace`, `.storage`.
  /// - Complexity: O(bytes), and O(n log n) in events.
  @discardableResult
  public static func restore(
    from backup: URL, to url: URL, resources: ResourceCopying = .copied,
    skippingDamagedFiles skipsDamagedFiles: Bool = false,
    environment: LibraryEnvironment = .system, progress: (TaskProgress) -> Bool = { _ in true }
  ) throws -> BackupReport {
    try LibraryStore.reporting {
      let backup = backup.standardFileURL
      let manifest = try BackupManifest(in: backup.path)
      let folder = try UnfinishedFolder(becoming: url)
      let report: BackupReport = try LibraryCopy.naming(backup.path, copiedTo: folder.path, becoming: url.path) {
        try LibraryCopy.takeStoreFile(from: backup.path, to: folder)
        let found = try LibraryCopy.proved(folder.path, of: backup.path, environment, progress)
        guard found.events == manifest.events, found.chain == manifest.chain else {
          throw LibraryError(
            .corrupted,
            "\(backup.path) has \(found.events) events and the chain \(found.chain), but its manifest names others; "
              + "it was changed after the backup, and is not restored.")
        }
        var transfer = ResourceTransfer()
        try transfer.take(from: backup.path, to: folder, resources, provingAll: true, progress: progress)
        let records = try LibraryCopy.takeRecords(from: backup.path, to: folder)
        for path in manifest.damagedRecords(records) {
          // Only what was taken: a manifest may name any path.
          if records[path] != nil { unlink("\(folder.path)/\(path)") }
          transfer.damagedFiles.append("\(backup.path)/\(path)")
        }
        if let damaged = transfer.damagedFiles.first, !skipsDamagedFiles {
          throw LibraryError(
            .corrupted, "The file \(damaged) of the backup is damaged or missing; restore without damaged files.")
        }
        try LibraryCopy.noteMissing(in: folder.path, &transfer)
        if resources != .left, !skipsDamagedFiles { try manifest.checkComplete(transfer, backup.path) }
        return BackupReport(
          url: url, token: found.token, eventCount: found.events, chain: found.chain, resources: transfer)
      }
      try folder.finish()
      return report
    }
  }
}

extension BackupManifest {
  init(in folder: String) throws {
    let path = "\(folder)/\(Self.name)"
    guard let byteCount = LibraryCopy.byteCount(ofFile: path), byteCount <= Self.byteLimit,
      let bytes = FileManager.default.contents(atPath: path)
    else {
      throw LibraryError(
        .notALibrary, "\(folder) has no \(Self.name), so it is not a backup; pass one created by `backup`.")
    }
    let damaged = LibraryError(.corrupted, "\(folder)/\(Self.name) cannot be read; the backup is damaged.")
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    do {
      // Strict where the decoder is not: a key that stands there twice has two meanings.
      _ = try JSONReader.read(Array(bytes), valueLimit: Self.valueLimit(ofBytes: bytes.count))
      self = try decoder.decode(Self.self, from: bytes)
    } catch {
      throw damaged
    }
    // These are compared as text, which longer ones could make last for hours (LogLine.swift).
    let digests = records.map { Array($0.values) } ?? []
    let paths = records.map { Array($0.keys) } ?? []
    guard ([chain] + missingFiles + digests).allSatisfy({ $0.utf8.count <= Self.nameByteLimit }),
      paths.allSatisfy({ $0.utf8.count <= Self.recordByteLimit })
    else { throw damaged }
    guard format <= Self.currentFormat else {
      throw LibraryError(
        .newerThanProgram, "\(folder) is a backup of the format \(format), which is newer than this program.")
    }
  }

  /// Checks that every file that the backup had when it was made was taken from it.
  func checkComplete(_ transfer: ResourceTransfer, _ folder: String) throws(LibraryError) {
    let missing = Set(missingFiles)
    let lost = transfer.missingFiles.filter { !missing.contains($0) }
    if let first = lost.first {
      let others = lost.count > 1 ? ", and \(lost.count - 1) more are" : ""
      throw LibraryError(
        .corrupted,
        "The file \(folder)/resources/\(first) of the backup is missing\(others); restore without damaged files.")
    }
    // Files that no asset names now, such as those before an edit, are counted only.
    guard transfer.fileCount >= files else {
      throw LibraryError(
        .corrupted,
        "\(folder) has \(transfer.fileCount) files, but its manifest counts \(files); restore without damaged files.")
    }
  }

  /// The paths of the records that the backup had when it was made, and that are missing or have other contents now.
  /// - Parameter found: the SHA-256 of those that were taken from it, by path.
  func damagedRecords(_ found: [String: String]) -> [String] {
    guard let records else { return [] }
    return records.keys.filter { found[$0] != records[$0] }.sorted()
  }

  func write(to folder: String) throws {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try encoder.encode(self).write(to: URL(filePath: "\(folder)/\(Self.name)"))
  }
}

extension LibraryStore {
  /// Copies the store into a folder that is to be a library, and proves the log of the copy.
  func copyStore(
    to folder: UnfinishedFolder, _ progress: (TaskProgress) -> Bool,
    _ options: LMDB.Environment.Options = LibraryStore.options
  ) throws -> EventLog.Head {
    guard progress(TaskProgress(phase: "store", done: 0, total: nil)) else { throw LibraryCopy.stopped }
    // The folder is synced as a whole when it is finished.
    try core.environment.copy(to: folder.path + "/store", compacting: true, isDurable: false)
    return try LibraryCopy.withStore(in: folder.path, options) { environment in
      try LibraryCopy.provedLog(EventLog(in: environment), in: environment, progress)
    }
  }
}

/// The steps by which a library is copied.
enum LibraryCopy {
  static var stopped: LibraryError { LibraryError(.userCancelled, "The copy was stopped; nothing was created.") }

  /// How the store of a backup is opened while the backup is made: on a remote file system, too, since nothing else
  /// opens it meanwhile. A finished backup there can be restored from, and not be opened.
  static var backupOptions: LMDB.Environment.Options {
    var options = LibraryStore.options
    options.allowsRemoteFileSystem = true
    return options
  }

  /// Runs a body with the store of a library that is being made, and closes it.
  static func withStore<R>(
    in folder: String, _ options: LMDB.Environment.Options = LibraryStore.options,
    _ body: (LMDB.Environment) throws -> R
  ) throws -> R {
    let path = "\(folder)/store"
    let environment = try LMDB.Environment.open(path: path, options: options)
    do {
      let result = try body(environment)
      try environment.close()
      unlink("\(path)/lock.mdb")
      return result
    } catch {
      // The folder is removed with what was wrong.
      try? environment.close()
      throw error
    }
  }

  /// Proves a log from its first event and gives its end.
  static func provedLog(
    _ log: EventLog, in environment: LMDB.Environment, _ progress: (TaskProgress) -> Bool
  ) throws -> EventLog.Head {
    try environment.read { t in
      let head = try log.head(t)
      guard let found = try log.proved(in: t, progress) else { throw stopped }
      if let defect = found.defect {
        throw LibraryError(.corrupted, "The copy failed its verification and was discarded. \(defect.description)")
      }
      return head
    }
  }

  /// Copies the data file of a store that is not being written.
  static func takeStoreFile(from library: String, to folder: UnfinishedFolder) throws {
    let path = "\(library)/store/data.mdb"
    try folder.makeFolder("store")
    guard byteCount(ofFile: path) != nil, access(path, R_OK) == 0 else {
      throw LibraryError(.corrupted, "\(path) is missing or cannot be read; the backup is damaged.")
    }
    try FileManager.default.copyItem(atPath: path, toPath: "\(folder.path)/store/data.mdb")
    guard chmod("\(folder.path)/store/data.mdb", 0o600) == 0 else {
      throw LibraryError.store("\(folder.path)/store/data.mdb", "make writable", errno: errno)
    }
  }

  /// Proves a library that is being made of a backup, whole.
  static func proved(
    _ folder: String, of backup: String, _ libraryEnvironment: LibraryEnvironment, _ progress: (TaskProgress) -> Bool
  ) throws -> (events: UInt64, chain: String, token: Token) {
    do {
      return try proved(folder, libraryEnvironment, progress)
    } catch {
      let reported = LibraryError(error)
      guard reported.code == .corrupted || reported.code == .notALibrary else { throw reported }
      // What opening and verifying advise is for a library; the copy of the backup goes with this error.
      let advice = [
        "; stop writing and run `verify`, then `rebuild`", "; run `verify`, then `rebuild`", "; run `rebuild`",
        " Run `rebuild`, which recreates it.",
      ]
      let reason = advice.reduce(reported.description) { $0.replacing($1, with: "") }
      throw LibraryError(
        reported.code,
        "The store of the backup at \(backup) does not verify, and nothing was created; use another backup. \(reason)")
    }
  }

  /// The replay is in the library's folder, on a file system that has room for it.
  private static func proved(
    _ folder: String, _ libraryEnvironment: LibraryEnvironment, _ progress: (TaskProgress) -> Bool
  ) throws -> (events: UInt64, chain: String, token: Token) {
    let library = try PhotoLibrary(at: URL(filePath: folder), environment: libraryEnvironment)
    defer { library.close() }
    let scratch = URL(filePath: "\(folder)/scratch")
    defer { try? FileManager.default.removeItem(at: scratch) }
    let found = try library.verifyStore(scratch: scratch, progress: progress)
    if let defect = found.defect {
      let log = defect.isInProjection ? "The log of the backup is sound. " : ""
      throw LibraryError(.corrupted, log + defect.description)
    }
    let token = try library.currentToken
    library.close()
    try library.store.core.environment.close()
    for name in ["lock.mdb", "changes"] { unlink("\(folder)/store/\(name)") }
    return (found.eventCount, found.chain, token)
  }

  /// Puts the errors of an unfinished copy of a backup that name its folder, which goes with the copy, in words about
  /// the backup, or about the library that was to be made of it.
  static func naming<R>(
    _ backup: String, copiedTo folder: String, becoming final: String, _ body: () throws -> R
  ) throws -> R {
    do {
      return try body()
    } catch {
      let reported = LibraryError(error)
      // Errors within a transaction have the path without links.
      let text = reported.description.replacing(URL(filePath: folder).resolvingSymlinksInPath().path, with: folder)
      guard text.contains(folder) else { throw reported }
      let failure = "The restoration of \(backup) to \(final) failed, and nothing was created"
      switch reported.code {
      case .corrupted, .notALibrary, .newerThanProgram:
        throw LibraryError(reported.code, text.replacing(folder, with: backup))
      case .notEnoughSpace:
        throw LibraryError(
          reported.code, "There is not enough space to restore \(backup) to \(final); free some and try again.")
      // How a commit ended says nothing of a store that is gone.
      case .outcomeUnknown: throw LibraryError(.storage, "\(failure); check the disk and its space, and try again.")
      default:
        let reason = text.replacing("\(folder)/scratch", with: final).replacing(folder, with: final)
          .replacing("; the store is unchanged", with: "")
        throw LibraryError(reported.code, "\(failure). \(reason)")
      }
    }
  }

  /// Copies the reports of imports, the decisions about duplicates and the journal of sidecars, or some of these.
  /// - Returns: the SHA-256 of each copy, by its path.
  @discardableResult
  static func takeRecords(
    _ parts: [String] = ["imports", RejectedPairs.folder, SidecarLines.folder], from library: String,
    to folder: UnfinishedFolder
  ) throws -> [String: String] {
    var digests: [String: String] = [:]
    for part in parts {
      let source = "\(library)/\(part)"
      guard let names = try recordNames(in: source) else { continue }
      try folder.makeFolder(part)
      // A draft may go, or get its name, before it is copied.
      for name in names where !name.hasSuffix(".new") && byteCount(ofFile: "\(source)/\(name)") != nil {
        let copy = "\(folder.path)/\(part)/\(name)"
        try FileManager.default.copyItem(atPath: "\(source)/\(name)", toPath: copy)
        digests["\(part)/\(name)"] = try FileContent(of: FilePath(copy)).sha256.hexadecimal
      }
    }
    return digests
  }

  /// The names in a folder of records; nil if nothing has its name.
  /// - Throws: ``LibraryError`` `.corrupted` for a link, which may lead to any folder of this user, and any other kind.
  private static func recordNames(in folder: String) throws(LibraryError) -> [String]? {
    if let names = try FolderEntries.names(at: folder, followsLink: false) { return names }
    var status = stat()
    // One that was made at this moment has nothing of the copied state.
    guard lstat(folder, &status) != 0 || status.st_mode & S_IFMT == S_IFDIR else {
      throw LibraryError(
        .corrupted, "\(folder) is not a folder, and a link is not followed; put the folder in its place, or remove it.")
    }
    return nil
  }

  /// The length of a regular file; nil for a link, which may point outside the library, a pipe, which never ends, and
  /// any other kind.
  static func byteCount(ofFile path: String) -> Int64? {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int64(status.st_size)
  }

  /// Names the library's files that assets of the copy have and that are not in it, and counts those outside of it.
  static func noteMissing(
    in folder: String, _ transfer: inout ResourceTransfer, _ options: LMDB.Environment.Options = LibraryStore.options
  ) throws {
    let present = Set(
      try ResourceTransfer.files(of: folder).compactMap { SHA256Digest(hexadecimal: $0.filter { $0 != "/" }) })
    (transfer.missingFiles, transfer.referencedFileCount) = try withStore(in: folder, options) { environment in
      let projections = try Projections(in: environment)
      return try environment.read { t in
        var absent: [(asset: ObjectNumber, content: SHA256Digest)] = []
        try t.forEach(in: projections.content) { key, _ in
          let asset = try key.place(at: SHA256Digest.byteCount)
          let content = SHA256Digest(key.extracting(first: SHA256Digest.byteCount))
          if !present.contains(content) { absent.append((asset, content)) }
          return .proceed
        }
        // Only for what is not there an asset has to say whether it was to be. Assets are read in their order.
        absent.sort { $0.asset < $1.asset }
        let runs = absent.inRuns(of: 4096).map(Array.init)
        let parts = try t.onSeveralCores(runs.count) { index, t in try lacking(runs[index], projections, t) }
        return (Set(parts.flatMap { $0.missing }).sorted(), parts.reduce(0) { $0 + $1.referencedCount })
      }
    }
  }

  /// Of contents that a copy lacks: the paths of those that an asset has in the library, and how many it has outside.
  private static func lacking(
    _ contents: [(asset: ObjectNumber, content: SHA256Digest)], _ projections: Projections, _ t: borrowing StoreReading
  ) throws -> (missing: [String], referencedCount: Int) {
    var (missing, referencedCount): ([String], Int) = ([], 0)
    for (asset, content) in contents {
      let found = try projections.details(asset, in: t)?.resources.filter { $0.sha256 == content.bytes } ?? []
      if found.contains(where: { $0.storage == .library }) {
        missing.append("\(content.description.prefix(2))/\(content.description.dropFirst(2))")
      } else if !found.isEmpty {
        referencedCount += 1
      }
    }
    return (missing, referencedCount)
  }
}
