public import PhotoLedger

// A picked asset, as the client receives it.
//
// An item is a value that can be written down and used in another process. What it says of itself decides nothing: the
// token names a place in a recorded pick, and loading looks whether the pick was this client's and still has the asset
// there.
//
//     p1.TOKEN.KEY      TOKEN names the commit of the pick as the client may know it (History/Token.swift),
//                       KEY the place in the pick, in base 36
//     o1.UUID           an asset that the library's owner picked for itself: it sees everything, and has no picks
//
// Rejected: the number of the pick, which would reveal to the client how much happened in the library. The token counts
// the client's own revisions, and the key only the preceding items.

/// An asset that a person picked for a client (PHPickerResult and PhotosPickerItem, photokit a.8).
///
/// It is archivable: the client can load it later, in another process, with
/// ``PhotoLibrary/load(_:options:)``.
public struct PickedItem: Sendable, Hashable, Codable {
  /// The identifier of the asset, as ``Asset/localIdentifier`` spells it; nil unless the configuration was made with a
  /// library (PK-02).
  public let assetIdentifier: String?
  /// The kinds of data that the item could be loaded as when it was picked, the preferred one first: uniform type
  /// identifiers. Empty for an item that cannot be loaded.
  public let supportedContentTypes: [String]
  /// The token for loading the item, as opaque text. Nil for preselected assets (PK-04).
  public let token: String?
  /// The default representation.
  public let preferredRepresentation: AssetRepresentation
  /// What is taken out of its bytes whenever it is loaded.
  public let metadataOptions: PickerMetadataOptions

  /// Whether the item brings its bytes. One that was selected beforehand does not: the caller has it from an earlier
  /// result, and merges (PK-04).
  public var isLoadable: Bool { token != nil }

  init(_ entry: PickedEntry, _ configuration: PickerConfiguration) {
    assetIdentifier = configuration.namesAssets ? entry.identifier.spelled(as: .asset) : nil
    supportedContentTypes = entry.contentTypes
    token = entry.token
    preferredRepresentation = configuration.preferredRepresentation
    metadataOptions = configuration.metadataOptions.union(entry.withheld)
  }

  init(preselected identifier: LocalIdentifier, _ configuration: PickerConfiguration) {
    self.init(PickedEntry(identifier: identifier, number: 0), configuration)
  }

  init(token: ItemToken, types: [String], withheld: PickerMetadataOptions) {
    assetIdentifier = nil
    supportedContentTypes = types
    self.token = token.description
    preferredRepresentation = .automatic
    metadataOptions = withheld
  }
}

/// How a picked item is to be loaded.
public struct PickedItemOptions: Sendable {
  /// The uniform type identifier of the data that is wanted, one of ``PickedItem/supportedContentTypes``; nil: the
  /// preferred one.
  public var contentType: String?
  /// The form; nil: the item's (PK-07).
  public var representation: AssetRepresentation?
  /// What is taken out of the bytes beside what the item says.
  public var metadataOptions: PickerMetadataOptions = []
  /// Called with the fraction of the bytes delivered, above 0 and ascending; 1 is passed once, last. A conversion
  /// before the first byte is not counted.
  public var progressHandler: (@Sendable (Double) -> Void)?

  /// Creates options for the preferred representation.
  public init() {}
}

/// The reference of a picked item.
enum ItemToken: Hashable, Sendable, CustomStringConvertible {
  case given(Token, OrderKey)
  case own(LocalIdentifier)

  var description: String {
    switch self {
    case .given(let token, let key): "p1.\(token).\(String(key.rawValue, radix: 36))"
    case .own(let identifier): "o1.\(identifier.uuidString)"
    }
  }

  /// - Throws: ``LibraryError`` `.invalidToken`.
  init(_ text: String) throws {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    if parts.count == 3, parts[0] == "p1", let token = try? Token(parts[1]), (1...13).contains(parts[2].utf8.count),
      let key = UInt64(parts[2], radix: 36)
    {
      self = .given(token, OrderKey(rawValue: key))
    } else if parts.count == 2, parts[0] == "o1", let identifier = LocalIdentifier(parts[1]) {
      self = .own(identifier)
    } else {
      throw LibraryError(
        .invalidToken, "'\(text.prefix(120))' is not a valid token of a picked item; pass one unaltered.")
    }
  }
}
