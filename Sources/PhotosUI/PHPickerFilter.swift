import LibraryPicking
public import PhotoLedger

/// Which assets the picker offers (PK-03; Apple: `PHPickerFilter`).
public struct PHPickerFilter: Hashable, Sendable {
  let core: PickerFilter

  init(_ core: PickerFilter) { self.core = core }

  /// Images, Live Photos among them.
  public static let images = PHPickerFilter(.images)
  /// Videos.
  public static let videos = PHPickerFilter(.videos)
  /// Live Photos.
  public static let livePhotos = PHPickerFilter(.livePhotos)
  /// Panoramas.
  public static let panoramas = PHPickerFilter(.panoramas)
  /// Pictures of screens.
  public static let screenshots = PHPickerFilter(.screenshots)
  /// Recordings of screens.
  public static let screenRecordings = PHPickerFilter(.screenRecordings)
  /// Videos taken at a high frame rate.
  public static let slomoVideos = PHPickerFilter(.slomoVideos)
  /// Time-lapse videos.
  public static let timelapseVideos = PHPickerFilter(.timelapseVideos)
  /// What stands for a burst, and those of its members that a person picked.
  public static let bursts = PHPickerFilter(.bursts)
  /// Videos with a depth track.
  public static let cinematicVideos = PHPickerFilter(.cinematicVideos)
  /// Photos with depth.
  public static let depthEffectPhotos = PHPickerFilter(.depthEffectPhotos)
  /// Spatial photos and videos.
  public static let spatialMedia = PHPickerFilter(.spatialMedia)

  /// What is played in one way.
  public static func playbackStyle(_ playbackStyle: PHAsset.PlaybackStyle) -> PHPickerFilter {
    PHPickerFilter(.playbackStyle(playbackStyle))
  }

  /// What passes any of the filters; nothing passes if there are none.
  public static func any(of subfilters: [PHPickerFilter]) -> PHPickerFilter {
    PHPickerFilter(.any(of: subfilters.map(\.core)))
  }

  /// What passes all of the filters; everything passes if there are none.
  public static func all(of subfilters: [PHPickerFilter]) -> PHPickerFilter {
    PHPickerFilter(.all(of: subfilters.map(\.core)))
  }

  /// What does not pass the filter.
  public static func not(_ filter: PHPickerFilter) -> PHPickerFilter { PHPickerFilter(.not(filter.core)) }
}
