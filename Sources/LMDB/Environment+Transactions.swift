import CLMDB
import CSystem
import Glibc

extension Environment {
  /// Begins a read transaction, which ends when it goes out of scope. Prefer `read`.
  ///
  /// Do not begin a second one on a thread that holds one already: it may have to wait for the first.
  /// - Throws: `readersFull`, `panic`, `closed`, `openedInAnotherProcess`, `busy`.
  /// - Complexity: O(1), about 0.1 microseconds.
  public func beginRead() throws(LMDBError) -> ReadTransaction {
    var attempts = 0
    while true {
      do throws(LMDBError) {
        let (transaction, slot) = try gate.beginRead()
        return ReadTransaction(self, TransactionHandle(pointer: transaction, owner: serial), slot: slot)
      } catch {
        attempts += 1
        try answer(error, attempts)
      }
    }
  }

  /// Runs `body` with a snapshot.
  ///
  /// - Throws: as `beginRead`, and what `body` throws.
  @inlinable
  public func read<R>(_ body: (borrowing ReadTransaction) throws -> R) throws -> R {
    let transaction = try beginRead()
    return try body(transaction)
  }

  /// Runs `body` with a snapshot; errors of the store become the caller's own through `wrap`.
  ///
  /// - Throws: what `body` throws, and `wrap` of what `beginRead` throws.
  @inlinable
  public func read<R, E: Error>(
    mapping wrap: (LMDBError) -> E, _ body: (borrowing ReadTransaction) throws(E) -> R
  ) throws(E) -> R {
    let transaction: ReadTransaction
    do throws(LMDBError) { transaction = try beginRead() } catch { throw wrap(error) }
    return try body(transaction)
  }

  /// Runs `body` with the write transaction on the calling thread and commits; a throw aborts.
  ///
  /// When the map is full, the map is grown and `body` runs again in a new transaction: it may do nothing that cannot
  /// be done twice, and starts from what it is given, not from what an earlier run left.
  /// - Throws: what `body` throws; `mapFull`, `diskFull`, `panic`, `permission`, `closed`,
  ///   `openedInAnotherProcess`. After a failed commit look at `outcomeUnknown`.
  public func write<R>(_ body: (inout WriteTransaction) throws -> R) throws -> R {
    try write(mapping: { $0 as any Error }, body)
  }

  /// Runs `body` as `write` does; errors of the store become the caller's own through `wrap`.
  ///
  /// - Throws: what `body` throws, and `wrap` of what `write` throws.
  public func write<R, E: Error>(
    mapping wrap: (LMDBError) -> E, _ body: (inout WriteTransaction) throws(E) -> R
  ) throws(E) -> R {
    while true {
      let attempt: Attempt<R, E>
      do throws(LMDBError) { attempt = try attemptWrite(wrap, body) } catch { throw wrap(error) }
      switch attempt {
      case .ended(let result): return try result.get()
      case .mapFull(let size): do throws(LMDBError) { try grow(from: size) } catch { throw wrap(error) }
      }
    }
  }

  private enum Attempt<R, E: Error> {
    case ended(Result<R, E>)
    case mapFull(size: Int)
  }

  private func attemptWrite<R, E: Error>(
    _ wrap: (LMDBError) -> E, _ body: (inout WriteTransaction) throws(E) -> R
  ) throws(LMDBError) -> Attempt<R, E> {
    var transaction = try beginWrite()
    let result = Result { () throws(E) in
      let result = try body(&transaction)
      if !transaction.mapIsFull {
        do throws(LMDBError) { try transaction.commit() } catch { throw wrap(error) }
      }
      return result
    }
    // A body may have caught, wrapped or dropped the error; the flag decides.
    if !transaction.mapIsFull { return .ended(result) }
    return .mapFull(size: gate.monitor.withLock { Self.mapSize($0.handle) })
  }

  private func beginWrite() throws(LMDBError) -> WriteTransaction {
    if options.isReadOnly {
      throw LMDBError(.permission, "write", path: path, detail: "the environment was opened for reading")
    }
    if isOnReadOnlyFileSystem {
      throw LMDBError(
        .permission, "write", path: path,
        detail: "its file system is mounted read-only; mount it for writing, or copy the library to another")
    }
    try checkReadersNowAndThen()
    var attempts = 0
    while true {
      do throws(LMDBError) {
        return WriteTransaction(self, TransactionHandle(pointer: try gate.beginWrite(), owner: serial))
      } catch {
        attempts += 1
        try answer(error, attempts)
      }
    }
  }

  /// Does what the failure of a begin asks for, or throws it.
  private func answer(_ error: LMDBError, _ attempts: Int) throws(LMDBError) {
    switch error.code {
    case .mapResized where attempts <= 8: try followMapSize()
    case .readersFull where attempts == 1:
      gate.monitor.withLock { $0.forgetIdleTransactions() }
      _ = try readerCheck()
    default: throw error
    }
  }
}

// MARK: - The size of the map

extension Environment {
  /// Takes the map size that another process has set (mdb_env_set_mapsize with 0).
  func followMapSize() throws(LMDBError) {
    try whileEmpty { (state) throws(LMDBError) in try setMapSize(0, &state) }
  }

  /// Makes the map larger than `size`, at which a transaction failed, unless that was done in the meantime.
  func grow(from size: Int) throws(LMDBError) {
    if try readerCheck() > 0 { return }  // a dead reader pinned pages: the same size may do now
    do throws(LMDBError) {
      try whileEmpty { (state) throws(LMDBError) in
        guard Self.mapSize(state.handle) <= size else { return }
        let next = min(size * 2, options.mapSizeMax)
        guard next > size else {
          throw LMDBError(
            .mapFull, "mdb_env_set_mapsize", path: path, detail: "the map has reached mapSizeMax, \(size) bytes")
        }
        try setMapSize(next, &state)
      }
    } catch {
      guard error.code == .busy else { throw error }
      throw LMDBError(
        .mapFull, "mdb_env_set_mapsize", path: path,
        detail: "the map of \(size) bytes is full and could not be grown, because \(error.detail ?? "it is in use")")
    }
  }

  /// Runs `body` with no transaction in this process.
  private func whileEmpty(_ body: (inout GateState) throws(LMDBError) -> Void) throws(LMDBError) {
    do throws(LMDBError) {
      try gate.drain(seconds: options.drainSeconds, "mdb_env_set_mapsize", body)
    } catch {
      if gate.monitor.withLock({ $0.handle == nil }) { EnvironmentRegistry.shared.remove(serial: serial) }
      throw error
    }
  }

  /// Replaces the map.
  ///
  /// LMDB gives the old map up before it asks for the new one, and still points into it when there is no room for that.
  /// So the files are opened again then, with the size that they have.
  private func setMapSize(_ size: Int, _ state: inout GateState) throws(LMDBError) {
    guard let handle = state.handle else { throw LMDBError(.closed, "mdb_env_set_mapsize", path: path) }
    let code = mdb_env_set_mapsize(handle, size)
    MapAdvice.startAgain(handle)
    guard code != 0 else { return }
    Self.close(&state)
    try openAgain(&state)
    guard code == ENOMEM else { throw LMDBError(code: code, "mdb_env_set_mapsize", path: path) }
    throw LMDBError(
      .mapFull, "mdb_env_set_mapsize", path: path, number: code,
      detail: size > 0
        ? "the address space of this process has no room for a map of \(size) bytes; raise its limit (ulimit -v)"
        : "the address space of this process has no room for the map that another process has grown; raise its limit "
          + "(ulimit -v)")
  }

  private static func mapSize(_ handle: OpaquePointer?) -> Int {
    var information = MDB_envinfo()
    guard let handle, mdb_env_info(handle, &information) == 0 else { return 0 }
    return information.me_mapsize
  }

  /// Whether a meta page could not be written: every transaction fails until `reopen()`. Not for use in the body of
  /// `write`: it would wait for itself.
  public var isPanicked: Bool {
    let code = gate.monitor.withLock { state -> Int32? in
      var transaction: OpaquePointer?
      guard let handle = state.handle else { return nil }
      let code = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
      if code == 0 { mdb_txn_abort(transaction) }
      return code
    }
    return code == MDB_READERS_FULL ? refusesWriter : code == MDB_PANIC
  }

  /// Whether a write transaction, which takes no reader slot, finds the panic; LMDB looks for a slot first. It may wait
  /// for the writer of another process, so the gate stays open.
  private var refusesWriter: Bool {
    guard let handle = try? gate.enter(.visitor, "mdb_txn_begin", { _, handle in handle }) else { return false }
    defer { gate.leave(.visitor) }
    var transaction: OpaquePointer?
    let code = mdb_txn_begin(handle, nil, 0, &transaction)
    if code == 0 { mdb_txn_abort(transaction) }
    return code == MDB_PANIC
  }
}

// MARK: - Readers, durability, copies

extension Environment {
  /// Frees the reader slots of dead processes, whose snapshots would pin pages for ever (mdb_reader_check).
  ///
  /// - Returns: how many there were.
  /// - Throws: `closed`, `openedInAnotherProcess`, `io`.
  @discardableResult
  public func readerCheck() throws(LMDBError) -> Int {
    let handle = try gate.enter(.visitor, "mdb_reader_check") { state, handle in
      state.lastReaderCheck = monotonicSeconds(coarse: true)
      return handle
    }
    defer { gate.leave(.visitor) }
    var dead: Int32 = 0
    try Self.check(mdb_reader_check(handle, &dead), "mdb_reader_check", path)
    return Int(dead)
  }

  private func checkReadersNowAndThen() throws(LMDBError) {
    let now = monotonicSeconds(coarse: true)
    let isDue = gate.monitor.withLock { state in
      if state.lastReaderCheck == 0 { state.lastReaderCheck = now }
      return now - state.lastReaderCheck > 60
    }
    if isDue { try readerCheck() }
  }

  /// Makes everything committed durable, whatever `Options.durability` says (mdb_env_sync).
  ///
  /// - Throws: `diskFull`, `io`, `closed`.
  public func sync() throws(LMDBError) {
    let handle = try gate.enter(.visitor, "mdb_env_sync") { _, handle in handle }
    defer { gate.leave(.visitor) }
    try Self.check(mdb_env_sync(handle, 1), "mdb_env_sync", path)
  }

  /// Writes a consistent copy of the store to the new directory `destination` (mdb_env_copyfd2).
  ///
  /// The copy is a long reader: it pins pages while it runs. Nothing is left behind after a failure.
  /// - Parameters:
  ///   - destination: a directory that does not exist.
  ///   - compacting: whether free pages are left out, and the bytes of deleted values with them.
  ///   - isDurable: whether the copy is on the disk on return. Otherwise writing it out has only begun, and a caller
  ///     with more copies syncs the file system once for all.
  /// - Throws: `diskFull`, `permission`, `io`, `corrupted`, `closed`.
  public func copy(
    to destination: String, compacting: Bool = false, isDurable: Bool = true
  ) throws(LMDBError) {
    // Follows a map that another process has grown, and will read most of it.
    try read(mapping: { $0 }) { (t) throws(LMDBError) in t.readAround() }
    guard mkdir(destination, 0o700) == 0 else { throw LMDBError(code: errno, "mkdir", path: destination) }
    let file = destination + "/data.mdb"
    do throws(LMDBError) {
      try copy(toFile: file, in: destination, compacting, isDurable)
      guard isDurable else { return }
      try synchronizeDirectory(destination)
      try synchronizeDirectory(destination + "/..")
    } catch {
      unlink(file)
      rmdir(destination)
      throw error
    }
  }

  private func copy(
    toFile file: String, in directory: String, _ compacting: Bool, _ isDurable: Bool
  ) throws(LMDBError) {
    let handle = try gate.enter(.visitor, "mdb_env_copyfd2") { _, handle in handle }
    defer { gate.leave(.visitor) }
    let descriptor = Glibc.open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw LMDBError(code: errno, "open", path: directory) }
    var code = mdb_env_copyfd2(handle, descriptor, compacting ? UInt32(MDB_CP_COMPACT) : 0)
    if code == 0 && !isDurable { psys_begin_writing_out(descriptor) }
    if code == 0 && isDurable && fsync(descriptor) != 0 { code = errno }
    if Glibc.close(descriptor) != 0 && code == 0 { code = errno }
    try Self.check(code, "mdb_env_copyfd2", directory)
  }
}
