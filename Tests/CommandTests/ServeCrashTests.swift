#if Gallery
  import Foundation
  import TestSupport
  import Testing

  @testable import PhotoLedgerCommand

  /// A server that was started as a command, and its owner's key.
  final class ServedLibrary {
    let running: Running
    let port: UInt16
    var key = ""

    convenience init(_ sandbox: Sandbox) throws {
      let running = try Running(sandbox, ["serve", "--listen", "127.0.0.1:0", "--json"])
      let line = try jsonObject(running.line())
      try self.init(
        running, at: try #require(line["address"] as? String), link: try #require(line["link"] as? String))
    }

    /// A server that has announced its address and a link, which is used.
    init(_ running: Running, at address: String, link: String) throws {
      self.running = running
      port = try #require(address.split(separator: ":").last.flatMap { UInt16($0) })
      let secret = try #require(link.split(separator: "=").last.map(String.init))
      let session = try ask("POST", "/v1/sessions", ["link": secret])
      key = try #require(session.json["secret"] as? String)
    }

    /// Asks without waiting for the answer.
    func begin(_ method: String, _ target: String, _ json: [String: Any]? = nil, _ fields: [String] = []) throws
      -> RawClient
    {
      let body = try json.map { try JSONSerialization.data(withJSONObject: $0) } ?? Data()
      var lines = ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1"] + fields
      if !key.isEmpty { lines.append("Authorization: Bearer \(key)") }
      if json != nil { lines += ["Content-Type: application/json", "Content-Length: \(body.count)"] }
      let client = try RawClient(port: port)
      client.send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + Array(body))
      return client
    }

    func ask(_ method: String, _ target: String, _ json: [String: Any]? = nil, _ fields: [String] = []) throws
      -> (status: Int, json: [String: Any])
    {
      let answer = try begin(method, target, json, fields + ["Connection: close"]).readToEnd()
      let parts = answer.components(separatedBy: "\r\n\r\n")
      let status = try #require(parts[0].split(separator: " ").dropFirst().first.flatMap { Int($0) }, "\(answer)")
      return (status, parts.count > 1 && !parts[1].isEmpty ? try jsonObject(parts[1]) : [:])
    }

    /// The next change of a feed, with the cursor behind it.
    static func change(_ feed: RawClient) throws -> (cursor: String, data: [String: Any]) {
      while true {
        let text = feed.read(through: "\n\n")
        try #require(text.hasSuffix("\n\n"), "The feed ended: \(text)")
        let lines = text.split(whereSeparator: \.isNewline)
        guard lines.contains("event: change") else { continue }
        let cursor = try #require(lines.first { $0.hasPrefix("id: ") }).dropFirst(4)
        let data = try #require(lines.first { $0.hasPrefix("data: ") }).dropFirst(6)
        return (String(cursor), try jsonObject(String(data)))
      }
    }
  }

  @Suite("A server that is killed", .blocking)
  struct ServeCrashTests {
    @Test("SIGUSR1 makes another sign-in link, while the server runs")
    func link() throws {
      let sandbox = try Sandbox()
      let served = try ServedLibrary(sandbox)
      kill(served.running.child.identifier, SIGUSR1)
      let line = try jsonObject(served.running.line())
      let secret = try #require((line["link"] as? String)?.split(separator: "=").last.map(String.init))
      #expect(try served.ask("POST", "/v1/sessions", ["link": secret]).status == 201)
      #expect(try served.ask("POST", "/v1/sessions", ["link": secret]).status == 401)
      #expect(try served.running.finish(interrupting: true).status == 0)
    }

    @Test(
      "its feeds continue where their clients are, and a block with an unknown outcome is executed once",
      arguments: [false, true])
    func killed(isCommitted: Bool) throws {
      let sandbox = try Sandbox()
      let ids = try sandbox.makeAssets(5)
      var served = try ServedLibrary(sandbox)
      let key = served.key
      let fetch = try served.ask("POST", "/v1/fetches", [:]).json
      let (name, token) = (try #require(fetch["fetch"] as? String), try #require(fetch["token"] as? String))
      let feed = try served.begin("GET", "/v1/feed?fetch=\(name)&after=\(token)")
      let favorite = ["changes": [["op": "asset.edit", "assets": [ids[0]], "isFavorite": true]]]
      #expect(try served.ask("POST", "/v1/blocks", favorite, ["Idempotency-Key: one"]).status == 200)
      let (cursor, first) = try ServedLibrary.change(feed)
      #expect(first["changed"] as? [[Int]] == [[0, 1]])

      // The answer to this block is never read: whether it was executed is open.
      let album = ["changes": [["op": "album.create", "title": "Sea"], ["op": "asset.trash", "assets": [ids[1]]]]]
      let open = try served.begin("POST", "/v1/blocks", album, ["Idempotency-Key: two"])
      // The feed says that it was. Its client goes on from before that, as though the change had not come.
      if isCommitted { while try ServedLibrary.change(feed).data["count"] as? Int != 4 {} }
      kill(served.running.child.identifier, SIGKILL)
      _ = open.readToEnd()
      #expect(try served.running.finish().status == -1)
      _ = try sandbox.run(["trash", ids[3]])

      served = try ServedLibrary(sandbox)
      served.key = key
      let again = try served.begin("GET", "/v1/feed?fetch=\(name)&after=\(token)", nil, ["Last-Event-ID: \(cursor)"])
      let second = try served.ask("POST", "/v1/blocks", album, ["Idempotency-Key: two"])
      #expect(second.status == 200)
      if isCommitted { #expect(second.json["isRepetition"] as? Bool == true) }
      let repeated = try served.ask("POST", "/v1/blocks", favorite, ["Idempotency-Key: one"])
      #expect(repeated.json["isRepetition"] as? Bool == true)
      var (held, count) = (try #require(first["after"] as? String), 5)
      while count != 3 {
        let change = try ServedLibrary.change(again).data
        #expect(change["before"] as? String == held, "a message is missing")
        held = try #require(change["after"] as? String)
        count = try #require(change["count"] as? Int)
      }
      #expect(try sandbox.identifiers() == [ids[0], ids[2], ids[4]])
      let albums = try sandbox.run(["albums", "--json"]).objects()
      #expect(albums.count { $0["localizedTitle"] as? String == "Sea" } == 1)
      #expect(try served.running.finish(interrupting: true).status == 0)
      #expect(try sandbox.run(["verify"]).status == 0)
    }
  }
#endif
