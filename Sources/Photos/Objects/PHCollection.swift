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

  override final var origin: PHPhotoLibrary? { library }

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

  /// A property by its name (Apple: `value(forKey:)` of `NSObject`).
  ///
  /// Besides the public properties of the collection's class: `title`, which is `localizedTitle`.
  /// Traps for any other name, as Apple's raises.
  open func value(forKey key: String) -> Any? { storedValue(forKey: key) }

  // MARK: Fetching

  /// The albums and folders of a folder, in its order (Apple: `fetchCollections(in:options:)`).
  open class func fetchCollections(
    in collectionList: PHCollectionList, options: PHFetchOptions?
  ) -> PHFetchResult<PHCollection> {
    PHPhotoLibrary.fetch("PHCollection.fetchCollections(in:options:)", from: collectionList.library) { library in
      guard let folder = collectionList.collection else { return .nothing }
      return .collections(try library.fetchCollections(in: folder, options.options(for: .collection)))
    }
  }

  /// The albums and folders of the top level, in its order (Apple: `fetchTopLevelUserCollections(with:)`).
  open class func fetchTopLevelUserCollections(with options: PHFetchOptions?) -> PHFetchResult<PHCollection> {
    PHPhotoLibrary.fetch("PHCollection.fetchTopLevelUserCollections(with:)") {
      .collections(try $0.fetchTopLevelUserCollections(options.options(for: .collection)))
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

  // MARK: Fetching

  /// The albums with these identifiers; unknown ones and folders are left out
  /// (Apple: `fetchAssetCollections(withLocalIdentifiers:options:)`).
  open class func fetchAssetCollections(
    withLocalIdentifiers identifiers: [String], options: PHFetchOptions?
  ) -> PHFetchResult<PHAssetCollection> {
    PHPhotoLibrary.fetch("PHAssetCollection.fetchAssetCollections(withLocalIdentifiers:options:)") {
      .collections(
        try $0.fetchCollections(
          withLocalIdentifiers: try $0.identifiers(identifiers, ofFolders: false), options.options(for: .collection)))
    }
  }

  /// The albums or smart albums of a subtype (Apple: `fetchAssetCollections(with:subtype:options:)`).
  ///
  /// Every smart album is found by the subtype `any`, and by `albumRegular` as well, as on Apple's systems. Of subtypes
  /// that never occur, and of moments, there are none.
  open class func fetchAssetCollections(
    with type: PHAssetCollectionType, subtype: PHAssetCollectionSubtype, options: PHFetchOptions?
  ) -> PHFetchResult<PHAssetCollection> {
    PHPhotoLibrary.fetch("PHAssetCollection.fetchAssetCollections(with:subtype:options:)") { library in
      if type == .moment { return .nothing }
      // Shipping programs list the smart albums by the subtype of ordinary albums.
      let isAny = subtype == .any || type == .smartAlbum && subtype == .albumRegular
      return .collections(
        try library.fetchCollections(
          with: type == .album ? .album : .smartAlbum,
          subtype: isAny ? nil : AlbumSubtype(rawValue: subtype.rawValue), options.options(for: .collection)))
    }
  }

  /// The albums that hold an asset (Apple: `fetchAssetCollectionsContaining(_:with:options:)`).
  ///
  /// Smart albums are not looked through, as on Apple's systems; for them and for moments the result is empty.
  open class func fetchAssetCollectionsContaining(
    _ asset: PHAsset, with type: PHAssetCollectionType, options: PHFetchOptions?
  ) -> PHFetchResult<PHAssetCollection> {
    let call = "PHAssetCollection.fetchAssetCollectionsContaining(_:with:options:)"
    return PHPhotoLibrary.fetch(call, from: asset.library) { library in
      guard type == .album, let asset = asset.asset, try library.shown(asset) != nil else { return .nothing }
      return .collections(try library.fetchCollections(containing: asset, options.options(for: .collection)))
    }
  }

  /// An album in memory (FR-16; Apple: `transientAssetCollection(with:title:)`).
  ///
  /// Assets of another library than the first one's are left out of it.
  open class func transientAssetCollection(with assets: [PHAsset], title: String?) -> PHAssetCollection {
    let library = assets.first?.library ?? PHPhotoLibrary.shared()
    let own = assets.filter { $0.isOf(library) }.compactMap(\.asset)
    return PHAssetCollection(library.core.transientAlbum(own, title: title), library)
  }

  /// An album in memory of a result's assets (FR-16; Apple: `transientAssetCollection(withAssetFetchResult:title:)`).
  open class func transientAssetCollection(
    withAssetFetchResult fetchResult: PHFetchResult<PHAsset>, title: String?
  ) -> PHAssetCollection {
    let library = fetchResult.library ?? PHPhotoLibrary.shared()
    guard case .assets(let assets) = fetchResult.content else {
      return transientAssetCollection(with: (0..<fetchResult.count).map { fetchResult.object(at: $0) }, title: title)
    }
    return PHAssetCollection(library.core.transientAlbum(assets, title: title), library)
  }
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

  // MARK: Fetching

  /// The folders with these identifiers; unknown ones and albums are left out
  /// (Apple: `fetchCollectionLists(withLocalIdentifiers:options:)`).
  open class func fetchCollectionLists(
    withLocalIdentifiers identifiers: [String], options: PHFetchOptions?
  ) -> PHFetchResult<PHCollectionList> {
    PHPhotoLibrary.fetch("PHCollectionList.fetchCollectionLists(withLocalIdentifiers:options:)") {
      .collections(
        try $0.fetchCollections(
          withLocalIdentifiers: try $0.identifiers(identifiers, ofFolders: true), options.options(for: .collection)))
    }
  }

  /// The folders (Apple: `fetchCollectionLists(with:subtype:options:)`).
  ///
  /// Of other types and subtypes than regular folders there are none; the root is edited through its change request.
  open class func fetchCollectionLists(
    with collectionListType: PHCollectionListType, subtype: PHCollectionListSubtype, options: PHFetchOptions?
  ) -> PHFetchResult<PHCollectionList> {
    PHPhotoLibrary.fetch("PHCollectionList.fetchCollectionLists(with:subtype:options:)") { library in
      guard collectionListType == .folder, subtype == .any || subtype == .regularFolder else { return .nothing }
      return .collections(try library.fetchCollections(with: .folder, options.options(for: .collection)))
    }
  }

  /// The folder that holds a collection; empty at the top level (Apple: `fetchCollectionListsContaining(_:options:)`).
  open class func fetchCollectionListsContaining(
    _ collection: PHCollection, options: PHFetchOptions?
  ) -> PHFetchResult<PHCollectionList> {
    let call = "PHCollectionList.fetchCollectionListsContaining(_:options:)"
    return PHPhotoLibrary.fetch(call, from: collection.library) { library in
      guard let collection = collection.collection else { return .nothing }
      return .collections(try library.fetchCollections(containing: collection, options.options(for: .collection)))
    }
  }

  /// A folder in memory (FR-16; Apple: `transientCollectionList(with:title:)`).
  ///
  /// Transient collections are left out of it, and those of another library than the first one's.
  open class func transientCollectionList(with collections: [PHCollection], title: String?) -> PHCollectionList {
    let library = collections.first?.library ?? PHPhotoLibrary.shared()
    let own = collections.filter { $0.isOf(library) }.compactMap(\.collection)
    return PHCollectionList(library.core.transientFolder(own, title: title), library)
  }

  /// A folder in memory of a result's collections
  /// (FR-16; Apple: `transientCollectionList(withCollectionsFetchResult:title:)`).
  open class func transientCollectionList(
    withCollectionsFetchResult fetchResult: PHFetchResult<PHCollection>, title: String?
  ) -> PHCollectionList {
    let library = fetchResult.library ?? PHPhotoLibrary.shared()
    guard case .collections(let collections) = fetchResult.content else {
      return transientCollectionList(with: (0..<fetchResult.count).map { fetchResult.object(at: $0) }, title: title)
    }
    return PHCollectionList(library.core.transientFolder(collections, title: title), library)
  }
}
