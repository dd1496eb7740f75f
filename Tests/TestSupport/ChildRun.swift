// A program that a test runs, with its three streams in the test's hands.
//
// Not Foundation's `Process`: that finds its highest descriptor by reading the folder /proc/self/fd, and copies 256
// bytes for each name, past the end of the entry. With more than a thousand descriptors open the last of those copies
// leaves the buffer, and if the heap ends there the whole run of tests with it (swift-corelibs-foundation 6.3).

package import Foundation
import Glibc
import MediaImport
import Synchronization

/// A run of a program; what it left is waited for with `end()`.
package final class ChildRun: Sendable {
  /// Where a stream of the program leads.
  package enum Stream: Sendable {
    /// To the test: see `input`, `output` and `errors`.
    case pipe
    /// Nowhere: empty to read, and what is written is thrown away.
    case null
    /// To where standard output leads.
    case output
    /// To an open file of the test's, which stays open.
    case descriptor(Int32)
  }

  /// How a program ended.
  package enum End: Sendable, Equatable {
    case status(Int32), signal(Int32)
  }

  /// The process's number.
  package let identifier: Int32
  /// The pipes' ends; null devices for streams that are not pipes.
  package let input, output, errors: FileHandle
  private let ended = Mutex(End?.none)

  /// Starts a program.
  /// - Parameters:
  ///   - environment: all of its environment; nil for the test's own.
  ///   - directory: where it runs; nil for where the test runs.
  package init(
    _ executable: URL, _ arguments: [String], environment: [String: String]? = nil, directory: URL? = nil,
    input: Stream = .null, output: Stream = .pipe, errors: Stream = .pipe
  ) throws {
    let variables = environment ?? ProcessInfo.processInfo.environment
    let input = try Ends(input, isInput: true)
    let output = try Ends(output, isInput: false)
    let errors = try Ends(errors, isInput: false, standardOutput: output.theirs)
    defer { for ends in [input, output, errors] where ends.closesTheirs { close(ends.theirs) } }
    (self.input, self.output, self.errors) = (input.ours, output.ours, errors.ours)
    let (child, code) = Spawning.start(
      executable.path, ([executable.path] + arguments).map { Array($0.utf8) },
      environment: variables.map { Array("\($0)=\($1)".utf8) }, directory: directory?.path,
      descriptors: [input.theirs, output.theirs, errors.theirs])
    identifier = child
    if code != 0 { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EINVAL) }
  }

  deinit {
    if isRunning {
      kill(identifier, SIGKILL)
      _ = end()
    }
  }

  /// Runs a program of the system to its end.
  /// - Returns: what it wrote on both of its streams, and how it ended.
  package static func of(_ words: [String], input: Data = Data()) throws -> (text: String, end: End) {
    let child = try ChildRun(URL(filePath: "/usr/bin/env"), words, input: .pipe, errors: .output)
    // A program may end before it has read everything; what it wrote says why.
    signal(SIGPIPE, SIG_IGN)
    let writing = Thread {
      try? child.input.write(contentsOf: input)
      try? child.input.close()
    }
    writing.start()
    let text = String(decoding: try child.output.readToEnd() ?? Data(), as: UTF8.self)
    return (text, child.end())
  }

  /// Whether it has not ended yet.
  package var isRunning: Bool { ended.withLock { state in wait(&state, WNOHANG) == nil } }

  /// Waits for its end.
  @discardableResult
  package func end() -> End {
    while true {
      if let end = ended.withLock({ state in wait(&state, WNOHANG) }) { return end }
      var info = siginfo_t()
      // Waits without taking the status, so that others may ask meanwhile whether it runs.
      waitid(P_PID, id_t(identifier), &info, WEXITED | WNOWAIT)
    }
  }

  private func wait(_ state: inout End?, _ options: Int32) -> End? {
    if state != nil { return state }
    var status: Int32 = 0
    guard waitpid(identifier, &status, options) == identifier else { return nil }
    // The macros WIFEXITED, WEXITSTATUS and WTERMSIG of <sys/wait.h>, which Swift does not import.
    state = status & 0x7F == 0 ? .status(status >> 8 & 0xFF) : .signal(status & 0x7F)
    return state
  }

  /// The two ends of a stream.
  private struct Ends {
    let ours: FileHandle
    let theirs: Int32
    let closesTheirs: Bool

    init(_ stream: Stream, isInput: Bool, standardOutput: Int32 = -1) throws {
      switch stream {
      case .pipe:
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EMFILE) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        ours = FileHandle(fileDescriptor: isInput ? ends[1] : ends[0], closeOnDealloc: true)
        (theirs, closesTheirs) = (isInput ? ends[0] : ends[1], true)
      case .null:
        (ours, theirs, closesTheirs) = (.nullDevice, open("/dev/null", O_RDWR | O_CLOEXEC), true)
      case .output:
        (ours, theirs, closesTheirs) = (.nullDevice, standardOutput, false)
      case .descriptor(let number):
        (ours, theirs, closesTheirs) = (.nullDevice, number, false)
      }
    }
  }
}
