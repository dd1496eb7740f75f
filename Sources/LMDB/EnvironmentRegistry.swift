// One environment a process and file.
//
// LMDB locks with fcntl, and the kernel drops all fcntl locks of a process on a file as soon as the process closes any
// descriptor of it. A second environment on the same file, when it closes, silently takes the reader protection of the
// first away: a reader then sees pages change under it. So a second open gives the first environment, recognised by
// the device and inode of its data file, whatever the path.
//
//     absent ── open ──▶ open(weak) ── last reference goes ──▶ (weak is nil, deinit runs) ──▶ absent
//
// Between the last reference and the end of `mdb_env_close` the entry stays, with a nil reference, and openers wait for
// it to go: two environments never overlap, not even while one is closing.

/// The open environments of this process.
final class EnvironmentRegistry: Sendable {
  static let shared = EnvironmentRegistry()

  private struct Entry {
    let dataFile: FileIdentity
    weak var environment: Environment?
    let serial: UInt64
    /// A replaced data file comes with the old lock file: opening it would break the locks just as well.
    let lockFile: FileIdentity?
  }

  private struct State {
    /// One for each data file. A process has few: searching them takes less than making the type of a dictionary.
    var entries: [Entry] = []
    var nextSerial: UInt64 = 1
  }

  private let monitor = Monitor(State())

  /// The environment open on the files, or else what `make` opens, registered before another thread can open it.
  ///
  /// `make` gives an environment only when the data file exists; nothing after it fails, so that no environment is
  /// ever released, and thereby removed here, while the lock is held.
  func environment(
    dataFile: String, lockFile: String,
    make: (_ serial: UInt64) throws(LMDBError) -> (Environment, FileIdentity)
  ) throws(LMDBError) -> Environment {
    let found = try monitor.wait { (state) throws(LMDBError) -> Environment? in
      if let identity = FileIdentity(path: dataFile),
        let entry = state.entries.first(where: { $0.dataFile == identity })
      {
        return entry.environment  // nil: it is closing, wait
      }
      if let lock = FileIdentity(path: lockFile), state.entries.contains(where: { $0.lockFile == lock }) {
        throw LMDBError(.fileReplaced, "open", path: dataFile)
      }
      let serial = state.nextSerial
      state.nextSerial += 1
      let (made, identity) = try make(serial)
      state.entries.removeAll { $0.dataFile == identity }
      state.entries.append(
        Entry(dataFile: identity, environment: made, serial: serial, lockFile: FileIdentity(path: lockFile)))
      return made
    }
    guard let found else { preconditionFailure("Waiting without a limit must return a result.") }
    return found
  }

  /// Removes the environment `serial`, whose files are closed now.
  func remove(serial: UInt64) {
    monitor.withLock { state in
      state.entries.removeAll { $0.serial == serial }
    }
    monitor.broadcast()
  }
}
