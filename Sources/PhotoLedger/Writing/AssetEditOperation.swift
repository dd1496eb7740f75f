/// What can be asked of an asset (PHAssetEditOperation, photokit a.3).
public enum AssetEditOperation: Int, Sendable, Hashable, CaseIterable, Codable {
  /// Moving it to the trash.
  case delete = 1
  /// Editing its content.
  case content = 2
  /// Changing its properties: favourite, hidden, dates, place, words.
  case properties = 3
}

extension Asset {
  /// Whether the asset allows an operation, whoever asks (PHAsset.canPerform(_:), AS-13).
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
  /// Whether this client may carry an operation out on an asset, as both are now (PHAsset.canPerform(_:), AS-13).
  /// - Returns: false for an asset that is gone, or not for this client's eyes.
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(log n).
  public func canPerform(_ operation: AssetEditOperation, on asset: Asset) throws -> Bool {
    try self.asset(asset.localIdentifier)?.canPerform(operation) ?? false
  }
}
