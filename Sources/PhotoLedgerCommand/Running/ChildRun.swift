import Foundation
import PhotoLedger
import Synchronization

// Work that may be brought down by what it reads runs in a child: this same program, with an internal command.
//
//     parent ── pipe ──▶ child      nothing is ever written; the end of the pipe is the request to stop
//            ── TMPDIR ──▶          a folder for what is needed for a while only, which the parent removes
//
// The parent closes its end when it is asked to stop, and the kernel closes it when the parent ends, in whatever way.
// Either way the child cleans up and answers, as a command does that needs no child; one that does not is killed. What
// a child leaves that is brought down by what it reads lies in the folder that goes with the run. If the parent is
// killed, too, the next run removes the folder, whose lock is free then.
//
// Rejected: forwarding signals. Ctrl-C in a terminal reaches the child as well, and the second signal would end it at
// once. Rejected: PR_SET_PDEATHSIG. It cannot be set between fork and exec by posix_spawn, is already sent when the
// thread that started the child ends, and could not be distinguished from a user's signal.

/// Runs this same program again, with its standard streams, and waits for its end.
enum ChildRun {
  /// How a child ended.
  enum End { case exited(Int32), signalled(Int32) }

  /// Runs an internal command, which is asked to stop when this process is, and when it ends.
  /// - Parameter operands: the command's operands, which may begin with hyphens.
  /// - Throws: ``OutputFailure`` if the child cannot be started.
  static func run(
    _ name: String, _ options: [String], operands: [String] = [], until interruption: Interruption
  ) throws -> End {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw failure("The program cannot start itself", errno) }
    let watched = ends[0]
    let held = Mutex<Int32?>(ends[1])
    _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
    let letGo: @Sendable () -> Void = {
      held.withLock { end in
        if let end { close(end) }
        end = nil
      }
    }
    defer { letGo() }
    let words = [name, "--\(Option.lifeline.name)", "\(watched)"] + options + ["--"] + operands
    // Without one the child uses the folder for temporary files itself, and reports why it cannot, if it needs it.
    let scratch = try? LockedFolder("photoledger-child")
    defer { scratch?.remove() }
    let child: pid_t
    do {
      defer { close(watched) }
      child = try start(words, scratch)
    }
    let running = Mutex<pid_t?>(child)
    interruption.onRequest {
      letGo()
      DispatchQueue.global().asyncAfter(deadline: .now() + childPatience) {
        running.withLock { child in if let child { kill(child, SIGKILL) } }
      }
    }
    return try end(of: child, running)
  }

  /// Whether a signal comes from what a process does itself, such as reading a damaged page; others come from outside.
  static func isFault(_ number: Int32) -> Bool {
    [SIGBUS, SIGSEGV, SIGABRT, SIGILL, SIGTRAP, SIGFPE].contains(number)
  }

  /// What is said of a signal from outside: it says nothing about what the child read.
  static let fromOutside =
    "from outside, perhaps for lack of memory or at another limit of the system; nothing is known about what it read"

  /// How long a child may take to end after it was asked to, seconds: it has its own patience, and ends by it.
  private static let childPatience = Interruption.patience + 3
  /// How long the parent of a child may take.
  static let parentPatience = childPatience + 2

  private static func start(_ words: [String], _ scratch: LockedFolder?) throws -> pid_t {
    var variables = ProcessInfo.processInfo.environment
    if let scratch { variables["TMPDIR"] = scratch.path }
    var arguments: [UnsafeMutablePointer<CChar>?] = (["photoledger"] + words).map { strdup($0) } + [nil]
    var environment: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0)=\($1)") } + [nil]
    defer { for text in arguments + environment { free(text) } }
    var child: pid_t = 0
    let status = posix_spawn(&child, "/proc/self/exe", nil, nil, &arguments, &environment)
    guard status == 0 else { throw failure("The program cannot start itself", status) }
    return child
  }

  /// - Parameter running: drops the child as soon as its process ID is free for others.
  private static func end(of child: pid_t, _ running: borrowing Mutex<pid_t?>) throws -> End {
    var info = siginfo_t()
    while waitid(P_PID, id_t(child), &info, WEXITED | WNOWAIT) != 0 {
      guard errno == EINTR else { throw failure("The child was lost", errno) }
    }
    var state: Int32 = 0
    let code = running.withLock { running in
      running = nil
      return waitpid(child, &state, 0) < 0 ? errno : 0
    }
    guard code == 0 else { throw failure("The child was lost", code) }
    // The macros WIFEXITED and WTERMSIG of <sys/wait.h>, which Swift does not import.
    let signal = state & 0x7F
    return signal == 0 ? .exited((state >> 8) & 0xFF) : .signalled(signal)
  }

  private static func failure(_ what: String, _ code: Int32) -> OutputFailure {
    OutputFailure(description: "\(what): \(String(cString: strerror(code))).")
  }
}

extension Option {
  /// An option of internal commands alone.
  static let lifeline = Option("lifeline", "DESCRIPTOR", "stop when the other end of this pipe is closed")
}

extension Interruption {
  /// What asks an internal command to stop: the signals, and its parent.
  convenience init(of invocation: Invocation) throws {
    self.init()
    guard let number = try invocation.count(Option.lifeline.name) else { return }
    let descriptor = Int32(clamping: number)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    requestWhenClosed(descriptor)
  }
}

extension Invocation {
  /// Runs an internal command in a child, and turns a signal that ended it into a sentence.
  /// - Parameters:
  ///   - damaged: the sentence about a fault, if it was not asked to stop: what it read is too damaged to be reported
  ///     in detail.
  ///   - left: what stands afterwards, such as `nothing was created`.
  func runInChild(
    _ name: String, _ options: [String], operands: [String] = [], left: String, damaged: (String) -> String
  ) throws -> ExitStatus {
    let interruption = Interruption(patience: ChildRun.parentPatience)
    try output.flush()
    switch try ChildRun.run(name, options, operands: operands, until: interruption) {
    case .exited(let status): return ExitStatus(rawValue: status)
    case .signalled(let number):
      let signal = "signal \(number) (\(String(cString: strsignal(number))))"
      if interruption.isRequested {
        Output.notice("Stopped by \(signal); \(left).")
      } else if ChildRun.isFault(number) {
        Output.notice(damaged(signal))
      } else {
        Output.notice(
          "The child process was killed by \(signal) \(ChildRun.fromOutside). Run the command again; \(left).")
      }
      return .failed
    }
  }

  /// Runs the internal command of one that creates a library, or adds to one, with these operands.
  func runInChild(
    _ name: String, _ options: [String], reading what: String, left: String = "nothing was created"
  ) throws -> ExitStatus {
    try runInChild(name, options, operands: operands, left: left) { signal in
      "The child process was killed by \(signal) while it read \(what), which is too damaged to be reported in detail; "
        + "\(left)."
    }
  }
}
