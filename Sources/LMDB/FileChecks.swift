import CSystem
import Glibc

// What is looked at before LMDB opens a file, because LMDB itself would not look, or would call abort().

/// Which file a path leads to, whatever its spelling.
struct FileIdentity: Equatable {
  let device: UInt64
  let inode: UInt64

  /// Asks stat(2), which, unlike open and close, leaves the locks of this process alone.
  init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }
}

/// Whether the file system that holds `path` is mounted so that nothing can be written (ST_RDONLY of statvfs(3)).
func isMountedReadOnly(_ path: String) -> Bool {
  var status = statvfs()
  return statvfs(path, &status) == 0 && status.f_flag & UInt(ST_RDONLY) != 0
}

/// The name of the remote file system that holds `path`; nil for a local one (statfs, magic numbers of linux/magic.h).
package func remoteFileSystemName(of path: String) -> String? {
  var status = statfs()
  guard statfs(path, &status) == 0 else { return nil }
  return remoteFileSystemName(magic: UInt32(truncatingIfNeeded: status.f_type))
}

package func remoteFileSystemName(magic: UInt32) -> String? {
  switch magic {
  case 0x6969: "NFS"
  case 0x517B: "SMB"
  case 0xFE53_4D42: "SMB2"
  case 0xFF53_4D42: "CIFS"
  case 0x6573_5546: "FUSE"
  case 0x0102_1997: "9P"
  case 0x5346_414F, 0x6B41_4653: "AFS"
  case 0x7375_7245: "Coda"
  case 0x00C3_6400: "Ceph"
  case 0x0BD0_0BD0: "Lustre"
  case 0x0116_1970: "GFS2"
  case 0x7461_636F: "OCFS2"
  case 0x564C: "NCP"
  case 0x786F_4256: "VirtualBox shared folder"
  default: nil
  }
}

/// The two meta pages at the head of a data file, as far as they distinguish a sound file from a damaged one.
///
/// LMDB opens a truncated file and then dies of SIGBUS at the first page beyond its end; the roots are checked here. A
/// page further down can still be missing: files from elsewhere are inspected in another process.
struct FileHead {
  /// The map size that was last set for the file, bytes.
  private(set) var mapSize = 0
  /// The number of the last commit to LMDB; 0 before the first.
  private(set) var lastTransaction: UInt64 = 0

  /// Far more commits than a store can have; LMDB would count on from there and come to 0.
  private static let transactionMax: UInt64 = 1 << 62

  /// Nil when the file is absent or empty, so that LMDB will make a new one.
  init?(dataFile: String, directory: String) throws(LMDBError) {
    let descriptor = open(dataFile, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 {
      if errno == ENOENT { return nil }
      throw LMDBError(code: errno, "open", path: directory)
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw LMDBError(code: errno, "fstat", path: directory) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw LMDBError(.invalidFile, "open", path: directory, detail: "data.mdb is not a regular file")
    }
    if status.st_size == 0 { return nil }
    var newest: (transaction: UInt64, roots: [UInt64], pageSize: UInt64)?
    var pageSize = 4096
    for index in 0..<2 {
      let meta = try Self.meta(at: index * pageSize, of: descriptor, directory)
      pageSize = Int(meta.pageSize)
      if meta.transaction >= newest?.transaction ?? 0 {
        newest = (meta.transaction, meta.roots, meta.pageSize)
        mapSize = meta.mapSize
      }
    }
    guard let newest else { return nil }
    lastTransaction = newest.transaction
    guard lastTransaction <= Self.transactionMax else {
      throw LMDBError(
        .corrupted, "open", path: directory,
        detail: "its last commit reads as number \(lastTransaction), which is impossible; restore a backup")
    }
    let pages = UInt64(status.st_size) / newest.pageSize
    for root in newest.roots where root != .max && root >= pages {
      throw LMDBError(
        .corrupted, "open", path: directory,
        detail: "data.mdb has \(pages) pages but its root is page \(root): it is truncated; restore a backup")
    }
  }

  private static func meta(
    at offset: Int, of descriptor: Int32, _ directory: String
  ) throws(LMDBError) -> (transaction: UInt64, roots: [UInt64], pageSize: UInt64, mapSize: Int) {
    var bytes = InlineArray<152, UInt8>(repeating: 0)
    var span = bytes.mutableSpan
    let count = span.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, offset) }
    let raw = bytes.span.bytes
    guard count == raw.byteCount, raw.unsafeLoadUnaligned(fromByteOffset: 16, as: UInt32.self) == 0xBEEF_C0DE else {
      throw LMDBError(.invalidFile, "open", path: directory)
    }
    let version = raw.unsafeLoadUnaligned(fromByteOffset: 20, as: UInt32.self)
    guard version == 1 else {
      throw LMDBError(
        .versionMismatch, "open", path: directory, detail: "its LMDB format version is \(version), not 1")
    }
    let pageSize = raw.unsafeLoadUnaligned(fromByteOffset: 40, as: UInt32.self)
    guard pageSize.nonzeroBitCount == 1, (512...65536).contains(pageSize) else {
      throw LMDBError(.corrupted, "open", path: directory, detail: "its page size reads as \(pageSize)")
    }
    let roots = [80, 128].map { raw.unsafeLoadUnaligned(fromByteOffset: $0, as: UInt64.self) }
    return (
      raw.unsafeLoadUnaligned(fromByteOffset: 144, as: UInt64.self), roots, UInt64(pageSize),
      Int(truncatingIfNeeded: raw.unsafeLoadUnaligned(fromByteOffset: 32, as: UInt64.self))
    )
  }
}

/// Makes the directory entry of a new file durable.
func synchronizeDirectory(_ path: String) throws(LMDBError) {
  let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  guard descriptor >= 0 else { throw LMDBError(code: errno, "open", path: path) }
  defer { close(descriptor) }
  guard fsync(descriptor) == 0 else { throw LMDBError(code: errno, "fsync", path: path) }
}
