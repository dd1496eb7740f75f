#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import PhotoLedger
  import TestSupport
  import Testing

  // Albums and folders by the same fetches, feeds and messages as assets. The model of a list is what the same fetch
  // gives anew at the message's token.

  @Suite("Following albums and folders")
  struct CollectionFeedTests {
    private static var forms: [[String: Any]] {
      [
        ["collections": "all"], ["collections": "top"], ["collections": "all", "sort": ["title"], "limit": 4],
        ["collections": "all", "where": "title BEGINSWITH 'A'"],
      ]
    }

    /// A fetch that a feed follows, as its client holds it.
    private struct Followed {
      let name: String
      var token: String
      var objects: [[String: Any]]

      var identifiers: [String] { objects.compactMap { $0["localIdentifier"] as? String } }

      /// Applies a message by its two coordinate systems.
      mutating func apply(_ change: [String: Any]) throws {
        #expect(change["before"] as? String == token, "The message does not start where the list is.")
        func positions(_ name: String) throws -> IndexSet {
          IndexSet(try #require(change[name] as? [[Int]]).flatMap { $0[0]..<($0[0] + $0[1]) })
        }
        let moved = try #require(change["moved"] as? [[Int]])
        let leaving = try positions("removed").union(IndexSet(moved.map { $0[0] }))
        let items = try #require(change["items"] as? [String: Any])
        let given = try #require(items["objects"] as? [[String: Any]])
        let ranges = try #require(items["indexes"] as? [[Int]])
        let named = Dictionary(uniqueKeysWithValues: zip(ranges.flatMap { $0[0]..<($0[0] + $0[1]) }, given))
        var list = objects.indices.filter { !leaving.contains($0) }.map { objects[$0] }
        var coming = moved.map { (index: $0[1], object: objects[$0[0]]) }
        for index in try positions("inserted") { coming.append((index, try #require(named[index]))) }
        for one in coming.sorted(by: { $0.index < $1.index }) { list.insert(one.object, at: one.index) }
        for index in try positions("changed") { list[index] = try #require(named[index]) }
        #expect(list.count == change["count"] as? Int)
        (objects, token) = (list, try #require(change["after"] as? String))
      }
    }

    private static func window(_ gallery: TestGallery, _ fetch: String, at token: String) throws -> [[String: Any]] {
      let answer = try gallery.ask("GET", "/v1/fetches/\(fetch)/items?count=1000&token=\(token)")
      try #require(answer.status == 200, "\(answer)")
      return try #require(try answer.json()["items"] as? [[String: Any]])
    }

    @Test("a list that follows a feed is the fetch at every message, through cuts and restarts", arguments: [1, 2, 3])
    func exact(_ seed: UInt64) async throws {
      try await TestGallery.serving(seed: seed) { gallery in
        var random = SeededGenerator(seed: seed)
        let assets = try await gallery.makeAssets(6)
        var albums: [LocalIdentifier] = []
        var folders: [LocalIdentifier] = []
        var lists: [String: Followed] = [:]
        for form in Self.forms {
          let fetch = try gallery.fetch(form)
          lists[fetch.name] = Followed(
            name: fetch.name, token: fetch.token, objects: try Self.window(gallery, fetch.name, at: fetch.token))
        }
        let query = lists.values.map { "fetch=\($0.name)&after=\($0.token)" }.joined(separator: "&")
        var (client, cursor) = (try FeedClient(gallery, query), String?.none)
        for round in 0..<Dose.of(30) {
          try await Self.step(gallery, assets, &albums, &folders, &random)
          if round % 10 == 9 {
            if round % 20 == 19 { try await gallery.restart() }
            client = try FeedClient(gallery, query, after: cursor)
          }
          for name in lists.keys.sorted() {
            let now = try Self.window(gallery, name, at: gallery.library.currentToken.description)
            while let list = lists[name], !(list.objects as NSArray).isEqual(to: now) {
              let event = try #require(try client.next(), "The feed ended early.")
              #expect(event.name == "change", "\(event)")
              let changed = try #require(event.data["fetch"] as? String)
              try lists[changed]?.apply(event.data)
              cursor = event.id
            }
          }
        }
      }
    }

    private static func step(
      _ gallery: TestGallery, _ assets: [LocalIdentifier], _ albums: inout [LocalIdentifier],
      _ folders: inout [LocalIdentifier], _ random: inout SeededGenerator
    ) async throws {
      let title = (["A", "B"].randomElement(using: &random) ?? "") + "\(Int.random(in: 0..<100, using: &random))"
      let (album, folder) = (albums.randomElement(using: &random), folders.randomElement(using: &random))
      let (kind, asset) = (Int.random(in: 0..<8, using: &random), assets.randomElement(using: &random) ?? assets[0])
      var (made, isFolder) = (LocalIdentifier?.none, false)
      try await gallery.library.performChanges { change in
        switch (kind, album, folder) {
        case (2, let album?, _): change.setTitle(title, of: album)
        case (3, let album?, _): change.album(album).add([asset])
        case (4, let album?, _): change.album(album).remove([asset])
        case (5, let album?, let folder?): change.folder(folder).add([album])
        case (6, let album?, _): change.folder(nil).insert([album], at: 0)
        case (7, let album?, _) where albums.count > 3: change.deleteCollections([album])
        case (1, _, _):
          (made, isFolder) = (change.createFolder(title: title), true)
        default: made = change.createAlbum(title: title)
        }
      }
      if kind == 7, let album, albums.count > 3 { albums.removeAll { $0 == album } }
      guard let made else { return }
      if isFolder { folders.append(made) } else { albums.append(made) }
    }

    @Test("collections are polled and listed as lines, and parameters of assets are rejected")
    func routes() async throws {
      try await TestGallery.serving { gallery in
        let fetch = try gallery.fetch(["collections": "top"])
        #expect(fetch.count == 0)
        var made: [LocalIdentifier] = []
        try await gallery.library.performChanges { change in
          made = [change.createFolder(title: "Trips"), change.createAlbum(title: "Sea")]
          change.folder(made[0]).add([made[1]])
        }
        let path = "/v1/fetches/\(fetch.name)"
        let change = try gallery.ask("GET", "\(path)/changes?after=\(fetch.token)").json()
        #expect(change["inserted"] as? [[Int]] == [[0, 1]] && change["count"] as? Int == 1)
        let poll = try gallery.ask("GET", "/v1/changes?fetch=\(fetch.name)&after=\(fetch.token)").json()
        #expect((poll["messages"] as? [[String: Any]])?.count == 1)
        let after = try #require(change["after"] as? String)
        #expect(try gallery.ask("GET", "\(path)/changes?after=\(after)").json()["count"] as? Int == 1)
        let lines = try gallery.ask("GET", "\(path)/items", ["Accept: application/x-ndjson"])
        #expect(lines.status == 200 && lines.body.contains("Trips"))
        #expect(try gallery.ask("GET", path).json()["count"] as? Int == 1)
        let tag = try #require(try gallery.ask("GET", "\(path)/items?token=\(after)").fields["etag"])
        #expect(try gallery.ask("GET", "\(path)/items?token=\(after)", ["If-None-Match: \(tag)"]).status == 304)
        let children = try gallery.fetch(["collections": made[0].spelled(as: .folder)])
        #expect(children.count == 1)
        for wrong in ["items?form=columns", "sections", "shapes", "index?asset=\(made[0].uuidString)"] {
          #expect(try gallery.ask("GET", "\(path)/\(wrong)").status == 400, "\(wrong)")
        }
        for wrong in [["collections": "all", "hidden": true], ["collections": "all", "sort": ["pixelWidth"]]]
          as [[String: Any]]
        {
          #expect(try gallery.ask("POST", "/v1/fetches", json: wrong).status == 400)
        }
        #expect(try gallery.ask("POST", "/v1/fetches", json: ["collections": made[1].uuidString]).status == 404)
        // A limited client follows what it made, and nothing else.
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.limited, of: "app") }
        let app = try gallery.key(of: "app").secret
        let own = try gallery.fetch(["collections": "all"], key: app)
        #expect(own.count == 0)
        let feed = try FeedClient(gallery, "fetch=\(own.name)&after=\(own.token)", key: app)
        try await gallery.library.performChanges { $0.setTitle("Hills", of: made[1]) }
        try await gallery.library.as("app").performChanges { _ = $0.createAlbum(title: "Mine") }
        let first = try #require(try feed.next())
        #expect(first.data["count"] as? Int == 1 && first.text.contains("Mine") && !first.text.contains("Hills"))
      }
    }

    @Test("only the owner fetches and follows what another client sees")
    func selection() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(5)
        try await gallery.library.performChanges { change in
          change.setAuthorizationStatus(.limited, of: "app")
          change.setAuthorizationStatus(.authorized, of: "full")
          change.grant([ids[1], ids[2]], to: "app")
        }
        let app = try gallery.key(of: "app").secret
        let form: [String: Any] = ["selectionOf": "app", "sort": ["creationDate"]]
        let fetch = try gallery.fetch(form)
        let own = try gallery.fetch(["sort": ["creationDate"]], key: app)
        #expect(fetch.count == 2 && fetch.token == own.token)
        var list = FollowedList(try gallery.identifiers(fetch.name, at: fetch.token), at: fetch.token)
        #expect(list.identifiers == (try gallery.identifiers(own.name, at: own.token, key: app)))
        let all = try gallery.fetch()
        let feed = try FeedClient(
          gallery, "fetch=\(fetch.name)&after=\(fetch.token)&fetch=\(all.name)&after=\(all.token)")
        try await gallery.library.performChanges { $0.grant([ids[4]], to: "app") }
        let event = try #require(try feed.next())
        #expect(event.data["fetch"] as? String == fetch.name)
        try list.apply(event.data)
        #expect(list.identifiers == [1, 2, 4].map { ids[$0].spelled(as: .asset) })
        let path = "/v1/fetches/\(fetch.name)"
        for part in [
          "", "/items", "/sections", "/shapes", "/index?asset=\(ids[1].uuidString)", "/changes?after=\(fetch.token)",
        ] {
          #expect(try gallery.ask("GET", path + part).status == 200, "\(part)")
          // Not even the client itself gains anything by it.
          let full = try gallery.key(of: "full").secret
          #expect(try gallery.ask("GET", path + part, key: full).status == 403, "\(part)")
        }
        let full = try gallery.key(of: "full").secret
        #expect(try gallery.ask("POST", "/v1/fetches", json: form, key: full).status == 403)
        #expect(try gallery.ask("GET", "/v1/feed?fetch=\(fetch.name)", key: full).status == 403)
        #expect(try gallery.ask("GET", "/v1/changes?fetch=\(fetch.name)&after=\(fetch.token)", key: full).status == 403)
        let poll = try gallery.ask(
          "GET", "/v1/changes?fetch=\(fetch.name)&after=\(fetch.token)&fetch=\(all.name)&after=\(all.token)"
        )
        .json()
        let messages = try #require(poll["messages"] as? [[String: Any]], "\(poll)")
        // The grant changed nothing of what the owner sees.
        #expect(messages.map { $0["fetch"] as? String } == [fetch.name], "\(poll)")
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.denied, of: "app") }
        #expect(try gallery.ask("GET", path).status == 403)
      }
    }

    @Test("a fetch that may not be followed is a problem in the feed, and the other fetches continue")
    func oneRefused() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(2)
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "app") }
        let key = try gallery.key(of: "app").secret
        let other = try gallery.fetch(["selectionOf": PhotoLibrary.owner]).name
        let all = try gallery.fetch(key: key)
        for order in [[other, all.name], [all.name, other]] {
          let feed = try FeedClient(gallery, order.map { "fetch=\($0)" }.joined(separator: "&"), key: key)
          let first = try (0..<2).map { _ in try #require(try feed.next()) }
          #expect(
            Set(first.map { "\($0.name) \($0.data["fetch"] ?? "")" }) == ["problem \(other)", "state \(all.name)"])
          #expect(first.first { $0.name == "problem" }?.data["status"] as? Int == 403)
          try await gallery.library.performChanges { $0.setFavorite(order[0] == other, for: [ids[0]]) }
          let change = try #require(try feed.next())
          #expect(change.name == "change" && change.data["fetch"] as? String == all.name)
          #expect(try FeedCursor(change.id).tokens.map(\.fetch.name) == [all.name])
        }
        #expect(try gallery.ask("GET", "/v1/feed?fetch=\(other)", key: key).status == 403)
      }
    }

    @Test(
      "a fetch of a client's view is rejected for a name that no client can have, however it is sent",
      arguments: [String(repeating: "a", count: 257), String(repeating: "\u{E9}", count: 129), "a\u{0}b"])
    func impossibleClient(_ client: String) async throws {
      try await TestGallery.serving { gallery in
        let asked = try gallery.ask("POST", "/v1/fetches", json: ["selectionOf": client])
        #expect(asked.status == 400, "\(asked)")
        let text = #"{"selectionOf":\#(JSON.text(client))}"#
        let name = Keyring.spelled(Array(text.utf8))
        #expect(try gallery.ask("GET", "/v1/fetches/\(name)/items").status == 400)
        #expect(try gallery.ask("GET", "/v1/changes?fetch=\(name)").status == 400)
        let cursor = "\(name).\(try gallery.library.currentToken)"
        #expect(try gallery.ask("GET", "/v1/feed", ["Last-Event-ID: \(cursor)"]).status == 400)
        #expect(try gallery.ask("POST", "/v1/fetches", json: ["selectionOf": String(client.prefix(1))]).status == 403)
      }
    }

    @Test("a key has a limited number of feeds, the owner's any number")
    func limited() async throws {
      var access = GalleryAccess()
      access.limits.feedsOfKey = 3
      try await TestGallery.serving(access: access) { gallery in
        try await gallery.makeAssets(1)
        try await gallery.library.performChanges { change in
          for client in ["app", "other"] { change.setAuthorizationStatus(.authorized, of: client) }
        }
        let (app, other) = (try gallery.key(of: "app").secret, try gallery.key(of: "other").secret)
        let fetch = try gallery.fetch()
        let query = "fetch=\(fetch.name)"
        var open = try (0..<3).map { _ in try FeedClient(gallery, query, key: app) }
        let refused = try gallery.ask("GET", "/v1/feed?\(query)", key: app)
        #expect(refused.status == 429 && refused.fields["retry-after"] == "5", "\(refused)")
        _ = try FeedClient(gallery, query, key: other)
        open += try (0..<5).map { _ in try FeedClient(gallery, query) }
        #expect(open.count == 8 && gallery.server.feeds.count >= 8)
        open.removeFirst()
        // The place is free as soon as the server has noticed.
        try await waitUntil("a closed feed gives its place back") {
          let client = try RawClient(port: gallery.address.port)
          client.send(try gallery.head("GET", "/v1/feed?\(query)", key: app, ["Connection: close"]))
          return client.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 200")
        }
      }
    }

    @Test("a limited number of polls of a key wait for a change, of the owner's any number")
    func limitedPolls() async throws {
      var access = GalleryAccess()
      access.limits.feedsOfKey = 2
      try await TestGallery.serving(access: access) { gallery in
        let ids = try await gallery.makeAssets(1)
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "app") }
        let app = try gallery.key(of: "app").secret
        let fetch = try gallery.fetch(key: app)
        let targets = [
          "/v1/changes?fetch=\(fetch.name)&after=\(fetch.token)",
          "/v1/fetches/\(fetch.name)/changes?after=\(fetch.token)",
        ]
        func poll(_ target: String, key: String) throws -> RawClient {
          let client = try RawClient(port: gallery.address.port)
          client.send(try gallery.head("GET", target + "&wait=60", key: key, ["Connection: close"]))
          return client
        }
        var polls = try targets.map { try poll($0, key: app) }
        try await waitUntil("both wait") { gallery.server.feeds.pollCount == 2 }
        for target in targets {
          let refused = try gallery.ask("GET", target + "&wait=60", key: app)
          #expect(refused.status == 429 && refused.fields["retry-after"] == "5", "\(refused)")
          // One that does not wait holds nothing.
          #expect(try gallery.ask("GET", target, key: app).status == 200)
        }
        let owners = try gallery.fetch()
        let target = "/v1/changes?fetch=\(owners.name)&after=\(owners.token)"
        polls += try (0..<3).map { _ in try poll(target, key: gallery.owner) }
        try await waitUntil("the owner's wait, too") { gallery.server.feeds.pollCount == 5 }
        try await gallery.library.performChanges { $0.setFavorite(true, for: ids) }
        for poll in polls { #expect(poll.readToEnd().hasPrefix("HTTP/1.1 200")) }
        #expect(gallery.server.feeds.pollCount == 0)
      }
    }
  }
#endif
