internal import Foundation
internal import Glibc
internal import PhotoLedger

// Which files of a folder are ours, and what is in them, without reading them.
//
//     photoledger files 1
//     <size> <mtime, ns> <content> <asset> <kind> <path>        tabs between; one line for each writing
//
// A line is made durable *before* the file gets its name, with the size and time that the finished file has under its
// temporary one; a rename keeps both. So after a kill at any point a file under the name is exactly one of:
//
//     as some line of its path says     ours, whole, with that line's content
//     as no line says                   foreign, or changed: never overwritten, never removed
//
// An old line stays until a run has ended and the names are durable; then only the lines that are true remain. A last
// line without its end is of a write that was cut off, and its file never got the name.
//
// Invariant: a file is replaced or removed only while it is as a line says. Rejected: the inode as part of the stamp (a
// copy of the folder to another disk would be a folder of strangers); a line after the rename (a kill between the two
// leaves an unknown file).

/// The attributes by which a file is recognised as the one that was written.
struct FileStamp: Sendable, Hashable {
  let byteCount: Int64
  /// When it was last changed, nanoseconds since 1970.
  let modified: Int64

  init(byteCount: Int64, modified: Int64) { (self.byteCount, self.modified) = (byteCount, modified) }

  /// The stamp of what is under a path; nil if nothing is, or no regular file.
  init?(of path: String) {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    byteCount = Int64(status.st_size)
    modified = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
  }
}

/// One writing of a file.
struct JournalLine: Sendable, Hashable {
  /// Where it lies.
  var path: String
  /// The identifier of the asset.
  var asset: String
  /// What it is of the asset: the name of a type of resource, or `sidecar`.
  var kind: String
  /// What names its content.
  var content: String
  var stamp: FileStamp

  fileprivate var text: String {
    "\(stamp.byteCount)\t\(stamp.modified)\t\(content)\t\(asset)\t\(kind)\t\(Self.escaped(path))\n"
  }

  fileprivate init?(_ line: Substring) {
    let parts = line.split(separator: "\t", omittingEmptySubsequences: false)
    guard parts.count == 6, let byteCount = Int64(parts[0]), let modified = Int64(parts[1]),
      let path = String(parts[5]).removingPercentEncoding, !path.isEmpty, !path.utf8.contains(0)
    else { return nil }
    self.init(
      path: path, asset: String(parts[3]), kind: String(parts[4]), content: String(parts[2]),
      stamp: FileStamp(byteCount: byteCount, modified: modified))
  }

  init(path: String, asset: String, kind: String, content: String, stamp: FileStamp) {
    (self.path, self.asset, self.kind, self.content, self.stamp) = (path, asset, kind, content, stamp)
  }

  private static func escaped(_ path: String) -> String {
    guard path.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "%") }) else { return path }
    return path.replacing("%", with: "%25").replacing("\t", with: "%09").replacing("\n", with: "%0A")
      .replacing("\r", with: "%0D")
  }
}

/// The lines about the files of one folder. Not for use by two threads at once.
final class FileJournal {
  private static let head = "photoledger files 1"
  private static let byteLimit = 2 << 30
  private let path: String
  private var descriptor: Int32 = -1
  private(set) var lineCount = 0
  /// The lines of each path, oldest first.
  private(set) var lines: [String: [JournalLine]] = [:]

  /// Reads a journal; nothing is made where there is none.
  /// - Throws: ``LibraryError`` `.malformedRequest` for one that is damaged.
  init(at path: String) throws(LibraryError) {
    self.path = path
    var status = stat()
    guard stat(path, &status) == 0 else {
      if errno == ENOENT || errno == ENOTDIR { return }
      throw LibraryError.store(path, "read", errno: errno)
    }
    guard status.st_size <= Self.byteLimit, let data = FileManager.default.contents(atPath: path) else {
      throw damaged("it cannot be read, or has more than \(Self.byteLimit >> 30) GiB")
    }
    try read(data)
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  private func damaged(_ reason: String) -> LibraryError {
    LibraryError(
      .malformedRequest,
      "\(path) is damaged: \(reason). Remove it; files written before are then recognised by their bytes.")
  }

  private func read(_ data: Data) throws(LibraryError) {
    // A cut-off last line is of a write that did not end.
    let whole = data.lastIndex(of: 0x0A).map { data[...$0] } ?? Data()
    let text = String(decoding: whole, as: UTF8.self)
    var number = 0
    for line in text.split(separator: "\n", omittingEmptySubsequences: true) {
      number += 1
      if number == 1 {
        guard line == Self.head else { throw damaged("it begins with '\(line.prefix(40))'") }
        continue
      }
      guard let entry = JournalLine(line) else { throw damaged("line \(number) cannot be read") }
      lines[entry.path, default: []].append(entry)
      lineCount += 1
    }
  }

  /// What a file is, if some line is true of it.
  func match(_ path: String, _ stamp: FileStamp) -> JournalLine? { lines[path]?.last { $0.stamp == stamp } }

  /// Writes lines down, durably.
  func append(_ new: [JournalLine]) throws(LibraryError) {
    if new.isEmpty { return }
    if descriptor < 0 {
      try repairEnd()
      descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o644)
      guard descriptor >= 0 else { throw LibraryError.store(path, "make", errno: errno) }
    }
    let isNew = lineCount == 0 && lseek(descriptor, 0, SEEK_END) == 0
    let text = (isNew ? Self.head + "\n" : "") + new.map(\.text).joined()
    try Self.write(text, to: descriptor, path)
    for line in new { lines[line.path, default: []].append(line) }
    lineCount += new.count
  }

  /// Cuts off a last line without its end, so that the next one begins where a line begins.
  private func repairEnd() throws(LibraryError) {
    guard let data = FileManager.default.contents(atPath: path), data.last != 0x0A, !data.isEmpty else { return }
    let end = data.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    guard truncate(path, off_t(end)) == 0 else { throw LibraryError.store(path, "cut", errno: errno) }
  }

  /// Writes the journal anew with the lines that are true, in the order of their paths.
  func compact(_ isTrue: (JournalLine) -> Bool) throws(LibraryError) {
    let kept = lines.keys.sorted().compactMap { lines[$0]?.last(where: isTrue) }
    guard kept.count < lineCount else { return }
    let temporary = path + ".new"
    let number = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard number >= 0 else { throw LibraryError.store(temporary, "make", errno: errno) }
    defer { close(number) }
    try Self.write(Self.head + "\n" + kept.map(\.text).joined(), to: number, temporary)
    guard rename(temporary, path) == 0 else { throw LibraryError.store(path, "rename", errno: errno) }
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
    lines = Dictionary(grouping: kept, by: \.path)
    lineCount = kept.count
  }

  private static func write(_ text: String, to descriptor: Int32, _ path: String) throws(LibraryError) {
    try writeWhole(Array(text.utf8), to: descriptor, path)
    guard fsync(descriptor) == 0 else { throw LibraryError.store(path, "make durable", errno: errno) }
  }
}
