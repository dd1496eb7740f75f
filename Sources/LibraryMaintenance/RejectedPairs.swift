package import PhotoLedger
import Glibc

// Pictures that are not duplicates of each other, as the owner decided.
//
//     LIBRARY/decisions/not-duplicates
//       +HHHH…HHHH HHHH…HHHH\n     131 bytes: the SHA-256 of two shown files, the smaller one first
//       -HHHH…HHHH HHHH…HHHH\n     the decision about this pair is withdrawn
//
// A rejection is not an event: it is about pictures, not about assets, so the log does not contain it, and as-of views
// and undo ignore it. It is a decision of the owner all the same: it is durable when it is acknowledged, and backups
// contain it. An edited photo shows another picture, and may be proposed again.
//
// Lines are appended, and the last one of a pair counts. An incomplete or damaged line is passed over. An erasure of
// assets overwrites the lines with contents that no asset has and no undo can bring back in place, by blanks, so that a
// process that appends at the same time continues after them.
//
// Rejected: identifiers of assets instead of contents. A photo that is imported again would be proposed again.

/// Two contents, by their SHA-256; the order does not matter.
package struct ContentPair: Hashable, Sendable {
  package let first: [UInt8]
  package let second: [UInt8]

  /// - Parameters:
  ///   - one: 32 bytes.
  ///   - other: 32 bytes.
  package init(_ one: [UInt8], _ other: [UInt8]) {
    precondition(one.count == 32 && other.count == 32, "A content is a SHA-256.")
    (first, second) = other.lexicographicallyPrecedes(one) ? (other, one) : (one, other)
  }
}

/// The pairs of contents that are not to be proposed as duplicates.
package struct RejectedPairs: Sendable {
  package static let folder = "decisions"
  package static let name = folder + "/not-duplicates"
  private static let lineLength = 131
  private let library: LibraryFolder

  package init(in library: LibraryFolder) { self.library = library }

  // MARK: Asking

  /// The pairs that are rejected.
  /// - Throws: ``LibraryError`` `.storage` if the file is there and cannot be read.
  /// - Complexity: O(n) in lines.
  package func pairs() throws(LibraryError) -> Set<ContentPair> {
    var pairs: Set<ContentPair> = []
    for line in Self.lines(of: try bytes()) {
      if line.isRejected { pairs.insert(line.pair) } else { pairs.remove(line.pair) }
    }
    return pairs
  }

  private func bytes() throws(LibraryError) -> [UInt8] {
    let number = library.open(Self.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    if number < 0, errno == ENOENT { return [] }
    guard number >= 0 else { throw failure("read") }
    let file = Descriptor(number)
    return try bytes(of: file)
  }

  private func bytes(of file: borrowing Descriptor) throws(LibraryError) -> [UInt8] {
    try file.bytes { LibraryError.store(library.path(of: Self.name), "read", errno: $0) }
  }

  // MARK: Deciding

  /// Records that pairs are rejected, or that they may be proposed again; durable when it returns.
  /// - Throws: ``LibraryError`` if the file cannot be written.
  package func record(_ pairs: [ContentPair], isRejected: Bool) throws(LibraryError) {
    if pairs.isEmpty { return }
    try library.makeFolder(Self.folder, 0o700)
    let flags = O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK
    let number = library.open(Self.name, flags, 0o600)
    guard number >= 0 else { throw failure("write") }
    let file = Descriptor(number)
    var status = stat()
    guard fstat(file.number, &status) == 0 else { throw failure("write") }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw LibraryError.store(library.path(of: Self.name), "write", errno: EINVAL)
    }
    // A line that a full disk cut off ends here, so that the next one is whole.
    var last: UInt8 = 0x0A
    if status.st_size > 0, pread(file.number, &last, 1, status.st_size - 1) != 1 { throw failure("write") }
    let cut: [UInt8] = last == 0x0A ? [] : [0x0A]
    let bytes = cut + pairs.flatMap { Self.line($0, isRejected) }
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        write(file.number, buffer.baseAddress.map { $0 + written }, buffer.count - written)
      }
      if count > 0 { written += count } else if errno != EINTR { throw failure("write") }
    }
    guard fsync(file.number) == 0 else { throw failure("make durable") }
    try library.synchronize(Self.folder)
    try library.synchronize(".")
  }

  /// Overwrites the lines with contents that are gone.
  /// - Throws: ``LibraryError`` if the file cannot be written; what the question throws.
  package func erase(where isGone: ([UInt8]) throws -> Bool) throws {
    let number = library.open(Self.name, O_RDWR | O_NOFOLLOW | O_NONBLOCK)
    if number < 0, errno == ENOENT { return }
    guard number >= 0 else { throw failure("erase") }
    let file = Descriptor(number)
    let blank = [UInt8](repeating: 0x20, count: Self.lineLength - 1)
    var isChanged = false
    for line in Self.lines(of: try bytes(of: file)) where try isGone(line.pair.first) || isGone(line.pair.second) {
      guard pwrite(file.number, blank, blank.count, off_t(line.start)) == blank.count else { throw failure("erase") }
      isChanged = true
    }
    if isChanged, fsync(file.number) != 0 { throw failure("make durable") }
  }

  private func failure(_ action: String) -> LibraryError {
    LibraryError.store(library.path(of: Self.name), action, errno: errno)
  }

  // MARK: Lines

  private static func line(_ pair: ContentPair, _ isRejected: Bool) -> [UInt8] {
    Array("\(isRejected ? "+" : "-")\(pair.first.hexadecimal) \(pair.second.hexadecimal)\n".utf8)
  }

  private static func lines(of bytes: [UInt8]) -> [(start: Int, pair: ContentPair, isRejected: Bool)] {
    var lines: [(start: Int, pair: ContentPair, isRejected: Bool)] = []
    var start = 0
    while let end = bytes[start...].firstIndex(of: 0x0A) {
      defer { start = end + 1 }
      let line = bytes[start..<end]
      guard line.count == lineLength - 1, [0x2B, 0x2D].contains(line[start]), line[start + 65] == 0x20,
        let first = [UInt8].spelled(by: line[(start + 1)..<(start + 65)]),
        let second = [UInt8].spelled(by: line[(start + 66)...])
      else { continue }
      lines.append((start, ContentPair(first, second), line[start] == 0x2B))
    }
    return lines
  }
}
