internal import Glibc

/// What tells one state of a file from another, as `fstat` reports it.
///
/// Two equal stamps, one taken before a read and one after, mean that nobody wrote in between, as far as the file
/// system's clock can tell; the content hash, taken again while the bytes are copied, covers the rest.
struct FileStamp: Equatable, Sendable {
  let device: UInt64
  let inode: UInt64
  let byteCount: Int64
  let modifiedSeconds: Int64
  let modifiedNanoseconds: Int64
  let changedSeconds: Int64
  let changedNanoseconds: Int64

  init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    byteCount = Int64(status.st_size)
    modifiedSeconds = Int64(status.st_mtim.tv_sec)
    modifiedNanoseconds = Int64(status.st_mtim.tv_nsec)
    changedSeconds = Int64(status.st_ctim.tv_sec)
    changedNanoseconds = Int64(status.st_ctim.tv_nsec)
  }
}

/// An open descriptor, closed when it goes out of scope.
struct Descriptor: ~Copyable {
  let number: Int32

  init(_ number: Int32) {
    precondition(number >= 0, "A descriptor is made from a successful open.")
    self.number = number
  }

  deinit { close(number) }
}

/// A source file opened for reading, with its stamp at that moment.
struct SourceFile: ~Copyable {
  let path: ImportPath
  let descriptor: Descriptor
  let stamp: FileStamp

  /// Opens a regular file; `O_NONBLOCK` keeps a FIFO that took a file's place from hanging the import.
  init(_ path: ImportPath) throws(ImportError) {
    let number = path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) }
    guard number >= 0 else { throw ImportError.source(path, "opened", errno: errno) }
    let descriptor = Descriptor(number)
    var status = stat()
    guard fstat(number, &status) == 0 else { throw ImportError.source(path, "examined", errno: errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw ImportError(.unreadable, path: path.description, "\(path) is no longer a regular file.")
    }
    posix_fadvise(number, 0, 0, POSIX_FADV_SEQUENTIAL)
    self.path = path
    self.descriptor = descriptor
    self.stamp = FileStamp(status)
  }

  /// Reads from the current position into `buffer`. Returns the number of bytes, 0 at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(ImportError) -> Int {
    while true {
      let count = Glibc.read(descriptor.number, buffer.baseAddress, buffer.count)
      if count >= 0 { return count }
      if errno != EINTR { throw ImportError.source(path, "read", errno: errno) }
    }
  }

  /// Throws when the file is no longer as it was when it was opened, or when not all of it was read.
  func checkUnchanged(bytesRead: Int64) throws(ImportError) {
    var status = stat()
    guard fstat(descriptor.number, &status) == 0 else { throw ImportError.source(path, "examined", errno: errno) }
    guard FileStamp(status) == stamp, bytesRead == stamp.byteCount else { throw Self.changed(path) }
  }

  static func changed(_ path: ImportPath) -> ImportError {
    ImportError(
      .changedWhileRead, path: path.description,
      "\(path) changed while it was read. Import it again when its writer has finished.")
  }
}
