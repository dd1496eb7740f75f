// Programs that are looked for on PATH when they are needed, and run to their end with limits.
//
// Everything that renders, converts or describes a file with a program that ends comes through here; exiftool, which
// stays open, has `ExifToolProcess`. Both start children by `ChildProcess`.

internal import Foundation
internal import Glibc

/// The programs of one search path.
struct Programs: Sendable {
  private let searchPath: String?

  /// - Parameter searchPath: folders with colons between them; nil: the environment's `PATH`.
  init(searchPath: String? = nil) { self.searchPath = searchPath }

  /// The path of a program; nil when it is not installed.
  func find(_ program: String) -> String? {
    let path = searchPath ?? getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
    return path.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/\(program)" }
      .first { access($0, X_OK) == 0 }
  }

  /// The path of a program that must be there.
  /// - Parameters:
  ///   - program: its name.
  ///   - purpose: what it does here, for the error.
  ///   - package: the Debian package that it comes with.
  /// - Throws: ``ImportError`` `toolMissing`.
  func require(_ program: String, for purpose: String, package: String) throws -> String {
    guard let found = find(program) else {
      throw ImportError(
        .toolMissing, path: program,
        "\(program) is not on PATH; \(purpose). Install it with: apt-get install \(package)")
    }
    return found
  }

  /// The path of exiftool.
  /// - Throws: ``ImportError`` `toolMissing`.
  func exiftool(for purpose: String) throws -> String {
    try require("exiftool", for: purpose, package: "libimage-exiftool-perl")
  }
}

/// What one run of a program may cost.
struct ToolLimits: Sendable {
  var timePerFile: Duration
  var memoryByteCount: Int
  /// The largest file that it may write, in bytes; nil: any.
  var fileByteCount: Int?
}

/// Runs programs to their end.
struct ToolRun {
  var limits: ToolLimits
  let isCancelled: @Sendable () -> Bool
  /// What the programs may reach.
  var sandbox = Sandbox()
  /// Variables of the programs, as `NAME=value`.
  var environment: [String] = []
  /// By how much their priority is lower than the thread's, in steps of setpriority(2).
  var niceness: Int32 = 0

  /// The most that a program may say; its answers are short, and its work goes into files.
  private static let outputLimit = 1 << 20
  /// The maximum delay until a cancellation is noticed.
  private static let look: Duration = .milliseconds(100)

  func output(of program: String, _ arguments: [String]) throws -> String { try output(of: [program], arguments) }

  /// What a program writes to its standard output, if it ends with status 0.
  /// - Parameters:
  ///   - program: its path and the arguments that come first.
  ///   - arguments: the other arguments.
  ///   - heard: is given each portion of the output as it comes.
  /// - Throws: ``ImportError`` `toolFailed`, `toolTimeout`.
  func output(
    of program: [String], _ arguments: [String], heard: (String) -> Void = { _ in }
  ) throws -> String {
    let name = program[0]
    let deadline = SuspendingClock.now + limits.timePerFile
    var child = try ChildProcess(
      executable: name, arguments: program.dropFirst() + arguments, environment: environment,
      memoryByteCount: limits.memoryByteCount, fileByteCount: limits.fileByteCount, niceness: niceness,
      sandbox: sandbox)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 14, alignment: 16)
    defer { buffer.deallocate() }
    var output: [UInt8] = []
    var lateCount = 0
    var hasEnded = false
    reading: while true {
      if isCancelled() {
        throw ImportError(.toolFailed, path: name, "\(name) was stopped, since its result is no longer needed.").passing
      }
      // Only a read that began after the deadline shows that no bytes were pending then.
      let now = SuspendingClock.now
      switch child.read(into: buffer, before: min(deadline, now + Self.look)) {
      case .bytes(let count):
        // A program that ended before the deadline has left less than this in its socket.
        if now >= deadline { lateCount += count }
        guard lateCount <= Self.outputLimit else { throw timedOut(name) }
        output += Array(buffer[..<count]).prefix(Self.outputLimit - output.count)
        heard(String(decoding: buffer[..<count], as: UTF8.self))
      case .timeout where now >= deadline:
        // What it wrote last may have come after this read.
        if hasEnded { break reading }
        hasEnded = child.hasEnded
        guard hasEnded else { throw timedOut(name) }
      case .timeout: continue
      case .end: break reading
      }
    }
    let end = child.exitStatus(before: deadline)
    if end == nil, SuspendingClock.now >= deadline { throw timedOut(name) }
    // A sandbox or a shell around it ends with 128 and the signal; ffmpeg with other large numbers.
    guard let status = end, !(129...159).contains(status) else {
      throw ImportError(
        .toolFailed, path: name,
        "\(name) was killed by a signal; it may have exceeded its limit of memory or file size."
      ).passing
    }
    guard status == 0 else {
      throw ImportError(.toolFailed, path: name, "\(name) exited with status \(status); it cannot process this file.")
    }
    return String(decoding: output, as: UTF8.self)
  }

  private func timedOut(_ name: String) -> ImportError {
    ImportError(.toolTimeout, path: name, "\(name) did not finish within \(limits.timePerFile) and was killed.").passing
  }
}
