import Foundation
import Glibc

// The lines that the reports of imports have about erased assets (LIBRARY/imports/*.jsonl).
//
// A line that names an asset tells of its file's path; other lines tell of the same path: a duplicate of it, its
// sidecar. All of them are overwritten where they stand, by a line of the same length, so that an import that is
// writing the file at this moment goes on behind them. The lines that name the asset come last: they are how the others
// are found, should this be cut short.
//
//     {"asset":"…/L0/001","outcome":"asset","path":"/p/a.jpg"}      {"outcome":"erased"}
//     {"outcome":"sidecar","path":"/p/a.xmp"}                 ──▶   {"outcome":"erased"}
//     {"of":"/p/a.jpg","outcome":"duplicate","path":"/q/b.jpg"}     {"outcome":"erased"}

/// The reports of a library's imports, as places where an asset leaves a trace.
struct ImportTraces {
  private static let blank = Array(#"{"outcome":"erased"}"#.utf8)
  private let folder: String

  init(library: URL) { folder = library.path + "/imports" }

  /// A line of a report, as far as it can name an asset.
  private struct Line: Decodable {
    var path: String?
    var outcome: String?
    var asset: String?
    var of: String?
  }

  /// Blanks the lines about some assets.
  /// - Returns: how many.
  /// - Throws: ``LibraryError`` `.storage`.
  /// - Complexity: O(n) in the bytes of all reports.
  func erase(_ assets: [LocalIdentifier]) throws -> Int {
    guard access(folder, F_OK) == 0 else { return 0 }
    let names = Set(assets.map { $0.spelled(as: .asset) })
    let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".jsonl") }.sorted()
    var count = 0
    for file in files { count += try erase(names, in: "\(folder)/\(file)") }
    return count
  }

  private func erase(_ names: Set<String>, in file: String) throws -> Int {
    let bytes = try Data(contentsOf: URL(filePath: file))
    let lines = Self.lines(of: bytes)
    let naming = lines.filter { $0.line.asset.map(names.contains) ?? false }
    let paths = Set(naming.compactMap(\.line.path))
    if naming.isEmpty { return 0 }
    let stems = Set(paths.map(Self.stem))
    let others = lines.filter { _, line in
      guard !(line.asset.map(names.contains) ?? false), let path = line.path else { return false }
      if let original = line.of, paths.contains(original) { return true }
      return line.outcome == "sidecar" && (stems.contains(Self.stem(path)) || paths.contains(Self.stem(path)))
    }
    let descriptor = open(file, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw LibraryError.store(file, "open", errno: errno) }
    let opened = Descriptor(descriptor)
    for part in [others, naming] {
      for (range, _) in part { try Self.overwrite(range, in: opened.number, file) }
      guard fsync(opened.number) == 0 else { throw LibraryError.store(file, "make durable", errno: errno) }
    }
    return others.count + naming.count
  }

  private static func lines(of bytes: Data) -> [(range: Range<Int>, line: Line)] {
    let decoder = JSONDecoder()
    return bytes.split(separator: UInt8(ascii: "\n")).compactMap { text in
      // What is no line of a report names no asset.
      guard text.count >= blank.count, let line = try? decoder.decode(Line.self, from: text) else { return nil }
      return (text.startIndex..<text.endIndex, line)
    }
  }

  /// A path without what follows the last point of its name.
  private static func stem(_ path: String) -> String { (path as NSString).deletingPathExtension }

  private static func overwrite(_ range: Range<Int>, in descriptor: Int32, _ file: String) throws(LibraryError) {
    let line = blank + [UInt8](repeating: UInt8(ascii: " "), count: range.count - blank.count)
    var written = 0
    while written < line.count {
      let count = line.withUnsafeBytes { bytes in
        pwrite(
          descriptor, bytes.baseAddress.map { $0 + written }, line.count - written, off_t(range.lowerBound + written))
      }
      if count > 0 { written += count } else if errno != EINTR { throw LibraryError.store(file, "write", errno: errno) }
    }
  }
}
