import EventLog

/// One file of an asset: bytes as they were imported or rendered (PHAssetResource).
public struct AssetResource: Hashable, Sendable {
  /// The longest name of a new resource, and the longest type identifier, in bytes of UTF-8: longer than file systems
  /// have names, and than the dynamic type of a name's ending is.
  package static let nameByteLimit = 1024

  /// Where the bytes of a resource lie.
  public enum Storage: Hashable, Sendable {
    /// In the library's own folder, under the name of their hash.
    case library
    /// Where they were found; the library holds the absolute path only.
    case referenced(path: String)

    /// Whether both are one place: file systems compare the bytes of a path, not what Unicode takes for one text.
    public static func == (one: Storage, other: Storage) -> Bool {
      switch (one, other) {
      case (.library, .library): true
      case (.referenced(let path), .referenced(let otherPath)): path.exact == otherPath.exact
      case (.library, .referenced), (.referenced, .library): false
      }
    }

    /// Hashes the bytes of the path.
    public func hash(into hasher: inout Hasher) {
      switch self {
      case .library: hasher.combine(false)
      case .referenced(let path):
        hasher.combine(true)
        hasher.combine(path.exact)
      }
    }
  }

  /// The role of the file in its asset.
  public var type: ResourceType
  /// The name the file had when it came.
  public var originalFilename: String
  /// The kind of data, such as `public.jpeg`.
  public var uniformTypeIdentifier: String
  /// The length in bytes.
  public var dataSize: UInt64
  /// The SHA-256 of the bytes: 32 of them.
  public var sha256: [UInt8]
  /// The width in pixels as displayed; 0 if unknown or none.
  public var pixelWidth: Int
  /// The height in pixels as displayed; 0 if unknown or none.
  public var pixelHeight: Int
  /// Where the bytes lie.
  public var storage: Storage
  /// What the still and the video of one Live Photo share, as the camera wrote it; nil if it wrote none.
  public var contentIdentifier: String?
  /// The SHA-1 of the bytes, 20 of them, by which other programs name files; nil for what was recorded before it was
  /// kept.
  public var sha1: [UInt8]?

  /// Describes one file of an asset.
  /// - Parameters:
  ///   - type: the role of the file in its asset.
  ///   - originalFilename: its name when it was added.
  ///   - uniformTypeIdentifier: the type of the data.
  ///   - dataSize: the length in bytes.
  ///   - sha256: the 32 bytes of its SHA-256.
  ///   - pixelWidth: pixels as displayed; 0 if unknown.
  ///   - pixelHeight: pixels as displayed; 0 if unknown.
  ///   - storage: where the bytes are stored.
  ///   - contentIdentifier: the identifier that the parts of a Live Photo share.
  ///   - sha1: the 20 bytes of its SHA-1; nil if it is not known.
  public init(
    type: ResourceType, originalFilename: String, uniformTypeIdentifier: String, dataSize: UInt64, sha256: [UInt8],
    pixelWidth: Int = 0, pixelHeight: Int = 0, storage: Storage = .library, contentIdentifier: String? = nil,
    sha1: [UInt8]? = nil
  ) {
    self.type = type
    self.originalFilename = originalFilename
    self.uniformTypeIdentifier = uniformTypeIdentifier
    self.dataSize = dataSize
    self.sha256 = sha256
    self.pixelWidth = pixelWidth
    self.pixelHeight = pixelHeight
    self.storage = storage
    self.contentIdentifier = contentIdentifier
    self.sha1 = sha1
  }

  /// Whether all properties of both are the same, texts by their bytes: two spellings that Unicode takes for one text
  /// are two names, as they are in the library's store.
  public static func == (one: AssetResource, other: AssetResource) -> Bool {
    guard one.type == other.type, one.dataSize == other.dataSize, one.sha256 == other.sha256, one.sha1 == other.sha1,
      one.pixelWidth == other.pixelWidth, one.pixelHeight == other.pixelHeight, one.storage == other.storage,
      one.originalFilename.exact == other.originalFilename.exact,
      one.uniformTypeIdentifier.exact == other.uniformTypeIdentifier.exact
    else { return false }
    return one.contentIdentifier?.exact == other.contentIdentifier?.exact
  }

  /// Hashes what tells nearly all files apart.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(type)
    hasher.combine(sha256)
  }

  /// The SHA-256 in hexadecimal digits.
  public var sha256Hex: String {
    var digits = JSONBytes(capacity: 64)
    sha256.withUnsafeBytes { digits.hexadecimal($0) }
    return digits.text()
  }

  /// Whether the SHA-256 is what these hexadecimal digits spell, with small letters.
  func hasSHA256(_ digits: String) -> Bool {
    guard digits.utf8.count == 2 * sha256.count else { return false }
    let spelled = digits.utf8.withContiguousStorageIfAvailable { digits in
      sha256.indices.allSatisfy { index in
        let pair = UInt16(digits[2 * index + 1]) &<< 8 | UInt16(digits[2 * index])
        return pair == UInt16(littleEndian: HexadecimalDigits.lowercase(sha256[index]))
      }
    }
    return spelled ?? (sha256Hex == digits)
  }
}

extension AssetResource {
  /// The SHA-1 in hexadecimal digits; nil if it is not known.
  public var sha1Hex: String? { sha1?.hexadecimal }
}

extension Sequence<AssetResource> {
  /// The SHA-256 of each of the files that lie in the library's own folder; referenced files are not the library's.
  package var ownContents: [[UInt8]] { filter { $0.storage == .library }.map(\.sha256) }
}

/// What no predicate asks of an asset: its files, and the words about it.
package struct AssetDetails: Equatable, Sendable {
  /// The format of the recipe of an edit (PHAdjustmentData); the recipe itself is a resource.
  package struct Adjustment: Equatable, Sendable {
    package var formatIdentifier: String
    package var formatVersion: String

    package static func == (one: Adjustment, other: Adjustment) -> Bool {
      one.formatIdentifier.exact == other.formatIdentifier.exact && one.formatVersion.exact == other.formatVersion.exact
    }
  }

  /// The properties of an asset before its content was edited, for reverting the edits.
  package struct Unedited: Equatable, Sendable {
    package var pixelWidth: UInt32
    package var pixelHeight: UInt32
    package var duration: Double
  }

  package var resources: [AssetResource] = []
  /// What a person wrote about the asset; never empty.
  package var caption: String?
  /// Distinct, in ascending order of their bytes.
  package var keywords: [String] = []
  /// The format of the recipe of the last edit; there is one for all (AS-05).
  package var adjustment: Adjustment?
  /// The spelling of the cross-library identifier that the asset came with.
  package var origin: String?
  /// The shape before the first edit; nil for an asset that is not edited.
  package var unedited: Unedited?
  private var said: Said?

  /// What the files say. In place, its eighteen values would be most of the size of the details, which are copied with
  /// each event about the asset.
  private final class Said: Equatable, Sendable {
    let metadata: AssetMetadata

    init(_ metadata: AssetMetadata) { self.metadata = metadata }

    static func == (one: Said, other: Said) -> Bool { one.metadata == other.metadata }
  }

  /// What the files say; nil if nothing, or if it was never read. Never empty.
  package var metadata: AssetMetadata? {
    get { said?.metadata }
    set { said = newValue.map(Said.init) }
  }

  /// Whether the files say anything.
  package var isDescribed: Bool { said != nil }

  package init(resources: [AssetResource] = []) { self.resources = resources }

  /// Whether both are the same, texts by their bytes.
  package static func == (one: AssetDetails, other: AssetDetails) -> Bool {
    guard one.resources == other.resources, one.caption?.exact == other.caption?.exact,
      one.adjustment == other.adjustment, one.origin?.exact == other.origin?.exact, one.unedited == other.unedited,
      one.said == other.said
    else { return false }
    return one.keywords.elementsEqual(other.keywords) { $0.exact == $1.exact }
  }

  /// Whether the resources have the same bytes in the same roles, whatever they are called and wherever they lie.
  func hasSameContent(as other: AssetDetails) -> Bool {
    resources.elementsEqual(other.resources) { one, two in
      one.type == two.type && one.sha256 == two.sha256 && one.dataSize == two.dataSize
    }
  }
}

extension AssetDetails.Unedited {
  init(_ row: AssetRow) { self.init(pixelWidth: row.pixelWidth, pixelHeight: row.pixelHeight, duration: row.duration) }
}

/// What decides which file of an asset is shown.
package protocol ResourceRole {
  /// The role of the file in its asset.
  var type: ResourceType { get }
  /// Whether the bytes are a camera's raw picture.
  var isRaw: Bool { get }
}

extension AssetResource: ResourceRole {}

/// The role, type and hash of one of an asset's files: enough to choose the one that is shown.
struct ResourceContent: ResourceRole {
  let type: ResourceType
  let isRaw: Bool
  let sha256: SHA256Digest
}

extension Collection where Element: ResourceRole {
  /// The file that an asset shows: the rendered edit, or the chosen original; nil if it is neither photo nor video.
  package func shown(_ asset: Asset) -> Element? { shown(asset.row) }

  /// The file that the asset of a row shows.
  func shown(_ row: some AssetBytes) -> Element? {
    let isVideo = row.byte(AssetRow.Layout.mediaType) == MediaType.video.rawValue
    guard isVideo || row.byte(AssetRow.Layout.mediaType) == MediaType.image.rawValue else { return nil }
    let rendered: ResourceType = isVideo ? .fullSizeVideo : .fullSizePhoto
    let isRaw = row.byte(AssetRow.Layout.originalResourceChoice) == OriginalResourceChoice.raw.rawValue
    return first { $0.type == rendered } ?? original(isRaw ? .raw : .compressed)
  }

  /// The video that an asset's picture is shown with (LP-01); nil for a still, such as a Live Photo of which an edit
  /// rendered the still alone.
  package func shownPairedVideo(_ asset: Asset) -> Element? { shownPairedVideo(asset.row) }

  /// The video that the picture of a row's asset is shown with.
  package func shownPairedVideo(_ row: AssetRow) -> Element? {
    if let rendered = first(where: { $0.type == .fullSizePairedVideo }) { return rendered }
    if contains(where: { $0.type == .fullSizePhoto }), !row.mediaSubtypes.contains(.photoLive) { return nil }
    return first { $0.type == .pairedVideo }
  }

  /// The original that an asset shows (AS-16).
  package func original(_ choice: OriginalResourceChoice) -> Element? {
    let primary = first { $0.type == .photo || $0.type == .video || $0.type == .audio }
    guard isRawPair else { return primary }
    return first { $0.type.isOriginal && $0.type != .pairedVideo && $0.isRaw == (choice == .raw) } ?? primary
  }

  /// Whether there is a compressed and a RAW original of one picture (AS-16).
  var isRawPair: Bool {
    contains { $0.type.isOriginal && $0.isRaw }
      && contains { ($0.type == .photo || $0.type == .alternatePhoto) && !$0.isRaw }
  }
}
