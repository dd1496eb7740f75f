/// The descriptive metadata of an asset, loaded on request (PHAssetExtendedMetadata, FR-19).
public struct ExtendedMetadata: Sendable, Hashable {
  /// What a person wrote about it; nil if nothing.
  public let caption: String?
  /// Words to find it by, in the order of their bytes.
  public let keywords: [String]
  /// The name of its first original file; nil without one.
  public let originalFilename: String?
  /// The format of the recipe of its last edit; nil if it was never edited (PHAsset.adjustmentFormatIdentifier).
  public let adjustmentFormatIdentifier: String?
  /// The version of that format.
  public let adjustmentFormatVersion: String?
  /// The identifier that it had in the library that it comes from; nil if it did not come from one (CI-03).
  public let origin: CloudIdentifier?
  /// What its files say about it; edits do not change it. Nil if they say nothing, or were imported before it was kept.
  public let fileMetadata: AssetMetadata?

  /// The bytes of its first original file.
  let dataSize: UInt64?
  /// Where that file is, if it is a referenced one.
  let path: String?

  package init(_ details: AssetDetails) {
    let original = details.resources.first(where: \.isOriginal)
    dataSize = original?.dataSize
    if case .referenced(let path)? = original?.storage { self.path = path } else { path = nil }
    caption = details.caption
    keywords = details.keywords
    originalFilename = original?.originalFilename
    adjustmentFormatIdentifier = details.adjustment?.formatIdentifier
    adjustmentFormatVersion = details.adjustment?.formatVersion
    fileMetadata = details.metadata
    origin = details.origin.flatMap { CloudIdentifier(archivalStringValue: $0) }
  }
}

extension AssetResource {
  /// Whether the file came with the asset, and was not made by an edit (AS-06).
  public var isOriginal: Bool { type.isOriginal }

  /// Whether the bytes are a camera's raw picture.
  public var isRaw: Bool { uniformTypeIdentifier.hasSuffix(Self.rawSuffix) }

  /// How the names of the types of raw pictures end.
  static let rawSuffix = "raw-image"
}

extension [AssetResource] {
  /// Whether some original is a RAW file.
  var hasRaw: Bool { contains { $0.isOriginal && $0.isRaw } }

  /// Whether there is the video of a Live Photo (LP-01).
  var hasPairedVideo: Bool { contains { $0.type == .pairedVideo } }
}
