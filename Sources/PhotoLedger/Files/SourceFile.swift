import EventLog
package import Glibc
import LMDB

/// The attributes that distinguish two states of a file, as reported by `fstat`.
///
/// Two equal stamps, one taken before a read and one after, mean that the file was not written in between, as far as
/// the file system's clock can tell; the content hash, taken again while the bytes are copied, covers the rest.
package struct FileStamp: Equatable, Sendable {
  package let device: UInt64
  package let inode: UInt64
  package let byteCount: Int64
  package let modifiedSeconds: Int64
  package let modifiedNanoseconds: Int32
  package let changedSeconds: Int64
  package let changedNanoseconds: Int32
  package let linkCount: Int32

  package init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    byteCount = Int64(status.st_size)
    modifiedSeconds = Int64(status.st_mtim.tv_sec)
    modifiedNanoseconds = Int32(status.st_mtim.tv_nsec)
    changedSeconds = Int64(status.st_ctim.tv_sec)
    changedNanoseconds = Int32(status.st_ctim.tv_nsec)
    linkCount = Int32(clamping: status.st_nlink)
  }
}

/// An open descriptor, closed when it goes out of scope.
package struct Descriptor: ~Copyable {
  package let number: Int32

  package init(_ number: Int32) {
    precondition(number >= 0, "A descriptor must come from a successful open.")
    self.number = number
  }

  deinit { close(number) }

  /// All bytes of a regular file.
  /// - Parameter failure: makes the error of an errno; `EINVAL` if the file is not a regular one.
  package borrowing func bytes(_ failure: (Int32) -> LibraryError) throws(LibraryError) -> [UInt8] {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw failure(errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw failure(EINVAL) }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var filled = 0
    while filled < bytes.count {
      let count = bytes.withUnsafeMutableBytes { buffer in
        pread(number, buffer.baseAddress.map { $0 + filled }, buffer.count - filled, off_t(filled))
      }
      if count == 0 { break }
      if count > 0 { filled += count } else if errno != EINTR { throw failure(errno) }
    }
    return Array(bytes[..<filled])
  }
}

/// A source file opened for reading, with its stamp at that moment.
package struct SourceFile: ~Copyable {
  package let path: FilePath
  package let descriptor: Descriptor
  package let stamp: FileStamp
  /// Asked for each piece of ``forEachChunk(_:)``: whether the reading is to end.
  package var isCancelled: @Sendable () -> Bool = { false }

  /// Opens a regular file; `O_NONBLOCK` keeps a FIFO that took a file's place from hanging the reader.
  package init(_ path: FilePath) throws(LibraryError) {
    try self.init(path) { (code) in LibraryError.source(path, "opened", errno: code) }
  }

  /// The same, with the caller's own words for a file that cannot be opened.
  /// - Parameters:
  ///   - path: the file.
  ///   - opening: opens it in another way than by its path.
  ///   - unopened: makes the error from the errno of the attempt.
  package init(
    _ path: FilePath, opening: ((_ flags: Int32) -> Int32)? = nil, unopened: (Int32) -> LibraryError
  ) throws(LibraryError) {
    let flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
    let number = if let opening { opening(flags) } else { path.withCString { open($0, flags) } }
    guard number >= 0 else { throw unopened(errno) }
    let descriptor = Descriptor(number)
    var status = stat()
    guard fstat(number, &status) == 0 else { throw LibraryError.source(path, "examined", errno: errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw LibraryError(.invalidResource, "\(path) is not a regular file.")
    }
    posix_fadvise(number, 0, 0, POSIX_FADV_SEQUENTIAL)
    self.path = path
    self.descriptor = descriptor
    self.stamp = FileStamp(status)
  }

  /// Reads from the current position into `buffer`. Returns the number of bytes, 0 at the end.
  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(LibraryError) -> Int {
    while true {
      let count = Glibc.read(descriptor.number, buffer.baseAddress, buffer.count)
      if count >= 0 { return count }
      if errno != EINTR { throw LibraryError.source(path, "read", errno: errno) }
    }
  }

  /// Throws if the file has changed since it was opened, or was not read completely.
  package func checkUnchanged(bytesRead: Int64) throws(LibraryError) {
    var status = stat()
    guard fstat(descriptor.number, &status) == 0 else { throw LibraryError.source(path, "examined", errno: errno) }
    guard FileStamp(status) == stamp, bytesRead == stamp.byteCount else { throw Self.changed(path) }
  }

  /// The error of a reading that was to end.
  static func cancelled(_ path: FilePath) -> LibraryError {
    LibraryError(.userCancelled, "Reading \(path) was stopped.")
  }

  package static func changed(_ path: FilePath) -> LibraryError {
    LibraryError(.resourceChanged, "\(path) changed while it was read; try again when its writer has finished.")
  }
}

/// What a file held when it was read to its end: digest, size, and the stamp that says which state of it that was.
package struct FileContent: Sendable, Equatable {
  /// The 32 bytes of the SHA-256.
  package let sha256: [UInt8]
  /// The 20 bytes of the SHA-1.
  package let sha1: [UInt8]
  package let stamp: FileStamp

  package var byteCount: Int64 { stamp.byteCount }

  /// What an earlier reading found, for a file whose stamp says that it is still so.
  package init(sha256: [UInt8], sha1: [UInt8], stamp: FileStamp) {
    (self.sha256, self.sha1, self.stamp) = (sha256, sha1, stamp)
  }

  /// Reads a file to its end.
  /// - Parameters:
  ///   - path: the file.
  ///   - isCancelled: asked for each MiB, whether the reading is to end.
  /// - Throws: ``LibraryError`` `.missingResource`, `.invalidResource` for a file that cannot be read,
  ///   `.resourceChanged` when its size or times differ at the end, `.userCancelled`.
  /// - Complexity: O(bytes), in a fixed buffer.
  package init(
    of path: FilePath, isCancelled: @escaping @Sendable () -> Bool = { false }
  ) throws(LibraryError) {
    var source = try SourceFile(path)
    source.isCancelled = isCancelled
    try self.init(of: source)
  }

  /// The same for a file that is open and at its beginning.
  package init(of file: borrowing SourceFile) throws(LibraryError) {
    var hash = ContentHash()
    let total = try file.forEachChunk { (chunk) throws(LibraryError) in hash.update(chunk) }
    try file.checkUnchanged(bytesRead: total)
    (sha256, sha1) = (hash.sha256, hash.sha1)
    stamp = file.stamp
  }
}

extension SourceFile {
  /// Gives the bytes from the current position to the end, in large pieces.
  /// - Returns: how many there were.
  /// - Throws: what `body` throws, `.resourceChanged` for a file that grows while it is read, and `.userCancelled`.
  package func forEachChunk(
    _ body: (UnsafeRawBufferPointer) throws(LibraryError) -> Void
  ) throws(LibraryError) -> Int64 {
    // Room for a byte more than there should be, so that one read meets what was appended meanwhile. Aligned as plain
    // allocations are: what is aligned more strictly, and small, leaves gaps in the heaps of many threads.
    let room = Int(min(Int64(copyBufferByteCount), max(4096, stamp.byteCount &+ 1)))
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 16)
    defer { buffer.deallocate() }
    var total: Int64 = 0
    while true {
      if isCancelled() { throw Self.cancelled(path) }
      let count = try read(into: buffer)
      if count == 0 { return total }
      total += Int64(count)
      // A file that is being appended to must not keep us here for ever.
      guard total <= stamp.byteCount else { throw Self.changed(path) }
      try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
  }
}

/// The size of the buffer that bytes pass through: large enough that system calls cost nothing beside hashing.
package let copyBufferByteCount = 1 << 20

extension LibraryError {
  /// The failure of a system call on a file that is being read.
  static func source(_ path: FilePath, _ action: String, errno code: Int32) -> LibraryError {
    if code == ENOENT || code == ENOTDIR {
      return LibraryError(.missingResource, "\(path) does not exist; check the path, or restore the file.")
    }
    return LibraryError(.invalidResource, "\(path) cannot be \(action): \(reason(code)).")
  }

  /// The failure of a system call inside the library's folders of files.
  package static func store(_ path: String, _ action: String, errno code: Int32) -> LibraryError {
    let path = LMDB.Environment.displayedPath(path)
    if code == ENOSPC || code == EDQUOT {
      return LibraryError(.notEnoughSpace, "There is not enough space to \(action) \(path); free some and try again.")
    }
    return LibraryError(.storage, "The library cannot \(action) \(path): \(reason(code)).")
  }

  /// What the C library says about an errno value.
  package static func reason(_ code: Int32) -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
    return buffer.withUnsafeBufferPointer { text in text.baseAddress.map { String(cString: $0) } ?? "" }
  }
}
