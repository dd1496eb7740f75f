// One exiftool, kept running, asked about one file at a time.
//
//   we send     /absolute/path\n-execute7\n
//   it answers  [{ "SourceFile": …, "File:MIMEType": "image/jpeg", … }]\n{ready7}\n
//
// exiftool has no limits of its own: a file made to be nasty can keep it busy for hours or fill its answer. So each
// question has a deadline and a limit on the answer, and a process that breaks one is ended and replaced; the number
// after `ready` shows that an answer belongs to its question. Starting one costs 100 ms, asking a running one 5 ms.
//
// A process that exits does so because of the file, of earlier files, or because exiftool cannot run at all. A file is
// asked about once more after earlier answers; a process without any answer is followed by one that prints its version.
//
// A path with a line feed or carriage return cannot be said in this line protocol; such a file gets a process of its
// own, with the path as an argument. Paths are absolute, so none can look like an option.

internal import Glibc
internal import PhotoLedger

/// How exiftool is run, and what it may cost.
public struct ExifToolLimits: Sendable {
  /// The longest one file may take.
  public var timePerFile: Duration = .seconds(120)
  /// The largest answer about one file, in bytes.
  public var outputByteCount = 4 << 20
  /// The address space of one process, in bytes.
  public var memoryByteCount = 2 << 30

  /// The usual limits: 120 seconds, which a slow or busy machine may need for its first file, 4 MiB, 2 GiB.
  public init() {}
}

/// One running exiftool.
final class ExifToolProcess: @unchecked Sendable {  // guarded by: the pool, which hands it to one thread at a time
  private let executable: String
  private let limits: ExifToolLimits
  private let sandbox: Sandbox
  /// The arguments that hold for every question.
  private let common: [String]
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
  private var child: ChildProcess?
  private var question = 0
  /// How many questions the running process has answered.
  private var answerCount = 0

  init(
    executable: String, limits: ExifToolLimits, sandbox: Sandbox, common: [String] = ExifToolProcess.commonArguments
  ) {
    self.common = common
    self.executable = executable
    self.limits = limits
    self.sandbox = sandbox
  }

  deinit { buffer.deallocate() }

  /// Arguments that hold for every question. `-config ""` comes first and keeps a user's configuration file, which is
  /// Perl code, from running; `-n` gives numbers instead of words, `-G1:4` the group and which duplicate it is.
  static let commonArguments =
    ["-j", "-n", "-q", "-q", "-G1:4", "-api", "LargeFileSupport=1"] + exifToolTags.map { "-\($0)" }

  /// A tag whose value exiftool learns only by reading a JPEG to its end, at three times the cost of the others.
  private static let thorough = "-JPEGImageLength"

  /// Has exiftool warn of all that it finds against the specifications, among it pixels after the end of the file.
  private static let validating = "-validate"

  /// Keeps exiftool from reading on after what says the type of a file: without it, a file that begins with zeros is
  /// read as far as they go.
  private static let fast = "-fast"

  /// Reads the tags of one file.
  /// - Parameters:
  ///   - path: an absolute path.
  ///   - isThorough: whether a JPEG is read to its end, so that exiftool reports a truncated one.
  ///   - isValidated: whether exiftool warns of pixels after the end of a TIFF, and of much else.
  ///   - isFast: whether only the type of the file is wanted.
  ///   - isCancelled: whether the request was cancelled; then the process is killed.
  /// - Returns: exiftool's JSON, an array with one object.
  /// - Throws: `toolTimeout`, `toolOutputTooLarge`, `toolCrashed` about this file; `toolFailed` when it cannot be run;
  ///   `cancelled`.
  func answer(
    about path: FilePath, isThorough: Bool = false, isValidated: Bool = false, isFast: Bool = false,
    isCancelled: () -> Bool
  ) throws(ImportError) -> [UInt8] {
    precondition(path.isAbsolute, "exiftool needs absolute paths, which cannot look like an option.")
    let deadline = SuspendingClock.now + limits.timePerFile
    var further = (isThorough ? [Self.thorough] : []) + (isValidated ? [Self.validating] : [])
    if isFast { further.append(Self.fast) }
    if path.bytes.contains(where: { $0 == 0x0A || $0 == 0x0D }) {
      return try answer(of: try start(common + further, path), path, deadline, isCancelled)
    }
    let lines = path.bytes + Array("\n\(further.map { "\($0)\n" }.joined())".utf8)
    // Earlier files may have made a process exit, by the memory that it took for them.
    let mayRepeat = child != nil && answerCount > 0
    do throws(ImportError) {
      return try ask(lines, path, deadline, isCancelled)
    } catch {
      guard mayRepeat, error.code == .toolCrashed else { throw error }
    }
    return try ask(lines, path, deadline, isCancelled)
  }

  /// Runs exiftool on a file.
  /// - Parameters:
  ///   - arguments: its arguments, including the files; none has a line feed.
  ///   - path: the file named in errors.
  ///   - isCancelled: whether the request was cancelled; then the process is killed.
  /// - Throws: as ``answer(about:isThorough:isValidated:isCancelled:)``. Without an error exiftool has finished, but
  ///   may not have produced the wanted result.
  func execute(
    _ arguments: [String], about path: FilePath, isCancelled: () -> Bool
  ) throws(ImportError) {
    precondition(arguments.allSatisfy { !$0.utf8.contains(0x0A) }, "Each argument of exiftool is a line.")
    let request = Array(arguments.map { "\($0)\n" }.joined().utf8)
    _ = try ask(request, path, SuspendingClock.now + limits.timePerFile, isCancelled)
  }

  /// Sends lines to the process that is kept running, and gives its answer to them.
  private func ask(
    _ lines: [UInt8], _ path: FilePath, _ deadline: SuspendingClock.Instant, _ isCancelled: () -> Bool
  ) throws(ImportError) -> [UInt8] {
    if child == nil {
      child = try start(["-stay_open", "True", "-@", "-", "-common_args"] + common)
      answerCount = 0
    }
    question += 1
    let request = lines + Array("-execute\(question)\n".utf8)
    let ending = Array("{ready\(question)}\n".utf8)
    do throws(ImportError) {
      let answer = try exchange(request, ending: ending, path, deadline, isCancelled)
      answerCount += 1
      return answer
    } catch {
      child = nil
      if error.code == .toolCrashed, answerCount == 0 { try checkRuns(path, deadline, isCancelled) }
      throw error
    }
  }

  /// Distinguishes a program that cannot run from one that exited because of a file.
  /// - Throws: `toolFailed` when it does not print its version.
  private func checkRuns(
    _ path: FilePath, _ deadline: SuspendingClock.Instant, _ isCancelled: () -> Bool
  ) throws(ImportError) {
    let version = try answer(of: try start(["-ver"]), path, deadline, isCancelled)
    guard version.isEmpty else { return }
    throw ImportError(
      .toolFailed, path: executable,
      "\(executable) exits without an answer. Run `exiftool -ver` to see why, and repair its installation."
    ).passing
  }

  private func exchange(
    _ request: [UInt8], ending: [UInt8], _ path: FilePath, _ deadline: SuspendingClock.Instant,
    _ isCancelled: () -> Bool
  ) throws(ImportError) -> [UInt8] {
    guard child?.send(request, before: deadline) == true else {
      throw SuspendingClock.now < deadline ? crashed(path) : timedOut(path)
    }
    var answer: [UInt8] = []
    while true {
      let read = try read(path, deadline, isCancelled) { child?.read(into: buffer, before: $0) ?? .end }
      guard let count = read else { throw crashed(path) }
      answer.append(contentsOf: buffer[..<count])
      if answer.suffix(ending.count).elementsEqual(ending) { return answer.dropLast(ending.count) }
      guard answer.count <= limits.outputByteCount else { throw tooLarge(path) }
    }
  }

  /// The whole output of a process for this one path, whose name cannot be said in the line protocol.
  private func answer(
    of alone: consuming ChildProcess, _ path: FilePath, _ deadline: SuspendingClock.Instant, _ isCancelled: () -> Bool
  ) throws(ImportError) -> [UInt8] {
    var answer: [UInt8] = []
    while let count = try read(path, deadline, isCancelled, { alone.read(into: buffer, before: $0) }) {
      answer.append(contentsOf: buffer[..<count])
      guard answer.count <= limits.outputByteCount else { throw tooLarge(path) }
    }
    return answer
  }

  /// The maximum delay until a cancellation is noticed.
  private static let look: Duration = .milliseconds(50)

  /// Reads the available bytes, and notices a cancellation promptly.
  /// - Returns: the number of bytes read; nil at the end.
  private func read(
    _ path: FilePath, _ deadline: SuspendingClock.Instant, _ isCancelled: () -> Bool,
    _ body: (SuspendingClock.Instant) -> ChildProcess.ReadResult
  ) throws(ImportError) -> Int? {
    while true {
      if isCancelled() {
        throw ImportError(.cancelled, path: path.description, "Reading \(path) was stopped before exiftool answered.")
      }
      // Only a read that began after the deadline shows that no bytes were pending then.
      let now = SuspendingClock.now
      switch body(min(deadline, now + Self.look)) {
      case .bytes(let count): return count
      case .end: return nil
      case .timeout: if now >= deadline { throw timedOut(path) }
      }
    }
  }

  private func start(_ arguments: [String], _ path: FilePath? = nil) throws(ImportError) -> ChildProcess {
    try ChildProcess(
      executable: executable, arguments: ["-config", ""] + arguments, pathArguments: path.map { [$0] } ?? [],
      memoryByteCount: limits.memoryByteCount, sandbox: sandbox)
  }

  private func crashed(_ path: FilePath) -> ImportError {
    ImportError(.toolCrashed, path: path.description, "exiftool exited while it read \(path); the file was skipped.")
  }

  private func timedOut(_ path: FilePath) -> ImportError {
    ImportError(
      .toolTimeout, path: path.description,
      "exiftool did not finish \(path) within \(limits.timePerFile) and was killed; the file was skipped.")
  }

  private func tooLarge(_ path: FilePath) -> ImportError {
    ImportError(
      .toolOutputTooLarge, path: path.description,
      "exiftool returned more than \(limits.outputByteCount) bytes for \(path); the file was skipped.")
  }
}
