/// What `EventLog.verify` found.
public struct LogVerification: Sendable, Hashable {
  /// What the log was after its first so many events, recomputed from their records.
  public struct State: Sendable, Hashable {
    /// The last of those events, its commit, and the chain up to it.
    public let head: EventLog.Head
    /// The root of the Merkle tree over them (RFC 9162).
    public let root: SHA256Digest
  }

  /// The first difference between the log and what it should be.
  public struct Defect: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of differences.
    public enum Kind: String, Sendable, Hashable {
      /// There is no record where one must be: removed, or the log was cut off.
      case missing
      /// The bytes are no record.
      case malformed
      /// The record is that of another event: reordered, copied, or put in between.
      case misplaced
      /// Header and leaf do not agree, and the chain confirms the leaf.
      case alteredHeader
      /// Salt or payload do not give the commitment.
      case alteredPayload
      /// The commitment was changed: header and payload agree with the leaf.
      case alteredCommitment
      /// The leaf was changed: the chain confirms the one computed.
      case alteredLeaf
      /// The chain does not continue from the event before: this event's chain was changed, or it was put there by
      /// somebody who did not know what came before.
      case brokenChain
      /// The numbers of the commit, or its information, do not continue from the event before.
      case brokenCommit
      /// The stored head is not the last event.
      case headMismatch
      /// The number of the log's format is not one that a program writes, or more than it and the head is stored there.
      case alteredFormat
      /// There are events after the head.
      case surplus
      /// The row of a commit is missing or does not follow from its events. The log itself is sound: rebuild the rows.
      case derivedCommit
      /// The row of an idempotency key is missing, wrong or surplus. The log itself is sound: rebuild the rows.
      case derivedKey
    }

    /// The event at which it was found.
    public let sequence: UInt64
    /// What it is.
    public let kind: Kind
    /// A clause that says more.
    public let detail: String

    /// A sentence naming the event.
    public var description: String { "Event \(sequence): \(kind.rawValue): \(detail)." }
  }

  /// How many events were read and found sound.
  public internal(set) var eventCount: UInt64 = 0
  /// How many of them had their payload erased.
  public internal(set) var erasedCount: UInt64 = 0
  /// How many commits ended among them.
  public internal(set) var commitCount: UInt64 = 0
  /// The end of what was read.
  public internal(set) var head: EventLog.Head
  /// What the log was at each size that was asked for and reached.
  public internal(set) var states: [UInt64: State] = [:]
  /// The first difference; nil when everything is as it should be.
  public internal(set) var defect: Defect?
}
