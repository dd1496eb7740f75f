public import LMDB
import Synchronization

// The hashes of the Merkle tree over a log, from the leaves that stand in its records.
//
// Complete subtrees never change, since the log only grows and erasing a payload leaves its leaf. So those of 64
// leaves are kept in memory once they were folded, and those of 64 of them, and so on: 32 bytes for 64 events.
//
//     level 12       ▪ ················· ▪                 4,096 leaves each    ┐ kept here, and extended
//     level  6       ▪ ▪ ▪ ············· ▪ ▪ ▪                64 leaves each    ┘ as the log grows
//     level  0       · · · · · · · · · · · · · · · · · · · · the records
//
// A hash at a level between is folded from at most 64 hashes of the kept level beneath it. The first proof of a
// process reads every leaf once; later ones read the 64 around their event, and what was appended since. With 256 a
// proof took 1.8 times as long in a log of a million events, for an eighth of a byte an event instead of a half.
//
// Nothing here is checked against header and payload: `verify` does that, and a checkpoint is made by it alone.

/// The Merkle tree of a log: roots and proofs.
public final class LogTree: Sendable {
  private let log: EventLog
  private let kept = Mutex(KeptHashes())

  /// The tree over the events of `log`.
  public init(of log: EventLog) { self.log = log }

  /// The root of the tree over the first `size` events (MTH of RFC 9162, 2.1.1).
  ///
  /// - Throws: `invalidField` when the log has fewer, `corrupted`, `storage`.
  /// - Complexity: O(log n) beside what was not yet read; O(n) the first time.
  public func root(
    ofSize size: UInt64, in t: borrowing some TransactionReading & ~Copyable
  ) throws(EventLogError) -> SHA256Digest {
    guard size > 0 else { return MerkleTree.emptyRoot }
    try checkHas(size, t)
    return try hashes(of: [0..<size], t)[0]
  }

  /// The hashes that prove that event `sequence` is among the first `size`, the lowest first (2.1.3).
  ///
  /// - Throws: `invalidField` when it is not, `corrupted`, `storage`.
  /// - Complexity: O(log n) hashes are given, beside what was not yet read.
  public func inclusionProof(
    ofSequence sequence: UInt64, size: UInt64, in t: borrowing some TransactionReading & ~Copyable
  ) throws(EventLogError) -> [SHA256Digest] {
    guard sequence >= 1, sequence <= size else {
      throw EventLogError(.invalidField, "event \(sequence) is not among the first \(size)")
    }
    try checkHas(size, t)
    return try hashes(of: MerkleTree.inclusionRanges(of: sequence - 1, size: size), t)
  }

  /// The hashes that prove that the tree of the first `first` events is the beginning of that of `second` (2.1.4).
  ///
  /// - Throws: `invalidField` when `second` is less, or more than there are; `corrupted`, `storage`.
  /// - Complexity: O(log n) hashes are given, beside what was not yet read.
  public func consistencyProof(
    from first: UInt64, to second: UInt64, in t: borrowing some TransactionReading & ~Copyable
  ) throws(EventLogError) -> [SHA256Digest] {
    guard first <= second else {
      throw EventLogError(.invalidField, "a log of \(second) events has no prefix of \(first)")
    }
    try checkHas(second, t)
    return try hashes(of: MerkleTree.consistencyRanges(from: first, to: second), t)
  }

  /// Checks that the log has so many events; the ranges of a proof need not reach to the end of its tree.
  private func checkHas(
    _ size: UInt64, _ t: borrowing some TransactionReading & ~Copyable
  ) throws(EventLogError) {
    let head = try log.head(t).sequence
    guard size <= head else { throw EventLogError(.invalidField, "the log has \(head) events, not \(size)") }
  }

  /// The hash of each range, which must be one that a proof names, in a log that reaches as far.
  private func hashes(
    of ranges: [Range<UInt64>], _ t: borrowing some TransactionReading & ~Copyable
  ) throws(EventLogError) -> [SHA256Digest] {
    let kept = try keptHashes(of: ranges.map(\.upperBound).max() ?? 0, t)
    var hashes: [SHA256Digest] = []
    for range in ranges {
      var hash: SHA256Digest?
      for subtree in MerkleTree.subtrees(of: range).reversed() {
        let left = try self.hash(of: subtree, kept, t)
        hash = hash.map { MerkleTree.node(left, $0) } ?? left
      }
      hashes.append(hash ?? MerkleTree.emptyRoot)
    }
    return hashes
  }

  private func hash(
    of subtree: MerkleTree.Subtree, _ kept: KeptHashes, _ t: borrowing some TransactionReading & ~Copyable
  ) throws(EventLogError) -> SHA256Digest {
    var hashes: [SHA256Digest] = []
    if subtree.level < KeptHashes.height {
      try forEachLeaf(of: subtree.leaves, t) { hashes.append($0) }
    } else {
      hashes = kept.hashes(beneath: subtree)
    }
    return KeptHashes.fold(hashes)
  }

  /// The kept hashes, extended to all complete subtrees of the first `size` leaves.
  private func keptHashes(
    of size: UInt64, _ t: borrowing some TransactionReading & ~Copyable
  ) throws(EventLogError) -> KeptHashes {
    var hashes = kept.withLock { $0 }
    let missing = hashes.leafCount..<max(hashes.leafCount, (size >> KeptHashes.height) << KeptHashes.height)
    guard !missing.isEmpty else { return hashes }
    var leaves: [SHA256Digest] = []
    leaves.reserveCapacity(KeptHashes.width)
    try forEachLeaf(of: missing, t) { leaf in
      leaves.append(leaf)
      guard leaves.count == KeptHashes.width else { return }
      hashes.append(KeptHashes.fold(leaves))
      leaves.removeAll(keepingCapacity: true)
    }
    let extended = hashes
    kept.withLock { if $0.leafCount < extended.leafCount { $0 = extended } }
    return extended
  }

  private func forEachLeaf(
    of range: Range<UInt64>, _ t: borrowing some TransactionReading & ~Copyable, _ body: (SHA256Digest) -> Void
  ) throws(EventLogError) {
    var cursor: Cursor
    do { cursor = try t.cursor(in: log.events) } catch { throw EventLogError(error) }
    for index in range {
      let sequence = index + 1
      let entry: Entry?
      do { entry = try index == range.lowerBound ? cursor.seek(atOrAfter: sequence) : cursor.next() } catch {
        throw EventLogError(error)
      }
      guard let entry, entry.integerKey == sequence, let leaf = EventRecord.storedLeaf(of: entry.value) else {
        throw EventLogError(.corrupted, sequence: sequence, "there is no record with a leaf")
      }
      body(leaf)
    }
  }
}

/// The roots of complete subtrees of 64, 4,096, … leaves.
private struct KeptHashes: Sendable {
  /// How many levels lie between two that are kept.
  static let height = 6
  static let width = 1 << height

  private var levels: [[SHA256Digest]] = [[]]

  /// How many leaves the kept subtrees cover.
  var leafCount: UInt64 { UInt64(levels[0].count * Self.width) }

  /// Takes in the root of the next subtree of 64 leaves.
  mutating func append(_ hash: SHA256Digest) {
    var hash = hash
    var level = 0
    while true {
      levels[level].append(hash)
      guard levels[level].count % Self.width == 0 else { return }
      hash = Self.fold(Array(levels[level].suffix(Self.width)))
      level += 1
      if level == levels.count { levels.append([]) }
    }
  }

  /// The hashes of the kept level at or beneath a subtree that it is made of.
  func hashes(beneath subtree: MerkleTree.Subtree) -> [SHA256Digest] {
    let distance = subtree.level % Self.height
    let first = Int(subtree.index) << distance
    return Array(levels[subtree.level / Self.height - 1][first..<first + 1 << distance])
  }

  /// The root over a power of two of hashes.
  static func fold(_ hashes: [SHA256Digest]) -> SHA256Digest {
    precondition(hashes.count.nonzeroBitCount == 1, "A complete subtree has a power of two of leaves.")
    var hashes = hashes
    var count = hashes.count
    while count > 1 {
      count /= 2
      for index in 0..<count { hashes[index] = MerkleTree.node(hashes[2 * index], hashes[2 * index + 1]) }
    }
    return hashes[0]
  }
}
