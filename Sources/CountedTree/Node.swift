// A node of the tree: one heap object, its entries in the same allocation.
//
//   leaf    [ object | header ][ element 0 | element 1 | … ]
//   inner   [ object | header ][ starts 0…count ][ children 0..<count ][ separators 0..<count-1 ]
//
//   starts[i]       how many elements lie before child i; starts[count] is the node's total
//   separators[i]   greater than every element of child i, not greater than any element of child i + 1
//
// One class serves both kinds, so a child is a plain reference that can be asked whether it is unique, and no step of
// a descent needs a cast. Separators stand together (a search touches few cache lines) and the counts are kept as
// running sums (a rank is one read per level, not a loop over siblings).
//
// The refused alternatives: two Swift arrays in a node cost a second allocation and a second cache miss per level and
// one more reference count per copy; a separator beside its child and count doubles the lines that a search touches.
//
// A leaf is allocated for what it holds, in steps of an eighth, so a result of three objects does not pay for a
// leaf of hundreds. An inner node always has its full capacity: its parts then lie at constant offsets.

@usableFromInline
struct NodeHeader {
  /// Elements of a leaf, children of an inner node.
  @usableFromInline var count: Int32
  /// Entries the allocation has room for.
  @usableFromInline var room: Int32
  /// 0 for a leaf, else one more than that of the children.
  @usableFromInline var height: Int

  @inlinable
  init(room: Int, height: Int) {
    self.count = 0
    self.room = Int32(truncatingIfNeeded: room)
    self.height = height
  }
}

@usableFromInline
final class Node<Element: Comparable & Sendable>: ManagedBuffer<NodeHeader, UInt64> {
  @usableFromInline typealias Body = NodeBody<Element>

  @inlinable
  deinit {
    let body = Body(self)
    if body.height == 0 {
      body.elements.deinitialize(count: body.count)
    } else {
      InnerLayout.releaseChildren(body.entries, count: body.count)
      body.separators.deinitialize(count: Swift.max(0, body.count - 1))
    }
  }

  /// Makes an empty leaf with room for `count` elements and a little more.
  @inlinable
  static func leaf(for count: Int) -> Node {
    let step = Limits<Element>.leafStep
    let room = Swift.min(Limits<Element>.leafCapacity, (count / step + 1) * step)
    return allocate(byteCount: room &* MemoryLayout<Element>.stride, room: room, height: 0)
  }

  /// Makes an inner node without children, one level above nodes of `height`.
  @inlinable
  static func inner(above height: Int) -> Node {
    let node = allocate(byteCount: Body.innerByteCount, room: InnerLayout.capacity, height: height + 1)
    Body(node).starts[0] = 0
    return node
  }

  @inlinable
  static func allocate(byteCount: Int, room: Int, height: Int) -> Node {
    let words = (byteCount + 7) / 8
    let buffer = Node.create(minimumCapacity: words) { _ in NodeHeader(room: room, height: height) }
    return unsafeDowncast(buffer, to: Node.self)
  }
}

/// How many entries a node may and must have.
///
/// In checked builds four, so that a test with ten elements already splits, joins and grows a level; else sized to
/// the machine: see Benchmarks/README.md for how the figures were found.
@usableFromInline
enum Limits<Element> {
  #if INTERNAL_CHECKS
    @inlinable static var leafCapacity: Int { 4 }
    @inlinable static var leafStep: Int { 2 }
    @inlinable static var lineStep: Int { 1 }
  #else
    @inlinable static var leafCapacity: Int { Swift.max(16, 4096 / MemoryLayout<Element>.stride) }
    @inlinable static var leafStep: Int { leafCapacity / 8 }
    /// Elements in a cache line of 64 bytes.
    @inlinable static var lineStep: Int { Swift.max(1, 64 / MemoryLayout<Element>.stride) }
  #endif

  @inlinable
  static func capacity(height: Int) -> Int { height == 0 ? leafCapacity : InnerLayout.capacity }

  /// The fewest entries of a node other than the root: a third, so that a node joined or split has slack both ways.
  @inlinable
  static func minimum(height: Int) -> Int { (capacity(height: height) + 2) / 3 }

  /// The most entries that two neighbours are joined into; above it they share evenly.
  @inlinable
  static func joinLimit(height: Int) -> Int { capacity(height: height) - capacity(height: height) / 8 }

  /// How many of `capacity + 1` entries stay left when a full node takes one more at `index`.
  ///
  /// Entries that arrive in order (photos by date) leave well filled nodes behind instead of half empty ones.
  @inlinable
  static func splitPoint(insertingAt index: Int, height: Int) -> Int {
    let capacity = capacity(height: height)
    if index == capacity { return capacity + 1 - minimum(height: height) }
    if index == 0 { return minimum(height: height) }
    return (capacity + 1) / 2
  }
}
