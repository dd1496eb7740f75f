import CSystem
import EventLog
package import Foundation
import Glibc
import LMDB
import Synchronization

// A file on its way to its final name: written under another one, made durable, renamed. It serves both directions:
// bytes that come into the library (ResourceStore+Placing.swift) and bytes that are copied out of it
// (UnfinishedFile.swift).
//
//     LIBRARY/resources/incoming/4711.1      on its way in
//     /home/ada/.photoledger-4711.1          on its way out, beside the name that it will have
//
// What a killed process left of the first goes when a library is opened (ResourceStore.swift), of the second when the
// next file is made beside it. Whether a file is left is asked of its process and of a lock on it, as for folders
// (UnfinishedFolder.swift); on a remote file system neither says anything of another machine, and all stay.

/// Numbers the files being written by this process, whichever folder they are for.
private let incomingCount = Atomic(0)

/// The folder outside of libraries that was last looked through for what killed processes left: a program that writes
/// many files into one folder looks once.
private let sweptFolder = Mutex<String?>(nil)

/// A file being written. It disappears with this value unless it was renamed to its final name.
package struct IncomingFile: ~Copyable {
  /// The library that the file lies in; nil for one whose path is its own.
  private let folder: LibraryFolder?
  /// Its name in the library, or its path.
  let path: String
  private let descriptor: Descriptor
  /// Says to other processes that the file is being written; nil in a library, and where there are no locks.
  private let lock: FileLock?
  private var isPlaced = false

  /// How sentences call the file: by the name it will have, if that is known.
  private let subject: String

  /// A name among the files of a library that are being written, which nothing has; a file of that name that its
  /// process leaves behind is removed by the next one.
  /// - Parameter ending: what the name ends with, for programs that go by it.
  static func name(ending: String = "") -> String { "resources/incoming/\(nextName())\(ending)" }

  /// Where other programs find the file.
  package var url: URL { URL(filePath: folder?.linkedPath(of: path) ?? path, directoryHint: .notDirectory) }

  /// Makes an empty file among those that are on their way into a library, or that are being made of its files.
  init(in folder: LibraryFolder, ending: String = "") throws(LibraryError) {
    let path = Self.name(ending: ending)
    var number = folder.open(path, Self.newFile, 0o444)
    if number < 0, errno == EEXIST {
      // A file of this name can only be a leftover of an earlier process with our number.
      folder.remove(path)
      number = folder.open(path, Self.newFile, 0o444)
    }
    guard number >= 0 else { throw LibraryError.store(folder.path(of: path), "make", errno: errno) }
    self.folder = folder
    self.path = path
    self.subject = folder.path(of: path)
    self.descriptor = Descriptor(number)
    self.lock = nil
  }

  /// Makes an empty file beside the one that it will become.
  ///
  /// A name that is taken is passed over: on a shared file system it may be that of a process of another machine.
  /// - Parameters:
  ///   - final: the path that it will have.
  ///   - folder: the folder of that path.
  init(becoming final: String, in folder: String) throws(LibraryError) {
    Self.removeLeftovers(in: folder)
    while true {
      let path = "\(folder)/\(Self.mark)\(Self.nextName())"
      let number = open(path, Self.newFile | O_CLOEXEC, 0o666)
      if number < 0 && errno == EEXIST { continue }
      guard number >= 0 else { throw LibraryError.store(final, "make", errno: errno) }
      // A process that looks for leftovers at this moment holds the lock while it looks, and no longer.
      let lock = Self.lock(on: path, waits: true)
      var status = stat()
      if fstat(number, &status) == 0, status.st_nlink == 0 {
        // It was taken for a leftover before it was locked.
        close(number)
        continue
      }
      self.folder = nil
      self.path = path
      self.subject = final
      self.descriptor = Descriptor(number)
      self.lock = lock
      return
    }
  }

  private static let mark = ".photoledger-"

  /// The lock on a file; nil if another has it, or if there are no locks.
  private static func lock(on path: String, waits: Bool = false) -> FileLock? {
    try? FileLock(open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), waits: waits) { code in
      LibraryError.store(path, "lock", errno: code)
    }
  }

  /// Removes files that ended processes left on their way out.
  private static func removeLeftovers(in folder: String) {
    let isNew = sweptFolder.withLock { swept in
      defer { swept = folder }
      return swept != folder
    }
    guard isNew, remoteFileSystemName(of: folder) == nil else { return }
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
      // A file of this process is known by its lock: an earlier process may have had the same number.
      guard let owner = owner(of: name), owner == getpid() || (kill(owner, 0) != 0 && errno == ESRCH) else { continue }
      let path = "\(folder)/\(name)"
      var status = stat()
      guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, let lock = lock(on: path) else { continue }
      unlink(path)
      lock.release()
    }
  }

  /// The process that made a file with a name such as `.photoledger-4711.1`; nil for another name.
  private static func owner(of name: String) -> pid_t? {
    guard name.hasPrefix(mark) else { return nil }
    let numbers = name.dropFirst(mark.count).split(separator: ".", omittingEmptySubsequences: false)
    guard numbers.count == 2, let owner = pid_t(numbers[0]), owner > 0, UInt(numbers[1]) != nil else { return nil }
    return owner
  }

  deinit { if !isPlaced { unlinkat(folder?.descriptor ?? AT_FDCWD, path, 0) } }

  private static func nextName() -> String {
    "\(getpid()).\(incomingCount.add(1, ordering: .relaxed).newValue)"
  }

  private static let newFile = O_RDWR | O_CREAT | O_EXCL

  // MARK: Bytes

  func byteCount() -> Int64 {
    var status = stat()
    return fstat(descriptor.number, &status) == 0 ? Int64(status.st_size) : -1
  }

  /// Shares the blocks of `source`, where the file system can.
  func isClone(of source: borrowing SourceFile) throws(LibraryError) -> Bool {
    let code = psys_clone_file(descriptor.number, source.descriptor.number)
    if code == ENOSPC || code == EDQUOT || code == EIO { throw LibraryError.store(subject, "write", errno: code) }
    return code == 0
  }

  /// Copies `source` to its end and returns the digests of what was written.
  func copy(_ source: borrowing SourceFile) throws(LibraryError) -> ContentHash {
    var hash = ContentHash()
    _ = try source.forEachChunk { (chunk) throws(LibraryError) in
      hash.update(chunk)
      try write(chunk)
    }
    return hash
  }

  /// Copies what an open file has, and returns the digest of what was written.
  func copy(from source: Int32) throws(LibraryError) -> [UInt8] {
    var hash = SHA256()
    try Self.forEachChunk(of: source, subject) { (chunk) throws(LibraryError) in
      hash.update(chunk)
      try write(chunk)
    }
    return hash.digest().bytes
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(LibraryError) {
    var written = 0
    while written < bytes.count {
      let count = Glibc.write(descriptor.number, bytes.baseAddress.map { $0 + written }, bytes.count - written)
      if count > 0 {
        written += count
      } else if errno != EINTR {
        throw LibraryError.store(subject, "write", errno: errno)
      }
    }
  }

  /// Reads the file back from its start and returns its digests.
  /// - Parameter source: what the file is a clone of, which says whether the reading is to end.
  func digests(as source: borrowing SourceFile) throws(LibraryError) -> ContentHash {
    var hash = ContentHash()
    let (path, isCancelled) = (source.path, source.isCancelled)
    try forEachChunk { (chunk) throws(LibraryError) in
      if isCancelled() { throw SourceFile.cancelled(path) }
      hash.update(chunk)
    }
    return hash
  }

  /// Reads the file back from its start, in large pieces.
  func forEachChunk(_ body: (UnsafeRawBufferPointer) throws(LibraryError) -> Void) throws(LibraryError) {
    try Self.forEachChunk(of: descriptor.number, subject, body)
  }

  private static func forEachChunk(
    of descriptor: Int32, _ subject: String, _ body: (UnsafeRawBufferPointer) throws(LibraryError) -> Void
  ) throws(LibraryError) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: copyBufferByteCount, alignment: 64)
    defer { buffer.deallocate() }
    var position: off_t = 0
    while true {
      let count = pread(descriptor, buffer.baseAddress, buffer.count, position)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw LibraryError.store(subject, "read back", errno: errno) }
      if count == 0 { return }
      position += off_t(count)
      try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
  }

  // MARK: The final name

  func makeDurable() throws(LibraryError) {
    guard fsync(descriptor.number) == 0 else { throw LibraryError.store(subject, "make durable", errno: errno) }
  }

  /// Gives up ownership, after the file got its final name.
  consuming func giveUp() { isPlaced = true }

  /// Gives the file its final name, in the place of what has it: one of its library, or a path.
  /// - Parameter makingFolder: makes the folder of the final name, if it is not there.
  consuming func rename(
    to final: String, makingFolder: (() throws(LibraryError) -> Void)? = nil
  ) throws(LibraryError) {
    let parent = folder?.descriptor ?? AT_FDCWD
    var code = renameat(parent, path, parent, final) == 0 ? 0 : errno
    if code == ENOENT, let makingFolder {
      try makingFolder()
      code = renameat(parent, path, parent, final) == 0 ? 0 : errno
    }
    guard code == 0 else {
      throw LibraryError.store(folder?.path(of: final) ?? final, "rename a finished copy to", errno: code)
    }
    isPlaced = true
  }

  /// Gives the file its final name, unless something has that name.
  /// - Throws: ``LibraryError`` `.alreadyExists` if something has.
  consuming func renameWithoutReplacing(to final: String) throws(LibraryError) {
    switch psys_rename_without_replacing(path, final) {
    case 0: isPlaced = true
    case EEXIST: throw UnfinishedFile.exists(final)
    case EINVAL, ENOSYS, EOPNOTSUPP: try linkWithoutReplacing(to: final)
    case let code: throw LibraryError.store(final, "rename a finished copy to", errno: code)
    }
  }

  /// The same on a file system that cannot rename so: a second name is made, and the first goes with this value.
  func linkWithoutReplacing(to final: String) throws(LibraryError) {
    if Glibc.link(path, final) == 0 { return }
    if errno == EEXIST { throw UnfinishedFile.exists(final) }
    throw LibraryError.store(final, "rename a finished copy to", errno: errno)
  }
}
