package import Foundation
package import PhotoLedger

/// A folder that is removed when the test is over.
package final class ScratchFolder: Sendable {
  package let path: String

  package init() throws {
    var template = Array((NSTemporaryDirectory() + "photoledger-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else { throw LibraryError(.storage, "No temporary folder can be made.") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { system("chmod -R u+rwX '\(path)'; rm -rf '\(path)'") }

  /// Writes a file, making the folders above it, and returns its path.
  @discardableResult
  package func write(_ relative: String, _ content: Data) throws -> FilePath {
    let url = URL(filePath: path).appending(path: relative)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try content.write(to: url)
    return FilePath("\(path)/\(relative)")
  }

  /// Makes a library in the folder; closing it is for the caller.
  package func makeLibrary() throws -> PhotoLibrary {
    try PhotoLibrary.create(at: URL(filePath: path).appending(path: "library"))
  }

  package var asRoot: FilePath { FilePath(path) }
}

/// Bytes that differ from chunk to chunk: their period, a prime, does not divide one.
package func periodicBytes(_ count: Int) -> Data {
  let period = Data((0..<4099).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
  var bytes = Data(capacity: count + period.count)
  while bytes.count < count { bytes += period }
  return bytes.prefix(count)
}
