import EventLog
import LMDB

extension PhotoLibrary {
  /// The state of now, or of the moment that the view shows (PH-01).
  /// - Throws: ``LibraryError`` if the store cannot be read.
  public var currentToken: Token {
    get throws {
      try store.reading { t in
        try store.core.token(try store.head(at: moment, t).commit, for: client, by: try permission(t), t)
      }
    }
  }

  /// The earliest state since which changes are available: that before the first commit, unless the history was
  /// shortened (PH-06).
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(log² n).
  public var earliestToken: Token {
    get throws {
      try store.reading { t in
        let first = try store.firstToldCommit(at: moment, t)
        return try store.core.token(first == 0 ? 0 : first - 1, for: client, by: try permission(t), t)
      }
    }
  }
}
