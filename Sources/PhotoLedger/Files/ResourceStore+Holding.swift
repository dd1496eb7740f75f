import EventLog
import Glibc
import Synchronization

// Bytes of blocks that wait for the writer.
//
// A block's bytes are stored before the block is queued. Before the writer handles it, the last asset that had the same
// bytes may be purged, and their file removed. Storing them again would cost the block its place in the queue, and the
// source may no longer exist. So a block holds what it staged until it is settled:
//
//     resources/ab/cdef…          the file under its name: goes with a purge
//     resources/incoming/PID.N    the same file by a second name, for as long as some block of this process holds it
//
//     stage ── hold ──▶ … the writer decides: is the file there? no: a link puts it back … ──▶ settle ── release
//
// All blocks of the process that hold a content share one count and one second name. A purge of this process keeps a
// held file and records that it is to be removed; another process does not know of the hold and removes the first name,
// and the decider recreates it from the second. That happens under LMDB's writer lock, as every removal does, so that
// the file remains until the commit names it. A second name left by a dead process is removed like every file in
// `incoming`.
//
// Where the file system links no files, or no more of one, a descriptor holds the bytes, and they are copied back.
//
// Invariant: while a content is held, the decider finds it. Rejected: staging a block again whose bytes were removed,
// which loses its place and can fail again; a table of held contents shared by all processes, since a process that dies
// would hold for ever.

/// A content that blocks of this process hold.
struct HeldContent: Sendable {
  /// How many drafts of blocks hold it.
  var count = 1
  /// The second name of its file; nil if it does not have one.
  var name: String?
  /// What the bytes can be read from, where there is no second name.
  var descriptor: Int32?
  /// Whether a removal was requested and postponed.
  var isUnwanted = false
}

/// The contents that blocks of this process hold, by the SHA-256.
///
/// A type of its own, since a mutex around the dictionary itself needs the dictionary's type when it is destroyed. Most
/// processes hold nothing, and never make that type.
struct HeldContents: Sendable {
  private var contents: [[UInt8]: HeldContent] = [:]

  subscript(sha256: [UInt8]) -> HeldContent? {
    get { contents[sha256] }
    set { contents[sha256] = newValue }
  }
}

extension ResourceStore {
  /// Holds a content that is in its place.
  /// - Returns: false if it is not there, and so not held.
  /// - Complexity: Three system calls.
  func hold(_ sha256: [UInt8], byteCount: UInt64) -> Bool {
    held.withLock { held in
      if held[sha256] != nil {
        held[sha256]?.count += 1
        return true
      }
      let final = Self.name(ofContent: sha256)
      let content = second(of: sha256) { folder.link(final, as: $0) }
      let status = content.name.map { folder.status(of: $0) } ?? folder.status(of: final)
      guard let status, UInt64(status.st_size) == byteCount else {
        drop(content)
        return false
      }
      held[sha256] = content
      return true
    }
  }

  /// Puts a file into its place and holds its content.
  func holdAndPlace(_ incoming: consuming IncomingFile, _ sha256: [UInt8]) throws(LibraryError) {
    let (name, final) = (incoming.path, Self.name(ofContent: sha256))
    let code = held.withLock { held in
      // Named twice before it has its final name, which another process could take away again.
      var content = held[sha256] ?? second(of: sha256) { folder.link(name, as: $0) }
      if held[sha256] != nil { content.count += 1 }
      let code = folder.rename(name, to: final)
      if code == 0 {
        if content.name == nil && content.descriptor == nil { content.descriptor = opened(final) }
        held[sha256] = content
      } else if held[sha256] == nil {
        drop(content)
      }
      return code
    }
    guard code == 0 else { throw LibraryError.store(folder.path(of: final), "rename a finished copy to", errno: code) }
    incoming.giveUp()
  }

  /// Releases what a block held.
  /// - Returns: postponed removals that are no longer held; the caller checks whether something needs them.
  func release(_ resources: [AssetResource]) -> [AssetResource] {
    if resources.isEmpty { return [] }
    return held.withLock { held in
      resources.filter { resource in
        guard var content = held[resource.sha256] else { return false }
        content.count -= 1
        held[resource.sha256] = content.count == 0 ? nil : content
        guard content.count == 0 else { return false }
        drop(content)
        return content.isUnwanted
      }
    }
  }

  /// Whether the library has the bytes of a resource; restores them if they are held and were removed. To be called
  /// inside a write transaction.
  /// - Throws: ``LibraryError`` `.storage`, `.notEnoughSpace` if they cannot be restored.
  func secures(_ resource: AssetResource) throws(LibraryError) -> Bool {
    if holds(resource) { return true }
    let result: Result<Bool, LibraryError> = held.withLock { held in
      guard let content = held[resource.sha256] else { return .success(false) }
      do throws(LibraryError) { return .success(try putBack(content, resource)) } catch { return .failure(error) }
    }
    guard try result.get() else { return false }
    _ = stored(resource.sha256, byteCount: resource.dataSize)
    try synchronize()
    return true
  }

  private func putBack(_ content: HeldContent, _ resource: AssetResource) throws(LibraryError) -> Bool {
    let final = Self.name(ofContent: resource.sha256)
    if let name = content.name {
      // By a third name, since a rename replaces an existing file.
      let third = IncomingFile.name()
      folder.remove(third)
      var code = folder.link(name, as: third)
      if code == 0 { code = folder.rename(third, to: final) }
      if code == 0 { return holds(resource) }
      throw LibraryError.store(folder.path(of: final), "put back", errno: code)
    }
    guard let descriptor = content.descriptor else { return false }
    let copy = try IncomingFile(in: folder)
    guard try copy.copy(from: descriptor) == resource.sha256 else { return false }
    try copy.makeDurable()
    try copy.rename(to: final)
    return true
  }

  /// A second name for a content, or what holds it where there can be none and it has a first one.
  private func second(of sha256: [UInt8], link: (String) -> Int32) -> HeldContent {
    if linksFiles {
      let name = IncomingFile.name()
      // A file of this name can only be a leftover of an earlier process with our number.
      folder.remove(name)
      if link(name) == 0 { return HeldContent(name: name) }
    }
    return HeldContent(descriptor: opened(Self.name(ofContent: sha256)))
  }

  private func opened(_ name: String) -> Int32? {
    let descriptor = folder.open(name, O_RDONLY)
    return descriptor >= 0 ? descriptor : nil
  }

  private func drop(_ content: HeldContent) {
    if let name = content.name { folder.remove(name) }
    if let descriptor = content.descriptor { close(descriptor) }
  }
}
