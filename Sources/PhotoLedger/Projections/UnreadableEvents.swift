package import EventLog
package import LMDB

// Events that cannot be applied, and their quarantine.
//
// An event may be unreadable for this version: its type or version is unknown, its bytes are invalid, or an old value
// does not match. Skipping it would yield another history than the log, so there are two ways, and the owner chooses:
//
//     stop          (the default) every reader of the event fails with an error that names it; nothing is changed
//     quarantined   a rebuild records the event and the reason in `aside`, and continues without it. From then on every
//                   reader treats it as one that changed nothing, `log` shows it as quarantined, `stat` counts it and
//                   `verify` lists it. The next rebuild tries it again: a newer program may know it
//
// Rejected: to take an unknown type for one that changes nothing, as a rule. A skipped fact is not seen until an answer
// is wrong.

/// What a rebuild does with an event that it cannot apply.
public enum UnreadableEventPolicy: Sendable, Hashable {
  /// It ends with a sentence that names the event, and nothing is changed.
  case stop
  /// It quarantines the event with the reason, and continues without it.
  case quarantine
}

/// A quarantined event.
public struct QuarantinedEvent: Sendable, Hashable, CustomStringConvertible {
  /// The place of the event in the log, from 1.
  public let sequence: UInt64
  /// Why it cannot be applied, as a message.
  public let reason: String
  /// Both, as a sentence.
  public var description: String { "Event \(sequence) is quarantined: \(reason)" }
}

extension LibraryError {
  /// Whether an event that cannot be applied may be the cause.
  var isAboutEvents: Bool { code == .newerThanProgram || code == .corrupted }
}

extension Projections {
  /// The most events that one rebuild quarantines: each begins the replay again.
  static let quarantineLimit = 64

  /// The event of a record, as every reader of a log range reads it: a quarantined one changed nothing.
  /// - Throws: ``LibraryError`` `.newerThanProgram` or `.corrupted`, which name the event.
  /// - Complexity: O(1) unless events are quarantined; then O(log n).
  package func event<T: TransactionReading & ~Copyable>(
    _ record: borrowing StoredEvent, in t: borrowing T
  ) throws -> Event {
    try quarantineReason(of: record.sequence, in: t) == nil ? Event(record) : .nothingChanged
  }

  /// Whether any event is quarantined.
  package func hasQuarantined(in t: borrowing some Reading) throws -> Bool { try t.count(of: quarantine) > 0 }

  /// Why an event is quarantined; nil if it is not.
  /// - Complexity: O(1) unless events are quarantined; then O(log n).
  package func quarantineReason(of sequence: UInt64, in t: borrowing some Reading) throws -> String? {
    guard try hasQuarantined(in: t) else { return nil }
    let key: InlineArray<1, UInt64> = [sequence.bigEndian]
    return try t.bytes(for: key.span.bytes, in: quarantine).map { String(decoding: $0, as: UTF8.self) }
  }

  /// All quarantined events, in the order of the log.
  package func quarantined(in t: borrowing some Reading) throws -> [QuarantinedEvent] {
    var events: [QuarantinedEvent] = []
    try t.forEach(in: quarantine) { key, value in
      let reason = value.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      events.append(QuarantinedEvent(sequence: try key.number(at: 0), reason: reason))
      return .proceed
    }
    return events
  }

  /// How many creations an edit of an object weighs, by the pages that a transaction changes for it.
  static let editWeight: UInt64 = 4

  /// Applies an event, or records that it is quarantined.
  /// - Parameter skipped: the quarantined events, with the reasons.
  /// - Throws: ``UnreadableEvent`` if it cannot be applied.
  func applyUnlessQuarantined(
    _ read: ReadEvent, quarantining skipped: [UInt64: String], in t: inout WriteTransaction
  ) throws {
    let sequence = read.sequence
    guard let event = try read.event?.get() else {
      let key: InlineArray<1, UInt64> = [sequence.bigEndian]
      let text = Array(skipped[sequence, default: ""].utf8)
      try t.put(key.span.bytes, text.span.bytes, in: quarantine)
      return
    }
    do {
      try apply(event, sequence: sequence, commit: read.commit, in: &t)
    } catch let failure as LibraryError where failure.isAboutEvents {
      throw UnreadableEvent(sequence: sequence, failure: failure)
    }
  }
}
