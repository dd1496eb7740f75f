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

extension SmartAlbumQuery {
  /// The rows of the library's own smart albums.
  static func builtIn(in library: LocalIdentifier, made date: Date) -> [CollectionRow] {
    albums.map { title, query, _ in
      let name = library.bytes + "smart album \(query.subtype.rawValue)".utf8
      let digest = SHA256.digest(of: name).bytes
      var words = digest.withUnsafeBytes { [$0.loadUnaligned(as: UInt64.self).bigEndian] }
      words.append(digest.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self).bigEndian })
      // A UUID of version 8 (RFC 9562): bits of our own making.
      let identifier = LocalIdentifier(
        high: words[0] & 0xFFFF_FFFF_FFFF_0FFF | 0x8000, low: words[1] & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
      var row = CollectionRow(
        number: number(of: query.subtype), identifier: identifier, kind: .smartAlbum, title: title, date: date)
      row.query = query
      return row
    }
  }

  /// The queries of the library's own smart albums, each with the condition that its format spells: reading it from the
  /// format is what a process would do longest when it opens a library.
  static var builtIn: [(query: SmartAlbumQuery, condition: Condition)] { albums.map { ($0.query, $0.condition) } }

  private static func bits(_ subtypes: MediaSubtypes) -> Condition {
    .bits(.mediaSubtypes, mask: Int64(subtypes.rawValue), .notEqual, 0)
  }

  private typealias Album = (title: String, query: SmartAlbumQuery, condition: Condition)

  private static func album(
    _ title: String, _ subtype: AlbumSubtype, where condition: Condition, sortedBy sort: [String] = []
  ) -> Album {
    (title, SmartAlbumQuery(subtype, where: condition, sortedBy: sort), condition)
  }

  private static let albums: [Album] = [
    album("Panoramas", .smartAlbumPanoramas, where: bits(.photoPanorama)),
    album("Videos", .smartAlbumVideos, where: .media(.video)),
    album("Favorites", .smartAlbumFavorites, where: .isTrue(.isFavorite)),
    album("Time-lapse", .smartAlbumTimelapses, where: bits(.videoTimelapse)),
    hidden,
    recent,
    album("Bursts", .smartAlbumBursts, where: burst),
    album("Slo-mo", .smartAlbumSlomoVideos, where: bits(.videoHighFrameRate)),
    album("Recents", .smartAlbumUserLibrary, where: .always),
    album("Selfies", .smartAlbumSelfPortraits, where: .isTrue(.isSelfPortrait)),
    album("Screenshots", .smartAlbumScreenshots, where: bits(.photoScreenshot)),
    album("Portrait", .smartAlbumDepthEffect, where: bits(.photoDepthEffect)),
    album("Live Photos", .smartAlbumLivePhotos, where: bits(.photoLive)),
    album("Animated", .smartAlbumAnimated, where: animated),
    album("Long Exposure", .smartAlbumLongExposures, where: varied(.longExposure)),
    album("RAW", .smartAlbumRAW, where: .isTrue(.isRaw)),
    album("Cinematic", .smartAlbumCinematic, where: bits(.videoCinematic)),
    album("Spatial", .smartAlbumSpatial, where: bits(.spatialMedia)),
    album("Screen Recordings", .smartAlbumScreenRecordings, where: bits(.videoScreenRecording)),
  ]

  private static let hidden: Album = {
    var hidden = album("Hidden", .smartAlbumAllHidden, where: .isTrue(.isHidden))
    hidden.query.includesHidden = true
    return hidden
  }()

  private static let recent: Album = {
    var recent = album("Recently Added", .smartAlbumRecentlyAdded, where: .always, sortedBy: ["addedDate:desc"])
    recent.query.addedWithinDays = 30
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
