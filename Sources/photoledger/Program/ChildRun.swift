import Foundation

/// Runs this same program again, with its standard streams, and waits for its end.
enum ChildRun {
  /// How a child ended.
  enum End { case exited(Int32), signalled(Int32) }

  /// - Throws: ``OutputFailure`` if the child cannot be started.
  static func run(_ words: [String]) throws -> End {
    var arguments: [UnsafeMutablePointer<CChar>?] = (["photoledger"] + words).map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var child: pid_t = 0
    let status = posix_spawn(&child, "/proc/self/exe", nil, nil, &arguments, environ)
    guard status == 0 else {
      throw OutputFailure(description: "The program cannot start itself: \(String(cString: strerror(status))).")
    }
    var state: Int32 = 0
    while waitpid(child, &state, 0) < 0 {
      guard errno == EINTR else {
        throw OutputFailure(description: "The child was lost: \(String(cString: strerror(errno))).")
      }
    }
    // The macros WIFEXITED and WTERMSIG of <sys/wait.h>, which Swift does not import.
    let signal = state & 0x7F
    return signal == 0 ? .exited((state >> 8) & 0xFF) : .signalled(signal)
  }
}
