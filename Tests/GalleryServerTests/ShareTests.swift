#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import LibraryAudit
  import LibraryMaintenance
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite("Share links")
  struct ShareTests {
    private struct Link {
      var name: String
      var client: String
      var secret: String
    }

    private func make(_ gallery: TestGallery, _ json: [String: Any]) throws -> Link {
      let answer = try gallery.ask("POST", "/v1/shares", json: ["title": "Summer"].merging(json) { $1 })
      try #require(answer.status == 201, "\(answer)")
      let object = try answer.json()
      let secret = try #require(object["secret"] as? String)
      #expect(object["link"] as? String == "/share#\(secret)")
      return Link(
        name: try #require(object["name"] as? String), client: try #require(object["client"] as? String), secret: secret
      )
    }

    private func open(_ gallery: TestGallery, _ link: Link, _ password: String? = nil) throws -> Answer {
      var json = ["secret": link.secret]
      json["password"] = password
      return try gallery.ask("POST", "/v1/shares:open", json: json, key: nil)
    }

    @Test("a visitor sees the selection and nothing else, and each view is in the log")
    func visits() async throws {
      try await TestGallery.serving { gallery in
        let (asset, sha256) = try await gallery.makeFile("shared bytes")
        let other = try await gallery.makeFile("other bytes", name: "b.jpg")
        let link = try make(gallery, ["assets": [asset]])
        var keys: [String] = []
        for _ in 0..<2 { keys.append(try #require(try open(gallery, link).json()["secret"] as? String)) }
        #expect(try gallery.fetch(key: keys[0]).count == 1)
        #expect(try gallery.ask("GET", "/v1/assets/\(other.asset)", key: keys[0]).status == 404)
        // The originals are not part of this link; neither is adding, changing or administration.
        let bytes = "/v1/assets/\(asset)/resources/\(sha256)"
        #expect(try gallery.ask("GET", bytes, key: keys[0]).status == 403)
        #expect(try gallery.ask("GET", "/v1/keys", key: keys[0]).status == 403)
        let session = try gallery.session(keys[0])
        #expect(session["scopes"] as? [String] == ["read"] && session["client"] as? String == link.client)
        let withOriginals = try make(gallery, ["assets": [asset], "originals": true, "upload": true])
        let key = try #require(try open(gallery, withOriginals).json()["secret"] as? String)
        #expect(try gallery.ask("GET", bytes, key: key).status == 200)
        #expect(try gallery.session(key)["scopes"] as? [String] == ["read", "originals", "add"])
        var views = 0
        var filter = LogFilter()
        (filter.client, filter.cause) = (link.client, "share link opened")
        try gallery.library.forEachLogEntry(filter) { _ in
          views += 1
          return true
        }
        #expect(views == 2)
        // The audit names the link among those that could see the asset.
        #expect(try gallery.library.access(to: asset).contains { $0.client == link.client })
      }
    }

    @Test("a link to an album shows the album's members, live; what visitors add joins it")
    func album() async throws {
      try await TestGallery.serving { gallery in
        let assets = try await gallery.makeAssets(4)
        var album = assets[0]
        try await gallery.library.performChanges { change in
          album = change.createAlbum(title: "Shared")
          change.album(album).add([assets[1], assets[2]])
        }
        let link = try make(gallery, ["album": album.uuidString, "upload": true])
        let listed = try #require(try gallery.ask("GET", "/v1/shares").json()["shares"] as? [[String: Any]])
        #expect((listed[0]["album"] as? String)?.hasPrefix(album.uuidString) == true)
        let key = try #require(try open(gallery, link).json()["secret"] as? String)
        let fetch = try gallery.fetch(key: key)
        #expect(fetch.count == 2)
        let feed = try FeedClient(gallery, "fetch=\(fetch.name)&after=\(fetch.token)", key: key)
        try await gallery.library.performChanges { $0.album(album).remove([assets[1]]) }
        gallery.server.watch.wake()
        var seen: [Int] = []
        while seen.last != 1, let event = try feed.next() {
          if let count = event.data["count"] as? Int { seen.append(count) }
        }
        #expect(seen.last == 1)
        #expect(try gallery.ask("GET", "/v1/assets/\(assets[1].uuidString)", key: key).status == 404)
        #expect(try gallery.ask("GET", "/v1/assets/\(assets[3].uuidString)", key: key).status == 404)
        let made = try await gallery.library.as(link.client).performChanges { _ = $0.createAsset(.invented(90)) }
        let new = try #require(LocalIdentifier(made.created[0]))
        let shared = try #require(try gallery.library.collection(album.uuidString))
        #expect(try gallery.library.fetchAssets(FetchOptions(), in: shared).map(\.id) == [assets[2], new])
        #expect(try gallery.fetch(key: key).count == 2)
        try await gallery.restart()
        let again = try #require(try gallery.ask("GET", "/v1/shares").json()["shares"] as? [[String: Any]])
        #expect(again[0]["album"] as? String == listed[0]["album"] as? String)
        for json: [String: Any] in [
          ["album": assets[0].uuidString], ["album": "x"], ["album": 7],
          ["album": album.uuidString, "assets": [assets[0].uuidString]],
        ] {
          let body = ["title": "Summer"].merging(json) { $1 }
          #expect(try gallery.ask("POST", "/v1/shares", json: body).status == 400, "\(json)")
        }
      }
    }

    @Test("a password is requested, guessing is slowed down, and a wrong link reveals nothing")
    func password() async throws {
      try await TestGallery.serving { gallery in
        let asset = try await gallery.makeAssets(1)[0].uuidString
        let link = try make(gallery, ["assets": [asset], "password": "sea and sand"])
        let text = try String(
          contentsOf: gallery.temporary.url.appending(path: "server/shares.json"), encoding: .utf8)
        #expect(!text.contains("sea and sand") && !text.contains(link.secret))
        let refused = try open(gallery, link)
        #expect(refused.status == 401 && refused.body.contains("password-required"))
        #expect(try open(gallery, link, "sea and sand").status == 201)
        for _ in 0..<10 { #expect(try open(gallery, link, "wrong password").status == 401) }
        #expect(try open(gallery, link, "sea and sand").status == 429)
        gallery.clock.advance(by: 3_600)
        #expect(try open(gallery, link, "sea and sand").status == 201)
        #expect(try open(gallery, Link(name: "", client: "", secret: "none")).body.contains("withdrawn"))
        for json: [String: Any] in [
          ["title": ""], ["days": 0], ["password": "short"], ["password": 7], ["assets": "x"], ["album": "x"],
        ] {
          let body = ["title": "Summer"].merging(json) { $1 }
          #expect(try gallery.ask("POST", "/v1/shares", json: body).status == 400, "\(json)")
        }
      }
    }

    @Test("guests of one address do not use up its sign-ins, nor each other's openings; a flood of openings is bounded")
    func guests() async throws {
      try await TestGallery.serving { gallery in
        let asset = try await gallery.makeAssets(1)[0].uuidString
        let link = try make(gallery, ["assets": [asset]])
        let secured = try make(gallery, ["assets": [asset], "password": "sea and sand"])
        try gallery.addPerson("anna", client: "family")
        // Each page of a link asks without a password first.
        for _ in 0..<30 { #expect(try open(gallery, secured).body.contains("password-required")) }
        for _ in 0..<3 { #expect(try open(gallery, secured, "sea and sand").status == 201) }
        for _ in 0..<30 { #expect(try open(gallery, Link(name: "", client: "", secret: "none")).status == 401) }
        for guest in 0..<197 { #expect(try open(gallery, link).status == 201, "\(guest)") }
        let slow = try open(gallery, link)
        #expect(slow.status == 429 && slow.fields["retry-after"] == "5")
        #expect(try gallery.signIn("anna").status == 201)
      }
    }

    @Test("a visitor reads nothing that was removed from the link before it came; one who was there goes on")
    func earlierStates() async throws {
      try await TestGallery.serving { gallery in
        let assets = try await gallery.makeAssets(3)
        var album = assets[0]
        try await gallery.library.performChanges { change in
          album = change.createAlbum(title: "Shared")
          change.album(album).add([assets[0], assets[1]])
        }
        let link = try make(gallery, ["album": album.uuidString])
        let early = try #require(try open(gallery, link).json()["secret"] as? String)
        let before = try gallery.fetch(["sort": ["creationDate:desc"]], key: early)
        let last = try gallery.ask("GET", "/v1/history?reverse&limit=1").json()["records"] as? [[String: Any]]
        let instant = try #require(last?.first?["date"] as? String)
        try await gallery.library.performChanges { $0.album(album).remove([assets[1]]) }
        let late = try #require(try open(gallery, link).json()["secret"] as? String)
        let (fetch, removed) = ("/v1/fetches/\(before.name)", assets[1].uuidString)
        #expect(try gallery.fetch(key: late).count == 1)
        let paths = [
          "\(fetch)?token=\(before.token)", "\(fetch)/items?token=\(before.token)",
          "\(fetch)/items?token=\(before.token)&form=columns", "\(fetch)/items?at=\(instant)",
          "\(fetch)/sections?token=\(before.token)", "\(fetch)/shapes?token=\(before.token)",
          "\(fetch)/index?asset=\(removed)&token=\(before.token)", "\(fetch)/changes?after=\(before.token)",
          "\(fetch)/diff?from=\(before.token)", "/v1/collections?at=\(instant)", "/v1/collections:diff?from=\(instant)",
          "/v1/assets/\(removed)?at=\(instant)", "/v1/history?since=\(before.token)",
          "/v1/history?reverse&cursor=\(before.token)",
        ]
        for path in paths {
          #expect(try gallery.ask("GET", path, key: early).status == 200, "\(path)")
          let answer = try gallery.ask("GET", path, key: late)
          #expect(answer.status == 410 && answer.body.contains("token-expired"), "\(path): \(answer)")
        }
        #expect(try gallery.ask("POST", "/v1/fetches?at=\(instant)", json: [:], key: late).status == 410)
        // A history begins with the visit, and a feed or a poll with a state.
        for path in ["/v1/history", "/v1/history?reverse"] {
          let answer = try gallery.ask("GET", path, key: late)
          #expect(answer.status == 200 && !answer.body.contains(removed), "\(answer)")
          #expect(try gallery.ask("GET", path, key: early).body.contains(removed))
        }
        let place = "fetch=\(before.name)&after=\(before.token)"
        let state = try #require(try FeedClient(gallery, place, key: late).next())
        #expect(state.name == "state" && state.data["count"] as? Int == 1)
        #expect(try #require(try FeedClient(gallery, place, key: early).next()).name == "change")
        let cursor = "\(before.name).\(before.token)"
        // The beginning of a visit outlives the server.
        try await gallery.restart()
        #expect(try gallery.ask("GET", paths[1], key: late).status == 410)
        let (own, other) = (
          try gallery.ask("GET", "/v1/changes?cursor=\(cursor)", key: early),
          try gallery.ask("GET", "/v1/changes?cursor=\(cursor)", key: late)
        )
        #expect(own.status == 200 && own.body.contains(before.token), "\(own)")
        #expect(other.status == 200 && !other.body.contains(before.token), "\(other)")
        // Of a key that an older version kept the beginning is not known.
        let file = gallery.temporary.url.appending(path: "server/keys.json")
        var kept = try #require(try JSONSerialization.jsonObject(with: try Data(contentsOf: file)) as? [String: Any])
        let rows = try #require(kept["keys"] as? [[String: Any]])
        kept["keys"] = rows.map { row in row.filter { $0.key != "start" } }
        await gallery.server.stop()
        try JSONSerialization.data(withJSONObject: kept).write(to: file)
        try await gallery.restart()
        #expect(try gallery.ask("GET", "/v1/session", key: early).status == 401)
        #expect(try gallery.ask("GET", "/v1/session").status == 200)
        #expect(try open(gallery, link).status == 201)
      }
    }

    @Test("in a restored library and in a fork a visitor's key ends whose first state is not there, and its link opens")
    func otherLibrary() async throws {
      try await TestGallery.serving { gallery in
        let assets = try await gallery.makeAssets(2)
        let (folder, place) = (gallery.temporary.folder, gallery.temporary.url)
        let link = try make(gallery, ["assets": [assets[0].uuidString]])
        let early = try #require(try open(gallery, link).json()["secret"] as? String)
        try gallery.library.backup(to: folder.place("backup"))
        try await gallery.library.performChanges { $0.grant([assets[1]], to: link.client) }
        let late = try #require(try open(gallery, link).json()["secret"] as? String)
        let lost = try make(gallery, ["assets": [assets[1].uuidString]])
        let lostKey = try #require(try open(gallery, lost).json()["secret"] as? String)
        await gallery.server.stop()
        try PhotoLibrary.restore(from: folder.place("backup"), to: folder.place("restored"))
        try gallery.library.fork(to: folder.place("fork"))
        let cases: [(name: String, kept: [String], ended: [String], count: Int)] = [
          ("restored", [early], [late, lostKey], 1), ("fork", [], [early, late, lostKey], 2),
        ]
        for (name, kept, ended, count) in cases {
          let url = folder.place(name)
          try FileManager.default.copyItem(at: place.appending(path: "server"), to: url.appending(path: "server"))
          let library = try PhotoLibrary(at: url)
          try await gallery.restart(on: library)
          for key in kept { #expect(try gallery.fetch(key: key).count == count, "\(name)") }
          for key in ended { #expect(try gallery.ask("GET", "/v1/session", key: key).status == 401, "\(name)") }
          // Otherwise a key would be good again once the library has as many states.
          let file = try String(contentsOf: url.appending(path: "server/keys.json"), encoding: .utf8)
          for key in kept { #expect(file.contains(Keyring.hash(key)), "\(name)") }
          for key in ended { #expect(!file.contains(Keyring.hash(key)), "\(name)") }
          #expect(try gallery.ask("GET", "/v1/session").status == 200, "\(name)")
          let opened = try open(gallery, link)
          #expect(opened.status == 201, "\(name): \(opened)")
          let key = try #require(try opened.json()["secret"] as? String)
          #expect(try gallery.fetch(key: key).count == count, "\(name)")
          try await gallery.restart(on: library)
          #expect(try gallery.fetch(key: key).count == count, "\(name)")
          try await gallery.restart()
          library.close()
        }
      }
    }

    @Test("a visitor learns neither when others came nor which photos visitors added")
    func otherVisitors() async throws {
      try await TestGallery.serving { gallery in
        let assets = try await gallery.makeAssets(2)
        let link = try make(gallery, ["assets": [assets[0].uuidString], "upload": true])
        let key = try #require(try open(gallery, link).json()["secret"] as? String)
        let before = try gallery.fetch(key: key)
        #expect(try open(gallery, link).status == 201)
        #expect(try gallery.fetch(key: key).token == before.token)
        #expect(try (gallery.ask("GET", "/v1/history", key: key).json()["records"] as? [Any])?.isEmpty == true)
        // As an upload of a visitor records it, and as the owner does.
        try await gallery.library.as(link.client).performChanges(cause: "upload") { _ = $0.createAsset(.invented(90)) }
        let poll = "/v1/changes?fetch=\(before.name)&after=\(before.token)"
        let message = try (gallery.ask("GET", poll, key: key).json()["messages"] as? [[String: Any]])?.first
        #expect(message?["cause"] is NSNull, "\(message ?? [:])")
        try await gallery.library.performChanges { $0.grant([assets[1]], to: link.client) }
        for path in ["/v1/history", "/v1/history?reverse"] {
          let answer = try gallery.ask("GET", path, key: key)
          let records = try #require(try answer.json()["records"] as? [[String: Any]])
          #expect(records.count == 2, "\(answer)")
          #expect(records.allSatisfy { $0["cause"] is NSNull && $0["client"] is NSNull }, "\(answer)")
        }
        // The owner still reads it all.
        let audit = try gallery.ask("GET", "/v1/history")
        #expect(audit.body.contains("share link opened") && audit.body.contains(link.client), "\(audit)")
      }
    }

    @Test("a visitor begins no picking session and requests no more photos, which other visitors would see")
    func beginsNothing() async throws {
      try await TestGallery.serving { gallery in
        let asset = try await gallery.makeAssets(1)[0].uuidString
        let link = try make(gallery, ["assets": [asset], "originals": true, "upload": true])
        let key = try #require(try open(gallery, link).json()["secret"] as? String)
        for path in ["/v1/picking", "/v1/session/more"] {
          let answer = try gallery.ask("POST", path, json: [:], key: key)
          #expect(answer.status == 403 && answer.body.contains("access-denied"), "\(path): \(answer)")
        }
        let other = try #require(try open(gallery, link).json()["secret"] as? String)
        let sessions = try gallery.ask("GET", "/v1/picking", key: other).json()["sessions"] as? [Any]
        let session = try gallery.session(other)
        #expect(try sessions?.isEmpty == true && session["more"] is NSNull && gallery.waiting().isEmpty)
        #expect(session["mayRequestMore"] as? Bool == false)
      }
    }

    private func status(_ gallery: TestGallery, of client: String) throws -> AuthorizationStatus? {
      try gallery.library.clients().first { $0.name == client }?.status(for: .readWrite)
    }

    @Test("a link that cannot be stored gives no client access")
    func unkept() async throws {
      try await TestGallery.serving { gallery in
        let asset = try await gallery.makeAssets(1)[0].uuidString
        let file = gallery.temporary.url.appending(path: "server/shares.json")
        // A folder in the place of the file cannot be replaced by one.
        try FileManager.default.createDirectory(at: file.appending(path: "a"), withIntermediateDirectories: true)
        let body: [String: Any] = ["title": "Summer", "assets": [asset]]
        #expect(try gallery.ask("POST", "/v1/shares", json: body).status == 500)
        #expect(try gallery.library.clients().allSatisfy { $0.status(for: .readWrite) == .denied })
        try FileManager.default.removeItem(at: file)
        let link = try make(gallery, ["assets": [asset]])
        // One too many is refused before anything is committed.
        var kept = try #require(try JSONSerialization.jsonObject(with: try Data(contentsOf: file)) as? [String: Any])
        let row = try #require((kept["shares"] as? [[String: Any]])?.first)
        kept["shares"] = [row] + (1..<Shares.limit).map { index in row.merging(["name": "share \(index)"]) { $1 } }
        try JSONSerialization.data(withJSONObject: kept).write(to: file)
        try await gallery.restart()
        let before = try gallery.library.currentToken
        let refused = try gallery.ask("POST", "/v1/shares", json: body)
        #expect(refused.status == 400 && refused.body.contains("limit-exceeded"), "\(refused)")
        #expect(try gallery.library.currentToken == before)
        #expect(try gallery.ask("DELETE", "/v1/shares/\(link.name)").status == 204)
        #expect(try gallery.ask("POST", "/v1/shares", json: body).status == 201)
      }
    }

    @Test("a withdrawal that fails in the middle can be repeated")
    func withdrawnAgain() async throws {
      try await TestGallery.serving { gallery in
        let asset = try await gallery.makeAssets(1)[0].uuidString
        let link = try make(gallery, ["assets": [asset]])
        let key = try #require(try open(gallery, link).json()["secret"] as? String)
        let file = gallery.temporary.url.appending(path: "server/keys.json")
        let kept = try Data(contentsOf: file)
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createDirectory(at: file.appending(path: "a"), withIntermediateDirectories: true)
        #expect(try gallery.ask("DELETE", "/v1/shares/\(link.name)").status == 500)
        #expect(try status(gallery, of: link.client) == .limited)
        try FileManager.default.removeItem(at: file)
        try kept.write(to: file)
        #expect(try gallery.ask("DELETE", "/v1/shares/\(link.name)").status == 204)
        #expect(try status(gallery, of: link.client) == .denied)
        #expect(try gallery.ask("GET", "/v1/session", key: key).status == 401)
        #expect(try gallery.ask("DELETE", "/v1/shares/\(link.name)").status == 404)
      }
    }

    @Test("a link whose permission has ended says that it has ended, as a withdrawal leaves it for a moment")
    func endedPermission() async throws {
      try await TestGallery.serving { gallery in
        let asset = try await gallery.makeAssets(1)[0].uuidString
        let link = try make(gallery, ["assets": [asset]])
        #expect(try open(gallery, link).status == 201)
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.denied, of: link.client) }
        let ended = try open(gallery, link)
        #expect(ended.status == 401 && ended.body.contains("withdrawn"), "\(ended)")
      }
    }

    @Test("a link, and an answer to an app that asks for more, can name 10,000 assets", .timeLimit(.minutes(5)))
    func many() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(10_000).map { $0.spelled(as: .asset) }
        let link = try make(gallery, ["assets": ids])
        let key = try #require(try open(gallery, link).json()["secret"] as? String)
        #expect(try gallery.fetch(key: key).count == 10_000)
        let app = try gallery.register()
        let limit: [String: Any] = ["level": "readWrite", "decision": "limit", "assets": [ids[0]]]
        #expect(try gallery.answer(app.client, limit).status == 200)
        #expect(try gallery.ask("POST", "/v1/session/more", json: [:], key: app.key).status == 202)
        #expect(try gallery.answer(app.client, ["level": "more", "assets": ids]).status == 200)
        #expect(try gallery.fetch(key: app.key).count == 10_000)
        let tooMany: [String: Any] = ["title": "Summer", "assets": ids + [ids[0]]]
        #expect(try gallery.ask("POST", "/v1/shares", json: tooMany).status == 400)
      }
    }

    @Test("a link that is withdrawn or expires ends its visitors' keys, feeds and byte URLs", arguments: [true, false])
    func ends(_ isWithdrawn: Bool) async throws {
      try await TestGallery.serving { gallery in
        let (asset, sha256) = try await gallery.makeFile("shared bytes")
        let link = try make(gallery, ["assets": [asset], "originals": true, "days": 1])
        gallery.clock.advance(by: 80_000)
        let key = try #require(try open(gallery, link).json()["secret"] as? String)
        let fetch = try gallery.fetch(key: key)
        let feed = try FeedClient(gallery, "fetch=\(fetch.name)&after=\(fetch.token)", key: key)
        let bytes = "/v1/assets/\(asset)/resources/\(sha256)"
        #expect(try gallery.ask("GET", bytes, key: key).status == 200)
        let keys = gallery.temporary.url.appending(path: "server/keys.json")
        let before = try Data(contentsOf: keys)
        if isWithdrawn {
          #expect(try gallery.ask("DELETE", "/v1/shares/\(link.name)").status == 204)
          #expect(try gallery.library.access(to: asset).isEmpty)
        } else {
          gallery.clock.advance(by: 6_401)
          gallery.server.watch.wake()
        }
        while let event = try feed.next() { #expect(event.data["count"] as? Int ?? 0 == 0) }
        #expect(try gallery.ask("GET", bytes, key: key).status == 401)
        #expect(try open(gallery, link).status == 401)
        if !isWithdrawn {
          // The permission of its client is there still, and other links come and go meanwhile.
          _ = try make(gallery, ["title": "Winter", "days": 2])
          try await gallery.restart()
          let listed = try #require(try gallery.ask("GET", "/v1/shares").json()["shares"] as? [[String: Any]])
          #expect(listed.map { $0["isExpired"] as? Bool } == [true, false])
          #expect(try gallery.library.access(to: asset).map(\.client) == [link.client])
          for name in listed.compactMap({ $0["name"] as? String }) {
            #expect(try gallery.ask("DELETE", "/v1/shares/\(name)").status == 204)
          }
          #expect(try gallery.library.access(to: asset).isEmpty && status(gallery, of: link.client) == .denied)
        }
        #expect(try gallery.ask("DELETE", "/v1/shares/\(link.name)").status == 404)
        #expect(try gallery.ask("GET", "/v1/shares").json()["shares"] as? [[String: String]] == [])
        // Even if the file of the keys was not written any more.
        try before.write(to: keys)
        try await gallery.restart()
        #expect(try gallery.ask("GET", bytes, key: key).status == 401)
      }
    }
  }
#endif
