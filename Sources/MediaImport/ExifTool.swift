internal import Dispatch
internal import Glibc
internal import PhotoLedger
internal import Synchronization

/// Reads the metadata of photos and videos with several exiftool processes, each kept running between files.
///
/// - Important: exiftool parses hostile bytes; it does so in sandboxed children that write nothing, with limits on
///   time, memory and output.
final class ExifTool: Sendable {
  /// The number of processes that work at the same time, at most.
  let processCount: Int
  private let executable: String
  private let limits: ExifToolLimits
  private let sandbox: Sandbox
  /// Counts the processes that may still be taken out; a thread that finds none waits for one to come back.
  private let places = DispatchSemaphore(value: 1)
  private let state = Mutex(State())

  private struct State {
    /// The idle processes; a process that is removed is used exclusively until it is returned.
    var idle: [ExifToolProcess] = []
    /// How many processes there may be by now.
    var openCount = 1
    var answerCount = 0
  }

  /// A process takes longer to start than to answer about so many files, so a few files are asked of one. The next one
  /// starts when those that run have answered so many each.
  private static let answersOfEach = 8
  /// Or when a start, or a slow file, keeps another waiting for so many milliseconds.
  private let patience: Int

  /// Prepares to run exiftool; processes start when the first files are read.
  /// - Parameters:
  ///   - executable: Its path; nil searches for it.
  ///   - searchPath: Folders with colons between them; nil is `PATH`.
  ///   - processCount: How many run at the same time; nil for one per processor.
  ///   - limits: What one file may cost.
  ///   - sandbox: What it may reach; it reads everything and writes nowhere unless another one is given.
  ///   - patience: How many milliseconds a file waits for the processes that run before another is started for it.
  /// - Throws: `toolMissing` when it is not installed.
  init(
    executable: String? = nil, searchPath: String? = nil, processCount: Int? = nil,
    limits: ExifToolLimits = ExifToolLimits(), sandbox: Sandbox? = nil, patience: Int = 500
  ) throws(ImportError) {
    if let executable { self.executable = executable } else { self.executable = try Self.find(searchPath) }
    self.processCount = max(1, processCount ?? sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    (self.limits, self.patience) = (limits, patience)
    self.sandbox = sandbox ?? Sandbox(readable: ["/"])
    guard Glibc.access(self.executable, X_OK) == 0 else { throw Self.missing(self.executable) }
  }

  /// The path of exiftool.
  /// - Parameter searchPath: folders with colons between them; nil is `PATH`.
  /// - Throws: `toolMissing` when it is not installed.
  static func find(_ searchPath: String?) throws(ImportError) -> String {
    let path = searchPath ?? getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
    for folder in path.split(separator: ":") where folder.hasPrefix("/") {
      let candidate = "\(folder)/exiftool"
      if Glibc.access(candidate, X_OK) == 0 { return candidate }
    }
    throw missing("exiftool")
  }

  private static func missing(_ name: String) -> ImportError {
    ImportError(
      .toolMissing, path: name,
      "\(name) is not installed; it reads the metadata of photos. "
        + "Install it with: apt-get install libimage-exiftool-perl"
    )
  }

  /// Reads the metadata of one file. May be called from several threads; each uses a process of its own.
  /// - Parameters:
  ///   - path: An absolute path.
  ///   - isThorough: Whether a JPEG is read to its end, so that the tags reveal a truncated one.
  ///   - isValidated: Whether the warnings include those of pixels behind the end of a TIFF, and much else.
  ///   - isFast: Whether only the type of the file is wanted.
  ///   - isCancelled: Whether the request was cancelled; called several times a second.
  /// - Throws: `toolTimeout`, `toolOutputTooLarge`, `toolCrashed` about this file; `toolFailed` when it cannot be run;
  ///   `cancelled`.
  func tags(
    of path: FilePath, isThorough: Bool = false, isValidated: Bool = false, isFast: Bool = false,
    isCancelled: () -> Bool = { false }
  ) throws(ImportError) -> ExifTags {
    let answer = try answer(
      about: path, isThorough: isThorough, isValidated: isValidated, isFast: isFast, isCancelled: isCancelled)
    guard let tags = ExifTags(json: answer) else {
      if readability(of: path) == ENOENT { throw ImportError.source(path, "read", errno: ENOENT) }
      throw ImportError(
        .toolCrashed, path: path.description, "exiftool returned no readable answer for \(path); the file was skipped.")
    }
    return tags
  }

  /// What exiftool says about one file, unread.
  func answer(
    about path: FilePath, isThorough: Bool = false, isValidated: Bool = false, isFast: Bool = false,
    isCancelled: () -> Bool = { false }
  ) throws(ImportError) -> [UInt8] {
    while places.wait(timeout: .now() + .milliseconds(patience)) == .timedOut { openPlace { _ in true } }
    let process =
      state.withLock { $0.idle.popLast() } ?? ExifToolProcess(executable: executable, limits: limits, sandbox: sandbox)
    defer {
      state.withLock { state in
        state.idle.append(process)
        state.answerCount += 1
      }
      openPlace { $0.answerCount >= Self.answersOfEach * $0.openCount }
      places.signal()
    }
    return try process.answer(
      about: path, isThorough: isThorough, isValidated: isValidated, isFast: isFast, isCancelled: isCancelled)
  }

  /// How many processes may work by now.
  var openCount: Int { state.withLock { $0.openCount } }

  /// Lets one more process work, if there may be one and it is wanted.
  private func openPlace(if isWanted: (State) -> Bool) {
    let opens = state.withLock { state in
      guard state.openCount < processCount, isWanted(state) else { return false }
      state.openCount += 1
      return true
    }
    if opens { places.signal() }
  }

  /// Ends the idle processes. The next question starts new ones.
  func close() {
    state.withLock { $0.idle.removeAll() }
  }

  private func readability(of path: FilePath) -> Int32 {
    path.withCString { Glibc.access($0, R_OK) } == 0 ? 0 : errno
  }
}
