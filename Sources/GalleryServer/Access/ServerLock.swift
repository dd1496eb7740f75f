#if Gallery
  import Foundation
  import PhotoLedger

  /// The right to serve a library: one server has it, until it has stopped or its process has ended.
  ///
  /// The keys, people and share links are held in memory and written as whole files, so of two servers each would let
  /// in whom the other has shut out, and its next write would undo the other's.
  final class ServerLock: Sendable {
    /// nil where the library is on a read-only file system: no server changes a key there.
    private let lock: FileLock?

    /// - Throws: ``GalleryError`` if another server has it, or the file cannot be opened.
    init(_ folder: LibraryFolder) throws(GalleryError) {
      do throws(LibraryError) { try folder.makeFolder("server", 0o700) } catch {
        guard let system = folder.fileSystem, UInt(system.f_flag) & UInt(ST_RDONLY) != 0 else {
          throw GalleryError(error.description)
        }
      }
      let opened = folder.open("server/lock", O_RDWR | O_CREAT | O_NOFOLLOW, 0o600)
      if opened < 0, errno == EROFS {
        lock = nil
        return
      }
      let lock = try FileLock(opened) { code in
        GalleryError(
          "The file \(folder.path(of: "server/lock")) cannot be locked: \(String(cString: strerror(code))).")
      }
      guard let lock else {
        throw GalleryError("Another server serves the library \(folder.currentPath); stop it first.")
      }
      self.lock = lock
    }

    /// Lets another server have it; nothing the second time.
    func release() { lock?.release() }
  }
#endif
