internal import Foundation
internal import Glibc
internal import PhotoLedger
internal import Synchronization

// What earlier imports read at which path, so that it need not be read again.
//
//     LIBRARY/imports/known-files
//       "photoledger known files 1\n"
//       records: length, checksum (FNV-1a), then path, size, times, SHA-256, SHA-1, condition
//       the last record of a path counts; one of another condition withdraws what is known of it
//
// It is a cache of facts about folders, not about the library. Without it every file is read and hashed once more, and
// nothing else is lost; so it is neither durable nor part of the store's format, and an incomplete record ends its
// reading. The records of a batch follow its commit, so that it never claims that a file was imported which was not.
// Records are appended; the file is rewritten only when most of its records are obsolete.
//
// The erasure of assets removes the file, while an import may be running. So a file that was removed is not written
// again with what was known; and the contents of a batch are looked up in the library while the file is open, before
// they are recorded: what is erased after that look-up takes the file, and the records in it, with it.
//
// A content counts for a path while the file's size and times are what they were. Times have a granularity: a file that
// is written again within it looks the same. So the times of a file that changed less than three seconds before it was
// read are recorded as unknown, and it is read again by the next import.

/// The size and times of a file.
struct FileState: Hashable, Sendable {
  var byteCount: Int64
  /// When the content changed last, nanoseconds.
  var modified: Int64
  /// When the file changed last in any way, nanoseconds.
  var changed: Int64
}

/// What was read at a path.
struct KnownFile: Sendable, Hashable {
  /// What the file was when it was read; nil: too fresh to say.
  var state: FileState?
  var sha256: [UInt8]
  var sha1: [UInt8]
  var condition = Condition.taken

  enum Condition: UInt8 {
    /// The library had its content when it was read.
    case taken
    /// The same, and the file is no longer there.
    case missing
    /// It is not a photo or video.
    case left
    /// It describes other files: a watch found it. No content is known of it.
    case describes
  }
}

/// The files that earlier imports have read.
final class KnownFiles: Sendable {
  private struct Table {
    var files: [FilePath: KnownFile] = [:]
    /// Made when it is asked for.
    var paths: [[UInt8]: Set<FilePath>]?
    var descriptor: Int32?
    /// The file as this object read or left it.
    var left: FileState?
    /// How many of its bytes were read, to the end of the last whole record.
    var wholeCount = 0
    /// The records that it has.
    var recordCount = 0
  }

  static let name = ImportReportFile.folder + "/known-files"
  private static let header = Array("photoledger known files 1\n".utf8)
  private let library: LibraryFolder
  private let table: Mutex<Table>

  /// The library's folder of import files exists; call ``refresh()`` while no other import is running.
  init(in library: LibraryFolder) {
    self.library = library
    table = Mutex(Table())
  }

  /// Reads what is known, unless that is what this object wrote last.
  func refresh() {
    table.withLock { table in
      let now = library.status(of: Self.name).map { FileState(SourceStamp($0)) }
      if now == table.left, now != nil { return }
      if let number = table.descriptor { close(number) }
      table = Table()
      let bytes = Self.contents(in: library)
      guard bytes.starts(with: Self.header) else { return }
      var reader = RecordReader(bytes: bytes, offset: Self.header.count)
      table.files.reserveCapacity(bytes.count / RecordReader.usualCount)
      while let (path, file) = reader.next() {
        table.files[path] = file
        table.recordCount += 1
      }
      (table.left, table.wholeCount) = (now, reader.offset)
    }
  }

  deinit { table.withLock { if let number = $0.descriptor { close(number) } } }

  /// The most bytes that are read; some ten million files.
  private static let byteLimit = 1 << 31

  private static func contents(in library: LibraryFolder) -> [UInt8] {
    let number = library.open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    guard number >= 0 else { return [] }
    let file = Descriptor(number)
    var status = stat()
    guard fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= byteLimit else {
      return []
    }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var filled = 0
    while filled < bytes.count {
      let count = bytes.withUnsafeMutableBytes { buffer in
        Glibc.read(file.number, buffer.baseAddress.map { $0 + filled }, buffer.count - filled)
      }
      if count <= 0 { break }
      filled += count
    }
    if filled < bytes.count { bytes.removeLast(bytes.count - filled) }
    return bytes
  }

  // MARK: Asking

  subscript(path: FilePath) -> KnownFile? { table.withLock { $0.files[path] } }

  /// The content of a file whose size and times are what they were when it was read.
  func content(of path: FilePath, _ stamp: SourceStamp) -> FileContent? {
    guard let file = self[path], file.condition != .describes, file.state == FileState(stamp) else { return nil }
    return FileContent(sha256: file.sha256, sha1: file.sha1, stamp: stamp)
  }

  /// The files below folders that are not missing, and what they were; one that was too fresh to say is like no file.
  /// - Parameter isHeld: whether the library has a content; a file that was taken and whose content it lacks is not
  ///   known.
  func states(
    below roots: [FilePath], where isHeld: ([UInt8]) throws -> Bool
  ) rethrows -> [(path: FilePath, state: FileState, isTaken: Bool)] {
    try table.withLock(\.files).compactMap { path, file in
      guard file.condition != .missing, roots.contains(where: { path.isBelow($0) }) else { return nil }
      if file.condition == .taken, try !isHeld(file.sha256) { return nil }
      return (path, file.state ?? .unknown, file.condition == .taken)
    }
  }

  /// The paths that had a content, in order.
  func paths(ofContent sha256: [UInt8]) -> [FilePath] {
    table.withLock { table in
      let paths =
        table.paths
        ?? Dictionary(grouping: table.files.keys) { table.files[$0]?.sha256 ?? [] }
        .mapValues { Set($0) }
      table.paths = paths
      return paths[sha256, default: []].sorted()
    }
  }

  // MARK: Recording

  /// Records what is known of some paths; nil: nothing any more.
  /// - Throws: ``LibraryError`` if it cannot be written.
  func record(_ files: [(path: FilePath, file: KnownFile?)]) throws {
    try table.withLock { table in
      // What was known before the file was removed is not known any more.
      if try open(&table).wasRemoved { return }
      try append(files, &table)
    }
  }

  /// Records what was read at some paths, of contents that the library still has.
  /// - Parameter held: those of some contents that the library has.
  /// - Throws: ``LibraryError`` if it cannot be written.
  func record(
    _ files: [(path: FilePath, file: KnownFile)], held: (Set<[UInt8]>) async throws -> Set<[UInt8]>
  ) async throws {
    if files.isEmpty { return }
    let number = try table.withLock { try open(&$0).number }
    let taken = files.filter { $0.file.condition == .taken }
    let held = taken.isEmpty ? [] : try await held(Set(taken.map(\.file.sha256)))
    try table.withLock { table in
      guard table.descriptor == number, Self.isLinked(number) else { return }
      try append(
        files.filter { $0.file.condition != .taken || held.contains($0.file.sha256) }.map { ($0.path, $0.file) }, &table
      )
    }
  }

  /// Records the sidecars of a batch of a watch, so that another watch need not take them again: where one belongs to a
  /// file that comes into its folder later, it is found by its name.
  /// - Parameter listed: gives what a file was when it was listed.
  /// - Throws: ``LibraryError`` if it cannot be written.
  func record(
    sidecarsAmong outcomes: [FilePath: FileOutcome], readAt began: Date, as listed: (FilePath) -> FileState?
  ) throws {
    let sidecars = outcomes.compactMap { path, outcome -> (path: FilePath, file: KnownFile?)? in
      switch outcome {
      case .sidecar, .describes, .describesAlbum: break
      default: return nil
      }
      // Adjustment data are not looked for by name, so they come with their photo.
      guard SidecarSource.endings.contains(path.pathExtension), let state = listed(path) else { return nil }
      return (path, KnownFile(describing: state, readAt: began))
    }
    if !sidecars.isEmpty { try record(sidecars) }
  }

  private func append(_ files: [(path: FilePath, file: KnownFile?)], _ table: inout Table) throws {
    guard let number = table.descriptor else { preconditionFailure("Records are appended to an open file.") }
    var bytes: [UInt8] = []
    for (path, file) in files where table.files[path] != file {
      if let old = table.files[path] { table.paths?[old.sha256]?.remove(path) }
      table.files[path] = file
      if let file { table.paths?[file.sha256, default: []].insert(path) }
      bytes += RecordReader.record(path, file)
      table.recordCount += 1
    }
    if bytes.isEmpty { return }
    try writeWhole(bytes, to: number, library.path(of: Self.name))
    var status = stat()
    table.left = fstat(number, &status) == 0 ? FileState(SourceStamp(status)) : nil
  }

  /// Whether a file has a name still.
  private static func isLinked(_ number: Int32) -> Bool {
    var status = stat()
    return fstat(number, &status) == 0 && status.st_nlink > 0
  }

  /// Opens the file for records: the one that was read, without what is after its last whole record, or a new one.
  /// - Returns: its descriptor, and whether the file that was known was removed; then nothing is known any more.
  private func open(_ table: inout Table) throws -> (number: Int32, wasRemoved: Bool) {
    if let number = table.descriptor, Self.isLinked(number) { return (number, false) }
    if table.descriptor == nil, let number = try reopened(&table) { return (number, false) }
    let wasThere = table.descriptor != nil || table.left != nil
    if let number = table.descriptor {
      close(number)
      table = Table()
    }
    let (number, isKept) = try make(&table)
    return (number, wasThere && !isKept)
  }

  /// The file that was read; nil if it is not there as it was, or is better written anew.
  private func reopened(_ table: inout Table) throws -> Int32? {
    guard let left = table.left, table.wholeCount > 0, table.recordCount <= 2 * table.files.count + 1024 else {
      return nil
    }
    let number = library.open(Self.name, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK)
    guard number >= 0 else { return nil }
    var status = stat()
    guard fstat(number, &status) == 0, FileState(SourceStamp(status)) == left,
      Int(status.st_size) == table.wholeCount || ftruncate(number, off_t(table.wholeCount)) == 0
    else {
      close(number)
      return nil
    }
    table.descriptor = number
    return number
  }

  /// Writes the file anew, with what is known if the file is there still as it was read.
  /// - Returns: its descriptor, and whether what is known is in it.
  private func make(_ table: inout Table) throws -> (number: Int32, isKept: Bool) {
    let (path, draft) = (library.path(of: Self.name), Self.name + ".new")
    while true {
      let number = library.open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o644)
      guard number >= 0 else { throw LibraryError.store(path, "make", errno: errno) }
      // Asked while there is a draft: an erasure after this removes that, too.
      let isKept = table.left != nil && library.status(of: Self.name).map { FileState(SourceStamp($0)) } == table.left
      if !isKept { table = Table() }
      var all = Self.header
      for (path, file) in table.files { all += RecordReader.record(path, file) }
      do {
        try writeWhole(all, to: number, path)
      } catch {
        close(number)
        throw error
      }
      let code = library.rename(draft, to: Self.name)
      if code == 0 {
        (table.descriptor, table.recordCount) = (number, table.files.count)
        return (number, isKept)
      }
      close(number)
      guard code == ENOENT else { throw LibraryError.store(path, "make", errno: code) }
      table = Table()
    }
  }
}

/// Reads records one after the other, and ends at the first that is not whole.
private struct RecordReader {
  let bytes: [UInt8]
  var offset: Int

  /// The most bytes of a path; the kernel's limit is 4096.
  private static let pathLimit = 4096
  private static let fixedCount = 3 * 8 + 32 + 20 + 1
  /// About the bytes of a record.
  static let usualCount = fixedCount + 8 + 64

  /// What stands for a condition when nothing is known any more.
  private static let nothing: UInt8 = 255

  static func record(_ path: FilePath, _ known: KnownFile?) -> [UInt8] {
    let file =
      known
      ?? KnownFile(
        state: nil, sha256: [UInt8](repeating: 0, count: 32), sha1: [UInt8](repeating: 0, count: 20))
    let state = file.state ?? .unknown
    var body: [UInt8] = []
    body.reserveCapacity(fixedCount + path.bytes.count)
    for number in [state.byteCount, state.modified, state.changed] {
      withUnsafeBytes(of: number.littleEndian) { body.append(contentsOf: $0) }
    }
    precondition(file.sha256.count == 32 && file.sha1.count == 20, "A known file has both digests.")
    body += file.sha256 + file.sha1 + [known?.condition.rawValue ?? nothing] + path.bytes
    var record: [UInt8] = []
    for number in [UInt32(body.count), checksum(body[...])] {
      withUnsafeBytes(of: number.littleEndian) { record.append(contentsOf: $0) }
    }
    return record + body
  }

  mutating func next() -> (FilePath, KnownFile?)? {
    guard bytes.count - offset >= 8 else { return nil }
    let count = Int(number(offset, UInt32.self))
    guard count > Self.fixedCount, count < Self.fixedCount + Self.pathLimit, bytes.count - offset - 8 >= count else {
      return nil
    }
    let body = bytes[(offset + 8)..<(offset + 8 + count)]
    guard Self.checksum(body) == number(offset + 4, UInt32.self) else { return nil }
    offset += 8 + count
    let start = body.startIndex
    let state = FileState(
      byteCount: number(start, Int64.self), modified: number(start + 8, Int64.self),
      changed: number(start + 16, Int64.self))
    let path = FilePath(bytes: body[(start + 77)...])
    guard let condition = KnownFile.Condition(rawValue: body[start + 76]) else { return (path, .none) }
    let file = KnownFile(
      state: state.byteCount < 0 ? nil : state, sha256: Array(body[(start + 24)..<(start + 56)]),
      sha1: Array(body[(start + 56)..<(start + 76)]), condition: condition)
    return (path, file)
  }

  private func number<Number: FixedWidthInteger>(_ offset: Int, _ type: Number.Type) -> Number {
    bytes.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: type)) }
  }

  private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.withUnsafeBytes { bytes in
      var sum: UInt32 = 2_166_136_261
      for byte in bytes { sum = (sum ^ UInt32(byte)) &* 16_777_619 }
      return sum
    }
  }
}

extension FileState {
  /// What no file is.
  static let unknown = FileState(byteCount: -1, modified: 0, changed: 0)

  init(_ stamp: SourceStamp) {
    self.init(
      byteCount: stamp.byteCount, modified: stamp.modifiedSeconds &* 1_000_000_000 &+ Int64(stamp.modifiedNanoseconds),
      changed: stamp.changedSeconds &* 1_000_000_000 &+ Int64(stamp.changedNanoseconds))
  }
}

extension KnownFile {
  /// How long before its reading a file must have been left alone: more than the two seconds that the times of the
  /// coarsest file systems (those of memory cards) differ by.
  static let settlingNanoseconds: Int64 = 3_000_000_000

  /// - Parameters:
  ///   - content: what was read.
  ///   - began: when the reading began, by the clock that file times come from.
  ///   - condition: what became of it.
  init(_ content: FileContent, readAt began: Date, _ condition: Condition) {
    self.init(
      state: Self.settled(FileState(content.stamp), at: began), sha256: content.sha256, sha1: content.sha1,
      condition: condition)
  }

  /// A file that describes others.
  /// - Parameters:
  ///   - state: what it was when it was found.
  ///   - began: when the import began to read it.
  init(describing state: FileState, readAt began: Date) {
    self.init(
      state: Self.settled(state, at: began), sha256: [UInt8](repeating: 0, count: 32),
      sha1: [UInt8](repeating: 0, count: 20), condition: .describes)
  }

  /// What a file was, if it had been left alone for so long that its times count.
  private static func settled(_ state: FileState, at began: Date) -> FileState? {
    let nanoseconds = Int64(min(began.timeIntervalSince1970 * 1e9, 9e18))
    return max(state.modified, state.changed) <= nanoseconds &- settlingNanoseconds ? state : nil
  }
}

extension FilePath {
  /// Whether the path is that of something in a folder or further below.
  func isBelow(_ folder: FilePath) -> Bool {
    let base = folder.bytes.last == Self.slash ? folder.bytes.count - 1 : folder.bytes.count
    guard bytes.count > base + 1, bytes[base] == Self.slash else { return false }
    return bytes.withUnsafeBytes { path in
      folder.bytes.withUnsafeBytes { folder in
        guard let first = path.baseAddress, let second = folder.baseAddress else { return true }
        return memcmp(first, second, base) == 0
      }
    }
  }
}
