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
      /// The bytes are not a record.
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
      /// The chain does not continue from the event before: this event's chain was changed, or it was inserted without
      /// knowledge of the preceding events.
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
  /// What the log was at each size that was asked for and reached, each worked out when it is asked for here.
  ///
  /// - Complexity: O(m log n) hashes for m sizes.
  public var states: [UInt64: State] { edges.mapValues { State(head: $0.head, root: $0.frontier.root) } }
  /// The first difference; nil when everything is as it should be.
  public internal(set) var defect: Defect?

  /// How many of the commits have an idempotency key.
  var keyCount = 0
  /// Whether what was read ends with a commit.
  var endsCommit = true
  /// The Merkle tree over what was read, up to the largest size that was asked for.
  var frontier = MerkleFrontier()
  /// What the states at the sizes that were asked for follow from.
  var edges: [UInt64: Edge] = [:]

  struct Edge: Hashable {
    let head: EventLog.Head
    var frontier: MerkleFrontier
  }

  /// Adds what the verification of the events that follow has found.
  mutating func append(_ next: Self) {
    for (size, edge) in next.edges {
      var whole = frontier
      whole.append(edge.frontier)
      edges[size] = Edge(head: edge.head, frontier: whole)
    }
    frontier.append(next.frontier)
    eventCount += next.eventCount
    erasedCount += next.erasedCount
    commitCount += next.commitCount
    keyCount += next.keyCount
    (head, endsCommit, defect) = (next.head, next.endsCommit, next.defect)
  }
}
