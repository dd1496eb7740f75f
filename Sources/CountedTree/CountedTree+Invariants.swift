// The tree's own examination: every clause of the invariant listed in CountedTree.swift, all defects, not only the
// first. `defects()` is compiled always (tests and `photoledger check` call it); the calls after each change are made
// in checked builds only, and are bounded so that a test which inserts 100 000 elements stays far from quadratic:
// a tree of at most 64 elements is examined whole, a greater one whole each time its count passes a multiple of
// 4096, and else the path to the changed element with the headers of its neighbours, O(log n). Builds and batches
// examine the whole outcome up to 65 536 elements and nothing above: a test with greater ones calls `defects()`.

extension CountedTree {
  /// Examines the whole tree.
  ///
  /// - Returns: a sentence for each violated clause; empty for a sound tree.
  /// - Complexity: O(n)
  public func defects() -> [String] {
    guard let root else { return count == 0 ? [] : ["the empty tree claims \(count) elements"] }
    var examination = Examination<Element>()
    examination.examine(Body(root), isRoot: true, low: nil, high: nil)
    if Body(root).total != count {
      examination.defects.append("the tree claims \(count) elements, its root \(Body(root).total)")
    }
    return examination.defects
  }

  /// In checked builds, traps if the tree is unsound.
  @inlinable
  func checkInvariants(near element: Element? = nil) {
    #if INTERNAL_CHECKS
      examine(near: element)
    #endif
  }

  #if INTERNAL_CHECKS
    @usableFromInline
    func examine(near element: Element?) {
      let isWhole = element == nil ? count <= 65_536 : count <= 64 || count % 4096 == 0
      let found = isWhole ? defects() : element.map(defectsOnPath) ?? []
      precondition(found.isEmpty, "A counted tree is unsound: \(found.joined(separator: "; ")).")
    }
  #endif

  /// Examines the nodes between the root and the place of one element, and the sums that lead there.
  func defectsOnPath(to element: Element) -> [String] {
    guard let root else { return [] }
    return withExtendedLifetime(root) {
      var examination = Examination<Element>()
      var body = Body(root)
      var (low, high): (Element?, Element?) = (nil, nil)
      examination.examineNode(body, isRoot: true, low: low, high: high)
      while body.height > 0, examination.defects.isEmpty {
        let slot = body.slot(for: element)
        if slot > 0 { low = body.separators[slot - 1] }
        if slot < body.count - 1 { high = body.separators[slot] }
        examination.way.append(slot)
        body = body.child(slot)
        examination.examineNode(body, isRoot: false, low: low, high: high)
      }
      if Body(root).total != count { examination.defects.append("the tree's count is not its root's") }
      return examination.defects
    }
  }
}

/// Collects defects; names nodes by the way to them, such as `root.2.0`.
struct Examination<Element: Comparable & Sendable> {
  var defects: [String] = []
  /// The slots that lead to the node that is examined; a name is made of them for a defect only.
  var way: [Int] = []

  private var name: String { way.reduce("root") { "\($0).\($1)" } }

  /// Examines a subtree whose elements must be in `low..<high` (nil: unbounded).
  mutating func examine(_ body: NodeBody<Element>, isRoot: Bool, low: Element?, high: Element?) {
    examineNode(body, isRoot: isRoot, low: low, high: high)
    guard body.height > 0 else { return }
    for slot in 0..<body.count where body.child(slot).height == body.height - 1 {
      let lower = slot == 0 ? low : body.separators[slot - 1]
      let upper = slot == body.count - 1 ? high : body.separators[slot]
      way.append(slot)
      examine(body.child(slot), isRoot: false, low: lower, high: upper)
      way.removeLast()
    }
  }

  /// Examines one node with its children's headers.
  mutating func examineNode(_ body: NodeBody<Element>, isRoot: Bool, low: Element?, high: Element?) {
    let least = isRoot ? (body.height == 0 ? 1 : 2) : Limits<Element>.minimum(height: body.height)
    check(body.count >= least) { "\($0) has \(body.count) entries, fewer than \(least)" }
    check(body.count <= Limits<Element>.capacity(height: body.height)) { "\($0) has \(body.count) entries, too many" }
    check(body.count <= body.room) { "\($0) has \(body.count) entries in room for \(body.room)" }
    if body.height == 0 {
      examineOrder(body.elements, count: body.count, what: "elements", low: low, high: high)
    } else {
      examineOrder(body.separators, count: body.count - 1, what: "separators", low: low, high: high)
      examineChildren(body)
    }
  }

  private mutating func examineChildren(_ body: NodeBody<Element>) {
    check(body.starts[0] == 0) { "\($0) counts \(body.starts[0]) elements before its first child" }
    for slot in 0..<body.count {
      let child = body.child(slot)
      guard child.height == body.height - 1 else {
        defects.append("\(name).\(slot) has height \(child.height) under a parent of height \(body.height)")
        continue  // What its memory holds is unknown.
      }
      let claimed = body.size(ofChild: slot)
      check(claimed == child.total) { "\($0) counts \(claimed) elements in child \(slot), which has \(child.total)" }
    }
  }

  private mutating func examineOrder(
    _ entries: UnsafeMutablePointer<Element>, count: Int, what: String, low: Element?, high: Element?
  ) {
    guard count > 0 else { return }
    for index in 1..<Swift.max(1, count) where !(entries[index - 1] < entries[index]) {
      defects.append("\(what) \(index - 1) and \(index) of \(name) do not ascend")
    }
    if let low { check(!(entries[0] < low)) { "the first of the \(what) of \($0) is below its lower bound" } }
    if let high {
      check(entries[count - 1] < high) { "the last of the \(what) of \($0) is not below its upper bound" }
    }
  }

  /// - Parameter sentence: what is wrong if the condition does not hold, given the node's name.
  private mutating func check(_ condition: Bool, _ sentence: (String) -> String) {
    if !condition { defects.append(sentence(name)) }
  }
}
