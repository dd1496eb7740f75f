// Where the bytes of photos lie.
//
//     LIBRARY/resources/
//       ab/cdef0123…        62 hexadecimal digits: the rest of the SHA-256 of the file's content; read-only
//       incoming/PID.N      being written; belongs to nobody once its process is gone
//
// The name is a function of the content and of nothing else, without an extension: whoever knows a digest knows the
// path, equal contents are one file whatever they were called, and a check needs no table. The original name and type
// are facts of the event that names the resource.
//
// Invariant: a file under its final name is whole, durable, and hashes to its name. So bytes go to `incoming` first,
// are hashed on their way (what is hashed is what is written, not what was read before), fsynced, renamed. The folder
// entries become durable in `synchronize`, once for a batch of files, and that must happen before the event that names
// them commits; an unnamed file is garbage, a name without its file would be a loss.
//
// Where the file system shares blocks (FICLONE on btrfs, XFS, bcachefs) no bytes are copied; the clone is then hashed
// where it lies. copy_file_range is left out on purpose: the bytes must pass through the hash in any case.
//
// With `--reference` nothing is copied: the resource is the absolute path, and its content may go missing or change
// behind the library's back, which is a state that `verify` reports.

internal import CSystem
internal import Glibc
internal import Synchronization

/// Where a resource's bytes are.
public enum ResourceLocation: Sendable, Hashable {
  /// A file of the library, by its path relative to the library's folder.
  case library(String)
  /// A file outside, left in place, by its absolute path.
  case reference(ImportPath)
}

/// A resource whose bytes are in their place.
public struct StoredResource: Sendable, Hashable {
  /// SHA-256 of the content.
  public let sha256: ContentDigest
  /// The size in bytes.
  public let byteCount: Int64
  /// Where the bytes are.
  public let location: ResourceLocation
}

/// The files of a library that hold the bytes of photos, named by their content.
public final class ResourceFiles: Sendable {
  private let library: String
  private let state = Mutex(State())

  private struct State {
    /// Folders with entries that are not durable yet, by name below `resources`; "" is `resources` itself.
    var unsynchronized: Set<String> = []
    var incomingCount = 0
  }

  /// Opens the folder of resources in a library's folder, making it where it is missing, and removes what
  /// interrupted imports left unfinished.
  /// - Throws: `cannotStore` or `diskFull`.
  public init(libraryFolder: String) throws(ImportError) {
    library = libraryFolder
    try makeFolder("resources")
    try makeFolder("resources/incoming")
    state.withLock { _ = $0.unsynchronized.insert("") }
    removeLeftovers()
  }

  /// The absolute path of a resource in the library.
  public func path(of sha256: ContentDigest) -> String {
    "\(library)/\(Self.relativePath(of: sha256))"
  }

  static func relativePath(of sha256: ContentDigest) -> String {
    let digits = sha256.description
    return "resources/\(digits.prefix(2))/\(digits.dropFirst(2))"
  }

  /// Puts a file's bytes into the library. Returns when the bytes are durable; `synchronize` makes their name so.
  /// - Parameters:
  ///   - path: The file.
  ///   - expected: What it held when its metadata was read; nil to take it as it is.
  /// - Throws: `vanished`, `unreadable`, `changedWhileRead` of the file; `diskFull`, `cannotStore` of the library.
  /// - Complexity: O(bytes); O(1) bytes written where the file system shares blocks.
  public func store(fileAt path: ImportPath, expecting expected: ContentDigest? = nil) throws(ImportError)
    -> StoredResource
  {
    let source = try SourceFile(path)
    if let expected, let stored = try existing(expected, byteCount: source.stamp.byteCount) { return stored }
    let incoming = try Incoming(folder: "\(library)/resources/incoming", number: nextNumber())
    let digest = try incoming.isClone(of: source) ? try incoming.digest() : try incoming.copy(source)
    try source.checkUnchanged(bytesRead: incoming.byteCount())
    if let expected, digest != expected { throw SourceFile.changed(path) }
    if let stored = try existing(digest, byteCount: source.stamp.byteCount) { return stored }
    try incoming.makeDurable()
    try makeFolder("resources/\(digest.description.prefix(2))")
    try incoming.rename(to: self.path(of: digest))
    return stored(digest, byteCount: source.stamp.byteCount)
  }

  /// Leaves a file where it is and returns the resource that refers to it.
  /// - Throws: `vanished`, `unreadable`, or `changedWhileRead` when it no longer holds what was expected.
  public func reference(fileAt path: ImportPath, expecting expected: ContentDigest) throws(ImportError)
    -> StoredResource
  {
    precondition(path.isAbsolute, "A file that is left in place is named by its absolute path.")
    let content = try FileContent(of: path)
    guard content.digest == expected else { throw SourceFile.changed(path) }
    return StoredResource(sha256: expected, byteCount: content.byteCount, location: .reference(path))
  }

  /// Makes the names of everything stored so far durable. Call it before the commit that names the resources.
  /// - Throws: `cannotStore` or `diskFull`.
  /// - Complexity: One fsync for each folder touched since the last call, 257 at most.
  public func synchronize() throws(ImportError) {
    let folders = state.withLock { state in
      let folders = state.unsynchronized
      state.unsynchronized = []
      return folders
    }
    do throws(ImportError) {
      for folder in folders.sorted() { try makeDurable(folder: "\(library)/resources/\(folder)") }
    } catch {
      state.withLock { $0.unsynchronized.formUnion(folders) }
      throw error
    }
  }

  private func makeDurable(folder path: String) throws(ImportError) {
    let number = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0 else { throw ImportError.store(path, "open the folder", errno: errno) }
    let descriptor = Descriptor(number)
    guard fsync(descriptor.number) == 0 else { throw ImportError.store(path, "make durable", errno: errno) }
  }

  /// The resource when its file is already in its place with the right size. A file under its final name is whole;
  /// its name may still be unsynchronized, if another process has just put it there.
  private func existing(_ digest: ContentDigest, byteCount: Int64) throws(ImportError) -> StoredResource? {
    var status = stat()
    guard stat(path(of: digest), &status) == 0, Int64(status.st_size) == byteCount else { return nil }
    return stored(digest, byteCount: byteCount)
  }

  private func stored(_ digest: ContentDigest, byteCount: Int64) -> StoredResource {
    state.withLock { _ = $0.unsynchronized.insert(String(digest.description.prefix(2))) }
    return StoredResource(
      sha256: digest, byteCount: byteCount, location: .library(Self.relativePath(of: digest)))
  }

  private func makeFolder(_ relative: String) throws(ImportError) {
    let path = "\(library)/\(relative)"
    if mkdir(path, 0o755) == 0 {
      state.withLock { _ = $0.unsynchronized.insert("") }
    } else if errno != EEXIST {
      throw ImportError.store(path, "make the folder", errno: errno)
    }
  }

  private func nextNumber() -> Int {
    state.withLock { state in
      state.incomingCount += 1
      return state.incomingCount
    }
  }

  /// Removes files in `incoming` whose process no longer runs.
  private func removeLeftovers() {
    let folder = "\(library)/resources/incoming"
    guard let stream = opendir(folder) else { return }
    defer { closedir(stream) }
    while let record = readdir(stream) {
      guard let offset = MemoryLayout<dirent>.offset(of: \dirent.d_name) else { continue }
      let name = String(cString: (UnsafeRawPointer(record) + offset).assumingMemoryBound(to: CChar.self))
      guard let owner = name.split(separator: ".").first.flatMap({ pid_t($0) }), owner > 0 else { continue }
      if kill(owner, 0) != 0 && errno == ESRCH { unlink("\(folder)/\(name)") }
    }
  }
}

/// A file being written. It disappears with this value unless it was renamed to its final name.
private struct Incoming: ~Copyable {
  private let path: String
  private let descriptor: Descriptor
  private var isPlaced = false

  init(folder: String, number: Int) throws(ImportError) {
    let path = "\(folder)/\(getpid()).\(number)"
    // A file of this name can only be a leftover of an earlier process with our number.
    unlink(path)
    let number = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o444)
    guard number >= 0 else { throw ImportError.store(path, "make", errno: errno) }
    self.path = path
    self.descriptor = Descriptor(number)
  }

  deinit { if !isPlaced { unlink(path) } }

  func byteCount() -> Int64 {
    var status = stat()
    return fstat(descriptor.number, &status) == 0 ? Int64(status.st_size) : -1
  }

  /// Shares the blocks of `source`, where the file system can.
  func isClone(of source: borrowing SourceFile) throws(ImportError) -> Bool {
    let code = psys_clone_file(descriptor.number, source.descriptor.number)
    if code == ENOSPC || code == EDQUOT || code == EIO { throw ImportError.store(path, "write", errno: code) }
    return code == 0
  }

  /// Copies `source` to its end and returns the digest of what was written.
  func copy(_ source: borrowing SourceFile) throws(ImportError) -> ContentDigest {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: copyBufferByteCount, alignment: 64)
    defer { buffer.deallocate() }
    var hasher = ContentHasher()
    var total: Int64 = 0
    while true {
      let count = try source.read(into: buffer)
      if count == 0 { return hasher.finish() }
      total += Int64(count)
      // A file that is being appended to must not keep us here for ever.
      guard total <= source.stamp.byteCount else { throw SourceFile.changed(source.path) }
      let chunk = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      hasher.update(chunk)
      try write(chunk)
    }
  }

  private func write(_ bytes: UnsafeRawBufferPointer) throws(ImportError) {
    var written = 0
    while written < bytes.count {
      let count = Glibc.write(descriptor.number, bytes.baseAddress.map { $0 + written }, bytes.count - written)
      if count > 0 { written += count } else if errno != EINTR { throw ImportError.store(path, "write", errno: errno) }
    }
  }

  /// Reads the file from its start and returns its digest.
  func digest() throws(ImportError) -> ContentDigest {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: copyBufferByteCount, alignment: 64)
    defer { buffer.deallocate() }
    var hasher = ContentHasher()
    var position: off_t = 0
    while true {
      let count = pread(descriptor.number, buffer.baseAddress, buffer.count, position)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw ImportError.store(path, "read back", errno: errno) }
      if count == 0 { return hasher.finish() }
      hasher.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      position += off_t(count)
    }
  }

  func makeDurable() throws(ImportError) {
    guard fsync(descriptor.number) == 0 else { throw ImportError.store(path, "make durable", errno: errno) }
  }

  consuming func rename(to final: String) throws(ImportError) {
    guard Glibc.rename(path, final) == 0 else {
      throw ImportError.store(final, "rename a finished copy to", errno: errno)
    }
    isPlaced = true
  }
}
