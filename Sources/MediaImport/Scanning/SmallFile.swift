internal import Glibc
internal import PhotoLedger

/// Files that are read whole: descriptions, lists.
enum SmallFile {
  /// The most bytes of a JSON, XMP or YAML that describes one photo or album.
  static let descriptionLimit: Int64 = 4 << 20
  /// The most bytes of a list of many photos.
  static let listLimit: Int64 = 256 << 20

  /// Reads a file to its end, for nothing but to see that it can be read.
  /// - Throws: ``ImportError`` about this file.
  static func check(_ path: FilePath) throws(ImportError) {
    do throws(LibraryError) {
      let source = try SourceFile(path)
      _ = try source.forEachChunk { (_) throws(LibraryError) in }
    } catch {
      throw ImportError(error, path: path)
    }
  }

  /// The bytes of a file; nil if there are more than the limit.
  /// - Throws: ``ImportError`` about this file.
  static func read(_ path: FilePath, atMost limit: Int64) throws(ImportError) -> [UInt8]? {
    do throws(LibraryError) {
      let source = try SourceFile(path)
      guard source.stamp.byteCount <= limit else { return nil }
      var bytes: [UInt8] = []
      bytes.reserveCapacity(Int(source.stamp.byteCount))
      _ = try source.forEachChunk { (chunk) throws(LibraryError) in bytes.append(contentsOf: chunk) }
      return bytes
    } catch {
      throw ImportError(error, path: path)
    }
  }
}
