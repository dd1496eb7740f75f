package import PhotoLedger
import Glibc

// Files of the library with a record for each content: caches, such as the hashes of pictures.
//
//     LIBRARY/picture-hashes/h1         records of 80 bytes
//     LIBRARY/renditions/r3/records     records of 128 bytes
//       │ SHA-256 of the content │ what is known of it, and a checksum │ …
//
// The owner of a file adds and reads the records. An erasure overwrites the records of contents that no asset has any
// more by zeros, in place, so that a process that writes to the file at the same time continues. A record of zeros
// fails its checksum and is passed over.

/// A file of records that begin with a content's SHA-256.
package struct ContentRecords: Sendable {
  private static let hashLength = 32
  /// How many records are read at once.
  private static let batch = 4096
  private let name: String
  private let length: Int
  private let library: LibraryFolder

  /// - Parameters:
  ///   - name: the path of the file in the library's directory.
  ///   - length: the number of bytes of a record.
  ///   - library: the library's directory.
  package init(_ name: String, length: Int, in library: LibraryFolder) {
    precondition(length > Self.hashLength, "A record has a hash and more.")
    (self.name, self.length, self.library) = (name, length, library)
  }

  /// Overwrites the records of contents that are gone; durable when it returns.
  /// - Parameter gone: returns those of some contents that no asset has.
  /// - Throws: ``LibraryError`` `.storage` if the file is there and cannot be read or written; what the closure throws.
  /// - Complexity: O(n) in records.
  package func erase(_ gone: ([[UInt8]]) throws -> Set<[UInt8]>) throws {
    let number = library.open(name, O_RDWR | O_NOFOLLOW | O_NONBLOCK)
    if number < 0, errno == ENOENT { return }
    guard number >= 0 else { throw failure("erase") }
    let file = Descriptor(number)
    var status = stat()
    guard fstat(file.number, &status) == 0 else { throw failure("erase") }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw LibraryError.store(library.path(of: name), "erase", errno: EINVAL)
    }
    let zeros = [UInt8](repeating: 0, count: length)
    var chunk = [UInt8](repeating: 0, count: length * Self.batch)
    var (offset, isChanged) = (0, false)
    while true {
      let count = pread(file.number, &chunk, chunk.count, off_t(offset))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure("read") }
      // The end of a file may be a record that was cut off after its hash.
      let starts = stride(from: 0, to: count, by: length).filter { $0 + Self.hashLength <= count }
      let contents = starts.map { Array(chunk[$0..<$0 + Self.hashLength]) }
      let erased = try gone(contents.filter { $0.contains { $0 != 0 } })
      for (start, content) in zip(starts, contents) where erased.contains(content) {
        let size = min(length, count - start)
        guard pwrite(file.number, zeros, size, off_t(offset + start)) == size else { throw failure("erase") }
        isChanged = true
      }
      guard count == chunk.count else { break }
      offset += count
    }
    if isChanged, fsync(file.number) != 0 { throw failure("make durable") }
  }

  private func failure(_ action: String) -> LibraryError {
    LibraryError.store(library.path(of: name), action, errno: errno)
  }
}
