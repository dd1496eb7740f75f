/// What an asset is, spelled and numbered as `PHAssetMediaType`.
public enum MediaKind: Int, Sendable, Hashable {
  /// A still image.
  case image = 1
  /// A movie.
  case video = 2
  /// A sound recording.
  case audio = 3
}

/// Special forms of media, bits as in `PHAssetMediaSubtype`.
public struct MediaSubtypes: OptionSet, Sendable, Hashable {
  /// PhotoKit's bits.
  public let rawValue: UInt

  /// Creates a set from PhotoKit's bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// A panorama: marked so by the camera, or with a projection in its XMP.
  public static let photoPanorama = MediaSubtypes(rawValue: 1 << 0)
  /// Joined from several exposures by the camera.
  public static let photoHDR = MediaSubtypes(rawValue: 1 << 1)
  /// A picture of the device's own screen.
  public static let photoScreenshot = MediaSubtypes(rawValue: 1 << 2)
  /// A still with its movie (LP-01); known once the two are paired.
  public static let photoLive = MediaSubtypes(rawValue: 1 << 3)
  /// A portrait with depth.
  public static let photoDepthEffect = MediaSubtypes(rawValue: 1 << 4)
  /// A still format with several frames.
  public static let photoAnimation = MediaSubtypes(rawValue: 1 << 6)
  /// A movie with 100 frames a second or more.
  public static let videoHighFrameRate = MediaSubtypes(rawValue: 1 << 17)
  /// A recording of the device's own screen.
  public static let videoScreenRecording = MediaSubtypes(rawValue: 1 << 19)
}

/// How an asset is meant to be played, numbered as `PHAsset.PlaybackStyle`.
public enum PlaybackStyle: Int, Sendable, Hashable {
  /// Nothing can be shown.
  case unsupported = 0
  /// A still image.
  case image = 1
  /// An image that moves.
  case imageAnimated = 2
  /// A Live Photo.
  case livePhoto = 3
  /// A movie.
  case video = 4
}

/// A size in pixels.
public struct PixelSize: Sendable, Hashable {
  /// Pixels from left to right.
  public let width: Int
  /// Pixels from top to bottom.
  public let height: Int

  /// Creates a size.
  public init(width: Int, height: Int) { (self.width, self.height) = (width, height) }
}

/// A place on the earth (WGS 84), as the file states it; zero and zero is a place too.
public struct Coordinates: Sendable, Hashable {
  /// Degrees, north positive.
  public let latitude: Double
  /// Degrees, east positive.
  public let longitude: Double
  /// Metres above sea level, when stated.
  public let altitude: Double?

  /// Creates a place.
  public init(latitude: Double, longitude: Double, altitude: Double?) {
    (self.latitude, self.longitude, self.altitude) = (latitude, longitude, altitude)
  }
}

/// What a file says about itself, in one form for every kind of file.
public struct MediaMetadata: Sendable, Hashable {
  /// Image, video or audio.
  public var kind: MediaKind
  /// Apple's name for the type of the content, not of the file name.
  public var uniformTypeIdentifier: String
  /// The Internet media type of the content.
  public var mimeType: String
  /// exiftool's name for the type of the content, such as `JPEG` or `CR2`.
  public var fileType: String
  /// True for sensor data straight from a camera.
  public var isRaw: Bool
  /// The size in the file; nil when the file does not tell, as a damaged one may not.
  public var storedSize: PixelSize?
  /// The size as displayed, with orientation or rotation applied (AS-02).
  public var displayedSize: PixelSize?
  /// EXIF orientation, 1 to 8, that turns the stored pixels into the displayed ones; 1 when none is stated.
  public var orientation: Int
  /// Seconds; 0 for images (AS-03) and where a movie does not tell.
  public var duration: Double
  /// When it was taken; nil when the file does not tell.
  public var captureTime: CaptureTime?
  /// Where it was taken; nil when the file does not tell.
  public var coordinates: Coordinates?
  /// What the two halves of a Live Photo have in common (Apple's content identifier), in upper case.
  public var contentIdentifier: String?
  /// What the pictures of one burst have in common.
  public var burstIdentifier: String?
  /// True when the camera says that this picture stands for its burst.
  public var isBurstPrimary: Bool
  /// Special forms that the tags tell.
  public var subtypes: MediaSubtypes
  /// How the file by itself is meant to be played.
  public var playbackStyle: PlaybackStyle
  /// True for a still with a movie inside the same file.
  public var isMotionPhoto: Bool
  /// The maker of the camera.
  public var make: String?
  /// The camera.
  public var model: String?
  /// The lens.
  public var lensModel: String?
  /// The title that was written into the file.
  public var title: String?
  /// The description that was written into the file.
  public var caption: String?
  /// Keywords written into the file, in its order, each once.
  public var keywords: [String]
  /// 0 to 5 stars, or −1 for rejected, as XMP has it.
  public var rating: Int?
  /// What exiftool found wrong with the file; the file was taken all the same.
  public var warnings: [String]
}
