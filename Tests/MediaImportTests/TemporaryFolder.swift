import Foundation
import PhotoLedger

@testable import MediaImport

/// A folder that is removed when the test is over.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    var template = Array((NSTemporaryDirectory() + "media-import-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else { throw ImportError(.cannotStore, "No temporary folder can be made.") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    if (try? FileManager.default.removeItem(atPath: path)) != nil { return }
    // Something in it may not be listed or written to.
    system("chmod -R u+rwX '\(path)'; rm -rf '\(path)'")
  }

  /// Writes a file, making the folders above it, and returns its path.
  @discardableResult
  func write(_ relative: String, _ content: Data) throws -> FilePath {
    let url = URL(filePath: path).appending(path: relative)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try content.write(to: url)
    return FilePath("\(path)/\(relative)")
  }

  var asRoot: FilePath { FilePath(path) }
}
