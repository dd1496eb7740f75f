// What exiftool says about one file, as text by tag and group.
//
// The keys of its JSON with `-G1:4` are `Group:Tag` for the value that exiftool itself prefers among several of that
// name, and `Group:CopyN:Tag` for the others. Its preference (EXIF before XMP, the full-size image before the preview,
// a composite with the hemisphere applied before the bare degrees) is the work of twenty years, so a plain lookup
// follows it; a lookup that names groups is for the few places where the meaning depends on where a value stood.
//
// JSON sidecars that exiftool wrote without `-G` have keys without groups, each for the preferred value; their group is
// the empty one. Such keys count only beside the `SourceFile` that exiftool always writes.
//
// The JSON is not read by Foundation because exiftool writes any value that looks like a number without
// quotes: the title `1.10` would come back as `1.1`, the fraction of a second `070` survives only as text.

import JSONReading

/// The tags of one file.
struct ExifTags: Sendable, Equatable {
  struct Value: Sendable, Equatable {
    /// Empty where none is stated.
    let group: String
    /// True for the value that exiftool prefers among several of this tag.
    let isPreferred: Bool
    let texts: [String]
  }

  private var values: [String: [Value]] = [:]

  /// Reads exiftool's answer; nil when it is not an array with one object of flat values.
  init?(json: [UInt8]) {
    guard case .list(let files)? = JSON(foreign: json), files.count == 1, case .object(let members) = files[0] else {
      return nil
    }
    let isBare = members.contains { $0.key == "SourceFile" }
    for member in members where member.key != "SourceFile" {
      let parts = member.key.split(separator: ":")
      guard let tag = parts.last, parts.count > 1 || isBare else { continue }
      let isPreferred = !parts.dropFirst().dropLast().contains { $0.hasPrefix("Copy") }
      let group = parts.count > 1 ? String(parts[0]) : ""
      let value = Value(group: group, isPreferred: isPreferred, texts: member.value.texts)
      values[String(tag), default: []].append(value)
    }
    for tag in values.keys {
      values[tag]?.sort { $0.isPreferred && !$1.isPreferred }
    }
  }

  /// All values of a tag, the preferred one first.
  func all(_ tag: String) -> [Value] { values[tag] ?? [] }

  /// The preferred value of a tag as text without surrounding blanks; nil when absent or blank.
  func text(_ tag: String) -> String? {
    all(tag).lazy.compactMap { $0.texts.first.flatMap(Self.trimmed) }.first
  }

  /// The preferred value of a tag in one of these groups.
  func text(_ tag: String, in groups: Set<String>) -> String? {
    all(tag).lazy.filter { groups.contains($0.group) }.compactMap { $0.texts.first.flatMap(Self.trimmed) }.first
  }

  /// The preferred value of a tag, when it is a finite number.
  func number(_ tag: String) -> Double? {
    guard let value = all(tag).first?.texts.first, let number = Double(value), number.isFinite else { return nil }
    return number
  }

  /// A number of GPS with its sign. EXIF has it without one, and the direction in the tag of the same name with `Ref`:
  /// exiftool's composite joins them; where there is none, that is done here. Some programs write both the sign and the
  /// direction.
  /// - Parameter negative: how a direction begins that makes the number negative.
  func signed(_ tag: String, _ negative: String) -> Double? {
    let values = all(tag)
    guard let value = values.first(where: { $0.group == "Composite" }) ?? values.first,
      let number = value.texts.first.flatMap({ Double($0) }), number.isFinite
    else { return nil }
    let direction = all("\(tag)Ref").first { $0.group == value.group }?.texts.first ?? ""
    return direction.hasPrefix(negative) ? -abs(number) : number
  }

  /// The preferred value of a tag, when it is a whole number.
  func integer(_ tag: String) -> Int? {
    number(tag).flatMap { Int(exactly: $0) }
  }

  static func trimmed(_ text: String) -> String? {
    let kept = text.drop { $0 == " " || $0 == "\0" || $0.isNewline || $0 == "\t" }
    guard let end = kept.lastIndex(where: { !($0 == " " || $0 == "\0" || $0.isNewline || $0 == "\t") }) else {
      return nil
    }
    return String(kept[...end])
  }
}

/// The tags that exiftool is asked for; nothing else of a file's metadata leaves the child process.
let exifToolTags = [
  "FileType", "MIMEType", "FileTypeExtension", "Error", "Warning",
  "ImageWidth", "ImageHeight", "Orientation", "Rotation", "Duration", "VideoFrameRate", "FrameCount",
  "AnimationFrames",
  "DateTimeOriginal", "CreateDate", "CreationDate", "OffsetTimeOriginal", "OffsetTimeDigitized",
  "SubSecTimeOriginal", "SubSecTimeDigitized",
  "GPSLatitude", "GPSLongitude", "GPSAltitude",
  "Make", "Model", "LensModel",
  "ContentIdentifier", "MediaGroupUUID", "BurstUUID", "BurstID", "BurstPrimary",
  "CustomRendered", "HDRImageType", "ProjectionType", "UserComment", "MotionPhoto", "MicroVideo", "Author",
  "Title", "ObjectName", "Description", "ImageDescription", "Caption-Abstract", "Subject", "Keywords", "Rating",
  "Good",
  "HierarchicalSubject", "TagsList", "PersonInImage", "RegionName", "DateCreated",
  "Copyright", "Rights", "CopyrightNotice", "Creator", "Artist", "By-line", "Lens", "FocalLength", "FNumber",
  "ExposureTime", "ISO", "Flash", "Software", "CreatorTool",
  "ContinuousDrive", "BracketMode", "FileNumber", "ShootingMode", "ShutterCount", "ReleaseMode", "SequenceNumber",
  "BurstMode", "DriveMode", "AutoBracketing", "SerialNumber", "InternalSerialNumber",
  "AdjustmentFormatIdentifier", "AdjustmentFormatVersion", "AdjustmentData",
]
