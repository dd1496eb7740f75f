internal import Foundation
internal import PhotoLedger

// From what a file says to what the library holds.
//
//   the file says                     creationDate        localCreationDate    timeZoneOffset
//   local clock and offset            the instant         the clock            the offset
//   local clock alone                 the clock as UTC    the clock            nil
//   UTC alone (a movie's header)      the instant         nil                  nil
//   nothing                           nil                 nil                  nil
//
// "The clock" is held as though it were UTC. Sizes are as displayed; values that a damaged file lacks are 0.

extension MediumFacts {
  /// What a file says, as the library holds it.
  init(_ metadata: MediaMetadata) {
    self.init(mediaType: metadata.mediaType, uniformTypeIdentifier: metadata.uniformTypeIdentifier)
    pixelWidth = metadata.displayedSize?.width ?? 0
    pixelHeight = metadata.displayedSize?.height ?? 0
    duration = metadata.duration
    creationDate = metadata.captureTime?.date
    localCreationDate = metadata.captureTime?.localReading?.date
    timeZoneOffset = metadata.captureTime?.offsetSeconds
    location = metadata.location
    mediaSubtypes = metadata.subtypes
    contentIdentifier = metadata.contentIdentifier
    self.metadata = metadata.described.isEmpty ? nil : metadata.described
  }
}

extension AssetCreation {
  /// The asset that a group of files makes.
  init(_ imported: ImportedAsset) {
    let metadata = imported.primary.metadata
    self.init(
      mediaType: metadata.mediaType, resources: imported.created.map { .staged(AssetResource($0)) })
    complete(with: MediumFacts(metadata))
    mediaSubtypes = imported.subtypes
    playbackStyle = imported.playbackStyle
    take(imported.facts)
    burstIdentifier = metadata.burstIdentifier
    representsBurst = metadata.isBurstPrimary && metadata.burstIdentifier != nil
  }
}

extension AssetCreation {
  /// Takes what counts of all that is said about an asset.
  private mutating func take(_ facts: StatedFacts) {
    (caption, keywords, rating) = (facts.caption, facts.keywords, facts.rating)
    (isFavorite, isHidden) = (facts.isFavorite, facts.isHidden)
    fileMetadata = facts.metadata
    if let time = facts.captureTime {
      (creationDate, localCreationDate) = (time.date, time.localReading?.date)
      timeZoneOffset = time.offsetSeconds
    }
    if let location = facts.location { self.location = location }
  }
}

extension ContentEdit {
  /// The edit that another program made; nil without a rendition. The data of the recipe are its file.
  init?(_ adjustment: ImportedAdjustment) {
    guard let shown = adjustment.rendered.first else { return nil }
    self.init(
      adjustmentData: AdjustmentData(
        formatIdentifier: adjustment.format.identifier, formatVersion: adjustment.format.version, data: Data()),
      rendered: adjustment.rendered.map { .staged(AssetResource($0)) })
    if let size = shown.metadata.displayedSize { (pixelWidth, pixelHeight) = (size.width, size.height) }
    if shown.type == .fullSizeVideo { duration = shown.metadata.duration }
  }
}

extension AssetChanges {
  /// What changes in a video that becomes a Live Photo by its still. What it knows of its time and place stays: a
  /// person may have edited it.
  init(completing video: Asset, with still: ImportedAsset) {
    let facts = MediumFacts(still.primary.metadata)
    self.init()
    mediaType = .image
    mediaSubtypes = still.subtypes.union(.photoLive)
    playbackStyle = .livePhoto
    (pixelWidth, pixelHeight, duration) = (facts.pixelWidth, facts.pixelHeight, 0)
    if video.creationDate == nil, let date = facts.creationDate {
      creationDate = .set(date)
      localCreationDate = facts.localCreationDate.map { .set($0) }
      timeZoneOffset = facts.timeZoneOffset.map { .set($0) }
    }
    // The still alone may state a place of zero and zero, which stays only if nothing else states one.
    if video.location == nil, let location = still.facts.location ?? facts.location { self.location = .set(location) }
    complete(video, with: still.facts)
  }

  /// Takes what is said beside the other half of a Live Photo, as far as the asset has nothing of it.
  mutating func complete(_ half: Asset, with facts: StatedFacts) {
    if facts.isFavorite { isFavorite = true }
    if facts.isHidden { isHidden = true }
    addedKeywords = facts.keywords
    if half.rating == .unset, facts.rating != .unset { rating = facts.rating }
    if half.creationDate == nil, creationDate == nil, let time = facts.captureTime {
      creationDate = .set(time.date)
      localCreationDate = time.localReading.map { .set($0.date) }
      timeZoneOffset = time.offsetSeconds.map { .set($0) }
    }
    if half.location == nil, location == nil, let place = facts.location { location = .set(place) }
  }
}

extension AssetResource {
  /// The resource that a file becomes.
  init(_ imported: ImportedResource) {
    let facts = MediumFacts(imported.metadata)
    self.init(
      type: imported.type, originalFilename: Limits.fileName(imported.originalFilename),
      uniformTypeIdentifier: facts.uniformTypeIdentifier, dataSize: imported.stored.dataSize,
      sha256: imported.stored.sha256, pixelWidth: facts.pixelWidth, pixelHeight: facts.pixelHeight,
      storage: imported.stored.storage, contentIdentifier: facts.contentIdentifier, sha1: imported.stored.sha1)
  }
}

extension CaptureTime {
  /// The instant; a local clock whose offset is not known is read as UTC.
  var date: Date {
    guard let instant else { return reading.date }
    return Date(secondsSince1970: instant.seconds, nanoseconds: instant.nanoseconds)
  }
}

extension WallClock {
  /// The reading, held as though the clock showed UTC.
  var date: Date { Date(secondsSince1970: secondsSince1970, nanoseconds: nanosecond) }
}

extension Date {
  /// The closest date: whole seconds are exact, and a fraction is off by less than a microsecond.
  fileprivate init(secondsSince1970 seconds: Int64, nanoseconds: Int) {
    let seconds = Double(seconds - Int64(Self.timeIntervalBetween1970AndReferenceDate))
    self.init(timeIntervalSinceReferenceDate: seconds + Double(nanoseconds) / 1e9)
  }
}
