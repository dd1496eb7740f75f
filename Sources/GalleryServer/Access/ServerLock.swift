#if Gallery
  import Foundation
  import PhotoLedger
  import Synchronization

  /// The right to serve a library: one server has it, until it has stopped or its process has ended.
  ///
  /// The keys, people and share links are held in memory and written as whole files, so of two servers each would let
  /// in whom the other has shut out, and its next write would undo the other's.
  final class ServerLock: Sendable {
    /// Guarded by its lock; -1 once released.
    private let descriptor: Mutex<Int32>

    /// - Throws: ``GalleryError`` if another server has it, or the file cannot be opened.
    init(_ folder: LibraryFolder) throws(GalleryError) {
      do throws(LibraryError) { try folder.makeFolder("server", 0o700) } catch {
        guard let system = folder.fileSystem, UInt(system.f_flag) & UInt(ST_RDONLY) != 0 else {
          throw GalleryError(error.description)
        }
      }
      let number = folder.open("server/lock", O_RDWR | O_CREAT | O_NOFOLLOW, 0o600)
      if number < 0, errno == EROFS {
        // No server changes a key there.
        descriptor = Mutex(-1)
        return
      }
      guard number >= 0 else {
        throw GalleryError(
          "The file \(folder.path(of: "server/lock")) cannot be opened: \(String(cString: strerror(errno))).")
      }
      guard flock(number, LOCK_EX | LOCK_NB) == 0 else {
        let code = errno
        close(number)
        throw GalleryError(
          code == EWOULDBLOCK
            ? "Another server serves the library \(folder.currentPath); stop it first."
            : "The file \(folder.path(of: "server/lock")) cannot be locked: \(String(cString: strerror(code))).")
      }
      descriptor = Mutex(number)
    }

    /// Lets another server have it; nothing the second time.
    func release() {
      let number = descriptor.withLock { descriptor in
        defer { descriptor = -1 }
        return descriptor
      }
      if number >= 0 { close(number) }
    }

    deinit { release() }
  }
#endif
