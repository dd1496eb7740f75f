import CSystem
import Foundation

// LMDB maps the file of a store and follows the page numbers in it. In a file that was cut short, overwritten or made
// to harm it can leave the map (SIGBUS, SIGSEGV) or stop at one of its assertions (SIGABRT), and no Swift code can
// catch that. A command is a process of its own, so it need not survive; but it ends with a sentence that names the
// library and with exit status 1, as for any other damage. What LMDB has not committed by then never happened.
//
// Refused: running every command in a child, as `verify` does. It would double the start of each, and a signal sent to
// the program would reach the wrong process; a pipe and a terminal would have two readers. `verify` keeps its child: it
// must answer even when that is killed from outside.

extension Invocation {
  /// Makes a fault of the process a sentence about the library that the command works on, and exit status 1.
  func guardAgainstFaults() {
    let names = command.options.map(\.name)
    guard names.contains(Option.library.name), let path = try? libraryURL().path else { return }
    psys_end_faults_with(
      "photoledger: The command was ended by a fault while it used the library at \(TextLayout.printable(path)): the "
        + "store is damaged below what can be told, or the program is at fault; look at a copy of the library, or "
        + "restore one (")
  }
}
