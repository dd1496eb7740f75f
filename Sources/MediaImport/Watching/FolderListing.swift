internal import Glibc
internal import PhotoLedger

// One folder, as a watch sees it: the files that an import would look at, and the folders that it would walk into.
//
// The rules are those of FolderScan: what is excluded by name is not looked at, a link to a file is followed, one to a
// folder is not, and what is not a regular file is left out. A folder's number comes with its name, and so costs no
// call. A folder of a library is recognised when it is listed; its contents are skipped then.

/// Lists folders.
struct FolderListing {
  let selection: NameSelection
  /// Folders that are left out, such as the library itself.
  let excluded: [FilePath]

  /// What is in a folder.
  /// - Parameters:
  ///   - folder: its path.
  ///   - descriptor: the open folder, at its beginning.
  ///   - root: the folder that was named, which patterns with a slash refer to.
  /// - Complexity: O(n) in its entries, with a system call for each file.
  func list(_ folder: FilePath, _ descriptor: Int32, root: FilePath) -> FolderWatch.Listing {
    let isRoot = folder == root
    let relative = isRoot ? [] : Array(folder.bytes.dropFirst(root.bytes.count).drop { $0 == FilePath.slash })
    let left = excluded.filter { $0.folderBytes == folder.bytes[...] }.map { Array($0.nameBytes) }
    var files: [[UInt8]: FileState] = [:]
    var folders: [[UInt8]: UInt64] = [:]
    var (isEmpty, isLibrary) = (true, false)
    let code = FolderEntries.forEach(in: descriptor) { entry in
      isEmpty = false
      switch kind(entry, descriptor) {
      case .folder(let number):
        let name = entry.name
        if !isRoot, name == Self.storeFolder, Self.isLibrary(descriptor) { isLibrary = true }
        guard !left.contains(name), isFollowed(name, below: relative, folder, isFolder: true) else { return }
        folders[name] = number
      case .file(let state):
        let name = entry.name
        if isFollowed(name, below: relative, folder, isFolder: false) { files[name] = state }
      case .other: return
      }
    }
    guard code == 0 else { return .unreadable }
    return isLibrary
      ? .entries(files: [:], folders: [:], isEmpty: false) : .entries(files: files, folders: folders, isEmpty: isEmpty)
  }

  /// What a folder that cannot be opened is.
  static func unopened(errno code: Int32) -> FolderWatch.Listing {
    code == ENOENT || code == ENOTDIR ? .gone : .unreadable
  }

  private func isFollowed(_ name: [UInt8], below relative: [UInt8], _ folder: FilePath, isFolder: Bool) -> Bool {
    let below = relative.isEmpty ? name : FilePath(bytes: relative).appending(name).bytes
    return selection.reason(ofName: below, isFolder: isFolder, at: folder.appending(name)) == nil
  }

  private static let storeFolder = Array(LibraryStore.storeFileName.utf8.prefix { $0 != FilePath.slash })

  private static func isLibrary(_ folder: Int32) -> Bool {
    faccessat(folder, LibraryStore.storeFileName, F_OK, 0) == 0
  }

  private enum Kind {
    case folder(UInt64), file(FileState), other
  }

  private func kind(_ entry: FolderEntry, _ folder: Int32) -> Kind {
    switch entry.kind {
    case .folder: return .folder(entry.number)
    case .other: return .other
    case .file, .link, .unknown: break
    }
    var status = stat()
    guard fstatat(folder, entry.text, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return .other }
    if status.st_mode & S_IFMT == S_IFDIR { return .folder(UInt64(status.st_ino)) }
    if status.st_mode & S_IFMT == S_IFLNK, fstatat(folder, entry.text, &status, 0) != 0 { return .other }
    return status.st_mode & S_IFMT == S_IFREG ? .file(FileState(SourceStamp(status))) : .other
  }
}
