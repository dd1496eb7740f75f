import LMDB

// How deep folders stand in each other (FO-02).
//
// A program that walks the tree of collections goes as deep as it was made, and each request that puts a collection
// into a folder reads the folders above. So the depth is bounded where folders are put into others: the folders above,
// and the levels of the folder itself. Deleted folders count, since an undo brings them back in place. A folder that
// the client cannot see ends the walk in both directions: counting it would reveal it.
//
// Earlier versions made deeper trees, and a client whose folder hangs in one that it cannot see makes them still. They
// can be read, albums can be added to them, and a folder can be moved to where it is no deeper than before.

extension Decider {
  /// The most folders of which each is in the one before.
  static let nestingLimit = 64

  /// - Parameters:
  ///   - former: the levels above the collection before the request; nil where it has not been moved yet.
  /// - Throws: ``LibraryError`` `.limitExceeded` if a folder, or one in it, would be too deep, and deeper than before.
  /// - Complexity: O(d log n) for d folders above; where the folder would be deeper than before, O((c + d) log n) for c
  ///   collections below it, albums included: their kind is in their rows.
  func checkNesting(
    of child: ObjectNumber, in folder: ObjectNumber, former: Int? = nil, _ t: borrowing WriteTransaction
  ) throws {
    guard let row = try projections.collection(child, in: t), row.kind == .folder else { return }
    let above = try levels(downTo: folder, t)
    guard try above > former ?? levels(downTo: row.parent, t) else { return }
    var room = Self.nestingLimit - above
    var level = [child]
    while !level.isEmpty {
      guard room > 0 else {
        throw LibraryError(
          .limitExceeded,
          """
          The folder '\(row.title ?? "")' would make folders more than \(Self.nestingLimit) levels deep; \
          put it into one that is less deep.
          """)
      }
      room -= 1
      level = try folders(in: level, t)
    }
  }

  /// The levels above a collection, as far as the client sees them; 0 if there is no such collection.
  func levels(above child: ObjectNumber, _ t: borrowing WriteTransaction) throws -> Int {
    guard let row = try projections.collection(child, in: t) else { return 0 }
    return try levels(downTo: row.parent, t)
  }

  /// How many folders there are from a folder up to the top level, or to one that the client cannot see.
  private func levels(downTo folder: ObjectNumber, _ t: borrowing WriteTransaction) throws -> Int {
    let bound = try t.count(of: projections.collections)
    var (count, above) = (0, folder)
    while above != rootFolder, let outer = try projections.collection(above, in: t), permission.access.shows(outer) {
      guard count < bound else { throw projections.corruption("the folders above collection \(folder)") }
      count += 1
      above = outer.parent
    }
    return count
  }

  /// The folders in folders that the client can see, deleted ones included.
  private func folders(
    in outer: [ObjectNumber], _ t: borrowing WriteTransaction
  ) throws -> [ObjectNumber] {
    var found: [ObjectNumber] = []
    for number in outer {
      try projections.forEachMember(of: number, in: t) { _, member in
        guard let row = try projections.collection(member, in: t) else { return true }
        if row.kind == .folder, permission.access.shows(row) { found.append(member) }
        return true
      }
    }
    return found
  }
}
