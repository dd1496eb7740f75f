import CSystem
import Dispatch
import EventLog
import Foundation
import Glibc
import LMDB
import PhotoLedger
import Synchronization

// The files of resources on their way into another library: a backup, what is restored from one, a fork.
//
//     copied     blocks shared where the file system can (FICLONE), else copied; hashed in either case
//     shared     blocks shared, else a second name for the same file (link), else copied
//     left       nothing: the other library finds its files missing, which is a state
//
// A hard link is as good as a copy here: a file of resources is read-only, is never written in place, and a purge
// removes one name. All files are copied, not only those that assets name now: reverting an edit needs the files that
// it replaced.

/// How the bytes of photos come along when a library is copied.
public enum ResourceCopying: String, Sendable, CaseIterable {
  /// Every file is copied, and its hash compared with its name.
  case copied
  /// Files share their blocks or are linked where the file system can, and are copied elsewhere.
  case shared
  /// Files stay behind; the copy knows them as missing.
  case left
}

/// What became of the files of resources.
public struct ResourceTransfer: Sendable, Hashable {
  /// How many files there are in the copy.
  public internal(set) var fileCount = 0
  /// How many bytes these have.
  public internal(set) var byteCount: UInt64 = 0
  /// How many of the files were linked rather than copied.
  public internal(set) var linkedCount = 0
  /// Files whose content is not what their name says, or cannot be read from the disk, and of a backup reports,
  /// decisions and journals that are not as its manifest says, or missing; they were left out.
  public internal(set) var damagedFiles: [String] = []
  /// Files that an asset of the copy names and that are not in it.
  public internal(set) var missingFiles: [String] = []
  /// How many files of assets lie outside of the library, where an import left them. They are never copied.
  public internal(set) var referencedFileCount = 0
}

extension ResourceTransfer {
  /// Takes the files of a library over into a folder that is to be one.
  /// - Parameters:
  ///   - source: the library's directory.
  ///   - target: the directory being filled.
  ///   - way: how.
  ///   - provesAll: whether files that are shared are hashed too; those that are copied always are.
  ///   - progress: is given the files done and how many there are; false stops.
  /// - Throws: ``LibraryError`` `.userCancelled` if `progress` stops, `.notEnoughSpace`, `.storage`.
  /// - Complexity: O(bytes) where they are copied or hashed, O(files) where they are shared.
  mutating func take(
    from source: String, to target: UnfinishedFolder, _ way: ResourceCopying, provingAll provesAll: Bool = false,
    progress: (TaskProgress) -> Bool
  ) throws {
    try target.makeFolder("resources")
    guard way != .left else { return }
    let files = try Self.files(of: source)
    for folder in Set(files.map { $0.prefix(2) }) { try target.makeFolder("resources/\(folder)") }
    let path = target.path
    var done = 0
    func goesOn() -> Bool {
      progress(TaskProgress(phase: "resources", done: UInt64(done), total: UInt64(files.count)))
    }
    let stop = Cancellation()
    for batch in files.inRuns(of: Self.filesAtOnce).map(Array.init) {
      guard goesOn() else { throw LibraryCopy.stopped }
      // Hashing is most of it, and several cores hash several files.
      let outcomes = Self.onSeveralCores(batch.count, stop, goesOn: goesOn) { index in
        let name = "resources/\(batch[index])"
        return try Self.take("\(source)/\(name)", named: batch[index], to: "\(path)/\(name)", way, provesAll, stop)
      }
      for outcome in outcomes { note(try outcome.get()) }
      if stop.isRequested { throw LibraryCopy.stopped }
      done += batch.count
    }
    _ = goesOn()
  }

  /// How many files are taken at a time.
  private static let filesAtOnce = 32
  /// The time between two checks for cancellation, in milliseconds: one film can take longer than a program has to
  /// stop.
  private static let pause = 200

  /// Runs a body for every part, several at once, while this thread looks whether to go on.
  /// - Parameters:
  ///   - stop: requested when `goesOn` returns false.
  ///   - goesOn: called on this thread.
  /// - Returns: the outcomes in the order of the parts.
  static func onSeveralCores<Outcome: Sendable>(
    _ count: Int, _ stop: Cancellation, goesOn: () -> Bool, _ body: @escaping @Sendable (Int) throws -> Outcome
  ) -> [Result<Outcome, any Error>] {
    let outcomes = Mutex<[Result<Outcome, any Error>]>([])
    let end = DispatchSemaphore(value: 0)
    do throws(LibraryError) {
      try OwnThread.start("ledger-copy") {
        let found = SeveralCores.map(count, body)
        outcomes.withLock { $0 = found }
        end.signal()
      }
    } catch {
      return Array(repeating: .failure(error), count: count)
    }
    while end.wait(timeout: .now() + .milliseconds(pause)) == .timedOut {
      if !goesOn() { stop.request() }
    }
    return outcomes.withLock { $0 }
  }

  /// What became of one file.
  private enum Taken: Sendable {
    case copied(UInt64)
    case linked(UInt64)
    case damaged(String)
    /// It is not there any more: it was purged while the copy was made.
    case gone
  }

  private mutating func note(_ taken: Taken) {
    switch taken {
    case .copied(let bytes), .linked(let bytes):
      if case .linked = taken { linkedCount += 1 }
      fileCount += 1
      byteCount += bytes
    case .damaged(let path): damagedFiles.append(path)
    case .gone: break
    }
  }

  /// The files of a library, as `ab/cdef…`, in order.
  /// - Throws: ``LibraryError`` `.storage` for a folder that cannot be read to its end: what is left out of a copy for
  ///   that could not be named.
  static func files(of library: String) throws -> [String] {
    let root = "\(library)/resources"
    var files: [String] = []
    for folder in try FolderEntries.names(at: root) ?? [] where folder.isHexadecimal(2) {
      // A stray file in place of a folder holds no resources; the files that belong there count as missing.
      guard let names = try FolderEntries.names(at: "\(root)/\(folder)") else { continue }
      files += names.filter { $0.isHexadecimal(62) }.map { "\(folder)/\($0)" }
    }
    return files.sorted()
  }

  private static func take(
    _ path: String, named name: String, to copy: String, _ way: ResourceCopying, _ provesAll: Bool,
    _ stop: Cancellation
  ) throws -> Taken {
    // Only a regular file has content; a pipe would be waited for.
    let source = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    if source < 0 && errno == ENOENT { return .gone }
    if source < 0 && (errno == ELOOP || isDamage(errno)) { return .damaged(path) }
    guard source >= 0 else { throw LibraryError.store(path, "open", errno: errno) }
    defer { close(source) }
    guard try Self.isFile(source, path) else { return .damaged(path) }
    let target = Self.make(copy)
    guard target >= 0 else { throw LibraryError.store(copy, "make", errno: errno) }
    defer { close(target) }
    let isClone = psys_clone_file(target, source) == 0
    let isLinked = way == .shared && !isClone
    if isLinked {
      unlink(copy)
      // Another file system, or one that links no files.
      guard link(path, copy) == 0 else { return try take(path, named: name, to: copy, .copied, provesAll, stop) }
    }
    func taken(_ byteCount: UInt64) -> Taken { isLinked ? .linked(byteCount) : .copied(byteCount) }
    if way == .shared && !provesAll { return taken(try byteCount(source, path)) }
    let isThere = isClone || isLinked
    guard let (digest, count) = try Self.copy(from: source, path, to: isThere ? nil : target, copy, stop),
      digest.hexadecimal == name.filter({ $0 != "/" })
    else {
      unlink(copy)
      return .damaged(path)
    }
    if !isThere { psys_begin_writing_out(target) }
    return taken(count)
  }

  /// Whether an error of the system is about one file: a bad sector, a checksum that differs, a damaged inode.
  private static func isDamage(_ code: Int32) -> Bool { [EIO, EBADMSG, EUCLEAN].contains(code) }

  private static func isFile(_ descriptor: Int32, _ path: String) throws(LibraryError) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw LibraryError.store(path, "examine", errno: errno) }
    return status.st_mode & S_IFMT == S_IFREG
  }

  private static func byteCount(_ descriptor: Int32, _ path: String) throws(LibraryError) -> UInt64 {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw LibraryError.store(path, "examine", errno: errno) }
    return UInt64(status.st_size)
  }

  /// Reads a file to its end, and writes what it reads unless that is there already.
  /// - Returns: the digest of what was read, and how many bytes that was; nil if the file is damaged where it lies.
  private static func copy(
    from source: Int32, _ path: String, to target: Int32?, _ copy: String, _ stop: Cancellation
  ) throws(LibraryError) -> (digest: [UInt8], byteCount: UInt64)? {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: copyBufferByteCount, alignment: 64)
    defer { buffer.deallocate() }
    posix_fadvise(source, 0, 0, POSIX_FADV_SEQUENTIAL)
    var hash = SHA256()
    var total: UInt64 = 0
    while true {
      if stop.isRequested { throw LibraryCopy.stopped }
      let count = read(source, buffer.baseAddress, buffer.count)
      if count < 0 && errno == EINTR { continue }
      if count < 0 && isDamage(errno) { return nil }
      guard count >= 0 else { throw LibraryError.store(path, "read", errno: errno) }
      if count == 0 { return (hash.digest().bytes, total) }
      let chunk = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      hash.update(chunk)
      if let target { try write(chunk, to: target, copy) }
      total += UInt64(count)
    }
  }

  private static func make(_ path: String) -> Int32 { open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o444) }

  private static func write(
    _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ path: String
  ) throws(LibraryError) {
    var written = 0
    while written < bytes.count {
      let count = Glibc.write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
      if count > 0 { written += count } else if errno != EINTR { throw LibraryError.store(path, "write", errno: errno) }
    }
  }
}

extension String {
  /// Whether the text is so many small hexadecimal digits.
  fileprivate func isHexadecimal(_ count: Int) -> Bool {
    utf8.count == count
      && utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (0x61...0x66).contains($0) }
  }
}
