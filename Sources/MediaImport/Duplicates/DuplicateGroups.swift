internal import Foundation
package import PhotoLedger

// Which pictures are proposed to be one.
//
//     best first ──▶ the best that is in no group: a keeper ──▶ everything alike that is in no group: its group
//
// A group is a star: each member is alike its keeper, by the distance that was asked for. So a chain of pictures of
// which only neighbours are alike, a slow pan, is never one group, and merging a group can be judged by its keeper
// alone. No asset is in two groups.
//
// Two pictures are alike if their hashes are (PictureHash.swift), if one is the other scaled, to the pixel of rounding,
// and if they are not members of one burst, which are shown as one anyhow.
//
// The best is the one with more pixels; then the one with a RAW original, with an edit of its content, with a moving
// part, with the larger file; then the one that was added earlier.

/// A picture that may have duplicates.
struct DuplicateCandidate: Sendable {
  let id: LocalIdentifier
  let hash: PictureHash
  let width: Int
  let height: Int
  let isRaw: Bool
  let isEdited: Bool
  let isMoving: Bool
  let byteCount: UInt64
  let addedDate: Date
  let burst: String?

  /// Whether it is rather kept than another.
  func isBetter(than other: DuplicateCandidate) -> Bool {
    let pairs = [
      (width * height, other.width * other.height), (isRaw ? 1 : 0, other.isRaw ? 1 : 0),
      (isEdited ? 1 : 0, other.isEdited ? 1 : 0), (isMoving ? 1 : 0, other.isMoving ? 1 : 0),
      (Int(clamping: byteCount), Int(clamping: other.byteCount)),
    ]
    if let differing = pairs.first(where: { $0.0 != $0.1 }) { return differing.0 > differing.1 }
    if addedDate != other.addedDate { return addedDate < other.addedDate }
    return id.uuidString < other.id.uuidString
  }

  /// Whether both are one picture, as far as can be seen.
  func isAlike(_ other: DuplicateCandidate, within distance: Int) -> Bool {
    if let burst, burst == other.burst { return false }
    return hash.isAlike(other.hash, within: distance) && hasShape(of: other)
  }

  /// Whether the smaller is the larger one scaled, up to a pixel along each side.
  private func hasShape(of other: DuplicateCandidate) -> Bool {
    let (large, small) = width * height >= other.width * other.height ? (self, other) : (other, self)
    return abs(large.width * small.height - large.height * small.width) <= large.width + large.height
  }
}

/// Assets that show one picture.
package struct DuplicateGroup: Sendable, Hashable {
  /// One that is alike the keeper.
  package struct Member: Sendable, Hashable {
    /// The asset.
    package let id: LocalIdentifier
    /// How many of the 64 coarse waves differ from the keeper's.
    package let distance: Int
  }

  /// The asset that is proposed to stay.
  package let keeper: LocalIdentifier
  /// The others, the best first.
  package let others: [Member]
}

extension DuplicateGroup {
  /// The groups of pictures, those with the best keepers first.
  /// - Complexity: O(n log n) for n pictures, and what the index finds; see ``HammingIndex``.
  static func find(among candidates: [DuplicateCandidate], within distance: Int) -> [DuplicateGroup] {
    let ordered = candidates.sorted { $0.isBetter(than: $1) }
    var classes: [UInt64: [Int]] = [:]
    for (place, candidate) in ordered.enumerated() { classes[candidate.hash.coarse, default: []].append(place) }
    let numbers = classes.keys.sorted()
    var members = numbers.map { classes[$0] ?? [] }
    let index = HammingIndex(numbers)
    var isTaken = [Bool](repeating: false, count: ordered.count)
    var groups: [DuplicateGroup] = []
    for (place, keeper) in ordered.enumerated() where !isTaken[place] {
      isTaken[place] = true
      var found: [Int] = []
      index.forEach(within: distance, of: keeper.hash.coarse) { number in
        members[number].removeAll { isTaken[$0] }
        found += members[number].filter { ordered[$0].isAlike(keeper, within: distance) }
      }
      if found.isEmpty { continue }
      for other in found { isTaken[other] = true }
      let others = found.sorted().map {
        Member(id: ordered[$0].id, distance: ordered[$0].hash.distance(to: keeper.hash))
      }
      groups.append(DuplicateGroup(keeper: keeper.id, others: others))
    }
    return groups
  }
}
