// The fetches, as class methods of what they give. All go to the shared library; a fetch that the store cannot follow
// traps with the core's sentence, where Apple's raises (FR-09).

public import PhotoLedger

extension PHPhotoLibrary {
  static func fetch<Object>(
    _ call: String, _ body: (PhotoLibrary) throws -> PHFetchResult<Object>.Content
  ) -> PHFetchResult<Object> {
    let library = shared()
    return PHFetchResult(answer(call) { try body(library.present()) }, library)
  }
}

extension PHAsset {
  /// All assets that options describe (Apple: `fetchAssets(with:)`).
  public class func fetchAssets(with options: PHFetchOptions?) -> PHFetchResult<PHAsset> {
    PHPhotoLibrary.fetch("PHAsset.fetchAssets(with:)") {
      .assets(try $0.fetchAssets(options.options(for: .asset)))
    }
  }

  /// The assets of one type (Apple: `fetchAssets(with:options:)`).
  public class func fetchAssets(
    with mediaType: PHAssetMediaType, options: PHFetchOptions?
  ) -> PHFetchResult<PHAsset> {
    PHPhotoLibrary.fetch("PHAsset.fetchAssets(with:options:)") {
      .assets(try $0.fetchAssets(with: mediaType, options.options(for: .asset)))
    }
  }

  /// The assets of an album, in its order (Apple: `fetchAssets(in:options:)`).
  public class func fetchAssets(
    in assetCollection: PHAssetCollection, options: PHFetchOptions?
  ) -> PHFetchResult<PHAsset> {
    PHPhotoLibrary.fetch("PHAsset.fetchAssets(in:options:)") { library in
      guard let album = assetCollection.collection else { return .nothing }
      return .assets(try library.fetchAssets(options.options(for: .asset), in: album))
    }
  }

  /// The assets with these identifiers, in library order; unknown ones are left out
  /// (Apple: `fetchAssets(withLocalIdentifiers:options:)`).
  public class func fetchAssets(
    withLocalIdentifiers identifiers: [String], options: PHFetchOptions?
  ) -> PHFetchResult<PHAsset> {
    PHPhotoLibrary.fetch("PHAsset.fetchAssets(withLocalIdentifiers:options:)") {
      .assets(try $0.fetchAssets(withLocalIdentifiers: identifiers, options.options(for: .asset)))
    }
  }

  /// The assets that stand for an album; nil for a transient one (Apple: `fetchKeyAssets(in:options:)`).
  public class func fetchKeyAssets(
    in assetCollection: PHAssetCollection, options: PHFetchOptions?
  ) -> PHFetchResult<PHAsset>? {
    guard let album = assetCollection.collection else { return nil }
    let library = PHPhotoLibrary.shared()
    return PHPhotoLibrary.answer("PHAsset.fetchKeyAssets(in:options:)") {
      try library.present().fetchKeyAssets(in: album, options.options(for: .asset)).map {
        PHFetchResult(.assets($0), library)
      }
    }
  }

  /// The members of a burst: who stands for it and a person's picks, or all (BU-03;
  /// Apple: `fetchAssets(withBurstIdentifier:options:)`).
  public class func fetchAssets(
    withBurstIdentifier burstIdentifier: String, options: PHFetchOptions?
  ) -> PHFetchResult<PHAsset> {
    PHPhotoLibrary.fetch("PHAsset.fetchAssets(withBurstIdentifier:options:)") {
      .assets(try $0.fetchAssets(withBurstIdentifier: burstIdentifier, options.options(for: .asset)))
    }
  }
}

extension PHCollection {
  /// The albums and folders of a folder, in its order (Apple: `fetchCollections(in:options:)`).
  public class func fetchCollections(
    in collectionList: PHCollectionList, options: PHFetchOptions?
  ) -> PHFetchResult<PHCollection> {
    PHPhotoLibrary.fetch("PHCollection.fetchCollections(in:options:)") { library in
      guard let folder = collectionList.collection else { return .nothing }
      return .collections(try library.fetchCollections(in: folder, options.options(for: .collection)))
    }
  }

  /// The albums and folders of the top level, in its order (Apple: `fetchTopLevelUserCollections(with:)`).
  public class func fetchTopLevelUserCollections(with options: PHFetchOptions?) -> PHFetchResult<PHCollection> {
    PHPhotoLibrary.fetch("PHCollection.fetchTopLevelUserCollections(with:)") {
      .collections(try $0.fetchTopLevelUserCollections(options.options(for: .collection)))
    }
  }
}

extension PHAssetCollection {
  /// The albums with these identifiers; unknown ones and folders are left out
  /// (Apple: `fetchAssetCollections(withLocalIdentifiers:options:)`).
  public class func fetchAssetCollections(
    withLocalIdentifiers identifiers: [String], options: PHFetchOptions?
  ) -> PHFetchResult<PHAssetCollection> {
    PHPhotoLibrary.fetch("PHAssetCollection.fetchAssetCollections(withLocalIdentifiers:options:)") {
      .collections(
        try $0.fetchCollections(
          withLocalIdentifiers: identifiers.filter { !$0.hasSuffix(ObjectKind.folder.suffix) },
          options.options(for: .collection)))
    }
  }

  /// The albums or smart albums of a subtype (Apple: `fetchAssetCollections(with:subtype:options:)`).
  ///
  /// Of subtypes that never occur, and of moments, there are none.
  public class func fetchAssetCollections(
    with type: PHAssetCollectionType, subtype: PHAssetCollectionSubtype, options: PHFetchOptions?
  ) -> PHFetchResult<PHAssetCollection> {
    PHPhotoLibrary.fetch("PHAssetCollection.fetchAssetCollections(with:subtype:options:)") { library in
      if type == .moment { return .nothing }
      return .collections(
        try library.fetchCollections(
          with: type == .album ? .album : .smartAlbum,
          subtype: subtype == .any ? nil : AlbumSubtype(rawValue: subtype.rawValue), options.options(for: .collection)))
    }
  }

  /// The albums that hold an asset (Apple: `fetchAssetCollectionsContaining(_:with:options:)`).
  ///
  /// Smart albums are not looked through, as on Apple's systems; for them and for moments the result is empty.
  public class func fetchAssetCollectionsContaining(
    _ asset: PHAsset, with type: PHAssetCollectionType, options: PHFetchOptions?
  ) -> PHFetchResult<PHAssetCollection> {
    PHPhotoLibrary.fetch("PHAssetCollection.fetchAssetCollectionsContaining(_:with:options:)") { library in
      guard type == .album, let asset = asset.asset else { return .nothing }
      return .collections(try library.fetchCollections(containing: asset, options.options(for: .collection)))
    }
  }

  /// An album in memory (FR-16; Apple: `transientAssetCollection(with:title:)`).
  public class func transientAssetCollection(with assets: [PHAsset], title: String?) -> PHAssetCollection {
    let library = PHPhotoLibrary.shared()
    return PHAssetCollection(library.core.transientAlbum(assets.compactMap(\.asset), title: title), library)
  }

  /// An album in memory of a result's assets (FR-16; Apple: `transientAssetCollection(withAssetFetchResult:title:)`).
  public class func transientAssetCollection(
    withAssetFetchResult fetchResult: PHFetchResult<PHAsset>, title: String?
  ) -> PHAssetCollection {
    let library = PHPhotoLibrary.shared()
    guard case .assets(let assets) = fetchResult.content else {
      return transientAssetCollection(with: [], title: title)
    }
    return PHAssetCollection(library.core.transientAlbum(assets, title: title), library)
  }
}

extension PHCollectionList {
  /// The folders with these identifiers; unknown ones and albums are left out
  /// (Apple: `fetchCollectionLists(withLocalIdentifiers:options:)`).
  public class func fetchCollectionLists(
    withLocalIdentifiers identifiers: [String], options: PHFetchOptions?
  ) -> PHFetchResult<PHCollectionList> {
    PHPhotoLibrary.fetch("PHCollectionList.fetchCollectionLists(withLocalIdentifiers:options:)") {
      .collections(
        try $0.fetchCollections(
          withLocalIdentifiers: identifiers.filter { $0.hasSuffix(ObjectKind.folder.suffix) },
          options.options(for: .collection)))
    }
  }

  /// The folders (Apple: `fetchCollectionLists(with:subtype:options:)`).
  ///
  /// Of other types and subtypes than regular folders there are none; the root is edited through its change request.
  public class func fetchCollectionLists(
    with collectionListType: PHCollectionListType, subtype: PHCollectionListSubtype, options: PHFetchOptions?
  ) -> PHFetchResult<PHCollectionList> {
    PHPhotoLibrary.fetch("PHCollectionList.fetchCollectionLists(with:subtype:options:)") { library in
      guard collectionListType == .folder, subtype == .any || subtype == .regularFolder else { return .nothing }
      return .collections(try library.fetchCollections(with: .folder, options.options(for: .collection)))
    }
  }

  /// The folder that holds a collection; empty at the top level (Apple: `fetchCollectionListsContaining(_:options:)`).
  public class func fetchCollectionListsContaining(
    _ collection: PHCollection, options: PHFetchOptions?
  ) -> PHFetchResult<PHCollectionList> {
    PHPhotoLibrary.fetch("PHCollectionList.fetchCollectionListsContaining(_:options:)") { library in
      guard let collection = collection.collection else { return .nothing }
      return .collections(try library.fetchCollections(containing: collection, options.options(for: .collection)))
    }
  }

  /// A folder in memory (FR-16; Apple: `transientCollectionList(with:title:)`).
  public class func transientCollectionList(with collections: [PHCollection], title: String?) -> PHCollectionList {
    let library = PHPhotoLibrary.shared()
    return PHCollectionList(
      library.core.transientFolder(collections.compactMap(\.collection), title: title), library)
  }

  /// A folder in memory of a result's collections
  /// (FR-16; Apple: `transientCollectionList(withCollectionsFetchResult:title:)`).
  public class func transientCollectionList(
    withCollectionsFetchResult fetchResult: PHFetchResult<PHCollection>, title: String?
  ) -> PHCollectionList {
    let library = PHPhotoLibrary.shared()
    guard case .collections(let collections) = fetchResult.content else {
      return transientCollectionList(with: [], title: title)
    }
    return PHCollectionList(library.core.transientFolder(collections, title: title), library)
  }
}
