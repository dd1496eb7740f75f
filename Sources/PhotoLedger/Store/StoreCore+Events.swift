package import EventLog
package import LMDB

// The events of a part of the log, and single ones that it must have.

extension EventLog {
  /// An event that the log must have, in place.
  /// - Throws: ``LibraryError`` `.corrupted` if there is none at this place; what a read of the log throws.
  /// - Complexity: O(log n), n the number of events.
  @_lifetime(borrow t)
  package func recordedEvent<T: TransactionReading & ~Copyable>(
    at sequence: UInt64, in t: borrowing T
  ) throws -> StoredEvent {
    guard let record = try event(at: sequence, in: t) else { throw LibraryError.missingEvent(sequence) }
    return record
  }
}

extension StoreCore {
  /// All events of a log range.
  func events<T: TransactionReading & ~Copyable>(
    _ sequences: ClosedRange<UInt64>, _ t: borrowing T
  ) throws -> [(sequence: UInt64, commit: UInt64, event: Event)] {
    var events: [(sequence: UInt64, commit: UInt64, event: Event)] = []
    try log.read(after: sequences.lowerBound - 1, limit: sequences.count, in: t) { record in
      events.append((record.sequence, record.commit, try projections.event(record, in: t)))
      return .proceed
    }
    guard events.count == sequences.count else {
      throw LibraryError.missingEvent(sequences.lowerBound + UInt64(events.count))
    }
    return events
  }

  /// The events of a part of the log; nil if the payload of one was erased.
  package func eventsUnlessErased<T: TransactionReading & ~Copyable>(
    _ sequences: ClosedRange<UInt64>, _ t: borrowing T
  ) throws -> [(sequence: UInt64, commit: UInt64, event: Event)]? {
    var isErased = false
    try log.read(after: sequences.lowerBound - 1, limit: sequences.count, in: t) { record in
      isErased = isErased || record.payload == nil
      return isErased ? .stop : .proceed
    }
    return isErased ? nil : try events(sequences, t)
  }
}
