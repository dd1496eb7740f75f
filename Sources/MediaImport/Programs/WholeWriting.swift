internal import CSystem
internal import Glibc
internal import PhotoLedger

/// Writes all of some bytes to an open file, however many calls that takes.
/// - Throws: ``LibraryError`` that names the path, such as `.notEnoughSpace`; `.limitExceeded` if the file would be
///   larger than its file system (FAT32: 4 GiB), or a limit of the process, allows.
func writeWhole(_ bytes: UnsafeRawBufferPointer, to number: Int32, _ path: String) throws(LibraryError) {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = Glibc.write(number, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
    if count > 0 {
      rest = rest.dropFirst(count)
    } else if errno == EFBIG {
      throw LibraryError(
        .limitExceeded, "\(path) would be larger than its file system, or a limit of this process, allows.")
    } else if errno != EINTR {
      throw LibraryError.store(path, "write", errno: errno)
    }
  }
}

/// Writes all of some bytes to an open file, however many calls that takes.
/// - Throws: as the function above.
func writeWhole(_ bytes: [UInt8], to number: Int32, _ path: String) throws(LibraryError) {
  let outcome = bytes.withUnsafeBytes { bytes in
    Result { () throws(LibraryError) in try writeWhole(bytes, to: number, path) }
  }
  try outcome.get()
}

/// Gives a file a name that nothing has. On a file system that cannot rename so (NFS, many of FUSE), the file gets a
/// second name, and the caller removes the first; where a file has one name only, it is renamed to one that was free
/// just before.
/// - Parameter renaming: renames without replacing; returns 0 or the errno.
/// - Returns: 0 or the errno, which is `EEXIST` if something has the name.
func renameWithoutReplacing(
  _ file: String, to name: String,
  renaming: (_ file: String, _ name: String) -> Int32 = { psys_rename_without_replacing($0, $1) }
) -> Int32 {
  let code = renaming(file, name)
  guard [EINVAL, ENOSYS, EOPNOTSUPP].contains(code) else { return code }
  if link(file, name) == 0 { return 0 }
  if errno == EEXIST { return EEXIST }
  var status = stat()
  if lstat(name, &status) == 0 { return EEXIST }
  return rename(file, name) == 0 ? 0 : errno
}
