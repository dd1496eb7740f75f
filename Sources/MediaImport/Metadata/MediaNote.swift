internal import Foundation
internal import JSONReading
internal import PhotoLedger

// What is said about a medium beside its bytes, and which value counts.
//
//     embedded         exiftool, from the file itself
//     corrections      sidecars in which people edited: XMP, JSON of osxphotos, YAML of PhotoPrism
//     records          what a service wrote down: Google's JSON, Apple's CSV, the fields beside an upload
//
//     caption, rating        corrections ▸ records ▸ embedded
//     date, place            corrections ▸ embedded ▸ records
//     keywords               all of them together
//     favourite, hidden      any that says so
//     trashed                only if everything that says something of it says so
//
// A record never replaces the date or the place of the file: Google's `photoTakenTime` is an instant without the
// offset, and the camera's wall time would be lost. Neither does a correction that repeats the wall time of the file
// without its offset, as programs write it that do not know offsets: it corrects nothing. Within a kind the first layer
// that has a value counts, in the order of the walk. Each value keeps its source, which stands in the report of the
// import.
//
// A note concerns an asset that is made now. An asset that the library has already keeps what it has: people may have
// edited it since, and an edit outranks metadata.
//
// Everything here is from outside: what the model does not take (a caption of more than 64 KiB, a date after the year
// 9999) is left out when a layer is made, so that no file can make its commit fail.

/// What one place outside of a file says about it.
struct MetadataLayer: Sendable, Hashable {
  /// Where the values stand.
  enum Source: String, Sendable, CaseIterable {
    /// In the file itself.
    case embedded
    /// In an XMP sidecar.
    case xmp
    /// In a JSON sidecar as osxphotos and exiftool write it.
    case json
    /// In a YAML sidecar of PhotoPrism.
    case yaml
    /// In a JSON file of Google Takeout.
    case takeout
    /// In a CSV file of an export of iCloud Photos.
    case iCloud
    /// In the fields that came with an upload.
    case upload
    /// On the command line.
    case option

    /// Whether its date and place replace the file's own.
    var isCorrection: Bool { [.xmp, .json, .yaml].contains(self) }
  }

  var source: Source
  var caption: String?
  var keywords: [String] = []
  var people: [String] = []
  var captureTime: CaptureTime?
  var location: Location?
  var rating: Int?
  var isFavorite: Bool?
  var isHidden: Bool?
  var isTrashed: Bool?

  init(_ source: Source) { self.source = source }

  /// Whether it says anything.
  var isEmpty: Bool { self == MetadataLayer(source) }
}

/// All that a source says about one of its files.
struct MediaNote: Sendable, Hashable {
  /// The true name; nil: the file's.
  var name: String?
  /// In the order of their precedence within a kind.
  var layers: [MetadataLayer] = []
  /// Whether the file is a movie that the source says is the moving part of the still beside it.
  var isMovingPart = false

  /// The most layers that are joined. Equal files of one export have a few; thousands would take quadratic time.
  private static let mostLayers = 64

  /// Takes in what is said about another file with the same content.
  mutating func join(_ other: MediaNote) {
    if name == nil { name = other.name }
    for layer in other.layers where layers.count < Self.mostLayers && !layers.contains(layer) { layers.append(layer) }
  }
}

/// What a person wants of everything that is imported.
struct StatementWishes: Sendable, Hashable {
  var keywords: Set<String> = []
  var peopleAsKeywords = false
  /// The zone of wall times without an offset.
  var timeZone: TimeZone?
}

/// The values that count for an asset, each with its source.
struct StatedFacts: Sendable, Hashable {
  var caption: String?
  var keywords: Set<String> = []
  var rating: AssetRating = .unset
  var isFavorite = false
  var isHidden = false
  var isTrashed = false
  var captureTime: CaptureTime?
  var location: Location?
  /// The source of each value that there is, by its name in JSON.
  var sources: [String: String] = [:]
  /// What is said of the asset together; nil if nothing.
  var metadata: AssetMetadata?

  init() {}

  /// Settles what counts.
  /// - Parameters:
  ///   - layers: what is said beside the file.
  ///   - metadata: what the file says.
  init(_ layers: [MetadataLayer], beside metadata: MediaMetadata, _ wishes: StatementWishes) {
    let embedded = MetadataLayer(embeddedIn: metadata)
    let corrections = layers.filter(\.source.isCorrection)
    let records = layers.filter { !$0.source.isCorrection }
    func first<Value>(_ name: String, _ layers: [MetadataLayer], _ value: (MetadataLayer) -> Value?) -> Value? {
      for layer in layers {
        guard let found = value(layer) else { continue }
        sources[name] = layer.source.rawValue
        return found
      }
      return nil
    }
    caption = first("caption", corrections + records + [embedded]) { $0.caption }
    rating = first("rating", corrections + records + [embedded]) { $0.rating }.flatMap(AssetRating.init) ?? .unset
    captureTime = first("creationDate", corrections + [embedded] + records) { $0.captureTime }
    if let time = captureTime, let own = embedded.captureTime, time.isStatedMoreFully(by: own) {
      captureTime = own
      sources["creationDate"] = embedded.source.rawValue
    }
    location = first("location", corrections + [embedded] + records) { $0.location }
    if let zone = wishes.timeZone, let time = captureTime?.completed(with: zone) {
      captureTime = time
      sources["timeZoneOffset"] = MetadataLayer.Source.option.rawValue
    }
    let all = corrections + records + [embedded]
    isFavorite = first("isFavorite", all) { $0.isFavorite == true ? true : nil } ?? false
    isHidden = first("isHidden", all) { $0.isHidden == true ? true : nil } ?? false
    let trashed = all.compactMap(\.isTrashed)
    isTrashed = !trashed.isEmpty && trashed.allSatisfy { $0 }
    take(wishes.keywords.sorted(), .option)
    for layer in all {
      take(layer.keywords, layer.source)
      if wishes.peopleAsKeywords { take(layer.people, layer.source) }
    }
    self.metadata = described(metadata.described, corrections + records)
  }

  private mutating func take(_ words: [String], _ source: MetadataLayer.Source) {
    let added = words.prefix(Limits.keywordCount - keywords.count)
    if added.isEmpty { return }
    keywords.formUnion(added)
    sources["keywords"] = [sources["keywords"], source.rawValue].compactMap { $0 }.joined(separator: " ")
  }
}

/// What the model takes.
enum Limits {
  static let captionByteCount = 65_536
  static let keywordByteCount = 256
  static let keywordCount = 1024
  static let titleByteCount = 4096
  static let burstMemberCount = 1000

  /// A text without blanks around it and with bounded marks; nil if it is empty or too long.
  static func text(_ text: String?, atMost byteCount: Int) -> String? {
    guard let text = text?.boundedInMarks.trimmingCharacters(in: .whitespacesAndNewlines), !text.isEmpty else {
      return nil
    }
    return text.utf8.count <= byteCount && !text.utf8.contains(0) ? text : nil
  }

  /// The name of a file, as the library takes it: one that is longer than file systems have them, as a member of an
  /// archive may be called, is cut, and so are marks without end.
  static func fileName(_ name: String) -> String {
    let name = name.boundedInMarks
    // A character of Unicode has at most four bytes.
    return name.utf8.count <= AssetResource.nameByteLimit
      ? name : String(name.unicodeScalars.prefix(AssetResource.nameByteLimit / 4))
  }

  /// Words that can be keywords, each once.
  static func keywords(_ words: some Sequence<String>) -> [String] {
    distinct(words.compactMap { text($0, atMost: keywordByteCount) })
  }

  /// A place on the earth; nil for any other, and for zero and zero, which services write where they know none.
  static func location(_ latitude: Double?, _ longitude: Double?, _ altitude: Double?) -> Location? {
    guard let latitude, let longitude, AssetNumbers.latitudes.contains(latitude),
      AssetNumbers.longitudes.contains(longitude), latitude != 0 || longitude != 0
    else { return nil }
    let height = altitude.flatMap { AssetNumbers.altitudes.contains($0) && $0 != 0 ? $0 : nil }
    return Location(latitude: latitude, longitude: longitude, altitude: height)
  }

  /// The place that a file states; nil for zero and zero, which cameras write where they know none.
  static func location(_ stated: Location?) -> Location? {
    stated.flatMap { $0.latitude == 0 && $0.longitude == 0 ? nil : $0 }
  }
}

extension MetadataLayer {
  /// What cameras write where a person would write a caption.
  private static let placeholders: Set<String> = [
    "OLYMPUS DIGITAL CAMERA", "MINOLTA DIGITAL CAMERA", "KONICA MINOLTA DIGITAL CAMERA", "SONY DSC", "SAMSUNG",
    "DIGITAL CAMERA", "DCIM", "UNTITLED", "EXIF_JPEG_PICTURE", "DEFAULT",
  ]

  /// What a file says about itself.
  init(embeddedIn metadata: MediaMetadata) {
    self.init(.embedded)
    caption = Limits.text(metadata.caption, atMost: Limits.captionByteCount).flatMap {
      Self.placeholders.contains($0.uppercased()) ? nil : $0
    }
    keywords = Limits.keywords(metadata.keywords)
    rating = metadata.rating
    captureTime = metadata.captureTime
    location = Limits.location(metadata.location)
  }
}

extension CaptureTime {
  /// A time that an instant tells, such as a service writes.
  init?(secondsSince1970 seconds: Int64, source: String) {
    guard let reading = WallClock(secondsSince1970: seconds) else { return nil }
    self.init(reading: reading, clock: .utc, offsetSeconds: nil, source: source)
  }

  /// Whether another time is the same reading of the local clock, to the second, with an offset or a fraction that this
  /// one lacks.
  func isStatedMoreFully(by other: CaptureTime) -> Bool {
    guard clock == .local, offsetSeconds == nil, other.clock == .local,
      reading.secondsSince1970 == other.reading.secondsSince1970
    else { return false }
    return other.offsetSeconds != nil || reading.nanosecond == 0 && other.reading.nanosecond != 0
  }

  /// The same with the offset and the wall time of a zone, where they are missing; nil if nothing is missing.
  func completed(with zone: TimeZone) -> CaptureTime? {
    let seconds = reading.secondsSince1970
    switch clock {
    case .utc:
      let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
      guard let local = WallClock(secondsSince1970: seconds + Int64(offset), nanosecond: reading.nanosecond) else {
        return nil
      }
      return CaptureTime(reading: local, clock: .local, offsetSeconds: offset, source: source)
    case .local where offsetSeconds == nil:
      // The offset at the instant that the wall time would be with the offset just before it.
      let guess = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
      let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds - Int64(guess))))
      return CaptureTime(reading: reading, clock: .local, offsetSeconds: offset, source: source)
    case .local: return nil
    }
  }
}

extension WallClock {
  /// What a clock shows a number of seconds after 1970 began on it; nil outside the years 1 to 9999.
  init?(secondsSince1970 seconds: Int64, nanosecond: Int = 0) {
    guard (-62_135_596_800...253_402_300_799).contains(seconds) else { return nil }
    let days = Int((Double(seconds) / 86_400).rounded(.down))
    let rest = Int(seconds - Int64(days) * 86_400)
    let date = CivilDate(numberSince1970: days)
    self.init(date.year, date.month, date.day, rest / 3600, rest / 60 % 60, rest % 60, nanosecond: nanosecond)
  }
}
