import Foundation

/// The descriptors 0, 1 and 2.
///
/// A process can be started without some of them. The next file that is opened would get such a number: a message would
/// be written into the store, and commands would be read from a pipe of the program's own.
enum StandardDescriptors {
  /// Opens the null device for each that is closed; called before anything else is opened.
  ///
  /// Input is opened for writing and output for reading, as by GNU's programs: a command that needs one of them fails
  /// with a message instead of losing what it reads or prints.
  static func replaceClosed() {
    for (number, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY)]
    where fcntl(number, F_GETFD) < 0 && errno == EBADF {
      // The lowest free number is the one that is missing. Without a null device nothing can be done, nor said.
      guard open("/dev/null", mode) == number else { _exit(ExitStatus.failed.rawValue) }
    }
  }
}
