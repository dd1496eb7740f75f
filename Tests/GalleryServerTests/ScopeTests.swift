#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite("What an owner's key without the administration scope cannot do indirectly")
  struct ScopeTests {
    /// A key for some scopes, of the owner unless another client is given.
    private func key(
      _ gallery: TestGallery, _ scopes: [Scope], of client: String = PhotoLibrary.owner
    ) throws -> String {
      let json: [String: Any] = ["client": client, "scopes": scopes.map(\.rawValue)]
      return try #require(try gallery.ask("POST", "/v1/keys", json: json).json()["secret"] as? String)
    }

    private func isScopeMissing(_ answer: Answer) -> Bool {
      answer.status == 403 && answer.body.contains("scope-missing")
    }

    @Test(
      "a block about clients needs the scope, at any place in the block",
      arguments: [
        ["op": "client.register", "client": "app", "readWriteUsageDescription": "It looks."],
        ["op": "client.authorize", "client": "app"], ["op": "client.grant", "client": "app"],
        ["op": "client.withdraw", "client": "app"], ["op": "client.follow", "client": "app"],
      ])
    func blocks(_ operation: [String: String]) async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(1)
        var album = ids[0]
        try await gallery.library.performChanges { change in
          change.setAuthorizationStatus(.limited, of: "app")
          album = change.createAlbum(title: "Album")
        }
        var asked = operation as [String: Any]
        if ["client.grant", "client.withdraw"].contains(operation["op"]) { asked["assets"] = [ids[0].uuidString] }
        if operation["op"] == "client.follow" { asked["album"] = album.uuidString }
        let changing = try key(gallery, [.read, .originals, .add, .change])
        let favorite: [String: Any] = ["op": "asset.edit", "assets": [ids[0].uuidString], "isFavorite": true]
        let before = try gallery.library.currentToken
        let refused = try gallery.ask("POST", "/v1/blocks", json: ["changes": [favorite, asked]], key: changing)
        #expect(isScopeMissing(refused), "\(refused)")
        #expect(try gallery.library.currentToken == before)
        #expect(try gallery.ask("POST", "/v1/blocks", json: ["changes": [favorite]], key: changing).status == 200)
        #expect(try gallery.ask("POST", "/v1/blocks", json: ["changes": [asked]]).status == 200)
      }
    }

    @Test("an undo needs the scope if it changes the access of a client, and otherwise does not")
    func undo() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(2)
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "app") }
        let denied = try await gallery.library.performChanges { $0.setAuthorizationStatus(.denied, of: "app") }
        try await gallery.library.performChanges { change in
          change.setAuthorizationStatus(.limited, of: "frame")
          change.grant([ids[0]], to: "frame")
        }
        let withdrawn = try await gallery.library.performChanges { $0.withdraw([ids[0]], from: "frame") }
        let marked = try await gallery.library.performChanges { $0.setFavorite(true, for: [ids[1]]) }
        let changing = try key(gallery, [.read, .change])
        let before = try gallery.library.currentToken
        for receipt in [denied, withdrawn] {
          for isPlan in [true, false] {
            let body: [String: Any] = ["commit": receipt.token.description, "plan": isPlan]
            let refused = try gallery.ask("POST", "/v1/undo", json: body, key: changing)
            #expect(isScopeMissing(refused), "\(refused)")
          }
        }
        let all: [String: Any] = ["all": true, "onConflict": "force"]
        #expect(isScopeMissing(try gallery.ask("POST", "/v1/undo", json: all, key: changing)))
        #expect(try gallery.library.currentToken == before)
        let own = ["commit": marked.token.description]
        #expect(try gallery.ask("POST", "/v1/undo", json: own, key: changing).status == 200)
        #expect(try gallery.ask("POST", "/v1/undo", json: ["commit": denied.token.description]).status == 200)
        #expect(try gallery.library.as("app").authorizationStatus(for: .readWrite) == .authorized)
      }
    }

    @Test("changes whose answers show earlier values need the scope for reading, too")
    func answers() async throws {
      var access = GalleryAccess()
      access.allowsImmichClients = true
      try await TestGallery.serving(access: access) { gallery in
        let id = try await gallery.makeAssets(1)[0]
        let receipt = try await gallery.library.performChanges { change in
          var changes = AssetChanges()
          changes.caption = .set("A caption")
          change.edit([id], changes)
        }
        let (changing, both) = (try key(gallery, [.change]), try key(gallery, [.read, .change]))
        let before = try gallery.library.currentToken
        let undo: [String: Any] = ["commit": receipt.token.description, "plan": true]
        let asked: [(method: String, path: String, json: [String: Any])] = [
          ("POST", "/v1/undo", undo), ("POST", "/v1/undo", ["all": true, "onConflict": "skip"]),
          ("PUT", "/api/assets/\(id.uuidString)", [:]),
        ]
        for (method, path, json) in asked {
          let refused = try gallery.ask(method, path, json: json, key: changing)
          #expect(isScopeMissing(refused) && !refused.body.contains("A caption"), "\(refused)")
        }
        #expect(try gallery.library.currentToken == before)
        #expect(try gallery.ask("POST", "/v1/undo", json: undo, key: both).body.contains("A caption"))
        #expect(try gallery.ask("PUT", "/api/assets/\(id.uuidString)", json: [:], key: both).status == 200)
        // Several at once are answered with nothing but the status.
        let several: [String: Any] = ["ids": [id.uuidString], "isFavorite": true]
        #expect(try gallery.ask("PUT", "/api/assets", json: several, key: changing).status == 204)
      }
    }

    @Test("a change that is rejected, or changes nothing, shows a key without the scope for reading no content")
    func contents() async throws {
      var access = GalleryAccess()
      access.allowsImmichClients = true
      try await TestGallery.serving(access: access) { gallery in
        let ids = try await gallery.makeAssets(4)
        var album = ids[0]
        try await gallery.library.performChanges { change in
          album = change.createAlbum(title: "Surprise")
          change.album(album).add(Array(ids[..<2]))
          var changes = AssetChanges()
          changes.addedKeywords = ["party"]
          change.edit([ids[0]], changes)
          change.stack(top: ids[2], others: [ids[3]])
        }
        let secrets = ids.map(\.uuidString) + [album.uuidString, "Surprise", "party"]
        let (changing, both) = (try key(gallery, [.change]), try key(gallery, [.read, .change]))
        let before = try gallery.library.currentToken
        let (name, other) = (album.uuidString, [UUID().uuidString])
        let operations: [(operation: [String: Any], status: Int)] = [
          (["op": "folder.removeAt", "folder": NSNull(), "indexes": [0], "expectedMembers": other], 409),
          (["op": "album.removeAt", "album": name, "indexes": [1], "expectedMembers": other], 409),
          (["op": "album.removeAt", "album": name, "indexes": [99]], 400),
        ]
        for (operation, status) in operations {
          let refused = try gallery.ask("POST", "/v1/blocks", json: ["changes": [operation]], key: changing)
          #expect(refused.status == status && !secrets.contains { refused.body.contains($0) }, "\(refused)")
          let explained = try gallery.ask("POST", "/v1/blocks", json: ["changes": [operation]], key: both)
          #expect(explained.status == status && secrets.contains { explained.body.contains($0) }, "\(explained)")
        }
        let tag = Keyring.spelled(Array("party".utf8))
        let asked: [(method: String, path: String, json: [String: Any], status: Int)] = [
          ("POST", "/api/stacks", ["assetIds": ids[2...].map(\.uuidString)], 201),
          ("PUT", "/api/albums/\(name)/assets", ["ids": [ids[0].uuidString]], 200),
          ("PUT", "/api/tags/\(tag)/assets", ["ids": [ids[0].uuidString]], 200),
          ("PUT", "/api/tags/assets", ["tagIds": [tag], "assetIds": [ids[0].uuidString]], 200),
        ]
        for (method, path, json, status) in asked {
          let refused = try gallery.ask(method, path, json: json, key: changing)
          #expect(isScopeMissing(refused), "\(refused)")
          #expect(try gallery.ask(method, path, json: json, key: both).status == status, "\(path)")
        }
        #expect(try gallery.library.currentToken == before)
      }
    }

    @Test("a client still registers itself by a block, and undoes its own changes")
    func clients() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(1)
        let app = try gallery.register()
        let words: [String: Any] = [
          "op": "client.register", "client": app.client, "readWriteUsageDescription": "It shows other photos.",
        ]
        #expect(try gallery.ask("POST", "/v1/blocks", json: ["changes": [words]], key: app.key).status == 200)
        let allow = ["op": "client.authorize", "client": app.client]
        let refused = try gallery.ask("POST", "/v1/blocks", json: ["changes": [allow]], key: app.key)
        #expect(refused.status == 403 && refused.body.contains("access-denied"), "\(refused)")
        #expect(try gallery.answer(app.client, ["level": "readWrite", "decision": "allow"]).status == 200)
        let own = try gallery.library.as(app.client).performChangesAndWait { $0.setFavorite(true, for: ids) }
        let body = ["commit": own.token.description]
        #expect(try gallery.ask("POST", "/v1/undo", json: body, key: app.key).status == 200)
      }
    }

    @Test(
      "an app without permission adds nothing to the log but what it says about itself, and that seldom",
      arguments: [false, true])
    func withoutPermission(_ isDenied: Bool) async throws {
      try await TestGallery.serving { gallery in
        let app = try gallery.register()
        if isDenied {
          #expect(try gallery.answer(app.client, ["level": "readWrite", "decision": "deny"]).status == 200)
        }
        let before = try gallery.library.lastSequence
        let empty: [String: Any] = ["changes": [Any](), "cause": "words"]
        let refused = try gallery.ask("POST", "/v1/blocks", json: empty, key: app.key, ["Idempotency-Key: a"])
        #expect(refused.status == 403 && refused.body.contains("access-denied"), "\(refused)")
        #expect(try gallery.library.lastSequence == before)
        func say(_ words: [String]) throws -> Answer {
          let changes = words.map {
            ["op": "client.register", "client": app.client, "readWriteUsageDescription": $0]
          }
          return try gallery.ask("POST", "/v1/blocks", json: ["changes": changes], key: app.key)
        }
        let answers = try (0..<20).map { try say(["It shows photo \($0)."]) }
        #expect(answers.map(\.status) == Array(repeating: 200, count: 5) + Array(repeating: 429, count: 15))
        #expect(answers.last?.fields["retry-after"] == "600")
        #expect(try gallery.library.lastSequence == before + 5)
        // Each operation counts, not each block.
        gallery.clock.advance(by: 600)
        #expect(try say(["It shows one.", "It shows two."]).status == 429)
        gallery.clock.advance(by: 600)
        #expect(try say(["It shows one."]).status == 200)
        #expect(try gallery.library.lastSequence == before + 6)
      }
    }

    @Test("a key gives an app photos by picking only if it may read originals, and of the owner's if it administers")
    func givenByPicking() async throws {
      try await TestGallery.serving { gallery in
        let (asset, _) = try await gallery.makeFile("picked bytes")
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "desk") }
        let app = try gallery.register(asks: nil)
        let begun = try gallery.ask("POST", "/v1/picking", json: ["limit": 0], key: app.key).json()
        let path = "/v1/picking/\(try #require(begun["session"] as? String))"
        let taps: [[String: Any]] = [["select": asset], ["withhold": ["location"]], ["finish": true]]
        let narrow = try [
          key(gallery, [.read, .change]), key(gallery, [.read, .originals, .add, .change]),
          key(gallery, [.read, .change], of: "desk"),
        ]
        let before = try gallery.library.lastSequence
        for secret in narrow {
          for tap in taps {
            let refused = try gallery.ask("POST", path + "/taps", json: tap, key: secret)
            #expect(isScopeMissing(refused), "\(refused)")
          }
          // What takes away needs no more than changing.
          #expect(try gallery.ask("POST", path + "/taps", json: ["deselect": asset], key: secret).status == 204)
        }
        #expect(try gallery.library.lastSequence == before)
        let desk = try key(gallery, [.read, .originals, .change], of: "desk")
        #expect(try gallery.ask("POST", path + "/taps", json: taps[0], key: desk).status == 204)
        #expect(try gallery.ask("POST", path + "/taps", json: taps[2]).status == 204)
        try await waitUntil("the pick is there") {
          let items = try gallery.ask("GET", path, key: app.key).json()["items"] as? [Any]
          return items?.isEmpty == false
        }
        #expect(try gallery.library.lastSequence > before)
      }
    }

    @Test("the bytes of a picked item need the scope of originals")
    func picked() async throws {
      try await TestGallery.serving { gallery in
        let (asset, sha256) = try await gallery.makeFile("picked bytes")
        let session = try #require(try gallery.ask("POST", "/v1/picking", json: [:]).json()["session"] as? String)
        let taps = "/v1/picking/\(session)/taps"
        for tap: [String: Any] in [["select": asset], ["finish": true]] {
          #expect(try gallery.ask("POST", taps, json: tap).status == 204)
        }
        try await waitUntil("the pick is there") {
          let items = try gallery.ask("GET", "/v1/picking/\(session)").json()["items"] as? [Any]
          return items?.isEmpty == false
        }
        let items = try #require(try gallery.ask("GET", "/v1/picking/\(session)").json()["items"] as? [[String: Any]])
        let item = try #require(items.first?["item"] as? String)
        let reading = try key(gallery, [.read])
        for path in ["/v1/assets/\(asset)/resources/\(sha256)", "/v1/picked/\(item)?representation=current"] {
          let refused = try gallery.ask("GET", path, key: reading)
          #expect(isScopeMissing(refused), "\(refused)")
          #expect(try gallery.ask("GET", path, key: try key(gallery, [.originals])).body == "picked bytes")
        }
      }
    }
  }
#endif
