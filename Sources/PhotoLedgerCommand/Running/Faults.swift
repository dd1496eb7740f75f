import CSystem
import Foundation

// LMDB maps the file of a store and follows the page numbers in it. In a file that was cut short, overwritten or made
// to harm it can leave the map (SIGBUS, SIGSEGV) or stop at one of its assertions (SIGABRT), and no Swift code can
// catch that. A command is a process of its own, so it need not survive; but it ends with a sentence that names the
// library and with exit status 1, as for any other damage. What LMDB has not committed by then never happened.
//
// Rejected: running every command in a child, as `verify` does. It would double the start of each, and a signal sent to
// the program would reach the wrong process; a pipe and a terminal would have two readers. `verify` keeps its child: it
// must answer even when that is killed from outside.
//
// A sound store can end the process, too: in a file system that lies in memory and is full, a page of a mapped file
// finds no room at its first touch (SIGBUS). The handler cannot distinguish the two, so the message names both.

extension Invocation {
  /// The library's directory; none if the command takes no library, or the library cannot be located.
  var libraryPaths: [String] {
    guard command.options.contains(where: { $0.name == Option.library.name }) else { return [] }
    return (try? libraryLocation().url.path).map { [$0] } ?? []
  }

  /// Makes a fault of the process a sentence about what the command works on, and exit status 1.
  func guardAgainstFaults() {
    let places = command.places(self).map { TextLayout.printable($0) }
    guard !places.isEmpty else {
      // The process that started an internal command puts its fault into words; the signal has to arrive there.
      if command.isInternal { psys_end_by_faults() }
      return
    }
    psys_end_faults_with(
      "photoledger: The command crashed while it used the store at \(places.joined(separator: " and ")): "
        + "the store is too damaged to be reported in detail, or its file system in memory (tmpfs) is full, or "
        + "the program has a bug; free some space if it is full, examine a copy of the library, or restore one (")
  }
}
