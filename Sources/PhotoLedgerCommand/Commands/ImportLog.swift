import Foundation
import JSONReading
import LibraryJSON
import LibraryMaintenance
import PhotoLedger

// A log as JSON lines comes in. It is read in a child of its own, like every file from elsewhere; a follower's own
// store is opened there too.

extension Command {
  private static let destination = Option("to", "DIR", "create a new library there; must not exist")
  private static let source = Operand("FILE", .optional, "written by `export`; default standard input")
  private static let childName = "import-log-here"
  private static let appending = Option("append", "append the lines to --library, which must end where they start")

  static let importLog = Command(
    words: ["import-log"], summary: "create a library from an exported log, or append to one",
    operands: [source], syntax: "[FILE] (--to DIR | --append)",
    options: .opening + [destination, appending, .json],
    notes: """
      Every line is verified; an invalid one stops the import with an error that names its number, and nothing is
      imported. A new library has the same chain; its files are missing until they are copied to it. Prints the token of
      the resulting state.
      """,
    example: "import-log library.log --to ~/Pictures/again"
  ) { invocation in
    guard invocation.has(appending) != (invocation.text(destination.name) != nil) else {
      throw UsageError("'import-log' needs either --to DIR or --append.")
    }
    if let file = invocation.operands.first { _ = try invocation.path(file, source.name) }
    var options: [String] = []
    if let path = invocation.text(destination.name) { options += ["--to", try invocation.path(path, "--to")] }
    if invocation.has(appending) { options += ["--append", "--library", try invocation.libraryURL().path] }
    if let client = try invocation.client() { options += ["--as", client] }
    if invocation.printsJSON { options.append("--json") }
    guard invocation.has(appending) else { return try invocation.runInChild(childName, options, reading: "the store") }
    return try invocation.runInChild(
      childName, options, reading: "the lines or the store",
      left:
        "the library has all of the lines or none; `history token` prints where it ends. If the lines erase assets, "
        + "import the same ones again: that erases what may be left of those")
  }

  static let importLogHere = Command(
    words: [childName], summary: "import a log in this process", operands: [source],
    options: .opening + [destination, appending, .lifeline, .json], example: "import-log-here --to DIR",
    isInternal: true, places: { $0.text(destination.name).map { [$0] } ?? $0.libraryPaths }
  ) { invocation in
    let interruption = try Interruption(of: invocation)
    let source = try LogSource(invocation.operands.first, interruption, isAppended: invocation.has(appending))
    let token = try invocation.showingProgress(interruption) { progress in
      guard let path = invocation.text(destination.name) else {
        return try invocation.withLibrary { library in
          try library.appendLog(next: source.next, progress: progress)
        }
      }
      if let client = try invocation.client(), client != PhotoLibrary.owner {
        throw LibraryError(
          .accessUserDenied, "The client '\(client)' may not create libraries; only the owner may.")
      }
      return try PhotoLibrary.importLog(
        to: invocation.directory(path, "--to"), next: source.next, progress: progress)
    }
    try invocation.output.line(
      invocation.printsJSON ? JSON.object([.init("token", .text(token.description))]).description : token.description)
    return .done
  }
}

/// The lines of a file or of standard input.
private final class LogSource {
  private var reader: LineReader
  private let interruption: Interruption
  /// Whether the lines go into a library that is there.
  private let isAppended: Bool
  private let file: FileHandle?
  private static let lineByteLimit = 192 << 20

  init(_ path: String?, _ interruption: Interruption, isAppended: Bool) throws {
    (self.interruption, self.isAppended) = (interruption, isAppended)
    guard let path, path != "-" else {
      file = nil
      reader = LineReader(descriptor: STDIN_FILENO, limit: Self.lineByteLimit)
      return
    }
    guard let opened = FileHandle(forReadingAtPath: path) else {
      throw LibraryError(.malformedRequest, "\(path) cannot be read; pass a file that `export` wrote.")
    }
    file = opened
    reader = LineReader(descriptor: opened.fileDescriptor, named: path, limit: Self.lineByteLimit)
  }

  func next() throws -> [UInt8]? {
    let line = try reader.next(orUntil: interruption.descriptor)
    guard !interruption.isRequested else {
      let left = isAppended ? "changed" : "created"
      throw LibraryError(.userCancelled, "The import was stopped; nothing was \(left).")
    }
    switch line {
    case nil: return nil
    case .bytes(let bytes): return bytes
    case .tooLong:
      throw LibraryError(
        .malformedRequest, "A line is longer than \(Self.lineByteLimit >> 20) MiB; this is not an exported log.")
    }
  }
}
