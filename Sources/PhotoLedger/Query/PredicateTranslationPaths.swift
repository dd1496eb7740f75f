/// The key paths of the public values that predicates and sort descriptors may use.
package enum PropertyPath {
  /// The key that a path reads; nil if a fetch does not know the path.
  static func key(of path: AnyKeyPath) -> PropertyKey? { keys[path] }

  // Guarded by: never written after its first use, and the paths in it capture nothing.
  private nonisolated(unsafe) static let keys: [AnyKeyPath: PropertyKey] = {
    var keys: [AnyKeyPath: PropertyKey] = [:]
    for property in AssetProperty.all {
      if let key = property.propertyKey { for path in property.paths { keys[path] = key } }
    }
    for property in CollectionProperty.all {
      if let key = property.key { for path in property.paths { keys[path] = key } }
    }
    return keys
  }()

  /// The key that a path of ``Location`` reads.
  static func placeKey(of path: AnyKeyPath) -> PropertyKey? {
    if path == \Location.latitude { return .latitude }
    if path == \Location.longitude { return .longitude }
    if path == \Location.altitude { return .altitude }
    return nil
  }

  /// Whether a path reads the number of an enumeration or a bit set, which a row holds already.
  static func isRawValue(_ path: AnyKeyPath) -> Bool {
    path == \MediaType.rawValue || path == \MediaSubtypes.rawValue || path == \PlaybackStyle.rawValue
      || path == \SourceTypes.rawValue || path == \PhotoCollection.Kind.rawValue || path == \AlbumSubtype.rawValue
      || path == \AssetRating.rawValue || path == \BurstSelectionTypes.rawValue
      || path == \AdjustmentsState.rawValue || path == \PlaybackVariation.rawValue
      || path == \OriginalResourceChoice.rawValue
  }

  /// Whether a path asks if a text or a bit set is empty.
  static func isEmptiness(_ path: AnyKeyPath) -> Bool {
    path == \String.isEmpty || path == \MediaSubtypes.isEmpty || path == \SourceTypes.isEmpty
      || path == \BurstSelectionTypes.isEmpty
  }

  /// The path as written; if Swift knows only an address, the type and the kind of the property.
  package static func name(of path: AnyKeyPath) -> String {
    let text = "\(path)"
    guard text.contains("<computed") else { return text }
    return "a property of \(type(of: path).rootType) of type \(type(of: path).valueType)"
  }
}
