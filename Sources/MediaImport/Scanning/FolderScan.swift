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
// Nothing is left out in silence. What is not a regular file, what cannot be listed, and a symbolic link to a folder
// (which is how trees become loops) are entries of their own, with the reason. What cannot be listed or examined may be
// photos, and counts as unreadable files do. A symbolic link to a file is followed: some people keep their originals in
// a content store and link to them. The folder of a PhotoLedger library is an entry with the reason too, whether it is
// met on the way or named: its files have no names and are photos of that library. A folder is walked once, by device
// and inode, so naming a folder and its child, or a bind mount inside itself, gives each file once.
//
// The names decide only what is a sidecar; whether a file is a photo is for the metadata tool to say, from its bytes.

internal import Dispatch
internal import Glibc
internal import PhotoLedger
internal import Synchronization

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
  /// The size in bytes at the time of the walk; 0 for what is not a file.
  let byteCount: Int64
  /// The folder or archive that was named.
  let part: String
  /// What the file was at the time of the walk; nil where that was not asked.
  let stamp: SourceStamp?
  /// What it holds, if it was read to its end already.
  var content: FileContent?
  private var details = Details.none
  private let relativeCount: Int32
  /// Whether an earlier import read it, and not this one.
  var isKnown = false
  /// Its classification.
  var role: Role

  /// What few files have. There are as many of these as files, so it is not kept in each.
  private indirect enum Details: Sendable, Equatable {
    case none
    case some(copy: String?, unit: [UInt8]?, note: MediaNote?, edit: AppleEdits.Part?)
  }

  /// - Parameter relativeCount: how many bytes of the path, from its end, are below the folder that was named.
  init(
    path: FilePath, relativeCount: Int, role: Role, byteCount: Int64, part: String = "", stamp: SourceStamp? = nil
  ) {
    (self.path, self.relativeCount, self.role) = (path, Int32(relativeCount), role)
    (self.byteCount, self.part, self.stamp) = (byteCount, part, stamp)
  }

  /// The path below the folder that was named, for people.
  var relativePath: FilePath { FilePath(bytes: path.bytes.suffix(Int(relativeCount))) }

  /// The name of the library's own copy of a member of an archive; nil for a file at its path.
  var copy: String? {
    get { if case .some(let copy, _, _, _) = details { copy } else { nil } }
    set { if newValue != copy { details = .some(copy: newValue, unit: unit, note: note, edit: edit) } }
  }

  /// What files that may belong together have in common; nil: the path without its extension.
  var unit: [UInt8]? {
    get { if case .some(_, let unit, _, _) = details { unit } else { nil } }
    set { if newValue != unit { details = .some(copy: copy, unit: newValue, note: note, edit: edit) } }
  }

  /// What is said about it beside its bytes.
  var note: MediaNote? {
    get { if case .some(_, _, let note, _) = details { note } else { nil } }
    set { if newValue != note { details = .some(copy: copy, unit: unit, note: newValue, edit: edit) } }
  }

  /// What it is to an edit by another program; nil: nothing.
  var edit: AppleEdits.Part? {
    get { if case .some(_, _, _, let edit) = details { edit } else { nil } }
    set { if newValue != edit { details = .some(copy: copy, unit: unit, note: note, edit: newValue) } }
  }

  /// What is planned together has the same.
  var unitBytes: ArraySlice<UInt8> { unit.map { $0[...] } ?? path.stemBytes }

  /// Whether it may be a part of an asset.
  fileprivate var isPart: Bool { role == .candidate || edit != nil }
  /// How far a part of the same unit is looked for, past files that are not parts.
  fileprivate static let unitReach = 16
}

extension [ScannedFile] {
  /// Whether a file is not of the unit of the file before it. A file that is not part of an asset does not separate
  /// parts of one unit: `IMG_1.ARW.xmp` is between `IMG_1.ARW` and `IMG_1.JPG`.
  func beginsUnit(at index: Int) -> Bool {
    if self[index].unitBytes == self[index - 1].unitBytes { return false }
    let reach = ScannedFile.unitReach
    guard let before = self[Swift.max(0, index - reach)..<index].last(where: { $0.isPart }),
      let next = self[index..<Swift.min(count, index + reach)].first(where: { $0.isPart })
    else { return true }
    return before.unitBytes != next.unitBytes
  }
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

  private static let sidecarEndings = sidecarExtensions.map { Array(".\($0)".utf8) }

  /// Whether a name has one of these extensions.
  static func isSidecar(_ name: ArraySlice<UInt8>) -> Bool {
    sidecarEndings.contains { ending in
      name.count > ending.count && zip(name.suffix(ending.count), ending).allSatisfy { NamePattern.small($0) == $1 }
    }
  }
}

/// The state of one walk.
private struct Walk {
  struct FolderIdentity: Hashable, Sendable {
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
      let (folder, identity) = (FolderScan.canonical(root), FolderIdentity(status))
      if leavesOut(folder, relative: [], identity) { return }
      try list(folder, relative: [], identity)
    } else {
      let folder = root.folderBytes.isEmpty && !root.isAbsolute ? FilePath(".") : FilePath(bytes: root.folderBytes)
      let path = FolderScan.canonical(folder.bytes.isEmpty ? FilePath("/") : folder).appending(Array(root.nameBytes))
      try add(path, relative: Array(root.nameBytes), FolderContents.stamp(status))
    }
  }

  /// - Parameter stamp: nil for anything but a regular file.
  mutating func add(_ path: FilePath, relative: [UInt8], _ stamp: SourceStamp?) throws(ImportError) {
    if seen?.insert(path).inserted == false { return }
    guard found.count < maximumFileCount else {
      throw ImportError(
        .tooManyFiles, path: path.description,
        "More than \(maximumFileCount) files were found. Import the folders below one at a time.")
    }
    let role: ScannedFile.Role =
      stamp == nil
      ? .unusable("It is not a regular file.") : FolderScan.isSidecar(path.nameBytes) ? .sidecar : .candidate
    found.append(
      ScannedFile(
        path: path, relativeCount: relative.count, role: role, byteCount: stamp?.byteCount ?? 0, part: part,
        stamp: stamp))
  }

  mutating func addUnusable(_ path: FilePath, relative: [UInt8], _ reason: String) {
    found.append(
      ScannedFile(
        path: path, relativeCount: relative.count, role: .unusable(reason), byteCount: 0, part: part))
  }

  mutating func addSkipped(_ path: FilePath, relative: [UInt8], _ reason: SkipReason, _ sentence: String) {
    found.append(
      ScannedFile(
        path: path, relativeCount: relative.count, role: .settled(.skipped(reason, sentence)), byteCount: 0,
        part: part))
  }

  /// Makes an entry, once, of a folder that is not walked, whatever its name.
  mutating func leavesOut(_ folder: FilePath, relative: [UInt8], _ identity: FolderIdentity) -> Bool {
    guard
      let reason = NameSelection.reason(ofLibrary: folder)
        ?? (excluded.contains(identity) ? "\(folder) is skipped on request." : nil)
    else { return false }
    if visited.insert(identity).inserted { addSkipped(folder, relative: relative, .excluded, reason) }
    return true
  }

  /// Walks one folder. The recursion is as deep as the tree; the kernel's limit on path length bounds it. A folder is
  /// closed before those in it are walked, so that the depth is not bounded by the number of open files.
  /// - Parameter listing: what is in the folder, if it has been listed.
  mutating func list(
    _ folder: FilePath, relative: [UInt8], _ identity: FolderIdentity, _ listing: FolderContents? = nil
  ) throws(ImportError) {
    guard visited.insert(identity).inserted else { return }
    let contents = listing ?? FolderContents(of: folder)
    guard contents.code == 0 else {
      let reason = "The folder cannot be listed: \(LibraryError.reason(contents.code))."
      addSkipped(folder, relative: relative, .unseen(contents.code), reason)
      return
    }
    var listed = ListedAhead()
    for position in contents.places.indices {
      let name = contents.name(at: position)
      let path = folder.appending(name)
      let below = relative.isEmpty ? name : FilePath(bytes: relative).appending(name).bytes
      let kind = contents.kind(at: position)
      if case .folder(let identity) = kind {
        if visited.contains(identity) || leavesOut(path, relative: below, identity) { continue }
      }
      if let reason = reason(toLeaveOut: below, kind, at: path) {
        addSkipped(path, relative: below, .excluded, reason)
        continue
      }
      switch kind {
      case .folder(let identity):
        if !listed.has(position) {
          listed.list(contents, from: position, in: folder, relative, selection, visited)
        }
        try list(path, relative: below, identity, listed.take(position))
      case .file(let stamp): try add(path, relative: below, stamp)
      case .other: try add(path, relative: below, nil)
      case .unusable(let reason): addUnusable(path, relative: below, reason)
      case .unreadable(let skip, let reason): addSkipped(path, relative: below, skip, reason)
      }
    }
  }

  private func reason(toLeaveOut below: [UInt8], _ kind: FolderContents.Kind, at path: FilePath) -> String? {
    let isFolder = if case .folder = kind { true } else { false }
    return selection.reason(ofName: below, isFolder: isFolder, at: path)
  }
}

/// Some folders of a folder, listed at the same time: most of a walk is waiting for the kernel, on one core.
private struct ListedAhead {
  /// So many are listed at once. All that is in them is in memory at the same time.
  private static let most = 8
  private var listed: [Int: FolderContents] = [:]

  func has(_ position: Int) -> Bool { listed[position] != nil }

  /// The contents of the folder at a position, once.
  mutating func take(_ position: Int) -> FolderContents? { listed.removeValue(forKey: position) }

  /// Lists the folder at a position and those after it, as far as their names let them be walked.
  mutating func list(
    _ contents: FolderContents, from first: Int, in folder: FilePath, _ relative: [UInt8], _ selection: NameSelection,
    _ visited: Set<Walk.FolderIdentity>
  ) {
    var chosen: [(position: Int, path: FilePath)] = []
    for position in contents.places[first...].indices where chosen.count < Self.most {
      guard case .folder(let identity) = contents.kind(at: position), !visited.contains(identity) else { continue }
      let name = contents.name(at: position)
      let below = relative.isEmpty ? name : FilePath(bytes: relative).appending(name).bytes
      let path = folder.appending(name)
      if selection.reason(ofName: below, isFolder: true, at: path) == nil { chosen.append((position, path)) }
    }
    if chosen.count < 2 {
      for (position, path) in chosen { listed[position] = FolderContents(of: path) }
      return
    }
    let paths = chosen.map(\.path)
    let results = Mutex<[FolderContents?]>(Array(repeating: nil, count: paths.count))
    DispatchQueue.concurrentPerform(iterations: paths.count) { index in
      let contents = FolderContents(of: paths[index])
      results.withLock { $0[index] = contents }
    }
    for ((position, _), contents) in zip(chosen, results.withLock { $0 }) { listed[position] = contents }
  }
}

/// What is in a folder, in walking order.
private struct FolderContents: Sendable {
  enum Kind {
    case file(SourceStamp), folder(Walk.FolderIdentity), other, unusable(String), unreadable(SkipReason, String)
  }

  /// An entry; small, since entries are sorted.
  struct Place {
    /// Where its name is among the names.
    let start: Int
    let count: Int32
    /// Its position among the kinds.
    let number: Int32
    let isFolder: Bool
  }

  /// The errno for which the folder cannot be listed; 0 if it was.
  private(set) var code: Int32 = 0
  private(set) var places: [Place] = []
  private var kinds: [Kind] = []
  private var names: [UInt8] = []

  /// Lists a folder and examines all that is in it.
  init(of folder: FilePath) {
    guard let number = FolderEntries.open(folder) else {
      code = errno
      return
    }
    let descriptor = Descriptor(number)
    code = FolderEntries.forEach(in: descriptor.number) { entry in
      let kind = Self.kind(of: entry, in: number)
      let isFolder = if case .folder = kind { true } else { false }
      places.append(
        Place(
          start: names.count, count: Int32(entry.nameBytes.count), number: Int32(kinds.count),
          isFolder: isFolder))
      names.append(contentsOf: entry.nameBytes)
      kinds.append(kind)
    }
    names.withUnsafeBytes { names in
      places.sort { Self.precedes($0, $1, names) }
    }
  }

  func name(at position: Int) -> [UInt8] {
    let place = places[position]
    return Array(names[place.start..<(place.start + Int(place.count))])
  }

  func kind(at position: Int) -> Kind { kinds[Int(places[position].number)] }

  static func stamp(_ status: stat) -> SourceStamp? {
    status.st_mode & S_IFMT == S_IFREG ? SourceStamp(status) : nil
  }

  /// Whether a name, with a slash if it is a folder's, comes before another one in the order of bytes.
  private static func precedes(_ left: Place, _ right: Place, _ names: UnsafeRawBufferPointer) -> Bool {
    let common = min(left.count, right.count)
    guard let base = names.baseAddress, common > 0 else { return left.count < right.count }
    let order = memcmp(base + left.start, base + right.start, Int(common))
    if order != 0 { return order < 0 }
    func next(_ place: Place) -> Int {
      if place.count > common { return Int(names[place.start + Int(common)]) }
      return place.isFolder ? Int(FilePath.slash) : -1
    }
    return next(left) < next(right)
  }

  private static func kind(of entry: FolderEntry, in folder: Int32) -> Kind {
    var status = stat()
    guard fstatat(folder, entry.text, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      let code = errno
      return .unreadable(.unseen(code), "It cannot be examined: \(LibraryError.reason(code)).")
    }
    if status.st_mode & S_IFMT == S_IFDIR { return .folder(Walk.FolderIdentity(status)) }
    if status.st_mode & S_IFMT == S_IFLNK {
      guard fstatat(folder, entry.text, &status, 0) == 0 else {
        let code = errno
        guard [ENOENT, ENOTDIR, ELOOP].contains(code) else {
          return .unreadable(
            .unreadable, "The file that it is a symbolic link to cannot be examined: \(LibraryError.reason(code)).")
        }
        return .unusable("It is a broken symbolic link: \(LibraryError.reason(code)).")
      }
      if status.st_mode & S_IFMT == S_IFDIR {
        return .unusable("It is a symbolic link to a folder, which is not followed; import that folder by its name.")
      }
    }
    return stamp(status).map { .file($0) } ?? .other
  }
}

extension SkipReason {
  /// Why what a folder has listed is left out, if it cannot be examined with this errno.
  fileprivate static func unseen(_ code: Int32) -> SkipReason {
    [ENOENT, ENOTDIR].contains(code) ? .vanished : .unreadable
  }
}
