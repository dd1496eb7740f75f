/// An operation on a collection (PHCollectionEditOperation, photokit a.3).
public enum CollectionEditOperation: Int, Sendable, Hashable, CaseIterable, Codable {
  /// Deleting the objects in it from the library (AL-01).
  case deleteContent = 1
  /// Taking objects out of it, which stay in the library (AL-01).
  case removeContent = 2
  /// Putting objects of the library into it.
  case addContent = 3
  /// Making new objects in it.
  case createContent = 4
  /// Changing the order of what is in it.
  case rearrangeContent = 5
  /// Deleting it.
  case delete = 6
  /// Giving it another title.
  case rename = 7
}

extension PhotoCollection {
  /// Whether the collection allows an operation, for any client (PHCollection.canPerform(_:), AL-07, CB-10).
  ///
  /// | | an album, a folder | a smart album | the library's own smart album | the root folder | transient |
  /// |---|---|---|---|---|---|
  /// | `deleteContent` | yes | yes | yes | yes | no |
  /// | `addContent`, `createContent`, `rearrangeContent` | yes | no | no | yes | no |
  /// | `removeContent` | yes | no | no | no: it goes into a folder, or is deleted | no |
  /// | `delete`, `rename` | yes | yes | no | no (FR-13) | no |
  /// - Complexity: O(1).
  public func canPerform(_ operation: CollectionEditOperation) -> Bool {
    if isTransient { return false }
    let isRoot = row.number == rootFolder
    switch operation {
    case .deleteContent: return true
    case .addContent, .createContent, .rearrangeContent: return kind != .smartAlbum
    case .removeContent: return kind != .smartAlbum && !isRoot
    case .delete, .rename: return !row.isBuiltIn && !isRoot
    }
  }
}

extension PhotoLibrary {
  /// Whether this client may currently perform an operation on a collection (PHCollection.canPerform(_:), CB-10).
  /// - Returns: false for a collection that is transient, deleted, or not visible to the client.
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(log n).
  public func canPerform(_ operation: CollectionEditOperation, on collection: PhotoCollection) throws -> Bool {
    try self.collection(collection.localIdentifier)?.canPerform(operation) ?? false
  }
}
