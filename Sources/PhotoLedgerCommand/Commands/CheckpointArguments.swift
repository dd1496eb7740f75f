import Foundation
import LibraryJSON
import LibraryMaintenance
import PhotoLedger

// Checkpoints and proofs that commands take.

extension Option {
  static let checkpoint = Option(
    "checkpoint", "FILE", isRepeatable: true, "a checkpoint stored elsewhere, as written by `checkpoint`")
}

extension Invocation {
  /// Files of checkpoints and proofs are small; another is not read.
  private static let byteCountMax = 64 << 20

  /// The checkpoints that `--checkpoint` names.
  func checkpoints() throws -> [Checkpoint] {
    try texts("checkpoint").map { path in
      guard let text = String(data: try contents(of: path, "--checkpoint"), encoding: .utf8) else {
        throw LibraryError(
          .invalidProof, "\(path) is not a checkpoint: it is not text; pass a file written by `checkpoint`.")
      }
      do { return try Checkpoint(text) } catch let error as LibraryError {
        throw LibraryError(error.code, "\(path): \(error.description)")
      }
    }
  }

  /// The bytes of a file that holds a checkpoint or a proof.
  /// - Parameters:
  ///   - text: its path.
  ///   - name: the operand or option that names it, as for ``path(_:_:)``.
  func contents(of text: String, _ name: String) throws -> Data {
    let path = try path(text, name)
    var isDirectory: ObjCBool = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue {
      throw LibraryError(.missingResource, "\(path) cannot be read: it is a directory; pass a file.")
    }
    do {
      let file = try FileHandle(forReadingFrom: URL(filePath: path))
      defer { file.closeFile() }
      let data = try file.read(upToCount: Self.byteCountMax + 1) ?? Data()
      if data.count <= Self.byteCountMax { return data }
    } catch {
      throw LibraryError(.missingResource, "\(path) cannot be read: \(LibraryError.reason(of: error)).")
    }
    throw LibraryError(.invalidProof, "\(path) is not a checkpoint or proof: it has more than 64 MiB.")
  }
}
