import Foundation
import LibraryJSON
import Testing

@testable import PhotoLedgerCommand

@Suite("Apply")
struct ApplyTests {
  @Test("answers come in order, one a line, and a rejected line does not stop the next")
  func answers() throws {
    let sandbox = try Sandbox()
    let nobody = "00000000-0000-4000-8000-000000000000"
    let result = try sandbox.run(
      ["apply"],
      input: """
        {"changes":[{"op":"album.create","title":"One"}]}

        nonsense
        {"changes":[{"op":"album.creat","title":"Two"}]}
        {"changes":[{"op":"album.create","title":"Three"},{"op":"album.rename","album":"\(nobody)","title":"x"}]}
        {"changes":[{"op":"album.create","title":"Four"}]}
        """)
    #expect(result.status == 1)
    let answers = try result.objects()
    #expect(answers.map { $0["line"] as? Int } == [1, 3, 4, 5, 6])
    #expect(answers.map { $0["error"] == nil } == [true, false, false, false, true])
    let codes = answers.compactMap { ($0["error"] as? [String: Any])?["code"] as? Int }
    #expect(codes == [10017, 10017, 3201])
    #expect(answers.map { $0["commit"] as? Int } == [2, nil, nil, nil, 3])
    let tokens = answers.compactMap { $0["token"] as? String }
    #expect(tokens.map { $0.hasSuffix("-2") } == [true, false] && tokens.last?.hasSuffix("-3") == true)
    let titles = try sandbox.run(["albums", "--json"]).objects().map { $0["localizedTitle"] as? String }
    #expect(titles == ["One", "Four"])
  }

  @Test(
    "a request that does not follow the schema is rejected with the name of the wrong field",
    arguments: [
      (#"{"op":"album.create"}"#, "'title' is missing"),
      (#"{"op":"album.create","title":7}"#, "'title' must be text, not 7"),
      (#"{"op":"album.create","title":"a","titel":"b"}"#, "'titel' is not a field"),
      (#"{"title":"a"}"#, "'op' is missing"),
      (#"7"#, "an operation is an object"),
      (#"{"op":"asset.create","mediaType":"film","resources":[]}"#, "'mediaType' must be image"),
      (#"{"op":"asset.create","mediaType":"image","resources":[{"type":"foto","data":""}]}"#, "'type' must be"),
      (#"{"op":"asset.create","mediaType":"image","resources":[{"type":"photo"}]}"#, "either 'path' or 'data'"),
      (
        #"{"op":"asset.create","mediaType":"image","resources":[{"type":"photo","path":"/nowhere/a.jpg"}]}"#,
        "/nowhere/a.jpg"
      ),
      (#"{"op":"asset.create","mediaType":"image","resources":[]}"#, "at least one resource"),
      (#"{"op":"asset.edit","assets":["x"],"isFavorite":true}"#, "'x' is not a valid identifier"),
      (#"{"op":"asset.edit","assets":["$x"],"isFavorite":true}"#, #"is called "$x""#),
      (#"{"op":"asset.edit","assets":[],"creationDate":"2024-02-30T00:00:00Z"}"#, "'creationDate' must be a date"),
      (#"{"op":"album.moveAt","album":"$x","indexes":[1],"to":0}"#, #"is called "$x""#),
    ])
  func schema(operation: String, sentence: String) throws {
    let sandbox = try Sandbox()
    let answer = try sandbox.apply([#"{"changes":[\#(operation)]}"#])[0]
    let error = try #require(answer["error"] as? [String: Any])
    #expect((error["message"] as? String)?.contains(sentence) == true, "\(error)")
    #expect(try sandbox.run(["log", "--json"]).lines.count == 1)
  }

  @Test("an empty cause of a block is rejected, and nothing is committed")
  func emptyCause() throws {
    let sandbox = try Sandbox()
    let answer = try sandbox.apply([#"{"changes":[{"op":"album.create","title":"a"}],"cause":""}"#])[0]
    let error = try #require(answer["error"] as? [String: Any])
    #expect((error["message"] as? String)?.contains("'cause' must be text that is not empty") == true, "\(error)")
    #expect(try sandbox.run(["log", "--json"]).lines.count == 1)
  }

  @Test("an index that names another member than expected is rejected, and the difference is named")
  func expectations() throws {
    let sandbox = try Sandbox()
    let ids = try sandbox.makeAssets(5)
    let made = try sandbox.apply([
      #"{"changes":[{"op":"album.create","title":"Sea"},{"op":"folder.create","title":"Box"}]}"#
    ])[0]["created"]
    let (album, folder) = (try #require(made as? [String])[0], try #require(made as? [String])[1])
    #expect(try sandbox.run(["album", "add", album] + ids[..<4]).status == 0)
    let short = ids.map { String($0.prefix(36)) }
    /// The answer to one operation of the album, and its members afterwards, as indexes of `ids`.
    func apply(_ name: String, _ fields: String) throws -> (code: Int?, message: String, members: [Int]) {
      let line = #"{"changes":[{"op":"album.\#(name)","album":"\#(album)",\#(fields)}]}"#
      let error = try sandbox.apply([line])[0]["error"] as? [String: Any]
      let members = try sandbox.identifiers(["--album", album]).compactMap { ids.firstIndex(of: $0) }
      return (error?["code"] as? Int, error?["message"] as? String ?? "", members)
    }
    let all = [0, 1, 2, 3]
    let (first, second, third, last) = (short[0], short[1], short[2], short[4])
    let refused: [(name: String, fields: String, words: String)] = [
      (
        "moveAt", #""indexes":[0],"to":1,"expectedMembers":["\#(second)"]"#,
        "At position 0 in 'Sea' is \(first), where \(second)"
      ),
      ("moveAt", #""indexes":[2,0],"to":0,"expectedMembers":["\#(first)","\#(third)"]"#, "where \(third) was"),
      ("moveAt", #""indexes":[0],"to":1,"expectedNext":"\#(last)""#, "1 in 'Sea' is \(third), where \(last)"),
      ("moveAt", #""indexes":[0],"to":1,"expectedNext":null"#, "where the end was expected"),
      ("moveAt", #""indexes":[0],"to":3,"expectedNext":"\#(second)""#, "At position 3 in 'Sea' is the end"),
      ("moveAt", #""indexes":[4],"to":0,"expectedMembers":["\#(last)"]"#, "no position 4 in 'Sea'"),
      // What stays where it is stands beside what was expected all the same.
      ("moveAt", #""indexes":[1],"to":1,"expectedNext":"\#(first)""#, "At position 1 in 'Sea' is \(third)"),
      ("removeAt", #""indexes":[1],"expectedMembers":["\#(third)"]"#, "1 in 'Sea' is \(second), where \(third)"),
      (
        "replaceAt", #""indexes":[1],"assets":["\#(last)"],"expectedMembers":["\#(third)"]"#,
        "position 1 in 'Sea' is \(second), where \(third)"
      ),
      ("insert", #""index":1,"assets":["\#(last)"],"expectedNext":"\#(first)""#, "At position 1 in 'Sea' is \(second)"),
    ]
    for (name, fields, words) in refused {
      let answer = try apply(name, fields)
      #expect(answer.code == 10_014 && answer.members == all, "\(name) \(fields): \(answer)")
      #expect(answer.message.contains(words), "\(answer.message)")
    }
    let carriedOut: [(name: String, fields: String, members: [Int])] = [
      (
        "moveAt", #""indexes":[2,0],"to":1,"expectedMembers":["\#(third)","\#(first)"],"expectedNext":"\#(short[3])""#,
        [1, 0, 2, 3]
      ),
      ("moveAt", #""indexes":[0],"to":3,"expectedMembers":["\#(second)"],"expectedNext":null"#, [0, 2, 3, 1]),
      ("insert", #""index":4,"assets":["\#(last)"],"expectedNext":null"#, [0, 2, 3, 1, 4]),
      ("removeAt", #""indexes":[1,0],"expectedMembers":["\#(third)","\#(first)"]"#, [3, 1, 4]),
      ("replaceAt", #""indexes":[2],"assets":["\#(first)"],"expectedMembers":["\#(last)"]"#, [3, 1, 0]),
    ]
    for (name, fields, members) in carriedOut {
      let answer = try apply(name, fields)
      #expect(answer.code == nil && answer.members == members, "\(name) \(fields): \(answer)")
    }
    let malformed = [
      ("moveAt", #""indexes":[0],"to":1,"expectedMembers":[]"#, "'expectedMembers' has 0 identifiers for 1 indexes"),
      ("removeAt", #""indexes":[0],"expectedNext":null"#, "'expectedNext' is not a field"),
      ("insert", #""index":0,"assets":[],"expectedMembers":[]"#, "'expectedMembers' is not a field"),
    ]
    for (name, fields, words) in malformed {
      let answer = try apply(name, fields)
      #expect(answer.code == 10_017 && answer.message.contains(words), "\(answer)")
    }
    // Albums and folders in the same way.
    let names = [album, folder].map { String($0.prefix(36)) }
    let move = #"{"op":"folder.moveAt","folder":null,"indexes":[1],"to":0,"expectedMembers":["\#(names[0])"]}"#
    let answer = try sandbox.apply([#"{"changes":[\#(move)]}"#])[0]["error"] as? [String: Any]
    #expect((answer?["message"] as? String)?.contains("At position 1 in the top level is \(names[1])") == true)
    #expect(answer?["code"] as? Int == 10_014)
  }

  @Test("an operation on the content of an album rejects a folder, and the other way round, with or without a token")
  func crossings() throws {
    let sandbox = try Sandbox()
    let asset = try sandbox.makeAssets(1)[0]
    let titles = ["album", "folder", "album"].map { #"{"op":"\#($0).create","title":"a"}"# }
    let made = try sandbox.apply([#"{"changes":[\#(titles.joined(separator: ","))]}"#])[0]
    let names = try #require(made["created"] as? [String]).map { String($0.prefix(36)) }
    let token = try #require(made["token"] as? String)
    #expect(try sandbox.run(["album", "add", names[0], asset]).status == 0)
    let before = try sandbox.run(["log", "--json"]).lines.count
    for (kind, other, name, field, member) in [
      ("album", "folder", names[1], "assets", names[2]), ("folder", "album", names[0], "collections", asset),
    ] {
      let members = #""\#(field)":["\#(member)"]"#
      let positioned = [
        ("insert", #""index":0,\#(members)"#), ("removeAt", #""indexes":[0]"#),
        ("moveAt", #""indexes":[0],"to":0"#), ("replaceAt", #""indexes":[0],\#(members)"#),
      ]
      let plain = [("add", members), ("remove", members)] + positioned
      let counted = positioned.map { ($0.0, $0.1 + #","token":"\#(token)""#) }
      for (operation, fields) in plain + counted {
        let change = #"{"op":"\#(kind).\#(operation)","\#(kind)":"\#(name)",\#(fields)}"#
        let error = try sandbox.apply([#"{"changes":[\#(change)]}"#])[0]["error"] as? [String: Any]
        let message = error?["message"] as? String ?? ""
        #expect(error?["code"] as? Int == 3300, "\(change): \(message)")
        #expect(message.contains("is not of the kind \(kind); it is of the kind \(other)"), "\(change): \(message)")
      }
    }
    // What the same block made is known by its placeholder.
    let block = #"{"op":"folder.create","title":"b","as":"$f"},{"op":"album.add","album":"$f","assets":["\#(asset)"]}"#
    let error = try sandbox.apply([#"{"changes":[\#(block)]}"#])[0]["error"] as? [String: Any]
    #expect((error?["message"] as? String)?.contains("'$f' is not of the kind album") == true, "\(error ?? [:])")
    #expect(try sandbox.run(["log", "--json"]).lines.count == before)
  }

  @Test("a block counts positions in at most 64 collections, in each of them any number of times")
  func contents() throws {
    let sandbox = try Sandbox()
    let ids = try sandbox.makeAssets(3)
    let creations = (0..<65).map { #"{"op":"album.create","title":"\#($0)"}"# }.joined(separator: ",")
    let made = try sandbox.apply([#"{"changes":[\#(creations)]}"#])[0]
    let albums = try #require(made["created"] as? [String])
    #expect(try sandbox.run(["album", "add", albums[0]] + ids).status == 0)
    let token = try #require(try sandbox.run(["stat", "--json"]).objects()[0]["token"] as? String)
    func moves(_ albums: some Sequence<String>) throws -> [String: Any] {
      let moves = albums.map { #"{"op":"album.moveAt","album":"\#($0)","token":"\#(token)","indexes":[0],"to":2}"# }
      return try sandbox.apply([#"{"changes":[\#(moves.joined(separator: ","))]}"#])[0]
    }
    // Each counts in the state of the token, so the third does what the first has done.
    #expect(try moves(repeatElement(albums[0], count: 3))["error"] == nil)
    #expect(try sandbox.identifiers(["--album", albums[0]]) == [ids[1], ids[2], ids[0]])
    let empty = albums.map { #"{"op":"album.removeAt","album":"\#($0)","token":"\#(token)","indexes":[]}"# }
    for (count, isRefused) in [(64, false), (65, true)] {
      let block = #"{"changes":[\#(empty[..<count].joined(separator: ","))]}"#
      let error = try sandbox.apply([block])[0]["error"] as? [String: Any]
      #expect(error.map { $0["code"] as? Int == 3307 } == (isRefused ? true : nil), "\(count): \(error ?? [:])")
    }
  }

  @Test("a block with a known key is answered again and not executed again")
  func idempotency() throws {
    let sandbox = try Sandbox()
    let line = #"{"changes":[{"op":"album.create","title":"Once"}],"key":"k-1"}"#
    let first = try sandbox.apply([line, line])
    let second = try sandbox.apply([line])[0]
    #expect(first[0]["isRepetition"] == nil)
    for answer in [first[1], second] {
      #expect(answer["isRepetition"] as? Bool == true)
      #expect(answer["token"] as? String == first[0]["token"] as? String)
      #expect(answer["created"] as? [String] == first[0]["created"] as? [String])
    }
    #expect(try sandbox.run(["albums"]).lines.count == 1)
  }

  @Test("each line is answered before the next is waited for")
  func conversation() throws {
    let sandbox = try Sandbox()
    let running = try Running(sandbox, ["apply"])
    for index in 1...5 {
      try running.send(#"{"changes":[{"op":"album.create","title":"\#(index)"}]}"# + "\n")
      #expect(try jsonObject(running.line())["line"] as? Int == index)
    }
    running.endInput()
    #expect(try running.finish().status == 0)
  }

  @Test("a line beyond the limit is refused, and the one after it is read")
  func longLine() throws {
    let sandbox = try Sandbox()
    let long = String(repeating: "x", count: (16 << 20) + 1)
    let answers = try sandbox.apply([long, #"{"changes":[{"op":"album.create","title":"After"}]}"#])
    #expect((answers[0]["error"] as? [String: Any])?["code"] as? Int == 3307)
    #expect(answers[1]["created"] != nil)
  }

  @Test("an interrupted run ends when the lines it accepted are durable, and says where it stopped")
  func interrupted() throws {
    let sandbox = try Sandbox()
    let running = try Running(sandbox, ["apply"])
    try running.send(#"{"changes":[{"op":"album.create","title":"Kept"}]}"# + "\n")
    _ = try running.line()
    let result = try running.finish(interrupting: true)
    #expect(result.status == 1)
    #expect(result.errors.contains("Stopped after line 1"))
    #expect(try sandbox.run(["albums"]).lines.count == 1)
  }

  @Test("what is written is what is read back")
  func roundTrip() throws {
    let sandbox = try Sandbox()
    let answer = try sandbox.apply([
      """
      {"changes":[{"op":"asset.create","mediaType":"image","mediaSubtypes":["photoHDR","photoLive"],"pixelWidth":40,\
      "pixelHeight":30,"creationDate":"2024-05-31T18:30:00.25+05:30","location":{"latitude":-1.5,"longitude":179.25},\
      "isFavorite":true,"resources":[{"type":"photo","data":"aGVsbG8=","originalFilename":"ä\\"\\u0001😀.jpg"}]}]}
      """
    ])[0]
    let created = try #require((answer["created"] as? [String])?.first)
    let asset = try #require(try sandbox.run(["ls", "--json"]).objects().first)
    #expect(asset["localIdentifier"] as? String == created)
    #expect(asset["mediaType"] as? String == "image")
    #expect(asset["mediaSubtypes"] as? [String] == ["photoHDR", "photoLive"])
    #expect(asset["creationDate"] as? String == "2024-05-31T18:30:00.25+05:30")
    #expect(asset["localCreationDate"] as? String == "2024-05-31T18:30:00.25")
    #expect((asset["location"] as? [String: Any])?["longitude"] as? Double == 179.25)
    #expect((asset["location"] as? [String: Any])?["altitude"] is NSNull)
    let resource = try #require((asset["resources"] as? [[String: Any]])?.first)
    #expect(resource["originalFilename"] as? String == "ä\"\u{1}😀.jpg")
    #expect(resource["dataSize"] as? Int == 5)
    #expect(resource["sha256"] as? String == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
    #expect(try sandbox.run(["ls"]).output.contains("ä\"\u{FFFD}😀.jpg"))
    #expect(try sandbox.run(["verify", "--content"]).status == 0)
  }

  @Test("the article's examples are accepted, and they use every operation")
  func article() throws {
    let article = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources/PhotoLedger/PhotoLedger.docc/Commands.md")
    let text = try String(contentsOf: article, encoding: .utf8)
    let blocks = text.components(separatedBy: "```json\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
    let lines = blocks.flatMap { $0.split(separator: "\n").map(String.init) }
    #expect(lines.count >= 6)
    let sandbox = try Sandbox()
    try Data("<svg/>".utf8).write(to: sandbox.folder.appending(path: "photo.svg"))
    for answer in try sandbox.apply(lines) { #expect(answer["error"] == nil, "\(answer)") }
    let names = try lines.flatMap { line in
      try #require(try jsonObject(line)["changes"] as? [[String: Any]]).compactMap { $0["op"] as? String }
    }
    #expect(Set(names) == Set(Operation.all.map(\.name)))
    for name in Set(names) { #expect(text.contains("`\(name)`"), "\(name) is not in a table") }
    #expect(try sandbox.run(["verify"]).status == 0)
  }
}
