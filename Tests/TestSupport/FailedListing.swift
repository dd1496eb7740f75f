package import Foundation
import PhotoLedger

/// Runs a body while an I/O error comes in the place of a folder's end, after its first entries were read, as on a disk
/// with a bad sector.
@discardableResult
package func withFailingListing<R>(of folder: URL, _ body: () throws -> R) throws -> R {
  let path = folder.path
  let failure: @Sendable (Int32) -> Int32? = { number in
    var (opened, named) = (stat(), stat())
    guard fstat(number, &opened) == 0, stat(path, &named) == 0, opened.st_dev == named.st_dev,
      opened.st_ino == named.st_ino, lseek(number, 0, SEEK_CUR) != 0
    else { return nil }
    return EIO
  }
  return try FolderEntries.$failure.withValue(failure, operation: body)
}
