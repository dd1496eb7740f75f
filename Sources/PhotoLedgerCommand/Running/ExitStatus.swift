/// How a run ended, as the shell sees it. A run in a child has the status of the child, which can be another one: 128
/// and the number of a signal, if a step was abandoned.
struct ExitStatus: RawRepresentable, Sendable, Hashable {
  let rawValue: Int32

  /// Everything was done.
  static let done = ExitStatus(rawValue: 0)
  /// Something failed; a sentence on standard error says what.
  static let failed = ExitStatus(rawValue: 1)
  /// The command line itself is wrong.
  static let usage = ExitStatus(rawValue: 2)
}

extension Output {
  /// Prints the last of what a command found, whose status is known by then: a reader that is gone does not change it.
  /// - Throws: as ``write(_:)``, other than for a reader that is gone.
  func finish(with status: ExitStatus, _ printing: () throws -> Void) throws -> ExitStatus {
    do { try printing() } catch is OutputClosed {}
    return status
  }
}
