/// How invented libraries are made up.
///
/// *Measured* numbers were published by others; they were read off, not fitted here. *Assumed* ones are judgement and
/// may be turned. Shares are of all assets unless they say of what.
enum LibraryShape {
  // Measured.

  /// Videos: 61 of 1105 (immich-app/immich issue 12965); a survey of phones has 0.059, YFCC100M has 0.0079.
  static let videoShare = 0.055
  /// Seconds of a video: 787,479 files with a mean of 37 and a median of 28 (YFCC100M).
  static let videoSeconds = (median: 28.0, mean: 37.0)
  /// Pictures of screens: 86 of 952 images on a phone (Avast 2019).
  static let screenshotShare = 0.09
  /// Pictures that a messenger brought: 292 of 952 (Avast 2019).
  static let messengerShare = 0.31
  /// Near duplicates and bursts: 3e9 photos on 6e6 devices (Avast 2019).
  static let runShare = 0.16
  /// What lies in the trash: 2.6 of 317 million (Everpix 2013).
  static let trashShare = 0.008
  /// Photos of an event (OnePoll for Mixbook 2023).
  static let photosOfAnEvent = 23.0
  /// Shared sets of two photos or more (Everpix 2013, fitted by a lognormal): the sizes of albums.
  static let albumSize = (median: 23.0, sigma: 1.65)

  // Assumed.

  /// What is marked as a favourite; reports range from 0 to 0.15.
  static let favouriteShare = 0.03
  /// What is hidden. What others archive has no state of its own in PhotoKit, so nothing is archived here.
  static let hiddenShare = 0.005
  /// What was edited after it was taken.
  static let editedShare = 0.03
  /// Live Photos, of a camera's stills.
  static let liveShare = 0.6
  /// What has a place, of a camera's pictures; 0.48 in YFCC100M, more on phones.
  static let placedShare = 0.8
  /// What came without a date of capture and bears that of its import.
  static let undatedShare = 0.05
  /// Days without a picture.
  static let emptyDayShare = 0.45
  /// How the sizes of events scatter (sigma of a lognormal).
  static let eventSigma = 1.2
  /// Seconds between two pictures of an event.
  static let gapSeconds = 1...120
  /// How many pictures are taken in one go, within two seconds.
  static let runLength = 3...10
  /// Runs that the camera marks as a burst.
  static let burstShare = 0.33
  /// How much more is taken each year.
  static let growth = 1.15
  /// How much more is taken in December, July and August.
  static let season = 1.4
  /// A library spans at most so many days; a larger one has larger events.
  static let longestSpan = 20 * 365
  /// Assets that stand in albums, counted once for each album.
  static let albumMembership = 0.3
}
