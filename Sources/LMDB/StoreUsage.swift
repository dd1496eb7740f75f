import CSystem
import Glibc

/// Says to other processes, and to the rest of this one, that a store is in use (flock on its directory).
///
/// LMDB's own locks cannot say it to us: they are fcntl locks on `lock.mdb`, and opening and closing that file here
/// would drop those of this process. A lock of flock belongs to the descriptor, on the directory, which LMDB never
/// opens. Users share the lock; whoever replaces the data file must be alone. The kernel drops it when
/// the last process is gone that has a copy of the descriptor: a child that was forked and runs on keeps it.
final class StoreUsage: Sendable {
  private let descriptor: Int32
  private let generation = psys_fork_generation()

  /// - Parameters:
  ///   - path: the directory of the store.
  ///   - alone: whether nobody else may use it.
  /// - Throws: `busy` if somebody stands in the way; `io`, `permission`.
  init(of path: String, alone: Bool) throws(LMDBError) {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw LMDBError(code: errno, "open", path: path) }
    while flock(descriptor, (alone ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 {
      let code = errno
      if code == EINTR { continue }
      close(descriptor)
      guard code == EWOULDBLOCK else { throw LMDBError(code: code, "flock", path: path) }
      guard alone else { throw Self.isRewritten(path) }
      throw LMDBError(
        .busy, "open", path: path,
        detail: "it is open here or in another process, and can be rewritten only when it is not in use; close it there"
      )
    }
    self.descriptor = descriptor
  }

  /// What is told to whoever opens a store meanwhile.
  static func isRewritten(_ path: String) -> LMDBError {
    LMDBError(
      .busy, "open", path: path, detail: "it is being rewritten; try again when that has ended")
  }

  /// Gives the lock back by name: a child that is being started may hold a copy of the descriptor for a moment, and
  /// with it the lock. In such a child the lock is the parent's.
  deinit {
    if generation == psys_fork_generation() { flock(descriptor, LOCK_UN) }
    close(descriptor)
  }
}
