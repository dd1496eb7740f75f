import Foundation
import Testing

@Suite("Smart albums, sources and identifiers on the command line")
struct ModelCommandTests {
  @Test("every property of an asset is written by apply and read back from ls")
  func roundTrip() throws {
    let sandbox = try Sandbox()
    let origin = "9ECA0168-A43B-4354-834C-48DB7043E73D:CD8203F9-2C43-43FB-83F4-7153FB9B529D:"
    let answer = try sandbox.apply([
      #"{"changes":[{"op":"asset.create","mediaType":"image","mediaSubtypes":["photoLive"],"burstIdentifier":"B","#
        + #""burstSelectionTypes":["userPick"],"rating":3,"caption":"Sea","keywords":["b","a"],"#
        + #""playbackVariation":"mirror","isSelfPortrait":true,"origin":"\#(origin)","originalResourceChoice":"raw","#
        + #""resources":[{"type":"photo","data":"YQ=="},{"type":"alternatePhoto","data":"Yg==","#
        + #""uniformTypeIdentifier":"com.adobe.raw-image"}],"as":"$a"},"#
        + #"{"op":"asset.edit","assets":["$a"],"isLivePhotoVideoPlaybackEnabled":false,"removedKeywords":["b"],"#
        + #""addedKeywords":["c"],"pixelWidth":8,"pixelHeight":6}]}"#
    ])
    #expect(answer[0]["error"] == nil, "\(answer)")
    let asset = try #require(try sandbox.run(["ls", "--json"]).objects().first)
    #expect(asset["burstSelectionTypes"] as? [String] == ["userPick"] && asset["rating"] as? Int == 3)
    #expect(asset["caption"] as? String == "Sea" && asset["keywords"] as? [String] == ["a", "c"])
    #expect(asset["playbackVariation"] as? String == "mirror" && asset["isSelfPortrait"] as? Bool == true)
    #expect(asset["originalResourceChoice"] as? String == "raw" && asset["isRaw"] as? Bool == true)
    #expect(asset["isLivePhotoVideoPlaybackEnabled"] as? Bool == false && asset["origin"] as? String == origin)
    #expect(asset["pixelWidth"] as? Int == 8 && asset["sourceType"] as? [String] == ["userLibrary"])
    #expect(asset["hasAdjustments"] as? Bool == false && asset["adjustmentsState"] as? String == "none")
  }

  @Test("a request of the wider model that does not follow the schema is rejected with the name of the wrong field")
  func schema() throws {
    let cases: [(String, String)] = [
      (#"{"op":"asset.edit","assets":["$a"],"rating":6}"#, "'rating' must be a number of stars"),
      (#"{"op":"asset.edit","assets":["$a"],"addedKeywords":"sea"}"#, "'addedKeywords' must be a list of words"),
      (#"{"op":"asset.edit","assets":["$a"],"addedKeywords":["sea",""]}"#, "a list of words, none of them blank"),
      (#"{"op":"asset.edit","assets":["$a"],"addedKeywords":[" "]}"#, "a list of words, none of them blank"),
      (
        #"{"op":"asset.create","mediaType":"image","resources":[],"keywords":["\t"]}"#,
        "'keywords' must be a list of words, none of them blank"
      ),
      (#"{"op":"asset.edit","assets":["$a"],"dateShift":"1h"}"#, "'dateShift' must be a whole number of seconds"),
      (
        #"{"op":"asset.edit","assets":["$a"],"dateShift":60,"creationDate":"2024-05-31T18:30:00Z"}"#,
        "both sets and shifts"
      ),
      (#"{"op":"asset.edit","assets":["$a"],"burstSelectionTypes":["pick"]}"#, "autoPick, userPick"),
      (#"{"op":"asset.edit","assets":["$a"],"playbackVariation":"loop"}"#, "none, autoloop, mirror or longExposure"),
      (#"{"op":"asset.revertContent","asset":"$a","to":"jpeg"}"#, "compressed, raw"),
      (#"{"op":"asset.editContent","asset":"$a","resources":[]}"#, "'adjustmentData' is missing"),
      (
        #"{"op":"asset.editContent","asset":"$a","adjustmentData":{"formatIdentifier":"f","formatVersion":"1"}}"#,
        "either 'path' or 'data'"
      ),
      (#"{"op":"smartAlbum.create","title":"x","where":"fnord == 1"}"#, "Unknown key 'fnord'"),
      (#"{"op":"smartAlbum.create","title":"x","sort":["fnord"]}"#, "Unknown key 'fnord'"),
      (#"{"op":"smartAlbum.create","title":"x","limit":3}"#, "'limit' is not a field"),
      (#"{"op":"client.authorize","client":"c","status":"yes"}"#, "notDetermined, restricted, denied"),
      (#"{"op":"client.authorize","client":"c","level":"all"}"#, "addOnly, readWrite"),
      (#"{"op":"client.grant","assets":["$a"]}"#, "'client' is missing"),
      (#"{"op":"client.authorize","client":"owner"}"#, "owner has access to everything"),
      (#"{"op":"asset.addResources","asset":"$a","resources":[],"retyping":{"film":"video"}}"#, "'retyping' must be"),
    ]
    let sandbox = try Sandbox()
    let create = #"{"op":"asset.create","mediaType":"image","resources":[{"type":"photo","data":"YQ=="}],"as":"$a"}"#
    let answers = try sandbox.apply(cases.map { operation, _ in #"{"changes":[\#(create),\#(operation)]}"# })
    try #require(answers.count == cases.count)
    for (answer, (operation, sentence)) in zip(answers, cases) {
      let error = try #require(answer["error"] as? [String: Any], "\(operation): \(answer)")
      #expect((error["message"] as? String)?.contains(sentence) == true, "\(operation): \(error)")
    }
    #expect(try sandbox.run(["log", "--json"]).lines.count == 1)
  }

  @Test("smart albums show what their predicates select, by name and by identifier, and are followed (AL-07)")
  func smartAlbums() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(3)
    #expect(try sandbox.run(["rate", assets[0], assets[2], "--stars", "5"]).status == 0)
    let best = try sandbox.run(
      ["smart-album", "create", "Best", "--where", "rating >= 4", "--sort", "creationDate:desc"]).lines[0]
    #expect(try sandbox.identifiers(["--smart-album", best]) == [assets[2], assets[0]])
    #expect(try sandbox.identifiers(["--album", best, "--limit", "1"]) == [assets[2]])
    let watch = try Running(sandbox, ["watch", "--smart-album", "smartAlbumFavorites"])
    #expect(try jsonObject(watch.line())["count"] as? Int == 0)
    #expect(try sandbox.run(["favorite", assets[1]]).status == 0)
    #expect(try jsonObject(watch.line())["inserted"] as? [[Int]] == [[0, 1]])
    #expect(try watch.finish(interrupting: true).status == 0)
    #expect(try sandbox.identifiers(["--smart-album", "favorites"]) == [assets[1]])

    let listed = try sandbox.run(["albums", "--json"]).objects()
    #expect(listed.map { $0["kind"] as? String } == ["smartAlbum"])
    #expect(
      listed[0]["albumSubtype"] as? String == "smartAlbumGeneric" && listed[0]["predicate"] as? String == "rating >= 4")
    #expect(listed[0]["estimatedAssetCount"] is NSNull)
    let all = try sandbox.run(["albums", "--smart", "--json"]).objects()
    let subtypes = all.compactMap { $0["albumSubtype"] as? String }
    #expect(subtypes.count == 20 && subtypes.contains("smartAlbumRAW") && Set(subtypes).count == 20)
    for subtype in subtypes.dropFirst() { #expect(try sandbox.run(["ls", "--smart-album", subtype]).status == 0) }
    #expect(try sandbox.run(["albums", "--smart"]).lines.allSatisfy { $0.contains("smart album") })
    #expect(try sandbox.run(["show", best]).output.contains("rating >= 4"))
    #expect(try sandbox.run(["stat", "--json"]).objects()[0]["smartAlbumCount"] as? Int == 1)

    let album = try sandbox.run(["album", "create", "Plain"]).lines[0]
    #expect(try sandbox.run(["ls", "--smart-album", album]).errors.contains("is not a smart album"))
    #expect(try sandbox.run(["album", "delete", best]).errors.contains("operations smartAlbum"))
    #expect(try sandbox.run(["smart-album", "delete", album]).errors.contains("operations album"))
    #expect(try sandbox.run(["smart-album", "rename", best, "The best"]).status == 0)
    #expect(try sandbox.run(["smart-album", "delete", best]).status == 0)
    #expect(try sandbox.run(["show", best]).status == 1)
  }

  @Test("the commands of albums reject folders and those of folders albums, and name the kind")
  func kinds() throws {
    let sandbox = try Sandbox()
    let asset = try sandbox.makeAssets(1)[0]
    let (album, other) = (
      try sandbox.run(["album", "create", "Sea"]).lines[0], try sandbox.run(["album", "create", "Land"]).lines[0]
    )
    let folder = try sandbox.run(["folder", "create", "Travels"]).lines[0]
    let before = try sandbox.run(["log", "--json"]).lines.count
    for (words, kind) in [
      (["folder", "insert", album, asset], "album"), (["album", "add", folder, other], "folder"),
      (["folder", "delete", album], "album"), (["album", "delete", folder], "folder"),
    ] {
      let result = try sandbox.run(words)
      #expect(result.status == 1 && result.errors.contains("is of the kind \(kind)"), "\(words): \(result.errors)")
    }
    #expect(try sandbox.run(["log", "--json"]).lines.count == before)
  }

  @Test("assets are shown by where they come from: the library's own, unless others are asked for (FR-08)")
  func sources() throws {
    let sandbox = try Sandbox()
    let own = try sandbox.makeAssets(1)
    let lines = ["cloudShared", "iTunesSynced"].map { source in
      #"{"op":"asset.create","mediaType":"image","sourceType":["\#(source)"],"#
        + #""resources":[{"type":"photo","data":"\#(Data(source.utf8).base64EncodedString())"}]}"#
    }
    let answer = try sandbox.apply([#"{"changes":[\#(lines.joined(separator: ","))]}"#])
    let others = try #require(answer[0]["created"] as? [String], "\(answer)")
    #expect(try sandbox.identifiers() == own)
    #expect(try sandbox.identifiers(["--source", "shared"]) == [others[0]])
    #expect(try sandbox.identifiers(["--source", "user,synced"]) == [own[0], others[1]])
    #expect(try sandbox.run(["show", others[0]]).output.contains("cloudShared"))
  }

  @Test(
    "a cloud identifier finds its recorded asset, then equal content; all matches are listed (CI-01 to CI-04)"
  )
  func identifiers() throws {
    let here = try Sandbox()
    let there = try Sandbox()
    let asset = try here.makeAssets(1)[0]
    let album = try here.run(["album", "create", "Sea"]).lines[0]
    let mapped = try here.run(["identifier", "cloud", asset, album, "nonsense"])
    #expect(mapped.status == 1)
    let lines = try mapped.objects()
    let cloud = try #require(lines[0]["cloudIdentifier"] as? String)
    #expect(lines.map { $0["localIdentifier"] as? String } == [asset, album, "nonsense"])
    #expect((lines[2]["error"] as? [String: Any])?["code"] as? Int == 3201)
    let cloudAlbum = try #require(lines[1]["cloudIdentifier"] as? String)
    let back = try here.run(["identifier", "local", cloud, cloudAlbum])
    #expect(back.status == 0)
    #expect(try back.objects().map { $0["localIdentifier"] as? String } == [asset, album])

    let equal = try there.makeAssets(1)[0]
    #expect(try there.run(["identifier", "local", cloud]).objects()[0]["localIdentifier"] as? String == equal)
    let strict = try there.run(["identifier", "local", cloud, "--synced-only"])
    #expect(try strict.status == 1 && strict.objects()[0]["cloudIdentifier"] as? String == cloud)
    let twin = try there.makeAssets(1)[0]
    let several = try #require(try there.run(["identifier", "local", cloud]).objects()[0]["error"] as? [String: Any])
    #expect(several["code"] as? Int == 3202 && several["localIdentifiers"] as? [String] == [equal, twin])
    let create =
      #"{"op":"asset.create","mediaType":"image","origin":"\#(cloud)","resources":[{"type":"photo","data":"YQ=="}]}"#
    let came = try #require((try there.apply([#"{"changes":[\#(create)]}"#])[0]["created"] as? [String])?.first)
    #expect(
      try there.run(["identifier", "local", cloud, "--synced-only"]).objects()[0]["localIdentifier"] as? String == came)

    #expect(try there.run(["client", "limit", "c", equal]).status == 0)
    #expect(
      try there.run(["identifier", "local", cloud, "--as", "c"]).objects()[0]["localIdentifier"] as? String == equal)
    let mixed = try there.run(["identifier", "local", "x", cloud, "--synced-only"])
    let answers = try mixed.objects()
    #expect(mixed.status == 1 && answers.map { $0["cloudIdentifier"] as? String } == ["x", cloud], "\(mixed)")
    #expect(answers.map { $0["localIdentifier"] as? String } == [nil, came])
    let none = try #require(answers[0]["error"] as? [String: Any])
    #expect(none["code"] as? Int == 3201)
    #expect(none["message"] as? String == "'x' is not a cloud identifier; `identifier cloud` prints them.")
  }
}
