import CSystem
import Glibc

/// Marks a store as in use, for other processes and for the rest of this one (flock on its directory).
///
/// LMDB's own locks cannot show it: they are fcntl locks on `lock.mdb`, and opening and closing that file here would
/// drop those of this process. A lock of flock belongs to the descriptor, on the directory, which LMDB never opens.
/// Users share the lock; replacing the data file needs it exclusively. The kernel releases it when the last process
/// with a copy of the descriptor has ended: a running forked child keeps it.
final class StoreUsage: Sendable {
  private let descriptor: Int32
  private let generation = psys_fork_generation()

  /// - Parameters:
  ///   - path: the directory of the store.
  ///   - alone: whether the use is exclusive.
  /// - Throws: `busy` if it is in use; `io`, `permission`.
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

  /// The error for an open during that time.
  static func isRewritten(_ path: String) -> LMDBError {
    LMDBError(
      .busy, "open", path: path, detail: "it is being rewritten; try again when that has ended")
  }

  /// Releases the lock explicitly: a child that is being started may briefly hold a copy of the descriptor, and with it
  /// the lock. In such a child the lock is the parent's.
  deinit {
    if generation == psys_fork_generation() { flock(descriptor, LOCK_UN) }
    close(descriptor)
  }
}
