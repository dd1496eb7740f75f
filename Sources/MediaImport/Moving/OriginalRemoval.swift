internal import Glibc
internal import PhotoLedger

// The removal of one original that the library has a copy of, by `import --move`.
//
//     folder opened ──▶ name opened in it, links not followed     it lies in no library's folder
//       lease on it                                               no program has it open for writing
//       read to its end, hashed                                   it is what the import read: hash, inode, times
//       an asset outside the trash has that content               no asset refers to a file with it
//       the library's own file opened, read, hashed               another inode, the same hash
//       name compared with what is open, lease still held         nothing has replaced or opened it meanwhile
//     unlink, in the folder that is open
//
// The proof compares files that are open, not paths: which path leads to which file can change at any time. It is made
// from what is there then, not from what the import believes to have done. What is not proved stays; each condition
// that cannot be checked counts as not met.
//
// That two paths are one file shows in device and inode, except through some mounts. So a file also stays if it lies
// below any library's folder, in a backup or fork as well, or has the name that a library gives its content; and if it
// has a second name, which can be a library's.
//
// A read lease (fcntl, F_SETLEASE) is granted only while no program has the file open for writing, mapped files
// included. While it is held, an attempt to open the file for writing waits and ends the lease, which is looked at
// before the removal. The kernel's notice would be SIGIO, which ends a process; SIGURG, which is ignored, takes its
// place. Where there are no leases (some network file systems, files of other users), originals stay. A program that
// has closed a file may have copies of its descriptor for a moment: in a child that it is starting, until that begins
// its own program. So a refused lease is asked for again for half a second.
//
// Between the last look and `unlink` another program can give the name to another file, or begin to wait for the lease:
// some microseconds, for which Linux has no remedy. A purge meanwhile is as one that comes after the removal.
//
// Rejected: renaming originals into the library. It costs no copy, but there is a moment when the only file is neither
// what the user had nor what the library has; and nothing can be read back.

/// Removes originals that a library has copies of.
struct OriginalRemoval: Sendable {
  let library: PhotoLibrary
  /// Whether all is checked that can be, and nothing removed.
  var isDryRun = false
  /// Called when all is proved but the last look; for tests, which change something then.
  var whenProved: @Sendable (FilePath) -> Void = { _ in }

  /// What became of an original.
  enum Outcome: Sendable, Hashable {
    case removed
    /// It stays, for a reason in a sentence.
    case kept(KeepReason, String)

    static func stopped(_ path: FilePath) -> Outcome {
      .kept(.stopped, "\(path) was kept: the import was stopped before it was removed.")
    }
  }

  /// A file that an import is done with.
  struct Original: Sendable {
    let path: FilePath
    /// What it became.
    let outcome: FileOutcome
    /// What the import read of it.
    let read: FileContent
  }

  /// Why an original stays.
  private struct Kept: Error {
    let reason: KeepReason
    /// The rest of a sentence.
    let why: String

    init(_ reason: KeepReason, _ why: String) { (self.reason, self.why) = (reason, why) }
  }

  /// Removes an original, or says why not.
  /// - Complexity: O(bytes): the original and the library's copy are read.
  func remove(_ original: Original) -> Outcome {
    do throws(Kept) {
      try removeIfProved(original)
      return .removed
    } catch {
      return .kept(error.reason, "\(original.path) was kept: \(error.why)")
    }
  }

  private func removeIfProved(_ original: Original) throws(Kept) {
    let path = original.path
    let folder = try folder(of: path)
    let name = FilePath(bytes: path.nameBytes)
    let file = try open(path, name, in: folder)
    try checkIsOutsideLibraries(folder)
    try takeLease(on: file)
    let content = try content(of: file)
    guard file.stamp == original.read.stamp, content.sha256 == original.read.sha256 else { throw Self.changed }
    if name.bytes.elementsEqual(FilePath(ResourceStore.name(ofContent: content.sha256)).nameBytes) {
      throw Kept(.insideLibrary, "it has the name that a library gives to a file of this content.")
    }
    if isDryRun, original.isOnlyInDryRun {
      try checkHasOneName(file)
      return
    }
    try checkIsInLibrary(content)
    let copy = try copy(of: content, apartFrom: file)
    try checkHasOneName(file)
    whenProved(path)
    try checkIsSame(file, name, in: folder)
    try checkIsInPlace(copy, of: content)
    if isDryRun { return }
    guard name.withCString({ unlinkat(folder.number, $0, 0) }) == 0 else {
      throw Kept(.notRemovable, "it cannot be removed: \(LibraryError.reason(errno)).")
    }
  }

  private static let changed = Kept(.changed, "it was changed or replaced after it was read; import it again.")

  // MARK: The original

  private func folder(of path: FilePath) throws(Kept) -> Descriptor {
    let folder = FilePath(bytes: path.folderBytes + [FilePath.slash])
    let number = folder.withCString { Glibc.open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard number >= 0 else { throw Self.unopened(errno) }
    return Descriptor(number)
  }

  private func open(
    _ path: FilePath, _ name: FilePath, in folder: borrowing Descriptor
  ) throws(Kept) -> SourceFile {
    let number = folder.number
    var code: Int32 = 0
    do throws(LibraryError) {
      return try SourceFile(path) { flags in
        name.withCString { openat(number, $0, flags | O_NOFOLLOW) }
      } unopened: { error in
        code = error
        return LibraryError(.invalidResource, "\(path) cannot be opened.")
      }
    } catch {
      // Opened, and no regular file: it took the place of one.
      throw code == 0 ? Self.changed : Self.unopened(code)
    }
  }

  private static func unopened(_ code: Int32) -> Kept {
    switch code {
    case ELOOP: Kept(.link, "it is a symbolic link.")
    case ENOENT, ENOTDIR: Kept(.vanished, "it is no longer there.")
    default: Kept(.unreadable, "it cannot be read again: \(LibraryError.reason(code)).")
    }
  }

  private func content(of file: borrowing SourceFile) throws(Kept) -> FileContent {
    do throws(LibraryError) {
      return try FileContent(of: file)
    } catch {
      throw error.code == .resourceChanged ? Self.changed : Kept(.unreadable, "it cannot be read again.")
    }
  }

  private func checkHasOneName(_ file: borrowing SourceFile) throws(Kept) {
    guard file.stamp.linkCount == 1 else {
      throw Kept(.hardLinked, "it has other hard links, which may belong to another library.")
    }
  }

  /// Checks that a folder is not below that of any library, by the way up from it.
  private func checkIsOutsideLibraries(_ folder: borrowing Descriptor) throws(Kept) {
    var current = Descriptor(try opened(".", in: folder.number))
    var place = try identity(of: current)
    while true {
      var status = stat()
      if fstatat(current.number, LibraryStore.storeFileName, &status, 0) == 0 {
        throw Kept(.insideLibrary, "it lies in the folder of a PhotoLedger library.")
      }
      guard errno == ENOENT || errno == ENOTDIR else { throw Self.unknownPlace(errno) }
      current = Descriptor(try opened("..", in: current.number))
      let above = try identity(of: current)
      if above == place { return }
      place = above
    }
  }

  private func opened(_ name: String, in folder: Int32) throws(Kept) -> Int32 {
    let number = openat(folder, name, pathOnly | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0 else { throw Self.unknownPlace(errno) }
    return number
  }

  private func identity(of folder: borrowing Descriptor) throws(Kept) -> [UInt64] {
    var status = stat()
    guard fstat(folder.number, &status) == 0 else { throw Self.unknownPlace(errno) }
    return [UInt64(status.st_dev), UInt64(status.st_ino)]
  }

  private static func unknownPlace(_ code: Int32) -> Kept {
    Kept(
      .unreadable, "whether a folder above it is that of a library cannot be seen: \(LibraryError.reason(code)).")
  }

  /// How often a lease is asked for while something has the file open for writing, ten milliseconds apart.
  private static let leaseAttempts = 50

  /// Takes a read lease, which goes with the descriptor.
  private func takeLease(on file: borrowing SourceFile) throws(Kept) {
    let number = file.descriptor.number
    for attempt in 1...Self.leaseAttempts {
      guard fcntl(number, Lease.setSignal, SIGURG) != 0 || fcntl(number, Lease.set, Int32(F_RDLCK)) != 0 else { return }
      guard errno == EAGAIN else {
        throw Kept(
          .writersUnknown, "the system does not say whether a program is writing it: \(LibraryError.reason(errno)).")
      }
      if attempt < Self.leaseAttempts { usleep(10_000) }
    }
    throw Kept(.beingWritten, "a program has it open for writing.")
  }

  /// Checks that a name still leads to the file that was read, and that no program waits to write it.
  private func checkIsSame(
    _ file: borrowing SourceFile, _ name: FilePath, in folder: borrowing Descriptor
  ) throws(Kept) {
    var status = stat()
    let number = folder.number
    guard name.withCString({ fstatat(number, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 else {
      throw Self.unopened(errno)
    }
    guard SourceStamp(status) == file.stamp else { throw Self.changed }
    guard fcntl(file.descriptor.number, Lease.get) == Int32(F_RDLCK) else {
      throw Kept(.beingWritten, "a program is opening it for writing.")
    }
  }

  // MARK: The copy

  /// Checks that an asset outside the trash has a content in a file of the library, and that none refers to another.
  private func checkIsInLibrary(_ content: FileContent) throws(Kept) {
    var isTrashed = false
    var isThere = false
    do {
      for asset in try library.assets(withContent: content.sha256) {
        for resource in try library.resources(of: asset) where resource.sha256 == content.sha256 {
          if resource.storage != .library {
            throw Kept(.referenced, "the library refers to a file of this content, instead of having a copy.")
          }
          if asset.isTrashed { isTrashed = true } else { isThere = true }
        }
      }
    } catch {
      throw error as? Kept ?? Kept(.notInLibrary, "the library cannot be read: \(LibraryError(error).description)")
    }
    if isThere { return }
    throw isTrashed
      ? Kept(.inTrash, "the asset with its content is in the trash; restore it, or purge it, and import again.")
      : Kept(.notInLibrary, "no asset has its content; import it again.")
  }

  /// The library's own file of a content, when it was read back.
  private func copy(of content: FileContent, apartFrom original: borrowing SourceFile) throws(Kept) -> SourceFile {
    let name = ResourceStore.name(ofContent: content.sha256)
    do throws(LibraryError) {
      let copy = try SourceFile(FilePath(library.store.folder.path(of: name))) { [library] flags in
        library.store.folder.open(name, flags | O_NOFOLLOW)
      } unopened: { code in
        LibraryError(.missingResource, "The file is \(code == ELOOP ? "a link" : LibraryError.reason(code)).")
      }
      guard copy.stamp.device != original.stamp.device || copy.stamp.inode != original.stamp.inode else {
        throw LibraryError(.invalidResource, "It is the same file as the original.")
      }
      guard try FileContent(of: copy).sha256 == content.sha256 else {
        throw LibraryError(.corrupted, "Its bytes do not have its hash.")
      }
      return copy
    } catch {
      throw Kept(.copyUnproved, "the library's copy could not be read back. \(error.description)")
    }
  }

  /// Checks that the copy that was read back still has its name.
  private func checkIsInPlace(_ copy: borrowing SourceFile, of content: FileContent) throws(Kept) {
    let now = library.store.folder.status(of: ResourceStore.name(ofContent: content.sha256))
    guard let now = now.map({ SourceStamp($0) }), now.device == copy.stamp.device, now.inode == copy.stamp.inode else {
      throw Kept(.copyUnproved, "the library's copy was removed or replaced after it was read back.")
    }
  }
}

extension OriginalRemoval.Original {
  /// Whether the library has its content only after the import that the dry run stands for.
  fileprivate var isOnlyInDryRun: Bool { if case .duplicateOfAsset = outcome { false } else { true } }
}

/// O_PATH of <fcntl.h>, which Swift does not import since it hides behind _GNU_SOURCE.
private let pathOnly: Int32 = 0x20_0000

/// What Linux's <fcntl.h> hides likewise.
private enum Lease {
  static let setSignal: Int32 = 10
  static let set: Int32 = 1024
  static let get: Int32 = 1025
}
