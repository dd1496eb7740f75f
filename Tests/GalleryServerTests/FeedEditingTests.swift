#if Gallery
  import Foundation
  @testable import GalleryServer
  import HTTPServing
  import JSONReading
  import LibraryJSON
  import MediaImport
  import PhotoLedger
  import Synchronization
  import TestSupport
  import Testing

  @Suite("Changing the fetches of an open feed")
  struct FeedEditingTests {
    @Test("an added fetch is delivered, a removed one is not, and the cursor holds both after a restart")
    func editing() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(4)
        let all = try gallery.fetch()
        let favorites = try gallery.fetch(["where": "isFavorite == YES"])
        let client = try FeedClient(gallery, "fetch=\(all.name)")
        #expect(try client.next()?.name == "state")
        let path = "/v1/feeds/\(client.feed)/fetches"
        let added = try gallery.ask("POST", path, json: ["fetch": favorites.name])
        #expect(added.status == 201 && added.fields["location"] == "\(path)/\(favorites.name)", "\(added)")
        let state = try #require(try client.next())
        #expect(state.name == "state" && state.data["fetch"] as? String == favorites.name)
        #expect(try gallery.ask("POST", path, json: ["fetch": favorites.name]).status == 409)
        try await gallery.library.performChanges { $0.setFavorite(true, for: [ids[0]]) }
        let changes = try (0..<2).map { _ in try #require(try client.next()) }
        #expect(Set(changes.compactMap { $0.data["fetch"] as? String }) == [all.name, favorites.name])
        #expect(try gallery.ask("DELETE", "\(path)/\(all.name)").status == 204)
        #expect(try gallery.ask("DELETE", "\(path)/\(all.name)").status == 404)
        try await gallery.library.performChanges { $0.setFavorite(true, for: [ids[1]]) }
        let last = try #require(try client.next())
        #expect(last.data["fetch"] as? String == favorites.name && last.data["count"] as? Int == 2)
        #expect(try FeedCursor(last.id).tokens.map(\.fetch.name) == [favorites.name])
        // The list is added again at the token that the client holds: what it missed is one change.
        let held = try #require(changes.first { $0.data["fetch"] as? String == all.name }?.data["after"] as? String)
        #expect(try gallery.ask("POST", path, json: ["fetch": all.name, "after": held]).status == 201)
        let missed = try #require(try client.next())
        #expect(missed.data["before"] as? String == held && missed.data["changed"] as? [[Int]] == [[1, 1]])
        try await gallery.restart()
        #expect(try client.next() == nil)
        #expect(try gallery.ask("POST", path, json: ["fetch": all.name]).status == 404, "the name went with the stream")
        let again = try FeedClient(gallery, "fetch=\(all.name)", after: missed.id)
        try await gallery.library.performChanges { $0.setFavorite(true, for: [ids[2]]) }
        let both = try (0..<2).map { _ in try #require(try again.next()) }
        #expect(Set(both.compactMap { $0.data["fetch"] as? String }) == [all.name, favorites.name])
      }
    }

    @Test("a message of a fetch that was removed before delivery is dropped, and the other fetches continue")
    func late() async throws {
      try await TestGallery.serving { gallery in
        try await waitUntil("the line of the sign-in is written") { gallery.log.lines.count == 1 }
        let key = Keyring.Key(
          name: "late", client: PhotoLibrary.owner, label: "", created: .distantPast, expires: .distantFuture)
        let feed = Feed(FeedCursor([]), name: "late", key: key, sections: nil, for: gallery.server)
        // The stream holds one chunk, which no connection takes yet: all that comes later waits.
        try await feed.stream.send { Array(": first\n\n".utf8) }
        let removed = try FetchRequest(["where": .text("isFavorite == YES")])
        let kept = try FetchRequest(["where": .text("isFavorite == NO")])
        try feed.add(removed, from: nil)
        try await waitUntil("the list is read for the message") { gallery.server.fetches.count == 1 }
        let readings = gallery.clock.readings
        #expect(feed.remove(removed))
        let server = try HTTPServer(try HTTPListener("127.0.0.1:0"), application: OneStream(stream: feed.stream))
        var text = ""
        do {
          let client = try RawClient(port: server.address.port)
          client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
          // Whether the key has expired is asked when a message is passed on, and after one that is dropped.
          try await waitUntil("the message has taken its place or was dropped") { gallery.clock.readings > readings }
          try feed.add(kept, from: nil)
          text = client.read(through: "\"fetch\":\"\(kept.name)\"")
          feed.end()
          text += client.readToEnd()
        } catch {
          feed.end()
          await server.stop()
          throw error
        }
        await server.stop()
        #expect(text.contains("\"fetch\":\"\(kept.name)\"") && text.contains(": first"), "\(text)")
        #expect(!text.contains("\"fetch\":\"\(removed.name)\""), "\(text)")
      }
    }

    @Test("pictures whose announcement could not be read are announced with the next ones")
    func announcedLater() async throws {
      try await TestGallery.serving { gallery in
        let first = try await gallery.makeFile("one")
        let second = try await gallery.makeFile("two", name: "b.jpg")
        let stream = HTTPStream()
        // The client may not read yet.
        let columns = RenditionColumns(library: gallery.library.as("app"), renditions: gallery.server.renditions)
        let announcements = RenditionAnnouncements(columns, stream)
        announcements.add(Array("one".utf8).sha256)
        try await waitUntil("the first reading has failed") { !announcements.isSending }
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "app") }
        announcements.add(Array("two".utf8).sha256)
        let server = try HTTPServer(try HTTPListener("127.0.0.1:0"), application: OneStream(stream: stream))
        var text = ""
        do {
          let client = try RawClient(port: server.address.port)
          client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
          text = client.read(through: second.sha256)
        } catch {
          stream.end()
          await server.stop()
          throw error
        }
        stream.end()
        await server.stop()
        #expect(text.contains("event: rendition") && text.contains(first.sha256) && text.contains(second.sha256))
      }
    }

    @Test("no picture is announced while a message goes first, and all of them are afterwards")
    func held() async throws {
      try await TestGallery.serving { gallery in
        let first = try await gallery.makeFile("one")
        let second = try await gallery.makeFile("two", name: "b.jpg")
        let stream = HTTPStream()
        let columns = RenditionColumns(library: gallery.library, renditions: gallery.server.renditions)
        let announcements = RenditionAnnouncements(columns, stream)
        // The stream holds one chunk, which no connection takes yet: the event is read and waits.
        try await stream.send { Array(": first\n\n".utf8) }
        announcements.add(Array("one".utf8).sha256)
        announcements.hold()
        announcements.hold()
        let server = try HTTPServer(try HTTPListener("127.0.0.1:0"), application: OneStream(stream: stream))
        var (before, after) = ("", "")
        do {
          let client = try RawClient(port: server.address.port)
          client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
          try await waitUntil("the event gives way") { !announcements.isSending }
          announcements.add(Array("two".utf8).sha256)
          announcements.release()
          try await stream.send { Array(": message\n\n".utf8) }
          before = client.read(through: ": message")
          #expect(announcements.sentCount == 0 && !announcements.isSending)
          announcements.release()
          after = client.read(through: second.sha256)
        } catch {
          stream.end()
          await server.stop()
          throw error
        }
        stream.end()
        await server.stop()
        #expect(before.contains(": message") && !before.contains("event: rendition"), "\(before)")
        #expect(after.contains(first.sha256) && after.contains(second.sha256), "\(after)")
        #expect(announcements.sentCount == 1)
      }
    }

    @Test("a change that waits for its client while pictures are announced is sent once, with their new state")
    func readyMeanwhile() async throws {
      try await TestGallery.serving { gallery in
        let made = try await gallery.makeFile("one")
        let second = try await gallery.makeFile("two", name: "b.jpg")
        let asset = try #require(try gallery.library.asset(made.asset))
        let (hash, fetch) = (Array("one".utf8).sha256, try gallery.fetch())
        let key = Keyring.Key(
          name: "slow", client: PhotoLibrary.owner, label: "", created: .distantPast, expires: .distantFuture)
        let feed = Feed(FeedCursor([]), name: "slow", key: key, sections: nil, for: gallery.server)
        // The stream holds one chunk, which no connection takes yet: the change waits.
        try await feed.stream.send { Array(": first\n\n".utf8) }
        try feed.add(try FetchRequest(name: fetch.name), from: try Token(fetch.token))
        try await gallery.library.performChanges { $0.setFavorite(true, for: [asset.id]) }
        try await waitUntil("the change is encoded") { gallery.server.messages.count == 1 }
        // The picture is kept as by an earlier server, since this one may lack the programs that make it.
        let cache = try RenditionCache(
          in: gallery.library.url.appending(path: "renditions"), budget: 10_000,
          now: { Date(timeIntervalSince1970: 1) })
        let placeholder = Placeholder(bytes: Array(repeating: 9, count: Placeholder.count))
        try cache.keep(RenditionSet(small: Data(count: 5), large: Data(count: 7), placeholder: placeholder), of: hash)
        cache.release()
        #expect(gallery.server.renditions.record(hash).state == .ready)
        // As by an event that takes its place before the change.
        try feed.announcements.countSent()
        feed.announce(hash)
        let server = try HTTPServer(try HTTPListener("127.0.0.1:0"), application: OneStream(stream: feed.stream))
        var events: [String] = []
        do {
          let client = try RawClient(port: server.address.port)
          client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
          _ = client.read(through: "\r\n\r\n")
          let body = ChunkedBody(client)
          // They come in any order; the change may wait for the second time when the second picture is announced.
          var missing: Set = ["change", made.sha256, second.sha256]
          while !missing.isEmpty, let event = body.event() {
            guard event.contains("event: ") else { continue }
            events.append(event)
            let isChange = event.contains("event: change")
            missing = missing.filter { ($0 == "change") != isChange || !event.contains($0) }
            if events.count == 1 { feed.announce(Array("two".utf8).sha256) }
          }
        } catch {
          feed.end()
          await server.stop()
          throw error
        }
        feed.end()
        await server.stop()
        let changes = events.filter { $0.contains("event: change") }
        #expect(changes.count == 1 && changes[0].contains(#""rendition":["ready"]"#), "\(events)")
        for hash in [made.sha256, second.sha256] {
          #expect(events.contains { $0.contains("event: rendition") && $0.contains(hash) }, "\(events)")
        }
      }
    }

    @Test("a feed belongs to its key and has at most 32 fetches")
    func limits() async throws {
      try await TestGallery.serving { gallery in
        try await gallery.makeAssets(1)
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "app") }
        let app = try gallery.key(of: "app")
        let fetch = try gallery.fetch()
        let client = try FeedClient(gallery, "fetch=\(fetch.name)")
        _ = try client.next()
        let path = "/v1/feeds/\(client.feed)/fetches"
        let foreign = try gallery.ask("POST", path, json: ["fetch": "e30"], key: app.secret)
        let unknown = try gallery.ask("POST", "/v1/feeds/none/fetches", json: ["fetch": "e30"], key: app.secret)
        #expect(foreign.status == 404 && foreign.body == unknown.body)
        #expect(try gallery.ask("DELETE", "\(path)/\(fetch.name)", key: app.secret).status == 404)
        for index in 1..<FeedCursor.limit {
          let other = try gallery.fetch(["limit": index])
          #expect(try gallery.ask("POST", path, json: ["fetch": other.name]).status == 201)
        }
        let predicate = "burstIdentifier == \"\(String(repeating: "a", count: 1400))\""
        let long = try gallery.fetch(["where": predicate])
        let next = try FeedClient(gallery, "fetch=\(long.name)")
        _ = try next.next()
        let others = try (1...4).map { try gallery.fetch(["where": predicate, "limit": $0]).name }
        let statuses = try others.map { name in
          try gallery.ask("POST", "/v1/feeds/\(next.feed)/fetches", json: ["fetch": name]).status
        }
        #expect(statuses == [201, 201, 400, 400], "a cursor has room in the head of a request")
        let one = try gallery.fetch(["limit": 99])
        #expect(try gallery.ask("POST", path, json: ["fetch": one.name]).status == 400)
        for body in [["fetch": "!"], ["fetch": one.name, "after": "x"], ["fetch": one.name, "colour": "red"], [:]] {
          #expect(try gallery.ask("POST", path, json: body).status == 400)
        }
      }
    }

    @Test("a fetch that cannot be followed is a problem of its own, and the others continue")
    func problems() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(2)
        let all = try gallery.fetch()
        let nowhere = try FetchRequest(["album": "00000000-0000-0000-0000-000000000000"]).name
        let client = try FeedClient(gallery, "fetch=\(all.name)&after=\(all.token)&fetch=\(nowhere)&after=\(all.token)")
        let problem = try #require(try client.next())
        #expect(problem.name == "problem" && problem.data["fetch"] as? String == nowhere)
        #expect(problem.data["status"] as? Int == 404)
        #expect(try FeedCursor(problem.id).tokens.map(\.fetch.name) == [all.name])
        try await gallery.library.performChanges { $0.deleteAssets([ids[0]]) }
        #expect(try client.next()?.data["removed"] as? [[Int]] == [[0, 1]])
        // What loses its last fetch ends.
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "app") }
        let app = try gallery.key(of: "app").secret
        let log = try gallery.fetch(["log": true], key: app)
        let alone = try FeedClient(gallery, "fetch=\(log.name)&after=\(log.token)", key: app)
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.limited, of: "app") }
        #expect(try alone.next()?.name == "problem")
        #expect(try alone.next() == nil, "a feed without fetches ends")
      }
    }

    @Test("a feed in which nothing can be followed is answered with a status on which its client does not retry")
    func nothingToFollow() async throws {
      try await TestGallery.serving { gallery in
        try await gallery.makeAssets(1)
        let all = try gallery.fetch()
        let names = try ["0", "1"].map { digit in
          try FetchRequest(["album": .text("00000000-0000-0000-0000-00000000000\(digit)")]).name
        }
        for query in [
          "fetch=\(names[0])", "fetch=\(names[0])&after=\(all.token)", "fetch=\(names[0])&fetch=\(names[1])",
        ] {
          let answer = try gallery.ask("GET", "/v1/feed?\(query)")
          #expect(answer.status == 404 && answer.body.contains("not-found"), "\(answer)")
        }
        let cursor = "Last-Event-ID: \(names[0])."
        #expect(try gallery.ask("GET", "/v1/feed", [cursor]).status == 404)
        // A token of another library.
        let foreign = "/v1/feed?fetch=\(all.name)&after=t1-0000000000000000-1"
        #expect(try gallery.ask("GET", foreign).status == 400)
        #expect(gallery.server.feeds.count == 0)
      }
    }

    @Test("a denial removes everything from a client's feed, and affects no other feed")
    func denied() async throws {
      try await TestGallery.serving { gallery in
        try await gallery.makeAssets(3)
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "app") }
        let app = try gallery.key(of: "app")
        let fetch = try gallery.fetch(key: app.secret)
        let client = try FeedClient(gallery, "fetch=\(fetch.name)&after=\(fetch.token)", key: app.secret)
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.denied, of: "app") }
        // The feed may say that everything is gone before it ends; the permission ends it at once.
        while let event = try client.next() {
          #expect(event.data["count"] as? Int ?? 0 == 0, "\(event)")
        }
        let feed = "/v1/feed?fetch=\(fetch.name)&after=\(fetch.token)"
        #expect(try gallery.ask("GET", feed, key: app.secret).status == 403)
      }
    }

    @Test("a feed delivers nothing after its key has expired, and ends", .blocking)
    func expiry() async throws {
      let made = try TemporaryLibrary(.seeded(1))
      let clock = Mutex(Date(timeIntervalSince1970: 1_700_000_000))
      let system = GalleryEnvironment.system
      let server = try GalleryServer(
        made.library, environment: GalleryEnvironment(now: { clock.withLock { $0 } }, randomBytes: system.randomBytes))
      let address = try server.start(try HTTPListener("127.0.0.1:0"))
      let (_, secret) = try server.keyring.makeKey(
        Keyring.Grant(client: PhotoLibrary.owner, label: "", seconds: 60))
      let client = try RawClient(port: address.port)
      let name = try FetchRequest([:]).name
      let fields = "Host: a\r\nConnection: close\r\nAuthorization: Bearer \(secret)"
      client.send("GET /v1/feed?fetch=\(name) HTTP/1.1\r\n\(fields)\r\n\r\n")
      #expect(client.read(through: "event: state").hasSuffix("event: state"))
      try await made.library.performChanges { _ = $0.createAsset(.invented(1)) }
      #expect(client.read(through: "event: change").hasSuffix("event: change"))
      clock.withLock { $0 += 61 }
      try await made.library.performChanges { _ = $0.createAsset(.invented(2)) }
      #expect(!client.readToEnd().contains("event:"))
      await server.stop()
    }

    @Test("messages name the sections whose count changed", arguments: ["day", "month", "year"])
    func sections(_ unit: String) async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(40)
        let dated = try gallery.fetch(["sort": ["creationDate:desc"]])
        let plain = try gallery.fetch()
        let client = try FeedClient(gallery, "fetch=\(dated.name)&after=\(dated.token)&sections=\(unit)")
        func sections() throws -> [String: Int] {
          let json = try gallery.ask("GET", "/v1/fetches/\(dated.name)/sections?by=\(unit)").json()
          let list = try #require(json["sections"] as? [[String: Any]])
          return Dictionary(
            uniqueKeysWithValues: list.compactMap { section in
              (section["key"] as? String).flatMap { key in (section["count"] as? Int).map { (key, $0) } }
            })
        }
        var held = try sections()
        for ids in [Array(ids[3...9]), Array(ids[30...33])] {
          try await gallery.library.performChanges { $0.deleteAssets(ids) }
          let changes = try #require(try client.next()?.data["sections"] as? [[Any]])
          #expect(!changes.isEmpty)
          for change in changes {
            let (key, before) = (try #require(change[0] as? String), try #require(change[1] as? Int))
            #expect(held[key, default: 0] == before)
            held[key] = change[2] as? Int == 0 ? nil : change[2] as? Int
          }
          #expect(try held == sections())
        }
        let unsorted = try gallery.ask("GET", "/v1/fetches/\(plain.name)/changes?after=\(plain.token)&sections=\(unit)")
        #expect(try unsorted.json()["sections"] is NSNull)
        let without = try gallery.ask("GET", "/v1/fetches/\(dated.name)/changes?after=\(dated.token)")
        #expect(try without.json()["sections"] == nil)
      }
    }

    @Test("a change with more ranges than a message may have is sent as a state")
    func large() async throws {
      let made = try TemporaryLibrary(.seeded(1))
      var ids: [LocalIdentifier] = []
      try await made.library.performChanges { change in ids = (0..<8).map { change.createAsset(.invented($0)) } }
      let before = try made.library.fetchAssets()
      try await made.library.performChanges { change in
        change.deleteAssets(stride(from: 0, to: 8, by: 2).map { ids[$0] })
      }
      let details = try made.library.changeDetails(from: before, to: made.library.currentToken)
      #expect(Message.isSmall(details, limit: 4) && !Message.isSmall(details, limit: 3))
      #expect(!Message.isEmpty(details))
    }

    @Test("feeds and polls give a change that is too large as a state, from which a feed goes on")
    func tooLarge() async throws {
      try await TestGallery.serving { gallery in
        gallery.server.feeds.rangeLimit.store(4, ordering: .relaxed)
        let ids = try await gallery.makeAssets(10)
        let fetch = try gallery.fetch()
        let client = try FeedClient(gallery, "fetch=\(fetch.name)&after=\(fetch.token)")
        let removed = stride(from: 0, to: ids.count, by: 2).map { ids[$0] }
        try await gallery.library.performChanges { $0.deleteAssets(removed) }
        let event = try #require(try client.next())
        let (now, count) = (try gallery.library.currentToken.description, ids.count - removed.count)
        #expect(event.name == "state" && event.data["count"] as? Int == count && event.data["token"] as? String == now)
        #expect(try FeedCursor(event.id).tokens.map(\.token?.description) == [now])
        let poll = try gallery.ask("GET", "/v1/changes?fetch=\(fetch.name)&after=\(fetch.token)").json()
        let messages = try #require(poll["messages"] as? [[String: Any]])
        try #require(messages.count == 1)
        #expect(messages[0]["count"] as? Int == count && messages[0]["token"] as? String == now, "\(messages)")
        #expect(messages[0]["removed"] == nil && poll["cursor"] as? String == event.id)
        let exact = try gallery.ask("GET", "/v1/fetches/\(fetch.name)/changes?after=\(fetch.token)").json()
        #expect((exact["removed"] as? [[Int]])?.count == removed.count, "\(exact)")
        try await gallery.library.performChanges { $0.deleteAssets([ids[1]]) }
        let next = try #require(try client.next())
        #expect(next.name == "change" && next.data["before"] as? String == now)
        #expect(next.data["removed"] as? [[Int]] == [[0, 1]])
        gallery.server.feeds.rangeLimit.store(5, ordering: .relaxed)
        let other = try FeedClient(gallery, "fetch=\(fetch.name)&after=\(fetch.token)")
        #expect(try other.next()?.name == "change")
      }
    }

    @Test("a client that does not read gets the missed changes in fewer, exact messages")
    func slow() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(100)
        let fetch = try gallery.fetch(["sort": ["creationDate"]])
        var list = FollowedList(try gallery.identifiers(fetch.name, at: fetch.token), at: fetch.token)
        let client = try FeedClient(gallery, "fetch=\(fetch.name)&after=\(fetch.token)", receiveBuffer: 4096)
        let rounds = 40
        // Sent without waiting for each other, so that they are committed together and the feed falls behind; the last
        // block of a caller is committed after its others.
        for round in 0..<rounds {
          gallery.library.performChanges({ $0.setFavorite(round % 2 == 0, for: ids) }, completionHandler: { _ in })
        }
        try await gallery.library.performChanges { $0.deleteAssets([ids[7]]) }
        let goal = try gallery.library.currentToken.description
        var count = 0
        while list.token != goal {
          try list.apply(try #require(try client.next()).data)
          count += 1
        }
        #expect(count < rounds, "\(count) messages")
        #expect(list.identifiers == (try gallery.identifiers(fetch.name, at: goal)))
      }
    }
  }

  @Suite("Polls for changes")
  struct PollTests {
    @Test("a poll answers at once when something changed, and waits for it otherwise")
    func waiting() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(4)
        let fetch = try gallery.fetch()
        let path = "/v1/fetches/\(fetch.name)/changes?after=\(fetch.token)"
        let nothing = try gallery.ask("GET", path).json()
        #expect(nothing["after"] as? String == fetch.token && nothing["removed"] as? [[Int]] == [])
        let client = try RawClient(port: gallery.address.port)
        client.send(try gallery.head("GET", "\(path)&wait=60", ["Connection: close"]))
        // What does not concern the fetch does not end the wait.
        try await gallery.library.performChanges { _ = $0.createAlbum(title: "Sea") }
        try await gallery.library.performChanges { $0.deleteAssets([ids[2]]) }
        let answer = try #require(TestGallery.parsed(client.readToEnd()))
        #expect(try answer.json()["removed"] as? [[Int]] == [[2, 1]], "\(answer)")
        #expect(try gallery.ask("GET", "\(path)&wait=60").json()["removed"] as? [[Int]] == [[2, 1]])
        let now = try gallery.library.currentToken
        let late = try gallery.ask("GET", "/v1/changes?fetch=\(fetch.name)&after=\(now)&wait=1")
        #expect(try late.json()["messages"] as? [String] == [], "the time is over")
      }
    }

    @Test("a poll of many fetches leads all of them to one state, and a feed continues from its cursor")
    func several() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(4)
        let all = try gallery.fetch()
        let favorites = try gallery.fetch(["where": "isFavorite == YES"])
        let first = try gallery.ask("GET", "/v1/changes?fetch=\(all.name)&fetch=\(favorites.name)").json()
        #expect((first["messages"] as? [[String: Any]])?.compactMap { $0["count"] as? Int } == [4, 0])
        let cursor = try #require(first["cursor"] as? String)
        try await gallery.library.performChanges { $0.setFavorite(true, for: [ids[0]]) }
        try await gallery.library.performChanges { $0.setFavorite(true, for: [ids[1]]) }
        let lines = try gallery.lines("/v1/changes?cursor=\(cursor)&wait=60")
        try #require(lines.count == 3)
        let messages = try lines.map { try JSONReader.read(Array($0.utf8)) }
        #expect(messages.map { $0["fetch"]?.textValue } == [all.name, favorites.name, nil])
        let now = try gallery.library.currentToken.description
        #expect(messages.prefix(2).allSatisfy { $0["after"]?.textValue == now })
        #expect(messages[1]["count"]?.wholeValue == 2)
        let next = try #require(messages[2]["cursor"]?.textValue)
        try await gallery.restart()
        let feed = try FeedClient(gallery, "fetch=\(all.name)", after: next)
        try await gallery.library.performChanges { $0.setFavorite(false, for: [ids[1]]) }
        let changes = try (0..<2).map { _ in try #require(try feed.next()) }
        #expect(changes.allSatisfy { $0.data["before"] as? String == now })
        #expect(try gallery.ask("GET", "/v1/changes?cursor=\(next),\(next)").status == 400)
      }
    }

    @Test("a poll names the fetch that cannot be followed, leaves it out of its cursor, and continues with the others")
    func problems() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(2)
        let all = try gallery.fetch()
        let nowhere = try FetchRequest(["album": "00000000-0000-0000-0000-000000000000"]).name
        func poll(_ query: String, key: String = "owner") throws -> (messages: [[String: Any]], cursor: String) {
          let answer = try gallery.ask("GET", "/v1/changes?\(query)", key: key)
          try #require(answer.status == 200, "\(answer)")
          let json = try answer.json()
          return (try #require(json["messages"] as? [[String: Any]]), try #require(json["cursor"] as? String))
        }
        let unknown = try poll("fetch=\(nowhere)&fetch=\(all.name)")
        #expect(unknown.messages.compactMap { $0["fetch"] as? String } == [nowhere, all.name])
        #expect(unknown.messages[0]["status"] as? Int == 404 && unknown.messages[1]["count"] as? Int == 2)
        #expect(try FeedCursor(unknown.cursor).tokens.map(\.fetch.name) == [all.name])
        #expect(try poll("cursor=\(unknown.cursor)").messages.isEmpty)
        #expect(try gallery.ask("GET", "/v1/changes?fetch=\(nowhere)").status == 404)
        // A client that is limited meanwhile may not follow the log any more.
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "app") }
        let app = try gallery.key(of: "app").secret
        let (log, seen) = (try gallery.fetch(["log": true], key: app), try gallery.fetch(key: app))
        try await gallery.library.performChanges { change in
          change.setAuthorizationStatus(.limited, of: "app")
          change.grant([ids[0]], to: "app")
        }
        let query = "fetch=\(log.name)&after=\(log.token)&fetch=\(seen.name)&after=\(seen.token)"
        let narrowed = try poll(query, key: app)
        #expect(narrowed.messages.compactMap { $0["fetch"] as? String } == [log.name, seen.name])
        #expect(narrowed.messages[0]["status"] as? Int == 403)
        #expect(narrowed.messages[1]["removed"] as? [[Int]] == [[1, 1]])
        #expect(try gallery.lines("/v1/changes?\(query)", key: app).count == 3)
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.denied, of: "app") }
        #expect(try gallery.ask("GET", "/v1/changes?cursor=\(narrowed.cursor)", key: app).status == 403)
      }
    }

    @Test("a poll accepts no cursor that a feed would not accept")
    func limits() async throws {
      try await TestGallery.serving { gallery in
        let predicate = "burstIdentifier == \"\(String(repeating: "a", count: 1400))\""
        let names = try (1...4).map { "fetch=\(try gallery.fetch(["where": predicate, "limit": $0]).name)" }
        let few = try gallery.ask("GET", "/v1/changes?\(names.prefix(3).joined(separator: "&"))")
        let many = try gallery.ask("GET", "/v1/changes?\(names.joined(separator: "&"))")
        #expect(few.status == 200 && many.status == 400 && many.body.contains("limit-exceeded"), "\(many)")
      }
    }

    @Test("the end of the key or of the server ends a wait")
    func ends() async throws {
      try await TestGallery.serving { gallery in
        try await gallery.makeAssets(1)
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.authorized, of: "app") }
        let app = try gallery.key(of: "app")
        let fetch = try gallery.fetch()
        let path = "/v1/changes?fetch=\(fetch.name)&after=\(fetch.token)&wait=60"
        func wait(_ key: String) throws -> RawClient {
          let client = try RawClient(port: gallery.address.port)
          client.send(try gallery.head("GET", path, key: key, ["Connection: close"]))
          return client
        }
        let (one, other) = (try wait(app.secret), try wait(gallery.owner))
        try await waitUntil("both wait") { gallery.server.feeds.pollCount == 2 }
        #expect(try gallery.ask("DELETE", "/v1/keys/\(app.name)").status == 204)
        #expect(one.readToEnd().hasPrefix("HTTP/1.1 401"))
        let start = ContinuousClock.now
        await gallery.server.stop()
        #expect(start.duration(to: .now) < .seconds(20))
        let last = other.readToEnd()
        #expect(last.isEmpty || last.hasPrefix("HTTP/1.1 200"))
      }
    }

    @Test("a limited client's poll shows what a grant gives it, and nothing of the rest")
    func limited() async throws {
      try await TestGallery.serving { gallery in
        let ids = try await gallery.makeAssets(3)
        try await gallery.library.performChanges { change in
          change.setAuthorizationStatus(.limited, of: "app")
          change.grant([ids[0]], to: "app")
        }
        let app = try gallery.key(of: "app")
        let fetch = try gallery.fetch(key: app.secret)
        let path = "/v1/changes?fetch=\(fetch.name)&after=\(fetch.token)"
        let before = try gallery.ask("GET", path, key: app.secret)
        try await gallery.library.performChanges { $0.deleteAssets([ids[2]]) }
        #expect(try gallery.ask("GET", path, key: app.secret).body == before.body)
        try await gallery.library.performChanges { $0.grant([ids[1]], to: "app") }
        let messages = try gallery.ask("GET", path, key: app.secret).json()["messages"] as? [[String: Any]]
        #expect(messages?.first?["inserted"] as? [[Int]] == [[1, 1]])
        try await gallery.library.performChanges { $0.setAuthorizationStatus(.denied, of: "app") }
        #expect(try gallery.ask("GET", path, key: app.secret).status == 403)
      }
    }
  }

  /// Answers every request with one stream.
  private struct OneStream: HTTPApplication {
    let stream: HTTPStream

    func plan(_ request: HTTPRequest) -> HTTPPlan { .answer(HTTPResponse(200, [], .stream(stream))) }
    func finished(_ record: HTTPRecord) {}
  }
#endif
