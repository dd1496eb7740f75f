// The objects. Each is a core value in a class, since Apple's clients compare, subclass and pass references; two of
// them are equal when they are the same object of the library, whatever commit they were read at.
//
// The classes are open, and can be made without arguments, because tests of apps subclass them for stand-ins. A
// stand-in has no core value: it answers with empty values where it does not override, and fails in requests.

internal import LibraryUploads
internal import PhotoLedger

/// An object of the library as it was at one commit (Apple: `PHObject`).
open class PHObject: NSObject, NSCopying, @unchecked Sendable {  // guarded by: subclasses of this module hold constants
  /// The identifier, which is the object's for ever (Apple: `localIdentifier`).
  open var localIdentifier: String { "" }

  /// Itself: an object does not change (Apple: `NSCopying`).
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether another object is the same one of the library.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? PHObject else { return false }
    return self === other || !localIdentifier.isEmpty && localIdentifier == other.localIdentifier
  }

  /// A hash of the identifier.
  open override var hash: Int { localIdentifier.isEmpty ? ObjectIdentifier(self).hashValue : localIdentifier.hashValue }

  /// The library it was read from; nil for a stand-in.
  var origin: PHPhotoLibrary? { nil }

  /// Whether it was read from a library: numbers of one mean nothing in another.
  func isOf(_ library: PHPhotoLibrary?) -> Bool {
    guard let origin, let library else { return false }
    return origin.isOfSameLibrary(as: library)
  }

  /// The object as the core names it; nil for a stand-in.
  var identifier: LocalIdentifier? { LocalIdentifier(localIdentifier.prefix { $0 != "/" }) }
}

/// Stands for an object that a block creates (CB-07; Apple: `PHObjectPlaceholder`).
public final class PHObjectPlaceholder: PHObject, @unchecked Sendable {  // guarded by: holds constants only
  private let spelling: String

  init(_ identifier: LocalIdentifier, _ kind: ObjectKind) { spelling = identifier.spelled(as: kind) }

  init(uploadJob identifier: String) { spelling = identifier }

  /// The identifier that the object will have.
  public override var localIdentifier: String { spelling }
}

/// Which library an object or a result came from.
extension PHPhotoLibrary {
  /// Whether another one is of the same library, as whichever client and by whichever opening.
  ///
  /// The mark tells libraries apart that were at one place one after the other, the place a library and its restored
  /// backup.
  func isOfSameLibrary(as other: PHPhotoLibrary) -> Bool {
    self === other || core.store.core.mark == other.core.store.core.mark && core.url == other.core.url
  }
}

extension PHObject {
  /// What an object of the core is in this module.
  static func of(_ asset: Asset, in library: PHPhotoLibrary) -> PHAsset { PHAsset(asset, library) }

  static func of(_ collection: PhotoCollection, in library: PHPhotoLibrary) -> PHCollection {
    collection.canContainCollections
      ? PHCollectionList(collection, library) : PHAssetCollection(collection, library)
  }
}
