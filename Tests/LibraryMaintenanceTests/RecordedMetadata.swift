import PhotoLedger

extension AssetMetadata {
  /// Metadata with a value in every field.
  static let full: AssetMetadata = {
    var metadata = AssetMetadata()
    metadata.title = "Evening at the pier"
    metadata.caption = "The last ferry\nof the day"
    metadata.keywords = ["sea", "Ähre"]
    metadata.hierarchicalKeywords = ["Places|Europe|Zürich"]
    metadata.people = ["Ana Souza", "Bo"]
    metadata.rating = -1
    metadata.copyright = "© 2024 Ana"
    metadata.creators = ["Ana Souza"]
    (metadata.cameraMake, metadata.cameraModel, metadata.lens) = ("NIKON", "Z 6", "NIKKOR Z 35mm f/1.8 S")
    (metadata.focalLength, metadata.aperture, metadata.exposureTime, metadata.iso) = (35, 1.8, 0.004, 400)
    (metadata.flashFired, metadata.software) = (false, "darktable 4.6")
    metadata.sources = ["caption": "xmp", "creationDate": "takeout"]
    return metadata
  }()
}
