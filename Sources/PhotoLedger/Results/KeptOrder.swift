// How much memory the orders of results take that something keeps.
//
// An order is a persistent tree: one that was stepped from another shares all nodes with it that the commits in between
// did not change. So what is kept in many states, by many holders, takes about the memory of one, and is counted once.
// What says so is the origin, which a result passes on when it is stepped. A result that was fetched anew is another
// tree, although it may have equal keys, and has an origin of its own.

import CountedTree

/// What the orders of results have in common that were stepped from one another: the memory of most of their keys.
package final class OrderOrigin: Sendable {
  /// One changed key in so many ends an origin: a changed key copies a node, which has about so many.
  static let keysOfChange = 256
}

/// An order that something keeps in memory.
package struct KeptOrder: Sendable {
  package let origin: OrderOrigin
  /// About how many bytes it takes; those of its origin take them together.
  package let byteCount: Int

  init(_ core: ResultCore) { (origin, byteCount) = (core.origin, core.order.byteCount) }
}

extension ResultOrder {
  /// How many wide keys are looked at for the length of all.
  private static let sampleCount = 16
  /// How many bytes a wide key takes beside its own: the entry, and the head of the array.
  private static let wideOverhead = 48

  /// About how many bytes it takes.
  /// - Complexity: O(log n).
  fileprivate var byteCount: Int {
    switch self {
    case .narrow(let tree): return tree.count * MemoryLayout<NarrowKey>.stride
    case .wide(let tree):
      let samples = Swift.min(tree.count, Self.sampleCount)
      guard samples > 0 else { return 0 }
      let sampled = (0..<samples).reduce(0) { $0 + tree[$1 * tree.count / samples].bytes.count }
      return tree.count * (Self.wideOverhead + sampled / samples)
    }
  }
}
