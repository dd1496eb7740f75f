import EventLog
import Foundation
import LMDB
import Synchronization

// A library at a moment.
//
// `library.at(…)` is a view as `library.as(…)` is one: the same engine, with a moment (the selected commit) beside the
// client's name. Every reading function reads the state at the view's moment, or the current state without one; every
// changing one fails. Creating a view only looks up the commit.
//
// A moment is a commit, since only whole commits were ever visible: a sequence inside one selects all of it. A date
// selects the last commit made at or before it by its own time. Clocks are sometimes set back, so times need not ascend
// with the commits: of two matching commits the later one in the log is used. The smart album of recent additions,
// which depends on the day, is shown as of the given date, or else of the commit.
//
// Permissions. The view shows what the client had access to at the moment, by its permission and selection at the time:
// showing a client what it has already seen discloses nothing. To ensure that, the client can select only states that
// it knows. It must have read access today; without full access today, it uses its own tokens and dates, which select
// its last client revision (ClientRevisions.swift), and not sequences, which count the commits of others. Bytes also
// require today's permission. The owner may view a moment as any client: `library.at(token).as(client)`.

/// One commit as a place to look from; it keeps what it took to find out what was otherwise.
package final class Moment: Sendable {
  package let commit: UInt64
  /// The last event of the commit.
  let sequence: UInt64
  /// The instant that the view takes for now.
  let date: Date
  /// The differences from the named head, computed on first use, with the number of events that had been withdrawn from
  /// the log (EarlierStates.swift); guarded by its lock.
  let known = Mutex<(head: UInt64, withdrawn: Int, overlay: StateOverlay)?>(nil)

  init(commit: UInt64, sequence: UInt64, date: Date) {
    (self.commit, self.sequence, self.date) = (commit, sequence, date)
  }
}
