import JSONReading
import PhotoLedger

/// What one JSON file of a Takeout says.
enum TakeoutRecord: Sendable {
  /// It describes a photo or video.
  case item(Item)
  /// It describes the folder that it lies in; an empty title counts as none.
  case album(title: String)
  /// It says nothing about a photo or an album.
  case other

  /// What is said about a photo or video.
  struct Item: Sendable {
    var title: String?
    var layer: MetadataLayer
    /// Seconds since 1970, for the order in albums.
    var takenTime: Int64?
    /// Whether it came from the account of a partner.
    var isPartnerShared: Bool
  }

  /// Reads a file, by its content and not by its name, which is in the language of the account.
  init(_ bytes: [UInt8]) {
    guard let json = JSON(foreign: bytes), case .object = json else {
      self = .other
      return
    }
    let title = json["title"]?.texts.first
    guard let taken = json["photoTakenTime"] else {
      // Exports of before 2019 have the album one level below.
      let album = json["albumData"] ?? json
      guard let title = album["title"]?.texts.first else {
        self = .other
        return
      }
      self = .album(title: title)
      return
    }
    var layer = MetadataLayer(.takeout)
    layer.caption = Limits.text(json["description"]?.texts.first, atMost: Limits.captionByteCount)
    let seconds = taken["timestamp"]?.texts.first.flatMap { Int64($0) }
    layer.captureTime = seconds.flatMap { CaptureTime(secondsSince1970: $0, source: "takeout:photoTakenTime") }
    layer.location = Self.place(json["geoData"]) ?? Self.place(json["geoDataExif"])
    layer.isFavorite = json.isTrue("favorited")
    layer.isHidden = json.isTrue("archived") == true || json.isTrue("inLockedFolder") == true ? true : nil
    // What lies in the bin says so; what does not say so is not there.
    layer.isTrashed = json.isTrue("trashed") ?? false
    if case .list(let people)? = json["people"] {
      layer.people = Limits.keywords(people.compactMap { $0["name"]?.texts.first })
    }
    let isPartnerShared = json["googlePhotosOrigin"]?["fromPartnerSharing"] != nil
    self = .item(Item(title: title, layer: layer, takenTime: seconds, isPartnerShared: isPartnerShared))
  }

  private static func place(_ json: JSON?) -> Location? {
    guard let json else { return nil }
    func number(_ name: String) -> Double? { json[name]?.texts.first.flatMap { Double($0) } }
    return Limits.location(number("latitude"), number("longitude"), number("altitude"))
  }
}
