// An LMDB environment: one directory with `data.mdb` and `lock.mdb`.
//
// What LMDB leaves to its caller, and where it is answered:
//
//     one environment a process and file      EnvironmentRegistry: a second open gives the first one
//     not across fork                         Gate.checkProcess, at each begin
//     map full, map grown by another process Gate.drain: all transactions end, mdb_env_set_mapsize, the body runs again
//     stale readers of dead processes         reader check at open, each minute of writing, and when full
//     a meta page that could not be written   every call fails with `panic` until `reopen()`
//     a full file system, no error        a new lock file has its room before LMDB maps it
//     not a file of LMDB's, or cut short      FileHead, before LMDB maps it
//     remote file systems                     statfs at open
//     a file system that is mounted read-only statvfs at open: reads continue without the lock file, which cannot be
//                                             written; writers elsewhere would not know of the readers
//     a file replaced under its users         StoreUsage: replacing it needs exclusive use
//
// Never used: MDB_WRITEMAP (a wild write reaches the file, a full disk is SIGBUS), MDB_DUPSORT, nested transactions.

import CLMDB
import CSystem
import Glibc

/// An open store, shared by all callers that open the same files in this process. Closed with the last reference.
public final class Environment: Sendable {
  /// The directory.
  public let path: String
  /// How it was opened first.
  public let options: Options
  let gate: Gate
  let serial: UInt64
  private let identity: FileIdentity
  private let directory: StoreDirectory
  /// A path that leads to the directory for as long as this object lives, wherever it is moved.
  package var location: String { directory.location }
  /// Whether it is used to rewrite the store: other commits here would be lost with the old file.
  private let isAlone: Bool
  /// Whether the file system was mounted read-only when the store was opened, so that nothing can be written.
  public let isOnReadOnlyFileSystem: Bool
  private let opening = Monitor(())

  private init(
    _ handle: OpaquePointer, _ usage: StoreUsage, path: String, _ directory: StoreDirectory, options: Options,
    serial: UInt64, identity: FileIdentity, isAlone: Bool, isUnwritable: Bool
  ) {
    self.directory = directory
    self.isAlone = isAlone
    isOnReadOnlyFileSystem = isUnwritable
    self.path = path
    self.options = options
    self.serial = serial
    self.identity = identity
    gate = Gate(handle, usage, path: path)
  }

  deinit {
    guard gate.isInOwnProcess else { return }
    gate.monitor.withLock { Self.close(&$0) }
    EnvironmentRegistry.shared.remove(serial: serial)
  }

  /// Opens the store in the directory `path`, or gives the environment that has it open in this process. One that is
  /// being closed is waited for, and the files are opened anew.
  ///
  /// - Throws: `noStore`, `remoteFileSystem`, `invalidFile`, `versionMismatch`, `corrupted`, `permission`,
  ///   `optionsDiffer`, `fileReplaced`, `openedInAnotherProcess`, `busy` while the store is rewritten, `io`.
  public static func open(path: String, options: Options = Options()) throws(LMDBError) -> Environment {
    try open(path: path, options: options, as: nil)
  }

  /// The same for a caller that already has exclusive use of the store.
  static func open(path: String, options: Options, as user: StoreUsage?) throws(LMDBError) -> Environment {
    try prepareDirectory(path, options)
    let files = (data: path + "/data.mdb", lock: path + "/lock.mdb")
    var environment: Environment
    repeat {
      environment = try registered(path, files, options, user)
      try environment.gate.checkProcess("open")
    } while !environment.isStillOpen
    guard user != nil || !environment.isAlone else { throw StoreUsage.isRewritten(path) }
    guard environment.options.agrees(with: options) else {
      throw LMDBError(.optionsDiffer, "open", path: path)
    }
    return environment
  }

  /// Whether the environment is open after whatever drains its gate now; one that was closed is no longer registered.
  private var isStillOpen: Bool {
    if gate.isOpenAfterDraining() { return true }
    EnvironmentRegistry.shared.remove(serial: serial)
    return false
  }

  private static func registered(
    _ path: String, _ files: (data: String, lock: String), _ options: Options, _ user: StoreUsage?
  ) throws(LMDBError) -> Environment {
    try EnvironmentRegistry.shared.environment(dataFile: files.data, lockFile: files.lock) {
      (serial) throws(LMDBError) in
      let directory = try StoreDirectory(path)
      do throws(LMDBError) {
        let usage = if let user { user } else { try StoreUsage(of: directory.location, alone: false) }
        let isUnwritable = isMountedReadOnly(directory.location)
        let handle = try openHandle(directory.location, options, isUnwritable)
        guard let identity = FileIdentity(path: directory.location + "/data.mdb") else {
          MapAdvice.close(handle)
          throw LMDBError(.noStore, "open", path: path)
        }
        // Errors name it long after a path that leads through an open directory has ended.
        let environment = Environment(
          handle, usage, path: StoreDirectory.name(of: path), directory, options: options, serial: serial,
          identity: identity, isAlone: user != nil, isUnwritable: isUnwritable)
        return (environment, identity)
      } catch {
        throw directory.named(error)
      }
    }
  }

  /// Closes the store after the open transactions of this process have ended; the next open begins afresh.
  ///
  /// - Throws: `busy` when the calling thread itself holds a transaction, `closed`.
  public func close() throws(LMDBError) {
    try gate.drain(seconds: .infinity, "close") { state in Self.close(&state) }
    EnvironmentRegistry.shared.remove(serial: serial)
  }

  /// Closes and opens the files under this object, after `panic`; databases stay valid.
  ///
  /// - Throws: `busy`, and what `open` throws; after an error of `open` the environment is closed.
  public func reopen() throws(LMDBError) {
    let result: Result<Void, LMDBError> = try gate.drain(seconds: options.drainSeconds, "reopen") { state in
      Self.close(&state)
      return Result { () throws(LMDBError) in try openAgain(&state) }
    }
    if case .failure(let error) = result {
      EnvironmentRegistry.shared.remove(serial: serial)
      throw error
    }
  }

  /// Opens the files under this object, whose gate lets nothing in meanwhile.
  func openAgain(_ state: inout GateState) throws(LMDBError) {
    do throws(LMDBError) { try openAgain(&state, at: location) } catch { throw directory.named(error) }
  }

  private func openAgain(_ state: inout GateState, at location: String) throws(LMDBError) {
    let usage = try StoreUsage(of: location, alone: false)
    let handle = try Self.openHandle(location, options, isOnReadOnlyFileSystem)
    do throws(LMDBError) {
      guard FileIdentity(path: location + "/data.mdb") == identity else {
        throw LMDBError(.fileReplaced, "reopen", path: path)
      }
      for database in state.databases {
        let index = try Self.openDatabase(handle, database.name, integerKeys: database.hasIntegerKeys, path)
        guard index == database.index else { throw LMDBError(.incompatibleDatabase, "reopen", path: path) }
      }
      (state.handle, state.usage) = (handle, usage)
    } catch {
      MapAdvice.close(handle)
      throw error
    }
  }

  static func close(_ state: inout GateState) {
    state.forgetIdleTransactions()
    if let handle = state.handle { MapAdvice.close(handle) }
    state.handle = nil
    state.usage = nil
  }
}

// MARK: - Opening

extension Environment {
  private static func prepareDirectory(_ path: String, _ options: Options) throws(LMDBError) {
    var status = stat()
    if stat(path, &status) != 0 {
      guard errno == ENOENT, options.createsStore, !options.isReadOnly else {
        throw errno == ENOENT ? LMDBError(.noStore, "open", path: path) : LMDBError(code: errno, "stat", path: path)
      }
      guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw LMDBError(code: errno, "mkdir", path: path) }
    } else if status.st_mode & S_IFMT != S_IFDIR {
      throw LMDBError(.noStore, "open", path: path, detail: "the path is not a directory")
    }
    if !options.allowsRemoteFileSystem, let name = remoteFileSystemName(of: path) {
      throw LMDBError(
        .remoteFileSystem, "open", path: path,
        detail: "\(name) shares neither memory maps nor locks between machines; keep the store on a local disk")
    }
  }

  private static func openHandle(
    _ path: String, _ options: Options, _ isUnwritable: Bool
  ) throws(LMDBError) -> OpaquePointer {
    let head = try FileHead(dataFile: path + "/data.mdb", directory: path)
    if head == nil && (options.isReadOnly || isUnwritable || !options.createsStore) {
      throw LMDBError(.noStore, "open", path: path)
    }
    var created: OpaquePointer?
    let code = mdb_env_create(&created)
    guard code == 0, let handle = created else { throw LMDBError(code: code, "mdb_env_create", path: path) }
    MapAdvice.attach(to: handle)
    do throws(LMDBError) {
      if !isUnwritable { try reserveLockFile(path, options) }
      try check(mdb_env_set_mapsize(handle, max(options.mapSize, head?.mapSize ?? 0)), "mdb_env_set_mapsize", path)
      try check(mdb_env_set_maxreaders(handle, UInt32(options.maxReaders)), "mdb_env_set_maxreaders", path)
      try check(mdb_env_set_maxdbs(handle, UInt32(options.maxDatabases)), "mdb_env_set_maxdbs", path)
      try check(mdb_env_open(handle, path, options.flags(isUnwritable), 0o600), "mdb_env_open", path)
      var dead: Int32 = 0
      try check(mdb_reader_check(handle, &dead), "mdb_reader_check", path)
      // The process that created the file may have been killed before its name was durable. Commits come after this
      // point, so the name of a file with a commit is durable.
      if !isUnwritable, options.durability != .unsafeNoSync, head?.lastTransaction ?? 0 == 0 {
        try synchronizeDirectory(path)
        try synchronizeDirectory(path + "/..")
      }
      return handle
    } catch {
      MapAdvice.close(handle)
      throw error
    }
  }

  /// Makes a new lock file with room for all its readers.
  ///
  /// LMDB creates it as a sparse file and maps it. In a full file system a page cannot be allocated when it is first
  /// touched, and the process would end by a signal instead of an error. An existing one is left alone: opening and
  /// closing it would drop the locks that this process has on it.
  private static func reserveLockFile(_ path: String, _ options: Options) throws(LMDBError) {
    let name = path + "/lock.mdb"
    let descriptor = Glibc.open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    // Where it cannot be made LMDB says why, or goes without.
    guard descriptor >= 0 else { return }
    let readerBytes = 64
    let code = psys_reserve(descriptor, Int64(4096 + options.maxReaders * readerBytes))
    Glibc.close(descriptor)
    guard code == ENOSPC || code == EDQUOT else { return }
    unlink(name)
    var error = LMDBError(code: code, "fallocate", path: path)
    error.detail = "the disk is full, and the lock file, which readers need too, has no space; free some"
    throw error
  }

  static func check(_ code: Int32, _ operation: String, _ path: String) throws(LMDBError) {
    guard code != 0 else { return }
    var error = LMDBError(code: code, operation, path: path)
    if code == ENOMEM {
      error.detail = "the address space for the map is not available; choose a smaller mapSize or lift the limit"
    }
    throw error
  }
}

// MARK: - Databases

extension Environment {
  /// The database `name`, created when missing. Call it when setting up, not inside a transaction.
  ///
  /// - Parameters:
  ///   - name: its name in the main database.
  ///   - integerKeys: whether keys are 64-bit numbers, ordered as such (MDB_INTEGERKEY).
  ///   - create: whether a missing one is created, else `notFound`.
  /// - Throws: `notFound`, `incompatibleDatabase`, `databasesFull`, and what a write throws.
  public func database(
    _ name: String, integerKeys: Bool = false, create: Bool = true
  ) throws(LMDBError) -> Database {
    if let known = try knownDatabase(name, integerKeys) { return known }
    let writerThread = gate.monitor.withLock { $0.writerThread }
    precondition(writerThread != psys_thread_id(), "A database is opened before a write transaction, not inside it.")
    return try opening.withLock { (_) throws(LMDBError) in
      if let known = try knownDatabase(name, integerKeys) { return known }
      let index: UInt32
      if let existing = try existingDatabase(name, integerKeys) {
        index = existing
      } else if create && !options.isReadOnly && !isOnReadOnlyFileSystem {
        let flags = UInt32(MDB_CREATE) | (integerKeys ? UInt32(MDB_INTEGERKEY) : 0)
        index = try write(mapping: { $0 }) { (t) throws(LMDBError) in try t.openDatabase(name, flags: flags) }
      } else {
        throw LMDBError(.notFound, "mdb_dbi_open", path: path, detail: "there is no database named \(name)")
      }
      let database = Database(name: name, hasIntegerKeys: integerKeys, index: index, owner: serial)
      gate.monitor.withLock { $0.databases.append(database) }
      return database
    }
  }

  /// The names of all databases in the file, in byte order.
  ///
  /// - Throws: what a read throws.
  /// - Complexity: O(d), d the number of databases.
  public func databaseNames() throws(LMDBError) -> [String] {
    let read = try beginRead()
    var main: UInt32 = 0
    let code = mdb_dbi_open(read.handle.pointer, nil, 0, &main)
    guard code == 0 else { throw LMDBError(code: code, "mdb_dbi_open", path: path) }
    let database = Database(name: "", hasIntegerKeys: false, index: main, owner: serial)
    var names: [String] = []
    try read.forEach(in: database) { key, _ in
      names.append(key.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
      return .proceed
    }
    return names
  }

  private func knownDatabase(_ name: String, _ integerKeys: Bool) throws(LMDBError) -> Database? {
    let known = gate.monitor.withLock { state in state.databases.first { $0.name == name } }
    guard let known else { return nil }
    guard known.hasIntegerKeys == integerKeys else {
      throw LMDBError(.incompatibleDatabase, "mdb_dbi_open", path: path, detail: "\(name) has another kind of keys")
    }
    return known
  }

  private func existingDatabase(_ name: String, _ integerKeys: Bool) throws(LMDBError) -> UInt32? {
    // A begun and ended read first: it follows a map that another process has grown.
    try read(mapping: { $0 }) { (_) throws(LMDBError) in }
    let handle = try gate.enter(.visitor, "mdb_dbi_open") { _, handle in handle }
    defer { gate.leave(.visitor) }
    do throws(LMDBError) {
      return try Self.openDatabase(handle, name, integerKeys: integerKeys, path)
    } catch {
      if error.number == MDB_NOTFOUND { return nil }
      throw error
    }
  }

  private static func openDatabase(
    _ handle: OpaquePointer, _ name: String, integerKeys: Bool, _ path: String
  ) throws(LMDBError) -> UInt32 {
    var transaction: OpaquePointer?
    try check(mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction), "mdb_txn_begin", path)
    var index: UInt32 = 0
    var flags: UInt32 = 0
    do throws(LMDBError) {
      try check(mdb_dbi_open(transaction, name, 0, &index), "mdb_dbi_open", path)
      try check(mdb_dbi_flags(transaction, index, &flags), "mdb_dbi_flags", path)
      guard flags & ~UInt32(MDB_INTEGERKEY) == 0, (flags & UInt32(MDB_INTEGERKEY) != 0) == integerKeys else {
        throw LMDBError(
          .incompatibleDatabase, "mdb_dbi_open", path: path, detail: "\(name) exists with flags \(flags)")
      }
    } catch {
      mdb_txn_abort(transaction)
      throw error
    }
    try check(mdb_txn_commit(transaction), "mdb_txn_commit", path)  // keeps the handle
    return index
  }
}
