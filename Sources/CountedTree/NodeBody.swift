/// An unowned view of a node's memory, through which every read and write goes.
///
/// A body does not count as a reference: its holder keeps the node alive by other means (a tree that is being read
/// keeps its root, and the root all below it). Writing is allowed only to a node that no other tree can reach.
@usableFromInline
struct NodeBody<Element: Comparable & Sendable> {
  @usableFromInline let header: UnsafeMutablePointer<NodeHeader>

  @inlinable
  init(_ node: Node<Element>) {
    header = node.withUnsafeMutablePointerToHeader { $0 }
  }

  /// Views a node without touching its reference count.
  @inlinable
  init(_ node: Unmanaged<Node<Element>>) {
    self = node._withUnsafeGuaranteedRef { NodeBody($0) }
  }

  @inlinable var height: Int { header.pointee.height }

  @inlinable var count: Int {
    get { Int(truncatingIfNeeded: header.pointee.count) }
    nonmutating set { header.pointee.count = Int32(truncatingIfNeeded: newValue) }
  }

  @inlinable var room: Int { Int(truncatingIfNeeded: header.pointee.room) }

  /// Elements in the whole subtree.
  @inlinable var total: Int { height == 0 ? count : starts[count] }

  // MARK: Layout

  @inlinable var entries: UnsafeMutableRawPointer { UnsafeMutableRawPointer(header + 1) }

  /// The elements of a leaf, ascending.
  @inlinable var elements: UnsafeMutablePointer<Element> {
    entries.assumingMemoryBound(to: Element.self)
  }

  /// Running sums of an inner node: entry `i` counts the elements before child `i`, entry `count` all of them.
  @inlinable var starts: UnsafeMutablePointer<Int> { entries.assumingMemoryBound(to: Int.self) }

  @inlinable var children: UnsafeMutablePointer<Node<Element>> {
    (entries + InnerLayout.childrenOffset).assumingMemoryBound(to: Node<Element>.self)
  }

  @inlinable var separators: UnsafeMutablePointer<Element> {
    (entries + InnerLayout.separatorsOffset).assumingMemoryBound(to: Element.self)
  }

  @inlinable static var innerByteCount: Int {
    InnerLayout.separatorsOffset + MemoryLayout<Element>.stride * (InnerLayout.capacity - 1)
  }

  /// Views a child without touching its reference count.
  @inlinable
  func child(_ slot: Int) -> NodeBody { NodeBody(unowned(slot)) }

  @inlinable
  func unowned(_ slot: Int) -> Unmanaged<Node<Element>> {
    UnsafeRawPointer(children + slot).load(as: Unmanaged<Node<Element>>.self)
  }

  /// Reads the headers of all children of an inner node, before the first reference to one of them is counted.
  ///
  /// Counting is an atomic write, and those wait for each other's cache misses; plain reads do not, so after the reads
  /// the writes hit.
  @inlinable
  func readChildrenAhead() {
    var heights = 0
    for slot in 0..<count { heights |= child(slot).height ^ (height - 1) }
    precondition(heights == 0, "A node of a counted tree has a child of the wrong height: memory was overwritten.")
  }

  /// Reads an element of every cache line of a leaf that is going to be copied, before it is searched.
  ///
  /// The steps of a search wait for each other's cache misses; these reads do not, and the copy finds its lines. With
  /// a single edit it gained nothing that could be measured.
  @inlinable
  func readElementsAhead() {
    let (elements, count) = (elements, count)
    let step = Limits<Element>.lineStep
    var descents = 0
    for index in stride(from: step, to: count, by: step) {
      descents &+= elements[index &- step] < elements[index] ? 0 : 1
    }
    precondition(descents == 0, "The elements of a leaf of a counted tree do not ascend: memory was overwritten.")
  }

  /// Elements in the subtree of child `slot`.
  @inlinable
  func size(ofChild slot: Int) -> Int { starts[slot + 1] - starts[slot] }

  // MARK: Search

  /// The child in whose range `element` lies.
  @inlinable
  func slot(for element: Element) -> Int {
    let separators = separators
    return Self.prefix(of: count - 1) { !(element < separators[$0]) }
  }

  /// The child that holds the element at `position`, counted from the start of this subtree.
  @inlinable
  func slot(at position: Int) -> Int {
    let starts = starts
    return Self.prefix(of: count - 1) { starts[$0 + 1] <= position }
  }

  /// How many elements of a leaf are less than `element`.
  @inlinable
  func lowerBound(of element: Element) -> Int {
    let elements = elements
    return Self.prefix(of: count) { elements[$0] < element }
  }

  /// How many of the first `count` indexes satisfy a condition that holds for a prefix of them.
  ///
  /// The number of steps depends on `count` alone and no step jumps on the outcome of a comparison: a mispredicted
  /// branch costs as much as several steps.
  @inlinable
  @inline(__always)
  static func prefix(of count: Int, while isBefore: (Int) -> Bool) -> Int {
    var low = 0
    var length = count
    while length > 1 {
      let half = length &>> 1
      low = isBefore(low &+ half &- 1) ? low &+ half : low
      length &-= half
    }
    return length == 1 && isBefore(low) ? low &+ 1 : low
  }

  // MARK: Filling a fresh node

  /// Appends copies of a range of another leaf's elements; the room must suffice.
  @inlinable
  func appendElements(of source: NodeBody, _ range: Range<Int>) {
    (elements + count).initialize(from: source.elements + range.lowerBound, count: range.count)
    count += range.count
  }

  /// Appends elements from outside; the room must suffice.
  @inlinable
  func appendElements(_ source: UnsafeBufferPointer<Element>) {
    guard let start = source.baseAddress else { return }
    (elements + count).initialize(from: start, count: source.count)
    count += source.count
  }

  @inlinable
  func appendElement(_ element: Element) {
    (elements + count).initialize(to: element)
    count += 1
  }

  /// Appends a subtree of `size` elements; `separator` divides it from the child before it, if there is one.
  @inlinable
  func appendChild(_ child: Node<Element>, size: Int, separator: Element?) {
    adoptChild(.passRetained(child), size: size, separator: separator)
  }

  /// Appends a subtree to which the caller owns a reference, which becomes this node's.
  @inlinable
  func adoptChild(_ child: Unmanaged<Node<Element>>, size: Int, separator: Element?) {
    let slot = count
    if slot > 0, let separator { (separators + slot - 1).initialize(to: separator) }
    UnsafeMutableRawPointer(children + slot).storeBytes(of: child, as: Unmanaged<Node<Element>>.self)
    starts[slot + 1] = starts[slot] + size
    count = slot + 1
  }

  /// Fills the children of a fresh node with those of another, counting one more reference to each.
  ///
  /// The standard library's way to copy or destroy many references asks the type's witness table for each of them.
  @inlinable
  func shareChildren(of source: NodeBody) {
    let count = source.count
    for slot in 0..<count { _ = source.unowned(slot).retain() }
    UnsafeMutableRawPointer(children).copyMemory(from: source.children, byteCount: 8 * count)
  }
}

/// Where the parts of an inner node lie; the same whatever the elements are.
@usableFromInline
enum InnerLayout {
  #if INTERNAL_CHECKS
    @inlinable static var capacity: Int { 4 }
  #else
    /// With keys of 16 bytes an inner node takes 1024 bytes, the most that glibc serves from its cache for each thread.
    @inlinable static var capacity: Int { 31 }
  #endif

  @inlinable static var childrenOffset: Int { 8 * (capacity + 1) }

  /// Rounded up to 16, the alignment of the allocation, which no element may exceed.
  @inlinable static var separatorsOffset: Int { (childrenOffset + 8 * capacity + 15) & ~15 }

  /// Gives up the references to all children of an inner node.
  ///
  /// A class's `deinit` is never specialised for its element, so this one asks nothing of the element's type.
  @usableFromInline
  static func releaseChildren(_ entries: UnsafeMutableRawPointer, count: Int) {
    let children = UnsafeRawPointer(entries + childrenOffset)
    for slot in 0..<count {
      children.load(fromByteOffset: 8 * slot, as: Unmanaged<AnyObject>.self).release()
    }
  }
}
