import EventLog
package import Foundation
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
        let first = try store.firstAvailableCommit(at: moment, t)
        return try store.core.token(first == 0 ? 0 : first - 1, for: client, by: try permission(t), t)
      }
    }
  }

  /// How a state that this client has been given lies to that of another token, by the order of the commits: tokens of
  /// a fork bear two marks, so their own order says nothing there.
  /// - Parameters:
  ///   - state: a token of this client's, such as that of a result or of a change.
  ///   - token: the token to compare it with; it may name a state that is still to come.
  /// - Throws: ``LibraryError`` `.invalidToken` for a token of another library or client, and for one of a state that
  ///   does not exist yet and is not counted as `state` is; the store's errors.
  /// - Complexity: O(1); O(log n) if one of the two counts commits and the other client revisions.
  package func order(of state: Token, to token: Token) throws -> ComparisonResult {
    for one in [token, state] { try store.checkLibrary(of: one) }
    if state.view == token.view { return state.position.order(to: token.position) }
    return try store.reading { t in
      let permission = try self.permission(t)
      let end = try store.commit(of: token, for: client, permission, at: moment, t)
      return try store.commit(of: state, for: client, permission, at: moment, t).order(to: end)
    }
  }
}

extension UInt64 {
  fileprivate func order(to other: UInt64) -> ComparisonResult {
    self < other ? .orderedAscending : self == other ? .orderedSame : .orderedDescending
  }
}
