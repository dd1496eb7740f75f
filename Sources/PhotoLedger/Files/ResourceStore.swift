import CSystem
import EventLog
package import Foundation
import Glibc
import Synchronization

// Where the bytes of photos lie.
//
//     LIBRARY/resources/
//       ab/cdef0123…        62 hexadecimal digits: the rest of the SHA-256 of the file's content; read-only
//       incoming/PID.N      being written, or held for a block; garbage once its process has ended
//
// The name depends only on the content, without an extension: a digest determines the path, equal contents are one file
// under any original name, and a check needs no table. The original name and type are facts of the event that names the
// resource.
//
// Invariant: a file under its final name is complete, durable, and hashes to its name. So bytes are written to
// `incoming` first, are hashed on their way (what is hashed is what is written, not what was read before), fsynced,
// renamed. The folder entries become durable in `synchronize`, once for a batch of files, and that must happen before
// the event that names them commits; an unnamed file is garbage, a name without its file would be a loss.
//
// Purging removes files, which could cause a loss: between "the bytes are already there" and the commit that names
// them, another thread or process may purge the last asset that had them. LMDB's writer lock, which all processes
// share, orders the two. The remover asks the projections whether an asset has the content or an undo can bring it
// back, and unlinks inside a write transaction; the decider of a commit checks that each file it is about to name
// exists, inside its own. The later one sees the earlier: either the file is needed and is kept, or it was removed, and
// the decider restores it, since a block holds what it staged (ResourceStore+Holding.swift). A process that dies
// between the purge and the removal leaves garbage, never a loss.
//
// Where the file system shares blocks (FICLONE on btrfs, XFS, bcachefs) no bytes are copied; the clone is then hashed
// where it lies. copy_file_range is left out on purpose: the bytes must pass through the hash in any case.
//
// A referenced file is not copied: the resource is its absolute path, and its content may go missing or change behind
// the library's back, which is a state that `verify` reports. Nothing here ever removes or changes such a file.
//
//   ResourceStore.swift            names, durability, states, removal
//   ResourceStore+Placing.swift    bytes into their place
//   ResourceStore+Drafts.swift     the drafts of a change block
//   ResourceStore+Holding.swift    bytes of blocks that wait for the writer
//   OpenResource.swift             bytes out again

/// Bytes that are in their place.
package struct StoredContent: Sendable, Hashable {
  /// The 32 bytes of the SHA-256.
  package let sha256: [UInt8]
  /// The size in bytes.
  package let dataSize: UInt64
  /// Where they are.
  package let storage: AssetResource.Storage
  /// The 20 bytes of the SHA-1, where the bytes passed through it.
  package var sha1: [UInt8]?
}

/// The files of a library that hold the bytes of photos and videos, named by their content.
package final class ResourceStore: Sendable {
  let folder: LibraryFolder
  /// What blocks hold that wait for the writer.
  let held = Mutex(HeldContents())
  /// Whether files are held by second names; otherwise by descriptors, as where the file system links no files.
  let linksFiles: Bool
  private let names = Mutex(Names())
  private let synchronizing = Mutex(())
  /// The requests for bytes that are under way, so that they can be cancelled by their numbers.
  let requests = ResourceRequests()

  private struct Names {
    /// Folders with entries that may not be durable yet, by name below `resources`; "" is `resources` itself.
    var unsynchronized: Set<String> = []
    /// Folders whose own entry in `resources` is known to be durable.
    var anchored: Set<String> = []
  }

  /// Opens the folder of resources of a library, creating it if missing, and removes unfinished files of processes that
  /// have ended.
  /// - Parameter library: the library's directory.
  /// - Throws: ``LibraryError`` `.storage`, `.notEnoughSpace`.
  package convenience init(library: URL) throws(LibraryError) { try self.init(in: LibraryFolder(library)) }

  /// The same in the directory of a library that is open.
  /// - Parameter isReadOnly: whether nothing can be written there, so that nothing is made and nothing removed.
  init(in folder: LibraryFolder, linksFiles: Bool = true, isReadOnly: Bool = false) throws(LibraryError) {
    (self.folder, self.linksFiles) = (folder, linksFiles)
    if isReadOnly { return }
    try folder.makeFolder("resources")
    try folder.makeFolder("resources/incoming")
    try folder.synchronize(".")
    try folder.synchronize("resources")
    removeLeftovers()
  }

  // MARK: Names

  /// The file that holds the bytes of a resource; it may be missing.
  package func url(of resource: AssetResource) -> URL {
    URL(filePath: path(of: resource), directoryHint: .notDirectory)
  }

  package func path(of resource: AssetResource) -> String {
    switch resource.storage {
    case .library: path(ofContent: resource.sha256)
    case .referenced(let path): path
    }
  }

  /// The path of content in the library, whether or not it exists.
  package func path(ofContent sha256: [UInt8]) -> String { folder.path(of: Self.name(ofContent: sha256)) }

  /// The name of content in the library's directory.
  package static func name(ofContent sha256: [UInt8]) -> String {
    let digits = sha256.hexadecimal
    return "resources/\(digits.prefix(2))/\(digits.dropFirst(2))"
  }

  /// Whether the library's own folder has the bytes of a resource; a referenced file is not checked.
  /// - Complexity: One system call.
  package func holds(_ resource: AssetResource) -> Bool {
    guard resource.storage == .library else { return true }
    return holds(resource.sha256, byteCount: resource.dataSize)
  }

  /// Whether the library's own folder has a file of a content, with its size; its bytes are not read.
  /// - Complexity: One system call.
  package func holds(_ sha256: [UInt8], byteCount: UInt64) -> Bool {
    folder.status(of: Self.name(ofContent: sha256)).map { UInt64($0.st_size) == byteCount } ?? false
  }

  /// An empty file for a copy that another program reads; it goes with the value.
  package func incomingFile(ending: String) throws(LibraryError) -> IncomingFile {
    try IncomingFile(in: folder, ending: ending)
  }

  /// A name for a file that another program writes.
  package func incomingName(ending: String) -> String { folder.linkedPath(of: IncomingFile.name(ending: ending)) }

  // MARK: Durability

  /// Makes the names of everything stored so far durable. Call it before the commit that names the resources.
  /// - Throws: ``LibraryError`` `.storage`, `.notEnoughSpace`.
  /// - Complexity: One fsync for each folder touched since the last call, 257 at most.
  package func synchronize() throws(LibraryError) {
    // A second caller waits: its names may be among those that the first is about to make durable.
    try synchronizing.withLock { (_) throws(LibraryError) in
      let folders = names.withLock { names in
        let folders = names.unsynchronized
        names.unsynchronized = []
        return folders
      }
      do throws(LibraryError) {
        for name in folders.sorted() { try folder.synchronize("resources/\(name)") }
      } catch {
        names.withLock { $0.unsynchronized.formUnion(folders) }
        throw error
      }
      if folders.contains("") { names.withLock { $0.anchored.formUnion(folders) } }
    }
  }

  /// Content under its final name. Its name may not be durable yet even if the file was found there: another process
  /// may just have put it there.
  func stored(_ sha256: [UInt8], byteCount: UInt64, sha1: [UInt8]? = nil) -> StoredContent {
    let folder = String(sha256.hexadecimal.prefix(2))
    names.withLock { names in
      names.unsynchronized.insert(folder)
      if !names.anchored.contains(folder) { names.unsynchronized.insert("") }
    }
    let kept = ContentHash.isSHA1Kept ? sha1 : nil
    return StoredContent(sha256: sha256, dataSize: byteCount, storage: .library, sha1: kept)
  }

  // MARK: States

  /// Opens the file of a resource.
  /// - Throws: ``LibraryError`` `.missingResource`, `.invalidResource`, `.storage`, as ``OpenResource`` has it.
  package func openFile(_ request: ResourceRequest) throws(LibraryError) -> OpenResource {
    let path = FilePath(path(of: request.resource))
    guard request.resource.storage == .library else { return try OpenResource(path, request) }
    return try OpenResource(path, request) { [folder] flags in
      folder.open(Self.name(ofContent: request.resource.sha256), flags)
    }
  }

  /// Checks the file of a resource.
  /// - Parameter hashing: whether its bytes are read and hashed; otherwise only its size is compared.
  /// - Throws: ``LibraryError`` `.storage` if the process cannot open another file, which does not concern this one.
  /// - Complexity: O(bytes) with `hashing`.
  package func state(of resource: AssetResource, hashing: Bool) throws(LibraryError) -> ResourceState {
    try ResourceState(hashing: hashing) { () throws(LibraryError) in try openFile(ResourceRequest(resource)) }
  }

  // MARK: Removal

  /// Removes the library's own file of a content. Only for content that nothing needs, inside a write transaction.
  ///
  /// What a block holds stays; ``release(_:)`` says when it can go.
  /// - Returns: false if there is such a file still; it is garbage then, and no harm.
  package func remove(_ sha256: [UInt8]) -> Bool {
    held.withLock { held in
      guard held[sha256] == nil else {
        held[sha256]?.isUnwanted = true
        return false
      }
      return folder.remove(Self.name(ofContent: sha256)) || errno == ENOENT
    }
  }

  /// Removes files in `incoming` whose process no longer runs.
  private func removeLeftovers() {
    let incoming = folder.open("resources/incoming", O_RDONLY | O_DIRECTORY)
    guard incoming >= 0 else { return }
    guard let stream = fdopendir(incoming) else {
      close(incoming)
      return
    }
    defer { closedir(stream) }
    while let record = readdir(stream) {
      guard let offset = MemoryLayout<dirent>.offset(of: \dirent.d_name) else { continue }
      let name = String(cString: (UnsafeRawPointer(record) + offset).assumingMemoryBound(to: CChar.self))
      guard let owner = name.split(separator: ".").first.flatMap({ pid_t($0) }), owner > 0 else { continue }
      if kill(owner, 0) != 0 && errno == ESRCH { folder.remove("resources/incoming/\(name)") }
    }
  }
}

extension [UInt8] {
  /// The 32 bytes of the SHA-256 of these bytes.
  package var sha256: [UInt8] { SHA256.digest(of: self).bytes }
}
