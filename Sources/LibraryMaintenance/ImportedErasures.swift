import EventLog
import LMDB
import PhotoLedger

// A library that follows another one imports events that erase what its own earlier events say. Its rows are those of
// before, while the imported events continue from rows without the erased data. A replay of the redacted log would give
// those; but it differs only in the rows of the erased assets, if each replacement is its event without their data and
// nothing else. So that is checked, and those rows alone are changed.

extension StoreCore {
  /// Applies the erasures of imported events to the log and to the rows of the erased assets, before the imported
  /// events themselves are applied.
  /// - Parameter last: the last event that was applied.
  /// - Throws: ``LibraryError`` `.corrupted` if a replacement makes no event, or is not what the erasure leaves of the
  ///   event.
  /// - Complexity: O(k log n) for k events of the assets, and for the replacements.
  func applyErasures(
    _ erasures: LogErasures, through last: UInt64, in t: inout WriteTransaction
  ) throws {
    try check(erasures, through: last, t)
    for (sequence, (carrier, redaction)) in erasures.replacements.sorted(by: { $0.key < $1.key }) {
      try log.redactions.put(
        sequence, redaction.payload, version: redaction.version, broughtBy: carrier, in: &t)
      try log.erasePayload(of: sequence, in: &t)
    }
    for number in erasures.numbers {
      try projections.forgetFormerFiles(of: number, &t)
      guard let row = try projections.asset(number, in: t) else { continue }
      try projections.eraseRows(leaving: row.redacted, in: &t)
    }
  }

  private func check(_ erasures: LogErasures, through last: UInt64, _ t: borrowing WriteTransaction) throws {
    let numbers = Set(erasures.numbers)
    var touched = Set(erasures.replacements.keys)
    for number in numbers { touched.formUnion(try projections.history(of: number, in: t)) }
    for sequence in touched.sorted() where sequence <= last {
      // No row has anything of a quarantined event.
      if try projections.quarantineReason(of: sequence, in: t) != nil { continue }
      let record = try log.recordedEvent(at: sequence, in: t)
      let type = record.type
      let known = try Event(record)
      var (replaced, left) = (known, erasures.redacted(known, erasing: numbers))
      if let redaction = erasures.replacements[sequence]?.redaction {
        let (given, own) = (redaction.payload, left.payload())
        do {
          replaced = try Event(type: type, version: redaction.version, sequence: sequence, payload: given.span.bytes)
        } catch let failure as LibraryError where failure.code == .corrupted {
          throw LibraryError(
            .corrupted,
            """
            The replacement of the erased event \(sequence) is invalid. \(failure.description) Nothing was imported; \
            run `verify` for the library that the lines were exported from.
            """)
        }
        // As it is read from the log, too.
        left = try Event(type: left.type, version: left.version, sequence: sequence, payload: own.span.bytes)
      }
      guard replaced == left else {
        throw LibraryError(
          .corrupted, "The replacement of event \(sequence) is not what the erasure leaves of the event.")
      }
    }
  }
}

extension LogErasures {
  /// What is left of an event; one that carries replacements leaves newer ones to the events that bring them.
  fileprivate func redacted(_ event: Event, erasing numbers: Set<ObjectNumber>) -> Event {
    guard case .assetErased(var erased) = event else { return event.redacted(of: numbers) }
    erased.redactions.removeAll { replacements[$0.sequence] != nil }
    return .assetErased(erased)
  }
}
