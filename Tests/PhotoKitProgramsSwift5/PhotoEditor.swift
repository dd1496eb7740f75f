// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Photos

/// Brightens photos; an edit can be continued or reverted.
public final class PhotoEditor {
  /// What an edit begins with.
  public struct Beginning: Equatable, Sendable {
    /// The strength of the edit so far; nil for a photo that this app has not edited.
    public let strength: Int?
    /// The bytes that the edit begins with.
    public let base: Data
  }

  /// What the editor cannot do.
  public enum Failure: Error {
    case notEditable
    case noInput((any Error)?)
  }

  public static let formatIdentifier = "com.example.brighten"
  public static let formatVersion = "1.0"

  public init() {}

  /// What an edit of an asset would begin with.
  public func beginning(of asset: PHAsset) async throws -> Beginning {
    let input = try await contentEditingInput(for: asset)
    return Beginning(strength: strength(of: input.adjustmentData), base: try base(of: input))
  }

  /// Brightens a photo by a strength that is kept in the adjustment data.
  public func brighten(_ asset: PHAsset, by strength: Int) async throws {
    guard asset.canPerform(.content) else { throw Failure.notEditable }
    let input = try await contentEditingInput(for: asset)
    let output = PHContentEditingOutput(contentEditingInput: input)
    output.adjustmentData = PHAdjustmentData(
      formatIdentifier: Self.formatIdentifier, formatVersion: Self.formatVersion, data: Data("\(strength)".utf8))
    try render(try base(of: input), strength: strength).write(to: output.renderedContentURL, options: .atomic)
    try await PHPhotoLibrary.shared().performChanges {
      let request = PHAssetChangeRequest(for: asset)
      request.contentEditingOutput = output
    }
  }

  /// Tries to commit an edit without saying what was done.
  public func commitWithoutRecipe(_ asset: PHAsset) async throws {
    let output = PHContentEditingOutput(contentEditingInput: try await contentEditingInput(for: asset))
    try Data("render".utf8).write(to: output.renderedContentURL)
    try await PHPhotoLibrary.shared().performChanges {
      PHAssetChangeRequest(for: asset).contentEditingOutput = output
    }
  }

  public func revert(_ asset: PHAsset) async throws {
    try await PHPhotoLibrary.shared().performChanges {
      PHAssetChangeRequest(for: asset).revertAssetContentToOriginal()
    }
  }

  public func setFavorite(_ isFavorite: Bool, _ asset: PHAsset) async throws {
    guard asset.canPerform(.properties) else { throw Failure.notEditable }
    try await PHPhotoLibrary.shared().performChanges {
      let request = PHAssetChangeRequest(for: asset)
      request.isFavorite = isFavorite
    }
  }

  /// The bytes of the photo as it is shown.
  public func currentData(of asset: PHAsset) async -> Data? {
    let options = PHImageRequestOptions()
    options.version = .current
    options.isNetworkAccessAllowed = true
    return await withCheckedContinuation { continuation in
      PHImageManager.default().requestImageDataAndOrientation(for: asset, options: options) { data, _, _, _ in
        continuation.resume(returning: data)
      }
    }
  }

  // MARK: - Private

  private func contentEditingInput(for asset: PHAsset) async throws -> PHContentEditingInput {
    let options = PHContentEditingInputRequestOptions()
    options.isNetworkAccessAllowed = true
    options.canHandleAdjustmentData = { data in
      data.formatIdentifier == PhotoEditor.formatIdentifier && data.formatVersion == PhotoEditor.formatVersion
    }
    return try await withCheckedThrowingContinuation { continuation in
      asset.requestContentEditingInput(with: options) { input, info in
        if let input {
          continuation.resume(returning: input)
        } else {
          continuation.resume(throwing: Failure.noInput(info[PHContentEditingInputErrorKey] as? any Error))
        }
      }
    }
  }

  private func strength(of data: PHAdjustmentData?) -> Int? {
    data.flatMap { Int(String(decoding: $0.data, as: UTF8.self)) }
  }

  private func base(of input: PHContentEditingInput) throws -> Data {
    guard let url = input.fullSizeImageURL else { throw Failure.notEditable }
    return try Data(contentsOf: url)
  }

  private func render(_ base: Data, strength: Int) -> Data {
    base + Data(" brightened by \(strength)".utf8)
  }
}
