import Foundation
import JSONReading
import LMDB
import TestSupport
import Testing

@testable import LibraryJSON
@testable import PhotoLedgerCommand

// Numbers that no medium, place or date has: refused where they come in, printed where an older program took them.

@Suite("Hostile numbers")
struct HostileNumberTests {
  private static let resource =
    #""resources":[{"type":"photo","data":"eA==","originalFilename":"a.jpg"}]"#

  private static func creation(_ field: String) -> String {
    #"{"changes":[{"op":"asset.create","mediaType":"image",\#(field),\#(resource)}]}"#
  }

  @Test(
    "a number is printed as JSON whatever it is, and read back as the same",
    arguments: [
      -0x1p63, 0x1p63, 0x1p53, -0x1p53, 0x1p53 - 1, 0, 1, -1, 0.5, -273.15, 1e300, -1e300, Double.leastNonzeroMagnitude,
      1.7976931348623157e308,
    ])
  func printing(number: Double) throws {
    let text = JSON.number(number).description
    #expect(try JSONReader.read(Array(text.utf8)).numberValue == number, "\(text)")
    #expect(JSON.number(.nan).description == "null" && JSON.number(-.infinity).description == "null")
  }

  @Test("a line with a number outside its field's range is answered, and the lines after it are executed")
  func lines() throws {
    let sandbox = try Sandbox()
    let answers = try sandbox.apply([
      #"{"changes":-9223372036854775809}"#, #"{"changes":[{"op":-9223372036854775808}]}"#,
      #"{"changes":[{"op":"album.create","title":-9.3e18}]}"#, #"{"key":-9223372036854775808,"changes":[]}"#,
      #"{"changes":[{"op":"album.create","title":"after"}]}"#,
    ])
    #expect(answers.count == 5 && answers.dropLast().allSatisfy { $0["error"] != nil })
    #expect(answers.last?["created"] != nil)
  }

  @Test(
    "a number outside the range of a place, date or medium is rejected by name, from the owner and an add-only client")
  func refused() throws {
    let cases: [(String, String)] = [
      (#""location":{"latitude":1,"longitude":2,"altitude":-9223372036854775808}"#, "altitude"),
      (#""location":{"latitude":1,"longitude":2,"altitude":1e300}"#, "altitude"),
      (#""location":{"latitude":1,"longitude":2,"altitude":-12001}"#, "altitude"),
      (#""location":{"latitude":90.0001,"longitude":2}"#, "location"),
      (#""location":{"latitude":1,"longitude":-9223372036854775808}"#, "location"),
      (#""duration":-9223372036854775808"#, "duration"), (#""duration":1e300"#, "duration"),
      (#""pixelWidth":4294967295"#, "pixels"), (#""pixelHeight":9223372036854775807"#, "pixels"),
    ]
    let sandbox = try Sandbox()
    let camera = "com.example.camera"
    #expect(try sandbox.run(["client", "register", camera]).status == 0)
    #expect(try sandbox.run(["client", "authorize", camera, "--level", "addOnly"]).status == 0)
    let input = ([#""duration":0"#] + cases.map(\.0)).map { Self.creation($0) + "\n" }.joined()
    for client in [[], ["--as", camera]] {
      let answers = try sandbox.run(["apply"] + client, input: input).lines
      try #require(answers.count == 1 + cases.count)
      #expect(!answers[0].contains("\"error\""), "\(client): \(answers[0])")
      for (answer, (field, name)) in zip(answers.dropFirst(), cases) {
        #expect(answer.contains("\"error\"") && answer.contains(name), "\(client), \(field): \(answer)")
      }
    }
    #expect(try sandbox.identifiers().count == 2)
  }

  @Test("an instant whose time at its offset is outside the years of RFC 3339 is printed in UTC, and read back")
  func outermostYears() throws {
    let sandbox = try Sandbox()
    let cases = [
      (#""creationDate":"9999-12-31T23:59:59Z","timeZoneOffset":28800"#, "9999-12-31T23:59:59Z"),
      (#""creationDate":"9999-12-31T16:00:00Z","timeZoneOffset":28800"#, "9999-12-31T16:00:00Z"),
      (#""creationDate":"9999-12-31T15:59:59Z","timeZoneOffset":28800"#, "9999-12-31T23:59:59+08:00"),
      (#""creationDate":"0000-01-01T00:59:59Z","timeZoneOffset":-3600"#, "0000-01-01T00:59:59Z"),
      (#""creationDate":"0000-01-01T01:00:00Z","timeZoneOffset":-3600"#, "0000-01-01T00:00:00-01:00"),
      // UTC has no year for them, and the offset has one.
      (#""creationDate":"9999-12-31T23:59:59-01:00""#, "9999-12-31T23:59:59-01:00"),
      (#""creationDate":"0000-01-01T00:00:00+01:00""#, "0000-01-01T00:00:00+01:00"),
    ]
    let answers = try sandbox.apply(cases.map { Self.creation($0.0) })
    for (answer, (fields, text)) in zip(answers, cases) {
      let asset = try #require((answer["created"] as? [String])?.first, "\(fields): \(answer)")
      let shown = try #require(try sandbox.run(["show", asset, "--json"]).objects().first?["creationDate"] as? String)
      #expect(shown == text, "\(fields)")
      #expect(WrittenDate(shown) != nil, "\(fields): \(shown)")
    }
    #expect(answers.count == cases.count)
  }

  @Test("values out of range that an older program stored are printed by every command that shows them")
  func stored() throws {
    let sandbox = try Sandbox()
    let asset = try sandbox.makeAssets(1)[0]
    let line =
      #"{"changes":[{"op":"asset.edit","assets":["\#(asset)"],"location":"#
      + #"{"latitude":1.5,"longitude":2.5,"altitude":3.25}}]}"#
    #expect(try sandbox.apply([line])[0]["error"] == nil)
    // The bytes of the altitude, in the row and in the events, become those of another.
    let environment = try Environment.store(ofLibrary: sandbox.library)
    for name in ["assets", "events"] {
      let database = try environment.database(name, integerKeys: true, create: false)
      try environment.write { t in
        var rows: [(UInt64, [UInt8])] = []
        try t.forEach(in: database, from: 0) { (key, value) throws(LMDBError) in
          rows.append((key, value.withUnsafeBytes { Array($0) }))
          return .proceed
        }
        for (key, value) in rows {
          try t.put(key, Self.replacing(value, isRow: name == "assets").span.bytes, in: database)
        }
      }
    }
    try environment.close()
    for words in [
      ["ls", "--json"], ["log", "--json"], ["show", asset, "--json"], ["diff", "1", "now", "--json"], ["show", asset],
      ["history"], ["log"], ["ls"], ["diff", "1", "now"],
    ] {
      let result = try sandbox.run(words)
      #expect(result.status == 0 && result.errors.isEmpty, "\(words): \(result.errors)")
      if words.last == "--json" { #expect(result.output.contains("-9.223372036854776e+18"), "\(words)") }
    }
    let watch = try Running(sandbox, ["watch"])
    _ = try watch.line()
    #expect(try sandbox.run(["favorite", asset]).status == 0)
    #expect(try watch.line().contains("-9.223372036854776e+18"))
    let end = try watch.finish(interrupting: true)
    #expect(end.status == 0 && end.errors.isEmpty, "\(end.errors)")
  }

  @Test(
    "a photo whose XMP has an impossible altitude is imported without it, and every command prints",
    .enabled(if: SamplePhotos.areInstalled("exiftool"), "Needs exiftool, which reads the photos."))
  func imported() throws {
    let sandbox = try Sandbox()
    let photos = sandbox.folder.appending(path: "photos")
    try FileManager.default.createDirectory(at: photos, withIntermediateDirectories: true)
    // The first is one that is taken, so that it is known that they are read.
    let altitudes = [
      "850/1", "-9223372036854775808/1", "9223372036854775807/1", "18446744073709551616/1", "1e300", "-1e300",
      "1e300/1", "-1e300/1", "1e308", "1e999", "-1e999/1", "1/0", "-1/0", "0/0", "inf", "-inf", "nan", "-12001/1",
      "4294967295/1", "words", "",
    ]
    for (index, altitude) in altitudes.enumerated() {
      var photo = TinyMedia.Photo(comment: "\(index)")
      (photo.place, photo.altitude) = ([47, 8], altitude)
      try TinyMedia.jpeg(photo).write(to: photos.appending(path: "\(index).jpg"))
    }
    let run = try sandbox.run(["import", photos.path, "--json"])
    #expect(run.status == 0 && run.errors.isEmpty, "\(run.end) \(run.errors)")
    #expect(try run.objects().first?["assetsAdded"] as? Int == altitudes.count, "\(run.output)")
    let log = try sandbox.run(["log", "--json"])
    let entries = try log.objects()
    #expect(log.status == 0 && log.errors.isEmpty && entries.count >= altitudes.count, "\(log.errors)")
    let list = try sandbox.run(["ls", "--json"])
    let listed = try list.objects()
    #expect(list.status == 0 && list.errors.isEmpty && listed.count == altitudes.count, "\(list.errors)")
    for object in listed {
      let place = try #require(object["location"] as? [String: Any])
      let asset = try #require(object["localIdentifier"] as? String)
      let shown = try sandbox.run(["show", asset, "--json"])
      #expect(shown.status == 0 && shown.errors.isEmpty, "\(shown.errors)")
      let resources = try #require(try shown.objects().first?["resources"] as? [[String: Any]])
      let name = try #require(resources.first?["originalFilename"] as? String)
      #expect(place["latitude"] as? Double == 47 && place["longitude"] as? Double == 8, "\(name)")
      #expect(place["altitude"] as? Double == (name == "0.jpg" ? 850 : nil), "\(name): \(place)")
    }
  }

  /// Puts the altitude -2^63 where 3.25 stands.
  private static func replacing(_ bytes: [UInt8], isRow: Bool) -> [UInt8] {
    var bytes = bytes
    if isRow {
      withUnsafeBytes(of: -0x1p63) { bytes.replaceSubrange(104..<112, with: $0) }
      return bytes
    }
    // CBOR: 3.25 is f9 42 80, and -2^63 is fa df 00 00 00, after the longitude f9 41 00. The payload's length, one more
    // byte in front of it than its head, grows by two.
    let place: [UInt8] = [0xF9, 0x3E, 0x00, 0xF9, 0x41, 0x00, 0xF9, 0x42, 0x80]
    guard let start = bytes.indices.first(where: { bytes[$0...].starts(with: place) }) else { return bytes }
    bytes.replaceSubrange(start + 6..<start + 9, with: [0xFA, 0xDF, 0, 0, 0])
    for head in stride(from: start, to: 0, by: -1) where bytes[head - 1] == 0x58 {
      guard Int(bytes[head]) + head >= start else { continue }
      bytes[head] += 2
      return bytes
    }
    return bytes
  }
}
