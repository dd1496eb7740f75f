import Foundation
import Glibc
import PhotoLedger

// The lines that the reports of imports have about erased assets (LIBRARY/imports/*.jsonl).
//
// Beside them is what imports have read at which path (`known-files`). It is a cache, so it goes as a whole.
//
// A line that names an asset contains its file's path; other lines contain the same path: a duplicate of it, its
// sidecar, and in any report that it was not reached or skipped. All of them are overwritten in place, by a line of the
// same length, so that an import that is writing the file continues after them. The lines that name the asset come
// last: the others are found by them, if this is interrupted.
//
//     {"asset":"…/L0/001","outcome":"asset","path":"/p/a.jpg"}      {"outcome":"erased"}
//     {"outcome":"sidecar","path":"/p/a.xmp"}                 ──▶   {"outcome":"erased"}
//     {"of":"/p/a.jpg","outcome":"duplicate","path":"/q/b.jpg"}     {"outcome":"erased"}

/// The reports of a library's imports, as places where an asset leaves a trace.
struct ImportTraces {
  private static let blank = Array(#"{"outcome":"erased"}"#.utf8)
  private let folder: String

  init(library: String) { folder = library + "/imports" }

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
    // The draft first: an import that gives it its name meanwhile does so before the name is removed, or cannot.
    for file in ["known-files.new", "known-files"] {
      guard unlink("\(folder)/\(file)") == 0 || errno == ENOENT else {
        throw LibraryError.store("\(folder)/\(file)", "remove", errno: errno)
      }
    }
    let names = Set(assets.map { $0.spelled(as: .asset) })
    guard let entries = try FolderEntries.names(at: folder) else { return 0 }
    let files = entries.filter { $0.hasSuffix(".jsonl") }.sorted()
    let paths = try Set(files.flatMap { try Report(at: "\(folder)/\($0)", naming: names).paths })
    var count = 0
    // In all reports, before any line that names an asset goes.
    for file in files where !paths.isEmpty {
      let report = try Report(at: "\(folder)/\(file)", naming: names)
      count += try report.overwrite(report.others(tellingOf: paths))
    }
    for file in files {
      let report = try Report(at: "\(folder)/\(file)", naming: names)
      count += try report.overwrite(report.naming.map(\.range))
    }
    return count
  }

  /// A report, and its lines that name some assets; one at a time is held in memory.
  private struct Report {
    let file: String
    let lines: [(range: Range<Int>, line: Line)]
    let naming: [(range: Range<Int>, line: Line)]
    /// The paths of the files that became those assets.
    var paths: [String] { naming.compactMap(\.line.path) }

    init(at file: String, naming names: Set<String>) throws {
      self.file = file
      lines = ImportTraces.lines(of: try Data(contentsOf: URL(filePath: file)))
      naming = lines.filter { $0.line.asset.map(names.contains) ?? false }
    }

    /// The lines that name no asset, but a file of this report, or a file of any report by its own path. A file that
    /// became another asset under the same path later belongs to that asset.
    func others(tellingOf known: Set<String>) -> [Range<Int>] {
      let own = Set(paths)
      let stems = Set(own.map(ImportTraces.stem))
      return lines.filter { _, line in
        guard line.asset == nil, let path = line.path else { return false }
        if known.contains(path) || line.of.map(own.contains) ?? false { return true }
        return line.outcome == "sidecar"
          && (stems.contains(ImportTraces.stem(path)) || own.contains(ImportTraces.stem(path)))
      }.map(\.range)
    }

    /// Blanks lines, and gives how many.
    func overwrite(_ ranges: [Range<Int>]) throws -> Int {
      if ranges.isEmpty { return 0 }
      let descriptor = open(file, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
      guard descriptor >= 0 else { throw LibraryError.store(file, "open", errno: errno) }
      let opened = Descriptor(descriptor)
      for range in ranges { try ImportTraces.overwrite(range, in: opened.number, file) }
      guard fsync(opened.number) == 0 else { throw LibraryError.store(file, "make durable", errno: errno) }
      return ranges.count
    }
  }

  private static func lines(of bytes: Data) -> [(range: Range<Int>, line: Line)] {
    let decoder = JSONDecoder()
    return bytes.split(separator: UInt8(ascii: "\n")).compactMap { text in
      // Anything but a line of a report names no asset.
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
