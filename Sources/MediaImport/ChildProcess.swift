// A child process with its standard input and output in our hands, and an end that can be relied on.
//
//   parent ◀──one socket──▶ stdin and stdout of the child
//          ───lifeline────▶ a shell that waits for its end and then ends the whole group
//
// Standard error is thrown away: what a tool has to say about a file is in its answer.
//
// The lifeline is for the day on which we are killed. exiftool, told to stay open, goes on waiting when its input ends,
// and one that is caught in a nasty file does not even look; without the lifeline each would stay for ever. Nothing is
// ever written to it. Its end is our end, however that came about.
//
// Made by posix_spawn only: the process may hold an open LMDB environment, and no code of ours may run between fork
// and exec. Every other descriptor is closed in the child, so that neither the library's files nor the pipes of a
// sibling leak into it (a leaked pipe end would keep a sibling's output from ever ending). The child leads a process
// group of its own: Ctrl-C on the terminal reaches us alone, and ending the child ends what it started.
//
// It is a socket and not a pair of pipes because `send` can be told not to raise SIGPIPE when the child is gone; a
// write to a pipe cannot, and a library must not change the signal settings of the program it is in.
//
// Limits are set by the shell that the child starts as (`ulimit`, then `exec`), since a limit set from outside after
// the start comes too late to be certain.

internal import Glibc
internal import PhotoLedger

/// A running child process. Not for use by two threads at once.
struct ChildProcess: ~Copyable {
  let identifier: pid_t
  private let socket: Descriptor
  private let lifeline: Descriptor
  /// Whether the kernel has told the exit status, which it does once.
  private var isReaped = false

  /// What ended a read from the child.
  enum ReadResult: Equatable {
    case bytes(Int), end, timeout
  }

  /// Starts `executable`, with at most `memoryByteCount` of address space.
  /// - Parameters:
  ///   - executable: its path.
  ///   - arguments: what it is given.
  ///   - pathArguments: names of files, after the other arguments, byte by byte.
  ///   - environment: variables besides `PATH`, `LC_ALL` and `TZ`, as `NAME=value`.
  ///   - memoryByteCount: the address space that it may have, in bytes.
  ///   - fileByteCount: the largest file that it may write, in bytes; nil: any. A write beyond ends it by a signal.
  /// - Throws: `toolFailed` when the process cannot be made.
  init(
    executable: String, arguments: [String], pathArguments: [FilePath] = [], environment: [String] = [],
    memoryByteCount: Int, fileByteCount: Int? = nil
  ) throws(ImportError) {
    let talk = try Self.socketPair(executable)
    let parentEnd = Descriptor(talk.0)
    let childEnd = Descriptor(talk.1)
    let life = try Self.socketPair(executable)
    let parentLife = Descriptor(life.0)
    let childLife = Descriptor(life.1)
    let script = """
      ulimit -c 0; ulimit -v \(memoryByteCount / 1024)\(fileByteCount.map { "; ulimit -f \($0 / 512)" } ?? "")
      { read -r end <&3; kill -KILL 0; } <&- >&- &
      exec "$0" "$@" 3<&-
      """
    let words = ["/bin/sh", "-c", script, executable] + arguments
    let child = try Self.spawn(
      words.map { Array($0.utf8) } + pathArguments.map(\.bytes), environment.map { Array($0.utf8) },
      childEnd.number, childLife.number)
    identifier = child
    socket = parentEnd
    lifeline = parentLife
  }

  private static func socketPair(_ executable: String) throws(ImportError) -> (Int32, Int32) {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw failure(executable, errno) }
    return (ends[0], ends[1])
  }

  /// The environment of a child: nothing of ours but where programs are. PERL5OPT and the like must not reach it.
  private static let environment: [[UInt8]] = [
    Array("PATH=\(getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin")".utf8),
    Array("LC_ALL=C".utf8), Array("TZ=UTC".utf8),
  ]

  private static func spawn(
    _ words: [[UInt8]], _ variables: [[UInt8]], _ socket: Int32, _ lifeline: Int32
  ) throws(ImportError) -> pid_t {
    let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
    guard nowhere >= 0 else { throw failure("/dev/null", errno) }
    defer { close(nowhere) }
    let (child, status) = Spawning.start(
      "/bin/sh", words, environment: environment + variables, descriptors: [socket, socket, nowhere, lifeline],
      leadsGroup: true)
    guard status == 0 else { throw failure("/bin/sh", status) }
    return child
  }

  private static func failure(_ executable: String, _ code: Int32) -> ImportError {
    ImportError(
      .toolFailed, path: executable, "\(executable) cannot be started: \(LibraryError.reason(code)).")
  }

  /// Sends bytes to the child. False when it no longer listens, or does not take them before `deadline`.
  func send(_ bytes: [UInt8], before deadline: ContinuousClock.Instant) -> Bool {
    var sent = 0
    while sent < bytes.count {
      guard wait(for: socket.number, POLLOUT, until: deadline) else { return false }
      let count = bytes.withUnsafeBytes {
        Glibc.send(
          socket.number, $0.baseAddress.map { $0 + sent }, bytes.count - sent,
          Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      }
      if count > 0 { sent += count } else if count < 0 && errno != EINTR && errno != EAGAIN { return false }
    }
    return true
  }

  /// Reads what the child has written, waiting for it until `deadline`.
  func read(into buffer: UnsafeMutableRawBufferPointer, before deadline: ContinuousClock.Instant) -> ReadResult {
    while true {
      guard wait(for: socket.number, POLLIN, until: deadline) else { return .timeout }
      let count = Glibc.read(socket.number, buffer.baseAddress, buffer.count)
      if count > 0 { return .bytes(count) }
      if count == 0 || errno != EINTR { return .end }
    }
  }

  /// Waits until `events` are possible on a descriptor. False when the deadline passed first.
  private func wait(for number: Int32, _ events: Int32, until deadline: ContinuousClock.Instant) -> Bool {
    while true {
      let left = ContinuousClock.now.duration(to: deadline)
      let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
      if milliseconds < 0 { return false }
      var request = pollfd(fd: number, events: Int16(events), revents: 0)
      let ready = poll(&request, 1, Int32(clamping: milliseconds + 1))
      if ready > 0 { return true }
      if ready < 0 && errno != EINTR { return false }
    }
  }

  /// Waits for the child, which has said its last, to end of itself.
  /// - Returns: its exit status; nil if a signal ended it, or if it did not end before `deadline`.
  mutating func exitStatus(before deadline: ContinuousClock.Instant) -> Int32? {
    precondition(!isReaped, "The exit status of a child can be asked for once.")
    while true {
      var status: Int32 = 0
      let ended = waitpid(identifier, &status, WNOHANG)
      if ended == identifier {
        isReaped = true
        // The macros WIFEXITED and WEXITSTATUS of <sys/wait.h>, which Swift does not import.
        return status & 0x7F == 0 ? status >> 8 & 0xFF : nil
      }
      if ended < 0 && errno != EINTR || ContinuousClock.now >= deadline { return nil }
      usleep(2_000)
    }
  }

  /// Ends the child and everything in its process group, and takes its exit status from the kernel.
  deinit {
    // The group outlives the child: the shell that waits for our end is in it.
    kill(-identifier, SIGKILL)
    if isReaped { return }
    // The group exists from the moment posix_spawn returned, so the line above reached the child; waiting cannot hang.
    var status: Int32 = 0
    while waitpid(identifier, &status, 0) < 0 && errno == EINTR {}
  }
}
