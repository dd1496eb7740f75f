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

/// What an album is (PHAssetCollectionSubtype, photokit a.3).
public struct AlbumSubtype: RawRepresentable, Sendable, Hashable, Codable {
  /// The value, as PhotoKit numbers it.
  public let rawValue: Int

  /// Takes the value as it is.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// An album that people fill.
  public static let albumRegular = AlbumSubtype(rawValue: 2)
  /// A query of people's own.
  public static let smartAlbumGeneric = AlbumSubtype(rawValue: 200)
  /// Panoramas.
  public static let smartAlbumPanoramas = AlbumSubtype(rawValue: 201)
  /// Videos.
  public static let smartAlbumVideos = AlbumSubtype(rawValue: 202)
  /// Favourites.
  public static let smartAlbumFavorites = AlbumSubtype(rawValue: 203)
  /// Time-lapse videos.
  public static let smartAlbumTimelapses = AlbumSubtype(rawValue: 204)
  /// Hidden assets.
  public static let smartAlbumAllHidden = AlbumSubtype(rawValue: 205)
  /// What was added in the last thirty days.
  public static let smartAlbumRecentlyAdded = AlbumSubtype(rawValue: 206)
  /// Bursts, each by the member that stands for it.
  public static let smartAlbumBursts = AlbumSubtype(rawValue: 207)
  /// Videos of a high frame rate.
  public static let smartAlbumSlomoVideos = AlbumSubtype(rawValue: 208)
  /// Everything, the oldest addition first.
  public static let smartAlbumUserLibrary = AlbumSubtype(rawValue: 209)
  /// Pictures taken with the camera on the screen's side.
  public static let smartAlbumSelfPortraits = AlbumSubtype(rawValue: 210)
  /// Pictures of screens.
  public static let smartAlbumScreenshots = AlbumSubtype(rawValue: 211)
  /// Photos with depth.
  public static let smartAlbumDepthEffect = AlbumSubtype(rawValue: 212)
  /// Live Photos.
  public static let smartAlbumLivePhotos = AlbumSubtype(rawValue: 213)
  /// Animated images, and Live Photos that loop.
  public static let smartAlbumAnimated = AlbumSubtype(rawValue: 214)
  /// Live Photos whose frames are laid over each other.
  public static let smartAlbumLongExposures = AlbumSubtype(rawValue: 215)
  /// Assets with a RAW original.
  public static let smartAlbumRAW = AlbumSubtype(rawValue: 217)
  /// Videos with a depth track.
  public static let smartAlbumCinematic = AlbumSubtype(rawValue: 218)
  /// Spatial photos and videos.
  public static let smartAlbumSpatial = AlbumSubtype(rawValue: 219)
  /// Recordings of screens.
  public static let smartAlbumScreenRecordings = AlbumSubtype(rawValue: 220)

  /// Whether albums of the subtype are queries.
  public var isSmart: Bool { rawValue >= 200 }

  /// The name, spelled as PhotoKit spells it; an unknown one as `subtypeN`.
  public var name: String { Self.namesByValue[rawValue] ?? "subtype\(rawValue)" }

  /// The subtype with a name, as ``name`` spells it; nil if there is none.
  public init?(name: String) {
    guard let known = Self.namesByValue.first(where: { $0.value == name }) else { return nil }
    self.init(rawValue: known.key)
  }

  /// Every subtype that has a name, in the order of the values.
  public static let named: [AlbumSubtype] = namesByValue.keys.sorted().map(AlbumSubtype.init)

  private static let namesByValue: [Int: String] = [
    2: "albumRegular", 200: "smartAlbumGeneric", 201: "smartAlbumPanoramas", 202: "smartAlbumVideos",
    203: "smartAlbumFavorites", 204: "smartAlbumTimelapses", 205: "smartAlbumAllHidden",
    206: "smartAlbumRecentlyAdded", 207: "smartAlbumBursts", 208: "smartAlbumSlomoVideos",
    209: "smartAlbumUserLibrary", 210: "smartAlbumSelfPortraits", 211: "smartAlbumScreenshots",
    212: "smartAlbumDepthEffect", 213: "smartAlbumLivePhotos", 214: "smartAlbumAnimated",
    215: "smartAlbumLongExposures", 217: "smartAlbumRAW", 218: "smartAlbumCinematic", 219: "smartAlbumSpatial",
    220: "smartAlbumScreenRecordings",
  ]
}

/// What a folder is (PHCollectionListSubtype, photokit a.3).
public struct FolderSubtype: RawRepresentable, Sendable, Hashable, Codable {
  /// The value, as PhotoKit numbers it.
  public let rawValue: Int

  /// Takes the value as it is.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// A folder that people made.
  public static let regularFolder = FolderSubtype(rawValue: 100)
  /// The one that holds all others (FR-13).
  public static let rootFolder = FolderSubtype(rawValue: 101)
}

/// The stored query of a smart album.
package struct SmartAlbumQuery: Equatable, Sendable {
  package var subtype: AlbumSubtype
  /// The condition, as ``Condition/description`` spells it.
  package var format: String
  /// The terms of the order, as ``SortTerm/description`` spells them.
  package var sort: [String]
  package var includesHidden = false
  /// How many days ago an asset may have been added; nil: any time.
  package var addedWithinDays: Int?

  init(_ subtype: AlbumSubtype, where condition: Condition, sortedBy sort: [String] = []) {
    self.subtype = subtype
    format = condition.description
    self.sort = sort
  }

  /// The condition at an instant.
  ///
  /// A limit in days counts back from the beginning of the instant's day in UTC, so that all fetches of one day are the
  /// same query and share their live results.
  func condition(at date: Date) throws -> Condition {
    let stored = try Condition(format: format, for: .asset)
    guard let addedWithinDays else { return stored }
    let day = (date.timeIntervalSinceReferenceDate / 86_400).rounded(.down) - Double(addedWithinDays)
    let bound = Date(timeIntervalSinceReferenceDate: day * 86_400)
    return .and([stored, .comparison(.addedDate, .greaterOrEqual, .date(bound))])
  }

  /// The order.
  func terms() throws -> [SortTerm] { try sort.map { try SortTerm($0, for: .asset) } }
}

// MARK: - The library's own

extension SmartAlbumQuery {
  /// Numbers from here on are of the library's own smart albums; no log has so many events.
  static let firstBuiltIn: ObjectNumber = .max - 65_535

  static func number(of subtype: AlbumSubtype) -> ObjectNumber { firstBuiltIn + UInt64(subtype.rawValue) }

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
    ("Videos", SmartAlbumQuery(.smartAlbumVideos, where: media(.video))),
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

  private static func media(_ type: MediaType) -> Condition {
    .comparison(.mediaType, .equal, .integer(Int64(type.rawValue)))
  }

  private static func varied(_ variation: PlaybackVariation) -> Condition {
    .comparison(.playbackVariation, .equal, .integer(Int64(variation.rawValue)))
  }
}

// MARK: - Bytes

extension SmartAlbumQuery {
  /// A map: subtype, condition, order, and what else departs from an ordinary fetch.
  func encoded() -> [UInt8] {
    var fields = FieldWriter()
    fields.unsigned(1, UInt64(subtype.rawValue))
    fields.text(2, format)
    if !sort.isEmpty { fields.list(3, sort) { $0.text($1) } }
    if includesHidden { fields.value(4) { $0.bool(true) } }
    if let addedWithinDays { fields.unsigned(5, UInt64(addedWithinDays)) }
    return fields.finish()
  }

  init(_ bytes: RawSpan) throws {
    var query = SmartAlbumQuery(.smartAlbumGeneric, where: .always)
    var found: Set<UInt64> = []
    try bytes.forEachField { reader, key in
      found.insert(key)
      switch key {
      case 1: query.subtype = AlbumSubtype(rawValue: try reader.number(Int.self))
      case 2: query.format = try reader.text()
      case 3: for _ in 0..<(try reader.array()) { query.sort.append(try reader.text()) }
      case 4: query.includesHidden = try reader.bool()
      case 5: query.addedWithinDays = try reader.number(Int.self)
      default: throw EventCodingError(sentence: "unknown property \(key) of a query.")
      }
    }
    guard found.isSuperset(of: [1, 2]) else { throw EventCodingError(sentence: "a query lacks a property.") }
    self = query
  }
}
