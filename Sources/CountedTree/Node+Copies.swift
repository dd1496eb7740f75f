// Copies of nodes: whole, with one entry more, with one entry less, of two neighbours. All leave their sources as
// they were, so a value that still holds a source never notices.

extension Node {
  /// Copies an inner node; the children are shared.
  @inlinable
  func innerCopy() -> Node {
    let body = Body(self)
    let copy = Node.inner(above: body.height - 1)
    let target = Body(copy)
    body.readChildrenAhead()
    target.starts.update(from: body.starts, count: body.count + 1)
    target.shareChildren(of: body)
    target.separators.initialize(from: body.separators, count: body.count - 1)
    target.count = body.count
    return copy
  }

  /// Copies entries `range` of the list that a leaf would be with `element` inserted at `index`.
  @inlinable
  func leaf(_ range: Range<Int>, inserting element: Element, at index: Int) -> Node {
    let body = Body(self)
    let copy = Node.leaf(for: range.count)
    let target = Body(copy)
    let middle = Swift.min(Swift.max(index, range.lowerBound), range.upperBound)
    target.appendElements(of: body, range.lowerBound..<middle)
    if range.contains(index) {
      target.appendElement(element)
      target.appendElements(of: body, index..<range.upperBound - 1)
    } else if index < range.lowerBound {
      target.appendElements(of: body, range.lowerBound - 1..<range.upperBound - 1)
    }
    return copy
  }

  /// Copies a leaf without its element at `index`.
  @inlinable
  func leaf(removingAt index: Int) -> Node {
    let body = Body(self)
    let copy = Node.leaf(for: body.count - 1)
    Body(copy).appendElements(of: body, 0..<index)
    Body(copy).appendElements(of: body, index + 1..<body.count)
    return copy
  }

  /// Copies children `range` of the list that an inner node would be with `split.right` inserted at `index`.
  @inlinable
  func inner(_ range: Range<Int>, inserting split: Split, at index: Int) -> Node {
    let body = Body(self)
    let copy = Node.inner(above: body.height - 1)
    let target = Body(copy)
    let added = Body(split.right).total
    for entry in range {
      if entry == index {
        target.appendChild(split.right, size: added, separator: split.separator)
      } else {
        let slot = entry < index ? entry : entry - 1
        let separator = entry == range.lowerBound ? nil : body.separators[slot - 1]
        let size = entry == index - 1 ? Body(body.children[slot]).total : body.size(ofChild: slot)
        target.appendChild(body.children[slot], size: size, separator: separator)
      }
    }
    return copy
  }

  /// Copies entries `range` of two neighbours taken as one list; `separator` divides the two.
  @inlinable
  static func joined(_ left: Body, _ separator: Element, _ right: Body, _ range: Range<Int>) -> Node {
    let seam = left.count
    if left.height == 0 {
      let node = Node.leaf(for: range.count)
      Body(node).appendElements(of: left, Swift.min(range.lowerBound, seam)..<Swift.min(range.upperBound, seam))
      let tail = Swift.max(range.lowerBound, seam) - seam..<Swift.max(range.upperBound, seam) - seam
      Body(node).appendElements(of: right, tail)
      return node
    }
    let node = Node.inner(above: left.height - 1)
    for entry in range {
      let (source, slot) = entry < seam ? (left, entry) : (right, entry - seam)
      let divider = entry == range.lowerBound ? nil : slot == 0 ? separator : source.separators[slot - 1]
      Body(node).appendChild(source.children[slot], size: source.size(ofChild: slot), separator: divider)
    }
    return node
  }

  /// What divides entry `index` from the one before it, in two neighbours taken as one list.
  @inlinable
  static func divider(_ left: Body, _ separator: Element, _ right: Body, at index: Int) -> Element {
    let seam = left.count
    if index == seam { return separator }
    let (source, entry) = index < seam ? (left, index) : (right, index - seam)
    return source.height == 0 ? source.elements[entry] : source.separators[entry - 1]
  }
}

/// The right half of a node that had to be divided, and what divides it from the left half.
@usableFromInline
struct NodeSplit<Element: Comparable & Sendable> {
  @usableFromInline let separator: Element
  @usableFromInline let right: Node<Element>

  @inlinable
  init(separator: Element, right: Node<Element>) {
    self.separator = separator
    self.right = right
  }
}

extension Node {
  @usableFromInline typealias Split = NodeSplit<Element>
}
