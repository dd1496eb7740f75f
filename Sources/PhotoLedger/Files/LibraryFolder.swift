package import Foundation
import Glibc

// The directory of an open library.
//
// A path is only the former place of a directory. While a library is open, its directory can be renamed, and another
// library can be created at its old path: bytes written by path would then end up in one library and the events that
// name them in the other. So the directory is opened once, and all files of the library are opened relative to that
// descriptor, wherever the directory is by now:
//
//     resources, incoming files, reports of imports     openat, renameat, linkat … from the descriptor
//     store (LMDB)                                       a descriptor of its own (LMDB/Environment.swift)
//     what takes nothing but a path                      withPath: the path of now, checked before and after
//     caches, files that are handed on, other programs   linkedPath: through the kernel's table of our descriptors
//
// Invariant: nothing is written by a path that was worked out when the library was opened. Rejected: comparing the path
// with the directory before each use, since the two can part between the comparison and the use.

/// The directory of an open library, wherever it is by now.
package final class LibraryFolder: Sendable {
  /// Where the directory was when it was opened.
  private let url: URL
  package let descriptor: Int32

  /// - Throws: ``LibraryError`` `.storage` if the directory cannot be opened.
  package init(_ url: URL) throws(LibraryError) {
    self.url = url
    descriptor = Glibc.open(url.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw LibraryError.store(url.path, "open the folder", errno: errno) }
  }

  deinit { close(descriptor) }

  // MARK: From the descriptor

  /// Opens a file of the library.
  /// - Returns: its descriptor, or -1 with `errno`.
  package func open(_ name: String, _ flags: Int32, _ mode: mode_t = 0) -> Int32 {
    openat(descriptor, name, flags | O_CLOEXEC, mode)
  }

  /// What is known of a file of the library; nil if it is not there.
  package func status(of name: String) -> stat? {
    var status = stat()
    return fstatat(descriptor, name, &status, 0) == 0 ? status : nil
  }

  /// Whether a name of the library leads to nothing.
  /// - Throws: ``LibraryError`` `.storage` if that cannot be determined, as in a folder that may not be entered: a file
  ///   that cannot be looked at is not taken for one that is gone.
  package func lacks(_ name: String) throws(LibraryError) -> Bool {
    var status = stat()
    if fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return false }
    guard errno == ENOENT || errno == ENOTDIR else {
      throw LibraryError.store(path(of: name), "examine", errno: errno)
    }
    return true
  }

  /// Creates a folder of the library, unless it exists.
  package func makeFolder(_ name: String, _ mode: mode_t = 0o755) throws(LibraryError) {
    guard mkdirat(descriptor, name, mode) == 0 || errno == EEXIST else {
      throw LibraryError.store(path(of: name), "create the folder", errno: errno)
    }
  }

  /// The names in a folder of the library; nil if it is not a folder. A link would lead out of the library.
  /// - Throws: ``LibraryError`` `.storage` if the folder cannot be opened, or not be read to its end.
  package func names(in folder: String) throws(LibraryError) -> [String]? {
    try FolderEntries.names(in: open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), path(of: folder))
  }

  /// Makes the names in a folder of the library durable; "." is the library's own.
  package func synchronize(_ name: String) throws(LibraryError) {
    let number = open(name, O_RDONLY | O_DIRECTORY)
    guard number >= 0 else { throw LibraryError.store(path(of: name), "open the folder", errno: errno) }
    let folder = Descriptor(number)
    guard fsync(folder.number) == 0 else { throw LibraryError.store(path(of: name), "make durable", errno: errno) }
  }

  /// Removes a file; false with `errno` if it could not be removed.
  @discardableResult
  package func remove(_ name: String) -> Bool { unlinkat(descriptor, name, 0) == 0 }

  /// Gives a file a second name.
  /// - Returns: 0 or an errno.
  func link(_ name: String, as second: String) -> Int32 {
    linkat(descriptor, name, descriptor, second, 0) == 0 ? 0 : errno
  }

  /// Gives a file another name, in the place of what has it.
  /// - Returns: 0 or an errno.
  package func rename(_ name: String, to other: String) -> Int32 {
    renameat(descriptor, name, descriptor, other) == 0 ? 0 : errno
  }

  /// The figures of the file system that the directory is on; nil if they cannot be read.
  package var fileSystem: statvfs? {
    var status = statvfs()
    return fstatvfs(descriptor, &status) == 0 ? status : nil
  }

  // MARK: As a path

  /// Where a file of the library is now, for people.
  package func path(of name: String) -> String { name == "." ? currentPath : "\(currentPath)/\(name)" }

  /// The current path of the directory; the last known one if it cannot be determined.
  package var currentPath: String {
    if isNamed(by: url.path) { return url.path }
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = bytes.withUnsafeMutableBytes { buffer in
      buffer.assumingMemoryBound(to: CChar.self).baseAddress.map {
        readlink("/proc/self/fd/\(descriptor)", $0, buffer.count)
      } ?? -1
    }
    guard count > 0, let path = String(validating: bytes[..<count], as: UTF8.self), isNamed(by: path) else {
      return url.path
    }
    return path
  }

  /// The current URL of the directory: the one that it was opened by, while that leads to it.
  package var currentURL: URL {
    let path = currentPath
    return path == url.path ? url : URL(filePath: path, directoryHint: .isDirectory)
  }

  /// A path that leads to a file for as long as the library is open, wherever its directory goes: for functions that
  /// take nothing but a path, and for other programs of this user, unless they run in a sandbox.
  package func linkedPath(of name: String) -> String {
    let path = "/proc/\(getpid())/fd/\(descriptor)"
    return isNamed(by: path) ? "\(path)/\(name)" : self.path(of: name)
  }

  /// Whether a path leads to the directory.
  func isNamed(by path: String) -> Bool { holds(".", at: path) }

  /// Whether a path leads to a file of the library.
  func holds(_ name: String, at path: String) -> Bool {
    var found = stat()
    guard let own = status(of: name), stat(path, &found) == 0 else { return false }
    return own.st_dev == found.st_dev && own.st_ino == found.st_ino
  }

  /// Does what takes nothing but a path, with the path that the directory has now.
  /// - Throws: what the body throws; ``LibraryError`` `.storage` if the directory has no path, or was moved meanwhile.
  package func withPath<R>(_ body: (String) throws -> R) throws -> R {
    let path = currentPath
    try checkIsNamed(by: path)
    let result = try body(path)
    try checkIsNamed(by: path)
    return result
  }

  func checkIsNamed(by path: String) throws(LibraryError) {
    guard isNamed(by: path) else {
      throw LibraryError(
        .storage, "The directory of the library at \(path) was moved or removed meanwhile; try again at its new path.")
    }
  }
}
