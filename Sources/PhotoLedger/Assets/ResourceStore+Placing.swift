import CSystem
import EventLog
package import Foundation
import Glibc
import Synchronization

extension ResourceStore {
  /// Puts a file's bytes into the library. Returns when the bytes are durable; `synchronize` makes their name so.
  /// - Parameters:
  ///   - path: the file.
  ///   - expected: the SHA-256 it had when its metadata was read; nil to take it as it is.
  /// - Throws: ``LibraryError`` `.missingResource`, `.invalidResource`, `.resourceChanged` of the file;
  ///   `.notEnoughSpace`, `.storage` of the library.
  /// - Complexity: O(bytes); O(1) bytes written where the file system shares blocks.
  package func store(fileAt path: FilePath, expecting expected: [UInt8]? = nil) throws(LibraryError) -> StoredContent {
    try store(SourceFile(path), expecting: expected)
  }

  func store(_ source: borrowing SourceFile, expecting expected: [UInt8]? = nil) throws(LibraryError) -> StoredContent {
    let byteCount = UInt64(source.stamp.byteCount)
    if let expected, holds(expected, byteCount: byteCount) { return stored(expected, byteCount: byteCount) }
    let incoming = try Incoming(in: library)
    let digest = try incoming.isClone(of: source) ? try incoming.digest() : try incoming.copy(source)
    try source.checkUnchanged(bytesRead: incoming.byteCount())
    if let expected, digest != expected { throw SourceFile.changed(source.path) }
    return try place(incoming, digest, byteCount)
  }

  /// Puts bytes into the library. Returns when they are durable; `synchronize` makes their name so.
  /// - Throws: ``LibraryError`` `.notEnoughSpace`, `.storage`.
  package func store(_ data: Data) throws(LibraryError) -> StoredContent {
    let digest = data.withUnsafeBytes { bytes in
      var hash = SHA256()
      hash.update(bytes)
      return hash.digest().bytes
    }
    let byteCount = UInt64(data.count)
    if holds(digest, byteCount: byteCount) { return stored(digest, byteCount: byteCount) }
    let incoming = try Incoming(in: library)
    for region in data.regions {
      let result: Result<Void, LibraryError> = region.withUnsafeBytes { bytes in
        do throws(LibraryError) { return .success(try incoming.write(bytes)) } catch { return .failure(error) }
      }
      try result.get()
    }
    return try place(incoming, digest, byteCount)
  }

  private func place(
    _ incoming: consuming Incoming, _ digest: [UInt8], _ byteCount: UInt64
  ) throws(LibraryError) -> StoredContent {
    if holds(digest, byteCount: byteCount) { return stored(digest, byteCount: byteCount) }
    try incoming.makeDurable()
    try makeFolder("resources/\(digest.hexadecimal.prefix(2))")
    try incoming.rename(to: path(ofContent: digest))
    return stored(digest, byteCount: byteCount)
  }

  /// Leaves a file where it is and returns what refers to it.
  /// - Parameters:
  ///   - path: its absolute path, which must be text: the log holds it as such.
  ///   - expected: the SHA-256 that it must have.
  /// - Throws: ``LibraryError`` `.missingResource`, `.invalidResource`, or `.resourceChanged` when it does not hold
  ///   what was expected.
  package func reference(fileAt path: FilePath, expecting expected: [UInt8]) throws(LibraryError) -> StoredContent {
    precondition(path.isAbsolute, "A file that is left in place is named by its absolute path.")
    guard let text = String(validating: path.bytes, as: UTF8.self) else {
      throw LibraryError(
        .invalidResource, "\(path) cannot be referenced, because its name is not UTF-8; rename it, or import a copy.")
    }
    let content = try FileContent(of: path)
    guard content.sha256 == expected else { throw SourceFile.changed(path) }
    return StoredContent(
      sha256: expected, dataSize: UInt64(content.byteCount), storage: .referenced(path: text))
  }
}

/// Numbers the files being written by this process, whichever library they are for.
private let incomingCount = Atomic(0)

/// A file being written. It disappears with this value unless it was renamed to its final name.
private struct Incoming: ~Copyable {
  private let path: String
  private let descriptor: Descriptor
  private var isPlaced = false

  init(in library: String) throws(LibraryError) {
    let count = incomingCount.add(1, ordering: .relaxed).newValue
    let path = "\(library)/resources/incoming/\(getpid()).\(count)"
    // A file of this name can only be a leftover of an earlier process with our number.
    unlink(path)
    let number = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o444)
    guard number >= 0 else { throw LibraryError.store(path, "make", errno: errno) }
    self.path = path
    self.descriptor = Descriptor(number)
  }

  deinit { if !isPlaced { unlink(path) } }

  func byteCount() -> Int64 {
    var status = stat()
    return fstat(descriptor.number, &status) == 0 ? Int64(status.st_size) : -1
  }

  /// Shares the blocks of `source`, where the file system can.
  func isClone(of source: borrowing SourceFile) throws(LibraryError) -> Bool {
    let code = psys_clone_file(descriptor.number, source.descriptor.number)
    if code == ENOSPC || code == EDQUOT || code == EIO { throw LibraryError.store(path, "write", errno: code) }
    return code == 0
  }

  /// Copies `source` to its end and returns the digest of what was written.
  func copy(_ source: borrowing SourceFile) throws(LibraryError) -> [UInt8] {
    var hash = SHA256()
    _ = try source.forEachChunk { (chunk) throws(LibraryError) in
      hash.update(chunk)
      try write(chunk)
    }
    return hash.digest().bytes
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(LibraryError) {
    var written = 0
    while written < bytes.count {
      let count = Glibc.write(descriptor.number, bytes.baseAddress.map { $0 + written }, bytes.count - written)
      if count > 0 { written += count } else if errno != EINTR { throw LibraryError.store(path, "write", errno: errno) }
    }
  }

  /// Reads the file from its start and returns its digest.
  func digest() throws(LibraryError) -> [UInt8] {
    do throws(Errno) {
      return try descriptor.sha256()
    } catch {
      throw LibraryError.store(path, "read back", errno: error.number)
    }
  }

  func makeDurable() throws(LibraryError) {
    guard fsync(descriptor.number) == 0 else { throw LibraryError.store(path, "make durable", errno: errno) }
  }

  consuming func rename(to final: String) throws(LibraryError) {
    guard Glibc.rename(path, final) == 0 else {
      throw LibraryError.store(final, "rename a finished copy to", errno: errno)
    }
    isPlaced = true
  }
}

/// The errno of a system call that failed.
struct Errno: Error {
  let number: Int32
}

extension Descriptor {
  /// The SHA-256 of the whole file, from its start.
  func sha256() throws(Errno) -> [UInt8] {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: copyBufferByteCount, alignment: 64)
    defer { buffer.deallocate() }
    var hash = SHA256()
    var position: off_t = 0
    while true {
      let count = pread(number, buffer.baseAddress, buffer.count, position)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw Errno(number: errno) }
      if count == 0 { return hash.digest().bytes }
      hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      position += off_t(count)
    }
  }
}
