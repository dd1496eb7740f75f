package import CountedTree

// The order of a result, as a value.
//
// A result is a counted tree of keys: the sort terms, then the object's number, so that ties are in library order and
// no two keys are equal. Nearly every sort is by one number or date, and a key of two words keeps the tree flat and
// free of reference counts; several sort terms, or a title, need bytes. Both trees run through the same generic code;
// the switch between them is taken once a batch, never once a key.
//
// A result may contradict the store: rows can be damaged, or rebuilt by another process, after it was fetched. What its
// tree and a delta disagree about becomes an error of the library here, and is a trap nowhere.

/// The keys of a result in order.
package enum ResultOrder: Sendable {
  case narrow(CountedTree<NarrowKey>)
  case wide(CountedTree<WideKey>)

  /// How many objects the result has before its window is cut.
  var count: Int {
    switch self {
    case .narrow(let tree): tree.count
    case .wide(let tree): tree.count
    }
  }

  /// The number of the object at a position of the whole order.
  /// - Complexity: O(log n).
  func number(at position: Int) -> ObjectNumber {
    switch self {
    case .narrow(let tree): tree[position].number
    case .wide(let tree): tree[position].number
    }
  }

  /// The numbers of the objects at a range of positions of the whole order.
  /// - Complexity: O(log n), and O(1) amortised for each.
  func numbers(at range: Range<Int>) -> [ObjectNumber] {
    switch self {
    case .narrow(let tree): IteratorSequence(tree.elements(in: range)).map(\.number)
    case .wide(let tree): IteratorSequence(tree.elements(in: range)).map(\.number)
    }
  }
}

/// What a delta does to a result, with keys as its order has them.
enum OrderTouches {
  case narrow([KeyTouch<NarrowKey>])
  case wide([KeyTouch<WideKey>])

  var isEmpty: Bool {
    switch self {
    case .narrow(let touches): touches.isEmpty
    case .wide(let touches): touches.isEmpty
    }
  }
}

extension CountedTree where Element: ResultKey {
  /// The tree after the touches, and where the touched objects stood and stand.
  /// - Throws: `.corrupted` if the tree contradicts the touches.
  /// - Complexity: O(k log n).
  func advanced(
    by touches: [KeyTouch<Element>]
  ) throws(LibraryError) -> (after: CountedTree<Element>, touched: TouchedPositions) {
    var after = self
    do throws(TreeContradiction) {
      let touched = try after.apply(touches)
      return (after, touched)
    } catch {
      switch error {
      case .absent(let index): throw .contradiction(at: touches[index].old)
      case .present(let index): throw .contradiction(at: touches[index].new)
      }
    }
  }

  /// The positions of the touched objects in this tree and in a later one.
  /// - Throws: `.corrupted` if one of the trees contradicts the touches.
  /// - Complexity: O(k log n).
  func positions(
    of touches: [KeyTouch<Element>], after: CountedTree<Element>
  ) throws(LibraryError) -> TouchedPositions {
    var removed: [Int] = []
    var inserted: [Int] = []
    var repositioned: [Relocation] = []
    var changed: [Int] = []
    for touch in touches {
      switch (touch.old, touch.new) {
      case (nil, nil): break
      case (let old?, nil): removed.append(try position(of: old))
      case (nil, let new?): inserted.append(try after.position(of: new))
      case (let old?, let new?) where old == new && !touch.isVisiblyChanged: break
      case (let old?, let new?):
        let place = try after.position(of: new)
        if old != new { repositioned.append(Relocation(before: try position(of: old), after: place)) }
        if touch.isVisiblyChanged { changed.append(place) }
      }
    }
    guard count - removed.count == after.count - inserted.count else { throw .contradictingResult }
    return TouchedPositions(
      beforeCount: count, afterCount: after.count, removed: removed.sorted(), inserted: inserted.sorted(),
      repositioned: repositioned, changed: changed.sorted())
  }

  /// The position of a key that a delta found in the store.
  private func position(of key: Element) throws(LibraryError) -> Int {
    guard let position = index(of: key) else { throw .contradiction(at: key) }
    return position
  }
}

extension LibraryError {
  /// The error of a result that contradicts the store.
  /// - Parameter key: that of the object about which it does.
  static func contradiction(at key: (some ResultKey)?) -> LibraryError {
    key.map { contradiction("the place of object \($0.number) in a fetch result") } ?? contradictingResult
  }

  /// The error of a result that has other objects than the store, whichever they are.
  static var contradictingResult: LibraryError { contradiction("the objects of a fetch result") }
}
