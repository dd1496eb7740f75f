import Foundation
import TestSupport

@testable import MediaImport

/// A library as Google has it, and the files that a Takeout of it consists of.
///
/// The naming is Google's, written down here a second time and the other way round: from the library to files.
struct ModelTakeout {
  struct Photo {
    var number: Int
    var title: String
    /// As EXIF spells it; nil: the file has no time.
    var wallTime: String?
    var takenTime: Int
    var caption = ""
    var isFavorite = false
    var isArchived = false
    var isTrashed = false
    var isPartnerShared = false
    var people: [String] = []
    var place: (Double, Double)?
    /// Positions among the albums.
    var albums: [Int] = []
    /// The word behind the hyphen of an edited copy; nil: there is none.
    var editedWord: String?
    var hasMovie = false
  }

  struct Album {
    var title: String
    var folder: String
  }

  /// How the JSON of an item is named.
  enum Naming: CaseIterable { case plain, supplemental, cut }

  var photos: [Photo] = []
  var albums: [Album] = []
  var naming = Naming.supplemental
  var yearWords = "Photos from "
  var albumFile = "metadata.json"
  var hasYearFiles = false

  static let albumFiles = [
    "metadata.json", "Metadaten.json", "métadonnées.json", "metadatos.json", "metadati.json", "メタデータ.json",
    "метаданные.json", "metadane.json", "메타데이터.json", "元数据.json",
  ]
  static let yearWords = [
    "Photos from ", "Fotos von ", "Photos de ", "Fotos de ", "Foto da ", "Foto's uit ", "Zdjęcia z ", "Фото за ",
  ]
  private static let words =
    TakeoutNames.editedSuffixes.map { String($0.dropFirst()) } + ["unbekanntes Wort", "чужое"]
  private static let stems = [
    "IMG", "IMG_20230101_120000", "été à la mer", "写真", "What? & why", "a.b.c", "x(3)", "holiday-",
    "A very long title that somebody has written for a photo of the sea",
    "A very long title that somebody has written for a photo of the sky",
    "Ein recht langer Name mit Umlauten äöü ÄÖÜ ß",
    "exactly forty-six characters are in this nam", "PXL_20231006_063909898.PORTRAIT", "screenshot 2024-01-01",
  ]

  init(seed: UInt64, photoCount: Int = 14) {
    var random = SeededGenerator(seed: seed)
    naming = random.one(of: Naming.allCases)
    (yearWords, albumFile) = (random.one(of: Self.yearWords), random.one(of: Self.albumFiles))
    hasYearFiles = random.chance(1, of: 2)
    let titles = random.some(4, of: ["Sea", "Sea", "Été 2023", "", "Fotos/de", "2019 in short", "山"])
    for (index, title) in titles.enumerated() {
      let safe = title.isEmpty ? "Untitled" : title.replacingOccurrences(of: "/", with: "_")
      let isTaken = albums.contains { $0.folder == safe }
      albums.append(Album(title: title, folder: isTaken ? "\(safe)(\(index))" : safe))
    }
    for number in 0..<photoCount {
      let hasMovie = random.chance(1, of: 6)
      var photo = Photo(
        number: number, title: random.one(of: Self.stems) + random.one(of: [".jpg", ".JPG"]),
        takenTime: 1_577_836_800 + random.int(0..<150_000_000))
      if hasMovie { photo.title = "MOV_\(number).jpg" }
      if random.chance(1, of: 2) { photo.wallTime = "2021:02:03 04:05:\(10 + number)" }
      if random.chance(1, of: 2) { photo.caption = "caption \(number)\nline é" }
      photo.isFavorite = random.chance(1, of: 4)
      photo.isArchived = random.chance(1, of: 5)
      photo.isTrashed = random.chance(1, of: 6)
      photo.isPartnerShared = random.chance(1, of: 6)
      photo.people = random.some(random.int(0..<3), of: ["Ana", "Bo", "Çiğdem"])
      if random.chance(1, of: 3) { photo.place = (Double(random.int(1..<80)), Double(random.int(1..<170))) }
      photo.albums = albums.indices.filter { _ in random.chance(1, of: 3) }
      if random.chance(1, of: 3), !hasMovie { photo.editedWord = random.one(of: Self.words) }
      photo.hasMovie = hasMovie
      photos.append(photo)
    }
  }

  /// The bytes of a photo, of its edited copy, or of its movie.
  func data(_ photo: Photo, _ what: String = "original") -> Data {
    if what == "movie" { return TinyMedia.movie(created: 3_600_000_000 + UInt32(photo.number)) }
    var tiny = TinyMedia.Photo(comment: "\(photo.number) \(what)")
    tiny.dateTimeOriginal = photo.wallTime
    return TinyMedia.jpeg(tiny)
  }

  func year(of photo: Photo) -> Int {
    Calendar(identifier: .gregorian).dateComponents(
      in: TimeZone(secondsFromGMT: 0) ?? .gmt, from: Date(timeIntervalSince1970: Double(photo.takenTime))
    ).year ?? 0
  }

  /// Whether an edited copy is certain: by the word, or by the time and the camera.
  func stacksCopy(of photo: Photo) -> Bool {
    guard let word = photo.editedWord, !photo.isTrashed else { return false }
    return photo.wallTime != nil || !["unbekanntes Wort", "чужое"].contains(word)
  }

  // MARK: Files

  /// Every file of the export by its path.
  func files() -> [String: Data] {
    var files: [String: Data] = [:]
    let root = "Takeout/Google Photos"
    var folders: [String: [Photo]] = [:]
    for photo in photos {
      folders["\(yearWords)\(year(of: photo))", default: []].append(photo)
      for album in photo.albums { folders[albums[album].folder, default: []].append(photo) }
    }
    for (folder, photos) in folders {
      for (name, data) in Self.named(photos, naming, self) { files["\(root)/\(folder)/\(name)"] = data }
      if hasYearFiles, folder.hasPrefix(yearWords) { files["\(root)/\(folder)/\(albumFile)"] = Self.album(folder) }
    }
    for album in albums where folders[album.folder] != nil {
      files["\(root)/\(album.folder)/\(albumFile)"] = Self.album(album.title)
    }
    files["\(root)/print-subscriptions.json"] = Data("{\"orders\":[]}".utf8)
    return files
  }

  /// The files of one folder: items are named in the order of the library, and so are their JSONs.
  static func named(_ photos: [Photo], _ naming: Naming, _ model: ModelTakeout) -> [(String, Data)] {
    var files: [(String, Data)] = []
    var used: Set<String> = []
    var stems: [String: Int] = [:]
    for photo in photos {
      let base = fileName(photo.title)
      var name = base
      var count = 0
      while !used.insert(name.lowercased()).inserted {
        count += 1
        name = numbered(base, count)
      }
      files.append((name, model.data(photo)))
      var json = jsonStem(base, naming, photo.number)
      // A number that stands in the name of the item stands in that of its JSON; others are given as they are needed.
      let key = json.lowercased()
      let number = max(count, stems[key] ?? 0)
      stems[key] = number + 1
      if number > 0 { json += "(\(number))" }
      files.append((json + ".json", model.json(photo)))
      if let word = photo.editedWord {
        let stem = TakeoutNames.stem(base)
        let copy = numbered("\(stem)-\(word)\(base.dropFirst(stem.count))", count)
        if used.insert(copy.lowercased()).inserted { files.append((copy, model.data(photo, "edited"))) }
      }
      if photo.hasMovie {
        files.append((TakeoutNames.stem(name) + ".MP4", model.data(photo, "movie")))
      }
    }
    return files
  }

  /// What Google calls a file with a title: forbidden characters replaced, at most 47 characters before the extension.
  static func fileName(_ title: String) -> String {
    let stem = TakeoutNames.stem(title)
    let safe = String(stem.map { "&\"'<>:/\\|?*%".contains($0) ? "_" : $0 })
    return String(safe.prefix(47)) + title.dropFirst(stem.count)
  }

  static func numbered(_ name: String, _ count: Int) -> String {
    if count == 0 { return name }
    let stem = TakeoutNames.stem(name)
    return "\(stem)(\(count))\(name.dropFirst(stem.count))"
  }

  static func jsonStem(_ base: String, _ naming: Naming, _ number: Int) -> String {
    let whole =
      switch naming {
      case .plain: base
      case .supplemental: base + ".supplemental-metadata"
      case .cut: base + ".supplemental-metadata".prefix(number * 5 % 23)
      }
    return String(whole.prefix(46))
  }

  func json(_ photo: Photo) -> Data {
    var object: [String: Any] = [
      "title": photo.title, "description": photo.caption,
      "creationTime": ["timestamp": "1700000000", "formatted": "x"],
      "photoTakenTime": ["timestamp": "\(photo.takenTime)", "formatted": "x"],
      "geoData": [
        "latitude": photo.place?.0 ?? 0, "longitude": photo.place?.1 ?? 0, "altitude": 0, "latitudeSpan": 0,
      ],
    ]
    if photo.isFavorite { object["favorited"] = true }
    if photo.isArchived { object["archived"] = true }
    if photo.isTrashed { object["trashed"] = true }
    if photo.isPartnerShared { object["googlePhotosOrigin"] = ["fromPartnerSharing": [:] as [String: Any]] }
    if !photo.people.isEmpty { object["people"] = photo.people.map { ["name": $0] } }
    return (try? JSONSerialization.data(withJSONObject: object)) ?? Data()
  }

  static func album(_ title: String) -> Data {
    let object: [String: Any] = [
      "title": title, "description": "", "access": "protected", "date": ["timestamp": "0", "formatted": "x"],
    ]
    return (try? JSONSerialization.data(withJSONObject: object)) ?? Data()
  }
}
