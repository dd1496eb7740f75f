package import Foundation
package import PhotoLedger
import EventLog
import LMDB

// Which requests for access wait for an answer.
//
//     client.edited   requested readWrite ─────▶ waits ─────▶ status readWrite ─────▶ answered
//
// A request is an event, and so is its answer, so what waits follows from the client's own history: a request that no
// decision about the level came after, while the level is undecided. Rejected: a column of the client's row (another
// format of the store, for what a handful of events says).

/// A pending request of a client for permission.
package struct AccessRequest: Sendable {
  /// The client, with its reasons.
  package let client: Client
  /// The requested level.
  package let level: AccessLevel
  /// The instant of the request.
  package let date: Date
}

extension PhotoLibrary {
  /// The requests that wait for an answer, in the order of the clients' registration.
  /// - Parameter name: only those of this client; nil: of all, for the owner.
  /// - Throws: ``LibraryError`` `.accessUserDenied` for any client but the owner, and the client itself; what the store
  ///   throws.
  /// - Complexity: O(c) for c clients, and one read for each event of an undecided one, from its newest to its request.
  package func accessRequests(of name: String? = nil) throws -> [AccessRequest] {
    if name?.exact != client.exact { try checkIsOwner("list requests for permission") }
    return try store.reading { t in
      var rows: [ClientRow] = []
      if let name {
        if let row = try store.core.projections.client(named: name, in: t) { rows.append(row) }
      } else {
        try store.forEachClient(at: nil, t) { rows.append($0) }
      }
      var found: [AccessRequest] = []
      for row in rows {
        for level in [AccessLevel.readWrite, .addOnly] where row[level].status == .notDetermined {
          guard let date = try store.lastRequest(of: row.number, level, t) else { continue }
          found.append(AccessRequest(client: try store.client(row, t), level: level, date: date))
        }
      }
      return found
    }
  }
}

extension LibraryStore {
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
