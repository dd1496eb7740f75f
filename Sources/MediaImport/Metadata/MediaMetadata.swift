internal import PhotoLedger

/// A size in pixels.
package struct PixelSize: Sendable, Hashable {
  /// Pixels from left to right.
  package let width: Int
  /// Pixels from top to bottom.
  package let height: Int

  /// Creates a size.
  package init(width: Int, height: Int) { (self.width, self.height) = (width, height) }
}

/// What a file says about itself, in one form for every kind of file.
struct MediaMetadata: Sendable, Hashable {
  /// Image, video or audio.
  var mediaType: MediaType
  /// Apple's name for the type of the content, not of the file name.
  var uniformTypeIdentifier: String
  /// The Internet media type of the content.
  var mimeType: String
  /// exiftool's name for the type of the content, such as `JPEG` or `CR2`.
  var fileType: String
  /// True for sensor data straight from a camera.
  var isRaw: Bool
  /// The size in the file; nil if not stated, as in a damaged file.
  var storedSize: PixelSize?
  /// The size as displayed, with orientation or rotation applied (AS-02).
  var displayedSize: PixelSize?
  /// EXIF orientation, 1 to 8, that turns the stored pixels into the displayed ones; 1 when none is stated.
  var orientation: Int
  /// Seconds; 0 for images (AS-03) and if a video does not state it.
  var duration: Double
  /// The date of capture; nil if not stated.
  var captureTime: CaptureTime?
  /// The location of capture, as stated (zero and zero is a location too); nil if not stated.
  var location: Location?
  /// What the two halves of a Live Photo have in common (Apple's content identifier), in upper case.
  var contentIdentifier: String?
  /// What the pictures of one burst have in common.
  var burstIdentifier: String?
  /// True when the camera says that this picture stands for its burst.
  var isBurstPrimary: Bool
  /// What the camera states of a photo that it took as one of a series.
  var shot: SeriesShot?
  /// The subtypes stated by the tags.
  var subtypes: MediaSubtypes
  /// How the file by itself is meant to be played.
  var playbackStyle: PlaybackStyle
  /// True for a still with a movie inside the same file.
  var isMotionPhoto: Bool
  /// The maker of the camera.
  var make: String?
  /// The camera.
  var model: String?
  /// The description that was written into the file.
  var caption: String?
  /// Keywords written into the file, in its order, each once.
  var keywords: [String]
  /// 0 to 5 stars, or −1 for rejected, as XMP has it.
  var rating: Int?
  /// What the file says for people, within the bounds of the model.
  var described = AssetMetadata()
  /// What is wrong with the file, mostly in exiftool's words; the file was taken all the same.
  var warnings: [String]

  /// The same of a file that says nothing for people, nor where and when it was taken.
  var wordless: MediaMetadata {
    var metadata = self
    (metadata.caption, metadata.keywords, metadata.rating) = (nil, [], nil)
    (metadata.captureTime, metadata.location, metadata.described) = (nil, nil, AssetMetadata())
    return metadata
  }
}
