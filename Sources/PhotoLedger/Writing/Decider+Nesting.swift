import LMDB

// How deep folders stand in each other (FO-02).
//
// A program that walks the tree of collections goes as deep as it was made, and each request that puts a collection
// into a folder reads the folders above. So the depth is bounded where folders are put into others: the folders above,
// and the levels of the folder itself. Deleted folders count, since an undo brings them back in place. A folder that
// the client cannot see ends the walk in both directions: counting it would reveal it.
//
// Earlier versions made deeper trees. They can be read, albums can be added to them, and folders can be taken out.

extension Decider {
  /// The most folders of which each is in the one before.
  static let nestingLimit = 64

  /// - Throws: ``LibraryError`` `.limitExceeded` if a folder, or one in it, would stand too deep.
  /// - Complexity: O(c log n) for c collections in the folder.
  func checkNesting(of child: ObjectNumber, in folder: ObjectNumber, _ t: borrowing WriteTransaction) throws {
    guard let row = try projections.collection(child, in: t), row.kind == .folder else { return }
    var room = Self.nestingLimit
    var above = folder
    while above != rootFolder, room > 0, let outer = try projections.collection(above, in: t),
      permission.access.shows(outer)
    {
      room -= 1
      above = outer.parent
    }
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
