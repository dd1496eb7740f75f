import Foundation
import JSONReading
import LibraryJSON
import PhotoLedger

extension Command {
  static let apply = Command(
    words: ["apply"], summary: "execute change blocks from standard input, one JSON object a line",
    options: .opening,
    notes: """
      A line is {"changes":[{"op":…},…]}, with optional "key" (an idempotency key) and "cause". Each is one commit:
      all of it takes effect or nothing. Each is answered by one line, in order: {"line":…,
      "commit":…,"token":…,"created":[…]} or {"line":…,"error":{"code":…,"message":…}}; a rejected line does not stop
      the following ones.
      Operations: \(Operation.all.map(\.name).joined(separator: ", ")).

      The article Commands in the documentation describes every field.
      """,
    example: #"apply <<< '{"changes":[{"op":"album.create","title":"Sea"}]}'"#
  ) { invocation in
    let interruption = Interruption()
    return try invocation.withLibrary(interruption: interruption) { library in
      var run = ApplyRun(library: library, output: invocation.output)
      do {
        return try run.run(interruption)
      } catch is OutputClosed {
        Output.notice("Standard output was closed; stopped at line \(run.lineNumber).")
        return .failed
      }
    }
  }
}

/// Reads change blocks and answers them.
///
/// Blocks whose lines are there already are queued together, so that they share a sync; answers keep the order of the
/// lines. Before waiting for input, everything is answered and flushed: a client that sends one line at a time never
/// hangs.
private struct ApplyRun: ~Copyable {
  let library: PhotoLibrary
  let output: Output
  private var reader = LineReader(descriptor: STDIN_FILENO, limit: lineByteLimit)
  private var waiting: [Waiting] = []
  private var waitingByteCount = 0
  private var hasFailed = false
  private(set) var lineNumber = 0

  private struct Waiting {
    let line: Int
    let byteCount: Int
    let answer: Pending<CommitReceipt>
  }

  private static let lineByteLimit = 16 << 20
  private static let waitingLimit = 64
  private static let waitingByteLimit = 32 << 20

  init(library: PhotoLibrary, output: Output) {
    self.library = library
    self.output = output
  }

  mutating func run(_ interruption: Interruption) throws -> ExitStatus {
    while !interruption.isRequested {
      let isFull = waiting.count >= Self.waitingLimit || waitingByteCount >= Self.waitingByteLimit
      if try isFull || (!waiting.isEmpty && !reader.isReady()) {
        try answerOldest()
        continue
      }
      if waiting.isEmpty { try output.flush() }
      guard let line = try reader.next(orUntil: interruption.descriptor) else { break }
      lineNumber += 1
      take(line)
    }
    while !waiting.isEmpty { try answerOldest() }
    try output.flush()
    guard interruption.isRequested else { return hasFailed ? .failed : .done }
    Output.notice("Stopped after line \(lineNumber); every answered block is durable.")
    return .failed
  }

  private mutating func take(_ line: LineReader.Line) {
    let answer = Pending<CommitReceipt>()
    var byteCount = 0
    switch line {
    case .tooLong:
      answer.give(
        .failure(
          LibraryError(
            .limitExceeded,
            "The line is longer than \(Self.lineByteLimit >> 20) MiB; name files by path, or split the block.")))
    case .bytes(let bytes):
      if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return }
      byteCount = bytes.count
      do {
        try ChangeLine(bytes).queue(on: library) { answer.give($0) }
      } catch {
        answer.give(.failure(error))
      }
    }
    waiting.append(Waiting(line: lineNumber, byteCount: byteCount, answer: answer))
    waitingByteCount += byteCount
  }

  private mutating func answerOldest() throws {
    let oldest = waiting.removeFirst()
    waitingByteCount -= oldest.byteCount
    var members = [JSON.Member("line", .integer(Int64(oldest.line)))]
    switch oldest.answer.wait() {
    case .success(let receipt): members += receipt.members
    case .failure(let error):
      hasFailed = true
      members.append(JSON.Member("error", JSON(failure: error)))
    }
    try output.line(.object(members))
  }
}
