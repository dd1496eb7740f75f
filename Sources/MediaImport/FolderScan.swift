// The walk over the files and folders that a person named.
//
// The order is the byte order of the relative path, so that two walks of one tree see the files alike on every
// machine and locale. A directory sorts as its name with a slash, which makes a depth-first walk come out in exactly
// that order, without sorting all paths at the end:
//
//     a-b.jpg      0x2D
//     a/x.jpg      0x2F      "a/" > "a-b.jpg", though "a" < "a-b.jpg"
//     a0.jpg       0x30
//
// Nothing is left out in silence. What is no regular file, what cannot be listed, and a symbolic link to a folder
// (which is how trees become loops) are entries of their own, with the reason. A symbolic link to a file is followed:
// some people keep their originals in a content store and link to them. The folder of a PhotoLedger library is an entry
// with the reason too, whether it is met on the way or named: its files have no names and are photos of that library.
// A folder is walked once, by device and inode, so naming a folder and its child, or a bind mount inside itself, gives
// each file once.
//
// The names decide only what is a sidecar; whether a file is a photo is for the metadata tool to say, from its bytes.

internal import Glibc
internal import PhotoLedger

/// A file that the walk met.
struct ScannedFile: Sendable, Equatable {
  /// The classification by the name and the kind of file alone.
  enum Role: Sendable, Equatable {
    /// May be a photo or video, depending on its bytes.
    case candidate
    /// Describes another file, by its name: XMP, AAE, Takeout JSON.
    case sidecar
    /// Cannot be read as a file at all; the sentence says why.
    case unusable(String)
    /// The source it belongs to has decided what becomes of it.
    case settled(FileOutcome)
  }

  /// The absolute path; of a member of an archive, the archive's with the member's name after it.
  let path: FilePath
  /// The path below the folder that was named, for people.
  let relativePath: FilePath
  /// Its classification.
  var role: Role
  /// The size in bytes at the time of the walk; 0 for what is no file.
  let byteCount: Int64
  /// The folder or archive that was named.
  var part = ""
  /// What the file was at the time of the walk; nil where that was not asked.
  var stamp: SourceStamp?
  /// What it holds, if it was read to its end already.
  var content: FileContent?
  /// Whether an earlier import read it, and not this one.
  var isKnown = false
  /// The name of the library's own copy of a member of an archive; nil for a file at its path.
  var copy: String?
  /// What files that may belong together have in common; nil: the path without its extension.
  var unit: [UInt8]?
  /// What is said about it beside its bytes.
  var note: MediaNote?
  /// What it is to an edit by another program; nil: nothing.
  var edit: AppleEdits.Part?

  /// What is planned together has the same.
  var unitBytes: ArraySlice<UInt8> { unit.map { $0[...] } ?? path.stemBytes }
}

/// Walks files and folders in byte order.
struct FolderScan: Sendable {
  /// Folders that are passed over, such as the library itself when it lies in the folder being imported.
  var excluded: [FilePath] = []
  /// Names of files and folders that are left out.
  var selection = NameSelection()
  /// The most files one walk may find.
  var maximumFileCount = 20_000_000

  /// Creates a walk with the usual limits.
  init() {}

  /// Finds every file below `roots`, in byte order of the relative path, root by root.
  /// - Parameter roots: Files or folders, absolute or relative to the working directory.
  /// - Throws: `notFound` when a root does not exist, `tooManyFiles` above the limit.
  /// - Complexity: O(n log d) for n files with at most d in one folder.
  func files(in roots: [FilePath]) throws(ImportError) -> [ScannedFile] {
    var walk = Walk(maximumFileCount: maximumFileCount, selection: selection, seen: roots.count > 1 ? [] : nil)
    for folder in excluded { walk.exclude(folder) }
    for root in roots { try walk.enter(root: root) }
    return walk.found
  }

  /// A path without links and dots; the path itself if there is no such file.
  static func canonical(_ path: FilePath) -> FilePath {
    path.withCString { text in
      guard let resolved = realpath(text, nil) else { return path }
      defer { free(resolved) }
      return FilePath(bytes: UnsafeRawBufferPointer(start: resolved, count: strlen(resolved)))
    }
  }

  /// What the system says about a root.
  /// - Throws: `notFound` when it does not exist.
  static func status(ofRoot root: FilePath) throws(ImportError) -> stat {
    var status = stat()
    guard root.withCString({ stat($0, &status) }) == 0 else {
      throw ImportError(
        .notFound, path: root.description,
        "\(root) cannot be imported: \(LibraryError.reason(errno)). Pass an existing file or folder.")
    }
    return status
  }

  /// Extensions of files that describe other files.
  static let sidecarExtensions: Set<String> = ["xmp", "aae", "json"]
}

/// The state of one walk.
private struct Walk {
  struct FolderIdentity: Hashable {
    let device: UInt64
    let inode: UInt64

    init(_ status: stat) { (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino)) }
  }

  let maximumFileCount: Int
  let selection: NameSelection
  var found: [ScannedFile] = []
  /// The root that is being walked.
  var part = ""
  var visited: Set<FolderIdentity> = []
  /// Folders that are not walked, by the caller's wish.
  var excluded: Set<FolderIdentity> = []
  /// The files found, when there are several roots, one of which may be a file inside another; nil for one root.
  var seen: Set<FilePath>?

  init(maximumFileCount: Int, selection: NameSelection, seen: Set<FilePath>?) {
    (self.maximumFileCount, self.selection, self.seen) = (maximumFileCount, selection, seen)
  }

  mutating func exclude(_ folder: FilePath) {
    var status = stat()
    guard folder.withCString({ stat($0, &status) }) == 0 else { return }
    excluded.insert(FolderIdentity(status))
  }

  mutating func enter(root: FilePath) throws(ImportError) {
    let status = try FolderScan.status(ofRoot: root)
    part = root.description
    if status.st_mode & S_IFMT == S_IFDIR {
      let folder = FolderScan.canonical(root)
      if leavesOut(folder, relative: [], status, reasonToLeaveOut(folder, status)) { return }
      try list(folder, relative: [], status)
    } else {
      let folder = root.folderBytes.isEmpty && !root.isAbsolute ? FilePath(".") : FilePath(bytes: root.folderBytes)
      let path = FolderScan.canonical(folder.bytes.isEmpty ? FilePath("/") : folder).appending(root.nameBytes)
      try add(path, relative: Array(root.nameBytes), status)
    }
  }

  mutating func add(_ path: FilePath, relative: [UInt8], _ status: stat) throws(ImportError) {
    if seen?.insert(path).inserted == false { return }
    guard found.count < maximumFileCount else {
      throw ImportError(
        .tooManyFiles, path: path.description,
        "More than \(maximumFileCount) files were found. Import the folders below one at a time.")
    }
    let isFile = status.st_mode & S_IFMT == S_IFREG
    let isSidecar = FolderScan.sidecarExtensions.contains(path.pathExtension)
    found.append(
      ScannedFile(
        path: path, relativePath: FilePath(bytes: relative),
        role: !isFile ? .unusable("It is not a regular file.") : isSidecar ? .sidecar : .candidate,
        byteCount: isFile ? Int64(status.st_size) : 0, part: part, stamp: isFile ? SourceStamp(status) : nil))
  }

  mutating func addUnusable(_ path: FilePath, relative: [UInt8], _ reason: String) {
    found.append(
      ScannedFile(
        path: path, relativePath: FilePath(bytes: relative), role: .unusable(reason), byteCount: 0, part: part))
  }

  mutating func addExcluded(_ path: FilePath, relative: [UInt8], _ reason: String) {
    found.append(
      ScannedFile(
        path: path, relativePath: FilePath(bytes: relative), role: .settled(.skipped(.excluded, reason)), byteCount: 0,
        part: part))
  }

  /// Why a folder is not walked, whatever its name; nil if it is.
  func reasonToLeaveOut(_ folder: FilePath, _ status: stat) -> String? {
    NameSelection.reason(ofLibrary: folder)
      ?? (excluded.contains(FolderIdentity(status)) ? "\(folder) is skipped on request." : nil)
  }

  /// Makes an entry of a folder that is not walked, once.
  mutating func leavesOut(_ folder: FilePath, relative: [UInt8], _ status: stat, _ reason: String?) -> Bool {
    guard let reason else { return false }
    if visited.insert(FolderIdentity(status)).inserted { addExcluded(folder, relative: relative, reason) }
    return true
  }

  /// Walks one folder. The recursion is as deep as the tree; the kernel's limit on path length bounds it.
  mutating func list(_ folder: FilePath, relative: [UInt8], _ status: stat) throws(ImportError) {
    guard visited.insert(FolderIdentity(status)).inserted else { return }
    guard let names = namesSorted(in: folder) else {
      addUnusable(folder, relative: relative, "The folder cannot be listed: \(LibraryError.reason(errno)).")
      return
    }
    for entry in names {
      let path = folder.appending(entry.name)
      let below = relative.isEmpty ? entry.name : relative + [FilePath.slash] + entry.name
      if case .folder(let status) = entry.kind {
        if visited.contains(FolderIdentity(status)) { continue }
        if leavesOut(path, relative: below, status, reasonToLeaveOut(path, status)) { continue }
      }
      if let reason = selection.reason(against: below, isFolder: entry.isFolder, at: path) {
        addExcluded(path, relative: below, reason)
        continue
      }
      switch entry.kind {
      case .folder(let status): try list(path, relative: below, status)
      case .file(let status): try add(path, relative: below, status)
      case .unusable(let reason): addUnusable(path, relative: below, reason)
      }
    }
  }

  struct Entry {
    enum Kind {
      case file(stat), folder(stat), unusable(String)
    }

    let name: [UInt8]
    let kind: Kind

    var isFolder: Bool { if case .folder = kind { true } else { false } }

    var sortKey: [UInt8] {
      if case .folder = kind { return name + [FilePath.slash] }
      return name
    }
  }

  /// The entries of a folder in walking order, or nil with `errno` set when it cannot be listed.
  func namesSorted(in folder: FilePath) -> [Entry]? {
    guard let stream = folder.withCString({ opendir($0) }) else { return nil }
    defer { closedir(stream) }
    var entries: [Entry] = []
    while true {
      errno = 0
      guard let record = readdir(stream) else { break }
      guard let offset = MemoryLayout<dirent>.offset(of: \dirent.d_name) else { continue }
      let start = UnsafeRawPointer(record) + offset
      let length = strlen(start.assumingMemoryBound(to: CChar.self))
      let name = Array(UnsafeRawBufferPointer(start: start, count: length))
      if name == [FilePath.dot] || name == [FilePath.dot, FilePath.dot] { continue }
      entries.append(Entry(name: name, kind: kind(of: folder.appending(name))))
    }
    guard errno == 0 else { return nil }
    return entries.map { ($0.sortKey, $0) }.sorted { $0.0.lexicographicallyPrecedes($1.0) }.map(\.1)
  }

  func kind(of path: FilePath) -> Entry.Kind {
    var status = stat()
    guard path.withCString({ lstat($0, &status) }) == 0 else {
      return .unusable("It cannot be examined: \(LibraryError.reason(errno)).")
    }
    if status.st_mode & S_IFMT == S_IFDIR { return .folder(status) }
    guard status.st_mode & S_IFMT == S_IFLNK else { return .file(status) }
    guard path.withCString({ stat($0, &status) }) == 0 else {
      return .unusable("It is a broken symbolic link: \(LibraryError.reason(errno)).")
    }
    if status.st_mode & S_IFMT == S_IFDIR {
      return .unusable("It is a symbolic link to a folder, which is not followed; import that folder by its name.")
    }
    return .file(status)
  }
}
