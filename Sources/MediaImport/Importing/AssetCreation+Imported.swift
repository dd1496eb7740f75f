internal import Foundation
internal import PhotoLedger

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
