public import LibraryPicking
import PhotoLedger

/// One picked asset (Apple: `PHPickerResult`).
///
/// Two results are equal if they are the same item of the same pick.
public struct PHPickerResult: Hashable, Sendable {
  /// Brings the bytes. It offers none for an asset that was selected beforehand: merge the result with the one that the
  /// asset first came in (PK-04).
  public let itemProvider: NSItemProvider

  init(_ item: PickedItem, _ library: PHPhotoLibrary) {
    itemProvider = NSItemProvider(PickedSource(item: item, library: library))
  }

  /// The asset; nil unless the configuration was made with a library (PK-02).
  public var assetIdentifier: String? { item.assetIdentifier }

  /// The item of the core, which can be archived and loaded by a later process of the client's. Apple has no such
  /// property.
  public var item: PickedItem { itemProvider.source.item }

  /// Whether two results are the same item.
  public static func == (one: PHPickerResult, other: PHPickerResult) -> Bool { one.item == other.item }

  /// Feeds the item.
  public func hash(into hasher: inout Hasher) { hasher.combine(item) }
}
