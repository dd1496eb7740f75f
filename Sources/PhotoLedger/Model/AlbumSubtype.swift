/// The subtype of an album (PHAssetCollectionSubtype, photokit a.3).
public struct AlbumSubtype: RawRepresentable, Sendable, Hashable, Codable {
  /// The value, as PhotoKit numbers it.
  public let rawValue: Int

  /// Creates a value from any number.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// An album that people fill.
  public static let albumRegular = AlbumSubtype(rawValue: 2)
  /// A query of people's own.
  public static let smartAlbumGeneric = AlbumSubtype(rawValue: 200)
  /// Panoramas.
  public static let smartAlbumPanoramas = AlbumSubtype(rawValue: 201)
  /// Videos.
  public static let smartAlbumVideos = AlbumSubtype(rawValue: 202)
  /// Favourites.
  public static let smartAlbumFavorites = AlbumSubtype(rawValue: 203)
  /// Time-lapse videos.
  public static let smartAlbumTimelapses = AlbumSubtype(rawValue: 204)
  /// Hidden assets.
  public static let smartAlbumAllHidden = AlbumSubtype(rawValue: 205)
  /// What was added in the last thirty days.
  public static let smartAlbumRecentlyAdded = AlbumSubtype(rawValue: 206)
  /// Bursts, each shown by its representative.
  public static let smartAlbumBursts = AlbumSubtype(rawValue: 207)
  /// Videos of a high frame rate.
  public static let smartAlbumSlomoVideos = AlbumSubtype(rawValue: 208)
  /// Everything, the oldest addition first.
  public static let smartAlbumUserLibrary = AlbumSubtype(rawValue: 209)
  /// Pictures taken with the camera on the screen's side.
  public static let smartAlbumSelfPortraits = AlbumSubtype(rawValue: 210)
  /// Pictures of screens.
  public static let smartAlbumScreenshots = AlbumSubtype(rawValue: 211)
  /// Photos with depth.
  public static let smartAlbumDepthEffect = AlbumSubtype(rawValue: 212)
  /// Live Photos.
  public static let smartAlbumLivePhotos = AlbumSubtype(rawValue: 213)
  /// Animated images, and Live Photos that loop.
  public static let smartAlbumAnimated = AlbumSubtype(rawValue: 214)
  /// Live Photos whose frames are laid over each other.
  public static let smartAlbumLongExposures = AlbumSubtype(rawValue: 215)
  /// Assets with a RAW original.
  public static let smartAlbumRAW = AlbumSubtype(rawValue: 217)
  /// Videos with a depth track.
  public static let smartAlbumCinematic = AlbumSubtype(rawValue: 218)
  /// Spatial photos and videos.
  public static let smartAlbumSpatial = AlbumSubtype(rawValue: 219)
  /// Recordings of screens.
  public static let smartAlbumScreenRecordings = AlbumSubtype(rawValue: 220)

  /// Whether albums of the subtype are queries.
  public var isSmart: Bool { rawValue >= 200 }

  /// The name, spelled as PhotoKit spells it; an unknown one as `subtypeN`.
  public var name: String { knownName ?? "subtype\(rawValue)" }

  /// The subtype with a name, as ``name`` spells it; nil if there is none.
  public init?(name: String) {
    guard let known = Self.named.first(where: { $0.knownName == name }) else { return nil }
    self = known
  }

  /// Every subtype that has a name, in the order of the values.
  public static let named: [AlbumSubtype] = (0..<256).map { AlbumSubtype(rawValue: $0) }.filter { $0.knownName != nil }

  /// The name of a value below 256 that has one.
  private var knownName: String? {
    switch rawValue {
    case 2: "albumRegular"
    case 200: "smartAlbumGeneric"
    case 201: "smartAlbumPanoramas"
    case 202: "smartAlbumVideos"
    case 203: "smartAlbumFavorites"
    case 204: "smartAlbumTimelapses"
    case 205: "smartAlbumAllHidden"
    case 206: "smartAlbumRecentlyAdded"
    case 207: "smartAlbumBursts"
    case 208: "smartAlbumSlomoVideos"
    case 209: "smartAlbumUserLibrary"
    case 210: "smartAlbumSelfPortraits"
    case 211: "smartAlbumScreenshots"
    case 212: "smartAlbumDepthEffect"
    case 213: "smartAlbumLivePhotos"
    case 214: "smartAlbumAnimated"
    case 215: "smartAlbumLongExposures"
    case 217: "smartAlbumRAW"
    case 218: "smartAlbumCinematic"
    case 219: "smartAlbumSpatial"
    case 220: "smartAlbumScreenRecordings"
    default: nil
    }
  }
}

/// The subtype of a folder (PHCollectionListSubtype, photokit a.3).
public struct FolderSubtype: RawRepresentable, Sendable, Hashable, Codable {
  /// The value, as PhotoKit numbers it.
  public let rawValue: Int

  /// Creates a value from any number.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// A folder that people made.
  public static let regularFolder = FolderSubtype(rawValue: 100)
  /// The one that holds all others (FR-13).
  public static let rootFolder = FolderSubtype(rawValue: 101)
}
