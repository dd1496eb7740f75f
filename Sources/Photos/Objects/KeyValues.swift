// Values by key. On Apple's systems every object answers `value(forKey:)`, and clients read properties by it that have
// no public name: the file name of an asset, the length of a resource, whether its bytes are here. They are here under
// the names by which clients ask, with the public properties. A number is an `NSNumber`, so that `as? Int64` and
// `as? Int` both work as they do there.
//
// What the core has a key for is in one table, `KeyedPath`: by it a value is read under every spelling of the key, and
// a sort descriptor is named. The cases that are left have no key there, or another name.

internal import PhotoLedger

extension PHAsset {
  func storedValue(forKey key: String) -> Any? {
    let original = resources.original(originalResourceChoice)
    switch key {
    case "filename", "originalFilename": return original?.originalFilename
    case "uniformTypeIdentifier": return original?.uniformTypeIdentifier
    case "fileSize": return original.map { NSNumber(value: Int64(clamping: $0.dataSize)) }
    case "location": return location
    case "contentType": return contentType
    case "extendedMetadata": return extendedMetadata
    case "adjustmentFormatIdentifier": return adjustmentFormatIdentifier
    case "asset": return asset
    default: return keyedValue(key, of: "PHAsset")
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
    switch (self, key) {
    case (_, "collection"): return collection
    case (let album as PHAssetCollection, "assetCollectionType"): return numbered(album.assetCollectionType)
    case (let album as PHAssetCollection, "assetCollectionSubtype"): return numbered(album.assetCollectionSubtype)
    case (let album as PHAssetCollection, "approximateLocation"): return album.approximateLocation
    case (let album as PHAssetCollection, "localizedLocationNames"): return album.localizedLocationNames
    case (let folder as PHCollectionList, "collectionListType"): return numbered(folder.collectionListType)
    case (let folder as PHCollectionList, "collectionListSubtype"): return numbered(folder.collectionListSubtype)
    case (let folder as PHCollectionList, "localizedLocationNames"): return folder.localizedLocationNames
    case (is PHAssetCollection, _): return keyedValue(key, of: "PHAssetCollection")
    case (is PHCollectionList, _): return keyedValue(key, of: "PHCollectionList")
    default: return keyedValue(key, of: "PHCollection")
    }
  }
}

extension PHObject {
  /// The value for a spelling of a key that the core has; traps for any other name.
  fileprivate func keyedValue(_ spelling: String, of type: String) -> Any? {
    // Only queries spell a property so.
    let isOfQueries = ["SELF", "self", "albumSubtype"].contains(spelling)
    if !isOfQueries, let wanted = PropertyKey.key(spelled: spelling) {
      for (path, key) in KeyedPath.keys where key == wanted {
        // Nil for a path of another class.
        if let value = self[keyPath: path] { return numbered(value) }
      }
    }
    undefined(spelling, of: type)
  }
}

/// A number, and that of a choice or of a set of bits, as an `NSNumber`; a date and a text as they are.
private func numbered(_ value: Any) -> Any? {
  switch value {
  case let value as Bool: NSNumber(value: value)
  case let value as Int: NSNumber(value: value)
  case let value as UInt: NSNumber(value: value)
  case let value as Double: NSNumber(value: value)
  case let value as any RawRepresentable: numbered(value.rawValue)
  case let value as Date: value
  case let value as String: value
  // A date or a text that is missing.
  default: nil
  }
}

private func undefined(_ key: String, of type: String) -> Never {
  fatalError("\(type).value(forKey:) has no value for the key '\(key)'; its documentation lists the keys.")
}

/// The properties that the core has a key for.
enum KeyedPath {
  /// The key of a property; where there is none, the property as it is written.
  static func key<Root: PHObject>(of path: PartialKeyPath<Root>) -> String {
    path == \Root.self ? "SELF" : keys[path]?.rawValue ?? PropertyPath.name(of: path)
  }

  // Guarded by: never written after its first use, and the paths in it capture nothing.
  fileprivate nonisolated(unsafe) static let keys: [AnyKeyPath: PropertyKey] = [
    \PHAsset.localIdentifier: .localIdentifier,
    \PHAsset.creationDate: .creationDate,
    \PHAsset.modificationDate: .modificationDate,
    \PHAsset.addedDate: .addedDate,
    \PHAsset.mediaType: .mediaType,
    \PHAsset.mediaSubtypes: .mediaSubtypes,
    \PHAsset.playbackStyle: .playbackStyle,
    \PHAsset.sourceType: .sourceType,
    \PHAsset.duration: .duration,
    \PHAsset.pixelWidth: .pixelWidth,
    \PHAsset.pixelHeight: .pixelHeight,
    \PHAsset.isFavorite: .isFavorite,
    \PHAsset.isHidden: .isHidden,
    \PHAsset.burstIdentifier: .burstIdentifier,
    \PHAsset.burstSelectionTypes: .burstSelectionTypes,
    \PHAsset.representsBurst: .representsBurst,
    \PHAsset.rating: .rating,
    \PHAsset.hasAdjustments: .hasAdjustments,
    \PHAsset.adjustmentsState: .adjustmentsState,
    \PHAsset.adjustmentTimestamp: .adjustmentTimestamp,
    \PHAsset.playbackVariation: .playbackVariation,
    \PHAsset.originalResourceChoice: .originalResourceChoice,
    \PHObject.localIdentifier: .localIdentifier,
    \PHCollection.localIdentifier: .localIdentifier,
    \PHCollection.localizedTitle: .localizedTitle,
    \PHCollection.modificationDate: .modificationDate,
    \PHCollection.canContainAssets: .canContainAssets,
    \PHCollection.canContainCollections: .canContainCollections,
    \PHAssetCollection.localIdentifier: .localIdentifier,
    \PHAssetCollection.localizedTitle: .localizedTitle,
    \PHAssetCollection.modificationDate: .modificationDate,
    \PHAssetCollection.canContainAssets: .canContainAssets,
    \PHAssetCollection.canContainCollections: .canContainCollections,
    \PHAssetCollection.startDate: .startDate,
    \PHAssetCollection.endDate: .endDate,
    \PHAssetCollection.estimatedAssetCount: .estimatedAssetCount,
    \PHAssetCollection.assetCollectionSubtype: .albumSubtype,
    \PHCollectionList.localIdentifier: .localIdentifier,
    \PHCollectionList.localizedTitle: .localizedTitle,
    \PHCollectionList.modificationDate: .modificationDate,
    \PHCollectionList.canContainAssets: .canContainAssets,
    \PHCollectionList.canContainCollections: .canContainCollections,
    \PHCollectionList.startDate: .startDate,
    \PHCollectionList.endDate: .endDate,
  ]
}
