import EventLog
package import LMDB

// The events of a part of the log.

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
      let missing = sequences.lowerBound + UInt64(events.count)
      throw LibraryError(.corrupted, "The log lacks event \(missing); run `verify`.")
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
