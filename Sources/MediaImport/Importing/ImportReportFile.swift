internal import Foundation
internal import Glibc
internal import PhotoLedger
internal import Synchronization

// What became of every file, written down.
//
//     LIBRARY/imports/20261120T110447Z-5D6A2B4C.jsonl
//       {"import":"2026…","cause":"import 2026…","client":"owner"}                        first line
//       {"path":"/p/a.jpg","outcome":"asset","asset":"…/L0/001"}                          one line for each file
//       {"path":"/p/a.mov","outcome":"resource","asset":"…/L0/001","type":"pairedVideo"}
//       {"path":"/p/b.jpg","outcome":"duplicate","of":"/p/a.jpg"}                         or "asset", if it was known
//       {"path":"/p/b.jpg","outcome":"duplicate","asset":"…","restored":true}             the library had lost its file
//       {"path":"/p/b.jpg","outcome":"duplicate","asset":"…","inTrash":true}              the asset is in the trash
//       {"path":"/p/c.jpg","outcome":"skipped","reason":"empty","message":"/p/c.jpg is empty."}
//       {"path":"/p/c.xmp","outcome":"sidecar"}
//       {"path":"/p/a.jpg.json","outcome":"describes","of":"/p/a.jpg"}                    or "describesAlbum", "album"
//       {"path":"/p/a.jpg","outcome":"asset","asset":"…","from":{"caption":"takeout"}}    where its values come from
//       {"path":"/p/a.heic","outcome":"asset","asset":"…","stack":"top"}                  or "beneath"; by this commit
//       {"path":"/p/d.jpg","outcome":"asset","asset":"…","warnings":["JPEG format error"]}   taken all the same
//       {"path":"/p/a.jpg","outcome":"original","asset":"…","original":"removed"}         of an import that removes
//       {"path":"/p/b.jpg","outcome":"original","of":"/p/a.jpg","original":"kept","keptFor":"changed","message":"…"}
//       {"path":"/p/z.jpg","outcome":"notReached"}                                        of an interrupted import
//       {"summary":{…}}                                                                   last line, of one that ended
//
// The log of the library says what was taken; this file says what was not, and why, which is a fact about the folder
// and not about the library. It is read by people and by scripts, never by the library. The lines of a batch follow its
// commit and are durable before the next batch begins, so a file without a last line is of an import that was killed,
// and lacks at most the batch it was killed in. Lines of batches that recorded nothing are durable with the next that
// did, or the last line: an import of a hundred thousand known files would otherwise wait for the disk five hundred
// times. A path that is not UTF-8 has its bytes beside it, in `pathBytes`, as hexadecimal digits. Nothing is written
// for an import that found no file, or could not begin.

/// The file that an import writes its outcomes to.
final class ImportReportFile: Sendable {
  /// Where the file is now: the library may be moved while the import runs.
  var path: String { library.path(of: name) }
  /// The folder of a library's import files.
  static let folder = "imports"
  private let library: LibraryFolder
  private let name: String
  private let head: Line
  private let descriptor = Mutex<Int32?>(nil)

  /// One line; what does not apply is left out.
  private struct Line {
    var `import`: String?
    var cause: String?
    var client: String?
    var path: String?
    var pathBytes: String?
    var outcome: String?
    var asset: LocalIdentifier?
    var type: String?
    var of: String?
    var reason: SkipReason?
    var isInTrash = false
    var isRestored = false
    var message: String?
    var warnings: [String]?
    var album: String?
    var from: [String: String]?
    var original: String?
    var keptFor: KeepReason?
    var stack: String?
    var summary: ImportSummary?

    /// Writes the line, its members in the order of their names.
    func write(to bytes: inout JSONBytes) throws {
      func member(_ key: StaticString, _ text: String?) {
        guard let text else { return }
        bytes.key(key)
        bytes.text(text)
      }
      bytes.beginObject()
      member("album", album)
      if let asset {
        bytes.key("asset")
        bytes.identifier(asset, of: .asset)
      }
      member("cause", cause)
      member("client", client)
      if let from {
        bytes.key("from")
        bytes.beginObject()
        for (property, source) in from.sorted(by: { $0.key < $1.key }) {
          bytes.key(property)
          bytes.text(source)
        }
        bytes.endObject()
      }
      member("import", `import`)
      if isInTrash {
        bytes.key("inTrash")
        bytes.bool(true)
      }
      member("keptFor", keptFor?.rawValue)
      member("message", message)
      member("of", of)
      member("original", original)
      member("outcome", outcome)
      member("path", path)
      member("pathBytes", pathBytes)
      member("reason", reason?.rawValue)
      if isRestored {
        bytes.key("restored")
        bytes.bool(true)
      }
      member("stack", stack)
      if let summary {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        bytes.key("summary")
        bytes.value(String(decoding: try encoder.encode(summary), as: UTF8.self))
      }
      member("type", type)
      if let warnings {
        bytes.key("warnings")
        bytes.beginList()
        for warning in warnings { bytes.text(warning) }
        bytes.endList()
      }
      bytes.endObject()
    }
  }

  /// - Parameter library: the library; its folder of import files has been made.
  init(in library: LibraryFolder, run: String, cause: String, client: String) {
    self.library = library
    name = "\(Self.folder)/\(run).jsonl"
    head = Line(import: run, cause: cause, client: client)
  }

  deinit { descriptor.withLock { if let number = $0 { close(number) } } }

  /// Writes down the files of a batch; durably if one of them was recorded, or restored.
  func append(_ reports: [FileReport]) throws {
    try write(reports.map(Self.line), durably: reports.contains { $0.outcome.isRecorded || $0.isRestored })
  }

  /// Writes down what became of originals, durably. The lines name what the files became, by which an erasure finds
  /// them.
  func append(_ originals: [(original: OriginalRemoval.Original, outcome: OriginalRemoval.Outcome)]) throws {
    if originals.isEmpty { return }
    try write(
      originals.map { original, outcome in
        var line = Self.line(
          FileReport(path: original.path, relativePath: original.path, outcome: original.outcome))
        (line.outcome, line.type) = ("original", nil)
        switch outcome {
        case .removed: line.original = "removed"
        case .kept(let reason, let message): (line.original, line.keptFor, line.message) = ("kept", reason, message)
        }
        return line
      })
  }

  /// Writes down that the import ended.
  func finish(_ summary: ImportSummary) throws {
    var counts = summary
    counts.skippedFiles = []
    counts.warnings = []
    counts.rules = []
    counts.moved?.keptFiles = []
    try write([Line(summary: counts)])
  }

  private func write(_ lines: [Line], durably isDurable: Bool = true) throws {
    try descriptor.withLock { descriptor in
      let isNew = descriptor == nil
      let number = try descriptor ?? make()
      descriptor = number
      var text = JSONBytes(capacity: 1 << 16)
      for line in isNew ? [head] + lines : lines {
        try line.write(to: &text)
        text.endLine()
      }
      try text.withUnsafeBytes { (text) throws(LibraryError) in try writeWhole(text, to: number, path) }
      if isDurable, fsync(number) != 0 { throw LibraryError.store(path, "make durable", errno: errno) }
    }
  }

  private func make() throws(LibraryError) -> Int32 {
    let number = library.open(name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0o644)
    guard number >= 0 else { throw LibraryError.store(path, "make", errno: errno) }
    do throws(LibraryError) {
      try library.synchronize(Self.folder)
    } catch {
      close(number)
      throw error
    }
    return number
  }

  private static func line(_ report: FileReport) -> Line {
    let text = String(validating: report.path.bytes, as: UTF8.self)
    var line = Line(path: text ?? report.path.description)
    if text == nil { line.pathBytes = report.path.bytes.hexadecimal }
    if !report.warnings.isEmpty { line.warnings = report.warnings }
    if !report.sources.isEmpty { line.from = report.sources }
    line.stack = report.stack?.rawValue
    (line.isInTrash, line.isRestored) = (report.isInTrash, report.isRestored)
    switch report.outcome {
    case .asset(let asset):
      line.outcome = "asset"
      line.asset = asset
    case .resource(let asset, let type):
      line.outcome = "resource"
      line.asset = asset
      line.type = type.name
    case .duplicateOfFile(let path):
      line.outcome = "duplicate"
      line.of = path.description
    case .duplicateOfAsset(let asset):
      line.outcome = "duplicate"
      line.asset = asset
    case .sidecar: line.outcome = "sidecar"
    case .describes(let path):
      line.outcome = "describes"
      line.of = path.description
    case .describesAlbum(let title):
      line.outcome = "describesAlbum"
      line.album = title
    case .skipped(let reason, let message):
      line.outcome = "skipped"
      line.reason = reason
      line.message = message
    case .notReached: line.outcome = "notReached"
    }
    return line
  }
}

extension FileOutcome {
  /// Whether the file is in the library by this import.
  fileprivate var isRecorded: Bool {
    switch self {
    case .asset, .resource: true
    case .duplicateOfFile, .duplicateOfAsset, .sidecar, .describes, .describesAlbum, .skipped, .notReached: false
    }
  }
}
