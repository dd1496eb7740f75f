import EventLog
import LMDB
package import PhotoLedger

// What the log says of assets that are to be erased; what an erasure leaves of it is in Redaction.swift of the core.

extension Event {
  /// The files of an asset that the event names.
  package func resources(of number: ObjectNumber) -> [AssetResource] {
    switch self {
    case .assetCreated(let existence) where existence.row.number == number: existence.details.resources
    case .assetPurged(let existence) where existence.row.number == number: existence.details.resources
    case .assetsEdited(let edited):
      edited.edits.filter { $0.number == number }
        .flatMap { ($0.details?.old.resources ?? []) + ($0.details?.new.resources ?? []) }
    case .libraryCreated, .assetCreated, .assetPurged, .collectionCreated, .collectionErased, .collectionEdited,
      .arranged, .clientRegistered, .clientErased, .clientEdited, .pickRecorded, .pickErased, .historyShortened,
      .assetErased, .libraryForked, .nothingChanged:
      []
    }
  }
}

extension StoreCore {
  /// The files that an asset ever named, and the number of events that still contain its data.
  func erasable<T: TransactionReading & ~Copyable>(
    _ number: ObjectNumber, _ t: borrowing T
  ) throws -> (resources: [AssetResource], eventCount: Int) {
    var resources: [AssetResource] = []
    var eventCount = 0
    for sequence in try events(naming: number, t) {
      let record = try log.recordedEvent(at: sequence, in: t)
      let event = try Event(record)
      if event.redacted(of: [number]) != event { eventCount += 1 }
      resources += event.resources(of: number)
    }
    return (distinct(resources), eventCount)
  }

  /// How many of some assets, from the first, one commit can erase: the first, and others as long as their events, with
  /// all that carry replacements of them, have at most so many bytes together.
  ///
  /// The events are counted as they stand, whether or not they say anything of an asset. The replacements are hardly
  /// longer.
  /// - Complexity: O(k log n) for k events of the assets.
  func countErasedTogether<T: TransactionReading & ~Copyable>(
    _ numbers: ArraySlice<ObjectNumber>, upTo byteLimit: Int, _ t: borrowing T
  ) throws -> Int {
    var counted: Set<UInt64> = []
    var byteCount = 0
    for (index, number) in numbers.enumerated() {
      for event in try events(naming: number, t) {
        var sequence = event
        while counted.insert(sequence).inserted, let record = try log.event(at: sequence, in: t) {
          byteCount += record.content?.byteCount ?? 0
          guard let carrier = try log.redactions.carrier(of: sequence, in: t) else { break }
          sequence = carrier
        }
        if index > 0, byteCount > byteLimit { return index }
      }
    }
    return numbers.count
  }

  /// The events that may have data of an asset, ascending, with the quarantined ones that can be decoded.
  private func events<T: TransactionReading & ~Copyable>(
    naming number: ObjectNumber, _ t: borrowing T
  ) throws -> [UInt64] {
    let history = try projections.history(of: number, in: t)
    let others = try quarantined(naming: [number], t).sequences
    return others.isEmpty ? history : Set(history + others).sorted()
  }
}
