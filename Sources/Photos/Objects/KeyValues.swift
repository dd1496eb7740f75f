// Values by key. On Apple's systems every object answers `value(forKey:)`, and clients read properties by it that have
// no public name: the file name of an asset, the length of a resource, whether its bytes are here. They are here under
// the names by which clients ask, with the public properties. A number is an `NSNumber`, so that `as? Int64` and
// `as? Int` both work as they do there.

internal import PhotoLedger

extension PHAsset {
  func storedValue(forKey key: String) -> Any? {
    let original = resources.original(originalResourceChoice)
    switch key {
    case "filename", "originalFilename": return original?.originalFilename
    case "uniformTypeIdentifier": return original?.uniformTypeIdentifier
    case "fileSize": return original.map { NSNumber(value: Int64(clamping: $0.dataSize)) }
    case "localIdentifier": return localIdentifier
    case "mediaType": return NSNumber(value: mediaType.rawValue)
    case "mediaSubtypes", "mediaSubtype": return NSNumber(value: mediaSubtypes.rawValue)
    case "playbackStyle": return NSNumber(value: playbackStyle.rawValue)
    case "pixelWidth": return NSNumber(value: pixelWidth)
    case "pixelHeight": return NSNumber(value: pixelHeight)
    case "creationDate": return creationDate
    case "modificationDate": return modificationDate
    case "addedDate": return addedDate
    case "location": return location
    case "duration": return NSNumber(value: duration)
    case "contentType": return contentType
    case "extendedMetadata": return extendedMetadata
    case "favorite", "isFavorite": return NSNumber(value: isFavorite)
    case "hidden", "isHidden": return NSNumber(value: isHidden)
    case "rating": return NSNumber(value: rating.rawValue)
    case "hasAdjustments": return NSNumber(value: hasAdjustments)
    case "adjustmentsState": return NSNumber(value: adjustmentsState.rawValue)
    case "adjustmentTimestamp": return adjustmentTimestamp
    case "adjustmentFormatIdentifier": return adjustmentFormatIdentifier
    case "burstIdentifier": return burstIdentifier
    case "burstSelectionTypes": return NSNumber(value: burstSelectionTypes.rawValue)
    case "representsBurst": return NSNumber(value: representsBurst)
    case "playbackVariation": return NSNumber(value: playbackVariation.rawValue)
    case "originalResourceChoice": return NSNumber(value: originalResourceChoice.rawValue)
    case "sourceType": return NSNumber(value: sourceType.rawValue)
    case "asset": return asset
    default: undefined(key, of: "PHAsset")
    }
  }
}

extension PHAssetResource {
  func storedValue(forKey key: String) -> Any? {
    switch key {
    case "filename", "originalFilename": originalFilename
    case "fileSize", "dataSize": dataSize.map { NSNumber(value: $0) }
    case "locallyAvailable", "isLocallyAvailable": NSNumber(value: isHere)
    case "uniformTypeIdentifier": uniformTypeIdentifier
    case "contentType": contentType
    case "assetLocalIdentifier": assetLocalIdentifier
    case "type": NSNumber(value: type.rawValue)
    case "pixelWidth": NSNumber(value: pixelWidth)
    case "pixelHeight": NSNumber(value: pixelHeight)
    case "fileURL", "privateFileURL": place
    default: undefined(key, of: "PHAssetResource")
    }
  }

  /// Where the bytes are; nil for a client that may not have them.
  private var place: URL? {
    if let file { return file.url }
    // Without permission there is no place, as there is none for what is elsewhere on Apple's systems.
    return source.flatMap { source in try? source.library.core.url(of: source.resource, in: source.asset) }
  }

  private var isHere: Bool { place.map { FileManager.default.isReadableFile(atPath: $0.path) } ?? false }
}

extension PHCollection {
  func storedValue(forKey key: String) -> Any? {
    switch key {
    case "localIdentifier": return localIdentifier
    case "title", "localizedTitle": return localizedTitle
    case "canContainAssets": return NSNumber(value: canContainAssets)
    case "canContainCollections": return NSNumber(value: canContainCollections)
    case "modificationDate": return modificationDate
    case "collection": return collection
    default:
      if let album = self as? PHAssetCollection { return album.ownValue(forKey: key) }
      if let folder = self as? PHCollectionList { return folder.ownValue(forKey: key) }
      undefined(key, of: "PHCollection")
    }
  }
}

extension PHAssetCollection {
  /// A property that other collections do not have.
  fileprivate func ownValue(forKey key: String) -> Any? {
    switch key {
    case "assetCollectionType": NSNumber(value: assetCollectionType.rawValue)
    case "assetCollectionSubtype": NSNumber(value: assetCollectionSubtype.rawValue)
    case "estimatedAssetCount": NSNumber(value: estimatedAssetCount)
    case "startDate": startDate
    case "endDate": endDate
    case "approximateLocation": approximateLocation
    case "localizedLocationNames": localizedLocationNames
    default: undefined(key, of: "PHAssetCollection")
    }
  }
}

extension PHCollectionList {
  /// A property that other collections do not have.
  fileprivate func ownValue(forKey key: String) -> Any? {
    switch key {
    case "collectionListType": NSNumber(value: collectionListType.rawValue)
    case "collectionListSubtype": NSNumber(value: collectionListSubtype.rawValue)
    case "startDate": startDate
    case "endDate": endDate
    case "localizedLocationNames": localizedLocationNames
    default: undefined(key, of: "PHCollectionList")
    }
  }
}

private func undefined(_ key: String, of type: String) -> Never {
  fatalError("\(type).value(forKey:) has no value for the key '\(key)'; its documentation lists the keys.")
}
