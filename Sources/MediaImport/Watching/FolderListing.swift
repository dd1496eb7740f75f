internal import Glibc
internal import PhotoLedger

// One folder, as a watch sees it: the files that an import would look at, and the folders that it would walk into.
//
// The rules are those of FolderScan: what is excluded by name is not looked at, a link to a file is followed, one to a
// folder is not, and what is no regular file is left out. A folder's number comes with its name, and so costs no call.

/// Lists folders.
struct FolderListing {
  let selection: NameSelection
  /// Folders that are left out, such as the library itself.
  let excluded: [FilePath]

  /// What is in a folder.
  /// - Parameter root: the folder that was named, which patterns with a slash refer to.
  /// - Complexity: O(n) in its entries, with a system call for each file.
  func list(_ folder: FilePath, root: FilePath) -> FolderWatch.Listing {
    guard let stream = folder.withCString({ opendir($0) }) else {
      return errno == ENOENT || errno == ENOTDIR ? .gone : .unreadable
    }
    defer { closedir(stream) }
    let relative = folder == root ? [] : Array(folder.bytes.dropFirst(root.bytes.count).drop { $0 == FilePath.slash })
    var files: [[UInt8]: FileState] = [:]
    var folders: [[UInt8]: UInt64] = [:]
    var isEmpty = true
    while true {
      errno = 0
      guard let record = readdir(stream) else { break }
      guard let name = Self.name(of: record) else { continue }
      isEmpty = false
      let below = relative.isEmpty ? name : relative + [FilePath.slash] + name
      switch kind(record, name, dirfd(stream)) {
      case .folder(let number) where isFollowed(folder.appending(name), below): folders[name] = number
      case .file(let state)
      where selection.reason(against: below, isFolder: false, at: folder.appending(name)) == nil:
        files[name] = state
      default: continue
      }
    }
    return errno == 0 ? .entries(files: files, folders: folders, isEmpty: isEmpty) : .unreadable
  }

  private func isFollowed(_ path: FilePath, _ below: [UInt8]) -> Bool {
    !excluded.contains(path) && selection.reason(against: below, isFolder: true, at: path) == nil
  }

  private enum Kind {
    case folder(UInt64), file(FileState), other
  }

  private func kind(_ record: UnsafeMutablePointer<dirent>, _ name: [UInt8], _ folder: Int32) -> Kind {
    // DT_DIR of readdir(3).
    if record.pointee.d_type == 4 { return .folder(UInt64(record.pointee.d_ino)) }
    return FilePath(bytes: name).withCString { text in
      var status = stat()
      guard fstatat(folder, text, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return .other }
      if status.st_mode & S_IFMT == S_IFDIR { return .folder(UInt64(status.st_ino)) }
      if status.st_mode & S_IFMT == S_IFLNK, fstatat(folder, text, &status, 0) != 0 { return .other }
      return status.st_mode & S_IFMT == S_IFREG ? .file(FileState(SourceStamp(status))) : .other
    }
  }

  private static func name(of record: UnsafeMutablePointer<dirent>) -> [UInt8]? {
    guard let offset = MemoryLayout<dirent>.offset(of: \dirent.d_name) else { return nil }
    let start = UnsafeRawPointer(record) + offset
    let name = Array(UnsafeRawBufferPointer(start: start, count: strlen(start.assumingMemoryBound(to: CChar.self))))
    return name == [FilePath.dot] || name == [FilePath.dot, FilePath.dot] ? nil : name
  }
}
