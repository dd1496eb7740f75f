internal import Foundation
internal import Glibc
internal import PhotoLedger

/// The size and times of a file that an import reads, as the core knows them: to the nanosecond, with both times.
typealias SourceStamp = PhotoLedger.FileStamp

/// The attributes by which a file that an export wrote is recognised, and one that was written meanwhile.
struct FileStamp: Sendable, Hashable {
  let byteCount: Int64
  /// When it was last changed, nanoseconds since 1970; after the year 2262 they wrap around.
  let modified: Int64

  init(byteCount: Int64, modified: Int64) { (self.byteCount, self.modified) = (byteCount, modified) }

  /// The stamp of what is under a path; nil if nothing is, or no regular file.
  init?(of path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  /// The stamp of an open file; nil if it cannot be asked, or is not a regular file.
  init?(of descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  /// The names in a folder, each with the stamp of the file; none if the folder cannot be read.
  static func all(in folder: String) -> [(name: String, stamp: FileStamp?)] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.map { ($0, FileStamp(of: "\(folder)/\($0)")) }
  }

  private init?(_ status: stat) {
    guard status.st_mode & S_IFMT == S_IFREG else { return nil }
    byteCount = Int64(status.st_size)
    modified = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
  }
}
