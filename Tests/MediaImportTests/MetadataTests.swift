import Foundation
import TestSupport
import Testing

import PhotoLedger
@testable import MediaImport

@Suite("from tags to facts")
struct MetadataTests {
  @Test(
    "time stamps",
    arguments: [
      ("2019:04:24 22:24:00+02:00 DST", "2019-04-24T22:24:00 7200"),
      ("2021:05:16 12:27:36.107-07:00", "2021-05-16T12:27:36.107 -25200"),
      ("2005:12:17 22:03:32Z", "2005-12-17T22:03:32 0"),
      ("2020:01:05 15:04Z", "2020-01-05T15:04:00 0"),
      ("2020-02-29T01:02:03", "2020-02-29T01:02:03 nil"),
      ("2099:08:12 19:59:29", "2099-08-12T19:59:29 nil"),
      ("1919:01:01 00:00:00", "1919-01-01T00:00:00 nil"),
      ("2020:01:01 00:00:00+99:00", "2020-01-01T00:00:00 nil"),
      ("2019:02:29 01:02:03", "nil"), ("0000:00:00 00:00:00", "nil"), ("    :  :     :  :  ", "nil"),
      ("2020:13:01 00:00:00", "nil"), ("2020:01:01 24:00:00", "nil"), ("2020:01:01", "nil"), ("2020", "nil"),
      ("", "nil"), ("2020:01:01 00:00:0x", "nil"),
    ])
  func stamps(text: String, expected: String) {
    let stamp = TimeStamp(text)
    #expect(stamp.map { "\($0.whole) \($0.offsetSeconds.map { "\($0)" } ?? "nil")" } ?? "nil" == expected)
  }

  @Test(
    "seconds since 1970 agree with the system's calendar",
    arguments: [1, 1582, 1600, 1900, 1969, 1970, 2000, 2024, 2100, 9999])
  func civil(year: Int) throws {
    for (month, day) in [(1, 1), (2, 28), (3, 1), (12, 31)] {
      let clock = try #require(WallClock(year, month, day, 23, 59, 58))
      var parts = tm()
      (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(year - 1900), Int32(month - 1), Int32(day))
      (parts.tm_hour, parts.tm_min, parts.tm_sec) = (23, 59, 58)
      #expect(clock.secondsSince1970 == Int64(timegm(&parts)))
    }
  }

  static func metadata(_ name: String, _ data: Data) throws -> MediaMetadata {
    let folder = try TemporaryFolder()
    let path = try folder.write(name, data)
    let tags = try SharedTool.exiftool().tags(of: path)
    return try #require(MediaMetadata(tags))
  }

  @Test("the displayed size respects the orientation", arguments: 1...8)
  func orientation(value: Int) throws {
    let metadata = try Self.metadata("x.jpg", TinyMedia.jpeg(.init(width: 8, height: 6, orientation: value)))
    #expect(metadata.storedSize == PixelSize(width: 8, height: 6))
    #expect(metadata.displayedSize == (value > 4 ? PixelSize(width: 6, height: 8) : PixelSize(width: 8, height: 6)))
    #expect(metadata.orientation == value)
  }

  @Test("a camera's clock, its fraction and its offset stay apart")
  func cameraTime() throws {
    var photo = TinyMedia.Photo()
    (photo.offset, photo.subSeconds) = ("+05:30", "070")
    let metadata = try Self.metadata("x.jpg", TinyMedia.jpeg(photo))
    let time = try #require(metadata.captureTime)
    #expect(time.reading.description == "2021-02-03T04:05:06.07" && time.offsetSeconds == 19_800)
    #expect(time.clock == .local && time.source == "ExifIFD:DateTimeOriginal")
    photo.offset = nil
    let without = try Self.metadata("x.jpg", TinyMedia.jpeg(photo)).captureTime
    #expect(without?.reading == time.reading && without?.offsetSeconds == nil && without?.instant == nil)
  }

  @Test("a movie's header is in UTC; a phone's own key has the offset and comes first")
  func movieTime() throws {
    // 2020-01-02 03:04:05 UTC, in seconds since 1904.
    let created: UInt32 = 2_082_844_800 + 1_577_934_245
    let plain = try Self.metadata("x.mov", TinyMedia.movie(created: created))
    #expect(plain.captureTime?.clock == .utc && plain.captureTime?.instant?.seconds == 1_577_934_245)
    #expect(
      plain.mediaType == .video && plain.duration == 2.5 && plain.uniformTypeIdentifier == "com.apple.quicktime-movie")
    let keyed = try Self.metadata(
      "x.mov", TinyMedia.movie(creationDate: "2020-01-02T05:04:05+0200", created: created))
    #expect(keyed.captureTime?.reading.description == "2020-01-02T05:04:05")
    #expect(keyed.captureTime?.offsetSeconds == 7200 && keyed.captureTime?.instant?.seconds == 1_577_934_245)
    let never = try Self.metadata("x.mov", TinyMedia.movie())
    #expect(never.captureTime == nil)
  }

  @Test("the type is the content's, whatever the name")
  func type() throws {
    #expect(try Self.metadata("x.png", TinyMedia.jpeg()).uniformTypeIdentifier == "public.jpeg")
    #expect(try Self.metadata("no extension", TinyMedia.movie()).mimeType == "video/quicktime")
  }

  @Test(
    "a type that Apple does not declare has the identifier that Apple would generate",
    arguments: [("kdbx", "dyn.ah62d4rv4ge8003dcta"), ("docp", "dyn.ah62d4rv4ge80k55dsa")])
  func dynamicType(name: String, identifier: String) {
    #expect(UniformType(undeclared: name).identifier == identifier)
    #expect(MediaMetadata.uniformType(fileType: "JPEG", filenameExtension: nil).identifier == "public.jpeg")
  }

  @Test(
    "coordinates out of range, incomplete ones and words are not a place",
    arguments: [
      (#""GPSLatitude":1,"Composite:GPSLongitude":2"#, false),
      (#""Composite:GPSLatitude":1"#, false),
      (#""Composite:GPSLatitude":"","Composite:GPSLongitude":"""#, false),
      (#""Composite:GPSLatitude":91,"Composite:GPSLongitude":2"#, false),
      (#""Composite:GPSLatitude":1,"Composite:GPSLongitude":181"#, false),
      (#""Composite:GPSLatitude":"nan","Composite:GPSLongitude":2"#, false),
      (#""Composite:GPSLatitude":0,"Composite:GPSLongitude":0"#, true),
      (#""Composite:GPSLatitude":-90,"Composite:GPSLongitude":180,"GPS:GPSAltitude":"undef""#, true),
      (#""Composite:GPSLatitude":1,"Composite:GPSLongitude":2,"XMP-exif:GPSAltitude":-9223372036854775808"#, true),
      (#""Composite:GPSLatitude":1,"Composite:GPSLongitude":2,"GPS:GPSAltitude":4294967295"#, true),
    ])
  func places(members: String, isPlace: Bool) throws {
    let json = #"[{"File:MIMEType":"image/jpeg","File:FileType":"JPEG",\#(members)}]"#
    let tags = try #require(ExifTags(json: Array(json.utf8)))
    let metadata = try #require(MediaMetadata(tags))
    #expect((metadata.location != nil) == isPlace)
    #expect(metadata.location?.altitude == nil)
  }

  @Test(
    "a place south or west has its sign from the composite or from the direction, whatever stands first",
    arguments: [
      #""EXIF:GPSLatitude":33.5,"EXIF:GPSLatitudeRef":"S","EXIF:GPSLongitude":70.25,"EXIF:GPSLongitudeRef":"W","#
        + #""EXIF:GPSAltitudeRef":1,"EXIF:GPSAltitude":12,"Composite:GPSAltitude":-12,"#
        + #""Composite:GPSLatitude":-33.5,"Composite:GPSLongitude":-70.25"#,
      #""EXIF:GPSLatitude":33.5,"EXIF:GPSLatitudeRef":"S","EXIF:GPSLongitude":70.25,"EXIF:GPSLongitudeRef":"W","#
        + #""EXIF:GPSAltitudeRef":1,"EXIF:GPSAltitude":12"#,
      #""EXIF:GPSLatitude":-33.5,"EXIF:GPSLatitudeRef":"S","EXIF:GPSLongitude":-70.25,"EXIF:GPSLongitudeRef":"W","#
        + #""EXIF:GPSAltitude":-12"#,
      #""Keys:GPSCoordinates":"-33.5 -70.25 -12""#,
    ])
  func directions(members: String) throws {
    let tags = try #require(ExifTags(json: Array("[{\(members)}]".utf8)))
    #expect(Location(tags) == Location(latitude: -33.5, longitude: -70.25, altitude: -12))
  }

  @Test("exiftool's preferred value comes first, its copies after")
  func preference() throws {
    let json = #"[{"IFD1:Copy1:Make":"B","IFD0:Make":"A","XMP-tiff:Copy2:Make":["C","D"],"IFD0:Title":1.10}]"#
    let tags = try #require(ExifTags(json: Array(json.utf8)))
    #expect(tags.text("Make") == "A" && tags.all("Make").map(\.group).first == "IFD0")
    #expect(tags.all("Make").flatMap(\.texts).sorted() == ["A", "B", "C", "D"])
    #expect(tags.text("Title") == "1.10")
  }
}
