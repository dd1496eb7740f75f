package import Foundation
import Glibc

extension FileManager {
  /// Makes a folder among the temporary files that no other user of the machine can look into: what lies in it may be
  /// a photo. Its owner removes it.
  /// - Parameter name: what its name begins with.
  /// - Throws: ``LibraryError`` `.storage`, `.notEnoughSpace`.
  package func makeTemporaryFolder(_ name: String) throws(LibraryError) -> URL {
    let template = "\(temporaryDirectory.path)/\(name)-XXXXXX"
    var path = Array(template.utf8CString)
    // The folder has the mode 0700 from the beginning, and a name that nothing had.
    guard mkdtemp(&path) != nil else { throw LibraryError.store(template, "create the folder", errno: errno) }
    let made = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return URL(filePath: made, directoryHint: .isDirectory)
  }
}
