// The seam between an import and a library.
//
// The importer decides what the files are and what belongs together; the library decides what that means as events.
// Between them goes a batch of changes, recorded as one commit or not at all. Everything here is a plain value.
//
// A Live Photo's halves may come in any order and in different imports:
//
//     still and movie in one import             asset(photo + pairedVideo)
//     still known, movie comes                  pairedVideo(movie, asset: the still's)
//     movie known as a video of its own,
//       still comes                             pairedStill(photo, video: the movie's asset)
//
// In the last case the movie's asset becomes the Live Photo: it keeps its identity, albums and marks, and its video
// becomes the paired one (LP-01). A second asset beside it would show the movie twice.

/// An asset of the library, by its identifier.
public struct AssetReference: Sendable, Hashable, Codable {
  /// The local identifier that the library gave it.
  public let identifier: String

  /// Names an asset.
  public init(identifier: String) { self.identifier = identifier }
}

/// What a resource is to its asset, numbered as `PHAssetResourceType` (AS-06).
public enum ResourceKind: Int, Sendable, Hashable, Codable {
  /// The still.
  case photo = 1
  /// The movie of a video asset.
  case video = 2
  /// The RAW beside a compressed photo (AS-16).
  case alternatePhoto = 4
  /// The movie of a Live Photo (LP-01).
  case pairedVideo = 9
}

/// A file that is to be a resource of an asset. Its bytes are durable already.
public struct ImportedResource: Sendable, Hashable {
  /// What it is to its asset.
  public var kind: ResourceKind
  /// Its content and where that lies.
  public var stored: StoredResource
  /// The name it had, without folders.
  public var originalFilename: String
  /// Where it was found.
  public var source: ImportPath
  /// When the file was last written, in nanoseconds since 1970; a fact about the file, not about the photo.
  public var fileModifiedNanoseconds: Int64
  /// What the file says about itself.
  public var metadata: MediaMetadata

  /// Creates a resource.
  public init(
    kind: ResourceKind, stored: StoredResource, originalFilename: String, source: ImportPath,
    fileModifiedNanoseconds: Int64, metadata: MediaMetadata
  ) {
    (self.kind, self.stored, self.originalFilename, self.source) = (kind, stored, originalFilename, source)
    (self.fileModifiedNanoseconds, self.metadata) = (fileModifiedNanoseconds, metadata)
  }
}

/// A new asset: a primary resource and what belongs to it.
public struct ImportedAsset: Sendable, Hashable {
  /// The photo or video that the asset is; its metadata are the asset's, but for the form that pairing gives.
  public var primary: ImportedResource
  /// A RAW beside the photo, a Live Photo's movie.
  public var others: [ImportedResource]

  /// Creates an asset.
  public init(primary: ImportedResource, others: [ImportedResource] = []) {
    (self.primary, self.others) = (primary, others)
  }

  /// The primary first.
  public var resources: [ImportedResource] { [primary] + others }

  private var isLive: Bool { others.contains { $0.kind == .pairedVideo } }

  /// The forms of the asset: what the primary says of itself, and `photoLive` with a paired video.
  public var subtypes: MediaSubtypes {
    isLive ? primary.metadata.subtypes.union(.photoLive) : primary.metadata.subtypes
  }

  /// How the asset is meant to be played.
  public var playbackStyle: PlaybackStyle { isLive ? .livePhoto : primary.metadata.playbackStyle }
}

/// One thing for the library to do.
public enum ImportChange: Sendable, Hashable {
  /// Make a new asset.
  case asset(ImportedAsset)
  /// Give an existing still its movie.
  case pairedVideo(ImportedResource, asset: AssetReference)
  /// Give an existing video its still: that asset becomes a Live Photo.
  case pairedStill(ImportedAsset, video: AssetReference)

  /// The resources that the change brings.
  public var resources: [ImportedResource] {
    switch self {
    case .asset(let asset), .pairedStill(let asset, _): asset.resources
    case .pairedVideo(let resource, _): [resource]
    }
  }
}

/// What is recorded as one commit.
public struct ImportBatch: Sendable {
  /// In the order of the walk.
  public let changes: [ImportChange]
  /// The same for the same contents in the same roles, so that a batch sent twice can be recorded once.
  public let key: String

  /// Creates a batch.
  public init(changes: [ImportChange]) {
    self.changes = changes
    var hasher = ContentHasher()
    for resource in changes.flatMap(\.resources) {
      (resource.stored.sha256.bytes + [UInt8(resource.kind.rawValue)]).withUnsafeBytes { hasher.update($0) }
    }
    key = "import-\(hasher.finish())"
  }
}

/// An asset that is, or could be, half of a Live Photo.
public struct LivePhotoHalf: Sendable, Hashable {
  /// The asset.
  public let asset: AssetReference
  /// Image for a still that has no movie yet, video for a movie that is an asset of its own.
  public let kind: MediaKind

  /// Creates a half.
  public init(asset: AssetReference, kind: MediaKind) { (self.asset, self.kind) = (asset, kind) }
}

/// A library as an import sees it.
public protocol ImportTarget: Sendable {
  /// Finds the assets that have a resource with one of these contents, those in the trash included.
  func assets(holding contents: [ContentDigest]) async throws -> [ContentDigest: AssetReference]

  /// Finds the unpaired halves of Live Photos with these content identifiers (upper case), oldest first.
  func unpairedHalves(contentIdentifiers: [String]) async throws -> [String: [LivePhotoHalf]]

  /// Records a batch as one commit, durably, or throws and records nothing.
  /// - Returns: For each change, the asset that it made or completed.
  func record(_ batch: ImportBatch) async throws -> [AssetReference]
}
