import Foundation
import PhotoLedger
import TestSupport
import Testing

@testable import MediaImport

// A library is invented, written as iCloud would export it, imported, and compared with what was invented.

@Suite("importing an export of iCloud Photos")
struct ICloudImportTests {
  struct Photo {
    var name: String
    var part: Int
    var wallTime: String?
    var taken: String
    var seconds: Int
    var isFavorite = false
    var isHidden = false
    var isDeleted = false
    var albums: [Int] = []
    var hasMovie = false
    var number: Int

    var data: Data {
      var tiny = TinyMedia.Photo(comment: "iCloud \(number)")
      tiny.dateTimeOriginal = wallTime
      return TinyMedia.jpeg(tiny)
    }

    var movie: Data { TinyMedia.movie(created: 3_600_000_000 + UInt32(number)) }
  }

  /// Names that all parts share, so that lists of albums cannot tell them apart, and names of one photo.
  static func photos(seed: UInt64) -> [Photo] {
    var random = SeededGenerator(seed: seed)
    return (0..<12).map { number in
      let minute = random.int(0..<60)
      let hour = random.int(0..<24)
      let text =
        "Friday June 23,2023 \((hour + 11) % 12 + 1):\(minute < 10 ? "0" : "")\(minute) \(hour < 12 ? "AM" : "PM") GMT"
      var photo = Photo(
        name: number < 4 ? "IMG_000\(number % 2).JPG" : "IMG_1\(number), x.JPG", part: number % 3, taken: text,
        seconds: 1_687_478_400 + hour * 3600 + minute * 60, number: number)
      if random.chance(1, of: 2) { photo.wallTime = "2021:02:03 04:05:\(10 + number)" }
      photo.isFavorite = random.chance(1, of: 3)
      photo.isHidden = random.chance(1, of: 4)
      photo.isDeleted = random.chance(1, of: 5)
      photo.hasMovie = number >= 4 && random.chance(1, of: 3)
      photo.albums = (0..<3).filter { _ in random.chance(1, of: 2) }
      return photo
    }
  }

  static let albums = ["Sea, 2023", "Été", "Empty"]

  static func files(_ photos: [Photo]) -> [(part: Int, path: String, data: Data)] {
    var files: [(Int, String, Data)] = []
    for part in 0..<3 {
      let root = "iCloud Photos Part \(part + 1) of 3/Photos"
      var rows = ["imgName,fileChecksum,favorite,hidden,deleted,originalCreationDate,viewCount,importDate"]
      for photo in photos where photo.part == part {
        func word(_ value: Bool) -> String { value ? "yes" : "no" }
        rows.append(
          "\"\(photo.name)\",x,\(word(photo.isFavorite)),\(word(photo.isHidden)),\(word(photo.isDeleted)),"
            + "\"\(photo.taken)\",1,\"\(photo.taken)\"")
        files.append((part, "\(root)/\(photo.name)", photo.data))
        if photo.hasMovie { files.append((part, "\(root)/\(TakeoutNames.stem(photo.name)).MOV", photo.movie)) }
      }
      let half = rows.count / 2 + 1
      files.append((part, "\(root)/Photo Details.csv", Data(rows[..<half].joined(separator: "\r\n").utf8)))
      files.append(
        (part, "\(root)/Photo Details-1.csv", Data(([rows[0]] + rows[half...]).joined(separator: "\n").utf8)))
    }
    for (index, album) in albums.enumerated() where index < 2 {
      let names = photos.reversed().filter { $0.albums.contains(index) }.map { "\"\($0.name)\"" }
      files.append((0, "iCloud Photos/Albums/\(album).csv", Data((["Images"] + names).joined(separator: "\n").utf8)))
    }
    return files
  }

  @Test(
    "an export is imported completely, from folders and archives",
    .enabled(if: TakeoutImportTests.canUnpack, "bsdtar of libarchive-tools is not installed."),
    arguments: [false, true], Dose.isFull ? 1...5 : 1...2)
  func roundTrip(isZipped: Bool, seed: Int) async throws {
    let photos = Self.photos(seed: UInt64(seed))
    let files = Self.files(photos)
    let folder = try TemporaryFolder()
    for file in files { try folder.write("part\(file.part)/\(file.path)", file.data) }
    let parts = try (0..<3).map { part in
      guard isZipped else { return FilePath("\(folder.path)/part\(part)") }
      let target = "\(folder.path)/iCloud Photos Part \(part + 1) of 3.zip"
      try TakeoutImportTests.run(["bsdtar", "--format=zip", "-cf", target, "-C", "\(folder.path)/part\(part)", "."])
      return FilePath(target)
    }
    let rig = try ImportedLibrary()
    let (summary, _) = try await rig.run(parts, of: .iCloud)
    let what: Comment = "seed \(seed)"
    #expect(summary.filesFound == files.count && summary.outcomeCount == files.count, what)
    var ids: [Int: LocalIdentifier] = [:]
    for photo in photos {
      let asset = try #require(try TakeoutImportTests.asset(photo.data, rig.library), what)
      ids[photo.number] = asset.id
      #expect(asset.isFavorite == photo.isFavorite && asset.isHidden == photo.isHidden, what)
      #expect(asset.isTrashed == photo.isDeleted, what)
      #expect(try rig.library.resources(of: asset).count == (photo.hasMovie ? 2 : 1), what)
      if photo.wallTime == nil {
        #expect(asset.creationDate == Date(timeIntervalSince1970: Double(photo.seconds)), what)
      } else {
        #expect(LibraryCorpusTests.time(of: asset).hasPrefix("2021-02-03T04:05:"), what)
      }
    }
    #expect(try rig.everything().count == photos.count, what)
    let collections = Array(try rig.library.fetchCollections(with: .album))
    for (index, title) in Self.albums.enumerated() {
      let members = photos.reversed().filter { $0.albums.contains(index) && $0.number >= 4 }
      let album = collections.first { $0.localizedTitle == title }
      guard index < 2, !members.isEmpty else {
        #expect(album == nil, what)
        continue
      }
      let shown = try rig.members(of: try #require(album, what))
      #expect(shown == members.filter { !$0.isDeleted }.map { ids[$0.number] }, what)
      let trashed = try rig.members(of: try #require(album, what), showingTrash: true)
      #expect(Set(trashed) == Set(members.filter(\.isDeleted).compactMap { ids[$0.number] }), what)
    }
    let token = try rig.library.currentToken
    _ = try await rig.run(parts, of: .iCloud)
    #expect(try rig.library.currentToken == token, "A second import changes nothing.")
  }

  @Test(
    "dates are read in the forms that Apple writes",
    arguments: [
      ("Friday June 23,2023 9:36 PM GMT", "2023-06-23T21:36:00"),
      ("Friday June 23, 2023 12:05 AM GMT", "2023-06-23T00:05:00"),
      ("Friday June 23,2023 12:05\u{202F}PM GMT", "2023-06-23T12:05:00"),
      ("Monday March 1,2021 1:02:03 AM GMT", "2021-03-01T01:02:03"), ("2019-05-01 12:00:00", "2019-05-01T12:00:00"),
      ("2019-05-01T12:00:00Z", "2019-05-01T12:00:00"), ("yesterday", nil), ("Friday June 31,2023 9:36 PM GMT", nil),
      ("Friday Juni 23,2023 9:36 PM GMT", nil), ("Friday June 23,2023 13:36 PM GMT", nil),
      ("2019-05-01 12:00:0\u{FF15}", nil), ("\u{0662}\u{0660}19-05-01 12:00:00", nil),
      ("Friday June 23,2023 9:3\u{FF16} PM GMT", nil), ("Friday June 23,2023 9:36:0\u{0665} PM GMT", nil),
    ])
  func dates(text: String, expected: String?) {
    #expect(ICloudSource.time(text)?.reading.description == expected)
  }

  @Test("lists are read with quotation marks, line ends of any kind and without a byte order mark")
  func lists() {
    let text = "\u{FEFF}a,b\r\n\"x, \"\"y\"\"\nz\",2\n\nlast"
    #expect(CSVText.rows(Array(text.utf8)) == [["a", "b"], ["x, \"y\"\nz", "2"], ["last"]])
    #expect(CSVText.rows([]) == [] && CSVText.rows(Array("\"open".utf8)) == [["open"]])
  }

  @Test("a field keeps at most 128 marks of a character")
  func manyMarks() {
    let marks = String(repeating: "\u{301}\u{323}", count: 100_000)
    let fields = CSVText.rows(Array("q\(marks),x\n\"\(marks)\"\n".utf8)).map { $0.map(\.unicodeScalars.count) }
    #expect(fields == [[129, 1], [128]])
  }

  @Test("a list of more fields than the limit ends before the row that reaches it")
  func manyFields() {
    let text = Array("a,b\n\n\nc,d\ne,f,g\n".utf8)
    #expect(CSVText.rows(text, fieldLimit: 6) == [["a", "b"], ["c", "d"]])
    #expect(CSVText.rows(text, fieldLimit: 8) == [["a", "b"], ["c", "d"], ["e", "f", "g"]])
    #expect(CSVText.rows(Array(repeating: UInt8(ascii: ","), count: 100), fieldLimit: 10) == [])
  }
}
