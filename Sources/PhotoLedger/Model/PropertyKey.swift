/// The kinds of object that a fetch returns.
public enum Entity: Hashable, Sendable {
  /// Assets (PHAsset).
  case asset
  /// Albums and folders (PHCollection and its two subclasses).
  case collection

  var plural: String {
    switch self {
    case .asset: "assets"
    case .collection: "collections"
    }
  }
}

/// A property that predicates and sort terms may name (photokit a.9, and the library's own).
///
/// The raw value is the canonical spelling. PhotoKit's other spellings are aliases, see ``init(spelled:for:)``.
public enum PropertyKey: String, Hashable, Sendable, CaseIterable {
  /// The identity of the object, in any of its spellings; it has no order.
  case localIdentifier
  /// The instant of capture, or at which a collection was made.
  case creationDate
  /// The instant of the last change.
  case modificationDate

  // Assets only.

  /// The instant of the commit that added the asset.
  case addedDate
  /// The wall time as the camera wrote it, as though it were UTC.
  case localCreationDate
  /// The instant at which the asset was moved to the trash.
  case trashedDate
  /// The kind of medium, as the number of ``MediaType``.
  case mediaType
  /// The bits of ``MediaSubtypes``.
  case mediaSubtypes
  /// How the asset is played, as the number of ``PlaybackStyle``.
  case playbackStyle
  /// The bits of ``SourceTypes``.
  case sourceType
  /// The length in seconds; 0 for photos.
  case duration
  /// The width in pixels as displayed; 0 if unknown.
  case pixelWidth
  /// The height in pixels as displayed; 0 if unknown.
  case pixelHeight
  /// Whether the asset is a favourite.
  case isFavorite
  /// Whether the asset is hidden.
  case isHidden
  /// Whether the asset lies in the trash.
  case isTrashed
  /// What the members of one burst share.
  case burstIdentifier
  /// Whether the asset represents its burst.
  case representsBurst
  /// The asset on top of the asset's stack, itself or another; it has no order.
  case stack
  /// Whether another asset is on top of the asset's stack.
  case isBeneathStack
  /// The number of stars; 0 if none were given.
  case rating
  /// The bits of ``BurstSelectionTypes``.
  case burstSelectionTypes
  /// Whether the content was edited.
  case hasAdjustments
  /// Who edited the content, as the number of ``AdjustmentsState``.
  case adjustmentsState
  /// The instant of the last edit of the content.
  case adjustmentTimestamp
  /// How the asset is varied when it is played, as the number of ``PlaybackVariation``.
  case playbackVariation
  /// Which original is shown, as the number of ``OriginalResourceChoice``.
  case originalResourceChoice
  /// Whether some original is a RAW file.
  case isRaw
  /// Whether the picture was taken with the camera on the screen's side.
  case isSelfPortrait
  /// Degrees north of the equator.
  case latitude
  /// Degrees east of Greenwich.
  case longitude
  /// Metres above sea level.
  case altitude
  /// The offset from UTC that the camera wrote, in seconds.
  case timeZoneOffset

  // Assets only, and not in their rows: a fetch by one of these reads the details of the assets that its other
  // conditions admit, and cannot be sorted by it.

  /// The name of the first original file.
  case originalFilename
  /// The bytes of the first original file.
  case dataSize
  /// The absolute path of the first original file, if it is a referenced one.
  case path
  /// What is written about the asset.
  case caption
  /// Its keywords; a comparison holds if it holds for one of them.
  case keywords
  /// The title that its files name.
  case fileTitle
  /// The people that its files name; a comparison holds if it holds for one of them.
  case people
  /// The maker of the camera.
  case cameraMake
  /// The model of the camera.
  case cameraModel
  /// The lens.
  case lens
  /// The focal length in millimetres.
  case focalLength
  /// The aperture as its f-number.
  case aperture
  /// The exposure time in seconds.
  case exposureTime
  /// The sensitivity by ISO 12232.
  case iso

  // Collections only.

  /// The title of the collection.
  case localizedTitle
  /// Always missing (FR-15).
  case startDate
  /// Always missing (FR-15).
  case endDate
  /// The number of assets that an ordinary fetch in the album shows.
  case estimatedAssetCount
  /// Album, folder or smart album, as the number of ``PhotoCollection/Kind``.
  case kind
  /// The subtype of an album, as the number of ``AlbumSubtype``; missing for a folder.
  case albumSubtype
  /// Whether the collection is an album.
  case canContainAssets
  /// Whether the collection is a folder.
  case canContainCollections

  /// What the values of a key are.
  public enum ValueKind: Hashable, Sendable {
    /// True or false.
    case bool
    /// A whole number; enumerations and bit sets count as their raw values.
    case integer
    /// A finite number.
    case double
    /// An instant.
    case date
    /// Unicode text.
    case text
    /// The identity of an object.
    case identifier
  }

  /// What the values are.
  public var valueKind: ValueKind {
    guard let kind = ofAssets?.valueKind ?? ofCollections?.valueKind else {
      preconditionFailure("No declaration has the key \(rawValue).")
    }
    return kind
  }

  /// Whether an object may lack the property.
  public var mayBeNil: Bool { ofAssets?.mayBeNil ?? false || ofCollections?.mayBeNil ?? false }

  /// Whether the property is a detail of an asset, which its row does not hold; a fetch cannot be sorted by it.
  public var isDetail: Bool { ofAssets?.isDetail ?? false }

  /// Whether a fetch can be sorted by the property: it has an order, and rows hold it.
  var isSortable: Bool { valueKind != .identifier && !isDetail }

  /// Whether the property has several values, of which one has to fit.
  public var hasSeveralValues: Bool { ofAssets?.hasSeveralValues ?? false }

  /// Whether objects of the kind have the property.
  public func isValid(for entity: Entity) -> Bool { entity == .asset ? ofAssets != nil : ofCollections != nil }
}

// MARK: - What the declarations say

extension PropertyKey {
  private var ofAssets: AssetProperty? { AssetProperty.named(self) }
  private var ofCollections: CollectionProperty? { CollectionProperty.named(self) }

  /// The key that has a spelling; nil if none has.
  package static func key(spelled spelling: String) -> PropertyKey? { Self(rawValue: spelling) ?? aliases[spelling] }

  private static let aliases: [String: PropertyKey] = {
    var aliases: [String: PropertyKey] = [:]
    func add(_ spellings: [String], of key: PropertyKey) {
      for alias in spellings {
        precondition(
          PropertyKey(rawValue: alias) == nil && (aliases[alias] ?? key) == key,
          "The spelling \(alias) stands for two keys.")
        aliases[alias] = key
      }
    }
    for property in AssetProperty.all { if let key = property.propertyKey { add(property.aliases, of: key) } }
    for property in CollectionProperty.all { if let key = property.key { add(property.aliases, of: key) } }
    return aliases
  }()
}

extension AssetProperty {
  /// What a query takes the values for; only for a property with a key.
  var valueKind: PropertyKey.ValueKind {
    switch form {
    case .identifier, .stack: .identifier
    case .flag, .clearFlag, .isChosen, .isPresent, .isBeneathStack: .bool
    case .flags, .choice, .bits, .size, .zoneOffset: .integer
    case .seconds, .coordinate: .double
    case .date: .date
    case .burst: .text
    case .measure: .double
    case .text, .texts: .text
    case .location, .record:
      preconditionFailure("A query cannot ask for the property \(name) of an asset.")
    }
  }
}
