#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import PhotoLedger
  import TestSupport
  import Testing

  // The log by the same fetches, feeds and messages as assets. The model of a reader that follows it is what
  // GET /v1/log gives at the end.

  @Suite("Following the log")
  struct LogFeedTests {
    /// The log as its reader holds it.
    private struct FollowedLog {
      var token: String
      var events: [[String: Any]] = []
      /// How many messages came.
      var messageCount = 0

      /// Applies a message; what it leaves out is read as pages of the log.
      mutating func apply(_ change: [String: Any], _ gallery: TestGallery) throws {
        #expect(change["before"] as? String == token, "The message does not start where the log is.")
        let inserted = try #require(change["inserted"] as? [[Int]])
        let count = try #require(change["count"] as? Int)
        #expect(inserted == [[events.count, count - events.count]])
        for name in ["removed", "changed", "moved"] { #expect((change[name] as? [Any])?.isEmpty == true) }
        let items = try #require(change["items"] as? [String: Any])
        var records = try #require(items["records"] as? [[String: Any]])
        #expect(items["indexes"] as? [[Int]] == [[events.count, records.count]])
        let isComplete = try #require(items["isComplete"] as? Bool)
        #expect(isComplete == (records.count == count - events.count))
        if !isComplete {
          records = try Array(LogFeedTests.log(gallery, "after=\(token)").prefix(count - events.count))
        }
        events += records
        #expect(events.count == count)
        (token, messageCount) = (try #require(change["after"] as? String), messageCount + 1)
      }
    }

    private static func log(_ gallery: TestGallery, _ query: String = "") throws -> [[String: Any]] {
      var (events, cursor) = ([[String: Any]](), "")
      while true {
        let page = try gallery.ask("GET", "/v1/log?limit=1000\(cursor)&\(query)").json()
        events += try #require(page["records"] as? [[String: Any]])
        guard let next = page["next"] as? Int else { return events }
        cursor = "&cursor=\(next)"
      }
    }

    private static var form: [String: Any] { ["log": true] }

    @Test("a reader that follows the log has each event once, through cuts and restarts", arguments: [1, 2, 3])
    func exact(_ seed: UInt64) async throws {
      try await TestGallery.serving(seed: seed) { gallery in
        var random = SeededGenerator(seed: seed)
        let ids = try await gallery.makeAssets(4)
        let fetch = try gallery.fetch(Self.form)
        var log = FollowedLog(token: fetch.token, events: try Self.log(gallery))
        #expect(log.events.count == fetch.count)
        let query = "fetch=\(fetch.name)&after=\(fetch.token)"
        var (client, cursor) = (try FeedClient(gallery, query), String?.none)
        for round in 0..<Dose.of(30) {
          for _ in 0..<Int.random(in: 1...3, using: &random) {
            try await gallery.library.performChanges { change in
              _ = change.createAlbum(title: "\(round)")
              change.setFavorite(Bool.random(using: &random), for: ids)
            }
          }
          if round % 10 == 9 {
            if round % 20 == 19 { try await gallery.restart() }
            client = try FeedClient(gallery, query, after: cursor)
          }
          let goal = try Int(gallery.library.lastSequence)
          while log.events.count < goal {
            let event = try #require(try client.next(), "The feed ended early.")
            #expect(event.name == "change")
            try log.apply(event.data, gallery)
            cursor = event.id
          }
        }
        #expect((log.events as NSArray).isEqual(to: try Self.log(gallery)))
      }
    }

    @Test("a reader that lags gets one message, whose first events are those of the log")
    func lagging() async throws {
      try await TestGallery.serving { gallery in
        let fetch = try gallery.fetch(Self.form)
        var log = FollowedLog(token: fetch.token, events: try Self.log(gallery))
        try await gallery.makeAssets(LogChange.recordLimit)
        for title in ["Sea", "Hills"] {
          try await gallery.library.performChanges { _ = $0.createAlbum(title: title) }
        }
        let client = try FeedClient(gallery, "fetch=\(fetch.name)&after=\(fetch.token)")
        try log.apply(try #require(try client.next()).data, gallery)
        #expect((log.events as NSArray).isEqual(to: try Self.log(gallery)) && log.messageCount == 1)
        // A message of many bytes ends early as well.
        try await gallery.library.performChanges { change in
          for _ in 0..<60 { _ = change.createAlbum(title: String(repeating: "a", count: 1000)) }
        }
        let event = try #require(try client.next())
        #expect(event.text.utf8.count < LogChange.byteLimit + 16_000)
        try log.apply(event.data, gallery)
        #expect((log.events as NSArray).isEqual(to: try Self.log(gallery)))
        #expect((event.data["items"] as? [String: Any])?["isComplete"] as? Bool == false)
      }
    }

    @Test("the log is added to an open feed beside other fetches, and one cursor holds both")
    func beside() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(2)
        let (all, log) = (try gallery.fetch(), try gallery.fetch(Self.form))
        let client = try FeedClient(gallery, "fetch=\(all.name)")
        #expect(try client.next()?.name == "state")
        let path = "/v1/feeds/\(client.feed)/fetches"
        #expect(try gallery.ask("POST", path, json: ["fetch": log.name]).status == 201)
        let state = try #require(try client.next())
        #expect(state.name == "state" && state.data["count"] as? Int == log.count)
        // An album changes no asset: only the log has it.
        try await gallery.library.performChanges(cause: "a walk") { _ = $0.createAlbum(title: "Sea") }
        let album = try #require(try client.next())
        #expect(album.data["fetch"] as? String == log.name && album.data["cause"] as? String == "a walk")
        try await gallery.library.performChanges { $0.setFavorite(true, for: [ids[0]]) }
        let events = try [#require(try client.next()), #require(try client.next())]
        #expect(Set(events.compactMap { $0.data["fetch"] as? String }) == [all.name, log.name])
        let now = try gallery.library.currentToken
        #expect(try FeedCursor(events[1].id).tokens.map(\.token) == [now, now])
        #expect(try gallery.ask("DELETE", "\(path)/\(log.name)").status == 204)
        try await gallery.library.performChanges { _ = $0.createAlbum(title: "Hills") }
        try await gallery.library.performChanges { $0.setFavorite(false, for: [ids[0]]) }
        #expect(try client.next()?.data["fetch"] as? String == all.name)
      }
    }

    @Test("the log is polled, at once and waiting, and has neither windows nor other parts beside it")
    func polls() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(1)
        let fetch = try gallery.fetch(Self.form)
        let path = "/v1/fetches/\(fetch.name)"
        #expect(try gallery.ask("GET", path).json()["count"] as? Int == fetch.count)
        #expect(try gallery.ask("GET", "\(path)?at=1").json()["count"] as? Int == 1)
        let empty = try gallery.ask("GET", "\(path)/changes?after=\(fetch.token)").json()
        #expect((empty["inserted"] as? [Any])?.isEmpty == true && empty["after"] as? String == fetch.token)
        let waiting = try RawClient(port: gallery.address.port)
        let target = "/v1/changes?fetch=\(fetch.name)&after=\(fetch.token)&wait=60"
        waiting.send(try gallery.head("GET", target, ["Connection: close"]))
        try await waitUntil("the poll waits") { gallery.server.feeds.pollCount == 1 }
        try await gallery.library.performChanges { _ = $0.createAlbum(title: "Sea") }
        let poll = try TestGallery.checked("GET", target, #require(TestGallery.parsed(waiting.readToEnd()))).json()
        let messages = try #require(poll["messages"] as? [[String: Any]])
        #expect(messages.count == 1 && messages[0]["count"] as? Int == fetch.count + 1)
        let change = try gallery.ask("GET", "\(path)/changes?after=\(fetch.token)").json()
        #expect((change as NSDictionary).isEqual(to: messages[0]))
        let lines = try gallery.ask(
          "GET", "/v1/changes?fetch=\(fetch.name)&after=\(fetch.token)", ["Accept: application/x-ndjson"])
        #expect(lines.body.split(separator: "\n").count == 2 && lines.body.contains("Sea"))
        for wrong in ["items", "items?form=columns", "sections", "shapes", "index?asset=\(ids[0].uuidString)"] {
          #expect(try gallery.ask("GET", "\(path)/\(wrong)").status == 400, "\(wrong)")
        }
        for wrong in [["log": 1], ["log": true, "limit": 3], ["log": true, "collections": "all"]] as [[String: Any]] {
          #expect(try gallery.ask("POST", "/v1/fetches", json: wrong).status == 400)
        }
        #expect(try gallery.fetch(["log": false]).name == gallery.fetch().name)
      }
    }

    @Test("a client without full access learns nothing of the log, and one that loses it nothing of what follows")
    func permissions() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(3)
        let key = try gallery.key(of: "app").secret
        let fetch = try gallery.fetch(Self.form)
        let query = "fetch=\(fetch.name)"
        #expect(try gallery.ask("POST", "/v1/fetches", json: Self.form, key: key).status == 403)
        #expect(try gallery.ask("GET", "/v1/feed?\(query)", key: key).status == 403)
        try await gallery.library.performChanges { change in
          change.setAuthorizationStatus(.limited, of: "app")
          change.grant([ids[0]], to: "app")
        }
        for (method, target) in [
          ("POST", "/v1/fetches"), ("GET", "/v1/fetches/\(fetch.name)"), ("GET", "/v1/changes?\(query)"),
          ("GET", "/v1/changes?\(query)&after=\(fetch.token)"),
          ("GET", "/v1/fetches/\(fetch.name)/changes?after=\(fetch.token)"), ("GET", "/v1/log"),
          ("GET", "/v1/feed?\(query)"), ("GET", "/v1/feed?\(query)&after=\(fetch.token)"),
        ] {
          let answer = try gallery.ask(method, target, json: method == "POST" ? Self.form : nil, key: key)
          #expect(answer.status == 403 && !answer.body.contains("count"), "\(target): \(answer)")
        }
        // Beside another fetch the log is a problem of its own, and cannot be added later, either.
        let few = try gallery.fetch(key: key)
        let beside = try FeedClient(gallery, "\(query)&fetch=\(few.name)", key: key)
        let two = try [#require(try beside.next()), #require(try beside.next())]
        #expect(two.first { $0.name == "problem" }?.data["fetch"] as? String == fetch.name, "\(two)")
        #expect(two.first { $0.name == "state" }?.data["fetch"] as? String == few.name, "\(two)")
        let added = try gallery.ask(
          "POST", "/v1/feeds/\(beside.feed)/fetches", json: ["fetch": fetch.name], key: key)
        #expect(added.status == 403, "\(added)")

        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "app") }
        let all = try gallery.fetch(key: key)
        let client = try FeedClient(
          gallery, "\(query)&after=\(fetch.token)&fetch=\(all.name)&after=\(all.token)", key: key)
        // It reads what was committed before it might, as at /v1/log.
        let first = try #require(try client.next())
        #expect(first.data["fetch"] as? String == fetch.name && first.name == "change", "\(first)")
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.limited, of: "app") }
        let ends = try [#require(try client.next()), #require(try client.next())]
        let problem = try #require(ends.first { $0.data["fetch"] as? String == fetch.name })
        #expect(problem.name == "problem" && problem.data["status"] as? Int == 403)
        let narrowed = try #require(ends.first { $0.data["fetch"] as? String == all.name })
        #expect(narrowed.data["removed"] as? [[Int]] == [[1, 2]])
        #expect(try FeedCursor(ends[1].id).tokens.map(\.fetch.name) == [all.name])
        // The others go on; the log is not among what they bring.
        try await gallery.library.performChanges { _ = $0.createAlbum(title: "Secret") }
        try await gallery.library.performChanges { $0.setFavorite(true, for: [ids[0]]) }
        let event = try #require(try client.next())
        #expect(event.data["fetch"] as? String == all.name, "\(event)")
        #expect(event.data["changed"] as? [[Int]] == [[0, 1]], "\(event)")
      }
    }
  }
#endif
