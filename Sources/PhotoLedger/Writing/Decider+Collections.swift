import Foundation
import LMDB

extension Decider {
  mutating func create(
    _ kind: PhotoCollection.Kind, _ title: String, _ query: SmartAlbumQuery?, as identifier: LocalIdentifier,
    _ t: inout WriteTransaction
  ) throws {
    try checkIsFree(identifier, t)
    try checkTitle(title)
    if let query { try check(query) }
    let keys = try makeRoom(in: rootFolder, before: nil, count: 1, &t)
    var row = CollectionRow(number: nextNumber, identifier: identifier, kind: kind, title: title, date: date)
    row.parent = rootFolder
    row.creator = permission.client ?? 0
    row.query = query
    try record(.collectionCreated(CollectionExistence(row: row, key: keys[0])), &t)
    noteCreated(identifier, row.objectKind)
  }

  /// A query is kept as text, so it must read back as itself, and be about assets.
  private func check(_ query: SmartAlbumQuery) throws {
    // Before it is read: it is read in the write transaction.
    guard query.format.utf8.count <= 65_536 else {
      throw LibraryError(.limitExceeded, "The condition of a smart album may have at most 65,536 bytes.")
    }
    let condition = try query.condition(at: date)
    try condition.check(for: .asset)
    guard client == PhotoLibrary.owner || !condition.asks(for: .path) else {
      throw LibraryError(
        .unsupportedPredicate, "A smart album of '\(client)' cannot ask for 'path'; ask for 'originalFilename'.")
    }
    _ = try query.terms()
  }

  mutating func setTitle(_ title: String, of identifier: LocalIdentifier?, _ t: inout WriteTransaction) throws {
    try checkTitle(title)
    guard let identifier else { throw Self.fixedRoot }
    let row = try editable(identifier, t)
    // Strings that differ in normalisation alone are equal, and still other bytes.
    guard row.title.map({ Array($0.utf8) }) != Array(title.utf8) else { return }
    var edited = CollectionEdited(number: row.number)
    edited.title = Replacement(old: row.title, new: title)
    edited.modificationDate = modification(after: row.modificationDate)
    if row.creator != 0 { edited.creatorDate = modification(after: row.creatorDate) }
    try record(.collectionEdited(edited), &t)
  }

  /// Deletes collections, and the contents of folders (FO-03). Positions and members are kept, so that it can be
  /// undone.
  ///
  /// Collections that the client cannot see are not deleted with one of its folders: they move to the end of the top
  /// level.
  mutating func delete(_ identifiers: [LocalIdentifier], _ t: inout WriteTransaction) throws {
    var waiting = try distinct(identifiers).map { try editable($0, t).number }
    var done: Set<ObjectNumber> = []
    while let number = waiting.popLast() {
      guard done.insert(number).inserted, let row = try projections.collection(number, in: t), row.deletedDate == nil
      else { continue }
      if row.kind == .folder {
        var strangers: [ObjectNumber] = []
        try projections.forEachMember(of: number, in: t) { _, child in
          let isShown = try projections.showsCollection(child, to: permission.access, in: t)
          if isShown { waiting.append(child) } else { strangers.append(child) }
          return true
        }
        try takeOut(strangers, of: row, &t)
      }
      var edited = CollectionEdited(number: number)
      edited.deletedDate = Replacement(old: nil, new: date)
      try record(.collectionEdited(edited), &t)
    }
  }

  /// A collection that may be renamed, deleted or put elsewhere: any but the root (FR-13).
  func editable(_ identifier: LocalIdentifier, _ t: borrowing WriteTransaction) throws -> CollectionRow {
    let row = try collection(identifier, t)
    guard row.number != rootFolder else { throw Self.fixedRoot }
    guard !row.isBuiltIn else {
      throw LibraryError(
        .changeNotSupported, "The built-in smart album '\(row.title ?? "")' cannot be renamed, deleted or moved.")
    }
    return row
  }

  private static let fixedRoot = LibraryError(
    .changeNotSupported, "The root folder cannot be renamed, deleted or moved.")

  private func checkTitle(_ title: String) throws {
    guard title.utf8.count <= 4096 else {
      throw LibraryError(.limitExceeded, "A title may have at most 4,096 bytes, not \(title.utf8.count).")
    }
  }
}
