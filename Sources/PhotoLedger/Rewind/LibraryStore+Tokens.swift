import EventLog
import LMDB

// Which commit a token names, for the client that holds it.

extension LibraryStore {
  /// The commit that a client's token names.
  ///
  /// A token of a client revision remains valid when the client gets full access. A token of a commit is valid for a
  /// client without full access only up to the last commit of its full access, so that a client cannot find out the
  /// number of commits by trying.
  /// - Throws: ``LibraryError`` `.invalidToken` for a token of another library or client, or of a state that does not
  ///   exist yet; `.accessUserDenied` or `.accessRestricted` for a client without access.
  /// - Parameter moment: the state of the view, whose permission applies and which bounds the tokens; nil: the current
  ///   state.
  package func commit(
    of token: Token, for client: String, at moment: Moment? = nil, _ t: borrowing StoreReading
  ) throws -> UInt64 {
    try checkLibrary(of: token)
    let permission = try permission(of: client, at: moment, t)
    try permission.checkMayRead(client, "read the history")
    return try commit(of: token, for: client, permission, at: moment, t)
  }

  /// The same for a client without read access: picked assets are named by a token, too.
  package func commit(
    of token: Token, for client: String, _ permission: Permission, at moment: Moment? = nil,
    _ t: borrowing StoreReading
  ) throws -> UInt64 {
    let place = moment == nil ? "this library has not reached" : "did not exist yet at the selected state"
    let unreached = LibraryError(.invalidToken, "The token \(token) names a state that \(place).")
    guard let view = token.view else {
      if permission.access == .full {
        guard try token.position <= head(at: moment, t).commit else { throw unreached }
      } else if try token.position > lastFullCommit(permission, through: moment?.sequence ?? Self.now, t) {
        // One sentence for every position, so that it says nothing about the number of commits.
        throw LibraryError(
          .invalidToken,
          "The token \(token) belongs to another client's view, or names a state that this client has not seen.")
      }
      return token.position
    }
    guard view == Token.view(of: client), let number = permission.client else {
      throw LibraryError(.invalidToken, "The token \(token) belongs to another client.")
    }
    if token.position == 0 { return 0 }
    guard let commit = try core.projections.commit(ofRevision: token.position, of: number, in: t),
      try commit <= head(at: moment, t).commit
    else { throw unreached }
    return commit
  }

  /// - Throws: ``LibraryError`` `.invalidToken` for a token without the mark of the library in which its state was
  ///   reached: a state before a fork bears that of the origin.
  func checkLibrary(of token: Token) throws(LibraryError) {
    guard token.library == (token.view == nil ? core.mark(of: token.position) : core.mark) else {
      throw LibraryError(.invalidToken, "The token \(token) belongs to another library.")
    }
  }

  /// The last commit at which a client saw everything, up to an event; 0 if it never did.
  private func lastFullCommit(
    _ permission: Permission, through last: UInt64, _ t: borrowing StoreReading
  ) throws -> UInt64 {
    guard let client = permission.client else { return 0 }
    for sequence in try core.projections.history(of: client, in: t).reversed() where sequence <= last {
      guard let record = try core.log.event(at: sequence, in: t) else { continue }
      guard Event.typesOfReadAccess.contains(record.type) else { continue }
      let change = try core.projections.event(record, in: t).readAccessChange
      if change?.client == client, change?.status.old == .authorized { return record.commit - 1 }
    }
    return 0
  }
}
