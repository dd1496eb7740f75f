import EventLog
package import Foundation
import LMDB

// Moments that people name, as tokens: the state after an event's commit, or after the last commit up to an instant.

extension PhotoLibrary {
  /// The state of the commit that holds an event.
  /// - Throws: ``LibraryError`` `.invalidToken` if the log has no such event.
  /// - Complexity: O(log n).
  package func token(ofSequence sequence: UInt64) throws -> Token {
    try store.reading { t in
      guard sequence > 0 else { return store.token(0) }
      guard let record = try store.core.log.event(at: sequence, in: t) else {
        let head = try store.core.log.head(t).sequence
        throw LibraryError(.invalidToken, "The log has no event \(sequence); its last one is \(head).")
      }
      return store.token(record.commit)
    }
  }

  /// The state after the last commit that was made at or before an instant.
  /// - Throws: ``LibraryError`` `.invalidToken` if the library is younger.
  /// - Complexity: O(m log n) for the m commits after it: a clock may have been put back, so none is passed over.
  package func token(ofDate date: Date) throws -> Token {
    try store.reading { t in
      var number = try store.core.log.head(t).commit
      while number > 0, let commit = try store.core.log.commit(number, in: t) {
        if CommitSummary(commit).date <= date { return store.token(number) }
        number -= 1
      }
      throw LibraryError(.invalidToken, "The library did not exist at that instant; its first commit is later.")
    }
  }
}
