package import Foundation
package import PhotoLedger
import EventLog
import LMDB

// Which requests for access wait for an answer.
//
//     client.edited   requested readWrite ─────▶ waits ─────▶ status readWrite ─────▶ answered
//
// A request is an event, and so is its answer, so what waits follows from the client's own history: a request that no
// decision about the level came after, while the level is undecided. Adding is not undecided for a client that may
// read, since that includes it. Rejected: a column of the client's row (another format of the store, for what a handful
// of events says).

/// A pending request of a client for permission.
package struct AccessRequest: Sendable {
  /// The client, with its reasons.
  package let client: Client
  /// The requested level.
  package let level: AccessLevel
  /// The instant of the request.
  package let date: Date
}

/// What a client may do, and what it waits for, in one state of the library.
package struct ClientAccess: Sendable, Equatable {
  package let readWrite: AuthorizationStatus
  package let addOnly: AuthorizationStatus
  /// The levels with a request that waits for an answer.
  package var waiting: [AccessLevel] = []
  /// Whether what the client has access to follows an album: the owner adds assets to the album then.
  package var followsAlbum = false

  package subscript(level: AccessLevel) -> AuthorizationStatus { level == .readWrite ? readWrite : addOnly }
}

extension PhotoLibrary {
  /// The requests that wait for an answer, in the order of the clients' registration.
  /// - Throws: ``LibraryError`` `.accessUserDenied` for any client but the owner; what the store throws.
  /// - Complexity: O(c) for c clients, and one read for each event of an undecided one, from its newest to its request.
  package func accessRequests() throws -> [AccessRequest] {
    try checkIsOwner("list requests for permission")
    return try store.reading { t in
      var rows: [ClientRow] = []
      try store.forEachClient(at: nil, t) { rows.append($0) }
      var found: [AccessRequest] = []
      for row in rows {
        for request in try store.requests(of: row, t) {
          found.append(AccessRequest(client: try store.client(row, t), level: request.level, date: request.date))
        }
      }
      return found
    }
  }

  /// What this client may do and waits for now, read at once: no commit comes between two parts of it.
  /// - Throws: what the store throws.
  /// - Complexity: O(log n), and one read for each event of an undecided client, from its newest to its request.
  package func clientAccess() throws -> ClientAccess {
    if client == Self.owner { return ClientAccess(readWrite: .authorized, addOnly: .authorized) }
    return try store.reading { t in try clientAccess(t) }
  }

  /// The same of a client other than the owner, in a snapshot.
  func clientAccess(_ t: borrowing StoreReading) throws -> ClientAccess {
    guard let row = try store.core.projections.client(named: client, in: t) else {
      return ClientAccess(readWrite: .notDetermined, addOnly: .notDetermined)
    }
    return ClientAccess(
      readWrite: row.authorizationStatus(for: .readWrite), addOnly: row.authorizationStatus(for: .addOnly),
      waiting: try store.requests(of: row, t).map(\.level), followsAlbum: row.followedAlbum != nil)
  }
}

extension LibraryStore {
  /// The requests of a client that wait for an answer.
  fileprivate func requests(
    of row: ClientRow, _ t: borrowing StoreReading
  ) throws -> [(level: AccessLevel, date: Date)] {
    var found: [(level: AccessLevel, date: Date)] = []
    for level in [AccessLevel.readWrite, .addOnly] where row.authorizationStatus(for: level) == .notDetermined {
      guard let date = try lastRequest(of: row.number, level, t) else { continue }
      found.append((level, date))
    }
    return found
  }

  /// The time of a client's last request for a level; nil if it was decided since, or there is none.
  fileprivate func lastRequest(
    of client: ObjectNumber, _ level: AccessLevel, _ t: borrowing StoreReading
  ) throws -> Date? {
    for sequence in try core.projections.history(of: client, in: t).reversed() {
      guard let record = try core.log.event(at: sequence, in: t), record.type == "client.edited",
        case .clientEdited(let edited) = try Event(record)
      else { continue }
      if edited.statuses[level] != nil { return nil }
      if edited.requested == level { return try core.log.commit(record.commit, in: t).map { CommitSummary($0).date } }
    }
    return nil
  }
}
