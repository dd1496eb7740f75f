import Foundation
import TestSupport

/// A run of the built `photoledger`, which lies beside the test bundle.
final class ProgramRun {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var buffer = Data()
  private var isAtEnd = false

  init(_ words: [String], library: URL) throws {
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
      .appending(path: "photoledger")
    process.arguments = words
    process.environment = ProcessInfo.processInfo.environment.merging(["PHOTOLEDGER_LIBRARY": library.path]) { $1 }
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    // Writing to a program that was killed must fail, not end the tests.
    signal(SIGPIPE, SIG_IGN)
    try process.run()
  }

  deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

  /// Gives it lines; a program that has ended takes none.
  func send(_ lines: [String]) {
    try? input.fileHandleForWriting.write(contentsOf: Data(lines.map { $0 + "\n" }.joined().utf8))
  }

  func endInput() throws { try input.fileHandleForWriting.close() }

  /// The next whole line; nil after the last. A line that was cut off by a kill is none.
  func line() -> String? {
    while true {
      if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: buffer[..<end], as: UTF8.self)
        buffer.removeSubrange(...end)
        return line
      }
      if isAtEnd { return nil }
      let piece = output.fileHandleForReading.availableData
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
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Ends it as Ctrl-C does.
  func stop() {
    kill(process.processIdentifier, SIGTERM)
    process.waitUntilExit()
  }

  func waitForEnd() -> Int32 {
    process.waitUntilExit()
    return process.terminationStatus
  }
}
