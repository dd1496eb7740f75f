public import PhotoLedger

/// One photo, video or sound as it was at one commit (Apple: `PHAsset`, list A1).
open class PHAsset: PHObject, @unchecked Sendable {  // guarded by: holds constants only
  /// The asset of the core; nil for a stand-in.
  ///
  /// Kept as it is and not in a tuple or behind a getter: a property is then read without copying the row.
  public final let asset: Asset?
  final let library: PHPhotoLibrary?

  init(_ asset: consuming Asset, _ library: PHPhotoLibrary) { (self.asset, self.library) = (asset, library) }

  /// A stand-in, for subclasses in tests.
  public override init() { (asset, library) = (nil, nil) }

  override final var origin: PHPhotoLibrary? { library }

  /// The asset and its library; nil for a stand-in.
  final var source: (asset: Asset, library: PHPhotoLibrary)? {
    if let asset, let library { (asset, library) } else { nil }
  }

  /// The identifier.
  open override var localIdentifier: String { asset?.localIdentifier ?? "" }
  /// What it is.
  open var mediaType: PHAssetMediaType { asset?.mediaType ?? .unknown }
  /// What else it is.
  open var mediaSubtypes: PHAssetMediaSubtype {
    PHAssetMediaSubtype(rawValue: UInt(asset?.mediaSubtypes.rawValue ?? 0))
  }
  /// How it is shown.
  open var playbackStyle: PlaybackStyle { asset?.playbackStyle ?? .unsupported }
  /// The width of the current version, pixels (AS-02).
  open var pixelWidth: Int { asset?.pixelWidth ?? 0 }
  /// The height of the current version, pixels (AS-02).
  open var pixelHeight: Int { asset?.pixelHeight ?? 0 }
  /// When it was taken.
  open var creationDate: Date? { asset?.creationDate }
  /// When a property or the content last changed (AS-01).
  open var modificationDate: Date? { asset?.modificationDate }
  /// When it came into the library.
  open var addedDate: Date? { asset?.addedDate }
  /// Where it was taken.
  open var location: CLLocation? { asset?.location.map { CLLocation($0, asset?.creationDate) } }
  /// How long it lasts, seconds; 0 for a photo (AS-03).
  open var duration: TimeInterval { asset?.duration ?? 0 }
  /// Whether it is a favourite.
  open var isFavorite: Bool { asset?.isFavorite ?? false }
  /// Whether it is hidden.
  open var isHidden: Bool { asset?.isHidden ?? false }
  /// Where it comes from.
  open var sourceType: PHAssetSourceType { PHAssetSourceType(rawValue: UInt(asset?.sourceType.rawValue ?? 0)) }
  /// Whether it has adjustment data (AS-08).
  open var hasAdjustments: Bool { asset?.hasAdjustments ?? false }
  /// Who adjusted it (AS-08).
  open var adjustmentsState: AdjustmentsState { asset?.adjustmentsState ?? .none }
  /// When it was last adjusted.
  open var adjustmentTimestamp: Date? { asset?.adjustmentTimestamp }
  /// The format of its adjustment data, which is read from the store.
  open var adjustmentFormatIdentifier: String? { metadata?.adjustmentFormatIdentifier }
  /// The burst it belongs to (BU-01).
  open var burstIdentifier: String? { asset?.burstIdentifier }
  /// Who chose it of its burst (BU-02).
  open var burstSelectionTypes: PHAssetBurstSelectionType {
    PHAssetBurstSelectionType(rawValue: UInt(asset?.burstSelectionTypes.rawValue ?? 0))
  }
  /// Whether it stands for its burst (BU-01).
  open var representsBurst: Bool { asset?.representsBurst ?? false }
  /// Its stars.
  open var rating: Rating { asset?.rating ?? .unset }
  /// What a Live Photo's video does.
  open var playbackVariation: PlaybackVariation { asset?.playbackVariation ?? .none }
  /// Which original of a RAW pair is the first (AS-16).
  open var originalResourceChoice: OriginalResourceChoice { asset?.originalResourceChoice ?? .compressed }
  /// The kind of data of its original, which is read from the store.
  open var contentType: UTType? {
    resources.original(originalResourceChoice).flatMap { UTType($0.uniformTypeIdentifier) }
  }
  /// The words about it, which are read from the store (FR-19).
  open var extendedMetadata: PHAssetExtendedMetadata { PHAssetExtendedMetadata(metadata) }

  /// Whether an operation is allowed (AS-13); none is for an asset that was deleted (PH-05).
  open func canPerform(_ editOperation: PHAssetEditOperation) -> Bool {
    guard let source else { return false }
    return PHPhotoLibrary.answer("PHAsset.canPerform(_:)") {
      try source.library.core.shown(source.asset)?.canPerform(editOperation) ?? false
    }
  }

  /// A property by its name (Apple: `value(forKey:)` of `NSObject`).
  ///
  /// Besides the public properties: `filename` and `originalFilename`, the name that the first file came with;
  /// `uniformTypeIdentifier`; `fileSize`, bytes.
  /// Traps for any other name, as Apple's raises.
  open func value(forKey key: String) -> Any? { storedValue(forKey: key) }

  // MARK: Editing

  /// Requests the input of an edit; the handler is called before this returns (AS-09; Apple:
  /// `requestContentEditingInput(with:completionHandler:)`).
  @discardableResult
  open func requestContentEditingInput(
    with options: PHContentEditingInputRequestOptions?,
    completionHandler: @escaping (PHContentEditingInput?, [AnyHashable: Any]) -> Void
  ) -> PHContentEditingInputRequestID {
    editingInput(options, completionHandler)
  }

  /// Does nothing: an input is there before its request returns (Apple: `cancelContentEditingInputRequest(_:)`).
  open func cancelContentEditingInputRequest(_ requestID: PHContentEditingInputRequestID) {}

  // MARK: What is read from the store

  private var metadata: ExtendedMetadata? {
    source.map { source in
      PHPhotoLibrary.answer("Reading the metadata of \(source.asset.localIdentifier)") {
        try source.library.core.extendedMetadata(of: source.asset)
      }
    }
  }

  /// The files; none for a stand-in.
  var resources: [AssetResource] {
    guard let source else { return [] }
    return PHPhotoLibrary.answer("Reading the files of \(source.asset.localIdentifier)") {
      try source.library.core.resources(of: source.asset)
    }
  }

  // MARK: Fetching

  /// All assets that options describe (Apple: `fetchAssets(with:)`).
  open class func fetchAssets(with options: PHFetchOptions?) -> PHFetchResult<PHAsset> {
    PHPhotoLibrary.fetch("PHAsset.fetchAssets(with:)") {
      .assets(try $0.fetchAssets(options.options(for: .asset)))
    }
  }

  /// The assets of one type (Apple: `fetchAssets(with:options:)`).
  open class func fetchAssets(
    with mediaType: PHAssetMediaType, options: PHFetchOptions?
  ) -> PHFetchResult<PHAsset> {
    PHPhotoLibrary.fetch("PHAsset.fetchAssets(with:options:)") {
      .assets(try $0.fetchAssets(with: mediaType, options.options(for: .asset)))
    }
  }

  /// The assets of an album, in its order (Apple: `fetchAssets(in:options:)`).
  ///
  /// The value of an album that was deleted since still lists its assets: ask `PHChange.changeDetails(for:)` about the
  /// album, or fetch it again by its identifier.
  open class func fetchAssets(
    in assetCollection: PHAssetCollection, options: PHFetchOptions?
  ) -> PHFetchResult<PHAsset> {
    PHPhotoLibrary.fetch("PHAsset.fetchAssets(in:options:)", from: assetCollection.library) { library in
      guard let album = assetCollection.collection else { return .nothing }
      return .assets(try library.fetchAssets(options.options(for: .asset), in: album))
    }
  }

  /// The assets with these identifiers, in library order; unknown ones are left out
  /// (Apple: `fetchAssets(withLocalIdentifiers:options:)`).
  open class func fetchAssets(
    withLocalIdentifiers identifiers: [String], options: PHFetchOptions?
  ) -> PHFetchResult<PHAsset> {
    PHPhotoLibrary.fetch("PHAsset.fetchAssets(withLocalIdentifiers:options:)") {
      .assets(try $0.fetchAssets(withLocalIdentifiers: identifiers, options.options(for: .asset)))
    }
  }

  /// The assets that stand for an album; nil for a transient one (Apple: `fetchKeyAssets(in:options:)`).
  open class func fetchKeyAssets(
    in assetCollection: PHAssetCollection, options: PHFetchOptions?
  ) -> PHFetchResult<PHAsset>? {
    guard let (album, library) = assetCollection.source else { return nil }
    return PHPhotoLibrary.answer("PHAsset.fetchKeyAssets(in:options:)") {
      try library.core.fetchKeyAssets(in: album, options.options(for: .asset)).map {
        PHFetchResult(.assets($0), library)
      }
    }
  }

  /// The members of a burst: its representative and the user's picks, or all (BU-03;
  /// Apple: `fetchAssets(withBurstIdentifier:options:)`).
  open class func fetchAssets(
    withBurstIdentifier burstIdentifier: String, options: PHFetchOptions?
  ) -> PHFetchResult<PHAsset> {
    PHPhotoLibrary.fetch("PHAsset.fetchAssets(withBurstIdentifier:options:)") {
      .assets(try $0.fetchAssets(withBurstIdentifier: burstIdentifier, options.options(for: .asset)))
    }
  }
}

extension PhotoLibrary {
  /// An asset as it is now; nil if it was purged or is in the trash, which this module does not show (PH-05).
  func shown(_ asset: Asset) throws -> Asset? {
    guard let current = try self.asset(asset.localIdentifier), !current.isTrashed else { return nil }
    return current
  }
}

/// The words about an asset (Apple: `PHAssetExtendedMetadata`).
public final class PHAssetExtendedMetadata: NSObject, Sendable {
  /// What it shows.
  public let caption: String?
  /// The name of its first file as it came.
  public let originalFilename: String?
  /// Its keywords, ascending.
  public let keywords: [String]

  init(_ metadata: ExtendedMetadata?) {
    (caption, originalFilename) = (metadata?.caption, metadata?.originalFilename)
    keywords = metadata?.keywords ?? []
  }
}
