import Foundation
import LMDB

extension PhotoLibrary {
  /// Maps local identifiers to cloud identifiers (PHPhotoLibrary.cloudIdentifierMappings(forLocalIdentifiers:), CI-01).
  /// - Parameters:
  ///   - identifiers: local identifiers in any form; pass many at once (CI-06).
  ///   - showsTrash: whether assets in the trash are included.
  /// - Returns: one entry for each, with `.identifierNotFound` for invalid ones and for objects that this client cannot
  ///   see (CI-02).
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(m log n) for m identifiers.
  public func cloudIdentifierMappings(
    forLocalIdentifiers identifiers: [String], showsTrash: Bool = true
  ) throws -> [String: Result<CloudIdentifier, LibraryError>] {
    try askIfNeeded()
    return try store.reading { t in
      let access = try permission(t).access
      var mappings: [String: Result<CloudIdentifier, LibraryError>] = [:]
      for identifier in identifiers where mappings[identifier] == nil {
        mappings[identifier] =
          try cloudIdentifier(of: identifier, access, showsTrash, t).map { .success($0) }
          ?? .failure(
            LibraryError(.identifierNotFound, "The library has no object with the identifier \(identifier.prefix(80)).")
          )
      }
      return mappings
    }
  }

  private func cloudIdentifier(
    of identifier: String, _ access: Access, _ showsTrash: Bool, _ t: borrowing StoreReading
  ) throws -> CloudIdentifier? {
    guard let local = LocalIdentifier(identifier), let object = try store.object(local, at: moment, t) else {
      return nil
    }
    guard object.isAsset else {
      guard let row = try store.collectionRow(object.number, at: sequence, t), row.deletedDate == nil,
        access.shows(row)
      else { return nil }
      return CloudIdentifier(library: store.core.identifier, object: local, content: nil)
    }
    guard try row(of: object.number, access, showsTrash, t) != nil,
      let details = try store.assetDetails(object.number, at: sequence, t)
    else { return nil }
    if let origin = details.origin.flatMap({ CloudIdentifier(archivalStringValue: $0) }) { return origin }
    return CloudIdentifier(
      library: store.core.identifier, object: local, content: details.resources.original(.compressed)?.sha256)
  }

  /// Maps cloud identifiers to local identifiers (PHPhotoLibrary.localIdentifierMappings(for:), CI-01, CI-03).
  /// - Parameters:
  ///   - identifiers: from this library or another; pass many at once (CI-06).
  ///   - syncedOnly: whether assets are not matched by equal content (CI-04).
  ///   - showsTrash: whether assets in the trash are included.
  /// - Returns: one entry for each, with `.identifierNotFound` (CI-02), or `.multipleIdentifiersFound` whose
  ///   ``LibraryError/localIdentifiers`` are the matches (CI-03).
  /// - Throws: ``LibraryError`` if the store cannot be read.
  /// - Complexity: O(m log n) for m identifiers and matches.
  public func localIdentifierMappings(
    for identifiers: [CloudIdentifier], syncedOnly: Bool = false, showsTrash: Bool = true
  ) throws -> [CloudIdentifier: Result<String, LibraryError>] {
    try askIfNeeded()
    return try store.reading { t in
      let access = try permission(t).access
      var mappings: [CloudIdentifier: Result<String, LibraryError>] = [:]
      for identifier in identifiers where mappings[identifier] == nil {
        var found = try recorded(identifier, access, showsTrash, t)
        if found.isEmpty, !syncedOnly { found = try equal(identifier, access, showsTrash, t) }
        mappings[identifier] = Self.mapping(of: identifier, to: found)
      }
      return mappings
    }
  }

  private static func mapping(
    of identifier: CloudIdentifier, to found: [String]
  ) -> Result<String, LibraryError> {
    if found.count == 1 { return .success(found[0]) }
    if found.isEmpty {
      return .failure(
        LibraryError(.identifierNotFound, "The library has no object for the identifier \(identifier.stringValue)."))
    }
    var error = LibraryError(
      .multipleIdentifiersFound, "\(found.count) assets have the content of \(identifier.stringValue); choose one.")
    error.localIdentifiers = found
    return .failure(error)
  }

  /// The object of this very library, or those that came with the identifier.
  private func recorded(
    _ identifier: CloudIdentifier, _ access: Access, _ showsTrash: Bool, _ t: borrowing StoreReading
  ) throws -> [String] {
    if identifier.library == store.core.identifier, let object = try store.object(identifier.object, at: moment, t) {
      if object.isAsset, try row(of: object.number, access, showsTrash, t) != nil {
        return [identifier.object.spelled(as: .asset)]
      }
      if let row = try store.collectionRow(object.number, at: sequence, t), row.deletedDate == nil, access.shows(row) {
        return [identifier.object.spelled(as: row.objectKind)]
      }
      // Objects that the client cannot see appear not to exist: they are looked up like any other.
    }
    return try spellings(try store.assets(withOrigin: identifier.record, at: moment, t), access, showsTrash, t)
  }

  private func equal(
    _ identifier: CloudIdentifier, _ access: Access, _ showsTrash: Bool, _ t: borrowing StoreReading
  ) throws -> [String] {
    guard let content = identifier.content else { return [] }
    return try spellings(try store.assets(withContent: content, at: moment, t), access, showsTrash, t)
  }

  private func spellings(
    _ numbers: [ObjectNumber], _ access: Access, _ showsTrash: Bool, _ t: borrowing StoreReading
  ) throws -> [String] {
    try numbers.compactMap { try row(of: $0, access, showsTrash, t)?.identifier.spelled(as: .asset) }
  }

  /// The row of an asset that a client can see; nil otherwise.
  private func row(
    of number: ObjectNumber, _ access: Access, _ showsTrash: Bool, _ t: borrowing StoreReading
  ) throws -> AssetRow? {
    guard try store.shows(number, to: access, at: sequence, t), let row = try store.assetRow(number, at: sequence, t),
      showsTrash || !row.isTrashed
    else { return nil }
    return row
  }
}
