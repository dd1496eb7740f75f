import EventLog
import Foundation

// Smart albums: a stored query that looks like an album (AL-07).
//
// The library's own, one for each of PhotoKit's subtypes that a library without a cloud can have, are rows of the
// projection that no event brings: they follow from the library's creation, with numbers above every sequence and
// identifiers derived from the library's. People's own are created by events, and carry their query in the format that
// predicates are written in. Either is fetched by putting the query together with what the caller asks; nothing about
// a smart album's members is stored, and `estimatedAssetCount` is unknown, as on Apple's systems (FR-14).
//
// Invariant: a smart album's query never changes, so a result that was fetched in it stays a result of the same fetch.

// MARK: - The library's own

/// One of the library's own smart albums.
struct BuiltInAlbum: Sendable {
  let title: String
  let subtype: AlbumSubtype
  let condition: Condition
  var sort: [String] = []
  var includesHidden = false
  var addedWithinDays: Int?

  private init(_ title: String, _ subtype: AlbumSubtype, where condition: Condition) {
    (self.title, self.subtype, self.condition) = (title, subtype, condition)
  }

  /// The query, as the album's row has it. Fetches read it from there; the stored orders take the condition as it is,
  /// since reading the formats would take longest of all when a process opens a library.
  var query: SmartAlbumQuery {
    var query = SmartAlbumQuery(subtype, where: condition, sortedBy: sort)
    (query.includesHidden, query.addedWithinDays) = (includesHidden, addedWithinDays)
    return query
  }

  /// Its row in a library.
  func row(in library: LocalIdentifier, made date: Date) -> CollectionRow {
    let name = library.bytes + "smart album \(subtype.rawValue)".utf8
    let digest = SHA256.digest(of: name).bytes
    var words = digest.withUnsafeBytes { [$0.loadUnaligned(as: UInt64.self).bigEndian] }
    words.append(digest.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self).bigEndian })
    // A UUID of version 8 (RFC 9562): bits of our own making.
    let identifier = LocalIdentifier(
      high: words[0] & 0xFFFF_FFFF_FFFF_0FFF | 0x8000, low: words[1] & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    var row = CollectionRow(
      number: SmartAlbumQuery.number(of: subtype), identifier: identifier, kind: .smartAlbum, title: title, date: date)
    row.query = query
    return row
  }

  private static func bits(_ subtypes: MediaSubtypes) -> Condition {
    .bits(.mediaSubtypes, mask: Int64(subtypes.rawValue), .notEqual, 0)
  }

  static let all: [BuiltInAlbum] = [
    BuiltInAlbum("Panoramas", .smartAlbumPanoramas, where: bits(.photoPanorama)),
    BuiltInAlbum("Videos", .smartAlbumVideos, where: .media(.video)),
    BuiltInAlbum("Favorites", .smartAlbumFavorites, where: .isTrue(.isFavorite)),
    BuiltInAlbum("Time-lapse", .smartAlbumTimelapses, where: bits(.videoTimelapse)),
    hidden,
    recent,
    BuiltInAlbum("Bursts", .smartAlbumBursts, where: burst),
    BuiltInAlbum("Slo-mo", .smartAlbumSlomoVideos, where: bits(.videoHighFrameRate)),
    BuiltInAlbum("Recents", .smartAlbumUserLibrary, where: .always),
    BuiltInAlbum("Selfies", .smartAlbumSelfPortraits, where: .isTrue(.isSelfPortrait)),
    BuiltInAlbum("Screenshots", .smartAlbumScreenshots, where: bits(.photoScreenshot)),
    BuiltInAlbum("Portrait", .smartAlbumDepthEffect, where: bits(.photoDepthEffect)),
    BuiltInAlbum("Live Photos", .smartAlbumLivePhotos, where: bits(.photoLive)),
    BuiltInAlbum("Animated", .smartAlbumAnimated, where: animated),
    BuiltInAlbum("Long Exposure", .smartAlbumLongExposures, where: varied(.longExposure)),
    BuiltInAlbum("RAW", .smartAlbumRAW, where: .isTrue(.isRaw)),
    BuiltInAlbum("Cinematic", .smartAlbumCinematic, where: bits(.videoCinematic)),
    BuiltInAlbum("Spatial", .smartAlbumSpatial, where: bits(.spatialMedia)),
    BuiltInAlbum("Screen Recordings", .smartAlbumScreenRecordings, where: bits(.videoScreenRecording)),
  ]

  private static let hidden: BuiltInAlbum = {
    var hidden = BuiltInAlbum("Hidden", .smartAlbumAllHidden, where: .isTrue(.isHidden))
    hidden.includesHidden = true
    return hidden
  }()

  private static let recent: BuiltInAlbum = {
    var recent = BuiltInAlbum("Recently Added", .smartAlbumRecentlyAdded, where: .always)
    (recent.sort, recent.addedWithinDays) = (["addedDate:desc"], 30)
    return recent
  }()

  private static let burst = Condition.and([.isPresent(.burstIdentifier), .isTrue(.representsBurst)])

  private static let animated = Condition.or([
    bits(.photoAnimation), varied(.autoloop), varied(.mirror),
    .comparison(.playbackStyle, .equal, .integer(Int64(PlaybackStyle.imageAnimated.rawValue))),
  ])

  private static func varied(_ variation: PlaybackVariation) -> Condition {
    .comparison(.playbackVariation, .equal, .integer(Int64(variation.rawValue)))
  }
}

extension SmartAlbumQuery {
  init(_ subtype: AlbumSubtype, where condition: Condition, sortedBy sort: [String] = []) {
    self.init(subtype, format: condition.description, sortedBy: sort)
  }

  /// The condition at an instant.
  ///
  /// A limit in days counts back from the beginning of the instant's day in UTC, so that all fetches of one day are the
  /// same query and share their live results.
  func condition(at date: Date) throws -> Condition {
    let stored = try Condition(stored: format)
    guard let addedWithinDays else { return stored }
    let day = (date.timeIntervalSinceReferenceDate / 86_400).rounded(.down) - Double(addedWithinDays)
    let bound = Date(timeIntervalSinceReferenceDate: day * 86_400)
    return .and([stored, .comparison(.addedDate, .greaterOrEqual, .date(bound))])
  }

  /// The order.
  func terms() throws -> [SortTerm] { try sort.map { try SortTerm($0, for: .asset) } }
}
