internal import Dispatch
internal import Glibc
internal import PhotoLedger
internal import Synchronization

/// Reads the metadata of photos and videos with several exiftool processes, each kept running between files.
///
/// - Important: exiftool parses hostile bytes; it does so in sandboxed children that write nothing, with limits on
///   time, memory and output. A process that a file takes over can say what it likes of later files as well, but
///   is asked only about files of the same client, where callers name one.
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
    /// The idle processes, each with the client whose files it reads, the one that was returned last at the end; a
    /// process that is removed is used exclusively until it is returned.
    var idle: [(process: ExifToolProcess, client: String)] = []
    /// How many processes are in use.
    var usedCount = 0
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
    guard let found = Programs(searchPath: searchPath).find("exiftool") else { throw missing("exiftool") }
    return found
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
  ///   - isValidated: Whether the warnings include those of pixels after the end of a TIFF, and much else.
  ///   - isFast: Whether only the type of the file is wanted.
  ///   - client: Whose file it is; a process that was asked about files of one client is asked about none of another.
  ///   - isCancelled: Whether the request was cancelled; called several times a second.
  /// - Throws: `toolTimeout`, `toolOutputTooLarge`, `toolCrashed` about this file; `toolFailed` when it cannot be run;
  ///   `cancelled`.
  func tags(
    of path: FilePath, isThorough: Bool = false, isValidated: Bool = false, isFast: Bool = false,
    for client: String = "", isCancelled: () -> Bool = { false }
  ) throws(ImportError) -> ExifTags {
    let answer = try answer(
      about: path, isThorough: isThorough, isValidated: isValidated, isFast: isFast, for: client,
      isCancelled: isCancelled)
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
    for client: String = "", isCancelled: () -> Bool = { false }
  ) throws(ImportError) -> [UInt8] {
    while places.wait(timeout: .now() + .milliseconds(patience)) == .timedOut { openPlace { _ in true } }
    let process = take(for: client) ?? ExifToolProcess(executable: executable, limits: limits, sandbox: sandbox)
    defer {
      state.withLock { state in
        state.idle.append((process, client))
        state.usedCount -= 1
        state.answerCount += 1
      }
      openPlace { $0.answerCount >= Self.answersOfEach * $0.openCount }
      places.signal()
    }
    return try process.answer(
      about: path, isThorough: isThorough, isValidated: isValidated, isFast: isFast, isCancelled: isCancelled)
  }

  /// Takes out the process that read a file of the client last; nil where a new one is to read this client's files, to
  /// which the process that has been idle longest gives way if there may be no more.
  private func take(for client: String) -> ExifToolProcess? {
    // What gives way is ended after the lock is released, since that may take a moment.
    let (kept, _) = state.withLock { state -> (ExifToolProcess?, ended: ExifToolProcess?) in
      state.usedCount += 1
      if let index = state.idle.lastIndex(where: { $0.client.exact == client.exact }) {
        return (state.idle.remove(at: index).process, nil)
      }
      let isFull = state.idle.count + state.usedCount > state.openCount
      return (nil, isFull ? state.idle.removeFirst().process : nil)
    }
    return kept
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
