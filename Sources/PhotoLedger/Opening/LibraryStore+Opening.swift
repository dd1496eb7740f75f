package import EventLog
package import Foundation
import Glibc
package import LMDB
package import StoreMigrations

// Opening and creating the store of a library.
//
// Problem. A directory may hold a library, a library of another format, a damaged one, or what a creation left that was
// cut short. Opening has to distinguish these without changing any that it does not open.
//
//     store/data.mdb                        opening
//     absent                                `.notALibrary`
//     no bytes, or no format number         an unfinished creation; creating again at the path finishes it
//     an older format                       the steps to this one, in one transaction; then as below
//     a newer format                        rejected, with both numbers
//     this format, a table missing          rejected, with the advice to rebuild where the log is complete
//     this format                           opened
//
// Invariant: the number of the format and event 1, which creates the library, are committed together, and the names of
// the folders are durable before that. So a library exists exactly if its first commit does. Opening creates no store,
// and no table unless a step follows.
//
// Rejected: creating what is missing. A lost table would be opened as an empty one, and a mistyped path as a new
// library.

extension LibraryStore {
  /// Opens the library in a directory, bringing a store of an older format up to this one.
  static func open(
    _ url: URL, libraryEnvironment: LibraryEnvironment, unreadableEvents policy: UnreadableEventPolicy,
    progress: (TaskProgress) -> Bool
  ) throws -> LibraryStore {
    let url = url.standardFileURL
    guard hasStore(url) else {
      let what = FileManager.default.fileExists(atPath: url.path) ? "is not a library" : "does not exist"
      throw LibraryError(
        .notALibrary, "\(url.path) \(what); create one there with `init`, or pass the path of a library.")
    }
    return try reporting {
      if isEmptyStore(url) { throw StoreFormatError.unfinished(url.path) }
      // Nothing is created in an incomplete store: opening it must not change it.
      var options = Self.options
      options.createsStore = false
      let environment = try LMDB.Environment.open(path: storePath(url), options: options)
      let steps = try checkedSteps(of: environment, at: url)
      // The one table of the log that formats before the third lack; nothing in their logs was erased.
      if !steps.isEmpty { _ = try RedactionTable(in: environment) }
      let log = try existingLog(in: environment, at: url)
      let known = try environment.read { t in try Self.identifier(of: log, t, at: url) }
      let projections = try existingProjections(in: environment, at: url, creating: !steps.isEmpty)
      var core = StoreCore(
        environment: environment, log: log, projections: projections, libraryEnvironment: libraryEnvironment,
        identifier: known)
      core.format = try StoreFormat(in: environment, creates: false)
      try core.take(steps, policy, progress)
      // A transaction sees the databases that were opened before it.
      core.forks = try environment.read { [core] t in try core.projections.forks(in: t) }
      return try LibraryStore(url, core)
    }
  }

  /// The steps from the format of a store to this one, if they can be taken where it is.
  package static func checkedSteps(of environment: LMDB.Environment, at url: URL) throws -> [StoreStep] {
    let steps = try StoreFormat.check(environment, of: url.path)
    if let first = steps.first, environment.isOnReadOnlyFileSystem {
      throw LibraryError(
        .storage,
        "The library at \(url.path) has format \(first.from) and must be migrated to format \(StoreFormat.current), "
          + "but its file system is mounted read-only; mount it for writing, or copy the library to another.")
    }
    return steps
  }

  /// The log of an existing library.
  private static func existingLog(in environment: LMDB.Environment, at url: URL) throws(LibraryError) -> EventLog {
    do {
      return try EventLog(in: environment, creates: false)
    } catch {
      let reported = LibraryError(error)
      let names = try? environment.databaseNames()
      let isWhole = names.map { EventLog.ownTableNames.allSatisfy($0.contains) } ?? false
      let advice = isWhole && !lacksNothing(names ?? []) ? " Run `rebuild`, which recreates it." : ""
      throw LibraryError(reported.code, "The library at \(url.path) cannot be opened. \(reported.description)\(advice)")
    }
  }

  /// The projections of an existing library; those that an older format lacks are created.
  private static func existingProjections(
    in environment: LMDB.Environment, at url: URL, creating: Bool
  ) throws -> Projections {
    do {
      return try Projections(in: environment, creates: creating)
    } catch {
      guard error.code == .notFound else { throw error }
      throw LibraryError(
        .corrupted,
        "The library at \(url.path) cannot be opened: a table of its projections is missing; run `rebuild`.")
    }
  }

  /// The tables that are derived from the events.
  package static let derivedTableNames = Projections.names + EventLog.derivedTableNames

  private static func lacksNothing(_ names: [String]) -> Bool { Self.derivedTableNames.allSatisfy(names.contains) }

  /// Makes an empty library in a directory.
  static func create(_ url: URL, libraryEnvironment: LibraryEnvironment) throws -> LibraryStore {
    let url = url.standardFileURL
    let files = FileManager.default
    var isDirectory: ObjCBool = false
    if files.fileExists(atPath: url.path, isDirectory: &isDirectory) {
      guard isDirectory.boolValue else {
        throw LibraryError(.alreadyExists, "\(url.path) is a file; pass an empty directory or a new path.")
      }
      // A creation that was cut short leaves a store without a library, which is finished here.
      guard holdsOnlyCreated(try files.contentsOfDirectory(atPath: url.path)) else {
        throw LibraryError(.alreadyExists, "\(url.path) is not empty; pass an empty directory or a new path.")
      }
    }
    let rollback = CreationRollback(of: url)
    let identifier = libraryEnvironment.identifier()
    do {
      return try fill(url, libraryEnvironment, identifier)
    } catch {
      throw rollback.run(after: LibraryError(error), of: identifier)
    }
  }

  /// Whether the names in a directory are among those that a creation makes before it can be cut short.
  private static func holdsOnlyCreated(_ names: [String]) -> Bool {
    names.allSatisfy { ["store", "resources"].contains($0) }
  }

  /// Makes the store and the folders of a new library.
  private static func fill(
    _ url: URL, _ libraryEnvironment: LibraryEnvironment, _ identifier: LocalIdentifier
  ) throws -> LibraryStore {
    try reporting {
      try makeFolder(storePath(url))
      // Folders that were there may have been made by a creation that was killed before their names were durable.
      for folder in [url.deletingLastPathComponent().path, url.path] { try makeDurable(folder: folder) }
      let environment = try LMDB.Environment.open(path: storePath(url), options: options)
      let log = try EventLog(in: environment)
      let format = try StoreFormat(in: environment)
      var core = try StoreCore(environment, log, libraryEnvironment, identifier: identifier)
      core.format = format
      try environment.write { [core] t in
        guard try log.head(t).sequence == 0 else {
          throw LibraryError(.alreadyExists, "\(url.path) is already a library; open it, or pass another path.")
        }
        try format.note(in: &t)
        let date = libraryEnvironment.date()
        let event = Event.libraryCreated(identifier: identifier, date: date)
        let commit = CommitInformation(
          time: date.microseconds, client: PhotoLibrary.owner, cause: "", process: libraryEnvironment.process)
        var appender = try log.begin(commit, in: &t)
        let sequence = try appender.append(
          type: event.type, version: Event.version, payload: event.payload(), salt: libraryEnvironment.salt(), in: &t)
        try core.projections.apply(event, sequence: sequence, commit: appender.commit, in: &t)
        _ = try appender.finish(in: &t)
      }
      return try LibraryStore(url, core)
    }
  }

  private convenience init(_ url: URL, _ core: StoreCore) throws {
    var core = core
    let folder = try LibraryFolder(url)
    core.snapshots = SnapshotStore(in: folder)
    let signal = try ChangeSignal(path: Self.storePath(url) + "/changes")
    // All that was opened by the path is of one directory, or the library was moved meanwhile.
    guard folder.holds("store", at: core.environment.location), folder.isNamed(by: url.path) else {
      throw LibraryError(.storage, "The library at \(url.path) was moved while it was opened; open it where it is now.")
    }
    let resources = try ResourceStore(in: folder, isReadOnly: core.environment.isOnReadOnlyFileSystem)
    self.init(core: core, resources: resources, signal: signal)
    // An opened library writes and follows from the beginning: an idle writer frees the slots of readers that died.
    _ = writer
    installed((any SharedResults).self).install(observation)
    installed((any AccessAsking).self).install(prompting)
  }

  /// Makes a folder and those above it, naming the one that cannot be made; the names of new ones are durable.
  static func makeFolder(_ path: String) throws(LibraryError) {
    var made = ""
    for name in path.split(separator: "/") {
      let parent = made.isEmpty ? "/" : made
      made += "/\(name)"
      if mkdir(made, 0o755) == 0 {
        try makeDurable(folder: parent)
      } else if errno != EEXIST {
        throw LibraryError.store(made, "create the folder", errno: errno)
      }
    }
  }

  /// Makes the names in a folder durable. Where a folder may be written and not be read,
  /// everything is made durable.
  private static func makeDurable(folder path: String) throws(LibraryError) {
    guard Glibc.access(path, R_OK) == 0 else { return Glibc.sync() }
    let number = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0 else { throw LibraryError.store(path, "open the folder", errno: errno) }
    defer { Glibc.close(number) }
    guard Glibc.fsync(number) == 0 else { throw LibraryError.store(path, "make durable", errno: errno) }
  }

  package static func storePath(_ url: URL) -> String { url.path + "/store" }

  /// The file of a directory that makes it a library's.
  package static let storeFileName = "store/data.mdb"

  /// Whether there is a store in a directory: a library, or one whose creation was cut short.
  package static func hasStore(_ url: URL) -> Bool {
    FileManager.default.fileExists(atPath: "\(url.standardFileURL.path)/\(storeFileName)")
  }

  /// Whether the store's file has no bytes: its creation was cut short before the first.
  package static func isEmptyStore(_ url: URL) -> Bool {
    var status = stat()
    return stat("\(url.standardFileURL.path)/\(storeFileName)", &status) == 0 && status.st_size == 0
  }

  /// Whether a directory has what a creation leaves that was cut short: a store without an event and without the number
  /// of its format, which comes with the first event, and no files. Another state is for opening to report.
  static func isUnfinished(_ url: URL) -> Bool {
    let url = url.standardFileURL
    // A store that has lost its tables is not taken for a new one, nor are files for absent that cannot be listed.
    guard hasStore(url), (try? holdsNoFile(url)) ?? false else { return false }
    return isEmptyStore(url) || (try? lacksLibrary(url)) ?? false
  }

  /// Whether a directory has nothing but what a creation makes, and no file among it beside the store's.
  private static func holdsNoFile(_ url: URL) throws -> Bool {
    let names = try FileManager.default.contentsOfDirectory(atPath: url.path)
    guard holdsOnlyCreated(names) else { return false }
    guard names.contains("resources") else { return true }
    return try FileManager.default.contentsOfDirectory(atPath: url.path + "/resources").allSatisfy { $0 == "incoming" }
  }

  private static func lacksLibrary(_ url: URL) throws -> Bool {
    var options = Self.options
    options.createsStore = false
    let environment = try LMDB.Environment.open(path: storePath(url), options: options)
    let names = try environment.databaseNames()
    if names.contains(StoreFormat.name) {
      let format = try StoreFormat(in: environment, creates: false)
      let number = try environment.read { t in try format.stored(t) }
      if number != nil { return false }
    }
    for name in EventLog.ownTableNames where names.contains(name) {
      let table = try environment.databaseOfAnyKeys(name)
      let count = try environment.read { t in try t.count(of: table) }
      if count == 0 { continue }
      // The log notes its format and an empty head once it has all of its tables.
      let log = try EventLog(in: environment, creates: false)
      let isEmpty = try environment.read { t in try log.head(t).sequence == 0 && log.isEmpty(t) }
      if !isEmpty { return false }
    }
    return true
  }

  package static var options: LMDB.Environment.Options {
    var options = LMDB.Environment.Options()
    options.maxDatabases = Projections.databasesMax
    return options
  }

  static func identifier(
    of log: EventLog, _ t: borrowing StoreReading, at url: URL
  ) throws -> LocalIdentifier {
    guard let record = try log.event(at: rootFolder, in: t) else {
      guard try log.head(t).sequence == 0, try log.isEmpty(t) else {
        throw LibraryError(
          .corrupted,
          "The log of \(url.path) lacks event 1, which creates the library; restore a backup, or see `verify`.")
      }
      throw LibraryError(.notALibrary, "\(url.path) contains a store without a library; create a new library.")
    }
    guard case .libraryCreated(let identifier, _) = try Event(record) else {
      throw LibraryError(.corrupted, "The log of \(url.path) does not begin with the library's creation.")
    }
    return identifier
  }
}

extension StoreCore {
  /// Takes the steps from an older format of the store to this one, in one transaction: a step that is cut short has
  /// not happened, and one that another process has taken meanwhile is not taken again.
  fileprivate func take(
    _ steps: [StoreStep], _ policy: UnreadableEventPolicy, _ progress: (TaskProgress) -> Bool
  ) throws {
    guard !steps.isEmpty else { return }
    let format = try StoreFormat(in: environment)
    guard steps.contains(where: { $0.work == .remakesProjections }) else {
      // Opening has made the tables.
      return try environment.write { t in
        try checkFormat(t)
        try format.note(in: &t)
      }
    }
    try remakeProjections(
      policy, if: { t in try format.stored(t) != StoreFormat.current }, finish: { t in try format.note(in: &t) },
      progress: progress)
  }

  package init(
    _ environment: LMDB.Environment, _ log: EventLog, _ libraryEnvironment: LibraryEnvironment,
    identifier: LocalIdentifier
  ) throws {
    self.init(
      environment: environment, log: log, projections: try Projections(in: environment),
      libraryEnvironment: libraryEnvironment,
      identifier: identifier)
  }
}
