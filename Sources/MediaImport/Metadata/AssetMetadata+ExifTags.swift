internal import PhotoLedger

// What a file says for people: title, keywords, names, camera, exposure (AssetMetadata.swift).
//
//     exiftool's tags ──▶ AssetMetadata ──▶ bounded ──▶ MediaMetadata.described ──▶ StatedFacts.metadata
//                                                        the file alone              with sidecars and records
//
// Numbers come as exiftool's `-n` gives them: the flash as EXIF's bits, of which the lowest says that it fired, times
// in seconds. Of a list of tags for one thing the first that the file has counts; XMP and IPTC lists are united.

extension AssetMetadata {
  /// What the tags of one file say.
  init(_ tags: ExifTags) {
    self.init()
    title = tags.text("Title") ?? tags.text("ObjectName")
    caption = tags.text("Description") ?? tags.text("ImageDescription") ?? tags.text("Caption-Abstract")
    keywords = Self.united(tags, "Subject", "Keywords")
    hierarchicalKeywords =
      Self.united(tags, "HierarchicalSubject")
      + Self.united(tags, "TagsList").map {
        // digiKam writes paths with a slash.
        String($0.map { $0 == "/" ? "|" : $0 })
      }
    people = Self.united(tags, "PersonInImage", "RegionName")
    rating = tags.integer("Rating")
    copyright = tags.text("Copyright") ?? tags.text("Rights") ?? tags.text("CopyrightNotice")
    creators = Self.united(tags, "Creator", "Artist", "By-line")
    (cameraMake, cameraModel) = (tags.text("Make"), tags.text("Model"))
    lens = tags.text("LensModel") ?? tags.text("Lens")
    focalLength = tags.number("FocalLength")
    aperture = tags.number("FNumber")
    exposureTime = tags.number("ExposureTime")
    iso = tags.integer("ISO")
    flashFired = tags.integer("Flash").flatMap { (0...0xFF).contains($0) ? $0 & 1 != 0 : nil }
    software = tags.text("Software") ?? tags.text("CreatorTool")
    self = bounded()
  }

  /// The values of some tags, each once.
  private static func united(_ tags: ExifTags, _ names: String...) -> [String] {
    distinct(names.flatMap { tags.all($0).flatMap(\.texts) }.compactMap(ExifTags.trimmed))
  }
}

extension StatedFacts {
  /// What is said of an asset together, with its sources: the words that counted, and what the file alone says.
  func described(_ embedded: AssetMetadata, _ layers: [MetadataLayer]) -> AssetMetadata? {
    let own = MetadataLayer.Source.embedded.rawValue
    var metadata = embedded
    metadata.caption = caption
    if sources["keywords"] != own { metadata.keywords = keywords.sorted() }
    if let source = sources["rating"], source != own { metadata.rating = rating.rawValue }
    metadata.sources = sources.filter { $0.value != own }
    for layer in layers where !layer.people.isEmpty {
      metadata.people += layer.people.filter { !metadata.people.contains($0) }
      let named = metadata.sources["people"] ?? (embedded.people.isEmpty ? nil : own)
      if named?.split(separator: " ").contains(Substring(layer.source.rawValue)) != true {
        metadata.sources["people"] = [named, layer.source.rawValue].compactMap(\.self).joined(separator: " ")
      }
    }
    let bounded = metadata.bounded()
    return bounded.isEmpty ? nil : bounded
  }
}
