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
  case localIdentifier
  case creationDate
  case modificationDate
  // Assets only.
  case addedDate
  case localCreationDate
  case trashedDate
  case mediaType
  case mediaSubtypes
  case playbackStyle
  case sourceType
  case duration
  case pixelWidth
  case pixelHeight
  case isFavorite
  case isHidden
  case isTrashed
  case burstIdentifier
  case representsBurst
  case rating
  case latitude
  case longitude
  case altitude
  case timeZoneOffset
  // Collections only.
  case localizedTitle
  case startDate
  case endDate
  case estimatedAssetCount
  case kind
  case canContainAssets
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

  /// Finds a key by any of its spellings.
  /// - Parameters:
  ///   - spelling: case counts, as in key-value coding.
  ///   - entity: the kind of object that has the key.
  /// - Throws: ``FetchError`` `unknownKey`, which lists the keys of the entity (FR-09).
  public init(spelled spelling: String, for entity: Entity) throws(FetchError) {
    guard let key = PropertyKey(rawValue: spelling) ?? Self.aliases[spelling], key.isValid(for: entity) else {
      throw .unknownKey(spelling, for: entity)
    }
    self = key
  }

  private static let aliases: [String: PropertyKey] = [
    "SELF": .localIdentifier, "self": .localIdentifier,
    "favorite": .isFavorite, "hidden": .isHidden, "trashed": .isTrashed,
    "mediaSubtype": .mediaSubtypes, "title": .localizedTitle,
  ]

  /// What the values are.
  public var valueKind: ValueKind {
    switch self {
    case .localIdentifier: .identifier
    case .creationDate, .modificationDate, .addedDate, .localCreationDate, .trashedDate, .startDate, .endDate: .date
    case .mediaType, .mediaSubtypes, .playbackStyle, .sourceType, .pixelWidth, .pixelHeight, .rating,
      .timeZoneOffset, .estimatedAssetCount, .kind:
      .integer
    case .duration, .latitude, .longitude, .altitude: .double
    case .isFavorite, .isHidden, .isTrashed, .representsBurst, .canContainAssets, .canContainCollections: .bool
    case .burstIdentifier, .localizedTitle: .text
    }
  }

  /// Whether an object may lack the property.
  public var mayBeNil: Bool {
    switch self {
    case .creationDate, .modificationDate, .localCreationDate, .trashedDate, .burstIdentifier, .latitude, .longitude,
      .altitude, .timeZoneOffset, .localizedTitle, .startDate, .endDate:
      true
    default: false
    }
  }

  /// Whether objects of the kind have the property.
  public func isValid(for entity: Entity) -> Bool {
    switch self {
    case .localIdentifier, .creationDate, .modificationDate: true
    case .localizedTitle, .startDate, .endDate, .estimatedAssetCount, .kind, .canContainAssets,
      .canContainCollections:
      entity == .collection
    default: entity == .asset
    }
  }
}
