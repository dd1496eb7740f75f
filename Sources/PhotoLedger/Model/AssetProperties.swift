// The properties of an asset, each declared once.
//
//     AssetProperty("isFavorite", .flag(.favorite), log: .isFavorite, key: .isFavorite, [\Asset.isFavorite],
//       spelled: ["favorite"], set: .always)
//
//     name      in JSON, in the log's words, in sentences      key      in predicates and sort terms
//     form      place in the row, type, coding                 paths    in #Predicate and sort descriptors of Swift
//     log       in edits of the log                            spelled  PhotoKit's other spellings of the key
//     row       in the row that a creation logs                set      by which requests
//
// What reads and writes a property derives from its entry: the row's bytes, and edits with their inverse
// (AssetRow+Properties.swift), conditions and sort keys (PropertyReader.swift, PropertyKey.swift), undo, erasure, the
// words of the log, and JSON in both directions. Beside the entry a property has what Swift needs a declaration for:
// the case of `AssetField` that names it in code, a name for its place in the row (`AssetRow.Flags`,
// `AssetRow.Layout`), the case of `PropertyKey`, and a typed accessor in each of `Asset`, `AssetChanges` and
// `AssetCreation`, which are public and documented there. CONTRIBUTING.md goes through them with an example.
//
// The entries are in the order of JSON. Numbers of the log and of the row are never used again for anything else.
//
// Invariants, checked when the tables are first used: each case of `AssetField` has one entry, whose form the log can
// hold; no two entries share a key of the row. CollectionPropertyTests checks that no two share a name or a key.
//
// A scan reads a property through a closure that the form makes for the row's type: it holds the place, so the table is
// consulted once for a query and never for a row.
//
// Rejected: a key path from entry to row (a key path costs a scan more than the rest of it); a macro, which would write
// the accessors as well, but needs a package from outside to be written with.

/// The properties of an asset that can change, by the numbers that stand in the log.
@usableFromInline
package enum AssetField: UInt8, Sendable, CaseIterable {
  case isFavorite = 1
  case isHidden = 2
  case creationDate = 3
  case localCreationDate = 4
  case timeZoneOffset = 5
  case location = 6
  case modificationDate = 7
  case trashedDate = 8
  case mediaSubtypes = 9
  case playbackStyle = 10
  case duration = 11
  case pixelWidth = 12
  case pixelHeight = 13
  case mediaType = 14
  case rating = 15
  case burstSelectionTypes = 16
  case representsBurst = 17
  case adjustmentsState = 18
  case adjustmentTimestamp = 19
  case playbackVariation = 20
  case originalResourceChoice = 21
  case isRaw = 22
  case isSelfPortrait = 23
  case isLivePhotoVideoPlaybackEnabled = 24
  case stack = 25
}

extension AssetProperty {
  /// Every property, in the order of JSON.
  package static let all: [AssetProperty] = identity + content + times + places + marks + edits + words + unprinted

  private typealias Layout = AssetRow.Layout

  private static let identity: [AssetProperty] = [
    AssetProperty(
      "localIdentifier", .identifier, key: .localIdentifier, [\Asset.id, \Asset.localIdentifier],
      spelled: ["SELF", "self"])
  ]

  private static let content: [AssetProperty] = [
    AssetProperty(
      "mediaType", .choice(at: Layout.mediaType, ChoiceNames(MediaType.self, "media type", except: .unknown)),
      log: .mediaType, row: 2,
      key: .mediaType, [\Asset.mediaType], set: .always, undo: .withFiles, is: .required),
    AssetProperty(
      "mediaSubtypes", .bits(at: Layout.mediaSubtypes, BitNames(MediaSubtypes.self)), log: .mediaSubtypes, row: 3,
      key: .mediaSubtypes, [\Asset.mediaSubtypes], spelled: ["mediaSubtype"], set: .always, undo: .withFiles),
    AssetProperty(
      "playbackStyle", .choice(at: Layout.playbackStyle, ChoiceNames(PlaybackStyle.self, "playback style")),
      log: .playbackStyle, row: 4, key: .playbackStyle, [\Asset.playbackStyle], set: .always, undo: .withFiles,
      is: .required),
    AssetProperty(
      "pixelWidth", .size(at: Layout.pixelWidth), log: .pixelWidth, row: 6, key: .pixelWidth, [\Asset.pixelWidth],
      set: .always, undo: .withFiles),
    AssetProperty(
      "pixelHeight", .size(at: Layout.pixelHeight), log: .pixelHeight, row: 7, key: .pixelHeight, [\Asset.pixelHeight],
      set: .always, undo: .withFiles),
    AssetProperty(
      "duration", .seconds(at: Layout.duration), log: .duration, row: 8, key: .duration, [\Asset.duration],
      set: .always, undo: .withFiles),
  ]

  private static let times: [AssetProperty] = [
    AssetProperty(
      "creationDate", .date(at: Layout.creationDate, .zoned), log: .creationDate, row: 9, key: .creationDate,
      [\Asset.creationDate], set: .always),
    AssetProperty(
      "localCreationDate", .date(at: Layout.localCreationDate, .wallTime), log: .localCreationDate, row: 10,
      key: .localCreationDate, [\Asset.localCreationDate], set: .always),
    AssetProperty(
      "addedDate", .date(at: Layout.addedDate, .instant), row: 12, key: .addedDate, [\Asset.addedDate], is: .required),
    AssetProperty(
      "modificationDate", .date(at: Layout.modificationDate, .instant), log: .modificationDate, row: 13,
      key: .modificationDate, [\Asset.modificationDate], undo: .follows, is: .keptByErasure),
    AssetProperty(
      "trashedDate", .date(at: Layout.trashedDate, .instant), log: .trashedDate, row: 14, key: .trashedDate,
      [\Asset.trashedDate], is: .keptByErasure),
  ]

  private static let places: [AssetProperty] = [
    AssetProperty("location", .location, log: .location, row: 15, set: .always)
  ]

  private static let marks: [AssetProperty] = [
    AssetProperty(
      "isFavorite", .flag(.favorite), log: .isFavorite, key: .isFavorite, [\Asset.isFavorite], spelled: ["favorite"],
      set: .always),
    AssetProperty(
      "isHidden", .flag(.hidden), log: .isHidden, key: .isHidden, [\Asset.isHidden], spelled: ["hidden"], set: .always,
      is: .keptByErasure),
    AssetProperty("isErased", .flag(.erased)),
    AssetProperty(
      "sourceType", .bits(at: Layout.sourceType, BitNames(SourceTypes.self, standard: .userLibrary)), row: 5,
      key: .sourceType, [\Asset.sourceType]),
    AssetProperty("burstIdentifier", .burst, row: 17, key: .burstIdentifier, [\Asset.burstIdentifier]),
    AssetProperty(
      "representsBurst", .flag(.representsBurst), log: .representsBurst, key: .representsBurst,
      [\Asset.representsBurst], set: .atCreation, undo: .follows, is: .keptByErasure),
    AssetProperty(
      "burstSelectionTypes", .bits(at: Layout.burstSelection, BitNames(BurstSelectionTypes.self)),
      log: .burstSelectionTypes, row: 18, key: .burstSelectionTypes, [\Asset.burstSelectionTypes], set: .inBurst,
      is: .keptByErasure),
    AssetProperty("stack", .stack, log: .stack, row: 24, key: .stack, [\Asset.stack], is: .keptByErasure),
  ]

  private static let edits: [AssetProperty] = [
    AssetProperty(
      "hasAdjustments", .isChosen(at: Layout.adjustmentsState), key: .hasAdjustments, [\Asset.hasAdjustments]),
    AssetProperty(
      "adjustmentsState", .choice(at: Layout.adjustmentsState, ChoiceNames(AdjustmentsState.self, "adjustments state")),
      log: .adjustmentsState, row: 20, key: .adjustmentsState, [\Asset.adjustmentsState], undo: .withFiles),
    AssetProperty(
      "adjustmentTimestamp", .date(at: Layout.adjustmentDate, .instant), log: .adjustmentTimestamp, row: 21,
      key: .adjustmentTimestamp, [\Asset.adjustmentTimestamp], undo: .withFiles),
    AssetProperty("adjustmentFormatIdentifier", .text { $0.adjustmentFormatIdentifier }),
    AssetProperty("adjustmentFormatVersion", .text { $0.adjustmentFormatVersion }),
    AssetProperty(
      "originalResourceChoice",
      .choice(at: Layout.originalResourceChoice, ChoiceNames(OriginalResourceChoice.self, "choice of an original")),
      log: .originalResourceChoice, row: 23, key: .originalResourceChoice, [\Asset.originalResourceChoice],
      set: .always, undo: .withFiles),
    AssetProperty(
      "playbackVariation", .choice(at: Layout.playbackVariation, ChoiceNames(PlaybackVariation.self, "variation")),
      log: .playbackVariation, row: 22, key: .playbackVariation, [\Asset.playbackVariation], set: .always),
    AssetProperty(
      "isLivePhotoVideoPlaybackEnabled", .clearFlag(.stillPlayback), log: .isLivePhotoVideoPlaybackEnabled,
      set: .inLivePhoto),
    AssetProperty("isRaw", .flag(.raw), log: .isRaw, key: .isRaw, [\Asset.isRaw], undo: .withFiles),
    AssetProperty(
      "isSelfPortrait", .flag(.selfPortrait), log: .isSelfPortrait, key: .isSelfPortrait, [\Asset.isSelfPortrait],
      set: .always),
  ]

  private static let words: [AssetProperty] = [
    AssetProperty(
      "rating",
      .choice(at: Layout.rating, ChoiceNames(AssetRating.self, "rating", numbers: "a number of stars, 0 to 5")),
      log: .rating,
      row: 19, key: .rating, [\Asset.rating], set: .always),
    AssetProperty("caption", .text { $0.caption }, key: .caption),
    AssetProperty("keywords", .texts { $0.keywords }, key: .keywords),
    AssetProperty("origin", .text { $0.origin?.stringValue }),
    AssetProperty("fileMetadata", .record { $0.fileMetadata?.logValue }),
  ]

  /// What JSON shows as a part of another property, or not at all.
  private static let unprinted: [AssetProperty] = [
    AssetProperty(
      "timeZoneOffset", .zoneOffset, log: .timeZoneOffset, row: 11, key: .timeZoneOffset, [\Asset.timeZoneOffset],
      set: .always, is: .unprinted),
    AssetProperty(
      "isTrashed", .isPresent(at: Layout.trashedDate), key: .isTrashed, [\Asset.isTrashed], spelled: ["trashed"],
      is: .unprinted),
    AssetProperty(
      "isBeneathStack", .isBeneathStack, key: .isBeneathStack, [\Asset.isBeneathStack], is: .unprinted),
    AssetProperty("latitude", .coordinate(at: Layout.latitude), key: .latitude, is: .unprinted),
    AssetProperty("longitude", .coordinate(at: Layout.longitude), key: .longitude, is: .unprinted),
    AssetProperty("altitude", .coordinate(at: Layout.altitude), key: .altitude, is: .unprinted),
    AssetProperty("flags", .flags, row: 16, is: .unprinted),
    AssetProperty("originalFilename", .text { $0.originalFilename }, key: .originalFilename, is: .unprinted),
    AssetProperty("dataSize", .measure { $0.dataSize.map(Double.init) }, key: .dataSize, is: .unprinted),
    AssetProperty("path", .text { $0.path }, key: .path, is: .unprinted),
    AssetProperty("fileTitle", .text { $0.fileMetadata?.title }, key: .fileTitle, is: .unprinted),
    AssetProperty("people", .texts { $0.fileMetadata?.people ?? [] }, key: .people, is: .unprinted),
    AssetProperty("cameraMake", .text { $0.fileMetadata?.cameraMake }, key: .cameraMake, is: .unprinted),
    AssetProperty("cameraModel", .text { $0.fileMetadata?.cameraModel }, key: .cameraModel, is: .unprinted),
    AssetProperty("lens", .text { $0.fileMetadata?.lens }, key: .lens, is: .unprinted),
    AssetProperty("focalLength", .measure { $0.fileMetadata?.focalLength }, key: .focalLength, is: .unprinted),
    AssetProperty("aperture", .measure { $0.fileMetadata?.aperture }, key: .aperture, is: .unprinted),
    AssetProperty("exposureTime", .measure { $0.fileMetadata?.exposureTime }, key: .exposureTime, is: .unprinted),
    AssetProperty("iso", .measure { $0.fileMetadata?.iso.map(Double.init) }, key: .iso, is: .unprinted),
  ]
}
