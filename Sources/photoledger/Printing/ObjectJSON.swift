import PhotoLedger

// Objects of the library as JSON. Keys are spelled as PhotoKit spells the property, and are always all there: what an
// object lacks is null. Enumerations are given by the names of their cases, sets of bits as lists of names.

extension JSON {
  /// An asset with its resources.
  init(_ asset: Asset, _ resources: [AssetResource]) {
    self = [
      "localIdentifier": .text(asset.localIdentifier),
      "mediaType": .text("\(asset.mediaType)"),
      "mediaSubtypes": .list(asset.mediaSubtypes.names.map { .text($0) }),
      "playbackStyle": .text("\(asset.playbackStyle)"),
      "pixelWidth": .integer(Int64(asset.pixelWidth)),
      "pixelHeight": .integer(Int64(asset.pixelHeight)),
      "duration": .number(asset.duration),
      "creationDate": JSON(asset.creationDate.map { DateText.instant($0, offset: asset.timeZoneOffset) }),
      "localCreationDate": JSON(asset.localCreationDate.map { DateText.wallTime($0) }),
      "addedDate": .text(DateText.instant(asset.addedDate)),
      "modificationDate": JSON(asset.modificationDate.map { DateText.instant($0) }),
      "trashedDate": JSON(asset.trashedDate.map { DateText.instant($0) }),
      "location": asset.location.map { JSON($0) } ?? .null,
      "isFavorite": .bool(asset.isFavorite),
      "isHidden": .bool(asset.isHidden),
      "burstIdentifier": JSON(asset.burstIdentifier),
      "representsBurst": .bool(asset.representsBurst),
      "resources": .list(resources.map { JSON($0) }),
    ]
  }

  /// A place on Earth.
  init(_ location: Location) {
    self = [
      "latitude": .number(location.latitude), "longitude": .number(location.longitude),
      "altitude": location.altitude.map { .number($0) } ?? .null,
    ]
  }

  /// A file of an asset.
  init(_ resource: AssetResource) {
    self = [
      "type": .text(resource.type.name),
      "originalFilename": .text(resource.originalFilename),
      "uniformTypeIdentifier": .text(resource.uniformTypeIdentifier),
      "dataSize": .integer(Int64(clamping: resource.dataSize)),
      "sha256": .text(resource.sha256Hex),
    ]
  }

  /// An album or folder.
  init(_ collection: PhotoCollection) {
    self = [
      "localIdentifier": .text(collection.localIdentifier),
      "kind": .text("\(collection.kind)"),
      "localizedTitle": JSON(collection.localizedTitle),
      "estimatedAssetCount": .integer(Int64(collection.estimatedAssetCount)),
      "creationDate": .text(DateText.instant(collection.creationDate)),
      "modificationDate": .text(DateText.instant(collection.modificationDate)),
    ]
  }

  /// A value of the log.
  init(_ value: LogValue) {
    self =
      switch value {
      case .null: .null
      case .bool(let value): .bool(value)
      case .integer(let value): .integer(value)
      case .double(let value): .number(value)
      case .text(let value): .text(value)
      case .date(let value): .text(DateText.instant(value))
      case .list(let values): .list(values.map { JSON($0) })
      case .object(let fields): .object(fields.map { Member($0.name, JSON($0.value)) })
      }
  }
}
