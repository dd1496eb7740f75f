internal import PhotoLedger

// The file of adjustment data is kept whole, as the file of a resource: besides the data and their format it states the
// editor, the time of the edit and what it was based on. exiftool reads it, as it reads every foreign file.

/// Adjustment data as exiftool reads them.
struct AdjustmentFormat: Sendable, Hashable {
  /// Which program's they are, such as `com.apple.photo`.
  let identifier: String
  let version: String

  /// Nil if the file is not a property list, contains no adjustment data, or names no valid format.
  init?(_ tags: ExifTags) {
    guard let type = tags.text("FileType"), ["AAE", "PLIST"].contains(type),
      let identifier = Self.text(tags, "AdjustmentFormatIdentifier"), identifier.contains(where: \.isLetter),
      let version = Self.text(tags, "AdjustmentFormatVersion"),
      // exiftool names the size of data, and prints any other type as text.
      let data = Self.text(tags, "AdjustmentData"), data.hasPrefix("(Binary data "), !data.hasPrefix("(Binary data 0 ")
    else { return nil }
    (self.identifier, self.version) = (identifier, version)
  }

  /// The one value of a tag that is there once.
  private static func text(_ tags: ExifTags, _ tag: String) -> String? {
    let values = tags.all(tag)
    guard values.count == 1, values[0].texts.count == 1, let text = tags.text(tag), (1...256).contains(text.utf8.count),
      text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
    else { return nil }
    return text
  }
}

/// Adjustment data whose bytes are in place.
struct PreparedAdjustment: Sendable {
  /// The index of the file in the walk.
  let index: Int
  let path: FilePath
  let stored: StoredContent
  let format: AdjustmentFormat
  /// What the files that it may belong to have in common.
  let unit: [UInt8]

  var unitBytes: ArraySlice<UInt8> { unit[...] }

  var resource: ImportedResource {
    ImportedResource(
      type: .adjustmentData, stored: stored, originalFilename: path.name, source: path, metadata: .adjustmentData)
  }
}

extension MediaMetadata {
  /// What is recorded of a file of adjustment data.
  fileprivate static let adjustmentData = MediaMetadata(
    mediaType: .unknown, uniformTypeIdentifier: "com.apple.photos.apple-adjustment-envelope",
    mimeType: "application/vnd.apple.photos", fileType: "AAE", isRaw: false, orientation: 1, duration: 0,
    isBurstPrimary: false, subtypes: [], playbackStyle: .unsupported, isMotionPhoto: false, keywords: [], warnings: [])
}
