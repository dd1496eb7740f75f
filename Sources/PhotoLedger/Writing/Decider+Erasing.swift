import EventLog
import Foundation
import LMDB

extension Decider {
  /// Erases the data of purged assets from the log, and records the replacements (Redaction.swift).
  ///
  /// The files were already removed: an erasure removes them first, since afterwards nothing names them.
  mutating func erase(_ numbers: [ObjectNumber], _ t: inout WriteTransaction) throws {
    let numbers = distinct(numbers)
    precondition(numbers.count <= Event.objectLimit, "Assets are erased in groups of at most \(Event.objectLimit).")
    for number in numbers {
      guard try projections.asset(number, in: t) == nil else {
        throw LibraryError(.changeNotSupported, "Asset \(number) is still in the library; purge it before erasing it.")
      }
    }
    let redactions = try core.redactions(erasing: Set(numbers), t)
    if redactions.isEmpty { return }
    for erased in AssetErased.events(erasing: numbers, redactions) { try record(.assetErased(erased), &t) }
    for redaction in redactions { try log.erasePayload(of: redaction.sequence, in: &t) }
  }
}
