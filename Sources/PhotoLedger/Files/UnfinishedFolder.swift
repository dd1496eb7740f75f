import CSystem
package import Foundation
import Glibc
import LMDB
import Synchronization

// A folder that gets its name only when it is complete.
//
//     parent/.NAME.photoledger-4711.1   being filled; removed with this value, or by the next one if the process died
//     parent/NAME                       complete, durable, and never replaces anything
//
// A scratch folder is one that is never finished.
//
// A backup of each night has a name of its own, so the next one removes leftovers of any name. Whether a folder is one
// is asked of its process and of a lock (flock) on it: the number of a process in another container says nothing here.
// Neither says anything of another machine, so on a remote file system only leftovers of the same name are removed.

/// Numbers the folders that this process makes.
private let folderCount = Atomic(0)

/// The names of those that are being filled: another one with this process's number was left by an earlier process that
/// had it, as every process of a container has that begins it.
private let foldersBeingFilled = Mutex<Set<String>>([])

/// A folder being filled under another name, beside the one it will have.
///
/// Its owner calls ``finish()``; releasing it before discards the folder.
package final class UnfinishedFolder {
  package let path: String
  private let final: String
  private let parent: String
  private var isPlaced = false
  /// The lock on the folder; nil without one. The folder of a store is locked by LMDB.
  private let lock: FileLock?

  /// Creates the folder, and removes those that ended processes left beside it.
  /// - Parameter library: the copied library; a copy inside would become a part of it.
  /// - Throws: ``LibraryError`` `.alreadyExists` if something has the final name, `.changeNotSupported` if it lies
  ///   inside the library, `.notEnoughSpace`, `.storage`.
  package init(becoming url: URL, outside library: URL? = nil) throws(LibraryError) {
    let url = url.standardFileURL.absoluteURL
    let final = url.path.count > 1 && url.path.hasSuffix("/") ? String(url.path.dropLast()) : url.path
    try Self.checkIsFree(final)
    if let library { try Self.check(final, isOutside: library.path) }
    parent = url.deletingLastPathComponent().path
    path = try Self.make(url.lastPathComponent, in: parent, besideOthers: remoteFileSystemName(of: parent) == nil)
    // A process that looks for leftovers at this moment holds the lock while it looks, and no longer.
    lock = FileLock.onFolder(path, waits: true)
    self.final = final
  }

  /// Creates a temporary folder, and removes one that an ended process left under its name.
  /// - Throws: ``LibraryError`` `.notEnoughSpace`, `.storage`.
  init(scratch name: String, in parent: String) throws(LibraryError) {
    (self.parent, final) = (parent, "\(parent)/\(name)")
    path = try Self.make(name, in: parent, besideOthers: false)
    lock = nil
  }

  /// - Parameter besideOthers: whether leftovers of any name are removed.
  private static func make(_ name: String, in parent: String, besideOthers: Bool) throws(LibraryError) -> String {
    let prefix = prefix(of: name)
    let own = "\(prefix)\(getpid()).\(folderCount.add(1, ordering: .relaxed).newValue)"
    let path = "\(parent)/\(own)"
    // In a folder that cannot be listed nothing is removed, and this one is made.
    try? removeLeftovers(prefix, in: parent)
    // Before it is there, since another thread may be looking for leftovers.
    foldersBeingFilled.withLock { _ = $0.insert(own) }
    guard mkdir(path, 0o755) == 0 else {
      let code = errno
      foldersBeingFilled.withLock { _ = $0.remove(own) }
      throw LibraryError.store(parent, "create a folder in", errno: code)
    }
    // The time is that of the file system, which other machines may share.
    if besideOthers { try? removeLeftovers(nil, in: parent, unchangedSince: lastChange(of: path) - 86_400) }
    return path
  }

  private static let mark = ".photoledger-"

  private static func prefix(of name: String) -> String { ".\(name)\(mark)" }

  deinit {
    if !isPlaced { Self.remove(path) }
    lock?.release()
    let name = String(path.dropFirst(parent.count + 1))
    foldersBeingFilled.withLock { _ = $0.remove(name) }
  }

  /// Removes any leftover of a scratch folder; none may be in use.
  /// - Throws: ``LibraryError`` `.storage` if the folder cannot be read to its end.
  package static func removeScratch(_ name: String, in parent: String) throws(LibraryError) {
    try removeLeftovers(prefix(of: name), in: parent, all: true)
  }

  private static func checkIsFree(_ path: String) throws(LibraryError) {
    var status = stat()
    guard lstat(path, &status) != 0 else {
      throw LibraryError(
        .alreadyExists, "\(path) already exists and is not replaced; choose a new directory.")
    }
  }

  private static func check(_ path: String, isOutside library: String) throws(LibraryError) {
    guard let parent = realpath((path as NSString).deletingLastPathComponent, nil) else { return }
    defer { free(parent) }
    guard let root = realpath(library, nil) else { return }
    defer { free(root) }
    guard (String(cString: parent) + "/").hasPrefix(String(cString: root) + "/") else { return }
    throw LibraryError(
      .changeNotSupported, "\(path) is inside the library at \(library); choose a directory outside of it.")
  }

  /// Creates a folder inside, unless it exists.
  package func makeFolder(_ name: String) throws(LibraryError) {
    guard mkdir("\(path)/\(name)", 0o755) == 0 || errno == EEXIST else {
      throw LibraryError.store("\(path)/\(name)", "create the folder", errno: errno)
    }
  }

  /// Makes everything inside durable, and gives the folder its name.
  /// - Throws: ``LibraryError`` `.alreadyExists` if something has taken the name meanwhile, `.storage`.
  package func finish() throws(LibraryError) { try finish { psys_rename_without_replacing($0, $1) } }

  /// - Parameter renaming: renames without replacing; returns 0 or the errno.
  func finish(renaming: (_ path: String, _ final: String) -> Int32) throws(LibraryError) {
    try Self.withFolder(path) { psys_sync_file_system($0) }
    // A failed write of the store is reported by its own file even if the file system's error is lost (before Linux
    // 5.8, or on an overlay).
    try Self.withDescriptor("\(path)/store/data.mdb", O_RDONLY) { fsync($0) == 0 ? 0 : errno }
    var code = renaming(path, final)
    if [EINVAL, ENOSYS, EOPNOTSUPP].contains(code) {
      // NFS and many of FUSE cannot rename so. Nothing but an empty folder would be replaced.
      try Self.checkIsFree(final)
      code = rename(path, final) == 0 ? 0 : errno
    }
    if code == EEXIST || code == ENOTEMPTY { try Self.checkIsFree(final) }
    guard code == 0 else { throw LibraryError.store(final, "rename a finished folder to", errno: code) }
    isPlaced = true
    // Some file systems have no such call for folders (SMB).
    try Self.withFolder(parent) { fsync($0) == 0 || [EINVAL, EOPNOTSUPP].contains(errno) ? 0 : errno }
  }

  private static func withFolder(_ path: String, _ body: (Int32) -> Int32) throws(LibraryError) {
    try withDescriptor(path, O_RDONLY | O_DIRECTORY, body)
  }

  private static func withDescriptor(
    _ path: String, _ flags: Int32, _ body: (Int32) -> Int32
  ) throws(LibraryError) {
    let number = open(path, flags | O_CLOEXEC)
    guard number >= 0 else { throw LibraryError.store(path, "open", errno: errno) }
    defer { close(number) }
    let code = body(number)
    guard code == 0 else { throw LibraryError.store(path, "make durable", errno: code) }
  }

  /// What cannot be removed remains, under a recognisable name; the next attempt tries again.
  private static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

  /// - Parameters:
  ///   - prefix: what their names begin with; nil: any.
  ///   - time: only those in which nothing was changed since then, in seconds since 1970: another machine may be
  ///     filling one, of which neither the number of the process nor the lock says anything here.
  private static func removeLeftovers(
    _ prefix: String?, in parent: String, all: Bool = false, unchangedSince time: Int = .max
  ) throws(LibraryError) {
    for name in try FolderEntries.names(at: parent) ?? [] {
      guard name.hasPrefix(prefix ?? "."), let owner = owner(of: name) else { continue }
      let path = "\(parent)/\(name)"
      if all || (isLeft(name, by: owner, in: parent) && lastChange(of: path) < time) { remove(path) }
    }
  }

  /// When something was last changed in a folder that is filled, in seconds since 1970: each file that is copied
  /// changes the folder that it comes into.
  private static func lastChange(of path: String) -> Int {
    let resources = "\(path)/resources"
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: resources)) ?? []
    let places = [path, "\(path)/store/data.mdb", resources] + folders.map { "\(resources)/\($0)" }
    return places.map { place in
      var status = stat()
      return lstat(place, &status) == 0 ? status.st_mtim.tv_sec : 0
    }.max() ?? 0
  }

  /// The process that filled a folder with a name such as `.NAME.photoledger-4711.1`; nil for another name.
  private static func owner(of name: String) -> pid_t? {
    guard let range = name.range(of: mark, options: .backwards), range.lowerBound > name.startIndex,
      name.hasPrefix(".")
    else { return nil }
    let numbers = name[range.upperBound...].split(separator: ".", omittingEmptySubsequences: false)
    guard numbers.count == 2, let owner = pid_t(numbers[0]), owner > 0, UInt(numbers[1]) != nil else { return nil }
    return owner
  }

  private static func isLeft(_ name: String, by owner: pid_t, in parent: String) -> Bool {
    let isBeingFilled =
      owner == getpid()
      ? foldersBeingFilled.withLock { $0.contains(name) } : kill(owner, 0) == 0 || errno != ESRCH
    return !isBeingFilled && FileLock.onFolder("\(parent)/\(name)") != nil
  }
}
