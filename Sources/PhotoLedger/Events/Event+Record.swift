package import EventLog

extension Event {
  /// Reads the event of a record, or its replacement if the payload was erased.
  package init(_ record: borrowing StoredEvent) throws {
    guard let payload = record.content else {
      throw LibraryError(
        .corrupted,
        """
        The payload of event \(record.sequence) was erased, and its replacement is missing; \
        run `verify`, then `rebuild`.
        """)
    }
    try self.init(type: record.type, version: record.contentVersion, sequence: record.sequence, payload: payload)
  }
}
