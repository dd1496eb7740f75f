// A child process with its standard input and output in our hands, and an end that can be relied on.
//
//   parent ◀──one socket──▶ stdin and stdout of the child ┐
//          ───lifeline────▶ a shell that waits for its end ┘ one process group, which the shell leads and ends
//
// Standard error is thrown away: what a tool has to say about a file is in its answer.
//
// The lifeline is for the case that this process is killed. exiftool in stay-open mode keeps waiting when its input
// ends, and one that hangs in a hostile file does not even read it; without the lifeline each would run for ever.
// Nothing is ever written to it. It is closed when this process ends in any way. The shell stands outside of the
// child's sandbox, so that the child can neither end it nor leave its group.
//
// The process may hold an open LMDB environment, so nothing of ours runs between fork and exec but the system calls of
// `psys_spawn_confined`, which set limits and sandbox. Every other descriptor is closed in the child, so that neither
// the library's files nor the pipes of a sibling leak into it (a leaked pipe end would keep a sibling's output from
// ever ending). The group is not ours: Ctrl-C on the terminal reaches us alone, and ending the group ends what the
// child started.
//
// It is a socket and not a pair of pipes because `send` can suppress SIGPIPE when the child has ended; a write to a
// pipe cannot, and a library must not change the signal settings of the program it is in.
//
// Deadlines are instants of the suspending clock: the time for which the machine sleeps does not count.

internal import CSystem
internal import Glibc
internal import PhotoLedger

/// A running child process. Not for use by two threads at once.
struct ChildProcess: ~Copyable {
  let identifier: pid_t
  private let socket: Descriptor
  private let lifeline: Descriptor
  /// The shell at the other end of the lifeline, which leads the group.
  private let guardian: pid_t
  /// Whether the exit status was read, which is possible once.
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
  ///   - environment: variables besides, or instead of, `PATH`, `LC_ALL` and `TZ`, as `NAME=value`.
  ///   - memoryByteCount: the address space that it may have, in bytes.
  ///   - fileByteCount: the largest file that it may write, in bytes; nil: any. A write beyond ends it by a signal.
  ///   - niceness: by how much its priority is lower than the thread's, in steps of setpriority(2).
  ///   - sandbox: what it may reach.
  /// - Throws: `toolFailed` when the process cannot be made.
  init(
    executable: String, arguments: [String], pathArguments: [FilePath] = [], environment: [String] = [],
    memoryByteCount: Int, fileByteCount: Int? = nil, niceness: Int32 = 0, sandbox: Sandbox
  ) throws(ImportError) {
    let talk = try Self.socketPair(executable)
    let parentEnd = Descriptor(talk.0)
    let childEnd = Descriptor(talk.1)
    let life = try Self.socketPair(executable)
    let parentLife = Descriptor(life.0)
    let childLife = Descriptor(life.1)
    let opened = open("/dev/null", O_RDWR | O_CLOEXEC)
    guard opened >= 0 else { throw Self.failure("/dev/null", errno) }
    let nowhere = Descriptor(opened)
    guard let (program, words) = sandbox.command(of: executable) else { throw Self.failure("bwrap", ENOENT) }
    let (leader, code) = Spawning.start(
      "/bin/sh", ["/bin/sh", "-c", "read -r end; kill -KILL 0"].map { Array($0.utf8) }, environment: Self.environment,
      descriptors: [childLife.number, nowhere.number, nowhere.number], leadsGroup: true)
    guard code == 0 else { throw Self.failure("/bin/sh", code) }
    let all = ([program] + words + arguments).map { Array($0.utf8) } + pathArguments.map(\.bytes)
    let (child, status) = Self.spawn(
      program, all, environment.map { Array($0.utf8) }, [childEnd.number, childEnd.number, nowhere.number], sandbox
    ) { body in
      sandbox.withConfinement(
        of: executable, memoryByteCount: memoryByteCount, fileByteCount: fileByteCount, group: leader,
        niceness: niceness, body)
    }
    guard status == 0 else {
      Self.end(leader)
      throw Self.failure(executable, status)
    }
    identifier = child
    guardian = leader
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
    _ program: String, _ words: [[UInt8]], _ variables: [[UInt8]], _ descriptors: [Int32], _ sandbox: Sandbox,
    confined: ((UnsafePointer<psys_confinement>) -> (Int32, Int32)) -> (Int32, Int32)
  ) -> (child: pid_t, code: Int32) {
    var descriptors = descriptors
    let filter = sandbox.layer == .bubblewrap ? Sandbox.filterPipe() : nil
    defer { if let filter { close(filter) } }
    if sandbox.layer == .bubblewrap {
      guard let filter else { return (0, ENOSYS) }
      descriptors.append(filter)
    }
    return confined {
      // Of two variables with one name the first counts.
      Spawning.start(program, words, environment: variables + environment, descriptors: descriptors, confinement: $0)
    }
  }

  private static func failure(_ executable: String, _ code: Int32) -> ImportError {
    ImportError(
      .toolFailed, path: executable, "\(executable) cannot be started: \(LibraryError.reason(code))."
    ).passing
  }

  /// Sends bytes to the child. False when it no longer listens, or does not take them before `deadline`.
  func send(_ bytes: [UInt8], before deadline: SuspendingClock.Instant) -> Bool {
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
  func read(into buffer: UnsafeMutableRawBufferPointer, before deadline: SuspendingClock.Instant) -> ReadResult {
    while true {
      guard wait(for: socket.number, POLLIN, until: deadline) else { return .timeout }
      let count = Glibc.read(socket.number, buffer.baseAddress, buffer.count)
      if count > 0 { return .bytes(count) }
      if count == 0 || errno != EINTR { return .end }
    }
  }

  /// Waits until `events` are possible on a descriptor. False when the deadline passed first. Events that are pending
  /// count even after the deadline: this process may have been stopped while the child worked.
  private func wait(for number: Int32, _ events: Int32, until deadline: SuspendingClock.Instant) -> Bool {
    while true {
      let left = SuspendingClock.now.duration(to: deadline)
      let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
      let isOver = left < .zero
      var request = pollfd(fd: number, events: Int16(events), revents: 0)
      let ready = poll(&request, 1, isOver ? 0 : Int32(clamping: milliseconds + 1))
      if ready > 0 { return true }
      if ready < 0 && errno != EINTR || ready == 0 && isOver { return false }
    }
  }

  /// Whether the child has ended, so that all it will ever write can be read now. Its socket may still be open in what
  /// it started, or for a moment in a process that another thread makes.
  var hasEnded: Bool {
    precondition(!isReaped, "The end of a child whose exit status was read is known already.")
    var info = siginfo_t()
    return waitid(P_PID, id_t(identifier), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_signo == SIGCHLD
  }

  /// Waits for the child, which has said its last, to end of itself.
  /// - Returns: its exit status; nil if a signal ended it, or if it did not end before `deadline`.
  mutating func exitStatus(before deadline: SuspendingClock.Instant) -> Int32? {
    precondition(!isReaped, "The exit status of a child can be read only once.")
    while true {
      var status: Int32 = 0
      let ended = waitpid(identifier, &status, WNOHANG)
      if ended == identifier {
        isReaped = true
        // The macros WIFEXITED and WEXITSTATUS of <sys/wait.h>, which Swift does not import.
        return status & 0x7F == 0 ? status >> 8 & 0xFF : nil
      }
      if ended < 0 && errno != EINTR || SuspendingClock.now >= deadline { return nil }
      usleep(2_000)
    }
  }

  /// Ends a process that leads a group, with its group, and takes its exit status from the kernel.
  private static func end(_ leader: pid_t) {
    // The group exists from the creation of the leader until it is waited for, so this reaches it.
    kill(-leader, SIGKILL)
    wait(for: leader)
  }

  private static func wait(for process: pid_t) {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 && errno == EINTR {}
  }

  /// Ends the child and everything in its process group, and takes the exit statuses from the kernel.
  deinit {
    kill(-guardian, SIGKILL)
    if !isReaped { Self.wait(for: identifier) }
    Self.wait(for: guardian)
  }
}
