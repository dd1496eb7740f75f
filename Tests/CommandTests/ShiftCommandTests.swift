import Foundation
import Testing

// `shift` as a person uses it whose camera had the wrong time.

@Suite("The command shift")
struct ShiftCommandTests {
  /// Photos of three days, the last without a date.
  private static func photos(_ sandbox: Sandbox) throws -> [String] {
    let dates = ["2024-03-30T23:30:00+01:00", "2024-03-31T12:00:00+02:00", "2024-04-01T09:00:00.25Z", nil]
    let operations = dates.enumerated().map { index, date in
      let data = Data("photo \(index)".utf8).base64EncodedString()
      let taken = date.map { #""creationDate":"\#($0)","# } ?? ""
      return #"{"op":"asset.create","mediaType":"image",\#(taken)"resources":[{"type":"photo","data":"\#(data)","#
        + #""originalFilename":"IMG_\#(index).jpg"}]}"#
    }
    let answer = try sandbox.apply([#"{"changes":[\#(operations.joined(separator: ","))]}"#])
    return try #require(answer.first?["created"] as? [String])
  }

  private static func dates(_ sandbox: Sandbox) throws -> [[String?]] {
    try sandbox.run(["ls", "--json"]).objects().map {
      [$0["creationDate"] as? String, $0["localCreationDate"] as? String]
    }
  }

  @Test("a wrong clock is corrected for a range in one commit, and the shift is undone")
  func range() throws {
    let sandbox = try Sandbox()
    _ = try Self.photos(sandbox)
    let before = try Self.dates(sandbox)
    let commits = try sandbox.run(["history", "--json"]).lines.count
    let words = ["shift", "--by", "-01:30", "--from", "2024-03-31", "--cause", "summer time"]
    let dry = try sandbox.run(words + ["--dry-run"])
    #expect(dry.status == 0 && dry.lines.count == 3, "\(dry)")
    #expect(dry.lines[0].hasPrefix("2024-03-31T12:00:00 → 2024-03-31T10:30:00  IMG_1.jpg"))
    #expect(dry.lines[1].hasPrefix("2024-04-01T09:00:00.25Z → 2024-04-01T07:30:00.25Z  IMG_2.jpg"))
    #expect(dry.lines[2] == "2 assets would be shifted.")
    let listed = try sandbox.run(["ls"]).lines.dropFirst().map { String($0.dropFirst(4).prefix(17)) }
    #expect(listed == ["2024-03-30 23:30 ", "2024-03-31 12:00 ", "2024-04-01 09:00Z", "no date          "])
    #expect(try Self.dates(sandbox) == before, "A dry run changes nothing.")

    let run = try sandbox.run(words)
    #expect(run.status == 0 && run.lines.first == "2 assets shifted.", "\(run)")
    let after = try Self.dates(sandbox)
    #expect(after[0] == before[0] && after[3] == [nil, nil])
    #expect(after[1] == ["2024-03-31T10:30:00+02:00", "2024-03-31T10:30:00"], "The offset stays.")
    #expect(after[2] == ["2024-04-01T07:30:00.25Z", nil], "A photo without a wall time gets none.")
    #expect(try sandbox.run(["history", "--json"]).lines.count == commits + 1)
    #expect(try sandbox.run(["log", "--cause", "summer time", "--json"]).lines.count == 1)
    #expect(try sandbox.run(["undo", "--commit", try #require(run.lines.last)]).status == 0)
    #expect(try Self.dates(sandbox) == before)
  }

  @Test("an empty key is a usage error, and no failure of the log is reported")
  func emptyKey() throws {
    let sandbox = try Sandbox()
    let asset = try sandbox.makeAssets(1)[0]
    let shifted = try sandbox.run(["shift", asset, "--by", "90", "--key", ""])
    let sentence = "The request is invalid: the key of a commit has 0 bytes, and may have 1 to 1024."
    #expect(shifted.status == 1 && shifted.errors.contains(sentence), "\(shifted.errors)")
  }

  @Test("named assets are shifted once under a key, and assets without a date are counted")
  func named() throws {
    let sandbox = try Sandbox()
    let ids = try Self.photos(sandbox)
    let words = ["shift", ids[0], ids[3], ids[0], "--by", "90", "--key", "once", "--json"]
    let first = try #require(try sandbox.run(words).objects().first?["summary"] as? [String: Any])
    #expect(first["assets"] as? Int == 1 && first["withoutDate"] as? Int == 1 && first["seconds"] as? Int == 90)
    let second = try #require(try sandbox.run(words).objects().first?["summary"] as? [String: Any])
    #expect(second["isRepetition"] as? Bool == true && second["token"] as? String == first["token"] as? String)
    #expect(try Self.dates(sandbox)[0] == ["2024-03-30T23:31:30+01:00", "2024-03-30T23:31:30"])
  }

  @Test("a known key is reported as one, and no asset as shifted: neither of another selection nor of another command")
  func knownKey() throws {
    let sandbox = try Sandbox()
    let ids = try Self.photos(sandbox)
    let first = try sandbox.run(["shift", ids[0], "--by", "90", "--key", "once"])
    let other = try sandbox.apply([#"{"key":"album","changes":[{"op":"album.create","title":"a"}]}"#])
    let before = try Self.dates(sandbox)
    for (key, token) in [("once", first.lines.last), ("album", other.first?["token"] as? String)] {
      let token = try #require(token)
      let words = ["shift", ids[1], ids[2], ids[3], "--by", "-3600", "--key", key]
      let again = try sandbox.run(words)
      #expect(again.status == 0, "\(again)")
      #expect(again.lines == ["already executed under this key: \(token); nothing was changed now"])
      let summary = try #require(try sandbox.run(words + ["--json"]).objects().first?["summary"] as? [String: Any])
      #expect(summary.keys.sorted() == ["commit", "created", "isDryRun", "isRepetition", "token"], "\(summary)")
      #expect(summary["isRepetition"] as? Bool == true && summary["token"] as? String == token, "\(summary)")
    }
    // What was shifted under the key is no longer in the range, as may be after a shift.
    let range = ["--from", "1990-01-01", "--until", "1990-01-02"]
    let none = try sandbox.run(["shift", "--by", "90", "--key", "once"] + range)
    let token = try #require(first.lines.last)
    #expect(none.lines == ["already executed under this key: \(token); nothing was changed now"], "\(none)")
    #expect(try Self.dates(sandbox) == before)
  }

  @Test("the last moment of --until belongs to the range, and a predicate narrows it")
  func narrowed() throws {
    let sandbox = try Sandbox()
    let ids = try Self.photos(sandbox)
    let words = ["shift", "--by", "+00:00:01", "--until", "2024-03-30", "--dry-run", "--json"]
    let dry = try sandbox.run(words).objects()
    #expect(dry.count == 2 && dry[0]["localIdentifier"] as? String == ids[0], "\(dry)")
    let instant = try #require(dry[0]["creationDate"] as? [String: Any])
    #expect(instant["to"] as? String == "2024-03-30T23:30:01+01:00")
    let none = try sandbox.run(words.dropLast(2) + ["--where", "isFavorite == YES"])
    #expect(none.status == 0 && none.lines == ["0 assets shifted."], "\(none)")
  }

  @Test("a range is one of wall times, and of instants only where there is none")
  func wallTimes() throws {
    let sandbox = try Sandbox()
    func creation(_ date: String) -> String {
      #"{"op":"asset.create","mediaType":"image","creationDate":"\#(date)","#
        + #""resources":[{"type":"photo","data":"YQ=="}]}"#
    }
    // On the 30th and on the 1st in UTC.
    let dates = ["2024-03-31T00:30:00+02:00", "2024-03-31T23:30:00-05:00", "2024-03-31T12:00:00Z"]
    let answer = try sandbox.apply([#"{"changes":[\#(dates.map(creation).joined(separator: ","))]}"#])
    let ids = try #require(answer.first?["created"] as? [String])
    func chosen(_ words: String...) throws -> Set<String> {
      let lines = try sandbox.run(["shift", "--by", "60"] + words + ["--dry-run", "--json"]).objects()
      return Set(lines.compactMap { $0["localIdentifier"] as? String })
    }
    #expect(try chosen("--from", "2024-03-31", "--until", "2024-03-31") == Set(ids))
    #expect(try chosen("--until", "2024-03-30").isEmpty && chosen("--from", "2024-04-01").isEmpty)
  }

  @Test("options choose every member of a burst; hidden assets only with --hidden, and never for being hidden alone")
  func hiddenAndBursts() throws {
    let sandbox = try Sandbox()
    func creation(_ members: String) -> String {
      #"{"op":"asset.create","mediaType":"image","creationDate":"2024-03-31T12:00:00Z",\#(members)"#
        + #""resources":[{"type":"photo","data":"YQ=="}]}"#
    }
    let members = [
      "", #""isHidden":true,"#, #""burstIdentifier":"B","representsBurst":true,"#, #""burstIdentifier":"B","#,
    ]
    let answer = try sandbox.apply([#"{"changes":[\#(members.map(creation).joined(separator: ","))]}"#])
    let ids = try #require(answer.first?["created"] as? [String], "\(answer)")
    let words = ["shift", "--by", "60", "--from", "2024-01-01", "--dry-run", "--json"]
    func chosen(_ words: [String]) throws -> Set<String> {
      Set(try sandbox.run(words).objects().compactMap { $0["localIdentifier"] as? String })
    }
    #expect(try chosen(words) == [ids[0], ids[2], ids[3]])
    #expect(try chosen(words + ["--hidden"]) == Set(ids))
    #expect(try sandbox.run(["shift", "--by", "60", "--hidden"]).status == 2)
  }

  @Test("a shift beyond the representable dates changes nothing")
  func beyond() throws {
    let sandbox = try Sandbox()
    let created = try sandbox.apply([
      #"{"changes":[{"op":"asset.create","mediaType":"image","creationDate":"9999-12-30T00:00:00Z","resources":"#
        + #"[{"type":"photo","data":"YQ=="}]}]}"#
    ])
    let id = try #require((created.first?["created"] as? [String])?.first)
    let run = try sandbox.run(["shift", id, "--by", "864000"])
    #expect(run.status == 1 && run.errors.contains("the years 0 to 9999"), "\(run)")
    #expect(try Self.dates(sandbox) == [["9999-12-30T00:00:00Z", nil]])
  }
}
