import EventLog
import Foundation
import LMDB
import Synchronization

// A library at a moment.
//
// `library.at(…)` is a view as `library.as(…)` is one: the same engine, and a moment beside the name of who looks.
// Every reading function asks the store for the state at the view's moment, which is now where there is none; every
// changing one refuses. Nothing is read when the view is made but where the moment is.
//
// A moment is a commit, since only commits were ever seen by anybody: a sequence inside one stands for the whole of it.
// A date stands for the last commit that was made at or before it by its own time. Clocks are set back now and then, so
// times need not ascend with the commits: of two commits the later one in the log counts, whatever the times between
// say. What hangs on the day, the smart album of what was added recently, is shown as of the date that was asked for,
// or of the commit where none was.
//
// Who may see what. The view shows what the client saw at the moment, by its permission and selection of then: to be
// shown again what one saw is no disclosure. So that it is none, the client may name only what it knows. It must be
// allowed to read today; if it does not see everything today, it goes by its own tokens and by dates, which lead to the
// last sighting of its own (Sightings.swift), and not by sequences, which count what others did. Bytes are given by the
// permission of today besides. The owner may look at a moment through the eyes of any client:
// `library.at(token).as(client)`.

/// One commit as a place to look from; it keeps what it took to find out what was otherwise.
final class Moment: Sendable {
  let commit: UInt64
  /// The last event of the commit.
  let sequence: UInt64
  /// The instant that the view takes for now.
  let date: Date
  /// What was otherwise than at the head that is named, once somebody has asked; guarded by its lock.
  let known = Mutex<(head: UInt64, past: Past)?>(nil)

  init(commit: UInt64, sequence: UInt64, date: Date) {
    (self.commit, self.sequence, self.date) = (commit, sequence, date)
  }
}
