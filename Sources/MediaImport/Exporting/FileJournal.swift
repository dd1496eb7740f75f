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
// An old line stays until a run has ended and the names are durable; then one line remains of each file that is there.
// A last line without its end is of a write that was cut off, and its file never got the name.
// A line whose file never got the name says nothing of what is there. It is dropped: the file that still waits for its
// name proves it (ExportFolder.swift).
//
// Invariant: a file is replaced or removed only while it is as a line says. Rejected: the inode as part of the stamp (a
// copy of the folder to another disk would be a folder of strangers); a line after the rename (a kill between the two
// leaves an unknown file).

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

  /// A path with `%` and control bytes as `%` and two digits.
  private static func escaped(_ path: String) -> String {
    path.percentEscaped { $0 >= 0x20 && $0 != UInt8(ascii: "%") }
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
  /// - Throws: ``LibraryError`` `.malformedRequest` for one that is damaged, or is not a regular file.
  init(at path: String) throws(LibraryError) {
    self.path = path
    guard try isThere() else { return }
    let number = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard number >= 0 else { throw LibraryError.store(path, "read", errno: errno) }
    let file = Descriptor(number)
    guard try byteCount(of: number) <= Self.byteLimit else {
      throw damaged("it has more than \(Self.byteLimit >> 30) GiB")
    }
    try read(try file.bytes { LibraryError.store(path, "read", errno: $0) })
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  private func damaged(_ reason: String) -> LibraryError {
    LibraryError(
      .malformedRequest,
      "\(path) is damaged: \(reason). Remove it; files written before are then recognised by their bytes.")
  }

  /// Whether there is a journal. A link is not followed, and what is not a file is not opened: the folder may hold
  /// entries of other programs.
  private func isThere() throws(LibraryError) -> Bool {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      if errno == ENOENT || errno == ENOTDIR { return false }
      throw LibraryError.store(path, "read", errno: errno)
    }
    guard status.st_mode & S_IFMT == S_IFREG else { throw damaged("it is not a regular file") }
    return true
  }

  /// The size of the open journal, which must be a regular file.
  private func byteCount(of number: Int32) throws(LibraryError) -> Int {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw LibraryError.store(path, "read", errno: errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw damaged("it is not a regular file") }
    return Int(status.st_size)
  }

  private func read(_ bytes: [UInt8]) throws(LibraryError) {
    // A cut-off last line is of a write that did not end.
    let whole = bytes.lastIndex(of: 0x0A).map { bytes[...$0] } ?? []
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
    if descriptor < 0 { try openForWriting() }
    let end = lseek(descriptor, 0, SEEK_END)
    let isNew = lineCount == 0 && end == 0
    let text = (isNew ? Self.head + "\n" : "") + new.map(\.text).joined()
    do throws(LibraryError) { try Self.write(text, to: descriptor, path) } catch {
      // A full disk takes what fits, whole lines among it. What cannot be cut off again is known as lines.
      if end < 0 || ftruncate(descriptor, end) != 0 || fsync(descriptor) != 0 { add(new) }
      // The next opening cuts off a line without its end.
      close(descriptor)
      descriptor = -1
      throw error
    }
    add(new)
  }

  private func add(_ new: [JournalLine]) {
    for line in new { lines[line.path, default: []].append(line) }
    lineCount += new.count
  }

  private func openForWriting() throws(LibraryError) {
    _ = try isThere()
    let number = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o644)
    guard number >= 0 else { throw LibraryError.store(path, "make", errno: errno) }
    do throws(LibraryError) { try repairEnd(of: number) } catch {
      close(number)
      throw error
    }
    descriptor = number
  }

  /// Cuts off a last line without its end, so that the next one begins where a line begins.
  private func repairEnd(of number: Int32) throws(LibraryError) {
    let byteCount = try byteCount(of: number)
    var end = byteCount
    var block = [UInt8](repeating: 0, count: 4096)
    while end > 0 {
      let start = max(0, end - block.count)
      guard pread(number, &block, end - start, off_t(start)) == end - start else {
        throw LibraryError.store(path, "read", errno: errno)
      }
      if let last = block[..<(end - start)].lastIndex(of: 0x0A) {
        end = start + last + 1
        break
      }
      end = start
    }
    guard end == byteCount || ftruncate(number, off_t(end)) == 0 else {
      throw LibraryError.store(path, "cut", errno: errno)
    }
  }

  /// Writes the journal anew with one line of each path, in the order of the paths: the one that is true of the file,
  /// or, of a file that another program has changed, the last one, which still says whose it is.
  /// - Parameter place: where the file of a path lies.
  func compact(_ place: (String) -> String) throws(LibraryError) {
    let kept = lines.keys.sorted().compactMap { path -> JournalLine? in
      guard let stamp = FileStamp(of: place(path)), let lines = lines[path] else { return nil }
      return lines.last { $0.stamp == stamp } ?? lines.last
    }
    guard kept.count < lineCount else { return }
    try rewrite(kept)
  }

  /// Drops the last line of each of some paths: its file never got the name.
  /// - Parameter isWritten: whether the journal is written anew, too.
  func dropLast(of paths: [String], isWritten: Bool) throws(LibraryError) {
    var left = lines
    for path in paths {
      left[path]?.removeLast()
      if left[path]?.isEmpty == true { left[path] = nil }
    }
    let kept = left.keys.sorted().flatMap { left[$0] ?? [] }
    if isWritten { try rewrite(kept) } else { (lines, lineCount) = (left, kept.count) }
  }

  private func rewrite(_ kept: [JournalLine]) throws(LibraryError) {
    let temporary = path + ".new"
    // One that a killed run or another program left.
    guard unlink(temporary) == 0 || errno == ENOENT else {
      throw LibraryError.store(temporary, "remove", errno: errno)
    }
    let number = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard number >= 0 else { throw LibraryError.store(temporary, "make", errno: errno) }
    defer { close(number) }
    do throws(LibraryError) {
      try Self.write(Self.head + "\n" + kept.map(\.text).joined(), to: number, temporary)
      guard rename(temporary, path) == 0 else { throw LibraryError.store(path, "rename", errno: errno) }
    } catch {
      // Half of a journal would take the room that the next one needs.
      unlink(temporary)
      throw error
    }
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
