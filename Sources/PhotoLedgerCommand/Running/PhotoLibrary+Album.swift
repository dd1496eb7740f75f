import PhotoLedger

extension PhotoLibrary {
  /// The album or smart album with an identifier.
  /// - Throws: ``LibraryError`` `.identifierNotFound` if there is none, `.changeNotSupported` for a folder.
  func album(_ identifier: String) throws -> PhotoCollection {
    guard let collection = try collection(identifier) else {
      throw LibraryError(.identifierNotFound, "The library has no album '\(identifier)'; `albums` lists them.")
    }
    guard collection.canContainAssets else {
      throw LibraryError(.changeNotSupported, "'\(identifier)' is a folder, not an album; `albums` lists both.")
    }
    return collection
  }
}
