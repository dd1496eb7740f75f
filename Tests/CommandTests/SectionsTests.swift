import Foundation
import Testing

@Suite("Sections")
struct SectionsTests {
  /// Five assets: creation dates, and wall times where there are two.
  private func sandbox() throws -> Sandbox {
    let sandbox = try Sandbox()
    let dates = [
      ("2024-05-31T23:30:00+02:00", #""2024-05-31T23:30:00""#), ("2024-05-31T22:30:00Z", "null"),
      ("2024-06-02T10:00:00Z", #""2024-06-02T10:00:00""#), ("2019-01-01T00:00:00Z", #""2019-01-01T00:00:00""#),
      ("2024-06-20T10:00:00Z", #""2024-06-20T10:00:00""#),
    ]
    let operations = dates.enumerated().map { index, date in
      let data = Data("picture \(index)".utf8).base64EncodedString()
      return #"{"op":"asset.create","mediaType":"image","creationDate":"\#(date.0)","localCreationDate":\#(date.1),"#
        + #""resources":[{"type":"photo","data":"\#(data)","originalFilename":"IMG_\#(index).jpg"}]}"#
    }
    let answers = try sandbox.apply([#"{"changes":[\#(operations.joined(separator: ","))]}"#])
    #expect((answers.first?["created"] as? [String])?.count == 5, "\(answers)")
    return sandbox
  }

  @Test("sections are counted by the camera's wall clock, newest first, unless options say otherwise")
  func defaults() throws {
    let sandbox = try sandbox()
    #expect(
      try sandbox.run(["sections", "--json"]).lines == [
        #"{"section":"2024-06","start":"2024-06-01T00:00:00","end":"2024-07-01T00:00:00","firstIndex":0,"count":2}"#,
        #"{"section":"2024-05","start":"2024-05-01T00:00:00","end":"2024-06-01T00:00:00","firstIndex":2,"count":1}"#,
        #"{"section":"2019-01","start":"2019-01-01T00:00:00","end":"2019-02-01T00:00:00","firstIndex":3,"count":1}"#,
        #"{"section":null,"start":null,"end":null,"firstIndex":4,"count":1}"#,
      ])
    let table = try sandbox.run(["sections", "--by", "year"]).lines
    let columns = table.map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
    #expect(columns == ["section assets", "2024 3", "2019 1", "undated 1"])
    #expect(table[1].hasSuffix(" " + String(repeating: "█", count: 40)), "\(table)")
  }

  @Test("a time zone moves an instant to another day, and the bounds of a section with it")
  func zones() throws {
    let sandbox = try sandbox()
    func sections(_ words: String...) throws -> [String] {
      try sandbox.run(["sections", "--json"] + words).objects().map { object in
        "\(try #require(object["section"] as? String)) \(try #require(object["count"] as? Int))"
      }
    }
    #expect(try sections("--sort", "creationDate") == ["2019-01 1", "2024-05 2", "2024-06 2"])
    #expect(try sections("--time-zone", "Europe/Berlin") == ["2024-06 3", "2024-05 1", "2019-01 1"])
    #expect(try sections("--time-zone=-08:00", "--by", "year") == ["2024 4", "2018 1"])
    #expect(
      try sections("--time-zone", "+05:45", "--limit", "3", "--by", "day")
        == ["2024-06-20 1", "2024-06-02 1", "2024-06-01 1"])
    let berlin = try #require(try sandbox.run(["sections", "--json", "--time-zone", "Europe/Berlin"]).objects().first)
    #expect(berlin["start"] as? String == "2024-06-01T00:00:00+02:00")
    let utc = try #require(try sandbox.run(["sections", "--json", "--sort", "creationDate"]).objects().first)
    #expect(utc["end"] as? String == "2019-02-01T00:00:00Z")
  }

  @Test(
    "invalid sections are rejected with a sentence and status 2",
    arguments: [
      (["--by", "week"], "got 'week'"), (["--by", "mont"], "did you mean month?"),
      (["--sort", "duration"], "got 'duration'"),
      (["--sort", "isFavorite", "--sort", "creationDate"], "got 'isFavorite'"),
      (["--time-zone", "Europe/Berlni"], "did you mean Europe/Berlin?"), (["--time-zone", "+25:00"], "got '+25:00'"),
      (["--time-zone", "GMT", "--sort", "localCreationDate"], "a wall time"), (["--where", "fnord == 1"], "fnord"),
    ])
  func refusals(words: [String], sentence: String) throws {
    let result = try Sandbox(makesLibrary: false).run(["sections"] + words)
    #expect(result.status == 2)
    #expect(result.errors.contains(sentence), "\(result.errors)")
    #expect(result.output.isEmpty)
  }

  @Test("an empty library has no sections")
  func empty() throws {
    let result = try Sandbox().run(["sections"])
    #expect(result.status == 0 && result.output.isEmpty && result.errors.isEmpty)
  }
}
