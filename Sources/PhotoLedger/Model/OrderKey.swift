// Places in a manual order.
//
// An album of 100,000 must take a photo at its front without being rewritten, and a place must survive hiding, trash
// and the loss of a grant. So a member's place is a number of its own, compared with its neighbours' numbers:
//
//     album 7:   …2000_0000 → asset 31    …3000_0000 → asset 9     …4000_0000 → asset 12
//     put asset 40 before asset 9:        …2800_0000 → asset 40    (no other member is touched)
//
// Keys start in the middle of the 64 bits and step by 2^32, so either end takes two thousand million additions.
// Between two neighbours the middle is taken; after some 32 insertions at one spot the gap is used up, and a window
// of neighbours around the spot is spread evenly (`OrderKey.rekey`), the smallest one that leaves room for all.
// That costs O(log n) keys an insertion over time. Invariant: keys of one container are distinct, and 0 and the
// largest number stay free, so that there is always a bound on either side.
//
// Rejected: positions 0, 1, 2 … (an insertion would rewrite the rest), and strings that grow (an adversary makes them
// longer than LMDB's longest key).

/// A place in the order of a container's members.
package struct OrderKey: Hashable, Comparable, Sendable {
  package let rawValue: UInt64
  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The key in a row or an event; nil for a bound, which no member can have.
  init?(stored rawValue: UInt64) {
    guard rawValue > 0, rawValue < .max else { return nil }
    self.init(rawValue: rawValue)
  }

  @inlinable
  package static func < (one: OrderKey, other: OrderKey) -> Bool { one.rawValue < other.rawValue }

  /// The distance between members that are appended one after another.
  static let stride: UInt64 = 1 << 32
  /// The key of the first member of an empty container.
  static let middle: UInt64 = 1 << 63

  /// Keys for `count` new members between two neighbours; nil if the gap has no room for them.
  ///
  /// - Parameters:
  ///   - lower: the key just before the new members; nil at the front.
  ///   - upper: the key just after them; nil at the end.
  ///   - count: how many keys are wanted, at least 1.
  package static func between(_ lower: OrderKey?, _ upper: OrderKey?, count: Int) -> [OrderKey]? {
    precondition(count > 0, "Order keys are created for at least one member.")
    let wanted = UInt64(count)
    switch (lower?.rawValue, upper?.rawValue) {
    case (nil, nil):
      return (0..<wanted).map { OrderKey(rawValue: middle + $0 * stride) }
    case (let lower?, nil):
      guard (UInt64.max - lower) / stride > wanted else { return evenly(lower, .max, wanted) }
      return (1...wanted).map { OrderKey(rawValue: lower + $0 * stride) }
    case (nil, let upper?):
      guard upper / stride > wanted else { return evenly(0, upper, wanted) }
      return (1...wanted).map { OrderKey(rawValue: upper - (wanted + 1 - $0) * stride) }
    case (let lower?, let upper?):
      return evenly(lower, upper, wanted)
    }
  }

  private static func evenly(_ lower: UInt64, _ upper: UInt64, _ wanted: UInt64) -> [OrderKey]? {
    precondition(lower < upper, "The neighbours of a new member are in the wrong order.")
    let step = (upper - lower) / (wanted + 1)
    guard step > 0 else { return nil }
    return (1...wanted).map { OrderKey(rawValue: lower + $0 * step) }
  }

  /// The gap that a rekeying leaves at least between neighbours, so that it does not return at once.
  static let roomAfterRekey: UInt64 = 1 << 12

  /// New keys for the members of a window and for `count` new ones among them; nil if the window is too narrow.
  ///
  /// - Parameters:
  ///   - outside: the keys just outside the window; nil where the container ends.
  ///   - members: how many members the window has.
  ///   - count: how many new members come among them.
  /// - Returns: `members + count` ascending keys.
  package static func rekey(
    between outside: (lower: OrderKey?, upper: OrderKey?), members: Int, count: Int
  ) -> [OrderKey]? {
    let lower = outside.lower?.rawValue ?? 0
    let upper = outside.upper?.rawValue ?? .max
    let wanted = UInt64(members + count)
    guard (upper - lower) / (wanted + 1) >= roomAfterRekey else { return nil }
    guard outside.lower == nil, outside.upper == nil else { return evenly(lower, upper, wanted) }
    // The whole container: start again in the middle with the usual stride, so that both ends have space again.
    let step = min(stride, UInt64.max / 4 / (wanted + 1))
    let start = middle - wanted / 2 * step
    return (0..<wanted).map { OrderKey(rawValue: start + $0 * step) }
  }
}
