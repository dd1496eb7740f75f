import Foundation
import Glibc

/// A file that is appended to and synchronised: the least that a durable commit costs on this disk.
final class RawFile {
  private let path: String
  private let descriptor: Int32

  init(_ file: URL) throws {
    path = file.path
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }

  deinit {
    close(descriptor)
    unlink(path)
  }

  /// Appends bytes and waits until they are on the disk (fdatasync).
  func append(_ bytes: [UInt8]) throws {
    guard write(descriptor, bytes, bytes.count) == bytes.count, fdatasync(descriptor) == 0 else {
      throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
  }
}
