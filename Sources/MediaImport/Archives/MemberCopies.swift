internal import Glibc
internal import PhotoLedger
internal import Synchronization

/// The library's own copies of members of archives, which are removed with this object.
///
/// They lie among the library's incoming files: those of a process that was killed go when the library is opened next.
/// A copy that becomes a resource keeps its bytes by the name that the resource has.
final class MemberCopies: Sendable {
  private let folder: LibraryFolder
  private let state = Mutex<(count: Int, names: Set<String>)>((0, []))

  init(in folder: LibraryFolder) { self.folder = folder }

  deinit { for name in state.withLock({ $0.names }) { folder.remove(name) } }

  /// Creates an empty file.
  /// - Parameter ending: the extension, by which exiftool distinguishes some formats.
  /// - Throws: ``LibraryError`` `.notEnoughSpace`, `.storage`.
  func make(ending: String) throws(LibraryError) -> (name: String, file: Int32) {
    let isPlain = !ending.isEmpty && ending.utf8.allSatisfy { $0 != FilePath.slash }
    let name = state.withLock { state in
      state.count += 1
      let name = "resources/incoming/\(getpid()).member.\(state.count)\(isPlain ? ".\(ending)" : "")"
      state.names.insert(name)
      return name
    }
    // Of an earlier process with our number.
    folder.remove(name)
    let file = folder.open(name, O_WRONLY | O_CREAT | O_EXCL, 0o644)
    guard file >= 0 else { throw LibraryError.store(folder.path(of: name), "make", errno: errno) }
    return (name, file)
  }

  /// Removes a copy that is not needed.
  func discard(_ name: String) {
    folder.remove(name)
    state.withLock { _ = $0.names.remove(name) }
  }

  /// Where a copy is now.
  func path(of name: String) -> FilePath { FilePath(folder.path(of: name)) }
}
