internal import Foundation
package import PhotoLedger
import LibraryMaintenance

// Which pictures are proposed to be one.
//
//     best first ──▶ the best that is in no group: a keeper ──▶ everything alike that is in no group: its group
//
// A group is a star: each member is alike its keeper, by the distance that was asked for. So a chain of pictures of
// which only neighbours are alike, a slow pan, is never one group, and merging a group can be judged by its keeper
// alone. No asset is in two groups.
//
// The work for one picture is bounded. Where more pictures than that have its coarse waves, it is compared with the
// best of them, and the search says of how many pictures that is true.
//
// Two pictures are alike if their hashes are (PictureHash.swift), if one is the other scaled, to the pixel of rounding,
// and if they are not members of one burst, which are shown as one anyhow. No two of a group are a pair that the owner
// rejected (RejectedPairs.swift): it takes the best first, and one that was rejected with a member stays for another.
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
  /// The SHA-256 of the shown file; empty where no pair is rejected.
  var content: [UInt8] = []

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
    if let burst, burst.exact == other.burst?.exact { return false }
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

/// What comparing pictures gave.
struct DuplicateFinding {
  /// The groups of pictures, those with the best keepers first.
  var groups: [DuplicateGroup] = []
  /// The pictures that have more neighbours than they were compared with.
  var crowded = 0
  /// How often two pictures, or a picture and the hash of others, were compared.
  var comparisonCount = 0
  /// Whether it was stopped, and the groups are some only.
  var wasInterrupted = false
}

extension DuplicateGroup {
  /// How many comparisons are made for one picture. Pages of text and frames of a series share their coarse waves by
  /// the thousand, and without a bound each would be compared with all of them.
  static let comparisonLimit = 4096

  /// Finds the groups.
  /// - Parameters:
  ///   - candidates: the pictures.
  ///   - distance: how many of the coarse waves may differ.
  ///   - rejected: pairs that are not proposed.
  ///   - limit: the most comparisons for one picture; those of its own coarse hash come first, the best first.
  ///   - isCancelled: asked once for each picture.
  /// - Complexity: O(n log n) for n pictures, at most `limit` comparisons for each, what the index reads (see
  ///   ``HammingIndex``), and the rejected pairs of each.
  static func find(
    among candidates: [DuplicateCandidate], within distance: Int, rejecting rejected: Set<ContentPair> = [],
    comparing limit: Int = comparisonLimit, isCancelled: () -> Bool = { false }
  ) -> DuplicateFinding {
    let ordered = candidates.sorted { $0.isBetter(than: $1) }
    var classes: [UInt64: [Int]] = [:]
    for (place, candidate) in ordered.enumerated() { classes[candidate.hash.coarse, default: []].append(place) }
    let numbers = classes.keys.sorted()
    let positions = Dictionary(uniqueKeysWithValues: numbers.enumerated().map { ($1, $0) })
    var crowds = numbers.map { Crowd(classes[$0] ?? []) }
    let index = HammingIndex(numbers)
    var isTaken = [Bool](repeating: false, count: ordered.count)
    let emptyGroup = OpenGroup(rejecting: rejected)
    var finding = DuplicateFinding()
    for (place, keeper) in ordered.enumerated() where !isTaken[place] {
      if isCancelled() {
        finding.wasInterrupted = true
        break
      }
      isTaken[place] = true
      var found: [Int] = []
      var left = limit
      /// Compares the keeper with a crowd; false if there was no time for all of it.
      func compare(_ number: Int) -> Bool {
        var position = crowds[number].open(from: 0, isTaken)
        while let other = crowds[number].place(at: position) {
          if left == 0 { return false }
          left -= 1
          let candidate = ordered[other]
          if candidate.isAlike(keeper, within: distance) { found.append(other) }
          position = crowds[number].open(from: position + 1, isTaken)
        }
        return true
      }
      let own = positions[keeper.hash.coarse]
      var isWhole = own.map(compare) ?? true
      index.forEach(within: distance, of: keeper.hash.coarse) { number in
        if number == own { return true }
        // A crowd of which all are taken costs something, too.
        isWhole = isWhole && left > 0
        if isWhole { left -= 1 }
        isWhole = isWhole && compare(number)
        return isWhole
      }
      finding.comparisonCount += limit - left
      if !isWhole { finding.crowded += 1 }
      var group = emptyGroup
      group.take(keeper.content)
      let members = found.sorted().filter { group.take(ordered[$0].content) }
      if members.isEmpty { continue }
      for other in members { isTaken[other] = true }
      let others = members.map {
        Member(id: ordered[$0].id, distance: ordered[$0].hash.distance(to: keeper.hash))
      }
      finding.groups.append(DuplicateGroup(keeper: keeper.id, others: others))
    }
    return finding
  }
}

/// The pictures with one coarse hash, the best first, without those that are in a group.
private struct Crowd {
  private let places: [Int]
  /// For each position the next one that was open when it was last asked for, at or after it.
  private var next: [Int]

  init(_ places: [Int]) {
    self.places = places
    next = Array(0...places.count)
  }

  func place(at position: Int) -> Int? { position < places.count ? places[position] : nil }

  /// The first position from one on that is not taken; the count if there is none.
  /// - Complexity: O(log n), amortised: what was passed once is passed at once the next time.
  mutating func open(from start: Int, _ isTaken: [Bool]) -> Int {
    var passed: [Int] = []
    var position = next[start]
    while position < places.count, isTaken[places[position]] {
      passed.append(position)
      position = next[position + 1]
    }
    if passed.isEmpty { return position }
    next[start] = position
    for one in passed { next[one] = position }
    return position
  }
}
