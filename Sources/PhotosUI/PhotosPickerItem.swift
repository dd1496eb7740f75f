public import LibraryPicking
import PhotoLedger

/// One picked asset, to be loaded as a type of the app's (Apple: `PhotosPickerItem`).
public struct PhotosPickerItem: Hashable, Sendable {
  /// In what form items are loaded, as a picker is asked for it (PK-07; Apple:
  /// `PhotosPickerItem.EncodingDisambiguationPolicy`): a value for
  /// ``PHPickerConfiguration/preferredAssetRepresentationMode``.
  public typealias EncodingDisambiguationPolicy = AssetRepresentation

  /// The asset; nil unless the item was picked from a library that the picker was given (PK-02).
  public let itemIdentifier: String?
  private let source: PickedSource?

  /// An item that names an asset and brings no bytes, to be selected beforehand (PK-04).
  public init(itemIdentifier: String) { (self.itemIdentifier, source) = (itemIdentifier, nil) }

  /// The item of a result. Apple has no such initialiser: there a view, `PhotosPicker`, makes the items.
  public init(_ result: PHPickerResult) {
    (itemIdentifier, source) = (result.assetIdentifier, result.itemProvider.source)
  }

  /// The kinds of data that it can be loaded as, the preferred one first; none for what was selected beforehand.
  public var supportedContentTypes: [UTType] { source?.types ?? [] }

  /// Loads the item as a type of the app's (PK-07).
  /// - Parameter type: how it is wanted; of its representations the first counts that the item has data for.
  /// - Returns: nil if the item has no data for any of them.
  /// - Throws: `PHPhotosError` if the bytes cannot be had, `userCancelled` if the task is cancelled; what the type's
  ///   importing throws.
  /// - Complexity: O(bytes).
  public func loadTransferable<T: Transferable>(type: T.Type) async throws -> sending T? {
    try await source?.load(type, nil)?.value as? T
  }

  /// The same with a handler, which is called on an arbitrary thread.
  /// - Returns: how much is loaded; cancelling it ends the loading with `PHPhotosError.userCancelled`.
  @discardableResult
  public func loadTransferable<T: Transferable>(
    type: T.Type, completionHandler: @escaping @Sendable (Result<T?, any Error>) -> Void
  ) -> Progress {
    .loading { [source] progress in
      do {
        completionHandler(.success(try await source?.load(type, progress)?.value as? T))
      } catch {
        completionHandler(.failure(error))
      }
    }
  }

  /// Whether two items name the same asset by the same pick.
  public static func == (one: PhotosPickerItem, other: PhotosPickerItem) -> Bool {
    one.itemIdentifier == other.itemIdentifier && one.source?.item == other.source?.item
  }

  /// Feeds what names the item.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(itemIdentifier)
    hasher.combine(source?.item)
  }
}
