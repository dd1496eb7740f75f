internal import PhotoLedger

// From exiftool's tags to facts.
//
// Which way up. For all but HEIF and movies, EXIF orientation turns the stored pixels into displayed ones; 5 to 8 swap
// width and height. In HEIF the container's own rotation does (ISO/IEC 23008-12, 6.5.10), in quarter turns against
// the clock, and the EXIF orientation beside it is a remnant that decoders ignore. In a movie the track's matrix does,
// which exiftool reports in degrees with the clock. `Rotation` in other files is a maker note with meanings of its own.
//
//     HEIF rotation   0 → 1    90 → 8    180 → 3    270 → 6
//     movie rotation  0 → 1    90 → 6    180 → 3    270 → 8
//
// Values outside their range (orientation 0 or 51713, latitude `undef`, an altitude beyond every orbit, a blank
// make) are as if absent. What is absent stays absent: nothing is filled in from a neighbour.

extension MediaMetadata {
  /// The facts, or nil when the file is neither image, video nor audio.
  init?(_ tags: ExifTags) {
    guard let mimeType = tags.text("MIMEType"), let mediaType = Self.mediaType(mimeType: mimeType),
      let fileType = tags.text("FileType"), !Self.documentTypes.contains(fileType)
    else { return nil }
    self.mediaType = mediaType
    self.mimeType = mimeType
    self.fileType = fileType
    uniformTypeIdentifier =
      Self.uniformType(
        fileType: fileType, filenameExtension: tags.text("FileTypeExtension")
      ).identifier
    isRaw = Self.rawTypes.contains(fileType)
    orientation = Self.orientation(tags, mediaType: mediaType, mimeType: mimeType)
    storedSize = Self.storedSize(tags)
    displayedSize = storedSize.map { [orientation] in
      orientation > 4 ? PixelSize(width: $0.height, height: $0.width) : $0
    }
    let length = mediaType == .image ? nil : tags.number("Duration")
    duration = length.flatMap { AssetNumbers.durations.contains($0) ? $0 : nil } ?? 0
    captureTime = CaptureTime(tags)
    location = Location(tags)
    contentIdentifier = Self.identifier(tags, "ContentIdentifier", "MediaGroupUUID")?.uppercased()
    burstIdentifier = Self.identifier(tags, "BurstUUID", "BurstID")
    isBurstPrimary = tags.integer("BurstPrimary") == 1 || tags.text("BurstPrimary")?.lowercased() == "true"
    shot = mediaType == .image ? SeriesShot(tags) : nil
    subtypes = Self.subtypes(tags, mediaType: mediaType, fileType: fileType, mimeType: mimeType)
    playbackStyle = mediaType == .image ? (subtypes.contains(.photoAnimation) ? .imageAnimated : .image) : .video
    isMotionPhoto = mediaType == .image && (tags.integer("MotionPhoto") == 1 || tags.integer("MicroVideo") == 1)
    (make, model) = (tags.text("Make"), tags.text("Model"))
    caption = tags.text("Description") ?? tags.text("ImageDescription") ?? tags.text("Caption-Abstract")
    keywords = Self.keywords(tags)
    rating = tags.integer("Rating").flatMap { (-1...5).contains($0) ? $0 : nil }
    described = AssetMetadata(tags)
    warnings = (tags.all("Error") + tags.all("Warning")).flatMap(\.texts).filter { !$0.hasPrefix("[minor]") }
    if warnings.isEmpty, Self.filmsWithHeader.contains(mimeType), tags.number("Duration") == nil {
      warnings = ["No movie header (moov): the file is cut off, or its recording was not finished"]
    }
  }

  /// Films whose length stands in a movie header, without which they cannot be played (ISO/IEC 14496-12, 8.2). Cameras
  /// write it last. A file that ends where it should begin has only whole boxes, so exiftool has nothing to warn of.
  private static let filmsWithHeader: Set<String> = [
    "video/quicktime", "video/mp4", "video/x-m4v", "video/3gpp", "video/3gpp2",
  ]

  /// Whether the file may be cut off without a warning: of TIFF and the RAW formats that are made like it, exiftool
  /// reads the directories, which cameras write before the pixels.
  var mayLackPixels: Bool { warnings.isEmpty && (isRaw || ["TIFF", "BTF"].contains(fileType)) }

  /// The warning that pixels lie after the end of the file, if they do.
  /// - Parameter tags: those that a validation gave; what else it finds, such as a missing resolution, is harmless.
  static func lackOfPixels(_ tags: ExifTags) -> [String] {
    let found = tags.all("Warning").flatMap(\.texts).first { text in
      guard text.hasSuffix("past end of file"), let tag = text.split(separator: ":").last else { return false }
      return tag.hasPrefix("StripOffsets") || tag.hasPrefix("TileOffsets")
    }
    return found.map { ["The file is cut off: \($0)"] } ?? []
  }

  /// Types that call themselves images and are documents: scripts and other files inside.
  private static let documentTypes: Set<String> = ["SVG", "DJVU", "AI", "EPS"]

  private static func mediaType(mimeType: String) -> MediaType? {
    switch mimeType.prefix(while: { $0 != "/" }) {
    case "image": .image
    case "video": .video
    case "audio": .audio
    default: nil
    }
  }

  private static func orientation(_ tags: ExifTags, mediaType: MediaType, mimeType: String) -> Int {
    let isContainerRotated = ["image/heic", "image/heif", "image/avif"].contains { mimeType.hasPrefix($0) }
    if mediaType == .image && !isContainerRotated {
      return tags.integer("Orientation").flatMap { (1...8).contains($0) ? $0 : nil } ?? 1
    }
    switch (tags.integer("Rotation"), mediaType) {
    case (90, .video), (270, .image): return 6
    case (180, _): return 3
    case (270, .video), (90, .image): return 8
    default: return 1
    }
  }

  private static func storedSize(_ tags: ExifTags) -> PixelSize? {
    let sides = 1...AssetNumbers.sides.upperBound
    guard let width = tags.integer("ImageWidth"), let height = tags.integer("ImageHeight"), sides.contains(width),
      sides.contains(height)
    else { return nil }
    return PixelSize(width: width, height: height)
  }

  /// The first of two tags that is there, unless it is longer than any identifier that a camera writes.
  private static func identifier(_ tags: ExifTags, _ first: String, _ second: String) -> String? {
    (tags.text(first) ?? tags.text(second)).flatMap { (1...256).contains($0.utf8.count) ? $0 : nil }
  }

  /// The type of the content, by the extension that exiftool says goes with it; never by the file's name, so that a
  /// JPEG called `.png` is `public.jpeg`.
  static func uniformType(fileType: String, filenameExtension: String?) -> UniformType {
    let ending = (filenameExtension ?? "").isEmpty ? fileType : filenameExtension ?? fileType
    // FLIR's format shares its extension with Hasselblad's.
    return fileType == "FLIR" ? UniformType(undeclared: "fff") : UniformType(filenameExtension: ending)
  }

  /// What exiftool calls sensor data straight from a camera (AS-16).
  static let rawTypes: Set<String> = [
    "DNG", "CR2", "CR3", "CRW", "NEF", "NRW", "ARW", "ARQ", "SR2", "SRF", "RAF", "RW2", "RAW", "RWL", "PEF", "ORF",
    "ORI", "SRW", "3FR", "FFF", "IIQ", "MOS", "ERF", "DCR", "KDC", "K25", "MRW", "MEF", "MDC", "GPR", "X3F", "RWZ",
    "REV", "EIP",
  ]

  private static func keywords(_ tags: ExifTags) -> [String] {
    distinct((tags.all("Subject") + tags.all("Keywords")).flatMap(\.texts).compactMap(ExifTags.trimmed))
  }

  /// Subtypes stated by tags. Apple's cameras state theirs in EXIF CustomRendered, beyond the values that EXIF defines.
  private static func subtypes(_ tags: ExifTags, mediaType: MediaType, fileType: String, mimeType: String)
    -> MediaSubtypes
  {
    var subtypes: MediaSubtypes = []
    if mediaType == .video {
      if tags.number("VideoFrameRate") ?? 0 >= 100 { subtypes.insert(.videoHighFrameRate) }
      if tags.text("Author") == "ReplayKitRecording" { subtypes.insert(.videoScreenRecording) }
      return subtypes
    }
    guard mediaType == .image else { return subtypes }
    let rendering = tags.text("Make") == "Apple" ? tags.integer("CustomRendered") : nil
    if rendering == 6 || tags.text("ProjectionType") != nil { subtypes.insert(.photoPanorama) }
    if [2, 3, 7].contains(rendering) || tags.integer("HDRImageType") == 3 { subtypes.insert(.photoHDR) }
    if [7, 8].contains(rendering) { subtypes.insert(.photoDepthEffect) }
    if tags.text("UserComment") == "Screenshot" { subtypes.insert(.photoScreenshot) }
    let frames = max(tags.integer("FrameCount") ?? 1, tags.integer("AnimationFrames") ?? 1)
    // exiftool states no frame count for WebP and a duration only for one that is animated.
    let isAnimatedWebP = mimeType == "image/webp" && tags.number("Duration") ?? 0 > 0
    if frames > 1 || isAnimatedWebP || animatedTypes.contains(fileType) { subtypes.insert(.photoAnimation) }
    return subtypes
  }

  private static let animatedTypes: Set<String> = ["APNG", "HEIFS", "HEICS", "AVIFS"]
}

extension Location {
  /// The place that a file states; nil when either half is missing, no number, or not on the earth.
  init?(_ tags: ExifTags) {
    let stated: (Double, Double, Double?)? = tags.signed("GPSLatitude", "S").flatMap { latitude in
      tags.signed("GPSLongitude", "W").map { (latitude, $0, tags.signed("GPSAltitude", "1")) }
    }
    guard let (latitude, longitude, altitude) = stated ?? Self.coordinates(tags),
      AssetNumbers.latitudes.contains(latitude), AssetNumbers.longitudes.contains(longitude)
    else { return nil }
    self.init(
      latitude: latitude, longitude: longitude,
      altitude: altitude.flatMap { AssetNumbers.altitudes.contains($0) ? $0 : nil })
  }

  /// What films state in one tag: latitude, longitude, and perhaps the altitude.
  private static func coordinates(_ tags: ExifTags) -> (Double, Double, Double?)? {
    let parts: [Double?] = tags.text("GPSCoordinates")?.split(separator: " ").map { Double($0) } ?? []
    guard parts.count >= 2, let latitude = parts[0], let longitude = parts[1], latitude.isFinite, longitude.isFinite
    else { return nil }
    return (latitude, longitude, parts.count > 2 ? parts[2] : nil)
  }
}
