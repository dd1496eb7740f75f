package import Foundation
import Glibc
import Synchronization

// The folders in which the programs of a process work, beside a library's caches or among the temporary files.
//
//     LIBRARY/renditions/photoledger-work-4711-3F9C…/      of process 4711: second names of originals, or copies
//
// A root is named by the number of its process, so that what a killed process left is found and removed by the next
// one, and by an erasure, since it may hold an original. The next one may have the same number: the server of a
// container is always number 1. So a process remembers the roots that it made, and removes those with its number that
// are not among them.

/// The folders that processes make for the work of programs.
package enum WorkRoots {
  /// What their names begin with.
  package static let prefix = "photoledger-work-"

  /// The roots of this process, each noted before another thread can look for it; they are removed when the process
  /// ends.
  private static let made = Mutex<[String]>([])
  private static let removal: Void = {
    atexit { for path in WorkRoots.made.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) } }
  }()

  /// Makes a root of this process.
  /// - Parameter folder: the path of the folder for it, without links in it.
  /// - Returns: its path.
  package static func make(in folder: String) throws -> String {
    _ = removal
    var name = Array("\(folder)/\(prefix)\(getpid())-XXXXXX".utf8CString)
    // Noted before it can be seen: another thread may be looking for what is left.
    let (path, code): (String, Int32) = made.withLock { made in
      guard mkdtemp(&name) != nil else { return ("", errno) }
      let path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      made.append(path)
      return (path, 0)
    }
    guard code == 0 else { throw LibraryError.store(folder, "create a folder in", errno: code) }
    return path
  }

  /// Removes what processes left that have ended without removing it.
  /// - Returns: the names of those that could not be removed.
  /// - Throws: ``LibraryError`` `.storage` if the folder cannot be read to its end.
  package static func removeLeft(in folder: URL) throws(LibraryError) -> [String] {
    let names = try FolderEntries.names(at: folder.path) ?? []
    return names.filter { name in
      guard isLeft(name) else { return false }
      let path = "\(folder.path)/\(name)"
      // Another process may remove it at the same time.
      try? FileManager.default.removeItem(atPath: path)
      var status = stat()
      return lstat(path, &status) == 0
    }
  }

  /// Whether a name is that of a root whose process has ended. Roots of this one are known by their names: the library
  /// that they lie in may have been moved.
  private static func isLeft(_ name: String) -> Bool {
    guard name.hasPrefix(prefix),
      let number = name.dropFirst(prefix.count).split(separator: "-").first.flatMap({ pid_t($0) })
    else { return false }
    if number == getpid() { return !made.withLock { $0.contains { $0.hasSuffix("/\(name)") } } }
    return kill(number, 0) != 0 && errno == ESRCH
  }
}
