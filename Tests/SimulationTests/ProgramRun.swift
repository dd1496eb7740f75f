import Foundation
import TestSupport

/// A run of the built `photoledger`, which lies beside the test bundle.
final class ProgramRun {
  private let child: ChildRun
  private var buffer = Data()
  private var isAtEnd = false

  init(_ words: [String], library: URL) throws {
    let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
      .appending(path: "photoledger")
    let environment = ProcessInfo.processInfo.environment.merging(
      ["PHOTOLEDGER_LIBRARY": library.path, "PHOTOLEDGER_PROBE": "none"]
    ) { $1 }
    // Writing to a program that was killed must fail, not end the tests.
    signal(SIGPIPE, SIG_IGN)
    // What it complains about is seen beside the tests' own output.
    child = try ChildRun(program, words, environment: environment, input: .pipe, errors: .descriptor(STDERR_FILENO))
  }

  /// Gives it lines; a program that has ended takes none.
  func send(_ lines: [String]) {
    try? child.input.write(contentsOf: Data(lines.map { $0 + "\n" }.joined().utf8))
  }

  func endInput() throws { try child.input.close() }

  /// The next whole line; nil after the last. A line that was cut off by a kill does not count.
  func line() -> String? {
    while true {
      if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: buffer[..<end], as: UTF8.self)
        buffer.removeSubrange(...end)
        return line
      }
      if isAtEnd { return nil }
      let piece = child.output.availableData
      isAtEnd = piece.isEmpty
      buffer.append(piece)
    }
  }

  /// The next line as a JSON object; nil after the last.
  func object() throws -> [String: Any]? {
    guard let line = line() else { return nil }
    guard let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
      throw Divergence("This line is no object: \(line)")
    }
    return object
  }

  /// Ends it without a warning.
  func killNow() {
    kill(child.identifier, SIGKILL)
    child.end()
  }

  /// Ends it as Ctrl-C does.
  func stop() {
    kill(child.identifier, SIGTERM)
    child.end()
  }

  func waitForEnd() -> ChildRun.End { child.end() }
}
