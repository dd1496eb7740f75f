public import LMDB

// A record outside its log: what can be proved of an event by its own bytes. The leaf follows from header and
// commitment, the commitment from salt and payload; only the chain needs the event before.

/// What the bytes of one record prove by themselves.
public struct RecordEvidence: Sendable, Hashable {
  /// The place of the event in the log, from 1.
  public let sequence: UInt64
  /// The number of its commit.
  public let commit: UInt64
  /// What happened; names the schema of the payload.
  public let type: String
  /// The leaf hash, recomputed from the header and the commitment.
  public let leaf: SHA256Digest
  /// Whether the payload was erased, so that only its commitment is left.
  public let isErased: Bool
  /// The version of the schema of the payload.
  public let version: UInt32
  /// A copy of the payload; nil when it was erased.
  public let payload: [UInt8]?
  /// The chain up to it, as stored; what the record by itself does not prove.
  public let chain: SHA256Digest

  /// Recomputes commitment and leaf of `record`.
  ///
  /// - Throws: `corrupted` when the bytes are not a record, or their hashes do not agree.
  /// - Complexity: O(bytes).
  public init(of record: RawSpan) throws(EventLogError) {
    let event: StoredEvent
    do throws(CBORError) {
      event = try StoredEvent(decoding: record)
      guard event.typeBytes.isText else { throw CBORError(.invalidText, at: event.typeOffset) }
    } catch {
      throw EventLogError(error, of: "the record")
    }
    (sequence, commit, type, isErased) = (event.sequence, event.commit, event.type, event.isErased)
    (version, payload, chain) = (event.version, event.payloadBytes, event.chain)
    leaf = EventRecord.leaf(header: event.header, commitment: event.commitment)
    guard leaf == event.leaf else {
      throw EventLogError(.corrupted, sequence: sequence, "header and commitment do not give the leaf")
    }
    guard let salt = event.salt, let payload = event.payload else { return }
    let commitment = salt.withUnsafeBytes { EventRecord.commitment(salt: $0, payload: payload) }
    guard commitment == event.commitment else {
      throw EventLogError(.corrupted, sequence: sequence, "salt and payload do not give the commitment")
    }
  }
}

extension RecordEvidence {
  /// Whether its chain continues from the chain of the event before it.
  ///
  /// - Parameter previous: the chain up to the event before; `SHA256Digest.zero` before the first.
  public func isChained(after previous: SHA256Digest) -> Bool {
    EventRecord.chain(after: previous, leaf: leaf) == chain && (sequence != 1 || previous == .zero)
  }
}

extension EventLog {
  /// A copy of the bytes of the record of event `sequence`; nil when there is none.
  ///
  /// - Throws: `storage`.
  /// - Complexity: O(log n + bytes).
  public func record(
    at sequence: UInt64, in t: borrowing some TransactionReading & ~Copyable
  ) throws(EventLogError) -> [UInt8]? {
    do { return try t.bytes(for: sequence, in: events) } catch { throw EventLogError(error) }
  }
}
