package import Foundation
import Glibc
import LMDB

extension FileManager {
  /// Makes a folder among the temporary files that no other user of the machine can look into: what lies in it may be
  /// a photo. Its owner removes it.
  /// - Parameter name: what its name begins with.
  /// - Throws: ``LibraryError`` `.storage`, `.notEnoughSpace`.
  package func makeTemporaryFolder(_ name: String) throws(LibraryError) -> URL {
    let template = "\(temporaryDirectory.path)/\(name)-XXXXXX"
    var path = Array(template.utf8CString)
    // The folder has the mode 0700 from the beginning, and a name that nothing had.
    guard mkdtemp(&path) != nil else { throw LibraryError.store(template, "create the folder", errno: errno) }
    let made = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return URL(filePath: made, directoryHint: .isDirectory)
  }
}

/// A folder among the temporary files for what a killed process must not leave for ever: the next one of its name
/// removes it.
///
///     made ──▶ locked ──▶ still there ──▶ used ──▶ removed ──▶ lock released, as it is when the process ends
///                 └─────▶ removed by another one that got the lock first: a new one is made
///
/// One that removes a leftover holds its lock until it is gone, so none that is in use is removed, also not between
/// being made and being locked. Only the process that made it has the lock, which a child does not inherit: if that
/// process is killed, the folder may be removed while its child still works in it, for the seconds until it ends.
package final class LockedFolder: Sendable {
  package let path: String
  /// Nil where the file system has no locks; then no other process can lock it either, and it stays when it is left.
  private let lock: FileLock?

  /// Makes the folder, and removes those of this user that ended processes left.
  /// - Parameter name: what its name begins with.
  /// - Throws: ``LibraryError`` `.storage`, `.notEnoughSpace`.
  package init(_ name: String) throws(LibraryError) {
    let made = try Self.make(name)
    (path, lock) = (made.path, made.lock)
    Self.removeLeftovers(of: name, in: (made.path as NSString).deletingLastPathComponent)
  }

  private static func make(_ name: String) throws(LibraryError) -> (path: String, lock: FileLock?) {
    while true {
      let path = try FileManager.default.makeTemporaryFolder(name).path
      let lock = FileLock.onFolder(path, waits: true)
      if access(path, F_OK) == 0 { return (path, lock) }
    }
  }

  /// Removes the folder and all in it. What cannot be removed is a leftover for the next one.
  package func remove() {
    try? FileManager.default.removeItem(atPath: path)
    lock?.release()
  }

  /// On a remote file system a lock may say nothing of another machine.
  private static func removeLeftovers(of name: String, in parent: String) {
    guard remoteFileSystemName(of: parent) == nil else { return }
    // Where the folder cannot be listed, nothing is removed.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
    for other in names where other.hasPrefix("\(name)-") {
      let path = "\(parent)/\(other)"
      var status = stat()
      guard lstat(path, &status) == 0, status.st_uid == geteuid(), let lock = FileLock.onFolder(path) else { continue }
      try? FileManager.default.removeItem(atPath: path)
      lock.release()
    }
  }
}
