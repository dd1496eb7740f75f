// Identifiers that mean something in another library (CI-01 … CI-07).
//
// A local identifier is good in its own library. What two libraries on two disks can agree on is where an object was
// made first, and what it is made of:
//
//     5C0E…:91AB…:3f20c1…        library : object : SHA-256 of the original, for an asset
//     └────── record ──────┘     └─ content ─┘
//
// Mapping back looks for the record first: an object of this very library, or one that came with that identifier as its
// origin. Then, unless it is told not to (CI-04), for an asset with equal content. All of it sees no more than the
// client does. Apple's cloud is not needed and not asked (CI-05).

/// Names an object across libraries (PHCloudIdentifier).
public struct CloudIdentifier: Sendable, Hashable, Codable {
  /// The library in which the object was made first.
  let library: LocalIdentifier
  /// The object's identity there.
  let object: LocalIdentifier
  /// The SHA-256 of the asset's original, 32 bytes; nil for a collection, and where it is not known (CI-07).
  let content: [UInt8]?

  init(library: LocalIdentifier, object: LocalIdentifier, content: [UInt8]?) {
    (self.library, self.object, self.content) = (library, object, content)
  }

  /// Reads the spelling of an identifier; nil if it is none.
  public init?(archivalStringValue text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, let library = LocalIdentifier(parts[0]), let object = LocalIdentifier(parts[1]) else {
      return nil
    }
    var content: [UInt8]?
    if !parts[2].isEmpty {
      guard let bytes = Self.bytes(hexadecimal: parts[2]) else { return nil }
      content = bytes
    }
    self.init(library: library, object: object, content: content)
  }

  private static func bytes(hexadecimal digits: Substring) -> [UInt8]? {
    let values = digits.utf8.compactMap { digit -> UInt8? in
      switch digit {
      case 48...57: digit - 48
      case 97...102: digit - 87
      default: nil
      }
    }
    guard values.count == 64, digits.utf8.count == 64 else { return nil }
    return (0..<32).map { values[2 * $0] << 4 | values[2 * $0 + 1] }
  }

  /// The spelling, to be kept and read back (PHCloudIdentifier.archivalStringValue).
  public var archivalStringValue: String { stringValue }

  /// The spelling (PHCloudIdentifier.stringValue).
  public var stringValue: String { "\(record):\(content?.hexadecimal ?? "")" }

  /// What names the object without its content.
  var record: String { "\(library.uuidString):\(object.uuidString)" }

  /// Reads the spelling from a single value.
  /// - Throws: what the decoder throws; ``LibraryError`` `.malformedRequest` for another text.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let identifier = CloudIdentifier(archivalStringValue: text) else {
      throw LibraryError(.malformedRequest, "'\(text.prefix(120))' is no identifier across libraries.")
    }
    self = identifier
  }

  /// Writes the spelling as a single value.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(stringValue)
  }
}

extension PhotoLibrary {
  /// What local identifiers are across libraries (PHPhotoLibrary.cloudIdentifierMappings(forLocalIdentifiers:), CI-01).
  /// - Parameters:
  ///   - identifiers: local identifiers in any spelling; ask for many at once (CI-06).
  ///   - showsTrash: whether an asset in the trash is there.
  /// - Returns: one entry for each, with `.identifierNotFound` for what is none or not for this client's eyes (CI-02).
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

  /// What identifiers across libraries are here (PHPhotoLibrary.localIdentifierMappings(for:), CI-01, CI-03).
  /// - Parameters:
  ///   - identifiers: from this library or another; ask for many at once (CI-06).
  ///   - syncedOnly: whether equal content is no reason to take an asset for the same (CI-04).
  ///   - showsTrash: whether an asset in the trash is there.
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
        LibraryError(.identifierNotFound, "The library has nothing for the identifier \(identifier.stringValue)."))
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
      // What the client cannot see is for it as though it were not there: it is looked for like any other.
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

  /// The row of an asset that is there for a client; nil if it is not.
  private func row(
    of number: ObjectNumber, _ access: Access, _ showsTrash: Bool, _ t: borrowing StoreReading
  ) throws -> AssetRow? {
    guard try store.shows(number, to: access, at: moment, t), let row = try store.assetRow(number, at: sequence, t),
      showsTrash || !row.isTrashed
    else { return nil }
    return row
  }
}
