/// What is taken out of the bytes of a picked item (PHPickerMetadataOptions).
public struct PickerMetadataOptions: OptionSet, Sendable, Hashable, Codable {
  /// The bits.
  public let rawValue: Int

  /// Takes the bits as they are.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Where it was taken.
  public static let removeLocation = PickerMetadataOptions(rawValue: 1)
  /// What is written about it.
  public static let removeCaptions = PickerMetadataOptions(rawValue: 2)

  package static let all: PickerMetadataOptions = [.removeLocation, .removeCaptions]

  /// What is left out, by name.
  package var names: [String] {
    (contains(.removeLocation) ? ["location"] : []) + (contains(.removeCaptions) ? ["captions"] : [])
  }

  /// What is left out, for a sentence.
  package var words: String {
    switch (contains(.removeLocation), contains(.removeCaptions)) {
    case (true, true): "location and captions"
    case (true, false): "the place"
    default: "the words"
    }
  }
}
