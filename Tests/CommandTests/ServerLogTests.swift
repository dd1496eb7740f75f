#if Gallery
  import Foundation
  @testable import GalleryServer
  @testable import PhotoLedgerCommand
  import Synchronization
  import TestSupport
  import Testing

  @Suite("The server's lines on standard error")
  struct ServerLogTests {
    /// Receives what the log writes, and keeps it waiting until it may go on.
    private final class Reader: Sendable {
      private let text = Mutex("")
      private let begun = Atomic(0)
      private let gate = DispatchSemaphore(value: 0)

      func read(_ bytes: UnsafeRawBufferPointer) {
        begun.add(1, ordering: .relaxed)
        gate.wait()
        gate.signal()
        text.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
      }

      /// How often it was written to.
      var writes: Int { begun.load(ordering: .relaxed) }
      var lines: [Substring] { text.withLock { $0 }.split(separator: "\n") }
      func mayGoOn() { gate.signal() }
    }

    private static func line(_ path: String) -> GalleryLogLine {
      GalleryLogLine(
        date: Date(timeIntervalSince1970: 1_700_000_000), peer: "127.0.0.1", client: "owner", method: "GET", path: path,
        status: 200, seconds: 0.0012345, note: nil)
    }

    @Test("are written whole, in their order, and before the server ends", arguments: [false, true])
    func order(printsJSON: Bool) async throws {
      let reader = Reader()
      reader.mayGoOn()
      let log = ServerLog(printsJSON: printsJSON, write: reader.read)
      for number in 0..<1000 { log.add(Self.line("/\(number)")) }
      log.finish()
      try await waitUntil("the lines are written") { reader.lines.count >= 1000 }
      #expect(reader.lines.count == 1000)
      for (number, line) in reader.lines.enumerated() {
        #expect(line.contains(printsJSON ? #""path":"/\#(number)""# : " /\(number) 200 1.235 ms"))
      }
    }

    @Test("wait for a slow reader without delaying a request, and lines without room are counted")
    func slowReader() async throws {
      let reader = Reader()
      let log = ServerLog(printsJSON: true, limit: 4096, write: reader.read)
      log.add(Self.line("/first"))
      try await waitUntil("the first line is being written") { reader.writes > 0 }
      // The reader holds the first line; these wait for it, as far as there is room.
      for number in 0..<1000 { log.add(Self.line("/\(number)")) }
      reader.mayGoOn()
      log.finish()
      try await waitUntil("the number of missing lines is written") {
        reader.lines.last?.contains("missing here") == true
      }
      let lines = reader.lines
      let shown = lines.dropFirst().dropLast().count
      #expect(lines.first?.contains("/first") == true && shown > 1 && shown < 40)
      for (number, line) in lines.dropFirst().dropLast().enumerated() { #expect(line.contains("\"/\(number)\"")) }
      #expect(lines.last?.contains("\(1000 - shown) lines missing here") == true)
    }

    @Test("a message for the operator does not wait for a reader either, and is written whole between the lines")
    func sentences() async throws {
      let reader = Reader()
      let log = ServerLog(printsJSON: true, write: reader.read)
      log.add(Self.line("/first"))
      try await waitUntil("the first line is being written") { reader.writes > 0 }
      // The reader holds the first line.
      log.say("server: a\u{1B}b")
      log.add(Self.line("/last"))
      #expect(reader.lines.isEmpty)
      reader.mayGoOn()
      log.finish()
      try await waitUntil("all is written") { reader.lines.count >= 3 }
      let lines = reader.lines
      #expect(lines.count == 3 && lines[0].contains("\"/first\"") && lines[2].contains("\"/last\""))
      #expect(lines[1].hasPrefix("photoledger: server: a") && !lines[1].contains("\u{1B}"))
    }
  }
#endif
