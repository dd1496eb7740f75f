// Predicates and sort descriptors that are applied to objects, instead of to a fetch, read the rows of the core. A
// stand-in of an app's tests does not have one, so it is given one of the properties that it overrides: then the
// predicate of a fetch filters stand-ins as it filters assets. What such a row cannot hold is an error, and never a
// silent false: the keys that it holds are listed, so that a new one is refused until the row holds it.
//
// The rows are filled property by property, and not by the table of key paths (KeyValues.swift): Apple's types would
// have to be converted to the core's by kind, with an exception for each property that no edit holds, in more lines.

internal import PhotoLedger

extension PHAsset {
  /// The keys that a stand-in's row holds.
  fileprivate static let heldKeys: Set<PropertyKey> = [
    .localIdentifier, .addedDate, .mediaType, .playbackStyle, .mediaSubtypes, .sourceType, .pixelWidth, .pixelHeight,
    .creationDate, .modificationDate, .duration, .latitude, .longitude, .altitude, .isFavorite, .isHidden,
    .representsBurst, .burstIdentifier, .burstSelectionTypes, .rating, .hasAdjustments, .adjustmentsState,
    .adjustmentTimestamp, .playbackVariation, .originalResourceChoice,
  ]

  /// The row that is compared.
  var comparedRow: AssetRow {
    if let asset { return asset.row }
    var row = AssetRow(
      number: 0, identifier: identifier ?? LocalIdentifier(high: 0, low: 0), addedDate: addedDate ?? .never)
    (row.mediaType, row.playbackStyle) = (mediaType, playbackStyle)
    row.mediaSubtypes = MediaSubtypes(rawValue: UInt32(truncatingIfNeeded: mediaSubtypes.rawValue))
    row.sourceType = SourceTypes(rawValue: UInt8(truncatingIfNeeded: sourceType.rawValue))
    (row.pixelWidth, row.pixelHeight) = (UInt32(clamping: pixelWidth), UInt32(clamping: pixelHeight))
    (row.creationDate, row.modificationDate, row.duration) = (creationDate, modificationDate, duration)
    row.location = location.map { Location($0) }
    if isFavorite { row.flags.insert(.favorite) }
    if isHidden { row.flags.insert(.hidden) }
    if representsBurst { row.flags.insert(.representsBurst) }
    row.burstIdentifier = burstIdentifier
    row.burstSelection = BurstSelectionTypes(rawValue: UInt8(truncatingIfNeeded: burstSelectionTypes.rawValue))
    row.rating = rating
    row.adjustmentsState = hasAdjustments && adjustmentsState == .none ? .userAdjusted : adjustmentsState
    row.adjustmentDate = adjustmentTimestamp
    (row.playbackVariation, row.originalResourceChoice) = (playbackVariation, originalResourceChoice)
    return row
  }
}

extension PHCollection {
  /// The keys that a stand-in's row holds.
  fileprivate static let heldKeys: Set<PropertyKey> = [
    .localIdentifier, .localizedTitle, .estimatedAssetCount, .modificationDate,
  ]

  /// The row that is compared.
  var comparedRow: CollectionRow {
    if let collection { return collection.row }
    let count = (self as? PHAssetCollection)?.estimatedAssetCount ?? 0
    var row = CollectionRow(
      number: 0, identifier: identifier ?? LocalIdentifier(high: 0, low: 0),
      kind: count == NSNotFound ? .smartAlbum : .album, title: localizedTitle, date: .never)
    row.modificationDate = modificationDate ?? .never
    row.assetCount = count
    return row
  }

  /// Where it lies in the order by the start or the end of what it holds, which stand-ins only have (FR-15); a missing
  /// date comes first. Nil for every other key, which is compared in rows.
  func place(by key: PropertyKey) -> TimeInterval? {
    guard key == .startDate || key == .endDate else { return nil }
    let date: Date? =
      switch self {
      case let album as PHAssetCollection: key == .startDate ? album.startDate : album.endDate
      case let folder as PHCollectionList: key == .startDate ? folder.startDate : folder.endDate
      default: nil
      }
    guard let seconds = date?.timeIntervalSinceReferenceDate, !seconds.isNaN else { return -.infinity }
    return seconds
  }
}

extension PHObject {
  /// Checks that the row of a stand-in holds what it is asked for.
  /// - Parameter asks: whether a key is asked for.
  func checkComparable(_ asks: (PropertyKey) -> Bool) throws {
    guard origin == nil else { return }
    if asks(.localIdentifier), identifier == nil {
      throw LibraryError(
        .unsupportedPredicate,
        """
        The stand-in \(type(of: self)) has the local identifier '\(localIdentifier)'; to be compared it has to begin \
        with a UUID.
        """)
    }
    let (entity, held): (Entity, Set<PropertyKey>) =
      if self is PHAsset { (.asset, PHAsset.heldKeys) } else { (.collection, PHCollection.heldKeys) }
    // Details, which no row holds, are refused for every object alike.
    let absent = PropertyKey.allCases.first { key in
      !held.contains(key) && asks(key) && key.isValid(for: entity) && !key.isDetail
    }
    if let key = absent {
      throw LibraryError(
        .unsupportedPredicate, "The stand-in \(type(of: self)) has no '\(key.rawValue)'; use fetched objects.")
    }
  }
}

extension Date {
  /// What a row holds where there is no date.
  fileprivate static let never = Date(timeIntervalSinceReferenceDate: .nan)
}
