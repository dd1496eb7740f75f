import CSystem
import Glibc
import Synchronization

// The right to be the only one that does something: imports into a library, serves it, fills an export.
//
//     open ──▶ flock(LOCK_EX) ──▶ held ──▶ release, or the end of the value:    flock(LOCK_UN), then close
//                                     └──▶ the end of the process, however it comes: the kernel
//
// A lock of flock belongs to the opened file, and so to every copy of its descriptor. A child process that is being
// started has copies of all our descriptors until it begins its program, which takes long on a busy machine. Closing
// our descriptor alone would leave the lock with that child, and the next caller would get an error about another
// process that does not exist. LOCK_UN takes it from all copies.
//
// Invariant: once `release` has returned, the lock is free. In a forked child the lock is the parent's, and is kept.
// Rejected: locks of fcntl. They belong to the process, so two parts of one process would both have it, and closing any
// other descriptor of the same file would drop it.

/// An exclusive lock on a file or folder, between processes and within one; ends with the value or the process.
package final class FileLock: Sendable {
  /// Guarded by its lock; -1 once released.
  private let descriptor: Mutex<Int32>
  private let generation = psys_fork_generation()

  /// Locks an opened file.
  /// - Parameters:
  ///   - opened: what opening the file returned, -1 with `errno` included; closed by this value in any case.
  ///   - waits: whether to wait while another has the lock.
  ///   - failure: makes the error of an `errno`.
  /// - Returns: nil if another has the lock.
  package init?<Failure: Error>(
    _ opened: Int32, waits: Bool = false, failure: (_ code: Int32) -> Failure
  ) throws(Failure) {
    guard opened >= 0 else { throw failure(errno) }
    while flock(opened, waits ? LOCK_EX : LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      if code == EINTR { continue }
      close(opened)
      guard code == EWOULDBLOCK else { throw failure(code) }
      return nil
    }
    descriptor = Mutex(opened)
  }

  /// The lock on a folder; nil if another has it, or the file system has no locks.
  static func onFolder(_ path: String, waits: Bool = false) -> FileLock? {
    try? FileLock(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), waits: waits) { code in
      LibraryError.store(path, "lock", errno: code)
    }
  }

  /// Whether a path leads to the locked file. If not, that was removed or moved: another can make a new one in its
  /// place and lock that.
  package func isOfFile(at path: String) -> Bool {
    descriptor.withLock { descriptor in
      var (own, found) = (stat(), stat())
      guard descriptor >= 0, fstat(descriptor, &own) == 0, stat(path, &found) == 0 else { return false }
      return own.st_dev == found.st_dev && own.st_ino == found.st_ino
    }
  }

  /// Lets another have the lock; nothing the second time.
  package func release() {
    let number = descriptor.withLock { descriptor in
      defer { descriptor = -1 }
      return descriptor
    }
    guard number >= 0 else { return }
    if generation == psys_fork_generation() { flock(number, LOCK_UN) }
    close(number)
  }

  deinit { release() }
}
