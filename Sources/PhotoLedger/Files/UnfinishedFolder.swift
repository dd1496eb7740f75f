import CSystem
package import Foundation
import Glibc
import Synchronization

// A folder that gets its name only when it is complete.
//
//     parent/.NAME.photoledger-4711.1   being filled; removed with this value, or by the next one if the process died
//     parent/NAME                       complete, durable, and never replaces anything
//
// A scratch folder is one that is never finished.

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

  /// Creates the folder, and removes one that an ended process left under such a name.
  /// - Parameter library: the copied library; a copy inside would become a part of it.
  /// - Throws: ``LibraryError`` `.alreadyExists` if something has the final name, `.changeNotSupported` if it lies
  ///   inside the library, `.notEnoughSpace`, `.storage`.
  package init(becoming url: URL, outside library: URL? = nil) throws(LibraryError) {
    let url = url.standardizedFileURL.absoluteURL
    let final = url.path.count > 1 && url.path.hasSuffix("/") ? String(url.path.dropLast()) : url.path
    try Self.checkIsFree(final)
    if let library { try Self.check(final, isOutside: library.path) }
    parent = url.deletingLastPathComponent().path
    path = try Self.make(url.lastPathComponent, in: parent)
    self.final = final
  }

  /// Creates a temporary folder, and removes one that an ended process left under its name.
  /// - Throws: ``LibraryError`` `.notEnoughSpace`, `.storage`.
  init(scratch name: String, in parent: String) throws(LibraryError) {
    (self.parent, final) = (parent, "\(parent)/\(name)")
    path = try Self.make(name, in: parent)
  }

  private static func make(_ name: String, in parent: String) throws(LibraryError) -> String {
    let prefix = prefix(of: name)
    let own = "\(prefix)\(getpid()).\(folderCount.add(1, ordering: .relaxed).newValue)"
    let path = "\(parent)/\(own)"
    removeLeftovers(prefix, in: parent)
    // Before it is there, since another thread may be looking for leftovers.
    foldersBeingFilled.withLock { _ = $0.insert(own) }
    guard mkdir(path, 0o755) == 0 else {
      let code = errno
      foldersBeingFilled.withLock { _ = $0.remove(own) }
      throw LibraryError.store(path, "create the folder", errno: code)
    }
    return path
  }

  private static func prefix(of name: String) -> String { ".\(name).photoledger-" }

  deinit {
    if !isPlaced { Self.remove(path) }
    let name = String(path.dropFirst(parent.count + 1))
    foldersBeingFilled.withLock { _ = $0.remove(name) }
  }

  /// Removes any leftover of a scratch folder; none may be in use.
  package static func removeScratch(_ name: String, in parent: String) {
    removeLeftovers(prefix(of: name), in: parent, all: true)
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
  package func finish() throws(LibraryError) {
    try Self.withFolder(path) { psys_sync_file_system($0) }
    // A failed write of the store is reported by its own file even if the file system's error is lost (before Linux
    // 5.8, or on an overlay).
    try Self.withDescriptor("\(path)/store/data.mdb", O_RDONLY) { fsync($0) == 0 ? 0 : errno }
    let code = psys_rename_without_replacing(path, final)
    if code == EEXIST || code == ENOTEMPTY { try Self.checkIsFree(final) }
    guard code == 0 else { throw LibraryError.store(final, "rename a finished folder to", errno: code) }
    isPlaced = true
    try Self.withFolder(parent) { fsync($0) == 0 ? 0 : errno }
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

  private static func removeLeftovers(_ prefix: String, in parent: String, all: Bool = false) {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [] where name.hasPrefix(prefix) {
      guard let owner = pid_t(name.dropFirst(prefix.count).prefix { $0 != "." }), owner > 0 else { continue }
      if all || isLeft(name, by: owner) { remove("\(parent)/\(name)") }
    }
  }

  private static func isLeft(_ name: String, by owner: pid_t) -> Bool {
    if owner == getpid() { return foldersBeingFilled.withLock { !$0.contains(name) } }
    return kill(owner, 0) != 0 && errno == ESRCH
  }
}
