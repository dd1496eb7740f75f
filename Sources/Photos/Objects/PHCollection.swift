public import PhotoLedger

/// An album or a folder as it was at one commit (Apple: `PHCollection`).
open class PHCollection: PHObject, @unchecked Sendable {  // guarded by: holds constants only
  /// The collection of the core; nil for a stand-in.
  public final let collection: PhotoCollection?
  final let library: PHPhotoLibrary?

  init(_ collection: consuming PhotoCollection, _ library: PHPhotoLibrary) {
    (self.collection, self.library) = (collection, library)
  }

  /// A stand-in, for subclasses in tests.
  public override init() { (collection, library) = (nil, nil) }

  /// The collection and its library; nil for a stand-in.
  final var source: (collection: PhotoCollection, library: PHPhotoLibrary)? {
    if let collection, let library { (collection, library) } else { nil }
  }

  /// The identifier.
  open override var localIdentifier: String { collection?.localIdentifier ?? "" }
  /// The title, which is not translated.
  open var localizedTitle: String? { collection?.localizedTitle }
  /// Whether it is an album.
  open var canContainAssets: Bool { collection?.canContainAssets ?? false }
  /// Whether it is a folder.
  open var canContainCollections: Bool { collection?.canContainCollections ?? false }
  /// When it or its content last changed.
  open var modificationDate: Date? { collection?.modificationDate }

  /// Whether an operation is allowed.
  open func canPerform(_ anOperation: PHCollectionEditOperation) -> Bool {
    guard let source else { return false }
    return PHPhotoLibrary.answer("PHCollection.canPerform(_:)") {
      try source.library.core.canPerform(anOperation, on: source.collection)
    }
  }
}

/// An album or a smart album as it was at one commit (Apple: `PHAssetCollection`).
open class PHAssetCollection: PHCollection, @unchecked Sendable {  // guarded by: holds constants only
  /// Whether it is arranged or computed.
  open var assetCollectionType: PHAssetCollectionType { collection?.kind == .smartAlbum ? .smartAlbum : .album }
  /// Its kind.
  open var assetCollectionSubtype: PHAssetCollectionSubtype {
    collection?.albumSubtype.flatMap { PHAssetCollectionSubtype(rawValue: $0.rawValue) } ?? .albumRegular
  }
  /// How many assets it holds, exactly; `NSNotFound` for a smart album (FR-14).
  open var estimatedAssetCount: Int { collection?.estimatedAssetCount ?? 0 }
  /// Nil: albums have no dates of their own (FR-15).
  open var startDate: Date? { collection?.startDate }
  /// Nil: albums have no dates of their own (FR-15).
  open var endDate: Date? { collection?.endDate }
  /// Nil: places are not worked out.
  open var approximateLocation: CLLocation? { nil }
  /// Empty: places are not named.
  open var localizedLocationNames: [String] { [] }
}

/// A folder as it was at one commit (Apple: `PHCollectionList`).
open class PHCollectionList: PHCollection, @unchecked Sendable {  // guarded by: holds constants only
  /// A folder.
  open var collectionListType: PHCollectionListType { .folder }
  /// Whether it is the top level.
  open var collectionListSubtype: PHCollectionListSubtype {
    collection?.folderSubtype.flatMap { PHCollectionListSubtype(rawValue: $0.rawValue) } ?? .regularFolder
  }
  /// Nil: folders have no dates of their own (FR-15).
  open var startDate: Date? { collection?.startDate }
  /// Nil: folders have no dates of their own (FR-15).
  open var endDate: Date? { collection?.endDate }
  /// Empty: places are not named.
  open var localizedLocationNames: [String] { [] }
}
