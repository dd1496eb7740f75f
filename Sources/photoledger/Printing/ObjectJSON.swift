import PhotoLedger

// Objects of the library as JSON. Keys are spelled as PhotoKit spells the property, and are always all there: what an
// object lacks is null. Enumerations are given by the names of their cases, sets of bits as lists of names; stars are a
// number, 0 without a rating.

extension PhotoLibrary {
  /// An asset with its files and the words about it.
  func json(of asset: Asset) throws -> JSON {
    JSON(asset, try resources(of: asset), try extendedMetadata(of: asset))
  }
}

extension JSON {
  /// An asset with its resources and the words about it.
  fileprivate init(_ asset: Asset, _ resources: [AssetResource], _ metadata: ExtendedMetadata) {
    self = .object(
      Self.basics(of: asset) + Self.edits(of: asset, metadata) + [
        Member("rating", .integer(Int64(asset.rating.rawValue))),
        Member("caption", JSON(metadata.caption)),
        Member("keywords", .list(metadata.keywords.map { .text($0) })),
        Member("origin", JSON(metadata.origin?.stringValue)),
        Member("resources", .list(resources.map { JSON($0) })),
      ])
  }

  private static func basics(of asset: Asset) -> [Member] {
    let members: JSON = [
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
      "isErased": .bool(asset.isErased),
      "sourceType": .list(asset.sourceType.names.map { .text($0) }),
      "burstIdentifier": JSON(asset.burstIdentifier),
      "representsBurst": .bool(asset.representsBurst),
      "burstSelectionTypes": .list(asset.burstSelectionTypes.names.map { .text($0) }),
    ]
    return members.objectValue ?? []
  }

  private static func edits(of asset: Asset, _ metadata: ExtendedMetadata) -> [Member] {
    let members: JSON = [
      "hasAdjustments": .bool(asset.hasAdjustments),
      "adjustmentsState": .text("\(asset.adjustmentsState)"),
      "adjustmentTimestamp": JSON(asset.adjustmentTimestamp.map { DateText.instant($0) }),
      "adjustmentFormatIdentifier": JSON(metadata.adjustmentFormatIdentifier),
      "adjustmentFormatVersion": JSON(metadata.adjustmentFormatVersion),
      "originalResourceChoice": .text("\(asset.originalResourceChoice)"),
      "playbackVariation": .text("\(asset.playbackVariation)"),
      "isLivePhotoVideoPlaybackEnabled": .bool(asset.isLivePhotoVideoPlaybackEnabled),
      "isRaw": .bool(asset.isRaw),
      "isSelfPortrait": .bool(asset.isSelfPortrait),
    ]
    return members.objectValue ?? []
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

  /// An album, smart album or folder; how many assets a smart album shows is known when it is fetched.
  init(_ collection: PhotoCollection) {
    self = [
      "localIdentifier": .text(collection.localIdentifier),
      "kind": .text("\(collection.kind)"),
      "albumSubtype": JSON(collection.albumSubtype?.name),
      "localizedTitle": JSON(collection.localizedTitle),
      "estimatedAssetCount": collection.kind == .smartAlbum
        ? .null : .integer(Int64(collection.estimatedAssetCount)),
      "predicate": JSON(collection.smartAlbumPredicate),
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
