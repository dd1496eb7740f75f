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
    titled.map { title, query in
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

  /// The queries of the library's own smart albums.
  static var builtIn: [SmartAlbumQuery] { titled.map(\.1) }

  private static func bits(_ subtypes: MediaSubtypes) -> Condition {
    .bits(.mediaSubtypes, mask: Int64(subtypes.rawValue), .notEqual, 0)
  }

  private static let titled: [(String, SmartAlbumQuery)] = [
    ("Panoramas", SmartAlbumQuery(.smartAlbumPanoramas, where: bits(.photoPanorama))),
    ("Videos", SmartAlbumQuery(.smartAlbumVideos, where: .media(.video))),
    ("Favorites", SmartAlbumQuery(.smartAlbumFavorites, where: .isTrue(.isFavorite))),
    ("Time-lapse", SmartAlbumQuery(.smartAlbumTimelapses, where: bits(.videoTimelapse))),
    ("Hidden", hidden),
    ("Recently Added", recent),
    ("Bursts", SmartAlbumQuery(.smartAlbumBursts, where: burst)),
    ("Slo-mo", SmartAlbumQuery(.smartAlbumSlomoVideos, where: bits(.videoHighFrameRate))),
    ("Recents", SmartAlbumQuery(.smartAlbumUserLibrary, where: .always)),
    ("Selfies", SmartAlbumQuery(.smartAlbumSelfPortraits, where: .isTrue(.isSelfPortrait))),
    ("Screenshots", SmartAlbumQuery(.smartAlbumScreenshots, where: bits(.photoScreenshot))),
    ("Portrait", SmartAlbumQuery(.smartAlbumDepthEffect, where: bits(.photoDepthEffect))),
    ("Live Photos", SmartAlbumQuery(.smartAlbumLivePhotos, where: bits(.photoLive))),
    ("Animated", SmartAlbumQuery(.smartAlbumAnimated, where: animated)),
    ("Long Exposure", SmartAlbumQuery(.smartAlbumLongExposures, where: varied(.longExposure))),
    ("RAW", SmartAlbumQuery(.smartAlbumRAW, where: .isTrue(.isRaw))),
    ("Cinematic", SmartAlbumQuery(.smartAlbumCinematic, where: bits(.videoCinematic))),
    ("Spatial", SmartAlbumQuery(.smartAlbumSpatial, where: bits(.spatialMedia))),
    ("Screen Recordings", SmartAlbumQuery(.smartAlbumScreenRecordings, where: bits(.videoScreenRecording))),
  ]

  private static let hidden: SmartAlbumQuery = {
    var query = SmartAlbumQuery(.smartAlbumAllHidden, where: .isTrue(.isHidden))
    query.includesHidden = true
    return query
  }()

  private static let recent: SmartAlbumQuery = {
    var query = SmartAlbumQuery(.smartAlbumRecentlyAdded, where: .always, sortedBy: ["addedDate:desc"])
    query.addedWithinDays = 30
    return query
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
