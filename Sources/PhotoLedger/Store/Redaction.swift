import EventLog
import Foundation
package import LMDB

// The replacement of a payload after one of its assets was erased.
//
// An event may concern 256 assets and the counts of albums, so its payload cannot simply be deleted: the rest of it is
// still true and needed. The replacement has the same structure, without the data of the erased asset, and nothing else
// removed:
//
//     existence            the row with number, identifier, the dates of commits, and how far it was visible; no files
//     edits                none but those of such a date and of how far it was visible; counts of albums stay
//     places               stay: they hold numbers alone
//
// How far an asset was visible (hidden, in the trash, behind its burst) stays because the counts of albums count on it:
// an as-of view must hold as many members as it says. So the rows go on to fit each other: every inverse, every
// replay and every as-of view is computed as before, and shows an asset of which only `isErased` is known.
//
// The identifier remains. It is random and reveals nothing, and an audit of the log can name what was erased. So do the
// headers of commits, which are hashed: client, time, cause and idempotency key.
//
// The replacement is carried by the payload of an event (`asset.erased`), which is chained like every other. When
// another asset of the same event is erased later, that event's payload contains it too; then it is itself erased, and
// the new event carries the replacements of both. The newest always wins:
//
//     17 assets.edited   [4, 5, 6]  ◀── 90 asset.erased {17: [–, 5, 6]}  ◀── 95 asset.erased {17: [–, –, 6], 90: {}}
//
// What a commit erases of an asset is all of it: an event that says what a property was before would not fit an earlier
// one that no longer says it, and no replay would get past it. But an event says more of others than of the one asset,
// and a few assets can have replacements beyond what a commit holds. So it is assets that are erased in several commits
// (`EventsToErase.swift`), one after another, as though each had been asked for by itself.
//
// No row leads to a quarantined event, so those are decoded and searched; there are few. It stays quarantined as long
// as its replacement does not apply.

extension AssetRow {
  /// What is known of the row's asset once it was erased.
  package var redacted: AssetRow {
    var row = AssetRow(number: number, identifier: identifier, addedDate: addedDate)
    for field in AssetField.allCases where field.isKeptByErasure {
      precondition(row.set(field, self[field]), "An asset has \(self[field]) for the property \(field.name).")
    }
    row.flags.insert(.erased)
    row.burstIdentifier = burstIdentifier == nil ? nil : Self.erasedBurst
    return row
  }

  /// The replacement of the burst identifier of an erased asset.
  static let erasedBurst = "erased"
}

extension AssetField {
  /// Whether it reveals no more than the header of a commit, or the counts of albums count on it.
  package var isKeptByErasure: Bool { property.traits.contains(.keptByErasure) }
}

extension AssetEdit {
  fileprivate var redacted: AssetEdit {
    AssetEdit(number: number, changes: changes.filter(\.field.isKeptByErasure))
  }
}

extension AssetExistence {
  fileprivate var redacted: AssetExistence {
    var existence = self
    (existence.row, existence.details) = (row.redacted, AssetDetails())
    return existence
  }
}

extension Event {
  /// The event without the data of some assets.
  package func redacted(of numbers: Set<ObjectNumber>) -> Event {
    switch self {
    case .assetCreated(let existence) where numbers.contains(existence.row.number):
      return .assetCreated(existence.redacted)
    case .assetPurged(let existence) where numbers.contains(existence.row.number):
      return .assetPurged(existence.redacted)
    case .assetsEdited(var edited):
      edited.edits = edited.edits.map { numbers.contains($0.number) ? $0.redacted : $0 }
      return .assetsEdited(edited)
    case .libraryCreated, .assetCreated, .assetPurged, .collectionCreated, .collectionErased, .collectionEdited,
      .arranged, .clientRegistered, .clientErased, .clientEdited, .pickRecorded, .pickErased, .historyShortened,
      .assetErased, .libraryForked, .nothingChanged:
      return self
    }
  }
}

extension AssetErased {
  /// The maximum size of the redactions in one event, unless a single one is longer.
  private static let byteLimit = 4 << 20

  /// Events that together bring redactions, given in ascending order; at least one.
  static func events(erasing numbers: [ObjectNumber], _ redactions: [Redaction]) -> [AssetErased] {
    var events = [AssetErased(numbers: numbers, redactions: [])]
    var byteCount = 0
    for redaction in redactions {
      if byteCount > 0, byteCount + redaction.payload.count > byteLimit {
        events.append(AssetErased(numbers: numbers, redactions: []))
        byteCount = 0
      }
      events[events.count - 1].redactions.append(redaction)
      byteCount += redaction.payload.count
    }
    return events
  }
}

// MARK: - Reading what has to go

extension StoreCore {
  /// The replacements of the payloads with data of some assets, ascending by sequence, including payloads that carry a
  /// current replacement.
  /// - Throws: as ``checkQuarantined(for:_:)``.
  /// - Complexity: O(k log n) for k events of the assets.
  func redactions<T: TransactionReading & ~Copyable>(
    erasing numbers: Set<ObjectNumber>, _ t: borrowing T
  ) throws -> [AssetErased.Redaction] {
    try checkQuarantined(for: numbers, t)
    var found: [UInt64: AssetErased.Redaction] = [:]
    var touching = Set(try quarantined(naming: numbers, t).sequences)
    for number in numbers { touching.formUnion(try projections.history(of: number, in: t)) }
    // An event that brings something for others comes after all of them, so in this order each is met when all that it
    // no longer has to bring is known. Both lists descend: the next event is the last of one of them, or of both.
    var own = touching.sorted(by: >)
    var carriers: [UInt64] = []
    while let sequence = [own.last, carriers.last].compactMap({ $0 }).min() {
      if own.last == sequence { own.removeLast() }
      if carriers.last == sequence { carriers.removeLast() }
      guard let redaction = try self.redaction(of: sequence, erasing: numbers, superseding: found, t) else {
        continue
      }
      found[sequence] = redaction
      guard let carrier = try log.redactions.carrier(of: sequence, in: t) else { continue }
      // An altered row could lead back, and so without end.
      guard carrier > sequence else {
        throw LibraryError(
          .corrupted,
          "Event \(carrier) is recorded as the replacement of event \(sequence), but does not follow it; run `verify`, "
            + "then `rebuild`.")
      }
      let place = carriers.lowerBound { $0 > carrier }
      if place == carriers.count || carriers[place] != carrier { carriers.insert(carrier, at: place) }
    }
    return found.values.sorted { $0.sequence < $1.sequence }
  }

  /// The replacement of the payload of one event; nil if it may be kept.
  /// - Parameter others: the events for which a new event carries the replacement, so that this one no longer has to.
  private func redaction<T: TransactionReading & ~Copyable>(
    of sequence: UInt64, erasing numbers: Set<ObjectNumber>, superseding others: [UInt64: AssetErased.Redaction],
    _ t: borrowing T
  ) throws -> AssetErased.Redaction? {
    let event = try self.event(at: sequence, t)
    var redacted = event.redacted(of: numbers)
    if case .assetErased(let erased) = event {
      let kept = erased.redactions.filter { others[$0.sequence] == nil }
      redacted = .assetErased(AssetErased(numbers: erased.numbers, redactions: kept))
    }
    return redacted == event
      ? nil : AssetErased.Redaction(sequence: sequence, version: redacted.version, payload: redacted.payload())
  }

  private func event<T: TransactionReading & ~Copyable>(at sequence: UInt64, _ t: borrowing T) throws -> Event {
    let record = try log.recordedEvent(at: sequence, in: t)
    return try Event(record)
  }

  /// The quarantined events that name some assets, and the first one that cannot be decoded and may name them.
  /// - Complexity: O(1) unless events are quarantined; then O(n) in their bytes.
  package func quarantined<T: TransactionReading & ~Copyable>(
    naming numbers: Set<ObjectNumber>, _ t: borrowing T
  ) throws -> (sequences: [UInt64], undecodable: UInt64?) {
    var found: (sequences: [UInt64], undecodable: UInt64?) = ([], nil)
    guard try projections.hasQuarantined(in: t), let oldest = numbers.min() else { return found }
    // An asset has the number of the event that created it, so no earlier one names it.
    for sequence in try projections.quarantined(in: t).map(\.sequence) where sequence >= oldest {
      do {
        let event = try self.event(at: sequence, t)
        if !numbers.isDisjoint(with: event.touched) { found.sequences.append(sequence) }
      } catch let error as LibraryError where error.code == .newerThanProgram || error.code == .corrupted {
        found.undecodable = found.undecodable ?? sequence
      }
    }
    return found
  }

  /// Checks that what quarantined events say of some assets can be erased.
  /// - Throws: ``LibraryError`` `.changeNotSupported` if one may name them and cannot be decoded.
  /// - Complexity: O(1) unless events are quarantined; then O(n) in their bytes.
  package func checkQuarantined<T: TransactionReading & ~Copyable>(
    for numbers: Set<ObjectNumber>, _ t: borrowing T
  ) throws {
    guard let sequence = try quarantined(naming: numbers, t).undecodable else { return }
    throw LibraryError(
      .changeNotSupported,
      """
      Event \(sequence) is quarantined, cannot be decoded, and may have data of what is to be erased, so nothing is \
      erased; rebuild by a program that knows the event, then erase.
      """)
  }

  /// Rewrites the table of replacements from the events that carry them, if it differs.
  /// - Returns: whether it did.
  /// - Complexity: O(n) in events, and in replacements.
  @discardableResult
  package func deriveRedactions(_ t: inout WriteTransaction) throws -> Bool {
    let rows = try redactionRows(t)
    if try holds(rows, t) { return false }
    try t.clear(log.redactions.database)
    for (sequence, row) in rows.sorted(by: { $0.key < $1.key }) {
      try t.put(sequence, row, in: log.redactions.database)
    }
    return true
  }

  /// Whether the table of replacements agrees with the events that carry them.
  /// - Complexity: O(n) in events, and in replacements.
  func derivesRedactions<T: TransactionReading & ~Copyable>(_ t: borrowing T) throws -> Bool {
    try holds(redactionRows(t), t)
  }

  private func redactionRows<T: TransactionReading & ~Copyable>(_ t: borrowing T) throws -> [UInt64: [UInt8]] {
    try erasures(after: 0, t).replacements.mapValues { carrier, redaction in
      RedactionTable.row(redaction.payload, version: redaction.version, broughtBy: carrier)
    }
  }

  /// What the events after a place erase, read from themselves alone.
  /// - Complexity: O(n) in events after the place, and in replacements.
  package func erasures<T: TransactionReading & ~Copyable>(
    after sequence: UInt64, _ t: borrowing T
  ) throws -> LogErasures {
    // All events are read whole beside this: by the check of the log before a rebuild, or as they are applied.
    let bringing = try log.sequences(ofType: AssetErased.type, after: sequence, in: t)
    var found = LogErasures()
    for carrier in bringing.reversed() {
      // The table may be wrong, or lack them yet, so it is not used.
      let erased = try brought(by: carrier, found.replacements[carrier]?.redaction, t)
      found.numbers += erased.numbers.reversed()
      for redaction in erased.redactions
      where found.replacements[redaction.sequence] == nil && redaction.sequence < carrier {
        found.replacements[redaction.sequence] = (carrier, redaction)
      }
    }
    found.numbers = distinct(found.numbers.reversed())
    return found
  }

  /// The payload of an event that carries replacements; if it was itself erased, its replacement from a later one.
  private func brought<T: TransactionReading & ~Copyable>(
    by carrier: UInt64, _ later: AssetErased.Redaction?, _ t: borrowing T
  ) throws -> AssetErased {
    let record = try log.recordedEvent(at: carrier, in: t)
    let version = record.isErased ? later?.version : record.version
    guard let payload = record.payloadBytes ?? later?.payload, let version else {
      throw LibraryError(
        .corrupted, "The payload of event \(carrier) was erased, and no later event carries its replacement.")
    }
    let event = try Event(type: record.type, version: version, sequence: carrier, payload: payload.span.bytes)
    guard case .assetErased(let erased) = event else {
      preconditionFailure("The event has another type than requested.")
    }
    return erased
  }

  /// Whether the table of redactions has these rows and no other.
  private func holds<T: TransactionReading & ~Copyable>(
    _ rows: [UInt64: [UInt8]], _ t: borrowing T
  ) throws -> Bool {
    guard try t.count(of: log.redactions.database) == rows.count else { return false }
    for (sequence, row) in rows where try t.bytes(for: sequence, in: log.redactions.database) != row { return false }
    return true
  }
}

/// What events of a part of the log erase of earlier ones.
package struct LogErasures {
  /// The erased assets, in the order of the erasures.
  package fileprivate(set) var numbers: [ObjectNumber] = []
  /// The newest replacement of each event that they bring one for.
  package fileprivate(set) var replacements: [UInt64: (carrier: UInt64, redaction: AssetErased.Redaction)] = [:]
}

extension AssetErased {
  /// The name of the event's type in the log.
  package static let type = "asset.erased"
}
