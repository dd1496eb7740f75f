public import PhotoLedger

/// What a client wants to have picked (PHPickerConfiguration, photokit a.8).
public struct PickerConfiguration: Sendable, Hashable {
  /// The selection mode (PHPickerConfiguration.Selection, PK-05).
  public enum Selection: Int, Sendable, Hashable, CaseIterable, Codable {
    /// The result comes at the end, in the library's order.
    case `default` = 0
    /// The result comes at the end, in the order of picking.
    case ordered = 1
    /// A result comes after each tap, in the library's order.
    case continuous = 2
    /// A result comes after each tap, in the order of picking.
    case continuousAndOrdered = 3

    /// Whether results keep the order of picking.
    public var isOrdered: Bool { self == .ordered || self == .continuousAndOrdered }
    /// Whether a result comes after each tap.
    public var isContinuous: Bool { self == .continuous || self == .continuousAndOrdered }
  }

  /// Which assets are offered; nil: all (PK-03).
  public var filter: PickerFilter?
  /// The most assets that can be picked, those selected beforehand among them; 0: any number (PK-03).
  public var selectionLimit = 1
  /// The selection mode (PK-05).
  public var selection = Selection.default
  /// The assets that are selected when the session begins (PK-04); only for a configuration made with a library.
  public var preselectedAssetIdentifiers: [String] = []
  /// In what form picked items are loaded unless the caller of the loading says otherwise (PK-07).
  public var preferredRepresentation = AssetRepresentation.automatic
  /// What is taken out of the bytes of picked items before they are handed out.
  public var metadataOptions: PickerMetadataOptions = []

  /// Whether the configuration was made with a library, so that results name their assets (PK-02).
  public let namesAssets: Bool
  /// The mark of the library that the configuration was made with.
  let library: UInt64?

  /// A configuration for one asset; results do not identify it (PK-02).
  public init() { (namesAssets, library) = (false, nil) }

  /// A configuration for one asset of a library; results identify it (PK-02).
  /// - Parameter library: the library of the session, in any client's view.
  public init(library: PhotoLibrary) { (namesAssets, self.library) = (true, library.store.core.mark) }

  /// Refuses what no session can do.
  /// - Throws: ``LibraryError`` `.malformedRequest`, `.limitExceeded`.
  func check(for library: UInt64) throws {
    try Self.check(limit: selectionLimit)
    guard self.library == nil || self.library == library else {
      throw LibraryError(
        .malformedRequest, "The configuration was created with another library; create it with this one.")
    }
    guard preselectedAssetIdentifiers.isEmpty || namesAssets else {
      throw LibraryError(
        .malformedRequest,
        "A preselection needs a configuration created with a library: PickerConfiguration(library:).")
    }
    // Counts the identifiers as passed: the number of existing ones must not be revealed to the client.
    let count = Set(preselectedAssetIdentifiers.compactMap { LocalIdentifier($0) }).count
    guard selectionLimit == 0 || count <= selectionLimit else {
      throw LibraryError(
        .limitExceeded, "\(count) assets are preselected, but the selection limit is \(selectionLimit).")
    }
  }

  static func check(limit: Int) throws {
    guard limit >= 0 else {
      throw LibraryError(.malformedRequest, "A selection limit must be 0 (any number) or more; got \(limit).")
    }
  }
}

/// What a client changes about a session while it is open (PHPickerConfiguration.Update).
public struct PickerUpdate: Sendable, Hashable {
  /// The most assets that can be picked; 0: any number; nil: as before. What is selected already stays selected, and a
  /// session with too many cannot be finished.
  public var selectionLimit: Int?

  /// Changes nothing yet.
  public init(selectionLimit: Int? = nil) { self.selectionLimit = selectionLimit }
}

/// In what form the bytes of a picked item are wanted (PHPickerConfiguration.AssetRepresentationMode, PK-07).
public enum AssetRepresentation: Int, Sendable, Hashable, CaseIterable, Codable {
  /// Compatible where the bytes are so already or can be converted, current otherwise.
  case automatic = 0
  /// The bytes of the current version, as they are stored.
  case current = 1
  /// Bytes that nearly every program reads: JPEG, PNG, GIF, and H.264 in MPEG-4 or QuickTime files.
  case compatible = 2
}
