package import Foundation

/// The pages of a store's file, for tests that alter them.
package struct StorePages {
  /// A loop that pages form: LMDB never writes one.
  package enum Loop: String, CaseIterable, Codable, Sendable {
    /// The root leads to itself.
    case root
    /// The first page below the root and the last lead to each other.
    case pair
    /// Each page that had entries leads to the root.
    case leaves
  }

  private let file: URL
  package private(set) var data: Data

  /// - Parameter path: the directory of the store.
  package init(_ path: String) throws {
    file = URL(filePath: path + "/data.mdb")
    data = try Data(contentsOf: file)
  }

  package func write() throws { try data.write(to: file) }

  package func number<Number: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as: Number.Type) -> Number {
    data.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Number.self) }
  }

  package mutating func set<Number: FixedWidthInteger>(_ offset: Int, _ number: Number) {
    withUnsafeBytes(of: number) { data.replaceSubrange(offset..<offset + $0.count, with: $0) }
  }

  /// The offset of the meta page of the last commit.
  package var meta: Int { number(144, as: UInt64.self) >= number(4096 + 144, as: UInt64.self) ? 0 : 4096 }

  /// The offsets of the nodes of a page (mp_lower, mp_ptrs).
  package func nodes(ofPage page: Int) -> [Int] {
    let start = page * 4096
    return (0..<(Int(number(start + 12, as: UInt16.self)) - 16) / 2).map {
      start + Int(number(start + 16 + 2 * $0, as: UInt16.self))
    }
  }

  private func isBranch(_ page: Int) -> Bool { number(page * 4096 + 10, as: UInt16.self) & 1 != 0 }

  /// The pages that the pages of branches lead to from a root, without what they lead to in turn.
  package func branches(from root: Int) -> [Int] {
    guard isBranch(root) else { return [] }
    return [root] + nodes(ofPage: root).flatMap { branches(from: child($0)) }
  }

  /// The pages with the entries of a tree, in the order of the keys.
  private func leaves(from root: Int) -> [Int] {
    isBranch(root) ? nodes(ofPage: root).flatMap { leaves(from: child($0)) } : [root]
  }

  package func child(_ node: Int) -> Int {
    Int(number(node, as: UInt32.self)) | Int(number(node + 4, as: UInt16.self)) << 32
  }

  package mutating func lead(_ node: Int, to page: Int) {
    set(node, UInt32(truncatingIfNeeded: page))
    set(node + 4, UInt16(truncatingIfNeeded: page >> 32))
  }

  /// The root of a named database; nil if there is none of the name, or if it is empty.
  package func root(of name: String) -> Int? {
    // An entry of the main database has the record of another; the root is its last word.
    for node in leaves(from: Int(number(meta + 128, as: UInt64.self))).flatMap({ nodes(ofPage: $0) }) {
      let keyEnd = node + 8 + Int(number(node + 6, as: UInt16.self))
      guard data[node + 8..<keyEnd].elementsEqual(name.utf8) else { continue }
      return Int(exactly: number(keyEnd + 40, as: UInt64.self))
    }
    return nil
  }

  /// Makes the pages of a tree a loop. The one page of a small tree leads to itself.
  package mutating func make(_ loop: Loop, from root: Int) {
    guard isBranch(root) else { return leadAll(of: root, to: root) }
    switch loop {
    case .root: leadAll(of: root, to: root)
    case .pair:
      let children = nodes(ofPage: root).map(child)
      leadAll(of: children[0], to: children[children.count - 1])
      leadAll(of: children[children.count - 1], to: children[0])
    case .leaves: for leaf in leaves(from: root) { leadAll(of: leaf, to: root) }
    }
  }

  /// Leads the root of a tree to the pages below it in another order, or to some of them again.
  package mutating func rearrange(from root: Int, _ change: ([Int]) -> [Int]) {
    let nodes = nodes(ofPage: root)
    for (node, page) in zip(nodes, change(nodes.map(child))) { lead(node, to: page) }
  }

  /// Makes a page a branch whose nodes all lead to one page.
  private mutating func leadAll(of page: Int, to target: Int) {
    set(page * 4096 + 10, UInt16(1))
    for node in nodes(ofPage: page) { lead(node, to: target) }
  }
}
