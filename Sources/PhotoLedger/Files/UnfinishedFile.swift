package import Foundation
import Glibc

/// A file outside the library that bytes are copied to. Until ``finish()`` nothing is under its name, and if that is
/// never reached, nothing is left.
///
/// Only a regular file is ever replaced: a rename over a symbolic link or a device would remove something that is not a
/// file, and a careless script may pass `/dev/stdout`.
package struct UnfinishedFile: ~Copyable {
  private let path: String
  private let isReplacing: Bool
  private let folder: Descriptor
  private let file: IncomingFile

  /// Looks whether the file can be made, and begins with it.
  /// - Throws: ``LibraryError`` `.malformedRequest` for a URL that names no file, `.alreadyExists`, `.notEnoughSpace`,
  ///   `.storage`.
  package init(at url: URL, isReplacing: Bool) throws(LibraryError) {
    guard url.isFileURL else {
      throw LibraryError(.malformedRequest, "\(url) does not name a file to write to; pass a file URL.")
    }
    let path = url.absoluteURL.path
    try Self.checkFree(path, isReplacing)
    let folderPath = URL(filePath: path).deletingLastPathComponent().path
    let number = open(folderPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0 else { throw LibraryError.store(folderPath, "open the folder", errno: errno) }
    let folder = Descriptor(number)
    let file = try IncomingFile(becoming: path, in: folderPath)
    (self.path, self.isReplacing) = (path, isReplacing)
    self.folder = folder
    self.file = file
  }

  /// Checked here to fail before a long copy; the rename is what decides.
  private static func checkFree(_ path: String, _ isReplacing: Bool) throws(LibraryError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard isReplacing else { throw exists(path) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw LibraryError(.alreadyExists, "\(path) is not a regular file and cannot be replaced; choose another path.")
    }
  }

  static func exists(_ path: String) -> LibraryError {
    LibraryError(.alreadyExists, "\(path) already exists; choose another path.")
  }

  package func write(_ bytes: [UInt8]) throws(LibraryError) {
    try bytes.span.bytes.withUnsafeBytes { (bytes) throws(LibraryError) in try file.write(bytes) }
  }

  func fill(from resource: inout OpenResource) throws(LibraryError) { try resource.copy(into: file) }

  /// Makes the bytes durable, then the file appear under its name, then the name durable.
  package consuming func finish() throws(LibraryError) {
    try file.makeDurable()
    if isReplacing {
      try file.rename(to: path)
    } else {
      try file.renameWithoutReplacing(to: path)
    }
    // Some file systems, those of cameras' cards among them, know no sync of a folder and say EINVAL.
    guard fsync(folder.number) == 0 || errno == EINVAL || errno == EOPNOTSUPP else {
      throw LibraryError(
        .storage,
        "\(path) was written, but its name may be lost in a power failure: \(LibraryError.reason(errno)).")
    }
  }
}
