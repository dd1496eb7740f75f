/// An operation on an asset (PHAssetEditOperation, photokit a.3).
public enum AssetEditOperation: Int, Sendable, Hashable, CaseIterable, Codable {
  /// Moving it to the trash.
  case delete = 1
  /// Editing its content.
  case content = 2
  /// Changing its properties: favourite, hidden, dates, place, words.
  case properties = 3
}

extension Asset {
  /// Whether the asset allows an operation, for any client (PHAsset.canPerform(_:), AS-13).
  ///
  /// An asset that another computer or a shared album put here allows none, and the content of a sound recording is
  /// not edited. `PhotoLibrary.canPerform(_:on:)` says whether a client may do it.
  /// - Complexity: O(1).
  public func canPerform(_ operation: AssetEditOperation) -> Bool {
    switch operation {
    case .delete, .properties: row.isEditable
    case .content: row.isEditable && (mediaType == .image || mediaType == .video)
    }
  }
}

extension PhotoLibrary {
  /// Whether this client may currently perform an operation on an asset (PHAsset.canPerform(_:), AS-13).
  /// - Returns: false for an asset that no longer exists, or that the client cannot see.
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(log n).
  public func canPerform(_ operation: AssetEditOperation, on asset: Asset) throws -> Bool {
    try self.asset(asset.localIdentifier)?.canPerform(operation) ?? false
  }
}
