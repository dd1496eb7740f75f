// The Merkle tree of RFC 9162, section 2.1, over the leaf hashes of the log.
//
// The leaf of event s stands at index s - 1. A tree of n leaves splits at k, the largest power of two below n:
//
//     MTH(D[0..<n]) = SHA-256(0x01 ‖ MTH(D[0..<k]) ‖ MTH(D[k..<n]))        n = 7:      ·
//                                                                                  ┌──┴──┐
//     a proof is a list of such hashes, each of a range of leaves. So a proof      ·     ·
//     is asked for as ranges, and each range falls apart into complete           ┌─┴─┐ ┌─┴┐
//     subtrees, the larger first: 4..<7 is 4..<6 and 6..<7.                      · · · · · 6
//
// Which ranges a proof needs is arithmetic and stands here, without any hash; where their hashes come from is the
// business of `LogTree`. The checks at the end are the RFC's own algorithms by bits of the index (2.1.3.2 and
// 2.1.4.2): they share nothing with the way the proofs are made, so that one finds the other's faults.
//
// Rejected: keeping the roots of subtrees in the store. A proof from the records alone costs a pass over the log once a
// process, and there is no second copy of a hash that could rot, be verified, be rebuilt, or be paid for in a commit.

/// The arithmetic and the checks of RFC 9162's Merkle tree.
public enum MerkleTree {
  /// The root of the tree without leaves: SHA-256 of nothing.
  public static let emptyRoot = SHA256.digest(of: [])

  /// The hash of an entry: SHA-256(0x00 ‖ entry).
  public static func leaf(of entry: [UInt8]) -> SHA256Digest {
    var hash = SHA256()
    hash.update(0x00 as UInt8)
    hash.update(entry)
    return hash.digest()
  }

  /// The hash of an inner node: SHA-256(0x01 ‖ left ‖ right).
  public static func node(_ left: SHA256Digest, _ right: SHA256Digest) -> SHA256Digest {
    withUnsafeBytes(of: UInt8(0x01)) { prefix in
      left.withUnsafeBytes { left in
        right.withUnsafeBytes { SHA256.digest(of: prefix, left, $0) }
      }
    }
  }

  /// A subtree of 2^`level` leaves, the `index`th of its level from the left.
  struct Subtree: Hashable {
    let level: Int
    let index: UInt64

    var leaves: Range<UInt64> { index << level..<(index + 1) << level }
  }

  /// The ranges of leaves whose hashes prove that the leaf at `index` is in the tree of `size` leaves, in the order of
  /// the proof (PATH of 2.1.3.1).
  static func inclusionRanges(of index: UInt64, size: UInt64) -> [Range<UInt64>] {
    precondition(index < size, "A leaf is inside its tree.")
    var ranges: [Range<UInt64>] = []
    var tree = 0..<size
    // Not `tree.count`, which is not an `Int` for every tree that can be asked for.
    while tree.upperBound - tree.lowerBound > 1 {
      let middle = middle(of: tree)
      if index < middle {
        ranges.append(middle..<tree.upperBound)
        tree = tree.lowerBound..<middle
      } else {
        ranges.append(tree.lowerBound..<middle)
        tree = middle..<tree.upperBound
      }
    }
    return ranges.reversed()
  }

  /// The ranges of leaves whose hashes prove that the tree of `first` leaves is the beginning of that of `second`, in
  /// the order of the proof (SUBPROOF of 2.1.4.1).
  static func consistencyRanges(from first: UInt64, to second: UInt64) -> [Range<UInt64>] {
    precondition(first <= second, "The earlier tree is not larger than the later one.")
    guard first > 0 else { return [] }
    var ranges: [Range<UInt64>] = []
    var tree = 0..<second
    var isKnown = true
    while tree.upperBound != first {
      let middle = middle(of: tree)
      if first <= middle {
        ranges.append(middle..<tree.upperBound)
        tree = tree.lowerBound..<middle
      } else {
        ranges.append(tree.lowerBound..<middle)
        tree = middle..<tree.upperBound
        isKnown = false
      }
    }
    if !isKnown { ranges.append(tree) }
    return ranges.reversed()
  }

  /// The complete subtrees of a range that a proof names, the largest first; their hashes fold from the right.
  static func subtrees(of range: Range<UInt64>) -> [Subtree] {
    var subtrees: [Subtree] = []
    var start = range.lowerBound
    while start < range.upperBound {
      let level = 63 - (range.upperBound - start).leadingZeroBitCount
      subtrees.append(Subtree(level: level, index: start >> level))
      start += 1 << level
    }
    return subtrees
  }

  /// Where the tree over a range of two or more leaves splits.
  private static func middle(of range: Range<UInt64>) -> UInt64 {
    let last = range.upperBound - range.lowerBound - 1
    return range.lowerBound + 1 << (63 - last.leadingZeroBitCount)
  }
}

// MARK: - Checking

extension MerkleTree {
  /// The root of the tree of `size` leaves that has `leaf` at `index`, if `hashes` is its inclusion proof; nil if no
  /// proof of that length can be.
  ///
  /// - Complexity: O(log n), n the size.
  public static func root(
    ofLeaf leaf: SHA256Digest, at index: UInt64, size: UInt64, proof hashes: [SHA256Digest]
  ) -> SHA256Digest? {
    guard index < size else { return nil }
    var (node, last) = (index, size - 1)
    var root = leaf
    for hash in hashes {
      guard last > 0 else { return nil }
      if node & 1 == 1 || node == last {
        root = Self.node(hash, root)
        while node & 1 == 0 && node > 0 { (node, last) = (node >> 1, last >> 1) }
      } else {
        root = Self.node(root, hash)
      }
      (node, last) = (node >> 1, last >> 1)
    }
    return last == 0 ? root : nil
  }

  /// Whether `hashes` proves that the tree of `first` leaves with the root `firstRoot` is the beginning of the tree of
  /// `second` leaves with the root `secondRoot`.
  ///
  /// - Complexity: O(log n), n the larger size.
  public static func isConsistent(
    from first: UInt64, _ firstRoot: SHA256Digest, to second: UInt64, _ secondRoot: SHA256Digest,
    proof hashes: [SHA256Digest]
  ) -> Bool {
    if first == 0 { return hashes.isEmpty && firstRoot == emptyRoot }
    if first == second { return hashes.isEmpty && firstRoot == secondRoot }
    guard first < second else { return false }
    // Where the earlier tree is one complete subtree, its root is the first hash and is left out of the proof.
    let path = first.nonzeroBitCount == 1 ? [firstRoot] + hashes : hashes
    guard let start = path.first else { return false }
    var (node, last) = (first - 1, second - 1)
    while node & 1 == 1 { (node, last) = (node >> 1, last >> 1) }
    var (earlier, later) = (start, start)
    for hash in path.dropFirst() {
      guard last > 0 else { return false }
      if node & 1 == 1 || node == last {
        earlier = Self.node(hash, earlier)
        later = Self.node(hash, later)
        while node & 1 == 0 && node > 0 { (node, last) = (node >> 1, last >> 1) }
      } else {
        later = Self.node(later, hash)
      }
      (node, last) = (node >> 1, last >> 1)
    }
    return last == 0 && earlier == firstRoot && later == secondRoot
  }
}

/// The roots of the complete subtrees that a run of leaves falls apart into: what the root of a growing tree follows
/// from, when the run begins with the first leaf.
///
///     leaves 5 to 12, counted from 0      ▪ ▪▪ ▪▪▪▪ ▪
///                                         5 6  8    12
///
/// A run that begins elsewhere can be folded before the leaves in front of it are known, and appended to theirs. From
/// the first leaf on, n leaves are a subtree for each bit of n, the largest first.
struct MerkleFrontier: Sendable, Hashable {
  private struct Root: Hashable {
    let hash: SHA256Digest
    let level: Int
  }

  private var roots: [Root] = []
  private let start: UInt64
  private var end: UInt64

  /// A run without leaves in front of the leaf at `start`.
  init(from start: UInt64 = 0) { (self.start, end) = (start, start) }

  /// Takes the next leaf in.
  ///
  /// - Complexity: one hash amortised, O(log n) at most.
  mutating func append(_ leaf: SHA256Digest) { append(Root(hash: leaf, level: 0)) }

  /// Takes the leaves in that follow.
  ///
  /// - Complexity: O(log n).
  mutating func append(_ next: Self) {
    guard next.end > next.start else { return }
    precondition(next.start == end, "Leaves are appended in their order.")
    for root in next.roots { append(root) }
  }

  private mutating func append(_ root: Root) {
    var root = root
    end += 1 << root.level
    // Whatever ends where two of its size end is the right one of a pair, if the left one is in the run.
    while let left = roots.last, left.level == root.level, (end >> root.level) & 1 == 0 {
      roots.removeLast()
      root = Root(hash: MerkleTree.node(left.hash, root.hash), level: root.level + 1)
    }
    roots.append(root)
  }

  /// The root of the tree over all leaves so far, from the first one.
  var root: SHA256Digest {
    precondition(start == 0, "A tree begins with the first leaf.")
    guard var root = roots.last?.hash else { return MerkleTree.emptyRoot }
    for left in roots.dropLast().reversed() { root = MerkleTree.node(left.hash, root) }
    return root
  }
}
