// Apple's enumerations. Those whose cases are the core's are the core's under Apple's name; the others differ in kind:
// bit sets count in UInt, and what is an open set of numbers in the core is an enumeration here, so that a client's
// `switch` with `@unknown default` compiles.
//
// A client that is compiled with MemberImportVisibility sees the cases of the core's enumerations only if the core
// counts as imported. Re-exporting one of them by name does that, and brings no other name of the core into the
// client's scope.

@_exported public import enum PhotoLedger.CollectionEditOperation
public import PhotoLedger

/// What a client may do (Apple: `PHAuthorizationStatus`).
public typealias PHAuthorizationStatus = AuthorizationStatus
/// The levels that permission is given for (Apple: `PHAccessLevel`).
public typealias PHAccessLevel = AccessLevel
/// What an asset is (Apple: `PHAssetMediaType`).
public typealias PHAssetMediaType = MediaType
/// What can be done with an asset (Apple: `PHAssetEditOperation`).
public typealias PHAssetEditOperation = AssetEditOperation
/// What can be done with a collection (Apple: `PHCollectionEditOperation`).
public typealias PHCollectionEditOperation = CollectionEditOperation
/// The kinds of objects in the history (Apple: `PHObjectType`).
public typealias PHObjectType = ObjectType

extension PHAsset {
  /// How an asset is shown (Apple: `PHAsset.PlaybackStyle`).
  public typealias PlaybackStyle = PhotoLedger.PlaybackStyle
  /// What a Live Photo's video does (Apple: `PHAsset.PlaybackVariation`).
  public typealias PlaybackVariation = PhotoLedger.PlaybackVariation
  /// Whether the user or the camera adjusted an asset (Apple: `PHAsset.AdjustmentsState`).
  public typealias AdjustmentsState = PhotoLedger.AdjustmentsState
  /// Which original of a RAW pair is the first (Apple: `PHAsset.OriginalResourceChoice`).
  public typealias OriginalResourceChoice = PhotoLedger.OriginalResourceChoice
  /// The stars of an asset (Apple: `PHAsset.Rating`).
  public typealias Rating = AssetRating
}

/// What else an asset is, as bits (Apple: `PHAssetMediaSubtype`).
public struct PHAssetMediaSubtype: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: UInt
  /// A set of bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// A panorama.
  public static let photoPanorama = PHAssetMediaSubtype(rawValue: 1 << 0)
  /// A photo of high dynamic range.
  public static let photoHDR = PHAssetMediaSubtype(rawValue: 1 << 1)
  /// A picture of a screen.
  public static let photoScreenshot = PHAssetMediaSubtype(rawValue: 1 << 2)
  /// A Live Photo.
  public static let photoLive = PHAssetMediaSubtype(rawValue: 1 << 3)
  /// A photo with depth.
  public static let photoDepthEffect = PHAssetMediaSubtype(rawValue: 1 << 4)
  /// An animated image.
  public static let photoAnimation = PHAssetMediaSubtype(rawValue: 1 << 6)
  /// A spatial photo or video.
  public static let spatialMedia = PHAssetMediaSubtype(rawValue: 1 << 10)
  /// A streamed video.
  public static let videoStreamed = PHAssetMediaSubtype(rawValue: 1 << 16)
  /// A slow-motion video.
  public static let videoHighFrameRate = PHAssetMediaSubtype(rawValue: 1 << 17)
  /// A time-lapse video.
  public static let videoTimelapse = PHAssetMediaSubtype(rawValue: 1 << 18)
  /// A recording of a screen.
  public static let videoScreenRecording = PHAssetMediaSubtype(rawValue: 1 << 19)
  /// A cinematic video.
  public static let videoCinematic = PHAssetMediaSubtype(rawValue: 1 << 21)
}

/// Who chose a member of a burst, as bits (Apple: `PHAssetBurstSelectionType`).
public struct PHAssetBurstSelectionType: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: UInt
  /// A set of bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// The camera proposes it.
  public static let autoPick = PHAssetBurstSelectionType(rawValue: 1)
  /// A person chose it.
  public static let userPick = PHAssetBurstSelectionType(rawValue: 2)
}

/// Where an asset comes from, as bits (Apple: `PHAssetSourceType`).
public struct PHAssetSourceType: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: UInt
  /// A set of bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// The library's own.
  public static let typeUserLibrary = PHAssetSourceType(rawValue: 1)
  /// A shared album's.
  public static let typeCloudShared = PHAssetSourceType(rawValue: 2)
  /// Brought from another computer.
  public static let typeiTunesSynced = PHAssetSourceType(rawValue: 4)
}

/// What a file of an asset is (Apple: `PHAssetResourceType`).
///
/// Apple's enumeration can hold numbers that it has no name for; here they are ``unrecognized(_:)``.
public enum PHAssetResourceType: RawRepresentable, Sendable, Hashable {
  /// The original photo.
  case photo
  /// The original video.
  case video
  /// The original sound.
  case audio
  /// Another form of the original photo, the RAW beside the JPEG.
  case alternatePhoto
  /// The photo as edited.
  case fullSizePhoto
  /// The video as edited.
  case fullSizeVideo
  /// The recipe of an edit.
  case adjustmentData
  /// The photo that the last edit began with.
  case adjustmentBasePhoto
  /// The video of a Live Photo.
  case pairedVideo
  /// The video of a Live Photo as edited.
  case fullSizePairedVideo
  /// The video of a Live Photo that the last edit began with.
  case adjustmentBasePairedVideo
  /// The video that the last edit began with.
  case adjustmentBaseVideo
  /// A smaller stand-in for a photo.
  case photoProxy
  /// A number that this version has no name for; it is carried through.
  case unrecognized(Int)

  private static let named: [Int: PHAssetResourceType] = [
    1: .photo, 2: .video, 3: .audio, 4: .alternatePhoto, 5: .fullSizePhoto, 6: .fullSizeVideo, 7: .adjustmentData,
    8: .adjustmentBasePhoto, 9: .pairedVideo, 10: .fullSizePairedVideo, 11: .adjustmentBasePairedVideo,
    12: .adjustmentBaseVideo, 19: .photoProxy,
  ]

  /// The type of a number; never nil, as on Apple's systems.
  public init?(rawValue: Int) { self = Self.named[rawValue] ?? .unrecognized(rawValue) }

  /// The number.
  ///
  /// A `switch`, and no table with types as keys: equality and hash of a type are those of its number.
  public var rawValue: Int {
    switch self {
    case .photo: 1
    case .video: 2
    case .audio: 3
    case .alternatePhoto: 4
    case .fullSizePhoto: 5
    case .fullSizeVideo: 6
    case .adjustmentData: 7
    case .adjustmentBasePhoto: 8
    case .pairedVideo: 9
    case .fullSizePairedVideo: 10
    case .adjustmentBasePairedVideo: 11
    case .adjustmentBaseVideo: 12
    case .photoProxy: 19
    case .unrecognized(let number): number
    }
  }

  init(_ type: ResourceType) { self = Self.named[type.rawValue] ?? .unrecognized(type.rawValue) }
}

/// Kinds of asset collections (Apple: `PHAssetCollectionType`).
public enum PHAssetCollectionType: Int, Sendable, Hashable, CaseIterable {
  /// An album that people arrange.
  case album = 1
  /// An album that holds what satisfies a query.
  case smartAlbum = 2
  /// A moment; there are none (Apple: deprecated).
  case moment = 3
}

/// Kinds of albums (Apple: `PHAssetCollectionSubtype`). The kinds that live in Apple's cloud never occur.
public enum PHAssetCollectionSubtype: Int, Sendable, Hashable, CaseIterable {
  /// An album made by a person or an app.
  case albumRegular = 2
  /// Never occurs.
  case albumSyncedEvent = 3
  /// Never occurs.
  case albumSyncedFaces = 4
  /// Never occurs.
  case albumSyncedAlbum = 5
  /// Never occurs; imports are causes in the log.
  case albumImported = 6
  /// Never occurs.
  case albumMyPhotoStream = 100
  /// Never occurs.
  case albumCloudShared = 101
  /// A smart album of one's own.
  case smartAlbumGeneric = 200
  /// Panoramas.
  case smartAlbumPanoramas = 201
  /// Videos.
  case smartAlbumVideos = 202
  /// Favourites.
  case smartAlbumFavorites = 203
  /// Time-lapse videos.
  case smartAlbumTimelapses = 204
  /// Hidden assets.
  case smartAlbumAllHidden = 205
  /// What came in the last thirty days.
  case smartAlbumRecentlyAdded = 206
  /// Bursts.
  case smartAlbumBursts = 207
  /// Slow-motion videos.
  case smartAlbumSlomoVideos = 208
  /// Everything of the library's own.
  case smartAlbumUserLibrary = 209
  /// Photos of the one who took them.
  case smartAlbumSelfPortraits = 210
  /// Pictures of screens.
  case smartAlbumScreenshots = 211
  /// Photos with depth.
  case smartAlbumDepthEffect = 212
  /// Live Photos.
  case smartAlbumLivePhotos = 213
  /// Animated images.
  case smartAlbumAnimated = 214
  /// Long exposures.
  case smartAlbumLongExposures = 215
  /// Never occurs.
  case smartAlbumUnableToUpload = 216
  /// RAW photos.
  case smartAlbumRAW = 217
  /// Cinematic videos.
  case smartAlbumCinematic = 218
  /// Spatial photos and videos.
  case smartAlbumSpatial = 219
  /// Recordings of screens.
  case smartAlbumScreenRecordings = 220
  /// Any subtype, in fetches.
  case any = 9_223_372_036_854_775_807
}

/// Kinds of collection lists (Apple: `PHCollectionListType`).
public enum PHCollectionListType: Int, Sendable, Hashable, CaseIterable {
  /// Moments; there are none (Apple: deprecated).
  case momentList = 1
  /// A folder.
  case folder = 2
  /// Never occurs.
  case smartFolder = 3
}

/// Kinds of folders (Apple: `PHCollectionListSubtype`).
public enum PHCollectionListSubtype: Int, Sendable, Hashable, CaseIterable {
  /// Never occurs (Apple: deprecated).
  case momentListCluster = 1
  /// Never occurs (Apple: deprecated).
  case momentListYear = 2
  /// A folder.
  case regularFolder = 100
  /// The top level.
  case rootFolder = 101
  /// Never occurs.
  case smartFolderEvents = 200
  /// Never occurs.
  case smartFolderFaces = 201
  /// Any subtype, in fetches.
  case any = 9_223_372_036_854_775_807
}
