public import PhotoLedger

/// One photo, video or sound as it was at one commit (Apple: `PHAsset`, list A1).
open class PHAsset: PHObject, @unchecked Sendable {  // guarded by: holds constants only
  let source: (asset: Asset, library: PHPhotoLibrary)?

  init(_ asset: Asset, _ library: PHPhotoLibrary) { source = (asset, library) }

  /// A stand-in, for subclasses in tests.
  public override init() { source = nil }

  /// The asset of the core; nil for a stand-in.
  public var asset: Asset? { source?.asset }

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
  /// The kind of data of its first original file, which is read from the store.
  open var contentType: UTType? { resources.first.flatMap { UTType($0.uniformTypeIdentifier) } }
  /// The words about it, which are read from the store (FR-19).
  open var extendedMetadata: PHAssetExtendedMetadata { PHAssetExtendedMetadata(metadata) }

  /// Whether an operation is allowed (AS-13).
  open func canPerform(_ editOperation: PHAssetEditOperation) -> Bool {
    guard let source else { return false }
    return PHPhotoLibrary.answer("PHAsset.canPerform(_:)") {
      try source.library.core.canPerform(editOperation, on: source.asset)
    }
  }

  private var metadata: ExtendedMetadata? {
    source.map { source in
      PHPhotoLibrary.answer("Reading the words of \(source.asset.localIdentifier)") {
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
