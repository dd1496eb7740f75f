/// Prints lines from several threads; the first failure to do so is kept for the end.
final class LinePrinter: Sendable {
  private let output: Output
  private let failure = Pending<Void>()

  init(_ output: Output) { self.output = output }

  func print(_ line: String) {
    do { try output.line(line) } catch { failure.give(.failure(error)) }
  }

  func finish() throws {
    failure.give(.success(()))
    try failure.wait().get()
  }
}
