// What an event does to a client's permission to read, for every reader that follows permissions: deltas, live results,
// tokens, persistent changes and the audit. Rejected: each reader's own look at the events of clients, which a new
// event that changes a permission would pass by.

/// A client's permission to read before and after an event.
package struct ReadAccessChange: Equatable, Sendable {
  package var client: ObjectNumber
  package var status: Replacement<AuthorizationStatus>
}

extension Event {
  /// The types of the events that may have a ``readAccessChange``: a reader of a client's history passes over all
  /// others without reading their payloads.
  package static let typesOfReadAccess: Set<String> = ["client.registered", "client.erased", "client.edited"]

  /// What the event does to a client's permission to read; nil if nothing. A registration has one in any case.
  package var readAccessChange: ReadAccessChange? {
    let found: ReadAccessChange?
    switch self {
    case .clientRegistered(let row):
      found = .init(client: row.number, status: .init(old: .notDetermined, new: row.readWrite.status))
    case .clientErased(let row):
      found = .init(client: row.number, status: .init(old: row.readWrite.status, new: .notDetermined))
    case .clientEdited(let edited):
      found = edited.statuses[.readWrite].map { ReadAccessChange(client: edited.number, status: $0) }
    case .libraryCreated, .libraryForked, .assetCreated, .assetPurged, .assetsEdited, .assetErased, .collectionCreated,
      .collectionErased, .collectionEdited, .arranged, .pickRecorded, .pickErased, .historyShortened, .nothingChanged:
      return nil
    }
    assert(found == nil || Self.typesOfReadAccess.contains(type), "Add '\(type)' to 'typesOfReadAccess'.")
    return found
  }
}
