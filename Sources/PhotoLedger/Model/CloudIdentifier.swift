// Identifiers that mean something in another library (CI-01 … CI-07).
//
// A local identifier is valid in its own library. Two libraries can agree on where an object was created first, and on
// its content:
//
//     5C0E…:91AB…:3f20c1…        library : object : SHA-256 of the original, for an asset
//     └────── record ──────┘     └─ content ─┘
//
// The reverse mapping searches for a recorded identity first: an object of this library, or one with that identifier as
// its origin. Then, unless disabled (CI-04), for an asset with equal content. It is limited to the client's view.
// Apple's cloud is not needed (CI-05).

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

  /// Parses the text form of an identifier; nil if it is invalid.
  public init?(archivalStringValue text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, let library = LocalIdentifier(parts[0]), let object = LocalIdentifier(parts[1]) else {
      return nil
    }
    var content: [UInt8]?
    if !parts[2].isEmpty {
      guard let bytes = [UInt8](hexadecimal: parts[2], count: 32), bytes.hexadecimal == parts[2] else { return nil }
      content = bytes
    }
    self.init(library: library, object: object, content: content)
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
      throw LibraryError(.malformedRequest, "'\(text.prefix(120))' is not a cloud identifier.")
    }
    self = identifier
  }

  /// Writes the spelling as a single value.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(stringValue)
  }
}
