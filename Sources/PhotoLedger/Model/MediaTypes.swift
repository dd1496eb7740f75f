/// The kind of medium of an asset (PHAssetMediaType, photokit a.3).
public enum MediaType: Int, Sendable, Hashable, CaseIterable, Codable {
  /// Neither image nor video nor sound.
  case unknown = 0
  /// A still or animated image, Live Photos among them.
  case image = 1
  /// A video.
  case video = 2
  /// A sound recording.
  case audio = 3
}

/// What is special about an image or video (PHAssetMediaSubtype, photokit a.3), as a set of bits.
public struct MediaSubtypes: OptionSet, Sendable, Hashable, Codable {
  /// The bits, as PhotoKit numbers them; unknown bits are carried through.
  public let rawValue: UInt32

  /// Takes the bits as they are.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// A panorama.
  public static let photoPanorama = MediaSubtypes(rawValue: 1 << 0)
  /// A photo taken with high dynamic range.
  public static let photoHDR = MediaSubtypes(rawValue: 1 << 1)
  /// A picture of a screen.
  public static let photoScreenshot = MediaSubtypes(rawValue: 1 << 2)
  /// A Live Photo: a still with its paired video.
  public static let photoLive = MediaSubtypes(rawValue: 1 << 3)
  /// A photo with depth, "Portrait".
  public static let photoDepthEffect = MediaSubtypes(rawValue: 1 << 4)
  /// An animated image.
  public static let photoAnimation = MediaSubtypes(rawValue: 1 << 6)
  /// A spatial photo or video.
  public static let spatialMedia = MediaSubtypes(rawValue: 1 << 10)
  /// A video that is streamed, never stored completely.
  public static let videoStreamed = MediaSubtypes(rawValue: 1 << 16)
  /// A video taken at a high frame rate.
  public static let videoHighFrameRate = MediaSubtypes(rawValue: 1 << 17)
  /// A time-lapse video.
  public static let videoTimelapse = MediaSubtypes(rawValue: 1 << 18)
  /// A recording of a screen.
  public static let videoScreenRecording = MediaSubtypes(rawValue: 1 << 19)
  /// A video with a depth track.
  public static let videoCinematic = MediaSubtypes(rawValue: 1 << 21)

  /// The names of the bits that are set, spelled as PhotoKit spells them, lowest first; unknown bits as `bitN`.
  public var names: [String] {
    rawValue == 0 ? [] : (0..<32).filter { rawValue & (1 << $0) != 0 }.map { Self.namesByBit[$0] ?? "bit\($0)" }
  }

  private static let namesByBit: [Int: String] = [
    0: "photoPanorama", 1: "photoHDR", 2: "photoScreenshot", 3: "photoLive", 4: "photoDepthEffect",
    6: "photoAnimation", 10: "spatialMedia", 16: "videoStreamed", 17: "videoHighFrameRate", 18: "videoTimelapse",
    19: "videoScreenRecording", 21: "videoCinematic",
  ]
}

/// How an asset is played (PHAsset.PlaybackStyle, photokit a.3).
public enum PlaybackStyle: Int, Sendable, Hashable, Codable {
  /// Nothing can be shown.
  case unsupported = 0
  /// A still image.
  case image = 1
  /// An image that moves, such as an animated GIF.
  case imageAnimated = 2
  /// A Live Photo.
  case livePhoto = 3
  /// A video.
  case video = 4
  /// A video that repeats.
  case videoLooping = 5
}

/// How a Live Photo or looping video is varied when it is played (PHAsset.PlaybackVariation, photokit a.3).
public enum PlaybackVariation: Int, Sendable, Hashable, Codable, CaseIterable {
  /// As captured.
  case none = 0
  /// It repeats.
  case autoloop = 1
  /// It runs forward and backward.
  case mirror = 2
  /// Its frames are laid over each other.
  case longExposure = 3
}

/// Who chose a member of a burst (PHAssetBurstSelectionType, BU-02), as a set of bits.
public struct BurstSelectionTypes: OptionSet, Sendable, Hashable, Codable {
  /// The bits, as PhotoKit numbers them.
  public let rawValue: UInt8

  /// Takes the bits as they are.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The camera's software proposed it.
  public static let autoPick = BurstSelectionTypes(rawValue: 1)
  /// A person picked it.
  public static let userPick = BurstSelectionTypes(rawValue: 2)
}

/// Who edited the content of an asset (PHAsset.AdjustmentsState, AS-08).
public enum AdjustmentsState: Int, Sendable, Hashable, Codable, CaseIterable {
  /// Neither.
  case none = 0
  /// A person.
  case userAdjusted = 2
  /// The camera, by itself.
  case cameraAutoAdjusted = 3
}

/// Which original of a RAW and JPEG pair an asset shows (PHAsset.OriginalResourceChoice, AS-16).
public enum OriginalResourceChoice: Int, Sendable, Hashable, Codable, CaseIterable {
  /// The compressed file, which is the primary resource.
  case compressed = 0
  /// The RAW file.
  case raw = 1
}

/// How many stars a person gave an asset (PHAsset.Rating, photokit a.3).
public enum AssetRating: Int, Sendable, Hashable, Codable, CaseIterable {
  /// Not rated.
  case unset = 0
  /// One star.
  case one = 1
  /// Two stars.
  case two = 2
  /// Three stars.
  case three = 3
  /// Four stars.
  case four = 4
  /// Five stars.
  case five = 5
}

/// Where an asset came from (PHAssetSourceType, photokit a.3), as a set of bits.
public struct SourceTypes: OptionSet, Sendable, Hashable, Codable {
  /// The bits, as PhotoKit numbers them.
  public let rawValue: UInt8

  /// Takes the bits as they are.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The library itself.
  public static let userLibrary = SourceTypes(rawValue: 1)
  /// A shared album of another user.
  public static let cloudShared = SourceTypes(rawValue: 2)
  /// Put there by another computer.
  public static let iTunesSynced = SourceTypes(rawValue: 4)
  static let all: SourceTypes = [.userLibrary, .cloudShared, .iTunesSynced]
}

/// The kind of a resource of an asset (PHAssetResourceType, photokit a.3); unknown values are carried through.
public struct ResourceType: RawRepresentable, Sendable, Hashable, Codable {
  /// The value, as PhotoKit numbers it.
  public let rawValue: Int

  /// Creates a value from any number.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The original image.
  public static let photo = ResourceType(rawValue: 1)
  /// The original video.
  public static let video = ResourceType(rawValue: 2)
  /// The original sound.
  public static let audio = ResourceType(rawValue: 3)
  /// Another original of the same picture: the RAW beside a JPEG.
  public static let alternatePhoto = ResourceType(rawValue: 4)
  /// The image as edited.
  public static let fullSizePhoto = ResourceType(rawValue: 5)
  /// The video as edited.
  public static let fullSizeVideo = ResourceType(rawValue: 6)
  /// The recipe of the last edit.
  public static let adjustmentData = ResourceType(rawValue: 7)
  /// The image the last edit began from.
  public static let adjustmentBasePhoto = ResourceType(rawValue: 8)
  /// The video of a Live Photo.
  public static let pairedVideo = ResourceType(rawValue: 9)
  /// The video of a Live Photo as edited.
  public static let fullSizePairedVideo = ResourceType(rawValue: 10)
  /// The video of a Live Photo the last edit began from.
  public static let adjustmentBasePairedVideo = ResourceType(rawValue: 11)
  /// The video the last edit began from.
  public static let adjustmentBaseVideo = ResourceType(rawValue: 12)
  /// A small stand-in for an original that is not here.
  public static let photoProxy = ResourceType(rawValue: 19)

  /// The name of the type, spelled as PhotoKit spells it; an unknown one as `typeN`.
  public var name: String {
    guard Self.names.indices.contains(rawValue), let name = Self.names[rawValue] else { return "type\(rawValue)" }
    return name
  }

  /// The type with a name, as ``name`` spells it.
  public init?(name: String) {
    if let known = Self.names.firstIndex(of: name) {
      self.init(rawValue: known)
    } else if name.hasPrefix("type"), let value = Int(name.dropFirst(4)) {
      self.init(rawValue: value)
    } else {
      return nil
    }
  }

  /// Whether a file in this role came with the asset, and was not made by an edit (AS-06).
  package var isOriginal: Bool {
    switch self {
    case .photo, .video, .audio, .alternatePhoto, .pairedVideo: true
    default: false
    }
  }

  /// The names by value; nil for a value without one.
  private static let names: [String?] = [
    nil, "photo", "video", "audio", "alternatePhoto", "fullSizePhoto", "fullSizeVideo", "adjustmentData",
    "adjustmentBasePhoto", "pairedVideo", "fullSizePairedVideo", "adjustmentBasePairedVideo", "adjustmentBaseVideo",
    nil, nil, nil, nil, nil, nil, "photoProxy",
  ]
}
