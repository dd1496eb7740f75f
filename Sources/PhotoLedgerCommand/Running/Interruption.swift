import CSystem
import Foundation
import PhotoLedger
import Synchronization

/// Turns the first SIGINT, SIGTERM or SIGHUP into a request to stop; the second ends the process at once, and so does
/// the clock, a few seconds after the request.
///
/// A command that is asked to stop looks at the request between two steps of its work. A step can hang: a file on a
/// dead disk, a child that does not answer, LMDB in a damaged file. No step needs to end for the library to stay
/// whole: what was not committed never happened, and unfinished files are removed by the next command that makes one.
///
/// SIGUSR1 asks for something else, which the command says (`onUserSignal`); one that says nothing passes it over.
///
/// A signal that was ignored when the program began stays ignored: `nohup` ignores SIGHUP, and a shell without job
/// control SIGINT for its background jobs. It must not be blocked, since the kernel keeps a blocked signal for
/// `sigwait` even if it is ignored.
///
/// The other signals are blocked in the thread that makes this, and so in every thread made later; one thread waits
/// for them. So it is made first, before a library is opened. Handlers run on that thread, in ordinary code, not in a
/// signal handler. Where the system allows no thread to wait for them, signals end the process as usual.
final class Interruption: Sendable {
  private struct State {
    var isRequested = false
    var isSignalled = false
    var handlers: [@Sendable () -> Void] = []
    var userHandler: (@Sendable () -> Void)?
  }

  /// How long the work may go on after the request, seconds.
  static let patience = 5.0
  /// The same for a server: requests that have begun go on for some seconds, and then what came of uploads is made
  /// durable and what is being committed ends.
  static let patienceOfServer = 20.0
  /// How long the last message may take, seconds.
  private static let patienceOfMessage = 0.5

  private let state = Mutex(State())
  private let patience: Double
  private let deadlineStackSize: Int
  /// Becomes readable when stopping is asked for.
  let descriptor: Int32
  private let writeEnd: Int32

  /// - Parameters:
  ///   - patience: how long the work may go on after the request, seconds.
  ///   - deadlineStackSize: the bytes of the stacks of the threads that end the process; 0: the usual size.
  init(patience: Double = Interruption.patience, deadlineStackSize: Int = 0) {
    (self.patience, self.deadlineStackSize) = (patience, deadlineStackSize)
    var ends: [Int32] = [-1, -1]
    precondition(pipe(&ends) == 0, "A pipe could not be created; the process has too many open files.")
    (descriptor, writeEnd) = (ends[0], ends[1])
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var (signals, former) = (sigset_t(), sigset_t())
    sigemptyset(&signals)
    for number in [SIGINT, SIGTERM, SIGHUP, SIGUSR1] where psys_ignores(number) == 0 { sigaddset(&signals, number) }
    pthread_sigmask(SIG_BLOCK, &signals, &former)
    let awaited = signals
    do throws(LibraryError) { try OwnThread.start("ledger-signals") { [self] in receive(awaited) } } catch {
      pthread_sigmask(SIG_SETMASK, &former, nil)
    }
  }

  /// Waits for signals, and does what each one asks for.
  private func receive(_ awaited: sigset_t) {
    var number: Int32 = 0
    // A request that came in another way is not a signal: Ctrl-C reaches a child beside its parent's request.
    var isSecond = false
    while true {
      var waited = awaited
      guard sigwait(&waited, &number) == 0 else { continue }
      if number == SIGUSR1 {
        state.withLock { $0.userHandler }?()
        continue
      }
      if isSecond { _exit(128 + number) }
      isSecond = true
      state.withLock { $0.isSignalled = true }
      request(by: number)
    }
  }

  var isRequested: Bool { state.withLock { $0.isRequested } }

  /// Whether it was a signal that asked: then what is under way need not be brought to its end.
  var isSignalled: Bool { state.withLock { $0.isSignalled } }

  /// Asks to stop, as a signal does.
  func request(by signal: Int32 = SIGTERM) {
    let (isFirst, handlers) = state.withLock { state in
      defer { (state.isRequested, state.handlers) = (true, []) }
      return (!state.isRequested, state.handlers)
    }
    if isFirst { endLater(by: signal) }
    var byte: UInt8 = 0
    _ = write(writeEnd, &byte, 1)
    for handler in handlers { handler() }
  }

  /// Ends the process when the time is over, unless it has ended by then.
  private func endLater(by signal: Int32) {
    start("ledger-deadline", after: patience) { [self] in
      // The message may wait for a reader that is not there.
      start("ledger-message", after: Self.patienceOfMessage) { _exit(128 + signal) }
      Output.notice(
        "Stopped by signal \(signal) (\(String(cString: strsignal(signal)))) in the middle of a step that did not end "
          + "within \(Int(patience)) s; only what was committed before it is kept.")
      _exit(128 + signal)
    }
  }

  /// Does something some seconds later. Where the system allows no thread for it, the kernel ends the process a little
  /// after that, by SIGALRM.
  private func start(_ name: String, after seconds: Double, _ body: @escaping @Sendable () -> Void) {
    do throws(LibraryError) {
      try OwnThread.start(name, stackSize: deadlineStackSize) {
        Thread.sleep(forTimeInterval: seconds)
        body()
      }
    } catch {
      signal(SIGALRM, SIG_DFL)
      alarm(UInt32(seconds.rounded(.up)) + 1)
    }
  }

  /// Calls a handler once stopping is asked for; at once if it has been.
  func onRequest(_ handler: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      if !state.isRequested { state.handlers.append(handler) }
      return state.isRequested
    }
    if isLate { handler() }
  }

  /// Sets what is called for each SIGUSR1.
  func onUserSignal(_ handler: @escaping @Sendable () -> Void) { state.withLock { $0.userHandler = handler } }

  /// Requests a stop when a descriptor has no reader any more: a closed pipe, a terminal that hung up.
  func requestWhenClosed(_ descriptor: Int32) {
    // Without a thread the next write says so.
    try? OwnThread.start("ledger-output") { [self] in
      var polled = pollfd(fd: descriptor, events: 0, revents: 0)
      while true {
        let count = poll(&polled, 1, -1)
        if count < 0 && errno == EINTR { continue }
        if count > 0 { request() }
        return
      }
    }
  }
}
