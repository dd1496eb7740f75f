public import PhotoLedger

// A picked asset, as the client receives it.
//
// An item is a value that can be written down and used in another process. What it says of itself permits nothing: the
// token names a place in a recorded pick, and loading looks whether the pick was this client's and still has the asset
// there.
//
//     p1.TOKEN.KEY      TOKEN names the commit of the pick as the client may know it (Model/Token.swift),
//                       KEY the place in the pick, in base 36
//     o1.UUID           an asset that the library's owner picked for itself: it has full access, and no picks
//     ….FORM            in what form it is loaded, such as current-location, unless that is the usual one
//
// The form is that of the session's configuration, so that a token alone, in a URL or in another process, gives the
// same bytes as the item of the session did. What is taken out of the bytes for a client is part of its recorded pick,
// which the client cannot alter; an owner's token has it in the form.
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
    preferredRepresentation = token.form.representation
    metadataOptions = withheld.union(token.form.metadataOptions)
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
struct ItemToken: Hashable, Sendable, CustomStringConvertible {
  /// What the item is.
  enum Place: Hashable, Sendable {
    case given(Token, OrderKey)
    case own(LocalIdentifier)
  }

  let place: Place
  let form: ItemForm

  init(_ place: Place, _ form: ItemForm = ItemForm()) { (self.place, self.form) = (place, form) }

  var description: String {
    let parts =
      switch place {
      case .given(let token, let key): ["p1", "\(token)", String(key.rawValue, radix: 36)]
      case .own(let identifier): ["o1", identifier.uuidString]
      }
    return (parts + (form == ItemForm() ? [] : [form.description])).joined(separator: ".")
  }

  /// - Throws: ``LibraryError`` `.invalidToken`.
  init(_ text: String) throws {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let count = parts[0] == "p1" ? 3 : 2
    if parts.count == count || parts.count == count + 1,
      let form = parts.count == count ? ItemForm() : ItemForm(parts[count]), let place = Self.place(parts[..<count])
    {
      (self.place, self.form) = (place, form)
    } else {
      throw LibraryError(
        .invalidToken, "'\(text.prefix(120))' is not a valid token of a picked item; pass one unaltered.")
    }
  }

  private static func place(_ parts: ArraySlice<Substring>) -> Place? {
    if parts.count == 3, parts[0] == "p1", let token = try? Token(parts[1]), (1...13).contains(parts[2].utf8.count),
      // In its one spelling, without a plus sign, zeros in front, and capitals.
      let key = UInt64(parts[2], radix: 36), String(key, radix: 36) == parts[2]
    {
      return .given(token, OrderKey(rawValue: key))
    }
    guard parts.count == 2, parts[0] == "o1" else { return nil }
    return LocalIdentifier(parts[1]).map { .own($0) }
  }
}

/// In what form an item is loaded unless the caller of the loading says otherwise.
struct ItemForm: Hashable, Sendable, CustomStringConvertible {
  let representation: AssetRepresentation
  /// What is taken out of the bytes. An app's set may hold bits that mean nothing here; a recorded pick that had them
  /// could not be read again.
  let metadataOptions: PickerMetadataOptions

  init(_ representation: AssetRepresentation = .automatic, without metadataOptions: PickerMetadataOptions = []) {
    (self.representation, self.metadataOptions) = (representation, metadataOptions.intersection(.all))
  }

  /// The representation, and what is taken out, with hyphens between them; without what is usual.
  var description: String {
    ((representation == .automatic ? [] : ["\(representation)"]) + metadataOptions.names).joined(separator: "-")
  }

  /// Reads a form that is not the usual one; nil for any other text, so that a form has one spelling.
  init?(_ text: Substring) {
    for representation in AssetRepresentation.allCases {
      for bits in 0..<4 {
        let form = ItemForm(representation, without: PickerMetadataOptions(rawValue: bits))
        guard form != ItemForm(), form.description == text else { continue }
        self = form
        return
      }
    }
    return nil
  }
}
