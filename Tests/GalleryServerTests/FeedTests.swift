#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import PhotoLedger
  import TestSupport
  import Testing

  @Suite("Feeds over HTTP")
  struct FeedTests {
    @Test("a list that follows a feed is the fetch at every message, through cuts and restarts", arguments: [1, 2, 3])
    func exact(_ seed: UInt64) async throws {
      try await TestGallery.serving(seed: seed) { gallery in
        var random = SeededGenerator(seed: seed)
        var ids = try await gallery.makeAssets(30)
        let fetch = try gallery.fetch(["sort": ["creationDate:desc"], "where": "isFavorite == NO"])
        var list = FollowedList(try gallery.identifiers(fetch.name, at: fetch.token), at: fetch.token)
        var client = try FeedClient(gallery, "fetch=\(fetch.name)&after=\(fetch.token)")
        var cursor: String?
        for round in 0..<40 {
          let picked = ids.shuffled(using: &random).prefix(Int.random(in: 1...4, using: &random))
          let kind = Int.random(in: 0..<4, using: &random)
          if kind == 0 {
            ids += try await gallery.makeAssets(2, from: 100 + round * 2)
          } else {
            try await gallery.library.performChanges { change in
              switch kind {
              case 1: change.setFavorite(Bool.random(using: &random), for: Array(picked))
              case 2:
                var changes = AssetChanges()
                changes.creationDate = .set(
                  Date(timeIntervalSince1970: Double(Int.random(in: 0..<4_000_000, using: &random))))
                change.edit(Array(picked), changes)
              default: change.setHidden(Bool.random(using: &random), for: Array(picked))
              }
            }
          }
          if round % 10 == 9 {
            // The connection is cut, or the server ends; the cursor of the last event leads on.
            if round % 20 == 19 { try await gallery.restart() }
            client = try FeedClient(gallery, "fetch=\(fetch.name)&after=\(fetch.token)", after: cursor)
          }
          let now = try gallery.library.currentToken.description
          let goal = try gallery.fetch(["sort": ["creationDate:desc"], "where": "isFavorite == NO"])
          #expect(goal.token == now)
          let wanted = try gallery.identifiers(goal.name, at: goal.token)
          while list.identifiers != wanted {
            let event = try #require(try client.next(), "The feed ended before it sent everything.")
            #expect(event.name == "change")
            try list.apply(event.data)
            cursor = event.id
          }
        }
      }
    }

    @Test("fetches that differ in Unicode spelling alone are followed as two, under their names, and resumed as two")
    func spellings() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(3)
        let fetches = try ["caf\u{E9}", "cafe\u{301}"].map { word in
          try gallery.fetch(["where": "NOT originalFilename CONTAINS '\(word)'"])
        }
        let names = Set(fetches.map { $0.name })
        let query = fetches.map { "fetch=\($0.name)&after=\($0.token)" }.joined(separator: "&")
        var cursor: String?
        for id in ids {
          let client = try FeedClient(gallery, query, after: cursor)
          try await gallery.library.performChanges { $0.setFavorite(true, for: [id]) }
          let changes = try (0..<2).map { _ in try #require(try client.next()) }
          #expect(names.count == 2 && Set(changes.compactMap { $0.data["fetch"] as? String }) == names)
          cursor = changes.last?.id
        }
      }
    }

    @Test("one stream carries several fetches, and its cursor holds the state delivered for each")
    func several() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(5)
        let all = try gallery.fetch()
        let favorites = try gallery.fetch(["where": "isFavorite == YES"])
        let client = try FeedClient(gallery, "fetch=\(all.name)&fetch=\(favorites.name)")
        let states = try (0..<2).map { _ in try #require(try client.next()) }
        #expect(states.map(\.name) == ["state", "state"])
        #expect(Set(states.compactMap { $0.data["fetch"] as? String }) == [all.name, favorites.name])
        try await gallery.library.performChanges { $0.setFavorite(true, for: [ids[1]]) }
        let changes = try (0..<2).map { _ in try #require(try client.next()) }
        #expect(Set(changes.compactMap { $0.data["fetch"] as? String }) == [all.name, favorites.name])
        let cursor = try FeedCursor(try #require(changes.last?.id))
        let after = try gallery.library.currentToken
        #expect(cursor.tokens.map(\.token) == [after, after])
        // The cursor before the last event asks for that event again, and for nothing else.
        let again = try FeedClient(gallery, "fetch=\(all.name)&fetch=\(favorites.name)", after: changes[0].id)
        let repeated = try #require(try again.next())
        #expect(repeated.data["fetch"] as? String == changes[1].data["fetch"] as? String)
      }
    }

    @Test("a feed that is cut before it sent the state of each fetch sends it on reconnection")
    func unsent() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(3)
        let all = try gallery.fetch()
        let favorites = try gallery.fetch(["where": "isFavorite == YES"])
        // The cursor of the first state, as it stands whichever fetch is the second.
        let client = try FeedClient(gallery, "fetch=\(all.name)&fetch=\(favorites.name)")
        let first = try #require(try client.next())
        let sent = try #require(first.data["fetch"] as? String)
        #expect(try FeedCursor(first.id).tokens.map(\.fetch.name) == [all.name, favorites.name])
        // As an EventSource does that knows nothing of cursors: the query, and the last id.
        let again = try FeedClient(gallery, "fetch=\(all.name)&fetch=\(favorites.name)", after: first.id)
        let second = try #require(try again.next())
        #expect(second.name == "state" && second.data["fetch"] as? String != sent)
        try await gallery.library.performChanges { $0.setFavorite(true, for: [ids[1]]) }
        let changes = try (0..<2).map { _ in try #require(try again.next()) }
        #expect(changes.map(\.name) == ["change", "change"])
        #expect(Set(changes.compactMap { $0.data["fetch"] as? String }) == [all.name, favorites.name])
        let cursor = try FeedCursor("\(all.name).,\(favorites.name).")
        #expect(cursor.tokens.count == 2 && cursor.tokens.allSatisfy { $0.token == nil })
        #expect(cursor.spelled == "\(all.name).,\(favorites.name).")
        let polled = try gallery.ask("GET", "/v1/changes?cursor=\(cursor.spelled)&wait=60").json()
        #expect((polled["messages"] as? [[String: Any]])?.count == 2)
      }
    }

    @Test(
      "a grant and a withdrawal reach a client's list as insertions and removals; the end of its key ends its feed")
    func permissions() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(5)
        let key = try gallery.key(of: "app")
        #expect(try gallery.ask("POST", "/v1/fetches", json: [:], key: key.secret).status == 403)
        try await gallery.library.performChanges { change in
          change.setAuthorizationStatus(.limited, of: "app")
          change.grant([ids[1]], to: "app")
        }
        let fetch = try gallery.fetch(key: key.secret)
        #expect(fetch.count == 1)
        var list = FollowedList(
          try gallery.identifiers(fetch.name, at: fetch.token, key: key.secret), at: fetch.token)
        let client = try FeedClient(gallery, "fetch=\(fetch.name)&after=\(fetch.token)", key: key.secret)
        try await gallery.library.performChanges { $0.grant([ids[3]], to: "app") }
        try list.apply(try #require(try client.next()).data)
        #expect(list.identifiers == [ids[1], ids[3]].map { $0.spelled(as: .asset) })
        try await gallery.library.performChanges { $0.withdraw([ids[1]], from: "app") }
        try list.apply(try #require(try client.next()).data)
        #expect(list.identifiers == [ids[3].spelled(as: .asset)])
        #expect(try gallery.ask("GET", "/v1/assets/\(ids[1].uuidString)", key: key.secret).status == 404)
        #expect(try gallery.ask("DELETE", "/v1/keys/\(key.name)").status == 204)
        #expect(try client.next() == nil)
      }
    }

    @Test("a message names the cause of the last commit that it shows, and none where that commit has no cause")
    func causes() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(3)
        let fetch = try gallery.fetch()
        let client = try FeedClient(gallery, "fetch=\(fetch.name)&after=\(fetch.token)")
        try await gallery.library.performChanges(cause: "sorting") { $0.setFavorite(true, for: [ids[0]]) }
        #expect(try client.next()?.data["cause"] as? String == "sorting")
        try await gallery.library.performChanges { $0.setFavorite(true, for: [ids[1]]) }
        #expect(try client.next()?.data["cause"] is NSNull)
        let block: [String: Any] = [
          "changes": [["op": "asset.edit", "assets": [ids[2].uuidString], "isFavorite": true]], "cause": "a page",
        ]
        let made = try gallery.ask("POST", "/v1/blocks", json: block)
        try #require(made.status == 200, "\(made)")
        #expect(try client.next()?.data["cause"] as? String == "a page")
        // One message for all three.
        let path = "/v1/fetches/\(fetch.name)/changes?after=\(fetch.token)"
        #expect(try gallery.ask("GET", path).json()["cause"] as? String == "a page")
      }
    }

    @Test("all of a hundred clients of one fetch receive a commit, and none stays connected after the stop")
    func many() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(5)
        let fetch = try gallery.fetch()
        let clients = try (0..<100).map { _ in
          try FeedClient(gallery, "fetch=\(fetch.name)&after=\(fetch.token)")
        }
        try await gallery.library.performChanges { $0.deleteAssets([ids[0]]) }
        for client in clients {
          let event = try #require(try client.next())
          #expect(event.data["removed"] as? [[Int]] == [[0, 1]])
        }
        await gallery.server.stop()
        for client in clients { #expect(try client.next() == nil) }
      }
    }
  }
#endif
