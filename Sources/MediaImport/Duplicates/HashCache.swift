internal import Foundation
internal import Glibc
internal import PhotoLedger
import LibraryMaintenance

// The hashes of pictures that were made, in `picture-hashes/` of the library's folder. A cache: it is in no log, may be
// removed at any time, and is made anew.
//
//     picture-hashes/h1     80 bytes a content: SHA-256, state, means, 4 words of hash or mark of programs, CRC-32
//
// The recipe's revision names the file; files of other revisions are removed. Records are appended, and a torn one is
// passed over. What a search over the whole library does not need is dropped when it makes up more than half, so the
// file has at most about twice as many records as the library has pictures. A picture that the programs cannot decode
// is recorded with their mark, and tried again with others; a failure that may pass is not recorded.
//
// Two searches at a time append to one file; each append is one write, and a content that both made is there twice.
//
// An erasure overwrites the records of contents that no asset has any more by zeros. A search writes what it has in
// memory, so after each writing it looks for such contents itself: the erasure may have come before.

/// The hashes of pictures that were made.
final class HashCache {
  /// What is known of a content.
  enum Entry: Equatable {
    case hash(PictureHash)
    /// A plain picture.
    case plain
    /// It could not be decoded by programs with this mark.
    case failed(UInt64)
  }

  static let folder = "picture-hashes"
  private static let size = 80

  private let library: LibraryFolder
  private let descriptor: Int32
  private(set) var entries: [[UInt8]: Entry] = [:]
  /// How many records the file has.
  private(set) var recordCount = 0

  /// Opens the cache of a library.
  /// - Throws: ``LibraryError`` if its file cannot be made or read.
  init(in library: LibraryFolder) throws {
    self.library = library
    try library.makeFolder(Self.folder)
    let path = library.path(of: Self.folder)
    // The folder and its file are the library's own; a link there leads to files of another program.
    let number = library.open(Self.folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    guard number >= 0 else { throw LibraryError.store(path, "open", errno: errno) }
    close(number)
    for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    where name != PictureHash.recipe && name.wholeMatch(of: #/h[0-9]+|new-[0-9]+/#) != nil {
      library.remove("\(Self.folder)/\(name)")
    }
    descriptor = library.open(Self.name, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0o600)
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
      throw LibraryError.store("\(path)/\(PictureHash.recipe)", "open", errno: errno)
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw LibraryError.store("\(path)/\(PictureHash.recipe)", "open", errno: EINVAL)
    }
    load()
  }

  deinit { close(descriptor) }

  private static var name: String { "\(folder)/\(PictureHash.recipe)" }

  private func load() {
    var chunk = [UInt8](repeating: 0, count: Self.size * 4096)
    while true {
      let count = pread(descriptor, &chunk, chunk.count, off_t(recordCount * Self.size))
      guard count >= Self.size else { break }
      for start in stride(from: 0, to: count / Self.size * Self.size, by: Self.size) {
        recordCount += 1
        let record = Array(chunk[start..<start + Self.size])
        if let entry = Self.entry(record) { entries[Array(record[..<32])] = entry }
      }
    }
    // A torn end would shift the records after it; whole ones that another search added meanwhile stay.
    var status = stat()
    guard fstat(descriptor, &status) == 0, Int(status.st_size) % Self.size != 0 else { return }
    if ftruncate(descriptor, off_t(recordCount * Self.size)) != 0 { entries = [:] }
  }

  /// Adds what was found.
  /// - Throws: ``LibraryError`` if it cannot be written, such as `.notEnoughSpace`.
  func add(_ found: [(content: [UInt8], entry: Entry)]) throws {
    if found.isEmpty { return }
    let bytes = found.flatMap { Self.record($0.content, $0.entry) }
    let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    guard count == bytes.count else {
      let code = count < 0 ? errno : ENOSPC
      throw LibraryError.store(library.path(of: Self.name), "write", errno: code)
    }
    recordCount += found.count
    for (content, entry) in found { entries[content] = entry }
  }

  /// Erases records of contents from the file; the search that is under way goes on with what it has in memory.
  /// - Throws: ``LibraryError`` if the file cannot be written.
  func erase(_ contents: Set<[UInt8]>) throws {
    if contents.isEmpty { return }
    try ContentRecords(Self.name, length: Self.size, in: library).erase { Set($0).intersection(contents) }
  }

  /// Drops the records of other contents, if there are more of them than of these.
  /// - Returns: whether the file was written anew, by what is in memory.
  @discardableResult
  func keep(_ contents: Set<[UInt8]>) throws -> Bool {
    let kept = entries.filter { contents.contains($0.key) }
    guard recordCount > 2 * kept.count + 64 else { return false }
    let bytes = kept.flatMap { Self.record($0.key, $0.value) }
    let temporary = "\(Self.folder)/new-\(getpid())"
    let number = library.open(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard number >= 0 else { throw LibraryError.store(library.path(of: temporary), "write", errno: errno) }
    defer { close(number) }
    let count = bytes.withUnsafeBytes { write(number, $0.baseAddress, $0.count) }
    guard count == bytes.count || (count <= 0 && bytes.isEmpty) else {
      library.remove(temporary)
      throw LibraryError.store(library.path(of: temporary), "write", errno: ENOSPC)
    }
    let code = library.rename(temporary, to: Self.name)
    guard code == 0 else { throw LibraryError.store(library.path(of: Self.name), "replace", errno: code) }
    return true
  }

  // MARK: Records

  private static func record(_ content: [UInt8], _ entry: Entry) -> [UInt8] {
    var words: [UInt64] = [0, 0, 0, 0]
    var head: [UInt8] = [0, 0, 0, 0]
    switch entry {
    case .hash(let hash):
      head = [1, hash.means.0, hash.means.1, hash.means.2]
      words = [hash.coarse, hash.fine.0, hash.fine.1, hash.fine.2]
    case .plain: head[0] = 2
    case .failed(let mark): (head[0], words[0]) = (4, mark)
    }
    let body = content + head + words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
    let padded = body + [UInt8](repeating: 0, count: size - 4 - body.count)
    let sum = CRC32.of(padded)
    return padded + (0..<4).map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) }
  }

  private static func entry(_ record: [UInt8]) -> Entry? {
    func word(_ start: Int, _ count: Int) -> UInt64 {
      record[start..<start + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    guard word(size - 4, 4) == UInt64(CRC32.of(Array(record.dropLast(4)))) else { return nil }
    switch record[32] {
    case 1:
      return .hash(
        PictureHash(
          coarse: word(36, 8), fine: (word(44, 8), word(52, 8), word(60, 8)),
          means: (record[33], record[34], record[35])))
    case 2: return .plain
    // 3 was written for every failure, passing ones too, and says nothing.
    case 4: return .failed(word(36, 8))
    default: return nil
    }
  }
}
