import JSONReading
import LibraryJSON
import LibraryMaintenance

// What becomes of the files when a library is copied: how commands take it, and how they say it.

extension Option {
  static let resources = Option(
    "resources", "HOW", "copy the files (copied), link them (shared), or omit them (left)")
}

extension Invocation {
  /// How `--resources` says that files come along.
  func resourceCopying() throws -> ResourceCopying {
    guard let text = text("resources") else { return .copied }
    guard let way = ResourceCopying(rawValue: text) else {
      let names = ResourceCopying.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError("--resources needs one of \(names); got '\(text)'.")
    }
    return way
  }
}

extension JSON {
  /// What became of the files.
  static func members(_ transfer: ResourceTransfer) -> [Member] {
    [
      Member("fileCount", .integer(Int64(transfer.fileCount))),
      Member("byteCount", .integer(Int64(clamping: transfer.byteCount))),
      Member("linkedCount", .integer(Int64(transfer.linkedCount))),
      Member("missingFiles", .list(transfer.missingFiles.map { .text($0) })),
      Member("damagedFiles", .list(transfer.damagedFiles.map { .text($0) })),
      Member("referencedFileCount", .integer(Int64(transfer.referencedFileCount))),
    ]
  }
}
