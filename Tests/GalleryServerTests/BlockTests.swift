#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite("Change blocks over HTTP")
  struct BlockTests {
    private static func creation(_ data: String = "/9j/AAAA") -> [String: Any] {
      [
        "op": "asset.create", "mediaType": "image",
        "resources": [["type": "photo", "originalFilename": "a.jpg", "data": data]],
      ]
    }

    @Test("a block is one commit, answered with what `apply` answers")
    func performed() async throws {
      try await TestGallery.serving { gallery in
        let changes: [[String: Any]] = [
          ["op": "album.create", "title": "Sea", "as": "$a"], Self.creation().merging(["as": "$p"]) { $1 },
          ["op": "album.add", "album": "$a", "assets": ["$p"]],
        ]
        let answer = try gallery.ask("POST", "/v1/blocks", json: ["changes": changes, "cause": "test"])
        #expect(answer.status == 200, "\(answer)")
        let json = try answer.json()
        let head = try gallery.library.currentToken
        #expect(json["token"] as? String == head.description && json["commit"] as? UInt64 == head.position)
        let created = try #require(json["created"] as? [String])
        #expect(created.count == 2 && json["isRepetition"] == nil)
        let album = try #require(try gallery.library.collection(created[0]))
        let members = try gallery.library.fetchAssets(FetchOptions(), in: album)
        #expect(try members.objects(at: 0..<1).map(\.localIdentifier) == [created[1]])
        // The answer is the object of the command, key by key in its order.
        let receipt = try await ChangeLine([["op": "album.create", "title": "x"]]).perform(
          on: gallery.library, from: .local)
        let body = Array(#"{"changes":[{"op":"album.create","title":"x"}],"key":"k"}"#.utf8)
        let text = try gallery.post("/v1/blocks", body).body
        #expect(text.hasPrefix("{\"commit\":\(receipt.token.position + 1),\"token\":"), "\(text)")
      }
    }

    @Test("every operation of `apply` is one over HTTP: the article's examples, but for their paths")
    func operations() async throws {
      let article = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources/PhotoLedger/PhotoLedger.docc/Commands.md")
      let text = try String(contentsOf: article, encoding: .utf8)
      let blocks = text.components(separatedBy: "```json\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
      let lines = blocks.flatMap { $0.split(separator: "\n").map(String.init) }
      var names: Set<String> = []
      try await TestGallery.serving { gallery in
        for line in lines {
          if line.contains(#""path":"#) {
            #expect(try gallery.post("/v1/blocks", Array(line.utf8)).status == 400)
          }
          let remote = line.replacing(#/"path":"[^"]*"/#, with: #""data":"PHN2Zy8+""#)
          let answer = try gallery.post("/v1/blocks", Array(remote.utf8))
          #expect(answer.status == 200, "\(line): \(answer)")
          let changes = try JSONReader.read(Array(line.utf8))["changes"]?.listValue ?? []
          names.formUnion(changes.compactMap { $0["op"]?.textValue })
        }
      }
      #expect(names == Set(Operation.all.map(\.name)))
    }

    @Test("a key is executed once, also after a restart of the server, and belongs to its client")
    func idempotent() async throws {
      try await TestGallery.serving { gallery in
        let json = ["changes": [["op": "album.create", "title": "Sea"]]]
        let first = try gallery.ask("POST", "/v1/blocks", json: json, ["Idempotency-Key: \"k1\""])
        let head = try gallery.library.currentToken
        try await gallery.restart()
        // With and without quotation marks it is the same key; what the body says then does not count.
        for (field, body) in [("\"k1\"", json), ("k1", ["changes": [["op": "album.create", "title": "Lake"]]])] {
          let again = try gallery.ask("POST", "/v1/blocks", json: body, ["Idempotency-Key: \(field)"])
          #expect(again.status == 200)
          #expect(try again.json()["isRepetition"] as? Bool == true)
          let (json, once) = (try again.json(), try first.json())
          #expect(json["token"] as? String == once["token"] as? String)
          #expect(json["created"] as? [String] == once["created"] as? [String])
        }
        #expect(try gallery.library.currentToken == head)
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "app") }
        let app = try gallery.key(of: "app")
        let other = try gallery.ask("POST", "/v1/blocks", json: json, key: app.secret, ["Idempotency-Key: k1"])
        #expect(other.status == 200)
        #expect(try other.json()["isRepetition"] == nil)
      }
    }

    @Test("bytes are those that the library holds and the client sees; no path is read")
    func bytes() async throws {
      try await TestGallery.serving { gallery in
        let made = try gallery.ask("POST", "/v1/blocks", json: ["changes": [Self.creation()]]).json()
        let id = try #require((made["created"] as? [String])?.first)
        let asset = try #require(try gallery.library.asset(id))
        let sha256 = try #require(try gallery.library.resources(of: asset).first?.sha256Hex)
        let named: [String: Any] = [
          "op": "asset.create", "mediaType": "image", "resources": [["type": "photo", "sha256": sha256]],
        ]
        let copy = try gallery.ask("POST", "/v1/blocks", json: ["changes": [named]])
        #expect(copy.status == 200, "\(copy)")
        // A limited client that does not see the asset is answered as though the bytes were not there.
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.limited, of: "app") }
        let app = try gallery.key(of: "app")
        let hidden = try gallery.ask("POST", "/v1/blocks", json: ["changes": [named]], key: app.secret)
        var unknown = named
        unknown["resources"] = [["type": "photo", "sha256": String(repeating: "0", count: 64)]]
        let absent = try gallery.ask("POST", "/v1/blocks", json: ["changes": [unknown]], key: app.secret)
        #expect(hidden.status == 404 && hidden.body == absent.body, "\(hidden) \(absent)")
        try await gallery.library.performChanges { $0.grant([asset.id], to: "app") }
        #expect(try gallery.ask("POST", "/v1/blocks", json: ["changes": [named]], key: app.secret).status == 200)
        let file = gallery.temporary.folder.place("secret.jpg")
        try Data("secret".utf8).write(to: file)
        for resource in [["type": "photo", "path": file.path], ["type": "photo", "path": file.path, "data": "AAAA"]] {
          var change = named
          change["resources"] = [resource]
          let answer = try gallery.ask("POST", "/v1/blocks", json: ["changes": [change]])
          #expect(answer.status == 400 && answer.body.contains("the server's machine"), "\(answer)")
        }
        let edit: [String: Any] = [
          "op": "asset.editContent", "asset": id, "resources": [["type": "fullSizePhoto", "data": "/9j/AAAA"]],
          "adjustmentData": ["formatIdentifier": "a", "formatVersion": "1", "path": file.path],
        ]
        #expect(try gallery.ask("POST", "/v1/blocks", json: ["changes": [edit]]).status == 400)
      }
    }

    @Test("a change that the client may not make is rejected, and nothing of its block is done")
    func permissions() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(3)
        try await gallery.library.performChanges { change in
          change.setAuthorizationStatus(.limited, of: "app")
          change.grant([ids[0]], to: "app")
          change.setAuthorizationStatus(.denied, of: "no")
          change.setAuthorizationStatus(.authorized, of: "camera", for: .addOnly)
        }
        let (app, no) = (try gallery.key(of: "app"), try gallery.key(of: "no"))
        let head = try gallery.library.currentToken
        func status(_ changes: [[String: Any]], _ key: String) throws -> Int {
          try gallery.ask("POST", "/v1/blocks", json: ["changes": changes], key: key).status
        }
        let seen: [String: Any] = ["op": "asset.edit", "assets": [ids[0].uuidString], "isFavorite": true]
        let unseen: [String: Any] = ["op": "asset.edit", "assets": [ids[1].uuidString], "isFavorite": true]
        let nothing: [String: Any] = [
          "op": "asset.edit", "assets": ["00000000-0000-0000-0000-000000000000"], "isFavorite": true,
        ]
        #expect(try status([seen, unseen], app.secret) == 404 && status([seen, nothing], app.secret) == 404)
        let grant: [String: Any] = ["op": "client.grant", "client": "app", "assets": [ids[1].uuidString]]
        #expect(try status([grant], app.secret) == 403)
        #expect(try status([["op": "client.authorize", "client": "app"]], app.secret) == 403)
        #expect(try status([["op": "asset.purge", "assets": [ids[0].uuidString]]], app.secret) == 403)
        #expect(try status([Self.creation()], no.secret) == 403)
        let camera = try gallery.key(of: "camera")
        #expect(try status([seen], camera.secret) == 403)
        #expect(try gallery.library.currentToken == head)
        #expect(try status([seen], app.secret) == 200)
        #expect(try status([Self.creation()], camera.secret) == 200)
        #expect(try gallery.ask("GET", "/v1/history", key: camera.secret).status == 403)
      }
    }

    @Test(
      "a body that is not a block is a problem",
      arguments: [
        ("{", 400), ("[]", 400), ("{}", 400), (#"{"changes":[{"op":"no.such"}]}"#, 400),
        (#"{"changes":[{"op":"album.create"}]}"#, 400), (#"{"changes":[],"colour":1}"#, 400),
        (#"{"changes":[{"op":"album.create","title":"a","colour":1}]}"#, 400),
        (#"{"changes":[],"cause":""}"#, 400), (#"{"changes":[],"key":""}"#, 400),
        (#"{"changes":[],"key":"other"}"#, 400),
        (#"{"changes":[{"op":"album.delete","albums":["x"]}]}"#, 400),
        (String(repeating: "[", count: 200), 400), (#"{"changes":["# + String(repeating: "[", count: 65), 400),
      ])
    func malformed(_ body: String, _ status: Int) async throws {
      try await TestGallery.serving { gallery in
        let head = try gallery.library.currentToken
        let answer = try gallery.post("/v1/blocks", Array(body.utf8), ["Idempotency-Key: mine"])
        #expect(answer.status == status, "\(answer.body.prefix(300))")
        #expect(try gallery.library.currentToken == head)
      }
    }

    @Test(
      "a body whose announced length is too large is rejected before it is sent", arguments: ["/v1/blocks", "/v1/undo"])
    func large(_ path: String) async throws {
      try await TestGallery.serving { gallery in
        let client = try RawClient(port: gallery.address.port)
        let length = "Content-Length: \(BlockRoutes.bodyLimit + 1)"
        client.send(try gallery.head("POST", path, ["Content-Type: application/json", length]))
        let answer = TestGallery.checked("POST", path, try #require(TestGallery.parsed(client.readToEnd())))
        #expect(answer.status == 413)
      }
    }

    @Test("an idempotency key is one field of 1 to 255 bytes")
    func keys() async throws {
      try await TestGallery.serving { gallery in
        let body = Array(#"{"changes":[{"op":"album.create","title":"a"}]}"#.utf8)
        for fields in [
          ["Idempotency-Key: a", "Idempotency-Key: b"], ["Idempotency-Key: \"\""],
          ["Idempotency-Key: käse"],
          ["Idempotency-Key: " + String(repeating: "a", count: 256)],
        ] {
          let answer = try gallery.post("/v1/blocks", body, fields)
          #expect(answer.status == 400)
        }
        let long = "Idempotency-Key: " + String(repeating: "a", count: 255)
        #expect(try gallery.post("/v1/blocks", body, [long]).status == 200)
      }
    }

    @Test("blocks of many clients at once are all executed")
    func parallel() async throws {
      try await TestGallery.serving { gallery in
        let clients = try (0..<40).map { index in
          let client = try RawClient(port: gallery.address.port)
          let json = ["changes": [Self.creation()]]
          client.send(try gallery.head("POST", "/v1/blocks", json: json, ["Connection: close"]))
          return (index, client)
        }
        for (_, client) in clients { #expect(client.readToEnd().hasPrefix("HTTP/1.1 200")) }
        #expect(try gallery.library.fetchAssets().count == 40)
      }
    }
  }

  extension TestGallery {
    /// Posts bytes that are announced as JSON.
    func post(_ target: String, _ body: [UInt8], _ fields: [String] = [], key: String? = "owner") throws -> Answer {
      let fields = fields + ["Content-Type: application/json", "Content-Length: \(body.count)", "Connection: close"]
      let client = try RawClient(port: address.port)
      client.send(Array(try head("POST", target, key: key, fields).utf8) + body)
      return Self.checked("POST", target, try #require(Self.parsed(client.readToEnd())), sent: body)
    }
  }
#endif
