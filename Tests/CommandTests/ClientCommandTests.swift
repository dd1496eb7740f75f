import Foundation
import Testing

@Suite("Clients on the command line")
struct ClientCommandTests {
  private static let name = "com.example.gallery"

  private static func names(_ result: RunResult) throws -> [String] {
    try result.objects().map { try #require($0["localIdentifier"] as? String) }
  }

  @Test("a limited client sees its selection and what it created, in every command that reads (AU-01, AU-02, AU-03)")
  func limited() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(4)
    let theirs = try sandbox.run(["album", "create", "Theirs"]).lines[0]
    #expect(try sandbox.run(["album", "add", theirs, assets[0], assets[1]]).status == 0)
    let asClient = ["--as", Self.name]
    #expect(try sandbox.run(["client", "limit", Self.name, assets[1], assets[3]]).status == 0)

    #expect(try sandbox.identifiers(asClient) == [assets[1], assets[3]])
    #expect(try sandbox.run(["show", assets[1]] + asClient).status == 0)
    for hidden in [assets[0], theirs, "00000000-0000-4000-8000-000000000000"] {
      let refused = try sandbox.run(["show", hidden] + asClient)
      #expect(refused.status == 1 && refused.errors.contains("has no asset, album or folder '\(hidden)'"))
    }
    #expect(try sandbox.run(["albums"] + asClient).output.isEmpty)
    let own = try sandbox.run(["album", "create", "Mine"] + asClient).lines[0]
    #expect(try sandbox.run(["album", "add", own, assets[3]] + asClient).status == 0)
    #expect(try Self.names(sandbox.run(["albums", "--json"] + asClient)) == [own])
    #expect(try sandbox.identifiers(["--album", own] + asClient) == [assets[3]])
    let shown = try jsonObject(sandbox.run(["show", assets[1], "--json"] + asClient).lines[0])
    #expect(shown["albums"] as? [String] == [])
    #expect(try sandbox.run(["resource", "get", assets[1]] + asClient).output == "picture 1")
    #expect(try sandbox.run(["resource", "get", assets[0]] + asClient).status == 1)
    let checked = try sandbox.run(["resource", "check"] + asClient)
    #expect(checked.lines == ["2 files checked: 0 missing, 0 altered."])

    let input = #"{"changes":[{"op":"asset.create","mediaType":"image","resources":[{"type":"photo","data":"YQ=="}]}]}"#
    let answer = try jsonObject(sandbox.run(["apply"] + asClient, input: input).lines[0])
    let created = try #require((answer["created"] as? [String])?.first)
    #expect(try sandbox.identifiers(asClient) == [assets[1], assets[3], created])
    #expect(
      try Self.names(sandbox.run(["client", "selection", Self.name, "--json"])) == [assets[1], assets[3], created])
  }

  @Test(
    "only the owner writes sidecars, whatever permission a client has and whichever fields are written",
    arguments: [[], ["--all"], ["--all", "--dry-run"]])
  func sidecars(options: [String]) throws {
    let sandbox = try Sandbox()
    _ = try sandbox.makeAssets(1)
    #expect(try sandbox.run(["client", "authorize", Self.name]).status == 0)
    let refused = try sandbox.run(["sidecars", "write", "--as", Self.name] + options)
    let sentence = "The client '\(Self.name)' may not write sidecars; only the library's owner may."
    #expect(refused.status == 1 && refused.errors.contains(sentence), "\(refused)")
    #expect(refused.output.isEmpty, "\(refused)")
    #expect(try sandbox.run(["sidecars", "write"] + options).status == 0)
  }

  @Test("commands that count or list everything reject a limited client with one sentence and status 1 (AU-01)")
  func refused() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(2)
    #expect(try sandbox.run(["client", "limit", Self.name, assets[0]]).status == 0)
    let token = try sandbox.run(["history", "token", "--as", Self.name]).lines[0]
    let before = try sandbox.run(["log", "--json"]).lines.count
    for words in [
      ["stat"], ["log"], ["verify"], ["rebuild"], ["client", "list"], ["client", "selection", Self.name],
      ["client", "access", "00000000-0000-4000-8000-000000000000"], ["client", "grant", Self.name, assets[1]],
      ["client", "authorize", Self.name], ["history", "shorten", token],
    ] {
      let result = try sandbox.run(words + ["--as", Self.name])
      #expect(result.status == 1 && result.output.isEmpty, "\(words): \(result.output)")
      #expect(result.errors.contains("'\(Self.name)' may not"), "\(words): \(result.errors)")
    }
    #expect(try sandbox.run(["log", "--json"]).lines.count == before)
  }

  @Test("in a client's watch a grant is an insertion, a withdrawal a removal, and the rest does not appear (AU-04)")
  func watched() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(3)
    #expect(try sandbox.run(["client", "limit", Self.name, assets[0], assets[1]]).status == 0)
    let watch = try Running(sandbox, ["watch", "--as", Self.name])
    let first = try jsonObject(watch.line())
    #expect(first["identifiers"] as? [String] == [assets[0], assets[1]])
    #expect((first["token"] as? String)?.hasPrefix("v1-") == true)
    #expect(try sandbox.run(["favorite", assets[2]]).status == 0)
    #expect(try sandbox.run(["client", "withdraw", Self.name, assets[0]]).status == 0)
    let withdrawn = try jsonObject(watch.line())
    #expect(withdrawn["before"] as? String == first["token"] as? String)
    #expect(withdrawn["removed"] as? [[Int]] == [[0, 1]] && withdrawn["count"] as? Int == 1)
    #expect(withdrawn["cause"] is NSNull, "Why the owner did it is not the client's to know.")
    #expect(try sandbox.run(["client", "grant", Self.name, assets[2]]).status == 0)
    let granted = try jsonObject(watch.line())
    #expect(granted["inserted"] as? [[Int]] == [[1, 1]])
    let item = try #require((granted["items"] as? [String: [String: Any]])?["1"])
    #expect(item["localIdentifier"] as? String == assets[2] && item["isFavorite"] as? Bool == true)
    #expect(try watch.finish(interrupting: true).status == 0)
    let other = try sandbox.run(["watch", "--until", sandbox.run(["history", "token"]).lines[0], "--as", Self.name])
    #expect(other.status == 1 && other.errors.contains("another client's view"))
  }

  @Test("an add-only client adds, reads nothing, and everything else is rejected (AU-08)")
  func addOnly() throws {
    let sandbox = try Sandbox()
    let asset = try sandbox.makeAssets(1)[0]
    #expect(try sandbox.run(["client", "authorize", Self.name, "--level", "addOnly"]).status == 0)
    let asClient = ["--as", Self.name]
    let create =
      #"{"changes":[{"op":"asset.create","mediaType":"image","resources":[{"type":"photo","data":"YQ=="}]}]}"#
    let added = try jsonObject(sandbox.run(["apply"] + asClient, input: create).lines[0])
    let created = try #require((added["created"] as? [String])?.first)
    #expect(try sandbox.run(["ls"] + asClient).output.isEmpty)
    #expect(try sandbox.run(["show", created] + asClient).status == 1)
    #expect(
      try sandbox.run(["watch", "--until", sandbox.run(["history", "token"] + asClient).lines[0]] + asClient)
        .objects().map { $0["count"] as? Int } == [0])
    for words in [["album", "create", "Sea"], ["favorite", asset], ["history"], ["stat"], ["log"]] {
      let refused = try sandbox.run(words + asClient)
      #expect(refused.status == 1 && refused.errors.contains("'\(Self.name)' may not"), "\(words): \(refused.errors)")
    }
    let album = try sandbox.run(
      ["apply"] + asClient, input: #"{"changes":[{"op":"album.create","title":"Sea"}]}"#
    ).objects()[0]
    #expect((album["error"] as? [String: Any])?["code"] as? Int == 3311)
    #expect(try sandbox.identifiers() == [asset, created])
  }

  @Test("the list distinguishes full, limited, add-only and no access, with reasons and decisions (AU-09)")
  func list() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(2)
    for words in [
      ["register", "a", "--usage", "It shows photos."], ["authorize", "a"], ["limit", "b"] + assets,
      ["authorize", "c", "--level", "addOnly"], ["register", "d", "--add-usage", "It adds.", "--no-limited-alert"],
      ["deny", "e"], ["restrict", "f"],
    ] { #expect(try sandbox.run(["client"] + words).status == 0, "\(words)") }
    let clients = try sandbox.run(["client", "list", "--json"]).objects()
    #expect(clients.map { $0["name"] as? String } == ["a", "b", "c", "d", "e", "f"])
    #expect(
      clients.map { $0["accessKind"] as? String } == ["full", "limited", "addOnly", "none", "none", "none"])
    let statuses = clients.compactMap { ($0["authorizationStatus"] as? [String: String])?["readWrite"] }
    #expect(statuses == ["authorized", "limited", "notDetermined", "notDetermined", "denied", "restricted"])
    #expect((clients[0]["usageDescription"] as? [String: Any])?["readWrite"] as? String == "It shows photos.")
    #expect((clients[3]["usageDescription"] as? [String: Any])?["addOnly"] as? String == "It adds.")
    #expect(
      clients.map { $0["preventsAutomaticLimitedAccessAlert"] as? Bool } == [false, false, false, true, false, false])
    #expect(clients.map { $0["selectionCount"] as? Int } == [0, 2, 0, 0, 0, 0])
    #expect(
      clients.allSatisfy { $0["pickCount"] as? Int == 0 && ($0["registeredDate"] as? String)?.hasSuffix("Z") == true })
    let text = try sandbox.run(["client", "list"])
    #expect(text.lines.count == 8 && text.lines[0].contains("full") && text.lines[1].contains("It shows photos."))
    #expect(text.lines[2].contains("2 selected"))

    #expect(try sandbox.run(["client", "reset", "e"]).status == 0)
    let reset = try sandbox.run(["client", "list", "--json"]).objects()[4]
    #expect((reset["authorizationStatus"] as? [String: String])?["readWrite"] == "notDetermined")
    let restricted = try sandbox.run(["favorite", assets[0], "--as", "f"])
    #expect(restricted.status == 1 && restricted.errors.contains("a policy restricts"))
    let unlimited = try sandbox.apply(
      [#"{"changes":[{"op":"client.authorize","client":"a","status":"limited","level":"addOnly"}]}"#])
    #expect((unlimited[0]["error"] as? [String: Any])?["code"] as? Int == 3300)
  }

  @Test("a client that follows an album is limited to assets that are named, and follows it no more")
  func limitsFollower() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(3)
    let album = try sandbox.run(["album", "create", "Shared"]).lines[0]
    #expect(try sandbox.run(["album", "add", album, assets[0]]).status == 0)
    #expect(try sandbox.run(["client", "follow", Self.name, album]).status == 0)
    #expect(try sandbox.run(["client", "limit", Self.name]).status == 0)
    #expect(try sandbox.run(["client", "grant", Self.name, assets[1]]).status == 1)
    let limited = try sandbox.run(["client", "limit", Self.name, assets[1]])
    #expect(limited.status == 0, "\(limited.errors)")
    #expect(try sandbox.run(["client", "grant", Self.name, assets[2]]).status == 0)
    #expect(try Set(Self.names(sandbox.run(["client", "selection", Self.name, "--json"]))) == Set(assets))
  }

  @Test("the clients that can see an asset are listed for the current and any earlier state")
  func access() throws {
    let sandbox = try Sandbox()
    let assets = try sandbox.makeAssets(2)
    #expect(try sandbox.run(["client", "authorize", "full"]).status == 0)
    let early = try sandbox.run(["history", "token"]).lines[0]
    let late = try sandbox.run(["client", "limit", "some", assets[0]]).lines[0]
    #expect(try sandbox.run(["client", "withdraw", "some", assets[0]]).status == 0)
    func access(_ words: [String]) throws -> [[String: String]] {
      try sandbox.run(["client", "access"] + words + ["--json"]).objects().compactMap { $0 as? [String: String] }
    }
    let full = ["name": "full", "accessKind": "full"]
    #expect(try access([assets[0]]) == [full])
    #expect(try access([assets[0], "--at", late]) == [full, ["name": "some", "accessKind": "limited"]])
    #expect(try access([assets[1], "--at", late]) == [full])
    #expect(try access([assets[0], "--at", early]) == [full])
    #expect(try sandbox.run(["client", "access", assets[0]]).lines == ["full      full"])
    #expect(try sandbox.run(["client", "access", "nonsense"]).errors.contains("nonsense"))
    #expect(try sandbox.run(["client", "selection", "nobody"]).errors.contains("'nobody'"))
  }

  @Test("without a terminal no prompt is shown and the command says so; asking without a reason is an error (FR-18)")
  func request() throws {
    let sandbox = try Sandbox()
    _ = try sandbox.makeAssets(1)
    let mute = try sandbox.run(["client", "request", "--as", Self.name])
    #expect(mute.status == 1 && mute.errors.contains("usage description"))
    #expect(try sandbox.run(["client", "register", Self.name, "--usage", "It shows photos."]).status == 0)
    let asked = try sandbox.run(["client", "request", "--as", Self.name])
    #expect(asked.status == 0 && asked.lines == ["notDetermined"] && asked.errors.contains("not a terminal"))
    let log = try sandbox.run(["log", "--client", Self.name, "--json"]).objects()
    #expect(log.count == 1, "That it asked stands in the log.")
    let list = try sandbox.run(["ls", "--as", Self.name])
    #expect(list.status == 0 && list.output.isEmpty && list.errors.contains("is undecided"))
    let token = try sandbox.run(["history", "token"]).lines[0]
    #expect(try sandbox.run(["client", "authorize", Self.name]).status == 0)
    let known = try sandbox.run(["client", "request", "--as", Self.name, "--json"])
    #expect(known.errors.isEmpty)
    #expect(try known.objects()[0]["authorizationStatus"] as? String == "authorized")
    #expect(try sandbox.run(["ls", "--as", Self.name]).errors.isEmpty)
    let then = try sandbox.run(["ls", "--as", Self.name, "--at", token])
    #expect(then.status == 0 && then.output.isEmpty && then.errors.isEmpty, "It is decided now: \(then.errors)")
  }
}
